//! The numbers of `status`. Each costs what it counts (what is held, what failed and nobody dealt with, an hour of
//! arrivals) in index entries, never the whole of what was ever accepted. What would cost more is counted along
//! (attachments) or bounded (lookalikes).

use rusqlite::{Connection, OptionalExtension as _};

use super::{Store, StoreError, disk, rows};
use crate::domain::delivery::Hold;
use crate::domain::ids::ReceiptId;
use crate::domain::time::{Span, Timestamp};

/// The numbers of `formctl status` that the database and the directory know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Free bytes of the data file system.
    pub free_bytes: u64,
    /// Arrival of the oldest submission with a delivery that waits and is not held.
    pub oldest_pending: Option<Timestamp>,
    /// Bytes in `tmp/`.
    pub tmp_bytes: u64,
    /// Files in `tmp/`.
    pub tmp_files: u64,
    /// Failed deliveries of operators' destinations that nobody acknowledged (refused or exhausted).
    pub failed_deliveries: u64,
    /// Files in quarantine.
    pub quarantine_files: u64,
    /// Bytes of the database and its log.
    pub database_bytes: u64,
    /// Bytes of kept attachments.
    pub attachments_bytes: u64,
    /// Kept attachments.
    pub attachments_files: u64,
    /// Receipts judged spam and held.
    pub spam_held: u64,
    /// Deliveries held because their site has no file any more, by site.
    pub sites_gone: Vec<(String, u64)>,
    /// Deliveries held since a restore.
    pub restored_held: u64,
    /// Confirmations that failed, refused or exhausted, and nobody acknowledged.
    pub failed_confirmations: u64,
    /// Submissions of the last hour.
    pub last_hour: u64,
    /// Submissions of the same hour of the same weekday, the mean of up to 4 weeks; `None` without history.
    pub usual_hour: Option<f64>,
    /// Receipts of the last day with equal content and different keys, among the latest 5,000.
    pub lookalikes: u64,
}

/// Weeks that make the usual hour.
const WEEKS: i64 = 4;

impl Store {
    /// The numbers of `status`; blocking.
    pub fn numbers(&self, now: Timestamp) -> Result<Numbers, StoreError> {
        let directory = self.directory();
        let tmp = disk::entries(&directory.tmp())?;
        let quarantine = disk::entries(&directory.quarantine())?;
        let mut numbers = self.read(|db| from_database(db, now))?;
        numbers.free_bytes = directory.free_bytes()?;
        numbers.tmp_bytes = tmp.iter().map(|entry| entry.size).sum();
        numbers.tmp_files = u64::try_from(tmp.len()).unwrap_or(u64::MAX);
        numbers.quarantine_files = u64::try_from(quarantine.len()).unwrap_or(u64::MAX);
        let files = ["formd.db", "formd.db-wal"].map(|name| directory.root().join(name));
        numbers.database_bytes = files.iter().filter_map(|path| path.metadata().ok()).map(|facts| facts.len()).sum();
        Ok(numbers)
    }
}

/// The oldest receipt with a delivery that waits for its turn. What is held waits for somebody, has its own numbers,
/// and says nothing of a queue that stands still.
pub(super) const OLDEST_SQL: &str = "
    SELECT receipt
    FROM deliveries INDEXED BY deliveries_waiting
    WHERE state IN ('pending', 'retrying') AND held IS NULL
    ORDER BY receipt
    LIMIT 1";

/// Failures that somebody has to deal with: of the operator's own destinations, by the peer's word or exhausted.
pub(super) const FAILED_SQL: &str = "
    SELECT COUNT(*)
    FROM deliveries
    WHERE state = 'failed' AND acked = 0 AND reason IN ('refused', 'exhausted') AND channel <> 'confirmation'";

/// The same of confirmations, which are no alarm.
pub(super) const CONFIRMATIONS_SQL: &str = "
    SELECT COUNT(*)
    FROM deliveries
    WHERE state = 'failed' AND acked = 0 AND reason IN ('refused', 'exhausted') AND channel = 'confirmation'";

/// What is held, by reason and site: deliveries and receipts.
pub(super) const HELD_SQL: &str = "
    SELECT held, site, COUNT(*), COUNT(DISTINCT receipt)
    FROM deliveries INDEXED BY deliveries_held
    WHERE held IS NOT NULL
    GROUP BY held, site";

