//! `formctl test`: a submission that says it is one, through the same queue and code as any other.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::missing_docs_in_private_items,
    reason = "a test ends where it fails, and its name is its documentation"
)]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::peers::Smtp;
use common::process::{Process, write_config};
use common::{FIELDS, World, submission};
use serde_json::Value;

/// The receipt and the deliveries that `test --json` printed.
fn told(stdout: &str) -> (Value, Vec<Value>) {
    let mut lines = stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    (lines.next().expect("a receipt"), lines.collect())
}

#[test]
fn a_test_arrives_by_mail_and_webhook_and_says_that_it_is_one() {
    let world = World::new();
    let ran = world.ctl(&["test", "acme/quote", "--json"]);
    let (accepted, deliveries) = told(&ran.ok());
    let receipt = accepted["receipt"].as_str().unwrap();
    assert_eq!((accepted["form"].as_str(), accepted["deliveries"].as_u64()), (Some("quote"), Some(2)));
    let states: Vec<_> =
        deliveries.iter().map(|d| (d["channel"].as_str().unwrap(), d["state"].as_str().unwrap())).collect();
    assert_eq!(states, [("email", "delivered"), ("webhook", "delivered")]);

    let mails = world.mail.mails();
    let mail = mail_parser::MessageParser::default().parse(mails[0].as_bytes()).unwrap();
    assert_eq!(mail.subject(), Some(format!("[test] New form submission: Quote - {receipt}").as_str()));
    let text = mail.body_text(0).unwrap();
    assert!(
        text.starts_with("This is a test, sent by `formctl test`: no visitor filled the form.\r\n\r\nИмя: "),
        "{text}"
    );
    assert!(text.contains("formctl-test.pdf"), "an optional file field gets a file: {text}");
    let body: Value = serde_json::from_slice(&world.hooks.calls()[0].body).unwrap();
    assert_eq!((&body["test"], body["receipt"].as_str()), (&Value::Bool(true), Some(receipt)));

    let shown = world.show(receipt);
    assert_eq!(shown["page"], "formctl test");
    assert_eq!(shown["values"][1]["value"], "formctl-test@example.com");
    assert_eq!(shown["attachments"][0]["type"], "application/pdf");
    let listed = world.ctl(&["list"]).ok();
    assert!(listed.contains("formctl test"), "{listed}");
}

#[test]
fn a_visitors_submission_says_nothing_of_tests() {
    let world = World::new();
    let receipt = world.post(&submission(), None).receipt();
    world.deliver();
    assert!(!String::from_utf8_lossy(&world.hooks.calls()[0].body).contains("\"test\""));
    assert!(!world.mail.mails()[0].contains("[test]") && world.show(&receipt)["page"].is_null());
    assert_eq!(world.count("SELECT count(*) FROM contents WHERE fields LIKE '%sent_by%'"), 0);
}

#[test]
fn a_test_sends_nothing_but_itself_and_two_tests_are_two() {
    let world = World::new();
    let waiting = world.post(&submission(), None).receipt();
    for _ in 0..2 {
        let _ = world.ctl(&["test", "quote"]).ok();
    }
    assert_eq!(world.states(&waiting), ["email pending 0", "webhook pending 0"]);
    assert_eq!(world.mail.mails().len(), 2);
    let status = world.ctl(&["status", "--json"]);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["lookalikes"], 0, "tests are no sign of a page that renews its key");
}

