//! What the tests in `tests/` may hold on to: a daemon in this process under a clock they move, and formctl.
//!
//! Not for users: the program's interface is its two binaries, their files and their addresses.

pub mod noise;
pub mod scale;

use std::net::SocketAddr;
use std::path::Path;

pub use crate::clock::Clock;
pub use crate::delivery::Step;
pub use crate::domain::time::{Span, Timestamp};

use crate::config::Config;
use crate::ctl::{self, Output, Surface};
use crate::daemon::{self, Running};
use crate::domain::digest::Sha256Sum;

/// A daemon in this process.
#[derive(Debug)]
pub struct Daemon(Running);

impl Daemon {
    /// Starts a daemon for a configuration file; the error is what the operator would read.
    pub fn start(config: &Path, clock: &Clock) -> Result<Self, String> {
        let config = Config::load(Some(config)).map_err(|problems| problems.to_string())?;
        daemon::start(config, clock.clone()).map(Self).map_err(|ended| ended.text)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address().parse().unwrap_or_else(|_| SocketAddr::from(([0, 0, 0, 0], 0)))
    }

    /// Publishes the files on disk.
    pub fn reload(&self) -> Result<(), String> {
        self.0.reload()
    }

    /// One round of the daemon's own sweep.
    pub fn sweep(&self) -> Result<(), String> {
        self.0.sweep().map_err(|error| error.to_string())
    }

    /// Makes at most one attempt.
    pub fn deliver(&self) -> Result<Step, String> {
        self.0.deliverer().step().map_err(|error| error.to_string())
    }
}

/// Runs formctl with `args` (the program's name first): exit code, standard output, standard error.
pub fn ctl(args: &[&str], clock: &Clock) -> (u8, String, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut output = Output::new(&mut stdout, &mut stderr, Surface::Pipe);
    let code = ctl::run(args.iter().map(Into::into), clock, &mut output);
    drop(output);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (code, text(stdout), text(stderr))
}

/// The SHA-256 of bytes, in hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256Sum::of(bytes).to_string()
}
