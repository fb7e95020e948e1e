//! The rules of `status`, one function a subject; each says what is wrong and what to do.

use super::{Daemon, Files, Level, Limits, Mail, Observed, Reason, Thresholds};
use crate::domain::quantity::{age, bytes, counted};

/// Every reason not to be content, in no order of weight.
pub fn all(observed: &Observed, thresholds: &Thresholds) -> Vec<Reason> {
    let single = [
        daemon(observed),
        free(observed, thresholds.free),
        failed(observed, thresholds.failed),
        pending(observed, thresholds),
        tmp(observed, thresholds.tmp),
        sweep(observed, thresholds),
        clock(observed),
        files(observed),
        mail(observed),
        sites_gone(observed),
        restored(observed),
        confirmations(observed),
    ];
    single.into_iter().flatten().chain(untold(observed)).collect()
}

/// A reason of this level.
fn reason(level: Level, text: impl Into<String>) -> Reason {
    Reason { level, text: text.into() }
}

/// How bad a number is that should stay at or below its limits.
fn above<T: PartialOrd>(number: &T, limits: &Limits<T>) -> Level {
    match number {
        number if *number > limits.critical => Level::Critical,
        number if *number > limits.warning => Level::Warning,
        _ => Level::Ok,
    }
}

/// No daemon, no submissions.
fn daemon(observed: &Observed) -> Option<Reason> {
    match observed.daemon {
        Daemon::Running { .. } => None,
        Daemon::Stopped => Some(reason(Level::Critical, "the daemon is not running: `systemctl start formd`")),
    }
}

/// Room on the disk.
fn free(observed: &Observed, limits: Limits<u64>) -> Option<Reason> {
    let free = observed.numbers.free_bytes;
    let shown = bytes(free);
    if free < limits.critical {
        let text = format!(
            "{shown} are free, less than {}: submissions are refused below the reserve",
            bytes(limits.critical)
        );
        Some(reason(Level::Critical, text))
    } else if free < limits.warning {
        Some(reason(Level::Warning, format!("{shown} are free, less than {}", bytes(limits.warning))))
    } else {
        None
    }
}

/// What stopped and nobody has dealt with.
fn failed(observed: &Observed, limits: Limits<u64>) -> Option<Reason> {
    let failed = observed.numbers.failed_deliveries;
    let text = format!(
        "{} failed: `formctl deliveries --state failed`, then `formctl resend --failed` or `formctl deliveries --ack`",
        deliveries(failed)
    );
    match failed {
        0 => None,
        count if count >= limits.critical => Some(reason(Level::Critical, text)),
        count if count >= limits.warning => Some(reason(Level::Warning, text)),
        _ => None,
    }
}

/// `1 delivery`, `3 deliveries`.
fn deliveries(count: u64) -> String {
    if count == 1 { "1 delivery".to_owned() } else { format!("{count} deliveries") }
}

/// What waits for a site's file.
fn sites_gone(observed: &Observed) -> Option<Reason> {
    let sites = &observed.numbers.sites_gone;
    let count = deliveries(sites.iter().map(|(_, count)| count).sum());
    let names: Vec<String> = sites.iter().map(|(site, count)| format!("`{site}` {count}")).collect();
    let text = format!(
        "held because the site's file is gone: {count} ({}); put the file back and `formctl reload`, or erase the receipts",
        names.join(", ")
    );
    (!sites.is_empty()).then(|| reason(Level::Warning, text))
}

/// What waits since a restore.
fn restored(observed: &Observed) -> Option<Reason> {
    let held = observed.numbers.restored_held;
    let text = format!("held since a restore: {}; `formctl deliveries --release` sends them", deliveries(held));
    (held > 0).then(|| reason(Level::Warning, text))
}

/// Visitors who were to hear from us and did not.
fn confirmations(observed: &Observed) -> Option<Reason> {
    let failed = observed.numbers.failed_confirmations;
    let text = format!(
        "{} failed: `formctl deliveries --state failed`, then `formctl deliveries --ack`",
        counted(failed, "confirmation")
    );
    (failed > 0).then(|| reason(Level::Warning, text))
}

