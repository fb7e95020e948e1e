//! Why a mail was not taken, in words for the operator.

use std::io;

use rustls::{CertificateError, InvalidMessage};

use super::reply::Reply;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// The time was over.
    #[error("timeout")]
    Timeout,
    /// The time was over before the server said anything; it may wait for us to begin with TLS.
    #[error(
        "timeout: the mail server sent no greeting; one that speaks TLS from the first byte, as on port 465, needs \
         `tls = \"tls\"`"
    )]
    NoGreeting,
    /// The server's name has no address.
    #[error("the mail server's name is not known")]
    UnknownHost,
    /// Without TLS mail does not leave this machine.
    #[error("the mail server is not on this machine, and `tls` is `none`")]
    Elsewhere,
    /// The connection.
    #[error("mail server: {0}")]
    Connection(io::ErrorKind),
    /// The server left in the middle.
    #[error("the mail server closed the connection")]
    Closed,
    /// It speaks something else.
    #[error("the mail server's answer is not readable SMTP")]
    Unreadable,
    /// It speaks without end.
    #[error("the mail server's answers are too long")]
    Endless,
    /// It refused.
    #[error("{0}")]
    Refused(Reply),
    /// It answered something that makes no sense here.
    #[error("unexpected reply {code} to {step}")]
    Unexpected {
        /// The code.
        code: u16,
        /// To what.
        step: &'static str,
    },
    /// It is not the server that was configured, or somebody stands between.
    #[error("the mail server offers no STARTTLS")]
    NoStartTls,
    /// Somebody may have put words in front of the encrypted ones (CVE-2011-0411).
    #[error("the mail server spoke between STARTTLS and TLS")]
    SpokeBeforeTls,
    /// None that we know.
    #[error("the mail server offers no login by PLAIN or LOGIN")]
    NoLogin,
    /// No TLS.
    #[error("TLS with the mail server failed: {0}")]
    Tls(String),
    /// Nothing to judge a certificate by.
    #[error("this machine trusts no certificates; install `ca-certificates`, or name a `ca_file`")]
    NoRoots,
}

impl Trouble {
    /// Whether the server still waits for a command.
    pub(super) fn leaves_a_server_that_listens(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Unexpected { .. } | Self::NoStartTls | Self::NoLogin => true,
            Self::Timeout
            | Self::NoGreeting
            | Self::UnknownHost
            | Self::Elsewhere
            | Self::Connection(_)
            | Self::Closed
            | Self::Unreadable
            | Self::Endless
            | Self::SpokeBeforeTls
            | Self::Tls(_)
            | Self::NoRoots => false,
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match (inner, error.kind()) {
            (Some(tls), _) => Self::Tls(told(tls)),
            (None, io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => Self::Timeout,
            (None, io::ErrorKind::UnexpectedEof) => Self::Closed,
            (None, kind) => Self::Connection(kind),
        }
    }
}

/// Why TLS failed, with the remedy where there is one.
pub(super) fn told(error: &rustls::Error) -> String {
    let certificate = match error {
        rustls::Error::InvalidCertificate(certificate) => certificate,
        // What a greeting in plain text looks like to TLS.
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            return "it speaks without TLS; one that begins so, as on port 587, needs `tls = \"starttls\"`".to_owned();
        }
        _ => return error.to_string(),
    };
    match certificate {
        CertificateError::UnknownIssuer => {
            "its certificate is from an unknown issuer; name the issuer's certificate in `ca_file`"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name than `host`"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "its certificate has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet"
        }
        // What a certificate that signed itself is, as openssl makes it unasked; rustls has no name for it.
        CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "its certificate is an authority's; make one for a server, with `CA:FALSE`"
        }
        _ => return error.to_string(),
    }
    .to_owned()
}
