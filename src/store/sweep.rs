//! The sweep: what a minute's round and cron do alike, in the daemon or in a tool, both at once if need be.
//!
//! The periodic work is one table, [`WORK`]. Each item is small steps (a transaction of at most 50 rows, a file at a
//! time) and repeatable: whatever a crash, a fault or another sweep leaves undone, the next one does. An item that
//! fails holds no other up; the sweep then ends with its error. The log is truncated at the end, since only then
//! what was erased is gone from it.
//!
//! What goes by its age waits while the clock is not believed ([`crate::domain::steady`]). `.part` files do not: a
//! request that runs holds its own, whatever the time.

use rusqlite::Connection;

use super::erase::{BATCH, Old};
use super::record::DOUBLE_CLICK;
use super::writer::Truncated;
use super::{Store, StoreError, Throttle, facts, rows, strays};
use crate::domain::ids::ReceiptId;
use crate::domain::steady::Erasing;
use crate::domain::time::{Span, Timestamp};

/// The ages of the sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepRules {
    /// `.part` files older than this are removed.
    pub part_age: Span,
    /// Files without a row older than this go to quarantine.
    pub orphan_age: Span,
    /// Quarantined files, and copies of the database, older than this are removed.
    pub quarantine_age: Span,
    /// Whether ages are believed.
    pub erasing: Erasing,
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
    /// Copies of the database from before a migration, given up.
    pub copies_removed: u64,
    /// Hashes of clients and of confirmed mailboxes that have served.
    pub hashes_forgotten: u64,
    /// Empty folders of past days removed.
    pub folders_removed: u64,
    /// Files of what was erased that could not be removed yet.
    pub removals_left: u64,
    /// Whether the log was truncated behind it; `false`: an old reader still pins it.
    pub wal_truncated: bool,
    /// Until when nothing goes by its age, because the clock jumped ahead.
    pub waits_until: Option<Timestamp>,
}

/// What the items work with.
pub(super) struct Round<'a> {
    /// What is swept.
    pub(super) store: &'a Store,
    /// By which ages.
    pub(super) rules: SweepRules,
    /// The limiter's folder.
    pub(super) limiter: &'a Throttle,
    /// When.
    pub(super) now: Timestamp,
}

/// Whether an item goes by an age that a wrong clock makes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByAge {
    /// It does, and waits for a clock that is believed.
    Yes,
    /// It does not, or nothing is lost by it.
    No,
}

