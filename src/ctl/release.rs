//! `formctl release`: a submission that was judged spam is none. Its mark goes, and what was held for it is sent.

use super::installation::Installation;
use super::lookup;
use super::outcome::{CommandError, Exit, Kind};
use super::print::Output;
use crate::domain::time::Timestamp;
use crate::store::Released;

/// Which receipt.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl list --spam              what was held
  formctl release 4qzk1p8          it is no spam: send it

Exit codes: 0 released, 1 refused (the line says why), 3 not found.")]
pub struct Args {
    /// The receipt, or its first characters.
    #[arg(value_name = "RECEIPT")]
    receipt: String,
    /// Also trust its sender from now on; comes with the spam checks.
    #[arg(long)]
    trust: bool,
}

/// Releases.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    if args.trust {
        return Err(CommandError::new(Kind::Failed, "`--trust` comes with the spam checks; nothing was released")
            .hint("leave `--trust` out: the receipt alone can be released"));
    }
    let store = installation.open()?;
    let id = lookup::receipt(&store, &args.receipt)?;
    let refused = |why: &str| Err(CommandError::new(Kind::Failed, format!("receipt `{id}` is not released: {why}")));
    match store.release(id, now)? {
        Released::Done(0) => out.line(&format!("{id}: no spam any more; it has nothing to send"))?,
        Released::Done(count) => {
            let deliveries = if count == 1 { "1 delivery".to_owned() } else { format!("{count} deliveries") };
            out.line(&format!("{id}: released, {deliveries} due now"))?;
            store.directory().wake();
            if store.directory().daemon_pid()?.is_none() {
                out.note("the daemon is not running: start it, or send now with `formctl deliver`");
            }
        }
        Released::NotSpam => return refused("it is not held as spam"),
        Released::ValuesGone => return refused("values_gone: its values were erased"),
        Released::Missing => {
            return Err(CommandError::new(Kind::NotFound, format!("there is no receipt `{id}`")));
        }
    }
    Ok(Exit::Done)
}
