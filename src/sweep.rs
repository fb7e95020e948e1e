//! The periodic work, as the daemon does it every minute and `formctl sweep` at any time: values whose time is
//! over are erased, leftovers of interrupted uploads go, files without a row wait in quarantine.
//!
//! The work itself stands in the store, in small transactions, so that intake is never held up and two sweeps at
//! once are safe. This file says by which ages. A crash in the middle leaves work
//! for the next one and nothing else. It looks at no site's configuration: closed sites and sites that nobody
//! configures any more expire like the others.

use crate::config::Config;
use crate::domain::steady::{Erasing, Reading};
use crate::domain::time::Span;
use crate::store::{Store, StoreError, SweepReport, SweepRules, Throttle};

/// What an upload may take beyond the body's own time: a slow head, the wait for the budget, the sealing.
const UPLOAD_MARGIN: Span = Span::from_minutes(30);

/// Whether a sweep changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It does what it finds to do.
    CarryOut,
    /// It only counts.
    Plan,
}

/// One sweep by the rules of `config`; blocking. The store writes down that it ended, for `status`.
pub fn run(
    store: &Store,
    config: &Config,
    mode: Mode,
    now: Reading,
    erasing: Erasing,
) -> Result<SweepReport, StoreError> {
    let limiter = Throttle::new(config.daemon.limiter_dir.clone(), config.daemon.bounds.limiter_files);
    let rules = SweepRules { erasing, ..rules(config) };
    match mode {
        Mode::Plan => store.plan_sweep(rules, &limiter, now.wall),
        Mode::CarryOut => store.sweep(rules, &limiter, now.wall),
    }
}

/// Whether a tool may erase by date: as the daemon believes its clock, where one runs. Without a daemon nobody has
/// watched the clock, and a server that was switched off for a month looks the same as a clock that jumped: the time
/// is believed.
pub fn erasing(store: &Store, now: Reading) -> Result<Erasing, StoreError> {
    match (store.directory().daemon_pid()?, store.facts()?.clock) {
        (Some(_), Some(guard)) => Ok(guard.judge(now).1),
        _ => Ok(Erasing::Goes),
    }
}

/// The ages of `config`; a `.part` stays longer than the longest upload that the bounds allow.
pub fn rules(config: &Config) -> SweepRules {
    let settings = &config.daemon.sweep;
    let longest =
        Span::from_millis(config.daemon.bounds.body_time.as_millis().saturating_add(UPLOAD_MARGIN.as_millis()));
    SweepRules {
        part_age: settings.part_age.max(longest),
        orphan_age: settings.orphan_age.max(longest),
        quarantine_age: Span::from_days(i64::from(settings.quarantine_days)),
        erasing: Erasing::Goes,
    }
}
