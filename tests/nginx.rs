//! Debian's nginx in front of the real binary, with the example configuration of `packaging/nginx.conf` and with the
//! settings other operators have: requests buffered, HTTP/1.0 to formd.

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

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use common::client::{Answer, Multipart, parse_answers, pdf, read_all};
use common::clients::{Desk, have, run, said};
use common::nginx::{Changes, NGINX, Nginx};
use common::probes::{self, CANARY};

/// Two forms: one takes five files, one is the quote of the probes.
const SITE: &str = r#"
rate = []
[form.files]
destinations = []
field = [{ name = "name", label = "Name", kind = "text" }, { name = "file", label = "File", kind = "file", max_files = 5 }]
[form.quote]
destinations = []
field = [{ name = "name", label = "Name", kind = "text" }, { name = "email", label = "E-mail", kind = "email" }]
"#;

const BUFFERED: (&str, &str) = ("proxy_request_buffering off", "proxy_request_buffering on");
const OLD: (&str, &str) = ("proxy_http_version 1.1", "proxy_http_version 1.0");

/// The example as it is, and what others set.
const WAYS: &[Changes] = &[&[], &[BUFFERED], &[OLD], &[BUFFERED, OLD]];

fn have_nginx() -> bool {
    have("nginx-light", NGINX, &["-v"])
}

fn desk() -> Desk {
    Desk::with("", SITE)
}

/// A submission with these many files of 5 MiB, less a little for the PDF's own size.
fn large(files: usize) -> Multipart {
    (0..files).fold(Multipart::default().field("name", "Анна"), |body, i| {
        body.pdf(&format!("{i}.pdf"), &pdf(&format!("file {i}"), 5 * 1024 * 1024))
    })
}

fn keyed(body: &Multipart, key: &str, to: SocketAddr) -> Answer {
    body.post("/f/acme/files.json").header("Idempotency-Key", key).send(to)
}

