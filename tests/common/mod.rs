//! One fixture for every test of the whole program: a data directory, a daemon on a port of its own, a clock that
//! only moves when told, peers that misbehave as told. When a world ends its invariants are checked.

#![allow(dead_code, reason = "each test file uses its part of the fixture")]

pub mod client;
pub mod clients;
pub mod machine;
pub mod mailpeer;
pub mod nginx;
pub mod peers;
pub mod probes;
pub mod process;
pub mod stops;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use formd::harness::{self, Clock, Daemon, Span, Step, Timestamp};

use client::{Answer, Multipart, Request};
use peers::{HookServer, MailServer, Smtp};

/// A running formd and everything around it.
#[derive(Debug)]
pub struct World {
    pub clock: Clock,
    pub mail: MailServer,
    pub hooks: HookServer,
    folder: tempfile::TempDir,
    daemon: Option<Daemon>,
}

/// The secret of the webhook destination.
pub const HOOK_SECRET: &str = "a-secret-of-the-crm-hook";

/// The fields of the reference form.
pub const FIELDS: &str = r#"
[[form.quote.field]]
name = "name"
label = "Имя"
kind = "text"
required = true
max_length = 200

[[form.quote.field]]
name = "email"
label = "Почта"
kind = "email"
required = true

[[form.quote.field]]
name = "message"
label = "Сообщение"
kind = "textarea"

[[form.quote.field]]
name = "file"
label = "Техзадание"
kind = "file"
types = [".pdf"]
"#;

