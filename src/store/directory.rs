//! The data directory: its layout, its modes, its lock, free space, the wake-up socket.

use std::path::{Path, PathBuf};

use super::StoreError;

/// The paths of a data directory.
#[derive(Clone, Debug)]
pub struct DataDirectory {
    /// Its root, absolute.
    root: PathBuf,
}

impl DataDirectory {
    /// Its root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of a mail that the file transport wrote.
    pub fn mail(&self, delivery: crate::domain::ids::DeliveryId) -> PathBuf {
        self.root.join("mail").join(format!("{delivery}.eml"))
    }

    /// Free bytes of the file system, for an unprivileged user.
    pub fn free_bytes(&self) -> Result<u64, StoreError> {
        todo!()
    }

    /// Writes `bytes` durably under `mail/<delivery>.eml`: temporary file, fsync, rename, fsync of the folder.
    pub fn write_mail(&self, delivery: crate::domain::ids::DeliveryId, bytes: &[u8]) -> Result<(), StoreError> {
        todo!()
    }

    /// Wakes a running daemon's deliverer; silently does nothing when none listens.
    pub fn wake(&self) {
        todo!()
    }

    /// Binds the wake-up socket (daemon only).
    pub fn listen(&self) -> Result<std::os::unix::net::UnixDatagram, StoreError> {
        todo!()
    }

    /// The pid in `lock` when a daemon holds the lock now.
    pub fn daemon_pid(&self) -> Result<Option<u32>, StoreError> {
        todo!()
    }
}
