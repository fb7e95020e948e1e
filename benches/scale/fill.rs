//! Fills a data directory with receipts through plain SQL over the real schema, the same for the same seed.
//!
//! A year of arrivals, evenly; values of the last 90 days are kept, older ones erased, and besides 10,000 receipts whose
//! time is over and whose values still stand there. Three deliveries each. Most deliveries arrived; a few in a thousand
//! failed, wait, or are held as spam. A fifth of the kept ones has an attachment, and every fifth of those a file.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use formd::harness::Timestamp;
use formd::harness::scale::{Scale, receipt_row};
use rusqlite::{Connection, Statement, params};

/// Receipts whose time is over.
pub const EXPIRED: u64 = 10_000;
/// Days of history.
const HISTORY: i64 = 365;
/// Days for which values are kept.
const RETENTION: i64 = 90;
/// Receipts of one transaction.
const BATCH: u64 = 50_000;
/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

const TARGETS: &str = r#"[{"email":{"address":"sales@acme.example","subject":null,"text":null,"reply_to":null,"attach_files":false,"max_attach":7340032,"title":"Quote"}},{"webhook":{"url":"https://crm.acme.example/hook?token=4711","disclosure":"path","allow_private":false,"format":{"formd":{"secret":"0123456789abcdef0123456789abcdef","previous":null}}}},{"email":{"address":"team@acme.example","subject":null,"text":null,"reply_to":null,"attach_files":false,"max_attach":7340032,"title":"Quote"}}]"#;

/// A small generator of even numbers, so that every run fills alike.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut all = [0; N];
        all.chunks_mut(8).for_each(|eight| eight.copy_from_slice(&self.next().to_be_bytes()[..eight.len()]));
        all
    }
}

/// What becomes of the values of a receipt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    /// Kept.
    Kept,
    /// Over and not yet erased.
    Due,
    /// Erased long ago.
    Erased,
}

/// The statements of a row.
struct Inserts<'a> {
    receipt: Statement<'a>,
    contents: Statement<'a>,
    attachment: Statement<'a>,
    delivery: Statement<'a>,
    attempt: Statement<'a>,
}

impl<'a> Inserts<'a> {
    fn prepare(db: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            receipt: db.prepare(
                "INSERT INTO receipts (id, site, form, page, locale, erase_at, erased_at, erased_why, key_hash, content_hash, hash_version, spam)
                 VALUES (?1, ?2, ?3, '/contact', 'en', ?4, ?5, ?6, ?7, ?8, 1, ?9)",
            )?,
            contents: db.prepare("INSERT INTO contents (receipt, fields, targets) VALUES (?1, ?2, ?3)")?,
            attachment: db.prepare(
                "INSERT INTO attachments (receipt, position, field, name, type, size, sha256, path)
                 VALUES (?1, 1, 'file', 'offer.pdf', 'application/pdf', 1024, ?2, ?3)",
            )?,
            delivery: db.prepare(
                "INSERT INTO deliveries (receipt, n, site, destination, channel, state, reason, attempts, due_at, held, note, acked)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?,
            attempt: db.prepare(
                "INSERT INTO attempts (receipt, n, at, milliseconds, outcome, note) VALUES (?1, ?2, ?3, 120, ?4, NULL)",
            )?,
        })
    }
}

/// Fills `data` with `receipts` and the expired ones; returns the row and the key of one in the middle.
pub fn fill(data: &Path, receipts: u64, now: Timestamp) -> rusqlite::Result<(i64, [u8; 16])> {
    drop(Scale::open(data, now).expect("a fresh data directory"));
    let mut db = Connection::open(data.join("formd.db"))?;
    // Nothing here has to survive a crash, and the log would be as large as the database.
    // The daemon's readers close in the background.
    while db.execute_batch("PRAGMA journal_mode = DELETE").is_err() {
        std::thread::sleep(Duration::from_millis(10));
    }
    db.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
         PRAGMA cache_size = -200000; PRAGMA locking_mode = EXCLUSIVE;",
    )?;
    let indexes = drop_indexes(&db)?;
    let mut chance = Chance(4711);
    let all = receipts + EXPIRED;
    let mut sample = (0, [0; 16]);
    for first in (0..all).step_by(BATCH as usize) {
        let batch = db.transaction()?;
        {
            let mut inserts = Inserts::prepare(&batch)?;
            for number in first..all.min(first + BATCH) {
                let (age, arrived) = place(number, receipts, now);
                // Twenty receipts of a quiet site and of a quiet form, however many there are.
                let quiet = number % (all / 20);
                let row = insert(&mut inserts, &mut chance, data, (age, arrived, quiet))?;
                if number == receipts / 2 {
                    sample = row;
                }
            }
        }
        batch.commit()?;
    }
    indexes.iter().try_for_each(|sql| db.execute_batch(sql))?;
    db.execute_batch(
        "INSERT OR IGNORE INTO addresses SELECT DISTINCT '/f/' || site || '/' || form, site, form FROM receipts",
    )?;
    db.execute_batch("PRAGMA journal_mode = WAL")?;
    // Else the first checkpoint would have to write all of it, and be measured with it.
    fs::File::open(data.join("formd.db")).and_then(|file| file.sync_all()).expect("a disk");
    age_folders(data);
    Ok(sample)
}

/// Takes the indexes away, since one that is sorted at the end costs far less than one that grows; returns what makes them.
fn drop_indexes(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut list = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")?;
    let list = list.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let list: Vec<(String, String)> = list.collect::<Result<_, _>>()?;
    list.iter().try_for_each(|(name, _)| db.execute_batch(&format!("DROP INDEX {name}")))?;
    Ok(list.into_iter().map(|(_, sql)| sql).collect())
}

