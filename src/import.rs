//! Taking over what another place had accepted: exports of Netlify Forms, Formspree and formd become submissions of a
//! form.
//!
//! # Guarantees
//!
//! * An imported submission is listed, shown, exported, erased and expires as any other. It arrives now; when it
//!   arrived there stands beside its values and goes with them.
//! * It makes no delivery and no confirmation, charges no rate limit, and the form's rules are not applied to it.
//! * Idempotent by content: what it was called there (else its values and its time) is hashed into its key, and UNIQUE
//!   decides. Twice the same file adds nothing, also after the values were erased; an import that was killed is
//!   completed by the same import again. A submission that this very formd had exported is found by its receipt.
//! * Files of any size, in bounded memory and bounded transactions, beside the running daemon.
//! * A submission that cannot be taken is told with its place and the reason, never its values; the rest goes on.
//!
//! # What fails how
//!
//! What ends the reading ([`ImportError`]) leaves what was stored so far, and the report says how much that is.
//!
//! # Deliberately absent
//!
//! Nothing is fetched: a link to a file stays a link. No mapping of columns: a column is the field of its name.

mod csv;
mod fit;
mod formd;
mod formspree;
mod json;
mod lines;
mod moment;
mod netlify;
mod report;
mod row;
mod table;
mod text;

use std::collections::HashMap;
use std::fs::File;
use std::io::Seek as _;
use std::time::Duration;

use serde_json::Value as Json;

use crate::clock::Clock;
use crate::domain::bounds::Bounds;
use crate::domain::digest;
use crate::domain::draft::Draft;
use crate::domain::fingerprint::{self, ClientHash, ContentHash, KeyHash};
use crate::domain::form::Form;
use crate::domain::ids::ReceiptId;
use crate::domain::receipt::Outcome;
use crate::domain::submission::{Contents, ImportSource, Imported};
use crate::domain::text::Language;
use crate::domain::time::{Span, Timestamp};
use crate::intake::{self, Published};
use crate::store::{NewImport, NewReceipt, Store, StoreError};
pub use report::{Facts, Report};
use row::Row;
pub use row::{Place, Refusal};
pub use text::Encoding;

/// Submissions of one transaction.
const BATCH: usize = 200;
/// Bytes of values of one transaction, about.
const BATCH_BYTES: u64 = 1 << 20;
/// Between two transactions: the daemon, which polls for the lock, gets its turn.
const BREATH: Duration = Duration::from_millis(2);
/// Characters of an id that are kept.
const ID_LENGTH: usize = 200;

/// What is imported, and where to.
#[derive(Debug)]
pub struct Job<'a> {
    /// Whose export it is.
    pub source: ImportSource,
    /// The form.
    pub published: &'a Published,
    /// The bounds of a submission.
    pub bounds: &'a Bounds,
    /// Where it is kept.
    pub store: &'a Store,
    /// Whether anything is written.
    pub mode: Mode,
}

/// Whether anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only say what would be done.
    Plan,
    /// Do it.
    CarryOut,
}

/// What ends an import before the end of its file.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Read(std::io::Error),
    /// It is no export.
    #[error("{0}")]
    Unfit(&'static str),
    /// A list of JSON is broken.
    #[error(
        "it is no JSON any more at line {line}, column {column}, behind submission {number}; the rest was not read"
    )]
    Broken {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// The last whole submission.
        number: u64,
    },
    /// A submission in JSON that does not end.
    #[error("submission {number} is larger than all values of a submission may be; the rest was not read")]
    TooLarge {
        /// Which.
        number: u64,
    },
    /// The store cannot.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Imports a file; the report is of all that was done, also where an error ended it. `progress` hears how much of the
/// file is done, in percent.
pub fn run<'a>(
    job: &'a Job<'a>,
    file: File,
    clock: &'a Clock,
    progress: &'a mut dyn FnMut(u8),
) -> (Report, Result<(), ImportError>) {
    let mut work = Work {
        job,
        clock,
        report: Report::default(),
        waiting: Vec::new(),
        bytes: 0,
        first_form: None,
        seen: HashMap::new(),
        progress: Progress::of(&file, progress),
    };
    let ended = work.read(file);
    // What was read before an error is as good as the rest.
    let flushed = work.flush();
    (work.report, ended.and(flushed))
}

/// An import under way.
struct Work<'a> {
    /// What is wanted.
    job: &'a Job<'a>,
    /// Now, and chance.
    clock: &'a Clock,
    /// What was done.
    report: Report,
    /// The batch.
    waiting: Vec<(Place, NewImport, Facts)>,
    /// Bytes of its values.
    bytes: u64,
    /// The form of the first submission, as the export calls it.
    first_form: Option<String>,
    /// What a plan would have stored.
    seen: HashMap<[u8; 16], ContentHash>,
    /// How far it is.
    progress: Progress<'a>,
}

