//! What the configuration makes of waiting deliveries: ended, held, or let go again.
//!
//! The store knows no configuration: the caller says for each [`Queue`] what is to become of it ([`Fate`]), and every
//! move goes through [`delivery::next`]. One pass goes over what waits, in the order of arrival and in transactions of
//! [`BATCH`] rows, so intake is never held up; a crash in between leaves the rest for the next pass. What arrives
//! during a pass is judged by whoever claims it.
//!
//! A send under way cannot be recalled: its row is left alone, and what came of it is settled as ever. When it failed
//! for now, the delivery meets its fate when it is claimed next ([`Store::turn_away`]).

use rusqlite::{Connection, Row, params};

use super::rows::StateColumns;
use super::{Claim, Store, StoreError, rows};
use crate::domain::delivery::{self, Channel, Event, Hold, State, Waiting};
use crate::domain::ids::DeliveryId;
use crate::domain::time::Timestamp;

/// Rows that one transaction looks at.
const BATCH: usize = 200;

/// Where deliveries wait that share a fate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Queue {
    /// The site; text, since it may come from a configuration of long ago.
    pub site: String,
    /// The form.
    pub form: String,
    /// The way.
    pub channel: Channel,
    /// The destination.
    pub destination: String,
}

/// How many deliveries wait in a queue, by why they wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiters {
    /// The queue.
    pub queue: Queue,
    /// Why they are held; `None`: they are due at a moment.
    pub held: Option<Hold>,
    /// How many.
    pub count: u64,
}

/// What is to become of waiting deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// They end: their destination is inactive.
    End,
    /// What is due is held for this reason.
    Hold(Hold),
    /// What is held for this reason is due now; what is held for another stays.
    Release(Hold),
}

impl Fate {
    /// What happens to a delivery that waits so; `None`: nothing.
    pub fn event(self, held: Option<Hold>, now: Timestamp) -> Option<Event> {
        match (self, held) {
            (Self::End, _) => Some(Event::DestinationInactive),
            (Self::Hold(why), None) => Some(Event::Hold(why)),
            (Self::Release(why), Some(held)) if why == held => Some(Event::Release { now }),
            (Self::Hold(_), Some(_)) | (Self::Release(_), _) => None,
        }
    }
}

/// What a pass came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Deliveries that ended.
    pub ended: u64,
    /// Deliveries that are held now.
    pub held: u64,
    /// Deliveries that are due again.
    pub released: u64,
}

/// What waits, by queue and reason.
pub(super) const WAITERS_SQL: &str = "
    SELECT d.site, r.form, d.channel, d.destination, d.held, COUNT(*)
    FROM deliveries AS d INDEXED BY deliveries_waiting
    JOIN receipts AS r ON r.id = d.receipt
    WHERE d.state IN ('pending', 'retrying')
    GROUP BY 1, 2, 3, 4, 5";

/// The next deliveries that wait and are not being sent.
pub(super) const PASS_SQL: &str = "
    SELECT d.site, r.form, d.channel, d.destination, d.state, d.reason, d.due_at, d.held, d.receipt, d.n
    FROM deliveries AS d INDEXED BY deliveries_waiting
    JOIN receipts AS r ON r.id = d.receipt
    WHERE d.state IN ('pending', 'retrying') AND (d.receipt, d.n) > (?1, ?2)
      AND (d.claim IS NULL OR d.due_at <= ?3)
    ORDER BY d.receipt, d.n
    LIMIT ?4";

impl Store {
    /// What waits, by queue and reason; blocking.
    pub fn waiters(&self) -> Result<Vec<Waiters>, StoreError> {
        self.read(|db| {
            let mut list = db.prepare_cached(WAITERS_SQL)?;
            let mut found = list.query([])?;
            let mut waiters = Vec::new();
            while let Some(row) = found.next()? {
                let held: Option<String> = row.get(4)?;
                let held =
                    held.map(|word| Hold::parse(&word).ok_or_else(|| StoreError::Unknown(format!("held `{word}`"))));
                waiters.push(Waiters { queue: queue(row)?, held: held.transpose()?, count: rows::count(row.get(5)?) });
            }
            Ok(waiters)
        })
    }

