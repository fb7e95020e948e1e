//! The server over a real loopback socket, with a service that only says what it saw.

use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::*;
use crate::config::Listen;
use crate::http::answer::reply as plain;
use crate::http::head::HeadFault;
use hyper::StatusCode;

/// Says what it saw.
#[derive(Clone)]
struct Echo(Settings);

impl Service for Echo {
    fn settings(&self) -> Settings {
        self.0
    }

    async fn answer(&self, request: Request<Incoming>, _peer: Peer) -> Reply {
        let path = request.uri().path().to_owned();
        match path.as_str() {
            "/panic" => panic!("a mistake of ours"),
            "/refuse" => {
                let mut reply = plain(StatusCode::PAYLOAD_TOO_LARGE, "text/plain", "too large");
                reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                reply
            }
            "/slow" => {
                sleep(Duration::from_millis(300)).await;
                plain(StatusCode::OK, "text/plain", "late")
            }
            _ => match request.into_body().collect().await {
                Ok(body) => plain(StatusCode::OK, "text/plain", format!("{path} {}", body.to_bytes().len())),
                Err(_) => plain(StatusCode::BAD_REQUEST, "text/plain", "cut"),
            },
        }
    }

    fn answer_refused(&self, request: &Request<Incoming>) -> Reply {
        let fault = HeadFault::from_path(request.uri().path()).unwrap();
        plain(fault.kind().status(), "text/plain", fault.detail())
    }

    fn answer_panic(&self) -> Reply {
        plain(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "500")
    }
}

/// A running server and the way to stop it.
struct Running {
    /// Where it listens.
    address: String,
    /// Stops it.
    stop: watch::Sender<bool>,
    /// Its task.
    task: tokio::task::JoinHandle<()>,
}

async fn start(connections: usize) -> Running {
    let times = Times {
        head: Duration::from_millis(200),
        idle: Duration::from_millis(400),
        write: Duration::from_secs(5),
        linger: Duration::from_secs(2),
    };
    let settings = Settings { connections, limits: Limits { bytes: 16 * 1024, lines: 64 }, times };
    let listener = Listener::bind(&Listen::Tcp("127.0.0.1:0".parse().unwrap())).await.unwrap();
    let address = listener.address();
    let (stop, stopping) = watch::channel(false);
    let task = tokio::spawn(run(listener, Echo(settings), stopping));
    Running { address, stop, task }
}

/// Reads to the end of the connection.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = timeout(Duration::from_secs(5), stream.read_to_end(&mut bytes)).await;
    assert!(read.is_ok(), "the connection stayed open: {}", String::from_utf8_lossy(&bytes));
    String::from_utf8(bytes).unwrap()
}

/// Sends bytes in pieces and reads to the end of the connection.
async fn probe(address: &str, pieces: &[&[u8]]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    for piece in pieces {
        // A server that has refused may close under the rest.
        drop(stream.write_all(piece).await);
        sleep(Duration::from_millis(5)).await;
    }
    rest(&mut stream).await
}

/// The statuses in what came back.
fn codes(text: &str) -> Vec<u16> {
    text.match_indices("HTTP/1.1 ").filter_map(|(at, _)| text[at + 9..at + 12].parse().ok()).collect()
}

