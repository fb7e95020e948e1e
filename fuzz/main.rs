//! Noise for every reader of what visitors send: captured requests and files, spoiled in a few places.
//!
//! Whatever comes, no reader panics or takes longer than 100 ms for one input, memory stays bounded, and the pieces in
//! which an input arrives change nothing. Each target runs for a second, or for `FORMD_FUZZ_SECONDS`; a failure prints
//! the seed that repeats it and the input.

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

mod noise;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use formd::harness::noise as readers;
use noise::Noise;

/// The most processor time that one input may take: a hang shows in it, a busy machine does not.
const LONGEST: Duration = Duration::from_millis(100);
/// The most memory the whole process may touch, in KiB.
const MEMORY: u64 = 256 * 1024;

/// Reads one input; says what is wrong.
type Look<'a> = Box<dyn Fn() -> Result<(), String> + 'a>;

/// Runs what `one` makes of noise until the time is up: an input for the report, and the look at it.
fn feed<'a>(target: &str, mut one: impl FnMut(&mut Noise) -> (Vec<u8>, Look<'a>)) {
    let seconds = std::env::var("FORMD_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let (mut noise, seed) = Noise::new(target.bytes().map(u64::from).sum());
    let start = Instant::now();
    let (mut inputs, mut slowest) = (0_u64, Duration::ZERO);
    while start.elapsed() < Duration::from_secs(seconds) {
        let (input, look) = one(&mut noise);
        let report = |wrong: &str| {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz-input");
            fs::write(&kept, &input).unwrap();
            panic!(
                "{target}: {wrong}; input {inputs} of SEED={seed}, {} bytes kept in {}",
                input.len(),
                kept.display()
            );
        };
        let began = busy();
        match catch_unwind(AssertUnwindSafe(&look)) {
            Ok(Ok(())) => {}
            Ok(Err(wrong)) => report(&wrong),
            Err(_) => report("a panic"),
        }
        let took = busy().saturating_sub(began);
        if took >= LONGEST {
            report(&format!("{took:?} of the processor"));
        }
        slowest = slowest.max(took);
        inputs += 1;
    }
    let peak = peak();
    println!("{target}: {inputs} inputs, the slowest {slowest:?}, peak of the process {peak} KiB");
    assert!(peak < MEMORY, "{target}: a peak of {peak} KiB");
}

/// How long this thread has had a processor so far.
fn busy() -> Duration {
    let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(times.split_whitespace().next().unwrap().parse().unwrap())
}

/// The most resident memory so far, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn data(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(below)
}

/// Two outcomes that must be one.
fn same(whole: &str, pieces: &str) -> Result<(), String> {
    if whole == pieces { Ok(()) } else { Err(format!("at once: {whole}\nin pieces: {pieces}")) }
}

/// Captured bodies below 100 kB whose type begins so: type and body. Chunked ones are stored without their chunks.
fn bodies(kind: &str) -> Vec<(Vec<u8>, Vec<u8>)> {
    let folder = data("corpus/requests");
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let mut found = Vec::new();
    for capture in manifest.as_array().unwrap() {
        let (file, content_type) = (capture["file"].as_str().unwrap(), capture["content_type"].as_str().unwrap_or(""));
        if Path::new(file).extension().is_some_and(|e| e == "gz") || !content_type.starts_with(kind) {
            continue;
        }
        let bytes = fs::read(folder.join(file)).unwrap();
        let body = match capture["file_dechunked_body"].as_str() {
            Some(body) => fs::read(folder.join(body)).unwrap(),
            None => bytes[bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4..].to_vec(),
        };
        if body.len() < 100_000 {
            found.push((content_type.into(), body));
        }
    }
    assert!(found.len() >= 10, "{} bodies of {kind}", found.len());
    found
}

/// Spoils bodies of one type and reads them at once, in pieces, and ahead.
fn feed_bodies(target: &str, kind: &str) {
    let folder = tempfile::tempdir().unwrap();
    let reader = readers::Reader::new(folder.path()).unwrap();
    let mut by_type: BTreeMap<Vec<u8>, Vec<Vec<u8>>> = BTreeMap::new();
    for (content_type, body) in bodies(kind) {
        by_type.entry(content_type).or_default().push(body);
    }
    let types: Vec<(Vec<u8>, Vec<Vec<u8>>)> = by_type.into_iter().collect();
    feed(target, |noise| {
        let (content_type, seeds) = &types[noise.below(types.len())];
        let (body, later) = (noise.spoil(seeds), noise.clone());
        let (input, reader) = (body.clone(), &reader);
        let look = move || {
            let pieces = later.clone().cut(&body);
            let whole = reader.read(content_type, &[&body]);
            same(&whole, &reader.read(content_type, &pieces))?;
            reader.read_ahead(content_type, &pieces);
            Ok(())
        };
        noise.next();
        (input, Box::new(look))
    });
    assert_eq!(fs::read_dir(folder.path().join("tmp")).unwrap().count(), 0, "`.part` files are left");
}

#[test]
fn multipart_in_any_pieces() {
    feed_bodies("multipart", "multipart/form-data");
}

#[test]
fn urlencoded_in_any_pieces() {
    feed_bodies("urlencoded", "application/x-www-form-urlencoded");
}

#[test]
fn json_in_any_pieces() {
    feed_bodies("json", "application/json");
}

