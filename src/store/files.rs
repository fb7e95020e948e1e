//! Attachments on disk: `PartFile` -> `SealedFile` -> kept. Drop removes what was not kept.
//!
//! ```text
//! create   tmp/<name>.part, 0600, locked          a crash leaves the .part
//! write    bytes appended and hashed
//! seal     fsync, rename                          a crash leaves a file without a row
//! writer   fsync of the day's folder, COMMIT      a crash leaves everything
//! ```
//!
//! A live `.part` is locked (flock), so that a sweep in another process never takes it from a running request,
//! however old it is; the kernel lets the lock go with the process. A refused or broken request drops its files and
//! they are gone. A sync that failed is final: the file is dropped, never synced again.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::disk::{self, Renamed, failed};
use super::{DataDirectory, StoreError};
use crate::domain::digest::{RunningSum, Sha256Sum};
use crate::domain::ids::AttachmentId;

/// An upload in progress, `tmp/*.part`; removed on drop.
#[derive(Debug)]
pub struct PartFile {
    /// The open file, which holds the lock.
    file: File,
    /// Where it is; gone once the file has another name.
    unlink: Unlink,
    /// Where it will be.
    directory: DataDirectory,
    /// Bytes so far.
    size: u64,
    /// Hash of the bytes so far; boxed, so that a `.part` is small enough to travel in an error.
    sum: Box<RunningSum>,
}

/// Removes a file on drop, unless told that it is kept.
#[derive(Debug)]
struct Unlink(Option<PathBuf>);

impl Unlink {
    /// The path; empty after it was let go.
    fn path(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new(""))
    }

    /// The file stays.
    fn keep(&mut self) {
        self.0 = None;
    }
}

impl Drop for Unlink {
    fn drop(&mut self) {
        let Some(path) = &self.0 else { return };
        if let Err(error) = disk::unlink(path) {
            tracing::warn!(%error, "a file that was not kept could not be removed; the sweep will try again");
        }
    }
}

impl PartFile {
    /// Creates an empty `.part` with a name of its own made of `random`.
    pub fn create(directory: &DataDirectory, random: u64) -> Result<Self, StoreError> {
        Self::create_named(directory, &format!("{random:016x}-{}.part", std::process::id()))
    }

    /// Creates an empty `.part` of this name; a leftover of the same name makes it fail.
    pub(super) fn create_named(directory: &DataDirectory, name: &str) -> Result<Self, StoreError> {
        let path = directory.tmp().join(name);
        let file = disk::create(&path)?;
        let unlink = Unlink(Some(path));
        file.lock().map_err(failed("lock", unlink.path()))?;
        Ok(Self { file, unlink, directory: directory.clone(), size: 0, sum: Box::default() })
    }

    /// Appends bytes; blocking.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.file.write_all(bytes).map_err(failed("write", self.unlink.path()))?;
        self.sum.push(bytes);
        self.size = self.size.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Lets `read` look at what was written, wherever it seeks; blocking. Its second argument is the size. What is
    /// written later still goes to the end.
    pub fn read_back<T>(&mut self, read: impl FnOnce(&mut File, u64) -> io::Result<T>) -> Result<T, StoreError> {
        let found = read(&mut self.file, self.size).map_err(failed("read", self.unlink.path()))?;
        self.file.seek(SeekFrom::Start(self.size)).map_err(failed("seek", self.unlink.path()))?;
        Ok(found)
    }

    /// Bytes so far.
    #[cfg(test)]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Hash of the bytes so far.
    pub fn sha256(&self) -> Sha256Sum {
        RunningSum::clone(&self.sum).finish()
    }

    /// Syncs and renames it to `attachments/<day>/<receipt>-<n>`, never over a file; the day's folder is made
    /// (and synced into `attachments/`) when missing. The folder itself is synced by the writer, once a group.
    pub fn seal(mut self, id: AttachmentId) -> Result<SealedFile, SealError> {
        self.file.sync_all().map_err(failed("sync", self.unlink.path()))?;
        let day = id.receipt.arrived_at().day();
        let folder = self.directory.attachments().join(&day);
        let name = format!("{}-{}", id.receipt, id.position);
        let target = folder.join(&name);
        let mut renamed = disk::rename_new(self.unlink.path(), &target);
        if renamed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            disk::make_folder(&folder)?;
            disk::sync_folder(&self.directory.attachments())?;
            renamed = disk::rename_new(self.unlink.path(), &target);
        }
        match renamed.map_err(failed("rename", &target))? {
            Renamed::Taken => Err(SealError::Taken(self)),
            Renamed::Done => {
                self.unlink.keep();
                Ok(SealedFile { path: format!("{day}/{name}"), folder, unlink: Unlink(Some(target)) })
            }
        }
    }

    /// Writes `bytes` as all of it, syncs it and gives it the name `target`, over what has that name.
    pub(super) fn write_over(mut self, bytes: &[u8], target: &Path) -> Result<(), StoreError> {
        self.write(bytes)?;
        self.file.sync_all().map_err(failed("sync", self.unlink.path()))?;
        std::fs::rename(self.unlink.path(), target).map_err(failed("rename to", target))?;
        self.unlink.keep();
        Ok(())
    }
}

/// Why a `.part` could not be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The name is taken: draw another receipt.
    #[error("an attachment of this name exists")]
    Taken(PartFile),
    /// Anything else.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A file under its permanent name that no row names yet; removed on drop unless the writer keeps it.
#[derive(Debug)]
pub struct SealedFile {
    /// Its path below `attachments/`.
    path: String,
    /// The day's folder, which the writer syncs before the COMMIT.
    folder: PathBuf,
    /// Removes it on drop.
    unlink: Unlink,
}

impl SealedFile {
    /// The path below `attachments/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The day's folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file stays: a row names it, or may name it.
    pub(super) fn keep(mut self) {
        self.unlink.keep();
    }
}
