//! What the running daemon knows and formctl asks; and the numbers of `status`.

use super::{Store, StoreError};
use crate::domain::time::Timestamp;

/// What the daemon writes down for formctl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaemonFacts {
    /// Hash of the configuration in force.
    pub config_hash: Option<String>,
    /// When the last sweep ended.
    pub last_sweep_at: Option<Timestamp>,
    /// How often the limiter let a request pass because its own file failed.
    pub limiter_failures: u64,
}

/// The numbers of `formctl status` that the database and the directory know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Free bytes of the data file system.
    pub free_bytes: u64,
    /// Arrival of the oldest submission with a waiting delivery.
    pub oldest_pending: Option<Timestamp>,
    /// Bytes in `tmp/`.
    pub tmp_bytes: u64,
    /// Files in `tmp/`.
    pub tmp_files: u64,
    /// Failed deliveries of operators' destinations that nobody acknowledged (refused or exhausted).
    pub failed_deliveries: u64,
    /// Files in quarantine.
    pub quarantine_files: u64,
    /// Bytes of the database and its log.
    pub database_bytes: u64,
    /// Bytes of kept attachments.
    pub attachments_bytes: u64,
    /// Kept attachments.
    pub attachments_files: u64,
    /// Receipts judged spam and held.
    pub spam_held: u64,
    /// Submissions of the last hour.
    pub last_hour: u64,
    /// Submissions of the same hour of the same weekday, the mean of up to 4 weeks; `None` without history.
    pub usual_hour: Option<f64>,
    /// Receipts of the last day with equal content and different keys.
    pub lookalikes: u64,
}

impl Store {
    /// Reads what the daemon wrote down.
    pub fn facts(&self) -> Result<DaemonFacts, StoreError> {
        todo!()
    }

    /// Writes one fact: `config_hash`, `last_sweep_at`, `limiter_failures`.
    pub fn set_fact(&self, name: &'static str, value: &str, now: Timestamp) -> Result<(), StoreError> {
        todo!()
    }

    /// The numbers of `status`; blocking.
    pub fn numbers(&self, now: Timestamp) -> Result<Numbers, StoreError> {
        todo!()
    }
}
