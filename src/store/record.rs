//! Recording a submission: one job of the writer, with the decision about repeats inside it.
//!
//! Nobody looks before: UNIQUE decides. Of parallel clicks with one key the first INSERT wins, the others find its
//! row, committed or in the same group, and are answered with it after the COMMIT. Without a key, the same content
//! from the same client for the same form within [`DOUBLE_CLICK`] is a repeat; the client's hash is stored only for
//! that and only so long. Losers' files are removed at once: no row names them. Whether the visitor gets a confirmation is
//! decided here too ([`confirmations`]), for the first submission alone and never for a repeat.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::confirmations::{self, Grant, NewConfirmation};
use super::job::Group;
use super::{SealedFile, Store, StoreError, apart, rows};
use crate::domain::delivery::Channel;
use crate::domain::digest::Sha256Sum;
use crate::domain::filekind::FileKind;
use crate::domain::fingerprint::{self, ClientHash, ContentHash, KeyHash};
use crate::domain::ids::{DestinationId, FormId, ReceiptId, SiteId};
use crate::domain::receipt::Outcome;
use crate::domain::submission::Contents;
use crate::domain::target::Target;
use crate::domain::time::{Span, Timestamp};

/// How long the same content from the same client, without a key, is the same submission; fixed by contract.
pub(super) const DOUBLE_CLICK: Span = Span::from_minutes(10);

/// Everything one transaction records.
#[derive(Debug)]
pub struct NewReceipt {
    /// The receipt; when its number is taken the writer draws again from `redraw`.
    pub id: ReceiptId,
    /// Random bits for further draws.
    pub redraw: [u32; 4],
    /// The address that was posted to, such as `/f/acme/quote`.
    pub address: String,
    /// Its site.
    pub site: SiteId,
    /// Its form.
    pub form: FormId,
    /// The page the form stands on.
    pub page: Option<String>,
    /// The language of the answer: `en`, `ru`.
    pub locale: &'static str,
    /// When it arrived.
    pub received_at: Timestamp,
    /// Arrival and the retention in force.
    pub erase_at: Timestamp,
    /// The submission key's hash.
    pub key_hash: Option<KeyHash>,
    /// The content's hash.
    pub content_hash: ContentHash,
    /// The client's hash.
    pub client_hash: ClientHash,
    /// The values.
    pub contents: Contents,
    /// The files, sealed.
    pub files: Vec<NewAttachment>,
    /// One per destination that is not paused, in order; the n-th is delivery n.
    pub deliveries: Vec<NewDelivery>,
    /// The mail to the visitor, behind them if there may be one.
    pub confirmation: Option<NewConfirmation>,
}

/// One file of a new receipt.
#[derive(Debug)]
pub struct NewAttachment {
    /// The file on disk.
    pub sealed: SealedFile,
    /// From 1.
    pub position: u8,
    /// The field's name.
    pub field: String,
    /// The display name.
    pub name: String,
    /// The true type.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Their hash.
    pub sha256: Sha256Sum,
}

/// One delivery of a new receipt.
#[derive(Debug)]
pub struct NewDelivery {
    /// The destination's id.
    pub destination: DestinationId,
    /// Where it goes and how it is written.
    pub target: Target,
}

impl Store {
    /// Records a submission durably: seal the group's folders, one transaction, then `reply`. Returns at once;
    /// `reply` runs on the writer's thread and must not block. UNIQUE decides about a key; without one, the same
    /// content from the same client within 10 minutes is a repeat. Losers' files are removed; after an unclear
    /// COMMIT (reply `Err`) the files stay and the sweep decides.
    pub fn record(&self, new: NewReceipt, reply: impl FnOnce(Result<Outcome, StoreError>) + Send + 'static) {
        match Texts::of(&new) {
            Ok(texts) => self.writer().submit(move |db, group| record(db, group, new, &texts), reply),
            Err(error) => reply(Err(error)),
        }
    }
}

/// The JSON of a submission, made on the asker's thread: the writer's time is everybody's.
pub(super) struct Texts {
    /// `contents.fields`.
    fields: String,
    /// `contents.targets`.
    targets: String,
}

impl Texts {
    /// Writes both.
    pub(super) fn of(new: &NewReceipt) -> Result<Self, StoreError> {
        // The confirmation's stands there whether it will be granted or not: it is erased with the rest.
        let confirmation = new.confirmation.as_ref().map(|new| Target::Confirmation(new.target.clone()));
        let targets = new.deliveries.iter().map(|delivery| &delivery.target);
        let targets: Vec<&Target> = targets.chain(&confirmation).collect();
        let targets = rows::targets_text(&targets)?;
        Ok(Self { fields: apart::set_apart(&rows::contents_text(&new.contents)?, targets.len()), targets })
    }
}

/// Decides and writes.
pub(super) fn record(
    db: &Connection,
    group: &mut Group,
    new: NewReceipt,
    texts: &Texts,
) -> Result<Outcome, StoreError> {
    if new.key_hash.is_none()
        && let Some(first) = double_click(db, &new)?
    {
        return Ok(Outcome::Repeated(first));
    }
    let Some(id) = insert_receipt(db, &new)? else { return winner(db, &new) };
    insert_contents(db, id, texts)?;
    insert_attachments(db, id, &new.files)?;
    let due = insert_deliveries(db, id, &new)?;
    db.prepare_cached("INSERT OR IGNORE INTO addresses (path, site, form) VALUES (?1, ?2, ?3)")?.execute(params![
        new.address,
        new.site.as_str(),
        new.form.as_str()
    ])?;
    if due > 0 {
        group.made_due();
    }
    // Last: from here on nothing fails, so the files of a job that is undone are never handed over.
    for file in new.files {
        group.file(file.sealed);
    }
    Ok(Outcome::Stored(id))
}

