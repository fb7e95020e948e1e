//! The daemon: store, limiter, intake, deliverer and sweep joined, and the signals that move them.
//!
//! # What fails how
//!
//! At start, what a restart cannot mend (configuration, owner, mode, a newer database) ends with exit code 78 and
//! one line that says what to do; anything else with 1. Later nothing ends the daemon but a signal: a mistake in a
//! reloaded file leaves the old configuration in force, a failing sweep is logged and tried again a minute later.
//!
//! # What a crash leaves
//!
//! See `store/mod.rs`: the daemon keeps nothing outside the store.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::clock::Clock;
use crate::config::{Config, Current, Listen, Source};
use crate::delivery::{Deliverer, Handle, Step};
use crate::store::{OpenError, Store, StoreError, Throttle};
use crate::{http, log, sweep};

/// The configuration is at fault, or something else that a restart cannot mend (sysexits `EX_CONFIG`).
const EXIT_CONFIGURATION: u8 = 78;
/// How long requests in flight may take after SIGTERM.
const GRACE: Duration = Duration::from_secs(30);
/// How often the sweep runs.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Stack of a blocking thread: validation and SQLite need little.
const STACK: usize = 1024 * 1024;
/// Most blocking threads.
const BLOCKING_THREADS: usize = 96;

/// Why the daemon ended, other than on request.
#[derive(Debug)]
pub struct Ended {
    /// The exit code.
    pub code: u8,
    /// What to tell the operator; may have several lines.
    pub text: String,
}
