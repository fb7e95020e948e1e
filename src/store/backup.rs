//! A backup: one consistent snapshot, taken while the daemon runs.
//!
//! ```text
//! DIR/<time>.part/            made first, and whatever happens before the last line, no backup
//!   formd.db                  SQLite's own copy of one moment (never `cp`), in one file
//!   attachments/<day>/...     exactly the files that its rows name, each hashed while it is copied
//!   key                       the instance key, unless it is to be left out
//!   manifest.json             every file with size and SHA-256
//! fsync of every file and folder, rename to DIR/<time>/, fsync of DIR
//! ```
//!
//! # What it guarantees
//!
//! * Rows = files = manifest. A file that an erasure took between the snapshot and its copy is no fault: its receipt is
//!   erased in the copy as well. A file that is gone while its row is not, or whose bytes are others, is: then there is
//!   no backup, and the fault is named.
//! * A folder with the name of a backup is complete. A crash leaves a `.part`, which the next backup removes.
//! * A file that the newest backup has already is hard-linked from there, never from the data directory: a link into it
//!   would let damage done in place travel into every backup, and would keep the bytes of what was erased under a name
//!   that no erasure knows.
//!
//! # What it does not do
//!
//! It does not hold anything while files are copied: only the copy of the database's pages keeps an erasure *pending*.
//! It does not read again what it links (`verify` does). It leaves out what is no record: mails of the file transport,
//! quarantine, uploads in progress, the limiter, copies before migrations. Erasing reaches no backup: `--keep` bounds
//! how long one holds what is erased here.

mod copy;
mod manifest;
mod shelf;
mod snapshot;

use std::collections::{BTreeSet, HashMap};
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::{Fault, OpenError, Store, StoreError, disk, facts};
use crate::domain::ids::{AttachmentId, ReceiptId};
use crate::domain::time::Timestamp;
pub(super) use copy::{Measured, copy, is_missing, measure};
pub(super) use manifest::{ATTACHMENTS, DATABASE, FileFacts, KEY, KeyFacts, MANIFEST, Manifest, fingerprint};
use shelf::{Part, Shelf};
pub(super) use shelf::{choose, moment_of, remove as remove_tree, sync_tree};
use snapshot::Snapshot;
pub(super) use snapshot::{Named, named, named_in, receipts};

/// Why there is no backup, or nothing was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// It may not be done so.
    #[error("{problem}")]
    Refused {
        /// What is wrong, and where.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// What should be copied is damaged.
    #[error("`{}` is damaged", place.display())]
    Damaged {
        /// The data directory or the backup.
        place: PathBuf,
        /// What is wrong with it.
        faults: Vec<Fault>,
    },
    /// A folder is not as it must be.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Anything else.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A refusal in words.
pub(super) fn refused(problem: String, hint: &str) -> BackupError {
    BackupError::Refused { problem, hint: hint.to_owned() }
}

/// What a backup is to be.
#[derive(Clone, Copy, Debug)]
pub struct BackupOrder<'a> {
    /// The folder that backups stand in.
    pub dir: &'a Path,
    /// How many complete ones stay; `None`: all.
    pub keep: Option<NonZeroUsize>,
    /// Whether the instance key goes along.
    pub key: KeyCopy,
}

/// Whether the instance key goes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyCopy {
    /// It does.
    Included,
    /// It stays here; restoring needs it from elsewhere.
    LeftOut,
}

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedUp {
    /// Its folder.
    pub path: PathBuf,
    /// Receipts in it.
    pub receipts: u64,
    /// Files of visitors in it.
    pub files: u64,
    /// How many of them are shared with the backup before.
    pub linked: u64,
    /// Bytes written, the database included.
    pub written: u64,
    /// Old backups that were removed.
    pub removed: u64,
}

/// How far long work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is under way.
    pub what: &'static str,
    /// Pieces done.
    pub done: u64,
    /// Pieces in all.
    pub total: u64,
}

/// Who hears how far it is.
pub type Watcher<'a> = &'a mut dyn FnMut(Progress);

/// What became of the snapshot's files.
#[derive(Debug, Default)]
struct Carried {
    /// In the backup, ordered by path.
    files: Vec<FileFacts>,
    /// How many are links.
    linked: u64,
    /// Bytes copied.
    written: u64,
    /// Receipts that were erased since the snapshot.
    erased: BTreeSet<ReceiptId>,
    /// What is damaged.
    faults: Vec<Fault>,
}

impl Store {
    /// Makes a backup; blocking. `watcher` hears how far it is.
    pub fn back_up(
        &self,
        order: &BackupOrder<'_>,
        now: Timestamp,
        watcher: Watcher<'_>,
    ) -> Result<BackedUp, BackupError> {
        let backups = Shelf::open(order.dir, self.directory().root())?;
        let part = backups.begin(now)?;
        let mut snapshot = {
            let mut source = self.inner.readers.get()?;
            let tick = &mut |done, total| watcher(Progress { what: "database", done, total });
            Snapshot::take(&mut source, &part.path().join(DATABASE), tick)?
        };
        let carried = self.carry(&snapshot.named()?, &part, &backups, watcher)?;
        if !carried.faults.is_empty() {
            return Err(BackupError::Damaged { place: self.directory().root().to_owned(), faults: carried.faults });
        }
        snapshot.catch_up(&carried.erased.into_iter().collect::<Vec<_>>(), now)?;
        let facts = snapshot.facts()?;
        let database = snapshot.seal(&mut |_| {})?;
        let key = self.carry_key(&part, order.key)?;
        let files = u64::try_from(carried.files.len()).unwrap_or(u64::MAX);
        let whole = FileFacts::new(DATABASE.to_owned(), database);
        Manifest::new(now, facts, key, whole, carried.files).write(part.path())?;
        let path = part.publish()?;
        self.write(move |db, _| facts::write(db, "last_backup_at", &now.to_string(), now))?;
        let removed = order.keep.map_or(Ok(0), |keep| backups.prune(keep.get()))?;
        let written = carried.written + database.size;
        Ok(BackedUp { path, receipts: facts.1, files, linked: carried.linked, written, removed })
    }

