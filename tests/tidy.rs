//! The house rules that a compiler does not hold: who may import whom, one home a crate, who may print, read the
//! clock, exit; how large a file and a function may be. Each rule is shown to bite by a planted violation.

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

use std::fs;
use std::path::Path;

/// A source file: its path below the project and its text.
type Source = (String, String);

/// Most lines of a file, tests included.
const FILE_LINES: usize = 500;
/// Most lines of a function.
const FUNCTION_LINES: usize = 60;

/// Acts: what is done. They may import each other, the layers below, and the clock.
const ACTS: &[&str] = &["intake", "delivery", "outbound", "pages", "sweep", "status", "import", "export"];

/// Outside crates and the rooms (path prefixes below `src/`) that may name them.
const HOMES: &[(&str, &[&str])] = &[
    ("base64", &["domain/digest", "delivery/smtp"]),
    ("sha2", &["domain/digest"]),
    ("hmac", &["domain/digest"]),
    ("regex", &["domain/pattern"]),
    ("regex_syntax", &["domain/pattern"]),
    ("idna", &["domain/email"]),
    ("unicode_normalization", &["domain/filename"]),
    ("encoding_rs", &["domain/charset"]),
    ("miniz_oxide", &["domain/filekind/"]),
    ("jiff", &["domain/time", "export/"]),
    ("csv", &["export/"]),
    ("zip", &["export/", "domain/filekind/"]),
    ("httpdate", &["domain/backoff"]),
    ("toml", &["config/"]),
    ("annotate_snippets", &["config/"]),
    ("strsim", &["config/"]),
    ("ipnet", &["config/", "outbound"]),
    ("rusqlite", &["store/"]),
    ("r2d2", &["store/"]),
    ("fs2", &["store/"]),
    ("rustix", &["store/", "ctl/", "clock.rs"]),
    ("lettre", &["delivery/"]),
    ("ureq", &["outbound"]),
    ("rustls", &["outbound", "delivery/smtp", "config/check/mail"]),
    ("rustls_native_certs", &["delivery/smtp"]),
    ("minijinja", &["pages"]),
    ("hyper", &["http/"]),
    ("hyper_util", &["http/"]),
    ("http_body_util", &["http/"]),
    ("bytes", &["http/"]),
    ("futures_util", &["http/"]),
    ("tokio", &["http/", "daemon"]),
    ("multer", &["http/body/"]),
    ("clap", &["ctl/", "bin/"]),
    ("clap_complete", &["ctl/"]),
    ("comfy_table", &["ctl/print"]),
    ("getrandom", &["clock"]),
    ("tracing_subscriber", &["log"]),
];

/// Words that only some rooms may use: word, rooms, why.
const WORDS: &[(&str, &[&str], &str)] = &[
    ("println!", &["ctl/print", "bin/"], "only ctl/print.rs and the bins print"),
    ("eprintln!", &["ctl/print", "bin/"], "only ctl/print.rs and the bins print"),
    ("io::stdout", &["ctl/print", "bin/"], "only ctl/print.rs and the bins print"),
    ("SystemTime::now", &["clock"], "only clock.rs reads the clock"),
    ("process::exit", &["bin/"], "only a bin exits"),
    ("async fn", &["http/", "daemon"], "async lives in http/ and daemon.rs"),
    ("async move", &["http/", "daemon"], "async lives in http/ and daemon.rs"),
    ("static mut", &[], "no globals"),
    ("thread_local!", &[], "no globals"),
    ("OnceLock", &[], "no lazily filled singletons"),
    ("LazyLock", &[], "no lazily filled singletons"),
    ("fs::rename", &["store/"], "renaming belongs to the store"),
    ("sync_all", &["store/"], "syncing belongs to the store"),
    ("#[allow", &[], "#[expect(.., reason)] instead of #[allow]"),
    ("todo!", &[], "nothing is left to do"),
    ("unimplemented!", &[], "nothing is left to do"),
];

/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helpers", "manager", "misc"];

/// The room of a file: the first part of its path below `src/`, without `.rs`.
fn room(path: &str) -> &str {
    let below = path.trim_start_matches("src/");
    below.split('/').next().unwrap_or(below).trim_end_matches(".rs")
}

