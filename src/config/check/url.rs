//! The addresses that a configuration may name: of webhooks, of a page after success, of the daemon itself, of
//! a form. Each is kept as it was written once it is known to be what it must be.

use std::net::{IpAddr, Ipv6Addr};

use crate::domain::origin::Origin;

/// What is wrong with an address and what to write instead.
pub(super) type Fault = (&'static str, &'static str);

/// A webhook's URL that passed contract 2.9.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WebhookUrl {
    /// As written.
    pub(super) url: String,
    /// Where it leads.
    pub(super) reach: Reach,
}

/// Where a webhook's URL leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// `https` to anywhere; private addresses only where the destination allows them.
    Public,
    /// `http` to a loopback host, which allows that address by itself.
    Loopback,
}

/// Reads a webhook's URL.
pub(super) fn webhook(url: &str) -> Result<WebhookUrl, Fault> {
    let shape = "write `https://HOST/PATH`; `http://` goes to a loopback host only";
    if authority(url).is_some_and(|authority| authority.contains('@')) {
        return Err((
            "the address holds a user name or password",
            "remove it; the receiver checks `X-Formd-Signature` instead",
        ));
    }
    let (Some(origin), true) = (Origin::of_url(url), is_plain(url)) else {
        return Err(("the address is no `https` URL", shape));
    };
    if url.contains('#') {
        return Err(("the address has a part behind `#`, which is never sent", "remove it"));
    }
    if url.contains('`') {
        return Err(("the address holds a backtick, which no client sends", "write it as `%60`"));
    }
    if authority(url).is_some_and(|authority| authority.rsplit(':').next().is_some_and(is_zero)) {
        return Err(("the address names port 0, where nobody listens", "write the port of the receiver, or none"));
    }
    let (scheme, _) = url.split_once("://").unwrap_or_default();
    if scheme.eq_ignore_ascii_case("https") {
        return Ok(WebhookUrl { url: url.to_owned(), reach: Reach::Public });
    }
    let origin = origin.to_string();
    let host = origin.split_once("://").map(|(_, host)| host_of(host)).unwrap_or_default();
    if !is_loopback(host) {
        return Err(("`http://` goes to a loopback host only", "write `https://`"));
    }
    Ok(WebhookUrl { url: url.to_owned(), reach: Reach::Loopback })
}

/// Whether a host is this machine: `localhost`, `127.0.0.0/8`, `::1` (in brackets or not).
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match address {
        Ok(IpAddr::V4(address)) => address.is_loopback(),
        Ok(IpAddr::V6(address)) => address == Ipv6Addr::LOCALHOST,
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

/// Where a browser may go after success: an absolute `http` or `https` URL, or a path that begins with one `/`.
pub(super) fn success(url: &str) -> Option<String> {
    let rooted = url.starts_with('/') && !url.starts_with("//");
    (is_plain(url) && (rooted || Origin::of_url(url).is_some())).then(|| url.to_owned())
}

/// The daemon's own address: an absolute `http` or `https` URL without query; a slash at its end is dropped.
pub(super) fn public(url: &str) -> Option<String> {
    let fits = is_plain(url) && !url.contains(['?', '#']) && Origin::of_url(url).is_some();
    fits.then(|| url.trim_end_matches('/').to_owned())
}

/// A further address of a form, as it stands in a request's first line.
pub(super) fn path(path: &str) -> Result<String, Fault> {
    if !path.starts_with('/') || path.starts_with("//") || path.contains(['?', '#']) || !is_plain(path) {
        let remedy = "begin it with one `/`, write ASCII without blanks, and leave `?` and `#` out";
        return Err(("the path is not what a browser requests", remedy));
    }
    if path.ends_with('/') {
        return Err((
            "the path ends with `/`",
            "leave the `/` at the end out: the form answers with and without it; at `/` itself only a \
             `[[shared_path]]` answers",
        ));
    }
    if path.strip_suffix(".json").is_some() {
        return Err(("the path ends with `.json`", "leave `.json` out: it asks for an answer in JSON"));
    }
    if path.split('/').any(|part| matches!(part, "." | "..")) {
        return Err(("the path has a part `.` or `..`", "write the path that a browser makes of it"));
    }
    // `/f/KEY`, as some form services have it, can be none of formd's own addresses `/f/SITE/FORM`.
    let own = path.strip_prefix("/f/").is_some_and(|rest| rest.contains('/'));
    if own || matches!(path, "/f" | "/formd.js" | "/healthz") {
        return Err(("the path belongs to formd", "choose one that is not `/f/SITE/FORM`, `/formd.js` or `/healthz`"));
    }
    Ok(path.to_owned())
}

/// An address that several forms share: also `/` itself, since pages made by some generators post there.
pub(super) fn shared_path(path: &str) -> Result<String, Fault> {
    if path == "/" { Ok(path.to_owned()) } else { self::path(path) }
}

/// The authority of an absolute URL.
fn authority(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split(['/', '?', '#', '\\']).next()
}

/// Whether a text is the number 0.
fn is_zero(text: &str) -> bool {
    text.parse() == Ok(0)
}

/// The host of an authority: without its port.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Whether a URL has nothing that clients read differently: blanks, controls, backslashes, bytes beyond ASCII.
fn is_plain(url: &str) -> bool {
    url.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'\\' | b'"' | b'<' | b'>'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_https_or_stays_on_this_machine() {
        let reach = |url: &str| webhook(url).map(|hook| hook.reach);
        for url in ["https://crm.example/hooks/forms?x=1", "https://crm.example:8443", "HTTPS://CRM.example/"] {
            assert_eq!(reach(url), Ok(Reach::Public), "{url}");
        }
        for url in ["http://127.0.0.1:9000/x", "http://127.9.9.9", "http://[::1]:9/x", "http://localhost/x"] {
            assert_eq!(reach(url), Ok(Reach::Loopback), "{url}");
        }
        for url in [
            "",
            "crm.example",
            "ftp://crm.example",
            "http://crm.example",
            "http://127.0.0.1.example/",
            "http://localhost.example/",
            "http://[::2]/",
            "https://u:p@crm.example/",
            "http://localhost@crm.example/",
            "https://crm.example/x#y",
            "https://crm.example/x y",
            "https://crm.example/`x",
            "https://crm.example:0/",
            "http://127.0.0.1:0",
            "https://crm.example\\@localhost/",
        ] {
            assert!(reach(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_path_of_another_service_fits_beside_formds_own() {
        for good in ["/f/xyz", "/p/17/f/contact", "/s/abc", "/ajax/you@acme.example", "/v3/entry/a/b", "/submit"] {
            assert!(path(good).is_ok() && shared_path(good).is_ok(), "{good}");
        }
        for bad in ["/f", "/f/acme/quote", "/f/acme/quote/form.json", "/healthz", "/f/", "//x", "/a/../b"] {
            assert!(path(bad).is_err() && shared_path(bad).is_err(), "{bad}");
        }
        assert!(path("/").is_err());
        assert_eq!(shared_path("/").as_deref(), Ok("/"));
    }

    #[test]
    fn a_page_after_success_is_a_url_or_a_rooted_path() {
        for good in ["/danke", "/thanks?x=1#y", "https://acme.example/thanks", "http://acme.example"] {
            assert!(success(good).is_some(), "{good}");
        }
        for bad in ["", "thanks", "//evil.example", "javascript:alert(1)", "/a b", "https://", "/\\evil.example"] {
            assert_eq!(success(bad), None, "{bad}");
        }
    }
}
