//! What a configuration makes of the deliveries that wait (contract 2.6, 10.2).
//!
//! | the destination is | what waits for it |
//! | --- | --- |
//! | active | goes on; what was held because its site's file was gone is released |
//! | of a disabled site | waits, shown as due, and is not claimed |
//! | of a site without a file | is held until the file is back |
//! | paused, removed, or its form removed; a confirmation switched off | ends as `destination_inactive` |
//!
//! [`apply`] runs at the daemon's start and after a reload, and [`super::worker`] asks the same table at each claim,
//! which covers what was being sent, or arrived, meanwhile. A changed destination is an active one: what waits keeps the
//! address, the template and the secret of its arrival. What ended is not begun again by itself when its destination
//! comes back; `formctl resend` does that.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::{Activity, Config};
use crate::domain::delivery::Hold;
use crate::domain::time::Timestamp;
use crate::store::{Fate, Moved, Queue, Store, StoreError, Waiters};

/// The fate of what waits for a destination.
pub(super) fn fate(activity: Activity) -> Fate {
    match activity {
        Activity::Active | Activity::SiteDisabled => Fate::Release(Hold::SiteGone),
        Activity::SiteGone => Fate::Hold(Hold::SiteGone),
        Activity::Inactive => Fate::End,
    }
}

/// The fate of a queue.
fn of(config: &Config, queue: &Queue) -> Fate {
    fate(config.activity(&queue.site, &queue.form, queue.channel, &queue.destination))
}

/// Brings what waits in line with a configuration; blocking. Without anything to move it only reads.
pub fn apply(store: &Store, config: &Arc<Config>, now: Timestamp) -> Result<Moved, StoreError> {
    let concerned = |waiters: &Waiters| of(config, &waiters.queue).event(waiters.held, now).is_some();
    if !store.waiters()?.iter().any(concerned) {
        return Ok(Moved::default());
    }
    let config = Arc::clone(config);
    store.move_waiting(move |queue| of(&config, queue), now)
}

/// What a configuration would move, for a question before it is in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// How many would end, by site and destination.
    pub ending: BTreeMap<(String, String), u64>,
    /// How many would be held, by the site that has no file.
    pub holding: BTreeMap<String, u64>,
}

/// What `config` would move of that which waits now; blocking, changes nothing.
pub fn preview(store: &Store, config: &Config) -> Result<Preview, StoreError> {
    let mut preview = Preview::default();
    for Waiters { queue, held, count } in store.waiters()? {
        match (of(config, &queue), held) {
            (Fate::End, _) => *preview.ending.entry((queue.site, queue.destination)).or_default() += count,
            (Fate::Hold(_), None) => *preview.holding.entry(queue.site).or_default() += count,
            (Fate::Hold(_), Some(_)) | (Fate::Release(_), _) => {}
        }
    }
    Ok(preview)
}
