//! Deliveries: webhooks and mail against peers that misbehave, under a clock that is stepped, never slept.

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

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use common::client::{Multipart, pdf};
use common::peers::{HOLD, Smtp};
use common::{FIELDS, HOOK_SECRET, World, submission};
use formd::harness::{Span, Timestamp};

/// A world whose form tells only one destination.
fn only(destination: &str) -> World {
    World::with("", &format!("[form.quote]\ntitle = \"Quote\"\ndestinations = [\"{destination}\"]\n{FIELDS}"))
}

/// When the only delivery is due next, in seconds from now.
fn due_in(world: &World, receipt: &str) -> i64 {
    let shown = world.show(receipt);
    let at = shown["deliveries"][0]["next_attempt_at"].as_str().expect("a next attempt");
    Timestamp::parse(at).unwrap().since(world.clock.now()).as_millis() / 1000
}

#[test]
fn a_webhook_that_answers_500_then_429_then_302_is_retried_as_promised_and_ends_refused() {
    let world = only("crm");
    world.hooks.script(&[
        "500 Oops",
        "429 Slow Down\r\nRetry-After: 120",
        "302 Found\r\nLocation: http://127.0.0.1:1/",
    ]);
    let receipt = world.post(&submission(), None).receipt();
    assert_eq!(world.states(&receipt), ["webhook pending 0"]);

    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["webhook retrying 1"]);
    assert!((30..=60).contains(&due_in(&world, &receipt)), "{}", due_in(&world, &receipt));
    world.pass(Span::from_secs(29));
    assert_eq!(world.deliver(), 0, "nothing before its time");

    world.pass(Span::from_secs(32));
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["webhook retrying 2"]);
    assert_eq!(due_in(&world, &receipt), 120, "Retry-After lengthens the wait");

    world.pass(Span::from_secs(121));
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["webhook failed 3"]);
    let delivery = world.show(&receipt)["deliveries"][0].clone();
    assert_eq!(delivery["reason"], "refused");
    assert_eq!(delivery["attempts_made"].as_array().unwrap().len(), 3);
    assert_eq!(world.hooks.calls().len(), 3, "a redirect is never followed");

    world.hooks.script(&["200 OK"]);
    let id = delivery["id"].as_str().unwrap().to_owned();
    let _ = world.ctl(&["resend", &id]).ok();
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["webhook delivered 1"]);
    assert_eq!(world.show(&receipt)["deliveries"][0]["id"], id, "the same delivery");
}

#[test]
fn five_failures_exhaust_a_delivery() {
    let world = only("crm");
    world.hooks.script(&["503 Down"]);
    let receipt = world.post(&submission(), None).receipt();
    for attempt in 1..=5 {
        assert_eq!(world.deliver(), 1, "attempt {attempt}");
        world.pass(Span::from_hours(1));
    }
    assert_eq!(world.deliver(), 0);
    assert_eq!(world.states(&receipt), ["webhook failed 5"]);
    assert_eq!(world.show(&receipt)["deliveries"][0]["reason"], "exhausted");
    let status = world.ctl(&["status", "--json"]);
    assert_eq!(status.code, 2, "{}", status.stdout);
}

#[test]
fn a_webhook_body_is_what_the_contract_says_and_its_signature_verifies_elsewhere() {
    let world = only("crm");
    let body = submission().field("extra", "kept").pdf("план \"б\".pdf", &pdf("hook", 3000));
    let receipt = world.post(&body, None).receipt();
    world.deliver();
    let call = world.hooks.calls().remove(0);
    let json: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
    let members: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(members.len(), 12, "{members:?}");
    assert_eq!(json["event"], "form.submitted");
    assert_eq!(json["receipt"], receipt.as_str());
    assert_eq!(
        (json["site"].as_str(), json["form"].as_str(), json["section"].as_str()),
        (Some("acme"), Some("quote"), Some("quote"))
    );
    assert_eq!(json["submitted_at"], "2026-11-30T12:00:00.000Z");
    assert_eq!(json["values"]["name"], "Анна");
    assert_eq!(json["values"]["extra"], "kept");
    assert_eq!(json["labels"]["email"], "Почта");
    assert_eq!(json["consent"], serde_json::Value::Null);
    assert_eq!(json["attachments"]["file"][0]["type"], "application/pdf");
    assert_eq!(json["attachments"]["file"][0]["size"], 3000);
    assert_eq!(call.header("X-Formd-Event"), "form.submitted");
    assert_eq!(call.header("X-Formd-Delivery"), format!("{receipt}-d1"));
    let Some(expected) = python_hmac(HOOK_SECRET, &call.body) else { return };
    assert_eq!(call.header("X-Formd-Signature"), format!("sha256={expected}"));
}

