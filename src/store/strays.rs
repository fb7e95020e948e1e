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
use super::sweep::Round;
use super::{DataDirectory, StoreError, facts};
use crate::domain::ids::{DeliveryId, ReceiptId};
use crate::domain::time::{Span, Timestamp};

/// `.part` files that no running request holds.
pub(super) fn parts(round: &Round<'_>) -> Result<Vec<PathBuf>, StoreError> {
    let old = older(round, round.rules.part_age);
    files(&round.store.directory().tmp(), |entry| is_part(entry) && old(entry) && is_free(&entry.path))
}

/// Removes them.
pub(super) fn remove_old_parts(round: &Round<'_>) -> Result<u64, StoreError> {
    Ok(count(&parts(round)?, remove_part))
}

/// Files without a row. The database is asked after the folders were read, so that a file that is listed and has its row
/// by then is no stray.
pub(super) fn orphans(round: &Round<'_>) -> Result<Vec<PathBuf>, StoreError> {
    let old = older(round, round.rules.orphan_age);
    round.store.read(|db| {
        let folders = Turn::of(round, db)?.folders(round.store.directory())?;
        without_row(&folders, db, old)
    })
}

/// Moves them to quarantine.
pub(super) fn quarantine_orphans(round: &Round<'_>) -> Result<u64, StoreError> {
    let directory = round.store.directory();
    let moved = count(&orphans(round)?, |path| quarantine(directory, path, round.now));
    sync_touched(&directory.quarantine(), moved)
}

/// Files that were long enough in quarantine.
pub(super) fn quarantined(round: &Round<'_>) -> Result<Vec<PathBuf>, StoreError> {
    files(&round.store.directory().quarantine(), older(round, round.rules.quarantine_age))
}

/// Removes them.
pub(super) fn remove_quarantined(round: &Round<'_>) -> Result<u64, StoreError> {
    let removed = count(&quarantined(round)?, disk::unlink);
    sync_touched(&round.store.directory().quarantine(), removed)
}

/// Mails of the file transport whose values are gone: written by a send that an erasure could not recall.
pub(super) fn mails(round: &Round<'_>) -> Result<Vec<PathBuf>, StoreError> {
    round.store.read(|db| stray_mails(round.store.directory(), db))
}

/// Removes them.
pub(super) fn remove_mails(round: &Round<'_>) -> Result<u64, StoreError> {
    let removed = count(&mails(round)?, disk::unlink);
    sync_touched(&round.store.directory().mails(), removed)
}

/// Empty folders of days before yesterday.
pub(super) fn empty_folders(round: &Round<'_>) -> Result<Vec<PathBuf>, StoreError> {
    let yesterday = round.now.minus(Span::from_days(1)).day();
    let folders = round.store.read(|db| Turn::of(round, db)?.folders(round.store.directory()))?;
    let mut empty = Vec::new();
    for (_, folder) in folders {
        if folder.name < yesterday && disk::entries(&folder.path)?.is_empty() {
            empty.push(folder.path);
        }
    }
    Ok(empty)
}

/// Removes them. One that a late submission has filled meanwhile is not empty, and stays.
pub(super) fn remove_folders(round: &Round<'_>) -> Result<u64, StoreError> {
    let folders = empty_folders(round)?;
    let removed = folders.iter().filter(|folder| match std::fs::remove_dir(folder) {
        Ok(()) => true,
        Err(error) => {
            tracing::debug!(kind = ?error.kind(), "a day's folder stays");
            false
        }
    });
    let removed = u64::try_from(removed.count()).unwrap_or(u64::MAX);
    sync_touched(&round.store.directory().attachments(), removed)
}

/// How many there are.
pub(super) fn count_of<T>(strays: &[T]) -> u64 {
    u64::try_from(strays.len()).unwrap_or(u64::MAX)
}

/// Whether a file is older than `age`.
fn older(round: &Round<'_>, age: Span) -> impl Fn(&Entry) -> bool {
    let since = round.now.minus(age);
    move |entry| entry.kind == EntryKind::File && entry.modified <= since
}

/// Syncs a folder in which `touched` entries changed, and hands the number on.
fn sync_touched(folder: &Path, touched: u64) -> Result<u64, StoreError> {
    if touched > 0 {
        disk::sync_folder(folder)?;
    }
    Ok(touched)
}

/// Does one thing to each path and counts where it was done. What fails for one is logged and left to the next sweep.
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
    let mut folders = days(directory)?;
    folders.sort_by_key(|(day, _)| *day);
    let newest = folders.split_off(folders.len().saturating_sub(NEWEST));
    let orphans = without_row(&newest, db, |entry| entry.kind == EntryKind::File)?;
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
pub(super) fn nameless(directory: &DataDirectory, db: &Connection) -> Result<Vec<PathBuf>, StoreError> {
    without_row(&days(directory)?, db, |entry| entry.kind == EntryKind::File)
}

/// A day's folder of `attachments/`.
type Day = (Timestamp, Entry);

/// All of them.
fn days(directory: &DataDirectory) -> Result<Vec<Day>, StoreError> {
    let folders = disk::entries(&directory.attachments())?.into_iter().filter(|entry| entry.kind == EntryKind::Folder);
    Ok(folders.filter_map(|folder| day_of(&folder.name).map(|day| (day, folder))).collect())
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
    /// The turn of a round.
    fn of(round: &Round<'_>, db: &Connection) -> Result<Self, StoreError> {
        let last = facts::read(db, "last_sweep_at")?.as_deref().and_then(Timestamp::parse);
        Ok(Self { last: last.filter(|last| *last <= round.now), age: round.rules.orphan_age, now: round.now })
    }

    /// The folders whose turn it is.
    fn folders(&self, directory: &DataDirectory) -> Result<Vec<Day>, StoreError> {
        Ok(days(directory)?.into_iter().filter(|(day, folder)| self.has_come(*day, folder)).collect())
    }

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

/// The files in some days' folders that no row names and no removal waits for.
fn without_row(folders: &[Day], db: &Connection, old: impl Fn(&Entry) -> bool) -> Result<Vec<PathBuf>, StoreError> {
    let mut orphans = Vec::new();
    for (day, folder) in folders {
        let old = files(&folder.path, &old)?;
        if old.is_empty() {
            continue;
        }
        let named = named_on(db, *day)?;
        let is_named = |path: &PathBuf| {
            path.file_name().is_some_and(|name| named.contains(&format!("{}/{}", folder.name, name.to_string_lossy())))
        };
        orphans.extend(old.into_iter().filter(|path| !is_named(path)));
    }
    Ok(orphans)
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
