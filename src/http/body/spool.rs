//! A signed body on its way to disk, and back once its signature holds.
//!
//! ```text
//! connection -> gate (size, pace) -> tmp/*.part, HMAC        nothing is parsed
//!               genuine: tmp/*.part -> the usual readers     the `.part` goes with the last byte
//! ```
//!
//! At most 64 KiB of it are in memory. Writing, hashing and reading back are done where blocking is allowed; the
//! `.part` travels into that work and back, so that a request that is dropped at any point leaves none.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::pin::Pin;
use std::task::{Context as Task, Poll};

use bytes::Bytes;
use futures_util::StreamExt as _;
use hyper::body::{Body, Frame, SizeHint};
use tokio::task::{JoinHandle, spawn_blocking};

use super::gate::{BodyFault, Gate};
use super::{BodyError, ContentType, Context, Received};
use crate::domain::secret::Secret;
use crate::domain::signature::{Authenticity, Signature, Verifier};
use crate::store::{PartFile, StoreError};

/// Bytes that are written or read at once.
const HOP: usize = 64 * 1024;

/// Why a signed body was not read.
#[derive(Debug)]
pub(in crate::http) enum SignedError {
    /// 401: whoever sent it does not know the secret, or it was changed on the way.
    Forged,
    /// As for any body.
    Body(BodyError),
}

impl<E: Into<BodyError>> From<E> for SignedError {
    fn from(error: E) -> Self {
        Self::Body(error.into())
    }
}

/// Reads a whole body whose bytes `secret` must have signed. It may be dropped at any point.
pub(in crate::http) async fn read_signed<B>(
    content_type: &ContentType,
    body: B,
    context: &Context,
    (secret, claimed): (&Secret, &Signature),
) -> Result<Received, SignedError>
where
    B: Body<Data = Bytes> + Send + Unpin,
    B::Error: Into<BodyFault>,
{
    let mut gate = Gate::new(body, context);
    let mut spool = Spool { context, part: None, verifier: Verifier::new(secret), waiting: Vec::new() };
    while let Some(piece) = gate.next().await {
        spool.write(&piece?).await?;
    }
    let (part, verifier) = spool.finish().await?;
    match verifier.finish(claimed) {
        Authenticity::Genuine => super::read(content_type, Spooled::new(part), context).await.map_err(own_fault),
        Authenticity::Forged => Err(SignedError::Forged),
    }
}

/// The body comes from our own disk now: what a client would be blamed for is our fault.
fn own_fault(error: BodyError) -> SignedError {
    SignedError::Body(match error {
        BodyError::Gone | BodyError::TooSlow => BodyError::Unavailable(StoreError::Closed),
        of_the_content => of_the_content,
    })
}

/// A body on its way to disk.
struct Spool<'c> {
    /// Where it goes.
    context: &'c Context,
    /// Its `.part`, once there is one.
    part: Option<PartFile>,
    /// What hashes it.
    verifier: Verifier,
    /// Bytes not yet handed over.
    waiting: Vec<u8>,
}

impl Spool<'_> {
    /// The next bytes.
    async fn write(&mut self, mut bytes: &[u8]) -> Result<(), BodyError> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(HOP - self.waiting.len()));
            self.waiting.extend_from_slice(now);
            bytes = later;
            if self.waiting.len() == HOP {
                self.hand_over().await?;
            }
        }
        Ok(())
    }

    /// Writes what waits, while it is hashed.
    async fn hand_over(&mut self) -> Result<(), BodyError> {
        let (part, mut bytes, mut verifier) =
            (self.part.take(), std::mem::take(&mut self.waiting), self.verifier.clone());
        let (directory, random) = (self.context.directory.clone(), self.context.clock.random_u64());
        let work = move || {
            let mut part = match part {
                Some(part) => part,
                None => PartFile::create(&directory, random)?,
            };
            part.write(&bytes)?;
            verifier.push(&bytes);
            bytes.clear();
            Ok((part, bytes, verifier))
        };
        let (part, bytes, verifier) = blocking(work).await?;
        (self.part, self.waiting, self.verifier) = (Some(part), bytes, verifier);
        Ok(())
    }

    /// All of it.
    async fn finish(mut self) -> Result<(PartFile, Verifier), BodyError> {
        if self.part.is_none() || !self.waiting.is_empty() {
            self.hand_over().await?;
        }
        Ok((self.part.ok_or(BodyError::Unavailable(StoreError::Closed))?, self.verifier))
    }
}

/// Does `work` where blocking is allowed. A join error means that the runtime ends or the work panicked: the `.part`
/// is gone either way.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, BodyError> {
    let done = spawn_blocking(work).await.map_err(|_| BodyError::Unavailable(StoreError::Closed))?;
    done.map_err(BodyError::Unavailable)
}

/// A body that lies on disk.
struct Spooled {
    /// What is going on.
    state: State,
    /// Bytes given out.
    offset: u64,
}

/// A piece, and the `.part` where there is more.
type Piece = (Option<PartFile>, Vec<u8>);

/// What a [`Spooled`] is doing.
enum State {
    /// Nothing; the next piece is there to be asked for.
    Idle(PartFile),
    /// A piece is being read; the `.part` does not come back from the last one.
    Reading(JoinHandle<Result<Piece, StoreError>>),
    /// All was given out.
    Ended,
}

impl Spooled {
    /// A body from its beginning.
    fn new(part: PartFile) -> Self {
        Self { state: State::Idle(part), offset: 0 }
    }
}

/// Reads the piece at `offset`; behind the last one the `.part` is removed here, where blocking is allowed.
fn read_piece(mut part: PartFile, offset: u64) -> Result<Piece, StoreError> {
    let (bytes, is_last) = part.read_back(|file, size| {
        let left = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; left.min(HOP)];
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(&mut bytes)?;
        Ok::<_, io::Error>((bytes, left <= HOP))
    })?;
    Ok(((!is_last).then_some(part), bytes))
}

impl Body for Spooled {
    type Data = Bytes;
    type Error = BodyFault;

    fn poll_frame(self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFault>>> {
        let this = self.get_mut();
        loop {
            match std::mem::replace(&mut this.state, State::Ended) {
                State::Ended => return Poll::Ready(None),
                State::Idle(part) => {
                    let offset = this.offset;
                    this.state = State::Reading(spawn_blocking(move || read_piece(part, offset)));
                }
                State::Reading(mut work) => {
                    let Poll::Ready(read) = Pin::new(&mut work).poll(task) else {
                        this.state = State::Reading(work);
                        return Poll::Pending;
                    };
                    let (part, bytes) = read.map_err(BodyFault::from).and_then(|read| Ok(read?))?;
                    this.state = part.map_or(State::Ended, State::Idle);
                    this.offset = this.offset.saturating_add(bytes.len() as u64);
                    if !bytes.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
                    }
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
