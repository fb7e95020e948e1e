//! What a connection does to the program: ambiguous and oversized heads, broken bodies, the courtesies of HTTP/1.1.
//! One refusal for each fault, the connection closed behind it, and never two answers for one request.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::missing_docs_in_private_items,
    clippy::cast_precision_loss,
    reason = "a test ends where it fails, and its name is its documentation"
)]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use common::World;
use common::client::parse_answers;

/// What stands behind each probe: an answer to it would be the second answer to one request.
const CANARY: &str = "GET /healthz HTTP/1.1\r\nHost: a.test\r\n\r\n";

/// The start of a correct small post without its framing.
const POST: &str =
    "POST /f/acme/quote.json HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/x-www-form-urlencoded\r\n";

/// Its body, 26 bytes.
const BODY: &str = "name=A&email=a%40b.example";

/// How a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The server closed.
    Closed,
    /// It still listens after the pause.
    Open,
}

/// A conversation.
struct Talk(TcpStream);

impl Talk {
    fn with(world: &World) -> Self {
        Self(TcpStream::connect(world.address()).unwrap())
    }

    /// Sends bytes; the server may have closed meanwhile.
    fn say(&mut self, bytes: impl AsRef<[u8]>) {
        drop(self.0.write_all(bytes.as_ref()));
    }

    /// Reads until the server closes or is silent for `pause`.
    fn hear_for(&mut self, pause: Duration) -> (Vec<u8>, End) {
        self.0.set_read_timeout(Some(pause)).unwrap();
        let (mut all, mut buffer) = (Vec::new(), vec![0; 65536]);
        loop {
            match self.0.read(&mut buffer) {
                Ok(0) => return (all, End::Closed),
                Ok(n) => all.extend_from_slice(&buffer[..n]),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return (all, End::Open),
                // A reset behind an answer closes as well.
                Err(_) => return (all, End::Closed),
            }
        }
    }

    /// The statuses that came, interim ones included.
    fn hear(&mut self) -> (Vec<u16>, End) {
        let (raw, end) = self.hear_for(Duration::from_millis(700));
        (statuses(&raw), end)
    }

    /// Reads until these bytes have come.
    fn wait_for(&mut self, text: &str) {
        self.0.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let (mut all, mut one) = (Vec::new(), [0]);
        while !all.ends_with(text.as_bytes()) {
            assert_eq!(self.0.read(&mut one).unwrap(), 1, "{}", String::from_utf8_lossy(&all));
            all.push(one[0]);
        }
    }
}

/// The statuses of all status lines; a text that names the protocol has none.
fn statuses(raw: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(raw);
    let after = |at: usize| text[at..].get("HTTP/1.x ".len()..)?.get(..3)?.parse().ok();
    text.match_indices("HTTP/1.").filter_map(|(at, _)| after(at)).collect()
}

/// Sends a probe and the canary on one connection.
fn probe(world: &World, bytes: &str) -> (Vec<u16>, End) {
    let mut talk = Talk::with(world);
    talk.say(format!("{bytes}{CANARY}"));
    talk.hear()
}

fn sized(headers: &str) -> String {
    format!("{POST}{headers}Content-Length: 26\r\n\r\n{BODY}")
}

