//! One consistent copy of the database, taken while others write.
//!
//! One reading transaction of the live database is held for as long as its pages are copied, and not a moment longer:
//! meanwhile its log cannot be truncated, so an erasure says *pending*. Without it the copy would begin anew after
//! each write, and under load never end. Nobody is kept from writing.

use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::copy::{Measured, measure};
use super::manifest::ATTACHMENTS;
use crate::domain::digest::Sha256Sum;
use crate::domain::ids::{AttachmentId, ReceiptId};
use crate::domain::time::Timestamp;
use crate::store::disk::{self, failed};
use crate::store::{StoreError, erase, rows, schema};

/// Pages between two words about the progress: 16 MiB.
const PAGES: i32 = 4096;

/// A copy of the database that nobody else knows.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The copy, opened.
    db: Connection,
    /// Its file.
    path: PathBuf,
}

/// A file that a row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct Named {
    /// Which attachment.
    pub(in crate::store) id: AttachmentId,
    /// Below the data directory, and below the backup.
    pub(in crate::store) path: String,
    /// What it holds.
    pub(in crate::store) holds: Measured,
}

impl Snapshot {
    /// Copies the database to the new file `path`; `tick` hears how many of how many pages are done.
    pub(super) fn take(
        source: &mut Connection,
        path: &Path,
        tick: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, StoreError> {
        drop(disk::create(path)?);
        let flags =
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut db = Connection::open_with_flags(path, flags)?;
        // The file is synced once, when it is complete. Nobody else opens it: no shared memory is needed.
        db.execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;",
        )?;
        copy_pages(source, &mut db, tick).and_then(|()| leave_log(&db)).map_err(|error| blame(error, path))?;
        Ok(Self { db, path: path.to_owned() })
    }

    /// The files that its rows name.
    pub(super) fn named(&self) -> Result<Vec<Named>, StoreError> {
        named(&self.db)
    }

    /// The schema's version, and how many receipts there are.
    pub(super) fn facts(&self) -> Result<(usize, u64), StoreError> {
        Ok((schema::version(&self.db)?, receipts(&self.db)?))
    }

    /// Erases what was erased in the live database meanwhile, and forgets removals: a backup has no file to remove.
    pub(super) fn catch_up(&mut self, erased: &[ReceiptId], now: Timestamp) -> Result<(), StoreError> {
        let transaction = self.db.transaction()?;
        for id in erased {
            erase::erase(&transaction, *id, now)?;
        }
        transaction.execute("DELETE FROM removals", [])?;
        transaction.commit().map_err(|error| blame(error, &self.path))
    }

    /// Closes it, syncs it and measures it.
    pub(super) fn seal(self, tick: &mut dyn FnMut(u64)) -> Result<Measured, StoreError> {
        self.db.close().map_err(|(_, error)| error)?;
        std::fs::File::open(&self.path).and_then(|file| file.sync_all()).map_err(failed("sync", &self.path))?;
        measure(&self.path, tick)
    }
}

/// The files that the rows of a database name, ordered by path.
pub(in crate::store) fn named(db: &Connection) -> Result<Vec<Named>, StoreError> {
    let mut list = db.prepare("SELECT receipt, position, path, size, sha256 FROM attachments ORDER BY path")?;
    let mut found = list.query([])?;
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        all.push(named_in(row)?);
    }
    Ok(all)
}

/// The attachment in the columns `receipt, position, path, size, sha256`.
pub(in crate::store) fn named_in(row: &rusqlite::Row<'_>) -> Result<Named, StoreError> {
    let id = AttachmentId { receipt: rows::receipt(row.get(0)?)?, position: row.get(1)? };
    let path: String = row.get(2)?;
    // What formd writes, and nothing that could lead elsewhere.
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !path.split_once('/').is_some_and(|(day, name)| plain(day) && plain(name)) {
        return Err(StoreError::Unknown(format!("the path of attachment {id}")));
    }
    let holds = Measured { size: rows::count(row.get(3)?), sha256: Sha256Sum::from_bytes(row.get(4)?) };
    Ok(Named { id, path: format!("{ATTACHMENTS}/{path}"), holds })
}

/// How many receipts a database has.
pub(in crate::store) fn receipts(db: &Connection) -> Result<u64, StoreError> {
    Ok(rows::count(db.query_row("SELECT COUNT(*) FROM receipts", [], |row| row.get(0))?))
}

/// Copies every page of one moment.
fn copy_pages(source: &mut Connection, db: &mut Connection, tick: &mut dyn FnMut(u64, u64)) -> rusqlite::Result<()> {
    let moment = source.transaction()?;
    // The transaction begins with its first look.
    moment.query_row("SELECT EXISTS (SELECT 1 FROM facts)", [], |_| Ok(()))?;
    let backup = Backup::new(&moment, db)?;
    loop {
        let step = backup.step(PAGES)?;
        let (left, all) = (backup.progress().remaining, backup.progress().pagecount);
        tick(u64::try_from(all - left).unwrap_or(0), u64::try_from(all).unwrap_or(0));
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    }
}

/// The log's mode came along with the pages; a backup is one file.
fn leave_log(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
}

/// A full disk under the copy is none under the database: the error names the copy.
fn blame(error: rusqlite::Error, path: &Path) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => failed("write", path)(std::io::ErrorKind::StorageFull.into()),
        Some(ErrorCode::SystemIoFailure) => failed("write", path)(std::io::Error::other(error)),
        _ => error.into(),
    }
}
