//! What is declared: `formd.toml` and one file a site, read and checked as a whole.
//!
//! [`Config::load`] gives a whole configuration or every mistake of every file, each with its place and a remedy
//! ([`Problem`]); nothing in between ever comes into force. Reading touches no data directory and writes nothing, so
//! `formctl check` can run anywhere and a crash leaves nothing.
//!
//! Guarantees: ids, addresses, patterns and templates are well formed; every name that is used is declared; a path
//! belongs to one form; no message, notice, description or hash shows a secret. Not checked: whether hosts exist, mail
//! servers answer, or folders can be written; those may change while the daemon runs.
//!
//! How it goes: [`files`] reads bytes, [`table`] and [`value`] read TOML and collect mistakes, [`check`] makes the
//! daemon's and the sites' settings of them, [`notices`] finds what is valid but worth a word, [`describe`] prints what
//! is in force.

mod alert;
mod check;
mod demo;
mod describe;
mod files;
pub mod locate;
mod mail;
mod notices;
mod problem;
mod redact;
mod table;
mod value;

pub use alert::{Alert, AlertHook, AlertWay};
pub use mail::{Authorities, Login, Mail, Security, Server, Transport};
pub use problem::Problems;

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use ipnet::IpNet;

use crate::domain::bounds::Bounds;
use crate::domain::delivery::Channel;
use crate::domain::form::{Form, Site};
use crate::domain::ids::{FormId, SiteId};
use crate::domain::shared_path::SharedPath;
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
    /// The addresses of `sites`, made once.
    pub addresses: Addresses,
}

/// Every address of every form, without a slash at the end: `/f/{site}/{form}`, its `paths`, and the shared ones.
#[derive(Clone, Debug, Default)]
pub struct Addresses(HashMap<String, Place>);

/// What stands at an address.
#[derive(Clone, Debug)]
pub enum Place {
    /// A form.
    Form(Arc<Site>, Arc<Form>),
    /// Forms of a site, told apart by a field.
    Shared(Arc<Site>, Arc<SharedPath>),
}

impl Addresses {
    /// The addresses of all forms of `sites`.
    pub fn of(sites: &BTreeMap<SiteId, Arc<Site>>) -> Self {
        let mut addresses = HashMap::new();
        for site in sites.values() {
            for form in site.forms.values() {
                let own = format!("/f/{}/{}", site.id, form.id);
                for path in form.paths.iter().cloned().chain([own]) {
                    addresses.insert(path, Place::Form(Arc::clone(site), Arc::clone(form)));
                }
            }
            for shared in &site.shared_paths {
                let place = Place::Shared(Arc::clone(site), Arc::new(shared.clone()));
                addresses.insert(shared.path.trim_end_matches('/').to_owned(), place);
            }
        }
        Self(addresses)
    }
}

/// Reads the files of a configuration.
fn files_of(file: Option<&Path>) -> files::Files {
    match file {
        None => files::Files::embedded(),
        Some(file) => files::Files::read(file, std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from)),
    }
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
    /// Who is told of deliveries that failed for good; `None`: nobody but the log and `status`.
    pub alert: Option<Alert>,
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

/// The longest path of a Unix socket in bytes: 108 with the final zero (unix(7)).
const LONGEST_SOCKET: usize = 107;

impl Listen {
    /// Reads `ADDRESS:PORT` or `unix:PATH`; a relative path begins at `base`.
    pub fn parse(text: &str, base: &Path) -> Option<Self> {
        let Some(path) = text.strip_prefix("unix:") else { return Some(Self::Tcp(text.parse().ok()?)) };
        let full = base.join(path);
        let fits = !path.is_empty() && !text.contains(char::is_control) && full.as_os_str().len() <= LONGEST_SOCKET;
        fits.then_some(Self::Unix(full))
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// One readable line.
    Text,
    /// One JSON object a line.
    Json,
}

/// `[delivery]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliverySettings {
    /// Attempts before a delivery is exhausted, 1..=20.
    pub attempts: u32,
    /// Sends at once for one site, 1..=32.
    pub workers: u32,
    /// `false`: only `formctl deliver` sends.
    pub enabled: bool,
    /// Mails to visitors in an hour, over all sites and forms, 0..=100,000.
    pub confirmations_per_hour: u32,
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
    /// Paused, or no longer a destination of the form; of a confirmation: switched off.
    Inactive,
}

impl Config {
    /// Reads `file` and `sites/*.toml` beside it, or the embedded default when `file` is `None`. Every mistake of
    /// all files at once.
    pub fn load(file: Option<&Path>) -> Result<Self, Problems> {
        let checked = check::check(files_of(file));
        if checked.problems.is_empty() { Ok(checked.config) } else { Err(Problems(checked.problems)) }
    }

    /// What stands at an address (no trailing slash, no `.json`).
    pub fn place_at(&self, path: &str) -> Option<&Place> {
        self.addresses.0.get(path)
    }

    /// The form of an address `/f/{site}/{form}` or of one of a form's `paths` (no trailing slash, no `.json`).
    #[cfg(test)]
    pub fn form_at(&self, path: &str) -> Option<(&Arc<Site>, &Arc<Form>)> {
        match self.place_at(path)? {
            Place::Form(site, form) => Some((site, form)),
            Place::Shared(..) => None,
        }
    }

    /// Whether a destination still takes deliveries. A form that is gone has no destinations any more.
    pub fn activity(&self, site: &str, form: &str, channel: Channel, destination: &str) -> Activity {
        let Some(site) = SiteId::parse(site).ok().and_then(|id| self.sites.get(&id)) else {
            return Activity::SiteGone;
        };
        let form = FormId::parse(form).ok().and_then(|id| site.forms.get(&id));
        let takes = |form: &Arc<Form>| match channel {
            Channel::Confirmation => form.confirmation.is_some(),
            Channel::Email | Channel::Webhook => {
                form.destinations.iter().any(|d| d.id.as_str() == destination && !d.paused)
            }
        };
        match form.is_some_and(takes) {
            _ if !site.enabled => Activity::SiteDisabled,
            true => Activity::Active,
            false => Activity::Inactive,
        }
    }

    /// The forms whose submissions are stored and nobody is told of, each as `site/form`.
    pub fn untold_forms(&self) -> Vec<String> {
        notices::untold(&self.sites).map(|(site, form)| format!("{}/{}", site.id, form.id)).collect()
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

#[cfg(test)]
mod corpus;
