//! Bad input gets a clear error and leaves nothing behind.

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
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use common::client::{Multipart, Request, parse_answers, pdf, read_all, urlencode};
use common::{FIELDS, World, submission};

#[test]
fn html_named_pdf_is_an_error_at_its_field() {
    let world = World::new();
    let html = submission().pdf("x.pdf", b"<!doctype html><script>alert(1)</script>");
    let answer = world.post(&html, None);
    assert_eq!(answer.status, 422);
    assert_eq!(answer.faults(), ["file:file_type"]);
    assert_eq!(answer.header("Content-Type"), Some("application/problem+json"));
    world.assert_nothing_kept();
}

#[test]
fn what_is_declared_too_large_is_refused_before_the_body_is_read() {
    let world = World::new();
    let mut stream = TcpStream::connect(world.address()).unwrap();
    let head = "POST /f/acme/quote HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\
                Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 11534336\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 413", "answered though not a byte of the body was sent");
    world.assert_nothing_kept();
}

#[test]
fn a_body_without_a_length_is_cut_at_the_limit() {
    let world = World::new();
    let mut stream = TcpStream::connect(world.address()).unwrap();
    let head = "POST /f/acme/quote HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\
                Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n".as_slice(), &vec![b'a'; 65536], b"\r\n"].concat();
    for _ in 0..200 {
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    assert_eq!(parse_answers(&read_all(&mut stream))[0].status, 413);
    world.assert_nothing_kept();
}

#[test]
fn a_file_over_its_field_is_413_with_the_error_at_the_field_and_a_mixture_is_422() {
    let world = World::with("", &format!("[form.quote]\n{FIELDS}max_size = \"100KiB\"\n"));
    let large = submission().pdf("x.pdf", &pdf("large", 150_000));
    let answer = world.post(&large, None);
    assert_eq!((answer.status, answer.faults()), (413, vec!["file:file_too_large".to_owned()]));
    let mixture = Multipart::default().field("name", "A").pdf("x.pdf", &pdf("large", 150_000));
    let answer = world.post(&mixture, None);
    assert_eq!((answer.status, answer.faults()), (422, vec!["email:required".into(), "file:file_too_large".into()]));
    world.assert_nothing_kept();
}

#[test]
fn a_sixth_file_is_one_error_that_says_too_many() {
    let world = World::with("", "[form.quote]\naccept_files = true\n");
    let six = (0..6).fold(Multipart::default(), |form, n| form.pdf(&format!("{n}.pdf"), &pdf(&format!("{n}"), 400)));
    let answer = world.post(&six, None);
    assert_eq!((answer.status, answer.faults()), (422, vec!["file:files_too_many".to_owned()]));
    world.assert_nothing_kept();
}

#[test]
fn another_content_type_is_415_and_names_the_three() {
    let world = World::new();
    let answer = world.send(&Request::new("POST", "/f/acme/quote").body("text/plain", "name=x"));
    assert_eq!(answer.status, 415);
    for name in ["multipart/form-data", "application/x-www-form-urlencoded", "application/json"] {
        assert!(answer.body.contains(name), "{}", answer.body);
    }
    let none = world.send(&Request { body: b"x".to_vec(), ..Request::new("POST", "/f/acme/quote") });
    assert_eq!(none.status, 415);
}

#[test]
fn a_packed_body_is_415_and_says_how_to_send_it() {
    let world = World::new();
    let packed = submission().post("/f/acme/quote.json").header("Content-Encoding", "gzip");
    let answer = world.send(&packed);
    assert_eq!(answer.status, 415);
    assert!(answer.body.contains("Content-Encoding"), "{}", answer.body);
    let plain = submission().post("/f/acme/quote.json").header("Content-Encoding", "identity");
    assert_eq!(world.send(&plain).status, 200);
}

#[test]
fn a_body_that_names_two_types_is_refused_though_the_first_would_do() {
    let world = World::new();
    for second in ["application/json", "text/plain", ""] {
        let answer = world.send(&submission().post("/f/acme/quote.json").header("Content-Type", second));
        assert_eq!(answer.status, 400, "{second:?}");
        assert!(answer.body.contains("two `Content-Type` headers"), "{}", answer.body);
    }
    world.assert_nothing_kept();
}

