//! `formctl check`: every mistake of all files at once, with file, line, column and remedy. It reads nothing else
//! and never needs the data directory. `--show` prints what is in force then, bounds and defaults included and
//! secrets left out.

use super::installation::Installation;
use super::outcome::{CommandError, Exit};
use super::print::Output;

mod summary;

/// What to print.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl check                                  the installed files
  formctl check --config ./formd.toml --show     others, and every value in force

Exit codes: 0 no mistake, 1 mistakes, all of them printed.")]
pub struct Args {
    /// Print every setting with its value in force; no secret.
    #[arg(long)]
    show: bool,
}

/// Checks.
pub fn run(args: &Args, installation: &Installation, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    let config = installation.config()?;
    if args.show {
        out.text(&summary::text(config))?;
    }
    config.notices.iter().try_for_each(|notice| out.line(&format!("note: {notice}")))?;
    out.line(&format!("ok: {}", installation.name()))?;
    Ok(Exit::Done)
}
