//! Files that nobody names any more: leftovers of uploads, files without a row, mails without values.
//!
//! Deciding is apart from doing: [`Strays::find`] looks, [`Strays::remove`] acts, and `sweep --dry-run` only looks.
//! A file without a row is moved, not removed: it may be the only copy of what a visitor sent (a COMMIT that failed,
//! a database restored from an older backup), and a week in quarantine lets a human look. Both are safe while the
//! daemon writes: a file is touched only when it is older than any request can be, and a live `.part` is locked.
//!
//! What does not look like ours (another name, a folder, a link) is left alone.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::disk::{self, Entry, EntryKind, Renamed, Unlinked, failed};
use super::{DataDirectory, StoreError, SweepRules};
use crate::domain::ids::{DeliveryId, ReceiptId};
use crate::domain::time::{Span, Timestamp};

/// What a sweep would touch.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// `.part` files that no running request holds.
    pub(super) parts: Vec<PathBuf>,
    /// Files without a row.
    pub(super) orphans: Vec<PathBuf>,
    /// Files that were long enough in quarantine.
    pub(super) quarantined: Vec<PathBuf>,
    /// Mails whose values are gone.
    pub(super) mails: Vec<PathBuf>,
    /// Empty folders of past days.
    pub(super) folders: Vec<PathBuf>,
}

/// How many strays were dealt with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Swept {
    /// `.part` files removed.
    pub(super) parts: u64,
    /// Files moved to quarantine.
    pub(super) orphans: u64,
    /// Files removed from quarantine.
    pub(super) quarantined: u64,
    /// Mails removed.
    pub(super) mails: u64,
}

impl Strays {
    /// Looks through the data directory; `db` is asked after the folders were read, so that a file that is listed and
    /// has its row by then is no stray.
    pub(super) fn find(
        directory: &DataDirectory,
        db: &Connection,
        rules: SweepRules,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let older = |age: Span| move |entry: &Entry| entry.kind == EntryKind::File && entry.modified <= now.minus(age);
        let parts =
            files(&directory.tmp(), |entry| is_part(entry) && older(rules.part_age)(entry) && is_free(&entry.path))?;
        let quarantined = files(&directory.quarantine(), older(rules.quarantine_age))?;
        let (orphans, folders) = orphans(directory, db, now, older(rules.orphan_age))?;
        Ok(Self { parts, orphans, quarantined, mails: stray_mails(directory, db)?, folders })
    }

    /// Deals with them. What fails for one file is logged and left to the next sweep.
    pub(super) fn remove(&self, directory: &DataDirectory, now: Timestamp) -> Swept {
        let swept = Swept {
            parts: count(&self.parts, remove_part),
            orphans: count(&self.orphans, |path| quarantine(directory, path, now)),
            quarantined: count(&self.quarantined, disk::unlink),
            mails: count(&self.mails, disk::unlink),
        };
        for folder in &self.folders {
            // One that a late submission has filled meanwhile is not empty, and stays.
            if let Err(error) = std::fs::remove_dir(folder) {
                tracing::debug!(kind = ?error.kind(), "a day's folder stays");
            }
        }
        let touched = [
            (swept.orphans + swept.quarantined, directory.quarantine()),
            (u64::from(!self.folders.is_empty()), directory.attachments()),
            (swept.mails, directory.mails()),
        ];
        for (_, folder) in touched.iter().filter(|(number, _)| *number > 0) {
            if let Err(error) = disk::sync_folder(folder) {
                tracing::warn!(%error, "a swept folder could not be synced");
            }
        }
        swept
    }
}

/// Does one thing to each path and counts where it was done.
fn count(paths: &[PathBuf], act: impl Fn(&Path) -> Result<Unlinked, StoreError>) -> u64 {
    let done = paths.iter().filter(|path| match act(path) {
        Ok(Unlinked::Removed) => true,
        Ok(Unlinked::Absent) => false,
        Err(error) => {
            tracing::warn!(%error, "the sweep could not deal with a file; the next one will try again");
            false
        }
    });
    u64::try_from(done.count()).unwrap_or(u64::MAX)
}

/// Removes every leftover of a writer that is dead: at the daemon's start, under its lock, all but what a tool that
/// runs right now still holds.
pub(super) fn remove_parts(directory: &DataDirectory) -> Result<(), StoreError> {
    for path in files(&directory.tmp(), is_part)? {
        remove_part(&path)?;
    }
    let probe = |entry: &Entry| entry.kind == EntryKind::File && entry.name.starts_with(".probe-");
    for folder in [directory.tmp(), directory.attachments(), directory.quarantine()] {
        for path in files(&folder, probe)? {
            disk::unlink(&path)?;
        }
    }
    Ok(())
}

/// Moves every file without a row to quarantine, however young: at the daemon's start no request can own one.
pub(super) fn quarantine_all(directory: &DataDirectory, db: &Connection, now: Timestamp) -> Result<(), StoreError> {
    let (orphans, _) = orphans(directory, db, now, |entry| entry.kind == EntryKind::File)?;
    for path in &orphans {
        quarantine(directory, path, now)?;
    }
    if !orphans.is_empty() {
        tracing::warn!(files = orphans.len(), "files without a receipt were moved to quarantine");
        disk::sync_folder(&directory.quarantine())?;
    }
    Ok(())
}