/// Kept attachments, counted along.
pub(super) const KEPT_SQL: &str = "SELECT files, bytes FROM attachments_kept";

/// Receipts among which lookalikes are sought: a sign needs no more.
const LOOKED_AT: u32 = 5000;

/// Receipts beyond the first with equal content and different keys, among the latest: a front-end that renews its key.
pub(super) const LOOKALIKES_SQL: &str = "
    SELECT COALESCE(SUM(more), 0)
    FROM (
        SELECT COUNT(*) - 1 AS more
        FROM (
            SELECT site, form, content_hash, key_hash
            FROM receipts
            WHERE id >= ?1
            ORDER BY id DESC
            LIMIT ?2
        )
        WHERE key_hash IS NOT NULL
        GROUP BY site, form, content_hash
        HAVING COUNT(*) > 1
    )";

/// What the database knows.
fn from_database(db: &Connection, now: Timestamp) -> Result<Numbers, StoreError> {
    let one = |sql: &str| -> Result<u64, StoreError> {
        Ok(rows::count(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
    };
    let oldest: Option<i64> = db.prepare_cached(OLDEST_SQL)?.query_row([], |row| row.get(0)).optional()?;
    let day_ago = ReceiptId::new(now.minus(Span::from_days(1)), 0).as_row();
    let lookalikes: i64 = db.prepare_cached(LOOKALIKES_SQL)?.query_row((day_ago, LOOKED_AT), |row| row.get(0))?;
    let (files, bytes): (i64, i64) =
        db.prepare_cached(KEPT_SQL)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut numbers = Numbers {
        oldest_pending: oldest.map(rows::receipt).transpose()?.map(ReceiptId::arrived_at),
        failed_deliveries: one(FAILED_SQL)?,
        attachments_bytes: rows::count(bytes),
        attachments_files: rows::count(files),
        failed_confirmations: one(CONFIRMATIONS_SQL)?,
        last_hour: arrivals(db, now)?,
        usual_hour: usual_hour(db, now)?,
        lookalikes: rows::count(lookalikes),
        ..Numbers::default()
    };
    count_held(db, &mut numbers)?;
    Ok(numbers)
}

/// Counts what is held.
fn count_held(db: &Connection, numbers: &mut Numbers) -> Result<(), StoreError> {
    let mut held = db.prepare_cached(HELD_SQL)?;
    let mut found = held.query([])?;
    while let Some(row) = found.next()? {
        let (why, deliveries): (String, u64) = (row.get(0)?, rows::count(row.get(2)?));
        match Hold::parse(&why) {
            Some(Hold::Spam) => numbers.spam_held += rows::count(row.get(3)?),
            Some(Hold::Restored) => numbers.restored_held += deliveries,
            Some(Hold::SiteGone) => numbers.sites_gone.push((row.get(1)?, deliveries)),
            None => return Err(StoreError::Unknown(format!("held `{why}`"))),
        }
    }
    Ok(())
}

/// Submissions of the hour that ends with `end`.
fn arrivals(db: &Connection, end: Timestamp) -> Result<u64, StoreError> {
    let last = |moment: Timestamp| ReceiptId::new(moment, u32::MAX).as_row();
    let range = (last(end.minus(Span::from_hours(1))), last(end));
    let mut count = db.prepare_cached("SELECT COUNT(*) FROM receipts WHERE id > ?1 AND id <= ?2")?;
    Ok(rows::count(count.query_row(range, |row| row.get(0))?))
}

/// The mean of the same hour in past weeks, as far back as there are receipts.
fn usual_hour(db: &Connection, now: Timestamp) -> Result<Option<f64>, StoreError> {
    let first: Option<i64> = db.prepare_cached("SELECT MIN(id) FROM receipts")?.query_row([], |row| row.get(0))?;
    let Some(first) = first.map(rows::receipt).transpose()?.map(ReceiptId::arrived_at) else { return Ok(None) };
    let (mut weeks, mut sum) = (0_u32, 0_u64);
    for week in 1..=WEEKS {
        let end = now.minus(Span::from_days(7 * week));
        if end.minus(Span::from_hours(1)) < first {
            break;
        }
        weeks += 1;
        sum += arrivals(db, end)?;
    }
    #[expect(clippy::cast_precision_loss, reason = "submissions of four hours are far below 2^52")]
    let mean = (weeks > 0).then(|| sum as f64 / f64::from(weeks));
    Ok(mean)
}