/// How much of a file is done.
struct Progress<'a> {
    /// The file, whose place all handles share; `None`: nobody can tell.
    file: Option<(File, u64)>,
    /// Who hears of it.
    told: &'a mut dyn FnMut(u8),
}

impl<'a> Progress<'a> {
    /// Of this file.
    fn of(file: &File, told: &'a mut dyn FnMut(u8)) -> Self {
        let size = file.metadata().map_or(0, |facts| facts.len());
        Self { file: file.try_clone().ok().filter(|_| size > 0).map(|file| (file, size)), told }
    }

    /// Tells.
    fn tell(&mut self) {
        let Some((file, size)) = &mut self.file else { return };
        let Ok(place) = file.stream_position() else { return };
        (self.told)(u8::try_from(place.saturating_mul(100) / *size).unwrap_or(100).min(100));
    }
}

impl Work<'_> {
    /// Reads the whole file.
    fn read(&mut self, file: File) -> Result<(), ImportError> {
        let text::Text { input, encoding, shape } = text::open(file)?;
        self.report.encoding = Some(encoding);
        // The most that JSON makes of a value's bytes is six of each; names, labels and all else have a mebibyte.
        let most = self.job.bounds.values.saturating_mul(6).saturating_add(1 << 20);
        let source = self.job.source;
        match (source, shape) {
            (ImportSource::Netlify, text::Shape::Csv) => {
                table::read(input, encoding, whole(most), netlify::column, &mut |place, row| self.take(place, row))
            }
            (ImportSource::Formspree, text::Shape::Csv) => {
                table::read(input, encoding, whole(most), formspree::column, &mut |place, row| {
                    self.take(place, row.map(formspree::with_address))
                })
            }
            (ImportSource::Formd, text::Shape::Csv) => {
                Err(ImportError::Unfit("it is no JSON; export with `formctl export --format jsonl`"))
            }
            (ImportSource::Formd, text::Shape::Object) => lines::read(input, most, &mut |line, object| {
                self.take(Place::Line(line), object.and_then(|object| submission(source, object)))
            }),
            (_, text::Shape::List | text::Shape::Object) => json::read(input, most, &mut |number, object| {
                self.take(Place::Number(number), submission(source, object))
            }),
        }
    }

    /// Takes one submission, or why it is none.
    fn take(&mut self, place: Place, row: Result<Row, Refusal>) -> Result<(), ImportError> {
        self.report.read += 1;
        let taken = row.and_then(|row| self.one_form(row)).and_then(|row| self.prepare(row));
        let (import, facts) = match taken {
            Ok(taken) => taken,
            Err(why) => {
                self.report.refuse(place, why);
                return Ok(());
            }
        };
        self.bytes += size(&import.new.contents);
        self.waiting.push((place, import, facts));
        if self.waiting.len() >= BATCH || self.bytes >= BATCH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// A file of several forms would be mixed into one: the first submission decides.
    fn one_form(&mut self, row: Row) -> Result<Row, Refusal> {
        let Some(this) = &row.form else { return Ok(row) };
        let first = self.first_form.get_or_insert_with(|| this.clone());
        if first == this {
            return Ok(row);
        }
        Err(Refusal::OtherForm { first: first.clone(), this: this.clone() })
    }

    /// Makes what is recorded.
    fn prepare(&mut self, row: Row) -> Result<(NewImport, Facts), Refusal> {
        let Published { site, form } = self.job.published;
        let about = About { id: row.id.clone(), time: row.time.clone(), origin: row.origin.clone() };
        let (spam, files, links) = (row.spam, row.files, row.links);
        let page = form.page.clone().or_else(|| row.page.as_deref().map(intake::readable_page));
        let locale = locale(&row, form);
        self.report.left_out.extend(row.left_out.iter().map(|name| (*name).to_owned()));
        let fitted = fit::fit(row, form, self.job.bounds)?;
        self.report.left_out.extend(fitted.left_out);
        let source = self.job.source;
        // A form may ask for a file alone, so our own export has submissions without values; elsewhere it is no row.
        if fitted.contents.fields.is_empty() && source != ImportSource::Formd {
            return Err(Refusal::Empty);
        }
        let (key, content) = self.hashes(&about, &fitted.draft);
        let receipt = if source == ImportSource::Formd { about.id.as_deref().and_then(ReceiptId::parse) } else { None };
        let imported = about.kept(source);
        let now = self.clock.now();
        let retention = Span::from_days(site.retention_days.into());
        let facts = Facts {
            faults: fitted.faults,
            outlived: imported.at.is_some_and(|at| at.plus(retention) <= now),
            timeless: imported.at.is_none(),
            spam,
            files,
            links: fitted.links.max(links),
        };
        let random = || u32::from_le_bytes(self.clock.random());
        let new = NewReceipt {
            id: ReceiptId::new(now, random()),
            redraw: std::array::from_fn(|_| random()),
            address: format!("/f/{}/{}", site.id, form.id),
            site: site.id.clone(),
            form: form.id.clone(),
            page,
            locale,
            received_at: now,
            erase_at: now.plus(retention),
            key_hash: Some(key),
            content_hash: content,
            // Never stored beside a key.
            client_hash: ClientHash([0; 16]),
            contents: Contents { imported: Some(imported), ..fitted.contents },
            files: Vec::new(),
            deliveries: Vec::new(),
            confirmation: None,
        };
        Ok((NewImport { new, receipt, spam }, facts))
    }

    /// The key and the content of a submission: its id is its identity, else its values and its time.
    fn hashes(&self, about: &About, draft: &Draft) -> (KeyHash, ContentHash) {
        let Published { site, form } = self.job.published;
        let secret = self.job.store.key();
        let hash = |identity: &[&str]| {
            fingerprint::imported(secret, self.job.source.word(), (&site.id, &form.id), identity, draft)
        };
        if let Some(id) = &about.id {
            return hash(&["id", id]);
        }
        let values = digest::hex(&fingerprint::content(secret, draft).0);
        hash(&["values", &values, about.time.as_deref().unwrap_or_default()])
    }

    /// Stores what waits, or looks what would become of it.
    fn flush(&mut self) -> Result<(), ImportError> {
        self.progress.tell();
        let waiting = std::mem::take(&mut self.waiting);
        self.bytes = 0;
        if waiting.is_empty() {
            return Ok(());
        }
        let (mut imports, mut others) = (Vec::new(), Vec::new());
        for (place, import, facts) in waiting {
            imports.push(import);
            others.push((place, facts));
        }
        let outcomes = match self.job.mode {
            Mode::Plan => imports.iter().map(|import| self.foresee(import)).collect::<Result<_, _>>()?,
            Mode::CarryOut => {
                let outcomes = self.job.store.import(imports)?;
                std::thread::sleep(BREATH);
                outcomes
            }
        };
        for ((place, facts), outcome) in others.into_iter().zip(outcomes) {
            match outcome {
                Outcome::Stored(_) => self.report.stored(facts),
                Outcome::Repeated(_) => self.report.known += 1,
                Outcome::Conflict => self.report.refuse(place, Refusal::OtherValues),
            }
        }
        Ok(())
    }

    /// What would become of one, after those before it.
    fn foresee(&mut self, import: &NewImport) -> Result<Outcome, ImportError> {
        if let Some(known) = self.job.store.foresee_import(import)? {
            return Ok(known);
        }
        let (key, content) = (import.new.key_hash.map(|key| key.0).unwrap_or_default(), import.new.content_hash);
        Ok(match self.seen.insert(key, content) {
            None => Outcome::Stored(import.new.id),
            Some(before) if before == content => Outcome::Repeated(import.new.id),
            Some(_) => Outcome::Conflict,
        })
    }
}

