//! The heart: a complete request becomes a receipt, or is refused and leaves nothing.
// STUB: implemented by the founder while the rooms around it are built.

use std::sync::Arc;

use crate::clock::Clock;
use crate::domain::bounds::Bounds;
use crate::domain::draft::Draft;
use crate::domain::form::{Form, Site};
use crate::domain::ids::{FormId, SiteId, SubmitKey};
use crate::domain::receipt::Outcome;
use crate::domain::text::Language;
use crate::domain::validate::FieldError;
use crate::store::{PartFile, Store, StoreError};

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
    /// The client's address as text, to be hashed at once.
    pub client: String,
    /// The language of the answer.
    pub language: Language,
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
    /// The store cannot: 503, whether it was kept is unknown, the same key settles it.
    Unavailable(StoreError),
}

/// Takes an arrival and gives `reply` its outcome once that is durable. Never blocks when the arrival has no
/// files and passes validation; with files, call it where blocking is allowed.
pub fn accept(
    store: &Store,
    bounds: &Bounds,
    clock: &Clock,
    arrival: Arrival,
    reply: impl FnOnce(Result<Outcome, Refusal>) + Send + 'static,
) {
    todo!()
}

/// The outcome of an exact repeat, for a request that is over the rate limit: `None` when the key is not known.
/// Blocking.
pub fn find_repeat(
    store: &Store,
    site: &SiteId,
    form: &FormId,
    key: &SubmitKey,
    draft: &Draft,
) -> Result<Option<Outcome>, StoreError> {
    todo!()
}
