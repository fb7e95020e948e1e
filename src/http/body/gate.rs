//! The gate between the connection and whoever parses: what passes is bounded in size, pace and appetite.
//!
//! multer takes whatever is ready, at each call, and keeps it: 64 MiB that arrive at once lie in memory at once, a
//! part's header that never ends grows until it does, and of many small parts each call takes one more piece than it
//! needs. So the gate yields at most 64 KiB, and while it is lent to multer, one piece only when multer has used up
//! what it had ([`Valve::feed`]); and it refuses to feed one header beyond its budget. It gathers small frames (a
//! chunked body may bring one byte each), since multer scans a header anew for each piece.
//!
//! The pace is measured over the time that the client is waited for, not over the time that our disk takes.

use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as Task, Poll, ready};
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};
use hyper::body::Body;
use tokio::time::{Instant, Sleep, sleep_until};

use super::watch::{Fault, Watch};
use super::{BodyError, Context};

/// Most bytes of one piece.
const PIECE: usize = 64 * 1024;
/// Frames below this are gathered while more are ready.
const SMALL: usize = 8 * 1024;
/// The span over which the pace is averaged.
const WINDOW: Duration = Duration::from_secs(10);

/// Any error of a body.
pub(super) type BodyFault = Box<dyn Error + Send + Sync>;

/// Why the gate closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum GateError {
    /// More bytes than the limit.
    #[error("the body is larger than its limit")]
    TooLarge,
    /// Slower than allowed.
    #[error("the body is slower than allowed")]
    TooSlow,
    /// A part's header, or what stands before the first part, is longer than allowed.
    #[error("a part's header is longer than allowed")]
    HeaderTooLong,
    /// The chunked coding is broken.
    #[error("the body's chunked coding is broken")]
    Framing,
    /// The client has gone.
    #[error("the client has gone")]
    Gone,
}

impl From<GateError> for BodyError {
    fn from(error: GateError) -> Self {
        match error {
            GateError::TooLarge => Self::TooLarge,
            GateError::TooSlow => Self::TooSlow,
            GateError::HeaderTooLong => Self::Malformed("a part's header is longer than allowed"),
            GateError::Framing => Self::Malformed("the chunked coding of the body is broken"),
            GateError::Gone => Self::Gone,
        }
    }
}

/// The parser's hand on the gate: when a piece may pass, and how many bytes one header may take.
#[derive(Clone, Debug)]
pub(super) struct Valve(Arc<Shared>);

/// What the gate and its valve share.
#[derive(Debug)]
struct Shared {
    /// One of the three below.
    flow: AtomicU8,
    /// Bytes that may still pass; `u64::MAX` for any number.
    budget: AtomicU64,
    /// The first fault around the contents, and its part.
    fault: Mutex<Option<(u64, Fault)>>,
}

/// Nothing passes.
const CLOSED: u8 = 0;
/// One piece passes.
const ONE: u8 = 1;
/// All pieces pass.
const FREE: u8 = 2;

impl Valve {
    /// A valve that lets all pass.
    pub(super) fn new() -> Self {
        Self(Arc::new(Shared { flow: AtomicU8::new(FREE), budget: AtomicU64::new(u64::MAX), fault: Mutex::default() }))
    }

    /// From here on a header is read: after `bytes` (and the piece that crosses them) the gate fails.
    pub(super) fn header(&self, bytes: u64) {
        self.0.budget.store(bytes, Ordering::Relaxed);
    }

    /// From here on data are read, which others count.
    pub(super) fn data(&self) {
        self.0.budget.store(u64::MAX, Ordering::Relaxed);
    }

