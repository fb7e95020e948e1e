//! Lists of receipts, latest first.
//!
//! A receipt's number begins with its moment of arrival, so the order is the table's own, and times, prefixes and
//! pages are one range of numbers: no index is needed. The other filters are judged row by row within that range; the
//! most telling of them chooses the rows to be judged, so that a list costs what it shows:
//!
//! | filter | rows come from |
//! | --- | --- |
//! | state `failed`, `pending`, `retrying` | the small indexes of what stopped and what waits |
//! | spam | the index of spam |
//! | site, form | the latest of each form that is meant, merged, in pages |
//! | none, or state `delivered` | the table: nearly every row is one |
//!
//! Two filters that are rare together cost what the first of them leaves: `--site quiet --state failed` walks the failures.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{DeliveryRow, ListFilter, ReceiptRow, Store, StoreError, apart, receipts, rows};
use crate::domain::delivery::{Reason, State, Waiting};
use crate::domain::ids::{FormId, ReceiptId, SiteId};
use crate::domain::receipt::ReceiptState;
use crate::domain::target::Target;
use crate::domain::time::Timestamp;

/// The columns of a receipt, and the filters; `NULL` does not restrict.
pub(super) const LIST_SQL: &str = "
    SELECT id, site, form, page, locale, erase_at, erased_at, erased_why, spam
    FROM receipts
    WHERE id BETWEEN ?1 AND ?2
      AND (?3 IS NULL OR site = ?3)
      AND (?4 IS NULL OR form = ?4)
      AND (?5 IS NULL OR EXISTS (SELECT 1 FROM deliveries AS d WHERE d.receipt = receipts.id AND d.state = ?5))
      AND (?6 = 0 OR spam = 1)
    ORDER BY id DESC
    LIMIT ?7";

/// Receipts whose time is over and which no sweep has erased yet. The `+` has them found by that, not by their number.
pub(super) const OVERDUE_SQL: &str = "
    SELECT id
    FROM receipts
    WHERE erased_at IS NULL AND erase_at <= ?1
      AND +id BETWEEN ?2 AND ?3
      AND (?4 IS NULL OR site = ?4)
      AND (?5 IS NULL OR form = ?5)
    ORDER BY erase_at";

impl Store {
    /// The receipts of the filter's times, site and form that nobody can read any more, and whose values are still on
    /// the disk: the next sweep erases them.
    pub fn overdue(&self, filter: &ListFilter, now: Timestamp) -> Result<Vec<ReceiptId>, StoreError> {
        self.read(|db| {
            let Some((low, high)) = range(db, filter, None)? else { return Ok(Vec::new()) };
            let site = filter.site.as_ref().map(SiteId::as_str);
            let form = filter.form.as_ref().map(FormId::as_str);
            let mut due = db.prepare_cached(OVERDUE_SQL)?;
            let mut found = due.query(params![now.as_millis(), low, high, site, form])?;
            let mut ids = Vec::new();
            while let Some(row) = found.next()? {
                ids.push(rows::receipt(row.get(0)?)?);
            }
            Ok(ids)
        })
    }

