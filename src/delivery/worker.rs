//! Claim -> attempt -> settle, one step a function; and the threads that repeat it.

use crate::clock::Clock;
use crate::config::Current;
use crate::domain::delivery::Verdict;
use crate::domain::ids::DeliveryId;
use crate::store::{Store, StoreError};

/// Sends what is due.
#[derive(Debug)]
pub struct Deliverer {}

impl Deliverer {
    /// A deliverer over a store; it makes no thread and sends nothing yet.
    pub fn new(store: Store, current: Current, clock: Clock) -> Self {
        todo!()
    }

    /// Makes at most one attempt on this thread: for tests, `formctl deliver` and the threads of [`Deliverer::run`].
    pub fn step(&self) -> Result<Step, StoreError> {
        todo!()
    }

    /// Starts the threads and returns at once; they end when the handle is stopped.
    pub fn run(self) -> Result<Handle, StoreError> {
        todo!()
    }
}

/// Running delivery threads.
#[derive(Debug)]
pub struct Handle {}

impl Handle {
    /// Lets the sends under way finish (10 s at most each), gives unbegun claims back, ends the threads.
    pub fn stop(self) {
        todo!()
    }
}

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing was due.
    Idle,
    /// One attempt was made.
    Worked {
        /// Of this delivery.
        delivery: DeliveryId,
        /// With this verdict.
        verdict: Verdict,
    },
}