    /// Brings the files of the snapshot into the backup: linked from the newest one, else copied.
    fn carry(
        &self,
        named: &[Named],
        part: &Part,
        backups: &Shelf,
        watcher: Watcher<'_>,
    ) -> Result<Carried, BackupError> {
        let before = backups.complete()?.pop();
        let older: HashMap<&str, (&Path, &FileFacts)> = before
            .iter()
            .flat_map(|one| one.manifest.files.iter().map(|file| (file.path.as_str(), (one.path.as_path(), file))))
            .collect();
        let total = named.iter().map(|file| file.holds.size).sum();
        let (mut carried, mut done) = (Carried::default(), 0);
        for file in named {
            let to = part.path().join(&file.path);
            to.parent().map_or(Ok(()), disk::make_folder)?;
            let facts = FileFacts::new(file.path.clone(), file.holds);
            let shared = older.get(facts.path.as_str()).filter(|(_, known)| **known == facts);
            if shared.is_some_and(|(folder, known)| link(&folder.join(&known.path), &to, known.size)) {
                carried.linked += 1;
                done += file.holds.size;
                carried.files.push(facts);
            } else {
                let from = self.directory().root().join(&file.path);
                let tick = &mut |bytes| {
                    done += bytes;
                    watcher(Progress { what: "files", done, total });
                };
                match self.fetch(file, &from, &to, tick)? {
                    Fetched::Whole => {
                        carried.written += file.holds.size;
                        carried.files.push(facts);
                    }
                    Fetched::Erased => drop(carried.erased.insert(file.id.receipt)),
                    Fetched::Fault(fault) => carried.faults.push(fault),
                }
            }
        }
        drop_erased(&mut carried, named, part)?;
        Ok(carried)
    }

    /// Copies one file out of the data directory.
    fn fetch(&self, file: &Named, from: &Path, to: &Path, tick: &mut dyn FnMut(u64)) -> Result<Fetched, StoreError> {
        match copy(from, to, tick) {
            Ok(found) => {
                let fault = Fault::compare(file.id, &file.path, file.holds, found);
                Ok(fault.map_or(Fetched::Whole, Fetched::Fault))
            }
            Err(error) if is_missing(&error) && !from.exists() => {
                disk::unlink(to)?;
                if self.has_attachment(file.id)? {
                    Ok(Fetched::Fault(Fault::missing(file.id, &file.path)))
                } else {
                    Ok(Fetched::Erased)
                }
            }
            // An unreadable file is its own fault; a full disk or the like is everybody's.
            Err(StoreError::File { path, source, .. }) if path == from => {
                Ok(Fetched::Fault(Fault::unreadable(file.id, &file.path, &source)))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether an attachment has its row now.
    pub(super) fn has_attachment(&self, id: AttachmentId) -> Result<bool, StoreError> {
        self.read(|db| {
            let mut find =
                db.prepare_cached("SELECT EXISTS (SELECT 1 FROM attachments WHERE receipt = ?1 AND position = ?2)")?;
            Ok(find.query_row((id.receipt.as_row(), id.position), |row| row.get(0))?)
        })
    }

    /// Writes the key into the backup, where it belongs there.
    fn carry_key(&self, part: &Part, copy_it: KeyCopy) -> Result<KeyFacts, StoreError> {
        let included = copy_it == KeyCopy::Included;
        if included {
            copy(&self.directory().key(), &part.path().join(KEY), &mut |_| {})?;
        }
        Ok(KeyFacts { included, fingerprint: fingerprint(self.key()) })
    }
}

/// What became of a file to be copied.
#[derive(Debug)]
enum Fetched {
    /// It is in the backup, and its bytes are the right ones.
    Whole,
    /// It was erased meanwhile.
    Erased,
    /// It is damaged.
    Fault(Fault),
}

/// A receipt that was erased while its files were copied leaves none of them in the backup.
fn drop_erased(carried: &mut Carried, named: &[Named], part: &Part) -> Result<(), StoreError> {
    if carried.erased.is_empty() {
        return Ok(());
    }
    let erased = named.iter().filter(|file| carried.erased.contains(&file.id.receipt));
    let gone: BTreeSet<&str> = erased.map(|file| file.path.as_str()).collect();
    for path in &gone {
        disk::unlink(&part.path().join(path))?;
    }
    carried.files.retain(|file| !gone.contains(file.path.as_str()));
    Ok(())
}

/// Whether the file of an older backup could be shared. One that cannot (gone, cut short, too many links) is copied.
fn link(from: &Path, to: &Path, size: u64) -> bool {
    let same = from.symlink_metadata().is_ok_and(|facts| facts.is_file() && facts.len() == size);
    same && match std::fs::hard_link(from, to) {
        Ok(()) => true,
        Err(error) => {
            if error.kind() == ErrorKind::AlreadyExists {
                tracing::error!("a defect: two rows name one file");
            }
            false
        }
    }
}
