//! The beginning of a body, read ahead and given back: over the rate limit only a body whose key is known is read
//! on (contract 4.4).

use std::pin::Pin;
use std::task::{Context as Task, Poll};

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use hyper::body::{Body, Frame, SizeHint};

use super::fields::Fields;
use super::gate::{BodyFault, Gate};
use super::urlencoded::Pairs;
use super::{BodyError, ContentType, Context, json, multipart};
use crate::domain::ids::SubmitKey;

/// Bytes that are read ahead. Our own pages and formd.js put the key first.
const AHEAD: usize = 64 * 1024;

/// A body whose beginning is known. As a body it begins from the beginning.
#[derive(Debug)]
pub(in crate::http) struct Replayed<B> {
    /// The beginning; taken when it is replayed.
    prefix: Bytes,
    /// Whether that is all of it.
    extent: Extent,
    /// The rest.
    body: B,
}

/// How much of a body its beginning is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Extent {
    /// All of it.
    Whole,
    /// There is more.
    Beginning,
}

impl<B> Replayed<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyFault>,
{
    /// Reads 64 KiB ahead (a little more when they arrive together), within the limits of the context.
    pub(in crate::http) async fn read(mut body: B, context: &Context) -> Result<Self, BodyError> {
        let mut gate = Gate::new(&mut body, context);
        let mut prefix = BytesMut::new();
        let mut extent = Extent::Beginning;
        while prefix.len() < AHEAD {
            let Some(piece) = gate.next().await else {
                extent = Extent::Whole;
                break;
            };
            prefix.extend_from_slice(&piece?);
        }
        prefix.extend_from_slice(&gate.into_rest());
        Ok(Self { prefix: prefix.freeze(), extent, body })
    }

    /// Whether the whole body was read.
    pub(in crate::http) fn extent(&self) -> Extent {
        self.extent
    }

    /// The key, when it stands in the beginning and is one.
    pub(in crate::http) fn early_key(&self, content_type: &ContentType, context: &Context) -> Option<SubmitKey> {
        early_key(content_type, &self.prefix, self.extent, context)
    }
}

/// The key in the beginning of a body; `None` when it does not stand there, is not whole, or is none.
fn early_key(content_type: &ContentType, prefix: &Bytes, extent: Extent, context: &Context) -> Option<SubmitKey> {
    match content_type {
        ContentType::Multipart { boundary, .. } => multipart::early_key(boundary, prefix.clone(), &context.bounds),
        ContentType::Json => json::early_key(prefix),
        ContentType::Urlencoded { charset } => {
            let mut pairs = Pairs::new(Fields::new(context.bounds.clone(), *charset), &context.bounds);
            pairs.push(prefix).ok()?;
            match extent {
                Extent::Whole => pairs.finish().ok()?.key().cloned(),
                Extent::Beginning => pairs.fields().key().cloned(),
            }
        }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Replayed<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let prefix = std::mem::take(&mut self.prefix);
        if !prefix.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(prefix))));
        }
        match self.extent {
            Extent::Whole => Poll::Ready(None),
            Extent::Beginning => Pin::new(&mut self.body).poll_frame(task),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.prefix.is_empty() && (self.extent == Extent::Whole || self.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
