//! Ambiguous and oversized heads: one refusal, connection closed, never two answers for one request.

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

use std::io::Write;
use std::net::{Shutdown, TcpStream};

use common::World;
use common::client::{parse_answers, read_all};

/// What stands behind each probe: an answer to it would be the second answer to one request.
const CANARY: &str = "GET /healthz HTTP/1.1\r\nHost: a.test\r\n\r\n";

/// The start of a correct small post without its framing.
const POST: &str =
    "POST /f/acme/quote.json HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/x-www-form-urlencoded\r\n";

/// Sends a probe and the canary on one connection; the statuses that came back.
fn probe(world: &World, head: &str) -> Vec<u16> {
    let mut stream = TcpStream::connect(world.address()).unwrap();
    // The server may close before all is written.
    drop(stream.write_all(format!("{head}{CANARY}").as_bytes()));
    parse_answers(&read_all(&mut stream)).iter().map(|a| a.status).collect()
}

#[test]
fn ambiguous_heads_get_one_refusal_and_the_connection_is_closed() {
    let world = World::new();
    let body = "name=A&email=a%40b.example";
    let long = "a".repeat(102_400);
    let many = (0..200).fold(String::new(), |all, i| all + &format!("X-{i}: a\r\n"));
    let probes: Vec<(&str, String, u16)> = vec![
        (
            "length then encoding",
            format!("{POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            400,
        ),
        (
            "encoding then length",
            format!("{POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
            400,
        ),
        ("two equal lengths", format!("{POST}Content-Length: 26\r\nContent-Length: 26\r\n\r\n{body}"), 400),
        ("two lengths", format!("{POST}Content-Length: 26\r\nContent-Length: 27\r\n\r\n{body}"), 400),
        ("a list of lengths", format!("{POST}Content-Length: 26, 26\r\n\r\n{body}"), 400),
        ("a signed length", format!("{POST}Content-Length: +26\r\n\r\n{body}"), 400),
        ("a negative length", format!("{POST}Content-Length: -1\r\n\r\n{body}"), 400),
        ("an enormous length", format!("{POST}Content-Length: 99999999999999999999999\r\n\r\n{body}"), 400),
        ("an unknown encoding", format!("{POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"), 400),
        (
            "two encodings",
            format!("{POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n"),
            400,
        ),
        ("a blank before the colon", format!("{POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"), 400),
        ("no host", POST.replace("Host: a.test\r\n", "") + "Content-Length: 26\r\n\r\n" + body, 400),
        ("two hosts", format!("{POST}Host: b.test\r\nContent-Length: 26\r\n\r\n{body}"), 400),
        (
            "two keys",
            format!("{POST}Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 26\r\n\r\n{body}"),
            400,
        ),
        ("a folded header", format!("{POST}X: a\r\n b\r\nContent-Length: 26\r\n\r\n{body}"), 400),
        ("a nul", format!("{POST}X: a\0b\r\nContent-Length: 26\r\n\r\n{body}"), 400),
        ("a bare carriage return", format!("{POST}X: a\rb\r\nContent-Length: 26\r\n\r\n{body}"), 400),
        ("bare line feeds", format!("{POST}Content-Length: 26\r\n\r\n{body}").replace("\r\n", "\n"), 400),
        (
            "another authority",
            POST.replace("POST /f", "POST http://b.test/f") + "Content-Length: 26\r\n\r\n" + body,
            400,
        ),
        ("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), 400),
        ("chunked in 1.0", POST.replace("HTTP/1.1", "HTTP/1.0") + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("100 KiB of header", format!("{POST}X: {long}\r\nContent-Length: 26\r\n\r\n{body}"), 431),
        ("200 headers", format!("{POST}{many}Content-Length: 26\r\n\r\n{body}"), 431),
    ];
    for (name, bytes, status) in probes {
        assert_eq!(probe(&world, &bytes), [status], "{name}");
    }
    world.assert_nothing_kept();
}

#[test]
fn a_broken_chunk_is_refused_and_keeps_nothing() {
    let world = World::new();
    let chunked = format!("{POST}Transfer-Encoding: chunked\r\n\r\n");
    for chunk in [
        "3;a\nb\r\nabc\r\n0\r\n\r\n",
        "0x3\r\nabc\r\n0\r\n\r\n",
        "fffffffffffffffff3\r\nabc\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n",
    ] {
        let answers = probe(&world, &format!("{chunked}{chunk}"));
        assert!(answers.len() <= 1 && answers.iter().all(|s| *s == 400), "{chunk:?}: {answers:?}");
    }
    world.assert_nothing_kept();
}

#[test]
fn a_body_cut_short_is_refused_and_keeps_nothing() {
    let world = World::new();
    let mut stream = TcpStream::connect(world.address()).unwrap();
    stream.write_all(format!("{POST}Content-Length: 100\r\n\r\nname=A").as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let answers = parse_answers(&read_all(&mut stream));
    assert!(answers.iter().all(|a| a.status == 400) && answers.len() <= 1, "{answers:?}");
    world.assert_nothing_kept();
}

#[test]
fn honest_requests_share_a_connection() {
    let world = World::new();
    let body = "name=A&email=a%40b.example";
    let one = format!("{POST}Content-Length: 26\r\nIdempotency-Key: a\r\n\r\n{body}");
    let two = format!("{POST}Content-Length: 26\r\nIdempotency-Key: b\r\nConnection: close\r\n\r\n{body}");
    let mut stream = TcpStream::connect(world.address()).unwrap();
    stream.write_all(format!("{one}{two}").as_bytes()).unwrap();
    let answers = parse_answers(&read_all(&mut stream));
    assert_eq!(answers.iter().map(|a| a.status).collect::<Vec<_>>(), [200, 200]);
    assert_ne!(answers[0].receipt(), answers[1].receipt());
}

#[test]
fn a_chunked_request_is_taken_and_is_the_last_of_its_connection() {
    let world = World::new();
    let chunked = format!("{POST}Transfer-Encoding: chunked\r\n\r\n1a\r\nname=A&email=a%40b.example\r\n0\r\n\r\n");
    assert_eq!(probe(&world, &chunked), [200]);
}
