//! `formctl deliver`: one run of the queue in this process, for a server whose daemon does not send
//! (`[delivery] enabled = false`) and for looking on. Claims are the same as the daemon's, so both at once are
//! safe: nothing is sent twice. What was not accepted stands in the queue again with its next time.

use serde::Serialize;

use super::installation::Installation;
use super::outcome::{CommandError, Exit};
use super::print::Output;
use crate::clock::Clock;
use crate::config::Current;
use crate::delivery::{Deliverer, Step};
use crate::domain::delivery::Verdict;
use crate::domain::ids::DeliveryId;
use crate::domain::quantity::counted;
use crate::store::Moved;

/// How to report.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl deliver                                send what is due now
  */5 * * * * formd formctl deliver >/dev/null   for /etc/cron.d

The daemon does this by itself unless the configuration says `[delivery] enabled = false`.

Exit code 0 says that the queue was run, not that every peer accepted: see the lines, or `formctl status`.")]
pub struct Args {
    /// One JSON object a delivery.
    #[arg(long)]
    json: bool,
}

/// An attempt of `deliver --json`.
#[derive(Debug, Serialize)]
struct Attempted {
    /// The delivery.
    delivery: String,
    /// `accepted`, `try_later`, `refused`: the words of `show --json`.
    outcome: &'static str,
}

/// Sends until nothing is due.
pub fn run(
    args: &Args,
    installation: &Installation,
    clock: &Clock,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let config = installation.config()?.clone();
    let store = installation.open()?;
    let deliverer = Deliverer::new(store.clone(), Current::new(config), clock.clone());
    if store.directory().daemon_pid()?.is_none() {
        // A daemon does this at its start and after a reload.
        told(deliverer.apply()?, out);
    }
    let mut sent = 0;
    while let Step::Worked { delivery, verdict } = deliverer.step()? {
        sent += 1;
        if args.json {
            out.json(&attempted(delivery, verdict))?;
        } else {
            out.line(&phrase(delivery, verdict))?;
        }
        // A send may take seconds: whoever watches wants to see each line when it is true.
        out.flush()?;
    }
    if !args.json {
        out.line(&if sent == 0 { "nothing was due".to_owned() } else { counted(sent, "attempt") })?;
    }
    Ok(Exit::Done)
}

/// Says what the files did to that which waited.
fn told(moved: Moved, out: &mut Output<'_>) {
    let words = [
        (moved.ended, "ended: their destination is paused or no longer configured"),
        (moved.held, "are held: their site has no file any more"),
        (moved.released, "are due again: their site has its file back"),
    ];
    for (count, what) in words.into_iter().filter(|(count, _)| *count > 0) {
        out.note(&format!("waiting deliveries that {what}: {count}"));
    }
}

/// The object about one attempt.
fn attempted(delivery: DeliveryId, verdict: Verdict) -> Attempted {
    let outcome = match verdict {
        Verdict::Accepted => "accepted",
        Verdict::TryLater { .. } => "try_later",
        Verdict::Refused => "refused",
    };
    Attempted { delivery: delivery.to_string(), outcome }
}

/// The line about one attempt.
fn phrase(delivery: DeliveryId, verdict: Verdict) -> String {
    let what = match verdict {
        Verdict::Accepted => "accepted",
        Verdict::TryLater { .. } => "not accepted now",
        Verdict::Refused => "refused",
    };
    format!("{delivery}  {what}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::print::Surface;
    use crate::ctl::testing::{printed, view};

    #[test]
    fn each_attempt_is_one_line() {
        let id = view().row.deliveries[0].id;
        assert_eq!(phrase(id, Verdict::TryLater { after: None }), format!("{id}  not accepted now"));
        let json = printed(Surface::Pipe, |out| out.json(&attempted(id, Verdict::Accepted)).unwrap());
        assert_eq!(json, format!("{{\"delivery\":\"{id}\",\"outcome\":\"accepted\"}}\n"));
    }
}
