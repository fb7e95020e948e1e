//! What is kept.
// ESSAY: to be written with the implementation (durability: what is on disk at each instant, what a crash leaves, who repairs it).

mod deliveries;
mod directory;
mod facts;
mod files;
mod readers;
mod receipts;
mod rows;
mod schema;
mod throttle;
mod writer;

pub use deliveries::{Claim, Claimed, Due, NewAttempt, ResendError, Resent, Settled, Turn};
pub use directory::DataDirectory;
pub use facts::{DaemonFacts, Numbers};
pub use files::{PartFile, SealError, SealedFile};
pub use receipts::{
    AttachmentRow, AttemptRow, DeliveryRow, Erased, KnownKey, ListFilter, NewAttachment, NewDelivery, NewReceipt,
    ReceiptRow, ReceiptView, SweepReport, SweepRules,
};
pub use throttle::{Charge, Throttle};

use std::path::Path;
use std::sync::Arc;

use crate::domain::digest::InstanceKey;
use crate::domain::time::Timestamp;

/// What went wrong below.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds the database beyond the time we may wait, or too many jobs wait.
    #[error("the database is busy")]
    Busy,
    /// A file operation failed.
    #[error("{what} `{path}`: {source}")]
    File {
        /// What was tried: `write`, `sync`, `rename` ...
        what: &'static str,
        /// On which file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The database said no.
    #[error("database: {0}")]
    Database(#[from] rusqlite::Error),
    /// A stored value is not what this program writes.
    #[error("the database holds `{0}`, which this version of formd does not know")]
    Unknown(String),
    /// The writer thread has ended.
    #[error("the store is closed")]
    Closed,
}

/// Why the data directory cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A restart cannot mend it: owner, mode, another file system, a newer database. Exit code 78.
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
        path: std::path::PathBuf,
        /// Who holds it; `unknown` when the lock file does not say.
        pid: String,
    },
    /// There is none yet (formctl before the first start of the daemon).
    #[error("there is no formd database in `{0}`: start `formd` once, or name another configuration with `--config`")]
    Missing(std::path::PathBuf),
    /// Anything else.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The data directory and its database, opened. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    /// Shared by all clones.
    inner: Arc<Inner>,
}

/// What the clones share.
#[derive(Debug)]
struct Inner {
    /// The directory.
    directory: DataDirectory,
    /// The instance key.
    key: InstanceKey,
}

impl Store {
    /// Opens the data directory for the daemon: creates what is missing, takes the exclusive lock, probes
    /// write - sync - rename, checks modes, migrates, asserts the pragmas, removes leftover `.part` files,
    /// quarantines recent files without a row. `random` is for a fresh instance key.
    pub fn open_daemon(path: &Path, now: Timestamp, random: [u8; 32]) -> Result<Self, OpenError> {
        todo!()
    }

    /// Opens the data directory for one command of formctl, whether the daemon runs or not.
    pub fn open_tool(path: &Path) -> Result<Self, OpenError> {
        todo!()
    }

    /// The instance key.
    pub fn key(&self) -> &InstanceKey {
        &self.inner.key
    }

    /// The data directory.
    pub fn directory(&self) -> &DataDirectory {
        &self.inner.directory
    }

    /// One cheap read, for `/healthz`.
    pub fn ping(&self) -> Result<(), StoreError> {
        todo!()
    }
}
