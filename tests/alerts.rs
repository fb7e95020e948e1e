//! The operator is told of what failed for good: once, in one message, whatever else is down.

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

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use common::client::Multipart;
use common::peers::{HookServer, MailServer, Smtp};
use common::process::Process;
use common::{FIELDS, World, submission, write_private};
use formd::harness::Span;

/// The mail alert of these tests.
const BY_MAIL: &str = "[alert]\nemail = \"admin@acme.example\"\n";
/// The secret of the alert's webhook.
const ALERT_SECRET: &str = "a-secret-of-the-pager-hook";

/// A form that tells the webhook alone, which refuses everything.
fn refusing(daemon: &str) -> World {
    let world = World::with_daemon(daemon, "", &format!("[form.quote]\ndestinations = [\"crm\"]\n{FIELDS}"));
    world.hooks.script(&["410 Gone"]);
    world
}

/// Rewrites `formd.toml`.
fn rewrite(world: &World, change: impl FnOnce(String) -> String) {
    let text = fs::read_to_string(world.config_file()).unwrap();
    write_private(&world.config_file(), &change(text));
}

/// A submission of its own.
fn numbered(number: usize) -> Multipart {
    submission().field("extra", &number.to_string())
}

/// One run of `formctl deliver`: sends what is due, then tells the operator.
fn run(world: &World) -> String {
    let ran = world.ctl(&["deliver"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout + &ran.stderr
}

/// The mails to the operator.
fn alerts(mail: &MailServer) -> Vec<String> {
    mail.mails().into_iter().filter(|mail| mail.contains("To: admin@acme.example")).collect()
}

/// A header of a mail.
fn header<'a>(mail: &'a str, name: &str) -> &'a str {
    mail.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap_or_else(|| panic!("{name}: {mail}"))
}

fn wait_until(done: impl Fn() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(10), "waited too long");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_refused_webhook_turns_the_status_critical_and_tells_the_operator_in_one_mail() {
    let world = refusing(BY_MAIL);
    let receipt = world.post(&submission(), None).receipt();
    let said = run(&world);
    assert!(said.contains("an alert was sent; deliveries that failed: 1"), "{said}");
    assert_eq!(world.ctl(&["status"]).code, 2);
    let mails = alerts(&world.mail);
    assert_eq!(mails.len(), 1);
    let mail = &mails[0];
    assert_eq!(header(mail, "From"), "Forms <forms@example.com>");
    assert_eq!(header(mail, "Subject"), "formd: 1 delivery failed");
    assert_eq!(header(mail, "Auto-Submitted"), "auto-generated");
    assert_eq!(header(mail, "Message-ID"), format!("<alert-{receipt}-d1-1@example.com>"));
    assert!(mail.contains(&format!("{receipt}-d1  acme/quote to crm by webhook, refused after 1 attempt")), "{mail}");
    assert!(mail.contains("HTTP 410"), "{mail}");

    world.pass(Span::from_days(3));
    run(&world);
    assert_eq!(alerts(&world.mail).len(), 1, "a failure is told once");
}

#[test]
fn fifty_failures_within_an_hour_are_one_mail_and_one_summary_an_hour_later() {
    let world = refusing(BY_MAIL);
    let _ = world.post(&numbered(0), None).receipt();
    run(&world);
    for number in 1..50 {
        let _ = world.post(&numbered(number), None).receipt();
        world.pass(Span::from_minutes(1));
        run(&world);
    }
    assert_eq!(alerts(&world.mail).len(), 1);
    world.pass(Span::from_minutes(11));
    run(&world);
    let mails = alerts(&world.mail);
    assert_eq!(mails.len(), 2);
    assert_eq!(header(&mails[1], "Subject"), "formd: 49 deliveries failed");
    assert!(mails[1].contains("49 of acme/quote to crm") && mails[1].contains("the first 20"), "{}", mails[1]);
    assert_ne!(header(&mails[0], "Message-ID"), header(&mails[1], "Message-ID"));
    world.pass(Span::from_hours(1));
    run(&world);
    assert_eq!(alerts(&world.mail).len(), 2, "all 49 are told, not the first 20 alone");
}

