//! A form that wants a signature takes a body only from whoever knows the secret, and reads nothing of any other.

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

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use common::client::{Answer, BOUNDARY, Multipart, Request, parse_answers, pdf, read_all, send_raw, urlencode};
use common::{FIELDS, World, submission, write_private};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const SECRET: &str = "a-secret-of-the-shop-4711";
const ADDRESS: &str = "/f/acme/quote";
const URLENCODED: &str = "application/x-www-form-urlencoded";

/// A world whose form wants a signature; the folder holds its secret.
struct Signed {
    world: World,
    _folder: tempfile::TempDir,
}

impl Signed {
    fn new() -> Self {
        Self::with("")
    }

    fn with(site: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shop");
        write_private(&file, &format!("{SECRET}\n"));
        let form = format!("[form.quote]\nsignature_secret_file = \"{}\"\n{FIELDS}", file.display());
        Self { world: World::with(site, &form), _folder: folder }
    }

    fn send(&self, request: &Request) -> Answer {
        self.world.send(request)
    }

    /// Waits until as many `.part` files exist.
    fn wait_for_parts(&self, count: usize) {
        let started = Instant::now();
        while self.world.parts().len() != count {
            assert!(started.elapsed() < Duration::from_secs(10), "{:?}", self.world.parts());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn sign(secret: &str, body: &[u8]) -> String {
    let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    let bytes = mac.finalize().into_bytes();
    bytes.iter().fold("sha256=".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

fn json(request: Request) -> Request {
    request.header("Accept", "application/json")
}

/// The request with the signature of its body under `secret`.
fn signed(request: Request, secret: &str) -> Request {
    let signature = sign(secret, &request.body);
    json(request).header("X-Form-Signature", &signature)
}

fn urlencoded() -> Request {
    let body = urlencode(&[("name", "Анна"), ("email", "anna@example.com"), ("message", "Привет")]);
    Request::new("POST", ADDRESS).body(URLENCODED, body)
}

#[test]
fn a_signed_submission_is_taken_whatever_its_type_and_its_spool_is_gone() {
    let signed_world = Signed::new();
    let text = "{\"name\":\"Анна\",\"email\":\"anna@example.com\",\"message\":\"JSON\"}";
    let file = pdf("signed", 3_000_000);
    let requests = [
        urlencoded(),
        Request::new("POST", ADDRESS).body("application/json", text),
        submission().post(ADDRESS),
        submission().pdf("plan.pdf", &file).post(ADDRESS),
    ];
    for request in requests {
        let receipt = signed_world.send(&signed(request, SECRET)).receipt();
        assert_eq!(signed_world.world.show(&receipt)["values"][0]["value"], "Анна");
        assert_eq!(signed_world.world.parts(), Vec::<String>::new());
    }
    let kept = std::fs::read(signed_world.world.data().join("attachments").join(&signed_world.world.attachments()[0]));
    assert!(kept.unwrap() == file, "the file arrived as it was sent");
}

#[test]
fn a_signature_holds_for_a_chunked_body_whatever_the_chunks() {
    let signed_world = Signed::new();
    let body = urlencoded().body;
    let mut wire = format!(
        "POST {ADDRESS} HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\nContent-Type: {URLENCODED}\r\n\
         X-Form-Signature: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        sign(SECRET, &body)
    )
    .into_bytes();
    for chunk in body.chunks(7) {
        wire.extend([format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    }
    wire.extend(b"0\r\n\r\n");
    parse_answers(&send_raw(signed_world.world.address(), &wire))[0].receipt();
}

#[test]
fn missing_unreadable_and_wrong_signatures_are_one_answer_and_nothing_is_kept() {
    let signed_world = Signed::new();
    let right = sign(SECRET, &urlencoded().body);
    let mut changed = signed(urlencoded(), SECRET);
    changed.body[5] ^= 1;
    let requests = [
        ("none", json(urlencoded())),
        ("empty", json(urlencoded()).header("X-Form-Signature", "")),
        ("no hex", json(urlencoded()).header("X-Form-Signature", "sha256=zz")),
        ("without its name", json(urlencoded()).header("X-Form-Signature", right.trim_start_matches("sha256="))),
        ("half", json(urlencoded()).header("X-Form-Signature", &right[..39])),
        ("twice", signed(urlencoded(), SECRET).header("X-Form-Signature", &right)),
        ("another secret", signed(urlencoded(), "a-secret-of-the-shop-4712")),
        ("another body", changed),
        ("a line end of the secret's file", signed(urlencoded(), "a-secret-of-the-shop-4711\n")),
    ];
    let mut bodies = Vec::new();
    for (name, request) in requests {
        let answer = signed_world.send(&request);
        assert_eq!((answer.status, answer.json()["code"].as_str()), (401, Some("signature")), "{name}");
        assert!(answer.header("WWW-Authenticate").is_some(), "{name}");
        bodies.push(answer.body);
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "no answer says what was wrong");
    signed_world.world.assert_nothing_kept();
    signed_world.send(&signed(urlencoded(), SECRET)).receipt();
}

#[test]
fn nothing_is_parsed_before_the_signature_holds() {
    let signed_world = Signed::new();
    let broken = Request::new("POST", ADDRESS).body("application/json", "{\"name\":");
    assert_eq!(signed_world.send(&signed(broken.clone(), "another-secret-0000")).status, 401);
    assert_eq!(signed_world.send(&signed(broken, SECRET)).status, 400);
    let unfit = Request::new("POST", ADDRESS).body("application/json", "{}");
    assert_eq!(signed_world.send(&signed(unfit.clone(), "another-secret-0000")).status, 401);
    assert_eq!(signed_world.send(&signed(unfit, SECRET)).status, 422);
    signed_world.world.assert_nothing_kept();
}

#[test]
fn a_body_without_a_signature_is_not_asked_for() {
    let signed_world = Signed::new();
    let head = format!(
        "POST {ADDRESS} HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\nContent-Type: {URLENCODED}\r\n\
         Content-Length: 300000\r\nExpect: 100-continue\r\n\r\n"
    );
    let raw = send_raw(signed_world.world.address(), head.as_bytes());
    assert!(raw.starts_with(b"HTTP/1.1 401 "), "{}", String::from_utf8_lossy(&raw));
}

#[test]
fn the_limit_of_the_form_bounds_a_signed_body_too() {
    let signed_world = Signed::new();
    let large = submission().pdf("x.pdf", &pdf("large", 6_000_000)).post(ADDRESS);
    assert_eq!(signed_world.send(&signed(large, SECRET)).status, 413);
    let head = format!(
        "POST {ADDRESS} HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\nContent-Type: {URLENCODED}\r\n\
         X-Form-Signature: {}\r\nTransfer-Encoding: chunked\r\n\r\n",
        sign(SECRET, b"")
    );
    let chunk = [b"10000\r\n".as_slice(), &vec![b'a'; 65536], b"\r\n"].concat();
    let raw = send_raw(signed_world.world.address(), &[head.into_bytes(), chunk.repeat(100)].concat());
    assert_eq!(parse_answers(&raw)[0].status, 413);
    signed_world.world.assert_nothing_kept();
}

#[test]
fn a_client_that_leaves_takes_its_spool_with_it() {
    let signed_world = Signed::new();
    let request = signed(submission().pdf("x.pdf", &pdf("gone", 1_000_000)).post(ADDRESS), SECRET);
    let mut stream = TcpStream::connect(signed_world.world.address()).unwrap();
    stream.write_all(&request.bytes()[..500_000]).unwrap();
    signed_world.wait_for_parts(1);
    drop(stream);
    signed_world.wait_for_parts(0);
    signed_world.world.assert_nothing_kept();
}

#[test]
fn over_the_limit_only_a_key_in_the_header_is_looked_at_and_its_body_must_be_signed() {
    let signed_world = Signed::with("rate = [\"1/h\"]");
    let first = signed(urlencoded(), SECRET).header("Idempotency-Key", "k-1");
    let receipt = signed_world.send(&first).receipt();
    let again = signed_world.send(&first);
    assert_eq!((again.receipt(), again.header("Idempotent-Replayed")), (receipt, Some("true")));
    let unsigned = json(urlencoded()).header("Idempotency-Key", "k-1");
    assert_eq!(signed_world.send(&unsigned).status, 401);
    assert_eq!(signed_world.send(&signed(urlencoded(), SECRET).header("Idempotency-Key", "k-2")).status, 429);
    let field = urlencode(&[("_key", "k-1"), ("name", "Анна"), ("email", "anna@example.com"), ("message", "Привет")]);
    let in_body = Request::new("POST", ADDRESS).body(URLENCODED, field);
    assert_eq!(signed_world.send(&signed(in_body, SECRET)).status, 429);
    assert_eq!(signed_world.send(&json(urlencoded())).status, 429);
}

#[test]
fn a_browser_is_told_in_its_language_and_offered_no_page_it_could_not_send() {
    let signed_world = Signed::new();
    let page = |request: Request| request.header("Sec-Fetch-Mode", "navigate").header("Accept-Language", "ru");
    let answer = signed_world.send(&page(urlencoded()));
    assert_eq!(answer.status, 401);
    assert!(answer.body.contains("только подписанные сообщения"), "{}", answer.body);
    let answer = signed_world.send(&Request::new("GET", ADDRESS));
    assert_eq!((answer.status, answer.header("Allow")), (405, Some("POST, OPTIONS")));
    let body = urlencode(&[("name", "Анна"), ("email", "no address")]);
    let request = Request::new("POST", ADDRESS).body(URLENCODED, body);
    let signature = sign(SECRET, &request.body);
    let answer = signed_world.send(&page(request).header("X-Form-Signature", &signature));
    assert_eq!(answer.status, 422);
    assert!(!answer.body.contains("<form"), "{}", answer.body);
}

#[test]
fn a_spool_is_a_private_file_and_memory_does_not_grow_with_it() {
    use std::os::unix::fs::PermissionsExt;
    let signed_world = Signed::new();
    let request = signed(submission().pdf("x.pdf", &pdf("mode", 2_000_000)).post(ADDRESS), SECRET);
    let bytes = request.bytes();
    let mut stream = TcpStream::connect(signed_world.world.address()).unwrap();
    stream.write_all(&bytes[..bytes.len() - 10]).unwrap();
    signed_world.wait_for_parts(1);
    let part = signed_world.world.data().join("tmp").join(&signed_world.world.parts()[0]);
    assert_eq!(std::fs::metadata(&part).unwrap().permissions().mode() & 0o777, 0o600);
    let started = Instant::now();
    while std::fs::metadata(&part).unwrap().len() < 1_900_000 {
        assert!(started.elapsed() < Duration::from_secs(10), "all but the last piece lies on disk");
        std::thread::sleep(Duration::from_millis(5));
    }
    stream.write_all(&bytes[bytes.len() - 10..]).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    drop(read_all(&mut stream));
}

#[test]
fn an_empty_multipart_body_is_signed_like_any_other() {
    let signed_world = Signed::new();
    let body = format!("--{BOUNDARY}--\r\n");
    let empty = Request::new("POST", ADDRESS).body(&format!("multipart/form-data; boundary={BOUNDARY}"), body);
    assert_eq!(signed_world.send(&signed(empty, SECRET)).status, 422);
    let nothing = Request::new("POST", ADDRESS).body(URLENCODED, "");
    assert_eq!(signed_world.send(&signed(nothing, SECRET)).status, 422);
    let forged = Multipart::default().post(ADDRESS);
    assert_eq!(signed_world.send(&json(forged)).status, 401);
    signed_world.world.assert_nothing_kept();
}

/// The first block of this language in the manual.
fn manual_block(language: &str) -> String {
    let manual = include_str!("../docs/signed.md");
    let (_, rest) = manual.split_once(&format!("```{language}\n")).expect("the block");
    rest.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn what_the_manual_shows_works_as_it_stands_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.secret");
    write_private(&file, &format!("{SECRET}\n"));
    let form = format!("[form.orders]\nsignature_secret_file = \"{}\"\n", file.display());
    let world = World::with("", &form);
    for (program, language) in [("sh", "sh"), ("node", "js")] {
        let needs: &[&str] = if program == "sh" { &["curl", "openssl"] } else { &["node"] };
        if needs.iter().any(|name| Command::new(name).arg("--version").output().is_err()) {
            common::skip("the manual's examples need curl, openssl and nodejs");
            continue;
        }
        let mut command = Command::new(program);
        command.current_dir(folder.path()).env("FORM", format!("http://{}/f/acme/orders", world.address()));
        command.env_remove("http_proxy").env("no_proxy", "*");
        let flag = if program == "sh" { "-c" } else { "-e" };
        let ran = command.arg(flag).arg(manual_block(language)).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(said.contains("\"ok\":true"), "{program}: {said}{}", String::from_utf8_lossy(&ran.stderr));
    }
}
