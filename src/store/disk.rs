//! The few file operations that durability is made of, each with the error that names its path.
//!
//! A folder's entries are durable only after the folder itself was synced: a missing one is invisible on ext4
//! (the database's own sync commits the same journal) and loses files on xfs and btrfs. A failed sync is final for
//! its file: the kernel marks the pages clean, so a second try would report a success that is none.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{CWD, OFlags, RenameFlags};

use super::StoreError;
use crate::domain::time::Timestamp;

/// The error of `what` on `path`; for `map_err`.
pub(super) fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |source| StoreError::File { what, path, source }
}

/// Creates an empty file, mode 0600, never following a link and never over a file.
pub(super) fn create(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(flags(OFlags::NOFOLLOW))
        .open(path)
        .map_err(failed("create", path))
}

/// Flags for the standard library's `custom_flags`.
pub(super) fn flags(flags: OFlags) -> i32 {
    // The kernel's flags fit 31 bits; the standard library wants them signed.
    i32::try_from(flags.bits()).unwrap_or(0)
}

/// Makes a folder, mode 0700; one that exists is fine.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed("create", path))
}

/// Makes the entries of a folder durable.
pub(super) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(failed("sync", path))
}

/// Writes `bytes` to a new file and syncs it; the entry in its folder is not durable yet.
pub(super) fn write_synced(path: &Path, bytes: &[u8]) -> Result<File, StoreError> {
    let mut file = create(path)?;
    file.write_all(bytes).map_err(failed("write", path))?;
    file.sync_all().map_err(failed("sync", path))?;
    Ok(file)
}

/// Whether a rename found the new name free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renamed {
    /// The file has the new name.
    Done,
    /// Another file has it; nothing changed.
    Taken,
}

/// Renames without ever replacing a file.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<Renamed> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(Renamed::Done),
        Err(rustix::io::Errno::EXIST) => Ok(Renamed::Taken),
        // A file system without the flag: a second name, which never replaces either, then the first one goes.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => match std::fs::hard_link(from, to) {
            Ok(()) => std::fs::remove_file(from).map(|()| Renamed::Done),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Renamed::Taken),
            Err(error) => Err(error),
        },
        Err(errno) => Err(errno.into()),
    }
}

/// Whether a file is gone now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unlinked {
    /// It was there and is removed.
    Removed,
    /// There was none.
    Absent,
}

/// Removes a file; one that is not there is as good as removed.
pub(super) fn unlink(path: &Path) -> Result<Unlinked, StoreError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(Unlinked::Removed),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Unlinked::Absent)
        }
        Err(error) => Err(failed("remove", path)(error)),
    }
}

/// An entry of a folder.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its whole path.
    pub(super) path: PathBuf,
    /// Its name; entries whose name is no UTF-8 are none of ours and are not listed.
    pub(super) name: String,
    /// What it is; links are not followed.
    pub(super) kind: EntryKind,
    /// Bytes.
    pub(super) size: u64,
    /// When it was last written.
    pub(super) modified: Timestamp,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A socket, a link ...: not ours to touch.
    Other,
}

/// The entries of a folder; none when there is no such folder. An entry that vanishes meanwhile is left out.
pub(super) fn entries(folder: &Path) -> Result<Vec<Entry>, StoreError> {
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("read", folder)(error)),
    };
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry.map_err(failed("read", folder))?;
        let (Ok(name), Ok(facts)) = (entry.file_name().into_string(), entry.metadata()) else { continue };
        let kind = if facts.is_file() {
            EntryKind::File
        } else if facts.is_dir() {
            EntryKind::Folder
        } else {
            EntryKind::Other
        };
        let modified = facts.modified().map_or(Timestamp::from_millis(0), moment);
        found.push(Entry { path: entry.path(), name, kind, size: facts.len(), modified });
    }
    Ok(found)
}

/// A file time as a moment; before 1970 is 1970.
pub(super) fn moment(time: SystemTime) -> Timestamp {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A moment as a file time.
pub(super) fn file_time(moment: Timestamp) -> SystemTime {
    let millis = u64::try_from(moment.as_millis()).unwrap_or(0);
    SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(millis)
}
