//! A backup back into a data directory, in which nothing is sent before somebody says so.
//!
//! ```text
//! the backup is verified                 a damaged one is refused
//! restore.part                           the database's copy: from here on no daemon and no tool opens the directory
//! attachments/, key                      copied (never linked), hashed on the way, synced
//! restore.part                           migrated, deliveries held, synced
//! rename to formd.db, fsync              now it is a data directory
//! ```
//!
//! A crash before the last line leaves `restore.part`: whoever opens the directory is told so, and the next restore
//! clears what is left and begins anew. It is written in place, since a data directory may be a mount, or stand in a
//! folder in which its owner may not rename.
//!
//! Every waiting delivery is held as `restored`: the backup does not know what was sent since. What was held as spam
//! stays so, its release is an act of its own; what waited for its site's file is held as `restored` too, for the file
//! alone would let it go.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::backup::{
    ATTACHMENTS, BackupError, DATABASE, FileFacts, KEY, Manifest, Progress, Watcher, choose, copy, fingerprint,
    refused, remove_tree, sync_tree,
};
use super::disk::{self, Renamed, failed};
use super::lifecycle::{self, Fate};
use super::verify::{Fault, attachment, verify_backup};
use super::{DataDirectory, StoreError, facts, schema, startup};
use crate::domain::delivery::Hold;
use crate::domain::digest::InstanceKey;
use crate::domain::time::Timestamp;

/// The database while it is being restored.
const PART: &str = "restore.part";
/// `SQLite`'s journal beside it.
const JOURNAL: &str = "restore.part-journal";
/// What an empty data directory may hold: our lock, and what a file system of its own begins with.
const EMPTY: [&str; 2] = ["lock", "lost+found"];

/// What was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The backup.
    pub from: PathBuf,
    /// The data directory.
    pub into: PathBuf,
    /// When the backup was made.
    pub at: String,
    /// Receipts.
    pub receipts: u64,
    /// Files of visitors.
    pub files: u64,
    /// Deliveries that are held now.
    pub held: u64,
}

/// Where the instance key comes from when the backup does not hold it.
#[derive(Clone, Copy, Debug)]
pub enum KeySource<'a> {
    /// The backup alone.
    Backup,
    /// These bytes, which somebody kept.
    Kept(&'a [u8]),
}

/// Restores a backup (`dir` itself, or the newest in it) into the empty or absent directory `data`; blocking.
pub fn restore(
    dir: &Path,
    data: &Path,
    key: KeySource<'_>,
    now: Timestamp,
    watcher: Watcher<'_>,
) -> Result<Restored, BackupError> {
    startup::close_umask();
    let from = choose(dir)?;
    let damaged = |faults| BackupError::Damaged { place: from.clone(), faults };
    let manifest = Manifest::read(&from).map_err(|problem| damaged(vec![Fault::Manifest(problem)]))?;
    schema::refuse_newer(&from.join(DATABASE), manifest.schema, schema::SCHEMA.version())?;
    let found = verify_backup(&from, watcher)?;
    if !found.faults.is_empty() {
        return Err(damaged(found.faults));
    }
    let key = right_key(&from, &manifest, key)?;
    disk::make_folder(data)?;
    let (directory, _lock) = empty(data)?;
    copy_whole(&from, &manifest.database, &part(&directory), &mut |_| {})?;
    disk::sync_folder(directory.root())?;
    copy_files(&from, &directory, &manifest, watcher)?;
    drop(disk::write_synced(&directory.key(), &key)?);
    let held = place_database(&directory, &manifest, now)?;
    if let Some(parent) = directory.root().parent() {
        // The folder itself may be new. One that may not be opened holds nothing of ours.
        drop(disk::sync_folder(parent));
    }
    let files = u64::try_from(manifest.files.len()).unwrap_or(u64::MAX);
    let into = directory.root().to_owned();
    Ok(Restored { from, into, at: manifest.at, receipts: manifest.receipts, files, held })
}

/// Whether a restore was begun in `root` and has not ended.
pub(super) fn is_unfinished(root: &Path) -> bool {
    root.join(PART).symlink_metadata().is_ok()
}

/// The database of a directory while it is being restored.
fn part(directory: &DataDirectory) -> PathBuf {
    directory.root().join(PART)
}

/// The key that the backup's hashes were made with.
fn right_key(from: &Path, manifest: &Manifest, kept: KeySource<'_>) -> Result<[u8; 32], BackupError> {
    let bytes = match kept {
        KeySource::Kept(bytes) => bytes.to_vec(),
        KeySource::Backup if manifest.key.included => {
            let path = from.join(KEY);
            std::fs::read(&path).map_err(failed("read", &path))?
        }
        KeySource::Backup => {
            let problem = format!("the backup `{}` was made without the instance key", from.display());
            return Err(refused(problem, "name the file `key` of its data directory: `--key FILE`"));
        }
    };
    let wrong = || {
        let problem = format!("this is not the instance key of the backup `{}`", from.display());
        refused(
            problem,
            "take the file `key` of the data directory it was made of: under another, honest repeats would be conflicts",
        )
    };
    let bytes = <[u8; 32]>::try_from(bytes).map_err(|_| wrong())?;
    if fingerprint(&InstanceKey::new(bytes)) == manifest.key.fingerprint { Ok(bytes) } else { Err(wrong()) }
}