#[test]
fn what_does_not_arrive_is_named_with_what_the_peer_said() {
    let world = World::new();
    world.mail.script(&[Smtp::Unknown]);
    world.hooks.script(&["404 Gone Fishing"]);
    let ran = world.ctl(&["test", "acme/quote"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{}", ran.stdout);
    let receipt = lines[0].strip_prefix("acme/quote: accepted as ").unwrap().strip_suffix("; 2 deliveries").unwrap();
    assert!(lines[1].starts_with(&format!("{receipt}-d1  email sales: retrying 1, next 12:0")), "{}", lines[1]);
    assert!(lines[1].contains("550 5.1.1") && !lines[1].contains('@'), "{}", lines[1]);
    assert!(lines[2].starts_with(&format!("{receipt}-d2  webhook crm: failed (refused)  HTTP 404")), "{}", lines[2]);
    assert_eq!(lines[3], format!("erase it: formctl erase {receipt} --yes"));
    let _ = world.ctl(&["erase", receipt, "--yes"]).ok();
}

#[test]
fn values_of_ones_own_are_judged_as_a_visitors() {
    let world = World::with("", &format!("[form.quote]\nextra_fields = \"reject\"\n{FIELDS}"));
    let refused = world.ctl(&["test", "quote", "--set", "email=nobody", "--set", "name="]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("  name: ") && refused.stderr.contains("  email: "), "{}", refused.stderr);
    assert!(refused.stderr.contains("--set NAME=VALUE"), "{}", refused.stderr);
    world.assert_nothing_kept();
    let ran = world.ctl(&["test", "quote", "--set", "name=Анна", "--email", "me@acme.example", "--no-files", "--json"]);
    let receipt = told(&ran.ok()).0["receipt"].as_str().unwrap().to_owned();
    let shown = world.show(&receipt);
    assert_eq!(
        (&shown["values"][0]["value"], &shown["values"][1]["value"]),
        (&"Анна".into(), &"me@acme.example".into())
    );
    assert_eq!(shown["attachments"], serde_json::json!([]));
}

#[test]
fn a_test_takes_the_limit_of_no_visitor() {
    let world = World::with("rate = [\"1/d\"]\n", &format!("[form.quote]\n{FIELDS}"));
    for _ in 0..3 {
        let _ = world.ctl(&["test", "quote"]).ok();
    }
    let _ = world.post(&submission(), None).receipt();
}

#[test]
fn a_form_that_tells_nobody_keeps_the_test_and_says_so() {
    let world = World::with("", &format!("[form.quote]\ndestinations = []\n{FIELDS}"));
    let ran = world.ctl(&["test", "quote"]).ok();
    assert!(ran.contains("; nobody is told of it\n"), "{ran}");
    let (accepted, deliveries) = told(&world.ctl(&["test", "quote", "--json"]).ok());
    assert_eq!((accepted["deliveries"].as_u64(), deliveries.len()), (Some(0), 0));
}

/// The real `formctl`.
fn formctl(config: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_formctl")).arg("--config").arg(config).args(args).output().unwrap()
}

#[test]
fn a_running_daemon_delivers_and_without_one_the_command_does() {
    let folder = tempfile::tempdir().unwrap();
    let config = write_config(folder.path(), "");
    let mut daemon = Process::start(&config);
    let count = || common::files_below(&folder.path().join("data/mail")).len();
    for mails in 1..=2 {
        let ran = formctl(&config, &["test", "acme/quote"]);
        let stdout = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(ran.status.code(), Some(0), "{stdout}{}", String::from_utf8_lossy(&ran.stderr));
        assert!(stdout.contains("-d1  email sales: delivered  written to a file\n"), "{stdout}");
        assert_eq!(count(), mails);
        let log = std::fs::read_to_string(config.with_extension("log")).unwrap();
        assert_eq!(
            log.matches("delivery_attempt").count(),
            1,
            "the daemon delivered the first, formctl the second: {log}"
        );
        if mails == 1 {
            assert_eq!(daemon.stop(), Some(0));
        }
    }
}

#[test]
fn without_a_wait_the_deliveries_are_left_pending() {
    let world = World::new();
    let ran = world.ctl(&["test", "quote", "--wait", "0", "--json"]);
    assert_eq!(ran.code, 4);
    let (_, deliveries) = told(&ran.stdout);
    assert_eq!(deliveries[0]["state"], "pending");
    assert_eq!(world.deliver(), 2, "nothing is lost by not waiting");
}
