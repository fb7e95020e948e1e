//! The daemon: store, limiter, intake, deliverer and sweep joined, and the signals that move them.
//!
//! # What fails how
//!
//! At start, what a restart cannot mend (configuration, owner, mode, a newer database) ends with exit code 78 and
//! words that say what to do; anything else with 1. Later nothing ends the daemon but a signal: a mistake in a
//! reloaded file leaves the old configuration in force, a failing sweep is logged and tried again a minute later.
//!
//! # What a crash leaves
//!
//! See `store/mod.rs`: the daemon keeps nothing outside the store.
//!
//! # Order of an end
//!
//! No new connections; requests in flight (30 s); sends under way (10 s each); the sweep's transaction; the writer
//! empties its queue when the last handle of the store goes.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};

use crate::clock::Clock;
use crate::config::{Config, Current, Listen, Problems, Source, locate};
use crate::delivery::{Deliverer, Handle, Standing};
use crate::domain::steady::{Erasing, Guard};
use crate::http::{self, Listener, Shared};
use crate::store::{Moved, OpenError, Store, StoreError, Throttle};
use crate::sweep::{self, Mode};

/// A mistake that a restart cannot mend (sysexits `EX_CONFIG`).
const EXIT_CONFIGURATION: u8 = 78;
/// Everything else that ends the daemon.
const EXIT_FAILURE: u8 = 1;
/// How often the sweep runs.
const SWEEP_EVERY: Duration = Duration::from_mins(1);
/// Stack of a thread of the runtime: validation and the database need little.
const STACK: usize = 1024 * 1024;
/// Threads of the runtime that never block.
const ASYNC_THREADS: usize = 2;
/// Threads of the runtime that may block.
const BLOCKING_THREADS: usize = 96;

/// Why the daemon ended, other than on request.
#[derive(Debug)]
pub struct Ended {
    /// The exit code.
    pub code: u8,
    /// What to tell the operator; may have several lines.
    pub text: String,
}

impl Ended {
    /// An end that a restart may mend.
    fn failure(text: impl std::fmt::Display) -> Self {
        Self { code: EXIT_FAILURE, text: text.to_string() }
    }
}

impl From<Problems> for Ended {
    fn from(problems: Problems) -> Self {
        Self { code: EXIT_CONFIGURATION, text: problems.to_string() }
    }
}

impl From<OpenError> for Ended {
    fn from(error: OpenError) -> Self {
        let code = match &error {
            OpenError::Configuration { .. } => EXIT_CONFIGURATION,
            OpenError::InUse { .. } | OpenError::Missing(_) | OpenError::Store(_) => EXIT_FAILURE,
        };
        Self { code, text: error.to_string() }
    }
}

