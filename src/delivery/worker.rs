//! Claim, confirm, attempt, settle: one step a function.
//!
//! What a crash leaves at each step stands in the essay of [`super`]. A claim that gets no turn after all (another
//! mail with files is under way, the daemon stops) is given back: due at once, the attempt not counted. One whose
//! destination takes nothing any more is turned away: ended or held, the attempt not counted either.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::alert::watch::Bell;
use super::attempt::{self, Ended};
use super::board::{Board, News, Seat};
use super::{LIMIT, lifecycle, mail};
use crate::clock::Clock;
use crate::config::{Activity, Config, Current};
use crate::domain::delivery::{self, Channel, Event, Reason, State, Verdict, Waiting};
use crate::domain::ids::DeliveryId;
use crate::domain::time::Timestamp;
use crate::outbound::Outbound;
use crate::store::{Claim, Claimed, Moved, NewAttempt, Settled, Store, StoreError};

/// How often a settlement is tried. It is worth some patience: what is not settled is sent again.
const SETTLE_TRIES: u32 = 10;
/// The wait in between; all of it stays well below the 5 minutes of a claim.
const SETTLE_WAIT: Duration = Duration::from_secs(1);

/// Sends what is due. Cheap to clone; clones share their turns and caps.
#[derive(Clone, Debug)]
pub struct Deliverer {
    /// Shared by all clones.
    pub(super) inner: Arc<Inner>,
}

/// What the clones share.
#[derive(Debug)]
pub(super) struct Inner {
    /// Where deliveries wait.
    pub(super) store: Store,
    /// The configuration in force.
    pub(super) current: Current,
    /// Moments, tokens and chance.
    pub(super) clock: Clock,
    /// The way to webhooks.
    pub(super) outbound: Outbound,
    /// Rung when a delivery has failed.
    pub(super) bell: Bell,
    /// Who is being served.
    pub(super) board: Board,
    /// What the configuration may do to what waits.
    standing: Standing,
}

/// What a configuration is to the deliveries that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is in force: what its destinations take no more is ended or held.
    InForce,
    /// A daemon runs with another one: what this one would end or hold is that daemon's to judge, and left alone.
    Draft,
}

/// A claim with a place on the board.
#[derive(Debug)]
pub(super) struct Job {
    /// What to send.
    pub(super) claim: Box<Claim>,
    /// Held until it is settled.
    seat: Seat,
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

impl Deliverer {
    /// A deliverer over a store; it makes no thread and sends nothing yet.
    pub fn new(store: Store, current: Current, clock: Clock, standing: Standing) -> Self {
        let (outbound, bell, board) = (Outbound::new(LIMIT), Bell::default(), Board::default());
        let inner = Inner { store, current, clock, outbound, bell, board, standing };
        Self { inner: Arc::new(inner) }
    }

    /// Brings what waits in line with the configuration in force; call it after that has changed. Who is told of
    /// failures may have changed as well.
    pub fn apply(&self) -> Result<Moved, StoreError> {
        self.inner.bell.ring();
        // A claim that began under the old configuration has got its turn or was turned away once we have the board.
        drop(self.inner.board.lock());
        lifecycle::apply(&self.inner.store, &self.inner.current.get(), self.inner.clock.now())
    }

    /// Makes at most one attempt on this thread: for tests and `formctl deliver`. It asks nobody whether the
    /// daemon delivers (`[delivery] enabled`).
    pub fn step(&self) -> Result<Step, StoreError> {
        while let Some(job) = self.inner.take()? {
            if let Some(step) = self.inner.carry_out(job)? {
                return Ok(step);
            }
        }
        Ok(Step::Idle)
    }

    /// Makes one attempt at this delivery on this thread, when it is due and nobody else is at it: for `formctl test`.
    pub fn step_at(&self, id: DeliveryId) -> Result<Step, StoreError> {
        let inner = &self.inner;
        let Claimed::Claim(claim) = inner.store.claim_this(id, inner.token(), inner.clock.now())? else {
            return Ok(Step::Idle);
        };
        let weight = mail::weight(&claim);
        let seat = inner.board.seat(&mut inner.board.lock(), &claim.site, &claim.destination, weight);
        Ok(inner.carry_out(Job { claim, seat })?.unwrap_or(Step::Idle))
    }
}

impl Inner {
    /// Claims the next delivery in turn and seats it. Every claim that gets no seat ends, is held, or puts its
    /// destination on the list of those to skip, so this ends.
    pub(super) fn take(&self) -> Result<Option<Job>, StoreError> {
        let mut places = self.board.lock();
        // Asked for under the lock: see `Deliverer::apply`.
        let config = self.current.get();
        places.renew(&config);
        loop {
            let now = self.clock.now();
            let Claimed::Claim(claim) = self.store.claim(&places.turn(disabled(&config)), self.token(), now)? else {
                return Ok(None);
            };
            let activity = config.activity(&claim.site, &claim.form, claim.target.channel(), &claim.destination);
            let weight = mail::weight(&claim);
            match activity {
                Activity::Active if places.has_room(weight) => {
                    let seat = self.board.seat(&mut places, &claim.site, &claim.destination, weight);
                    return Ok(Some(Job { claim, seat }));
                }
                Activity::Inactive | Activity::SiteGone if self.standing == Standing::InForce => {
                    self.turn_away(&claim, activity, now)?;
                }
                Activity::Active | Activity::Inactive | Activity::SiteGone => {
                    self.store.unclaim(claim.id, claim.token, now)?;
                    if places.park(&claim.site, &claim.destination) == News::Known {
                        // The store handed out what it was asked to skip; going on would go round and round.
                        return Ok(None);
                    }
                }
                Activity::SiteDisabled => {
                    // Asked to be skipped as well.
                    self.store.unclaim(claim.id, claim.token, now)?;
                    return Ok(None);
                }
            }
        }
    }

