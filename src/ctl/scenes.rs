//! Commands against a real data directory whose daemon has it open, as an administrator gives them.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::channel;

use tempfile::TempDir;

use super::testing::{ctl, files, now};
use crate::domain::digest::Sha256Sum;
use crate::domain::filekind::FileKind;
use crate::domain::fingerprint::{ClientHash, ContentHash, submit_key};
use crate::domain::ids::{AttachmentId, DestinationId, FormId, ReceiptId, SiteId, SubmitKey};
use crate::domain::receipt::Outcome;
use crate::domain::submission::{Contents, KeptField, Role, Value};
use crate::domain::target::{EmailTarget, Target};
use crate::domain::time::Span;
use crate::store::{NewAttachment, NewDelivery, NewReceipt, PartFile, Store, Turn};

/// The site of every scene: one mail, no mail set-up.
const SITE: &str = "[[destination]]\nid = \"sales\"\nemail = \"sales@acme.example\"\n[form.quote]\n[form.jobs]\n";

/// A data directory with its daemon and configuration.
struct Scene {
    folder: TempDir,
    file: String,
    store: Store,
}

impl Scene {
    fn new() -> Self {
        let (folder, file) = files(SITE);
        let store = Store::open_daemon(&folder.path().join("data"), now(), [7; 32]).unwrap();
        Self { folder, file, store }
    }

    /// A submission of `form` by `email` so many minutes ago, with a file for each name.
    fn stored(&self, minutes: i64, form: &str, email: &str, names: &[&str]) -> String {
        let arrived = now().minus(Span::from_minutes(minutes));
        let id = ReceiptId::new(arrived, 7);
        let (site, form) = (SiteId::parse("acme").unwrap(), FormId::parse(form).unwrap());
        let key = SubmitKey::parse(&format!("key-{minutes}")).unwrap().unwrap();
        let target = EmailTarget {
            address: "sales@acme.example".to_owned(),
            subject: None,
            text: None,
            reply_to: None,
            attach_files: false,
            max_attach: 0,
            title: None,
        };
        let value = KeptField {
            name: "email".to_owned(),
            label: "E-mail".to_owned(),
            role: Role::Email,
            value: Value::Text(email.to_owned()),
        };
        let seed = u8::try_from(minutes % 251).unwrap();
        let new = NewReceipt {
            id,
            redraw: [1, 2, 3, 4],
            address: format!("/f/{site}/{form}"),
            key_hash: Some(submit_key(self.store.key(), &site, &form, &key)),
            site,
            form,
            page: Some("/contact".to_owned()),
            locale: "en",
            received_at: arrived,
            erase_at: arrived.plus(Span::from_days(30)),
            content_hash: ContentHash([seed; 32]),
            client_hash: ClientHash([seed; 16]),
            contents: Contents { fields: vec![value], ..Contents::default() },
            files: names.iter().enumerate().map(|(n, name)| self.sealed(id, n, name)).collect(),
            deliveries: vec![NewDelivery {
                destination: DestinationId::parse("sales").unwrap(),
                target: Target::Email(target),
            }],
            confirmation: None,
        };
        let (sender, receiver) = channel();
        self.store.record(new, move |outcome| sender.send(outcome).unwrap());
        assert_eq!(receiver.recv().unwrap().unwrap(), Outcome::Stored(id));
        id.to_string()
    }

    /// The file whose bytes are its name.
    fn sealed(&self, id: ReceiptId, n: usize, name: &str) -> NewAttachment {
        let mut part = PartFile::create(self.store.directory(), id.as_row().unsigned_abs() + n as u64).unwrap();
        part.write(name.as_bytes()).unwrap();
        let position = u8::try_from(n + 1).unwrap();
        NewAttachment {
            position,
            field: "file".to_owned(),
            name: name.to_owned(),
            kind: FileKind::Pdf,
            size: part.size(),
            sha256: Sha256Sum::of(name.as_bytes()),
            sealed: part.seal(AttachmentId { receipt: id, position }).unwrap(),
        }
    }

    /// `formctl` with this scene's configuration.
    fn ctl(&self, args: &[&str]) -> String {
        ctl(&[&["--config", &self.file], args].concat())
    }

    /// A folder for outputs.
    fn outputs(&self) -> (PathBuf, String) {
        let folder = self.folder.path().join("out");
        fs::create_dir(&folder).unwrap();
        let name = folder.to_str().unwrap().to_owned();
        (folder, name)
    }
}

