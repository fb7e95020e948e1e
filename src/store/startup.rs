//! What must be true of a data directory before anything is kept in it: one daemon, our own folders that nobody
//! else writes to, one file system, a disk that syncs and renames, the instance key.
//!
//! What a restart cannot mend (owner, mode, another file system, a lost key) is [`OpenError::Configuration`] with
//! the remedy; a full disk or an I/O error is not, since the next start may well succeed.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use super::disk::{self, Renamed, failed};
use super::{DataDirectory, OpenError, StoreError, restore};
use crate::domain::digest::InstanceKey;

/// How long the daemon waits for the lock, in tries of 10 ms: `formctl` holds it for an instant when it asks
/// whether a daemon runs.
const LOCK_TRIES: u32 = 20;

/// What anybody but the owner may do with a file.
const OTHERS: u32 = 0o077;

/// Files of this process are nobody else's business, whatever the environment says.
pub(super) fn close_umask() {
    rustix::process::umask(Mode::from_raw_mode(OTHERS));
}

/// Finds or makes the data directory with its folders, each ours and writable by nobody else.
pub(super) fn prepare(path: &Path) -> Result<DataDirectory, OpenError> {
    disk::make_folder(path).map_err(|error| unmendable(error, path))?;
    refuse_unfinished(path)?;
    let directory = check(path)?;
    for folder in [directory.tmp(), directory.attachments(), directory.quarantine(), directory.mails()] {
        disk::make_folder(&folder).map_err(|error| unmendable(error, path))?;
        check_folder(&folder)?;
    }
    disk::sync_folder(directory.root())?;
    Ok(directory)
}

/// A directory in which a restore was interrupted holds a part of what it should.
pub(super) fn refuse_unfinished(path: &Path) -> Result<(), OpenError> {
    if restore::is_unfinished(path) {
        let hint = "run the same `formctl restore` again: it clears what is left and begins anew".to_owned();
        return Err(refuse(path, "holds a restore that has not ended", hint));
    }
    Ok(())
}

/// Finds an existing data directory, ours and writable by nobody else.
pub(super) fn check(path: &Path) -> Result<DataDirectory, OpenError> {
    let root = path.canonicalize().map_err(failed("open", path))?;
    check_folder(&root)?;
    for file in ["formd.db", "formd.db-wal", "key"] {
        check_file(&root.join(file))?;
    }
    Ok(DataDirectory::new(root))
}

/// A folder that somebody else owns or may write to is no place for visitors' files.
pub(super) fn check_folder(path: &Path) -> Result<(), OpenError> {
    let facts = std::fs::symlink_metadata(path).map_err(failed("open", path))?;
    if !facts.is_dir() {
        return Err(refuse(path, "is not a folder", "move it away, or name another `data_dir`".to_owned()));
    }
    check_owner(path, &facts)?;
    if facts.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(refuse(path, "is writable by group or others", format!("chmod go-w {}", path.display())))
}

/// A database or key that others may read has lost its secret; one that is missing is no fault here.
fn check_file(path: &Path) -> Result<(), OpenError> {
    let Ok(facts) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !facts.is_file() {
        return Err(refuse(path, "is not a regular file", "move it away, or name another `data_dir`".to_owned()));
    }
    check_owner(path, &facts)?;
    if facts.mode() & OTHERS == 0 {
        return Ok(());
    }
    Err(refuse(path, "is open to group or others", format!("chmod 600 {}", path.display())))
}

/// What somebody else owns can be changed under our feet, and what we write there the owner cannot read.
fn check_owner(path: &Path, facts: &Metadata) -> Result<(), OpenError> {
    let us = rustix::process::geteuid().as_raw();
    if facts.uid() == us {
        return Ok(());
    }
    let problem = format!("belongs to user {} and this process runs as user {us}", facts.uid());
    Err(refuse(path, &problem, format!("run as the owner, or: chown {us} {}", path.display())))
}

/// A problem of `path` that a restart cannot mend.
fn refuse(path: &Path, problem: &str, hint: String) -> OpenError {
    OpenError::Configuration { problem: format!("`{}` {problem}", path.display()), hint }
}

