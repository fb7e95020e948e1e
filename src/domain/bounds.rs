//! The bounds of everything a client can send, with the contract's defaults. Memory and disk are bounded
//! because every reader of a request takes its limits from here.

use super::time::Span;

/// One kibibyte.
pub const KIB: u64 = 1024;
/// One mebibyte.
pub const MIB: u64 = 1024 * KIB;

/// `[limits]` of `formd.toml`. Sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// A request's head: request line and header lines together.
    pub head: u64,
    /// Header lines of a request.
    pub headers: u64,
    /// Time for a complete head, from its first byte or the start of the connection.
    pub head_time: Span,
    /// The header of one part of a multipart body.
    pub part_header: u64,
    /// Parts of a multipart body.
    pub parts: u64,
    /// Fields of a submission.
    pub fields: u64,
    /// Bytes of a field's name.
    pub field_name: u64,
    /// Bytes of one value.
    pub value: u64,
    /// Bytes of all values together.
    pub values: u64,
    /// Files of a submission.
    pub max_files: u64,
    /// Bytes of one file.
    pub max_file: u64,
    /// Bytes of all files together.
    pub max_files_total: u64,
    /// Bytes a second that a body must bring, averaged over windows of 10 s.
    pub min_rate: u64,
    /// Time for a whole body.
    pub body_time: Span,
    /// Open connections.
    pub connections: u64,
    /// Submissions between *body complete* and the answer.
    pub in_flight: u64,
    /// Free bytes of the data file system below which submissions are refused.
    pub disk_reserve: u64,
    /// State files of the rate limiter.
    pub limiter_files: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            head: 16 * KIB,
            headers: 64,
            head_time: Span::from_secs(10),
            part_header: 16 * KIB,
            parts: 220,
            fields: 200,
            field_name: 200,
            value: 64 * KIB,
            values: 256 * KIB,
            max_files: 5,
            max_file: 5 * MIB,
            max_files_total: 10 * MIB,
            min_rate: KIB,
            body_time: Span::from_minutes(30),
            connections: 4096,
            in_flight: 64,
            disk_reserve: 256 * MIB,
            limiter_files: 8192,
        }
    }
}
