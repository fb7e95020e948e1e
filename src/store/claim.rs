//! Claiming: which delivery is sent next, and the right to send it once.
//!
//! What is due stands in one partial index, ordered by site, destination and time. A claim walks it by hops, one
//! look-up a destination, never through the rows of a flood: site after site, beginning behind the one served last, and
//! within a site the destination that was served longest ago, one with no send under way first. So a flooded site cannot starve another, ten
//! destinations that hang cannot keep a site's places among themselves, and a destination at its cap is hopped over.
//!
//! The attempt is counted, and the delivery re-scheduled to the end of the claim, before anything is sent: a
//! crash at any point costs one attempt and five minutes, and can never make a hot loop.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::rows::StateColumns;
use super::{Store, StoreError, receipts, rows};
use crate::domain::delivery::{self, CLAIM, Event, State, Verdict};
use crate::domain::ids::DeliveryId;
use crate::domain::submission::Contents;
use crate::domain::target::Target;
use crate::domain::time::Timestamp;

/// What the deliverer is doing already, so that a claim keeps the turns and the caps.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// Sites that must not be served now (disabled, at their cap, or had their turn while others wait).
    pub skip_sites: Vec<String>,
    /// (site, destination) pairs that must not be served now.
    pub skip_destinations: Vec<(String, String)>,
    /// The site served last; the search begins behind it and wraps around.
    pub after_site: Option<String>,
    /// (site, destination) of each send under way: behind those that have none.
    pub seated: Vec<(String, String)>,
    /// When a send of each destination ended last.
    pub served: Arc<Served>,
}

/// When a send of each destination ended last, as a number that grows from end to end. What is not in it has never
/// been served.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// The last number given.
    count: u64,
    /// Site, destination, number.
    last: HashMap<String, HashMap<String, u64>>,
}

impl Served {
    /// Notes that a send has ended.
    pub fn note(&mut self, site: &str, destination: &str) {
        self.count += 1;
        self.last.entry(site.to_owned()).or_default().insert(destination.to_owned(), self.count);
    }

    /// How long ago that was: less is longer, 0 is never.
    pub fn rank(&self, site: &str, destination: &str) -> u64 {
        self.last.get(site).and_then(|last| last.get(destination)).copied().unwrap_or(0)
    }
}

/// A delivery that this process may send once, before `until`.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The delivery.
    pub id: DeliveryId,
    /// Settling needs it.
    pub token: i64,
    /// How many attempts were claimed, this one included.
    pub attempt: u32,
    /// Its site.
    pub site: String,
    /// Its form.
    pub form: String,
    /// Its destination.
    pub destination: String,
    /// Where it goes.
    pub target: Target,
    /// The page of the receipt.
    pub page: Option<String>,
    /// The language of the receipt.
    pub locale: String,
    /// When the submission arrived.
    pub received_at: Timestamp,
    /// The values.
    pub contents: Contents,
    /// The files.
    pub attachments: Vec<super::AttachmentRow>,
}

/// What a claim found.
#[derive(Debug)]
pub enum Claimed {
    /// Send this.
    Claim(Box<Claim>),
    /// Nothing is due now.
    Nothing,
}

/// When something is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At this moment (perhaps in the past).
    At(Timestamp),
    /// Nothing waits.
    Never,
}

impl Store {
    /// Takes the next due delivery in turn: counts the attempt, writes the token and the end of the claim
    /// (5 minutes), all before anything is sent. A delivery whose values are gone is ended as `values_gone` on
    /// the way and the search goes on. A claim whose time is over is taken over. `token` is random and not 0.
    pub fn claim(&self, turn: &Turn, token: i64, now: Timestamp) -> Result<Claimed, StoreError> {
        loop {
            let turn = turn.clone();
            let folder = self.directory().attachments();
            let searched = self.write(move |db, _| search(db, &turn, token, now, &folder))?;
            if let Some(claimed) = searched {
                return Ok(claimed);
            }
        }
    }

    /// Takes this delivery, in whoever's turn, when it is due and nobody else has it.
    pub fn claim_this(&self, id: DeliveryId, token: i64, now: Timestamp) -> Result<Claimed, StoreError> {
        let folder = self.directory().attachments();
        self.write(move |db, _| {
            let mut due =
                db.prepare_cached("SELECT 1 FROM deliveries WHERE receipt = ?1 AND n = ?2 AND due_at <= ?3")?;
            if !due.exists(params![id.receipt.as_row(), id.n, now.as_millis()])? {
                return Ok(Claimed::Nothing);
            }
            Ok(match take(db, id, token, now, &folder)? {
                Taken::Claim(claim) => Claimed::Claim(claim),
                Taken::Ended => Claimed::Nothing,
            })
        })
    }

