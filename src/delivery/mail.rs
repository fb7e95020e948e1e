//! A delivery to an operator's mailbox, or a confirmation to a visitor's. Making the mail is pure; sending is one
//! dialogue or one file.
//!
//! Guarantees. `From` is always the operator's, a visitor's address can only become `Reply-To`, and only when it
//! is one valid address. No value, label or file name creates a header or a line of another field: what goes into a
//! header is cleaned before lettre sees it (lettre panics on line breaks in a display name), the text is built by
//! [`mail_text`]. `Message-ID` and `Date` come from the delivery and the arrival: equal over all attempts.
//!
//! What fails how: everything is retried, a refusal for good included, since a mailbox or a mail set-up may be
//! repaired (contract 10.7); only a mail that cannot be made at all (an address or template that no
//! configuration check would have passed) is refused at once.
//!
//! A mail with files takes up to 1 s more for each 256 KiB; it is in memory about four times its size, which is
//! why [`super::board`] lets only one be made at a time.

use std::time::{Duration, UNIX_EPOCH};

use lettre::Address;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Body, Mailbox, Message, MessageBuilder, MultiPart, SinglePart};

use super::attempt::Ended;
use super::mail_text::{self, Files};
use super::{LIMIT, confirmation_text, mail_parts, smtp};
use crate::config::{Mail, Transport};
use crate::domain::delivery::Verdict;
use crate::domain::email;
use crate::domain::ids::DeliveryId;
use crate::domain::submission::{Role, Value};
use crate::domain::target::{ConfirmationTarget, EmailTarget, Target};
use crate::domain::template::TemplateError;
use crate::domain::time::Timestamp;
use crate::store::{Claim, StoreError};

/// Bytes of files that buy one more second (contract 10.5).
const BYTES_A_SECOND: u64 = 256 * 1024;
/// The longest attempt at a mail.
const LONGEST: Duration = Duration::from_mins(1);

/// What a mail costs in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Text alone.
    Light,
    /// Files travel with it: one at a time.
    Heavy,
}

/// Why no mail can be made of a delivery.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComposeError {
    /// The destination's address.
    #[error("the destination's address is not valid")]
    Recipient,
    /// The operator's own address.
    #[error("the address in `[mail] from` is not valid")]
    Sender,
    /// The destination's template.
    #[error("the destination's template is not valid: {0}")]
    Template(#[from] TemplateError),
    /// Whatever lettre refuses beyond that.
    #[error("the mail cannot be written")]
    Message,
}

/// What a mail begins with.
#[derive(Clone, Debug)]
pub struct Head<'a> {
    /// Names the message in its `Message-ID`; one name a message, over all tries.
    pub name: &'a str,
    /// The recipient.
    pub to: &'a str,
    /// The subject, one line.
    pub subject: String,
    /// The date.
    pub date: Timestamp,
}

/// A mail, ready to leave.
#[derive(Debug)]
pub struct Composed {
    /// The envelope's sender.
    pub from: Address,
    /// The envelope's recipient.
    pub to: Address,
    /// The whole message, lines ended by CR LF.
    pub bytes: Vec<u8>,
}

/// What a claim's message will cost.
pub fn weight(claim: &Claim) -> Weight {
    match &claim.target {
        Target::Email(target) if files(target, claim) == Files::Attached && !claim.attachments.is_empty() => {
            Weight::Heavy
        }
        Target::Email(_) | Target::Webhook(_) | Target::Confirmation(_) => Weight::Light,
    }
}

/// Whether the files travel with the mail.
fn files(target: &EmailTarget, claim: &Claim) -> Files {
    match (target.attach_files, total(claim) <= target.max_attach) {
        (false, _) => Files::Named,
        (true, true) => Files::Attached,
        (true, false) => Files::TooLarge,
    }
}

/// Bytes of all files.
fn total(claim: &Claim) -> u64 {
    claim.attachments.iter().fold(0, |sum, row| sum.saturating_add(row.size))
}

