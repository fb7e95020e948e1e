//! The rate limiter's files: one small JSON file a key, locked, read, counted, written. Fail-open is decided here.
//!
//! The key is an opaque text; its file is named after a hash of it. Beyond the allowed number of files, new keys
//! share 256 overflow files by their hash, so that a flood of addresses is limited together and neither the
//! directory nor its memory grows without end.
//!
//! The limiter protects against floods, and no visitor may lose a message to it: whatever is wrong with a file
//! (missing directory, full disk, broken JSON, a link, a lock held for ever), the request passes. Each such case is
//! counted, and logged once a minute at most. Windows of a broken file start anew.
//!
//! Every 50th charge looks at the next few files of the directory and removes those that nobody wrote for two
//! days. A slice, not all: the charge runs between two requests of the async side and must stay short.

use std::fs::ReadDir;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use super::disk;
use super::limiter_file::{Missing, Opened, StateFile, Stored};
use crate::domain::digest::Sha256Sum;
use crate::domain::quota::{self, Admission, Quota};
use crate::domain::time::{Span, Timestamp};

/// Charges between two looks at old files.
const CLEAN_EVERY: u64 = 50;
/// Files looked at each time: more than may be new since, so that a pass ends.
const CLEAN_SLICE: usize = 64;
/// Age of a file that is removed.
const OLD: Span = Span::from_days(2);
/// Milliseconds between two log lines.
const QUIET: i64 = 60_000;
/// Polls of a contended lock, 2 ms apart: 50 ms with what a busy machine adds.
const POLLS: u32 = 20;

/// The limiter's directory. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Throttle {
    /// Shared by all clones.
    inner: Arc<Inner>,
}

/// What the clones share.
#[derive(Debug)]
struct Inner {
    /// The directory.
    directory: PathBuf,
    /// State files at most, overflow files apart.
    files: u64,
    /// State files there are, about: counted at the start and by each pass of the clean-up.
    present: AtomicU64,
    /// Charges so far.
    charges: AtomicU64,
    /// Requests that passed because a file failed.
    failures: AtomicU64,
    /// When that was logged last.
    logged: AtomicI64,
    /// The clean-up's place in the directory.
    pass: Mutex<Pass>,
}

/// One pass of the clean-up through the directory.
#[derive(Debug, Default)]
struct Pass {
    /// Where it stands; `None` between two passes.
    place: Option<ReadDir>,
    /// State files seen and left.
    seen: u64,
}

/// What a charge came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// Counted.
    Counted(Admission),
    /// Somebody holds the lock: call [`Throttle::charge_waiting`] on a thread that may block.
    Contended,
    /// The file could not be used; the request passes.
    Open,
}

impl Throttle {
    /// A limiter over `directory` (made at the first charge) with at most `files` state files.
    pub fn new(directory: PathBuf, files: u64) -> Self {
        let present = disk::entries(&directory).map_or(0, |entries| {
            u64::try_from(entries.iter().filter(|entry| is_state(&entry.name)).count()).unwrap_or(u64::MAX)
        });
        let inner = Inner {
            directory,
            files,
            present: AtomicU64::new(present),
            charges: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            logged: AtomicI64::new(i64::MIN),
            pass: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Charges one request to `key` without ever waiting.
    pub fn charge(&self, key: &str, quotas: &[Quota], now: Timestamp) -> Charge {
        if quotas.is_empty() {
            return Charge::Counted(Admission::Admit(None));
        }
        if self.inner.charges.fetch_add(1, Ordering::Relaxed) % CLEAN_EVERY == CLEAN_EVERY - 1 {
            self.clean_slice(now);
        }
        self.try_charge(key, quotas, now)
    }

    /// The same, waiting up to 50 ms for the lock; then the request passes. Never returns `Contended`.
    pub fn charge_waiting(&self, key: &str, quotas: &[Quota], now: Timestamp) -> Charge {
        for _ in 0..POLLS {
            match self.charge(key, quotas, now) {
                Charge::Contended => std::thread::sleep(Duration::from_millis(2)),
                charged @ (Charge::Counted(_) | Charge::Open) => return charged,
            }
        }
        self.fail(&"its lock is held by another process", now)
    }

    /// How often a request passed because a file failed, since the start.
    pub fn failures(&self) -> u64 {
        self.inner.failures.load(Ordering::Relaxed)
    }

    /// Removes state files older than two days; returns how many.
    pub fn sweep(&self, now: Timestamp) -> u64 {
        let mut pass = Pass::default();
        let removed = self.clean(&mut pass, usize::MAX, now);
        u64::try_from(removed).unwrap_or(u64::MAX)
    }

    /// How many the sweep would remove.
    pub fn plan_sweep(&self, now: Timestamp) -> u64 {
        let old = |entry: &disk::Entry| is_ours(&entry.name) && entry.modified <= now.minus(OLD);
        let entries = disk::entries(&self.inner.directory).unwrap_or_default();
        u64::try_from(entries.iter().filter(|entry| old(entry)).count()).unwrap_or(u64::MAX)
    }

    /// Charges once, or says why not.
    fn try_charge(&self, key: &str, quotas: &[Quota], now: Timestamp) -> Charge {
        let mut file = match self.open(key) {
            Ok(Opened::Locked(file)) => file,
            Ok(Opened::Contended) => return Charge::Contended,
            Ok(Opened::Absent) => return self.fail(&"it vanished", now),
            Err(error) => return self.fail(&error, now),
        };
        let (mut counters, broken) = match file.read() {
            Ok(Stored::Counters(counters)) => (counters, false),
            Ok(Stored::Broken) => (Vec::new(), true),
            Err(error) => return self.fail(&error, now),
        };
        let admission = quota::charge(quotas, &mut counters, now);
        match file.write(&counters) {
            Ok(()) if broken => self.fail(&"it did not hold what the limiter writes; its windows start anew", now),
            Ok(()) => Charge::Counted(admission),
            Err(error) => self.fail(&error, now),
        }
    }

    /// Opens the file of a key: its own where it exists or may be made, else its overflow file.
    fn open(&self, key: &str) -> std::io::Result<Opened> {
        let hash = Sha256Sum::of(key.as_bytes()).to_string();
        let own = self.inner.directory.join(format!("{}.json", hash.get(..32).unwrap_or_default()));
        match StateFile::open(&own, Missing::Leave)? {
            Opened::Absent => {}
            opened @ (Opened::Locked(_) | Opened::Contended) => return Ok(opened),
        }
        if self.inner.present.load(Ordering::Relaxed) < self.inner.files {
            let made = self.create(&own)?;
            self.inner.present.fetch_add(1, Ordering::Relaxed);
            return Ok(made);
        }
        self.create(&self.inner.directory.join(format!("overflow-{}.json", hash.get(..2).unwrap_or_default())))
    }

    /// Opens a file, making it, and the directory, where they are missing.
    fn create(&self, path: &Path) -> std::io::Result<Opened> {
        match StateFile::open(path, Missing::Create) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                disk::make_folder(&self.inner.directory).map_err(std::io::Error::other)?;
                StateFile::open(path, Missing::Create)
            }
            other => other,
        }
    }

