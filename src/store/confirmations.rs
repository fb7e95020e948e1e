//! Whether a submission is confirmed to its visitor: at most once a day for a mailbox and form, and so many an hour in
//! all. Asked inside the transaction that records it, and answered by one statement, so that of any number of
//! submissions at once the one writer lets through just as many as may be.
//!
//! A row counts while it is less than its day, or hour, away from now, in either direction: submissions are recorded in
//! another order than they arrived, and a clock that was ahead and was put right blocks nobody for ever.

use rusqlite::{Connection, params};

use super::erase::BATCH;
use super::{Store, StoreError};
use crate::domain::fingerprint::MailboxHash;
use crate::domain::target::ConfirmationTarget;
use crate::domain::time::{Span, Timestamp};

/// How long a mailbox gets no second one from a form; fixed by contract.
const ONCE_IN: Span = Span::from_days(1);
/// The span of the budget; fixed by contract.
const BUDGET_SPAN: Span = Span::from_hours(1);

/// The mail to the visitor that a submission asks for, and may get.
#[derive(Debug)]
pub struct NewConfirmation {
    /// Where it goes and how it is written.
    pub target: ConfirmationTarget,
    /// Which mailbox of which form that is.
    pub mailbox: MailboxHash,
    /// How many there may be in an hour, over all sites and forms.
    pub per_hour: u32,
}

/// Whether it gets one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    /// It does, and the next ones do not.
    Granted,
    /// The mailbox had its own, or the hour's are spent.
    Spent,
}

/// Takes one from the budget while there are fewer in the hour, unless the mailbox had one in the day.
pub(super) const GRANT_SQL: &str = "
    INSERT INTO confirmations (address_hash, at)
    SELECT ?1, ?2
    WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM confirmations WHERE at > ?2 - ?4 AND at < ?2 + ?4 LIMIT ?5)) < ?5
    ON CONFLICT (address_hash) DO UPDATE SET at = excluded.at
    WHERE at <= excluded.at - ?3 OR at >= excluded.at + ?3";

/// Decides about one submission that arrived at `now`.
pub(super) fn grant(db: &Connection, new: &NewConfirmation, now: Timestamp) -> Result<Grant, StoreError> {
    let (day, hour) = (ONCE_IN.as_millis(), BUDGET_SPAN.as_millis());
    let rows =
        db.prepare_cached(GRANT_SQL)?.execute(params![new.mailbox.0, now.as_millis(), day, hour, new.per_hour])?;
    Ok(if rows == 0 { Grant::Spent } else { Grant::Granted })
}

/// What counts no longer.
pub(super) const FORGET_SQL: &str = "
    DELETE FROM confirmations
    WHERE address_hash IN (SELECT address_hash FROM confirmations WHERE at <= ?1 OR at >= ?2 LIMIT ?3)";

impl Store {
    /// Forgets up to [`BATCH`] mailboxes that may be confirmed to again; returns how many.
    pub(super) fn forget_mailboxes(&self, now: Timestamp) -> Result<usize, StoreError> {
        let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
        let (before, after) = (now.minus(ONCE_IN).as_millis(), now.plus(ONCE_IN).as_millis());
        self.write(move |db, _| Ok(db.prepare_cached(FORGET_SQL)?.execute(params![before, after, limit])?))
    }
}
