//! The data directory: its layout, free space, mails of the file transport, who runs on it.
//!
//! Everything below it is 0700 (folders) and 0600 (files). What is not listed here is left alone: an operator may
//! keep a note beside the database.
//!
//! ```text
//! formd.db  formd.db-wal  formd.db-shm     the database
//! key                                      the instance key
//! lock                                     held by the one daemon; its pid
//! wake                                     datagram socket of the deliverer
//! tmp/*.part                               what is being written
//! attachments/<day>/<receipt>-<n>          what a row names
//! quarantine/                              files without a row
//! mail/<delivery>.eml                      file transport
//! mail/alert.eml                           file transport: the newest alert, which holds no values
//! formd-before-v<n>.db                     the database as it was before a migration
//! restore.part                             a restore that has not ended: nobody opens the directory
//! ```

use std::fs::File;
use std::path::{Path, PathBuf};

use super::disk::{self, failed};
use super::files::PartFile;
use super::{StoreError, startup};
use crate::domain::ids::DeliveryId;

/// The paths of a data directory.
#[derive(Clone, Debug)]
pub struct DataDirectory {
    /// Its root, absolute.
    root: PathBuf,
}

impl DataDirectory {
    /// The directory at `root`, which exists and is absolute.
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of a mail that the file transport wrote.
    pub fn mail(&self, delivery: DeliveryId) -> PathBuf {
        self.root.join(mail_path(delivery))
    }

    /// The database.
    pub(super) fn database(&self) -> PathBuf {
        self.root.join("formd.db")
    }

    /// The instance key.
    pub(super) fn key(&self) -> PathBuf {
        self.root.join("key")
    }

    /// The lock of the one daemon.
    pub(super) fn lock(&self) -> PathBuf {
        self.root.join("lock")
    }

    /// What is being written.
    pub(super) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// What a row names, a folder a day.
    pub(super) fn attachments(&self) -> PathBuf {
        self.root.join("attachments")
    }

    /// Files without a row.
    pub(super) fn quarantine(&self) -> PathBuf {
        self.root.join("quarantine")
    }

    /// Mails of the file transport.
    pub(super) fn mails(&self) -> PathBuf {
        self.root.join("mail")
    }

    /// Free bytes of the file system, for an unprivileged user.
    pub fn free_bytes(&self) -> Result<u64, StoreError> {
        fs2::available_space(&self.root).map_err(failed("ask for free space of", &self.root))
    }

    /// Writes `bytes` durably under `mail/<delivery>.eml`: temporary file, fsync, rename, fsync of the folder. A mail
    /// of an earlier attempt is replaced. A mail that comes after its values were erased is removed again when the
    /// attempt is settled, else by the sweep.
    pub fn write_mail(&self, delivery: DeliveryId, bytes: &[u8]) -> Result<(), StoreError> {
        let part = PartFile::create_named(self, &format!("{delivery}-{}.part", std::process::id()))?;
        part.write_over(bytes, &self.mail(delivery))?;
        disk::sync_folder(&self.mails())
    }

    /// Writes `bytes` durably under `mail/alert.eml`, over the alert before.
    pub fn write_alert(&self, bytes: &[u8]) -> Result<(), StoreError> {
        let part = PartFile::create_named(self, &format!("alert-{}.part", std::process::id()))?;
        part.write_over(bytes, &self.mails().join("alert.eml"))?;
        disk::sync_folder(&self.mails())
    }

    /// The pid in `lock` when a daemon holds the lock now; 0 when the holder has not written it yet.
    pub fn daemon_pid(&self) -> Result<Option<u32>, StoreError> {
        let path = self.lock();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("open", &path)(error)),
        };
        // A shared lock, for an instant: the daemon's own attempt waits a little for it.
        match file.try_lock_shared() {
            Ok(()) => Ok(None),
            Err(std::fs::TryLockError::WouldBlock) => Ok(Some(startup::read_pid(&file).unwrap_or(0))),
            Err(std::fs::TryLockError::Error(error)) => Err(failed("lock", &path)(error)),
        }
    }
}

/// The path of a mail below the data directory, as `removals` names it.
pub(super) fn mail_path(delivery: DeliveryId) -> String {
    format!("mail/{delivery}.eml")
}