/// A queue that stands still.
fn pending(observed: &Observed, thresholds: &Thresholds) -> Option<Reason> {
    let waited = observed.oldest_pending()?;
    let level = above(&waited, &thresholds.pending);
    let text = format!("the oldest waiting delivery came in {} ago: `formctl deliveries`", age(waited.as_secs_ceil()));
    (level > Level::Ok).then(|| reason(level, text))
}

/// Uploads that pile up.
fn tmp(observed: &Observed, limits: Limits<u64>) -> Option<Reason> {
    let level = above(&observed.numbers.tmp_bytes, &limits);
    let text = format!("uploads in `tmp/` take {}", bytes(observed.numbers.tmp_bytes));
    (level > Level::Ok).then(|| reason(level, text))
}

/// Values that expired and still lie on the disk.
fn sweep(observed: &Observed, thresholds: &Thresholds) -> Option<Reason> {
    let Some(last) = observed.facts.last_sweep_at else {
        return Some(reason(Level::Warning, "no sweep has run yet: `formctl sweep`"));
    };
    let since = observed.now.since(last);
    let level = above(&since, &thresholds.sweep);
    let text = format!("the last sweep was {} ago: `formctl sweep`", age(since.as_secs_ceil()));
    (level > Level::Ok).then(|| reason(level, text))
}

/// A clock that is not believed.
fn clock(observed: &Observed) -> Option<Reason> {
    let until = observed.facts.erasing_waits_until?;
    let text = format!(
        "the clock jumped ahead by more than a day: nothing is erased by its date before {until}; if the time is wrong, set it right before then"
    );
    matches!(observed.daemon, Daemon::Running { .. }).then(|| reason(Level::Warning, text))
}

/// Files that are not what runs. A stopped daemon reads them when it starts: only mistakes matter then.
fn files(observed: &Observed) -> Option<Reason> {
    match (observed.files(), observed.daemon) {
        (Files::InForce, _) | (Files::Changed, Daemon::Stopped) => None,
        (Files::Changed, Daemon::Running { .. }) => {
            Some(reason(Level::Warning, "the configuration files are not what runs: `formctl reload`"))
        }
        (Files::Broken, _) => Some(reason(
            Level::Warning,
            "the configuration files are not what runs, they have mistakes: `formctl check`",
        )),
    }
}

/// Mail that cannot leave.
fn mail(observed: &Observed) -> Option<Reason> {
    match observed.declared.as_ref()?.mail {
        Mail::Configured | Mail::NotNeeded => None,
        Mail::Missing => Some(reason(Level::Warning, "mail is not set up: add `[mail]` to formd.toml")),
    }
}

/// Forms whose submissions reach nobody.
fn untold(observed: &Observed) -> Option<Reason> {
    let forms = &observed.declared.as_ref()?.untold_forms;
    let count = counted(u64::try_from(forms.len()).unwrap_or(u64::MAX), "form");
    let names: Vec<String> = forms.iter().map(|form| format!("`{form}`")).collect();
    let text = format!("nobody is told of {count}: {}; add a destination", names.join(", "));
    (!forms.is_empty()).then(|| reason(Level::Warning, text))
}

#[cfg(test)]
mod tests {
    use super::super::{Declared, Status, judge};
    use super::*;
    use crate::domain::bounds::MIB;
    use crate::domain::time::{Span, Timestamp};
    use crate::store::{DaemonFacts, Numbers};

    /// A server without a trouble.
    fn well() -> Observed {
        let now = Timestamp::from_millis(1_796_056_099_007);
        Observed {
            numbers: Numbers { free_bytes: 2048 * MIB, ..Numbers::default() },
            facts: DaemonFacts {
                config_hash: Some("h".into()),
                last_sweep_at: Some(now.minus(Span::from_minutes(1))),
                ..DaemonFacts::default()
            },
            daemon: Daemon::Running { pid: 7 },
            declared: Some(Declared {
                hash: "h".into(),
                mail: Mail::Configured,
                untold_forms: vec![],
                disk_reserve: 256 * MIB,
            }),
            now,
        }
    }

