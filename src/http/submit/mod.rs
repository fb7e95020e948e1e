//! One submission, a straight line: length, disk, type, rate, body, key, and then intake.
//!
//! * Each step costs more than the one before it, and a refused request has cost no more than the steps before its
//!   refusal. In front of the body that includes the `100 Continue`: hyper sends it when the body is asked for.
//! * From *body complete* on nothing depends on the client: the work is handed over in the same breath, to the writer
//!   or to a thread that blocks, and a handler that is dropped takes nothing with it.
//! * Nothing is answered by half: what may or may not have been kept is 503, and the same key settles it.
//!
//! A refusal before the end of the body reads a small rest, so that the connection stays; a large rest ends it.

mod handover;
mod limit;
mod over;
mod refuse;
mod shared;
mod signed;

use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request};
use tokio::time::timeout;

use super::Inner;
use super::answer::{Accepted, Answer, Ask, Format, Novelty, Problem, ProblemKind, allowed};
use super::body::{self, ContentType, ContentTypeError, Received, SignedError};
use super::budget::{Charged, Hold};
use super::client_ip::Client;
use super::cors::Own;
use super::rate::Rate;
use super::server::Reply;
use crate::clock::Clock;
use crate::domain::bounds::{Bounds, KIB};
use crate::domain::digest::hex;
use crate::domain::draft::Draft;
use crate::domain::form::Site;
use crate::domain::ids::{FormId, ReceiptId, SiteId, SubmitKey};
use crate::domain::quota::Quota;
use crate::domain::receipt::Outcome;
use crate::domain::shared_path::SharedPath;
use crate::domain::signature::Signature;
use crate::domain::submission::SentBy;
use crate::domain::text::Language;
use crate::domain::time::Span;
use crate::intake::{Arrival, Published};
use signed::Signing;

/// A rest of a refused body that is read so that the connection can stay.
const SMALL_REST: u64 = 64 * KIB;
/// How long for.
const REST_TIME: Duration = Duration::from_secs(1);
/// When to come again after 503.
const SOON: Span = Span::from_secs(5);

/// Where a submission goes.
#[derive(Debug)]
pub(super) struct Target {
    /// The address under which its receipt is remembered.
    pub(super) address: String,
    /// Its site.
    pub(super) site: SiteId,
    /// Its form; `None` until the body says which one of an address that forms share.
    pub(super) form: Option<FormId>,
    /// The site's limits.
    pub(super) quotas: Vec<Quota>,
    /// The published form; `None` when the configuration lost it, or it is not known yet.
    pub(super) published: Option<Published>,
    /// The address that forms share, where it was posted to one.
    pub(super) shared: Option<Shared>,
}

/// An address that forms of a site share.
#[derive(Debug)]
pub(super) struct Shared {
    /// The site.
    pub(super) site: Arc<Site>,
    /// The address.
    pub(super) path: Arc<SharedPath>,
    /// The language where a form leaves it to the visitor.
    pub(super) visitor: Language,
}

/// Who submits, and how the answer is wanted.
#[derive(Debug)]
pub(super) struct Visit {
    /// How the answer is wanted.
    pub(super) ask: Ask,
    /// formd's own origin.
    pub(super) own: Own,
    /// The client.
    pub(super) client: Client,
}

/// A fresh submission key: 128 random bits in hex.
pub(super) fn fresh_key(clock: &Clock) -> String {
    hex(&clock.random::<16>())
}

/// The limits of a site without a file: those of a site that says nothing.
pub(super) fn usual_quotas() -> Vec<Quota> {
    vec![Quota { count: 10, span: Span::from_minutes(10) }, Quota { count: 300, span: Span::from_days(1) }]
}

/// Takes a submission and answers it.
pub(super) async fn submit(
    shared: &super::Shared,
    bounds: &Bounds,
    target: Target,
    visit: Visit,
    request: Request<Incoming>,
) -> Reply {
    let started = Instant::now();
    let is_declared = target.published.is_some() || target.shared.is_some();
    let bounds = Arc::new(if is_declared { bounds.clone() } else { Bounds::default() });
    let hold = Hold::new(&shared.0.values);
    let inner = &shared.0;
    let rate = Rate::Within(None);
    let (connection, signature) = (Connection::Stays, None);
    let mut course = Course { inner, bounds, target, visit, hold, rate, size: 0, connection, signature };
    let answer = course.run(request).await.unwrap_or_else(Answer::Refused);
    tracing::info!(
        site = %course.target.site,
        form = course.target.form.as_ref().map(FormId::as_str),
        bytes = course.size,
        milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        outcome = answer.code(),
        "submission"
    );
    let mut reply = answer.render(&course.visit.ask, &inner.pages);
    course.rate.apply(&mut reply);
    if course.connection == Connection::Ends {
        reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    reply
}

/// Whether another request may follow on the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    /// It may.
    Stays,
    /// The body was not read to its end.
    Ends,
}