/// The time for one attempt.
fn limit(claim: &Claim) -> Duration {
    match weight(claim) {
        Weight::Light => LIMIT,
        Weight::Heavy => (LIMIT + Duration::from_secs(total(claim).div_ceil(BYTES_A_SECOND))).min(LONGEST),
    }
}

/// Makes the mail of `claim` and sends it once; `keep` writes a mail of the file transport.
pub fn send(
    mail: Option<&Mail>,
    target: &EmailTarget,
    claim: &Claim,
    keep: impl Fn(DeliveryId, &[u8]) -> Result<(), StoreError>,
) -> Ended {
    let Some(mail) = mail else {
        return Ended::later("mail not configured");
    };
    let parts = match weight(claim) {
        Weight::Light => Ok(Vec::new()),
        Weight::Heavy => mail_parts::read(&claim.attachments),
    };
    let parts = match parts {
        Ok(parts) => parts,
        Err(why) => return Ended::later(&why),
    };
    depart(mail, compose(mail, target, claim, parts), claim, keep)
}

/// Makes the mail to the visitor and sends it once.
pub fn confirm(
    mail: Option<&Mail>,
    target: &ConfirmationTarget,
    claim: &Claim,
    keep: impl Fn(DeliveryId, &[u8]) -> Result<(), StoreError>,
) -> Ended {
    match mail {
        Some(mail) => depart(mail, compose_confirmation(mail, target, claim), claim, keep),
        None => Ended::later("mail not configured"),
    }
}

/// Sends what was made of `claim`, or says why nothing was.
fn depart(
    mail: &Mail,
    made: Result<Composed, ComposeError>,
    claim: &Claim,
    keep: impl Fn(DeliveryId, &[u8]) -> Result<(), StoreError>,
) -> Ended {
    let composed = match made {
        Ok(composed) => composed,
        // Their own address is theirs to repair, and the next attempt will use it.
        Err(why @ ComposeError::Sender) => return Ended::later(&why.to_string()),
        Err(why) => return Ended::new(Verdict::Refused, &why.to_string()),
    };
    leave(mail, &composed, limit(claim), |bytes| keep(claim.id, bytes))
}

/// Lets a mail leave by the transport in force; `keep` writes one of the file transport.
pub fn leave(
    mail: &Mail,
    composed: &Composed,
    limit: Duration,
    keep: impl Fn(&[u8]) -> Result<(), StoreError>,
) -> Ended {
    match &mail.transport {
        Transport::File => match keep(&composed.bytes) {
            Ok(()) => Ended::new(Verdict::Accepted, "written to a file"),
            Err(error) => Ended::later(&format!("the mail file cannot be written: {error}")),
        },
        Transport::Smtp(server) => match smtp::send(server, &composed.from, &composed.to, &composed.bytes, limit) {
            Ok(said) => Ended::new(Verdict::Accepted, &said),
            Err(why) => Ended::later(&why),
        },
    }
}

/// The mail of `claim`; `parts` are its files where they travel with it. Pure: equal input makes equal bytes.
pub fn compose(
    mail: &Mail,
    target: &EmailTarget,
    claim: &Claim,
    parts: Vec<SinglePart>,
) -> Result<Composed, ComposeError> {
    let subject = mail_text::subject(target, claim)?;
    let text = mail_text::text(target, claim, files(target, claim))?;
    let name = claim.id.to_string();
    let head = Head { name: &name, to: &target.address, subject, date: claim.received_at };
    let (from, to, mut message) = begin(mail, head, "auto-generated")?;
    if let Some(reply_to) = reply_to(target, claim) {
        message = message.reply_to(Mailbox::new(None, reply_to));
    }
    let message = if parts.is_empty() {
        message.singlepart(SinglePart::builder().header(ContentType::TEXT_PLAIN).body(Body::new(text)))
    } else {
        // `=_` stands in neither quoted-printable nor base64, so no content can end its part.
        let mixed = MultiPart::mixed().boundary(format!("=_formd_{}", claim.id));
        message.multipart(parts.into_iter().fold(mixed.singlepart(encoded(text)), MultiPart::singlepart))
    };
    let bytes = message.map_err(|_| ComposeError::Message)?.formatted();
    Ok(Composed { from, to, bytes })
}

