//! What waits, and what stopped and nobody has dealt with: `formctl deliveries`, oldest first, in pages.

use rusqlite::{Connection, params};

use super::{DeliveryRow, ReceiptRow, Store, StoreError, list, rows};
use crate::domain::delivery::State;
use crate::domain::ids::DeliveryId;
use crate::domain::time::Timestamp;

/// Failures that one transaction acknowledges.
const BATCH: usize = 500;

/// Which deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// Everything that waits, and every failure that nobody has acknowledged.
    #[default]
    Outstanding,
    /// What waits for its first attempt, held or due.
    Pending,
    /// What waits for a further one.
    Retrying,
    /// What waits for its release.
    Held,
    /// Every failure, the acknowledged ones as well.
    Failed,
}

/// A delivery with what it belongs to.
#[derive(Clone, Debug)]
pub struct Outstanding {
    /// Its site.
    pub site: String,
    /// Its form.
    pub form: String,
    /// The delivery.
    pub delivery: DeliveryRow,
}

/// What an acknowledgement came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledged {
    /// The failure is acknowledged now.
    Now,
    /// It was before.
    Before,
    /// It has not failed.
    NotFailed(State),
    /// There is no such delivery.
    Missing,
}

/// Everything that waits and every failure that nobody acknowledged.
pub(super) const OUTSTANDING_SQL: &str = "
    SELECT receipt, n
    FROM deliveries INDEXED BY deliveries_waiting
    WHERE state IN ('pending', 'retrying') AND (receipt, n) > (?1, ?2)
    UNION ALL
    SELECT receipt, n
    FROM deliveries INDEXED BY deliveries_failed
    WHERE state = 'failed' AND acked = 0 AND (receipt, n) > (?1, ?2)
    ORDER BY receipt, n
    LIMIT ?3";

/// What waits in a state.
pub(super) const WAITING_SQL: &str = "
    SELECT receipt, n
    FROM deliveries INDEXED BY deliveries_waiting
    WHERE state IN ('pending', 'retrying') AND (receipt, n) > (?1, ?2)
      AND CASE ?4 WHEN 'held' THEN held IS NOT NULL ELSE state = ?4 END
    ORDER BY receipt, n
    LIMIT ?3";

/// Every failure, acknowledged or not.
pub(super) const FAILED_SQL: &str = "
    SELECT receipt, n
    FROM deliveries INDEXED BY deliveries_stopped
    WHERE state = 'failed' AND (receipt, n) > (?1, ?2)
    ORDER BY receipt, n
    LIMIT ?3";

impl Store {
    /// Up to `limit` deliveries behind `after`, in the order of arrival; blocking.
    pub fn outstanding(
        &self,
        which: Which,
        after: Option<DeliveryId>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<Outstanding>, StoreError> {
        self.read(|db| {
            let mut found = Vec::new();
            let mut receipt: Option<ReceiptRow> = None;
            for id in ids(db, which, after, limit)? {
                if receipt.as_ref().is_none_or(|row| row.id != id.receipt) {
                    receipt = list::one(db, id.receipt, now)?;
                }
                let Some(row) = &receipt else { continue };
                let delivery = row.deliveries.iter().find(|delivery| delivery.id == id).cloned();
                let whole = |delivery| Outstanding { site: row.site.clone(), form: row.form.clone(), delivery };
                found.extend(delivery.map(whole));
            }
            Ok(found)
        })
    }

    /// The operator has seen this failure: it is no alarm any more.
    pub fn acknowledge(&self, id: DeliveryId) -> Result<Acknowledged, StoreError> {
        self.write(move |db, _| {
            let key = params![id.receipt.as_row(), id.n];
            let there: bool = db
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM deliveries WHERE receipt = ?1 AND n = ?2)")?
                .query_row(key, |row| row.get(0))?;
            if !there {
                return Ok(Acknowledged::Missing);
            }
            match rows::state_of(db, id)? {
                State::Failed(_) => {
                    let set = "UPDATE deliveries SET acked = 1 WHERE receipt = ?1 AND n = ?2 AND acked = 0";
                    let changed = db.prepare_cached(set)?.execute(key)?;
                    Ok(if changed == 1 { Acknowledged::Now } else { Acknowledged::Before })
                }
                state @ (State::Pending(_) | State::Retrying(_) | State::Delivered) => {
                    Ok(Acknowledged::NotFailed(state))
                }
            }
        })
    }

    /// The operator has seen every failure there is; returns how many were new.
    pub fn acknowledge_all(&self) -> Result<u64, StoreError> {
        let mut all = 0;
        loop {
            let some = self.write(|db, _| {
                let set = "UPDATE deliveries SET acked = 1 WHERE (receipt, n) IN (
                               SELECT receipt, n FROM deliveries WHERE state = 'failed' AND acked = 0 LIMIT ?1)";
                Ok(db.prepare_cached(set)?.execute([i64::try_from(BATCH).unwrap_or(i64::MAX)])?)
            })?;
            all += u64::try_from(some).unwrap_or(0);
            if some < BATCH {
                return Ok(all);
            }
        }
    }
}

/// The deliveries asked for.
fn ids(db: &Connection, which: Which, after: Option<DeliveryId>, limit: u32) -> Result<Vec<DeliveryId>, StoreError> {
    let (sql, state) = match which {
        Which::Outstanding => (OUTSTANDING_SQL, None),
        Which::Pending => (WAITING_SQL, Some("pending")),
        Which::Retrying => (WAITING_SQL, Some("retrying")),
        Which::Held => (WAITING_SQL, Some("held")),
        Which::Failed => (FAILED_SQL, None),
    };
    let (receipt, n) = after.map_or((-1, 0), |id| (id.receipt.as_row(), id.n));
    let mut list = db.prepare_cached(sql)?;
    let mut found = match state {
        Some(state) => list.query(params![receipt, n, limit, state])?,
        None => list.query(params![receipt, n, limit])?,
    };
    let mut ids = Vec::new();
    while let Some(row) = found.next()? {
        ids.push(rows::delivery(row.get(0)?, row.get(1)?)?);
    }
    Ok(ids)
}
