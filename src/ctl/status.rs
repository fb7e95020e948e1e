//! `formctl status`: the numbers, and whether they are well. Exit codes are those of monitoring plugins: 0 ok,
//! 1 warning, 2 critical, 3 unknown (it could not find out).

use super::installation::Installation;
use super::outcome::{CommandError, Exit, Kind};
use super::print::Output;
use crate::domain::quantity::{parse_age, parse_bytes};
use crate::domain::time::{Span, Timestamp};
use crate::status::{self, Level, Limits, Status, Thresholds};

mod views;

/// How to print, and from where on a number is worth a word.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("form").args(["json", "prometheus", "check"]),
    after_help = "\
Examples:
  formctl status                              for a person
  formctl status --check --crit-pending 2h    for Nagios, Icinga, Zabbix
  formctl status --prometheus > /var/lib/node_exporter/formd.prom

Free space, the oldest waiting delivery and `tmp/` come first. Sizes: 512MiB, 2GiB; ages: 30m, 2h, 1d.

Exit codes: 0 ok, 1 warning, 2 critical, 3 unknown.")]
pub struct Args {
    /// One JSON object.
    #[arg(long)]
    json: bool,
    /// Prometheus text, for the textfile collector of its node exporter.
    #[arg(long)]
    prometheus: bool,
    /// One line as monitoring plugins print it.
    #[arg(long)]
    check: bool,
    /// Warn below this free space [default: four times `disk_reserve`].
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    warn_free: Option<u64>,
    /// Critical below this free space [default: `disk_reserve`].
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    crit_free: Option<u64>,
    /// Warn when a delivery has waited longer [default: 1h].
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    warn_pending: Option<Span>,
    /// Critical when a delivery has waited longer [default: 6h].
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    crit_pending: Option<Span>,
    /// Warn when uploads in `tmp/` take more [default: 1GiB].
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    warn_tmp: Option<u64>,
    /// Critical when uploads in `tmp/` take more [default: 8GiB].
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    crit_tmp: Option<u64>,
    /// Warn from this many failed deliveries on [default: 1].
    #[arg(long, value_name = "N")]
    warn_failed: Option<u64>,
    /// Critical from this many failed deliveries on [default: 1].
    #[arg(long, value_name = "N")]
    crit_failed: Option<u64>,
    /// Warn when the last sweep is older [default: 1h].
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    warn_sweep: Option<Span>,
    /// Critical when the last sweep is older [default: 1d].
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    crit_sweep: Option<Span>,
}

/// Says how it stands.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    match judged(args, installation, now) {
        Ok(status) => {
            print(args, &status, out)?;
            Ok(exit(status.level))
        }
        Err(error) => {
            if args.check {
                out.line(&format!("FORMD UNKNOWN - {}", error.text.replace('\n', " ")))?;
            }
            Err(CommandError { kind: Kind::Unknown, ..error })
        }
    }
}

/// Observes and judges.
fn judged(args: &Args, installation: &Installation, now: Timestamp) -> Result<Status, CommandError> {
    let store = installation.open()?;
    let observed = status::observe(&store, installation.declared().ok(), now)?;
    let thresholds = args.over(observed.thresholds());
    Ok(status::judge(observed, thresholds))
}

/// Prints in the form asked for.
fn print(args: &Args, status: &Status, out: &mut Output<'_>) -> Result<(), CommandError> {
    if args.json {
        out.json(&views::Object::from(status))
    } else if args.prometheus {
        out.text(&views::prometheus(status))
    } else if args.check {
        out.line(&views::plugin_line(status))
    } else {
        out.text(&views::text(status))
    }
}

/// The exit code of a level.
fn exit(level: Level) -> Exit {
    match level {
        Level::Ok => Exit::Healthy,
        Level::Warning => Exit::Warning,
        Level::Critical => Exit::Critical,
    }
}

impl Args {
    /// The given limits over the usual ones.
    fn over(&self, usual: Thresholds) -> Thresholds {
        /// One pair.
        fn pair<T>(warning: Option<T>, critical: Option<T>, usual: Limits<T>) -> Limits<T> {
            Limits { warning: warning.unwrap_or(usual.warning), critical: critical.unwrap_or(usual.critical) }
        }
        Thresholds {
            free: pair(self.warn_free, self.crit_free, usual.free),
            pending: pair(self.warn_pending, self.crit_pending, usual.pending),
            tmp: pair(self.warn_tmp, self.crit_tmp, usual.tmp),
            failed: pair(self.warn_failed, self.crit_failed, usual.failed),
            sweep: pair(self.warn_sweep, self.crit_sweep, usual.sweep),
        }
    }
}
