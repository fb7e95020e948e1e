//! From the bytes of a body to a draft and its `.part` files.

mod gate;
mod json;
mod multipart;
mod urlencoded;

use std::sync::Arc;

use crate::clock::Clock;
use crate::domain::bounds::Bounds;
use crate::domain::draft::Draft;
use crate::domain::ids::SubmitKey;
use crate::store::{DataDirectory, PartFile, StoreError};

/// What a body was read into.
#[derive(Debug)]
pub(super) struct Received {
    /// What was sent.
    pub(super) draft: Draft,
    /// The `.part` of each file of the draft, in the same order.
    pub(super) parts: Vec<PartFile>,
    /// The key in the field `_key` (JSON: member `_key`).
    pub(super) key: Option<SubmitKey>,
    /// Bytes of the body, for the log.
    pub(super) size: u64,
}

/// The three bodies a form takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ContentType {
    /// `multipart/form-data` with its boundary.
    Multipart {
        /// 1..=70 characters.
        boundary: String,
    },
    /// `application/x-www-form-urlencoded`.
    Urlencoded,
    /// `application/json`.
    Json,
}

/// What a reader needs beside the bytes.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// The bounds in force.
    pub(super) bounds: Arc<Bounds>,
    /// Most bytes of the whole body.
    pub(super) limit: u64,
    /// Where `.part` files go.
    pub(super) directory: DataDirectory,
    /// Names of `.part` files.
    pub(super) clock: Clock,
}

/// Why a body was not read.
#[derive(Debug)]
pub(super) enum BodyError {
    /// 400: malformed as a whole; the text says what.
    Malformed(&'static str),
    /// 400: two keys, or no key at all.
    BadKey,
    /// 413: more bytes than the limit.
    TooLarge,
    /// 413: more parts, fields, files or value bytes than allowed; the text says what.
    TooMuch(&'static str),
    /// 408: slower than allowed.
    TooSlow,
    /// The client has gone; nobody reads an answer.
    Gone,
    /// 503: the disk or the store cannot.
    Unavailable(StoreError),
}
