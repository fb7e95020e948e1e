//! From the bytes of a body to a draft and its `.part` files.
//!
//! # What holds
//!
//! * Memory is bounded whatever the body holds: a file lies in its `.part`, never in memory (64 KiB of it wait at
//!   most), values and names by the bounds of a submission, everything else by the gate.
//! * The three transports give the same draft for the same content: one place counts and gathers entries.
//! * The submission key is taken out of the fields; nobody after this sees it among them.
//! * A body is read to its end before anything is made of it: what was cut is malformed, or its client gone.
//!
//! # What is left behind
//!
//! Nothing: the `.part` files belong to the reading, and go when it is dropped, fails or is cancelled at any point.
//!
//! # What it does not do
//!
//! It does not know the form: whether a field or a file is wanted, large or not, is validation's question. It does
//! not compare the key with the one in a header.

mod content_type;
mod fields;
mod gate;
mod json;
mod multipart;
pub mod probe;
mod replay;
mod spool;
mod upload;
mod urlencoded;
mod watch;

use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Body;

pub(super) use content_type::{ContentType, ContentTypeError};
pub(super) use replay::{Extent, Replayed};
pub(super) use spool::{SignedError, read_signed};

use crate::clock::Clock;
use crate::domain::bounds::Bounds;
use crate::domain::draft::Draft;
use crate::domain::ids::SubmitKey;
use crate::store::{DataDirectory, PartFile, StoreError};
use gate::{BodyFault, Gate};

/// What a body was read into.
#[derive(Debug)]
pub(super) struct Received {
    /// What was sent.
    pub(super) draft: Draft,
    /// The `.part` of each file of the draft, in the same order. Files beyond `max_files` have none: such a draft
    /// never passes validation.
    pub(super) parts: Vec<PartFile>,
    /// The key in the field `_key` (JSON: member `_key`).
    pub(super) key: Option<SubmitKey>,
    /// Bytes of the body, for the log.
    pub(super) size: u64,
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
    /// 413: more parts, fields or value bytes than allowed; the text says what.
    TooMuch(&'static str),
    /// 415: a part in an encoding that forms do not use; the text says what.
    Unsupported(&'static str),
    /// 408: slower than allowed.
    TooSlow,
    /// The client has gone; nobody reads an answer.
    Gone,
    /// 503: the disk or the store cannot.
    Unavailable(StoreError),
}

/// Reads a whole body. It may be dropped at any point.
pub(super) async fn read<B>(content_type: &ContentType, body: B, context: &Context) -> Result<Received, BodyError>
where
    B: Body<Data = Bytes> + Send + Unpin,
    B::Error: Into<BodyFault>,
{
    let mut gate = Gate::new(body, context);
    let (fields, parts) = match content_type {
        ContentType::Multipart { boundary, charset } => multipart::read(&mut gate, boundary, *charset, context).await?,
        ContentType::Urlencoded { charset } => (urlencoded::read(&mut gate, *charset, context).await?, Vec::new()),
        ContentType::Json => (json::read(&mut gate, context).await?, Vec::new()),
    };
    gate.drain().await?;
    let (draft, key) = fields.finish()?;
    Ok(Received { draft, parts, key, size: gate.size() })
}

#[cfg(test)]
mod tests;
