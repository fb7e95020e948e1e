//! Failures that the operator has not been told of by an `[alert]`, and the two moments that pace the telling.
//!
//! ```text
//! read the moments -> gather -> begin (the try is written down) -> the message -> settle (the moment, then the marks)
//! ```
//!
//! The try stands on disk before the message leaves, so that neither a crash nor a second process makes more than one
//! message of a moment. A crash after the peer took it and before the marks sends it again, no sooner than another try
//! may be made. Marks are set in small transactions, so that intake is never held up, and only where nothing has
//! happened to the delivery since it was gathered: one that failed anew meanwhile is told anew.

use rusqlite::{Connection, params};

use super::{Store, StoreError, apart, facts, rows};
use crate::domain::delivery::{Channel, Reason};
use crate::domain::ids::DeliveryId;
use crate::domain::time::Timestamp;

/// Marks of one transaction.
const BATCH: usize = 500;
/// Failures that are kept with all that is known of them; the others are counted.
const DETAILED: usize = 20;

/// When an alert was last sent, for its pace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlertTimes {
    /// The last try began.
    pub tried: Option<Timestamp>,
    /// The last one that was taken was settled.
    pub sent: Option<Timestamp>,
}

/// Whether a try may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It is written down and ours.
    Ours,
    /// Somebody else has begun one since the moments were read.
    Others,
}

/// A delivery of the operator's that failed by the peer's word or by its last attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The delivery.
    pub id: DeliveryId,
    /// Its site.
    pub site: String,
    /// Its form.
    pub form: String,
    /// Its channel.
    pub channel: Channel,
    /// Its destination.
    pub destination: String,
    /// Why it stopped.
    pub reason: Reason,
    /// How many attempts were claimed.
    pub attempts: u32,
    /// When the last attempt ended; `None`: there was none.
    pub failed_at: Option<Timestamp>,
    /// What the peer or the network said.
    pub note: Option<String>,
}

/// How many failures a destination of a form has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The site.
    pub site: String,
    /// The form.
    pub form: String,
    /// The destination.
    pub destination: String,
    /// How many.
    pub count: u64,
}

/// All failures of a moment that no alert has named. Costs memory for the first ones and a few bytes for each other.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    /// The first 20 in the order in which their submissions arrived.
    pub first: Vec<Failure>,
    /// The numbers by site, form and destination, in the order of first appearance.
    pub tallies: Vec<Tally>,
    /// Every one of them.
    marks: Vec<Mark>,
}

/// One failure, so that it is recognised later.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// The delivery.
    id: DeliveryId,
    /// Its attempts that have ended, over all resends.
    ended: i64,
    /// When the last of them ended.
    at: i64,
}

impl Failures {
    /// How many there are.
    pub fn count(&self) -> u64 {
        u64::try_from(self.marks.len()).unwrap_or(u64::MAX)
    }

    /// The name of a message about them: the one that failed last, and how many attempts that took in all. The same for
    /// a second try, another one once there is a new failure; `None` without any.
    pub fn name(&self) -> Option<String> {
        let newest = self.marks.iter().max_by_key(|mark| mark.at)?;
        Some(format!("alert-{}-{}", newest.id, newest.ended))
    }

    /// Those of a test.
    #[cfg(test)]
    pub fn of(all: Vec<Failure>) -> Self {
        let mut failures = Self::default();
        for failure in all {
            let at = failure.failed_at.map_or(0, Timestamp::as_millis);
            let mark = Mark { id: failure.id, ended: failure.attempts.into(), at };
            failures.push(failure, mark);
        }
        failures
    }

    /// Adds the next one.
    fn push(&mut self, failure: Failure, mark: Mark) {
        let same = |tally: &&mut Tally| {
            (&tally.site, &tally.form, &tally.destination) == (&failure.site, &failure.form, &failure.destination)
        };
        match self.tallies.iter_mut().find(same) {
            Some(tally) => tally.count += 1,
            None => self.tallies.push(Tally {
                site: failure.site.clone(),
                form: failure.form.clone(),
                destination: failure.destination.clone(),
                count: 1,
            }),
        }
        if self.first.len() < DETAILED {
            self.first.push(failure);
        }
        self.marks.push(mark);
    }
}

