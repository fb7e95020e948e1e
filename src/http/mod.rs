//! How formd is reached over HTTP. Which bytes are trusted, and from where on:
//!
//! * Nothing of a request is seen by the HTTP library before [`head`] has checked its raw head.
//! * The peer's address is the kernel's word; a header about it counts only from a trusted proxy ([`client_ip`]).
//! * `Origin` is a browser's word about the page behind the request ([`cors`]); other clients may write anything.
//! * A body is bounded in bytes, time, parts and memory while it arrives ([`body`], [`budget`]); its texts become a
//!   draft, which only validation turns into a submission.
//! * What a visitor wrote comes back to a page only through the escaping of [`crate::pages`], and never to a log.
//!
//! The way of a request: [`listener`] -> [`head`] -> [`server`] -> [`route`] -> [`submit`] -> [`answer`].
//!
//! What a crash leaves: `.part` files of bodies that were arriving, which the next start removes. An answer is written
//! only after what it says is durable.

mod answer;
mod body;
mod budget;
mod client_ip;
mod cors;
#[cfg(test)]
mod fixture;
mod head;
mod listener;
mod rate;
mod roster;
mod route;
mod server;
mod submit;

pub use body::probe;
pub use listener::Listener;

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::clock::Clock;
use crate::config::Current;
use crate::pages::{PageError, Pages};
use crate::store::{Store, Throttle};

/// Value bytes that all requests together may hold in memory.
const VALUE_BYTES: usize = 16 * 1024 * 1024;

/// What every request needs. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Inner>);

/// What the clones share.
#[derive(Debug)]
struct Inner {
    /// What is kept.
    store: Store,
    /// What is declared.
    current: Current,
    /// Time and chance.
    clock: Clock,
    /// The rate limiter.
    throttle: Throttle,
    /// The page templates.
    pages: Pages,
    /// Submissions between *body complete* and the answer.
    in_flight: Arc<Semaphore>,
    /// Bytes of values in memory.
    values: Arc<Semaphore>,
}

impl Shared {
    /// Brings together what requests need. `[limits] in_flight` is taken once: it changes at a restart.
    pub fn new(store: Store, current: Current, clock: Clock, throttle: Throttle) -> Result<Self, PageError> {
        let in_flight = usize::try_from(current.get().daemon.bounds.in_flight).unwrap_or(Semaphore::MAX_PERMITS);
        Ok(Self(Arc::new(Inner {
            store,
            current,
            clock,
            throttle,
            pages: Pages::new()?,
            in_flight: Arc::new(Semaphore::new(in_flight.clamp(1, Semaphore::MAX_PERMITS))),
            values: Arc::new(Semaphore::new(VALUE_BYTES)),
        })))
    }
}

/// Serves until `stop` turns true; then finishes what is in flight, 30 s at most.
pub async fn serve(listener: Listener, shared: Shared, stop: watch::Receiver<bool>) {
    server::run(listener, shared, stop).await;
}

#[cfg(test)]
mod tests;