/// Takes the lock of the one daemon and writes our pid into it. It is held as long as the file is open.
pub(super) fn lock(directory: &DataDirectory) -> Result<File, OpenError> {
    let path = directory.lock();
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(disk::flags(OFlags::NOFOLLOW))
        .open(&path)
        .map_err(|error| unmendable(failed("open", &path)(error), directory.root()))?;
    for tries in 0.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(std::fs::TryLockError::WouldBlock) if tries < LOCK_TRIES => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                let pid = read_pid(&file).map_or_else(|| "unknown".to_owned(), |pid| pid.to_string());
                return Err(OpenError::InUse { path: directory.root().to_owned(), pid });
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(failed("lock", &path)(error).into()),
        }
    }
    file.set_len(0).map_err(failed("write", &path))?;
    writeln!(file, "{}", std::process::id()).map_err(failed("write", &path))?;
    Ok(file)
}

/// The pid that the holder of a lock wrote into it.
pub(super) fn read_pid(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Writes, syncs, renames and removes a file on each way that a submission's file may take.
pub(super) fn probe(directory: &DataDirectory) -> Result<(), OpenError> {
    for folder in [directory.attachments(), directory.quarantine()] {
        let name = format!(".probe-{}", std::process::id());
        let (from, to) = (directory.tmp().join(&name), folder.join(&name));
        for leftover in [&from, &to] {
            disk::unlink(leftover)?;
        }
        drop(disk::write_synced(&from, b"probe").map_err(|error| unmendable(error, directory.root()))?);
        let renamed = disk::rename_new(&from, &to);
        disk::unlink(&from)?;
        match renamed {
            Ok(Renamed::Done | Renamed::Taken) => {}
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let hint = format!(
                    "`{}` and `{}` must be on one file system: unmount or move one of them, or move the whole data directory",
                    directory.tmp().display(),
                    folder.display()
                );
                return Err(refuse(&folder, "is on another file system than `tmp`", hint));
            }
            Err(error) => return Err(unmendable(failed("rename to", &to)(error), directory.root())),
        }
        disk::unlink(&to)?;
        disk::sync_folder(&folder)?;
    }
    Ok(())
}

/// A read-only file system and a missing right stay as they are until somebody changes them.
fn unmendable(error: StoreError, root: &Path) -> OpenError {
    if let StoreError::File { source, .. } = &error
        && matches!(source.kind(), io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied)
    {
        let hint = format!("make `{}` writable for this user", root.display());
        return OpenError::Configuration { problem: error.to_string(), hint };
    }
    error.into()
}

/// Whether the database has receipts, whose hashes only the key they were made with can repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receipts {
    /// Some.
    Some,
    /// None yet.
    None,
}

/// Reads the instance key; makes one of `random` where there is neither a key nor a receipt. With receipts, a lost
/// key is refused: under a fresh one every honest repeat would be a conflict or a second submission.
pub(super) fn key(
    directory: &DataDirectory,
    receipts: Receipts,
    random: Option<[u8; 32]>,
) -> Result<InstanceKey, OpenError> {
    let path = directory.key();
    match std::fs::read(&path) {
        Ok(bytes) => match <[u8; 32]>::try_from(bytes) {
            Ok(bytes) => Ok(InstanceKey::new(bytes)),
            Err(_) => Err(refuse(&path, "does not hold 32 bytes", "restore it from a backup".to_owned())),
        },
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("read", &path)(error).into()),
        Err(_) => match (receipts, random) {
            (Receipts::None, Some(random)) => {
                write_key(directory, &random)?;
                Ok(InstanceKey::new(random))
            }
            (Receipts::None | Receipts::Some, _) => {
                let hint = "restore the file `key` from a backup; without it repeats cannot be recognised".to_owned();
                Err(refuse(&path, "is missing, and the database needs it", hint))
            }
        },
    }
}

/// Makes the key durable before the first hash is made with it.
fn write_key(directory: &DataDirectory, bytes: &[u8; 32]) -> Result<(), StoreError> {
    let path = directory.key();
    let part = directory.tmp().join(format!("key-{}.part", std::process::id()));
    disk::unlink(&part)?;
    drop(disk::write_synced(&part, bytes)?);
    disk::rename_new(&part, &path).map_err(failed("rename to", &path))?;
    disk::sync_folder(directory.root())
}
