//! A delivery to an operator's program: a signed POST of one JSON object (contract 11.3).
//!
//! The body is a pure function of what was stored, so every attempt sends the same bytes under the same
//! `X-Formd-Delivery`, `webhook-id` and `X-Formd-Signature`; only the moment of the attempt and what signs it differ. Only
//! the reply's status counts (10.7); the beginning of its body is kept as a note, for the operator's eyes.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use super::attempt::Ended;
use super::chat::{self, Message};
use super::{echo, note};
use crate::clock::Clock;
use crate::domain::backoff::parse_retry_after;
use crate::domain::delivery::Verdict;
use crate::domain::signing;
use crate::domain::submission::{KeptField, SentBy, Value};
use crate::domain::target::{Format, WebhookTarget};
use crate::outbound::{Answer, Call, CallError, Outbound, Reach};
use crate::store::{AttachmentRow, Claim};

/// The object, its members in the order of the contract.
#[derive(Serialize)]
struct Body<'a> {
    /// What happened.
    event: &'static str,
    /// The receipt.
    receipt: String,
    /// The site.
    site: &'a str,
    /// The form.
    form: &'a str,
    /// The page the form stands on.
    page: Option<&'a str>,
    /// The language of the visitor's answer.
    locale: &'a str,
    /// The form again, under the name that older receivers read.
    section: &'a str,
    /// When the submission arrived, RFC 3339 in UTC with milliseconds.
    submitted_at: String,
    /// What the visitor gave.
    values: Values<'a>,
    /// What the fields are called.
    labels: Labels<'a>,
    /// Whether consent was given; `null` where the form asks none.
    consent: Option<bool>,
    /// The files' facts by field.
    attachments: Attachments<'a>,
    /// `true` where `formctl test` sent it; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<bool>,
}

/// `{name: string|bool|[string]}` in form order.
struct Values<'a>(&'a [KeptField]);

/// `{name: label}` in form order.
struct Labels<'a>(&'a [KeptField]);

/// `{field: [file]}` in form order.
struct Attachments<'a>(&'a [AttachmentRow]);

/// One file.
#[derive(Serialize)]
struct File<'a> {
    /// The attachment's id, as `formctl attachment` takes it.
    id: String,
    /// The display name.
    name: &'a str,
    /// The MIME type of the content.
    r#type: &'a str,
    /// Bytes.
    size: u64,
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for name in distinct(self.0.iter().map(|field| field.name.as_str())) {
            let same: Vec<&Value> =
                self.0.iter().filter(|field| field.name == name).map(|field| &field.value).collect();
            match same.as_slice() {
                [one] => map.serialize_entry(name, one)?,
                // A name that was sent twice is one member all the same: which of two a reader keeps is anybody's guess.
                many => map.serialize_entry(name, &many.iter().flat_map(|value| texts(value)).collect::<Vec<_>>())?,
            }
        }
        map.end()
    }
}

impl Serialize for Labels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for name in distinct(self.0.iter().map(|field| field.name.as_str())) {
            let label = self.0.iter().find(|field| field.name == name).map_or(name, |field| &field.label);
            map.serialize_entry(name, label)?;
        }
        map.end()
    }
}

impl Serialize for Attachments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for field in distinct(self.0.iter().map(|row| row.field.as_str())) {
            let files: Vec<File<'_>> = self.0.iter().filter(|row| row.field == field).map(File::of).collect();
            map.serialize_entry(field, &files)?;
        }
        map.end()
    }
}

impl<'a> File<'a> {
    /// The facts of a row.
    fn of(row: &'a AttachmentRow) -> Self {
        Self { id: row.id.to_string(), name: &row.name, r#type: &row.mime, size: row.size }
    }
}

/// The names in order of first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

/// A value as texts.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Bool(on) => vec![on.to_string()],
        Value::Text(text) => vec![text.clone()],
        Value::List(list) => list.clone(),
    }
}

