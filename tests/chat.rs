//! What chats and automations get from the daemon: bodies that fit what each service documents, judged by an
//! independent validator, whatever a visitor wrote.

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
use std::path::Path;
use std::process::{Command, Stdio};

use common::client::{Multipart, pdf};
use common::peers::{Call, HookServer};
use common::{World, submission, write_private};
use formd::harness::Span;
use serde_json::Value;

const PYTHON: &str = "/usr/bin/python3";
/// Stands in every secret address.
const SECRET: &str = "s3cret-4711";

/// A service: its id as a destination, the beginning of its call, the schema of its body.
const SERVICES: &[(&str, &str, &str)] = &[
    ("slack", "POST /services/T0/B0/s3cret-4711", "slack"),
    ("discord", "POST /api/webhooks/1/s3cret-4711?wait=true", "discord"),
    ("telegram", "POST /bot1:s3cret-4711/sendMessage", "telegram"),
    ("mattermost", "POST /hooks/s3cret-4711", "mattermost"),
    ("phone", "POST /", "ntfy"),
    ("room", "PUT /_matrix/client/v3/rooms/!r:m.example/send/m.room.message/", "matrix-room"),
    ("hook", "POST /webhook/s3cret-4711", "matrix-hookshot"),
];

/// A world whose form `quote` goes to four services and whose form `more` goes to the others.
struct Chats {
    world: World,
    peer: HookServer,
    _folder: tempfile::TempDir,
}

impl Chats {
    fn new() -> Self {
        let peer = HookServer::start(&["200 OK"]);
        let folder = tempfile::tempdir().unwrap();
        let at = format!("http://127.0.0.1:{}", peer.address.port());
        let telegram = folder.path().join("telegram");
        write_private(&telegram, &format!("{at}/bot1:{SECRET}/sendMessage\n"));
        let site = format!(
            r#"
            [[destination]]
            id = "slack"
            webhook = "{at}/services/T0/B0/{SECRET}"
            format = "slack"
            [[destination]]
            id = "discord"
            webhook = "{at}/api/webhooks/1/{SECRET}"
            format = "discord"
            [[destination]]
            id = "telegram"
            url_file = "{}"
            format = "telegram"
            chat = "-1001234567890"
            [[destination]]
            id = "mattermost"
            webhook = "{at}/hooks/{SECRET}"
            format = "mattermost"
            [[destination]]
            id = "phone"
            webhook = "{at}/{SECRET}"
            format = "ntfy"
            [[destination]]
            id = "room"
            webhook = "{at}/_matrix/client/v3/rooms/!r:m.example/send/m.room.message?access_token={SECRET}"
            format = "matrix"
            [[destination]]
            id = "hook"
            webhook = "{at}/webhook/{SECRET}"
            format = "matrix"
            [[destination]]
            id = "n8n"
            webhook = "{at}/n8n"
            body = '{{"who": "{{{{name}}}}", "all": ["{{{{message}}}}", "{{{{@receipt}}}}"], "n": 1}}'
            "#,
            telegram.display()
        );
        let forms = "[form.quote]\ntitle = \"Quote\"\ndestinations = [\"slack\", \"discord\", \"telegram\", \"mattermost\"]\n\
             accept_files = true\n\
             [form.more]\ndestinations = [\"phone\", \"room\", \"hook\", \"n8n\"]\naccept_files = true\n";
        Self { world: World::with(&site, forms), peer, _folder: folder }
    }

    /// Posts to both forms; the receipts.
    fn post(&self, body: &Multipart) -> [String; 2] {
        ["/f/acme/quote", "/f/acme/more"].map(|form| {
            let answer = self.world.send(&body.post(form).header("Accept", "application/json"));
            assert_eq!(answer.status, 200, "{}", answer.body);
            answer.json()["receipt"].as_str().unwrap().to_owned()
        })
    }

    /// The call of a service.
    fn call(&self, line: &str) -> Call {
        let calls = self.peer.calls();
        let exact =
            |call: &&Call| if line.ends_with("message/") { call.line.starts_with(line) } else { call.line == line };
        calls.iter().rev().find(exact).unwrap_or_else(|| panic!("no {line}")).clone()
    }
}