/// Every captured body as it is, cut anew each time.
#[test]
fn captures_in_any_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let reader = readers::Reader::new(folder.path()).unwrap();
    let all = bodies("");
    let mut turn = 0;
    feed("captures", |noise| {
        let (content_type, body) = &all[turn % all.len()];
        let (reader, later) = (&reader, noise.clone());
        noise.next();
        turn += 1;
        let look = move || {
            let pieces = later.clone().cut(body);
            same(&reader.read(content_type, &[body]), &reader.read(content_type, &pieces))
        };
        (body.clone(), Box::new(look))
    });
}

#[test]
fn dispositions() {
    let table = fs::read_to_string(data("dispositions.tsv")).unwrap();
    let seeds: Vec<Vec<u8>> =
        table.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').nth(4).unwrap().into()).collect();
    feed("disposition", |noise| {
        let header = noise.spoil(&seeds);
        let input = header.clone();
        (input, Box::new(move || same(&readers::disposition(&header), &readers::disposition(&header))))
    });
}

#[test]
fn content_types() {
    let seeds: Vec<Vec<u8>> = bodies("").into_iter().map(|(content_type, _)| content_type).collect();
    feed("content type", |noise| {
        let header = noise.spoil(&seeds);
        let input = header.clone();
        (input, Box::new(move || same(&readers::content_type(&header), &readers::content_type(&header))))
    });
}

#[test]
fn charsets() {
    let labels = [
        "utf-8",
        "windows-1251",
        "windows-1252",
        "koi8-r",
        "ibm866",
        "shift_jis",
        "euc-jp",
        "iso-2022-jp",
        "gbk",
        "gb18030",
        "big5",
        "euc-kr",
        "x-mac-cyrillic",
        "utf-16",
        "x-user-defined",
        "replacement",
    ];
    feed("charset", |noise| {
        let label = if noise.below(8) == 0 { noise.text(12) } else { noise.one_of(&labels).to_owned() };
        let bytes = if noise.below(2) == 0 { noise.bytes(2000) } else { noise.text(500).into_bytes() };
        let input = [label.as_bytes(), b" ", &bytes].concat();
        let look = move || match readers::charset(&label, &bytes) {
            Some(text) if text.contains('\u{fffd}') && !label.to_lowercase().contains("utf") && label != "gb18030" => {
                Err("a character was replaced".to_owned())
            }
            _ => Ok(()),
        };
        (input, Box::new(look))
    });
}

#[test]
fn files_of_every_kind_in_any_pieces() {
    let mut names: Vec<PathBuf> = fs::read_dir(data("files")).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let seeds: Vec<Vec<u8>> = names.iter().map(|name| fs::read(name).unwrap()).filter(|b| b.len() < 120_000).collect();
    let extensions =
        ["png", "jpg", "webp", "avif", "gif", "pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp", "rtf", "txt", "csv"];
    feed("file kind", |noise| {
        let (bytes, extension) = (noise.spoil(&seeds), noise.one_of(&extensions));
        let (input, later) = (bytes.clone(), noise.clone());
        noise.next();
        let look = move || {
            let pieces = later.clone().cut(&bytes);
            same(&readers::file_kind(extension, &[&bytes]), &readers::file_kind(extension, &pieces))
        };
        (input, Box::new(look))
    });
}

/// Percent-encodes everything.
fn escape(text: &str) -> String {
    text.bytes().fold(String::new(), |all, byte| all + &format!("%{byte:02X}"))
}

/// One content has one hash, whatever the transport and the order of different names; another content has another.
#[test]
fn canonical_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let reader = readers::Reader::new(folder.path()).unwrap();
    let multipart: &[u8] = b"multipart/form-data; boundary=yBpz";
    let urlencoded: &[u8] = b"application/x-www-form-urlencoded";
    feed("canonical hash", |noise| {
        let fields: BTreeMap<String, String> =
            (0..=noise.below(6)).map(|n| (format!("{n}{}", noise.text(6)), noise.text(40))).collect();
        let pairs = |fields: &[(&String, &String)]| {
            fields.iter().map(|(n, v)| format!("{}={}", escape(n), escape(v))).collect::<Vec<_>>().join("&")
        };
        let in_order: Vec<_> = fields.iter().collect();
        let turned: Vec<_> = fields.iter().rev().collect();
        let mut other = fields.clone();
        other.values_mut().next_back().unwrap().push('x');
        let parts = fields.iter().fold(String::new(), |all, (name, value)| {
            // The three that browsers encode, and a backslash, which readers take for an escape before a quote.
            let name = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
            all + &format!("--yBpz\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        }) + "--yBpz--\r\n";
        let plain = fields.keys().all(|name| !name.contains(['\\', '%', '\0']) && !name.contains(char::is_control));
        let json = serde_json::to_string(&fields).unwrap();
        let (a, b, c) = (pairs(&in_order), pairs(&turned), pairs(&other.iter().collect::<Vec<_>>()));
        let (input, reader) = (a.clone().into_bytes(), &reader);
        let look = move || {
            let hash = reader.hash(urlencoded, a.as_bytes());
            let same = [reader.hash(urlencoded, b.as_bytes()), reader.hash(b"application/json", json.as_bytes())];
            if same != [hash; 2] || (plain && reader.hash(multipart, parts.as_bytes()) != hash) {
                return Err(format!("one content, several hashes: {parts}"));
            }
            if hash.is_none() || reader.hash(urlencoded, c.as_bytes()) == hash {
                return Err("two contents, one hash".to_owned());
            }
            Ok(())
        };
        (input, Box::new(look))
    });
}