    fn judged(change: impl FnOnce(&mut Observed)) -> Status {
        let mut observed = well();
        change(&mut observed);
        let thresholds = observed.thresholds();
        judge(observed, thresholds)
    }

    #[test]
    fn a_server_without_a_trouble_is_ok() {
        let status = judged(|_| ());
        assert_eq!((status.level, status.reasons), (Level::Ok, vec![]));
    }

    #[test]
    fn each_trouble_has_its_level() {
        type Case<'a> = (&'a str, Level, &'a dyn Fn(&mut Observed));
        let ago = |o: &Observed, span| Some(o.now.minus(span));
        let cases: [Case<'_>; 21] = [
            ("clock jumped", Level::Warning, &|o| o.facts.erasing_waits_until = Some(o.now)),
            ("stopped", Level::Critical, &|o| o.daemon = Daemon::Stopped),
            ("one failed", Level::Critical, &|o| o.numbers.failed_deliveries = 1),
            ("a site's file gone", Level::Warning, &|o| o.numbers.sites_gone = vec![("old".into(), 2)]),
            ("restored", Level::Warning, &|o| o.numbers.restored_held = 1),
            ("a confirmation failed", Level::Warning, &|o| o.numbers.failed_confirmations = 1),
            ("reserve reached", Level::Warning, &|o| o.numbers.free_bytes = 256 * MIB),
            ("below the reserve", Level::Critical, &|o| o.numbers.free_bytes = 256 * MIB - 1),
            ("below four reserves", Level::Warning, &|o| o.numbers.free_bytes = 1024 * MIB - 1),
            ("four reserves", Level::Ok, &|o| o.numbers.free_bytes = 1024 * MIB),
            ("pending 1 h", Level::Ok, &|o| o.numbers.oldest_pending = ago(o, Span::from_hours(1))),
            ("pending 2 h", Level::Warning, &|o| o.numbers.oldest_pending = ago(o, Span::from_hours(2))),
            ("pending 7 h", Level::Critical, &|o| o.numbers.oldest_pending = ago(o, Span::from_hours(7))),
            ("tmp", Level::Warning, &|o| o.numbers.tmp_bytes = 1025 * MIB),
            ("never swept", Level::Warning, &|o| o.facts.last_sweep_at = None),
            ("swept long ago", Level::Warning, &|o| o.facts.last_sweep_at = ago(o, Span::from_hours(2))),
            ("swept days ago", Level::Critical, &|o| o.facts.last_sweep_at = ago(o, Span::from_days(2))),
            ("files changed", Level::Warning, &|o| o.facts.config_hash = Some("old".into())),
            ("files broken", Level::Warning, &|o| o.declared = None),
            ("no mail", Level::Warning, &|o| o.declared.as_mut().unwrap().mail = Mail::Missing),
            ("untold", Level::Warning, &|o| o.declared.as_mut().unwrap().untold_forms = vec!["acme/quote".into()]),
        ];
        for (name, level, change) in cases {
            let status = judged(change);
            assert_eq!(status.level, level, "{name}: {:?}", status.reasons);
            assert_eq!(status.reasons.len(), usize::from(level > Level::Ok), "{name}: {:?}", status.reasons);
        }
    }

    #[test]
    fn the_worst_reason_stands_first_and_decides() {
        let status = judged(|o| {
            o.declared.as_mut().unwrap().mail = Mail::Missing;
            o.numbers.failed_deliveries = 3;
            o.daemon = Daemon::Stopped;
        });
        assert_eq!(status.level, Level::Critical);
        let levels: Vec<_> = status.reasons.iter().map(|reason| reason.level).collect();
        assert_eq!(levels, [Level::Critical, Level::Critical, Level::Warning]);
    }

    #[test]
    fn a_stopped_daemon_is_not_asked_to_reload() {
        let status = judged(|o| {
            o.daemon = Daemon::Stopped;
            o.facts.config_hash = Some("old".into());
        });
        assert_eq!(status.reasons.len(), 1, "{:?}", status.reasons);
    }
}
