//! A socket that lets only checked heads through.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::{Framing, HeadFault, Limits, MARKER, Scan, Scanner, check};
use crate::http::roster::{Presence, Seat};

/// How long a connection may be silent.
#[derive(Clone, Copy, Debug)]
pub(in crate::http) struct Times {
    /// For a whole head, from the start of the connection or the head's first byte.
    pub(in crate::http) head: Duration,
    /// Between an answer and the next head: longer than the 60 s of the usual proxies, so that it is they who close.
    pub(in crate::http) idle: Duration,
    /// For a client that reads nothing of its answer.
    pub(in crate::http) write: Duration,
    /// For what a client still sends after the last answer, in all.
    pub(in crate::http) linger: Duration,
}

/// Bytes asked of the socket at once while a head arrives.
const CHUNK: usize = 4 * 1024;
/// Most bytes of a refused body that are read and dropped, so that the client sees the answer and no reset: a
/// browser reads nothing before it has sent all. More than the largest body that a form takes by default.
const LINGER_BYTES: u64 = 16 * 1024 * 1024;

/// The socket, seen through the check. What a head announces as its body is counted through to the next head.
#[derive(Debug)]
pub(in crate::http) struct HeadStream<S> {
    /// The socket.
    socket: S,
    /// How large a head may be.
    limits: Limits,
    /// How long it may be silent.
    times: Times,
    /// Its place among the connections without a head.
    seat: Seat,
    /// What comes next.
    state: State,
    /// Bytes from the socket that nobody was given yet.
    held: BytesMut,
    /// Runs while a head is awaited, and while the client lingers.
    timer: Pin<Box<Sleep>>,
    /// Runs while the client reads nothing.
    write_timer: Option<Pin<Box<Sleep>>>,
}

/// What comes next on the connection.
#[derive(Clone, Copy, Debug)]
enum State {
    /// A head; how much of it was seen, and whether its time already runs.
    Head(Scanner, Began),
    /// So many bytes of a checked request.
    Pass(u64),
    /// A chunked request, the last of the connection.
    Last,
    /// The marker head, then nothing.
    Refused,
    /// The client or its time is gone.
    Ended,
    /// The answer is out; so many bytes are still read and dropped.
    Linger(u64),
}

/// Whether the time of a head runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Began {
    /// Idle since the last answer.
    No,
    /// Since its first byte, or since the connection began.
    Yes,
}

impl<S> HeadStream<S> {
    /// Watches a socket that was just accepted.
    pub(in crate::http) fn new(socket: S, limits: Limits, times: Times, seat: Seat) -> Self {
        Self {
            socket,
            limits,
            times,
            seat,
            state: State::Head(Scanner::default(), Began::Yes),
            held: BytesMut::new(),
            timer: Box::pin(sleep(times.head)),
            write_timer: None,
        }
    }

    /// Turns to the next head, idle until its first byte.
    fn await_head(&mut self) {
        self.seat.wait();
        self.state = State::Head(Scanner::default(), Began::No);
        self.timer.as_mut().reset(Instant::now() + self.times.idle);
    }

    /// Puts the marker head in the place of what was held.
    fn refuse(&mut self, fault: HeadFault) {
        // A browser is recognised by what it sends with every navigation; a client that cannot be asked gets JSON.
        let page = self.held.to_ascii_lowercase().windows(24).any(|window| window == b"sec-fetch-mode: navigate");
        let mode = if page { "Sec-Fetch-Mode: navigate\r\n" } else { "" };
        let head = format!("{MARKER} /{} HTTP/1.1\r\nHost: refused\r\n{mode}Connection: close\r\n\r\n", fault.word());
        self.held = BytesMut::from(head.as_bytes());
        self.state = State::Refused;
    }

    /// Looks at the head so far.
    fn look(&mut self, mut scanner: Scanner, began: Began) -> io::Result<Progress> {
        match scanner.advance(&self.held, self.limits) {
            Scan::More => {
                self.state = State::Head(scanner, began);
                return Ok(Progress::NeedsBytes);
            }
            Scan::Fault(fault) => {
                self.leave()?;
                self.refuse(fault);
            }
            Scan::Complete(length) => {
                self.leave()?;
                match check(self.held.get(..length).unwrap_or_default(), self.limits) {
                    Ok(Framing::Length(body)) => self.state = State::Pass(body.saturating_add(length as u64)),
                    Ok(Framing::Chunked) => self.state = State::Last,
                    Err(fault) => self.refuse(fault),
                }
            }
        }
        Ok(Progress::Changed)
    }

