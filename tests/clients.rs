//! The clients that the world has, each posting the same to the real binary: every kind of field, a Cyrillic name, an
//! emoji text, a file named `отчёт "б" 100%.pdf`. What they meant is what is kept, compared through `formctl show
//! --json` and the file's hash. The scripts stand in `tests/clients/`.

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

use common::clients::{Desk, VALUES, have, receipt, run, said, script, sha256, values};

/// Debian's Python, whatever else is first in the path.
const PYTHON: &str = "/usr/bin/python3";

/// curl's words for [`VALUES`] and the file; `--form-string` takes a value as it stands.
fn curl_words(desk: &Desk) -> Vec<String> {
    let mut words: Vec<String> = ["-s", "-m", "30"].map(str::to_owned).to_vec();
    for (name, value) in VALUES {
        words.extend(["--form-string".to_owned(), format!("{name}={value}")]);
    }
    // Quoted for curl's own reader of `-F`, whose separators the name could contain.
    let path = desk.file().display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    words.extend(["-F".to_owned(), format!("file=@\"{path}\";type=application/pdf")]);
    words.push(desk.url("/f/acme/all.json"));
    words
}

#[test]
fn what_curl_sends_arrives() {
    let desk = Desk::new();
    if have("curl", "curl", &["--version"]) {
        let words = curl_words(&desk);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        desk.assert_arrived(&receipt(&said(&run("curl", &words))));
    }
}

#[test]
fn what_curl_sends_with_escaped_quotes_and_in_chunks_arrives() {
    let desk = Desk::new();
    if have("curl", "curl", &["--version"]) {
        let words = curl_words(&desk);
        let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.extend(["--form-escape", "-H", "Transfer-Encoding: chunked", "-H", "Expect: 100-continue"]);
        desk.assert_arrived(&receipt(&said(&run("curl", &words))));
    }
}

#[test]
fn what_curl_sends_without_a_file_arrives_urlencoded() {
    let desk = Desk::new();
    if !have("curl", "curl", &["--version"]) {
        return;
    }
    let url = desk.url("/f/acme/plain.json");
    let words = ["-s", "-m", "30", "--data-urlencode", "name=Анна Ёлкина", "--data-urlencode", "email=a@b.example"];
    let more = ["--data-urlencode", "message=🎉 a+b & c = 100%", "--data-urlencode", "город=Київ", &url];
    let shown = desk.show(&receipt(&said(&run("curl", &[&words[..], &more].concat()))));
    let texts: Vec<String> = values(&shown).iter().map(|(_, v)| v.as_str().unwrap().to_owned()).collect();
    assert_eq!(texts, ["Анна Ёлкина", "a@b.example", "🎉 a+b & c = 100%", "Київ"]);
}

#[test]
fn what_curl_sends_in_windows_1251_arrives_when_its_charset_is_named() {
    let desk = Desk::new();
    if !have("curl", "curl", &["--version"]) {
        return;
    }
    let url = desk.url("/f/acme/plain.json");
    let kind = "Content-Type: application/x-www-form-urlencoded; charset=windows-1251";
    // "Анна" and "Киев", percent-encoded in windows-1251, the second under the name "город".
    let body = "name=%C0%ED%ED%E0&email=a%40b.example&%E3%EE%F0%EE%E4=%CA%E8%E5%E2";
    let shown = desk.show(&receipt(&said(&run("curl", &["-s", "-m", "30", "-H", kind, "-d", body, &url]))));
    let all = values(&shown);
    assert!(all.contains(&("name".to_owned(), "Анна".into())), "{all:?}");
    assert!(all.contains(&("город".to_owned(), "Киев".into())), "{all:?}");
}

#[test]
fn what_python_requests_sends_arrives() {
    let desk = Desk::new();
    if have("python3-requests", PYTHON, &["-c", "import requests"]) {
        desk.assert_arrived(&desk.receipt_of(PYTHON, &[&script("requests_post.py")]));
    }
}

#[test]
fn what_python_aiohttp_sends_arrives() {
    let desk = Desk::new();
    if have("python3-aiohttp", PYTHON, &["-c", "import aiohttp"]) {
        desk.assert_arrived(&desk.receipt_of(PYTHON, &[&script("aiohttp_post.py"), "quoted"]));
    }
}

/// aiohttp's own way encodes every byte of a file's name, and cannot send a field's name beyond ASCII.
#[test]
fn a_file_name_that_python_aiohttp_encodes_as_a_whole_arrives() {
    let desk = Desk::new();
    if have("python3-aiohttp", PYTHON, &["-c", "import aiohttp"]) {
        let shown = desk.show(&desk.receipt_of(PYTHON, &[&script("aiohttp_post.py"), "percent"]));
        let file = &shown["attachments"][0];
        assert_eq!(file["name"], "отчёт \"б\" 100%.pdf");
        assert_eq!(file["sha256"], sha256(&desk.file()));
        assert!(values(&shown).contains(&("name".to_owned(), "Анна Ёлкина".into())), "{shown}");
    }
}

#[test]
fn what_node_fetch_sends_arrives() {
    let desk = Desk::new();
    if have("nodejs", "node", &["--version"]) {
        desk.assert_arrived(&desk.receipt_of("node", &[&script("fetch_post.mjs")]));
    }
}

#[test]
fn what_php_curl_sends_arrives() {
    let desk = Desk::new();
    if have("php-cli, php-curl", "php", &["-r", "exit(extension_loaded('curl') ? 0 : 1);"]) {
        desk.assert_arrived(&desk.receipt_of("php", &[&script("curl_post.php")]));
    }
}

#[test]
fn what_ruby_sends_arrives() {
    let desk = Desk::new();
    if have("ruby", "ruby", &["-rnet/http", "-rjson", "-e", "0"]) {
        desk.assert_arrived(&desk.receipt_of("ruby", &["-Eutf-8", &script("net_http_post.rb")]));
    }
}

#[test]
fn what_go_sends_arrives() {
    let desk = Desk::new();
    if have("golang-go", "go", &["version"]) {
        desk.assert_arrived(&desk.receipt_of("go", &["run", &script("post.go")]));
    }
}

#[test]
fn what_a_text_browser_sends_from_the_hosted_page_arrives() {
    let desk = Desk::new();
    if !(have("w3m", "w3m", &["-version"]) && have("python3", PYTHON, &["--version"])) {
        return;
    }
    let text = desk.path().join("text.txt");
    std::fs::write(&text, "Привет 🎉\nвторая строка").unwrap();
    let (driver, page, file) = (script("w3m_post.py"), desk.url("/f/acme/plain"), desk.file());
    let typed = ["Анна Ёлкина", "anna@example.com", "Київ"];
    let words = [&[&driver, &page, file.to_str().unwrap(), text.to_str().unwrap()], &typed[..]].concat();
    let screen = said(&run(PYTHON, &words));
    let receipts = desk.receipts();
    assert_eq!(receipts.len(), 1, "{screen}");
    let shown = desk.show(&receipts[0]);
    let texts: Vec<String> = values(&shown).iter().map(|(_, v)| v.as_str().unwrap().to_owned()).collect();
    assert_eq!(texts, ["Анна Ёлкина", "anna@example.com", "Привет 🎉\nвторая строка", "Київ"]);
    desk.assert_file_arrived(&shown);
}