    /// Ends or holds a claim whose destination takes nothing any more.
    fn turn_away(&self, claim: &Claim, activity: Activity, now: Timestamp) -> Result<(), StoreError> {
        let (delivery, site, destination) = (claim.id, claim.site.as_str(), claim.destination.as_str());
        self.store.turn_away(claim, lifecycle::fate(activity), now)?;
        tracing::warn!(event = "delivery_turned_away", %delivery, site, destination, why = ?activity, "a delivery was not sent");
        Ok(())
    }

    /// Sends a claim once and writes down what came of it. `None`: it was not ours any more, or its values were
    /// gone, and nothing was sent.
    pub(super) fn carry_out(&self, job: Job) -> Result<Option<Step>, StoreError> {
        let Job { claim, seat } = job;
        if self.store.confirm(&claim, self.clock.now())? == Settled::ClaimLost {
            return Ok(None);
        }
        let daemon = &self.current.get().daemon;
        let (at, started) = (self.clock.now(), Instant::now());
        let ended = attempt::attempt(&claim, daemon.mail.as_ref(), &self.outbound, &self.clock, |id, bytes| {
            self.store.directory().write_mail(id, bytes)
        });
        let milliseconds = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
        let state = self.judged(&claim, self.next_state(claim.attempt, daemon.delivery.attempts, ended.verdict));
        let Ended { verdict, note } = ended;
        let attempt = NewAttempt { at, milliseconds, verdict, note: Some(note) };
        let settled = self.settle(&claim, state, &attempt);
        drop(seat);
        let settled = settled?;
        log(&claim, state, &attempt, settled);
        if let State::Failed(_) = state {
            self.bell.ring();
        }
        Ok(Some(Step::Worked { delivery: claim.id, verdict }))
    }

    /// What the verdict makes of the delivery.
    fn next_state(&self, attempt: u32, allowed: u32, verdict: Verdict) -> State {
        let now = self.clock.now();
        let claimed = State::Retrying(Waiting::Due(now));
        let event = Event::Attempted { verdict, attempt, allowed, now, chance: self.clock.chance() };
        // A waiting delivery takes any verdict; were it otherwise, it would go on waiting.
        delivery::next(claimed, event).unwrap_or(claimed)
    }

    /// What becomes of a delivery that goes on waiting, should its destination take nothing any more by now.
    fn judged(&self, claim: &Claim, state: State) -> State {
        if !matches!(state, State::Retrying(_)) || self.standing == Standing::Draft {
            return state;
        }
        let config = self.current.get();
        let activity = config.activity(&claim.site, &claim.form, claim.target.channel(), &claim.destination);
        let event = lifecycle::fate(activity).event(None, self.clock.now());
        event.and_then(|event| delivery::next(state, event).ok()).unwrap_or(state)
    }

    /// Settles, with patience while the store is busy or out of order.
    fn settle(&self, claim: &Claim, state: State, attempt: &NewAttempt) -> Result<Settled, StoreError> {
        let mut tries = 1;
        loop {
            match self.store.settle(claim.id, claim.token, state, attempt) {
                Err(StoreError::Closed) => return Err(StoreError::Closed),
                Err(error) if tries < SETTLE_TRIES => {
                    tracing::warn!(event = "settle_failed", delivery = %claim.id, %error, "a delivery could not be settled; tried again");
                    std::thread::sleep(SETTLE_WAIT);
                    tries += 1;
                }
                settled => return settled,
            }
        }
    }

    /// Gives a claim back whose attempt never began.
    pub(super) fn give_back(&self, claim: (DeliveryId, i64)) -> Result<(), StoreError> {
        self.store.unclaim(claim.0, claim.1, self.clock.now())
    }

    /// A claim's token: random, not 0.
    fn token(&self) -> i64 {
        i64::from_le_bytes(self.clock.random()) | 1
    }
}

/// The sites whose deliveries wait because the configuration says so.
pub(super) fn disabled(config: &Config) -> impl Iterator<Item = String> + '_ {
    config.sites.values().filter(|site| !site.enabled).map(|site| site.id.to_string())
}

/// One line an attempt: ids and outcomes, never what the peer said, which may quote the mail.
fn log(claim: &Claim, state: State, attempt: &NewAttempt, settled: Settled) {
    let (delivery, site, form, destination) = (claim.id, &*claim.site, &*claim.form, &*claim.destination);
    let (tries, ms) = (claim.attempt, attempt.milliseconds);
    match (settled, state) {
        (Settled::ClaimLost, _) => {
            tracing::warn!(event = "claim_lost", %delivery, site, destination, ms, "an answer came after its claim");
        }
        (Settled::Settled, State::Failed(Reason::DestinationInactive)) => {
            tracing::warn!(event = "delivery_turned_away", %delivery, site, destination, attempt = tries, ms, "an attempt failed, and its destination takes nothing any more");
        }
        (Settled::Settled, State::Failed(reason)) if claim.target.channel() == Channel::Confirmation => {
            let reason = reason.word();
            tracing::warn!(event = "confirmation_failed", %delivery, site, form, attempt = tries, ms, reason, "a confirmation failed");
        }
        (Settled::Settled, State::Failed(reason)) => {
            let reason = reason.word();
            tracing::error!(event = "delivery_failed", %delivery, site, form, destination, attempt = tries, ms, reason, "a delivery failed");
        }
        (Settled::Settled, State::Pending(_) | State::Retrying(_) | State::Delivered) => {
            let state = state.word();
            tracing::info!(event = "delivery_attempt", %delivery, site, destination, attempt = tries, ms, state, "an attempt was made");
        }
    }
}