/// How an item counts, or does, what there is to do.
type Act = fn(&Round<'_>) -> Result<u64, StoreError>;

/// One line of the table.
struct Work {
    /// What the log calls it.
    name: &'static str,
    /// Whether it waits after a jump of the clock.
    by_age: ByAge,
    /// Counts what there is to do, and does nothing.
    plan: Act,
    /// Does it, and counts what was done.
    carry_out: Act,
    /// Where the report has its number.
    number: fn(&mut SweepReport) -> &mut u64,
}

/// How many files are to be removed.
const LISTED_SQL: &str = "SELECT COUNT(*) FROM removals";

/// All periodic work, in its order.
const WORK: &[Work] = &[
    Work {
        name: "postponed removals",
        by_age: ByAge::No,
        plan: |round| one(round, LISTED_SQL),
        carry_out: |round| Ok(round.store.clear_removals()?.removed),
        number: |report| &mut report.removals_retried,
    },
    Work {
        name: "expired receipts",
        by_age: ByAge::Yes,
        plan: count_expired,
        carry_out: |round| {
            batches(|| {
                round.store.checkpoint_aside()?;
                round.store.expire_some(round.now)
            })
        },
        number: |report| &mut report.expired,
    },
    Work {
        name: "copies of the database",
        by_age: ByAge::Yes,
        plan: |round| Ok(strays::count_of(&round.store.copies(|modified| old(round, modified))?)),
        carry_out: |round| round.store.give_up_copies(|modified| old(round, modified)),
        number: |report| &mut report.copies_removed,
    },
    Work {
        name: "files of what was erased",
        by_age: ByAge::No,
        plan: |_| Ok(0),
        carry_out: |round| round.store.clear_removals().map(|_| 0),
        number: |report| &mut report.removals_retried,
    },
    Work {
        name: "mails of what was erased",
        by_age: ByAge::No,
        plan: |round| Ok(strays::count_of(&strays::mails(round)?)),
        carry_out: strays::remove_mails,
        number: |report| &mut report.removals_retried,
    },
    Work {
        name: "hashes of clients",
        by_age: ByAge::No,
        plan: |_| Ok(0),
        carry_out: |round| batches(|| round.store.forget_clients(round.now)),
        number: |report| &mut report.hashes_forgotten,
    },
    Work {
        name: "hashes of mailboxes",
        by_age: ByAge::No,
        plan: |_| Ok(0),
        carry_out: |round| batches(|| round.store.forget_mailboxes(round.now)),
        number: |report| &mut report.hashes_forgotten,
    },
    Work {
        name: "broken uploads",
        by_age: ByAge::No,
        plan: |round| Ok(strays::count_of(&strays::parts(round)?)),
        carry_out: strays::remove_old_parts,
        number: |report| &mut report.parts_removed,
    },
    Work {
        name: "files without a row",
        by_age: ByAge::Yes,
        plan: |round| Ok(strays::count_of(&strays::orphans(round)?)),
        carry_out: strays::quarantine_orphans,
        number: |report| &mut report.quarantined,
    },
    Work {
        name: "files in quarantine",
        by_age: ByAge::Yes,
        plan: |round| Ok(strays::count_of(&strays::quarantined(round)?)),
        carry_out: strays::remove_quarantined,
        number: |report| &mut report.quarantine_removed,
    },
    Work {
        name: "empty folders",
        by_age: ByAge::No,
        plan: |round| Ok(strays::count_of(&strays::empty_folders(round)?)),
        carry_out: strays::remove_folders,
        number: |report| &mut report.folders_removed,
    },
    Work {
        name: "limiter files",
        by_age: ByAge::No,
        plan: |round| Ok(round.limiter.plan_sweep(round.now)),
        carry_out: |round| Ok(round.limiter.sweep(round.now)),
        number: |report| &mut report.limiter_removed,
    },
];

impl Store {
    /// One sweep in small transactions; safe beside the daemon and another sweep. Blocking.
    pub fn sweep(&self, rules: SweepRules, limiter: &Throttle, now: Timestamp) -> Result<SweepReport, StoreError> {
        let (mut report, failed) = go_through(&Round { store: self, rules, limiter, now }, |work| work.carry_out);
        let truncated = self.checkpoint_aside().and_then(|()| self.truncate(2));
        failed?;
        report.wal_truncated = truncated? == Truncated::Yes;
        report.removals_left = self.read(|db| Ok(rows::count(db.query_row(LISTED_SQL, [], |row| row.get(0))?)))?;
        self.write(move |db, _| facts::write(db, "last_sweep_at", &now.to_string(), now))?;
        Ok(report)
    }

    /// What a sweep would do, without doing it. Blocking.
    pub fn plan_sweep(&self, rules: SweepRules, limiter: &Throttle, now: Timestamp) -> Result<SweepReport, StoreError> {
        let (report, failed) = go_through(&Round { store: self, rules, limiter, now }, |work| work.plan);
        failed.map(|()| report)
    }

    /// Forgets up to [`BATCH`] clients' hashes that have served; returns how many.
    fn forget_clients(&self, now: Timestamp) -> Result<usize, StoreError> {
        self.write(move |db, _| forget_clients(db, ReceiptId::new(now.minus(DOUBLE_CLICK), 0)))
    }
}

/// Goes through the table; the last item that failed, if any.
fn go_through(round: &Round<'_>, act: impl Fn(&Work) -> Act) -> (SweepReport, Result<(), StoreError>) {
    let waits_until = match round.rules.erasing {
        Erasing::Goes => None,
        Erasing::Waits { until } => Some(until),
    };
    let mut report = SweepReport { waits_until, ..SweepReport::default() };
    let mut failed = Ok(());
    for work in WORK.iter().filter(|work| waits_until.is_none() || work.by_age == ByAge::No) {
        match act(work)(round) {
            Ok(done) => *(work.number)(&mut report) += done,
            Err(error) => {
                tracing::error!(event = "sweep_item_failed", item = work.name, %error, "an item of the sweep failed; the others go on");
                failed = Err(error);
            }
        }
    }
    (report, failed)
}

/// Does one batch after the other until one is not full.
fn batches(batch: impl Fn() -> Result<usize, StoreError>) -> Result<u64, StoreError> {
    let mut all = 0;
    loop {
        let done = batch()?;
        all += u64::try_from(done).unwrap_or(u64::MAX);
        if done < BATCH {
            return Ok(all);
        }
    }
}

/// Whether a copy of the database is old enough to go.
fn old(round: &Round<'_>, modified: Timestamp) -> Old {
    if modified <= round.now.minus(round.rules.quarantine_age) { Old::Enough } else { Old::TooYoung }
}

/// A count of the database.
fn one(round: &Round<'_>, sql: &str) -> Result<u64, StoreError> {
    round.store.read(|db| Ok(rows::count(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)))
}

/// How many receipts' time is over.
pub(super) const EXPIRED_COUNT_SQL: &str = "SELECT COUNT(*) FROM receipts WHERE erased_at IS NULL AND erase_at <= ?1";

/// Counts them.
fn count_expired(round: &Round<'_>) -> Result<u64, StoreError> {
    let now = round.now.as_millis();
    round.store.read(|db| Ok(rows::count(db.prepare_cached(EXPIRED_COUNT_SQL)?.query_row([now], |row| row.get(0))?)))
}

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