/// One submission on its way.
struct Course<'a> {
    /// What every request needs.
    inner: &'a Inner,
    /// The bounds: those in force, or the defaults where the form is gone.
    bounds: Arc<Bounds>,
    /// Where it goes.
    target: Target,
    /// Who sends it.
    visit: Visit,
    /// The memory its values take.
    hold: Hold,
    /// What the charge came to.
    rate: Rate,
    /// Bytes of its body.
    size: u64,
    /// What becomes of the connection.
    connection: Connection,
    /// The signature that the head claims.
    signature: Option<Signature>,
}

/// The body as it is read.
type Stream = Charged<Incoming>;

impl Course<'_> {
    /// The line, from the head to the outcome.
    async fn run(&mut self, request: Request<Incoming>) -> Result<Answer, Problem> {
        let (head, body) = request.into_parts();
        self.signature = signed::claimed(&head.headers);
        let admitted = match self.admit(&head, &body).await {
            Ok(content_type) => header_key(&head.headers).map(|key| (content_type, key)),
            Err(problem) => Err(problem),
        };
        let (content_type, key) = match admitted {
            Ok(admitted) => admitted,
            Err(problem) => {
                self.drain(&head, body).await;
                return Err(problem);
            }
        };
        let most = self.bounds.values.saturating_add(64 * KIB);
        let body = Charged::new(body, self.hold.clone(), most);
        match self.rate {
            Rate::Within(_) => {
                let received = self.read(&content_type, body).await?;
                self.find_form(&received.draft)?;
                self.accept(received, key).await
            }
            Rate::Over { retry_after, .. } => self.repeat(&content_type, body, key, retry_after).await,
        }
    }

    /// Everything that is decided before the body: length, disk, type, rate.
    async fn admit(&mut self, head: &Parts, body: &Incoming) -> Result<ContentType, Problem> {
        let length = body.size_hint().exact();
        if length.is_some_and(|length| length > self.limit()) {
            self.size = length.unwrap_or_default();
            return Err(self.refuse_whole(ProblemKind::TooLarge));
        }
        self.check_disk()?;
        let is_packed = |coding: &HeaderValue| !coding.as_bytes().eq_ignore_ascii_case(b"identity");
        if head.headers.get_all(CONTENT_ENCODING).iter().any(is_packed) {
            // Unpacking what anybody sends is how a small body becomes a large one.
            return Err(Problem::new(ProblemKind::UnsupportedType).detail("send the body without `Content-Encoding`"));
        }
        let mut types = head.headers.get_all(CONTENT_TYPE).iter().map(HeaderValue::as_bytes);
        let header = types.next().unwrap_or_default();
        if types.next().is_some() {
            // Each reader on the way might believe another one.
            return Err(self.refuse_whole(ProblemKind::Malformed).detail("two `Content-Type` headers"));
        }
        let content_type = ContentType::parse(header).map_err(|error| match error {
            ContentTypeError::Unsupported => Problem::new(ProblemKind::UnsupportedType),
            ContentTypeError::BadBoundary => {
                self.refuse_whole(ProblemKind::Malformed).detail("multipart without a boundary of 1 to 70 characters")
            }
        })?;
        let key = self.visit.client.limiter_key(self.target.site.as_str());
        self.rate = Rate::charge(&self.inner.throttle, key, &self.target.quotas, self.inner.clock.now()).await;
        Ok(content_type)
    }

    /// Most bytes of the whole body.
    fn limit(&self) -> u64 {
        let of = |form| limit::body_limit(form, &self.bounds);
        match &self.target.shared {
            Some(shared) => shared.forms().map(|form| of(Some(form))).max().unwrap_or_else(|| of(None)),
            None => of(self.target.published.as_ref().map(|published| published.form.as_ref())),
        }
    }

    /// Refuses while the disk is below its reserve. An unreadable figure passes: the write itself will tell.
    fn check_disk(&self) -> Result<(), Problem> {
        match self.inner.store.directory().free_bytes() {
            Ok(free) if free < self.bounds.disk_reserve => {
                tracing::error!(free, reserve = self.bounds.disk_reserve, "the disk is below its reserve");
                Err(self.refuse_whole(ProblemKind::Unavailable))
            }
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::warn!(%error, "free space could not be read");
                Ok(())
            }
        }
    }

    /// Reads a small rest of a body that nobody wants; a large one, or one the client asked about first, ends the
    /// connection instead, and the socket's lingering close lets the client see the answer.
    async fn drain(&mut self, head: &Parts, mut body: Incoming) {
        let small = body.size_hint().exact().is_some_and(|length| length <= SMALL_REST);
        let whole = async { while body.frame().await.is_some_and(|frame| frame.is_ok()) {} };
        if !small || head.headers.contains_key(EXPECT) || timeout(REST_TIME, whole).await.is_err() {
            self.connection = Connection::Ends;
        }
    }

    /// What the readers of the body need.
    fn context(&self) -> body::Context {
        body::Context {
            bounds: Arc::clone(&self.bounds),
            limit: self.limit(),
            directory: self.inner.store.directory().clone(),
            clock: self.inner.clock.clone(),
        }
    }

    /// Reads the body to its end.
    async fn read<B>(&mut self, content_type: &ContentType, body: B) -> Result<Received, Problem>
    where
        B: Body<Data = bytes::Bytes> + Send + Unpin,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let context = self.context();
        let read = match self.signing() {
            Signing::NotAsked => body::read(content_type, body, &context).await.map_err(SignedError::Body),
            Signing::Missing => Err(SignedError::Forged),
            Signing::Claimed(secret, claimed) => {
                body::read_signed(content_type, body, &context, (secret, claimed)).await
            }
        };
        let problem = match read {
            Ok(received) => {
                self.size = received.size;
                return Ok(received);
            }
            Err(SignedError::Forged) => Problem::new(ProblemKind::Signature),
            Err(SignedError::Body(error)) => self.refuse_body(error),
        };
        self.connection = Connection::Ends;
        Err(problem)
    }

    /// Hands a complete body over and waits for its outcome.
    async fn accept(&self, received: Received, header: Option<SubmitKey>) -> Result<Answer, Problem> {
        let Received { draft, parts, key, size: _ } = received;
        let key = agree(header, key)?;
        let form = self.target.form.clone().ok_or_else(|| Problem::new(ProblemKind::NotFound))?;
        let next = self.next(&draft);
        // A page shows the form again with what was sent; JSON needs no copy of it.
        let shown = (self.visit.ask.format == Format::Page).then(|| draft.clone());
        let arrival = Arrival {
            address: self.target.address.clone(),
            site: self.target.site.clone(),
            form,
            published: self.target.published.clone(),
            key: key.clone(),
            client: self.visit.client.to_string(),
            language: self.visit.ask.texts.language(),
            sent_by: SentBy::Visitor,
            draft,
            parts,
        };
        match self.hand_over(arrival).await? {
            Ok(Outcome::Stored(receipt)) => Ok(accepted(receipt, Novelty::New, next)),
            Ok(Outcome::Repeated(receipt)) => Ok(accepted(receipt, Novelty::Replayed, next)),
            Ok(Outcome::Conflict) => Err(self.conflict(shown)),
            Err(refusal) => Err(self.refuse(refusal, shown, key)),
        }
    }

    /// Where the visitor goes after success.
    fn next(&self, draft: &Draft) -> Option<String> {
        let Published { site, form } = self.target.published.as_ref()?;
        allowed(draft, site, &self.visit.own, self.visit.ask.page.as_deref()).or_else(|| form.success_url.clone())
    }
}