impl Store {
    /// When alerts were last tried and taken.
    pub fn alert_times(&self) -> Result<AlertTimes, StoreError> {
        self.read(times)
    }

    /// What failed, still needs somebody, and was named by no alert.
    pub fn failures(&self) -> Result<Failures, StoreError> {
        self.read(gather)
    }

    /// Writes down that a try begins, unless another one has begun since `seen` was read.
    pub fn begin_alert(&self, seen: AlertTimes, now: Timestamp) -> Result<Begun, StoreError> {
        self.write(move |db, _| {
            if times(db)? != seen {
                return Ok(Begun::Others);
            }
            facts::write(db, "alert_tried_at", &now.to_string(), now)?;
            Ok(Begun::Ours)
        })
    }

    /// Writes down that a message about all of `failures` was taken.
    pub fn settle_alert(&self, failures: &Failures, now: Timestamp) -> Result<(), StoreError> {
        self.write(move |db, _| facts::write(db, "alerted_at", &now.to_string(), now))?;
        for batch in failures.marks.chunks(BATCH) {
            let batch = batch.to_vec();
            self.write(move |db, _| batch.iter().try_for_each(|mark| set(db, mark)))?;
        }
        Ok(())
    }
}

/// The moments that pace alerts.
fn times(db: &Connection) -> Result<AlertTimes, StoreError> {
    let moment = |name| Ok::<_, StoreError>(facts::read(db, name)?.as_deref().and_then(Timestamp::parse));
    Ok(AlertTimes { tried: moment("alert_tried_at")?, sent: moment("alerted_at")? })
}

/// Failures of operators' destinations that nobody was told of and nobody has dealt with.
pub(super) const FAILURES_SQL: &str = "
    SELECT d.receipt, d.n, d.site, r.form, d.channel, d.destination, d.reason, d.attempts, d.note,
           (SELECT COUNT(*) FROM attempts AS a WHERE a.receipt = d.receipt AND a.n = d.n),
           (SELECT MAX(a.at + a.milliseconds) FROM attempts AS a WHERE a.receipt = d.receipt AND a.n = d.n)
    FROM deliveries AS d
    JOIN receipts AS r ON r.id = d.receipt
    WHERE d.state = 'failed' AND d.acked = 0 AND d.alerted = 0
      AND d.reason IN ('refused', 'exhausted') AND d.channel <> 'confirmation'
    ORDER BY d.receipt, d.n";

/// Reads them all.
fn gather(db: &Connection) -> Result<Failures, StoreError> {
    let mut failures = Failures::default();
    let mut find = db.prepare_cached(FAILURES_SQL)?;
    let mut found = find.query([])?;
    while let Some(row) = found.next()? {
        let id = rows::delivery(row.get(0)?, row.get(1)?)?;
        let reason: String = row.get(6)?;
        let at: Option<i64> = row.get(10)?;
        let failure = Failure {
            id,
            site: row.get(2)?,
            form: row.get(3)?,
            channel: rows::channel(&row.get::<_, String>(4)?)?,
            destination: row.get(5)?,
            reason: Reason::parse(&reason).ok_or_else(|| StoreError::Unknown(format!("reason `{reason}`")))?,
            attempts: row.get(7)?,
            failed_at: at.map(Timestamp::from_millis),
            note: row.get::<_, Option<String>>(8)?.map(apart::brought_back),
        };
        failures.push(failure, Mark { id, ended: row.get(9)?, at: at.unwrap_or_default() });
    }
    Ok(failures)
}

/// Marks one failure as told, unless it was sent again and has failed anew.
fn set(db: &Connection, mark: &Mark) -> Result<(), StoreError> {
    db.prepare_cached(
        "UPDATE deliveries SET alerted = 1
         WHERE receipt = ?1 AND n = ?2 AND state = 'failed'
           AND (SELECT COUNT(*) FROM attempts AS a WHERE a.receipt = ?1 AND a.n = ?2) = ?3",
    )?
    .execute(params![mark.id.receipt.as_row(), mark.id.n, mark.ended])?;
    Ok(())
}