#[test]
fn what_a_receiver_says_is_shown_until_the_values_are_erased() {
    const WORD: &str = "no-lead-for-Анна";
    let world = Arc::new(only("crm"));
    let said = format!("503 Busy\r\n\r\n{{\"error\":\"{WORD}\"}}\r\n\u{1b}[2J{}", "x".repeat(300));
    world.hooks.script(&[said.leak()]);
    let receipt = world.post(&submission(), None).receipt();
    world.deliver();
    let shown = world.show(&receipt)["deliveries"][0].clone();
    let note = format!("HTTP 503: {{\"error\":\"{WORD}\"}}\\r\\n\\u{{1b}}[2J{}", "x".repeat(166));
    assert_eq!((&shown["note"], &shown["attempts_made"][0]["note"]), (&note.clone().into(), &note.into()));
    // A second attempt is under way while the values are erased: its answer comes too late to be kept.
    world.hooks.script(&[format!("hold 503 Busy\r\n\r\n{WORD}").leak()]);
    world.pass(Span::from_minutes(1));
    let sending = Arc::clone(&world);
    let late = thread::spawn(move || sending.step());
    wait_until(|| world.hooks.calls().len() == 2);
    assert!(world.ctl(&["erase", &receipt, "--yes"]).ok().contains(&receipt));
    world.hooks.let_go();
    late.join().unwrap();
    let shown = world.show(&receipt)["deliveries"][0].clone();
    assert_eq!(shown["attempts_made"].as_array().unwrap().len(), 2);
    assert!(shown["note"].is_null() && shown["attempts_made"].as_array().unwrap().iter().all(|a| a["note"].is_null()));
    let _ = world.ctl(&["sweep"]).ok();
    assert_eq!(world.traces(WORD), Vec::<String>::new());
}

/// The signature as Python's hmac computes it; `None`, said loudly, where there is no Python.
fn python_hmac(secret: &str, body: &[u8]) -> Option<String> {
    use std::io::Write;
    let program = "import hmac,sys;print(hmac.new(sys.argv[1].encode(),sys.stdin.buffer.read(),'sha256').hexdigest())";
    let started =
        Command::new("python3").args(["-c", program, secret]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = started else {
        common::skip("python3 is not installed");
        return None;
    };
    python.stdin.take().unwrap().write_all(body).unwrap();
    let out = python.wait_with_output().unwrap();
    Some(String::from_utf8(out.stdout).unwrap().trim().to_owned())
}

#[test]
fn a_greylisted_mail_is_retried_and_keeps_its_message_id() {
    let world = only("sales");
    world.mail.script(&[Smtp::Greylist, Smtp::Accept]);
    let receipt = world.post(&submission(), None).receipt();
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["email retrying 1"]);
    let note = world.show(&receipt)["deliveries"][0]["note"].as_str().unwrap().to_owned();
    assert!(note.contains("451") && note.contains("Greylisted"), "{note}");
    world.pass(Span::from_minutes(1));
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["email delivered 2"]);
    assert_eq!(world.mail.mails().len(), 1);
    assert!(world.mail.mails()[0].contains(&format!("{receipt}-d1@")), "{}", world.mail.mails()[0]);
}

#[test]
fn an_unknown_mailbox_is_retried_too_and_its_address_is_not_written_down() {
    let world = only("sales");
    world.mail.script(&[Smtp::Unknown]);
    let receipt = world.post(&submission(), None).receipt();
    world.deliver();
    assert_eq!(world.states(&receipt), ["email retrying 1"]);
    let note = world.show(&receipt)["deliveries"][0]["note"].as_str().unwrap().to_owned();
    assert!(note.contains("550") && !note.contains('@'), "{note}");
}

#[test]
fn a_server_that_is_silent_at_quit_has_the_mail_and_gets_it_once() {
    let world = only("sales");
    world.mail.script(&[Smtp::SilentAtQuit]);
    let receipt = world.post(&submission(), None).receipt();
    let started = Instant::now();
    assert_eq!(world.deliver(), 1);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(world.states(&receipt), ["email delivered 1"]);
    assert_eq!(world.mail.mails().len(), 1);
}

#[test]
fn an_attempt_takes_ten_seconds_at_most() {
    let world = only("sales");
    world.mail.script(&[Smtp::SilentAfterData]);
    let receipt = world.post(&submission(), None).receipt();
    let started = Instant::now();
    assert_eq!(world.deliver(), 1);
    assert!(started.elapsed() < Duration::from_millis(11_500), "{:?}", started.elapsed());
    assert_eq!(world.states(&receipt), ["email retrying 1"]);
}