/// The rooms that a room may import; `None` where everything may be imported.
fn allowed_rooms(room: &str) -> Option<Vec<&'static str>> {
    let below_faces = || {
        let mut rooms = vec!["domain", "config", "store", "clock"];
        rooms.extend_from_slice(ACTS);
        rooms
    };
    match room {
        "domain" | "clock" => Some(vec!["domain"]),
        "config" => Some(vec!["config", "domain"]),
        "store" => Some(vec!["store", "domain"]),
        "log" => Some(vec!["config"]),
        "http" => Some([below_faces(), vec!["http"]].concat()),
        "ctl" => Some([below_faces(), vec!["ctl", "log"]].concat()),
        act if ACTS.contains(&act) => Some(below_faces()),
        _ => None,
    }
}

/// The text without its tests and without comments.
fn shipped(text: &str) -> Vec<(usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(number, line)| (number + 1, line))
        .take_while(|(_, line)| line.trim_start() != "#[cfg(test)]")
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .collect()
}

/// Whether `line` uses `word` as a word of its own followed by `after`.
fn names(line: &str, word: &str, after: &str) -> bool {
    let whole = format!("{word}{after}");
    line.match_indices(&whole)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '"'))
}

/// Every broken rule of a source tree, one line each.
fn violations(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources {
        let below = path.trim_start_matches("src/");
        let mut report = |number: usize, why: &str| found.push(format!("{path}:{number}: {why}"));
        let allowed = allowed_rooms(room(path));
        for (number, line) in shipped(text) {
            for (at, _) in line.match_indices("crate::") {
                let target: String = line[at + 7..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let lower = target.chars().next().is_some_and(char::is_lowercase);
                if lower && allowed.as_ref().is_some_and(|rooms| !rooms.contains(&target.as_str())) {
                    report(number, &format!("`{}` may not import `{target}`", room(path)));
                }
            }
            for (name, homes) in HOMES {
                if names(line, name, "::") && !homes.iter().any(|home| below.starts_with(home)) {
                    report(number, &format!("`{name}` has its home in {homes:?}"));
                }
            }
            for (word, rooms, why) in WORDS {
                // A folder of tests is no shipped code, and a measurement has to say what it found.
                if !below.contains("/tests/")
                    && line.contains(word)
                    && !rooms.iter().any(|room| below.starts_with(room))
                {
                    report(number, &format!("`{word}`: {why}"));
                }
            }
            if ["fn handle_", "fn process_", "fn get_"].iter().any(|name| line.contains(name)) {
                report(number, "a name that says nothing");
            }
        }
        let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".rs");
        if EMPTY_NAMES.contains(&stem) {
            report(1, "a file name that says nothing");
        }
        if text.lines().count() > FILE_LINES {
            report(FILE_LINES, &format!("{} lines, {FILE_LINES} is the limit", text.lines().count()));
        }
        if !text.starts_with("//!") && !text.starts_with("#!") {
            report(1, "a module opens with its manual page (`//!`)");
        }
        for (number, length) in long_functions(text) {
            report(number, &format!("a function of {length} lines, {FUNCTION_LINES} is the limit"));
        }
    }
    found
}

/// Functions over the limit: the line of `fn` and the length. Relies on rustfmt: a function's last line is the
/// first `}` at its own indentation.
fn long_functions(text: &str) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let starts = [
            "fn ",
            "pub fn ",
            "pub(crate) fn ",
            "pub(super) fn ",
            "async fn ",
            "pub async fn ",
            "pub(super) async fn ",
            "const fn ",
            "pub const fn ",
        ];
        if !starts.iter().any(|start| code.starts_with(start)) || code.ends_with(';') || code.ends_with('}') {
            continue;
        }
        let end = format!("{indent}}}");
        let length = lines[at..].iter().position(|line| *line == end).map_or(1, |n| n + 1);
        if length > FUNCTION_LINES {
            found.push((at + 1, length));
        }
    }
    found
}

