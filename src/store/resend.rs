//! Sending again: the operator's word, from `retrying` or `failed` back to `pending`, same delivery, same receipt.

use rusqlite::{Connection, params};

use super::rows::StateColumns;
use super::{Store, StoreError, rows};
use crate::domain::delivery::{self, Event, IllegalStep, State};
use crate::domain::ids::DeliveryId;
use crate::domain::time::Timestamp;

/// A delivery that will be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resent(pub DeliveryId);

/// Why a delivery is not sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResendError {
    /// A send is under way.
    #[error("delivery_in_progress: it is being sent right now")]
    InProgress,
    /// Values erased or expired.
    #[error("values_gone: its values were erased")]
    ValuesGone,
    /// The destination was paused or removed.
    #[error("destination_inactive: its destination is paused or no longer configured")]
    DestinationInactive,
    /// The state does not allow it.
    #[error("{0}")]
    State(#[from] IllegalStep),
    /// There is no such delivery.
    #[error("there is no such delivery")]
    Missing,
}

impl Store {
    /// Sends one delivery again: `active` tells whether its destination (site, destination) is configured and not
    /// paused. Refusals are told in this order: a send under way, values gone, destination inactive, state.
    pub fn resend(
        &self,
        id: DeliveryId,
        now: Timestamp,
        active: impl Fn(&str, &str) -> bool + Send + 'static,
    ) -> Result<Result<Resent, ResendError>, StoreError> {
        self.write(move |db, group| {
            let Some(found) = find(db, id, now)? else { return Ok(Err(ResendError::Missing)) };
            let next = match judge(&found, now, &active) {
                Ok(next) => next,
                Err(refusal) => return Ok(Err(refusal)),
            };
            let columns = StateColumns::from(next);
            db.prepare_cached(
                "UPDATE deliveries
                 SET state = ?3, reason = ?4, due_at = ?5, held = ?6, attempts = 0, claim = NULL, note = NULL,
                     acked = 0, alerted = 0
                 WHERE receipt = ?1 AND n = ?2",
            )?
            .execute(params![
                id.receipt.as_row(),
                id.n,
                columns.state,
                columns.reason,
                columns.due_at,
                columns.held
            ])?;
            group.made_due();
            Ok(Ok(Resent(id)))
        })
    }
}

/// What a resend has to know of a delivery.
struct Found {
    /// Where it stands.
    state: State,
    /// Whether a claim that has not run out is sending it.
    sending: bool,
    /// Whether its values can be read.
    readable: bool,
    /// Its site.
    site: String,
    /// Its destination.
    destination: String,
}

/// Whether it may be sent again, and what it becomes.
fn judge(found: &Found, now: Timestamp, active: impl Fn(&str, &str) -> bool) -> Result<State, ResendError> {
    if found.sending {
        return Err(ResendError::InProgress);
    }
    if !found.readable {
        return Err(ResendError::ValuesGone);
    }
    if !active(&found.site, &found.destination) {
        return Err(ResendError::DestinationInactive);
    }
    Ok(delivery::next(found.state, Event::Resend { now })?)
}

/// Reads a delivery.
fn find(db: &Connection, id: DeliveryId, now: Timestamp) -> Result<Option<Found>, StoreError> {
    let mut find = db.prepare_cached(
        "SELECT d.state, d.reason, d.due_at, d.held, d.claim IS NOT NULL AND d.due_at > ?3,
                r.erased_at IS NULL AND r.erase_at > ?3, d.site, d.destination
         FROM deliveries AS d
         JOIN receipts AS r ON r.id = d.receipt
         WHERE d.receipt = ?1 AND d.n = ?2",
    )?;
    let mut found = find.query(params![id.receipt.as_row(), id.n, now.as_millis()])?;
    let Some(row) = found.next()? else { return Ok(None) };
    Ok(Some(Found {
        state: rows::state(row, 0)?,
        sending: row.get(4)?,
        readable: row.get(5)?,
        site: row.get(6)?,
        destination: row.get(7)?,
    }))
}
