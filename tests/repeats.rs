//! Repeats: five clicks are one submission, a known key is answered whatever happened since, another content
//! under the same key overwrites nothing.

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
use std::net::TcpStream;
use std::thread;

use common::client::{Answer, Multipart, Request, pdf, urlencode};
use common::{FIELDS, World, submission};
use formd::harness::Span;

fn with_pdf() -> Multipart {
    submission().pdf("техзадание.pdf", &pdf("clicks", 20_000))
}

#[test]
fn five_parallel_clicks_make_one_receipt_one_file_one_delivery_per_destination() {
    let world = World::new();
    let request =
        with_pdf().post("/f/acme/quote").header("Accept", "application/json").header("Idempotency-Key", "click");
    let address = world.address();
    let clicks: Vec<_> = (0..5).map(|_| request.clone()).map(|r| thread::spawn(move || r.send(address))).collect();
    let answers: Vec<Answer> = clicks.into_iter().map(|click| click.join().unwrap()).collect();

    let receipts: Vec<String> = answers.iter().map(Answer::receipt).collect();
    assert!(receipts.iter().all(|r| *r == receipts[0]), "{receipts:?}");
    let replayed = answers.iter().filter(|a| a.header("Idempotent-Replayed") == Some("true")).count();
    assert_eq!(replayed, 4);
    assert_eq!(world.count("SELECT count(*) FROM receipts"), 1);
    assert_eq!(world.count("SELECT count(*) FROM deliveries"), 2);
    assert_eq!(world.attachments().len(), 1);
    assert_eq!(world.parts(), Vec::<String>::new());
    let shown = world.show(&receipts[0]);
    let sum = formd::harness::sha256_hex(&pdf("clicks", 20_000));
    assert_eq!(shown["attachments"][0]["sha256"], sum);
    assert_eq!(world.deliver(), 2);
    assert_eq!(world.mail.mails().len(), 1);
    assert_eq!(world.hooks.calls().len(), 1);
}

#[test]
fn the_same_key_with_other_content_is_a_conflict_and_overwrites_nothing() {
    let world = World::new();
    let receipt = world.post(&with_pdf(), Some("k1")).receipt();
    let other = submission().field("message", "anders");
    let answer = world.post(&Multipart::default().field("name", "B").field("email", "b@example.com"), Some("k1"));
    assert_eq!((answer.status, answer.json()["code"].as_str()), (409, Some("key_conflict")));
    // What would be refused anyway is a conflict as well: the key comes first.
    assert_eq!(world.post(&other, Some("k1")).status, 409);
    assert_eq!(world.count("SELECT count(*) FROM receipts"), 1);
    assert_eq!(world.show(&receipt)["values"][0]["value"], "Анна");
}

#[test]
fn a_conflict_page_keeps_the_text_and_offers_to_send_it_as_a_new_message() {
    let world = World::new();
    let first = [("_key", "tab"), ("name", "A"), ("email", "a@example.com"), ("message", "one")];
    let second = [("_key", "tab"), ("name", "A"), ("email", "a@example.com"), ("message", "two <b>bold</b>")];
    let post = |pairs: &[(&str, &str)]| {
        let form = Request::new("POST", "/f/acme/quote").body("application/x-www-form-urlencoded", urlencode(pairs));
        world.send(&form.header("Accept", "text/html").header("Sec-Fetch-Mode", "navigate"))
    };
    assert_eq!(post(&first).status, 200);
    let page = post(&second);
    assert_eq!(page.status, 409);
    assert!(
        page.body.contains("two &lt;b&gt;bold&lt;&#x2f;b&gt;") || page.body.contains("two &lt;b&gt;bold&lt;/b&gt;"),
        "{}",
        page.body
    );
    assert!(page.body.contains("name=\"_key\""), "{}", page.body);
    assert!(!page.body.contains("value=\"tab\""), "the old key must not be offered again");
}

#[test]
fn a_repeat_gets_the_same_receipt_after_erasure_after_closing_and_after_removal_of_the_form() {
    let mut world = World::new();
    let receipt = world.post(&with_pdf(), Some("k")).receipt();
    world.deliver();

    world.ctl(&["erase", &receipt, "--yes"]).ok();
    assert_eq!(world.post(&with_pdf(), Some("k")).receipt(), receipt);

    world.write_site("", &format!("[form.quote]\naccept = false\n{FIELDS}"));
    world.reload().unwrap();
    assert_eq!(world.post(&with_pdf(), Some("k")).receipt(), receipt);
    let fresh = world.post(&with_pdf(), Some("another"));
    assert_eq!((fresh.status, fresh.json()["code"].as_str()), (403, Some("form_closed")));

    // Another rule makes the old content invalid: its key is still known.
    world.write_site("", &format!("[form.quote]\n{}", FIELDS.replace("max_length = 200", "max_length = 1")));
    world.reload().unwrap();
    assert_eq!(world.post(&with_pdf(), Some("k")).receipt(), receipt);
    assert_eq!(world.post(&with_pdf(), Some("another")).faults(), ["name:too_long"]);

    world.write_site("", "[form.other]\n");
    world.restart();
    assert_eq!(world.post(&with_pdf(), Some("k")).receipt(), receipt);
    assert_eq!(world.post(&with_pdf(), Some("another")).status, 404);
    assert_eq!(world.count("SELECT count(*) FROM receipts"), 1);
}

