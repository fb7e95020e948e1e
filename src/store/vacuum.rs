//! The strong form of an erasure: the whole database written anew, so that what lay in its free space is gone too,
//! also what an older version of formd left there.
//!
//! It runs beside the daemon. `SQLite` writes the new content into a file without a name in `tmp/` (whatever ends the
//! process, it is gone) and from there through the log, so it takes twice the database's size of free space, which is
//! asked for first. Nobody else can write meanwhile: a submission waits up to 5 s, and after that hears *please try
//! again*, so on a large server it is work for the night. What it waits for is bounded by the same 5 s.

use std::fmt;

use rusqlite::OpenFlags;

use super::{Store, StoreError, schema};

/// Free bytes to leave over.
const MARGIN: u64 = 16 * 1024 * 1024;

/// Whether the database was written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacuum {
    /// It was.
    Done,
    /// Somebody wrote for longer than we may wait.
    Busy,
}

/// The free space that writing the database anew takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes that are needed.
    pub needed: u64,
    /// Bytes that are free.
    pub free: u64,
}

impl Store {
    /// What a vacuum would need, and what there is.
    pub fn vacuum_room(&self) -> Result<Room, StoreError> {
        let bytes: i64 = self.read(|db| {
            let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
            Ok(db.query_row(sql, [], |row| row.get(0))?)
        })?;
        let needed = u64::try_from(bytes).unwrap_or(0).saturating_mul(2).saturating_add(MARGIN);
        Ok(Room { needed, free: self.directory().free_bytes()? })
    }

    /// Writes the database anew; the log has to be truncated after it. Blocking.
    pub fn vacuum(&self) -> Result<Vacuum, StoreError> {
        let connection = schema::open_writer(&self.directory().database(), OpenFlags::empty())?;
        // Not in memory, where a large database would not fit; nor outside of the data directory.
        let folder = self.directory().tmp().display().to_string().replace('\'', "''");
        connection.execute_batch(&format!("PRAGMA temp_store_directory = '{folder}'; PRAGMA temp_store = FILE"))?;
        match connection.execute_batch("VACUUM").map_err(StoreError::from) {
            Ok(()) => Ok(Vacuum::Done),
            Err(StoreError::Busy) => Ok(Vacuum::Busy),
            Err(error) => Err(error),
        }
    }

    /// Truncates the log on the operator's word: whether it is empty.
    pub fn truncate_log(&self) -> Result<bool, StoreError> {
        Ok(self.truncate(super::erase::TRIES)? == super::writer::Truncated::Yes)
    }
}

/// In bytes as they are read at a glance.
impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = crate::domain::quantity::bytes;
        write!(f, "{} of free space are needed, {} are there", bytes(self.needed), bytes(self.free))
    }
}
