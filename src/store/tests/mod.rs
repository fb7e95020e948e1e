//! The store against a real directory and a real database file.

mod alerting;
mod backups;
mod claims;
mod confirmations;
mod crash;
mod erasure;
mod fates;
mod killed;
mod laws;
mod limiter;
mod plans;
mod recording;
mod remains;
mod start;
mod status;
mod sweeping;
mod versions;

use std::path::Path;
use std::sync::mpsc::channel;

use tempfile::TempDir;

use super::resend::Resent;
use super::*;
use crate::domain::delivery::{Event, State, Verdict, Waiting, next};
use crate::domain::digest::Sha256Sum;
use crate::domain::filekind::FileKind;
use crate::domain::fingerprint::{ClientHash, ContentHash, KeyHash};
use crate::domain::ids::{AttachmentId, DeliveryId, DestinationId, FormId, ReceiptId, SiteId};
use crate::domain::receipt::Outcome;
use crate::domain::steady::Erasing;
use crate::domain::submission::{Contents, KeptField, Role, Value};
use crate::domain::target::{EmailTarget, Target};
use crate::domain::time::Span;

/// A data directory of its own with an open store.
struct World {
    store: Store,
    /// The moment of its making, by the clock that also stamps files.
    now: Timestamp,
    temp: TempDir,
}

/// What a test wants to be different in a submission.
struct Wish {
    number: u32,
    site: &'static str,
    key: Option<u8>,
    content: u8,
    client: u8,
    text: &'static str,
    destinations: &'static [&'static str],
    file: Option<&'static [u8]>,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            number: 1,
            site: "acme",
            key: Some(1),
            content: 1,
            client: 1,
            text: "hello",
            destinations: &["sales"],
            file: None,
        }
    }
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let now = disk::moment(temp.path().metadata().unwrap().modified().unwrap());
        let store = Store::open_daemon(&temp.path().join("data"), now, [7; 32]).unwrap();
        Self { store, now, temp }
    }

    /// Ends the daemon and starts it again.
    fn restart(&mut self) {
        let tool = self.tool();
        drop(std::mem::replace(&mut self.store, tool));
        self.store = Store::open_daemon(self.root(), self.now, [8; 32]).unwrap();
    }

    fn root(&self) -> &Path {
        self.store.directory().root()
    }

    fn later(&self, span: Span) -> Timestamp {
        self.now.plus(span)
    }

    /// A second process' view.
    fn tool(&self) -> Store {
        Store::open_tool(self.root()).unwrap()
    }

    fn part(&self, bytes: &[u8], random: u64) -> PartFile {
        let mut part = PartFile::create(self.store.directory(), random).unwrap();
        part.write(bytes).unwrap();
        part
    }

    fn submission(&self, wish: &Wish) -> NewReceipt {
        let id = ReceiptId::new(self.now, wish.number);
        let file = wish.file.map(|bytes| {
            let part = self.part(bytes, u64::from(wish.number));
            let (size, sha256) = (part.size(), part.sha256());
            let sealed = part.seal(AttachmentId { receipt: id, position: 1 }).unwrap();
            let (field, name) = ("file".to_owned(), format!("{}.pdf", wish.text));
            NewAttachment { sealed, position: 1, field, name, kind: FileKind::Pdf, size, sha256 }
        });
        let site = SiteId::parse(wish.site).unwrap();
        NewReceipt {
            id,
            redraw: [wish.number + 1, wish.number + 2, wish.number + 3, wish.number + 4],
            address: format!("/f/{site}/quote"),
            site,
            form: FormId::parse("quote").unwrap(),
            page: Some("pricing".to_owned()),
            locale: "en",
            received_at: self.now,
            erase_at: self.later(Span::from_days(30)),
            key_hash: wish.key.map(|key| KeyHash([key; 16])),
            content_hash: ContentHash([wish.content; 32]),
            client_hash: ClientHash([wish.client; 16]),
            contents: contents(wish.text),
            files: file.into_iter().collect(),
            deliveries: wish
                .destinations
                .iter()
                .map(|id| NewDelivery { destination: DestinationId::parse(id).unwrap(), target: target(wish.text) })
                .collect(),
            confirmation: None,
        }
    }

    fn record(&self, wish: &Wish) -> Result<Outcome, StoreError> {
        record(&self.store, self.submission(wish))
    }

    /// Records and returns the receipt.
    fn stored(&self, wish: &Wish) -> ReceiptId {
        match self.record(wish).unwrap() {
            Outcome::Stored(id) => id,
            other => panic!("{other:?}"),
        }
    }

    fn claim(&self, token: i64, now: Timestamp) -> Option<Claim> {
        claim(&self.store, &Turn::default(), token, now)
    }

    fn settle(&self, claim: &Claim, verdict: Verdict, now: Timestamp) -> Settled {
        let event = Event::Attempted { verdict, attempt: claim.attempt, allowed: 5, now, chance: 1.0 };
        let state = next(State::Pending(Waiting::Due(now)), event).unwrap();
        let note = Some("the peer said: unknown user".to_owned());
        let attempt = NewAttempt { at: now, milliseconds: 12, verdict, note };
        self.store.settle(claim.id, claim.token, state, &attempt).unwrap()
    }

    fn view(&self, id: ReceiptId, now: Timestamp) -> ReceiptView {
        self.store.show(id, now).unwrap().unwrap()
    }

    fn sweep(&self, now: Timestamp) -> SweepReport {
        self.store.sweep(RULES, &self.limiter(), now).unwrap()
    }

    fn limiter(&self) -> Throttle {
        Throttle::new(self.temp.path().join("limiter"), 8192)
    }

    /// Files below a folder of the data directory.
    fn files(&self, folder: &str) -> Vec<String> {
        let mut found = Vec::new();
        collect(&self.root().join(folder), &mut found);
        found
    }

    fn count(&self, sql: &str) -> i64 {
        self.store.read(|db| Ok(db.query_row(sql, [], |row| row.get(0))?)).unwrap()
    }
}

