//! Why a head is refused.

use crate::http::answer::ProblemKind;

/// The method of the harmless head that stands in for a refused one. [`super::check`] refuses it from a client.
pub(in crate::http) const MARKER: &str = "FORMD-REFUSED";

/// What is wrong with a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum HeadFault {
    /// More bytes than allowed.
    TooLong,
    /// More header lines than allowed.
    TooMany,
    /// Not complete in time.
    TooSlow,
    /// A line that ends in a bare LF, or a CR inside a line.
    LineEnd,
    /// A header continued on the next line.
    Folded,
    /// NUL or another control byte.
    ControlByte,
    /// Not `METHOD target HTTP/1.x`.
    RequestLine,
    /// Neither HTTP/1.1 nor HTTP/1.0; HTTP/2 without a proxy, too.
    Version,
    /// A header without a colon, or whose name is no token, or with a blank before the colon.
    HeaderName,
    /// No `Host`, two of them, or one that is no host.
    Host,
    /// An absolute target for another host than `Host` says.
    HostDiffers,
    /// A `Content-Length` that is not one number, or stands twice.
    Length,
    /// `Content-Length` and `Transfer-Encoding` together.
    LengthAndEncoding,
    /// `Transfer-Encoding` twice, or on HTTP/1.0.
    Encoding,
    /// A transfer coding other than `chunked`.
    UnknownEncoding,
    /// Two `Idempotency-Key` headers.
    TwoKeys,
}

impl HeadFault {
    /// Every fault, for the way through the marker head.
    const ALL: [Self; 16] = [
        Self::TooLong,
        Self::TooMany,
        Self::TooSlow,
        Self::LineEnd,
        Self::Folded,
        Self::ControlByte,
        Self::RequestLine,
        Self::Version,
        Self::HeaderName,
        Self::Host,
        Self::HostDiffers,
        Self::Length,
        Self::LengthAndEncoding,
        Self::Encoding,
        Self::UnknownEncoding,
        Self::TwoKeys,
    ];

    /// The fault in the path of a marker head.
    pub(in crate::http) fn from_path(path: &str) -> Option<Self> {
        let word = path.strip_prefix('/')?;
        Self::ALL.into_iter().find(|fault| fault.word() == word)
    }

    /// Its word in the path of a marker head and in the log.
    pub(in crate::http) fn word(self) -> &'static str {
        match self {
            Self::TooLong => "too-long",
            Self::TooMany => "too-many",
            Self::TooSlow => "too-slow",
            Self::LineEnd => "line-end",
            Self::Folded => "folded",
            Self::ControlByte => "control-byte",
            Self::RequestLine => "request-line",
            Self::Version => "version",
            Self::HeaderName => "header-name",
            Self::Host => "host",
            Self::HostDiffers => "host-differs",
            Self::Length => "length",
            Self::LengthAndEncoding => "length-and-encoding",
            Self::Encoding => "encoding",
            Self::UnknownEncoding => "unknown-encoding",
            Self::TwoKeys => "two-keys",
        }
    }

    /// The answer it gets.
    pub(in crate::http) fn kind(self) -> ProblemKind {
        match self {
            Self::TooLong | Self::TooMany => ProblemKind::HeadTooLarge,
            Self::TooSlow => ProblemKind::TooSlow,
            Self::TwoKeys => ProblemKind::BadKey,
            Self::LineEnd
            | Self::Folded
            | Self::ControlByte
            | Self::RequestLine
            | Self::Version
            | Self::HeaderName
            | Self::Host
            | Self::HostDiffers
            | Self::Length
            | Self::LengthAndEncoding
            | Self::Encoding
            | Self::UnknownEncoding => ProblemKind::BadRequest,
        }
    }

    /// What the sender's author must know; in English, since no browser makes these mistakes.
    pub(in crate::http) fn detail(self) -> &'static str {
        match self {
            Self::TooLong => "the request's head is larger than allowed",
            Self::TooMany => "the request has more header lines than allowed",
            Self::TooSlow => "the request's head was not complete in time",
            Self::LineEnd => "a line of the head does not end in CR LF",
            Self::Folded => "a header is continued on the next line",
            Self::ControlByte => "the head holds a control byte",
            Self::RequestLine => "the request line is not `METHOD target HTTP/1.1`",
            Self::Version => "only HTTP/1.1 and HTTP/1.0 are spoken here",
            Self::HeaderName => "a header line does not begin with a name and a colon",
            Self::Host => "exactly one valid `Host` header is needed",
            Self::HostDiffers => "the target names another host than `Host`",
            Self::Length => "`Content-Length` must be one number, once",
            Self::LengthAndEncoding => "`Content-Length` and `Transfer-Encoding` exclude each other",
            Self::Encoding => "`Transfer-Encoding: chunked` may stand once, and only in HTTP/1.1",
            Self::UnknownEncoding => "the only transfer coding is `chunked`",
            Self::TwoKeys => "two `Idempotency-Key` headers",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_finds_its_way_through_the_marker_head() {
        for fault in HeadFault::ALL {
            assert_eq!(HeadFault::from_path(&format!("/{}", fault.word())), Some(fault));
        }
        assert_eq!(HeadFault::from_path("/nonsense"), None);
    }
}
