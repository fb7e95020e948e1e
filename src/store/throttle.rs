//! The rate limiter's files: one small JSON file a key, locked, read, counted, written. Fail-open is decided here.

use std::path::PathBuf;

use crate::domain::quota::{Admission, Quota};
use crate::domain::time::Timestamp;

/// The limiter's directory.
#[derive(Clone, Debug)]
pub struct Throttle {}

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
        todo!()
    }

    /// Charges one request to `key` without ever waiting.
    pub fn charge(&self, key: &str, quotas: &[Quota], now: Timestamp) -> Charge {
        todo!()
    }

    /// The same, waiting up to 50 ms for the lock; then the request passes. Never returns `Contended`.
    pub fn charge_waiting(&self, key: &str, quotas: &[Quota], now: Timestamp) -> Charge {
        todo!()
    }

    /// How often a request passed because a file failed, since the start.
    pub fn failures(&self) -> u64 {
        todo!()
    }

    /// Removes state files older than two days; returns how many.
    pub fn sweep(&self, now: Timestamp) -> u64 {
        todo!()
    }

    /// How many the sweep would remove.
    pub fn plan_sweep(&self, now: Timestamp) -> u64 {
        todo!()
    }
}