/// A mail of one text. Pure.
pub fn plain(mail: &Mail, head: Head<'_>, text: String) -> Result<Composed, ComposeError> {
    of_text(mail, head, text, "auto-generated")
}

/// A mail of one text, `automatic` as of [`begin`].
fn of_text(mail: &Mail, head: Head<'_>, text: String, automatic: &str) -> Result<Composed, ComposeError> {
    let (from, to, message) = begin(mail, head, automatic)?;
    let message = message.singlepart(SinglePart::builder().header(ContentType::TEXT_PLAIN).body(Body::new(text)));
    let bytes = message.map_err(|_| ComposeError::Message)?.formatted();
    Ok(Composed { from, to, bytes })
}

/// The mail to the visitor: an answer goes to the operator alone, no file travels. Pure, like [`compose`].
pub fn compose_confirmation(mail: &Mail, target: &ConfirmationTarget, claim: &Claim) -> Result<Composed, ComposeError> {
    let subject = confirmation_text::subject(target, claim)?;
    let text = confirmation_text::text(target, claim)?;
    let name = claim.id.to_string();
    let head = Head { name: &name, to: &target.address, subject, date: claim.received_at };
    of_text(mail, head, text, "auto-replied")
}

/// What every mail begins with: from the operator's own address, and written by no person, which `automatic` says in
/// the word of RFC 3834.
fn begin(mail: &Mail, head: Head<'_>, automatic: &str) -> Result<(Address, Address, MessageBuilder), ComposeError> {
    let from = address(&mail.from_address).ok_or(ComposeError::Sender)?;
    let to = address(head.to).ok_or(ComposeError::Recipient)?;
    let name = mail_text::header_text(&mail.from_name);
    let millis = u64::try_from(head.date.as_millis()).unwrap_or(0);
    let message = Message::builder()
        .from(Mailbox::new((!name.is_empty()).then_some(name), from.clone()))
        .to(Mailbox::new(None, to.clone()))
        .subject(head.subject)
        .date(UNIX_EPOCH + Duration::from_millis(millis))
        .message_id(Some(format!("<{}@{}>", head.name, from.domain())))
        .raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), automatic.to_owned()));
    Ok((from, to, message))
}

/// A text as a part among others, in an encoding that cannot hold a boundary.
fn encoded(text: String) -> SinglePart {
    let encoding =
        if text.is_ascii() { ContentTransferEncoding::QuotedPrintable } else { ContentTransferEncoding::Base64 };
    // lettre converts line ends before it encodes; both encodings take any text.
    let body = Body::new_with_encoding(text, encoding).unwrap_or_else(Body::new);
    SinglePart::builder().header(ContentType::TEXT_PLAIN).body(body)
}

/// An address for header and envelope, an internationalised domain in its ASCII form.
fn address(text: &str) -> Option<Address> {
    if text.is_ascii() {
        return text.parse().ok();
    }
    let (local, domain) = text.rsplit_once('@')?;
    Address::new(local, email::ascii_domain(domain)?).ok().filter(|address| AsRef::<str>::as_ref(address).is_ascii())
}

/// Where an answer goes: the configured field's address, else the first e-mail field's. None when the field was
/// sent twice, or is not one valid address of a mailbox that mail can reach (a domain of two labels at least).
fn reply_to(target: &EmailTarget, claim: &Claim) -> Option<Address> {
    let fields = &claim.contents.fields;
    let name = match &target.reply_to {
        Some(name) => name,
        None => &fields.iter().find(|field| field.role == Role::Email)?.name,
    };
    let mut named = fields.iter().filter(|field| field.name == *name);
    match (named.next().map(|field| &field.value), named.next()) {
        (Some(Value::Text(text)), None) if email::is_valid(text.trim()) => {
            address(text.trim()).filter(|address| address.domain().contains('.'))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
