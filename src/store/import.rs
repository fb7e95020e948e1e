//! Recording what another place had accepted: many at a time, in transactions that the caller bounds.
//!
//! An import is a receipt like any other and takes the same way ([`super::record`]): its key is the hash of what it
//! was called where it comes from, so UNIQUE lets the second import of the same submission find the first, whether
//! that was a minute or a year ago, whether its values are still kept or erased. A batch is one job of the writer:
//! after a crash all of it is there or nothing, and the same import again completes it.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::record::{self, Texts};
use super::{NewReceipt, Store, StoreError, rows};
use crate::domain::ids::{FormId, ReceiptId, SiteId};
use crate::domain::receipt::Outcome;

/// One submission of an import.
#[derive(Debug)]
pub struct NewImport {
    /// What is recorded: with a key, without files and deliveries.
    pub new: NewReceipt,
    /// The receipt that it had in the formd it comes from: when that is this one, it is there already.
    pub receipt: Option<ReceiptId>,
    /// Whether it was judged spam there.
    pub spam: bool,
}

impl Store {
    /// Records a batch in one transaction; the outcomes in its order. Blocking.
    pub fn import(&self, batch: Vec<NewImport>) -> Result<Vec<Outcome>, StoreError> {
        let texts: Vec<Texts> = batch.iter().map(|import| Texts::of(&import.new)).collect::<Result<_, _>>()?;
        self.write(move |db, group| {
            let mut outcomes = Vec::with_capacity(batch.len());
            for (import, texts) in batch.into_iter().zip(&texts) {
                let outcome = match ours(db, &import)? {
                    Some(receipt) => Outcome::Repeated(receipt),
                    None => record::record(db, group, import.new, texts)?,
                };
                if let (Outcome::Stored(id), true) = (&outcome, import.spam) {
                    db.prepare_cached("UPDATE receipts SET spam = 1 WHERE id = ?1")?.execute([id.as_row()])?;
                }
                outcomes.push(outcome);
            }
            Ok(outcomes)
        })
    }

    /// What [`Store::import`] would find; `None`: it would store it. Blocking.
    pub fn foresee_import(&self, import: &NewImport) -> Result<Option<Outcome>, StoreError> {
        if let Some(receipt) = self.read(|db| ours(db, import))? {
            return Ok(Some(Outcome::Repeated(receipt)));
        }
        let Some(key) = import.new.key_hash else { return Ok(None) };
        let Some(known) = self.find_by_key(key)? else { return Ok(None) };
        let is_same = known.content_hash == import.new.content_hash;
        Ok(Some(if is_same { Outcome::Repeated(known.receipt) } else { Outcome::Conflict }))
    }
}

/// The receipt that an import says to have had, when it is one of the same form here.
fn ours(db: &Connection, import: &NewImport) -> Result<Option<ReceiptId>, StoreError> {
    let Some(receipt) = import.receipt else { return Ok(None) };
    let (site, form) = (SiteId::as_str(&import.new.site), FormId::as_str(&import.new.form));
    let found: Option<i64> = db
        .prepare_cached("SELECT id FROM receipts WHERE id = ?1 AND site = ?2 AND form = ?3")?
        .query_row(params![receipt.as_row(), site, form], |row| row.get(0))
        .optional()?;
    found.map(rows::receipt).transpose()
}
