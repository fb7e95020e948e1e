//! Texts of refusals that concern a whole request: the title and detail of a problem answer or an error page.

/// What a page or a problem answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// A few words: the page's heading, the problem's `title`.
    pub title: &'static str,
    /// One or two sentences that say what to do: the problem's `detail`.
    pub detail: &'static str,
}

/// One for each refusal. The names are those of the `code` members, where one exists.
#[derive(Debug)]
pub struct Notices {
    /// 422: fields are at fault.
    pub invalid: Notice,
    /// 413: only files are too large; the fields say which.
    pub files_too_large: Notice,
    /// 403: site or form is closed.
    pub form_closed: Notice,
    /// 401: the body is not signed, or not by whom it must be.
    pub signature: Notice,
    /// 403: the page's origin may not post here.
    pub origin_refused: Notice,
    /// 404: no such address.
    pub not_found: Notice,
    /// 405: a form is sent with POST.
    pub method_not_allowed: Notice,
    /// 400: the body cannot be read.
    pub malformed: Notice,
    /// 400: the request itself breaks HTTP.
    pub bad_request: Notice,
    /// 400: two submission keys, or none that can be one.
    pub bad_key: Notice,
    /// 409: the key was used for another message.
    pub key_conflict: Notice,
    /// 413: more bytes than the form takes.
    pub too_large: Notice,
    /// 413: more fields, parts or longer values than any form takes.
    pub too_much: Notice,
    /// 415: not one of the three types of body.
    pub unsupported_type: Notice,
    /// 429: too many from this address.
    pub rate_limited: Notice,
    /// 408: the body came too slowly.
    pub too_slow: Notice,
    /// 503: busy, or the disk is full.
    pub unavailable: Notice,
    /// 500: a fault of the program.
    pub server_error: Notice,
    /// 431: the head of the request is too large.
    pub header_too_large: Notice,
}