/// A running daemon. Dropping it ends it in order.
#[derive(Debug)]
pub struct Running {
    /// Where it listens, such as `127.0.0.1:8787` or the path of a socket.
    address: String,
    /// What is kept.
    store: Store,
    /// What is in force.
    current: Current,
    /// Time and chance.
    clock: Clock,
    /// What sends, whether by itself or stepped by a test.
    deliverer: Deliverer,
    /// Turns true when the end has come.
    stop: watch::Sender<bool>,
    /// The async side; `None` once it has ended.
    runtime: Option<Runtime>,
    /// The server's task; `None` once it has ended.
    server: Option<tokio::task::JoinHandle<()>>,
    /// The delivery threads, which rest while the configuration in force sends nothing by itself; `None` once they have
    /// ended.
    deliveries: Option<Handle>,
    /// What sweeps, whether by itself or stepped by a test.
    sweeper: Sweeper,
    /// The sweep's thread and what wakes it to its end.
    sweeping: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

/// Starts a daemon for a configuration.
pub fn start(config: Config, clock: Clock) -> Result<Running, Ended> {
    let daemon = config.daemon.clone();
    let store = Store::open_daemon(&daemon.data_dir, clock.now(), clock.random())?;
    let throttle = Throttle::new(daemon.limiter_dir.clone(), daemon.bounds.limiter_files);
    write_config_hash(&store, &config, &clock).map_err(Ended::failure)?;
    let current = Current::new(config);
    let runtime = Builder::new_multi_thread()
        .worker_threads(ASYNC_THREADS)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_stack_size(STACK)
        .thread_name("formd-http")
        .enable_all()
        .build()
        .map_err(Ended::failure)?;
    let listener = runtime.block_on(Listener::bind(&daemon.listen)).map_err(|error| unbound(&daemon.listen, &error))?;
    let address = listener.address();
    let shared =
        Shared::new(store.clone(), current.clone(), clock.clone(), throttle.clone()).map_err(Ended::failure)?;
    let (stop, stopped) = watch::channel(false);
    let server = runtime.spawn(http::serve(listener, shared, stopped));
    let deliverer = Deliverer::new(store.clone(), current.clone(), clock.clone(), Standing::InForce);
    apply_to_waiting(&deliverer);
    let deliveries = Some(deliverer.clone().run().map_err(Ended::failure)?);
    let sweeper = Sweeper { store: store.clone(), current: current.clone(), clock: clock.clone(), throttle };
    let sweeping = Some(start_sweeper(&sweeper)?);
    Ok(Running {
        address,
        store,
        current,
        clock,
        deliverer,
        stop,
        runtime: Some(runtime),
        server: Some(server),
        deliveries,
        sweeper,
        sweeping,
    })
}

/// Says why an address cannot be listened on.
fn unbound(listen: &Listen, error: &std::io::Error) -> Ended {
    let place = match listen {
        Listen::Tcp(address) => address.to_string(),
        Listen::Unix(path) => path.display().to_string(),
    };
    Ended::failure(format!(
        "cannot listen on `{place}`: {error}\n  hint: another program has it, or `listen` in formd.toml should name another address"
    ))
}

/// Tells formctl which configuration is in force.
fn write_config_hash(store: &Store, config: &Config, clock: &Clock) -> Result<(), StoreError> {
    store.set_fact("config_hash", &config.hash, clock.now())
}

/// Ends, holds and releases what waits as the configuration in force wants it. A failure is no reason to stop: each
/// claim asks again.
fn apply_to_waiting(deliverer: &Deliverer) {
    match deliverer.apply() {
        Ok(Moved { ended: 0, held: 0, released: 0 }) => {}
        Ok(Moved { ended, held, released }) => {
            tracing::warn!(
                event = "deliveries_moved",
                ended,
                held,
                released,
                "the configuration ended, held or released waiting deliveries"
            );
        }
        Err(error) => {
            tracing::error!(event = "deliveries_not_moved", %error, "waiting deliveries could not be brought in line with the configuration; each is judged when its turn comes");
        }
    }
}

/// Starts the thread that sweeps every minute.
fn start_sweeper(sweeper: &Sweeper) -> Result<(mpsc::Sender<()>, JoinHandle<()>), Ended> {
    sweeper.believe_clock().map_err(Ended::failure)?;
    let (end, ended) = mpsc::channel();
    let sweeper = sweeper.clone();
    let thread = thread::Builder::new().name("formd-sweep".to_owned()).spawn(move || {
        // The first one at once: what the last run left waits for nothing.
        let mut pause = Duration::ZERO;
        while ended.recv_timeout(pause) == Err(mpsc::RecvTimeoutError::Timeout) {
            pause = SWEEP_EVERY;
            if let Err(error) = sweeper.sweep() {
                tracing::error!(event = "sweep_failed", %error, "the sweep failed and is tried again in a minute");
            }
        }
    });
    Ok((end, thread.map_err(Ended::failure)?))
}

/// What sweeps.
#[derive(Clone, Debug)]
struct Sweeper {
    /// What is swept.
    store: Store,
    /// By which ages.
    current: Current,
    /// Both clocks.
    clock: Clock,
    /// Whose failures are written down by the way.
    throttle: Throttle,
}

impl Sweeper {
    /// Writes down the clocks of the start: from here on a jump is noticed, by the daemon and by its tools.
    fn believe_clock(&self) -> Result<(), StoreError> {
        let now = self.clock.reading();
        self.store.set_clock(Guard::new(now), Erasing::Goes, now.wall)
    }

    /// One round: judges the clock, sweeps, and writes down what the limiter had to let pass.
    fn sweep(&self) -> Result<(), StoreError> {
        let now = self.clock.reading();
        let (guard, erasing) = self.store.facts()?.clock.unwrap_or(Guard::new(now)).judge(now);
        self.store.set_clock(guard, erasing, now.wall)?;
        if let Erasing::Waits { until } = erasing {
            tracing::warn!(event = "clock_jumped", %until, "the clock jumped ahead by more than a day: nothing is erased by its date until then");
        }
        sweep::run(&self.store, &self.current.get(), Mode::CarryOut, now, erasing)?;
        self.store.set_fact("limiter_failures", &self.throttle.failures().to_string(), now.wall)
    }
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What sends, for tests that step it.
    pub fn deliverer(&self) -> &Deliverer {
        &self.deliverer
    }

    /// One round of the sweep, as its thread makes it, for tests that step it.
    pub fn sweep(&self) -> Result<(), StoreError> {
        self.sweeper.sweep()
    }

