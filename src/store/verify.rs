//! Proves that every row has its file with the right bytes, and every file its row: in a data directory, also while
//! the daemon writes and erases, or in a backup.
//!
//! While others write, what is seen is a little older than what is true. So a row without its file is asked for once
//! more (an erasure removes the row first), and a file without a row that is younger than 2 hours is counted only: it
//! may be about to get its row, or belong to an upload that failed. A row without its file is a fault however young it
//! is: a file is durable before its row is.
//!
//! It changes nothing. It names receipts and attachments, never a visitor's file name. Its reading transactions are
//! short but for `SQLite`'s own check, which holds one: an erasure meanwhile says *pending*.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::backup::{
    BackupError, DATABASE, FileFacts, KEY, MANIFEST, Manifest, Measured, Named, Progress, Watcher, choose, fingerprint,
    is_missing, measure, moment_of, named, named_in, receipts,
};
use super::disk::{self, EntryKind};
use super::{Store, StoreError, rows, strays};
use crate::domain::digest::InstanceKey;
use crate::domain::ids::AttachmentId;
use crate::domain::time::{Span, Timestamp};

/// Younger files may still get their row.
const YOUNG: Span = Span::from_hours(2);
/// Rows of one question.
const PAGE: i64 = 500;

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A row or the manifest names a file that is not there.
    #[error("{id}: its file `{path}` is missing")]
    Missing {
        /// What it is the file of.
        id: String,
        /// Where it should be.
        path: String,
    },
    /// A file was cut or grew.
    #[error("{id}: its file `{path}` has {found} bytes instead of {expected}")]
    Size {
        /// What it is the file of.
        id: String,
        /// Where it is.
        path: String,
        /// Bytes that were written.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A file holds other bytes.
    #[error("{id}: the bytes of `{path}` are not those that were written")]
    Bytes {
        /// What it is the file of.
        id: String,
        /// Where it is.
        path: String,
    },
    /// A file cannot be read.
    #[error("{id}: `{path}` cannot be read: {reason}")]
    Unreadable {
        /// What it is the file of.
        id: String,
        /// Where it is.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// A file that nothing names.
    #[error("`{path}` belongs to no receipt")]
    Stray {
        /// Where it is.
        path: String,
    },
    /// The manifest says other than the rest.
    #[error("the manifest {0}")]
    Manifest(String),
    /// The database is not sound.
    #[error("the database: {0}")]
    Database(String),
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// What was looked at.
    pub place: PathBuf,
    /// Receipts.
    pub receipts: u64,
    /// Files that rows name.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files without a row that are young enough to get one.
    pub young: u64,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

impl Fault {
    /// The file of an attachment is not there.
    pub(super) fn missing(id: AttachmentId, path: &str) -> Self {
        Self::Missing { id: id.to_string(), path: path.to_owned() }
    }

    /// The file of an attachment cannot be read.
    pub(super) fn unreadable(id: AttachmentId, path: &str, error: &std::io::Error) -> Self {
        Self::Unreadable { id: id.to_string(), path: path.to_owned(), reason: error.to_string() }
    }

    /// What `found` differs in; `None`: in nothing.
    pub(super) fn compare(id: AttachmentId, path: &str, expected: Measured, found: Measured) -> Option<Self> {
        let (id, path) = (id.to_string(), path.to_owned());
        if found.size != expected.size {
            return Some(Self::Size { id, path, expected: expected.size, found: found.size });
        }
        (found.sha256 != expected.sha256).then_some(Self::Bytes { id, path })
    }
}

impl Store {
    /// Checks the data directory, whether the daemon runs or not; blocking and long.
    pub fn verify(&self, now: Timestamp, watcher: Watcher<'_>) -> Result<Verified, StoreError> {
        let mut found = Verified { place: self.directory().root().to_owned(), ..Verified::default() };
        let total = self.read(|db| {
            found.faults = sound(db)?;
            found.receipts = receipts(db)?;
            Ok(rows::count(db.query_row("SELECT COALESCE(SUM(size), 0) FROM attachments", [], |row| row.get(0))?))
        })?;
        let mut after = 0;
        loop {
            let (page, last) = self.read(|db| page(db, after))?;
            for file in &page {
                let mut done = found.bytes;
                let tick = &mut |bytes| {
                    done += bytes;
                    watcher(Progress { what: "files", done, total: total.max(done) });
                };
                let fault = self.check_file(file, tick)?;
                found.files += 1;
                found.bytes += file.holds.size;
                found.faults.extend(fault);
            }
            match last {
                Some(last) => after = last,
                None => break,
            }
        }
        self.check_strays(&mut found, now)?;
        Ok(found)
    }

    /// What is wrong with the file of a row.
    fn check_file(&self, file: &Named, tick: &mut dyn FnMut(u64)) -> Result<Option<Fault>, StoreError> {
        let path = self.directory().root().join(&file.path);
        let fault = match measure(&path, tick) {
            Ok(found) => Fault::compare(file.id, &file.path, file.holds, found),
            Err(error) if is_missing(&error) => Some(Fault::missing(file.id, &file.path)),
            Err(StoreError::File { source, .. }) => Some(Fault::unreadable(file.id, &file.path, &source)),
            Err(error) => return Err(error),
        };
        // Seen a moment ago: what has been erased since needs no file.
        match fault {
            Some(fault) if self.has_attachment(file.id)? => Ok(Some(fault)),
            Some(_) | None => Ok(None),
        }
    }

    /// Looks for files that no row names.
    fn check_strays(&self, found: &mut Verified, now: Timestamp) -> Result<(), StoreError> {
        let root = self.directory().root();
        for path in self.read(|db| strays::nameless(self.directory(), db))? {
            // One that is gone was being erased.
            let Ok(facts) = path.symlink_metadata() else { continue };
            if facts.modified().is_ok_and(|time| disk::moment(time) > now.minus(YOUNG)) {
                found.young += 1;
            } else {
                let path = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                found.faults.push(Fault::Stray { path });
            }
        }
        Ok(())
    }
}

/// Checks a backup: `dir` itself, or the newest in it; blocking and long.
pub fn verify_backup(dir: &Path, watcher: Watcher<'_>) -> Result<Verified, BackupError> {
    let place = choose(dir)?;
    let mut found = Verified { place: place.clone(), ..Verified::default() };
    match Manifest::read(&place) {
        Ok(manifest) => {
            check_facts(&place, &manifest, &mut found);
            check_listed(&place, &manifest, &mut found, watcher)?;
            check_database(&place, &manifest, &mut found);
            check_unlisted(&place, &manifest, &mut found)?;
        }
        Err(problem) => found.faults.push(Fault::Manifest(problem)),
    }
    Ok(found)
}

/// The moment and the key, as the manifest has them.
fn check_facts(place: &Path, manifest: &Manifest, found: &mut Verified) {
    let mut fault = |text: &str| found.faults.push(Fault::Manifest(text.to_owned()));
    if moment_of(place).is_some_and(|at| at.to_string() != manifest.at) {
        fault("has another time than the folder's name");
    }
    if manifest.key.included {
        match read_key(&place.join(KEY)) {
            Ok(key) if fingerprint(&key) == manifest.key.fingerprint => {}
            Ok(_) => fault("was written with another instance key than the file `key`"),
            Err(problem) => fault(&format!("names the instance key, and the file `key` {problem}")),
        }
    }
}

/// Every file that the manifest lists, the database among them.
fn check_listed(
    place: &Path,
    manifest: &Manifest,
    found: &mut Verified,
    watcher: Watcher<'_>,
) -> Result<(), StoreError> {
    let listed = std::iter::once(&manifest.database).chain(&manifest.files);
    let total = listed.clone().map(|file| file.size).sum();
    let mut done = 0;
    for file in listed {
        let tick = &mut |bytes| {
            done += bytes;
            watcher(Progress { what: "files", done, total });
        };
        let id = attachment(&file.path);
        let path = file.path.clone();
        match measure(&place.join(&file.path), tick) {
            Ok(there) if file.is(there) => {}
            Ok(there) if there.size != file.size => {
                found.faults.push(Fault::Size { id, path, expected: file.size, found: there.size });
            }
            Ok(_) => found.faults.push(Fault::Bytes { id, path }),
            Err(error) if is_missing(&error) => found.faults.push(Fault::Missing { id, path }),
            Err(StoreError::File { source, .. }) => {
                found.faults.push(Fault::Unreadable { id, path, reason: source.to_string() });
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What a file in a manifest is, in words: an attachment's id where its path is one's.
pub(super) fn attachment(path: &str) -> String {
    match path.rsplit_once('/').and_then(|(_, name)| name.rsplit_once('-')) {
        Some((receipt, position)) => format!("{receipt}-a{position}"),
        None => path.to_owned(),
    }
}

/// The database, and whether its rows are the manifest's files.
fn check_database(place: &Path, manifest: &Manifest, found: &mut Verified) {
    let asked = open_copy(&place.join(DATABASE)).and_then(|db| {
        found.faults.extend(sound(&db)?);
        found.receipts = receipts(&db)?;
        named(&db)
    });
    let rows = match asked {
        Ok(rows) => rows,
        Err(error) => return found.faults.push(Fault::Database(error.to_string())),
    };
    found.files = u64::try_from(rows.len()).unwrap_or(u64::MAX);
    found.bytes = rows.iter().map(|row| row.holds.size).sum();
    let mut fault = |text: String| found.faults.push(Fault::Manifest(text));
    if found.receipts != manifest.receipts {
        fault(format!("counts {} receipts, the database has {}", manifest.receipts, found.receipts));
    }
    let mut listed: BTreeMap<&str, &FileFacts> = manifest.files.iter().map(|file| (file.path.as_str(), file)).collect();
    if listed.len() != manifest.files.len() {
        fault("lists a file twice".to_owned());
    }
    for row in &rows {
        match listed.remove(row.path.as_str()) {
            Some(file) if file.is(row.holds) => {}
            Some(_) => fault(format!("has another size or hash for {} than the database", row.id)),
            None => fault(format!("does not list the file of {}", row.id)),
        }
    }
    for path in listed.keys() {
        fault(format!("lists `{path}`, which belongs to no receipt"));
    }
}

/// What is in the folder and not in the manifest.
fn check_unlisted(place: &Path, manifest: &Manifest, found: &mut Verified) -> Result<(), StoreError> {
    let mut listed: BTreeSet<&str> = manifest.files.iter().map(|file| file.path.as_str()).collect();
    listed.extend([MANIFEST, DATABASE]);
    if manifest.key.included {
        listed.insert(KEY);
    }
    let mut folders = vec![place.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in disk::entries(&folder)? {
            let path = entry.path.strip_prefix(place).unwrap_or(&entry.path).to_string_lossy().into_owned();
            if entry.kind == EntryKind::Folder {
                folders.push(entry.path);
            } else if !listed.contains(path.as_str()) {
                found.faults.push(Fault::Stray { path });
            }
        }
    }
    Ok(())
}

/// The instance key in a file; the error says in words what is wrong.
fn read_key(path: &Path) -> Result<InstanceKey, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    <[u8; 32]>::try_from(bytes).map(InstanceKey::new).map_err(|_| "does not hold 32 bytes".to_owned())
}

/// Opens the database of a backup so that not a byte of it changes.
fn open_copy(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    Ok(Connection::open_with_flags(path, flags)?)
}

/// What `SQLite` itself finds wrong with a database.
fn sound(db: &Connection) -> Result<Vec<Fault>, StoreError> {
    let mut faults = Vec::new();
    let mut check = db.prepare("PRAGMA integrity_check")?;
    for line in check.query_map([], |row| row.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            faults.push(Fault::Database(line));
        }
    }
    let mut check = db.prepare("PRAGMA foreign_key_check")?;
    for table in check.query_map([], |row| row.get::<_, String>(0))? {
        faults.push(Fault::Database(format!("a row of `{}` belongs to a receipt that is not there", table?)));
    }
    Ok(faults)
}

/// Some attachments behind a row, and the row to go on behind.
fn page(db: &Connection, after: i64) -> Result<(Vec<Named>, Option<i64>), StoreError> {
    let mut list = db.prepare_cached(
        "SELECT receipt, position, path, size, sha256, id FROM attachments WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let mut found = list.query((after, PAGE))?;
    let (mut page, mut end) = (Vec::new(), None);
    while let Some(row) = found.next()? {
        page.push(named_in(row)?);
        end = Some(row.get(5)?);
    }
    Ok((page, end))
}
