//! One submission on its way to one destination: the states, what can happen, and what comes of it.
//!
//! ```text
//!            attempt failed for now            attempt accepted
//! pending ---------------------------> retrying ---------------> delivered
//!    |  \________________________________/   |
//!    |        attempt accepted               | refused, attempts used up,
//!    |                                       | destination inactive, values gone
//!    +------------> failed <-----------------+
//!                     |  resend: back to pending, attempts 0
//!                     |  values gone while it was sent, and accepted: delivered
//! ```
//!
//! What waits is due at a moment, or held: shown, not sent, until it is released.
//!
//! An attempt is counted when it is claimed, before the call, so that no crash can make a hot loop. An
//! attempt that a crash interrupted is counted but ends nothing: only a verdict does.

use super::backoff;
use super::time::{Span, Timestamp};

/// How long a claim holds a delivery; fixed by contract.
pub const CLAIM: Span = Span::from_minutes(5);

/// The way a delivery takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// To an operator's mailbox.
    Email,
    /// To an operator's program.
    Webhook,
    /// To the visitor.
    Confirmation,
}

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Waits for its first attempt.
    Pending(Waiting),
    /// The last attempt failed for now.
    Retrying(Waiting),
    /// The peer took it.
    Delivered,
    /// Stopped.
    Failed(Reason),
}

/// When a waiting delivery is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// At this moment; while a claim holds it, when the claim ends.
    Due(Timestamp),
    /// Not before it is released.
    Held(Hold),
}

/// Why a waiting delivery is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Its submission was judged spam: `formctl release`.
    Spam,
    /// It came with a backup and may have been sent since: `formctl deliveries --release`.
    Restored,
    /// Its site has no file any more: it goes on when the file is back.
    SiteGone,
}

/// Why a delivery stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The peer said no for good.
    Refused,
    /// The attempts are used up.
    Exhausted,
    /// The destination was paused or removed.
    DestinationInactive,
    /// The values were erased or expired.
    ValuesGone,
}

/// What a peer, or the lack of one, said to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The peer took it.
    Accepted,
    /// Not now; `after` is the peer's `Retry-After`.
    TryLater {
        /// How long the peer asks to wait at least.
        after: Option<Span>,
    },
    /// No for good.
    Refused,
}

/// What can happen to a delivery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A claimed attempt ended.
    Attempted {
        /// With this.
        verdict: Verdict,
        /// How many attempts were claimed, this one included.
        attempt: u32,
        /// How many are allowed, 1..=20.
        allowed: u32,
        /// When it ended.
        now: Timestamp,
        /// A random number in 0..1 for the wait.
        chance: f64,
    },
    /// The operator wants it sent again.
    Resend {
        /// When.
        now: Timestamp,
    },
    /// The destination was paused or removed, or the confirmation switched off.
    DestinationInactive,
    /// The values were erased or expired.
    ValuesGone,
    /// It must not be sent for now.
    Hold(Hold),
    /// It may be sent again.
    Release {
        /// When.
        now: Timestamp,
    },
}

/// Why an event does not fit a state.
#[expect(clippy::enum_variant_names, reason = "each says what it already is")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IllegalStep {
    /// Resending what already waits for its first attempt.
    #[error("it is already waiting for its first attempt")]
    AlreadyPending,
    /// Resending what arrived.
    #[error("it was already delivered")]
    AlreadyDelivered,
    /// A verdict or an end for what has ended.
    #[error("it has already ended")]
    AlreadyEnded,
    /// Holding what is held.
    #[error("it is already held")]
    AlreadyHeld,
    /// Releasing what is not held.
    #[error("it is already due")]
    AlreadyDue,
}

/// The whole machine: what `event` makes of `state`.
pub fn next(state: State, event: Event) -> Result<State, IllegalStep> {
    match (state, event) {
        (State::Pending(_) | State::Retrying(_), Event::Attempted { verdict, attempt, allowed, now, chance }) => {
            Ok(match verdict {
                Verdict::Accepted => State::Delivered,
                Verdict::Refused => State::Failed(Reason::Refused),
                Verdict::TryLater { .. } if attempt >= allowed => State::Failed(Reason::Exhausted),
                Verdict::TryLater { after } => {
                    State::Retrying(Waiting::Due(now.plus(backoff::wait(attempt, after, chance))))
                }
            })
        }
        // A send that was under way when the values went could not be called back, and it arrived.
        (State::Failed(Reason::ValuesGone), Event::Attempted { verdict: Verdict::Accepted, .. }) => {
            Ok(State::Delivered)
        }
        (State::Pending(_) | State::Retrying(_), Event::ValuesGone) => Ok(State::Failed(Reason::ValuesGone)),
        (State::Pending(_) | State::Retrying(_), Event::DestinationInactive) => {
            Ok(State::Failed(Reason::DestinationInactive))
        }
        (State::Pending(waiting), Event::Hold(why)) => Ok(State::Pending(waiting.held(why)?)),
        (State::Retrying(waiting), Event::Hold(why)) => Ok(State::Retrying(waiting.held(why)?)),
        (State::Pending(waiting), Event::Release { now }) => Ok(State::Pending(waiting.released(now)?)),
        (State::Retrying(waiting), Event::Release { now }) => Ok(State::Retrying(waiting.released(now)?)),
        (State::Retrying(_) | State::Failed(_), Event::Resend { now }) => Ok(State::Pending(Waiting::Due(now))),
        (State::Pending(_), Event::Resend { .. }) => Err(IllegalStep::AlreadyPending),
        (State::Delivered, Event::Resend { .. }) => Err(IllegalStep::AlreadyDelivered),
        (
            State::Delivered | State::Failed(_),
            Event::Attempted { .. }
            | Event::ValuesGone
            | Event::DestinationInactive
            | Event::Hold(_)
            | Event::Release { .. },
        ) => Err(IllegalStep::AlreadyEnded),
    }
}

