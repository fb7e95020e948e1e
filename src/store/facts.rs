//! What the running daemon knows and formctl asks: a few named values with the moment they were written.
//!
//! | name | value | written by |
//! | --- | --- | --- |
//! | `config_hash` | hash of the configuration in force, 64 hex digits | the daemon, at start and reload |
//! | `last_sweep_at` | RFC 3339 | every sweep that ended |
//! | `last_backup_at` | RFC 3339 | every backup that was completed |
//! | `limiter_failures` | a count since the daemon's start | the daemon |
//! | `alert_tried_at` | RFC 3339, written before an alert is sent | the alert |
//! | `alerted_at` | RFC 3339, the last alert that was taken | the alert |
//! | `clock` | both clocks as they are believed (`domain::steady`) | the daemon, at its start and every minute |
//! | `erasing_waits_until` | RFC 3339, or nothing | the daemon, while its clock is not believed |
//! | `opened_at` | RFC 3339 | the daemon's start: the probe that a transaction can be committed |

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Store, StoreError};
use crate::domain::steady::{Erasing, Guard};
use crate::domain::time::Timestamp;

/// What the daemon writes down for formctl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DaemonFacts {
    /// Hash of the configuration in force.
    pub config_hash: Option<String>,
    /// When the last sweep ended.
    pub last_sweep_at: Option<Timestamp>,
    /// When the last backup was made.
    pub last_backup_at: Option<Timestamp>,
    /// How often the limiter let a request pass because its own file failed.
    pub limiter_failures: u64,
    /// Both clocks as the daemon believes them.
    pub clock: Option<Guard>,
    /// Until when nothing is erased by its date, because the clock jumped ahead.
    pub erasing_waits_until: Option<Timestamp>,
}

impl Store {
    /// Reads what the daemon wrote down.
    pub fn facts(&self) -> Result<DaemonFacts, StoreError> {
        self.read(|db| {
            Ok(DaemonFacts {
                config_hash: read(db, "config_hash")?,
                last_sweep_at: read(db, "last_sweep_at")?.as_deref().and_then(Timestamp::parse),
                last_backup_at: read(db, "last_backup_at")?.as_deref().and_then(Timestamp::parse),
                limiter_failures: read(db, "limiter_failures")?.and_then(|text| text.parse().ok()).unwrap_or(0),
                clock: read(db, "clock")?.as_deref().and_then(Guard::parse),
                erasing_waits_until: read(db, "erasing_waits_until")?.as_deref().and_then(Timestamp::parse),
            })
        })
    }

    /// Writes one fact.
    pub fn set_fact(&self, name: &'static str, value: &str, now: Timestamp) -> Result<(), StoreError> {
        let value = value.to_owned();
        self.write(move |db, _| write(db, name, &value, now))
    }
}

impl Store {
    /// Writes down how the daemon believes its clock.
    pub fn set_clock(&self, guard: Guard, erasing: Erasing, now: Timestamp) -> Result<(), StoreError> {
        let until = match erasing {
            Erasing::Goes => String::new(),
            Erasing::Waits { until } => until.to_string(),
        };
        self.write(move |db, _| {
            write(db, "clock", &guard.to_string(), now)?;
            write(db, "erasing_waits_until", &until, now)
        })
    }
}

/// Reads one fact.
pub(super) fn read(db: &Connection, name: &str) -> Result<Option<String>, StoreError> {
    let mut find = db.prepare_cached("SELECT value FROM facts WHERE name = ?1")?;
    Ok(find.query_row([name], |row| row.get(0)).optional()?)
}

/// Writes one fact.
pub(super) fn write(db: &Connection, name: &str, value: &str, now: Timestamp) -> Result<(), StoreError> {
    db.prepare_cached(
        "INSERT INTO facts (name, value, at) VALUES (?1, ?2, ?3)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value, at = excluded.at",
    )?
    .execute(params![name, value, now.as_millis()])?;
    Ok(())
}
