//! Calls to other people's servers: the only room that knows ureq.
//!
//! Guarantees. One call takes at most the limit it was made with, look-up, connection, TLS and a dripping
//! answer included. A host is looked up once; the addresses that passed [`Reach`] are the ones dialled, so an
//! answer that changes in between (DNS rebinding) changes nothing. Redirects are answers like any other and
//! never followed. Of an answer at most 16 KiB of head and 64 KiB of body are read, 800 bytes of it kept, nothing is
//! decompressed.
//! Proxy variables of the environment are ignored; no connection is kept for a next call.
//!
//! What fails how: every failure is a [`CallError`] whose text holds no URL, no secret and nothing of the body.
//! Certificates are judged by the system's root store, which is read at the first `https` call; without one that
//! call fails and says so.
//!
//! It deliberately does not retry, does not judge what the peer answered, and knows nothing of deliveries. A look-up that hangs in the system's resolver leaves a thread behind until
//! the resolver gives up; there are never more of them than callers.

mod reach;

pub use reach::Reach;

use std::fmt;
use std::io::{self, Read as _};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use ureq::Agent;
use ureq::config::{AutoHeaderValue, Config};
use ureq::http::Uri;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

/// Bytes of an answer's head.
const HEAD: usize = 16 * 1024;
/// Bytes of an answer's body that are read, so that an honest peer can finish writing it.
const BODY: u64 = 64 * 1024;
/// Bytes of it that are kept: 200 characters of UTF-8.
const BEGINNING: u64 = 800;

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// POST.
    Post,
    /// PUT.
    Put,
}

/// A call to be made. Printing it prints nothing of it: URL, headers and body may all be secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// How.
    pub method: Method,
    /// Where to.
    pub url: String,
    /// Its headers; `Host`, `Content-Length`, `User-Agent` and `Connection` are added.
    pub headers: Vec<(&'static str, String)>,
    /// The exact bytes of its body.
    pub body: Vec<u8>,
    /// Which addresses it may reach.
    pub reach: Reach,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Call(..)")
    }
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status code, 200..=999.
    pub status: u16,
    /// `Retry-After` as sent.
    pub retry_after: Option<String>,
    /// The beginning of the body as sent, at most 800 bytes: it may quote the call, so it is for the operator alone.
    pub beginning: Vec<u8>,
}

/// Why there is no answer. The texts are fit for an operator's eyes and for the database.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The URL cannot be called at all.
    #[error("the URL is not valid")]
    Url,
    /// The time was over.
    #[error("timeout")]
    Timeout,
    /// The host has no address.
    #[error("the host name is not known")]
    UnknownHost,
    /// All addresses of the host are private, loopback or otherwise special.
    #[error("the address is private; `allow_private = true` would allow it")]
    Forbidden,
    /// The connection was refused or broke.
    #[error("connection failed: {0}")]
    Connection(String),
    /// No trust: certificate, name, protocol.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// What came back is not an HTTP answer within the bounds.
    #[error("the answer is not readable HTTP")]
    Answer,
}

/// Makes calls. One for the whole program: it keeps the root certificates, nothing else.
#[derive(Debug)]
pub struct Outbound {
    /// For [`Reach::Public`].
    public: Agent,
    /// For [`Reach::Loopback`].
    loopback: Agent,
    /// For [`Reach::Any`].
    any: Agent,
}

impl Outbound {
    /// Calls that take at most `limit` each. Touches neither network nor disk.
    pub fn new(limit: Duration) -> Self {
        let agent = |reach| Agent::with_parts(settings(limit), DefaultConnector::default(), Guard::new(reach));
        Self { public: agent(Reach::Public), loopback: agent(Reach::Loopback), any: agent(Reach::Any) }
    }

    /// Makes a call and waits for the answer.
    pub fn call(&self, call: &Call) -> Result<Answer, CallError> {
        let agent = match call.reach {
            Reach::Public => &self.public,
            Reach::Loopback => &self.loopback,
            Reach::Any => &self.any,
        };
        let request = match call.method {
            Method::Post => agent.post(&call.url),
            Method::Put => agent.put(&call.url),
        };
        let request = request.header("Connection", "close");
        let request = call.headers.iter().fold(request, |request, (name, value)| request.header(*name, value));
        let mut response = request.send(call.body.as_slice())?;
        let retry_after =
            response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let status = response.status().as_u16();
        // The status is the answer. A body that breaks, drips or never ends cannot take it back.
        let mut body = response.body_mut().as_reader().take(BODY);
        let mut beginning = Vec::new();
        let read = body.by_ref().take(BEGINNING).read_to_end(&mut beginning);
        drop(read.and_then(|_| io::copy(&mut body, &mut io::sink())));
        Ok(Answer { status, retry_after, beginning })
    }
}

/// The settings of every call; each line closes one of ureq's doors (defaults follow redirects with GET, honour
/// proxy variables, take error statuses for errors, and panic without a TLS provider).
fn settings(limit: Duration) -> Config {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build();
    Config::builder()
        .timeout_global(Some(limit))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None)
        .max_response_header_size(HEAD)
        .max_idle_connections(0)
        .max_idle_connections_per_host(0)
        .user_agent(concat!("formd/", env!("CARGO_PKG_VERSION")))
        .accept(AutoHeaderValue::None)
        .accept_encoding(AutoHeaderValue::None)
        .tls_config(tls)
        .build()
}

/// A resolver that lets only allowed addresses through; ureq dials exactly these.
struct Guard<R = DefaultResolver> {
    /// Which addresses.
    reach: Reach,
    /// Who looks them up.
    inner: R,
}

impl Guard {
    /// A guard before the system's resolver.
    fn new(reach: Reach) -> Self {
        Self { reach, inner: DefaultResolver::default() }
    }
}

impl<R: Resolver> Resolver for Guard<R> {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.inner.resolve(uri, config, timeout)?;
        let mut allowed = self.empty();
        for address in found.iter().filter(|address| self.reach.allows(address.ip())) {
            allowed.push(*address);
        }
        if allowed.is_empty() { Err(ureq::Error::Other(Box::new(CallError::Forbidden))) } else { Ok(allowed) }
    }
}

impl<R> fmt::Debug for Guard<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("reach", &self.reach).finish_non_exhaustive()
    }
}

impl From<ureq::Error> for CallError {
    fn from(error: ureq::Error) -> Self {
        use ureq::Error as E;
        match error {
            E::Timeout(_) => Self::Timeout,
            E::HostNotFound => Self::UnknownHost,
            E::Http(_) | E::BadUri(_) => Self::Url,
            E::Tls(why) => Self::Tls(why.to_owned()),
            E::Rustls(why) => Self::Tls(why.to_string()),
            E::Io(why) => from_io(&why),
            E::Other(why) => match why.downcast::<Self>() {
                Ok(own) => *own,
                Err(_) => Self::Connection("no connection".to_owned()),
            },
            E::ConnectionFailed => Self::Connection("no connection".to_owned()),
            // Whatever else ureq reports arose from what the peer sent.
            _ => Self::Answer,
        }
    }
}

/// An I/O error: a failed look-up, a TLS alert in its wrapping, or a broken connection.
fn from_io(error: &io::Error) -> CallError {
    if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return CallError::Tls(tls.to_string());
    }
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => CallError::Timeout,
        // The standard library has no kind for a failed look-up, only its message.
        _ if error.raw_os_error().is_none() && error.to_string().contains("lookup address") => CallError::UnknownHost,
        kind => CallError::Connection(kind.to_string()),
    }
}

#[cfg(test)]
mod tests;
