//! Erasing values: on the operator's word, and when their time is over.
//!
//! ```text
//! one transaction: contents and attachments deleted, files on the removal list, waiting deliveries ended,
//!                  what peers said forgotten
//! then:            files unlinked, their folders synced, the removal list shortened, the log truncated
//! ```
//!
//! The receipt with its key and its content hash stays, so that repeats are still recognised. A crash in between
//! leaves rows on the removal list, and every sweep works them off. A send under way cannot be recalled: it is
//! named, its outcome is written down later, and no value returns to disk. Batches are small, so that intake is
//! never held up.

use std::collections::BTreeSet;
use std::path::{Component, Path};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::rows::StateColumns;
use super::writer::Truncated;
use super::{Store, StoreError, directory, disk, rows, schema};
use crate::domain::delivery::{self, Event};
use crate::domain::ids::{DeliveryId, ReceiptId};
use crate::domain::receipt::Erasure;
use crate::domain::time::Timestamp;

/// Receipts of one transaction: few, so that a submission that comes meanwhile waits shortly.
pub(super) const BATCH: usize = 50;
/// Tries to truncate the log on the operator's word, 50 ms apart: a short reader must not make it *pending*.
pub(super) const TRIES: u32 = 10;

/// What an erasure came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Receipts whose values are unreadable now and were readable before.
    pub receipts: u64,
    /// Sends under way that could not be recalled.
    pub sending: Vec<DeliveryId>,
    /// Files that could not be unlinked yet.
    pub files_left: u64,
    /// Whether every trace is gone from the database and its log (`false`: an old reader still pins the log).
    pub wal_truncated: bool,
}

impl Store {
    /// Erases the values of `ids` now: rows deleted, waiting deliveries failed as `values_gone`, files unlinked,
    /// folders synced, the log truncated. Already erased ones are counted neither way, but their leftovers are
    /// retried. Blocking.
    pub fn erase(&self, ids: &[ReceiptId], now: Timestamp) -> Result<Erased, StoreError> {
        let mut erased = Erased::default();
        // With the first batch, so that an error after it leaves nothing that no sweep knows of.
        let mut copies = self.copies(|_| Old::Enough)?;
        for ids in ids.chunks(BATCH) {
            let (ids, copies) = (ids.to_vec(), std::mem::take(&mut copies));
            let batch = self.write(move |db, _| {
                list_removals(db, &copies)?;
                ids.into_iter().map(|id| erase(db, id, now)).collect::<Result<Vec<_>, StoreError>>()
            })?;
            for ended in batch.into_iter().flatten() {
                erased.receipts += u64::from(ended.why == Erasure::Operator);
                erased.sending.extend(ended.sending);
            }
        }
        erased.files_left = self.clear_removals()?.left;
        erased.wal_truncated = self.truncate(TRIES)? == Truncated::Yes;
        Ok(erased)
    }