/// The files of a folder that a rule picks.
fn files(folder: &Path, pick: impl Fn(&Entry) -> bool) -> Result<Vec<PathBuf>, StoreError> {
    Ok(disk::entries(folder)?.into_iter().filter(pick).map(|entry| entry.path).collect())
}

/// Whether an entry is something that was being written.
fn is_part(entry: &Entry) -> bool {
    entry.kind == EntryKind::File && Path::new(&entry.name).extension().is_some_and(|ending| ending == "part")
}

/// Whether no running process holds a `.part`.
fn is_free(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// Removes a `.part` unless a running process holds it.
fn remove_part(path: &Path) -> Result<Unlinked, StoreError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Unlinked::Absent),
        Err(error) => return Err(failed("open", path)(error)),
    };
    match file.try_lock() {
        Ok(()) => disk::unlink(path),
        Err(std::fs::TryLockError::WouldBlock) => Ok(Unlinked::Absent),
        Err(std::fs::TryLockError::Error(error)) => Err(failed("lock", path)(error)),
    }
}

/// The files below `attachments/` that no row names and no removal waits for, however young.
pub(super) fn nameless(directory: &DataDirectory, db: &Connection, now: Timestamp) -> Result<Vec<PathBuf>, StoreError> {
    Ok(orphans(directory, db, now, |entry| entry.kind == EntryKind::File)?.0)
}

/// The files below `attachments/` that no row names and no removal waits for, and the empty folders of days before
/// yesterday.
fn orphans(
    directory: &DataDirectory,
    db: &Connection,
    now: Timestamp,
    old: impl Fn(&Entry) -> bool,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), StoreError> {
    let yesterday = now.minus(Span::from_days(1)).day();
    let (mut orphans, mut empty) = (Vec::new(), Vec::new());
    for folder in disk::entries(&directory.attachments())? {
        let (EntryKind::Folder, Some(day)) = (folder.kind, day_of(&folder.name)) else { continue };
        let entries = disk::entries(&folder.path)?;
        if entries.is_empty() && folder.name < yesterday {
            empty.push(folder.path);
            continue;
        }
        let old: Vec<Entry> = entries.into_iter().filter(&old).collect();
        if old.is_empty() {
            continue;
        }
        let named = named_on(db, day)?;
        orphans.extend(
            old.into_iter()
                .filter(|entry| !named.contains(&format!("{}/{}", folder.name, entry.name)))
                .map(|entry| entry.path),
        );
    }
    Ok((orphans, empty))
}

/// The first moment of the day that a folder is named after.
fn day_of(name: &str) -> Option<Timestamp> {
    Timestamp::parse(name).filter(|moment| moment.day() == name)
}

/// The paths below `attachments/` that rows of a day name, or that wait to be unlinked.
fn named_on(db: &Connection, day: Timestamp) -> Result<HashSet<String>, StoreError> {
    let range = (ReceiptId::new(day, 0).as_row(), ReceiptId::new(day.plus(Span::from_days(1)), 0).as_row());
    let mut rows = db.prepare_cached("SELECT path FROM attachments WHERE receipt >= ?1 AND receipt < ?2")?;
    let mut named: HashSet<String> = rows.query_map(range, |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut removals = db.prepare_cached("SELECT path FROM removals")?;
    for path in removals.query_map([], |row| row.get::<_, String>(0))? {
        named.extend(path?.strip_prefix("attachments/").map(str::to_owned));
    }
    Ok(named)
}

/// Moves a file to quarantine under its own name, or that name with a number; its age there counts from now.
fn quarantine(directory: &DataDirectory, path: &Path, now: Timestamp) -> Result<Unlinked, StoreError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let quarantine = directory.quarantine();
    let names = std::iter::once(name.to_string()).chain((1..).map(|number| format!("{name}.{number}")));
    for name in names {
        let target = quarantine.join(name);
        match disk::rename_new(path, &target) {
            Ok(Renamed::Taken) => {}
            Ok(Renamed::Done) => {
                let touched = File::open(&target).and_then(|file| file.set_modified(disk::file_time(now)));
                return touched.map(|()| Unlinked::Removed).map_err(failed("touch", &target));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Unlinked::Absent),
            Err(error) => return Err(failed("rename to", &target)(error)),
        }
    }
    Ok(Unlinked::Absent)
}

/// Mails of the file transport whose values are gone: written by a send that an erasure could not recall.
fn stray_mails(directory: &DataDirectory, db: &Connection) -> Result<Vec<PathBuf>, StoreError> {
    let mut strays = Vec::new();
    for entry in disk::entries(&directory.mails())? {
        let Some(id) = entry.name.strip_suffix(".eml").and_then(DeliveryId::parse) else { continue };
        let kept: bool = db
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM contents WHERE receipt = ?1)")?
            .query_row([id.receipt.as_row()], |row| row.get(0))?;
        if !kept {
            strays.push(entry.path);
        }
    }
    Ok(strays)
}
