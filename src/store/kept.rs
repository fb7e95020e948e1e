//! What is kept, oldest first and in pages: for whoever copies all of it out.
//!
//! A page is one short question, bounded by the rows it looks at and by the bytes it returns, so that no copy, however
//! long it takes, pins the log, and memory does not grow with the store. Whether values are readable is judged anew for
//! each page: what was erased or has expired since the page before is not in it.
//!
//! It is no snapshot: what arrives or is erased between two pages is in the later one or not.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{AttachmentRow, Store, StoreError, receipts, rows};
use crate::domain::ids::{FormId, ReceiptId, SiteId};
use crate::domain::receipt::ReceiptState;
use crate::domain::submission::Contents;
use crate::domain::time::Timestamp;

/// Rows that a page looks at.
const ROWS: u32 = 2_000;
/// Bytes of values after which a page ends.
const BYTES: usize = 256 * 1024;

/// Which receipts; `None` does not restrict.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Of this site.
    pub site: Option<SiteId>,
    /// Of this form.
    pub form: Option<FormId>,
    /// Arrived at or after.
    pub since: Option<Timestamp>,
    /// Arrived before.
    pub until: Option<Timestamp>,
    /// No later receipt than this one.
    pub last: Option<ReceiptId>,
}

/// A receipt whose values are readable.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its id.
    pub id: ReceiptId,
    /// Its site.
    pub site: String,
    /// Its form.
    pub form: String,
    /// The page.
    pub page: Option<String>,
    /// The language.
    pub locale: String,
    /// The erase date fixed at arrival.
    pub erase_at: Timestamp,
    /// Judged spam.
    pub spam: bool,
    /// The values.
    pub contents: Contents,
    /// The files.
    pub attachments: Vec<AttachmentRow>,
}

/// Some receipts.
#[derive(Debug)]
pub struct KeptPage {
    /// In the order of arrival.
    pub receipts: Vec<Kept>,
    /// Where to go on; `None`: this was the last page.
    pub next: Option<ReceiptId>,
}

/// The rows of a page, judged one by one.
pub(super) const KEPT_SQL: &str = "
    SELECT id, site, form, page, locale, erase_at, spam, erased_at, erased_why
    FROM receipts
    WHERE id BETWEEN ?1 AND ?2
    ORDER BY id
    LIMIT ?3";

impl Store {
    /// The newest receipt, kept or not.
    pub fn newest(&self) -> Result<Option<ReceiptId>, StoreError> {
        let newest: Option<i64> =
            self.read(|db| Ok(db.query_row("SELECT max(id) FROM receipts", [], |r| r.get(0))?))?;
        newest.map(rows::receipt).transpose()
    }

    /// The receipts of `selection` that come after `after` and are readable at `now`: one page; blocking.
    pub fn kept(
        &self,
        selection: &Selection,
        after: Option<ReceiptId>,
        now: Timestamp,
    ) -> Result<KeptPage, StoreError> {
        let (low, high) = selection.range(after);
        self.read(|db| {
            let mut list = db.prepare_cached(KEPT_SQL)?;
            let mut found = list.query(params![low, high, ROWS])?;
            let mut page = KeptPage { receipts: Vec::new(), next: None };
            let (mut seen, mut bytes) = (0, 0);
            while let Some(row) = found.next()? {
                let id = rows::receipt(row.get(0)?)?;
                if selection.takes(row)? && is_kept(row, now)? {
                    let (kept, size) = self.kept_row(db, id, row)?;
                    page.receipts.push(kept);
                    bytes += size;
                }
                seen += 1;
                if seen == ROWS || bytes >= BYTES {
                    page.next = Some(id);
                    break;
                }
            }
            Ok(page)
        })
    }

    /// A row of [`KEPT_SQL`] with its values and files, and how large its values are.
    fn kept_row(&self, db: &Connection, id: ReceiptId, row: &Row<'_>) -> Result<(Kept, usize), StoreError> {
        let mut values = db.prepare_cached("SELECT fields FROM contents WHERE receipt = ?1")?;
        let fields: Option<String> = values.query_row([id.as_row()], |row| row.get(0)).optional()?;
        let fields = fields.ok_or_else(|| StoreError::Unknown(format!("receipt `{id}` without its values")))?;
        let kept = Kept {
            id,
            site: row.get(1)?,
            form: row.get(2)?,
            page: row.get(3)?,
            locale: row.get(4)?,
            erase_at: rows::moment(row, 5)?,
            spam: row.get(6)?,
            contents: rows::contents(&fields)?,
            attachments: receipts::attachments(db, id, &self.directory().attachments())?,
        };
        Ok((kept, fields.len()))
    }
}

impl Selection {
    /// The range of receipts that times, end and page leave.
    fn range(&self, after: Option<ReceiptId>) -> (i64, i64) {
        let since = self.since.map_or(0, |since| ReceiptId::new(since, 0).as_row());
        let until = self.until.map_or(i64::MAX, |until| ReceiptId::new(until, 0).as_row() - 1);
        let next = after.map_or(0, |after| after.as_row().saturating_add(1));
        (since.max(next), until.min(self.last.map_or(i64::MAX, ReceiptId::as_row)))
    }

    /// Whether a row of [`KEPT_SQL`] is of the site and form asked for.
    fn takes(&self, row: &Row<'_>) -> Result<bool, StoreError> {
        let is = |wanted: Option<&str>, column| -> Result<bool, StoreError> {
            Ok(match wanted {
                Some(wanted) => row.get_ref(column)?.as_str().is_ok_and(|found| found == wanted),
                None => true,
            })
        };
        Ok(is(self.site.as_ref().map(SiteId::as_str), 1)? && is(self.form.as_ref().map(FormId::as_str), 2)?)
    }
}

/// Whether the values of a row of [`KEPT_SQL`] are readable at `now`.
fn is_kept(row: &Row<'_>, now: Timestamp) -> Result<bool, StoreError> {
    let why: Option<String> = row.get(8)?;
    let state = rows::receipt_state(rows::moment(row, 5)?, row.get(7)?, why.as_deref(), now)?;
    Ok(matches!(state, ReceiptState::Kept { .. }))
}