/// What the validator has against each of some bodies, by the names of their schemas; `None` when it is not installed.
fn faults(bodies: &[(&str, Vec<u8>)]) -> Option<Vec<String>> {
    let have = Command::new(PYTHON).args(["-c", "import jsonschema"]).stderr(Stdio::null()).status();
    if !have.is_ok_and(|status| status.success()) {
        common::skip("python3-jsonschema is not installed");
        return None;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let input = tempfile::NamedTempFile::new().unwrap();
    for (schema, body) in bodies {
        assert!(!body.contains(&b'\n'), "{schema}: one line");
        writeln!(input.as_file(), "{schema}\t{}", String::from_utf8_lossy(body)).unwrap();
    }
    let mut judge = Command::new(PYTHON);
    judge.arg(here.join("clients/validate_json.py")).arg(here.join("data/schemas")).stdin(input.reopen().unwrap());
    let out = judge.output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let lines: Vec<String> = String::from_utf8(out.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), bodies.len());
    Some(lines)
}

/// What services read as markup or as a call.
const MARKS: &str = "@everyone <!channel> <@U024BE7LH> @here **b** `c` ```d``` [x](https://e.example) ![i](y) \"q\\";

/// Submissions near the bounds of a submission, of markup and of what is counted differently.
fn hostile() -> Vec<Multipart> {
    let long = |text: &str| text.repeat(64_000 / text.len());
    [MARKS, "\u{202e}@all ", "😀", "\"", "`", "\\", "\n", "<&>", "ж", "@"]
        .into_iter()
        .map(|text| {
            let body = Multipart::default().field("name", text).field(MARKS, MARKS);
            body.field("message", &long(text)).field("again", &long(text)).field("more", &long(text))
        })
        .collect()
}

#[test]
fn what_every_service_is_sent_fits_what_it_documents() {
    let chats = Chats::new();
    chats.post(&submission().file("file", "план.pdf", "application/pdf", &pdf("plan", 2000)));
    assert_eq!(chats.world.deliver(), 8);
    let mut bodies = Vec::new();
    for (_, line, schema) in SERVICES {
        let call = chats.call(line);
        let text = String::from_utf8(call.body.clone()).unwrap();
        for word in ["Анна", "anna@example", "Здравствуйте", "план", "Receipt"] {
            assert!(text.contains(word), "{line}: {word} is missing in {text}");
        }
        assert_eq!(call.header("Content-Type"), "application/json");
        assert_eq!(call.header("X-Formd-Event"), "form.submitted");
        assert!(call.header("X-Formd-Delivery").contains('-'));
        assert!(!call.headers.iter().any(|(name, _)| name.to_ascii_lowercase().contains("signature")), "{line}");
        bodies.push((*schema, call.body));
    }
    let own: Value = serde_json::from_slice(&chats.call("POST /n8n").body).unwrap();
    assert_eq!(own["who"], "Анна");
    assert_eq!(own["all"][0], "Здравствуйте");
    let Some(faults) = faults(&bodies) else { return };
    assert_eq!(faults, vec![""; SERVICES.len()]);
}

#[test]
fn hostile_values_at_the_bounds_fit_every_service() {
    let chats = Chats::new();
    let mut bodies = Vec::new();
    for body in hostile() {
        chats.post(&body);
        assert_eq!(chats.world.deliver(), 8);
        for (service, line, schema) in SERVICES {
            let body = chats.call(line).body;
            let text = String::from_utf8_lossy(&body);
            assert!(!text.contains("<!channel>") || *service != "slack");
            assert!(!text.contains(" @here") && !text.contains("\"@everyone") && !text.contains(" @all"), "{line}");
            assert!(text.replace('\\', "").contains("... the rest: formctl show"), "{line}");
            bodies.push((*schema, body));
        }
        let own: Value = serde_json::from_slice(&chats.call("POST /n8n").body).unwrap();
        assert_eq!((own["n"].as_i64(), own.as_object().unwrap().len()), (Some(1), 3));
    }
    let Some(faults) = faults(&bodies) else { return };
    assert!(faults.iter().all(String::is_empty), "{faults:?}");
}

