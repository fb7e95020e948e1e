//! The folder that backups stand in, one folder each, named after its moment:
//!
//! ```text
//! DIR/20261130T120000.000Z/           complete: it was renamed to this name after every byte was on disk
//! DIR/20261130T130000.000Z.part/      being written, or what an interrupted backup left; the next one removes it
//! DIR/formd-backup.lock               one backup at a time
//! ```
//!
//! The names sort by time. What has another name is somebody else's and never touched. A backup that is no longer
//! kept is renamed to `.part` before its files go, so that an interrupted removal leaves nothing that looks complete.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::manifest::{MANIFEST, Manifest};
use super::{BackupError, refused};
use crate::domain::time::Timestamp;
use crate::store::disk::{self, EntryKind, Renamed, failed};
use crate::store::{StoreError, startup};

/// Held while a backup is written.
const LOCK: &str = "formd-backup.lock";
/// How the name of an unfinished backup ends.
const PART: &str = ".part";

/// A folder of backups that only we write to now.
#[derive(Debug)]
pub(super) struct Shelf {
    /// The folder, absolute.
    root: PathBuf,
    /// Nobody else's backup goes here meanwhile.
    _lock: File,
}

/// A complete backup.
#[derive(Clone, Debug)]
pub(super) struct Complete {
    /// Its folder.
    pub(super) path: PathBuf,
    /// What it holds.
    pub(super) manifest: Manifest,
}

/// A backup being written; removed on drop.
#[derive(Debug)]
pub(super) struct Part {
    /// Its folder.
    path: PathBuf,
    /// The name it will have.
    target: PathBuf,
}

impl Shelf {
    /// Opens (makes) the folder, which is ours and outside the data directory, and clears what an interrupted backup
    /// left in it.
    pub(super) fn open(dir: &Path, data: &Path) -> Result<Self, BackupError> {
        let inside = || {
            let problem = format!("`{}` is inside the data directory", dir.display());
            refused(problem, "name a folder outside, best on another disk")
        };
        let wanted = std::path::absolute(dir).map_err(failed("find", dir))?;
        let there = wanted.ancestors().find_map(|ancestor| ancestor.canonicalize().ok()).unwrap_or_default();
        if there.starts_with(data) {
            return Err(inside());
        }
        let new = !wanted.exists();
        disk::make_folder(&wanted)?;
        let root = wanted.canonicalize().map_err(failed("open", dir))?;
        if root.starts_with(data) {
            return Err(inside());
        }
        if new && let Some(parent) = root.parent() {
            disk::sync_folder(parent)?;
        }
        startup::check_folder(&root)?;
        let opened = Self { _lock: lock(&root)?, root };
        opened.clear()?;
        Ok(opened)
    }

    /// Begins the backup of `at`.
    pub(super) fn begin(&self, at: Timestamp) -> Result<Part, BackupError> {
        let name = name(at);
        let (path, target) = (self.root.join(format!("{name}{PART}")), self.root.join(&name));
        if target.symlink_metadata().is_ok() {
            return Err(refused(format!("`{}` exists already", target.display()), "try again in a second"));
        }
        disk::make_folder(&path)?;
        Ok(Part { path, target })
    }

    /// The complete backups, the oldest first.
    pub(super) fn complete(&self) -> Result<Vec<Complete>, StoreError> {
        complete(&self.root)
    }

    /// Removes the oldest complete backups beyond `keep`; how many.
    pub(super) fn prune(&self, keep: usize) -> Result<u64, StoreError> {
        let all = self.complete()?;
        let surplus = all.len().saturating_sub(keep);
        for old in all.iter().take(surplus) {
            let gone = old.path.with_added_extension("part");
            std::fs::rename(&old.path, &gone).map_err(failed("rename", &old.path))?;
            disk::sync_folder(&self.root)?;
            remove(&gone)?;
        }
        Ok(u64::try_from(surplus).unwrap_or(u64::MAX))
    }

    /// Removes what interrupted backups and removals left.
    fn clear(&self) -> Result<(), StoreError> {
        for entry in disk::entries(&self.root)? {
            let ours = entry.name.strip_suffix(PART).and_then(moment).is_some();
            if ours && entry.kind == EntryKind::Folder {
                remove(&entry.path)?;
            }
        }
        Ok(())
    }
}

