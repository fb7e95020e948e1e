//! Reading receipts: by key, by prefix, whole. Lists stand in [`super::list`], recording in [`super::record`].
//!
//! Whether values are readable is judged at the moment of the question: past `erase_at` they are not, swept or not,
//! and with them go the targets (an address is a value too) and what peers said (they like to quote addresses).

use rusqlite::{Connection, OptionalExtension as _};

use super::{Store, StoreError, apart, list, rows};
use crate::domain::delivery::{Channel, Hold, Reason};
use crate::domain::digest::Sha256Sum;
use crate::domain::fingerprint::{ContentHash, KeyHash};
use crate::domain::ids::{AttachmentId, DeliveryId, FormId, ReceiptId, ReceiptPrefix, SiteId};
use crate::domain::receipt::ReceiptState;
use crate::domain::submission::Contents;
use crate::domain::time::Timestamp;

/// A receipt found by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownKey {
    /// The receipt.
    pub receipt: ReceiptId,
    /// Its content.
    pub content_hash: ContentHash,
}

/// What a list shows; `None` does not restrict.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// Receipts that begin so.
    pub prefix: Option<ReceiptPrefix>,
    /// Of this site.
    pub site: Option<SiteId>,
    /// Of this form.
    pub form: Option<FormId>,
    /// Arrived at or after.
    pub since: Option<Timestamp>,
    /// Arrived before.
    pub until: Option<Timestamp>,
    /// With a delivery in this state (`pending`, `retrying`, `delivered`, `failed`).
    pub state: Option<&'static str>,
    /// Judged spam.
    pub spam: bool,
    /// Found by this key.
    pub key_hash: Option<KeyHash>,
}

/// A receipt as a list shows it.
#[derive(Clone, Debug)]
pub struct ReceiptRow {
    /// Its id.
    pub id: ReceiptId,
    /// Its site; text, since it may come from a configuration of long ago.
    pub site: String,
    /// Its form.
    pub form: String,
    /// The page.
    pub page: Option<String>,
    /// The language.
    pub locale: String,
    /// The erase date fixed at arrival.
    pub erase_at: Timestamp,
    /// Kept or erased, judged at the moment of the question: past `erase_at` it is erased, swept or not.
    pub state: ReceiptState,
    /// Judged spam.
    pub spam: bool,
    /// Its deliveries in order.
    pub deliveries: Vec<DeliveryRow>,
}

/// A delivery as a list shows it.
#[derive(Clone, Debug)]
pub struct DeliveryRow {
    /// Its id.
    pub id: DeliveryId,
    /// Its channel.
    pub channel: Channel,
    /// Its destination's id.
    pub destination: String,
    /// Address, or webhook as scheme, host and path; `None` once values are unreadable.
    pub target: Option<String>,
    /// `pending`, `retrying`, `delivered`, `failed`.
    pub state: &'static str,
    /// Attempts claimed since the last resend.
    pub attempts: u32,
    /// When the next attempt is due; `None` when it has ended or is held.
    pub next_attempt_at: Option<Timestamp>,
    /// Why it stopped.
    pub reason: Option<Reason>,
    /// Why it is held; `None`: it is not.
    pub held: Option<Hold>,
    /// Whether a claim that has not expired is sending it now.
    pub sending: bool,
    /// What the peer or the network said last.
    pub note: Option<String>,
    /// Whether the operator has seen its failure.
    pub acked: bool,
}

/// All of one receipt.
#[derive(Clone, Debug)]
pub struct ReceiptView {
    /// What the list shows.
    pub row: ReceiptRow,
    /// The values; `None` once unreadable.
    pub contents: Option<Contents>,
    /// The files; `None` once unreadable.
    pub attachments: Option<Vec<AttachmentRow>>,
    /// The attempts of each delivery, in the order of `row.deliveries`.
    pub attempts: Vec<Vec<AttemptRow>>,
}

/// One file of a receipt.
#[derive(Clone, Debug)]
pub struct AttachmentRow {
    /// Its id.
    pub id: AttachmentId,
    /// The field's name.
    pub field: String,
    /// The display name.
    pub name: String,
    /// The MIME type.
    pub mime: String,
    /// Bytes.
    pub size: u64,
    /// Their hash.
    pub sha256: Sha256Sum,
    /// The absolute path of the file.
    pub path: std::path::PathBuf,
}

/// One attempt that ended.
#[derive(Clone, Debug)]
pub struct AttemptRow {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub milliseconds: i64,
    /// `accepted`, `try_later`, `refused`.
    pub outcome: String,
    /// What the peer or the network said.
    pub note: Option<String>,
}

/// The receipt of a key.
pub(super) const KEY_SQL: &str = "SELECT id, content_hash FROM receipts WHERE key_hash = ?1";

