//! The mail servers of Debian 12, really installed and running: what formd hands them arrives, as an independent reader
//! sees it, over TLS verified against a private authority.

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

use common::client::pdf;
use common::clients::{receipt, said, sha256};
use common::machine::Machine;
use formd::harness::Timestamp;
use serde_json::{Value, json};

/// Two forms: one tells a mailbox and one that does not exist, with the file; the other sends the bare message.
const SITE: &str = r#"
rate = []
[[destination]]
id = "ghost"
email = "nobody9@mx.test"
attach_files = true
[[destination]]
id = "sales"
email = "u1@mx.test"
attach_files = true
[[destination]]
id = "bare"
email = "u1@mx.test"
text = "{{message}}"
[form.quote]
title = "Запросить расчёт 🎉"
destinations = ["ghost", "sales"]
field = [
  { name = "name", label = "Имя", kind = "text" },
  { name = "email", label = "Почта", kind = "email" },
  { name = "message", label = "Сообщение", kind = "textarea" },
  { name = "file", label = "Техзадание", kind = "file", types = [".pdf"] },
]
[form.bare]
destinations = ["bare"]
field = [{ name = "message", label = "Message", kind = "textarea" }]
"#;

/// Lines that SMTP, mailboxes and careless servers treat as their own.
const HOSTILE: &str = ".\n..\n.QUIT\nFrom here on\nlast";

const FILE_NAME: &str = "техзадание «б» 100%.pdf";

/// `[mail]` for a server of this name that speaks TLS, with a certificate of this authority.
fn verified(name: &str, authority: &str) -> String {
    format!("host = \"{name}\"\nca_file = \"/srv/{authority}.pem\"\n")
}

fn configure(machine: &Machine, mail: &str) {
    fs::create_dir_all(machine.path("/srv/formd/sites")).unwrap();
    machine.write(
        "/srv/formd/formd.toml",
        &format!(
            "listen = \"127.0.0.1:8787\"\ndata_dir = \"/srv/formd/data\"\n\
             [mail]\nfrom = \"Заявки <forms@acme.test>\"\n{mail}"
        ),
    );
    machine.write("/srv/formd/sites/acme.toml", SITE);
}

/// Posts the form as a visitor's browser would; its receipt.
fn post(machine: &Machine) -> String {
    fs::write(machine.path("/srv/file.pdf"), pdf("to be attached", 3 * 1024 * 1024)).unwrap();
    let file = format!("file=@/srv/file.pdf;filename=\"{FILE_NAME}\";type=application/pdf");
    let fields = ["name=Анна Ёлкина", "email=anna@visitor.example", "message=Привет 🎉\r\n.\r\nвторая строка", &file];
    let mut words = vec!["curl", "-s", "-m", "30", "http://127.0.0.1:8787/f/acme/quote.json"];
    words.extend(fields.iter().flat_map(|field| ["-F", field]));
    receipt(&said(&machine.run(&words)))
}

/// The delivery of a receipt to a destination, as `formctl show --json` has it.
fn delivery(machine: &Machine, receipt: &str, destination: &str) -> Value {
    let shown: Value = serde_json::from_str(&machine.formctl(&["show", receipt, "--json"])).unwrap();
    let all = shown["deliveries"].as_array().unwrap();
    all.iter().find(|one| one["destination"] == destination).expect("the delivery").clone()
}

/// Waits until a delivery has made an attempt and stands in `state`; its note.
fn note(machine: &Machine, receipt: &str, destination: &str, state: &str) -> String {
    machine.eventually(&format!("{destination} is {state}"), || {
        let delivery = delivery(machine, receipt, destination);
        delivery["state"] == state && !delivery["attempts_made"].as_array().unwrap().is_empty()
    });
    delivery(machine, receipt, destination)["note"].as_str().expect("a note").to_owned()
}

/// The mails in the mailbox once there are `count`, read by Python.
fn mails(machine: &Machine, count: usize) -> Vec<Value> {
    let arrived = || fs::read_dir(machine.path("/home/u1/Maildir/new")).map_or(0, Iterator::count);
    machine.eventually("the server has delivered", || arrived() >= count);
    let out = said(&machine.run(&["/usr/bin/python3", "/formd/source/tests/mta/read_mail.py", "/home/u1/Maildir"]));
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The values of a header.
fn header<'a>(mail: &'a Value, name: &str) -> Vec<&'a str> {
    let all = mail["headers"].as_array().unwrap().iter();
    all.filter(|one| one[0].as_str().unwrap().eq_ignore_ascii_case(name)).map(|one| one[1].as_str().unwrap()).collect()
}

/// The one mail in the mailbox is what was posted, and nobody who reads it can complain.
fn assert_arrived(machine: &Machine, receipt: &str) -> Value {
    let mail = mails(machine, 1).remove(0);
    let id = delivery(machine, receipt, "sales")["id"].as_str().unwrap().to_owned();
    let shown: Value = serde_json::from_str(&machine.formctl(&["show", receipt, "--json"])).unwrap();
    let received_at = shown["received_at"].as_str().unwrap();
    for (name, value) in [
        ("Subject", format!("New form submission: Запросить расчёт 🎉 - {receipt}")),
        ("Reply-To", "anna@visitor.example".to_owned()),
        ("To", "u1@mx.test".to_owned()),
        ("Message-ID", format!("<{id}@acme.test>")),
        ("Auto-Submitted", "auto-generated".to_owned()),
        ("Return-Path", "<forms@acme.test>".to_owned()),
    ] {
        assert_eq!(header(&mail, name), [value], "{name} of {mail}");
    }
    assert_eq!(mail["from"], json!([["Заявки", "forms@acme.test"]]));
    let arrived = Timestamp::parse(received_at).unwrap().as_millis() / 1000;
    assert_eq!(mail["seconds"], arrived, "Date is the moment of arrival");
    let text = format!(
        "Имя: Анна Ёлкина\nПочта: anna@visitor.example\nСообщение: Привет 🎉\n  .\n  вторая строка\n\
         Attachment: {FILE_NAME} (3.0 MiB)\nReceipt {receipt}, page —, locale en, received {received_at}\n"
    );
    assert_eq!(mail["text"], text);
    let sent = sha256(&machine.path("/srv/file.pdf"));
    assert_eq!(mail["attachments"], json!([{ "name": FILE_NAME, "type": "application/pdf", "sha256": sent }]));
    // The file's name for old readers, beside the true one: Python sees both and takes the true one.
    assert_clean(&mail, &["Content-Disposition: InvalidHeaderDefect('duplicate parameter name; duplicate ignored')"]);
    mail
}

