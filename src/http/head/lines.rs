//! Judges the lines of a head that [`super::Scanner`] found whole: every line ends in CR LF, none is folded, no
//! control byte but a tab is inside.

use hyper::Uri;
use hyper::http::uri::Authority;

use super::{Framing, HeadFault, MARKER};

/// What the headers that matter for framing said so far.
#[derive(Default)]
struct Facts<'a> {
    /// `Host`.
    host: Option<&'a str>,
    /// `Content-Length`.
    length: Option<u64>,
    /// `Transfer-Encoding` was `chunked`.
    chunked: Option<Chunked>,
    /// `Idempotency-Key`.
    key: Option<&'a [u8]>,
}

/// The only transfer coding.
struct Chunked;

/// The two versions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// Judges a whole head.
pub(super) fn judge(head: &[u8]) -> Result<Framing, HeadFault> {
    let mut lines = head.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let (target, version) = request_line(lines.next().unwrap_or_default())?;
    let mut facts = Facts::default();
    for line in lines.take_while(|line| !line.is_empty()) {
        facts.add(line)?;
    }
    match (facts.host, version) {
        (None, Version::Http11) => return Err(HeadFault::Host),
        (host, _) => check_authority(&target, host)?,
    }
    match (facts.length, facts.chunked) {
        (Some(_), Some(Chunked)) => Err(HeadFault::LengthAndEncoding),
        (None, Some(Chunked)) if version == Version::Http10 => Err(HeadFault::Encoding),
        (None, Some(Chunked)) => Ok(Framing::Chunked),
        (length, None) => Ok(Framing::Length(length.unwrap_or(0))),
    }
}

/// `METHOD target HTTP/1.x`, each parted by one blank.
fn request_line(line: &[u8]) -> Result<(Uri, Version), HeadFault> {
    let mut words = line.split(|&byte| byte == b' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(HeadFault::RequestLine);
    };
    let version = match version {
        b"HTTP/1.1" => Version::Http11,
        b"HTTP/1.0" => Version::Http10,
        other if other.starts_with(b"HTTP/") => return Err(HeadFault::Version),
        _ => return Err(HeadFault::RequestLine),
    };
    if !is_token(method) || method == MARKER.as_bytes() || !target.iter().all(u8::is_ascii_graphic) {
        return Err(HeadFault::RequestLine);
    }
    let target = Uri::try_from(target).map_err(|_| HeadFault::RequestLine)?;
    // `GET f` parses as an authority; only CONNECT may have one, and its port tells it from a forgotten slash.
    let bare = target.scheme().is_none() && target.authority().is_some_and(|host| host.port().is_none());
    if bare { Err(HeadFault::RequestLine) } else { Ok((target, version)) }
}

impl<'a> Facts<'a> {
    /// Takes one header line.
    fn add(&mut self, line: &'a [u8]) -> Result<(), HeadFault> {
        let colon = line.iter().position(|&byte| byte == b':').ok_or(HeadFault::HeaderName)?;
        let (name, value) = line.split_at_checked(colon).ok_or(HeadFault::HeaderName)?;
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        if !is_token(name) {
            return Err(HeadFault::HeaderName);
        }
        if name.eq_ignore_ascii_case(b"host") {
            once(&mut self.host, host(value).ok_or(HeadFault::Host)?, HeadFault::Host)
        } else if name.eq_ignore_ascii_case(b"content-length") {
            once(&mut self.length, number(value).ok_or(HeadFault::Length)?, HeadFault::Length)
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            // The second one is refused as such, whatever it says.
            match (&self.chunked, value.eq_ignore_ascii_case(b"chunked")) {
                (Some(Chunked), _) => Err(HeadFault::Encoding),
                (None, false) => Err(HeadFault::UnknownEncoding),
                (None, true) => once(&mut self.chunked, Chunked, HeadFault::Encoding),
            }
        } else if name.eq_ignore_ascii_case(b"idempotency-key") {
            once(&mut self.key, value, HeadFault::TwoKeys)
        } else {
            Ok(())
        }
    }
}

/// Fills `place`, which must be empty.
fn once<T>(place: &mut Option<T>, value: T, fault: HeadFault) -> Result<(), HeadFault> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(fault),
    }
}

/// The host and port of an absolute target must be those of `Host` (RFC 9112, 3.2.2 lets us route by the target;
/// refusing is the answer that no proxy in front can understand otherwise).
fn check_authority(target: &Uri, host: Option<&str>) -> Result<(), HeadFault> {
    match (target.authority(), host) {
        (Some(authority), Some(host)) if !authority.as_str().eq_ignore_ascii_case(host) => Err(HeadFault::HostDiffers),
        _ => Ok(()),
    }
}

/// A `Host`: a host and perhaps a port, without a user name.
fn host(value: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(value).ok()?;
    let authority: Authority = text.parse().ok()?;
    (!authority.host().is_empty() && !text.contains('@')).then_some(text)
}

/// Digits and nothing else, within 64 bits.
fn number(value: &[u8]) -> Option<u64> {
    let digits = value.iter().all(u8::is_ascii_digit);
    digits.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}

/// RFC 9110, 5.6.2.
fn is_token(name: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !name.is_empty() && name.iter().all(fits)
}
