//! The heart: a complete request becomes a receipt, or is refused and leaves nothing.
//!
//! Two steps. [`judge`] is pure: it hashes, looks at the form and validates. [`Judged::accept`] acts: it looks
//! a key up, seals files, records. A visitor is told of success only by the reply of [`Judged::accept`], and that
//! comes after the COMMIT.
//!
//! # Guarantees
//!
//! * A known key is answered before anything else counts: closed, changed or lost forms, faults of validation.
//!   Where the submission would be accepted anyway nothing is looked up; UNIQUE decides in the one writer.
//! * A refused request never uses up its key, and its files remove themselves (`PartFile`'s Drop).
//! * The first complete body that commits wins; no registry of running keys is needed. A second click loses at
//!   INSERT and gets the first one's receipt.
//!
//! # What a crash leaves
//!
//! Before the rename `.part` files, after it files without a row; the sweep removes both kinds. After the COMMIT
//! everything: the client repeats its key and gets the receipt.
//!
//! # What fails how
//!
//! A store that cannot is [`Refusal::Unavailable`]: whether the submission was kept is unknown then, and the same
//! key settles it. Nothing here is logged; the caller, who knows the request, does that once.
//!
//! # Deliberately absent
//!
//! No mail and no webhook: a delivery row is written in the same transaction, somebody else sends it.

use std::sync::Arc;

use crate::clock::Clock;
use crate::domain::bounds::Bounds;
use crate::domain::confirmation;
use crate::domain::control;
use crate::domain::digest::InstanceKey;
use crate::domain::draft::Draft;
use crate::domain::fingerprint::{self, ClientHash, ContentHash, KeyHash};
use crate::domain::form::{Form, Site};
use crate::domain::ids::{AttachmentId, FormId, ReceiptId, SiteId, SubmitKey};
use crate::domain::receipt::Outcome;
use crate::domain::submission::{AcceptedFile, Contents, SentBy, Submission};
use crate::domain::text::Language;
use crate::domain::time::{Span, Timestamp};
use crate::domain::validate::{FieldError, validate};
use crate::store::{
    KnownKey, NewAttachment, NewConfirmation, NewDelivery, NewReceipt, PartFile, SealError, Store, StoreError,
};

/// Characters of a page that a receipt keeps.
const PAGE_LENGTH: usize = 200;

/// A request whose body is complete and readable.
#[derive(Debug)]
pub struct Arrival {
    /// The address posted to, without trailing slash and `.json`: `/f/acme/quote`.
    pub address: String,
    /// The site it belongs to.
    pub site: SiteId,
    /// The form it belongs to.
    pub form: FormId,
    /// The published form; `None` when the configuration lost it.
    pub published: Option<Published>,
    /// The submission key.
    pub key: Option<SubmitKey>,
    /// The client's address as text, hashed at once.
    pub client: String,
    /// The language of the answer.
    pub language: Language,
    /// Who sent it.
    pub sent_by: SentBy,
    /// What was sent.
    pub draft: Draft,
    /// The `.part` of each file of the draft, in the same order.
    pub parts: Vec<PartFile>,
}

/// A form in force and what it needs of its site.
#[derive(Clone, Debug)]
pub struct Published {
    /// The site (`enabled`, `accept`, retention).
    pub site: Arc<Site>,
    /// The form.
    pub form: Arc<Form>,
}

/// Why a complete request is refused.
#[derive(Debug)]
pub enum Refusal {
    /// No such form, and the key is not known: 404.
    Unknown,
    /// Site or form is closed: 403 `form_closed`.
    Closed,
    /// Fields are at fault: 422, or 413 where only files are too large.
    Invalid(Vec<FieldError>),
    /// The store cannot: 503. Whether it was kept is unknown; the same key settles it.
    Unavailable(StoreError),
}

/// An arrival with its hashes and the verdict over its form and fields.
#[derive(Debug)]
pub struct Judged {
    /// What arrived.
    arrival: Arrival,
    /// The hash of its key.
    key: Option<KeyHash>,
    /// The hash of its content.
    content: ContentHash,
    /// The hash of its client.
    client: ClientHash,
    /// What may be recorded, and under which form.
    verdict: Result<(Published, Submission), Refusal>,
}

/// Where [`Judged::accept`] may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Anywhere: it hands a job to the writer and returns.
    Inline,
    /// Only where blocking is allowed: it looks a key up or syncs files.
    Blocking,
}

/// Hashes an arrival and judges it against its form. Pure: no disk, no clock.
pub fn judge(secret: &InstanceKey, bounds: &Bounds, arrival: Arrival) -> Judged {
    let key = arrival.key.as_ref().map(|key| fingerprint::submit_key(secret, &arrival.site, &arrival.form, key));
    let content = fingerprint::content(secret, &arrival.draft);
    let client = fingerprint::client(secret, &arrival.client);
    let verdict = match &arrival.published {
        None => Err(Refusal::Unknown),
        Some(Published { site, form }) if !(site.enabled && site.accept && form.accept) => Err(Refusal::Closed),
        Some(published) => match validate(&published.form, bounds, &arrival.draft) {
            Ok(submission) => Ok((published.clone(), submission)),
            Err(errors) => Err(Refusal::Invalid(errors)),
        },
    };
    Judged { arrival, key, content, client, verdict }
}

/// The receipt that this key already has in this form; blocking.
pub fn find_known(
    store: &Store,
    site: &SiteId,
    form: &FormId,
    key: &SubmitKey,
) -> Result<Option<KnownKey>, StoreError> {
    store.find_by_key(fingerprint::submit_key(store.key(), site, form, key))
}