/// What every test leaves behind must be whole: no `.part`, every row with its file, a sound database.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let sound: String =
            self.store.read(|db| Ok(db.query_row("PRAGMA integrity_check", [], |row| row.get(0))?)).unwrap();
        assert_eq!(sound, "ok");
        let rows: Vec<String> = self
            .store
            .read(|db| {
                let mut paths = db.prepare("SELECT path FROM attachments")?;
                let paths = paths.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
                Ok(paths)
            })
            .unwrap();
        for path in rows {
            assert!(self.store.directory().attachments().join(&path).is_file(), "a row without its file");
        }
        assert!(self.files("tmp").is_empty(), "a .part was left");
    }
}

/// The sweep's ages as contracted.
const RULES: SweepRules = SweepRules {
    part_age: Span::from_hours(2),
    orphan_age: Span::from_hours(2),
    quarantine_age: Span::from_days(7),
    erasing: Erasing::Goes,
};

fn record(store: &Store, new: NewReceipt) -> Result<Outcome, StoreError> {
    let (reply, outcome) = channel();
    store.record(new, move |answer| reply.send(answer).unwrap());
    outcome.recv().unwrap()
}

fn claim(store: &Store, turn: &Turn, token: i64, now: Timestamp) -> Option<Claim> {
    match store.claim(turn, token, now).unwrap() {
        Claimed::Claim(claim) => Some(*claim),
        Claimed::Nothing => None,
    }
}

fn contents(text: &str) -> Contents {
    let field = |name: &str, value: &str| KeptField {
        name: name.to_owned(),
        label: name.to_owned(),
        role: Role::Plain,
        value: Value::Text(value.to_owned()),
    };
    Contents { fields: vec![field("name", text), field("message", &text.repeat(400))], ..Contents::default() }
}

fn target(address: &str) -> Target {
    Target::Email(EmailTarget {
        address: format!("{address}@acme.example"),
        subject: None,
        text: None,
        reply_to: None,
        attach_files: false,
        max_attach: 0,
        title: None,
    })
}

fn collect(folder: &Path, found: &mut Vec<String>) {
    for entry in disk::entries(folder).unwrap() {
        match entry.kind {
            disk::EntryKind::Folder => collect(&entry.path, found),
            disk::EntryKind::File | disk::EntryKind::Other => found.push(entry.name),
        }
    }
    found.sort();
}

/// Makes a file look as if it was last written at `moment`.
fn touch(path: &Path, moment: Timestamp) {
    File::options().write(true).open(path).unwrap().set_modified(disk::file_time(moment)).unwrap();
}
