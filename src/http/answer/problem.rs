//! Why a request got no receipt: the status and the stable code of each refusal.

use hyper::StatusCode;

use crate::domain::text::{Notice, Texts};

/// Why a request got no receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum ProblemKind {
    /// The request breaks HTTP.
    BadRequest,
    /// The body cannot be read.
    Malformed,
    /// The submission key is none, or there are two.
    BadKey,
    /// Not signed, or signed by somebody else.
    Signature,
    /// Sent from a page of another site.
    OriginRefused,
    /// Site or form is closed.
    Closed,
    /// No such address.
    NotFound,
    /// GET where only POST helps.
    MethodNotAllowed,
    /// Too slow.
    TooSlow,
    /// The key belongs to another content.
    KeyConflict,
    /// More bytes than the form takes.
    TooLarge,
    /// More fields, parts or longer values than any form takes.
    TooMuch,
    /// Only files are too large for their fields.
    FilesTooLarge,
    /// Not one of the three content types.
    UnsupportedType,
    /// Fields are at fault.
    Invalid,
    /// Too many requests.
    RateLimited,
    /// The head is too large.
    HeadTooLarge,
    /// A mistake in formd.
    Internal,
    /// Not now.
    Unavailable,
}

impl ProblemKind {
    /// Its status and its stable code.
    fn facts(self) -> (StatusCode, &'static str) {
        match self {
            Self::BadRequest => (StatusCode::BAD_REQUEST, "bad_request"),
            Self::Malformed => (StatusCode::BAD_REQUEST, "malformed"),
            Self::BadKey => (StatusCode::BAD_REQUEST, "bad_key"),
            Self::Signature => (StatusCode::UNAUTHORIZED, "signature"),
            Self::OriginRefused => (StatusCode::FORBIDDEN, "origin_refused"),
            Self::Closed => (StatusCode::FORBIDDEN, "form_closed"),
            Self::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
            Self::TooSlow => (StatusCode::REQUEST_TIMEOUT, "too_slow"),
            Self::KeyConflict => (StatusCode::CONFLICT, "key_conflict"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            Self::TooMuch => (StatusCode::PAYLOAD_TOO_LARGE, "too_much"),
            Self::FilesTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "files_too_large"),
            Self::UnsupportedType => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_type"),
            Self::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            Self::RateLimited => (StatusCode::TOO_MANY_REQUESTS, "rate_limited"),
            Self::HeadTooLarge => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "header_too_large"),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "server_error"),
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        }
    }

    /// The status of the answer.
    pub(in crate::http) fn status(self) -> StatusCode {
        self.facts().0
    }

    /// The stable code, in answers and in the log.
    pub(in crate::http) fn code(self) -> &'static str {
        self.facts().1
    }

    /// What it says to a visitor.
    pub(in crate::http) fn notice(self, texts: &Texts) -> Notice<'_> {
        match self {
            Self::BadRequest => texts.bad_request(),
            Self::Malformed => texts.malformed(),
            Self::BadKey => texts.bad_key(),
            Self::Signature => texts.signature(),
            Self::OriginRefused => texts.origin_refused(),
            Self::Closed => texts.form_closed(),
            Self::NotFound => texts.not_found(),
            Self::MethodNotAllowed => texts.method_not_allowed(),
            Self::TooSlow => texts.too_slow(),
            Self::KeyConflict => texts.key_conflict(),
            Self::TooLarge => texts.too_large(),
            Self::TooMuch => texts.too_much(),
            Self::FilesTooLarge => texts.files_too_large(),
            Self::UnsupportedType => texts.unsupported_type(),
            Self::Invalid => texts.invalid(),
            Self::RateLimited => texts.rate_limited(),
            Self::HeadTooLarge => texts.header_too_large(),
            Self::Internal => texts.server_error(),
            Self::Unavailable => texts.unavailable(),
        }
    }
}