impl Store {
    /// The receipt of a key; blocking.
    pub fn find_by_key(&self, key: KeyHash) -> Result<Option<KnownKey>, StoreError> {
        self.read(|db| {
            let found: Option<(i64, [u8; 32])> =
                db.prepare_cached(KEY_SQL)?.query_row([key.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            found
                .map(|(id, content)| Ok(KnownKey { receipt: rows::receipt(id)?, content_hash: ContentHash(content) }))
                .transpose()
        })
    }

    /// The site and form whose receipts came in under this address, though the configuration may have lost it.
    pub fn find_address(&self, path: &str) -> Result<Option<(SiteId, FormId)>, StoreError> {
        let found: Option<(String, String)> = self.read(|db| {
            let mut find = db.prepare_cached("SELECT site, form FROM addresses WHERE path = ?1")?;
            Ok(find.query_row([path], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
        })?;
        let parse = |(site, form): (String, String)| {
            let form_id = FormId::parse(&form).map_err(|_| StoreError::Unknown(format!("form `{form}`")))?;
            Ok((rows::site(&site)?, form_id))
        };
        found.map(parse).transpose()
    }

    /// Sites and forms that have receipts, for "does not exist" messages.
    pub fn known_forms(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|db| {
            let mut forms = db.prepare_cached("SELECT DISTINCT site, form FROM addresses ORDER BY site, form")?;
            let forms = forms.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(forms.collect::<Result<_, _>>()?)
        })
    }

    /// Receipts that begin with `prefix`, at most `limit`: one is a match, none is not found, more are candidates.
    pub fn find_by_prefix(&self, prefix: ReceiptPrefix, limit: u32) -> Result<Vec<ReceiptId>, StoreError> {
        self.read(|db| {
            let mut find =
                db.prepare_cached("SELECT id FROM receipts WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3")?;
            let found = find.query_map((prefix.low(), prefix.high(), limit), |row| row.get(0))?;
            found.map(|id| rows::receipt(id?)).collect()
        })
    }

    /// All of one receipt; blocking.
    pub fn show(&self, id: ReceiptId, now: Timestamp) -> Result<Option<ReceiptView>, StoreError> {
        self.read(|db| {
            let Some(row) = list::one(db, id, now)? else { return Ok(None) };
            let (contents, attachments) = match row.state {
                ReceiptState::Kept { .. } => (contents(db, id)?, Some(self.attachments(db, id)?)),
                ReceiptState::Erased { .. } => (None, None),
            };
            let attempts = row.deliveries.iter().map(|delivery| attempts(db, delivery.id, row.state));
            let attempts = attempts.collect::<Result<_, _>>()?;
            Ok(Some(ReceiptView { row, contents, attachments, attempts }))
        })
    }

    /// The files of a receipt in order.
    pub(super) fn attachments(&self, db: &Connection, id: ReceiptId) -> Result<Vec<AttachmentRow>, StoreError> {
        attachments(db, id, &self.directory().attachments())
    }
}

/// The files of a receipt in order; `folder` is where their paths begin.
pub(super) fn attachments(
    db: &Connection,
    id: ReceiptId,
    folder: &std::path::Path,
) -> Result<Vec<AttachmentRow>, StoreError> {
    let mut files = db.prepare_cached(
        "SELECT position, field, name, type, size, sha256, path FROM attachments WHERE receipt = ?1 ORDER BY position",
    )?;
    let files = files.query_map([id.as_row()], |row| {
        Ok(AttachmentRow {
            id: AttachmentId { receipt: id, position: row.get(0)? },
            field: row.get(1)?,
            name: apart::brought_back(row.get(2)?),
            mime: row.get(3)?,
            size: rows::count(row.get(4)?),
            sha256: Sha256Sum::from_bytes(row.get(5)?),
            path: folder.join(row.get::<_, String>(6)?),
        })
    })?;
    Ok(files.collect::<Result<_, _>>()?)
}

/// The values of a receipt, if there are any.
pub(super) fn contents(db: &Connection, id: ReceiptId) -> Result<Option<Contents>, StoreError> {
    let text: Option<String> = db
        .prepare_cached("SELECT fields FROM contents WHERE receipt = ?1")?
        .query_row([id.as_row()], |row| row.get(0))
        .optional()?;
    text.as_deref().map(rows::contents).transpose()
}

/// The attempts of a delivery in order, without what the peer said once the values are unreadable.
fn attempts(db: &Connection, id: DeliveryId, state: ReceiptState) -> Result<Vec<AttemptRow>, StoreError> {
    let mut attempts = db.prepare_cached(
        "SELECT at, milliseconds, outcome, note FROM attempts WHERE receipt = ?1 AND n = ?2 ORDER BY rowid",
    )?;
    let attempts = attempts.query_map((id.receipt.as_row(), id.n), |row| {
        let note: Option<String> = row.get(3)?;
        Ok(AttemptRow {
            at: rows::moment(row, 0)?,
            milliseconds: row.get(1)?,
            outcome: row.get(2)?,
            note: note.filter(|_| matches!(state, ReceiptState::Kept { .. })),
        })
    })?;
    Ok(attempts.collect::<Result<_, _>>()?)
}