/// What an export says about a submission beside its values.
struct About {
    /// What it is called there.
    id: Option<String>,
    /// When it arrived there, as written.
    time: Option<String>,
    /// Where it had come from before.
    origin: Option<Imported>,
}

impl About {
    /// What of it stands beside the values: of what was imported there, where that had come from.
    fn kept(self, source: ImportSource) -> Imported {
        let at: Option<Timestamp> = self.time.as_deref().and_then(moment::read);
        let id = self.id.map(|id| id.chars().take(ID_LENGTH).collect());
        self.origin.unwrap_or(Imported { from: source, id, at })
    }
}

/// The submission of an object.
fn submission(source: ImportSource, object: Json) -> Result<Row, Refusal> {
    let Json::Object(members) = object else { return Err(Refusal::NoObject) };
    match source {
        ImportSource::Netlify => Ok(netlify::submission(members)),
        ImportSource::Formspree => Ok(formspree::submission(members)),
        ImportSource::Formd => formd::submission(members),
    }
}

/// The language of the answer that was given, else of the form.
fn locale(row: &Row, form: &Form) -> &'static str {
    let given = row.locale.as_deref().and_then(Language::parse);
    given.or(form.locale).unwrap_or(Language::En).tag()
}

/// Bytes of values, about.
fn size(contents: &Contents) -> u64 {
    let all = contents.fields.iter().flat_map(|field| row::texts(field.value.clone()));
    all.map(|text| u64::try_from(text.len()).unwrap_or(0)).sum()
}

/// A size in memory.
fn whole(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
