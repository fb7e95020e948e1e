//! What is sent, and how: at least once.
//!
//! ```text
//! store.claim    counted, token and deadline written      a crash from here on: due again after 5 minutes
//! store.confirm  still ours, values still readable?       else nothing is sent
//! attempt        mail or webhook, one time limit          the peer may have it from here on
//! domain::next   what the verdict makes of it             pure
//! store.settle   written only while the token is ours     a late answer changes nothing
//! ```
//!
//! **The attempt is counted before the call.** A delivery that kills the process (a panic that gets away, a full
//! memory) uses up its attempts and the waits between them; it can never become a loop of restarts. The price is
//! an attempt that was counted and perhaps never made; it ends nothing, only a verdict does.
//!
//! **Never lost, perhaps twice.** Between the peer's acceptance and our settling lies a gap that no order of
//! steps closes: the peer cannot take part in our transaction. A crash in the gap sends again after the claim
//! has run out. So whoever receives must be able to tell: a delivery keeps one receipt, one `Message-ID`, one
//! `Date` and, for a webhook, one `X-Formd-Delivery` and one body, byte for byte, over all attempts and resends. They
//! are made of the delivery's own id and of what was stored at acceptance, never of the clock; the moment of an attempt
//! goes into nothing but `webhook-timestamp` and what signs it.
//!
//! **What fails how.** A peer that refuses, hangs, drips or talks nonsense costs one attempt and at most the
//! attempt's time; a panic in the making or sending of a message costs one attempt (`internal error`), logged
//! once. A store that fails stops new sends and is asked again every second. Nothing here ends the daemon.
//!
//! **Turns.** One site is served, then the next one that waits, one delivery each; at most 32 sends at once, `[delivery]
//! workers` (8) for a site, 2 for a destination, one mail with attachments for all (memory). Within a site a
//! destination with no send under way goes first, and of those the one that was served longest ago, so that one that
//! hangs stands behind one that is well. What has no turn is not claimed, or given back uncounted, so it holds no
//! thread.
//!
//! **Destinations come and go.** What waits for one that was paused or removed ends, what waits for a site without a
//! file is held: [`lifecycle`], at the start, after a reload, and at each claim.
//!
//! Deliberately not done: several messages over one connection, ordering between deliveries, sending what a
//! visitor asks for (targets are the operator's, fixed at acceptance; a confirmation says the operator's words, and to
//! nobody without consent), judging a bounce that comes later by mail.

mod alert;
mod attempt;
mod board;
mod chat;
mod confirmation_text;
mod echo;
pub mod lifecycle;
mod mail;
mod mail_parts;
mod mail_text;
mod note;
mod smtp;
mod threads;
mod webhook;
mod worker;

#[cfg(test)]
mod sample;

pub use alert::Alerted;
pub use threads::Handle;
pub use worker::{Deliverer, Standing, Step};

use std::time::Duration;

/// One attempt in all (contract 10.5); a mail with attachments may take longer, see [`mail`].
const LIMIT: Duration = Duration::from_secs(10);