/// A receipt for the visitor.
fn accepted(receipt: ReceiptId, novelty: Novelty, next: Option<String>) -> Answer {
    Answer::Accepted(Accepted { receipt, novelty, next })
}

/// The key in the header. That there is one header at most, the check of the head has seen to.
fn header_key(headers: &HeaderMap) -> Result<Option<SubmitKey>, Problem> {
    let bad = || Problem::new(ProblemKind::BadKey).detail("`Idempotency-Key` is not 1 to 200 visible ASCII characters");
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    SubmitKey::parse(value.to_str().map_err(|_| bad())?).map_err(|_| bad())
}

/// The key of header and field, which must not differ.
fn agree(header: Option<SubmitKey>, field: Option<SubmitKey>) -> Result<Option<SubmitKey>, Problem> {
    match (header, field) {
        (Some(header), Some(field)) if header != field => {
            Err(Problem::new(ProblemKind::BadKey).detail("`Idempotency-Key` and the field `_key` differ"))
        }
        (header, field) => Ok(header.or(field)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Option<SubmitKey> {
        SubmitKey::parse(text).unwrap()
    }

    #[test]
    fn header_and_field_must_not_name_two_keys() {
        assert_eq!(agree(None, None).unwrap(), None);
        assert_eq!(agree(key("a"), None).unwrap(), key("a"));
        assert_eq!(agree(None, key("a")).unwrap(), key("a"));
        assert_eq!(agree(key("\"a\""), key("a")).unwrap(), key("a"));
        assert_eq!(agree(key("a"), key("b")).unwrap_err().kind, ProblemKind::BadKey);
    }

    #[test]
    fn an_empty_header_is_no_key_and_an_unreadable_one_is_refused() {
        let read = |value: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert("idempotency-key", HeaderValue::from_bytes(value).unwrap());
            header_key(&headers).map_err(|problem| problem.kind)
        };
        assert_eq!(header_key(&HeaderMap::new()).unwrap(), None);
        assert_eq!(read(b""), Ok(None));
        assert_eq!(read(b"\"k-1\""), Ok(key("k-1")));
        assert_eq!(read("\u{43a}".as_bytes()), Err(ProblemKind::BadKey));
        assert_eq!(read(b"a b"), Err(ProblemKind::BadKey));
    }
}
