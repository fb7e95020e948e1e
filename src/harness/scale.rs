//! A store to be measured at sizes that no test has patience for: the questions that the daemon and formctl ask often,
//! each as one call that says how many rows it came to. `benches/scale` fills the database and holds the watch.

use std::path::Path;
use std::sync::mpsc::channel;

use crate::domain::fingerprint::{ClientHash, ContentHash, KeyHash};
use crate::domain::ids::{DestinationId, FormId, ReceiptId, SiteId};
use crate::domain::steady::Erasing;
use crate::domain::submission::{Contents, KeptField, Role, Value};
use crate::domain::target::{EmailTarget, Target};
use crate::domain::time::{Span, Timestamp};
use crate::store::{Claimed, Due, ListFilter, NewDelivery, NewReceipt, Store, SweepRules, Throttle, Turn, Which};

/// Rows of a page.
const PAGE: u32 = 50;

/// An opened store.
#[derive(Clone, Debug)]
pub struct Scale(Store);

/// What a list is restricted to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Only {
    /// A site.
    pub site: Option<&'static str>,
    /// A form.
    pub form: Option<&'static str>,
    /// A state of a delivery.
    pub state: Option<&'static str>,
    /// Judged spam.
    pub spam: bool,
}

/// An error as text.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
fn said(error: impl ToString) -> String {
    error.to_string()
}

impl Scale {
    /// The daemon's start.
    pub fn open(data: &Path, now: Timestamp) -> Result<Self, String> {
        Store::open_daemon(data, now, [7; 32]).map(Self).map_err(said)
    }

    /// Records one small submission and waits until it is durable; `number` makes it one of its own.
    pub fn record(&self, number: u32, now: Timestamp) -> Result<(), String> {
        let (reply, answer) = channel();
        self.0.record(small(number, now)?, move |outcome| drop(reply.send(outcome)));
        answer.recv().map_err(said)?.map(drop).map_err(said)
    }

    /// One sweep; the receipts that expired.
    pub fn sweep(&self, now: Timestamp) -> Result<usize, String> {
        let rules = SweepRules {
            part_age: Span::from_hours(2),
            orphan_age: Span::from_hours(2),
            quarantine_age: Span::from_days(7),
            erasing: Erasing::Goes,
        };
        let limiter = Throttle::new(self.0.directory().root().join("limiter"), 8192);
        let swept = self.0.sweep(rules, &limiter, now).map_err(said)?;
        usize::try_from(swept.expired).map_err(said)
    }

    /// The latest receipts.
    pub fn list(&self, only: Only, now: Timestamp) -> Result<usize, String> {
        let filter = ListFilter {
            site: only.site.map(SiteId::parse).transpose().map_err(said)?,
            form: only.form.map(FormId::parse).transpose().map_err(said)?,
            state: only.state,
            spam: only.spam,
            ..ListFilter::default()
        };
        self.0.list(&filter, None, PAGE, now).map(|rows| rows.len()).map_err(said)
    }

    /// The numbers of `status`.
    pub fn numbers(&self, now: Timestamp) -> Result<usize, String> {
        self.0.numbers(now).map(|numbers| usize::from(numbers.attachments_files > 0)).map_err(said)
    }

    /// The next delivery in turn, or none.
    pub fn claim(&self, token: i64, now: Timestamp) -> Result<usize, String> {
        match self.0.claim(&Turn::default(), token, now).map_err(said)? {
            Claimed::Claim(_) => Ok(1),
            Claimed::Nothing => Ok(0),
        }
    }

    /// What is outstanding.
    pub fn outstanding(&self) -> Result<usize, String> {
        self.deliveries(Which::Outstanding)
    }

    /// What is held.
    pub fn held(&self) -> Result<usize, String> {
        self.deliveries(Which::Held)
    }

    /// What failed, acknowledged or not.
    pub fn failed(&self) -> Result<usize, String> {
        self.deliveries(Which::Failed)
    }

    /// A page of deliveries.
    fn deliveries(&self, which: Which) -> Result<usize, String> {
        let now = Timestamp::from_millis(0);
        self.0.outstanding(which, None, PAGE, now).map(|rows| rows.len()).map_err(said)
    }

    /// All of one receipt.
    pub fn show(&self, row: i64, now: Timestamp) -> Result<usize, String> {
        let id = ReceiptId::from_row(row).ok_or("no receipt")?;
        self.0.show(id, now).map(|view| usize::from(view.is_some())).map_err(said)
    }

    /// The receipt of a key.
    pub fn find_by_key(&self, key: [u8; 16]) -> Result<usize, String> {
        self.0.find_by_key(KeyHash(key)).map(|found| usize::from(found.is_some())).map_err(said)
    }

    /// When something is due.
    pub fn next_due(&self) -> Result<usize, String> {
        self.0.next_due(&[]).map(|due| usize::from(due != Due::Never)).map_err(said)
    }
}

/// The number of a receipt of this moment.
pub fn receipt_row(at: Timestamp, random: u32) -> i64 {
    ReceiptId::new(at, random).as_row()
}

/// A submission of three short values for one mail.
fn small(number: u32, now: Timestamp) -> Result<NewReceipt, String> {
    let field = |name: &str, value: &str| KeptField {
        name: name.to_owned(),
        label: name.to_owned(),
        role: Role::Plain,
        value: Value::Text(value.to_owned()),
    };
    let target = Target::Email(EmailTarget {
        address: "sales@acme.example".to_owned(),
        subject: None,
        text: None,
        reply_to: None,
        attach_files: false,
        max_attach: 0,
        title: None,
    });
    // Spread over the whole index, as hashes are.
    let key = u128::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
    let mut content = [0; 32];
    content.iter_mut().zip(key.to_be_bytes()).for_each(|(place, byte)| *place = byte);
    Ok(NewReceipt {
        id: ReceiptId::new(now, number),
        redraw: [number + 1, number + 2, number + 3, number + 4],
        address: "/f/acme/quote".to_owned(),
        site: SiteId::parse("acme").map_err(said)?,
        form: FormId::parse("quote").map_err(said)?,
        page: None,
        locale: "en",
        received_at: now,
        erase_at: now.plus(Span::from_days(90)),
        key_hash: Some(KeyHash(key.to_be_bytes())),
        content_hash: ContentHash(content),
        client_hash: ClientHash([1; 16]),
        contents: Contents {
            fields: vec![field("name", "Anna"), field("email", "anna@example.com"), field("message", "Hello")],
            ..Contents::default()
        },
        files: Vec::new(),
        confirmation: None,
        deliveries: vec![NewDelivery { destination: DestinationId::parse("sales").map_err(said)?, target }],
    })
}