/// The object that is sent and signed.
fn object(claim: &Claim) -> Body<'_> {
    Body {
        event: EVENT,
        receipt: claim.id.receipt.to_string(),
        site: &claim.site,
        form: &claim.form,
        page: claim.page.as_deref(),
        locale: &claim.locale,
        section: &claim.form,
        submitted_at: claim.received_at.to_string(),
        values: Values(&claim.contents.fields),
        labels: Labels(&claim.contents.fields),
        consent: claim.contents.consent,
        attachments: Attachments(&claim.attachments),
        test: (claim.contents.sent_by == SentBy::Test).then_some(true),
    }
}

/// The one event there is.
const EVENT: &str = "form.submitted";

/// Plain `http` is for this machine alone, whatever else is allowed; else the target says it.
pub fn reach(url: &str, allow_private: bool) -> Reach {
    let plain = url.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
    match (plain, allow_private) {
        (true, _) => Reach::Loopback,
        (false, true) => Reach::Any,
        (false, false) => Reach::Public,
    }
}

/// Sends the submission of `claim` once.
pub fn send(target: &WebhookTarget, claim: &Claim, outbound: &Outbound, clock: &Clock) -> Ended {
    let Some(call) = call(target, claim, clock) else {
        return Ended::new(Verdict::Refused, "the submission cannot be written for this URL and format");
    };
    let ended = post(&call, &echo::secrets(target), outbound, clock);
    match ended.verdict {
        // A chat that took a message answers with it: nothing to be told, and values have no place in a list.
        Verdict::Accepted if target.format.is_chat() => Ended { note: status_of(&ended.note).to_owned(), ..ended },
        _ => ended,
    }
}

/// The status in the note on an answer, without what was said.
fn status_of(note: &str) -> &str {
    note.split(':').next().unwrap_or_default()
}

/// Makes a call once; the note on the answer repeats none of `secrets`.
pub fn post(call: &Call, secrets: &[&str], outbound: &Outbound, clock: &Clock) -> Ended {
    match outbound.call(call) {
        Ok(answer) => judge(&answer, secrets, clock),
        Err(CallError::Url) => Ended::new(Verdict::Refused, &CallError::Url.to_string()),
        Err(failed) => Ended::later(&failed.to_string()),
    }
}

/// The call that delivers `claim`: formd's own object, or what a chat or the operator's template makes of it. A body is
/// signed where there is a secret; every call says what it is about and which delivery it is.
fn call(target: &WebhookTarget, claim: &Claim, clock: &Clock) -> Option<Call> {
    let message = match &target.format {
        Format::Formd(_) => Message::post(&target.url, &object(claim))?,
        _ => chat::message(target, claim)?,
    };
    let delivery = claim.id.to_string();
    let mut headers = vec![
        ("Content-Type", "application/json".to_owned()),
        ("X-Formd-Event", EVENT.to_owned()),
        ("X-Formd-Delivery", delivery.clone()),
    ];
    headers.extend(message.token.map(|token| ("Authorization", format!("Bearer {token}"))));
    if let Some(signing) = target.format.signing() {
        headers.extend(signing::headers(signing, &delivery, clock.now(), &message.body));
    }
    Some(Call {
        method: message.method,
        url: message.url,
        headers,
        body: message.body,
        reach: reach(&target.url, target.allow_private),
    })
}

/// What an answer means (contract 10.7).
fn judge(answer: &Answer, secrets: &[&str], clock: &Clock) -> Ended {
    let verdict = match answer.status {
        200..=299 => Verdict::Accepted,
        408 | 429 | 500..=599 => {
            let after = answer.retry_after.as_deref().and_then(|text| parse_retry_after(text, clock.now()));
            Verdict::TryLater { after }
        }
        _ => Verdict::Refused,
    };
    let said = echo::without(&String::from_utf8_lossy(&answer.beginning), secrets);
    Ended { verdict, note: note::answered(answer.status, &said) }
}

#[cfg(test)]
mod tests;