#[test]
fn an_upload_cut_in_the_middle_keeps_nothing() {
    let world = World::new();
    let bytes = submission().pdf("x.pdf", &pdf("cut", 300_000)).post("/f/acme/quote").bytes();
    for cut in [400, 700, 100_000, bytes.len() - 3] {
        let mut stream = TcpStream::connect(world.address()).unwrap();
        stream.write_all(&bytes[..cut]).unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    }
    // The daemon may not have begun to read when the client has gone already: empty has to last.
    let (started, mut empty_since) = (Instant::now(), Instant::now());
    while empty_since.elapsed() < Duration::from_millis(300) && started.elapsed() < Duration::from_secs(5) {
        if !world.parts().is_empty() {
            empty_since = Instant::now();
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    world.assert_nothing_kept();
}

#[test]
fn every_fault_comes_in_one_answer_in_form_order_in_the_language_of_the_form() {
    let fields = FIELDS.replace("kind = \"textarea\"", "kind = \"textarea\"\nrequired = true");
    let world = World::with("locale = \"ru\"", &format!("[form.quote]\n{fields}"));
    let answer = world.post(&Multipart::default().field("message", " ").field("email", "не почта"), None);
    assert_eq!(answer.status, 422);
    assert_eq!(answer.faults().len(), 3, "{}", answer.body);
    let fields: Vec<_> = answer.faults().iter().map(|f| f.split(':').next().unwrap().to_owned()).collect();
    assert_eq!(fields, ["name", "email", "message"]);
    for error in answer.json()["errors"].as_array().unwrap() {
        let message = error["message"].as_str().unwrap();
        assert!(message.chars().any(|c| ('а'..='я').contains(&c)), "{message}");
    }
    assert!(answer.json()["detail"].as_str().unwrap().chars().any(|c| ('а'..='я').contains(&c)));
    // The same as a page, with what the visitor wrote.
    let form = urlencode(&[("message", " "), ("email", "не почта")]);
    let page = Request::new("POST", "/f/acme/quote").body("application/x-www-form-urlencoded", form);
    let page = world.send(&page.header("Sec-Fetch-Mode", "navigate"));
    assert_eq!(page.status, 422);
    assert!(page.body.contains("value=\"не почта\"") && page.body.contains("lang=\"ru\""), "{}", page.body);
}

#[test]
fn unknown_sites_and_forms_are_the_same_404() {
    let world = World::new();
    let form = |path: &str| world.send(&submission().post(path).header("Accept", "application/json"));
    let (a, b) = (form("/f/acme/nothing"), form("/f/nobody/quote"));
    assert_eq!((a.status, b.status), (404, 404));
    assert_eq!(a.body, b.body);
    assert_eq!(form("/f/acme/quote/x").status, 404);
    assert_eq!(form("/").status, 404);
}

#[test]
fn other_methods_are_405_with_allow() {
    let world = World::new();
    for method in ["PUT", "DELETE", "PATCH"] {
        let answer = world.send(&Request::new(method, "/f/acme/quote"));
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.header("Allow").is_some_and(|a| a.contains("POST")), "{answer:?}");
    }
}

#[test]
fn a_foreign_origin_is_refused_and_the_own_and_unknown_ones_pass() {
    let site = "origins = [\"https://acme.example\", \"https://*.acme.example\"]";
    let world = World::with(site, &format!("[form.quote]\n{FIELDS}"));
    let status = |origin: &str| {
        let request = submission().post("/f/acme/quote").header("Accept", "application/json");
        world.send(&request.header("Origin", origin)).status
    };
    assert_eq!(status("https://evil.example"), 403);
    assert_eq!(status("http://acme.example"), 403);
    assert_eq!(status("https://acme.example"), 200);
    assert_eq!(status("https://www.acme.example"), 200);
    assert_eq!(status("null"), 200);
    assert_eq!(status("http://forms.test"), 200);
}

#[test]
fn control_fields_are_neither_stored_nor_obeyed() {
    let world = World::new();
    let body =
        submission().field("_to", "evil@example.com").field("_gotcha", "").field("_next", "https://evil.example");
    let receipt = world.post(&body, None).receipt();
    let names: Vec<String> =
        world.show(&receipt)["values"].as_array().unwrap().iter().map(|v| v["name"].to_string()).collect();
    assert_eq!(names, ["\"name\"", "\"email\"", "\"message\""]);
    world.deliver();
    assert!(!world.mail.mails()[0].contains("evil"), "{}", world.mail.mails()[0]);
}
