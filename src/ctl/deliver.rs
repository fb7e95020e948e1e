//! `formctl deliver`: one run of the queue in this process, for a server whose daemon does not send
//! (`[delivery] enabled = false`) and for looking on. Claims are the same as the daemon's, so both at once are
//! safe: nothing is sent twice. What was not accepted stands in the queue again with its next time. Where the daemon does
//! not send, the operator is told of failures at the end of a run.

use serde::Serialize;

use super::installation::{DRAFT, Installation};
use super::outcome::{CommandError, Exit};
use super::print::Output;
use super::receipt::tried_phrase;
use crate::clock::Clock;
use crate::config::Current;
use crate::delivery::{Alerted, Deliverer, Standing, Step};
use crate::domain::delivery::Verdict;
use crate::domain::ids::DeliveryId;
use crate::domain::quantity::counted;
use crate::domain::time::Timestamp;
use crate::store::{DeliveryRow, Moved};

/// How to report.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl deliver                                send what is due now
  */5 * * * * formd formctl deliver >/dev/null   for /etc/cron.d

The daemon does this by itself unless the configuration says `[delivery] enabled = false`; both at once are safe. One \
attempt a line, then how many; what was not accepted stands in the queue again with its next time. With \
`enabled = false` the alert of failed deliveries (`[alert]`) leaves at the end of a run. A delivery that failed for good \
is a line on standard error too, as the daemon logs it: cron mails it.

Exit code 0 says that the queue was run, not that every peer accepted: see the lines, or `formctl status`.")]
pub struct Args {
    /// One JSON object a delivery.
    #[arg(long)]
    json: bool,
}

/// An attempt of `deliver --json`.
#[derive(Debug, Serialize)]
struct Attempted<'a> {
    /// The delivery.
    delivery: String,
    /// `accepted`, `try_later`, `refused`: the words of `show --json`.
    outcome: &'static str,
    /// What became of the delivery; null when its receipt was erased meanwhile.
    state: Option<&'static str>,
    /// When the next attempt is due.
    next_attempt_at: Option<String>,
    /// What the peer or the network said.
    note: Option<&'a str>,
}

/// Sends until nothing is due.
pub fn run(
    args: &Args,
    installation: &Installation,
    clock: &Clock,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let config = installation.config()?.clone();
    let daemon_sends = config.daemon.delivery.enabled;
    let store = installation.open()?;
    let standing = installation.standing(&store)?;
    let deliverer = Deliverer::new(store.clone(), Current::new(config), clock.clone(), standing);
    if standing == Standing::Draft {
        out.note(DRAFT);
    }
    if store.directory().daemon_pid()?.is_none() {
        // A daemon does this at its start and after a reload.
        told(deliverer.apply()?, out);
    }
    let (mut sent, mut accepted) = (0, 0);
    while let Step::Worked { delivery, verdict } = deliverer.step()? {
        sent += 1;
        accepted += u64::from(verdict == Verdict::Accepted);
        let view = store.show(delivery.receipt, clock.now())?;
        let row = view.as_ref().and_then(|view| view.row.deliveries.iter().find(|row| row.id == delivery));
        if args.json {
            out.json(&attempted(delivery, verdict, row))?;
        } else {
            out.line(&phrase(delivery, verdict, row, clock.now()))?;
        }
        // A send may take seconds: whoever watches wants to see each line when it is true.
        out.flush()?;
    }
    if !args.json {
        out.line(&summary(sent, accepted))?;
    }
    if daemon_sends && store.directory().daemon_pid()?.is_some() {
        out.note("the daemon delivers by itself what is due; both at once are safe, nothing is sent twice");
    }
    // Where the daemon sends, it tells of failures as well.
    if !daemon_sends {
        match deliverer.alert()? {
            Alerted::Nothing => {}
            Alerted::Sent(_) if args.json => {}
            Alerted::Sent(failed) => out.line(&format!("an alert was sent; deliveries that failed: {failed}"))?,
            Alerted::Failed(why) => out.note(&format!("the alert was not taken ({why}); a later run tries again")),
        }
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
fn attempted(delivery: DeliveryId, verdict: Verdict, row: Option<&DeliveryRow>) -> Attempted<'_> {
    let outcome = match verdict {
        Verdict::Accepted => "accepted",
        Verdict::TryLater { .. } => "try_later",
        Verdict::Refused => "refused",
    };
    Attempted {
        delivery: delivery.to_string(),
        outcome,
        state: row.map(|row| row.state),
        next_attempt_at: row.and_then(|row| row.next_attempt_at).map(|at| at.to_string()),
        note: row.and_then(|row| row.note.as_deref()),
    }
}

/// The line about one attempt.
fn phrase(delivery: DeliveryId, verdict: Verdict, row: Option<&DeliveryRow>, now: Timestamp) -> String {
    match (row, verdict) {
        (Some(row), _) => tried_phrase(row, now),
        (None, Verdict::Accepted) => format!("{delivery}  accepted"),
        (None, Verdict::TryLater { .. }) => format!("{delivery}  not accepted now"),
        (None, Verdict::Refused) => format!("{delivery}  refused"),
    }
}

/// The last line.
fn summary(sent: u64, accepted: u64) -> String {
    match (sent, sent - accepted) {
        (0, _) => "nothing was due".to_owned(),
        (_, 0) => format!("{}, all accepted", counted(sent, "attempt")),
        (_, more) => format!("{}, {more} not accepted", counted(sent, "attempt")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::print::Surface;
    use crate::ctl::testing::{now, printed, row};

    #[test]
    fn each_attempt_is_one_line_that_says_what_became_of_it() {
        let row = &row().deliveries[0];
        let later = Verdict::TryLater { after: None };
        assert_eq!(
            phrase(row.id, later, Some(row), now()),
            format!("{}  email sales: retrying 2, next 16:30  451 4.7.1 greylisted", row.id)
        );
        assert_eq!(phrase(row.id, later, None, now()), format!("{}  not accepted now", row.id));
        let json = printed(Surface::Pipe, |out| out.json(&attempted(row.id, later, Some(row))).unwrap());
        let next = row.next_attempt_at.unwrap();
        assert_eq!(
            json,
            format!(
                "{{\"delivery\":\"{}\",\"outcome\":\"try_later\",\"state\":\"retrying\",\"next_attempt_at\":\"{next}\",\"note\":\"451 4.7.1 greylisted\"}}\n",
                row.id
            )
        );
    }

    #[test]
    fn the_last_line_counts_what_was_not_accepted() {
        for (sent, accepted, line) in
            [(0, 0, "nothing was due"), (1, 1, "1 attempt, all accepted"), (3, 1, "3 attempts, 2 not accepted")]
        {
            assert_eq!(summary(sent, accepted), line);
        }
    }
}