/// What a command of formctl came to.
#[must_use]
#[derive(Debug)]
pub struct Ran {
    pub code: u8,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The output of a command that must succeed.
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "exit {}: {}{}", self.code, self.stdout, self.stderr);
        self.stdout
    }

    /// One JSON object a line.
    pub fn json(self) -> Vec<serde_json::Value> {
        self.ok().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

impl World {
    /// Site `acme`, form `quote`: a mail to sales, a webhook to the crm, no rate limit.
    pub fn new() -> Self {
        Self::with("", &format!("[form.quote]\ntitle = \"Quote\"\n{FIELDS}"))
    }

    /// The same site with more lines in front of `[form...]`, and other forms.
    pub fn with(site: &str, forms: &str) -> Self {
        Self::with_daemon("", site, forms)
    }

    /// The same with more lines in `formd.toml`.
    pub fn with_daemon(daemon: &str, site: &str, forms: &str) -> Self {
        let world = Self {
            clock: Clock::stepped(Timestamp::parse("2026-11-30T12:00:00Z").unwrap()),
            mail: MailServer::start(&[Smtp::Accept]),
            hooks: HookServer::start(&["200 OK"]),
            folder: tempfile::tempdir().unwrap(),
            daemon: None,
        };
        world.write_daemon(daemon);
        world.write_site(site, forms);
        world.started()
    }

    fn write_daemon(&self, extra: &str) {
        let text = format!(
            "listen = \"127.0.0.1:0\"\ndata_dir = \"data\"\n\
             [mail]\nfrom = \"Forms <forms@example.com>\"\ntransport = \"smtp\"\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\n\
             [delivery]\nenabled = false\n{extra}",
            self.mail.address.port()
        );
        write_private(&self.config_file(), &text);
    }

    /// Replaces the site's file; a reload or restart puts it in force.
    pub fn write_site(&self, site: &str, forms: &str) {
        let rate = if site.contains("rate =") { "" } else { "rate = []\n" };
        let destinations = if site.contains("[[destination]]") { String::new() } else { self.destinations() };
        fs::create_dir_all(self.folder.path().join("sites")).unwrap();
        write_private(&self.site_file(), &format!("{rate}{site}\n{destinations}\n{forms}"));
    }

    fn destinations(&self) -> String {
        format!(
            "[[destination]]\nid = \"sales\"\nemail = \"sales@acme.example\"\n\
             [[destination]]\nid = \"crm\"\nwebhook = \"http://127.0.0.1:{}/hooks/forms?token=hook-token-4711\"\nsecret = \"{HOOK_SECRET}\"\n",
            self.hooks.address.port()
        )
    }

    pub fn site_file(&self) -> PathBuf {
        self.folder.path().join("sites/acme.toml")
    }

    pub fn config_file(&self) -> PathBuf {
        self.folder.path().join("formd.toml")
    }

    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn started(mut self) -> Self {
        self.start();
        self
    }

    /// Starts the daemon of this world (again).
    pub fn start(&mut self) {
        self.daemon = Some(Daemon::start(&self.config_file(), &self.clock).expect("the daemon starts"));
    }

    /// Stops the daemon in order.
    pub fn stop(&mut self) {
        self.daemon = None;
    }

    /// Stops and starts the daemon, so that the files on disk are in force.
    pub fn restart(&mut self) {
        self.stop();
        self.start();
    }

    fn daemon(&self) -> &Daemon {
        self.daemon.as_ref().expect("a running daemon")
    }

    /// Publishes the files on disk; `Err` is what the log would say.
    pub fn reload(&self) -> Result<(), String> {
        self.daemon().reload()
    }

    pub fn address(&self) -> SocketAddr {
        self.daemon().address()
    }

    pub fn send(&self, request: &Request) -> Answer {
        request.send(self.address())
    }

    /// Posts the reference submission as JSON-wanting multipart, under `key` when one is given.
    pub fn post(&self, body: &Multipart, key: Option<&str>) -> Answer {
        let mut request = body.post("/f/acme/quote").header("Accept", "application/json");
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        self.send(&request)
    }

    /// Makes attempts until nothing is due; their count.
    pub fn deliver(&self) -> usize {
        let mut attempts = 0;
        while let Step::Worked { .. } = self.daemon().deliver().expect("a step") {
            attempts += 1;
            assert!(attempts < 100, "a hot loop of deliveries");
        }
        attempts
    }

    /// Makes at most one attempt.
    pub fn step(&self) -> Step {
        self.daemon().deliver().expect("a step")
    }

    /// Runs `formctl` with this world's configuration and clock.
    pub fn ctl(&self, args: &[&str]) -> Ran {
        let file = self.config_file();
        let all = [&["formctl", "--config", file.to_str().unwrap()], args].concat();
        let (code, stdout, stderr) = harness::ctl(&all, &self.clock);
        Ran { code, stdout, stderr }
    }

    /// `formctl show --json` of one receipt.
    pub fn show(&self, receipt: &str) -> serde_json::Value {
        self.ctl(&["show", receipt, "--json"]).json().remove(0)
    }

    /// The state of each delivery as `channel state attempts`.
    pub fn states(&self, receipt: &str) -> Vec<String> {
        let shown = self.show(receipt);
        let deliveries = shown["deliveries"].as_array().unwrap().clone();
        deliveries
            .iter()
            .map(|d| format!("{} {} {}", d["channel"].as_str().unwrap(), d["state"].as_str().unwrap(), d["attempts"]))
            .collect()
    }

    /// One round of the daemon's own sweep.
    pub fn sweep(&self) {
        self.daemon().sweep().expect("a sweep");
    }

    pub fn pass(&self, span: Span) {
        self.clock.step(span);
    }

    /// One number of the database.
    pub fn count(&self, sql: &str) -> i64 {
        let connection = rusqlite::Connection::open(self.data().join("formd.db")).unwrap();
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Kept attachments on disk, as paths below `attachments/`.
    pub fn attachments(&self) -> Vec<String> {
        files_below(&self.data().join("attachments"))
    }

    pub fn parts(&self) -> Vec<String> {
        files_below(&self.data().join("tmp"))
    }

    /// Nothing was kept, not even half.
    pub fn assert_nothing_kept(&self) {
        assert_eq!(self.count("SELECT count(*) FROM receipts"), 0);
        assert_eq!(self.attachments(), Vec::<String>::new());
        assert_eq!(self.parts(), Vec::<String>::new());
    }

    /// Every file of the data directory that contains `marker` as UTF-8, UTF-16, base64 or hex.
    pub fn traces(&self, marker: &str) -> Vec<String> {
        let needles = encodings(marker);
        let mut found = Vec::new();
        for name in files_below(&self.data()) {
            let Ok(bytes) = fs::read(self.data().join(&name)) else { continue };
            if needles.iter().any(|needle| bytes.windows(needle.len()).any(|w| w == needle.as_slice())) {
                found.push(name);
            }
        }
        found
    }

    /// What must hold at the end of every test.
    fn check_invariants(&self) {
        assert_eq!(self.parts(), Vec::<String>::new(), "`.part` files are left");
        let connection = rusqlite::Connection::open(self.data().join("formd.db")).unwrap();
        let integrity: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(integrity, "ok");
        let claims: i64 =
            connection.query_row("SELECT count(*) FROM deliveries WHERE claim IS NOT NULL", [], |r| r.get(0)).unwrap();
        assert_eq!(claims, 0, "a claim is held");
        let mut rows = connection.prepare("SELECT path FROM attachments ORDER BY path").unwrap();
        let rows: Vec<String> = rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows, self.attachments(), "rows and files differ");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.daemon = None;
        if !std::thread::panicking() {
            self.check_invariants();
        }
    }
}

/// A correct submission.
pub fn submission() -> Multipart {
    Multipart::default().field("name", "Анна").field("email", "anna@example.com").field("message", "Здравствуйте")
}

/// Writes a file that only its owner may read, as one with a secret must be.
pub fn write_private(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// All files below a folder, as sorted relative paths.
pub fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(&next) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

/// A text as UTF-8, UTF-16 in both orders, base64 in its three alignments, hex in both cases.
pub fn encodings(text: &str) -> Vec<Vec<u8>> {
    let mut all = vec![text.as_bytes().to_vec()];
    all.push(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
    all.push(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    let hex = text.bytes().fold(String::new(), |all, b| all + &format!("{b:02x}"));
    all.push(hex.to_uppercase().into_bytes());
    all.push(hex.into_bytes());
    for shift in 0..3 {
        all.push(base64_core(text.as_bytes(), shift));
    }
    all
}

/// The base64 characters that do not depend on the neighbours when `bytes` begin at `shift` of a group of three.
fn base64_core(bytes: &[u8], shift: usize) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let aligned = &bytes[(3 - shift) % 3..];
    let whole = &aligned[..aligned.len() / 3 * 3];
    let mut out = Vec::new();
    for three in whole.chunks(3) {
        let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        for place in (0..4).rev() {
            out.push(ALPHABET[(bits >> (6 * place) & 63) as usize]);
        }
    }
    out
}

/// Says loudly that a test did not run, or fails where nothing may be skipped (`FORMD_TESTS=all`).
pub fn skip(reason: &str) {
    assert!(std::env::var_os("FORMD_TESTS").is_none_or(|v| v != "all"), "nothing may be skipped here: {reason}");
    eprintln!("\n*** SKIPPED: {reason}; `make test` as root installs it ***\n");
}
