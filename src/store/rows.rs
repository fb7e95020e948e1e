//! Domain types and columns, both directions. A column that holds what no version of this program writes is
//! [`StoreError::Unknown`]: the database was damaged or written by something else, and guessing would hide it.

use rusqlite::{Connection, Row, params};

use super::StoreError;
use crate::domain::delivery::{Channel, Hold, Reason, State, Verdict, Waiting};
use crate::domain::ids::{DeliveryId, ReceiptId, SiteId};
use crate::domain::receipt::{Erasure, ReceiptState};
use crate::domain::submission::Contents;
use crate::domain::target::Target;
use crate::domain::time::Timestamp;

/// A row id as a receipt.
pub(super) fn receipt(row: i64) -> Result<ReceiptId, StoreError> {
    ReceiptId::from_row(row).ok_or_else(|| StoreError::Unknown(format!("receipt {row}")))
}

/// The two columns of a delivery's key.
pub(super) fn delivery(receipt_row: i64, n: u8) -> Result<DeliveryId, StoreError> {
    Ok(DeliveryId { receipt: receipt(receipt_row)?, n })
}

/// A site's id as it stands in a row.
pub(super) fn site(text: &str) -> Result<SiteId, StoreError> {
    SiteId::parse(text).map_err(|_| StoreError::Unknown(format!("site `{text}`")))
}

/// The columns of a delivery's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StateColumns {
    /// `state`.
    pub(super) state: &'static str,
    /// `reason`.
    pub(super) reason: Option<&'static str>,
    /// `due_at`.
    pub(super) due_at: Option<i64>,
    /// `held`.
    pub(super) held: Option<&'static str>,
}

impl From<State> for StateColumns {
    fn from(state: State) -> Self {
        let (reason, due_at, held) = match state {
            State::Pending(Waiting::Due(at)) | State::Retrying(Waiting::Due(at)) => (None, Some(at.as_millis()), None),
            State::Pending(Waiting::Held(why)) | State::Retrying(Waiting::Held(why)) => (None, None, Some(why.word())),
            State::Delivered => (None, None, None),
            State::Failed(reason) => (Some(reason.word()), None, None),
        };
        Self { state: state.word(), reason, due_at, held }
    }
}

/// A delivery's state from its columns `state, reason, due_at, held`, the first of them at `first`.
pub(super) fn state(row: &Row<'_>, first: usize) -> Result<State, StoreError> {
    let (word, reason): (String, Option<String>) = (row.get(first)?, row.get(first + 1)?);
    let (due_at, held): (Option<i64>, Option<String>) = (row.get(first + 2)?, row.get(first + 3)?);
    let waiting = match (due_at, held.as_deref().and_then(Hold::parse)) {
        (Some(at), None) => Some(Waiting::Due(Timestamp::from_millis(at))),
        (None, Some(why)) => Some(Waiting::Held(why)),
        _ => None,
    };
    match (word.as_str(), reason.as_deref().and_then(Reason::parse), waiting) {
        ("pending", None, Some(waiting)) => Ok(State::Pending(waiting)),
        ("retrying", None, Some(waiting)) => Ok(State::Retrying(waiting)),
        ("delivered", None, None) => Ok(State::Delivered),
        ("failed", Some(reason), None) => Ok(State::Failed(reason)),
        _ => Err(StoreError::Unknown(format!("state `{word}`"))),
    }
}

/// Where a delivery stands.
pub(super) fn state_of(db: &Connection, id: DeliveryId) -> Result<State, StoreError> {
    let mut find =
        db.prepare_cached("SELECT state, reason, due_at, held FROM deliveries WHERE receipt = ?1 AND n = ?2")?;
    let mut found = find.query(params![id.receipt.as_row(), id.n])?;
    let row = found.next()?.ok_or_else(|| StoreError::Unknown(format!("delivery `{id}`")))?;
    state(row, 0)
}

/// A delivery's channel.
pub(super) fn channel(word: &str) -> Result<Channel, StoreError> {
    Channel::parse(word).ok_or_else(|| StoreError::Unknown(format!("channel `{word}`")))
}

/// The word of an attempt's outcome.
pub(super) fn outcome(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Accepted => "accepted",
        Verdict::TryLater { .. } => "try_later",
        Verdict::Refused => "refused",
    }
}

/// Who ended values, in SQL.
pub(super) fn why(erasure: Erasure) -> &'static str {
    match erasure {
        Erasure::Expired => "expired",
        Erasure::Operator => "operator",
    }
}

/// Whether values are readable at `now`: past `until`, their date, they are not, swept or not.
pub(super) fn receipt_state(
    until: Timestamp,
    erased_at: Option<i64>,
    erased_why: Option<&str>,
    now: Timestamp,
) -> Result<ReceiptState, StoreError> {
    match (erased_at, erased_why) {
        (None, None) if until > now => Ok(ReceiptState::Kept { until }),
        (None, None) => Ok(ReceiptState::Erased { at: until, why: Erasure::Expired }),
        (Some(at), Some("expired")) => {
            Ok(ReceiptState::Erased { at: Timestamp::from_millis(at), why: Erasure::Expired })
        }
        (Some(at), Some("operator")) => {
            Ok(ReceiptState::Erased { at: Timestamp::from_millis(at), why: Erasure::Operator })
        }
        (_, why) => Err(StoreError::Unknown(format!("erased_why `{}`", why.unwrap_or("NULL")))),
    }
}

/// Values as text. Never fails: a `Contents` has no map with keys that are no text.
pub(super) fn contents_text(contents: &Contents) -> Result<String, StoreError> {
    serde_json::to_string(contents).map_err(|_| StoreError::Unknown("values that are no JSON".to_owned()))
}

/// Values from their text. The error names no value.
pub(super) fn contents(text: &str) -> Result<Contents, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Unknown("contents.fields".to_owned()))
}

/// Targets as text, the n-th that of delivery n.
pub(super) fn targets_text(targets: &[&Target]) -> Result<String, StoreError> {
    serde_json::to_string(targets).map_err(|_| StoreError::Unknown("targets that are no JSON".to_owned()))
}

/// Targets from their text. The error names no address.
pub(super) fn targets(text: &str) -> Result<Vec<Target>, StoreError> {
    serde_json::from_str(text).map_err(|_| StoreError::Unknown("contents.targets".to_owned()))
}

/// The target of delivery `n`, counted from 1.
pub(super) fn target(targets: &[Target], n: u8) -> Result<&Target, StoreError> {
    let index = usize::from(n).checked_sub(1);
    index.and_then(|i| targets.get(i)).ok_or_else(|| StoreError::Unknown(format!("target of delivery {n}")))
}

/// A column of milliseconds.
pub(super) fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    Ok(Timestamp::from_millis(row.get(column)?))
}

/// A count, which is never negative.
pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The text right behind an id (an id has no character below `-`), to hop over all its rows: `SQLite` seeks the first row
/// that is not before (a, b) and then looks at each that equals it, so that `> (a, b)` alone walks through a flood.
pub(super) fn just_behind(id: &str) -> String {
    format!("{id}\u{1}")
}