    /// Up to `limit` receipts, latest first, older than `before` where given (for paging).
    pub fn list(
        &self,
        filter: &ListFilter,
        before: Option<ReceiptId>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<ReceiptRow>, StoreError> {
        self.read(|db| {
            let Some(range) = range(db, filter, before)? else { return Ok(Vec::new()) };
            let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
            let mut receipts = Vec::new();
            match Source::of(filter) {
                Source::Table => judge(db, filter, range, limit, now, &mut receipts)?,
                Source::Forms => {
                    let (low, mut high) = range;
                    while receipts.len() < wanted {
                        let ids = latest_of_forms(db, filter, (low, high), limit)?;
                        for &id in &ids {
                            judge(db, filter, (id, id), 1, now, &mut receipts)?;
                        }
                        let Some(last) = ids.last().filter(|_| ids.len() == wanted) else { break };
                        high = last - 1;
                    }
                    receipts.truncate(wanted);
                }
                Source::Index(sql) => {
                    let mut walk = db.prepare_cached(sql)?;
                    let mut found = walk.query(range)?;
                    let mut last = None;
                    while receipts.len() < wanted
                        && let Some(row) = found.next()?
                    {
                        let id: i64 = row.get(0)?;
                        // Several deliveries of a receipt stand side by side.
                        if last.replace(id) != Some(id) {
                            judge(db, filter, (id, id), 1, now, &mut receipts)?;
                        }
                    }
                }
            }
            Ok(receipts)
        })
    }
}

/// Where the rows come from that are judged.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// The table.
    Table,
    /// The latest of each form that is meant.
    Forms,
    /// A question for numbers in a range, latest first.
    Index(&'static str),
}

impl Source {
    /// The source that leaves the least.
    fn of(filter: &ListFilter) -> Self {
        match filter.state {
            Some("failed") => Self::Index(STOPPED_SQL),
            Some("pending" | "retrying") => Self::Index(WAITING_SQL),
            _ if filter.spam => Self::Index(SPAM_SQL),
            _ if filter.site.is_some() || filter.form.is_some() => Self::Forms,
            _ => Self::Table,
        }
    }
}

/// What stopped.
pub(super) const STOPPED_SQL: &str = "
    SELECT receipt
    FROM deliveries INDEXED BY deliveries_stopped
    WHERE state = 'failed' AND receipt BETWEEN ?1 AND ?2
    ORDER BY receipt DESC";

/// What waits.
pub(super) const WAITING_SQL: &str = "
    SELECT receipt
    FROM deliveries INDEXED BY deliveries_waiting
    WHERE state IN ('pending', 'retrying') AND receipt BETWEEN ?1 AND ?2
    ORDER BY receipt DESC";

/// What was judged spam.
pub(super) const SPAM_SQL: &str = "
    SELECT id
    FROM receipts INDEXED BY receipts_spam
    WHERE spam = 1 AND id BETWEEN ?1 AND ?2
    ORDER BY id DESC";

/// The form behind (site, form): a hop over all its receipts.
pub(super) const FORMS_SQL: &str = "
    SELECT site, form
    FROM receipts INDEXED BY receipts_form
    WHERE (site, form) > (?1, ?2)
    ORDER BY site, form
    LIMIT 1";

/// The latest of a form.
pub(super) const FORM_SQL: &str = "
    SELECT id
    FROM receipts INDEXED BY receipts_form
    WHERE site = ?1 AND form = ?2 AND id BETWEEN ?3 AND ?4
    ORDER BY id DESC
    LIMIT ?5";

/// The latest of all forms that are meant.
fn latest_of_forms(
    db: &Connection,
    filter: &ListFilter,
    (low, high): (i64, i64),
    limit: u32,
) -> Result<Vec<i64>, StoreError> {
    let (only_site, only_form) = (filter.site.as_ref().map(SiteId::as_str), filter.form.as_ref().map(FormId::as_str));
    let mut next_form = db.prepare_cached(FORMS_SQL)?;
    let mut latest = db.prepare_cached(FORM_SQL)?;
    let mut ids = Vec::new();
    let mut at = (only_site.unwrap_or_default().to_owned(), String::new());
    loop {
        let next =
            next_form.query_row((&at.0, rows::just_behind(&at.1)), |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        match next {
            Some(next) => at = next,
            None => break,
        }
        let (site, form) = (at.0.as_str(), at.1.as_str());
        if only_site.is_some_and(|only| only != site) {
            break;
        }
        if only_form.is_none_or(|only| only == form) {
            let found = latest.query_map(params![site, form, low, high, limit], |row| row.get::<_, i64>(0))?;
            for id in found {
                ids.push(id?);
            }
        }
    }
    ids.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
    ids.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(ids)
}

/// Adds those receipts of a range that the filter takes.
fn judge(
    db: &Connection,
    filter: &ListFilter,
    (low, high): (i64, i64),
    limit: u32,
    now: Timestamp,
    receipts: &mut Vec<ReceiptRow>,
) -> Result<(), StoreError> {
    let site = filter.site.as_ref().map(SiteId::as_str);
    let form = filter.form.as_ref().map(FormId::as_str);
    let mut list = db.prepare_cached(LIST_SQL)?;
    let mut found = list.query(params![low, high, site, form, filter.state, filter.spam, limit])?;
    while let Some(row) = found.next()? {
        receipts.push(receipt_row(db, row, now)?);
    }
    Ok(())
}

/// One receipt.
pub(super) fn one(db: &Connection, id: ReceiptId, now: Timestamp) -> Result<Option<ReceiptRow>, StoreError> {
    let mut list = db.prepare_cached(LIST_SQL)?;
    let none: Option<&str> = None;
    let mut found = list.query(params![id.as_row(), id.as_row(), none, none, none, false, 1])?;
    found.next()?.map(|row| receipt_row(db, row, now)).transpose()
}

/// The range of numbers that prefix, times, page and key leave; `None` when nothing can be in it.
fn range(db: &Connection, filter: &ListFilter, before: Option<ReceiptId>) -> Result<Option<(i64, i64)>, StoreError> {
    let mut low = filter.since.map_or(0, |since| ReceiptId::new(since, 0).as_row());
    let mut high = i64::MAX;
    for end in [filter.until.map(|until| ReceiptId::new(until, 0)), before].into_iter().flatten() {
        high = high.min(end.as_row() - 1);
    }
    if let Some(prefix) = filter.prefix {
        low = low.max(prefix.low());
        high = high.min(prefix.high());
    }
    if let Some(key) = filter.key_hash {
        let id: Option<i64> = db.prepare_cached(receipts::KEY_SQL)?.query_row([key.0], |row| row.get(0)).optional()?;
        let Some(id) = id else { return Ok(None) };
        low = low.max(id);
        high = high.min(id);
    }
    Ok((low <= high).then_some((low, high)))
}

/// A row of [`LIST_SQL`] with its deliveries.
fn receipt_row(db: &Connection, row: &Row<'_>, now: Timestamp) -> Result<ReceiptRow, StoreError> {
    let id = rows::receipt(row.get(0)?)?;
    let erase_at = rows::moment(row, 5)?;
    let why: Option<String> = row.get(7)?;
    let state = rows::receipt_state(erase_at, row.get(6)?, why.as_deref(), now)?;
    Ok(ReceiptRow {
        id,
        site: row.get(1)?,
        form: row.get(2)?,
        page: row.get(3)?,
        locale: row.get(4)?,
        erase_at,
        state,
        spam: row.get(8)?,
        deliveries: deliveries(db, id, state, now)?,
    })
}

/// The deliveries of a receipt in order.
pub(super) const DELIVERIES_SQL: &str = "
    SELECT n, destination, channel, state, reason, due_at, held, attempts, claim IS NOT NULL, note, acked
    FROM deliveries
    WHERE receipt = ?1
    ORDER BY n";

/// The deliveries of a receipt in order; targets and notes only while the values are readable.
fn deliveries(
    db: &Connection,
    id: ReceiptId,
    receipt: ReceiptState,
    now: Timestamp,
) -> Result<Vec<DeliveryRow>, StoreError> {
    let kept = matches!(receipt, ReceiptState::Kept { .. });
    let targets = if kept { targets(db, id)? } else { Vec::new() };
    let mut list = db.prepare_cached(DELIVERIES_SQL)?;
    let mut found = list.query([id.as_row()])?;
    let mut deliveries = Vec::new();
    while let Some(row) = found.next()? {
        let n: u8 = row.get(0)?;
        let channel: String = row.get(2)?;
        let state = rows::state(row, 3)?;
        let (waiting, reason): (Option<Waiting>, Option<Reason>) = match state {
            State::Pending(waiting) | State::Retrying(waiting) => (Some(waiting), None),
            State::Failed(reason) => (None, Some(reason)),
            State::Delivered => (None, None),
        };
        let next_attempt_at = match waiting {
            Some(Waiting::Due(at)) => Some(at),
            Some(Waiting::Held(_)) | None => None,
        };
        let held = match waiting {
            Some(Waiting::Held(why)) => Some(why),
            Some(Waiting::Due(_)) | None => None,
        };
        deliveries.push(DeliveryRow {
            id: rows::delivery(id.as_row(), n)?,
            channel: rows::channel(&channel)?,
            destination: row.get(1)?,
            target: rows::target(&targets, n).ok().map(Target::shown),
            state: state.word(),
            attempts: row.get(7)?,
            next_attempt_at,
            reason,
            held,
            sending: row.get(8)? && next_attempt_at.is_some_and(|until| until > now),
            note: row.get::<_, Option<String>>(9)?.filter(|_| kept).map(apart::brought_back),
            acked: row.get(10)?,
        });
    }
    Ok(deliveries)
}

/// The targets of a receipt; none when they are erased, or of a version that this program cannot read: a list is
/// no place to fail for that.
fn targets(db: &Connection, id: ReceiptId) -> Result<Vec<Target>, StoreError> {
    let text: Option<String> = db
        .prepare_cached("SELECT targets FROM contents WHERE receipt = ?1")?
        .query_row([id.as_row()], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| rows::targets(&text).ok()).unwrap_or_default())
}
