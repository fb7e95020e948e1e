//! Calls that must not happen, and TLS that must not panic.

use super::*;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use ureq::unversioned::transport::{ConnectionDetails, Connector};

/// A POST of `x`.
fn post(url: &str, reach: Reach) -> Call {
    Call { method: Method::Post, url: url.to_owned(), headers: Vec::new(), body: b"x".to_vec(), reach }
}

/// What a call with a limit of five seconds comes to.
fn called(call: &Call) -> Result<Answer, CallError> {
    Outbound::new(Duration::from_secs(5)).call(call)
}

/// A resolver whose answer changes from look-up to look-up; it counts them.
#[derive(Debug)]
struct Rebinding(Arc<AtomicUsize>, Vec<Vec<SocketAddr>>);

impl Resolver for Rebinding {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut found = self.empty();
        let answer = &self.1[self.0.fetch_add(1, Ordering::SeqCst) % self.1.len()];
        for address in answer {
            found.push(*address);
        }
        Ok(found)
    }
}

/// A connector that notes what it is to dial and dials nothing.
#[derive(Clone, Debug, Default)]
struct Recording(Arc<Mutex<Vec<SocketAddr>>>);

impl Connector for Recording {
    type Out = ();

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<()>, ureq::Error> {
        self.0.lock().unwrap().extend(details.addrs.iter());
        Err(ureq::Error::ConnectionFailed)
    }
}

/// What `calls` calls dial under `reach` where the look-ups give these answers one after another, and the look-ups made.
fn dialled(reach: Reach, calls: usize, answers: &[&[&str]]) -> (Vec<String>, usize) {
    let (lookups, recording) = (Arc::new(AtomicUsize::new(0)), Recording::default());
    let parsed = answers.iter().map(|answer| answer.iter().map(|a| a.parse().unwrap()).collect()).collect();
    let guard = Guard { reach, inner: Rebinding(Arc::clone(&lookups), parsed) };
    let agent = Agent::with_parts(settings(Duration::from_secs(1)), recording.clone(), guard);
    for _ in 0..calls {
        agent.post("http://rebind.example/").send(&b"x"[..]).unwrap_err();
    }
    let dialled = recording.0.lock().unwrap().iter().map(SocketAddr::to_string).collect();
    (dialled, lookups.load(Ordering::SeqCst))
}

#[test]
fn a_host_is_looked_up_once_and_what_was_checked_is_dialled() {
    let (public, loopback) = ("1.1.1.1:80", "127.0.0.1:80");
    // Public when it is checked, loopback when it would be dialled: there is no second look-up.
    assert_eq!(dialled(Reach::Public, 1, &[&[public], &[loopback]]), (vec![public.to_owned()], 1));
    assert_eq!(dialled(Reach::Public, 4, &[&[loopback], &[public]]), (vec![public.to_owned(); 2], 4));
    // Both at once: the private ones are left out.
    assert_eq!(dialled(Reach::Public, 1, &[&["[::1]:80", public, "[fe80::1]:80"]]), (vec![public.to_owned()], 1));
    assert_eq!(dialled(Reach::Loopback, 1, &[&[public, loopback]]), (vec![loopback.to_owned()], 1));
    assert_eq!(dialled(Reach::Loopback, 1, &[&["10.0.0.5:80"]]), (vec![], 1));
    assert_eq!(dialled(Reach::Any, 1, &[&["10.0.0.5:80"]]), (vec!["10.0.0.5:80".to_owned()], 1));
}

#[test]
fn a_server_that_speaks_no_tls_is_an_error_and_no_panic() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        // Until the client leaves.
        io::copy(&mut stream, &mut io::sink()).ok();
    });
    let failed = called(&post(&url, Reach::Any)).unwrap_err();
    assert!(matches!(failed, CallError::Tls(_)), "{failed:?}");
    server.join().unwrap();
}

#[test]
fn a_host_without_address_is_named_as_such() {
    let failed = called(&post("https://no-such-host.invalid/", Reach::Public));
    assert_eq!(failed, Err(CallError::UnknownHost));
}

#[test]
fn a_host_name_or_header_that_is_none_is_an_error() {
    for url in ["", "nonsense", "https://", "http://[::bad/", "ftp://a.example/"] {
        assert_eq!(called(&post(url, Reach::Any)), Err(CallError::Url), "{url}");
    }
    let call = Call { headers: vec![("X", "a\r\nb".to_owned())], ..post("http://127.0.0.1:1/", Reach::Any) };
    assert_eq!(called(&call), Err(CallError::Url));
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let certificate = include_bytes!("../../tests/data/tls/unknown-issuer.cert.der").to_vec();
    let key = include_bytes!("../../tests/data/tls/unknown-issuer.key.der").to_vec();
    let server = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.into()], rustls::pki_types::PrivatePkcs8KeyDer::from(key).into())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let heard = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let tls = rustls::ServerConnection::new(Arc::new(server)).unwrap();
        let mut bytes = Vec::new();
        // The handshake fails from the other side; what counts is what came through before.
        drop(rustls::StreamOwned::new(tls, stream).read_to_end(&mut bytes));
        bytes
    });
    let failed = called(&post(&url, Reach::Any)).unwrap_err();
    assert!(matches!(failed, CallError::Tls(_)), "{failed:?}");
    assert_eq!(heard.join().unwrap(), b"", "nothing was sent");
}

/// A server that answers one request with `answer`; what it heard up to the end of the body `x`.
fn answering(answer: &'static [u8]) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut heard, mut byte) = (Vec::new(), [0]);
        while !heard.ends_with(b"\r\n\r\nx") && stream.read(&mut byte).unwrap() == 1 {
            heard.push(byte[0]);
        }
        stream.write_all(answer).unwrap();
        String::from_utf8(heard).unwrap()
    });
    (url, heard)
}

#[test]
fn of_an_answer_the_beginning_is_kept_as_it_was_sent() {
    let (url, heard) =
        answering(b"HTTP/1.1 503 Down\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n\x1f\x8b\r\n\0no");
    let call = Call { method: Method::Put, ..post(&url, Reach::Loopback) };
    // The body breaks off before its ninth byte.
    let beginning = b"\x1f\x8b\r\n\0no".to_vec();
    assert_eq!(called(&call), Ok(Answer { status: 503, retry_after: None, beginning }));
    assert!(heard.join().unwrap().starts_with("PUT / HTTP/1.1\r\n"));
}

#[test]
fn of_a_long_answer_eight_hundred_bytes_are_kept() {
    const LONG: &[u8] = &[b'x'; 5000];
    let (url, _) = answering(b"HTTP/1.1 200 OK\r\n\r\n".iter().chain(LONG).copied().collect::<Vec<u8>>().leak());
    assert_eq!(called(&post(&url, Reach::Loopback)).map(|answer| answer.beginning), Ok(LONG[..800].to_vec()));
}

#[test]
fn a_call_prints_nothing_of_itself() {
    assert_eq!(format!("{:?}", post("https://a.example/?key=secret", Reach::Any)), "Call(..)");
}
