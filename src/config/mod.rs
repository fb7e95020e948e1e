//! What is declared.

mod check;
mod demo;
pub mod locate;
mod problem;
mod table;

pub use problem::{Problem, Problems};

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use ipnet::IpNet;

use crate::domain::bounds::Bounds;
use crate::domain::form::{Form, Site};
use crate::domain::ids::SiteId;
use crate::domain::time::Span;

/// Everything declared, checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it came from.
    pub source: Source,
    /// The daemon's settings.
    pub daemon: Daemon,
    /// The sites by id.
    pub sites: BTreeMap<SiteId, Arc<Site>>,
    /// Hash over all files, as `facts.config_hash` and `status` compare it; 64 hex digits.
    pub hash: String,
    /// What is valid but worth a word (no mail, a form nobody is told of, a steering field).
    pub notices: Vec<String>,
}

/// Where a configuration came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// No file: the embedded default.
    Embedded,
    /// `formd.toml` and `sites/` beside it.
    Files(PathBuf),
}

/// `formd.toml`.
#[derive(Clone, Debug)]
pub struct Daemon {
    /// Where it listens.
    pub listen: Listen,
    /// Its data directory.
    pub data_dir: PathBuf,
    /// The limiter's directory.
    pub limiter_dir: PathBuf,
    /// The address under which visitors reach it, without a slash at the end; `None`: made of `Host`.
    pub public_url: Option<String>,
    /// Peers whose `X-Real-IP` and `X-Forwarded-For` are believed.
    pub trusted_proxies: Vec<IpNet>,
    /// How mail leaves; `None`: not set up.
    pub mail: Option<Mail>,
    /// `[delivery]`.
    pub delivery: DeliverySettings,
    /// `[sweep]`.
    pub sweep: SweepSettings,
    /// `[limits]`.
    pub bounds: Bounds,
    /// Log lines as text or JSON.
    pub log: LogFormat,
}

/// Where the daemon listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A Unix socket.
    Unix(PathBuf),
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// One readable line.
    Text,
    /// One JSON object a line.
    Json,
}

/// `[mail]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The display name of `from`; empty when none was given.
    pub from_name: String,
    /// The address of `from`.
    pub from_address: String,
    /// The way out.
    pub transport: Transport,
}

/// How mail leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// SMTP without TLS to a loopback server. (TLS and a login follow with 3/10.)
    Smtp {
        /// Host name or address.
        host: String,
        /// Port.
        port: u16,
    },
    /// `mail/<delivery>.eml` in the data directory.
    File,
}

/// `[delivery]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliverySettings {
    /// Attempts before a delivery is exhausted, 1..=20.
    pub attempts: u32,
    /// Sends at once, 1..=32.
    pub workers: u32,
    /// `false`: only `formctl deliver` sends.
    pub enabled: bool,
}

/// `[sweep]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepSettings {
    /// Age of a `.part` that is removed.
    pub part_age: Span,
    /// Age of a file without a row that goes to quarantine.
    pub orphan_age: Span,
    /// Days in quarantine.
    pub quarantine_days: u16,
}

/// Whether a destination still takes deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Configured and not paused.
    Active,
    /// Its site is disabled: its deliveries wait.
    SiteDisabled,
    /// Its site has no file any more: its deliveries are held.
    SiteGone,
    /// Paused, or no longer a destination of the form.
    Inactive,
}

impl Config {
    /// Reads `file` and `sites/*.toml` beside it, or the embedded default when `file` is `None`. Every mistake of
    /// all files at once.
    pub fn load(file: Option<&Path>) -> Result<Self, Problems> {
        todo!()
    }

    /// The form of an address `/f/{site}/{form}` or of one of a form's `paths` (no trailing slash, no `.json`).
    pub fn form_at(&self, path: &str) -> Option<(&Arc<Site>, &Arc<Form>)> {
        todo!()
    }

    /// Whether a destination still takes deliveries.
    pub fn activity(&self, site: &str, form: &str, destination: &str) -> Activity {
        todo!()
    }
}

/// The configuration in force: one `Arc` that a reload swaps at one stroke. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Current(Arc<RwLock<Arc<Config>>>);

impl Current {
    /// Puts the first configuration in force.
    pub fn new(config: Config) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(config))))
    }

    /// The configuration in force now; a request or a worker's turn asks once and keeps the answer.
    pub fn get(&self) -> Arc<Config> {
        Arc::clone(&self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Puts another configuration in force.
    pub fn publish(&self, config: Config) {
        *self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Arc::new(config);
    }
}