    /// When the next delivery of a site outside `skip_sites` is due.
    pub fn next_due(&self, skip_sites: &[String]) -> Result<Due, StoreError> {
        self.read(|db| {
            let mut earliest: Option<i64> = None;
            let mut cursor = Cursor::start();
            while let Some(queue) = cursor.hop(db)? {
                if skip_sites.contains(&queue.site) {
                    cursor.leave_site();
                } else {
                    earliest = Some(earliest.map_or(queue.due_at, |at| at.min(queue.due_at)));
                }
            }
            Ok(earliest.map_or(Due::Never, |at| Due::At(Timestamp::from_millis(at))))
        })
    }
}

/// Deliveries that one transaction ends on the way: after a long stop there may be thousands.
const ENDS: u32 = 100;

/// Searches for a delivery that can be sent; `None` when the search has ended its share and must go on.
fn search(
    db: &Connection,
    turn: &Turn,
    token: i64,
    now: Timestamp,
    folder: &std::path::Path,
) -> Result<Option<Claimed>, StoreError> {
    for _ in 0..ENDS {
        let Some(id) = next_in_turn(db, turn, now)? else { return Ok(Some(Claimed::Nothing)) };
        match take(db, id, token, now, folder)? {
            Taken::Claim(claim) => return Ok(Some(Claimed::Claim(claim))),
            Taken::Ended => {}
        }
    }
    Ok(None)
}

/// A destination for which something waits.
#[derive(Clone, Debug)]
struct Queue {
    /// Its site.
    site: String,
    /// The destination.
    destination: String,
    /// When its first delivery is due, and which one that is.
    due_at: i64,
    /// The receipt's row.
    receipt: i64,
    /// The delivery's number.
    n: u8,
}

impl Turn {
    /// Within a site the least has its turn.
    fn rank(&self, queue: &Queue) -> (usize, u64, i64) {
        let sends = self.seated.iter().filter(|(site, d)| *site == queue.site && *d == queue.destination).count();
        (sends, self.served.rank(&queue.site, &queue.destination), queue.due_at)
    }
}

/// A place in the index of what is due: everything up to (site, destination) is behind it.
#[derive(Clone, Debug)]
struct Cursor {
    /// The site.
    site: String,
    /// The destination.
    destination: String,
}

/// Sorts behind every destination: an id is ASCII.
const BEHIND: &str = "\u{10ffff}";

/// The first delivery of the next destination.
pub(super) const HOP_SQL: &str = "
    SELECT site, destination, due_at, receipt, n
    FROM deliveries INDEXED BY deliveries_due
    WHERE due_at IS NOT NULL AND (site, destination) > (?1, ?2)
    ORDER BY site, destination, due_at
    LIMIT 1";

impl Cursor {
    /// Before everything.
    fn start() -> Self {
        Self { site: String::new(), destination: String::new() }
    }

    /// Behind a site.
    fn behind(site: &str) -> Self {
        Self { site: site.to_owned(), destination: BEHIND.to_owned() }
    }

    /// The next destination for which something waits; the cursor stands behind it then.
    fn hop(&mut self, db: &Connection) -> Result<Option<Queue>, StoreError> {
        let queue = db
            .prepare_cached(HOP_SQL)?
            .query_row((&self.site, &self.destination), |row| {
                Ok(Queue {
                    site: row.get(0)?,
                    destination: row.get(1)?,
                    due_at: row.get(2)?,
                    receipt: row.get(3)?,
                    n: row.get(4)?,
                })
            })
            .optional()?;
        if let Some(queue) = &queue {
            self.site.clone_from(&queue.site);
            self.destination = rows::just_behind(&queue.destination);
        }
        Ok(queue)
    }

    /// Leaves the rest of the site it stands in.
    fn leave_site(&mut self) {
        BEHIND.clone_into(&mut self.destination);
    }
}

/// The delivery whose turn it is.
fn next_in_turn(db: &Connection, turn: &Turn, now: Timestamp) -> Result<Option<DeliveryId>, StoreError> {
    let after = turn.after_site.as_deref().unwrap_or_default();
    if let Some(found) = first_site(db, turn, Cursor::behind(after), None, now)? {
        return Ok(Some(found));
    }
    // Around to the beginning, up to and with the site that was served last.
    first_site(db, turn, Cursor::start(), Some(after), now)
}