/// Waits until something holds, ten seconds at most.
fn eventually(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(10), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ten_mebibytes_pass_and_a_repeat_is_recognised() {
    let desk = desk();
    if !have_nginx() {
        return;
    }
    for (way, changes) in WAYS.iter().enumerate() {
        let nginx = Nginx::start(desk.formd.address, changes);
        let (body, key) = (large(2), format!("way-{way}"));
        let first = keyed(&body, &key, nginx.address);
        let second = keyed(&body, &key, nginx.address);
        assert_eq!(first.receipt(), second.receipt(), "{changes:?}");
        assert_eq!(second.header("idempotent-replayed"), Some("true"), "{changes:?}");
        let shown = desk.show(&first.receipt());
        let sizes: Vec<u64> =
            shown["attachments"].as_array().unwrap().iter().map(|a| a["size"].as_u64().unwrap()).collect();
        assert_eq!(sizes.iter().sum::<u64>(), 10 * 1024 * 1024, "{changes:?}");
    }
    assert_eq!(desk.receipts().len(), WAYS.len());
}

#[test]
fn a_client_that_leaves_in_the_middle_of_an_upload_leaves_nothing() {
    let desk = desk();
    if !have_nginx() {
        return;
    }
    for changes in WAYS {
        let nginx = Nginx::start(desk.formd.address, changes);
        let bytes = large(2).post("/f/acme/files.json").bytes();
        let mut stream = TcpStream::connect(nginx.address).unwrap();
        stream.write_all(&bytes[..7 * 1024 * 1024]).unwrap();
        if !changes.contains(&BUFFERED) {
            eventually("the upload reaches formd", || !desk.files().is_empty());
        }
        drop(stream);
        eventually("the parts are removed", || desk.files().is_empty());
        assert_eq!(desk.receipts(), Vec::<String>::new(), "{changes:?}");
    }
}

#[test]
fn a_client_that_leaves_before_the_answer_finds_its_submission_kept_once() {
    let desk = desk();
    if !have_nginx() {
        return;
    }
    for (way, changes) in WAYS.iter().enumerate() {
        let nginx = Nginx::start(desk.formd.address, changes);
        let (body, key) = (large(1), format!("left-{way}"));
        let request = body.post("/f/acme/files.json").header("Idempotency-Key", &key);
        let mut stream = TcpStream::connect(nginx.address).unwrap();
        stream.write_all(&request.bytes()).unwrap();
        drop(stream);
        let answer = request.send(nginx.address);
        assert_eq!(answer.status, 200, "{changes:?}: {}", answer.body);
        assert_eq!(desk.receipts().len(), way + 1, "{changes:?}");
        eventually("no part is left", || desk.files().len() == way + 1);
    }
}

#[test]
fn a_submission_that_is_too_large_gets_the_words_of_formd() {
    let desk = desk();
    if !have_nginx() {
        return;
    }
    for changes in WAYS {
        let nginx = Nginx::start(desk.formd.address, changes);
        for _ in 0..5 {
            let answer = large(3).post("/f/acme/files.json").send(nginx.address);
            assert_eq!(answer.status, 413, "{changes:?}: {}", answer.body);
            assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{changes:?}");
            assert_eq!(answer.json()["code"], "too_large", "{changes:?}");
        }
    }
    assert_eq!((desk.receipts().len(), desk.files().len()), (0, 0));
}

#[test]
fn an_address_that_a_client_invents_does_not_dodge_the_limit() {
    let desk = Desk::with("", &SITE.replace("rate = []", "rate = [\"2/d\"]"));
    if !(have_nginx() && have("curl", "curl", &["--version"])) {
        return;
    }
    let nginx = Nginx::start(desk.formd.address, &[]);
    let url = format!("http://{}/f/acme/quote.json", nginx.address);
    let post = |from: &str, claimed: &str, text: &str| {
        let (real, forwarded) = (format!("X-Real-IP: {claimed}"), format!("X-Forwarded-For: {claimed}"));
        let name = format!("name={text}");
        let words = ["-s", "-m", "30", "-o", "/dev/null", "-w", "%{http_code}", "--interface", from];
        let more = ["-H", &real, "-H", &forwarded, "-d", &name, "-d", "email=a@b.example", &url];
        said(&run("curl", &[&words[..], &more].concat()))
    };
    let spoofing: Vec<String> =
        (0..4).map(|i| post("127.0.0.1", &format!("203.0.113.{i}"), &format!("visitor {i}"))).collect();
    assert_eq!(spoofing, ["200", "200", "429", "429"]);
    assert_eq!(post("127.0.0.2", "127.0.0.1", "another visitor"), "200");
}

#[test]
fn a_restart_of_formd_between_two_posts_of_a_kept_connection_costs_nothing() {
    let mut desk = desk();
    if !have_nginx() {
        return;
    }
    let nginx = Nginx::start(desk.formd.address, &[]);
    for (round, kindly) in [true, false, true].into_iter().enumerate() {
        let body = Multipart::default().field("name", &format!("visitor {round}"));
        // Four at once, so that nginx keeps several connections to formd.
        std::thread::scope(|scope| {
            for i in 0..4 {
                let (body, key) = (&body, format!("before-{round}-{i}"));
                scope.spawn(move || assert_eq!(keyed(body, &key, nginx.address).status, 200));
            }
        });
        desk.restart(kindly);
        let answers: Vec<Answer> = (0..4).map(|i| keyed(&body, &format!("after-{round}-{i}"), nginx.address)).collect();
        assert!(answers.iter().all(|a| a.status == 200), "{answers:?} {}", nginx.errors());
        let again = keyed(&body, &format!("before-{round}-0"), nginx.address);
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        assert_eq!(desk.receipts().len(), (round + 1) * 8);
    }
}

#[test]
fn a_client_that_asks_before_it_sends_is_told_to_go_on() {
    let desk = desk();
    if !have_nginx() {
        return;
    }
    for (way, changes) in WAYS.iter().enumerate() {
        let nginx = Nginx::start(desk.formd.address, changes);
        let request = Multipart::default().field("name", &format!("visitor {way}")).post("/f/acme/files.json");
        let bytes = request.header("Expect", "100-continue").bytes();
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
        let mut stream = TcpStream::connect(nginx.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream.write_all(&bytes[..end]).unwrap();
        let mut interim = [0; 25];
        stream.read_exact(&mut interim).unwrap();
        assert_eq!(interim, *b"HTTP/1.1 100 Continue\r\n\r\n", "{changes:?}");
        stream.write_all(&bytes[end..]).unwrap();
        let answers = parse_answers(&read_all(&mut stream));
        assert_eq!(answers.iter().map(|a| a.status).collect::<Vec<_>>(), [200], "{changes:?}");
    }
}

/// Sends a probe and the canary on one connection; the statuses that came back.
fn ask(probe: &probes::Probe, to: SocketAddr) -> Vec<u16> {
    let cut = probe.name == "a body cut short";
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(1500))).unwrap();
    // The server may close before all is written.
    drop(stream.write_all(format!("{}{}", probe.bytes, if cut { "" } else { CANARY }).as_bytes()));
    if cut {
        drop(stream.shutdown(Shutdown::Write));
    }
    let answers = parse_answers(&read_all(&mut stream));
    // The one that may come second answers the canary, not the probe again.
    assert!(answers.iter().skip(1).all(|a| a.body.trim() == "ok"), "{}: {answers:?}", probe.name);
    answers.iter().map(|a| a.status).collect()
}

/// Asks all probes; each gets just the answers of its table, and what was not answered with success is not kept.
fn assert_probes(desk: &Desk, to: SocketAddr, expected: impl Fn(&probes::Probe) -> &'static [u16]) {
    let all = probes::all();
    assert_eq!(all.len(), 32);
    let got: Vec<(&str, Vec<u16>)> = all.iter().map(|probe| (probe.name, ask(probe, to))).collect();
    let wanted: Vec<(&str, Vec<u16>)> = all.iter().map(|probe| (probe.name, expected(probe).to_vec())).collect();
    assert_eq!(got, wanted);
    let taken = all.iter().filter(|probe| expected(probe).first() == Some(&200)).count();
    assert_eq!(desk.receipts().len(), taken);
}

#[test]
fn thirty_two_ambiguous_requests_get_one_answer_each_from_formd_itself() {
    let desk = desk();
    assert_probes(&desk, desk.formd.address, |probe| probe.direct);
}

#[test]
fn thirty_two_ambiguous_requests_get_one_answer_each_through_nginx() {
    if !have_nginx() {
        return;
    }
    for changes in WAYS {
        let desk = desk();
        let nginx = Nginx::start(desk.formd.address, changes);
        assert_probes(&desk, nginx.address, |probe| probe.proxied);
    }
}
