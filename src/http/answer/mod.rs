//! What a client is told: one outcome, written as JSON or as a page.
//!
//! * JSON or page is decided by [`format::choose`], the shape of JSON by the form ([`shape`]), the texts by the visitor's language.
//! * A refusal is RFC 9457 `application/problem+json` with the members that existing front-ends read, or a page; where
//!   there is something to mend, the page is the form again with everything the visitor wrote.
//! * No answer sets a cookie; answers to a post are `no-store`.
//! * An answer holds nothing internal: a mistake of ours is a number that stands in the log as well.

mod format;
mod next;
mod page;
mod problem;
mod shape;

pub(super) use format::{Format, Suffix, choose};
pub(super) use next::{allowed, encode, page_of};
pub(super) use page::hosted_form;
pub(super) use problem::ProblemKind;

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, REFERRER_POLICY,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, StatusCode};

use super::cors::Cors;
use super::server::Reply;
use crate::domain::draft::Draft;
use crate::domain::form::Form;
use crate::domain::ids::ReceiptId;
use crate::domain::response::Response;
use crate::domain::text::Texts;
use crate::domain::time::Span;
use crate::domain::validate::RenderedError;
use crate::pages::{Button, Page, Pages};

/// How a request wants to be answered.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    /// JSON or page.
    pub(super) format: Format,
    /// The visitor's language, in the site's words.
    pub(super) texts: Texts,
    /// The shape for programs.
    pub(super) response: Response,
    /// The page it comes from, where that is one of the site or ours.
    pub(super) page: Option<String>,
    /// Who may read it.
    pub(super) cors: Cors,
}

/// An outcome.
#[derive(Debug)]
pub(super) enum Answer {
    /// There is a receipt.
    Accepted(Accepted),
    /// There is none.
    Refused(Problem),
}

/// A receipt for the visitor.
#[derive(Debug)]
pub(super) struct Accepted {
    /// The receipt.
    pub(super) receipt: ReceiptId,
    /// Whether it was given before.
    pub(super) novelty: Novelty,
    /// Where the visitor goes now: the allowed wish, else the form's `success_url`.
    pub(super) next: Option<String>,
}

/// Whether a receipt was given before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    /// Just now.
    New,
    /// Before: `Idempotent-Replayed`.
    Replayed,
}

/// A refusal.
#[derive(Debug)]
pub(super) struct Problem {
    /// Why.
    pub(super) kind: ProblemKind,
    /// What exactly, for the author of the request; in English.
    pub(super) detail: Option<&'static str>,
    /// More for the visitor, in the visitor's language.
    pub(super) more: Vec<String>,
    /// The faults at fields.
    pub(super) messages: Vec<RenderedError>,
    /// When to come again.
    pub(super) retry_after: Option<Span>,
    /// The methods that would be right.
    pub(super) allow: Option<&'static str>,
    /// The form to show again.
    pub(super) again: Option<Box<FormAgain>>,
}

/// A form that is shown again with what was sent.
#[derive(Debug)]
pub(super) struct FormAgain {
    /// The form.
    pub(super) form: Arc<Form>,
    /// Its key.
    pub(super) key: String,
    /// What was sent.
    pub(super) draft: Draft,
    /// The wish for a next page, when it is allowed.
    pub(super) next: Option<String>,
    /// What its button does.
    pub(super) button: Button,
}

impl Problem {
    /// A refusal that needs no more words.
    pub(super) fn new(kind: ProblemKind) -> Self {
        Self { kind, detail: None, more: Vec::new(), messages: Vec::new(), retry_after: None, allow: None, again: None }
    }

    /// Says what exactly is wrong.
    #[must_use]
    pub(super) fn detail(mut self, detail: &'static str) -> Self {
        self.detail = Some(detail);
        self
    }

    /// Says when to come again.
    #[must_use]
    pub(super) fn retry_after(mut self, span: Span) -> Self {
        self.retry_after = Some(span);
        self
    }

    /// Says which methods would be right.
    #[must_use]
    pub(super) fn allow(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    /// Says more to the visitor.
    #[must_use]
    pub(super) fn say(mut self, line: String) -> Self {
        self.more.push(line);
        self
    }
}

impl From<Problem> for Answer {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

impl Answer {
    /// The outcome's word in the log.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Accepted(Accepted { novelty: Novelty::New, .. }) => "stored",
            Self::Accepted(Accepted { novelty: Novelty::Replayed, .. }) => "repeated",
            Self::Refused(problem) => problem.kind.code(),
        }
    }

    /// Writes it.
    pub(super) fn render(&self, ask: &Ask, pages: &Pages) -> Reply {
        let mut reply = match (self, ask.format) {
            (Self::Accepted(accepted), Format::Json) => shape::accepted(accepted, &ask.texts, &ask.response),
            (Self::Accepted(accepted), Format::Page) => page::accepted(accepted, ask, pages),
            (Self::Refused(problem), Format::Json) => shape::refused(problem, &ask.texts, &ask.response),
            (Self::Refused(problem), Format::Page) => page::refused(problem, &ask.texts, pages),
        };
        let headers = reply.headers_mut();
        match self {
            Self::Accepted(accepted) if accepted.novelty == Novelty::Replayed => {
                headers.insert(HeaderName::from_static("idempotent-replayed"), HeaderValue::from_static("true"));
            }
            Self::Accepted(_) => {}
            Self::Refused(problem) => problem_headers(problem, headers),
        }
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.append(VARY, HeaderValue::from_static("Accept, Accept-Language"));
        finish(reply, &ask.cors)
    }
}

/// `Retry-After`, `Allow` and the challenge of a 401.
fn problem_headers(problem: &Problem, headers: &mut HeaderMap) {
    if let Some(span) = problem.retry_after {
        headers.insert(RETRY_AFTER, HeaderValue::from(span.as_secs_ceil().max(1)));
    }
    if let Some(methods) = problem.allow {
        headers.insert(ALLOW, HeaderValue::from_static(methods));
    }
    if problem.kind == ProblemKind::Signature {
        // Some clients take a 401 without a challenge for a broken answer (RFC 9110, 15.5.2).
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("X-Form-Signature"));
    }
}

/// What every answer carries.
pub(super) fn finish(mut reply: Reply, cors: &Cors) -> Reply {
    cors.apply(&mut reply);
    let headers = reply.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Not `no-referrer`: with that, browsers send `Origin: null` from our own pages, and a strict site refuses it.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    reply
}

/// An answer of a status, a type and a body.
pub(super) fn reply(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Reply {
    let mut reply = Reply::new(Full::new(body.into()));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

/// A page with its policy.
fn page_reply(status: StatusCode, page: Page) -> Reply {
    let mut reply = reply(status, "text/html; charset=utf-8", page.html);
    // A policy is made of hashes and origins, all of them visible ASCII; one that is not forbids everything.
    let policy = HeaderValue::from_str(&page.policy);
    let policy = policy.unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"));
    reply.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    reply
}

/// `303 See Other`; `None` when the address does not fit a header.
fn see_other(url: &str) -> Option<Reply> {
    let location = HeaderValue::from_str(&encode(url)?).ok()?;
    let mut reply = reply(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    reply.headers_mut().insert(LOCATION, location);
    Some(reply)
}

#[cfg(test)]
mod tests;
