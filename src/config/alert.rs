//! `[alert]` as declared: who is told of deliveries that failed for good.

use crate::domain::target::Signing;
use crate::domain::time::Span;

/// `[alert]`.
#[derive(Clone, Debug)]
pub struct Alert {
    /// The way to the operator.
    pub way: AlertWay,
    /// From one message to the next at least.
    pub at_most_every: Span,
}

/// How the operator is told.
#[derive(Clone, Debug)]
pub enum AlertWay {
    /// A mail to this address.
    Email(String),
    /// A signed call.
    Webhook(AlertHook),
}

/// The receiver of alerts.
#[derive(Clone, Debug)]
pub struct AlertHook {
    /// An `https` URL, or `http` to a loopback host.
    pub url: String,
    /// Whether private addresses may be reached.
    pub allow_private: bool,
    /// What signs each call.
    pub signing: Signing,
}
