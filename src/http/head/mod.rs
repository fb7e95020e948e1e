//! The raw head of a request, judged before the HTTP library sees a byte of it.
//!
//! hyper hides from its handler what request smuggling is made of: a length beside `chunked`, two lengths, two
//! hosts, lines that end in a bare LF. So every head of a connection is read and checked here first
//! (RFC 9112, sections 2.2, 3.2, 5.1, 5.2, 6.1, 6.3), and what could be read in two ways is refused.
//!
//! * [`Scanner`] finds the end of a head while it arrives and stops at the first byte that cannot belong to one.
//! * [`check`] judges a whole head and says how its body is framed.
//! * [`HeadStream`] does both on a socket. In place of a refused head it gives hyper a harmless one with a marker
//!   method, so that the answer stays in order behind those of earlier requests; then it gives nothing more.
//!
//! Pure but for `stream.rs`. Deliberately not done: chunked bodies are not followed (a chunked request is the last
//! of its connection instead), and nothing is repaired: a head is taken as it is or not at all.

mod fault;
mod lines;
mod scan;
mod stream;

pub(super) use fault::{HeadFault, MARKER};
pub(super) use stream::{HeadStream, Times};

use scan::{Scan, Scanner};

use crate::domain::bounds::Bounds;

/// How large a head may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Bytes from the request line to the empty line.
    pub(super) bytes: usize,
    /// Header lines.
    pub(super) lines: usize,
}

impl Limits {
    /// `[limits] head` and `headers`.
    pub(super) fn of(bounds: &Bounds) -> Self {
        Self {
            bytes: usize::try_from(bounds.head).unwrap_or(usize::MAX),
            lines: usize::try_from(bounds.headers).unwrap_or(usize::MAX),
        }
    }
}

/// How the body behind a head is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// So many bytes; none without a length.
    Length(u64),
    /// Chunks.
    Chunked,
}

