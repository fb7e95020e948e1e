//! kill -9 of the real daemon at every point of an attempt. Nothing is lost; what a peer had taken, and only that, it gets
//! once more, under the same names and with the same words. One attempt is allowed here: a crash ends nothing all the same.

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

use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use common::client::pdf;
use common::clients::{run, said};
use common::process::Process;
use common::stops::{Peer, Seen, Stop};
use common::{FIELDS, files_below, submission, write_private};
use serde_json::Value;

/// An installation with one destination, whose peer stops somewhere.
#[derive(Debug)]
struct Scene {
    folder: tempfile::TempDir,
    peer: Peer,
}

/// Whether the daemon sends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    On,
    Off,
}

impl Scene {
    /// Mails go to a server that stops at `stop`.
    fn mail(stop: Option<Stop>) -> Self {
        Self::new(Peer::mail(stop), "email = \"sales@acme.example\"\nattach_files = true")
    }

    /// Webhooks go to a receiver that stops at `stop`.
    fn hook(stop: Option<Stop>) -> Self {
        let peer = Peer::hook(stop);
        let target = format!("webhook = \"http://{}/hook\"\nsecret = \"a-secret-of-the-hook\"", peer.address);
        Self::new(peer, &target)
    }

    fn new(peer: Peer, target: &str) -> Self {
        let scene = Self { folder: tempfile::tempdir().unwrap(), peer };
        std::fs::create_dir(scene.folder.path().join("sites")).unwrap();
        let site = format!("rate = []\n[[destination]]\nid = \"desk\"\n{target}\n[form.quote]\n{FIELDS}");
        write_private(&scene.folder.path().join("sites/acme.toml"), &site);
        scene.configure(Sending::On);
        scene
    }

    fn configure(&self, sending: Sending) {
        let (port, enabled) = (self.peer.address.port(), sending == Sending::On);
        let text = format!(
            "listen = \"127.0.0.1:0\"\ndata_dir = \"data\"\n\
             [mail]\nfrom = \"forms@example.com\"\nhost = \"127.0.0.1\"\nport = {port}\ntls = \"none\"\n\
             [delivery]\nattempts = 1\nenabled = {enabled}\n"
        );
        write_private(&self.config(), &text);
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("formd.toml")
    }

    fn data(&self, name: &str) -> PathBuf {
        self.folder.path().join("data").join(name)
    }

    fn start(&self) -> Process {
        Process::start(&self.config())
    }

    /// Starts the daemon and posts a form with a file; the daemon and the receipt.
    fn posted(&self) -> (Process, String) {
        let formd = self.start();
        let form = submission().pdf("plan.pdf", &pdf("kill", 5 * 1024 * 1024));
        let receipt = form.post("/f/acme/quote.json").send(formd.address).receipt();
        (formd, receipt)
    }

    fn formctl(&self, args: &[&str]) -> String {
        let config = self.config();
        said(&run(env!("CARGO_BIN_EXE_formctl"), &[&["--config", config.to_str().unwrap()], args].concat()))
    }

    /// The delivery of a receipt as `formctl show --json` has it.
    fn delivery(&self, receipt: &str) -> Value {
        let shown: Value = serde_json::from_str(&self.formctl(&["show", receipt, "--json"])).unwrap();
        shown["deliveries"][0].clone()
    }

    fn database(&self) -> rusqlite::Connection {
        database(&self.data("formd.db"))
    }

    /// After the kill, with a claim on disk: the delivery waits, counted, and nobody takes it before its five minutes are
    /// over; then the next daemon sends it at once.
    fn assert_taken_over(&self, receipt: &str) {
        let waiting = self.delivery(receipt);
        assert_eq!((&waiting["state"], &waiting["attempts"]), (&"pending".into(), &1.into()), "{waiting}");
        assert_eq!(self.formctl(&["deliver"]), "nothing was due");
        // Five minutes pass for the claim; the system's clock is not ours to step.
        let moved =
            self.database().execute("UPDATE deliveries SET due_at = due_at - 300000 WHERE claim IS NOT NULL", []);
        assert_eq!(moved, Ok(1), "a claim was on disk");
        self.assert_delivered(receipt, 2);
    }

