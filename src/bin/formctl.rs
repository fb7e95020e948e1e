//! The owner's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    formd::formctl_main()
}