/// Judges one whole head, the empty line included.
pub(super) fn check(head: &[u8], limits: Limits) -> Result<Framing, HeadFault> {
    match Scanner::default().advance(head, limits) {
        Scan::Complete(length) if length == head.len() => lines::judge(head),
        Scan::Complete(_) | Scan::More => Err(HeadFault::RequestLine),
        Scan::Fault(fault) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The contract's defaults.
    const LIMITS: Limits = Limits { bytes: 16 * 1024, lines: 64 };
    /// What every probe carries.
    const USUAL: &str = "Host: a.test\r\nIdempotency-Key: k\r\n";

    fn post(headers: &str) -> Result<Framing, HeadFault> {
        check(format!("POST /f HTTP/1.1\r\n{USUAL}{headers}\r\n").as_bytes(), LIMITS)
    }

    #[test]
    fn a_plain_head_passes_and_says_how_its_body_is_framed() {
        assert_eq!(post("Content-Length: 3\r\n"), Ok(Framing::Length(3)));
        assert_eq!(post("content-length:\t3 \r\n"), Ok(Framing::Length(3)));
        assert_eq!(post("Transfer-Encoding: Chunked\r\n"), Ok(Framing::Chunked));
        assert_eq!(post(""), Ok(Framing::Length(0)));
        assert_eq!(post("Expect: 100-continue\r\nContent-Length: 3\r\n"), Ok(Framing::Length(3)));
        assert_eq!(post("Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n"), Ok(Framing::Length(3)));
        assert_eq!(post("X: \u{442}\u{435}\u{441}\u{442}\r\n"), Ok(Framing::Length(0)));
        assert_eq!(check(b"GET / HTTP/1.0\r\n\r\n", LIMITS), Ok(Framing::Length(0)));
        assert_eq!(check(b"GET http://a.test/f HTTP/1.1\r\nHost: A.test\r\n\r\n", LIMITS), Ok(Framing::Length(0)));
    }

    #[test]
    fn a_head_that_can_be_read_in_two_ways_is_refused() {
        for (headers, fault) in [
            ("Content-Length: 3\r\nContent-Length: 3\r\n", HeadFault::Length),
            ("Content-Length: 3\r\nContent-Length: 4\r\n", HeadFault::Length),
            ("Content-Length: 3, 3\r\n", HeadFault::Length),
            ("Content-Length: +3\r\n", HeadFault::Length),
            ("Content-Length: -1\r\n", HeadFault::Length),
            ("Content-Length:\r\n", HeadFault::Length),
            ("Content-Length: 0x3\r\n", HeadFault::Length),
            ("Content-Length: 99999999999999999999999\r\n", HeadFault::Length),
            ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", HeadFault::LengthAndEncoding),
            ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", HeadFault::LengthAndEncoding),
            ("Transfer-Encoding: xchunked\r\n", HeadFault::UnknownEncoding),
            ("Transfer-Encoding: chunked, identity\r\n", HeadFault::UnknownEncoding),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", HeadFault::Encoding),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", HeadFault::Encoding),
            ("Transfer-Encoding : chunked\r\n", HeadFault::HeaderName),
            ("Content-Length : 3\r\n", HeadFault::HeaderName),
            (": x\r\n", HeadFault::HeaderName),
            ("no colon\r\n", HeadFault::HeaderName),
            ("X(y): z\r\n", HeadFault::HeaderName),
            ("X: a\r\n b\r\nContent-Length: 3\r\n", HeadFault::Folded),
            ("X: a\r\n\tb\r\n", HeadFault::Folded),
            ("X: a\0b\r\n", HeadFault::ControlByte),
            ("X: a\x7fb\r\n", HeadFault::ControlByte),
            ("X: a\x0bb\r\n", HeadFault::ControlByte),
            ("X: a\rb\r\n", HeadFault::LineEnd),
            ("X: a\nY: b\r\n", HeadFault::LineEnd),
            ("Host: b.test\r\n", HeadFault::Host),
            ("Host: a.test\r\n", HeadFault::Host),
            ("Idempotency-Key: other\r\n", HeadFault::TwoKeys),
            ("idempotency-key: k\r\n", HeadFault::TwoKeys),
        ] {
            assert_eq!(post(headers), Err(fault), "{headers:?}");
        }
    }

    #[test]
    fn a_request_line_is_three_words_of_http_1_for_this_host() {
        for (head, fault) in [
            ("POST /f HTTP/1.1\r\n\r\n", HeadFault::Host),
            ("POST /f HTTP/1.1\r\nHost:\r\n\r\n", HeadFault::Host),
            ("POST /f HTTP/1.1\r\nHost: a b\r\n\r\n", HeadFault::Host),
            ("POST /f HTTP/1.1\r\nHost: a@b\r\n\r\n", HeadFault::Host),
            ("POST http://b.test/f HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadFault::HostDiffers),
            ("CONNECT b.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n", HeadFault::HostDiffers),
            ("POST /f HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", HeadFault::Encoding),
            ("POST /f HTTP/1.1\nHost: a.test\n\n", HeadFault::LineEnd),
            ("PRI * HTTP/2.0\r\n\r\n", HeadFault::Version),
            ("GET /f\r\n\r\n", HeadFault::RequestLine),
            ("GET  /f HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::RequestLine),
            ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::RequestLine),
            ("GE(T /f HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::RequestLine),
            ("GET f HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::RequestLine),
            (" GET /f HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::RequestLine),
            ("GET /f HTTP/1.1 \r\nHost: a\r\n\r\n", HeadFault::RequestLine),
            ("GET /f HTTP/1.11\r\nHost: a\r\n\r\n", HeadFault::Version),
            ("\r\n", HeadFault::RequestLine),
            ("FORMD-REFUSED /host HTTP/1.1\r\nHost: a\r\n\r\n", HeadFault::RequestLine),
        ] {
            assert_eq!(check(head.as_bytes(), LIMITS), Err(fault), "{head:?}");
        }
    }

    #[test]
    fn a_head_beyond_its_bounds_is_refused_at_the_byte_that_exceeds_them() {
        let many = |n: usize| "X: a\r\n".repeat(n);
        assert_eq!(post(&many(62)), Ok(Framing::Length(0)));
        assert_eq!(post(&many(63)), Err(HeadFault::TooMany));
        assert_eq!(post(&format!("X: {}\r\n", "a".repeat(102_400))), Err(HeadFault::TooLong));
        let empty = format!("POST /f HTTP/1.1\r\n{USUAL}X: \r\n\r\n").len();
        assert_eq!(post(&format!("X: {}\r\n", "a".repeat(LIMITS.bytes - empty))), Ok(Framing::Length(0)));
        assert_eq!(post(&format!("X: {}\r\n", "a".repeat(LIMITS.bytes - empty + 1))), Err(HeadFault::TooLong));
    }

    /// Bytes that look enough like a head to reach every branch.
    fn headlike() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"POST /f HTTP/1.1\r\n".to_vec()),
            Just(b"Host: a\r\n".to_vec()),
            Just(b"Content-Length: 3\r\n".to_vec()),
            Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
            Just(b"\r\n".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..12),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_byte_string_makes_the_check_panic(bytes in headlike()) {
            for limits in [LIMITS, Limits { bytes: 64, lines: 3 }] {
                prop_assert!(check(&bytes, limits).is_err() || bytes.ends_with(b"\r\n\r\n"));
            }
        }

        #[test]
        fn the_verdict_does_not_depend_on_how_the_bytes_arrive(bytes in headlike(), step in 1usize..9) {
            let limits = Limits { bytes: 64, lines: 3 };
            let whole = Scanner::default().advance(&bytes, limits);
            let mut scanner = Scanner::default();
            let mut pieces = Scan::More;
            let mut end = 0;
            while pieces == Scan::More && end < bytes.len() {
                end = (end + step).min(bytes.len());
                pieces = scanner.advance(&bytes[..end], limits);
            }
            prop_assert_eq!(pieces, whole);
        }
    }
}