    /// Lets everything that waits meet its fate; blocking. What a fate does not concern is left alone.
    pub fn move_waiting(
        &self,
        fate: impl Fn(&Queue) -> Fate + Clone + Send + 'static,
        now: Timestamp,
    ) -> Result<Moved, StoreError> {
        let (mut moved, mut after) = (Moved::default(), (-1, 0));
        loop {
            let fate = fate.clone();
            let (batch, last) = self.write(move |db, group| {
                let (batch, last) = pass(db, after, fate, now)?;
                if batch.released > 0 {
                    group.made_due();
                }
                Ok((batch, last))
            })?;
            moved.ended += batch.ended;
            moved.held += batch.held;
            moved.released += batch.released;
            let Some(last) = last else { return Ok(moved) };
            after = last;
        }
    }

    /// Ends or holds a delivery that was claimed and may not be sent; its attempt is not counted.
    pub fn turn_away(&self, claim: &Claim, fate: Fate, now: Timestamp) -> Result<(), StoreError> {
        let (id, token) = (claim.id, claim.token);
        self.write(move |db, _| {
            let state = rows::state_of(db, id)?;
            let Some(Ok(next)) = fate.event(None, now).map(|event| delivery::next(state, event)) else { return Ok(()) };
            move_to(db, id, next, Some(token))
        })
    }
}

/// Lets everything that waits and is not being sent meet one fate, in the caller's transaction.
pub(super) fn move_all(db: &Connection, fate: Fate, now: Timestamp) -> Result<(), StoreError> {
    let mut after = Some((-1, 0));
    while let Some(behind) = after {
        (_, after) = pass(db, behind, |_| fate, now)?;
    }
    Ok(())
}

/// One transaction of a pass, and the last delivery that it looked at; `None`: it was the last one.
fn pass(
    db: &Connection,
    after: (i64, u8),
    fate: impl Fn(&Queue) -> Fate,
    now: Timestamp,
) -> Result<(Moved, Option<(i64, u8)>), StoreError> {
    let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
    let mut list = db.prepare_cached(PASS_SQL)?;
    let mut found = list.query(params![after.0, after.1, now.as_millis(), limit])?;
    let (mut looked_at, mut end, mut steps) = (0, None, Vec::new());
    while let Some(row) = found.next()? {
        let (receipt, n) = (row.get(8)?, row.get(9)?);
        (looked_at, end) = (looked_at + 1, Some((receipt, n)));
        let state = rows::state(row, 4)?;
        let event = fate(&queue(row)?).event(held(state), now);
        if let Some(Ok(next)) = event.map(|event| delivery::next(state, event)) {
            steps.push((rows::delivery(receipt, n)?, next));
        }
    }
    let mut moved = Moved::default();
    for (id, next) in steps {
        move_to(db, id, next, None)?;
        match (next, held(next)) {
            (State::Failed(_) | State::Delivered, _) => moved.ended += 1,
            (State::Pending(_) | State::Retrying(_), Some(_)) => moved.held += 1,
            (State::Pending(_) | State::Retrying(_), None) => moved.released += 1,
        }
    }
    Ok((moved, end.filter(|_| looked_at == BATCH)))
}

/// The queue in the first four columns.
fn queue(row: &Row<'_>) -> Result<Queue, StoreError> {
    let channel: String = row.get(2)?;
    Ok(Queue { site: row.get(0)?, form: row.get(1)?, channel: rows::channel(&channel)?, destination: row.get(3)? })
}

/// Why a delivery is held.
fn held(state: State) -> Option<Hold> {
    match state {
        State::Pending(Waiting::Held(why)) | State::Retrying(Waiting::Held(why)) => Some(why),
        State::Pending(Waiting::Due(_)) | State::Retrying(Waiting::Due(_)) | State::Delivered | State::Failed(_) => {
            None
        }
    }
}

/// Writes a state. With `claimed` only while that token stands, and then the attempt that was counted is taken back.
/// What the peer said last stays readable.
pub(super) fn move_to(db: &Connection, id: DeliveryId, state: State, claimed: Option<i64>) -> Result<(), StoreError> {
    let columns = StateColumns::from(state);
    db.prepare_cached(
        "UPDATE deliveries
         SET state = ?3, reason = ?4, due_at = ?5, held = ?6, claim = NULL,
             attempts = MAX(attempts - (?7 IS NOT NULL), 0)
         WHERE receipt = ?1 AND n = ?2 AND (?7 IS NULL OR claim = ?7)",
    )?
    .execute(params![
        id.receipt.as_row(),
        id.n,
        columns.state,
        columns.reason,
        columns.due_at,
        columns.held,
        claimed
    ])?;
    Ok(())
}