/// A request behind the probe: it must be answered only behind a head that was understood.
const CANARY: &[u8] = b"GET /canary HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn an_ambiguous_request_gets_one_refusal_and_nothing_behind_it_is_read() {
    let server = start(100).await;
    let post = |rest: &str| format!("POST /f HTTP/1.1\r\nHost: a.test\r\nIdempotency-Key: k\r\n{rest}");
    for (probe_bytes, expected) in [
        (post("Content-Length: 3\r\n\r\nabc"), vec![200, 200]),
        (post("Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"), vec![400]),
        (post("Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc"), vec![400]),
        (post("Content-Length: 3, 3\r\n\r\nabc"), vec![400]),
        (post("Content-Length: +3\r\n\r\nabc"), vec![400]),
        (post("Content-Length: -1\r\n\r\nabc"), vec![400]),
        (post("Content-Length: 99999999999999999999999\r\n\r\nabc"), vec![400]),
        (post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), vec![400]),
        (post("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), vec![200]),
        (post("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), vec![400]),
        (post("Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"), vec![400]),
        (post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"), vec![400]),
        (post("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"), vec![400]),
        (post("Transfer-Encoding: chunked\r\n\r\n3;a\nb\r\nabc\r\n0\r\n\r\n"), vec![400]),
        (post("Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n"), vec![400]),
        (post("Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n"), vec![400]),
        (post("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff3\r\nabc\r\n0\r\n\r\n"), vec![400]),
        (post("X: a\r\n b\r\nContent-Length: 3\r\n\r\nabc"), vec![400]),
        (post("X: a\0b\r\nContent-Length: 3\r\n\r\nabc"), vec![400]),
        (post("X: a\rb\r\nContent-Length: 3\r\n\r\nabc"), vec![400]),
        (post("Host: b.test\r\nContent-Length: 3\r\n\r\nabc"), vec![400]),
        (post("Idempotency-Key: other\r\nContent-Length: 3\r\n\r\nabc"), vec![400]),
        (post("Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc"), vec![100, 200, 200]),
        (post("Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc"), vec![200, 200]),
        (post(&format!("{}Content-Length: 3\r\n\r\nabc", "X: a\r\n".repeat(200))), vec![431]),
        (post(&format!("X: {}\r\nContent-Length: 3\r\n\r\nabc", "a".repeat(102_400))), vec![431]),
        ("POST /f HTTP/1.1\nHost: a.test\nContent-Length: 3\n\nabc".to_owned(), vec![400]),
        ("POST /f HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc".to_owned(), vec![400]),
        (
            "POST /f HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".to_owned(),
            vec![400],
        ),
        ("POST http://b.test/f HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc".to_owned(), vec![400]),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), vec![400]),
        ("\r\nGET / HTTP/1.1\r\nHost: a.test\r\n\r\n".to_owned(), vec![400]),
    ] {
        let answers = probe(&server.address, &[probe_bytes.as_bytes(), CANARY]).await;
        let shown: String = probe_bytes.chars().take(120).collect();
        assert_eq!(codes(&answers), expected, "{shown:?}\n{answers}");
        assert_eq!(answers.contains("/canary"), expected.last() == Some(&200) && expected.len() > 1, "{shown:?}");
    }
}

#[tokio::test]
async fn a_refusal_stays_behind_the_answers_of_the_requests_before_it() {
    let server = start(100).await;
    let pipelined = b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n\
        POST /c HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nxGET /d HTTP/1.1\r\nHost: a\r\n\r\n";
    let whole = probe(&server.address, &[pipelined]).await;
    assert_eq!(codes(&whole), [200, 200, 400], "{whole}");
    assert!(whole.contains("/a 3") && whole.contains("/b 0") && !whole.contains("/d"), "{whole}");
    let bytes: Vec<&[u8]> = pipelined.chunks(7).collect();
    assert_eq!(codes(&probe(&server.address, &bytes).await), [200, 200, 400]);
}

#[tokio::test]
async fn a_head_that_does_not_come_in_time_is_408_and_a_silent_connection_just_closes() {
    let server = start(100).await;
    let begun = Instant::now();
    assert_eq!(codes(&probe(&server.address, &[b"GET / HTTP/1.1\r\nHost:"]).await), [408]);
    assert_eq!(probe(&server.address, &[]).await, "");
    let idle = probe(&server.address, &[b"GET /once HTTP/1.1\r\nHost: a\r\n\r\n"]).await;
    assert_eq!(codes(&idle), [200]);
    assert!(begun.elapsed() >= Duration::from_millis(800), "each of them waited for its time");
    let late = probe(&server.address, &[b"GET /once HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /two"]).await;
    assert_eq!(codes(&late), [200, 408]);
}

#[tokio::test]
async fn a_cut_body_is_400_and_a_half_closed_client_still_hears_it() {
    let server = start(100).await;
    let mut stream = TcpStream::connect(&server.address).await.unwrap();
    stream.write_all(b"POST /f HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(codes(&rest(&mut stream).await), [400]);
}

#[tokio::test]
async fn a_refused_upload_sees_its_answer_and_no_reset_though_it_sends_everything_first() {
    let server = start(100).await;
    let mut stream = TcpStream::connect(&server.address).await.unwrap();
    stream.write_all(b"POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 12000000\r\n\r\n").await.unwrap();
    stream.write_all(&vec![b'x'; 12_000_000]).await.unwrap();
    assert_eq!(codes(&rest(&mut stream).await), [413]);
}

#[tokio::test]
async fn an_upload_that_asks_first_is_refused_without_being_told_to_go_on() {
    let server = start(100).await;
    let head = b"POST /refuse HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 12000000\r\n\r\n";
    let mut stream = TcpStream::connect(&server.address).await.unwrap();
    stream.write_all(head).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(codes(&rest(&mut stream).await), [413]);
}

#[tokio::test]
async fn a_refusal_before_a_body_that_was_asked_about_ends_the_connection() {
    let server = start(100).await;
    let head = b"GET /panic HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 57\r\n\r\n";
    assert_eq!(codes(&probe(&server.address, &[head, CANARY]).await), [500]);
}

#[tokio::test]
async fn a_panic_is_one_answer_and_the_connection_goes_on() {
    let server = start(100).await;
    let answers = probe(&server.address, &[b"GET /panic HTTP/1.1\r\nHost: a\r\n\r\n", CANARY]).await;
    assert_eq!(codes(&answers), [500, 200]);
}

#[tokio::test]
async fn at_the_cap_whoever_waits_longest_without_a_head_makes_room() {
    let server = start(2).await;
    let mut slow = TcpStream::connect(&server.address).await.unwrap();
    slow.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await.unwrap();
    sleep(Duration::from_millis(20)).await;
    let mut silent = TcpStream::connect(&server.address).await.unwrap();
    sleep(Duration::from_millis(20)).await;
    let begun = Instant::now();
    assert_eq!(codes(&probe(&server.address, &[CANARY]).await), [200]);
    assert!(begun.elapsed() < Duration::from_millis(150), "{:?}", begun.elapsed());
    assert_eq!(silent.read(&mut [0; 8]).await.unwrap_or(0), 0, "the silent one was closed");
    assert_eq!(codes(&rest(&mut slow).await), [200], "the one with a head was not");
}

#[tokio::test]
async fn on_a_stop_requests_in_flight_are_finished_and_idle_connections_closed() {
    let server = start(100).await;
    let mut busy = TcpStream::connect(&server.address).await.unwrap();
    busy.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut idle = TcpStream::connect(&server.address).await.unwrap();
    sleep(Duration::from_millis(50)).await;
    server.stop.send(true).unwrap();
    assert_eq!(rest(&mut idle).await, "");
    assert_eq!(codes(&rest(&mut busy).await), [200]);
    timeout(Duration::from_secs(2), server.task).await.unwrap().unwrap();
    assert!(TcpStream::connect(&server.address).await.is_err());
}
