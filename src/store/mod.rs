//! What is kept.
//!
//! # Durability
//!
//! An answer of success means: it survives `kill -9` and the loss of power. The order on disk makes it so, and the
//! code stands in that order ([`files`], [`writer`]):
//!
//! ```text
//! .part written -> fsync -> rename -> fsync of the day's folder -> COMMIT (fsync of the log) -> first byte of the answer
//! ```
//!
//! A row therefore never names a file that is not there; a file without a row may exist. What a crash leaves, and
//! who repairs it:
//!
//! | crash after | on disk | repaired by |
//! | --- | --- | --- |
//! | part of a file | `.part` | the request's drop; else the next start, or the sweep (2 h) |
//! | rename | a file without a row | the next start, or the sweep (2 h): quarantine; removal after 7 days |
//! | COMMIT, before the answer | everything | the client repeats its key and gets the same receipt |
//! | claim | a claim with a deadline | taken over after 5 minutes |
//! | message accepted by the peer, before settle | the delivery is due again | sent again: same receipt, same `Message-ID`, same `webhook-id` |
//! | erase, before the files are unlinked | the row erased, the file on the removal list | the sweep |
//! | any part of a backup | `<time>.part` in the folder of backups | the next backup |
//! | any part of a restore | `restore.part`, which nobody opens | the next restore |
//! | mail file written, after its values were erased | a mail without values | settle; else the sweep |
//!
//! # What fails how
//!
//! * A sync that failed is final for its file; the file is dropped, the visitor hears "please try again".
//! * A COMMIT that failed means *unknown*: the rows may be back after a restart. So the asker hears an error, the
//!   files stay, and the sweep, which reads the database, decides later.
//! * A locked database is waited for, 5 s at most, then [`StoreError::Busy`].
//! * What a restart cannot mend (owner, mode, file system, lost key, newer or damaged database) is
//!   [`OpenError::Configuration`].
//! * The limiter alone fails open ([`throttle`]): it guards against floods, and no visitor may lose a message to it.
//!
//! # Erasure
//!
//! Values stand in one plain table without an index over them (an index keeps copies that `secure_delete` misses).
//! Erasing deletes the rows, unlinks the files, syncs their folders, and truncates the log; only then it is done.
//! A reader that still pins the log, or a file that cannot be unlinked, is reported, and every sweep tries again.
//!
//! # What it does not do
//!
//! It knows no HTTP, no mail, no configuration and no clock: `now` and random bits are arguments. It starts one
//! thread (the writer) and, inside the pool, those of `r2d2`; replies and errors are values, nothing is retried
//! behind the caller's back.

mod alerts;
mod apart;
mod aside;
mod backup;
mod claim;
mod confirmations;
mod deliveries;
mod directory;
mod disk;
mod erase;
mod facts;
mod files;
mod import;
mod job;
mod kept;
mod lifecycle;
mod limiter_file;
mod list;
mod numbers;
mod outstanding;
mod readers;
mod receipts;
mod record;
mod release;
mod resend;
mod restore;
mod rows;
mod schema;
mod startup;
mod strays;
mod sweep;
mod throttle;
mod vacuum;
mod verify;
mod wake;
mod writer;

#[cfg(test)]
mod tests;

pub use alerts::{AlertTimes, Begun, Failure, Failures, Tally};
pub use backup::{BackedUp, BackupError, BackupOrder, KeyCopy, Progress};
pub use claim::{Claim, Claimed, Due, Served, Turn};
pub use confirmations::NewConfirmation;
pub use deliveries::{NewAttempt, Settled};
pub use directory::DataDirectory;
pub use erase::Erased;
pub use facts::DaemonFacts;
pub use files::{PartFile, SealError, SealedFile};
pub use import::NewImport;
pub use kept::{Kept, Selection};
pub use lifecycle::{Fate, Moved, Queue, Waiters};
pub use numbers::Numbers;
pub use outstanding::{Acknowledged, Outstanding, Which};
pub use receipts::{AttachmentRow, AttemptRow, DeliveryRow, KnownKey, ListFilter, ReceiptRow, ReceiptView};
pub use record::{NewAttachment, NewDelivery, NewReceipt};
pub use release::Released;
pub use resend::ResendError;
pub use restore::{KeySource, Restored, restore};
pub use schema::DAMAGED_HINT;
pub use sweep::{SweepReport, SweepRules};
pub use throttle::{Charge, Throttle};
pub use vacuum::{Room, Vacuum};
pub use verify::{Fault, Verified, verify_backup};

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::domain::digest::InstanceKey;
use crate::domain::time::Timestamp;
use job::Group;
use readers::Readers;
use startup::Receipts;
use writer::Writer;

/// What went wrong below.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the database beyond the time we may wait, or too many jobs wait. Nothing was written.
    #[error("the database is busy")]
    Busy,
    /// A write failed half-way: whether it was kept is unknown until the database is read again.
    #[error("the database could not confirm a write; whether it was kept is unknown")]
    Unclear,
    /// A file operation failed.
    #[error("cannot {what} `{path}`: {source}")]
    File {
        /// What was tried: `write`, `sync`, `rename to` ...
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The database said no.
    #[error("database: {0}")]
    Database(#[source] rusqlite::Error),
    /// The database's file does not hold what `SQLite` wrote.
    #[error("the database is damaged: {0}")]
    Damaged(#[source] rusqlite::Error),
    /// A stored value is not what this program writes.
    #[error("the database holds `{0}`, which this version of formd does not know")]
    Unknown(String),
    /// A write panicked: a defect of formd. Nothing of it was kept.
    #[error("a defect in formd stopped this write; nothing of it was kept")]
    Defect,
    /// The writer thread has ended.
    #[error("the store is closed")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error),
            _ => Self::Database(error),
        }
    }
}