    /// Erases up to [`BATCH`] receipts whose time is over; returns how many.
    pub(super) fn expire_some(&self, now: Timestamp) -> Result<usize, StoreError> {
        self.write(move |db, _| {
            let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
            let due: Vec<i64> = db
                .prepare_cached(EXPIRED_SQL)?
                .query_map((now.as_millis(), limit), |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for &id in &due {
                erase(db, rows::receipt(id)?, now)?;
            }
            Ok(due.len())
        })
    }

    /// Unlinks the files on the removal list, syncs their folders, and takes them off the list. A file that cannot
    /// be removed, or whose folder cannot be synced, stays on it.
    pub(super) fn clear_removals(&self) -> Result<Removals, StoreError> {
        let mut paths: Vec<String> = self.read(|db| {
            let mut list = db.prepare_cached("SELECT path FROM removals ORDER BY path")?;
            let list = list.query_map([], |row| row.get(0))?;
            Ok(list.collect::<Result<_, _>>()?)
        })?;
        let listed = paths.len();
        let root = self.directory().root();
        let mut folders = BTreeSet::new();
        paths.retain(|path| remove_listed(root, path, &mut folders));
        // What is unlinked in a folder that could not be synced may come back with the next loss of power.
        let unsynced: BTreeSet<_> = folders.into_iter().filter(|folder| !is_synced(&root.join(folder))).collect();
        paths.retain(|path| Path::new(path).parent().is_none_or(|folder| !unsynced.contains(folder)));
        let removed = paths.len();
        for batch in paths.chunks(BATCH) {
            let batch = batch.to_vec();
            self.write(move |db, _| {
                let mut delete = db.prepare_cached("DELETE FROM removals WHERE path = ?1")?;
                batch.iter().try_for_each(|path| delete.execute([path]).map(|_| ()))?;
                Ok(())
            })?;
        }
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Ok(Removals { removed: count(removed), left: count(listed - removed) })
    }

    /// Puts the copies that were kept before a migration and are old enough on the removal list: they hold values.
    /// Returns how many.
    pub(super) fn give_up_copies(&self, old: impl Fn(Timestamp) -> Old) -> Result<u64, StoreError> {
        let copies = self.copies(old)?;
        let count = u64::try_from(copies.len()).unwrap_or(u64::MAX);
        if count > 0 {
            self.write(move |db, _| list_removals(db, &copies))?;
        }
        Ok(count)
    }

    /// The names of those copies.
    pub(super) fn copies(&self, old: impl Fn(Timestamp) -> Old) -> Result<Vec<String>, StoreError> {
        let copies = schema::copies(self.directory().root())?.into_iter();
        let old = copies.filter(|(_, modified)| old(*modified) == Old::Enough);
        Ok(old.filter_map(|(path, _)| path.file_name()?.to_str().map(str::to_owned)).collect())
    }

    /// Truncates the log; a reader that pins it is given `tries` chances to end.
    pub(super) fn truncate(&self, tries: u32) -> Result<Truncated, StoreError> {
        for _ in 1..tries {
            if self.writer().checkpoint()? == Truncated::Yes {
                return Ok(Truncated::Yes);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        self.writer().checkpoint()
    }
}

/// Whether something may be removed by its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Old {
    /// It may.
    Enough,
    /// Not yet.
    TooYoung,
}

/// What became of files that should go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Removals {
    /// They are gone, durably.
    pub(super) removed: u64,
    /// They could not be removed.
    pub(super) left: u64,
}

/// Puts files on the removal list.
fn list_removals(db: &Connection, paths: &[String]) -> Result<(), StoreError> {
    let mut insert = db.prepare_cached("INSERT OR IGNORE INTO removals (path) VALUES (?1)")?;
    paths.iter().try_for_each(|path| insert.execute([path]).map(|_| ()))?;
    Ok(())
}

/// Whether a file of the removal list is gone now; its folder has to be synced then. Whatever the database says, nothing
/// outside the data directory is touched.
fn remove_listed(root: &Path, path: &str, folders: &mut BTreeSet<std::path::PathBuf>) -> bool {
    let path = Path::new(path);
    if !path.components().all(|part| matches!(part, Component::Normal(_))) {
        tracing::error!("the list of removals names a path outside the data directory; it is left alone");
        return false;
    }
    match disk::unlink(&root.join(path)) {
        Ok(_) => {
            folders.extend(path.parent().map(Path::to_owned));
            true
        }
        Err(error) => {
            tracing::warn!(%error, "an erased file could not be removed; the next sweep will try again");
            false
        }
    }
}

/// Syncs a folder and says whether that succeeded; one that is gone has no entries to be synced.
fn is_synced(folder: &Path) -> bool {
    match disk::sync_folder(folder) {
        Ok(()) => true,
        Err(StoreError::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => {
            tracing::warn!(%error, "a folder with erased files could not be synced; the next sweep will try again");
            false
        }
    }
}

/// What a receipt's erasure came to.
#[derive(Debug)]
pub(super) struct Ended {
    /// Who ended the values.
    why: Erasure,
    /// Sends under way.
    sending: Vec<DeliveryId>,
}

/// Receipts whose time is over.
pub(super) const EXPIRED_SQL: &str = "
    SELECT id
    FROM receipts
    WHERE erased_at IS NULL AND erase_at <= ?1
    ORDER BY erase_at
    LIMIT ?2";

/// Erases one receipt; `None` when there is none or it was erased before. One whose time is over has expired,
/// whoever comes first to erase it.
pub(super) fn erase(db: &Connection, id: ReceiptId, now: Timestamp) -> Result<Option<Ended>, StoreError> {
    let erase_at: Option<i64> = db
        .prepare_cached("SELECT erase_at FROM receipts WHERE id = ?1 AND erased_at IS NULL")?
        .query_row([id.as_row()], |row| row.get(0))
        .optional()?;
    let Some(erase_at) = erase_at.map(Timestamp::from_millis) else { return Ok(None) };
    let (at, why) = if erase_at <= now { (erase_at, Erasure::Expired) } else { (now, Erasure::Operator) };
    let row = id.as_row();
    db.prepare_cached(
        "INSERT OR IGNORE INTO removals (path) SELECT 'attachments/' || path FROM attachments WHERE receipt = ?1",
    )?
    .execute([row])?;
    db.prepare_cached("DELETE FROM attachments WHERE receipt = ?1")?.execute([row])?;
    db.prepare_cached("DELETE FROM contents WHERE receipt = ?1")?.execute([row])?;
    db.prepare_cached("UPDATE attempts SET note = NULL WHERE receipt = ?1 AND note IS NOT NULL")?.execute([row])?;
    let sending = end_deliveries(db, id, now)?;
    db.prepare_cached("UPDATE receipts SET erased_at = ?2, erased_why = ?3 WHERE id = ?1")?.execute(params![
        row,
        at.as_millis(),
        rows::why(why)
    ])?;
    Ok(Some(Ended { why, sending }))
}

/// Ends the waiting deliveries of a receipt and forgets what peers said; returns those that are being sent. A failure
/// needs nobody any more: there is nothing left to send again, so it counts as acknowledged.
fn end_deliveries(db: &Connection, id: ReceiptId, now: Timestamp) -> Result<Vec<DeliveryId>, StoreError> {
    let mut find = db.prepare_cached(
        "SELECT n, state, reason, due_at, held, claim IS NOT NULL AND due_at > ?2
         FROM deliveries
         WHERE receipt = ?1
         ORDER BY n",
    )?;
    let mut found = find.query((id.as_row(), now.as_millis()))?;
    let mut sending = Vec::new();
    // The rows come in the order of their key, which no UPDATE below changes.
    while let Some(row) = found.next()? {
        let delivery_id = DeliveryId { receipt: id, n: row.get(0)? };
        let state = rows::state(row, 1)?;
        // What has ended stays as it ended.
        let next = delivery::next(state, Event::ValuesGone).unwrap_or(state);
        if next != state {
            tracing::info!(event = "delivery_ended", delivery = %delivery_id, reason = "values_gone", "its values were erased");
        }
        let columns = StateColumns::from(next);
        db.prepare_cached(
            "UPDATE deliveries SET state = ?3, reason = ?4, due_at = ?5, held = ?6, claim = NULL, note = NULL, acked = 1
             WHERE receipt = ?1 AND n = ?2",
        )?
        .execute(params![
            id.as_row(),
            delivery_id.n,
            columns.state,
            columns.reason,
            columns.due_at,
            columns.held
        ])?;
        db.prepare_cached("INSERT OR IGNORE INTO removals (path) VALUES (?1)")?
            .execute([directory::mail_path(delivery_id)])?;
        if row.get(5)? {
            sending.push(delivery_id);
        }
    }
    Ok(sending)
}
