//! Watching the deliveries of a test until each was tried once.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::super::outcome::{CommandError, Exit, Kind};
use crate::clock::Clock;
use crate::delivery::{Deliverer, Step};
use crate::domain::ids::ReceiptId;
use crate::domain::time::Timestamp;
use crate::store::{DeliveryRow, ReceiptView, Store};

/// The pause between two looks at the database.
const PAUSE: Duration = Duration::from_millis(100);

/// The receipt as it stands.
pub fn view(store: &Store, receipt: ReceiptId, clock: &Clock) -> Result<ReceiptView, CommandError> {
    let missing = || CommandError::new(Kind::NotFound, format!("receipt `{receipt}` is gone"));
    store.show(receipt, clock.now())?.ok_or_else(missing)
}

/// Tells of each delivery once it was tried, or when the wait is over. Without a daemon that delivers, `deliverer`
/// makes the attempts, one a look.
pub fn until_tried(
    store: &Store,
    deliverer: Option<&Deliverer>,
    mut now: ReceiptView,
    wait: Duration,
    clock: &Clock,
    mut tell: impl FnMut(&DeliveryRow, Timestamp) -> Result<(), CommandError>,
) -> Result<Exit, CommandError> {
    let started = Instant::now();
    let mut told = BTreeSet::new();
    loop {
        let over = started.elapsed() >= wait;
        for row in now.row.deliveries.iter().filter(|row| over || was_tried(row)) {
            if told.insert(row.id) {
                tell(row, clock.now())?;
            }
        }
        let Some(next) = now.row.deliveries.iter().find(|row| !told.contains(&row.id)) else {
            return Ok(exit(&now.row.deliveries));
        };
        let step = deliverer.map_or(Ok(Step::Idle), |deliverer| deliverer.step_at(next.id))?;
        if step == Step::Idle {
            std::thread::sleep(PAUSE);
        }
        now = view(store, now.row.id, clock)?;
    }
}

/// Whether an attempt has ended, or none will be made.
fn was_tried(row: &DeliveryRow) -> bool {
    row.state != "pending"
}

/// The worst that waiting does not mend.
fn exit(rows: &[DeliveryRow]) -> Exit {
    let any = |states: &[&str]| rows.iter().any(|row| states.contains(&row.state));
    match (any(&["failed", "retrying"]), any(&["pending"])) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Pending,
        (false, false) => Exit::Done,
    }
}