    /// A request passes because of `why`: counted, and logged once a minute at most.
    fn fail(&self, why: &dyn std::fmt::Display, now: Timestamp) -> Charge {
        let failures = self.inner.failures.fetch_add(1, Ordering::Relaxed) + 1;
        let logged = self.inner.logged.load(Ordering::Relaxed);
        let quiet = logged != i64::MIN && now.as_millis().abs_diff(logged) < QUIET.unsigned_abs();
        let ours = || {
            let moment = now.as_millis();
            self.inner.logged.compare_exchange(logged, moment, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        if !quiet && ours() {
            tracing::warn!(reason = %why, failures, "a state file of the rate limiter cannot be used; the request passed");
        }
        Charge::Open
    }

    /// Goes on with the clean-up's pass; one that another thread does is left to it.
    fn clean_slice(&self, now: Timestamp) {
        match self.inner.pass.try_lock() {
            Ok(mut pass) => drop(self.clean(&mut pass, CLEAN_SLICE, now)),
            Err(TryLockError::Poisoned(poisoned)) => *poisoned.into_inner() = Pass::default(),
            Err(TryLockError::WouldBlock) => {}
        }
    }

    /// Looks at up to `most` entries and removes the old ones among them; returns how many. A pass that comes to
    /// the end knows how many files there are.
    fn clean(&self, pass: &mut Pass, most: usize, now: Timestamp) -> usize {
        let mut removed = 0;
        for _ in 0..most {
            if pass.place.is_none() {
                let Ok(place) = std::fs::read_dir(&self.inner.directory) else { return removed };
                *pass = Pass { place: Some(place), seen: 0 };
            }
            let Some(entry) = pass.place.as_mut().and_then(Iterator::next) else {
                pass.place = None;
                self.inner.present.store(pass.seen, Ordering::Relaxed);
                return removed;
            };
            let Ok(entry) = entry else { continue };
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_ours(name)) else { continue };
            let modified = entry.metadata().and_then(|facts| facts.modified()).map(disk::moment);
            if modified.is_ok_and(|at| at <= now.minus(OLD)) && remove(&entry.path()) {
                removed += 1;
            } else if is_state(name) {
                pass.seen += 1;
            }
        }
        removed
    }
}

/// Removes a state file unless somebody is using it.
fn remove(path: &Path) -> bool {
    match StateFile::open(path, Missing::Leave) {
        Ok(Opened::Locked(file)) => file.remove(path).is_ok(),
        Ok(Opened::Contended | Opened::Absent) | Err(_) => false,
    }
}

/// Whether a name is that of a key's own file.
fn is_state(name: &str) -> bool {
    name.strip_suffix(".json").is_some_and(|hash| hash.len() == 32 && is_hex(hash))
}

/// Whether a name is one that the limiter gives.
fn is_ours(name: &str) -> bool {
    let overflow = name.strip_prefix("overflow-").and_then(|rest| rest.strip_suffix(".json"));
    is_state(name) || overflow.is_some_and(|hash| hash.len() == 2 && is_hex(hash))
}

/// Whether a text is lower-case hex.
fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
