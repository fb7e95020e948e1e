//! What real clients send, byte for byte, through the real socket: every capture of `tests/data/corpus` is posted to
//! the reference form, and statuses, values, file names, sizes and hashes are what its manifest says. The samples of
//! `tests/data/files` are posted as attachments.
//!
//! A verdict that is `closed` is met. Where it is `open` the contract decides, else the corpus's advice: [`DECIDED`]
//! lists what the contract decides otherwise, each with its reason.

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

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::World;
use common::client::{Answer, parse_answers, read_all, send_raw};
use common::submission;
use formd::harness::{Span, sha256_hex};
use unicode_normalization::UnicodeNormalization as _;

/// `open` verdicts for which the contract, or the corpus's own rule, decides otherwise than the advice: capture, status,
/// reason.
const DECIDED: &[(&str, u16, &str)] = &[
    ("axios-postform-arr", 200, KEPT),
    ("chromium-url-submitter", 200, KEPT),
    ("curl-nasty", 200, KEPT),
    ("firefox-url-submitter", 200, KEPT),
    ("hand-f-unknown", 200, KEPT),
    ("phpcurl-arr", 200, KEPT),
    ("webkit-url-dirname", 200, KEPT),
    ("webkit-url-submitter", 200, KEPT),
    ("hand-j-bignum", 200, AS_WRITTEN),
    ("hand-j-types", 200, AS_WRITTEN),
];
/// Contract 2.6.
const KEPT: &str = "undeclared fields are kept unless the form says otherwise";
/// Contract, appendix D.
const AS_WRITTEN: &str = "JSON numbers, true and false are taken as written, null is absent";

/// The reference form of the corpus.
const FORM: &str = r#"
[form.quote]
[[form.quote.field]]
name = "name"
kind = "text"
required = true
[[form.quote.field]]
name = "email"
kind = "email"
[[form.quote.field]]
name = "message"
kind = "textarea"
required = true
[[form.quote.field]]
name = "file"
kind = "file"
max_files = 5
max_size = "5MiB"
"#;

/// Fields that steer and are not stored.
const CONTROL: &[&str] = &["_charset_", "_key", "_next"];

/// One capture of the manifest.
#[derive(Debug, serde::Deserialize)]
struct Capture {
    id: String,
    file: String,
    standard: String,
    verdict: Verdict,
    expected: Option<Expected>,
}

#[derive(Debug, serde::Deserialize)]
struct Verdict {
    outcome: String,
    advice: Option<String>,
    status: serde_json::Value,
}

#[derive(Debug, serde::Deserialize)]
struct Expected {
    #[serde(default)]
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, serde::Deserialize)]
struct Entry {
    name: String,
    value: Option<String>,
    filename: Option<String>,
    size: Option<u64>,
    sha256: Option<String>,
}

fn data(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(below)
}

fn captures() -> Vec<Capture> {
    serde_json::from_slice(&fs::read(data("corpus/requests/manifest.json")).unwrap()).unwrap()
}

/// The bytes from the client's socket.
fn wire(capture: &Capture) -> Vec<u8> {
    let bytes = fs::read(data("corpus/requests").join(&capture.file)).unwrap();
    if Path::new(&capture.file).extension().is_some_and(|e| e == "gz") { gunzip(&bytes) } else { bytes }
}

/// A gzip file with at most a name in its header.
fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let named = bytes[3] & 8 != 0;
    let start = if named { 10 + bytes[10..].iter().position(|b| *b == 0).unwrap() + 1 } else { 10 };
    miniz_oxide::inflate::decompress_to_vec(&bytes[start..]).unwrap()
}