    /// Gives up the place among the waiting; fails when it was already given to another.
    fn leave(&self) -> io::Result<()> {
        match self.seat.leave() {
            Presence::Waiting => Ok(()),
            Presence::Evicted => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }

    /// The time of the current wait is over.
    fn time_out(&mut self) {
        if self.held.is_empty() {
            // Browsers keep connections in reserve; an answer to nothing would be taken for one to the next request.
            self.state = State::Ended;
        } else {
            self.refuse(HeadFault::TooSlow);
        }
    }
}

/// Whether a look at the head led on.
enum Progress {
    /// The state is another one.
    Changed,
    /// Only more bytes help.
    NeedsBytes,
}

impl<S: AsyncRead + Unpin> HeadStream<S> {
    /// Goes on with a head: `Ready` when the state changed.
    fn poll_head(&mut self, cx: &mut Context<'_>, scanner: Scanner, began: Began) -> Poll<io::Result<()>> {
        if self.seat.poll_evicted(cx) == Presence::Evicted {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        // One empty line before a request line is to be ignored (RFC 9112, 2.2).
        if self.held.starts_with(b"\r\n") && began == Began::No {
            self.held.advance(2);
        }
        let waits_for_lf = began == Began::No && *self.held == *b"\r";
        if !self.held.is_empty() && !waits_for_lf {
            if began == Began::No {
                self.timer.as_mut().reset(Instant::now() + self.times.head);
            }
            match self.look(scanner, Began::Yes)? {
                Progress::Changed => return Poll::Ready(Ok(())),
                Progress::NeedsBytes => {}
            }
        }
        self.held.reserve(CHUNK);
        match pin!(self.socket.read_buf(&mut self.held)).poll(cx) {
            Poll::Ready(Ok(0)) => self.state = State::Ended,
            Poll::Ready(Ok(_)) => {}
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => {
                ready!(self.timer.as_mut().poll(cx));
                self.leave()?;
                self.time_out();
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Hands on up to `most` bytes, the held ones first; returns how many.
    fn poll_hand_on(&mut self, cx: &mut Context<'_>, out: &mut ReadBuf<'_>, most: usize) -> Poll<io::Result<usize>> {
        let most = most.min(out.remaining());
        if !self.held.is_empty() {
            let count = most.min(self.held.len());
            out.put_slice(&self.held.split_to(count));
            return Poll::Ready(Ok(count));
        }
        if most == out.remaining() {
            let before = out.filled().len();
            ready!(Pin::new(&mut self.socket).poll_read(cx, out))?;
            return Poll::Ready(Ok(out.filled().len() - before));
        }
        let mut part = ReadBuf::new(out.initialize_unfilled_to(most));
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut part))?;
        let count = part.filled().len();
        out.advance(count);
        Poll::Ready(Ok(count))
    }

    /// Reads and drops what the client still sends, within bounds; then the socket may be closed without a reset.
    fn poll_linger(&mut self, cx: &mut Context<'_>, mut left: u64) -> Poll<()> {
        let mut scrap = [0; 8 * 1024];
        loop {
            let mut part = ReadBuf::new(&mut scrap);
            match Pin::new(&mut self.socket).poll_read(cx, &mut part) {
                Poll::Ready(Ok(())) if !part.filled().is_empty() && left > 0 => {
                    left = left.saturating_sub(part.filled().len() as u64);
                    self.state = State::Linger(left);
                }
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => return self.timer.as_mut().poll(cx),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadStream<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match this.state {
                State::Head(scanner, began) => ready!(this.poll_head(cx, scanner, began))?,
                State::Pass(0) => this.await_head(),
                State::Pass(left) => {
                    let most = usize::try_from(left).unwrap_or(usize::MAX);
                    let count = ready!(this.poll_hand_on(cx, out, most))?;
                    this.state = State::Pass(left - count as u64);
                    return Poll::Ready(Ok(()));
                }
                State::Refused if this.held.is_empty() => return Poll::Pending,
                State::Last | State::Refused => return this.poll_hand_on(cx, out, usize::MAX).map_ok(drop),
                State::Ended | State::Linger(_) => return Poll::Ready(Ok(())),
            }
        }
    }
}

impl<S> HeadStream<S> {
    /// Fails a write that made no step for too long: a client that never reads would hold its connection for good.
    fn watch<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.write_timer = None;
            return poll;
        }
        let limit = self.times.write;
        let timer = self.write_timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for HeadStream<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let poll = Pin::new(&mut this.socket).poll_write(cx, bytes);
        this.watch(cx, poll)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let poll = Pin::new(&mut this.socket).poll_write_vectored(cx, pieces);
        this.watch(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let poll = Pin::new(&mut this.socket).poll_flush(cx);
        this.watch(cx, poll)
    }

    /// Says that the answer is whole, then lingers where the client may still be sending.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let left = match this.state {
            State::Linger(left) => left,
            before => {
                ready!(Pin::new(&mut this.socket).poll_shutdown(cx))?;
                let left = match before {
                    State::Pass(left) => left.min(LINGER_BYTES),
                    State::Last | State::Refused => LINGER_BYTES,
                    State::Head(..) | State::Ended | State::Linger(_) => 0,
                };
                this.timer.as_mut().reset(Instant::now() + this.times.linger);
                this.state = State::Linger(left);
                left
            }
        };
        if left == 0 {
            return Poll::Ready(Ok(()));
        }
        this.poll_linger(cx, left).map(Ok)
    }
}
