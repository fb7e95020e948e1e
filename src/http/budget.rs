//! Memory for values: every body takes from one budget what it may hold, and gives it back when its request ends.
//!
//! A body is charged as it arrives, not by what its head announces: a client that announces much and sends nothing
//! takes nothing from others. Files stream to disk, so a body is charged at most what its values may come to. When
//! the budget is spent, a body waits for 10 s; then the whole does not fit into this moment, and that is 503.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// How long a body waits for memory.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a request took; given back when it is dropped.
#[derive(Clone, Debug)]
pub(super) struct Hold(Arc<Taken>);

/// What the clones of a [`Hold`] share.
#[derive(Debug)]
struct Taken {
    /// The budget.
    budget: Arc<Semaphore>,
    /// What was taken, and whether the wait for more was in vain.
    state: Mutex<State>,
}

/// See [`Taken`].
#[derive(Debug, Default)]
struct State {
    /// What was taken.
    permit: Option<OwnedSemaphorePermit>,
    /// Whether the wait for more was in vain.
    exhausted: bool,
}

impl Hold {
    /// Nothing taken yet.
    pub(super) fn new(budget: &Arc<Semaphore>) -> Self {
        Self(Arc::new(Taken { budget: Arc::clone(budget), state: Mutex::default() }))
    }

    /// Whether a body ended because there was no memory for it.
    pub(super) fn is_exhausted(&self) -> bool {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).exhausted
    }

    /// Adds to what was taken.
    fn keep(&self, more: OwnedSemaphorePermit) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut state.permit {
            Some(permit) => permit.merge(more),
            none => *none = Some(more),
        }
    }
}

/// No memory for a body in time.
#[derive(Debug, thiserror::Error)]
#[error("no memory for the values of this request")]
struct Exhausted;

/// An error of a body, passed on as it came, since its reader looks at what kind it is.
type Fault = Box<dyn std::error::Error + Send + Sync>;

/// The wait for memory.
type Wait = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

/// A body that is charged as it arrives.
pub(super) struct Charged<B> {
    /// The body.
    body: B,
    /// What it took.
    hold: Hold,
    /// Bytes it may still be charged.
    left: usize,
    /// How long it waits for memory.
    patience: Duration,
    /// A frame that waits for memory.
    waiting: Option<(Bytes, Wait, Pin<Box<Sleep>>)>,
}

impl<B> Charged<B> {
    /// Charges `body` to `hold`, `most` bytes in all.
    pub(super) fn new(body: B, hold: Hold, most: u64) -> Self {
        Self { body, hold, left: usize::try_from(most).unwrap_or(usize::MAX), patience: PATIENCE, waiting: None }
    }

    /// What a frame costs.
    fn cost(&mut self, frame: &Bytes) -> u32 {
        let cost = frame.len().min(self.left);
        self.left -= cost;
        u32::try_from(cost).unwrap_or(u32::MAX)
    }
}

impl<B> Body for Charged<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Fault>,
{
    type Data = Bytes;
    type Error = Fault;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = self.get_mut();
        if this.waiting.is_none() {
            let Some(frame) = ready!(Pin::new(&mut this.body).poll_frame(cx)) else { return Poll::Ready(None) };
            let data = match frame.map_err(Into::into)?.into_data() {
                Ok(data) => data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            };
            let cost = this.cost(&data);
            if cost == 0 {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            if let Ok(permit) = Arc::clone(&this.hold.0.budget).try_acquire_many_owned(cost) {
                this.hold.keep(permit);
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            let wait = Box::pin(Arc::clone(&this.hold.0.budget).acquire_many_owned(cost));
            this.waiting = Some((data, wait, Box::pin(sleep(this.patience))));
        }
        let Some((data, wait, patience)) = &mut this.waiting else { return Poll::Ready(None) };
        let result = match wait.as_mut().poll(cx) {
            Poll::Ready(Ok(permit)) => {
                this.hold.keep(permit);
                Ok(Frame::data(std::mem::take(data)))
            }
            Poll::Ready(Err(_)) => Err(Exhausted.into()),
            Poll::Pending => {
                ready!(patience.as_mut().poll(cx));
                this.hold.0.state.lock().unwrap_or_else(PoisonError::into_inner).exhausted = true;
                Err(Exhausted.into())
            }
        };
        this.waiting = None;
        Poll::Ready(Some(result))
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let waiting = self.waiting.as_ref().map_or(0, |(data, ..)| data.len() as u64);
        let rest = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(rest.lower() + waiting);
        if let Some(upper) = rest.upper() {
            hint.set_upper(upper + waiting);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{BodyExt, Full};

    #[tokio::test]
    async fn memory_is_charged_as_bytes_arrive_and_given_back_at_the_end() {
        let budget = Arc::new(Semaphore::new(10));
        let hold = Hold::new(&budget);
        let body = Charged::new(Full::new(Bytes::from_static(b"1234567")), hold.clone(), 5);
        assert_eq!(body.collect().await.unwrap().to_bytes(), "1234567");
        assert_eq!(budget.available_permits(), 5);
        let second = Hold::new(&budget);
        let mut greedy = Charged::new(Full::new(Bytes::from_static(b"1234567")), second.clone(), 100);
        greedy.patience = Duration::from_millis(20);
        assert!(greedy.collect().await.is_err());
        assert!(second.is_exhausted() && !hold.is_exhausted());
        drop((hold, second));
        assert_eq!(budget.available_permits(), 10);
    }
}
