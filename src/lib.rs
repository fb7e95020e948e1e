//! formd: a self-hosted form backend.

mod clock;
mod config;
mod ctl;
mod daemon;
mod delivery;
mod domain;
mod http;
mod intake;
mod outbound;
mod pages;
mod status;
mod store;
mod sweep;

// What the tests under tests/ drive formctl with, inside their own process and by their own clock.
pub use clock::Clock;
pub use ctl::{Output, Surface, run as formctl_in_process};
pub use domain::time::{Span, Timestamp};

/// `formctl` with the process's own arguments, outputs and clock.
pub fn formctl() -> std::process::ExitCode {
    ctl::main()
}
