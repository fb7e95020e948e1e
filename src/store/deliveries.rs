//! Deliveries: claim, settle, resend, end.

use super::{Store, StoreError};
use crate::domain::delivery::{Channel, IllegalStep, State, Verdict};
use crate::domain::form::Target;
use crate::domain::ids::{DeliveryId, DestinationId, ReceiptId, SiteId};
use crate::domain::submission::Contents;
use crate::domain::time::Timestamp;

/// What the deliverer is doing already, so that a claim keeps the turns and the caps: at most 10 in a row of
/// one site while another waits, `per_site` and `per_destination` sends at once.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    /// Sites that must not be served now (disabled, at their cap, or had their turn while others wait).
    pub skip_sites: Vec<String>,
    /// (site, destination) pairs that must not be served now.
    pub skip_destinations: Vec<(String, String)>,
    /// The site served last; the search begins behind it and wraps around.
    pub after_site: Option<String>,
}

/// A delivery that this process may send once, before `until`.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The delivery.
    pub id: DeliveryId,
    /// Settling needs it.
    pub token: i64,
    /// How many attempts were claimed, this one included.
    pub attempt: u32,
    /// Its site.
    pub site: String,
    /// Its form.
    pub form: String,
    /// Its destination.
    pub destination: String,
    /// Where it goes.
    pub target: Target,
    /// The page of the receipt.
    pub page: Option<String>,
    /// The language of the receipt.
    pub locale: String,
    /// When the submission arrived.
    pub received_at: Timestamp,
    /// The values.
    pub contents: Contents,
    /// The files.
    pub attachments: Vec<super::AttachmentRow>,
}

/// What a claim found.
#[derive(Debug)]
pub enum Claimed {
    /// Send this.
    Claim(Box<Claim>),
    /// Nothing is due now.
    Nothing,
}

/// An attempt that ended, to be written down.
#[derive(Clone, Debug)]
pub struct NewAttempt {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub milliseconds: i64,
    /// What came of it.
    pub verdict: Verdict,
    /// What the peer or the network said, without addresses or values; at most 200 characters.
    pub note: Option<String>,
}

/// Whether a settlement was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The claim was still ours.
    Settled,
    /// Somebody took it over, or the delivery ended meanwhile; the attempt is written down, the state is not.
    ClaimLost,
}

/// A delivery that will be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resent(pub DeliveryId);

/// Why a delivery is not sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResendError {
    /// A send is under way.
    #[error("delivery_in_progress: it is being sent right now")]
    InProgress,
    /// Values erased or expired.
    #[error("values_gone: its values were erased")]
    ValuesGone,
    /// The destination was paused or removed.
    #[error("destination_inactive: its destination is paused or no longer configured")]
    DestinationInactive,
    /// The state does not allow it.
    #[error("{0}")]
    State(#[from] IllegalStep),
    /// There is no such delivery.
    #[error("there is no such delivery")]
    Missing,
}

/// When something is due next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At this moment (perhaps in the past).
    At(Timestamp),
    /// Nothing waits.
    Never,
}

impl Store {
    /// Takes the next due delivery in turn: counts the attempt, writes the token and the end of the claim
    /// (5 minutes), all before anything is sent. A delivery whose values are gone is ended as `values_gone` on
    /// the way and the search goes on. A claim whose time is over is taken over. `token` is random and not 0.
    pub fn claim(&self, turn: &Turn, token: i64, now: Timestamp) -> Result<Claimed, StoreError> {
        todo!()
    }

    /// Whether a claim is still ours and its values are readable: asked right before the first byte is sent.
    pub fn confirm(&self, claim: &Claim, now: Timestamp) -> Result<Settled, StoreError> {
        todo!()
    }

    /// Writes down what an attempt came to. The state is only written while the token is still ours.
    pub fn settle(
        &self,
        id: DeliveryId,
        token: i64,
        state: State,
        attempt: &NewAttempt,
    ) -> Result<Settled, StoreError> {
        todo!()
    }

    /// Gives a claim back whose attempt never began (orderly stop): due now, the attempt not counted.
    pub fn unclaim(&self, id: DeliveryId, token: i64, now: Timestamp) -> Result<(), StoreError> {
        todo!()
    }

    /// Sends one delivery again: `active` tells whether its destination is configured and not paused.
    pub fn resend(
        &self,
        id: DeliveryId,
        now: Timestamp,
        active: impl Fn(&str, &str) -> bool + Send + 'static,
    ) -> Result<Result<Resent, ResendError>, StoreError> {
        todo!()
    }

    /// When the next delivery of a site outside `skip_sites` is due.
    pub fn next_due(&self, skip_sites: &[String]) -> Result<Due, StoreError> {
        todo!()
    }
}
