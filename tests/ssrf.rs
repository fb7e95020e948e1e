//! A webhook never knocks at the operator's own network: whatever a URL is spelled like, whatever a receiver answers.

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

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{FIELDS, HOOK_SECRET, World, clients, process, submission};
use serde_json::Value;

/// Somebody who listens on every address of this machine and counts who calls.
struct Trap {
    port: u16,
    calls: Arc<AtomicUsize>,
}

impl Trap {
    fn new() -> Self {
        let listener = TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        std::thread::spawn(move || {
            for _ in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        Self { port, calls }
    }

    /// The calls so far, and one of our own that shows that they are counted.
    fn calls(&self) -> usize {
        let before = self.calls.load(Ordering::SeqCst);
        drop(TcpStream::connect(("127.0.0.1", self.port)).unwrap());
        let mut waited = 0;
        while self.calls.load(Ordering::SeqCst) == before {
            std::thread::sleep(Duration::from_millis(2));
            waited += 1;
            assert!(waited < 2000, "the trap does not count");
        }
        self.calls.fetch_sub(1, Ordering::SeqCst) - 1
    }
}

/// URLs that `check` refuses; `:PORT` becomes the trap's.
const REFUSED: &[&str] = &[
    "http://10.0.0.1:PORT/",
    "http://192.168.1.1:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0.0.0.0:PORT/",
    "http://0:PORT/",
    "http://[::]:PORT/",
    "http://[fd00::1]:PORT/",
    "http://[::ffff:10.0.0.1]:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://localhost.:PORT/",
    "http://localhost.localdomain:PORT/",
    "http://127.0.0.1.example:PORT/",
    "https://crm.example@127.0.0.1:PORT/",
    "https://crm.example:443@127.0.0.1:PORT/",
    "https://@127.0.0.1:PORT/",
    "https://crm.example%40127.0.0.1:PORT/",
    "https://127.0.0.1\\\\@crm.example:PORT/",
    "https://127.0.0.1\\\\.crm.example:PORT/",
    "https://127.0.0.1:PORT#@crm.example/",
    "https://１２７.０.０.１:PORT/",
    "https://①②⑦.⓪.⓪.①:PORT/",
    "https://localhoﬆ:PORT/",
    "https://127。0。0。1:PORT/",
    "https://[fe80::1%25eth0]:PORT/",
    "https://[::1%lo]:PORT/",
    "https://::1:PORT/",
    "https://[::1:PORT/",
    "https:///127.0.0.1:PORT/",
    "https:127.0.0.1:PORT/",
    "//127.0.0.1:PORT/",
    "https://127.0.0.1 :PORT/",
    "https://%31%32%37.0.0.1:PORT/",
    "gopher://127.0.0.1:PORT/",
    "file:///etc/passwd",
    "unix:/run/docker.sock",
];

/// URLs of hosts that are, or may be taken for, addresses of this machine or its network: never called.
const NOT_CALLED: &[&str] = &[
    "https://127.0.0.1:PORT/",
    "HTTPS://127.0.0.1:PORT/",
    "https://127.255.255.254:PORT/",
    "https://127.1:PORT/",
    "https://127.0.1:PORT/",
    "https://2130706433:PORT/",
    "https://0x7f000001:PORT/",
    "https://0x7f.1:PORT/",
    "https://0x7f.0.0.1:PORT/",
    "https://0177.0.0.1:PORT/",
    "https://017700000001:PORT/",
    "https://0177.0x0.0.1:PORT/",
    "https://127.0.0.1.:PORT/",
    "https://127.000.000.001:PORT/",
    "https://4294967295:PORT/",
    "https://0:PORT/",
    "https://0.0.0.0:PORT/",
    "https://00.0x0.0:PORT/",
    "https://localhost:PORT/",
    "https://LOCALHOST:PORT/",
    "https://localhost.:PORT/",
    "https://sub.localhost:PORT/",
    "https://10.0.0.1:PORT/",
    "https://167772161:PORT/",
    "https://172.16.0.1:PORT/",
    "https://192.168.1.1:PORT/",
    "https://3232235777:PORT/",
    "https://100.64.0.1:PORT/",
    "https://169.254.169.254:PORT/",
    "https://2852039166:PORT/",
    "https://0xA9.0xFE.0xA9.0xFE:PORT/",
    "https://192.0.2.2:PORT/",
    "https://198.18.0.1:PORT/",
    "https://224.0.0.1:PORT/",
    "https://255.255.255.255:PORT/",
    "https://[::1]:PORT/",
    "https://[0:0:0:0:0:0:0:1]:PORT/",
    "https://[0000::0001]:PORT/",
    "https://[::]:PORT/",
    "https://[::127.0.0.1]:PORT/",
    "https://[::ffff:127.0.0.1]:PORT/",
    "https://[::ffff:7f00:1]:PORT/",
    "https://[::FFFF:0:127.0.0.1]:PORT/",
    "https://[::ffff:10.0.0.1]:PORT/",
    "https://[64:ff9b::127.0.0.1]:PORT/",
    "https://[64:ff9b::7f00:1]:PORT/",
    "https://[64:ff9b:1::10.0.0.1]:PORT/",
    "https://[2002:7f00:1::]:PORT/",
    "https://[2002:a00:1::1]:PORT/",
    "https://[2001:0:7f00:1:8000:63bf:80ff:fffe]:PORT/",
    "https://[fe80::1]:PORT/",
    "https://[fec0::1]:PORT/",
    "https://[fc00::1]:PORT/",
    "https://[fd00::2]:PORT/",
    "https://[fd00:ec2::254]:PORT/",
    "https://[ff02::1]:PORT/",
    "https://[2001:db8::1]:PORT/",
    "https://[100::1]:PORT/",
];

/// A world whose only destination is this URL, if `check` lets it be one.
fn pointed_at(world: &World, url: &str, more: &str) -> bool {
    let site = format!("[[destination]]\nid = \"crm\"\nwebhook = \"{url}\"\nsecret = \"{HOOK_SECRET}\"\n{more}");
    world.write_site(&site, &format!("[form.quote]\n{FIELDS}"));
    let checked = world.ctl(&["check"]);
    if checked.code == 0 {
        world.reload().unwrap();
        return true;
    }
    let said = checked.stdout + &checked.stderr;
    assert!(said.contains("sites/acme.toml:4:11"), "only the URL is wrong: {said}");
    false
}

/// The note of one attempt at a submission of its own.
fn note(world: &World, key: &str) -> String {
    let receipt = world.post(&submission(), Some(key)).receipt();
    assert_eq!(world.deliver(), 1);
    assert_eq!(world.states(&receipt), ["webhook retrying 1"]);
    world.show(&receipt)["deliveries"][0]["note"].as_str().unwrap().to_owned()
}

#[test]
fn no_spelling_of_a_private_address_is_called() {
    let (world, trap) = (World::new(), Trap::new());
    let spelled = |url: &str| url.replace("PORT", &trap.port.to_string());
    for url in REFUSED {
        assert!(!pointed_at(&world, &spelled(url), ""), "{url}");
    }
    for url in NOT_CALLED {
        assert!(pointed_at(&world, &spelled(url), ""), "{url}");
        let note = note(&world, url);
        let forbidden = "the address is private; `allow_private = true` would allow it";
        assert!([forbidden, "the host name is not known"].contains(&note.as_str()), "{url}: {note}");
        assert_eq!(trap.calls(), 0, "{url}");
    }
}

#[test]
fn allow_private_opens_https_alone_and_plain_http_stays_on_this_machine() {
    let (world, trap) = (World::new(), Trap::new());
    for host in ["127.0.0.1", "[::1]", "localhost", "2130706433"] {
        let before = trap.calls();
        assert!(pointed_at(&world, &format!("https://{host}:{}/", trap.port), "allow_private = true"));
        // The trap speaks no TLS.
        let note = note(&world, host);
        assert!(note.starts_with("connection failed") || note.starts_with("TLS failed"), "{host}: {note}");
        assert!(trap.calls() > before, "{host}");
    }
    for url in ["http://10.0.0.1/", "http://192.168.1.1:8080/", "http://[fd00::1]/", "http://crm.internal/"] {
        assert!(!pointed_at(&world, url, "allow_private = true"), "{url}");
    }
    let before = trap.calls();
    assert!(pointed_at(&world, &format!("http://127.0.0.1:{}/", trap.port), ""));
    note(&world, "plain");
    assert_eq!(trap.calls(), before + 1);
}

#[test]
fn no_redirect_is_followed_wherever_it_leads() {
    let (world, trap) = (World::new(), Trap::new());
    let places =
        [format!("http://127.0.0.1:{}/", trap.port), format!("//127.0.0.1:{}/", trap.port), "/other".to_owned()];
    let mut calls = 0;
    for (status, place) in [301, 302, 303, 307, 308].into_iter().flat_map(|s| places.iter().map(move |p| (s, p))) {
        world.hooks.script(&[format!("{status} Elsewhere\r\nLocation: {place}").leak()]);
        let receipt = world.post(&submission(), Some(&format!("{status}{place}"))).receipt();
        world.deliver();
        calls += 1;
        let shown = world.show(&receipt)["deliveries"][1].clone();
        assert_eq!((shown["state"].as_str(), shown["reason"].as_str()), (Some("failed"), Some("refused")), "{status}");
        assert_eq!(shown["note"], format!("HTTP {status}"));
        assert_eq!(world.hooks.calls().len(), calls, "{status} {place}");
    }
    assert_eq!(trap.calls(), 0);
}

/// A receiver behind TLS: every POST answered with 204; its port is the first line it prints.
const RECEIVER: &str = r#"
import http.server, ssl
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()
server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("leaf.pem", "leaf.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
"#;

/// A certificate authority of our own and a certificate for 127.0.0.1 that it signed.
const CERTIFY: &str = r"
new='openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30'
$new -subj /CN=authority -keyout ca.key -out ca.pem
$new -subj /CN=receiver -keyout leaf.key -out leaf.pem -CA ca.pem -CAkey ca.key \
    -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=IP:127.0.0.1
";

#[test]
fn a_private_receiver_behind_tls_is_reached_where_its_destination_says_so_and_only_there() {
    if !clients::have("openssl", "openssl", &["version"])
        || !clients::have("python3", "/usr/bin/python3", &["--version"])
    {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let certified = Command::new("sh").args(["-ec", CERTIFY]).current_dir(folder.path()).output().unwrap();
    assert!(certified.status.success(), "{}", String::from_utf8_lossy(&certified.stderr));
    let mut receiver = Command::new("/usr/bin/python3")
        .args(["-c", RECEIVER])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(receiver.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let destination = |id: &str, more: &str| {
        let url = format!("https://127.0.0.1:{}/", port.trim());
        format!("[[destination]]\nid = \"{id}\"\nwebhook = \"{url}\"\nsecret = \"{HOOK_SECRET}\"\n{more}\n")
    };
    let config = process::write_config(folder.path(), "");
    let both = destination("open", "allow_private = true") + &destination("shut", "");
    common::write_private(&folder.path().join("sites/acme.toml"), &format!("{both}[form.quote]\n{FIELDS}"));
    let authority = format!("SSL_CERT_FILE={}", folder.path().join("ca.pem").display());
    let formd = process::Process::start_under(&["env", &authority], &config);
    let answer = submission().post("/f/acme/quote").header("Accept", "application/json").send(formd.address);
    let receipt = answer.receipt();
    let show = || {
        let words = ["--config", config.to_str().unwrap(), "show", &receipt, "--json"];
        let shown: Value =
            serde_json::from_str(&clients::said(&clients::run(env!("CARGO_BIN_EXE_formctl"), &words))).unwrap();
        [0, 1].map(|n| {
            format!("{} {}", shown["deliveries"][n]["state"].as_str().unwrap(), shown["deliveries"][n]["note"])
        })
    };
    let started = Instant::now();
    while show().iter().any(|state| state.starts_with("pending")) && started.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let states = show();
    drop(receiver.kill());
    drop(receiver.wait());
    let shut = "retrying \"the address is private; `allow_private = true` would allow it\"";
    assert_eq!(states, ["delivered \"HTTP 204\"", shut]);
}
