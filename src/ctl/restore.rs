//! `formctl restore`: a backup into the empty data directory of the configuration. Nothing is sent by itself
//! afterwards: what waited is held until `formctl deliveries --release`.
//!
//! Run by root it becomes the owner of the data directory, which must exist then: nothing else says who will run the
//! daemon. The file of `--key` is opened by root and read by the child from its standard input (`--key -`).

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::backup::show;
use super::installation::{self, Installation};
use super::outcome::{CommandError, Exit, Kind};
use super::owner::Owner;
use super::print::Output;
use crate::domain::quantity::counted;
use crate::domain::time::Timestamp;
use crate::store::{self, BackupError, KeySource, Restored};

/// Which backup.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl restore /var/backups/formd                        the newest backup in it
  formctl restore /var/backups/formd/20261130T031700.000Z   this one
  formctl --config /tmp/drill/formd.toml restore /var/backups/formd    a drill into another data directory

The data directory is that of the configuration, and must be empty or absent: a restore overwrites nothing. The backup \
is verified before. A backup of an older version is brought up to date; one of a newer version is refused. Interrupted, \
it leaves a directory that no daemon opens; run it again.")]
pub struct Args {
    /// A backup, or the folder that backups stand in.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// The instance key of a backup that was made without it; `-`: standard input.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// The object of `restore --json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    /// The backup.
    from: String,
    /// The data directory.
    data_dir: String,
    /// When the backup was made.
    at: &'a str,
    /// Receipts.
    receipts: u64,
    /// Files.
    files: u64,
    /// Deliveries that wait for their release.
    held: u64,
}

/// Restores.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let data = installation.data_dir()?;
    let bytes = args.key.as_deref().map(read_key).transpose()?;
    let key = bytes.as_deref().map_or(KeySource::Backup, KeySource::Kept);
    let restored = {
        let mut bar = out.progress();
        store::restore(&args.dir, &data, key, now, &mut |progress| show(&mut bar, progress)).map_err(explain)?
    };
    if args.json {
        out.json(&Report {
            from: restored.from.display().to_string(),
            data_dir: restored.into.display().to_string(),
            at: &restored.at,
            receipts: restored.receipts,
            files: restored.files,
            held: restored.held,
        })?;
    } else {
        out.text(&text(&restored))?;
    }
    Ok(Exit::Done)
}

/// The same for root: `owner` restores, and reads the key that root opened.
pub fn run_for_root(args: &Args, owner: Owner, config: Option<&Path>) -> Result<u8, CommandError> {
    let mut all: Vec<OsString> = Vec::new();
    if let Some(file) = config {
        all.extend(["--config".into(), file.into()]);
    }
    all.push("restore".into());
    if args.json {
        all.push("--json".into());
    }
    let key = args.key.as_deref().filter(|path| path.as_os_str() != "-");
    if args.key.is_some() {
        all.extend(["--key".into(), "-".into()]);
    }
    all.extend(["--".into(), args.dir.clone().into()]);
    match key {
        Some(path) => owner.run_with(None, &all, File::open(path).map_err(|error| unreadable(path, &error))?),
        None => owner.run_again(&all),
    }
}

/// Root cannot tell to whom an absent data directory should belong.
pub fn refuse_without_owner(config: Option<&Path>) -> Result<(), CommandError> {
    let data = installation::data_dir_unchecked(config)?;
    if data.exists() || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let shown = data.display();
    Err(CommandError::new(
        Kind::Failed,
        format!("the data directory `{shown}` does not exist, so nothing says whose it is"),
    )
    .hint(format!("make it for the user of the daemon: `install -d -m 700 -o formd -g formd {shown}`")))
}

/// The bytes of a key that was kept; a few more than it has, so that a longer file is seen.
fn read_key(path: &Path) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let read = if path.as_os_str() == "-" {
        std::io::stdin().take(64).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(64).read_to_end(&mut bytes))
    };
    read.map(|_| bytes).map_err(|error| unreadable(path, &error))
}

/// The key cannot be read.
fn unreadable(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(Kind::Failed, format!("cannot read the instance key `{}`: {error}", path.display()))
}

/// A damaged backup has a way out.
fn explain(error: BackupError) -> CommandError {
    let damaged = matches!(error, BackupError::Damaged { .. });
    let told = CommandError::from(error);
    if damaged {
        told.hint("nothing was restored; name an older backup, which `formctl verify` finds sound")
    } else {
        told
    }
}

/// What was done, and what comes next.
fn text(restored: &Restored) -> String {
    let waiting = match restored.held {
        0 => "no delivery waits".to_owned(),
        1 => "1 delivery waits and is held: it may have been sent since the backup".to_owned(),
        count => format!("{count} deliveries wait and are held: they may have been sent since the backup"),
    };
    let mut text = format!(
        "restored {} into {}: {}, {}, as of {}\n{waiting}\nnext:\n  start formd\n",
        restored.from.display(),
        restored.into.display(),
        counted(restored.receipts, "receipt"),
        counted(restored.files, "file"),
        restored.at
    );
    if restored.held > 0 {
        text.push_str("  formctl deliveries --state held   what waits\n  formctl deliveries --release      send it\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restore_says_what_is_held_and_what_comes_next() {
        let restored = Restored {
            from: "/var/backups/formd/20261130T031700.000Z".into(),
            into: "/var/lib/formd".into(),
            at: "2026-11-30T03:17:00.000Z".to_owned(),
            receipts: 1204,
            files: 1,
            held: 3,
        };
        insta::assert_snapshot!("restore", text(&restored));
        assert!(text(&Restored { held: 1, ..restored.clone() }).contains("1 delivery waits and is held"));
        assert!(!text(&Restored { held: 0, ..restored }).contains("--release"));
    }
}
