//! The only place that asks the system for the time or for random bytes.
//!
//! One reading a request and one a worker's turn; from there on `now` is an argument. Layers 0 to 2 cannot
//! import this module, so nothing in them depends on when it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::domain::steady::Reading;
use crate::domain::time::{Span, Timestamp};

/// Where moments come from.
#[derive(Clone, Debug)]
pub struct Clock(Source);

/// The two kinds of clock.
#[derive(Clone, Debug)]
enum Source {
    /// The system's.
    System,
    /// One that a test moves by hand.
    Stepped(Arc<Hands>),
}

/// Where a stepped clock stands, in milliseconds.
#[derive(Debug)]
struct Hands {
    /// The time of day.
    wall: AtomicI64,
    /// The time since boot.
    steady: AtomicI64,
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands at `start` until it is stepped: for tests.
    pub fn stepped(start: Timestamp) -> Self {
        let (wall, steady) = (AtomicI64::new(start.as_millis()), AtomicI64::new(0));
        Self(Source::Stepped(Arc::new(Hands { wall, steady })))
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::System => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
            }
            Source::Stepped(hands) => Timestamp::from_millis(hands.wall.load(Ordering::SeqCst)),
        }
    }

    /// The time of day and the time since boot, which nobody can set and which counts while the machine sleeps.
    pub fn reading(&self) -> Reading {
        let steady = match &self.0 {
            Source::System => {
                let since = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
                Span::from_secs(since.tv_sec)
            }
            Source::Stepped(hands) => Span::from_millis(hands.steady.load(Ordering::SeqCst)),
        };
        Reading { wall: self.now(), steady }
    }

    /// Lets time pass on a stepped clock; the system's clock does not move for anyone.
    pub fn step(&self, span: Span) {
        if let Source::Stepped(hands) = &self.0 {
            hands.steady.fetch_add(span.as_millis(), Ordering::SeqCst);
        }
        self.jump(span);
    }

    /// Sets the time of day of a stepped clock ahead, while no time passes.
    pub fn jump(&self, span: Span) {
        if let Source::Stepped(hands) = &self.0 {
            hands.wall.fetch_add(span.as_millis(), Ordering::SeqCst);
        }
    }

    /// Fresh random bytes from the kernel.
    ///
    /// # Panics
    ///
    /// When the kernel gives none: there is no safe way on from there, and on Linux it does not happen after boot.
    #[expect(clippy::expect_used, reason = "without randomness no receipt, key or claim may be made")]
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        getrandom::fill(&mut bytes).expect("the kernel gives random bytes");
        bytes
    }

    /// A random number.
    pub fn random_u64(&self) -> u64 {
        u64::from_le_bytes(self.random())
    }

    /// A random number in 0..1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a double")]
    pub fn chance(&self) -> f64 {
        (self.random_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}
