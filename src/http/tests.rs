//! The whole room over a real socket, with a real store: the line of a submission from its first byte to its answer.

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::{Listener, Shared, serve};
use crate::clock::Clock;
use crate::config::{Addresses, Config, Current, Listen};
use crate::domain::time::Timestamp;
use crate::store::{Store, Throttle};

/// The embedded default, served.
struct Room {
    /// The data directory.
    _folder: tempfile::TempDir,
    /// Where it listens.
    address: String,
    /// The configuration in force.
    current: Current,
    /// Keeps it serving.
    _stop: watch::Sender<bool>,
}

/// An answer taken apart.
struct Heard {
    /// The status.
    status: u16,
    /// The head.
    head: String,
    /// The body.
    body: String,
}

impl Heard {
    /// The body as JSON.
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The receipt in it.
    fn receipt(&self) -> String {
        self.json()["receipt"].as_str().unwrap().to_owned()
    }

    /// Whether a header line stands in the head.
    fn has(&self, line: &str) -> bool {
        self.head.to_ascii_lowercase().contains(&line.to_ascii_lowercase())
    }
}

impl Room {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::stepped(Timestamp::from_millis(1_796_056_099_007));
        let data = folder.path().join("data");
        let store = Store::open_daemon(&data, clock.now(), clock.random()).unwrap();
        let current = Current::new(Config::load(None).unwrap());
        let throttle = Throttle::new(folder.path().join("limiter"), 100);
        let shared = Shared::new(store, current.clone(), clock, throttle).unwrap();
        let listener = Listener::bind(&Listen::Tcp("127.0.0.1:0".parse().unwrap())).await.unwrap();
        let address = listener.address();
        let (stop, stopping) = watch::channel(false);
        tokio::spawn(serve(listener, shared, stopping));
        Self { _folder: folder, address, current, _stop: stop }
    }

    /// Sends one request and reads its answer to the end of the connection.
    async fn send(&self, line: &str, headers: &[&str], body: &[u8]) -> Heard {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let length = format!("Content-Length: {}", body.len());
        let lines = [&["Host: forms.test", "Connection: close"], headers, &[length.as_str()]].concat().join("\r\n");
        stream.write_all(format!("{line} HTTP/1.1\r\n{lines}\r\n\r\n").as_bytes()).await.unwrap();
        stream.write_all(body).await.unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await.unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Heard { status: head[9..12].parse().unwrap(), head: head.to_owned(), body: body.to_owned() }
    }

    /// Posts a form as a page would.
    async fn post(&self, fields: &str, headers: &[&str]) -> Heard {
        let usual = ["Content-Type: application/x-www-form-urlencoded"];
        self.send("POST /f/demo/quote", &[&usual, headers].concat(), fields.as_bytes()).await
    }
}

/// What a browser sends with a form.
const NAVIGATE: &str = "Sec-Fetch-Mode: navigate";
/// A message that passes.
const GOOD: &str = "_key=k1&name=Ada&email=ada%40example.com";

