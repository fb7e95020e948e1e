//! Letting go what was held as spam: on the operator's word, one receipt at a time, in one transaction.
//!
//! Only the hold for spam ends. What is held for another reason stays held, and what the configuration has ended
//! meanwhile is not revived; a destination that is paused now is met when the delivery is claimed.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::lifecycle::{Fate, move_to};
use super::{Store, StoreError, rows};
use crate::domain::delivery::{self, Hold};
use crate::domain::ids::{DeliveryId, ReceiptId};
use crate::domain::time::Timestamp;

/// What a release came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// It is no spam any more, and so many deliveries are due.
    Done(u64),
    /// It was not held as spam.
    NotSpam,
    /// Its values are erased or expired: there is nothing left to send.
    ValuesGone,
    /// There is no such receipt.
    Missing,
}

impl Store {
    /// Clears the mark of spam of a receipt and makes what it holds due. Blocking.
    pub fn release(&self, id: ReceiptId, now: Timestamp) -> Result<Released, StoreError> {
        self.write(move |db, group| {
            let held = held_as_spam(db, id)?;
            let receipt: Option<(bool, bool)> = db
                .prepare_cached("SELECT spam, erased_at IS NULL AND erase_at > ?2 FROM receipts WHERE id = ?1")?
                .query_row(params![id.as_row(), now.as_millis()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            match receipt {
                None => return Ok(Released::Missing),
                Some((false, _)) if held.is_empty() => return Ok(Released::NotSpam),
                Some((_, false)) => return Ok(Released::ValuesGone),
                Some((_, true)) => {}
            }
            for &delivery in &held {
                let state = rows::state_of(db, delivery)?;
                let event = Fate::Release(Hold::Spam).event(Some(Hold::Spam), now);
                if let Some(Ok(next)) = event.map(|event| delivery::next(state, event)) {
                    move_to(db, delivery, next, None)?;
                    group.made_due();
                }
            }
            db.prepare_cached("UPDATE receipts SET spam = 0 WHERE id = ?1")?.execute([id.as_row()])?;
            Ok(Released::Done(u64::try_from(held.len()).unwrap_or(u64::MAX)))
        })
    }
}

/// The deliveries of a receipt that are held as spam.
fn held_as_spam(db: &Connection, id: ReceiptId) -> Result<Vec<DeliveryId>, StoreError> {
    let mut find = db.prepare_cached("SELECT n FROM deliveries WHERE receipt = ?1 AND held = ?2 ORDER BY n")?;
    let held = find.query_map(params![id.as_row(), Hold::Spam.word()], |row| row.get(0))?;
    held.map(|n| rows::delivery(id.as_row(), n?)).collect()
}
