//! Which pages may send a form, and which may read the answer.
//!
//! The `Origin` header is the browser's word about the page behind a request. A site that lists its origins takes a
//! post from no other; a request without the header, or with `null`, comes from nobody in particular (a privacy
//! browser, curl) and passes unless the site is strict. formd's own pages always pass. Credentials are never part
//! of an answer, so reading it gives a foreign page nothing it could not have sent itself.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HOST, HeaderValue, ORIGIN,
    VARY,
};
use hyper::{HeaderMap, StatusCode};

use super::server::Reply;
use crate::domain::form::Site;
use crate::domain::origin::Origin;

/// What a front-end may read beside the usual headers.
const EXPOSED: &str = "Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Idempotent-Replayed";

/// formd's own origin.
#[derive(Clone, Debug)]
pub(super) enum Own {
    /// That of `public_url`.
    Public(Origin),
    /// Made of `Host`, under either scheme: the one in front may have ended TLS.
    Host(Option<String>),
}

impl Own {
    /// From the configuration, else from the request.
    pub(super) fn of(public_url: Option<&str>, headers: &HeaderMap) -> Self {
        match public_url.and_then(Origin::of_url) {
            Some(origin) => Self::Public(origin),
            None => Self::Host(headers.get(HOST).and_then(|host| host.to_str().ok()).map(str::to_owned)),
        }
    }

    /// Whether `origin` is formd's own.
    pub(super) fn is(&self, origin: &Origin) -> bool {
        match self {
            Self::Public(own) => own == origin,
            Self::Host(None) => false,
            Self::Host(Some(host)) => ["http", "https"]
                .iter()
                .any(|scheme| Origin::parse(&format!("{scheme}://{host}")).as_ref() == Some(origin)),
        }
    }
}

/// Whether a request's origin may post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provenance {
    /// It may.
    Welcome,
    /// It may not: 403.
    Foreign,
}

/// The page behind a request.
enum Sender {
    /// Nobody in particular.
    Unknown,
    /// This origin.
    Known(Origin),
    /// Something that is no web origin, such as an extension.
    Strange,
}

impl Sender {
    /// From the `Origin` header.
    fn of(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(ORIGIN).iter();
        match (values.next(), values.next()) {
            (None, _) => Self::Unknown,
            (Some(value), None) if value == "null" => Self::Unknown,
            (Some(value), None) => value.to_str().ok().and_then(Origin::parse).map_or(Self::Strange, Self::Known),
            (Some(_), Some(_)) => Self::Strange,
        }
    }
}

/// Judges the `Origin` of a post.
pub(super) fn judge(site: &Site, own: &Own, headers: &HeaderMap) -> Provenance {
    let welcome = match Sender::of(headers) {
        Sender::Unknown => !site.origins_strict,
        Sender::Known(origin) => site.origins.is_empty() || own.is(&origin) || is_listed(site, &origin),
        Sender::Strange => site.origins.is_empty(),
    };
    if welcome { Provenance::Welcome } else { Provenance::Foreign }
}

/// Whether the site lists the origin.
pub(super) fn is_listed(site: &Site, origin: &Origin) -> bool {
    site.origins.iter().any(|pattern| pattern.matches(origin))
}

/// Who may read an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cors {
    /// Any page.
    Any,
    /// This one: the site lists its origins.
    One(HeaderValue),
    /// None: the site lists its origins, and this is none of them.
    Nobody,
}

impl Cors {
    /// For an answer of `site`; `None`: no such site is known.
    pub(super) fn of(site: Option<&Site>, own: &Own, headers: &HeaderMap) -> Self {
        let Some(site) = site.filter(|site| !site.origins.is_empty()) else { return Self::Any };
        match (Sender::of(headers), headers.get(ORIGIN)) {
            (Sender::Known(origin), Some(value)) if own.is(&origin) || is_listed(site, &origin) => {
                Self::One(value.clone())
            }
            _ => Self::Nobody,
        }
    }