#[test]
fn what_is_no_alarm_is_not_told() {
    for change in ["channel = 'confirmation'", "acked = 1", "reason = 'destination_inactive'", "reason = 'values_gone'"]
    {
        let world = refusing(BY_MAIL);
        let _ = world.post(&submission(), None).receipt();
        world.deliver();
        let database = rusqlite::Connection::open(world.data().join("formd.db")).unwrap();
        database.execute(&format!("UPDATE deliveries SET {change}"), []).unwrap();
        run(&world);
        assert_eq!(alerts(&world.mail), Vec::<String>::new(), "{change}");
        database.execute("UPDATE deliveries SET channel = 'webhook', acked = 0, reason = 'refused'", []).unwrap();
        run(&world);
        assert_eq!(alerts(&world.mail).len(), 1, "{change} undone");
    }
}

#[test]
fn what_was_acknowledged_before_is_not_told() {
    let world = refusing(BY_MAIL);
    let first = world.post(&numbered(1), None).receipt();
    let second = world.post(&numbered(2), None).receipt();
    world.deliver();
    let _ = world.ctl(&["deliveries", "--ack", &format!("{first}-d1")]).ok();
    run(&world);
    let mails = alerts(&world.mail);
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains(&second) && !mails[0].contains(&first), "{}", mails[0]);
}

#[test]
fn what_was_erased_before_is_not_told() {
    let world = refusing(BY_MAIL);
    let receipt = world.post(&submission(), None).receipt();
    world.deliver();
    let _ = world.ctl(&["erase", &receipt, "--yes"]).ok();
    run(&world);
    assert_eq!(alerts(&world.mail), Vec::<String>::new());
}

#[test]
fn a_resend_that_fails_again_is_told_again() {
    let world = refusing(BY_MAIL);
    let receipt = world.post(&submission(), None).receipt();
    run(&world);
    world.pass(Span::from_hours(2));
    let _ = world.ctl(&["resend", &receipt]).ok();
    run(&world);
    let mails = alerts(&world.mail);
    assert_eq!(mails.len(), 2);
    assert_eq!(
        header(&mails[1], "Message-ID"),
        format!("<alert-{receipt}-d1-2@example.com>"),
        "no duplicate of the first"
    );
}

#[test]
fn an_alert_that_is_not_taken_holds_nothing_up_and_is_tried_again_after_five_minutes() {
    let world = refusing(BY_MAIL);
    world.mail.script(&[Smtp::Greylist]);
    let first = world.post(&numbered(1), None).receipt();
    let said = run(&world);
    assert!(said.contains("the alert was not taken (451 4.7.1)"), "{said}");
    world.hooks.script(&["200 OK"]);
    let second = world.post(&numbered(2), None).receipt();
    world.mail.script(&[Smtp::Accept]);
    run(&world);
    assert_eq!(world.states(&second), ["webhook delivered 1"]);
    assert_eq!(alerts(&world.mail).len(), 0, "not before its time");
    world.pass(Span::from_minutes(5));
    run(&world);
    assert_eq!(alerts(&world.mail).len(), 1);
    assert!(alerts(&world.mail)[0].contains(&first));
    assert_eq!(world.count("SELECT COUNT(*) FROM deliveries"), 2, "an alert is no delivery");
}

#[test]
fn without_a_mail_set_up_the_alert_cannot_leave_and_says_so() {
    let world = refusing(BY_MAIL);
    rewrite(&world, |text| {
        let (before, rest) = text.split_once("[mail]").unwrap();
        format!("{before}[delivery]{}", rest.split_once("[delivery]").unwrap().1)
    });
    world.reload().unwrap();
    let checked = world.ctl(&["check"]);
    assert_eq!(checked.code, 0);
    assert!((checked.stdout + &checked.stderr).contains("the alert of failed deliveries cannot leave"));
    let _ = world.post(&submission(), None).receipt();
    assert!(run(&world).contains("mail not configured"));
}

#[test]
fn a_restart_keeps_the_pace() {
    let mut world = refusing(BY_MAIL);
    let _ = world.post(&numbered(1), None).receipt();
    run(&world);
    let _ = world.post(&numbered(2), None).receipt();
    world.restart();
    world.pass(Span::from_minutes(59));
    run(&world);
    assert_eq!(alerts(&world.mail).len(), 1);
    world.restart();
    world.pass(Span::from_minutes(1));
    run(&world);
    assert_eq!(alerts(&world.mail).len(), 2);
}