/// A day's folder looks as if nothing had touched it since that day.
fn age_folders(data: &Path) {
    for folder in fs::read_dir(data.join("attachments")).expect("attachments").flatten() {
        let day = Timestamp::parse(&folder.file_name().to_string_lossy()).expect("a day");
        let evening = Duration::from_millis((day.as_millis() + DAY) as u64);
        let folder = fs::File::open(folder.path()).expect("a folder");
        folder.set_modified(SystemTime::UNIX_EPOCH + evening).expect("a time");
    }
}

/// The age and the arrival of a receipt: the expired ones stand in the order of arrival between the erased and the kept.
fn place(number: u64, receipts: u64, now: Timestamp) -> (Age, i64) {
    let start = now.as_millis() - HISTORY * DAY;
    let step = HISTORY * DAY / receipts as i64;
    let erased = receipts * (HISTORY - RETENTION) as u64 / HISTORY as u64;
    if number < erased {
        (Age::Erased, start + number as i64 * step)
    } else if number < erased + EXPIRED {
        // Two hours before the limit.
        (Age::Due, start + erased as i64 * step - 7_200_000 + (number - erased) as i64 * 700)
    } else {
        (Age::Kept, start + (number - EXPIRED + 2) as i64 * step)
    }
}

/// One receipt with all that belongs to it.
fn insert(
    inserts: &mut Inserts<'_>,
    chance: &mut Chance,
    data: &Path,
    (age, arrived, quiet): (Age, i64, u64),
) -> rusqlite::Result<(i64, [u8; 16])> {
    let at = Timestamp::from_millis(arrived);
    let id = receipt_row(at, chance.next() as u32);
    let key = chance.bytes::<16>();
    let site = if quiet == 1 { "quiet".to_owned() } else { format!("site-{:02}", chance.below(20)) };
    let form = if quiet == 2 { "careers" } else { ["contact", "quote", "order"][chance.below(3) as usize] };
    let erase_at = arrived + RETENTION * DAY;
    let erased = (age == Age::Erased).then_some(erase_at);
    let spam = age == Age::Kept && chance.below(200) == 0;
    let why = erased.map(|_| "expired");
    inserts.receipt.execute(params![id, site, form, erase_at, erased, why, key, chance.bytes::<32>(), spam])?;
    if age != Age::Erased {
        let message =
            "A message as people write them, with a question and a thank you. ".repeat(1 + chance.below(12) as usize);
        let fields = format!(
            r#"{{"fields":[{{"name":"name","label":"Name","role":"plain","value":"Anna {id}"}},{{"name":"email","label":"E-mail","role":"email","value":"anna-{id}@example.com"}},{{"name":"message","label":"Message","role":"plain","value":"{message}"}}],"consent":null}}"#
        );
        inserts.contents.execute(params![id, fields, TARGETS])?;
        if chance.below(5) == 0 {
            attach(inserts, chance, data, id, at)?;
        }
    }
    for (n, destination, channel) in [(1, "sales", "email"), (2, "crm", "webhook"), (3, "team", "email")] {
        let end = End::draw(chance, age, spam, arrived);
        let note = (age != Age::Erased && end.attempts > 0).then_some("250 2.0.0 queued as 4711");
        inserts.delivery.execute(params![
            id,
            n,
            site,
            destination,
            channel,
            end.state,
            end.reason,
            end.attempts,
            end.due_at,
            end.held,
            note,
            end.acked
        ])?;
        if end.attempts > 0 {
            let outcome = if end.state == "delivered" { "accepted" } else { "try_later" };
            inserts.attempt.execute(params![id, n, arrived + 900, outcome])?;
        }
    }
    Ok((id, key))
}

/// An attachment's row, and for every fifth its file.
fn attach(inserts: &mut Inserts<'_>, chance: &mut Chance, data: &Path, id: i64, at: Timestamp) -> rusqlite::Result<()> {
    let path = format!("{}/{id}-1", at.day());
    if chance.below(5) == 0 {
        let file = data.join("attachments").join(&path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a day's folder");
        fs::write(file, [7; 1024]).expect("a file");
    }
    inserts.attachment.execute(params![id, chance.bytes::<32>(), path])?;
    Ok(())
}

/// Where a delivery stands.
struct End {
    state: &'static str,
    reason: Option<&'static str>,
    attempts: u32,
    due_at: Option<i64>,
    held: Option<&'static str>,
    acked: bool,
}

impl End {
    fn draw(chance: &mut Chance, age: Age, spam: bool, arrived: i64) -> Self {
        let none = Self { state: "delivered", reason: None, attempts: 1, due_at: None, held: None, acked: false };
        if spam {
            return Self { state: "pending", attempts: 0, held: Some("spam"), ..none };
        }
        match (age, chance.below(1000)) {
            (Age::Erased, 0..5) => Self { state: "failed", reason: Some("values_gone"), acked: true, ..none },
            (Age::Kept | Age::Due, 0..4) => {
                Self { state: "failed", reason: Some("exhausted"), attempts: 5, acked: chance.below(2) == 0, ..none }
            }
            (Age::Kept | Age::Due, 4..6) => {
                Self { state: "retrying", attempts: 2, due_at: Some(arrived + 3_600_000), ..none }
            }
            (Age::Kept | Age::Due, 6..8) => Self { state: "pending", attempts: 0, due_at: Some(arrived), ..none },
            _ => none,
        }
    }
}
