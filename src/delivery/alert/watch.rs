//! The thread that tells the operator. It looks at once when a delivery has failed, and every minute, so that what
//! waits for its time is told when that has come. It shares nothing with the sends but the store: whoever receives
//! alerts may hang without holding up a delivery.
//!
//! It ends when it is told to, after the message under way (10 s at most). A look that panics or that the store fails is
//! logged and made again a minute later.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::super::worker::Inner;

/// From one look to the next.
const LOOK: Duration = Duration::from_mins(1);

/// Wakes the thread. A ring that comes while it is at work is kept.
#[derive(Debug, Default)]
pub struct Bell {
    /// What was told.
    told: Mutex<Told>,
    /// Rung when that changes.
    changed: Condvar,
}

/// What the thread is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Told {
    /// To sleep.
    #[default]
    Nothing,
    /// That a delivery has failed.
    Look,
    /// To end.
    End,
}

impl Bell {
    /// A delivery has failed.
    pub fn ring(&self) {
        self.tell(Told::Look);
    }

    /// The end has come.
    pub fn end(&self) {
        self.tell(Told::End);
    }

    /// Tells, unless the end was told.
    fn tell(&self, what: Told) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if *told != Told::End {
            *told = what;
        }
        self.changed.notify_all();
    }

    /// Waits until something is told, `most` at most; what was told is taken, the end stays.
    fn wait(&self, most: Duration) -> Told {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(told, most, |told| *told == Told::Nothing);
        let (mut told, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let heard = *told;
        if heard == Told::Look {
            *told = Told::Nothing;
        }
        heard
    }
}

/// Starts the thread.
pub fn start(inner: Arc<Inner>, stack: usize) -> io::Result<JoinHandle<()>> {
    Builder::new().name("alert".into()).stack_size(stack).spawn(move || {
        // The first look at once: what the last run left waits for nothing.
        let mut pause = Duration::ZERO;
        while inner.bell.wait(pause) != Told::End {
            pause = LOOK;
            if inner.current.get().daemon.delivery.enabled {
                look(&inner);
            }
        }
    })
}

/// Looks once, whatever happens.
fn look(inner: &Inner) {
    match catch_unwind(AssertUnwindSafe(|| inner.alert())) {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => {
            tracing::error!(event = "alert_failed", %error, "the store failed; looked again in a minute");
        }
        Err(_) => tracing::error!(event = "alert_failed", "looking for failures panicked; looked again in a minute"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_kept_until_it_is_heard_once_and_the_end_for_ever() {
        let bell = Bell::default();
        assert_eq!(bell.wait(Duration::ZERO), Told::Nothing);
        bell.ring();
        bell.ring();
        assert_eq!(bell.wait(LOOK), Told::Look);
        assert_eq!(bell.wait(Duration::ZERO), Told::Nothing);
        bell.end();
        bell.ring();
        assert_eq!([bell.wait(LOOK), bell.wait(LOOK)], [Told::End, Told::End]);
    }
}