/// The same content from the same client for the same form a moment ago.
fn double_click(db: &Connection, new: &NewReceipt) -> Result<Option<ReceiptId>, StoreError> {
    let since = ReceiptId::new(new.received_at.minus(DOUBLE_CLICK), 0);
    let found: Option<i64> = db
        .prepare_cached(DOUBLE_CLICK_SQL)?
        .query_row(
            params![new.client_hash.0, since.as_row(), new.content_hash.0, new.site.as_str(), new.form.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    found.map(rows::receipt).transpose()
}

/// Looks only among the receipts that still have a client's hash.
pub(super) const DOUBLE_CLICK_SQL: &str = "
    SELECT id
    FROM receipts
    WHERE client_hash = ?1 AND id >= ?2 AND content_hash = ?3 AND site = ?4 AND form = ?5
    ORDER BY id
    LIMIT 1";

/// Inserts the receipt; `None` when its key has a row already. A number that is taken is drawn again: the random
/// bits change, the moment of arrival does not.
fn insert_receipt(db: &Connection, new: &NewReceipt) -> Result<Option<ReceiptId>, StoreError> {
    let again = new.redraw.iter().map(|&random| ReceiptId::new(new.id.arrived_at(), random));
    let mut taken = None;
    for id in std::iter::once(new.id).chain(again) {
        match insert_as(db, id, new) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(Some(id)),
            Err(error) if is_primary_key(&error) => taken = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    // Five numbers of one millisecond taken: about one in 10^19 even under flood; the client tries again.
    Err(taken.map_or(StoreError::Busy, StoreError::from))
}

/// Inserts the receipt under `id`; the number of rows is 0 when its key has a row already.
fn insert_as(db: &Connection, id: ReceiptId, new: &NewReceipt) -> rusqlite::Result<usize> {
    let client_hash = if new.key_hash.is_none() { Some(new.client_hash.0) } else { None };
    db.prepare_cached(
        "INSERT INTO receipts (id, site, form, page, locale, erase_at, key_hash, content_hash, hash_version, client_hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (key_hash) DO NOTHING",
    )?
    .execute(params![
        id.as_row(),
        new.site.as_str(),
        new.form.as_str(),
        new.page,
        new.locale,
        new.erase_at.as_millis(),
        new.key_hash.map(|hash| hash.0),
        new.content_hash.0,
        fingerprint::VERSION,
        client_hash,
    ])
}

/// Whether an error says that the number is taken.
fn is_primary_key(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}

/// The row that has the key: the same content is a repeat, other content a conflict.
fn winner(db: &Connection, new: &NewReceipt) -> Result<Outcome, StoreError> {
    let (id, content): (i64, [u8; 32]) = db
        .prepare_cached(super::receipts::KEY_SQL)?
        .query_row([new.key_hash.map(|hash| hash.0)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let id = rows::receipt(id)?;
    Ok(if ContentHash(content) == new.content_hash { Outcome::Repeated(id) } else { Outcome::Conflict })
}

/// The values and targets.
fn insert_contents(db: &Connection, id: ReceiptId, texts: &Texts) -> Result<(), StoreError> {
    db.prepare_cached("INSERT INTO contents (receipt, fields, targets) VALUES (?1, ?2, ?3)")?.execute(params![
        id.as_row(),
        texts.fields,
        texts.targets
    ])?;
    Ok(())
}

/// The files. Their paths stay as sealed, though the number may have been drawn again.
fn insert_attachments(db: &Connection, id: ReceiptId, files: &[NewAttachment]) -> Result<(), StoreError> {
    let mut insert = db.prepare_cached(
        "INSERT INTO attachments (receipt, position, field, name, type, size, sha256, path)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    for file in files {
        let behind = file.kind.mime().len() + file.sha256.as_bytes().len() + file.sealed.path().len();
        insert.execute(params![
            id.as_row(),
            file.position,
            file.field,
            apart::set_apart(&file.name, behind),
            file.kind.mime(),
            i64::try_from(file.size).unwrap_or(i64::MAX),
            file.sha256.as_bytes(),
            file.sealed.path(),
        ])?;
    }
    Ok(())
}

/// The deliveries, due at once, and the confirmation if there may be one; returns how many.
fn insert_deliveries(db: &Connection, id: ReceiptId, new: &NewReceipt) -> Result<usize, StoreError> {
    let ours = new.deliveries.iter().map(|new| (new.destination.as_str(), new.target.channel()));
    let confirmed = match &new.confirmation {
        Some(wanted) => confirmations::grant(db, wanted, new.received_at)?,
        None => Grant::Spent,
    };
    let theirs = (confirmed == Grant::Granted).then_some((Channel::Confirmation.word(), Channel::Confirmation));
    let mut count = 0;
    let mut insert = db.prepare_cached(
        "INSERT INTO deliveries (receipt, n, site, destination, channel, state, due_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 'pending', ?6)",
    )?;
    for (n, (destination, channel)) in (1_i64..).zip(ours.chain(theirs)) {
        let due_at = new.received_at.as_millis();
        count += insert.execute(params![id.as_row(), n, new.site.as_str(), destination, channel.word(), due_at])?;
    }
    Ok(count)
}