#[test]
fn a_visitor_forges_neither_a_header_nor_a_line() {
    let world = only("sales");
    let message = "hello\r\nBcc: victim@example.com\r\nПочта: forged@example.com\r\n.\r\nMAIL FROM:<x@y.z>";
    let body = Multipart::default().field("name", "Анна").field("email", "anna@example.com").field("message", message);
    let receipt = world.post(&body, None).receipt();
    world.deliver();
    let mails = world.mail.mails();
    assert_eq!(mails.len(), 1);
    let parsed = mail_parser::MessageParser::default().parse(mails[0].as_bytes()).unwrap();
    assert!(parsed.bcc().is_none() && parsed.cc().is_none());
    assert_eq!(parsed.reply_to().and_then(|r| r.first()).and_then(|a| a.address()), Some("anna@example.com"));
    assert_eq!(parsed.from().and_then(|r| r.first()).and_then(|a| a.address()), Some("forms@example.com"));
    assert_eq!(parsed.subject(), Some(format!("New form submission: Quote - {receipt}").as_str()));
    let text = parsed.body_text(0).unwrap().replace("\r\n", "\n");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.contains(&"Сообщение: hello"), "{text}");
    assert!(lines.contains(&"  Bcc: victim@example.com"), "{text}");
    assert!(lines.contains(&"  Почта: forged@example.com"), "{text}");
    assert_eq!(lines.iter().filter(|l| l.starts_with("Почта: ")).count(), 1, "{text}");
}

#[test]
fn resend_during_a_send_is_refused_as_in_progress() {
    let world = Arc::new(only("crm"));
    world.hooks.script(&[HOLD]);
    let receipt = world.post(&submission(), None).receipt();
    let sending = Arc::clone(&world);
    let attempt = thread::spawn(move || sending.step());
    wait_until(|| !world.hooks.calls().is_empty());
    let refused = world.ctl(&["resend", &format!("{receipt}-d1")]);
    assert_eq!(refused.code, 4);
    assert!(format!("{}{}", refused.stdout, refused.stderr).contains("delivery_in_progress"), "{refused:?}");
    world.hooks.let_go();
    attempt.join().unwrap();
    assert_eq!(world.states(&receipt), ["webhook delivered 1"]);
    let refused = world.ctl(&["resend", &receipt]);
    assert_eq!(refused.code, 1, "delivered is not sent again: {refused:?}");
}

#[test]
fn a_claim_older_than_five_minutes_is_taken_over_and_the_late_answer_is_ignored() {
    let world = Arc::new(only("crm"));
    world.hooks.script(&[HOLD, "500 Oops"]);
    let receipt = world.post(&submission(), None).receipt();
    let sending = Arc::clone(&world);
    let late = thread::spawn(move || sending.step());
    wait_until(|| world.hooks.calls().len() == 1);
    world.pass(Span::from_minutes(4));
    assert_eq!(world.deliver(), 0, "one claim at a time");
    world.pass(Span::from_secs(61));
    assert_eq!(world.deliver(), 1, "taken over");
    assert_eq!(world.states(&receipt), ["webhook retrying 2"]);
    world.hooks.let_go();
    late.join().unwrap();
    assert_eq!(world.states(&receipt), ["webhook retrying 2"], "the late 200 changes nothing");
    world.ctl(&["erase", &receipt, "--yes"]).ok();
}

#[test]
fn mail_that_is_not_set_up_fails_in_words_and_can_be_resent_later() {
    let world = World::new();
    let file = world.config_file();
    let with_mail = std::fs::read_to_string(&file).unwrap();
    let without = with_mail.lines().take(2).fold(String::new(), |all, line| all + line + "\n");
    common::write_private(&file, &format!("{without}[delivery]\nenabled = false\nattempts = 1\n"));
    world.reload().unwrap();
    let receipt = world.post(&submission(), None).receipt();
    world.deliver();
    let delivery = world.show(&receipt)["deliveries"][0].clone();
    assert_eq!((delivery["state"].as_str(), delivery["note"].as_str()), (Some("failed"), Some("mail not configured")));
    common::write_private(&file, &with_mail);
    world.reload().unwrap();
    let _ = world.ctl(&["resend", "--failed"]).ok();
    world.deliver();
    assert_eq!(world.states(&receipt)[0], "email delivered 1");
}

#[test]
fn attachments_travel_with_the_mail_where_the_destination_wants_them() {
    let site = "[[destination]]\nid = \"sales\"\nemail = \"sales@acme.example\"\nattach_files = true\n";
    let world = World::with(site, &format!("[form.quote]\n{FIELDS}"));
    let receipt = world.post(&submission().pdf("отчёт.pdf", &pdf("mail", 9000)), None).receipt();
    world.deliver();
    assert_eq!(world.states(&receipt), ["email delivered 1"]);
    let mails = world.mail.mails();
    let parsed = mail_parser::MessageParser::default().parse(mails[0].as_bytes()).unwrap();
    assert_eq!(parsed.attachment_count(), 1);
    assert_eq!(parsed.attachment(0).unwrap().contents(), pdf("mail", 9000));
}

fn wait_until(done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(10), "waited too long");
        thread::sleep(Duration::from_millis(5));
    }
}
