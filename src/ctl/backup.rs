//! `formctl backup`: one consistent copy of everything, while the daemon runs.
//!
//! The line that it prints is the proof: it comes after the last byte was synced and the folder has its name. Killed at
//! any moment, or with Ctrl-C, it leaves nothing that looks complete; the next backup clears it away.
//!
//! For root, a folder that does not exist yet is made and given to the owner of the data directory, who then writes the
//! backup: a backup that root owned could not be restored by whoever runs the daemon.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::num::NonZeroUsize;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use serde::Serialize;

use super::installation::Installation;
use super::outcome::{CommandError, Exit, Kind};
use super::owner::Owner;
use super::print::{Output, Progress};
use crate::domain::quantity::{bytes, counted};
use crate::domain::time::Timestamp;
use crate::store::{self, BackedUp, BackupError, BackupOrder, KeyCopy};

/// Where to, and how many stay.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl backup /var/backups/formd --keep 14        makes /var/backups/formd/<time>/
  17 3 * * *  formd  formctl backup /var/backups/formd --keep 14 >/dev/null    for /etc/cron.d

DIR is outside the data directory and belongs to its owner; a new one is made. Files that the newest backup in DIR has \
already are hard-linked from there, so a backup costs the database and what is new. In it: the database, visitors' \
files, the instance key. Not in it: the configuration with its secrets, mails of the file transport, quarantine.

What is erased here stays in older backups until --keep removes them.")]
pub struct Args {
    /// The folder that backups stand in.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Remove the oldest backups beyond N, this one included.
    #[arg(long, value_name = "N")]
    keep: Option<NonZeroUsize>,
    /// Leave the instance key out; then `restore` needs it as `--key FILE`.
    #[arg(long)]
    without_key: bool,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// The object of `backup --json`.
#[derive(Debug, Serialize)]
struct Report {
    /// The backup's folder.
    path: String,
    /// Receipts in it.
    receipts: u64,
    /// Files in it.
    files: u64,
    /// How many of them are shared with the backup before.
    linked: u64,
    /// Bytes written.
    written_bytes: u64,
    /// Older backups that were removed.
    removed: u64,
    /// Whether the instance key is in it.
    key_included: bool,
}

/// Makes a backup.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let store = installation.open()?;
    let key = if args.without_key { KeyCopy::LeftOut } else { KeyCopy::Included };
    let order = BackupOrder { dir: &args.dir, keep: args.keep, key };
    let made = {
        let mut bar = out.progress();
        store.back_up(&order, now, &mut |progress| show(&mut bar, progress)).map_err(explain)?
    };
    if args.json {
        out.json(&report(&made, key))?;
    } else {
        lines(&made, key).iter().try_for_each(|line| out.line(line))?;
    }
    Ok(Exit::Done)
}

/// The same for root: a new folder is made for the owner, who does the rest.
pub fn run_for_root(args: &Args, owner: Owner, all: &[OsString]) -> Result<u8, CommandError> {
    if !args.dir.exists() {
        DirBuilder::new().mode(0o700).create(&args.dir).map_err(|error| {
            CommandError::new(Kind::Failed, format!("cannot make `{}`: {error}", args.dir.display()))
        })?;
        owner.give(&args.dir)?;
    }
    owner.run_again(all.get(1..).unwrap_or_default())
}

/// Moves the bar.
pub(super) fn show(bar: &mut Progress<'_>, progress: store::Progress) {
    let percent = u128::from(progress.done) * 100 / u128::from(progress.total.max(1));
    bar.show(u8::try_from(percent.min(100)).unwrap_or(100));
}

/// A damaged data directory has a way out.
fn explain(error: BackupError) -> CommandError {
    let damaged = matches!(error, BackupError::Damaged { .. });
    let told = CommandError::from(error);
    if !damaged {
        return told;
    }
    CommandError { text: format!("no backup was made: {}", told.text), ..told }.hint(
        "bring the files back from an older backup, or `formctl erase` their receipts; older backups are untouched",
    )
}

/// The object for a program.
fn report(made: &BackedUp, key: KeyCopy) -> Report {
    Report {
        path: made.path.display().to_string(),
        receipts: made.receipts,
        files: made.files,
        linked: made.linked,
        written_bytes: made.written,
        removed: made.removed,
        key_included: key == KeyCopy::Included,
    }
}

/// The lines for a person.
fn lines(made: &BackedUp, key: KeyCopy) -> Vec<String> {
    let mut lines = vec![format!(
        "{}: {}, {} ({} shared with the backup before), {} written",
        made.path.display(),
        counted(made.receipts, "receipt"),
        counted(made.files, "file"),
        made.linked,
        bytes(made.written)
    )];
    if made.removed > 0 {
        lines.push(format!("  {} removed", counted(made.removed, "older backup")));
    }
    if key == KeyCopy::LeftOut {
        lines.push("  without the instance key: keep the file `key` of the data directory elsewhere".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::print::Surface;
    use crate::ctl::testing::printed;
    use crate::store::Fault;

    fn made() -> BackedUp {
        let path = PathBuf::from("/var/backups/formd/20261130T162819.007Z");
        BackedUp { path, receipts: 1204, files: 311, linked: 300, written: 13_000_000, removed: 1 }
    }

    #[test]
    fn a_backup_says_where_it_is_and_what_it_holds() {
        insta::assert_snapshot!("backup_lines", lines(&made(), KeyCopy::LeftOut).join("\n"));
        let bare = BackedUp { removed: 0, ..made() };
        assert_eq!(lines(&bare, KeyCopy::Included).len(), 1);
        insta::assert_snapshot!(
            "backup_json",
            printed(Surface::Pipe, |out| out.json(&report(&made(), KeyCopy::Included)).unwrap())
        );
    }

    #[test]
    fn a_damaged_file_is_named_by_its_attachment_with_the_way_out() {
        let fault = Fault::Missing {
            id: "06d2q4hjx4s01-a1".to_owned(),
            path: "attachments/2026-11-30/06d2q4hjx4s01-1".to_owned(),
        };
        let error = explain(BackupError::Damaged { place: "/var/lib/formd".into(), faults: vec![fault] });
        insta::assert_snapshot!("backup_damaged", format!("{}\nhint: {}", error.text, error.hint.unwrap()));
    }
}