/// Heads that can be read in two ways, each with the framing it claims.
fn ambiguous() -> Vec<(&'static str, String)> {
    let empty = "\r\n0\r\n\r\n";
    vec![
        ("length then encoding", format!("{POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n{empty}")),
        ("encoding then length", format!("{POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n{empty}")),
        ("two equal lengths", sized("Content-Length: 26\r\n")),
        ("two lengths", sized("Content-Length: 27\r\n")),
        ("a list of lengths", format!("{POST}Content-Length: 26, 26\r\n\r\n{BODY}")),
        ("a signed length", format!("{POST}Content-Length: +26\r\n\r\n{BODY}")),
        ("a negative length", format!("{POST}Content-Length: -1\r\n\r\n{BODY}")),
        ("an enormous length", format!("{POST}Content-Length: 99999999999999999999999\r\n\r\n{BODY}")),
        ("a length in hex", format!("{POST}Content-Length: 0x1a\r\n\r\n{BODY}")),
        ("an empty length", format!("{POST}Content-Length: \r\n\r\n{BODY}")),
        ("an unknown encoding", format!("{POST}Transfer-Encoding: xchunked\r\n{empty}")),
        ("chunked, then identity", format!("{POST}Transfer-Encoding: chunked, identity\r\n{empty}")),
        ("gzip, then chunked", format!("{POST}Transfer-Encoding: gzip, chunked\r\n{empty}")),
        ("chunked with a parameter", format!("{POST}Transfer-Encoding: chunked;q=1\r\n{empty}")),
        ("two encodings", format!("{POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n{empty}")),
        ("chunked twice", format!("{POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n{empty}")),
        ("chunked in 1.0", POST.replace("HTTP/1.1", "HTTP/1.0") + "Transfer-Encoding: chunked\r\n" + empty),
        ("a blank before the colon", format!("{POST}Transfer-Encoding : chunked\r\n{empty}")),
        ("no host", sized("").replace("Host: a.test\r\n", "")),
        ("two hosts", sized("Host: b.test\r\n")),
        ("two equal hosts", sized("Host: a.test\r\n")),
        ("a host with a user", sized("").replace("Host: a.test", "Host: x@a.test")),
        ("two keys", sized("Idempotency-Key: a\r\nIdempotency-Key: b\r\n")),
        ("two equal keys", sized("Idempotency-Key: a\r\nIdempotency-Key: a\r\n")),
        ("a folded header", sized("X: a\r\n b\r\n")),
        ("a header folded by a tab", sized("X: a\r\n\tb\r\n")),
        ("a folded first header", sized("").replace("Host:", " X: a\r\nHost:")),
        ("a nul", sized("X: a\0b\r\n")),
        ("a bare carriage return", sized("X: a\rb\r\n")),
        ("a nameless header", sized(": a\r\n")),
        ("a line without a colon", sized("Transfer-Encoding\r\n")),
        ("bare line feeds", sized("").replace("\r\n", "\n")),
        ("one bare line feed", sized("").replacen("\r\n", "\n", 1)),
        ("another authority", sized("").replace("POST /f", "POST http://b.test/f")),
        ("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        ("HTTP/0.9", "GET /healthz\r\n\r\n".to_owned()),
        ("HTTP/1.2", sized("").replace("HTTP/1.1", "HTTP/1.2")),
        ("two blanks", sized("").replacen(' ', "  ", 1)),
        ("TLS instead of HTTP", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0".to_owned()),
    ]
}

#[test]
fn a_head_that_can_be_read_in_two_ways_gets_one_400_and_the_connection_is_closed() {
    let world = World::new();
    for (name, bytes) in ambiguous() {
        assert_eq!(probe(&world, &bytes), (vec![400], End::Closed), "{name}");
    }
    world.assert_nothing_kept();
}

#[test]
fn a_head_that_is_too_large_gets_one_431_and_the_connection_is_closed() {
    let world = World::new();
    let lines = |count: usize| (0..count).fold(String::new(), |all, i| all + &format!("X-{i}: a\r\n"));
    let long = |bytes: usize| format!("X: {}\r\n", "a".repeat(bytes));
    for (name, headers) in [("100 KiB", long(102_400)), ("16 KiB", long(16 * 1024)), ("200 lines", lines(200))] {
        assert_eq!(probe(&world, &sized(&headers)), (vec![431], End::Closed), "{name}");
    }
    let target = sized("").replace("/quote.json", &format!("/{}", "q".repeat(20_000)));
    assert_eq!(probe(&world, &target), (vec![431], End::Closed));
    world.assert_nothing_kept();
    // Host, Content-Type and Content-Length make the 64.
    assert_eq!(probe(&world, &sized(&lines(61))), (vec![200, 200], End::Open));
    assert_eq!(probe(&world, &sized(&lines(62))), (vec![431], End::Closed));
}

#[test]
fn a_broken_chunk_is_refused_and_keeps_nothing() {
    let world = World::new();
    let chunked = format!("{POST}Transfer-Encoding: chunked\r\n\r\n");
    for chunk in [
        "1a;a\nb\r\nname=A&email=a%40b.example\r\n0\r\n\r\n",
        "0x1a\r\nname=A&email=a%40b.example\r\n0\r\n\r\n",
        "fffffffffffffffff3\r\nabc\r\n0\r\n\r\n",
        "1a\nname=A&email=a%40b.example\r\n0\r\n\r\n",
        "1a\r\nname=A&email=a%40b.exampleXX0\r\n\r\n",
        "-1\r\nabc\r\n0\r\n\r\n",
        "\r\nabc\r\n0\r\n\r\n",
    ] {
        assert_eq!(probe(&world, &format!("{chunked}{chunk}")), (vec![400], End::Closed), "{chunk:?}");
    }
    world.assert_nothing_kept();
}

#[test]
fn a_body_cut_short_is_refused_and_keeps_nothing() {
    let world = World::new();
    let chunked = format!("{POST}Transfer-Encoding: chunked\r\n\r\n1a\r\n{BODY}\r\n");
    for bytes in [format!("{POST}Content-Length: 100\r\n\r\n{BODY}"), chunked] {
        let mut talk = Talk::with(&world);
        talk.say(bytes);
        talk.0.shutdown(Shutdown::Write).unwrap();
        assert_eq!(talk.hear(), (vec![400], End::Closed));
    }
    world.assert_nothing_kept();
}

#[test]
fn a_chunked_request_is_taken_and_is_the_last_of_its_connection() {
    let world = World::new();
    let head = format!("{POST}Transfer-Encoding: chunked\r\n\r\n");
    let one = format!("{head}1a\r\n{BODY}\r\n0\r\n\r\n");
    let extended = format!("{head}A;name=value;other\r\n{}\r\n10\r\n{}\r\n0\r\n\r\n", &BODY[..10], &BODY[10..]);
    for bytes in [one, extended] {
        assert_eq!(probe(&world, &bytes), (vec![200], End::Closed));
    }
}

#[test]
fn trailers_are_read_and_dropped_and_never_become_headers() {
    let world = World::new();
    let post = |body: &str, trailers: &str| {
        let head = format!("{POST}Transfer-Encoding: chunked\r\nTrailer: Idempotency-Key\r\n\r\n");
        probe(&world, &format!("{head}{:x}\r\n{body}\r\n0\r\n{trailers}\r\n", body.len()))
    };
    let key = "Idempotency-Key: k\r\nX-Form-Signature: sha256=00\r\nContent-Length: 3\r\n";
    assert_eq!(post(BODY, key), (vec![200], End::Closed));
    // Under one key another content would be a conflict.
    assert_eq!(post(&BODY.replace("=A", "=B"), key), (vec![200], End::Closed));
    assert_eq!(world.count("SELECT count(*) FROM receipts WHERE key_hash IS NOT NULL"), 0);
    let before = world.count("SELECT count(*) FROM receipts");
    let many = "X: a\r\n".repeat(5000);
    let long = format!("X: {}\r\n", "a".repeat(1_000_000));
    for (name, trailers) in [("many", many.as_str()), ("long", &long), ("torn", "no colon\r\n")] {
        let (answers, end) = post(&BODY.replace("=A", "=C"), trailers);
        assert_eq!((answers, end), (vec![400], End::Closed), "{name}");
    }
    assert_eq!(world.count("SELECT count(*) FROM receipts"), before);
}

#[test]
fn honest_requests_share_a_connection_at_once_and_one_after_another() {
    let world = World::new();
    let mut talk = Talk::with(&world);
    talk.say(sized("Idempotency-Key: a\r\n") + &sized("Idempotency-Key: b\r\n") + CANARY);
    let (raw, end) = talk.hear_for(Duration::from_millis(700));
    let answers = parse_answers(&raw);
    assert_eq!(answers.iter().map(|a| a.status).collect::<Vec<_>>(), [200, 200, 200]);
    assert_ne!(answers[0].receipt(), answers[1].receipt(), "answers come in the order of the requests");
    assert_eq!(end, End::Open);
    talk.say("\r\n".to_owned() + CANARY);
    assert_eq!(talk.hear(), (vec![200], End::Open), "an empty line before a head is no fault");
    talk.say(sized("Connection: close\r\n"));
    assert_eq!(talk.hear(), (vec![200], End::Closed));
}

#[test]
fn a_client_that_has_said_all_still_hears_its_answer() {
    let world = World::new();
    let mut talk = Talk::with(&world);
    talk.say(sized(""));
    talk.0.shutdown(Shutdown::Write).unwrap();
    assert_eq!(talk.hear(), (vec![200], End::Closed));
}

#[test]
fn a_body_is_asked_for_only_where_it_is_wanted() {
    let world = World::with("rate = [\"6/h\"]", &format!("[form.quote]\n{}", common::FIELDS));
    let expect = |post: &str, length: u64| format!("{post}Expect: 100-continue\r\nContent-Length: {length}\r\n\r\n");
    let mut talk = Talk::with(&world);
    talk.say(expect(POST, 26));
    talk.wait_for("HTTP/1.1 100 Continue\r\n\r\n");
    talk.say(format!("{BODY}{CANARY}"));
    assert_eq!(talk.hear(), (vec![200, 200], End::Open));
    let text = POST.replace("application/x-www-form-urlencoded", "text/plain");
    let elsewhere = POST.replace("/quote", "/nobody");
    for (name, head, status) in [
        ("too large", expect(POST, 50_000_000), 413),
        ("no type of ours", expect(&text, 26), 415),
        ("nobody's address", expect(&elsewhere, 26), 404),
        ("a key that is none", expect(&format!("{POST}Idempotency-Key: a b\r\n"), 26), 400),
    ] {
        let mut talk = Talk::with(&world);
        talk.say(head);
        assert_eq!(talk.hear(), (vec![status], End::Closed), "{name}");
    }
    for _ in 0..6 {
        drop(probe(&world, &sized("")));
    }
    let mut talk = Talk::with(&world);
    talk.say(expect(&format!("{POST}Idempotency-Key: unknown\r\n"), 26));
    assert_eq!(talk.hear(), (vec![429], End::Closed));
}

#[test]
fn an_offer_to_speak_http_2_is_ignored() {
    let world = World::new();
    let upgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n";
    assert_eq!(probe(&world, &sized(upgrade)), (vec![200, 200], End::Open));
    let socket = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    assert_eq!(probe(&world, &sized(socket)), (vec![200, 200], End::Open));
}

#[test]
fn http_1_0_is_answered_and_closed() {
    let world = World::new();
    let old = sized("").replace("HTTP/1.1", "HTTP/1.0");
    assert_eq!(probe(&world, &old), (vec![200], End::Closed));
    assert_eq!(probe(&world, &old.replace("Host: a.test\r\n", "")), (vec![200], End::Closed));
}

#[test]
fn an_absolute_target_is_taken_when_its_host_is_the_one_of_the_header() {
    let world = World::new();
    let absolute = sized("").replace("POST /f", "POST http://A.test/f");
    assert_eq!(probe(&world, &absolute), (vec![200, 200], End::Open));
}

#[test]
fn head_answers_like_get_without_a_body() {
    let world = World::new();
    for path in ["/f/acme/quote", "/healthz", "/formd.js"] {
        let ask = |method: &str| format!("{method} {path} HTTP/1.1\r\nHost: a.test\r\n\r\n");
        let mut talk = Talk::with(&world);
        talk.say(ask("HEAD"));
        let (raw, end) = talk.hear_for(Duration::from_millis(300));
        let text = String::from_utf8(raw).unwrap();
        assert_eq!(end, End::Open);
        assert!(text.starts_with("HTTP/1.1 200 ") && text.ends_with("\r\n\r\n"), "{text}");
        let (_, length) = text.split_once("content-length: ").expect("the length that GET would have");
        talk.say(ask("GET"));
        let (raw, _) = talk.hear_for(Duration::from_millis(300));
        assert_eq!(parse_answers(&raw)[0].body.len().to_string(), length.lines().next().unwrap(), "{path}");
    }
}

#[test]
fn a_small_rest_is_drained_and_the_connection_stays() {
    let world = World::new();
    let unwanted = sized("").replace("application/x-www-form-urlencoded", "text/plain");
    assert_eq!(probe(&world, &unwanted), (vec![415, 200], End::Open));
}

#[test]
fn a_client_that_sends_all_before_it_reads_sees_the_refusal_and_no_reset() {
    let world = World::new();
    let large = format!("{POST}Content-Length: 12000000\r\n\r\n");
    let mut talk = Talk::with(&world);
    talk.0.write_all(large.as_bytes()).unwrap();
    let piece = vec![b'a'; 100_000];
    for _ in 0..120 {
        talk.0.write_all(&piece).expect("the server reads on though it has answered");
    }
    assert_eq!(talk.hear(), (vec![413], End::Closed));
    world.assert_nothing_kept();
}

#[test]
fn a_slow_head_is_408_and_a_silent_connection_is_closed_without_a_word() {
    let world = World::with_daemon("[limits]\nhead_time = \"1s\"\n", "", &format!("[form.quote]\n{}", common::FIELDS));
    let started = Instant::now();
    let mut slow = Talk::with(&world);
    slow.say(POST);
    let mut silent = Talk::with(&world);
    let (raw, end) = slow.hear_for(Duration::from_secs(5));
    assert_eq!((statuses(&raw), end), (vec![408], End::Closed));
    let (raw, end) = silent.hear_for(Duration::from_secs(5));
    assert_eq!((raw.len(), end), (0, End::Closed));
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    // Between two requests of a connection the time of a head does not run.
    let mut idle = Talk::with(&world);
    idle.say(CANARY);
    assert_eq!(idle.hear(), (vec![200], End::Open));
    std::thread::sleep(Duration::from_millis(1500));
    idle.say(CANARY);
    assert_eq!(idle.hear(), (vec![200], End::Open));
    // A byte a moment is no way around it.
    let mut drip = Talk::with(&world);
    for byte in POST.bytes().take(15) {
        drip.say([byte]);
        std::thread::sleep(Duration::from_millis(100));
    }
    let (raw, end) = drip.hear_for(Duration::from_secs(2));
    assert_eq!((statuses(&raw), end), (vec![408], End::Closed));
    world.assert_nothing_kept();
}

#[test]
fn a_slow_body_is_408_and_keeps_nothing() {
    let world = World::new();
    let started = Instant::now();
    let mut talk = Talk::with(&world);
    talk.say(format!("{POST}Content-Length: 26\r\n\r\n{}", &BODY[..5]));
    let (raw, end) = talk.hear_for(Duration::from_secs(20));
    assert_eq!((statuses(&raw), end), (vec![408], End::Closed));
    assert!(started.elapsed() > Duration::from_secs(9), "{:?}", started.elapsed());
    world.assert_nothing_kept();
}
