//! The first five minutes: no configuration, the printed curl command, the mail as a file, the page without
//! JavaScript.

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
use std::process::{Command, Stdio};

use common::client::{Answer, Request, pdf, urlencode};
use common::{World, files_below};

/// The value of an attribute in the first tag that contains `marker`.
fn attribute(page: &str, marker: &str, name: &str) -> String {
    let tag = page.split('<').find(|tag| tag.contains(marker)).unwrap_or_else(|| panic!("no {marker} in {page}"));
    let value = tag.split(&format!("{name}=\"")).nth(1).unwrap_or_else(|| panic!("no {name} in <{tag}"));
    value.split('"').next().unwrap().to_owned()
}

#[test]
fn the_demo_prints_a_page_and_a_curl_command_that_work_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    let mut daemon = Command::new(env!("CARGO_BIN_EXE_formd"))
        .args(["--demo", "--listen", "127.0.0.1:0"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let banner = read_banner(&mut daemon);
    let ended = std::panic::catch_unwind(|| check_demo(folder.path(), &banner));
    common::process::signal(daemon.id(), "TERM");
    assert_eq!(daemon.wait().unwrap().code(), Some(0));
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// What the demo prints up to its last line.
fn read_banner(daemon: &mut std::process::Child) -> String {
    use std::io::{BufRead, BufReader};
    let lines = BufReader::new(daemon.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut banner = String::new();
    for line in lines {
        banner.push_str(&line);
        banner.push('\n');
        if line.contains("Ctrl-C") {
            break;
        }
    }
    banner
}

fn check_demo(folder: &Path, banner: &str) {
    let start = banner.find("printf").unwrap_or_else(|| panic!("no command in {banner}"));
    let command: Vec<&str> = banner[start..].lines().take_while(|line| !line.trim().is_empty()).collect();
    if Command::new("curl").arg("--version").output().is_err() {
        return common::skip("curl is not installed");
    }
    let out = Command::new("sh").arg("-c").arg(command.join("\n")).current_dir(folder).output().unwrap();
    let answer = String::from_utf8_lossy(&out.stdout);
    let json: serde_json::Value =
        serde_json::from_str(answer.trim()).unwrap_or_else(|_| panic!("{answer} from {command:?}"));
    let receipt = json["receipt"].as_str().expect("a receipt").to_owned();

    let ctl = |args: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_formctl"))
            .args(args)
            .current_dir(folder)
            .env_remove("FORMD_CONFIG")
            .output();
        let out = out.unwrap();
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let started = std::time::Instant::now();
    while files_below(&folder.join("formd-data/mail")).is_empty() && started.elapsed().as_secs() < 5 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mails = files_below(&folder.join("formd-data/mail"));
    assert_eq!(mails, [format!("{receipt}-d1.eml")]);
    let mail = fs::read_to_string(folder.join("formd-data/mail").join(&mails[0])).unwrap();
    assert!(mail.contains(&receipt), "{mail}");
    assert!(ctl(&["list"]).contains(&receipt));
    assert!(ctl(&["show", &receipt[..9]]).contains("sample.pdf"));
    let _ = ctl(&["attachment", &receipt]);
    assert!(fs::read(folder.join("sample.pdf")).unwrap().starts_with(b"%PDF-"));
    let page = banner.lines().find_map(|l| l.split("http://").nth(1)).expect("an address");
    let (host, path) = page.trim().split_once('/').unwrap();
    let shown = Request::new("GET", &format!("/{path}")).send(host.parse().unwrap());
    assert_eq!(shown.status, 200);
    assert!(shown.body.contains("<form"), "{}", shown.body);
}

/// Sends the hosted page as a browser without JavaScript does: the hidden fields as they stand, the rest typed.
fn submit_page(world: &World, page: &Answer, typed: &[(&str, &str)], file: Option<&[u8]>) -> Answer {
    assert_eq!(attribute(&page.body, "<form".trim_start_matches('<'), "method").to_lowercase(), "post");
    // Without an action a form goes back to the address its page came from, whatever a proxy calls that.
    assert!(!page.body.contains("action="), "{}", page.body);
    let path = "/f/acme/quote";
    let key = attribute(&page.body, "name=\"_key\"", "value");
    let mut body = common::client::Multipart::default().field("_key", &key);
    for (name, value) in typed {
        body = body.field(name, value);
    }
    body = match file {
        Some(bytes) => body.pdf("plan.pdf", bytes),
        None => body.file("file", "", "application/octet-stream", b""),
    };
    let request =
        body.post(path).header("Accept", "text/html,application/xhtml+xml").header("Sec-Fetch-Mode", "navigate");
    world.send(&request.header("Origin", "http://forms.test"))
}

#[test]
fn the_hosted_page_works_without_javascript() {
    let world = World::new();
    let page = world.send(&Request::new("GET", "/f/acme/quote").header("Accept-Language", "ru"));
    assert_eq!(page.status, 200);
    assert!(page.header("Content-Security-Policy").is_some_and(|p| p.contains("default-src 'none'")), "{page:?}");
    assert_eq!(page.header("Set-Cookie"), None);
    assert!(page.body.contains("lang=\"ru\"") && page.body.contains("Техзадание"), "{}", page.body);

    let wrong = submit_page(
        &world,
        &page,
        &[("name", "<b>Анна</b>"), ("email", "нет"), ("message", "привет")],
        Some(b"%PDF-no"),
    );
    assert_eq!(wrong.status, 422);
    assert!(wrong.body.contains("&lt;b&gt;Анна"), "{}", wrong.body);
    assert!(wrong.body.contains("привет") && wrong.body.contains("aria-invalid"), "{}", wrong.body);

    let typed = [("name", "Анна"), ("email", "anna@example.com"), ("message", "привет")];
    let done = submit_page(&world, &wrong, &typed, Some(&pdf("page", 4000)));
    assert_eq!(done.status, 200, "{}", done.body);
    let receipt = world.ctl(&["list", "--json"]).json()[0]["receipt"].as_str().unwrap().to_owned();
    assert!(done.body.contains(&receipt), "{}", done.body);
    // The second click of the same page is the same submission.
    let again = submit_page(&world, &wrong, &typed, Some(&pdf("page", 4000)));
    assert!(again.body.contains(&receipt), "{}", again.body);
    assert_eq!(world.attachments().len(), 1);
}

#[test]
fn a_success_goes_to_the_success_url_or_an_allowed_next() {
    let site = "origins = [\"https://acme.example\"]\n[[destination]]\nid = \"m\"\nemail = \"m@acme.example\"";
    let world = World::with(site, "[form.quote]\nsuccess_url = \"https://acme.example/thanks\"\n");
    let post = |next: &str| {
        let body = urlencode(&[("name", next), ("_next", next)]);
        let request = Request::new("POST", "/f/acme/quote").body("application/x-www-form-urlencoded", body);
        let answer = world.send(&request.header("Sec-Fetch-Mode", "navigate"));
        assert_eq!(answer.status, 303);
        answer.header("Location").unwrap().to_owned()
    };
    assert_eq!(post("https://acme.example/next?x=1"), "https://acme.example/next?x=1");
    for evil in [
        "https://evil.example/",
        "//evil.example",
        "javascript:alert(1)",
        "https://acme.example@evil.example/",
        "/\\evil.example",
    ] {
        assert_eq!(post(evil), "https://acme.example/thanks", "{evil}");
    }
}

#[test]
fn a_form_without_declared_fields_takes_any_and_no_file() {
    let world = World::with("", "[form.quote]\n");
    let receipt = world.post(&common::submission().field("b", "2").field("a", "1"), None).receipt();
    let values = world.show(&receipt)["values"].clone();
    let names: Vec<&str> = values.as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["name", "email", "message", "b", "a"]);
    let answer = world.post(&common::submission().pdf("x.pdf", &pdf("x", 900)), None);
    assert_eq!((answer.status, answer.faults()), (422, vec!["file:unknown_file".to_owned()]));
}

#[test]
fn health_and_script_are_served() {
    let world = World::new();
    let health = world.send(&Request::new("GET", "/healthz"));
    assert_eq!((health.status, health.body.trim()), (200, "ok"));
    let script = world.send(&Request::new("GET", "/formd.js"));
    assert_eq!(script.status, 200);
    assert!(script.header("Content-Type").is_some_and(|t| t.starts_with("text/javascript")), "{script:?}");
    assert!(script.body.len() < 6000 && script.body.contains("_key"));
}