/// The capture with our address in its request line; the connection ends after the answer. All else is as sent.
fn to_our_form(wire: &[u8]) -> Vec<u8> {
    let end = wire.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&wire[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap().split(' ').collect();
    let method = if words[0] == "PUT" { "POST" } else { words[0] };
    let mut out = format!("{method} /f/acme/quote.json {}\r\n", words[2]);
    let mut options = vec!["close"];
    for line in lines {
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("connection") => {
                options.extend(value.split(',').map(str::trim).filter(|o| !o.eq_ignore_ascii_case("keep-alive")));
            }
            _ => out.extend([line, "\r\n"]),
        }
    }
    options.dedup();
    out.extend(["Connection: ", &options.join(", "), "\r\n\r\n"]);
    [out.as_bytes(), &wire[end + 4..]].concat()
}

fn post(world: &World, bytes: &[u8]) -> Answer {
    let raw = send_raw(world.address(), bytes);
    let mut answers = parse_answers(&raw);
    assert_eq!(answers.len(), 1, "one request, one answer: {}", String::from_utf8_lossy(&raw));
    answers.remove(0)
}

/// The status that is right for a capture.
fn right_status(capture: &Capture) -> u16 {
    if let Some((_, status, _)) = DECIDED.iter().find(|(id, ..)| *id == capture.id) {
        assert_eq!(capture.standard, "open", "{}: a closed verdict is not decided here", capture.id);
        return *status;
    }
    let accepted = capture.verdict.outcome == "accept"
        || capture.verdict.advice.as_deref().is_some_and(|a| a.starts_with("accept") && !a.contains("reject"));
    if accepted { 200 } else { capture.verdict.status.as_u64().map_or(0, |s| u16::try_from(s).unwrap()) }
}

/// What is stored of a submission: values by name, and files as `field name size sha256`.
type Stored = (BTreeMap<String, Vec<String>>, Vec<String>);

fn stored(world: &World, receipt: &str) -> Stored {
    let shown = world.show(receipt);
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for value in shown["values"].as_array().unwrap() {
        let texts = value["value"].as_array().cloned().unwrap_or_else(|| vec![value["value"].clone()]);
        for text in texts.iter().map(|text| text.as_str().unwrap()).filter(|text| !text.is_empty()) {
            values.entry(value["name"].as_str().unwrap().to_owned()).or_default().push(text.to_owned());
        }
    }
    let files = shown["attachments"].as_array().unwrap().iter();
    let file = |f: &serde_json::Value| {
        format!("{} {} {} {}", f["field"].as_str().unwrap(), f["name"].as_str().unwrap(), f["size"], f["sha256"])
    };
    (values, files.map(file).collect())
}

/// What should be stored.
fn wanted(expected: &Expected) -> Stored {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut files = Vec::new();
    for entry in expected.entries.iter().filter(|e| !CONTROL.contains(&e.name.as_str())) {
        match (&entry.value, &entry.filename) {
            (Some(value), _) => {
                let value = value.replace("\r\n", "\n").replace('\r', "\n");
                if !value.is_empty() {
                    values.entry(entry.name.clone()).or_default().push(value);
                }
            }
            (None, name) => {
                let (name, size) = (name.as_deref().unwrap_or_default(), entry.size.unwrap());
                if !name.is_empty() || size > 0 {
                    let sha256 = serde_json::Value::from(entry.sha256.clone().unwrap());
                    files.push(format!("{} {} {size} {sha256}", entry.name, display_name(name)));
                }
            }
        }
    }
    (values, files)
}

/// Contract 7.3, written a second time: last component, no controls, NFC, 255 bytes with the extension kept; nothing
/// left: `file.pdf` (all samples without a name are PDF).
fn display_name(sent: &str) -> String {
    let bidi =
        |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let shown = |part: &str| part.chars().filter(|c| !c.is_control() && !bidi(*c)).nfc().collect::<String>();
    let name = sent.split(['/', '\\']).map(shown).rfind(|part| !matches!(part.trim(), "" | "." | ".."));
    let Some(mut name) = name else { return "file.pdf".to_owned() };
    while name.len() > 255 {
        let stem_end = name.rfind('.').filter(|dot| name.len() - dot <= 32).unwrap_or(name.len());
        let last = name[..stem_end].char_indices().next_back().unwrap().0;
        name.remove(last);
    }
    name
}