/// The data directory, which is ours, holds nothing, and which no daemon has.
fn empty(data: &Path) -> Result<(DataDirectory, std::fs::File), BackupError> {
    startup::check_folder(data)?;
    let directory = DataDirectory::new(data.canonicalize().map_err(failed("open", data))?);
    let others = |directory: &DataDirectory| -> Result<Option<String>, StoreError> {
        let entries = disk::entries(directory.root())?;
        Ok(entries.into_iter().map(|entry| entry.name).find(|name| !EMPTY.contains(&name.as_str())))
    };
    let began = is_unfinished(directory.root());
    if directory.daemon_pid()?.is_some() {
        return Err(refused(
            format!("a daemon or another restore works in `{}`", data.display()),
            "stop it, and move the data directory away: a restore overwrites nothing",
        ));
    }
    if let (false, Some(name)) = (began, others(&directory)?) {
        return Err(refused(
            format!("the data directory `{}` is not empty: there is `{name}`", data.display()),
            "a restore overwrites nothing: stop formd, move the directory away, and restore into an empty one",
        ));
    }
    let lock = startup::lock(&directory)?;
    if began {
        // What an interrupted restore wrote, which is all that can be here.
        remove_tree(&directory.attachments())?;
        for path in [directory.key(), directory.root().join(JOURNAL), part(&directory)] {
            disk::unlink(&path)?;
        }
    }
    Ok((directory, lock))
}

/// Copies the files of visitors.
fn copy_files(
    from: &Path,
    directory: &DataDirectory,
    manifest: &Manifest,
    watcher: Watcher<'_>,
) -> Result<(), BackupError> {
    let total = manifest.files.iter().map(|file| file.size).sum();
    let mut done = 0;
    disk::make_folder(&directory.attachments())?;
    for file in &manifest.files {
        let to = directory.root().join(&file.path);
        to.parent().map_or(Ok(()), disk::make_folder)?;
        copy_whole(from, file, &to, &mut |bytes| {
            done += bytes;
            watcher(Progress { what: "copying", done, total });
        })?;
    }
    Ok(sync_tree(&directory.root().join(ATTACHMENTS))?)
}

/// Copies one file; other bytes than the manifest's are an error.
fn copy_whole(from: &Path, file: &FileFacts, to: &Path, tick: &mut dyn FnMut(u64)) -> Result<(), BackupError> {
    if file.is(copy(&from.join(&file.path), to, tick)?) {
        return Ok(());
    }
    let fault = Fault::Bytes { id: attachment(&file.path), path: file.path.clone() };
    Err(BackupError::Damaged { place: from.to_owned(), faults: vec![fault] })
}

/// Brings the database up to date, holds every waiting delivery (how many is returned), and gives it its name.
fn place_database(directory: &DataDirectory, manifest: &Manifest, now: Timestamp) -> Result<u64, StoreError> {
    let path = part(directory);
    let held = prepare(&path, manifest, now)?;
    std::fs::File::open(&path).and_then(|file| file.sync_all()).map_err(failed("sync", &path))?;
    let database = directory.database();
    if disk::rename_new(&path, &database).map_err(failed("rename to", &database))? == Renamed::Taken {
        return Err(failed("rename to", &database)(std::io::ErrorKind::AlreadyExists.into()));
    }
    disk::sync_folder(directory.root())?;
    Ok(held)
}

/// Brings the copy of a database up to date and holds what waits; how many deliveries are held as `restored`.
fn prepare(path: &Path, manifest: &Manifest, now: Timestamp) -> Result<u64, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut db = Connection::open_with_flags(path, flags)?;
    db.execute_batch("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;")?;
    // The backup itself is the copy that is kept before a migration.
    schema::advance(&mut db, manifest.schema, &schema::SCHEMA)?;
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute("UPDATE deliveries SET claim = NULL WHERE claim IS NOT NULL", [])?;
    for fate in [Fate::Release(Hold::SiteGone), Fate::Hold(Hold::Restored)] {
        lifecycle::move_all(&transaction, fate, now)?;
    }
    facts::write(&transaction, "last_backup_at", &manifest.at, now)?;
    let held: i64 = transaction.query_row(HELD_SQL, [Hold::Restored.word()], |row| row.get(0))?;
    transaction.commit()?;
    db.close().map_err(|(_, error)| error)?;
    Ok(super::rows::count(held))
}

/// How many deliveries wait for this reason.
const HELD_SQL: &str = "SELECT COUNT(*) FROM deliveries WHERE held = ?1";