#[tokio::test(flavor = "multi_thread")]
async fn a_message_gets_one_receipt_however_often_it_is_sent() {
    let room = Room::open().await;
    let first = room.post(GOOD, &[]).await;
    assert_eq!(first.status, 200, "{}", first.body);
    assert!(first.has("X-RateLimit-Remaining: 9"), "{}", first.head);
    assert!(!first.has("Idempotent-Replayed: "));
    let second = room.post("name=Ada&email=ada%40example.com", &["Idempotency-Key: \"k1\""]).await;
    assert_eq!(second.receipt(), first.receipt());
    assert!(second.has("Idempotent-Replayed: true"));
    let other = room.post("_key=k1&name=Eve&email=ada%40example.com", &[NAVIGATE]).await;
    assert_eq!(other.status, 409);
    assert!(other.body.contains("value=\"Eve\"") && !other.body.contains("value=\"k1\""), "{}", other.body);
    let differ = room.post(GOOD, &["Idempotency-Key: k2"]).await;
    assert_eq!((differ.status, differ.json()["code"].as_str()), (400, Some("bad_key")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_taken_and_a_page_thanks_with_the_receipt() {
    let room = Room::open().await;
    let part = |name: &str, rest: &str| format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"{rest}\r\n");
    let pdf = "%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\nstartxref\n9\n%%EOF\n";
    let body = [
        part("_key", "\r\n\r\nk1"),
        part("name", "\r\n\r\nAda"),
        part("email", "\r\n\r\nada@example.com"),
        part("file", &format!("; filename=\"x.pdf\"\r\n\r\n{pdf}")),
        "--x--\r\n".to_owned(),
    ]
    .concat();
    let kind = "Content-Type: multipart/form-data; boundary=x";
    let page = room.send("POST /f/demo/quote/", &[kind, NAVIGATE], body.as_bytes()).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let again = room.send("POST /f/demo/quote.json", &[kind, NAVIGATE], body.as_bytes()).await;
    assert!(page.body.contains(&again.receipt()), "{}", page.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_shows_the_form_again_with_the_text_and_its_key() {
    let room = Room::open().await;
    let page = room.post("_key=k1&name=Ada&email=nowhere&extra=more", &[NAVIGATE, "Accept-Language: ru"]).await;
    assert_eq!(page.status, 422);
    for part in ["lang=\"ru\"", "name=\"_key\" value=\"k1\"", "value=\"Ada\"", "value=\"nowhere\"", "value=\"more\""] {
        assert!(page.body.contains(part), "{part}\n{}", page.body);
    }
    let json = room.post("name=&email=nowhere", &[]).await;
    let fields: Vec<Value> = json.json()["errors"].as_array().unwrap().iter().map(|e| e["field"].clone()).collect();
    assert_eq!(fields, ["name", "email"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn over_the_limit_only_an_exact_repeat_is_answered_and_the_text_is_kept() {
    let room = Room::open().await;
    let first = room.post(GOOD, &[]).await;
    for _ in 0..9 {
        room.post("name=", &[]).await;
    }
    let refused = room.post("_key=k2&name=Ada&email=ada%40example.com", &[NAVIGATE]).await;
    assert_eq!(refused.status, 429);
    assert!(refused.has("Retry-After: ") && refused.body.contains("value=\"Ada\""), "{}", refused.body);
    assert!(refused.body.contains("name=\"_key\" value=\"k2\""), "{}", refused.body);
    for headers in [&[][..], &["Idempotency-Key: k1"]] {
        let repeat = room.post(GOOD, headers).await;
        assert_eq!((repeat.status, repeat.receipt()), (200, first.receipt()));
        assert!(repeat.has("X-RateLimit-Remaining: 0"));
    }
    assert_eq!(room.post("_key=k1&name=Eve&email=ada%40example.com", &[]).await.status, 429);
    assert_eq!(room.post(GOOD, &["Idempotency-Key: k3"]).await.status, 429);
    assert_eq!(room.post(GOOD, &["X-Real-IP: 203.0.113.7"]).await.status, 200, "another client has its own limit");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_lost_its_form_still_knows_its_repeats() {
    let room = Room::open().await;
    let first = room.post(GOOD, &[]).await;
    let mut config = Config::load(None).unwrap();
    config.sites.clear();
    config.addresses = Addresses::default();
    room.current.publish(config);
    assert_eq!(room.post(GOOD, &[]).await.receipt(), first.receipt());
    let new = room.post("_key=k2&name=Ada&email=ada%40example.com", &[]).await;
    let unknown = room.send("POST /f/demo/nothing", &["Content-Type: application/json"], b"{}").await;
    assert_eq!((new.status, unknown.status), (404, 404));
    assert_eq!(new.body, unknown.body, "the answer does not tell which");
    assert_eq!(room.send("GET /f/demo/quote", &[], b"").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_address_answers_its_methods_and_no_other() {
    let room = Room::open().await;
    let form = room.send("GET /f/demo/quote", &["Accept: text/html"], b"").await;
    assert_eq!(form.status, 200);
    assert!(form.has("Content-Security-Policy: default-src 'none'") && form.has("Cache-Control: private, no-cache"));
    assert!(!form.has("Set-Cookie") && form.body.contains("name=\"_key\""));
    assert_eq!(room.send("HEAD /f/demo/quote", &[], b"").await.body, "");
    let script = room.send("GET /formd.js", &[], b"").await;
    assert!(
        script.status == 200 && script.has("Content-Type: text/javascript") && script.body.contains("sessionStorage")
    );
    assert_eq!(room.send("GET /healthz", &[], b"").await.body, "ok\n");
    let preflight = ["Origin: https://acme.example", "Access-Control-Request-Headers: idempotency-key"];
    let preflight = room.send("OPTIONS /f/demo/quote", &preflight, b"").await;
    assert!(preflight.status == 204 && preflight.has("Access-Control-Allow-Headers: idempotency-key"));
    for (line, status) in [
        ("PUT /f/demo/quote", 405),
        ("POST /formd.js", 405),
        ("DELETE /healthz", 405),
        ("GET /f/demo/quote.json", 405),
        ("GET /", 404),
        ("OPTIONS /f/demo/nothing", 404),
    ] {
        assert_eq!(room.send(line, &[], b"").await.status, status, "{line}");
    }
    let plain = room.send("POST /f/demo/quote", &["Content-Type: text/plain"], b"hello").await;
    assert!(plain.status == 415 && plain.body.contains("application/x-www-form-urlencoded"), "{}", plain.body);
    let large = vec![b'a'; 11 * 1024 * 1024];
    let large = room.send("POST /f/demo/quote", &["Content-Type: application/json"], &large).await;
    assert!(large.status == 413 && large.has("Connection: close"));
}