#[test]
fn the_validator_refuses_what_a_service_would() {
    let bad = [
        ("slack", r#"{"text": "<!channel>"}"#.to_owned()),
        ("slack", format!(r#"{{"text": "{}"}}"#, "x".repeat(40_001))),
        ("discord", r#"{"embeds": [], "allowed_mentions": {"parse": ["everyone"]}}"#.to_owned()),
        ("telegram", format!(r#"{{"chat_id": 1, "text": "{}"}}"#, "😀".repeat(2049))),
        ("ntfy", format!(r#"{{"topic": "a", "message": "{}"}}"#, "ж".repeat(2049))),
        ("ntfy", format!(r#"{{"topic": "a", "message": "{}"}}"#, "\\\"".repeat(4090))),
        ("mattermost", r#"{"text": "a", "text": "b"}"#.to_owned()),
        ("matrix-hookshot", r#"{"text": "a", "html": "<b>a</b>"}"#.to_owned()),
        ("matrix-room", r#"{"msgtype": "m.text", "body": "a"}"#.to_owned()),
    ];
    let Some(faults) = faults(&bad.map(|(schema, body)| (schema, body.into_bytes()))) else { return };
    assert!(faults.iter().all(|fault| !fault.is_empty()), "{faults:?}");
}

#[test]
fn a_room_of_matrix_gets_the_token_in_a_header_and_one_transaction_for_all_attempts() {
    let chats = Chats::new();
    let [_, receipt] = chats.post(&submission());
    chats.peer.script(&["429 Slow\r\nRetry-After: 90"]);
    chats.world.deliver();
    chats.world.pass(Span::from_minutes(2));
    chats.peer.script(&["200 OK"]);
    chats.world.deliver();
    let puts: Vec<Call> = chats.peer.calls().into_iter().filter(|call| call.line.starts_with("PUT ")).collect();
    assert_eq!(puts.len(), 2);
    assert_eq!(puts[0].line, puts[1].line);
    assert_eq!(puts[0].body, puts[1].body);
    assert!(
        puts[0].line.ends_with(&format!("/m.room.message/{}", puts[0].header("X-Formd-Delivery"))),
        "{}",
        puts[0].line
    );
    assert_eq!(puts[0].header("Authorization"), format!("Bearer {SECRET}"));
    assert!(chats.world.states(&receipt).iter().all(|state| state == "webhook delivered 2"), "{receipt}");
}

#[test]
fn nobody_is_shown_the_address_of_a_chat() {
    let chats = Chats::new();
    let [quote, more] = chats.post(&submission());
    chats.peer.script(&["404 Not Found"]);
    chats.world.deliver();
    let said = [
        chats.world.ctl(&["check", "--show"]).ok(),
        chats.world.ctl(&["list"]).ok(),
        chats.world.ctl(&["show", &quote]).ok(),
        chats.world.ctl(&["show", &more, "--json"]).ok(),
    ]
    .concat();
    assert!(!said.contains(SECRET) && said.contains("http://127.0.0.1"), "{said}");
    let shown = chats.world.show(&quote);
    let targets: Vec<&str> =
        shown["deliveries"].as_array().unwrap().iter().map(|d| d["target"].as_str().unwrap()).collect();
    let host = format!("http://127.0.0.1:{}", chats.peer.address.port());
    assert_eq!(targets, [&host; 4]);
}

#[test]
fn what_a_chat_took_it_answers_with_and_that_is_in_no_note() {
    let chats = Chats::new();
    let [receipt, _] = chats.post(&submission());
    chats.peer.script(&["200 OK\r\nContent-Length: 6\r\n\r\nechoed"]);
    chats.world.deliver();
    for delivery in chats.world.show(&receipt)["deliveries"].as_array().unwrap() {
        assert_eq!((delivery["state"].as_str(), delivery["note"].as_str()), (Some("delivered"), Some("HTTP 200")));
    }
}