#[test]
fn every_capture_of_a_real_client_is_answered_and_stored_as_its_verdict_says() {
    let world = World::with("", FORM);
    let captures = captures();
    let mut wrong = Vec::new();
    let (mut closed, mut open, mut compared) = (0, 0, 0);
    for capture in &captures {
        // Beyond the time in which equal content counts as a second click.
        world.pass(Span::from_minutes(11));
        let answer = post(&world, &to_our_form(&wire(capture)));
        let right = right_status(capture);
        if capture.standard == "closed" {
            closed += 1;
        } else {
            open += 1;
        }
        if answer.status != right {
            wrong.push(format!("{}: {} instead of {right}: {}", capture.id, answer.status, answer.body));
            continue;
        }
        if let (200, Some(expected)) = (answer.status, &capture.expected) {
            let (got, wanted) = (stored(&world, &answer.receipt()), wanted(expected));
            compared += 1;
            if got != wanted {
                wrong.push(format!("{}:\n  stored {got:?}\n  sent   {wanted:?}", capture.id));
            }
        }
    }
    println!(
        "{} captures: {closed} closed and {open} open verdicts met, {compared} of them stored and compared",
        captures.len() - wrong.len()
    );
    assert!(wrong.is_empty(), "{} of {} captures:\n{}", wrong.len(), captures.len(), wrong.join("\n"));
    bytes_on_disk_are_those_of_their_rows(&world);
}

/// The second sending repeats the first: within ten minutes equal content from one client is one submission, so the
/// pieces have changed nothing of values, names or files when the receipt is the same.
#[test]
fn no_capture_means_anything_else_when_it_arrives_in_pieces() {
    let world = World::with("", FORM);
    let captures = captures();
    for (number, capture) in captures.iter().enumerate() {
        world.pass(Span::from_minutes(11));
        let bytes = to_our_form(&wire(capture));
        let whole = post(&world, &bytes);
        let largest = if bytes.len() > 100_000 { 65_536 } else { 1 + number * 37 % 512 };
        let cut = send_in_pieces(&world, &bytes, largest);
        assert_eq!((whole.status, faults(&whole)), (cut.status, faults(&cut)), "{}", capture.id);
        if whole.status == 200 {
            assert_eq!(whole.receipt(), cut.receipt(), "{}", capture.id);
            assert_eq!(cut.header("Idempotent-Replayed"), Some("true"), "{}", capture.id);
        }
    }
    println!("{} captures sent in pieces mean the same", captures.len());
}

/// The faults of an answer; none of one that is no JSON.
fn faults(answer: &Answer) -> Vec<String> {
    if answer.body.starts_with('{') { answer.faults() } else { Vec::new() }
}

/// One TCP write a piece; each piece has another size.
fn send_in_pieces(world: &World, bytes: &[u8], largest: usize) -> Answer {
    let mut stream = TcpStream::connect(world.address()).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    let (mut rest, mut size) = (bytes, 7);
    while !rest.is_empty() {
        size = (size * 31 + 11) % largest + 1;
        let (piece, after) = rest.split_at(size.min(rest.len()));
        if stream.write_all(piece).is_err() {
            break;
        }
        rest = after;
    }
    parse_answers(&read_all(&mut stream)).remove(0)
}

/// Each stored file, hashed anew.
fn bytes_on_disk_are_those_of_their_rows(world: &World) {
    let connection = rusqlite::Connection::open(world.data().join("formd.db")).unwrap();
    let mut query = connection.prepare("SELECT path, size, lower(hex(sha256)) FROM attachments").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    for row in rows {
        let (path, size, sha256): (String, i64, String) = row.unwrap();
        let bytes = fs::read(world.data().join("attachments").join(&path)).unwrap();
        assert_eq!((i64::try_from(bytes.len()).unwrap(), sha256_hex(&bytes)), (size, sha256), "{path}");
    }
}

