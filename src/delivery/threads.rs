//! The threads of the daemon: one that claims, one for each send under way, and one that tells of failures
//! ([`watch`]).
//!
//! The claiming thread sleeps on the wake-up socket until something is due, at most 60 s; the store's writer,
//! formctl and every ended send wake it. It claims only for a free place, so a claim is at work at once and its
//! five minutes are the peer's. A send's thread lives for that send alone; there are never more than 32, nor more than
//! `[delivery] workers` of one site.
//!
//! No polling: without anything due the database is asked once a minute. While something is due that has no turn
//! (its destination is at its cap) it is asked once a second, until the send that stands in the way has ended.
//!
//! Stopping: no new claim, sends under way end by themselves within their time, a claim whose thread has not begun
//! is given back. A thread that cannot be started gives its claim back too; a store that fails, or panics, is asked
//! again after a second.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixDatagram;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::alert::watch;
use super::board::IN_ALL;
use super::worker::{Deliverer, Inner, Job, disabled};
use crate::store::{Due, Store, StoreError};

/// The longest sleep.
const LONGEST: Duration = Duration::from_mins(1);
/// The sleep while something is due that has no turn.
const BLOCKED: Duration = Duration::from_secs(1);
/// The pause after an error of the store, the socket or a thread.
const PAUSE: Duration = Duration::from_secs(1);
/// Wake-ups that are read together; more than a socket's queue holds by default.
const WAKES: usize = 1024;
/// Stack of each thread. An unoptimised build does a mail dialogue, and a TLS handshake as far as the judging of the
/// certificate, in a quarter of it.
const STACK: usize = 512 * 1024;

impl Deliverer {
    /// Starts the threads and returns at once; they end when the handle is stopped.
    pub fn run(self) -> Result<Handle, StoreError> {
        let socket = self.inner.store.directory().listen()?;
        let start = || -> io::Result<Handle> {
            let bell = socket.try_clone()?;
            let stop = Arc::new(AtomicBool::new(false));
            let inner = Arc::clone(&self.inner);
            let alerts = watch::start(Arc::clone(&inner), STACK)?;
            let scheduler = Scheduler { inner: self.inner, socket, stop: Arc::clone(&stop), sends: Vec::new() };
            let thread = Builder::new().name("deliver".into()).stack_size(STACK).spawn(move || scheduler.run())?;
            Ok(Handle { stop, bell, thread, alerts, inner })
        };
        let path = std::path::PathBuf::from("deliver");
        start().map_err(|source| StoreError::File { what: "start the thread", path, source })
    }
}

/// Running delivery threads.
#[derive(Debug)]
pub struct Handle {
    /// Told to stop.
    stop: Arc<AtomicBool>,
    /// The wake-up socket, to end the scheduler's sleep.
    bell: UnixDatagram,
    /// The scheduler, which joins the sends.
    thread: JoinHandle<()>,
    /// Tells of failures.
    alerts: JoinHandle<()>,
    /// What they share.
    inner: Arc<Inner>,
}

impl Handle {
    /// Lets the sends and the alert under way finish (10 s each, 60 s at most with files), gives unbegun claims back,
    /// ends the threads.
    pub fn stop(self) {
        self.stop.store(true, Ordering::SeqCst);
        self.inner.bell.end();
        // Shut down, the socket wakes its reader, now and at each later sleep.
        if let Err(error) = self.bell.shutdown(Shutdown::Both) {
            tracing::warn!(event = "delivery_stop", %error, "the deliverer could not be woken; it stops within a minute");
        }
        if self.thread.join().is_err() {
            tracing::error!(event = "delivery_panic", "the delivery thread had ended by a panic");
        }
        if self.alerts.join().is_err() {
            tracing::error!(event = "alert_failed", "the alert's thread had ended by a panic");
        }
    }
}

/// The claiming thread.
struct Scheduler {
    /// What sends.
    inner: Arc<Inner>,
    /// Where it is woken.
    socket: UnixDatagram,
    /// Whether to stop.
    stop: Arc<AtomicBool>,
    /// Threads that were started and may have ended.
    sends: Vec<JoinHandle<()>>,
}

impl Scheduler {
    /// Claims and sleeps until it is stopped, then waits for the sends.
    fn run(mut self) {
        while !self.stop.load(Ordering::SeqCst) {
            self.reap(JoinHandle::is_finished);
            let filled = catch_unwind(AssertUnwindSafe(|| self.fill())).unwrap_or_else(|_| {
                tracing::error!(event = "delivery_panic", "claiming panicked; tried again in a second");
                std::thread::sleep(PAUSE);
                Ok(Duration::ZERO)
            });
            match filled {
                Ok(wait) => self.sleep(wait),
                Err(error) => {
                    tracing::error!(event = "delivery_store_failed", %error, "the store failed; asked again in a second");
                    std::thread::sleep(PAUSE);
                }
            }
        }
        self.reap(|_| true);
    }