fn assert_clean(mail: &Value, defects: &[&str]) {
    assert_eq!((&mail["carriage_returns"], &mail["long_lines"]), (&json!(0), &json!(0)));
    assert_eq!(mail["defects"], json!(defects));
}

/// What was posted stays here while the server's certificate is not what `mail` demands, and leaves once it is.
fn assert_waits_for_the_certificate(machine: &Machine, mail: &str) -> String {
    configure(machine, mail);
    machine.start_formd();
    let receipt = post(machine);
    let refused = note(machine, &receipt, "sales", "retrying");
    assert!(refused.contains("certificate"), "{refused}");
    assert!(!machine.path("/home/u1/Maildir").exists(), "nothing was delivered");
    configure(machine, &verified("mx.test", "ca"));
    machine.formctl(&["reload"]);
    machine.formctl(&["resend", &receipt]);
    receipt
}

/// The `Received` header, its blanks and line breaks as one blank each.
fn received(mail: &Value) -> String {
    header(mail, "Received").concat().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The server's name for a mail stands in our note and in the header that the server wrote.
fn assert_same_name(note: &str, mark: &str, mail: &Value) {
    let after = note.split_once(mark).unwrap_or_else(|| panic!("no `{mark}` in `{note}`")).1;
    let name = after.split_whitespace().next().unwrap();
    assert!(name.len() > 6 && received(mail).contains(name), "{note} | {}", received(mail));
}

/// Nobody is told because of a mailbox that does not exist, and nobody is not told because of it.
fn assert_ghost_waits(machine: &Machine, receipt: &str) {
    let note = note(machine, receipt, "ghost", "retrying");
    assert!(note.starts_with("550"), "{note}");
    assert_eq!(delivery(machine, receipt, "ghost")["attempts"], 1);
}

/// What looks like SMTP, or like the beginning of a mail, arrives as it was written.
fn assert_hostile_lines_arrive(machine: &Machine) {
    let message = format!("message={}", HOSTILE.replace('\n', "\r\n"));
    let words = ["curl", "-s", "-m", "30", "http://127.0.0.1:8787/f/acme/bare.json", "--data-urlencode", &message];
    let receipt = receipt(&said(&machine.run(&words)));
    note(machine, &receipt, "bare", "delivered");
    let all = mails(machine, 2);
    let mail = all.iter().find(|mail| header(mail, "Subject")[0].contains(&receipt)).expect("the second mail");
    assert_eq!(mail["text"].as_str().unwrap().trim_end(), HOSTILE);
    assert_clean(mail, &[]);
}

#[test]
fn postfix_takes_what_was_posted_over_tls_that_is_verified_against_a_private_authority() {
    let Some(machine) = Machine::with_mail_server("postfix") else { return };
    let receipt = assert_waits_for_the_certificate(&machine, &verified("mx.test", "other"));
    let queued = note(&machine, &receipt, "sales", "delivered");
    let mail = assert_arrived(&machine, &receipt);
    assert_same_name(&queued, "queued as ", &mail);
    let received = received(&mail);
    assert!(received.contains("using TLSv1.3") && received.contains("with ESMTPS id"), "{received}");
    assert_ghost_waits(&machine, &receipt);
    assert_hostile_lines_arrive(&machine);
}

#[test]
fn exim_takes_what_was_posted_over_tls_that_is_verified_for_its_name() {
    let Some(machine) = Machine::with_mail_server("exim4") else { return };
    let receipt = assert_waits_for_the_certificate(&machine, &verified("localhost", "ca"));
    let queued = note(&machine, &receipt, "sales", "delivered");
    let mail = assert_arrived(&machine, &receipt);
    assert_same_name(&queued, "OK id=", &mail);
    assert!(received(&mail).contains("with esmtps (TLS1.3)"), "{mail}");
    assert_ghost_waits(&machine, &receipt);
    assert_hostile_lines_arrive(&machine);
}

#[test]
fn opensmtpd_takes_what_was_posted_in_plain_on_loopback() {
    let Some(machine) = Machine::with_mail_server("opensmtpd") else { return };
    configure(&machine, "host = \"127.0.0.1\"\nport = 25\ntls = \"none\"\n");
    machine.start_formd();
    let receipt = post(&machine);
    let queued = note(&machine, &receipt, "sales", "delivered");
    let mail = assert_arrived(&machine, &receipt);
    assert_same_name(&queued, "250 2.0.0 ", &mail);
    assert!(received(&mail).contains("with ESMTP id"), "{mail}");
    assert_ghost_waits(&machine, &receipt);
    assert_hostile_lines_arrive(&machine);
}
