//! Whether all is well: what the store counts and the files declare, judged.
//!
//! [`observe`] reads, [`judge`] decides; the second is pure. Critical is what loses or endangers submissions and
//! deliveries now, a warning is what somebody should mend in daylight. Every reason says what to do. Nothing here
//! repairs anything, and nothing is asked of the daemon but what it wrote down and its lock.

use crate::config::{Alert, AlertWay, Config};
use crate::domain::bounds::{Bounds, MIB};
use crate::domain::target::Target;
use crate::domain::time::{Span, Timestamp};
use crate::store::{DaemonFacts, Numbers, Store, StoreError};

mod reasons;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing is wrong.
    Ok,
    /// Somebody should look at it in daylight.
    Warning,
    /// Somebody should look at it now.
    Critical,
}

impl Level {
    /// The word of `--json` and of the terminal.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// Why it is not all well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// How bad.
    pub level: Level,
    /// What, and what to do.
    pub text: String,
}

/// Whether a daemon holds the data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Daemon {
    /// This one.
    Running {
        /// Its process.
        pid: u32,
    },
    /// None.
    Stopped,
}

/// How the files on disk stand to what runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// They are in force.
    InForce,
    /// They are sound and wait for a reload.
    Changed,
    /// They hold mistakes; the old configuration runs.
    Broken,
}

/// Whether mail can leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mail {
    /// `[mail]` is there.
    Configured,
    /// It is not, and something is to be mailed, or nothing is declared yet.
    Missing,
    /// It is not, every destination is a webhook, and no form confirms to its visitors.
    NotNeeded,
}

/// What the files declare, as far as the judgement needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The hash of the files.
    pub hash: String,
    /// Whether mail can leave.
    pub mail: Mail,
    /// Forms nobody is told of, as `site/form`.
    pub untold_forms: Vec<String>,
    /// Free bytes below which submissions are refused.
    pub disk_reserve: u64,
}

impl From<&Config> for Declared {
    fn from(config: &Config) -> Self {
        let forms = || config.sites.values().filter(|site| site.enabled).flat_map(|site| site.forms.values());
        let confirms = forms().any(|form| form.confirmation.is_some());
        let active = forms().flat_map(|form| &form.destinations).filter(|destination| !destination.paused);
        let (webhooks, others): (Vec<_>, Vec<_>) =
            active.partition(|destination| matches!(destination.target, Target::Webhook(_)));
        let webhooks_alone = others.is_empty() && !webhooks.is_empty() && !confirms;
        let alert_by_mail = matches!(&config.daemon.alert, Some(Alert { way: AlertWay::Email(_), .. }));
        Self {
            hash: config.hash.clone(),
            mail: match config.daemon.mail {
                Some(_) => Mail::Configured,
                None if webhooks_alone && !alert_by_mail => Mail::NotNeeded,
                None => Mail::Missing,
            },
            untold_forms: config.untold_forms(),
            disk_reserve: config.daemon.bounds.disk_reserve,
        }
    }
}

/// Everything the judgement looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// What the store counts.
    pub numbers: Numbers,
    /// What the daemon wrote down.
    pub facts: DaemonFacts,
    /// Whether it runs.
    pub daemon: Daemon,
    /// What the files declare; `None`: they hold mistakes.
    pub declared: Option<Declared>,
    /// When.
    pub now: Timestamp,
}

/// A pair of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits<T> {
    /// From here on a warning.
    pub warning: T,
    /// From here on critical.
    pub critical: T,
}

/// From where on a number is worth a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Free bytes, below.
    pub free: Limits<u64>,
    /// Age of the oldest waiting delivery, above.
    pub pending: Limits<Span>,
    /// Bytes in `tmp/`, above.
    pub tmp: Limits<u64>,
    /// Failed deliveries, at or above.
    pub failed: Limits<u64>,
    /// Age of the last sweep, above.
    pub sweep: Limits<Span>,
}

impl Thresholds {
    /// Four times the reserve, and the reserve, where submissions are refused; the other numbers are those at
    /// which a server for a few sites has something wrong.
    pub fn of_reserve(disk_reserve: u64) -> Self {
        Self {
            free: Limits { warning: disk_reserve.saturating_mul(4), critical: disk_reserve },
            pending: Limits { warning: Span::from_hours(1), critical: Span::from_hours(6) },
            tmp: Limits { warning: 1024 * MIB, critical: 8 * 1024 * MIB },
            failed: Limits { warning: 1, critical: 1 },
            sweep: Limits { warning: Span::from_hours(1), critical: Span::from_days(1) },
        }
    }
}

impl Observed {
    /// The thresholds that the files imply, or the defaults'.
    pub fn thresholds(&self) -> Thresholds {
        let reserve = self.declared.as_ref().map_or(Bounds::default().disk_reserve, |declared| declared.disk_reserve);
        Thresholds::of_reserve(reserve)
    }

    /// How long the oldest waiting delivery has waited.
    pub fn oldest_pending(&self) -> Option<Span> {
        self.numbers.oldest_pending.map(|arrived| self.now.since(arrived))
    }

    /// How the files stand to what runs.
    pub fn files(&self) -> Files {
        match &self.declared {
            None => Files::Broken,
            Some(declared) if self.facts.config_hash.as_deref() == Some(&declared.hash) => Files::InForce,
            Some(_) => Files::Changed,
        }
    }
}

/// The judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The worst of the reasons.
    pub level: Level,
    /// The worst first.
    pub reasons: Vec<Reason>,
    /// What was judged.
    pub observed: Observed,
    /// By which limits.
    pub thresholds: Thresholds,
}

/// Reads what is to be judged; blocking. `config` is what the files declare, `None` when they hold mistakes.
pub fn observe(store: &Store, config: Option<&Config>, now: Timestamp) -> Result<Observed, StoreError> {
    Ok(Observed {
        numbers: store.numbers(now)?,
        facts: store.facts()?,
        daemon: store.directory().daemon_pid()?.map_or(Daemon::Stopped, |pid| Daemon::Running { pid }),
        declared: config.map(Declared::from),
        now,
    })
}

/// Judges.
pub fn judge(observed: Observed, thresholds: Thresholds) -> Status {
    let mut reasons = reasons::all(&observed, &thresholds);
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.level));
    let level = reasons.first().map_or(Level::Ok, |reason| reason.level);
    Status { level, reasons, observed, thresholds }
}