/// All files below `folder` whose name ends in `ending`.
fn read_tree(folder: &Path, ending: &str, into: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_tree(&path, ending, into);
        } else if path.to_string_lossy().ends_with(ending) {
            let name = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().to_string_lossy().into_owned();
            into.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

fn sources(folder: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    read_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), ".rs", &mut sources);
    sources.sort();
    sources
}

#[test]
fn the_house_keeps_its_rules() {
    let sources = sources("src");
    assert!(sources.len() > 40, "only {} files were found", sources.len());
    let found = violations(&sources);
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

#[test]
fn tests_keep_to_the_size_limits() {
    for (path, text) in sources("tests") {
        assert!(text.lines().count() <= FILE_LINES, "{path} has {} lines", text.lines().count());
    }
}

#[test]
fn a_planted_violation_of_each_rule_is_found() {
    let body = "    x();\n".repeat(FUNCTION_LINES);
    let planted = [
        ("src/domain/x.rs", "use crate::store::Store;".to_owned(), "`domain` may not import `store`"),
        ("src/store/x.rs", "use crate::config::Config;".to_owned(), "`store` may not import `config`"),
        ("src/config/x.rs", "use crate::intake::accept;".to_owned(), "`config` may not import `intake`"),
        ("src/intake.rs", "use crate::http::serve;".to_owned(), "`intake` may not import `http`"),
        ("src/http/x.rs", "use crate::ctl::run;".to_owned(), "`http` may not import `ctl`"),
        ("src/ctl/x.rs", "let a = crate::http::route();".to_owned(), "`ctl` may not import `http`"),
        ("src/store/x.rs", "use crate::clock::Clock;".to_owned(), "`store` may not import `clock`"),
        ("src/http/x.rs", "use rusqlite::Connection;".to_owned(), "`rusqlite` has its home"),
        ("src/delivery/x.rs", "ureq::post(url);".to_owned(), "`ureq` has its home"),
        ("src/store/x.rs", "println!(\"x\");".to_owned(), "only ctl/print.rs and the bins print"),
        ("src/ctl/x.rs", "std::process::exit(1);".to_owned(), "only a bin exits"),
        ("src/http/x.rs", "let now = SystemTime::now();".to_owned(), "only clock.rs reads the clock"),
        ("src/store/x.rs", "async fn x() {}".to_owned(), "async lives in http/ and daemon.rs"),
        ("src/intake.rs", "std::fs::rename(a, b);".to_owned(), "renaming belongs to the store"),
        ("src/http/x.rs", "static X: OnceLock<u8> = OnceLock::new();".to_owned(), "no lazily filled singletons"),
        ("src/http/x.rs", "#[allow(dead_code)]".to_owned(), "instead of #[allow]"),
        ("src/http/x.rs", "fn handle_request() {}".to_owned(), "a name that says nothing"),
        ("src/store/util.rs", "fn x() {}".to_owned(), "a file name that says nothing"),
        ("src/store/x.rs", "\n".repeat(FILE_LINES), "lines, 500 is the limit"),
        ("src/store/x.rs", format!("pub fn x() {{\n{body}}}"), "a function of 62 lines"),
    ];
    for (path, text, expected) in planted {
        let found = violations(&[(path.to_owned(), format!("//! x\n{text}"))]);
        assert!(found.iter().any(|line| line.contains(expected)), "{path}: `{expected}` not in {found:?}");
    }
    let clean = "//! x\nuse crate::domain::ids::SiteId;\n#[cfg(test)]\nmod tests { use crate::store::Store; }\n";
    assert_eq!(violations(&[("src/domain/x.rs".to_owned(), clean.to_owned())]), Vec::<String>::new());
    assert_eq!(violations(&[("src/domain/x.rs".to_owned(), "fn x() {}\n".to_owned())]).len(), 1);
}

#[test]
fn nothing_refers_outside_the_project() {
    let mut files = Vec::new();
    for folder in ["src", "tests", "docs", "web"] {
        for ending in [".rs", ".md", ".sh", ".py", ".toml", ".html", ".js"] {
            read_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), ending, &mut files);
        }
    }
    let outside = format!("..{}shared", '/');
    for (path, text) in files {
        assert!(!text.contains(&outside), "{path} refers to `{outside}`");
    }
}
