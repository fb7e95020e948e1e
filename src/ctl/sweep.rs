//! `formctl sweep`: one sweep, from cron or by hand; safe beside the daemon's own. It prints one line, whatever it
//! found to do, so that a log of it shows that it ran.

use serde::Serialize;

use super::installation::Installation;
use super::moment;
use super::outcome::{CommandError, Exit};
use super::print::Output;
use crate::domain::quantity::counted;
use crate::domain::steady::Reading;
use crate::store::SweepReport;
use crate::sweep::{self, Mode};

/// How to sweep.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl sweep --dry-run                     what it would do, without doing it
  * * * * * formd formctl sweep >/dev/null    for /etc/cron.d; the daemon needs none

The daemon does the same every minute. Erased: values whose time is over. Removed: what interrupted uploads left, \
files in quarantine that are too old, old files of the rate limiter.")]
pub struct Args {
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// The object of `sweep --json`; the names are the contract's.
#[derive(Debug, Serialize)]
struct Report {
    /// Receipts whose values were erased.
    expired: u64,
    /// `.part` files removed.
    parts_removed: u64,
    /// Files moved to quarantine.
    quarantined: u64,
    /// Files removed from quarantine.
    quarantine_removed: u64,
    /// Limiter files removed.
    limiter_removed: u64,
    /// Postponed removals that succeeded.
    removals_retried: u64,
    /// Copies of the database from before a migration removed.
    copies_removed: u64,
    /// Hashes of clients and mailboxes forgotten.
    hashes_forgotten: u64,
    /// Empty folders removed.
    folders_removed: u64,
    /// Until when nothing goes by its age, because the clock jumped ahead.
    waits_until: Option<String>,
}

/// Sweeps.
pub fn run(args: &Args, installation: &Installation, now: Reading, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    let config = installation.config()?;
    let store = installation.open()?;
    let mode = if args.dry_run { Mode::Plan } else { Mode::CarryOut };
    let report = sweep::run(&store, config, mode, now, sweep::erasing(&store, now)?)?;
    if args.json {
        out.json(&Report::from(report))?;
    } else {
        out.line(&phrase(&report, mode))?;
    }
    Ok(Exit::Done)
}

impl From<SweepReport> for Report {
    fn from(report: SweepReport) -> Self {
        Self {
            expired: report.expired,
            parts_removed: report.parts_removed,
            quarantined: report.quarantined,
            quarantine_removed: report.quarantine_removed,
            limiter_removed: report.limiter_removed,
            removals_retried: report.removals_retried,
            copies_removed: report.copies_removed,
            hashes_forgotten: report.hashes_forgotten,
            folders_removed: report.folders_removed,
            waits_until: report.waits_until.map(|until| until.to_string()),
        }
    }
}

/// The line for a person.
fn phrase(report: &SweepReport, mode: Mode) -> String {
    let parts: Vec<String> = [
        (report.expired, "expired receipt"),
        (report.parts_removed, "broken upload"),
        (report.quarantined, "file into quarantine"),
        (report.quarantine_removed, "file out of quarantine"),
        (report.limiter_removed, "limiter file"),
        (report.removals_retried, "postponed removal"),
        (report.copies_removed, "old database file"),
        (report.hashes_forgotten, "spent hash value"),
        (report.folders_removed, "empty folder"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, noun)| match noun.split_once(' ') {
        Some(("file", rest)) => format!("{} {rest}", counted(count, "file")),
        _ => counted(count, noun),
    })
    .collect();
    let waits = report.waits_until.map(|until| {
        format!("; the clock jumped ahead, so nothing is erased by its date before {} UTC", moment::second(until))
    });
    let waits = waits.unwrap_or_default();
    let what = if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") };
    match mode {
        Mode::Plan => format!("would sweep: {what}{waits}"),
        Mode::CarryOut if report.wal_truncated => format!("swept: {what}{waits}"),
        Mode::CarryOut => {
            format!("swept: {what}{waits}; a reader still holds the database's log, the next sweep tries again")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::print::Surface;
    use crate::ctl::testing::printed;

    const BUSY: SweepReport = SweepReport {
        expired: 1,
        parts_removed: 2,
        quarantined: 1,
        quarantine_removed: 3,
        limiter_removed: 4,
        removals_retried: 5,
        copies_removed: 1,
        hashes_forgotten: 2,
        folders_removed: 1,
        wal_truncated: false,
        waits_until: None,
    };

    #[test]
    fn a_sweep_says_in_one_line_what_it_did() {
        let idle = SweepReport { wal_truncated: true, ..SweepReport::default() };
        assert_eq!(phrase(&idle, Mode::CarryOut), "swept: nothing to do");
        assert_eq!(phrase(&idle, Mode::Plan), "would sweep: nothing to do");
        assert_eq!(
            phrase(&BUSY, Mode::CarryOut),
            "swept: 1 expired receipt, 2 broken uploads, 1 file into quarantine, 3 files out of quarantine, \
             4 limiter files, 5 postponed removals, 1 old database file, 2 spent hash values, 1 empty folder; a reader still holds the database's log, the next sweep tries again"
        );
    }

    #[test]
    fn a_sweep_as_json_has_the_names_of_the_contract_in_its_order() {
        assert_eq!(
            printed(Surface::Pipe, |out| out.json(&Report::from(BUSY)).unwrap()),
            "{\"expired\":1,\"parts_removed\":2,\"quarantined\":1,\"quarantine_removed\":3,\"limiter_removed\":4,\
             \"removals_retried\":5,\"copies_removed\":1,\"hashes_forgotten\":2,\"folders_removed\":1,\"waits_until\":null}\n"
        );
    }
}
