//! A receipt as `list` and `show` give it: the objects of `--json`, whose names are the contract's (appendix B:
//! only ever added, never changed or removed), and the words for a delivery's state.

use serde::Serialize;

use super::moment;
use crate::domain::delivery::{Hold, Reason};
use crate::domain::receipt::ReceiptState;
use crate::domain::time::Timestamp;
use crate::export::{Attachment, Field, Origin};
use crate::store::{AttemptRow, DeliveryRow, ReceiptRow, ReceiptView};

/// A line of `list --json`.
#[derive(Debug, Serialize)]
pub struct Listed<'a> {
    /// The receipt.
    receipt: String,
    /// Its site.
    site: &'a str,
    /// Its form.
    form: &'a str,
    /// The page the form stands on.
    page: Option<&'a str>,
    /// The language of the answer.
    locale: &'a str,
    /// When it arrived.
    received_at: String,
    /// The erase date fixed at arrival.
    erase_at: String,
    /// Whether the values are gone.
    erased: bool,
    /// Judged spam.
    spam: bool,
    /// Its deliveries in order.
    deliveries: Vec<Delivery<'a>>,
}

/// A delivery of `list --json`, `show --json` and `deliveries --json`.
#[derive(Debug, Serialize)]
pub struct Delivery<'a> {
    /// Its id.
    id: String,
    /// Its channel.
    channel: &'static str,
    /// Its destination's id.
    destination: &'a str,
    /// Where it goes, while values are kept.
    target: Option<&'a str>,
    /// Its state.
    state: &'static str,
    /// Attempts since the last resend.
    attempts: u32,
    /// When the next one is due.
    next_attempt_at: Option<String>,
    /// Why it stopped.
    reason: Option<&'static str>,
    /// Waits for a release.
    held: bool,
    /// What the peer or the network said last.
    note: Option<&'a str>,
    /// Its attempts, in `show` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts_made: Option<Vec<Attempt<'a>>>,
}

/// An attempt of `show --json`.
#[derive(Debug, Serialize)]
struct Attempt<'a> {
    /// When it began.
    at: String,
    /// How long it took.
    milliseconds: i64,
    /// `accepted`, `try_later`, `refused`.
    outcome: &'a str,
    /// What the peer or the network said.
    note: Option<&'a str>,
}

/// The object of `show --json`.
#[derive(Debug, Serialize)]
pub struct Shown<'a> {
    /// What `list` gives, with the attempts.
    #[serde(flatten)]
    listed: Listed<'a>,
    /// The values; null once erased.
    values: Option<Vec<Field<'a>>>,
    /// Whether consent was given; null where the form asks none, and once erased.
    consent: Option<bool>,
    /// The files; null once erased.
    attachments: Option<Vec<Attachment<'a>>>,
    /// Where it was before, of an imported one whose values are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<Origin<'a>>,
}

impl<'a> From<&'a ReceiptRow> for Listed<'a> {
    fn from(row: &'a ReceiptRow) -> Self {
        Self {
            receipt: row.id.to_string(),
            site: &row.site,
            form: &row.form,
            page: row.page.as_deref(),
            locale: &row.locale,
            received_at: row.id.arrived_at().to_string(),
            erase_at: row.erase_at.to_string(),
            erased: matches!(row.state, ReceiptState::Erased { .. }),
            spam: row.spam,
            deliveries: row.deliveries.iter().map(Delivery::from).collect(),
        }
    }
}

impl<'a> From<&'a DeliveryRow> for Delivery<'a> {
    fn from(row: &'a DeliveryRow) -> Self {
        Self {
            id: row.id.to_string(),
            channel: row.channel.word(),
            destination: &row.destination,
            target: row.target.as_deref(),
            state: row.state,
            attempts: row.attempts,
            next_attempt_at: row.next_attempt_at.map(|at| at.to_string()),
            reason: row.reason.map(Reason::word),
            held: row.held.is_some(),
            note: row.note.as_deref(),
            attempts_made: None,
        }
    }
}

impl<'a> From<&'a AttemptRow> for Attempt<'a> {
    fn from(row: &'a AttemptRow) -> Self {
        Self {
            at: row.at.to_string(),
            milliseconds: row.milliseconds,
            outcome: &row.outcome,
            note: row.note.as_deref(),
        }
    }
}

impl<'a> From<&'a ReceiptView> for Shown<'a> {
    fn from(view: &'a ReceiptView) -> Self {
        let mut listed = Listed::from(&view.row);
        for (n, delivery) in listed.deliveries.iter_mut().enumerate() {
            delivery.attempts_made = Some(view.attempts.get(n).into_iter().flatten().map(Attempt::from).collect());
        }
        Self {
            listed,
            values: view.contents.as_ref().map(|contents| contents.fields.iter().map(Field::from).collect()),
            consent: view.contents.as_ref().and_then(|contents| contents.consent),
            attachments: view.attachments.as_ref().map(|files| files.iter().map(Attachment::from).collect()),
            imported: view.contents.as_ref().and_then(|contents| contents.imported.as_ref()).map(Origin::from),
        }
    }
}

/// `email sales: retrying 2, next 12:04`: a delivery's way and state in one line.
pub fn delivery_phrase(row: &DeliveryRow, now: Timestamp) -> String {
    format!("{} {}: {}", row.channel.word(), row.destination, state_phrase(row, now))
}

/// [`delivery_phrase`] with the delivery's id and what was said last, for a line about one attempt.
pub fn tried_phrase(row: &DeliveryRow, now: Timestamp) -> String {
    let note = row.note.as_deref().map(|note| format!("  {note}")).unwrap_or_default();
    format!("{}  {}{note}", row.id, delivery_phrase(row, now))
}

/// `retrying 2, next 12:04`: a delivery's state, how often it was tried, and what comes next.
fn state_phrase(row: &DeliveryRow, now: Timestamp) -> String {
    let tried = if row.state == "retrying" { format!(" {}", row.attempts) } else { String::new() };
    let reason = row.reason.map(|reason| format!(" ({})", reason.word())).unwrap_or_default();
    let next = match (row.held, row.next_attempt_at) {
        _ if row.sending => ", being sent now".to_owned(),
        (Some(Hold::Spam), _) => ", held as spam".to_owned(),
        (Some(Hold::Restored), _) => ", held since a restore".to_owned(),
        (Some(Hold::SiteGone), _) => ", held: its site has no file".to_owned(),
        (None, Some(at)) if at > now => format!(", next {}", moment::near(at, now)),
        (None, _) => String::new(),
    };
    format!("{}{tried}{reason}{next}", row.state)
}
