//! What formd signs, the official verifiers and the receivers of `docs/webhooks.md` accept, and nothing else: each request
//! is one that the real daemon sent, each change is one byte of it.

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
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use common::clients::{self, Desk};
use common::peers::{Call, HookServer};
use common::submission;
use serde_json::json;

const MANUAL: &str = include_str!("../docs/webhooks.md");
const WHSEC: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PLAIN: &str = "schlüssel-of-the-crm-4711";
const NEW: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const OLD: &str = "an-old-secret-of-the-crm";

/// A request that the real daemon sent, and the secrets that verify it, the current one first.
struct Sent {
    call: Call,
    secrets: &'static [&'static str],
}

/// A request as a receiver gets it, and what it must say to it.
struct Trial {
    what: String,
    secret: String,
    headers: serde_json::Map<String, serde_json::Value>,
    body: Vec<u8>,
    genuine: bool,
}

/// What signs a delivery's id, moment and body, and what signs the body alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    Standard,
    Own,
}

/// One request for each kind of secret.
fn sent() -> Vec<Sent> {
    let hooks = HookServer::start(&["200 OK"]);
    let destination = |id: &str, keys: &str| {
        format!("[[destination]]\nid = \"{id}\"\nwebhook = \"http://{}/\"\n{keys}\n", hooks.address)
    };
    let site = [
        "rate = []\n".to_owned(),
        destination("whsec", &format!("secret = \"{WHSEC}\"")),
        destination("plain", &format!("secret = \"{PLAIN}\"")),
        destination("rotating", &format!("secret = \"{NEW}\"\nprevious_secret = \"{OLD}\"")),
        format!("[form.quote]\n{}", common::FIELDS),
    ];
    let desk = Desk::with("", &site.concat());
    let answer = submission().post("/f/acme/quote").header("Accept", "application/json").send(desk.formd.address);
    let receipt = answer.receipt();
    wait_until(|| hooks.calls().len() == 3);
    let secrets: [&[&str]; 3] = [&[WHSEC], &[PLAIN], &[NEW, OLD]];
    let call = |n: usize| {
        let id = format!("{receipt}-d{n}");
        hooks.calls().into_iter().find(|call| call.header("X-Formd-Delivery") == id).expect("a call")
    };
    secrets.into_iter().enumerate().map(|(n, secrets)| Sent { call: call(n + 1), secrets }).collect()
}

fn wait_until(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(20), "waited too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The request as it was sent and with each byte of what is signed changed in two ways, for one secret; under one that
/// signed nothing, each is a forgery.
fn trials(sent: &Sent, secret: &str, proof: Proof) -> Vec<Trial> {
    let known =
        sent.secrets.iter().position(|known| *known == secret).filter(|at| proof == Proof::Standard || *at == 0);
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature", "x-formd-signature"];
    let headers: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!(sent.call.header(name)))).collect();
    let trial = |what: String, headers: &serde_json::Map<String, serde_json::Value>, body: &[u8], genuine: bool| {
        Trial { what, secret: secret.to_owned(), headers: headers.clone(), body: body.to_vec(), genuine }
    };
    let mut all = vec![trial("as sent".into(), &headers, &sent.call.body, known.is_some())];
    for (at, flip) in (0..sent.call.body.len()).flat_map(|at| [(at, 0x01), (at, 0x80)]) {
        let mut body = sent.call.body.clone();
        body[at] ^= flip;
        all.push(trial(format!("body {at} {flip:#x}"), &headers, &body, false));
    }
    let covered = if proof == Proof::Standard { &names[..3] } else { &names[3..] };
    for name in covered {
        let value = sent.call.header(name);
        // The entry of the other secret proves nothing to this receiver and may be anything.
        let own =
            known.filter(|_| *name == "webhook-signature").and_then(|at| value.split(' ').nth(at)).unwrap_or(value);
        let start = value.find(own).unwrap();
        for (at, flip) in (start..start + own.len()).flat_map(|at| [(at, 0x01), (at, 0x02)]) {
            let mut bytes = value.as_bytes().to_vec();
            bytes[at] ^= flip;
            let changed = String::from_utf8(bytes).unwrap();
            if same_signature(own, &changed[start..start + own.len()]) {
                continue;
            }
            let mut headers = headers.clone();
            headers.insert((*name).to_owned(), json!(changed));
            all.push(trial(format!("{name} {at} {flip:#x}"), &headers, &sent.call.body, false));
        }
    }
    all
}