/// Of the first site behind `cursor` (and not behind `last`) that has something due and may be served: the first
/// delivery of the destination that has the fewest sends under way, and of those the one that was served longest ago; of
/// those never served, the one that has waited longest.
fn first_site(
    db: &Connection,
    turn: &Turn,
    mut cursor: Cursor,
    last: Option<&str>,
    now: Timestamp,
) -> Result<Option<DeliveryId>, StoreError> {
    let mut best: Option<Queue> = None;
    while let Some(queue) = cursor.hop(db)? {
        let past_end = last.is_some_and(|last| queue.site.as_str() > last);
        if past_end || best.as_ref().is_some_and(|best| best.site != queue.site) {
            break;
        }
        if turn.skip_sites.contains(&queue.site) {
            cursor.leave_site();
            continue;
        }
        let capped = turn.skip_destinations.iter().any(|(s, d)| *s == queue.site && *d == queue.destination);
        let better = best.as_ref().is_none_or(|best| turn.rank(&queue) < turn.rank(best));
        if queue.due_at <= now.as_millis() && !capped && better {
            best = Some(queue);
        }
    }
    best.map(|queue| rows::delivery(queue.receipt, queue.n)).transpose()
}

/// What became of a delivery whose turn it was.
enum Taken {
    /// It is ours.
    Claim(Box<Claim>),
    /// It has ended without an attempt.
    Ended,
}

/// Everything a claim needs to know of a delivery.
pub(super) const TAKE_SQL: &str = "
    SELECT d.state, d.reason, d.due_at, d.held, d.attempts, d.site, r.form, d.destination, r.page, r.locale,
           r.erased_at IS NULL AND r.erase_at > ?3, c.fields, c.targets
    FROM deliveries AS d
    JOIN receipts AS r ON r.id = d.receipt
    LEFT JOIN contents AS c ON c.receipt = d.receipt
    WHERE d.receipt = ?1 AND d.n = ?2";

/// Claims a delivery, or ends it when its values are gone or cannot be read by this version: one row that cannot
/// be sent must not hold up those behind it.
fn take(
    db: &Connection,
    id: DeliveryId,
    token: i64,
    now: Timestamp,
    folder: &std::path::Path,
) -> Result<Taken, StoreError> {
    let mut find = db.prepare_cached(TAKE_SQL)?;
    let mut found = find.query(params![id.receipt.as_row(), id.n, now.as_millis()])?;
    let row = found.next()?.ok_or_else(|| StoreError::Unknown(format!("delivery `{id}`")))?;
    let state = rows::state(row, 0)?;
    let attempt = row.get::<_, u32>(4)?.saturating_add(1);
    let readable: bool = row.get(10)?;
    let (fields, targets): (Option<String>, Option<String>) = (row.get(11)?, row.get(12)?);
    let (true, Some(fields), Some(targets)) = (readable, fields, targets) else {
        tracing::info!(event = "delivery_ended", delivery = %id, reason = "values_gone", "its values are gone; it is not sent");
        return end(db, id, state, Event::ValuesGone, None);
    };
    let Ok((contents, target)) = read(id, &fields, &targets) else {
        tracing::error!(event = "delivery_failed", delivery = %id, reason = "refused", "its stored values cannot be read by this version of formd; it is not sent");
        let refused = Event::Attempted { verdict: Verdict::Refused, attempt, allowed: attempt, now, chance: 0.0 };
        return end(db, id, state, refused, Some("its stored values cannot be read by this version of formd"));
    };
    db.prepare_cached("UPDATE deliveries SET attempts = ?3, claim = ?4, due_at = ?5 WHERE receipt = ?1 AND n = ?2")?
        .execute(params![id.receipt.as_row(), id.n, attempt, token, now.plus(CLAIM).as_millis()])?;
    Ok(Taken::Claim(Box::new(Claim {
        id,
        token,
        attempt,
        site: row.get(5)?,
        form: row.get(6)?,
        destination: row.get(7)?,
        target,
        page: row.get(8)?,
        locale: row.get(9)?,
        received_at: id.receipt.arrived_at(),
        contents,
        attachments: receipts::attachments(db, id.receipt, folder)?,
    })))
}

/// The values and the target of a delivery.
fn read(id: DeliveryId, fields: &str, targets: &str) -> Result<(Contents, Target), StoreError> {
    let targets = rows::targets(targets)?;
    Ok((rows::contents(fields)?, rows::target(&targets, id.n)?.clone()))
}

/// Ends a delivery that is not sent.
fn end(db: &Connection, id: DeliveryId, state: State, event: Event, note: Option<&str>) -> Result<Taken, StoreError> {
    let ended = delivery::next(state, event).map_err(|_| StoreError::Unknown(format!("state of delivery `{id}`")))?;
    let columns = StateColumns::from(ended);
    db.prepare_cached(
        "UPDATE deliveries SET state = ?3, reason = ?4, due_at = ?5, held = ?6, claim = NULL, note = ?7
         WHERE receipt = ?1 AND n = ?2",
    )?
    .execute(params![
        id.receipt.as_row(),
        id.n,
        columns.state,
        columns.reason,
        columns.due_at,
        columns.held,
        note
    ])?;
    Ok(Taken::Ended)
}
