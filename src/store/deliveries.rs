//! What comes of a claim: confirmed right before the send, settled after it, or given back.
//!
//! All of them act only while the claim's token still stands in the row. A claim that was taken over, erased or
//! sent again belongs to somebody else, and a late answer changes nothing but the list of attempts: what was
//! said to a peer cannot be recalled, so its true outcome is written down, without the peer's words once the
//! values are gone. One exception: what a peer took while its values were erased is delivered.

use rusqlite::{Connection, params};

use super::rows::StateColumns;
use super::{Claim, Store, StoreError, apart, directory, rows};
use crate::domain::delivery::{self, Event, State, Verdict};
use crate::domain::ids::DeliveryId;
use crate::domain::time::Timestamp;

/// An attempt that ended, to be written down.
#[derive(Clone, Debug)]
pub struct NewAttempt {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub milliseconds: i64,
    /// What came of it.
    pub verdict: Verdict,
    /// What the peer or the network said: one line, the first 200 characters of it, each perhaps as an escape of up to
    /// ten. It may quote values, so it is kept only as long as they are.
    pub note: Option<String>,
}

/// Whether a settlement was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The claim was still ours.
    Settled,
    /// Somebody took it over, or the delivery ended meanwhile; the attempt is written down, the state is not.
    ClaimLost,
}

impl Store {
    /// Whether a claim is still ours and its values are readable: asked right before the first byte is sent.
    pub fn confirm(&self, claim: &Claim, now: Timestamp) -> Result<Settled, StoreError> {
        self.read(|db| {
            let ours: bool = db
                .prepare_cached(CONFIRM_SQL)?
                .query_row(params![claim.id.receipt.as_row(), claim.id.n, claim.token, now.as_millis()], |row| {
                    row.get(0)
                })?;
            Ok(if ours { Settled::Settled } else { Settled::ClaimLost })
        })
    }

    /// Writes down what an attempt came to. The state is only written while the token is still ours. A mail file
    /// that was written after its values were erased is removed.
    pub fn settle(
        &self,
        id: DeliveryId,
        token: i64,
        state: State,
        attempt: &NewAttempt,
    ) -> Result<Settled, StoreError> {
        let attempt = attempt.clone();
        let (settled, values) = self.write(move |db, _| settle(db, id, token, state, &attempt))?;
        if values == Values::Gone {
            self.clear_removals()?;
        }
        Ok(settled)
    }

    /// Gives a claim back whose attempt never began (orderly stop): due now, the attempt not counted.
    pub fn unclaim(&self, id: DeliveryId, token: i64, now: Timestamp) -> Result<(), StoreError> {
        self.write(move |db, _| {
            db.prepare_cached(
                "UPDATE deliveries SET attempts = MAX(attempts - 1, 0), claim = NULL, due_at = ?4
                 WHERE receipt = ?1 AND n = ?2 AND claim = ?3",
            )?
            .execute(params![id.receipt.as_row(), id.n, token, now.as_millis()])?;
            Ok(())
        })
    }
}

/// Whether a claim holds and its values are readable.
pub(super) const CONFIRM_SQL: &str = "
    SELECT EXISTS (
        SELECT 1
        FROM deliveries AS d
        JOIN receipts AS r ON r.id = d.receipt
        WHERE d.receipt = ?1 AND d.n = ?2 AND d.claim = ?3 AND d.due_at > ?4
          AND r.erased_at IS NULL AND r.erase_at > ?4
    )";

/// Whether a receipt still has values in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    /// It has.
    Kept,
    /// They were erased.
    Gone,
}

/// The state where the claim is ours, the attempt in any case.
fn settle(
    db: &Connection,
    id: DeliveryId,
    token: i64,
    state: State,
    attempt: &NewAttempt,
) -> Result<(Settled, Values), StoreError> {
    let kept: bool = db
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM contents WHERE receipt = ?1)")?
        .query_row([id.receipt.as_row()], |row| row.get(0))?;
    let note = attempt.note.as_deref().filter(|_| kept);
    let columns = StateColumns::from(state);
    let written = db
        .prepare_cached(
            "UPDATE deliveries SET state = ?4, reason = ?5, due_at = ?6, held = ?7, claim = NULL, note = ?8, acked = 0, alerted = 0
             WHERE receipt = ?1 AND n = ?2 AND claim = ?3",
        )?
        .execute(params![
            id.receipt.as_row(),
            id.n,
            token,
            columns.state,
            columns.reason,
            columns.due_at,
            columns.held,
            note.map(|note| apart::set_apart(note, 0))
        ])?;
    db.prepare_cached(
        "INSERT INTO attempts (receipt, n, at, milliseconds, outcome, note) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?
    .execute(params![
        id.receipt.as_row(),
        id.n,
        attempt.at.as_millis(),
        attempt.milliseconds,
        rows::outcome(attempt.verdict),
        note
    ])?;
    if !kept {
        arrived(db, id, attempt)?;
        db.prepare_cached("INSERT OR IGNORE INTO removals (path) VALUES (?1)")?.execute([directory::mail_path(id)])?;
    }
    let settled = if written == 1 { Settled::Settled } else { Settled::ClaimLost };
    Ok((settled, if kept { Values::Kept } else { Values::Gone }))
}

/// A send that could not be called back when the values were erased, and that the peer took, is delivered: who asks
/// later must not read that nobody was told. Any other verdict leaves it ended as it was.
fn arrived(db: &Connection, id: DeliveryId, attempt: &NewAttempt) -> Result<(), StoreError> {
    let ended = rows::state_of(db, id)?;
    let verdict = attempt.verdict;
    let event = Event::Attempted { verdict, attempt: 1, allowed: 1, now: attempt.at, chance: 0.0 };
    let (State::Failed(_), Ok(state)) = (ended, delivery::next(ended, event)) else { return Ok(()) };
    let columns = StateColumns::from(state);
    db.prepare_cached("UPDATE deliveries SET state = ?3, reason = ?4 WHERE receipt = ?1 AND n = ?2")?
        .execute(params![id.receipt.as_row(), id.n, columns.state, columns.reason])?;
    Ok(())
}