#[test]
fn a_list_is_asked_by_site_form_age_state_and_key() {
    let scene = Scene::new();
    let old = scene.stored(60 * 24 * 3, "quote", "ann@example.org", &[]);
    let new = scene.stored(5, "jobs", "bob@example.org", &[]);
    let listed = |args: &[&str]| -> String {
        let ended = scene.ctl(&[&["list"], args].concat());
        assert!(ended.starts_with("exit 0\n"), "{ended}");
        let rows: Vec<&str> = ended.lines().filter_map(|line| line.split_once('\t')).map(|(id, _)| id).collect();
        rows.join(" ")
    };
    assert_eq!(listed(&[]), format!("{new} {old}"), "latest first");
    assert_eq!(listed(&["--site", "acme", "--form", "quote"]), old);
    assert_eq!(listed(&["--since", "1d"]), new);
    assert_eq!(listed(&["--until", "2026-11-29"]), old);
    assert_eq!(listed(&["--state", "pending", "--limit", "1"]), new);
    assert_eq!(listed(&["--state", "failed"]), "");
    assert_eq!(listed(&["--key", "key-5"]), new);
    assert_eq!(listed(&["--key", "\"key-4320\"", "--site", "acme", "--form", "quote"]), old);
    assert_eq!(listed(&["--key", "key-5", "--form", "quote"]), "");
    for args in [&["list", "--site", "acne"][..], &["list", "--site", "acme", "--form", "quotes"]] {
        let ended = scene.ctl(args);
        assert!(ended.starts_with("exit 3\n") && ended.contains("there is `acme"), "{ended}");
    }
}

#[test]
fn a_receipt_is_shown_by_any_unique_beginning() {
    let scene = Scene::new();
    let receipt = scene.stored(5, "quote", "ann@example.org", &["cv.pdf"]);
    let _ = scene.stored(6, "quote", "bob@example.org", &[]);
    let shown = scene.ctl(&["show", &receipt[..9]]);
    assert!(shown.starts_with("exit 0\n") && shown.contains("E-mail: ann@example.org"), "{shown}");
    let ambiguous = scene.ctl(&["show", &receipt[..2]]);
    assert!(ambiguous.starts_with("exit 3\n") && ambiguous.contains(&receipt), "{ambiguous}");
    for text in ["zzzz", "not a receipt", "", "../../etc"] {
        assert!(scene.ctl(&["show", text]).starts_with("exit 3\n"), "{text}");
    }
    let json = scene.ctl(&["show", &receipt, "--json"]);
    let object: serde_json::Value = serde_json::from_str(json.lines().nth(2).unwrap()).unwrap();
    assert_eq!(object["values"][0]["value"], "ann@example.org");
    assert_eq!(object["attachments"][0]["name"], "cv.pdf");
}

#[test]
fn files_come_out_under_safe_names_and_never_over_another() {
    let scene = Scene::new();
    let receipt = scene.stored(5, "quote", "ann@example.org", &["-rf.pdf", "cv.pdf"]);
    let (folder, name) = scene.outputs();
    let saved = scene.ctl(&["attachment", &receipt, "-o", &name]);
    assert!(saved.starts_with("exit 0\n"), "{saved}");
    assert_eq!(fs::read(folder.join("_rf.pdf")).unwrap(), b"-rf.pdf");
    assert_eq!(fs::read(folder.join("cv.pdf")).unwrap(), b"cv.pdf");
    let again = scene.ctl(&["attachment", &receipt, "cv.pdf", "-o", &name]);
    assert!(again.starts_with("exit 1\n") && again.contains("not written over"), "{again}");
    let one = folder.join("one").to_str().unwrap().to_owned();
    assert!(scene.ctl(&["attachment", &receipt, "-o", &one]).starts_with("exit 2\n"), "two files in one");
    assert!(scene.ctl(&["attachment", &receipt, "a2", "-o", &one]).starts_with("exit 0\n"));
    assert_eq!(scene.ctl(&["attachment", &receipt, "a2", "-o", "-"]), "exit 0\n--- stdout\ncv.pdf");
    assert!(scene.ctl(&["attachment", &receipt, "a3", "-o", "-"]).starts_with("exit 3\n"));
    let missing = folder.join("missing/").to_str().unwrap().to_owned();
    assert!(scene.ctl(&["attachment", &receipt, "-o", &missing]).starts_with("exit 1\n"));
}

#[test]
fn a_send_under_way_is_not_doubled_and_a_pending_delivery_not_sent_again() {
    let scene = Scene::new();
    let receipt = scene.stored(5, "quote", "ann@example.org", &[]);
    let pending = scene.ctl(&["resend", &receipt]);
    assert!(pending.starts_with("exit 1\n") && pending.contains("not sent again"), "{pending}");
    let missing = scene.ctl(&["resend", &format!("{receipt}-d9")]);
    assert!(missing.starts_with("exit 3\n"), "{missing}");
    scene.store.claim(&Turn::default(), 9, now()).unwrap();
    let sending = scene.ctl(&["resend", &format!("{}-d1", &receipt[..10])]);
    assert!(sending.starts_with("exit 4\n") && sending.contains("delivery_in_progress"), "{sending}");
    assert!(scene.ctl(&["resend", "--failed"]).contains("no failed delivery"));
}