impl Waiting {
    /// Held; whoever held it first has the say.
    fn held(self, why: Hold) -> Result<Self, IllegalStep> {
        match self {
            Self::Due(_) => Ok(Self::Held(why)),
            Self::Held(_) => Err(IllegalStep::AlreadyHeld),
        }
    }

    /// Due now.
    fn released(self, now: Timestamp) -> Result<Self, IllegalStep> {
        match self {
            Self::Held(_) => Ok(Self::Due(now)),
            Self::Due(_) => Err(IllegalStep::AlreadyDue),
        }
    }
}

/// Declares the words of an enum, the same in SQL, JSON and on the terminal.
macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// The word in SQL, JSON and on the terminal.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Reads the word.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

words! { Channel { Email = "email", Webhook = "webhook", Confirmation = "confirmation" } }
words! { Hold { Spam = "spam", Restored = "restored", SiteGone = "site_gone" } }
words! { Reason { Refused = "refused", Exhausted = "exhausted", DestinationInactive = "destination_inactive", ValuesGone = "values_gone" } }

impl State {
    /// The word in SQL, JSON and on the terminal.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Retrying(_) => "retrying",
            Self::Delivered => "delivered",
            Self::Failed(_) => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: i64 = 1_800_000_000_000;

    fn attempted(verdict: Verdict, attempt: u32) -> Event {
        Event::Attempted { verdict, attempt, allowed: 5, now: Timestamp::from_millis(NOW), chance: 1.0 }
    }

    #[test]
    fn five_failures_exhaust_and_a_refusal_is_final() {
        let mut state = State::Pending(Waiting::Due(Timestamp::from_millis(NOW)));
        for (attempt, minutes) in [(1, 1), (2, 2), (3, 4), (4, 8)] {
            state = next(state, attempted(Verdict::TryLater { after: None }, attempt)).unwrap();
            assert_eq!(
                state,
                State::Retrying(Waiting::Due(Timestamp::from_millis(NOW).plus(Span::from_minutes(minutes))))
            );
        }
        assert_eq!(next(state, attempted(Verdict::TryLater { after: None }, 5)), Ok(State::Failed(Reason::Exhausted)));
        assert_eq!(next(state, attempted(Verdict::Refused, 2)), Ok(State::Failed(Reason::Refused)));
        assert_eq!(next(state, attempted(Verdict::Accepted, 7)), Ok(State::Delivered));
    }

    #[test]
    fn only_what_failed_can_be_resent() {
        let now = Timestamp::from_millis(NOW);
        let resend = Event::Resend { now };
        assert_eq!(next(State::Failed(Reason::Refused), resend), Ok(State::Pending(Waiting::Due(now))));
        assert_eq!(next(State::Retrying(Waiting::Due(now)), resend), Ok(State::Pending(Waiting::Due(now))));
        assert_eq!(next(State::Pending(Waiting::Held(Hold::Spam)), resend), Err(IllegalStep::AlreadyPending));
        assert_eq!(next(State::Delivered, resend), Err(IllegalStep::AlreadyDelivered));
    }

    #[test]
    fn what_is_held_waits_for_its_release_and_the_first_hold_counts() {
        let now = Timestamp::from_millis(NOW);
        let (due, held) = (Waiting::Due(now), Waiting::Held(Hold::Spam));
        let lost = Event::Hold(Hold::SiteGone);
        for state in [State::Pending, State::Retrying] {
            assert_eq!(next(state(due), lost), Ok(state(Waiting::Held(Hold::SiteGone))));
            assert_eq!(next(state(held), lost), Err(IllegalStep::AlreadyHeld));
            assert_eq!(next(state(held), Event::Release { now }), Ok(state(due)));
            assert_eq!(next(state(due), Event::Release { now }), Err(IllegalStep::AlreadyDue));
            for waiting in [due, held] {
                let ended = State::Failed(Reason::DestinationInactive);
                assert_eq!(next(state(waiting), Event::DestinationInactive), Ok(ended));
            }
        }
    }

    #[test]
    fn what_was_accepted_while_its_values_went_is_delivered_and_anything_else_stays_gone() {
        let gone = State::Failed(Reason::ValuesGone);
        assert_eq!(next(gone, attempted(Verdict::Accepted, 1)), Ok(State::Delivered));
        for event in
            [attempted(Verdict::Refused, 1), attempted(Verdict::TryLater { after: None }, 1), Event::ValuesGone]
        {
            assert_eq!(next(gone, event), Err(IllegalStep::AlreadyEnded));
        }
    }

    proptest! {
        #[test]
        fn no_event_but_resend_leaves_an_ended_state(code in 0usize..6, reason in 0usize..3) {
            let reasons = [Reason::Refused, Reason::Exhausted, Reason::DestinationInactive];
            let now = Timestamp::from_millis(NOW);
            let (hold, release) = (Event::Hold(Hold::SiteGone), Event::Release { now });
            let ends = [Event::ValuesGone, Event::DestinationInactive];
            let events = [attempted(Verdict::Accepted, 1), attempted(Verdict::Refused, 9), ends[0], ends[1], hold, release];
            for ended in [State::Delivered, State::Failed(reasons[reason])] {
                prop_assert_eq!(next(ended, events[code]), Err(IllegalStep::AlreadyEnded));
            }
        }
    }
}