/// Why the data directory cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A restart cannot mend it: owner, mode, another file system, a newer or damaged database. Exit code 78.
    #[error("{problem}\n  hint: {hint}")]
    Configuration {
        /// What is wrong, and where.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// Another daemon has it.
    #[error("the data directory `{path}` is in use by formd with pid {pid}")]
    InUse {
        /// The data directory.
        path: PathBuf,
        /// Who holds it; `unknown` when the lock file does not say.
        pid: String,
    },
    /// There is none yet (formctl before the first start of the daemon).
    #[error("there is no formd database in `{0}`: start `formd` once, or name another configuration with `--config`")]
    Missing(PathBuf),
    /// Anything else.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The data directory and its database, opened. Cheap to clone; the last clone ends the writer.
#[derive(Clone, Debug)]
pub struct Store {
    /// Shared by all clones.
    inner: Arc<Inner>,
}

/// What the clones share. Dropped in this order: first the writer ends, last the lock is let go.
#[derive(Debug)]
struct Inner {
    /// The writer; a tool that only reads never starts it.
    writer: OnceLock<Writer>,
    /// The readers.
    readers: Readers,
    /// The directory.
    directory: DataDirectory,
    /// The instance key.
    key: InstanceKey,
    /// The daemon's lock.
    _lock: Option<File>,
}

impl Store {
    /// Opens the data directory for the daemon: creates what is missing, takes the exclusive lock, probes
    /// write - sync - rename, checks modes, migrates, asserts the pragmas, removes leftover `.part` files,
    /// quarantines recent files without a row. `random` is for a fresh instance key.
    pub fn open_daemon(path: &Path, now: Timestamp, random: [u8; 32]) -> Result<Self, OpenError> {
        Self::start(path, now, random).map_err(|error| schema::explain(error, path))
    }

    /// Opens for the daemon.
    fn start(path: &Path, now: Timestamp, random: [u8; 32]) -> Result<Self, OpenError> {
        startup::close_umask();
        let directory = startup::prepare(path)?;
        let lock = startup::lock(&directory)?;
        strays::remove_parts(&directory)?;
        startup::probe(&directory)?;
        let database = directory.database();
        let mut connection = schema::open_writer(&database, OpenFlags::SQLITE_OPEN_CREATE)?;
        schema::migrate(&mut connection, &database, &schema::SCHEMA)?;
        let key = startup::key(&directory, receipts(&connection)?, Some(random))?;
        // One committed transaction: the disk under the database works as well.
        facts::write(&connection, "opened_at", &now.to_string(), now)?;
        strays::quarantine_all(&directory, &connection, now)?;
        let readers = Readers::open(database)?;
        let writer = OnceLock::from(Writer::start(directory.clone(), Some(connection)));
        Ok(Self { inner: Arc::new(Inner { writer, readers, directory, key, _lock: Some(lock) }) })
    }

    /// Opens the data directory for one command of formctl, whether the daemon runs or not.
    pub fn open_tool(path: &Path) -> Result<Self, OpenError> {
        Self::look(path).map_err(|error| schema::explain(error, path))
    }

    /// Opens for formctl.
    fn look(path: &Path) -> Result<Self, OpenError> {
        startup::close_umask();
        startup::refuse_unfinished(path)?;
        // A folder that we may not look into is another trouble than one without a database.
        if !path.join("formd.db").try_exists().map_err(disk::failed("open", path))? {
            return Err(OpenError::Missing(path.to_owned()));
        }
        let directory = startup::check(path)?;
        let database = directory.database();
        let reader = schema::open_reader(&database)?;
        let version = schema::version(&reader)?;
        schema::refuse_newer(&database, version, schema::SCHEMA.version())?;
        if version == 0 {
            return Err(OpenError::Missing(path.to_owned()));
        }
        if version < schema::SCHEMA.version() {
            return Err(OpenError::Configuration {
                problem: format!("the database `{}` was written by an older formd", database.display()),
                hint: "start the daemon once: it brings the database up to date".to_owned(),
            });
        }
        let key = startup::key(&directory, receipts(&reader)?, None)?;
        let readers = Readers::open(database)?;
        Ok(Self { inner: Arc::new(Inner { writer: OnceLock::new(), readers, directory, key, _lock: None }) })
    }

    /// The instance key.
    pub fn key(&self) -> &InstanceKey {
        &self.inner.key
    }

    /// The data directory.
    pub fn directory(&self) -> &DataDirectory {
        &self.inner.directory
    }

    /// One cheap read, for `/healthz`; blocking.
    pub fn ping(&self) -> Result<(), StoreError> {
        self.read(|db| Ok(db.query_row("SELECT EXISTS (SELECT 1 FROM facts)", [], |_| Ok(()))?))
    }

    /// The writer, started at the first use.
    fn writer(&self) -> &Writer {
        self.inner.writer.get_or_init(|| Writer::start(self.inner.directory.clone(), None))
    }

    /// Does work in the writer and waits until it is durable.
    fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &mut Group) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer().write(work)
    }

    /// Asks several questions of one moment.
    fn read<T>(&self, questions: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut connection = self.inner.readers.get()?;
        let moment = connection.transaction()?;
        questions(&moment)
    }
}

/// Whether a database has receipts.
fn receipts(connection: &Connection) -> Result<Receipts, StoreError> {
    let some: bool = connection.query_row("SELECT EXISTS (SELECT 1 FROM receipts)", [], |row| row.get(0))?;
    Ok(if some { Receipts::Some } else { Receipts::None })
}