/// Whether two entries are the same 32 bytes: the last two bits of their base64 mean nothing, and a library may say so.
fn same_signature(one: &str, other: &str) -> bool {
    let lenient = GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let decoder = GeneralPurpose::new(&base64::alphabet::STANDARD, lenient);
    let bytes = |entry: &str| entry.strip_prefix("v1,").and_then(|text| decoder.decode(text).ok());
    bytes(one).is_some_and(|one| bytes(other) == Some(one))
}

/// The manual's block of a language below a heading that begins like this.
fn block(heading: &str, language: &str) -> &'static str {
    let (_, rest) = MANUAL.split_once(&format!("### {heading}")).expect("the heading");
    let (_, rest) = rest.split_once(&format!("```{language}\n")).expect("the block");
    rest.split_once("```").expect("its end").0
}

/// A folder with the manual's receiver, what drives it, and the libraries.
fn lay_out(heading: &str, language: &str, suffix: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(format!("receiver.{suffix}")), block(heading, language)).unwrap();
    let driver = format!("verdicts.{suffix}");
    fs::copy(clients::script(&driver), folder.path().join(&driver)).unwrap();
    std::os::unix::fs::symlink(clients::script("node_modules"), folder.path().join("node_modules")).unwrap();
    folder
}

/// A program that runs in a folder with the manual's receiver.
fn program(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(folder);
    command.env("PYTHONPATH", clients::script("python_modules"));
    command
}

/// A program that ends with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The receiver accepts what formd sent and rejects each change; the number of changes.
fn assert_judges_well(folder: &Path, words: &[&str], proof: Proof) -> usize {
    let mut all = Vec::new();
    for sent in sent() {
        for secret in sent.secrets.iter().chain(&["another-secret-of-16"]) {
            all.extend(trials(&sent, secret, proof));
        }
    }
    let lines = all.iter().map(|trial| {
        let body = STANDARD.encode(&trial.body);
        json!({"secret": trial.secret, "headers": trial.headers, "body": body}).to_string() + "\n"
    });
    fs::write(folder.join("requests.jsonl"), lines.collect::<String>()).unwrap();
    let verdicts = clients::said(&program(folder, &[&["timeout", "-k", "5", "120"], words].concat()).output().unwrap());
    assert_eq!(verdicts.len(), all.len(), "{words:?}: a verdict on each");
    for (trial, verdict) in all.iter().zip(verdicts.bytes()) {
        assert_eq!(verdict == b'1', trial.genuine, "{words:?}: {} under {}", trial.what, trial.secret);
    }
    let genuine = all.iter().filter(|trial| trial.genuine).count();
    assert_eq!(genuine, if proof == Proof::Standard { 4 } else { 3 });
    all.len() - genuine
}

fn have_python_packages() -> bool {
    let installed = clients::script("python_modules/standardwebhooks/webhooks.py");
    clients::have("python3", "/usr/bin/python3", &["--version"])
        && clients::have("the Python packages of tests/clients", "test", &["-f", &installed])
}

#[test]
fn the_official_library_for_javascript_accepts_our_requests_and_no_changed_one() {
    let installed = clients::script("node_modules/standardwebhooks/package.json");
    if clients::have("nodejs", "node", &["--version"])
        && clients::have("the npm packages of tests/clients", "test", &["-f", &installed])
    {
        let folder = lay_out("JavaScript, with the official", "js", "mjs");
        assert!(assert_judges_well(folder.path(), &["node", "verdicts.mjs"], Proof::Standard) > 2000);
    }
}

#[test]
fn the_official_library_for_python_accepts_our_requests_and_no_changed_one() {
    if have_python_packages() {
        let folder = lay_out("Python", "python", "py");
        assert!(assert_judges_well(folder.path(), &["/usr/bin/python3", "verdicts.py"], Proof::Standard) > 2000);
    }
}

#[test]
fn web_crypto_accepts_x_formd_signature_and_no_changed_one() {
    if clients::have("nodejs", "node", &["--version"]) {
        let folder = lay_out("JavaScript, `X-Formd-Signature`", "js", "mjs");
        assert!(assert_judges_well(folder.path(), &["node", "verdicts.mjs"], Proof::Own) > 2000);
    }
}

#[test]
fn the_receiver_of_the_manual_in_php_accepts_our_requests_and_no_changed_one() {
    if clients::have("php-cli", "php", &["-r", "exit(0);"]) {
        let folder = lay_out("PHP", "php", "php");
        assert!(assert_judges_well(folder.path(), &["php", "verdicts.php"], Proof::Standard) > 2000);
    }
}

