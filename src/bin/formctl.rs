//! `formctl`: the administrator's tool.

fn main() -> std::process::ExitCode {
    formd::formctl()
}