    /// The next daemon sends it: counted `attempts` times, written down once, nothing left over.
    fn assert_delivered(&self, receipt: &str, attempts: u64) {
        let mut formd = self.start();
        eventually("delivered", || self.delivery(receipt)["state"] == "delivered");
        let delivery = self.delivery(receipt);
        assert_eq!(delivery["attempts"], attempts, "{delivery}");
        let made = delivery["attempts_made"].as_array().unwrap();
        assert_eq!(
            (made.len(), &made[0]["outcome"]),
            (1, &"accepted".into()),
            "only the attempt that ended is told of"
        );
        assert_eq!(formd.stop(), Some(0));
        let database = self.database();
        let integrity: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(integrity, "ok");
        let left = "SELECT count(*) FROM deliveries WHERE claim IS NOT NULL OR state <> 'delivered'";
        assert_eq!(database.query_row(left, [], |row| row.get(0)), Ok(0));
        assert_eq!(files_below(&self.data("tmp")), Vec::<String>::new());
        assert_eq!(files_below(&self.data("attachments")).len(), 1);
    }

    /// The peer has the mail once.
    fn assert_one_message(&self) {
        assert_eq!(self.peer.messages().len(), 1);
    }

    /// The peer has two that are the same to the byte: the mail with its `Message-ID` and `Date`.
    fn assert_same_mail_twice(&self, receipt: &str) {
        let mails = self.peer.messages();
        assert_eq!(mails.len(), 2);
        let id = format!("Message-ID: <{receipt}-d1@example.com>\r\n");
        assert!(mails.iter().all(|mail| mail.contains(&id)), "{id}");
        assert!(mails[0] == mails[1], "the two mails differ");
    }

    /// The peer has two calls that differ in nothing but the moment that Standard Webhooks sign.
    fn assert_same_call_twice(&self, receipt: &str) {
        let calls = self.peer.messages();
        assert_eq!(calls.len(), 2);
        assert!(calls[0].contains(&format!("x-formd-delivery: {receipt}-d1\r\n")), "{}", calls[0]);
        let dated = |line: &&str| line.starts_with("webhook-timestamp: ") || line.starts_with("webhook-signature: ");
        let lasting = |call: &str| call.lines().filter(|line| !dated(line)).collect::<Vec<_>>().join("\n");
        assert_eq!(lasting(&calls[0]), lasting(&calls[1]));
    }
}

fn database(file: &Path) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(file).unwrap();
    database.busy_timeout(Duration::from_secs(10)).unwrap();
    database
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A daemon that wants to claim a delivery and waits for the database, which the returned connection has.
fn held_before_the_claim(scene: &Scene) -> (Process, rusqlite::Connection, String) {
    scene.configure(Sending::Off);
    let (mut formd, receipt) = scene.posted();
    formd.kill();
    assert_eq!(scene.database().execute("UPDATE deliveries SET due_at = due_at + 3600000", []), Ok(1));
    scene.configure(Sending::On);
    let formd = scene.start();
    // It sleeps for a minute. Now the delivery is due, the database is ours, and it is woken.
    let lock = scene.database();
    lock.execute("UPDATE deliveries SET due_at = due_at - 3600000", []).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    UnixDatagram::unbound().unwrap().send_to(b"due", scene.data("wake")).unwrap();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(scene.peer.seen(), [], "nobody has called the peer");
    (formd, lock, receipt)
}

#[test]
fn a_kill_before_the_claim_costs_nothing() {
    for scene in [Scene::mail(None), Scene::hook(None)] {
        let (mut formd, lock, receipt) = held_before_the_claim(&scene);
        formd.kill();
        drop(lock);
        assert_eq!(scene.delivery(&receipt)["attempts"], 0);
        scene.assert_delivered(&receipt, 1);
        scene.assert_one_message();
    }
}