    /// Publishes the files on disk at one stroke, or says what is wrong with them and leaves the old configuration in
    /// force. Where it listens and where data lies change only at a restart.
    pub fn reload(&self) -> Result<(), String> {
        let old = self.current.get();
        let Source::Files(file) = &old.source else { return Ok(()) };
        let new = Config::load(Some(file)).map_err(|problems| problems.to_string())?;
        if (&new.daemon.listen, &new.daemon.data_dir) != (&old.daemon.listen, &old.daemon.data_dir) {
            tracing::warn!(event = "restart_needed", "`listen` and `data_dir` change only at a restart");
        }
        self.current.publish(new);
        apply_to_waiting(&self.deliverer);
        // A site that was switched on again has deliveries that wait for nothing else.
        self.store.directory().wake();
        // Last, since `formctl reload` and whoever waits for it go by this.
        if let Err(error) = write_config_hash(&self.store, &self.current.get(), &self.clock) {
            tracing::error!(event = "config_hash_not_written", %error, "the files are in force, but `formctl status` cannot know it");
        }
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let (Some(runtime), Some(server)) = (&self.runtime, self.server.take())
            && let Err(error) = runtime.block_on(server)
        {
            tracing::error!(event = "server_failed", %error, "the server ended by a fault of its own");
        }
        if let Some(deliveries) = self.deliveries.take() {
            deliveries.stop();
        }
        if let Some((end, thread)) = self.sweeping.take() {
            drop(end);
            if thread.join().is_err() {
                tracing::error!(event = "sweep_panicked", "a defect: the sweep's thread panicked");
            }
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }
}

/// What the command line of `formd` says.
#[derive(Debug, Default)]
pub struct Options {
    /// `--config FILE`; `None`: the default file where it exists, else the embedded default.
    pub config: Option<PathBuf>,
    /// `--demo`: the embedded default whatever files there are.
    pub demo: Demo,
    /// `--listen ADDRESS`: instead of the configuration's.
    pub listen: Option<String>,
}

/// Whether the embedded default was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demo {
    /// Files first.
    #[default]
    No,
    /// The embedded default.
    Yes,
}

/// Runs the daemon until SIGTERM or SIGINT. `say` prints a text to standard output.
pub fn main(options: Options, say: &mut dyn FnMut(&str)) -> Result<(), Ended> {
    let file = match options.demo {
        Demo::Yes => None,
        Demo::No => locate::file(options.config.as_deref()),
    };
    let mut config = Config::load(file.as_deref())?;
    if let Some(listen) = options.listen {
        config.daemon.listen = Listen::parse(&listen, Path::new(""))
            .ok_or_else(|| Ended::failure(format!("`--listen {listen}` is neither ADDRESS:PORT nor unix:PATH")))?;
    }
    crate::log::start(config.daemon.log, tracing::Level::INFO);
    for notice in &config.notices {
        tracing::warn!(event = "notice", "{notice}");
    }
    let source = config.source.clone();
    // Before anybody is told that it runs: a signal that comes early ends it in order as well.
    let signals = Builder::new_current_thread().enable_all().build().map_err(Ended::failure)?;
    let told = signals.block_on(async { Signals::listen() }).map_err(Ended::failure)?;
    let running = start(config, Clock::system())?;
    say(&format!("listening on {}", running.address()));
    if source == Source::Embedded {
        // The tool beside this program, so that what is printed works from any folder.
        let beside = std::env::current_exe().ok().map(|path| path.with_file_name("formctl"));
        let formctl =
            beside.filter(|path| path.exists()).map_or("formctl".to_owned(), |path| path.display().to_string());
        say(&crate::demo::banner(running.address(), &formctl));
    }
    signals.block_on(serve_until_told(running, told))
}

/// The signals that move the daemon, caught from the moment this is made.
struct Signals {
    /// SIGHUP.
    hangup: Signal,
    /// SIGTERM.
    terminate: Signal,
    /// SIGINT.
    interrupt: Signal,
}

impl Signals {
    /// Catches them; within a runtime.
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }
}

/// Reloads at SIGHUP, ends in order at SIGTERM or SIGINT, and at once at a second one: everything acknowledged is on
/// disk already.
async fn serve_until_told(running: Running, told: Signals) -> Result<(), Ended> {
    let Signals { mut hangup, mut terminate, mut interrupt } = told;
    loop {
        tokio::select! {
            _ = hangup.recv() => reload_logged(&running),
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
        }
    }
    tracing::info!(event = "stopping", "no new connections; finishing what is in flight");
    let (done, ended) = oneshot::channel();
    thread::spawn(move || {
        drop(running);
        // Nobody listens any more when a second signal came first.
        done.send(()).unwrap_or_default();
    });
    tokio::select! {
        _ = ended => Ok(()),
        _ = terminate.recv() => Err(Ended::failure("ended at once by a second signal")),
        _ = interrupt.recv() => Err(Ended::failure("ended at once by a second signal")),
    }
}

/// Reloads and writes down what came of it.
fn reload_logged(running: &Running) {
    match running.reload() {
        Ok(()) => tracing::info!(event = "reloaded", "the files on disk are in force"),
        Err(text) => tracing::error!(event = "reload_refused", "the old configuration stays in force: {text}"),
    }
}
