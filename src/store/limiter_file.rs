//! One state file of the limiter: opened without following anything, locked, read, written.
//!
//! The directory may stand where others can plant things (`/run`, `/tmp`), so a file counts only when it is a
//! regular one of our own with a single name. It is never waited for: a FIFO opens without blocking, a lock is only
//! tried. A file that the clean-up removed between open and lock has no name left; then it is opened again.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

use super::disk;
use crate::domain::quota::Counter;

/// Bytes of a state file that are read; four windows need about 250.
const LONGEST: u64 = 4096;
/// How often a file may lose its name between open and lock before we give up.
const REOPENS: u32 = 3;

/// A locked state file.
#[derive(Debug)]
pub(super) struct StateFile(File);

/// Whether a missing file is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// It is made.
    Create,
    /// It stays missing.
    Leave,
}

/// What came of opening a state file.
#[derive(Debug)]
pub(super) enum Opened {
    /// It is ours until it is dropped.
    Locked(StateFile),
    /// Somebody else has it.
    Contended,
    /// There is none.
    Absent,
}

/// What stood in a state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// The windows; none in a fresh file.
    Counters(Vec<Counter>),
    /// Nothing that can be read: the windows start anew.
    Broken,
}

impl StateFile {
    /// Opens and locks a state file, without ever waiting.
    pub(super) fn open(path: &Path, missing: Missing) -> io::Result<Opened> {
        for _ in 0..REOPENS {
            let file = match open(path, missing) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound && missing == Missing::Leave => {
                    return Ok(Opened::Absent);
                }
                Err(error) => return Err(error),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(std::fs::TryLockError::WouldBlock) => return Ok(Opened::Contended),
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
            }
            let facts = file.metadata()?;
            if !facts.is_file() || facts.uid() != rustix::process::geteuid().as_raw() || facts.nlink() > 1 {
                return Err(io::Error::other("it is not a regular file of our own with one name"));
            }
            if facts.nlink() == 1 {
                return Ok(Opened::Locked(Self(file)));
            }
        }
        Err(io::Error::other("it is removed again and again"))
    }

    /// Reads the windows.
    pub(super) fn read(&mut self) -> io::Result<Stored> {
        let mut bytes = Vec::new();
        (&self.0).take(LONGEST + 1).read_to_end(&mut bytes)?;
        if bytes.is_empty() {
            return Ok(Stored::Counters(Vec::new()));
        }
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > LONGEST {
            return Ok(Stored::Broken);
        }
        Ok(serde_json::from_slice(&bytes).map_or(Stored::Broken, Stored::Counters))
    }

    /// Replaces the windows. A crash in between leaves an empty file, which is a fresh one.
    pub(super) fn write(&mut self, counters: &[Counter]) -> io::Result<()> {
        let text = serde_json::to_vec(counters)?;
        self.0.set_len(0)?;
        self.0.rewind()?;
        self.0.write_all(&text)
    }

    /// Removes the file while it is locked, so that whoever waits for it finds it without a name.
    pub(super) fn remove(self, path: &Path) -> io::Result<()> {
        let removed = std::fs::remove_file(path);
        drop(self.0);
        removed
    }
}

/// Opens a file, neither following a link nor waiting for a FIFO's other end.
fn open(path: &Path, missing: Missing) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(missing == Missing::Create)
        .mode(0o600)
        .custom_flags(disk::flags(OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC))
        .open(path)
}