impl Part {
    /// Its folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Syncs every folder and gives it the name of a complete backup.
    pub(super) fn publish(self) -> Result<PathBuf, StoreError> {
        sync_tree(&self.path)?;
        match disk::rename_new(&self.path, &self.target).map_err(failed("rename to", &self.target))? {
            Renamed::Done => {}
            Renamed::Taken => return Err(failed("rename to", &self.target)(ErrorKind::AlreadyExists.into())),
        }
        if let Some(folder) = self.target.parent() {
            disk::sync_folder(folder)?;
        }
        Ok(self.target.clone())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::warn!(%error, "an unfinished backup could not be removed; the next backup tries again");
        }
    }
}

/// The folder of one backup: `dir` itself, or the newest in it.
pub(in crate::store) fn choose(dir: &Path) -> Result<PathBuf, BackupError> {
    let root = dir.canonicalize().map_err(failed("open", dir))?;
    let named = root.file_name().and_then(|name| name.to_str()).and_then(moment);
    if named.is_some() || root.join(MANIFEST).exists() {
        return Ok(root);
    }
    let newest = complete(&root)?.pop().map(|complete| complete.path);
    newest.ok_or_else(|| {
        refused(format!("there is no backup in `{}`", dir.display()), "name the folder that `formctl backup` was given")
    })
}

/// The moment that a folder is named after.
pub(in crate::store) fn moment_of(folder: &Path) -> Option<Timestamp> {
    folder.file_name().and_then(|name| name.to_str()).and_then(moment)
}

/// Syncs a folder and those in it.
pub(in crate::store) fn sync_tree(folder: &Path) -> Result<(), StoreError> {
    for entry in disk::entries(folder)? {
        if entry.kind == EntryKind::Folder {
            sync_tree(&entry.path)?;
        }
    }
    disk::sync_folder(folder)
}

/// Removes a folder with all in it; one that is not there is as good as removed.
pub(in crate::store) fn remove(folder: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed("remove", folder)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The complete backups in a folder, the oldest first. What has no readable manifest is none.
fn complete(root: &Path) -> Result<Vec<Complete>, StoreError> {
    let mut found: Vec<Complete> = disk::entries(root)?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Folder && moment(&entry.name).is_some())
        .filter_map(|entry| Manifest::read(&entry.path).ok().map(|manifest| Complete { path: entry.path, manifest }))
        .collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// The name of a backup: RFC 3339 in UTC without what a file name does not need.
fn name(at: Timestamp) -> String {
    at.to_string().chars().filter(|c| !matches!(c, '-' | ':')).collect()
}

/// The moment in a name; `None`: it is no backup's.
fn moment(text: &str) -> Option<Timestamp> {
    let part = |range| text.get(range);
    let (date, time) = (format!("{}-{}-{}", part(0..4)?, part(4..6)?, part(6..8)?), text.get(9..)?);
    let clock = format!("{}:{}:{}", time.get(0..2)?, time.get(2..4)?, time.get(4..)?);
    Timestamp::parse(&format!("{date}T{clock}")).filter(|at| name(*at) == text)
}

/// Takes the lock of the folder.
fn lock(root: &Path) -> Result<File, BackupError> {
    let path = root.join(LOCK);
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.custom_flags(disk::flags(OFlags::NOFOLLOW)).open(&path).map_err(failed("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => {
            Err(refused(format!("another backup into `{}` is running", root.display()), "wait for it"))
        }
        Err(std::fs::TryLockError::Error(error)) => Err(failed("lock", &path)(error).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_named_after_its_moment_and_nothing_else_is_one() {
        let at = Timestamp::from_millis(1_796_056_099_007);
        assert_eq!(name(at), "20261130T162819.007Z");
        assert_eq!(moment("20261130T162819.007Z"), Some(at));
        for other in
            ["", "20261130T162819Z", "20261130T162819.007Z.part", "2026-11-30T16:28:19.007Z", "ä0261130T162819.007Z"]
        {
            assert_eq!(moment(other), None, "{other}");
        }
    }
}