#[test]
fn an_alert_by_webhook_is_signed_like_a_submission() {
    let world = refusing("");
    let pager = HookServer::start(&["204 No Content"]);
    rewrite(&world, |text| {
        let port = pager.address.port();
        format!(
            "{text}[alert]\nwebhook = \"http://127.0.0.1:{port}/pager\"\nsecret = \"{ALERT_SECRET}\"\nat_most_every = \"10m\"\n"
        )
    });
    let receipt = world.post(&submission(), None).receipt();
    run(&world);
    let calls = pager.calls();
    assert_eq!(calls.len(), 1);
    let call = &calls[0];
    let id = format!("alert-{receipt}-d1-1");
    assert_eq!(call.header("X-Formd-Event"), "delivery.failed");
    assert_eq!(call.header("webhook-id"), id);
    let keyed = |parts: &[&[u8]]| {
        let mut mac = Hmac::<Sha256>::new_from_slice(ALERT_SECRET.as_bytes()).unwrap();
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().to_vec()
    };
    let hex = keyed(&[&call.body]).iter().fold(String::new(), |all, b| all + &format!("{b:02x}"));
    assert_eq!(call.header("X-Formd-Signature"), format!("sha256={hex}"));
    let at = call.header("webhook-timestamp");
    let standard = keyed(&[id.as_bytes(), b".", at.as_bytes(), b".", &call.body]);
    let standard = base64::engine::general_purpose::STANDARD.encode(standard);
    assert_eq!(call.header("webhook-signature"), format!("v1,{standard}"));

    let json: serde_json::Value = serde_json::from_slice(&call.body).unwrap();
    assert_eq!((&json["event"], &json["failed"]), (&"delivery.failed".into(), &1.into()));
    let told = &json["deliveries"][0];
    assert_eq!(told["id"], format!("{receipt}-d1"));
    assert_eq!(told["receipt"], receipt.as_str());
    assert_eq!((&told["site"], &told["form"], &told["channel"]), (&"acme".into(), &"quote".into(), &"webhook".into()));
    assert_eq!((&told["destination"], &told["reason"]), (&"crm".into(), &"refused".into()));
    assert_eq!((&told["attempts"], &told["note"]), (&1.into(), &"HTTP 410".into()));
    assert!(told["failed_at"].as_str().unwrap().starts_with("2026-11-30T12:00:00."), "{told}");
}

/// A receiver that answers 422 with all that it was sent.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
            let mut heard = Vec::new();
            // Ends by the time-out: the caller waits for the answer.
            drop(stream.read_to_end(&mut heard));
            let body = heard.windows(4).position(|w| w == b"\r\n\r\n").map_or(&heard[..], |at| &heard[at + 4..]);
            drop(write!(stream, "HTTP/1.1 422 No\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len()));
            drop(stream.write_all(body));
        }
    });
    port
}

#[test]
fn no_value_of_a_visitor_is_in_an_alert_not_even_where_the_peer_says_it() {
    let port = echo();
    let site = format!(
        "[[destination]]\nid = \"crm\"\nwebhook = \"http://127.0.0.1:{port}/x\"\nsecret = \"{ALERT_SECRET}\"\n"
    );
    let world = World::with_daemon(BY_MAIL, &site, &format!("[form.quote]\n{FIELDS}"));
    let body = Multipart::default().field("name", "marker-name").field("email", "marker@home.example");
    let receipt = world.post(&body, None).receipt();
    run(&world);
    let mails = alerts(&world.mail);
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("HTTP 422") && !mails[0].contains("marker"), "{}", mails[0]);
    let note = world.show(&receipt)["deliveries"][0]["note"].as_str().unwrap().to_owned();
    assert!(note.starts_with("HTTP 422") && note.contains("acme"), "the peer's words stay with the delivery: {note}");
}

/// A world whose daemon sends by itself.
fn sending(world: &mut World, alert: &str) {
    rewrite(world, |text| text.replace("enabled = false\n", "enabled = true\n") + alert);
    world.restart();
}

