//! `application/x-www-form-urlencoded`, as the URL standard parses it, but strict where that would replace bytes.
//!
//! Pairs are percent-decoded as they arrive; which text their bytes are is decided at the end of the body.

use bytes::Bytes;
use futures_util::StreamExt as _;
use hyper::body::Body;

use super::fields::{Fields, SentText};
use super::gate::{BodyFault, Gate};
use super::{BodyError, Context};
use crate::domain::bounds::Bounds;
use crate::domain::charset::Charset;
use crate::domain::disposition::hex_pair;
use crate::domain::draft::Shape;

/// Reads a whole body.
pub(super) async fn read<B>(
    gate: &mut Gate<B>,
    charset: Option<Charset>,
    context: &Context,
) -> Result<Fields, BodyError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyFault>,
{
    let mut pairs = Pairs::new(Fields::new(context.bounds.clone(), charset), &context.bounds);
    while let Some(piece) = gate.next().await {
        pairs.push(&piece?)?;
    }
    pairs.finish()
}

/// Pairs that arrive in pieces.
#[derive(Debug)]
pub(super) struct Pairs {
    /// The pairs so far.
    fields: Fields,
    /// The beginning of the pair under way.
    waiting: Vec<u8>,
    /// The longest pair, each byte of name and value written as `%XX`.
    longest: usize,
}

impl Pairs {
    /// Nothing yet.
    pub(super) fn new(fields: Fields, bounds: &Bounds) -> Self {
        let longest = bounds.value.saturating_add(bounds.field_name).saturating_mul(3).saturating_add(1);
        Self { fields, waiting: Vec::new(), longest: usize::try_from(longest).unwrap_or(usize::MAX) }
    }

    /// The next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        let mut pieces = bytes.split(|&b| b == b'&');
        let first = pieces.next().unwrap_or_default();
        self.extend(first)?;
        for piece in pieces {
            self.pair()?;
            self.extend(piece)?;
        }
        Ok(())
    }

    /// The end of the body.
    pub(super) fn finish(mut self) -> Result<Fields, BodyError> {
        self.pair()?;
        Ok(self.fields)
    }

    /// What the pairs before the one under way said.
    pub(super) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// More bytes of the pair under way.
    fn extend(&mut self, bytes: &[u8]) -> Result<(), BodyError> {
        if self.waiting.len() + bytes.len() > self.longest {
            return Err(BodyError::TooMuch("a value is longer than allowed"));
        }
        self.waiting.extend_from_slice(bytes);
        Ok(())
    }

    /// The pair under way is complete. Nothing between two `&` is no pair.
    fn pair(&mut self) -> Result<(), BodyError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut halves = self.waiting.splitn(2, |&b| b == b'=');
        let (name, value) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default());
        let text = SentText { name: decode(name), value: decode(value), shape: Shape::Scalar, charset: None };
        self.waiting.clear();
        self.fields.text(text)
    }
}

/// `+` is a blank, `%XX` a byte; a `%` without two hex digits is itself.
fn decode(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        match (first, after) {
            (b'+', _) => out.push(b' '),
            (b'%', [high, low, further @ ..]) => match hex_pair(*high, *low) {
                Some(byte) => {
                    out.push(byte);
                    rest = further;
                }
                None => out.push(first),
            },
            _ => out.push(first),
        }
    }
    out
}