    /// Joins the sends that `which` picks.
    fn reap(&mut self, which: impl Fn(&JoinHandle<()>) -> bool) {
        for send in self.sends.extract_if(.., |send| which(send)) {
            if send.join().is_err() {
                tracing::error!(event = "delivery_panic", "a delivery thread ended by a panic; its claim runs out");
            }
        }
    }

    /// Starts a send for every free place while something is due; returns how long to sleep.
    fn fill(&mut self) -> Result<Duration, StoreError> {
        let config = self.inner.current.get();
        if !config.daemon.delivery.enabled {
            return Ok(LONGEST);
        }
        while self.inner.board.lock().taken() < IN_ALL {
            if self.stop.load(Ordering::SeqCst) {
                return Ok(Duration::ZERO);
            }
            match self.inner.take()? {
                Some(job) => self.start(job)?,
                None => return self.until_due(),
            }
        }
        // Every place is taken: the next ended send rings.
        Ok(LONGEST)
    }

    /// How long nothing is due.
    fn until_due(&self) -> Result<Duration, StoreError> {
        let config = self.inner.current.get();
        let skip = self.inner.board.lock().turn(disabled(&config)).skip_sites;
        let now = self.inner.clock.now();
        Ok(match self.inner.store.next_due(&skip)? {
            Due::Never => LONGEST,
            Due::At(due) if due <= now => BLOCKED,
            Due::At(due) => due.since(now).as_duration().min(LONGEST),
        })
    }

    /// Starts the thread of one send.
    fn start(&mut self, job: Job) -> Result<(), StoreError> {
        let claim = (job.claim.id, job.claim.token);
        let (inner, stop) = (Arc::clone(&self.inner), Arc::clone(&self.stop));
        let body = move || {
            // Rung last, when the place is free again, also by a panic.
            let _ring = Ring(&inner.store);
            let stopping = stop.load(Ordering::SeqCst);
            let ended = if stopping { inner.give_back(claim) } else { inner.carry_out(job).map(|_| ()) };
            if let Err(error) = ended {
                tracing::error!(event = "delivery_store_failed", delivery = %claim.0, %error, "the store failed; the delivery's claim runs out");
            }
        };
        match Builder::new().name("send".into()).stack_size(STACK).spawn(body) {
            Ok(thread) => self.sends.push(thread),
            Err(error) => {
                tracing::error!(event = "delivery_thread_failed", %error, "no thread for a send; tried again in a second");
                self.inner.give_back(claim)?;
                std::thread::sleep(PAUSE);
            }
        }
        Ok(())
    }

    /// Sleeps until it is woken or `wait` is over, then takes all wake-ups that have come, before it claims: one
    /// that comes later ends the next sleep.
    fn sleep(&self, wait: Duration) {
        if let Err(error) = doze(&self.socket, wait) {
            tracing::error!(event = "wake_failed", %error, "the wake-up socket failed; deliveries are looked for every second");
            std::thread::sleep(PAUSE);
        }
    }
}

/// Waits for a datagram at most `wait` and takes those behind it.
fn doze(socket: &UnixDatagram, wait: Duration) -> io::Result<()> {
    let mut nothing = [0; 8];
    let quiet = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
    };
    socket.set_read_timeout(Some(wait.max(Duration::from_millis(1))))?;
    match socket.recv(&mut nothing) {
        Ok(_) => {}
        Err(error) if quiet(&error) => return Ok(()),
        Err(error) => return Err(error),
    }
    socket.set_nonblocking(true)?;
    for _ in 0..WAKES {
        if socket.recv(&mut nothing).is_err() {
            break;
        }
    }
    socket.set_nonblocking(false)
}

/// Wakes the scheduler when it is dropped.
struct Ring<'a>(&'a Store);

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        self.0.directory().wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn many_wake_ups_end_one_sleep() {
        let (bell, socket) = UnixDatagram::pair().unwrap();
        for _ in 0..5 {
            bell.send(b"w").unwrap();
        }
        let started = Instant::now();
        doze(&socket, Duration::from_secs(30)).unwrap();
        assert!(started.elapsed() < Duration::from_secs(5));
        doze(&socket, Duration::from_millis(50)).unwrap();
        assert!(started.elapsed() >= Duration::from_millis(50));
    }

    #[test]
    fn a_stop_ends_the_sleep_without_anybody_writing_to_the_socket() {
        let socket = UnixDatagram::unbound().unwrap();
        let bell = socket.try_clone().unwrap();
        let started = Instant::now();
        let sleeper = std::thread::spawn(move || {
            doze(&socket, Duration::from_secs(30)).unwrap();
            // What would be the next sleep ends as well.
            doze(&socket, Duration::from_secs(30)).unwrap();
        });
        std::thread::sleep(Duration::from_millis(50));
        bell.shutdown(Shutdown::Both).unwrap();
        sleeper.join().unwrap();
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