/// The receipt of an exact repeat, for a request beyond its rate limit; blocking.
pub fn find_repeat(store: &Store, known: KnownKey, draft: &Draft) -> Option<ReceiptId> {
    (known.content_hash == fingerprint::content(store.key(), draft)).then_some(known.receipt)
}

impl Judged {
    /// Where [`Judged::accept`] may be called.
    pub fn room(&self) -> Room {
        match (&self.verdict, self.key) {
            (Ok((_, submission)), _) if submission.files.is_empty() => Room::Inline,
            (Err(_), None) => Room::Inline,
            (Ok(_), _) | (Err(_), Some(_)) => Room::Blocking,
        }
    }

    /// Gives `reply` the outcome once it is durable, or the refusal.
    pub fn accept(self, store: &Store, clock: &Clock, reply: impl FnOnce(Result<Outcome, Refusal>) + Send + 'static) {
        let looks_up = match &self.verdict {
            Err(_) => true,
            Ok((_, submission)) => !submission.files.is_empty(),
        };
        if let (Some(key), true) = (self.key, looks_up) {
            match store.find_by_key(key) {
                Ok(None) => {}
                Ok(Some(known)) if known.content_hash == self.content => {
                    return reply(Ok(Outcome::Repeated(known.receipt)));
                }
                Ok(Some(_)) => return reply(Ok(Outcome::Conflict)),
                Err(error) => return reply(Err(Refusal::Unavailable(error))),
            }
        }
        let (published, submission) = match self.verdict {
            Ok(accepted) => accepted,
            Err(refusal) => return reply(Err(refusal)),
        };
        let hashes = (self.key, self.content, self.client);
        let confirmation = confirmed(store.key(), &self.arrival, &published, &submission.contents);
        match prepare(self.arrival, &published, submission, confirmation, hashes, clock) {
            Ok(new) => store.record(new, move |outcome| reply(outcome.map_err(Refusal::Unavailable))),
            Err(error) => reply(Err(Refusal::Unavailable(error))),
        }
    }
}

/// Seals the files under a fresh receipt and gathers everything the transaction records.
fn prepare(
    arrival: Arrival,
    published: &Published,
    submission: Submission,
    confirmation: Option<NewConfirmation>,
    (key_hash, content_hash, client_hash): (Option<KeyHash>, ContentHash, ClientHash),
    clock: &Clock,
) -> Result<NewReceipt, StoreError> {
    let received_at = clock.now();
    let (id, files) = seal(arrival.parts, submission.files, received_at, clock)?;
    let form = &published.form;
    let deliveries = form
        .destinations
        .iter()
        .filter(|destination| !destination.paused)
        .map(|destination| NewDelivery { destination: destination.id.clone(), target: destination.target.clone() })
        .collect();
    Ok(NewReceipt {
        id,
        redraw: std::array::from_fn(|_| u32::from_le_bytes(clock.random())),
        page: form.page.clone().or_else(|| arrival.draft.control(control::PAGE).map(readable_page)),
        address: arrival.address,
        site: arrival.site,
        form: arrival.form,
        locale: arrival.language.tag(),
        received_at,
        erase_at: received_at.plus(Span::from_days(published.site.retention_days.into())),
        key_hash,
        content_hash,
        client_hash,
        contents: Contents { sent_by: arrival.sent_by, ..submission.contents },
        files,
        deliveries,
        confirmation,
    })
}

/// The mail that the form owes to the visitor, in the visitor's language; whether it is sent the store decides.
fn confirmed(
    secret: &InstanceKey,
    arrival: &Arrival,
    published: &Published,
    contents: &Contents,
) -> Option<NewConfirmation> {
    let Published { site, form } = published;
    let target = confirmation::owed(form, contents, &site.texts(arrival.language))?;
    let mailbox = fingerprint::mailbox(secret, &site.id, &form.id, &confirmation::mailbox(&target.address));
    Some(NewConfirmation { target, mailbox, per_hour: form.confirmation.as_ref()?.per_hour })
}

/// Draws a receipt and puts every file under its permanent name. A name that is taken belongs to another receipt
/// of the same number, and that shows at the first file: another number is drawn.
fn seal(
    parts: Vec<PartFile>,
    accepted: Vec<AcceptedFile>,
    received_at: Timestamp,
    clock: &Clock,
) -> Result<(ReceiptId, Vec<NewAttachment>), StoreError> {
    let mut parts: Vec<Option<PartFile>> = parts.into_iter().map(Some).collect();
    let mut id = ReceiptId::new(received_at, u32::from_le_bytes(clock.random()));
    let mut files = Vec::with_capacity(accepted.len());
    for (position, file) in (1..).zip(accepted) {
        let mut part = parts.get_mut(file.index).and_then(Option::take).ok_or(StoreError::Closed)?;
        let sealed = loop {
            match part.seal(AttachmentId { receipt: id, position }) {
                Ok(sealed) => break sealed,
                Err(SealError::Taken(unsealed)) if files.is_empty() => {
                    part = unsealed;
                    id = ReceiptId::new(received_at, u32::from_le_bytes(clock.random()));
                }
                Err(SealError::Taken(_)) => return Err(StoreError::Busy),
                Err(SealError::Store(error)) => return Err(error),
            }
        };
        let AcceptedFile { field, name, kind, size, sha256, .. } = file;
        files.push(NewAttachment { sealed, position, field, name, kind, size, sha256 });
    }
    Ok((id, files))
}

/// What a receipt keeps of the page a visitor's browser named: it outlives the values, so it is short and plain.
pub fn readable_page(sent: &str) -> String {
    sent.chars().filter(|c| !c.is_control()).take(PAGE_LENGTH).collect()
}
