//! Examples for the tests of this room: a plain receipt, a hostile one, an erased one; a server that is well and
//! one in trouble; and `formctl` run inside the test.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::print::{Output, Surface};
use crate::clock::Clock;
use crate::domain::bounds::MIB;
use crate::domain::delivery::{Channel, Hold, Reason};
use crate::domain::digest::Sha256Sum;
use crate::domain::ids::{AttachmentId, DeliveryId, ReceiptId};
use crate::domain::receipt::{Erasure, ReceiptState};
use crate::domain::submission::{Contents, KeptField, Role, Value};
use crate::domain::time::{Span, Timestamp};
use crate::status::{self, Status};
use crate::store::{AttachmentRow, AttemptRow, DaemonFacts, DeliveryRow, Numbers, ReceiptRow, ReceiptView};

/// The moment of every example: 2026-11-30T16:28:19.007Z.
pub fn now() -> Timestamp {
    Timestamp::from_millis(1_796_056_099_007)
}

/// The receipt of a submission that arrived `minutes` before [`now`].
pub fn receipt_id(minutes: i64) -> ReceiptId {
    ReceiptId::new(now().minus(Span::from_minutes(minutes)), 0xf0_4d)
}

/// What `print` puts out.
pub fn printed(surface: Surface, print: impl FnOnce(&mut Output<'_>)) -> String {
    let mut bytes = Vec::new();
    print(&mut Output::new(&mut bytes, std::io::sink(), surface));
    String::from_utf8(bytes).unwrap()
}

/// `formctl` with `args`, its exit code and both outputs.
pub fn ctl(args: &[&str]) -> String {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let all = ["formctl"].iter().chain(args).map(OsString::from);
    let code = super::run(all, &Clock::stepped(now()), &mut Output::new(&mut stdout, &mut stderr, Surface::Pipe));
    let mut ended = format!("exit {code}\n");
    for (name, bytes) in [("stdout", stdout), ("stderr", stderr)] {
        if !bytes.is_empty() {
            ended = format!("{ended}--- {name}\n{}", String::from_utf8(bytes).unwrap());
        }
    }
    ended
}

/// A delivery of receipt `id`.
fn delivery(id: ReceiptId, n: u8, channel: Channel, destination: &str, state: &'static str) -> DeliveryRow {
    DeliveryRow {
        id: DeliveryId { receipt: id, n },
        channel,
        destination: destination.to_owned(),
        target: None,
        state,
        attempts: 0,
        next_attempt_at: None,
        reason: None,
        held: None,
        sending: false,
        note: None,
        acked: false,
    }
}

/// A receipt with four deliveries in four states.
pub fn row() -> ReceiptRow {
    let id = receipt_id(90);
    let until = id.arrived_at().plus(Span::from_days(30));
    ReceiptRow {
        id,
        site: "acme".to_owned(),
        form: "quote".to_owned(),
        page: Some("/contact".to_owned()),
        locale: "en".to_owned(),
        erase_at: until,
        state: ReceiptState::Kept { until },
        spam: false,
        deliveries: vec![
            DeliveryRow {
                attempts: 2,
                next_attempt_at: Some(now().plus(Span::from_minutes(2))),
                target: Some("sales@acme.example".to_owned()),
                note: Some("451 4.7.1 greylisted".to_owned()),
                ..delivery(id, 1, Channel::Email, "sales", "retrying")
            },
            DeliveryRow {
                attempts: 1,
                target: Some("https://crm.acme.example/hook".to_owned()),
                ..delivery(id, 2, Channel::Webhook, "crm", "delivered")
            },
            DeliveryRow {
                attempts: 5,
                reason: Some(Reason::Exhausted),
                target: Some("boss@acme.example".to_owned()),
                ..delivery(id, 3, Channel::Email, "boss", "failed")
            },
            DeliveryRow {
                attempts: 1,
                sending: true,
                next_attempt_at: Some(now().plus(Span::from_minutes(5))),
                target: Some("https://chat.acme.example/hook".to_owned()),
                ..delivery(id, 4, Channel::Webhook, "chat", "pending")
            },
        ],
    }
}

/// A receipt whose visitor would like to own the terminal.
pub fn hostile_row() -> ReceiptRow {
    let id = receipt_id(95);
    ReceiptRow {
        id,
        page: Some("/\u{1b}]0;owned\u{7}\u{202e}x\nreceipt\t0000".to_owned()),
        spam: true,
        deliveries: vec![DeliveryRow { held: Some(Hold::Spam), ..delivery(id, 1, Channel::Email, "sales", "pending") }],
        ..row()
    }
}

/// A receipt whose values are gone.
pub fn erased_row() -> ReceiptRow {
    let id = receipt_id(60 * 24 * 40);
    let erase_at = id.arrived_at().plus(Span::from_days(30));
    ReceiptRow {
        id,
        page: None,
        locale: "ru".to_owned(),
        erase_at,
        state: ReceiptState::Erased { at: erase_at, why: Erasure::Expired },
        deliveries: vec![
            DeliveryRow { attempts: 1, ..delivery(id, 1, Channel::Email, "sales", "delivered") },
            DeliveryRow { reason: Some(Reason::ValuesGone), ..delivery(id, 2, Channel::Webhook, "crm", "failed") },
        ],
        ..row()
    }
}

/// A field of a submission.
fn field(name: &str, label: &str, role: Role, value: Value) -> KeptField {
    KeptField { name: name.to_owned(), label: label.to_owned(), role, value }
}

/// A text.
fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// [`row`] with its values, files and attempts.
pub fn view() -> ReceiptView {
    let row = row();
    let attempt = |minutes, outcome: &str, note: Option<&str>| AttemptRow {
        at: row.id.arrived_at().plus(Span::from_minutes(minutes)),
        milliseconds: 120 + minutes,
        outcome: outcome.to_owned(),
        note: note.map(str::to_owned),
    };
    let attempts = vec![
        vec![attempt(0, "try_later", Some("451 4.7.1 greylisted")), attempt(1, "try_later", None)],
        vec![attempt(0, "accepted", Some("200"))],
        vec![attempt(0, "refused", Some("550 5.1.1 no such user"))],
        vec![],
    ];
    let fields = vec![
        field("name", "Your name", Role::Plain, text("Ann Example")),
        field("email", "E-mail", Role::Email, text("Ann@Example.org")),
        field("message", "Message", Role::Plain, text("first line\nsecond line\n\nlast line")),
        field("topics", "Topics", Role::Plain, Value::List(vec!["Roof".to_owned(), "Wall".to_owned()])),
        field("phone", "Telephone", Role::Plain, text("")),
        field("news", "Newsletter", Role::Plain, Value::Bool(true)),
    ];
    let file = AttachmentRow {
        id: AttachmentId { receipt: row.id, position: 1 },
        field: "file".to_owned(),
        name: "cv.pdf".to_owned(),
        mime: "application/pdf".to_owned(),
        size: 12_345,
        sha256: Sha256Sum::of(b"abc"),
        path: PathBuf::from("/var/lib/formd/attachments/2026-11-30/x-1"),
    };
    ReceiptView {
        contents: Some(Contents { fields, consent: Some(true), ..Contents::default() }),
        attachments: Some(vec![file]),
        attempts,
        row,
    }
}

/// [`hostile_row`] with values to match.
pub fn hostile_view() -> ReceiptView {
    let plain = view();
    let fields = vec![
        field("a\u{1b}[8m", "a\u{1b}[8m", Role::Plain, text("x\nE-mail: boss@acme.example\n\u{1b}[2J\r\u{85}")),
        field("tags", "Tags", Role::Plain, Value::List(vec!["a\nb".to_owned(), "\u{202e}c".to_owned()])),
    ];
    let mut file = plain.attachments.unwrap().remove(0);
    file.name = "a\u{202e}fdp.exe\n".to_owned();
    let attempts = vec![vec![AttemptRow { note: Some("550 \u{1b}[31mno".to_owned()), ..plain.attempts[2][0].clone() }]];
    let contents = Some(Contents { fields, ..Contents::default() });
    ReceiptView { row: hostile_row(), contents, attachments: Some(vec![file]), attempts }
}

/// [`erased_row`] with what is left of it.
pub fn erased_view() -> ReceiptView {
    ReceiptView { row: erased_row(), contents: None, attachments: None, attempts: vec![vec![], vec![]] }
}

/// A server that is well.
pub fn well() -> Status {
    judged(status::Observed {
        numbers: Numbers {
            free_bytes: 13_207_024_436,
            tmp_bytes: 1_300_000,
            tmp_files: 2,
            database_bytes: 12 * MIB,
            attachments_bytes: 300 * MIB,
            attachments_files: 211,
            last_hour: 12,
            usual_hour: Some(10.5),
            ..Numbers::default()
        },
        facts: DaemonFacts {
            config_hash: Some("h".to_owned()),
            last_sweep_at: Some(now().minus(Span::from_secs(39))),
            last_backup_at: Some(now().minus(Span::from_hours(13))),
            ..DaemonFacts::default()
        },
        daemon: status::Daemon::Running { pid: 812 },
        declared: Some(status::Declared {
            hash: "h".to_owned(),
            mail: status::Mail::Configured,
            untold_forms: vec![],
            disk_reserve: 256 * MIB,
        }),
        now: now(),
    })
}

/// A server in trouble.
pub fn troubled() -> Status {
    let mut observed = well().observed;
    observed.daemon = status::Daemon::Stopped;
    observed.numbers.free_bytes = 200 * MIB;
    observed.numbers.oldest_pending = Some(now().minus(Span::from_minutes(125)));
    observed.numbers.failed_deliveries = 2;
    observed.numbers.usual_hour = None;
    observed.numbers.lookalikes = 1;
    observed.facts.last_sweep_at = None;
    if let Some(declared) = &mut observed.declared {
        declared.mail = status::Mail::Missing;
        declared.untold_forms = vec!["acme/quote".to_owned()];
    }
    judged(observed)
}

/// By the usual limits.
fn judged(observed: status::Observed) -> Status {
    let thresholds = observed.thresholds();
    status::judge(observed, thresholds)
}

/// `formd.toml` with one site `acme`, in a folder of its own; the folder and the file's path.
pub fn files(site: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    std::fs::create_dir(folder.path().join("sites")).unwrap();
    write("sites/acme.toml", site);
    let file = write("formd.toml", "data_dir = \"data\"\n");
    (folder, file)
}
