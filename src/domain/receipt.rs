//! The durable record that a submission was accepted. It outlives its values.

use super::ids::ReceiptId;
use super::time::Timestamp;

/// Whether a receipt still has its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiptState {
    /// Values are readable until `until`, and not a moment longer.
    Kept {
        /// The erase date, fixed at arrival.
        until: Timestamp,
    },
    /// Values are gone.
    Erased {
        /// When they became unreadable.
        at: Timestamp,
        /// Who ended them.
        why: Erasure,
    },
}

/// Who ended the values of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erasure {
    /// Their time was over.
    Expired,
    /// The operator said so.
    Operator,
}

/// What became of a submission that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted now.
    Stored(ReceiptId),
    /// Accepted before: the same key or, without a key, the same content from the same client within
    /// 10 minutes.
    Repeated(ReceiptId),
    /// The key belongs to another content.
    Conflict,
}