#[test]
fn a_repeat_is_answered_with_the_rate_limit_spent_and_nothing_else_is() {
    let world = World::with("rate = [\"2/h\"]", &format!("[form.quote]\n{FIELDS}"));
    let receipt = world.post(&with_pdf(), Some("k")).receipt();
    let _ = world.post(&submission(), Some("second")).receipt();

    let repeat = world.post(&with_pdf(), Some("k"));
    assert_eq!(repeat.receipt(), receipt);
    assert_eq!(repeat.header("Idempotent-Replayed"), Some("true"));
    // The key in the body, as a page without JavaScript sends it.
    let in_body = Multipart::default().field("_key", "k");
    let in_body = in_body.field("name", "Анна").field("email", "anna@example.com").field("message", "Здравствуйте");
    let in_body = in_body.pdf("техзадание.pdf", &pdf("clicks", 20_000));
    assert_eq!(world.post(&in_body, None).receipt(), receipt);

    let fresh = world.post(&submission(), Some("third"));
    assert_eq!(fresh.status, 429);
    assert!(fresh.header("Retry-After").is_some_and(|s| s.parse::<u64>().unwrap() <= 3600), "{fresh:?}");
    assert_eq!(fresh.header("X-RateLimit-Remaining"), Some("0"));
    let other_content = world.post(&submission(), Some("k"));
    assert_eq!(other_content.status, 429);
    assert_eq!(world.count("SELECT count(*) FROM receipts"), 2);
}

#[test]
fn a_first_upload_that_stalls_does_not_block_the_complete_retry_with_the_same_key() {
    let world = World::new();
    let request =
        with_pdf().post("/f/acme/quote").header("Accept", "application/json").header("Idempotency-Key", "stall");
    let bytes = request.bytes();
    let mut stalled = TcpStream::connect(world.address()).unwrap();
    stalled.write_all(&bytes[..bytes.len() / 2]).unwrap();
    let receipt = request.send(world.address()).receipt();
    // The first one wakes up after all: the same receipt.
    stalled.write_all(&bytes[bytes.len() / 2..]).unwrap();
    let late = common::client::parse_answers(&common::client::read_all(&mut stalled)).remove(0);
    assert_eq!(late.receipt(), receipt);
    assert_eq!(world.attachments().len(), 1);
}

#[test]
fn without_a_key_the_same_content_of_one_client_within_ten_minutes_is_one_submission() {
    let world = World::new();
    let first = world.post(&submission(), None).receipt();
    world.pass(Span::from_minutes(9));
    let again = world.post(&submission(), None);
    assert_eq!(again.receipt(), first);
    assert_eq!(again.header("Idempotent-Replayed"), Some("true"));
    world.pass(Span::from_minutes(2));
    assert_ne!(world.post(&submission(), None).receipt(), first);
    let other =
        submission().post("/f/acme/quote").header("Accept", "application/json").header("X-Real-IP", "203.0.113.9");
    let other = world.send(&other);
    assert_eq!(other.header("Idempotent-Replayed"), None, "another client is another submission");
    assert_eq!(world.count("SELECT count(*) FROM receipts"), 3);
}

#[test]
fn a_refused_request_never_uses_up_its_key() {
    let world = World::new();
    let missing = Multipart::default().field("name", "Анна");
    assert_eq!(world.post(&missing, Some("k")).status, 422);
    assert_eq!(world.post(&submission(), Some("k")).status, 200);
}

#[test]
fn two_keys_that_differ_and_keys_that_are_none_are_refused() {
    let world = World::new();
    let differing = Multipart::default().field("_key", "b").field("name", "A").field("email", "a@example.com");
    assert_eq!(world.post(&differing, Some("a")).status, 400);
    assert_eq!(world.post(&differing, Some("b")).status, 200);
    assert_eq!(world.post(&submission(), Some("ключ")).status, 400);
    assert_eq!(world.post(&submission(), Some(&"k".repeat(201))).status, 400);
    // An empty one is none; a quoted one is the bare one.
    let plain = world.post(&submission(), Some("")).receipt();
    let quoted = world.post(&submission(), Some("\"q\"")).receipt();
    assert_ne!(plain, quoted);
    assert_eq!(world.post(&submission(), Some("q")).receipt(), quoted);
}

#[test]
fn the_same_content_is_recognised_however_it_is_sent() {
    let world = World::new();
    let pairs = [("name", "Анна"), ("email", "anna@example.com"), ("message", "Здравствуйте")];
    let multipart = world.post(&submission(), Some("k")).receipt();
    let form = Request::new("POST", "/f/acme/quote.json").body("application/x-www-form-urlencoded", urlencode(&pairs));
    assert_eq!(world.send(&form.header("Idempotency-Key", "k")).receipt(), multipart);
    let json = serde_json::json!({"message": "Здравствуйте", "email": "anna@example.com", "name": "Анна", "_key": "k"});
    let json = Request::new("POST", "/f/acme/quote/").body("application/json", json.to_string());
    assert_eq!(world.send(&json).receipt(), multipart);
}