    /// Asks a parser that owns the gate until it answers, and gives it a piece only when it cannot without.
    pub(super) async fn feed<T>(&self, mut ask: impl FnMut(&mut Task<'_>) -> Poll<T>) -> T {
        poll_fn(|task| {
            self.0.flow.store(CLOSED, Ordering::Relaxed);
            loop {
                if let Poll::Ready(answer) = ask(task) {
                    return Poll::Ready(answer);
                }
                if self.0.flow.swap(ONE, Ordering::Relaxed) == ONE {
                    // The piece was not taken: nothing has arrived, and the body knows whom to wake.
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// The fault in or before the part of this number.
    pub(super) fn fault(&self, part: u64) -> Option<Fault> {
        let fault = *self.0.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.filter(|(at, _)| *at <= part).map(|(_, fault)| fault)
    }

    /// The gate tells what it saw.
    fn tell(&self, fault: (u64, Fault)) {
        *self.0.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    /// Whether a piece may pass now.
    fn is_open(&self) -> bool {
        self.0.flow.load(Ordering::Relaxed) != CLOSED
    }

    /// A piece passes: it uses up a single leave and the budget; a budget that is spent already fails.
    fn pass(&self, bytes: u64) -> Result<(), GateError> {
        if self.0.flow.load(Ordering::Relaxed) == ONE {
            self.0.flow.store(CLOSED, Ordering::Relaxed);
        }
        match self.0.budget.load(Ordering::Relaxed) {
            u64::MAX => Ok(()),
            // The parser has all bytes before this piece and waits for the end of the header in which the fault is.
            _ if self.fault(u64::MAX).is_some() => Err(GateError::HeaderTooLong),
            0 => Err(GateError::HeaderTooLong),
            left => {
                self.0.budget.store(left.saturating_sub(bytes), Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Lets all pass again.
    fn free(&self) {
        self.0.flow.store(FREE, Ordering::Relaxed);
        self.data();
    }
}

/// A body, piece by piece.
#[derive(Debug)]
pub(super) struct Gate<B> {
    /// Where the bytes come from.
    body: B,
    /// Bytes that have arrived and wait to pass.
    rest: Bytes,
    /// Whether the body has more.
    state: State,
    /// Bytes that have arrived.
    size: u64,
    /// Most of them.
    limit: u64,
    /// The parser's hand.
    valve: Valve,
    /// Looks at the headers of parts, where there are parts.
    watch: Option<Watch>,
    /// The clock of this body.
    pace: Pace,
}

/// Whether a body has more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It may have.
    Open,
    /// It has ended.
    Ended,
}

impl<B> Gate<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyFault>,
{
    /// A gate around `body`; must be made inside a runtime, since it sets a timer.
    pub(super) fn new(body: B, context: &Context) -> Self {
        Self {
            body,
            rest: Bytes::new(),
            state: State::Open,
            size: 0,
            limit: context.limit,
            valve: Valve::new(),
            watch: None,
            pace: Pace::new(context),
        }
    }

    /// The parser's hand, to be used while the gate is lent.
    pub(super) fn valve(&self) -> Valve {
        self.valve.clone()
    }

    /// From here on the parts between this boundary are looked at, with headers of so many bytes at most.
    pub(super) fn watch(&mut self, boundary: &str, longest: u64) {
        self.watch = Some(Watch::new(boundary, longest));
    }

    /// Bytes that have arrived.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Reads to the end and drops it: only then is the body complete.
    pub(super) async fn drain(&mut self) -> Result<(), GateError> {
        self.valve.free();
        self.watch = None;
        while let Some(piece) = self.next().await {
            drop(piece?);
        }
        Ok(())
    }

    /// What has arrived and not passed.
    pub(super) fn into_rest(self) -> Bytes {
        self.rest
    }

    /// Takes what is ready, up to a large frame or enough small ones; ready when there is something, or the end.
    fn gather(&mut self, task: &mut Task<'_>) -> Poll<Result<(), GateError>> {
        let mut gathered = BytesMut::new();
        while gathered.len() < SMALL {
            match Pin::new(&mut self.body).poll_frame(task) {
                Poll::Pending if gathered.is_empty() => return Poll::Pending,
                Poll::Pending => break,
                Poll::Ready(None) => {
                    self.state = State::Ended;
                    break;
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(diagnose(error.into().as_ref()))),
                Poll::Ready(Some(Ok(frame))) => {
                    let Ok(data) = frame.into_data() else { continue };
                    self.size = self.size.saturating_add(data.len() as u64);
                    if self.size > self.limit {
                        return Poll::Ready(Err(GateError::TooLarge));
                    }
                    if gathered.is_empty() && data.len() >= SMALL {
                        self.rest = data;
                        return Poll::Ready(Ok(()));
                    }
                    gathered.extend_from_slice(&data);
                }
            }
        }
        self.rest = gathered.freeze();
        Poll::Ready(Ok(()))
    }
}

impl<B> Stream for Gate<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyFault>,
{
    type Item = Result<Bytes, GateError>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Option<Self::Item>> {
        let gate = &mut *self;
        if !gate.valve.is_open() {
            return Poll::Pending;
        }
        gate.pace.asked();
        if !gate.rest.has_remaining() && gate.state == State::Open {
            match gate.gather(task) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Some(Err(error))),
                Poll::Pending => {
                    ready!(gate.pace.waiting(task));
                    return Poll::Ready(Some(Err(GateError::TooSlow)));
                }
            }
        }
        let piece = gate.rest.split_to(gate.rest.len().min(PIECE));
        if piece.is_empty() {
            return Poll::Ready(None);
        }
        gate.pace.passed(piece.len() as u64);
        let passed = gate.valve.pass(piece.len() as u64);
        if let Some(watch) = &mut gate.watch {
            watch.see(&piece);
            if let Some(fault) = watch.fault() {
                gate.valve.tell(fault);
            }
        }
        Poll::Ready(Some(passed.map(|()| piece)))
    }
}

/// What an error of the body means: broken framing is the client's mistake, anything else is a lost connection.
fn diagnose(error: &(dyn Error + 'static)) -> GateError {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            match io.kind() {
                std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData => return GateError::Framing,
                _ => {}
            }
        }
        cause = error.source();
    }
    GateError::Gone
}

/// Measures a body's pace: at least so many bytes in each window of 10 s, and an end to all of it.
#[derive(Debug)]
struct Pace {
    /// Fires at the end of the window or of the whole time.
    timer: Pin<Box<Sleep>>,
    /// How long a window is.
    window: Duration,
    /// When the window ends.
    window_end: Instant,
    /// Bytes in it so far.
    bytes: u64,
    /// Fewest bytes of a window.
    least: u64,
    /// When the whole time ends.
    deadline: Instant,
    /// When the last piece was handed out: from there to the next question is our own time.
    handed_out: Option<Instant>,
}

impl Pace {
    /// A fresh one.
    fn new(context: &Context) -> Self {
        let now = Instant::now();
        let body_time = Duration::from_millis(u64::try_from(context.bounds.body_time.as_millis()).unwrap_or(0));
        let window_end = now + WINDOW;
        Self {
            timer: Box::pin(sleep_until(window_end)),
            window: WINDOW,
            window_end,
            bytes: 0,
            least: context.bounds.min_rate.saturating_mul(WINDOW.as_secs()),
            deadline: now + body_time,
            handed_out: None,
        }
    }

    /// The parser asks: what it took since the last piece does not count.
    fn asked(&mut self) {
        if let Some(since) = self.handed_out.take() {
            let own = since.elapsed();
            self.window_end += own;
            self.deadline += own;
        }
    }

    /// A piece passes.
    fn passed(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.handed_out = Some(Instant::now());
    }

    /// Nothing has arrived: ready when the client has been too slow.
    fn waiting(&mut self, task: &mut Task<'_>) -> Poll<()> {
        loop {
            let next = self.window_end.min(self.deadline);
            if self.timer.deadline() != next {
                self.timer.as_mut().reset(next);
            }
            ready!(self.timer.as_mut().poll(task));
            if next == self.deadline || self.bytes < self.least {
                return Poll::Ready(());
            }
            self.bytes = 0;
            self.window_end = Instant::now() + self.window;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{World, runtime};
    use super::*;
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    /// A body of `count` single bytes, one each 10 ms, behind a gate that wants `least` bytes in 100 ms.
    fn trickle(count: u32, least: u64) -> Result<(), GateError> {
        let world = World::new();
        runtime().block_on(async {
            let bytes = futures_util::stream::unfold(0, |sent| async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                (sent < count).then(|| (Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(b"a"))), sent + 1))
            });
            let mut gate = Gate::new(StreamBody::new(Box::pin(bytes)), &world.context);
            gate.pace.window = Duration::from_millis(100);
            gate.pace.window_end = Instant::now() + gate.pace.window;
            gate.pace.least = least;
            gate.drain().await
        })
    }

    #[test]
    fn a_body_slower_than_its_least_pace_is_cut_and_one_that_keeps_it_is_not() {
        assert_eq!(trickle(100, 50), Err(GateError::TooSlow));
        assert_eq!(trickle(40, 1), Ok(()));
    }

    #[test]
    fn our_own_time_does_not_count_against_the_client() {
        let world = World::new();
        runtime().block_on(async {
            let pieces = (0..3).map(|_| Ok::<_, std::io::Error>(Frame::data(Bytes::from(vec![b'a'; SMALL]))));
            let mut gate = Gate::new(StreamBody::new(futures_util::stream::iter(pieces)), &world.context);
            gate.pace.deadline = Instant::now() + Duration::from_millis(50);
            while let Some(piece) = gate.next().await {
                assert!(piece.is_ok());
                tokio::time::sleep(Duration::from_millis(40)).await;
            }
            assert!(gate.pace.deadline > Instant::now());
        });
    }

    #[test]
    fn a_broken_chunked_coding_is_the_clients_mistake_and_a_lost_connection_is_nobodys() {
        let wrapped = |kind| std::io::Error::other(std::io::Error::new(kind, "x"));
        assert_eq!(diagnose(&std::io::Error::new(std::io::ErrorKind::InvalidInput, "x")), GateError::Framing);
        assert_eq!(diagnose(&wrapped(std::io::ErrorKind::ConnectionReset)), GateError::Gone);
        assert_eq!(diagnose(&std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "x")), GateError::Gone);
    }
}