/// One attachment sample.
#[derive(Debug, serde::Deserialize)]
struct Sample {
    name: String,
    verdict: String,
    mime: Option<String>,
    sha256: String,
}

/// What becomes of the samples whose verdict is `open`: accepted or not, and why.
const OPEN_SAMPLES: &[(&str, bool, &str)] = &[
    ("bom.pdf", true, "a BOM may stand in front"),
    ("bomb.xlsx", false, "the declared total is over the cap"),
    ("cp1251.csv", true, "7.1: windows-125x is text"),
    ("docx-named.zip", true, "7.1: the stored type is the true one where the form restricts nothing"),
    ("encrypted-cfb.docx", false, "7.1: named in words"),
    ("fodt-named.odt", false, "7.1: text under a binary kind's extension"),
    ("formula.csv", true, "the type is right; an export neutralises it"),
    ("gif-js.gif", false, "no GIF structure"),
    ("html-named.txt", false, "7.1: HTML is no text"),
    ("javascript.pdf", true, "the type is right"),
    ("jpeg+zip.jpg", true, "a JPEG with a tail"),
    ("jpg-3bytes.jpg", false, "a signature is not enough"),
    ("json-named.txt", true, "text"),
    ("leading-junk-1000.pdf", false, "room for another format"),
    ("leading-nl.pdf", true, "a few blanks may stand in front"),
    ("mz-text.txt", true, "text"),
    ("ods-mimetype-in-plainzip.ods", false, "no manifest"),
    ("ott-named.odt", false, "a template is another type"),
    ("pdf-html-polyglot.pdf", true, "a whole PDF"),
    ("png-signature-only.png", false, "a signature is not enough"),
    ("rt-short.rtf", false, "7.1: text under a binary kind's extension"),
    ("tab-utf16.csv", true, "7.1: UTF-16 with BOM is text"),
    ("truncated.pdf", false, "no end"),
    ("utf16le.txt", true, "7.1: UTF-16 with BOM is text"),
];

#[test]
fn every_attachment_sample_is_accepted_under_its_true_type_or_refused_at_its_field() {
    let world = World::with("", FORM);
    let samples: Vec<Sample> = serde_json::from_slice(&fs::read(data("corpus/files.json")).unwrap()).unwrap();
    let mut wrong = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for sample in &samples {
        world.pass(Span::from_minutes(11));
        let bytes = fs::read(data("files").join(&sample.name)).unwrap();
        assert_eq!(sha256_hex(&bytes), sample.sha256, "{}", sample.name);
        let right = match sample.verdict.as_str() {
            "accept" => true,
            "reject" => false,
            _ => OPEN_SAMPLES.iter().find(|(name, ..)| *name == sample.name).expect("an open sample is decided").1,
        };
        let form = submission().file("file", &sample.name, "application/octet-stream", &bytes);
        let answer = world.send(&form.post("/f/acme/quote.json"));
        let (status, said) = (if right { 200 } else { 422 }, (answer.status, answer.faults().len()));
        if said != (status, usize::from(!right)) {
            wrong.push(format!("{}: {} instead of {status}: {}", sample.name, answer.status, answer.body));
            continue;
        }
        if right {
            let kept = world.show(&answer.receipt())["attachments"][0].clone();
            assert_eq!(kept["type"].as_str(), sample.mime.as_deref(), "{}", sample.name);
            assert_eq!((kept["name"].as_str(), kept["sha256"].as_str()), (Some(&*sample.name), Some(&*sample.sha256)));
        }
        *counts.entry(format!("{} {}", sample.verdict, if right { "accepted" } else { "refused" })).or_default() += 1;
    }
    println!("{} samples: {counts:?}", samples.len() - wrong.len());
    assert!(wrong.is_empty(), "{} of {} samples:\n{}", wrong.len(), samples.len(), wrong.join("\n"));
    bytes_on_disk_are_those_of_their_rows(&world);
}
