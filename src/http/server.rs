//! Accepts connections and answers their requests, whatever the service behind is.
//!
//! * Open connections are bounded; at the bound the one that waits longest without a complete head makes room. When
//!   every connection has brought a head, new ones wait in the kernel's queue.
//! * A panic in the service is one answer of 500 with a number that stands in the log; the connection and the daemon
//!   go on.
//! * After an accept error (too many open files) it waits 100 ms instead of spinning.
//! * On the stop signal: no new connections, idle ones are closed, requests in flight have 30 s.
//!
//! hyper's own timer for heads is off: it closes without an answer and is the idle time as well. The times are kept
//! by [`super::head`] below it.

use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONNECTION, EXPECT, HeaderValue, TRANSFER_ENCODING};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::head::{HeadStream, Limits, MARKER, Times};
use super::listener::{Listener, Peer, Socket};
use super::roster::{Roster, Seat};

/// What is sent.
pub(super) type Reply = Response<Full<Bytes>>;

/// How long requests in flight are waited for on a stop.
const GRACE: Duration = Duration::from_secs(30);
/// The pause after an accept error, and between evictions at the cap.
const PAUSE: Duration = Duration::from_millis(100);
/// hyper's buffer for one connection.
const BUFFER: usize = 32 * 1024;
/// Header lines that hyper takes without being told, and faster for it.
const USUAL_LINES: usize = 100;

/// The bounds of connections, read anew for each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Most open connections.
    pub(super) connections: usize,
    /// How large a head may be.
    pub(super) limits: Limits,
    /// How long it may be silent.
    pub(super) times: Times,
}

/// What answers.
pub(super) trait Service: Clone + Send + Sync + 'static {
    /// The bounds in force.
    fn settings(&self) -> Settings;

    /// Answers one request.
    fn answer(&self, request: Request<Incoming>, peer: Peer) -> impl Future<Output = Reply> + Send;

    /// Answers a request whose head was refused; its path names the fault.
    fn answer_refused(&self, request: &Request<Incoming>) -> Reply;

    /// Answers a request in which the service panicked.
    fn answer_panic(&self) -> Reply;
}

/// Serves until `stop` says so (or is dropped), then lets what is in flight finish.
pub(super) async fn run(listener: Listener, service: impl Service, mut stop: watch::Receiver<bool>) {
    let roster = Arc::new(Roster::default());
    let mut connections = JoinSet::new();
    loop {
        let cap = service.settings().connections.max(1);
        tokio::select! {
            biased;
            () = stopped(&mut stop) => break,
            Some(_) = connections.join_next() => {}
            () = sleep(PAUSE), if connections.len() > cap => roster.evict_one(),
            accepted = listener.accept(), if connections.len() <= cap => match accepted {
                Ok((socket, peer)) => {
                    if connections.len() >= cap {
                        roster.evict_one();
                    }
                    let seat = Seat::new(&roster);
                    connections.spawn(connection(socket, peer, seat, service.clone(), stop.clone()));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    let drained = timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
    if drained.is_err() {
        tracing::warn!(connections = connections.len(), "connections were cut: not finished within 30 s");
    }
}

/// Comes back when the daemon is to stop.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    // An error means that nobody is left to say it: stop as well.
    drop(stop.wait_for(|stop| *stop).await);
}

/// One connection from its first byte to its last.
async fn connection(socket: Socket, peer: Peer, seat: Seat, service: impl Service, mut stop: watch::Receiver<bool>) {
    let settings = service.settings();
    let stream = HeadStream::new(socket, settings.limits, settings.times, seat);
    let answer = service_fn(move |request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(reply(request, peer, &service).await) }
    });
    let mut connection = pin!(protocol(settings.limits).serve_connection(TokioIo::new(stream), answer));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopped(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// hyper, set so that it never refuses a head that passed the check.
fn protocol(limits: Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .half_close(true)
        .max_buf_size(BUFFER.max(limits.bytes.saturating_mul(2)));
    if limits.lines > USUAL_LINES {
        builder.max_headers(limits.lines);
    }
    builder
}

/// One answer, with `Connection: close` where nothing may follow.
async fn reply(request: Request<Incoming>, peer: Peer, service: &impl Service) -> Reply {
    let refused = request.method().as_str() == MARKER;
    // The end of a chunked body is not followed below hyper, so no head may be expected behind it.
    let last = refused || request.headers().contains_key(TRANSFER_ENCODING);
    let asks_first = request.headers().contains_key(EXPECT);
    let mut reply = if refused {
        service.answer_refused(&request)
    } else {
        unwinding(service.answer(request, peer)).await.unwrap_or_else(|Panicked| service.answer_panic())
    };
    // A client that asked before its body and was refused may send the body or not (RFC 9110, 10.1.1): what would
    // come next could be read in two ways.
    let failed = reply.status().is_client_error() || reply.status().is_server_error();
    if last || (asks_first && failed) {
        reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    reply
}

/// The future panicked.
struct Panicked;

/// Runs a future to its end or to its panic. The future is dropped then, so nobody sees a half-made state.
async fn unwinding<T>(future: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(_) => Poll::Ready(Err(Panicked)),
    })
    .await
}

#[cfg(test)]
mod tests;