    /// Puts its headers on an answer.
    pub(super) fn apply(&self, reply: &mut Reply) {
        let headers = reply.headers_mut();
        match self {
            Self::Any => drop(headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))),
            Self::One(origin) => drop(headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone())),
            Self::Nobody => {}
        }
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
        headers.append(VARY, HeaderValue::from_static("Origin"));
    }
}

/// The answer to a preflight: the headers asked for are allowed, whatever they are, since none changes what a form
/// post can do.
pub(super) fn preflight(request: &HeaderMap) -> Reply {
    let mut reply = Reply::default();
    *reply.status_mut() = StatusCode::NO_CONTENT;
    let headers = reply.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, HEAD, OPTIONS"));
    if let Some(asked) = request.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    headers.append(VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::fixture::site;

    fn headers(origin: Option<&str>) -> HeaderMap {
        let mut map = HeaderMap::new();
        map.insert(HOST, HeaderValue::from_static("forms.example"));
        if let Some(origin) = origin {
            map.insert(ORIGIN, origin.parse().unwrap());
        }
        map
    }

    #[test]
    fn a_listed_page_or_our_own_may_post_and_a_foreign_one_may_not() {
        let listed = site(&["https://acme.example", "https://*.acme.example"]);
        let own = |headers: &HeaderMap| Own::of(None, headers);
        for (origin, expected) in [
            (None, Provenance::Welcome),
            (Some("null"), Provenance::Welcome),
            (Some("https://acme.example"), Provenance::Welcome),
            (Some("https://www.acme.example"), Provenance::Welcome),
            (Some("https://forms.example"), Provenance::Welcome),
            (Some("http://forms.example"), Provenance::Welcome),
            (Some("http://acme.example"), Provenance::Foreign),
            (Some("https://acme.example:8443"), Provenance::Foreign),
            (Some("https://acme.example.evil.example"), Provenance::Foreign),
            (Some("chrome-extension://abc"), Provenance::Foreign),
            (Some(""), Provenance::Foreign),
        ] {
            let headers = headers(origin);
            assert_eq!(judge(&listed, &own(&headers), &headers), expected, "{origin:?}");
        }
        let any = headers(Some("https://elsewhere.example"));
        assert_eq!(judge(&site(&[]), &own(&any), &any), Provenance::Welcome);
        let mut strict = site(&["https://acme.example"]);
        strict.origins_strict = true;
        for origin in [None, Some("null")] {
            let headers = headers(origin);
            assert_eq!(judge(&strict, &own(&headers), &headers), Provenance::Foreign, "{origin:?}");
        }
    }

    #[test]
    fn with_a_public_url_the_host_header_gives_nobody_a_right() {
        let headers = headers(Some("https://forms.example"));
        let own = Own::of(Some("https://forms.acme.example/base"), &headers);
        assert_eq!(judge(&site(&["https://acme.example"]), &own, &headers), Provenance::Foreign);
    }

    #[test]
    fn only_a_page_that_may_post_may_read_the_answer() {
        let listed = site(&["https://acme.example"]);
        let cors = |site: Option<&Site>, origin| {
            let headers = headers(origin);
            Cors::of(site, &Own::of(None, &headers), &headers)
        };
        assert_eq!(cors(None, Some("https://x.example")), Cors::Any);
        assert_eq!(cors(Some(&site(&[])), Some("https://x.example")), Cors::Any);
        assert_eq!(
            cors(Some(&listed), Some("https://acme.example")),
            Cors::One(HeaderValue::from_static("https://acme.example"))
        );
        assert_eq!(cors(Some(&listed), Some("https://x.example")), Cors::Nobody);
        assert_eq!(cors(Some(&listed), None), Cors::Nobody);
    }

    #[test]
    fn a_preflight_allows_what_it_is_asked_for() {
        let mut headers = headers(Some("https://acme.example"));
        headers.insert(ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static("idempotency-key, x-own"));
        let reply = preflight(&headers);
        assert_eq!(reply.status(), StatusCode::NO_CONTENT);
        assert_eq!(reply.headers()[ACCESS_CONTROL_ALLOW_HEADERS], "idempotency-key, x-own");
    }
}