/// The proof that the kill above hits a daemon that was about to claim.
#[test]
fn without_that_kill_the_claim_follows_at_once() {
    let scene = Scene::hook(None);
    let (_formd, lock, _) = held_before_the_claim(&scene);
    drop(lock);
    assert_eq!(scene.peer.wait_for(1), Seen::Connection);
}

#[test]
fn a_kill_after_the_claim_before_the_peer_has_said_or_read_a_word_costs_five_minutes() {
    for scene in [Scene::mail(Some(Stop::AtConnection)), Scene::hook(Some(Stop::AtConnection))] {
        let (mut formd, receipt) = scene.posted();
        scene.peer.wait_for(1);
        formd.kill();
        assert_eq!(scene.peer.seen(), [Seen::Connection]);
        scene.assert_taken_over(&receipt);
        scene.assert_one_message();
    }
}

#[test]
fn a_kill_in_the_middle_of_a_mail_leaves_the_server_without_it_until_it_is_sent_whole() {
    let scene = Scene::mail(Some(Stop::InTheMiddle));
    let (mut formd, receipt) = scene.posted();
    scene.peer.wait_for(2);
    formd.kill();
    // It reads all that was still on its way, and finds no end.
    scene.peer.go_on();
    scene.peer.wait_for(3);
    assert_eq!(scene.peer.seen(), [Seen::Connection, Seen::Middle, Seen::Cut]);
    scene.assert_taken_over(&receipt);
    scene.assert_one_message();
}

#[test]
fn a_kill_before_the_reply_to_a_mail_sends_the_same_mail_again() {
    let scene = Scene::mail(Some(Stop::WithTheMessage));
    let (mut formd, receipt) = scene.posted();
    assert!(matches!(scene.peer.wait_for(3), Seen::Message(_)));
    formd.kill();
    assert_eq!(scene.peer.seen().len(), 3, "the server has the mail and has not said so");
    scene.assert_taken_over(&receipt);
    scene.assert_same_mail_twice(&receipt);
}

#[test]
fn a_kill_after_the_reply_to_a_mail_sends_the_same_mail_again() {
    let scene = Scene::mail(Some(Stop::AtFarewell));
    let (mut formd, receipt) = scene.posted();
    assert_eq!(scene.peer.wait_for(5), Seen::Farewell, "QUIT: the reply was read");
    formd.kill();
    scene.assert_taken_over(&receipt);
    scene.assert_same_mail_twice(&receipt);
}

/// Kills while the settlement of what the peer has accepted waits for the database.
fn kill_before_the_settlement(scene: &Scene, message: usize) -> String {
    let (mut formd, receipt) = scene.posted();
    assert!(matches!(scene.peer.wait_for(message), Seen::Message(_)));
    let lock = scene.database();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    scene.peer.go_on();
    assert_eq!(scene.peer.wait_for(message + 2), Seen::Farewell, "the reply was read");
    // All that is left to it is to settle, for which it needs the database.
    thread::sleep(Duration::from_millis(300));
    formd.kill();
    receipt
}

#[test]
fn a_kill_before_the_settlement_of_a_mail_sends_the_same_mail_again() {
    let scene = Scene::mail(Some(Stop::WithTheMessage));
    let receipt = kill_before_the_settlement(&scene, 3);
    scene.assert_taken_over(&receipt);
    scene.assert_same_mail_twice(&receipt);
}

#[test]
fn a_kill_before_the_answer_to_a_webhook_makes_the_same_call_again() {
    let scene = Scene::hook(Some(Stop::WithTheMessage));
    let (mut formd, receipt) = scene.posted();
    assert!(matches!(scene.peer.wait_for(2), Seen::Message(_)));
    formd.kill();
    assert_eq!(scene.peer.seen().len(), 2, "the receiver has the call and has not answered");
    scene.assert_taken_over(&receipt);
    scene.assert_same_call_twice(&receipt);
}

#[test]
fn a_kill_before_the_settlement_of_a_webhook_makes_the_same_call_again() {
    let scene = Scene::hook(Some(Stop::WithTheMessage));
    let receipt = kill_before_the_settlement(&scene, 2);
    scene.assert_taken_over(&receipt);
    scene.assert_same_call_twice(&receipt);
}
