//! The sweep: what a minute's round and cron do alike, in the daemon or in a tool, both at once if need be.
//!
//! Every step is small (a transaction of at most 50 receipts, a file at a time) and repeatable: whatever a crash or
//! another sweep leaves undone, the next one does.

use rusqlite::Connection;

use super::erase::{BATCH, Old};
use super::record::DOUBLE_CLICK;
use super::strays::Strays;
use super::writer::Truncated;
use super::{Store, StoreError, facts, rows};
use crate::domain::ids::ReceiptId;
use crate::domain::time::{Span, Timestamp};

/// The ages of the sweep.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "they are called so in the configuration")]
pub struct SweepRules {
    /// `.part` files older than this are removed.
    pub part_age: Span,
    /// Files without a row older than this go to quarantine.
    pub orphan_age: Span,
    /// Quarantined files older than this are removed.
    pub quarantine_age: Span,
}

/// What a sweep did, or would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Receipts whose values were erased because their time was over.
    pub expired: u64,
    /// `.part` files removed.
    pub parts_removed: u64,
    /// Files without a row moved to quarantine.
    pub quarantined: u64,
    /// Files removed from quarantine.
    pub quarantine_removed: u64,
    /// State files of the limiter removed.
    pub limiter_removed: u64,
    /// Postponed removals that succeeded now.
    pub removals_retried: u64,
    /// Whether the log was truncated behind it; `false`: an old reader still pins it.
    pub wal_truncated: bool,
}

impl Store {
    /// One sweep in small transactions; safe beside the daemon and another sweep. Blocking.
    pub fn sweep(
        &self,
        rules: SweepRules,
        limiter: &super::Throttle,
        now: Timestamp,
    ) -> Result<SweepReport, StoreError> {
        let mut report = SweepReport { removals_retried: self.clear_removals()?.removed, ..SweepReport::default() };
        loop {
            let expired = self.expire_some(now)?;
            report.expired += u64::try_from(expired).unwrap_or(u64::MAX);
            self.checkpoint_aside()?;
            if expired < BATCH {
                break;
            }
        }
        self.clear_removals()?;
        while self.forget_clients(now)? == BATCH {}
        while self.forget_mailboxes(now)? == BATCH {}
        let strays = self.read(|db| Strays::find(self.directory(), db, rules, now))?;
        let swept = strays.remove(self.directory(), now);
        report.parts_removed = swept.parts;
        report.quarantined = swept.orphans;
        report.quarantine_removed = swept.quarantined;
        report.removals_retried += swept.mails;
        report.limiter_removed = limiter.sweep(now);
        self.remove_copies(
            |modified| {
                if modified <= now.minus(rules.quarantine_age) { Old::Enough } else { Old::TooYoung }
            },
        )?;
        self.write(move |db, _| facts::write(db, "last_sweep_at", &now.to_string(), now))?;
        self.checkpoint_aside()?;
        report.wal_truncated = self.truncate(2)? == Truncated::Yes;
        Ok(report)
    }

    /// What a sweep would do, without doing it. Blocking.
    pub fn plan_sweep(
        &self,
        rules: SweepRules,
        limiter: &super::Throttle,
        now: Timestamp,
    ) -> Result<SweepReport, StoreError> {
        let (strays, expired, removals) = self.read(|db| {
            let strays = Strays::find(self.directory(), db, rules, now)?;
            let expired: i64 = db.prepare_cached(EXPIRED_COUNT_SQL)?.query_row([now.as_millis()], |row| row.get(0))?;
            let removals: i64 = db.prepare_cached("SELECT COUNT(*) FROM removals")?.query_row([], |row| row.get(0))?;
            Ok((strays, rows::count(expired), rows::count(removals)))
        })?;
        let count = |paths: &[std::path::PathBuf]| u64::try_from(paths.len()).unwrap_or(u64::MAX);
        Ok(SweepReport {
            expired,
            parts_removed: count(&strays.parts),
            quarantined: count(&strays.orphans),
            quarantine_removed: count(&strays.quarantined),
            limiter_removed: limiter.plan_sweep(now),
            removals_retried: removals + count(&strays.mails),
            wal_truncated: false,
        })
    }

    /// Forgets up to [`BATCH`] clients' hashes that have served; returns how many.
    fn forget_clients(&self, now: Timestamp) -> Result<usize, StoreError> {
        self.write(move |db, _| forget_clients(db, ReceiptId::new(now.minus(DOUBLE_CLICK), 0)))
    }
}

/// How many receipts' time is over.
pub(super) const EXPIRED_COUNT_SQL: &str = "SELECT COUNT(*) FROM receipts WHERE erased_at IS NULL AND erase_at <= ?1";

/// Finds them in the small index of those that still have one.
pub(super) const FORGET_SQL: &str = "
    UPDATE receipts
    SET client_hash = NULL
    WHERE id IN (SELECT id FROM receipts WHERE client_hash IS NOT NULL AND id < ?1 LIMIT ?2)";

/// Forgets up to [`BATCH`] clients' hashes of receipts before `since`.
fn forget_clients(db: &Connection, since: ReceiptId) -> Result<usize, StoreError> {
    let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
    Ok(db.prepare_cached(FORGET_SQL)?.execute((since.as_row(), limit))?)
}
