//! Files that nobody names any more: leftovers of uploads, files without a row, mails without values.
//!
//! Deciding is apart from doing: [`Strays::find`] looks, [`Strays::remove`] acts, and `sweep --dry-run` only looks.
//! A file without a row is moved, not removed: it may be the only copy of what a visitor sent (a COMMIT that failed,
//! a database restored from an older backup), and a week in quarantine lets a human look. Both are safe while the
//! daemon writes: a file is touched only when it is older than any request can be, and a live `.part` is locked.
//!
//! What does not look like ours (another name, a folder, a link) is left alone.
//!
//! A sweep costs what changed, not what is kept. A day's folder of `attachments/` is looked through when an entry came or
//! went since the last sweep could judge all of its files, which the folder's own time tells; and once a day in any case,
//! in a minute of its own, for what a folder's time does not tell (a file that could not be moved, a row that somebody
//! removed). Without a last sweep, or with one in the future, every folder is looked through.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::disk::{self, Entry, EntryKind, Renamed, Unlinked, failed};
use super::{DataDirectory, StoreError, SweepRules, facts};
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
        let last = facts::read(db, "last_sweep_at")?.as_deref().and_then(Timestamp::parse);
        let turn = Turn { last: last.filter(|last| *last <= now), age: rules.orphan_age, now };
        let (orphans, folders) =
            orphans(directory, db, |day, folder| turn.has_come(day, folder), |entry| older(rules.orphan_age)(entry))?;
        let yesterday = now.minus(Span::from_days(1)).day();
        let folders = folders.into_iter().filter(|folder| folder.name < yesterday).map(|folder| folder.path).collect();
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

/// Days' folders that a start looks through.
const NEWEST: usize = 2;

/// Moves the files without a row that the last daemon left to quarantine, however young: at the daemon's start no request
/// can own one. What a crash left stands in the folder of the last day on which files came, or, around midnight, in the
/// one before; older ones are the sweep's, so that a start does not cost what is kept.
pub(super) fn quarantine_all(directory: &DataDirectory, db: &Connection, now: Timestamp) -> Result<(), StoreError> {
    let days = disk::entries(&directory.attachments())?.into_iter().map(|folder| folder.name);
    let mut days: Vec<String> = days.filter(|name| day_of(name).is_some()).collect();
    days.sort();
    let newest = days.split_off(days.len().saturating_sub(NEWEST));
    let (orphans, _) =
        orphans(directory, db, |_, folder| newest.contains(&folder.name), |entry| entry.kind == EntryKind::File)?;
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

/// When a day's folder is looked through.
struct Turn {
    /// The last sweep.
    last: Option<Timestamp>,
    /// From what age on files are judged.
    age: Span,
    /// This sweep.
    now: Timestamp,
}

impl Turn {
    /// Whether an entry came or went since the last sweep could judge all files, or the folder's minute of the day has
    /// come: each day has its own of 1,440, so no round has many of them.
    fn has_come(&self, day: Timestamp, folder: &Entry) -> bool {
        const MINUTE: i64 = 60_000;
        const MINUTES: i64 = 24 * 60;
        let Some(last) = self.last else { return true };
        let own = day.as_millis() / (MINUTES * MINUTE);
        // How often that minute has come until a moment.
        let turns = |until: Timestamp| (until.as_millis() / MINUTE - own).div_euclid(MINUTES);
        folder.modified >= last.minus(self.age) || turns(last) < turns(self.now)
    }
}

/// The files that no row names and no removal waits for, below those days' folders of `attachments/` that are to be
/// looked through, and those of the folders that are empty.
fn orphans(
    directory: &DataDirectory,
    db: &Connection,
    look: impl Fn(Timestamp, &Entry) -> bool,
    old: impl Fn(&Entry) -> bool,
) -> Result<(Vec<PathBuf>, Vec<Entry>), StoreError> {
    let (mut orphans, mut empty) = (Vec::new(), Vec::new());
    for folder in disk::entries(&directory.attachments())? {
        let (EntryKind::Folder, Some(day)) = (folder.kind, day_of(&folder.name)) else { continue };
        if !look(day, &folder) {
            continue;
        }
        let entries = disk::entries(&folder.path)?;
        if entries.is_empty() {
            empty.push(folder);
            continue;
        }
        let old: Vec<Entry> = entries.into_iter().filter(&old).collect();
        if old.is_empty() {
            continue;
        }
        let named = named_on(db, day)?;
        for entry in old {
            let path = format!("{}/{}", folder.name, entry.name);
            if !named.contains(&path) && !waits_for_removal(db, &path)? {
                orphans.push(entry.path);
            }
        }
    }
    Ok((orphans, empty))
}

/// The first moment of the day that a folder is named after.
fn day_of(name: &str) -> Option<Timestamp> {
    Timestamp::parse(name).filter(|moment| moment.day() == name)
}

/// The paths below `attachments/` that rows of a day name.
fn named_on(db: &Connection, day: Timestamp) -> Result<HashSet<String>, StoreError> {
    let range = (ReceiptId::new(day, 0).as_row(), ReceiptId::new(day.plus(Span::from_days(1)), 0).as_row());
    let mut rows = db.prepare_cached("SELECT path FROM attachments WHERE receipt >= ?1 AND receipt < ?2")?;
    let named = rows.query_map(range, |row| row.get(0))?;
    Ok(named.collect::<Result<_, _>>()?)
}

/// Whether a file below `attachments/` is erased and only to be unlinked.
fn waits_for_removal(db: &Connection, path: &str) -> Result<bool, StoreError> {
    let mut find = db.prepare_cached("SELECT 1 FROM removals WHERE path = 'attachments/' || ?1")?;
    Ok(find.exists([path])?)
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
