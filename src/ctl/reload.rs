//! `formctl reload`: check, say which waiting deliveries end or are held by it, tell the daemon, wait until it has the
//! new files in force. With a mistake in any file the daemon is not even told; what runs goes on running.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::foresight;
use super::installation::Installation;
use super::outcome::{CommandError, Exit, Kind};
use super::print::Output;
use crate::delivery::lifecycle;
use crate::store::Store;

/// How long the daemon may take: it moves what waits first, by the thousand.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is asked.
const PAUSE: Duration = Duration::from_millis(50);

/// Nothing to choose.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  formctl check && formctl reload

`reload` checks as well and changes nothing when a file has a mistake. `listen` and `data_dir` take effect at \
the next start of the daemon. Before it acts it says how many waiting deliveries end, or are held, by the new files; \
see them first with `formctl check`.

Exit codes: 0 the files are in force, 1 they are not (the message says why).")]
pub struct Args {}

/// Reloads.
pub fn run(installation: &Installation, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    let config = installation.config()?;
    let store = installation.open()?;
    let Some(pid) = store.directory().daemon_pid()? else {
        return Err(
            CommandError::new(Kind::Failed, "the daemon is not running").hint("start it: it reads the files then")
        );
    };
    for line in foresight::lines(&lifecycle::preview(&store, config)?, "will") {
        out.note(&line);
    }
    signal(pid)?;
    wait(&store, &config.hash)?;
    config.notices.iter().for_each(|notice| out.note(notice));
    out.line(&format!("reloaded: {} is in force", installation.name()))?;
    Ok(Exit::Done)
}

/// Sends SIGHUP.
fn signal(pid: u32) -> Result<(), CommandError> {
    let process = i32::try_from(pid).ok().filter(|raw| *raw > 1).and_then(Pid::from_raw);
    let Some(process) = process else {
        return Err(CommandError::new(Kind::Failed, format!("the lock names pid {pid}, which cannot be the daemon")));
    };
    kill_process(process, Signal::HUP).map_err(|error| {
        CommandError::new(Kind::Failed, format!("cannot signal the daemon with pid {pid}: {error}"))
            .hint("run it as root or as the user of the daemon")
    })
}

/// Waits until the daemon says that the files with this hash are in force.
fn wait(store: &Store, hash: &str) -> Result<(), CommandError> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if store.facts()?.config_hash.as_deref() == Some(hash) {
            return Ok(());
        }
        if store.directory().daemon_pid()?.is_none() {
            return Err(CommandError::new(Kind::Failed, "the daemon ended during the reload")
                .hint("its log says why: `journalctl -u formd`"));
        }
        std::thread::sleep(PAUSE);
    }
    let text = format!("the daemon did not put the files in force within {} s", PATIENCE.as_secs());
    Err(CommandError::new(Kind::Failed, text)
        .hint("the old configuration runs on; was a file changed meanwhile? its log says why: `journalctl -u formd`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pid_of_a_broken_lock_is_signalled() {
        for pid in [0, 1, u32::MAX] {
            assert_eq!(signal(pid).unwrap_err().code(), 1, "{pid}");
        }
    }
}
