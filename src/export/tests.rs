//! What happens to an export while it runs.

use std::sync::mpsc::channel;

use super::*;
use crate::domain::fingerprint::{ClientHash, ContentHash};
use crate::domain::ids::{FormId, SiteId};
use crate::domain::receipt::Outcome;
use crate::domain::submission::{Contents, KeptField, Role, Value};
use crate::domain::time::{Span, Timestamp};
use crate::store::NewReceipt;

/// A store with a clock.
struct Scene {
    _folder: tempfile::TempDir,
    clock: Clock,
    store: Store,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::stepped(Timestamp::parse("2026-11-30T12:00:00Z").unwrap());
        let store = Store::open_daemon(folder.path(), clock.now(), [7; 32]).unwrap();
        Self { _folder: folder, clock, store }
    }

    /// A submission with this field, kept for `days`.
    fn stored(&self, name: &str, value: &str, days: i64) -> ReceiptId {
        self.clock.step(Span::from_secs(1));
        let now = self.clock.now();
        let id = ReceiptId::new(now, 0);
        let (name, value) = (name.to_owned(), Value::Text(value.to_owned()));
        let fields = vec![KeptField { label: name.clone(), name, role: Role::Plain, value }];
        let new = NewReceipt {
            id,
            redraw: [1, 2, 3, 4],
            address: "/f/acme/quote".to_owned(),
            key_hash: None,
            site: SiteId::parse("acme").unwrap(),
            form: FormId::parse("quote").unwrap(),
            page: None,
            locale: "en",
            received_at: now,
            erase_at: now.plus(Span::from_days(days)),
            content_hash: ContentHash([1; 32]),
            client_hash: ClientHash(id.as_row().to_le_bytes().repeat(2).try_into().unwrap()),
            contents: Contents { fields, ..Contents::default() },
            files: vec![],
            confirmation: None,
            deliveries: vec![],
        };
        let (sender, receiver) = channel();
        self.store.record(new, move |outcome| sender.send(outcome).unwrap());
        assert!(matches!(receiver.recv().unwrap(), Ok(Outcome::Stored(_))));
        id
    }

    /// An export during which `meanwhile` happens after the first receipt.
    fn exported(&self, format: Format, mut meanwhile: impl FnMut()) -> Result<String, ExportError> {
        let style = Style { guard: Guard::On, separator: Separator::Comma, zone: Zone::Utc };
        let order = Order { format, selection: Selection::default(), declared: vec![], style };
        let (mut bytes, mut first, mut percents) = (Vec::new(), true, vec![0]);
        let report = run(&self.store, &self.clock, &order, &mut bytes, &mut |percent| {
            percents.push(percent);
            if std::mem::take(&mut first) {
                meanwhile();
            }
        });
        assert!(percents.is_sorted(), "{percents:?}");
        report.map(|_| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A value that fills a page alone.
fn long(letter: &str) -> String {
    letter.repeat(300 * 1024)
}

#[test]
fn what_is_erased_or_expires_between_two_pages_is_in_neither() {
    let scene = Scene::new();
    let _ = scene.stored("name", &long("a"), 9);
    let erased = scene.stored("name", &long("b"), 9);
    let _ = scene.stored("name", &long("c"), 1);
    let _ = scene.stored("name", &long("d"), 9);
    for format in [Format::Lines, Format::Csv] {
        let text = scene.exported(format, || {
            drop(scene.store.erase(&[erased], scene.clock.now()));
            scene.clock.step(Span::from_days(1));
        });
        let text = text.unwrap();
        let has = |letter: &str| text.contains(&letter.repeat(99));
        assert_eq!(["a", "b", "c", "d"].map(has), [true, false, false, true], "{format:?}");
    }
}

#[test]
fn what_arrives_meanwhile_waits_for_the_next_export() {
    let scene = Scene::new();
    let _ = scene.stored("name", &long("a"), 9);
    let meanwhile = || {
        let _ = scene.stored("colour", "red", 9);
    };
    let text = scene.exported(Format::Csv, meanwhile).unwrap();
    assert!(text.starts_with("receipt,received_at,site,form,page,locale,consent,name,attachments\r\n"));
    assert!(!text.contains("red"));
    assert!(scene.exported(Format::Csv, || ()).unwrap().contains("red"));
}

#[test]
fn a_late_field_without_a_column_ends_the_table_instead_of_being_lost() {
    let scene = Scene::new();
    let _ = scene.stored("name", "a", 9);
    let newest = scene.stored("name", "b", 9);
    let columns = table::Columns::default();
    let style = Style { guard: Guard::On, separator: Separator::Comma, zone: Zone::Utc };
    let selection = Selection { last: Some(newest), ..Selection::default() };
    let mut quiet = |_: u8| ();
    let (store, clock) = (&scene.store, &scene.clock);
    let mut pages = Pages { store, clock, selection, passes: 1, pass: 0, progress: &mut quiet };
    let error = table::write(&mut pages, &columns, &style, &mut io::sink()).unwrap_err();
    assert!(matches!(error, ExportError::NewField(_)), "{error}");
}

#[test]
fn a_page_is_bounded_by_its_bytes_and_controls_stay_exact_in_json_and_visible_in_a_table() {
    let scene = Scene::new();
    let hostile = "\u{0}\u{1}\u{1b}[2J\u{7f}\u{9b}\u{85}\r\n\"\\";
    let _ = scene.stored("a\u{1b}", hostile, 9);
    for _ in 0..4 {
        let _ = scene.stored("name", &long("a"), 9);
    }
    let mut after = None;
    let mut sizes = Vec::new();
    loop {
        let page = scene.store.kept(&Selection::default(), after, scene.clock.now()).unwrap();
        sizes.push(page.receipts.len());
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [2, 1, 1, 1, 0]);
    let lines = scene.exported(Format::Lines, || ()).unwrap();
    let line: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(line["values"][0]["value"], hostile);
    let table = scene.exported(Format::Csv, || ()).unwrap();
    assert!(table.contains("a\\u{1b}") && table.contains("\\u{0}\\u{1}\\u{1b}[2J\\u{7f}\\u{9b}\\u{85}\n\"\"\\"));
}