#[test]
fn erasing_asks_first_and_says_done_when_every_trace_is_gone() {
    let scene = Scene::new();
    let ann = scene.stored(5, "quote", "Ann@example.org", &["cv.pdf"]);
    let bob = scene.stored(60 * 24 * 3, "quote", "bob@example.org", &[]);
    let refused = scene.ctl(&["erase", &ann]);
    assert!(refused.starts_with("exit 2\n") && refused.contains("--yes"), "{refused}");
    let unknown = scene.ctl(&["erase", &ann, "zzzz", "--yes"]);
    assert!(unknown.starts_with("exit 3\n"), "one wrong receipt erases nothing: {unknown}");
    assert!(scene.ctl(&["show", &ann]).contains("Ann@example.org"));

    assert!(scene.ctl(&["erase", "--where", "email=carl@example.org", "--yes"]).starts_with("exit 3\n"));
    let done = scene.ctl(&["erase", "--where", "email=ann@example.org", "--yes"]);
    assert!(done.starts_with("exit 0\n--- stdout\ndone: the values of 1 receipt are erased\n"), "{done}");
    let shown = scene.ctl(&["show", &ann]);
    assert!(shown.starts_with("exit 0\n") && shown.contains("erased") && shown.contains("values_gone"), "{shown}");
    assert!(scene.ctl(&["attachment", &ann, "-o", "-"]).starts_with("exit 3\n"));
    assert!(scene.ctl(&["erase", &ann, "--yes"]).contains("done: the values were erased before"));

    let old = scene.ctl(&["erase", "--site", "acme", "--before", "1d", "--yes"]);
    assert!(old.contains("done: the values of 1 receipt"), "{old}");
    assert!(!scene.ctl(&["show", &bob]).contains("bob@example.org"));
    assert!(scene.ctl(&["erase", "--site", "acme", "--before", "1d", "--yes"]).contains("nothing to erase"));
}

#[test]
fn a_typo_in_a_site_file_keeps_nobody_from_reading_erasing_and_asking_how_it_stands() {
    let scene = Scene::new();
    let receipt = scene.stored(5, "quote", "ann@example.org", &[]);
    fs::write(scene.folder.path().join("sites/acme.toml"), "retention_day = 5\n").unwrap();
    assert!(scene.ctl(&["list", "--site", "acme"]).contains(&receipt));
    assert!(scene.ctl(&["show", &receipt]).contains("ann@example.org"));
    let status = scene.ctl(&["status"]);
    assert!(status.contains("they have mistakes: `formctl check`"), "{status}");
    let refused = scene.ctl(&["resend", &receipt]);
    assert!(refused.starts_with("exit 1\n") && refused.contains("retention_days"), "{refused}");
    assert!(scene.ctl(&["erase", &receipt, "--yes"]).contains("done"));
}

#[test]
fn sweep_and_status_say_what_they_found() {
    let scene = Scene::new();
    let receipt = scene.stored(60 * 24 * 31, "quote", "ann@example.org", &[]);
    assert!(scene.ctl(&["sweep", "--dry-run"]).contains("would sweep: 1 expired receipt"));
    assert!(scene.ctl(&["sweep"]).contains("swept: 1 expired receipt"));
    assert!(scene.ctl(&["sweep", "--json"]).contains("{\"expired\":0,"));
    assert!(scene.ctl(&["show", &receipt]).contains("its time was over"));
    let _ = scene.stored(5, "quote", "ann@example.org", &[]);
    let status = scene.ctl(&["status", "--json"]);
    let object: serde_json::Value = serde_json::from_str(status.lines().nth(2).unwrap()).unwrap();
    assert_eq!(object["daemon"], true);
    assert_eq!(object["oldest_pending_seconds"], 300);
    assert_eq!(object["mail_configured"], false);
    assert_eq!(object["last_sweep_at"], now().to_string());
    assert!(status.starts_with("exit 1\n"), "no mail, no configuration in force: {status}");
}

#[test]
fn without_a_data_directory_it_says_what_to_do() {
    let (_folder, file) = files(SITE);
    let ended = ctl(&["--config", &file, "list"]);
    assert!(ended.starts_with("exit 1\n") && ended.contains("start `formd` once"), "{ended}");
    let status = ctl(&["--config", &file, "status", "--check"]);
    assert!(status.starts_with("exit 3\n--- stdout\nFORMD UNKNOWN - "), "{status}");
    assert!(ctl(&["--config", "/nowhere/formd.toml", "list"]).starts_with("exit 1\n"));
}

#[test]
fn a_stopped_daemon_keeps_nobody_from_working_and_is_named() {
    let mut scene = Scene::new();
    let receipt = scene.stored(5, "quote", "ann@example.org", &[]);
    let tool = Store::open_tool(&scene.folder.path().join("data")).unwrap();
    drop(std::mem::replace(&mut scene.store, tool));
    let status = scene.ctl(&["status"]);
    assert!(status.starts_with("exit 2\n") && status.contains("the daemon is not running"), "{status}");
    let reload = scene.ctl(&["reload"]);
    assert!(reload.starts_with("exit 1\n") && reload.contains("the daemon is not running"), "{reload}");
    assert!(scene.ctl(&["erase", &receipt, "--yes"]).contains("done"));
}