#[test]
fn a_running_daemon_tells_within_seconds_and_a_reload_says_whom() {
    let mut world = refusing("");
    sending(&mut world, "");
    let first = world.post(&numbered(1), None).receipt();
    wait_until(|| world.states(&first) == ["webhook failed 1"]);
    rewrite(&world, |text| text + BY_MAIL);
    world.reload().unwrap();
    wait_until(|| !alerts(&world.mail).is_empty());
    assert!(alerts(&world.mail)[0].contains(&first), "{}", alerts(&world.mail)[0]);
    // Written down with the hour that it was sent in: before the clock goes on.
    wait_until(|| world.count("SELECT SUM(alerted) FROM deliveries") == 1);
    world.pass(Span::from_hours(1));
    let second = world.post(&numbered(2), None).receipt();
    wait_until(|| alerts(&world.mail).len() == 2);
    let summary = alerts(&world.mail).remove(1);
    assert!(summary.contains(&second) && !summary.contains(&first), "{summary}");
    assert!(run(&world).contains("nothing was due"));
    assert_eq!(alerts(&world.mail).len(), 2, "where the daemon tells, formctl does not");
}

#[test]
fn an_alert_that_hangs_holds_up_no_delivery_and_no_sweep() {
    let mut world = refusing("");
    world.mail.script(&[Smtp::HoldData]);
    sending(&mut world, BY_MAIL);
    let _ = world.post(&numbered(1), None).receipt();
    wait_until(|| !alerts(&world.mail).is_empty());
    world.hooks.script(&["200 OK"]);
    let started = Instant::now();
    let second = world.post(&numbered(2), None).receipt();
    wait_until(|| world.states(&second) == ["webhook delivered 1"]);
    let _ = world.ctl(&["sweep"]).ok();
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert_eq!(world.count("SELECT SUM(alerted) FROM deliveries"), 0, "the alert is still under way");
    world.mail.let_go();
    wait_until(|| world.count("SELECT SUM(alerted) FROM deliveries") == 1);
}

/// A process whose only destination refuses, with this alert; its configuration and the receiver.
fn refused_process(folder: &std::path::Path, alert: &str) -> (Process, std::path::PathBuf, HookServer) {
    let hooks = HookServer::start(&["410 Gone"]);
    let config = common::process::write_config(folder, alert);
    let site = format!(
        "rate = []\n[[destination]]\nid = \"crm\"\nwebhook = \"http://127.0.0.1:{}/x\"\nsecret = \"{ALERT_SECRET}\"\n\
         [form.quote]\n{FIELDS}",
        hooks.address.port()
    );
    write_private(&folder.join("sites/acme.toml"), &site);
    (Process::start(&config), config.with_extension("log"), hooks)
}

#[test]
fn the_log_has_one_error_line_a_failure_under_a_stable_name_and_the_file_transport_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let (mut daemon, log, _hooks) = refused_process(folder.path(), BY_MAIL);
    let answer = submission().field("extra", "marker").post("/f/acme/quote.json").send(daemon.address);
    let receipt = answer.receipt();
    let file = folder.path().join("data/mail/alert.eml");
    wait_until(|| file.exists());
    assert_eq!(daemon.stop(), Some(0));
    let log = fs::read_to_string(log).unwrap();
    let failed: Vec<&str> = log.lines().filter(|line| line.contains("event=\"delivery_failed\"")).collect();
    assert_eq!(failed.len(), 1, "{log}");
    for part in ["ERROR", &format!("delivery={receipt}-d1"), "form=\"quote\"", "reason=\"refused\""] {
        assert!(failed[0].contains(part), "{part}: {log}");
    }
    assert!(log.contains("event=\"alert_sent\"") && !log.contains("marker"), "{log}");
    assert!(fs::read_to_string(file).unwrap().contains(&receipt));
}

#[test]
fn an_alert_that_cannot_leave_is_one_error_line_and_no_alarm_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody listens there any more.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let alert = format!(
        "[alert]\nwebhook = \"http://127.0.0.1:{gone}/x\"\nsecret = \"{ALERT_SECRET}\"\nat_most_every = \"1m\"\n"
    );
    let (mut daemon, log, _hooks) = refused_process(folder.path(), &alert);
    let _ = submission().post("/f/acme/quote.json").send(daemon.address).receipt();
    wait_until(|| fs::read_to_string(&log).unwrap().contains("event=\"alert_failed\""));
    let started = Instant::now();
    assert_eq!(daemon.stop(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(5), "the end waits for no alert: {:?}", started.elapsed());
    let log = fs::read_to_string(log).unwrap();
    assert_eq!(log.matches("event=\"alert_failed\"").count(), 1, "{log}");
    assert_eq!(log.matches("event=\"delivery_failed\"").count(), 1, "{log}");
}
