//! Who waits without a complete head, so that at the cap the one that waits longest makes room.
//!
//! Slow clients can hold connections but not keep others out: whoever brings a whole head is no longer on the
//! roster and cannot be evicted; whoever does not is the first to go.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Context;

use futures_util::task::AtomicWaker;

/// The connections that wait, in the order in which they began to.
#[derive(Debug, Default)]
pub(super) struct Roster {
    /// By ticket: the lowest waits longest.
    waiting: Mutex<BTreeMap<u64, Arc<Signal>>>,
    /// The next ticket.
    next: AtomicU64,
}

/// How a connection is told to go.
#[derive(Debug, Default)]
struct Signal {
    /// Whether it was told.
    evicted: AtomicBool,
    /// Its task.
    waker: AtomicWaker,
}

/// One connection's place.
#[derive(Debug)]
pub(super) struct Seat {
    /// The roster.
    roster: Arc<Roster>,
    /// Its ticket while it waits.
    ticket: u64,
    /// How it is told.
    signal: Arc<Signal>,
}

/// Whether a connection may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// It may.
    Waiting,
    /// Its place was given to another.
    Evicted,
}

impl Roster {
    /// Tells the connection that waits longest to go. Nothing happens when none waits.
    pub(super) fn evict_one(&self) {
        // The flag is set under the lock: a connection that brings its head now either left before or sees the flag.
        let mut waiting = self.lock();
        if let Some((_, signal)) = waiting.pop_first() {
            signal.evicted.store(true, Ordering::Release);
            signal.waker.wake();
        }
    }

    /// The map; a panic elsewhere leaves it whole.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Signal>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Seats a new connection, waiting.
    pub(super) fn new(roster: &Arc<Roster>) -> Self {
        let mut seat = Self { roster: Arc::clone(roster), ticket: 0, signal: Arc::default() };
        seat.wait();
        seat
    }

    /// Waits (again), behind all others.
    pub(super) fn wait(&mut self) {
        self.ticket = self.roster.next.fetch_add(1, Ordering::Relaxed);
        self.roster.lock().insert(self.ticket, Arc::clone(&self.signal));
    }

    /// Waits no longer. Under the roster's lock, so that none is told to go after this said it may stay.
    pub(super) fn leave(&self) -> Presence {
        self.roster.lock().remove(&self.ticket);
        self.presence()
    }

    /// Whether it was told to go; wakes the task when it is.
    pub(super) fn poll_evicted(&self, cx: &Context<'_>) -> Presence {
        self.signal.waker.register(cx.waker());
        self.presence()
    }

    /// Whether it was told to go.
    fn presence(&self) -> Presence {
        if self.signal.evicted.load(Ordering::Acquire) { Presence::Evicted } else { Presence::Waiting }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.roster.lock().remove(&self.ticket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_that_waits_longest_goes_first_and_one_with_a_head_stays() {
        let roster = Arc::new(Roster::default());
        let (first, second, mut third) = (Seat::new(&roster), Seat::new(&roster), Seat::new(&roster));
        assert_eq!(first.leave(), Presence::Waiting);
        third.wait();
        roster.evict_one();
        assert_eq!([first.presence(), second.presence()], [Presence::Waiting, Presence::Evicted]);
        assert_eq!(second.leave(), Presence::Evicted);
        drop(third);
        roster.evict_one();
        assert_eq!(first.presence(), Presence::Waiting);
    }
}