#[test]
fn the_receiver_of_the_manual_in_ruby_accepts_our_requests_and_no_changed_one() {
    if clients::have("ruby", "ruby", &["-rjson", "-ropenssl", "-e", "0"]) {
        let folder = lay_out("Ruby", "ruby", "rb");
        assert!(assert_judges_well(folder.path(), &["ruby", "verdicts.rb"], Proof::Standard) > 2000);
    }
}

#[test]
fn the_receiver_of_the_manual_in_go_accepts_our_requests_and_no_changed_one() {
    if clients::have("golang-go", "go", &["version"]) {
        let folder = lay_out("Go", "go", "go");
        let words = ["go", "run", "receiver.go", "verdicts.go"];
        assert!(assert_judges_well(folder.path(), &words, Proof::Standard) > 2000);
    }
}

#[test]
fn the_whole_receiver_of_the_manual_stores_a_submission_once_and_turns_forgeries_away() {
    if !have_python_packages() {
        return;
    }
    let folder = lay_out("Python", "python", "py");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut receiver = program(folder.path(), &["/usr/bin/python3", "receiver.py"]);
    receiver.env("FORMD_SECRET", PLAIN).env("PORT", &port).stdout(Stdio::null()).stderr(Stdio::null());
    let _running = Running(receiver.spawn().unwrap());
    wait_until(|| std::net::TcpStream::connect(format!("127.0.0.1:{port}")).is_ok());
    let destination = |id: &str, secret: &str| {
        format!("[[destination]]\nid = \"{id}\"\nwebhook = \"http://127.0.0.1:{port}/\"\nsecret = \"{secret}\"\n")
    };
    let three = [destination("one", PLAIN), destination("two", PLAIN), destination("forger", OLD)].concat();
    let desk = Desk::with("", &format!("rate = []\n{three}[form.quote]\n{}", common::FIELDS));
    let answer = submission().post("/f/acme/quote").header("Accept", "application/json").send(desk.formd.address);
    let receipt = answer.receipt();
    let states = || {
        let shown = desk.show(&receipt);
        let deliveries = shown["deliveries"].as_array().unwrap().clone();
        deliveries.iter().map(|d| format!("{} {}", d["state"].as_str().unwrap(), d["note"])).collect::<Vec<_>>()
    };
    wait_until(|| !states().iter().any(|state| state.starts_with("pending")));
    assert_eq!(states(), ["delivered \"HTTP 204\"", "delivered \"HTTP 204\"", "failed \"HTTP 401\""]);
    let leads = rusqlite::Connection::open(folder.path().join("leads.db")).unwrap();
    let stored: (i64, String, String) = leads
        .query_row("SELECT count(*), min(receipt), min(email) FROM leads", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(stored, (1, receipt, "anna@example.com".to_owned()));
}

#[test]
fn no_secret_and_no_word_of_a_receiver_stands_in_a_log_or_in_what_check_shows() {
    const WORD: &str = "no-lead-for-anna@example.com";
    let hooks = HookServer::start(&[format!("503 Busy\r\n\r\n{WORD}").leak()]);
    let keys = format!("secret = \"{NEW}\"\nprevious_secret = \"{OLD}\"");
    let site =
        format!("[[destination]]\nid = \"crm\"\nwebhook = \"http://{}/\"\n{keys}\n[form.quote]\n", hooks.address);
    let desk = Desk::with("", &(site + common::FIELDS));
    let answer = submission().post("/f/acme/quote").header("Accept", "application/json").send(desk.formd.address);
    let receipt = answer.receipt();
    wait_until(|| desk.show(&receipt)["deliveries"][0]["state"] == "retrying");
    assert_eq!(desk.show(&receipt)["deliveries"][0]["note"], format!("HTTP 503: {WORD}"));
    let log = fs::read_to_string(desk.config().with_extension("log")).unwrap();
    assert!(log.contains("delivery_attempt"), "{log}");
    let shown = clients::said(&clients::run(
        env!("CARGO_BIN_EXE_formctl"),
        &["--config", desk.config().to_str().unwrap(), "check", "--show"],
    ));
    for word in [WORD, NEW, OLD, "v1,", "sha256="] {
        assert!(!log.contains(word) && !shown.contains(word), "{word}: {log}{shown}");
    }
}
