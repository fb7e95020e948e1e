//! `formctl verify`: is everything there, and is it what was accepted? One line a fault, with the attachment's id and
//! never a visitor's file name; exit 1 when there is one.

use std::path::PathBuf;

use serde::Serialize;

use super::backup::show;
use super::installation::Installation;
use super::outcome::{CommandError, Exit};
use super::print::Output;
use crate::domain::quantity::{bytes, counted};
use crate::domain::time::Timestamp;
use crate::store::{self, Fault, Verified};

/// What to look at.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl verify                        the data directory, also while the daemon runs
  formctl verify /var/backups/formd     the newest backup in it

Checked: the database itself, every attachment's file with its size and SHA-256, every file's row; of a backup also the \
manifest and the instance key. Files without a row that are younger than 2 hours are counted: an upload may have just \
failed. It reads every byte, and changes none.

Exit codes: 0 all is well, 1 a line says what is not.")]
pub struct Args {
    /// A backup, or the folder that backups stand in; none: the data directory.
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Whether the data directory is looked at.
    pub fn looks_at_data_directory(&self) -> bool {
        self.dir.is_none()
    }
}

/// The object of `verify --json`.
#[derive(Debug, Serialize)]
struct Report {
    /// What was looked at.
    path: String,
    /// Whether there is no fault.
    ok: bool,
    /// Receipts.
    receipts: u64,
    /// Files that rows name.
    files: u64,
    /// Their bytes.
    bytes: u64,
    /// Files without a row that are young enough to get one.
    young_files: u64,
    /// What is wrong.
    faults: Vec<String>,
}

/// Verifies.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let store = if args.dir.is_none() { Some(installation.open()?) } else { None };
    let found = {
        let mut bar = out.progress();
        let watcher = &mut |progress| show(&mut bar, progress);
        match (&args.dir, &store) {
            (Some(dir), _) => store::verify_backup(dir, watcher)?,
            (None, Some(store)) => store.verify(now, watcher)?,
            (None, None) => Verified::default(),
        }
    };
    if args.json {
        out.json(&Report::from(&found))?;
    } else {
        lines(&found).iter().try_for_each(|line| out.line(line))?;
    }
    Ok(if found.faults.is_empty() { Exit::Done } else { Exit::Failed })
}

impl From<&Verified> for Report {
    fn from(found: &Verified) -> Self {
        Self {
            path: found.place.display().to_string(),
            ok: found.faults.is_empty(),
            receipts: found.receipts,
            files: found.files,
            bytes: found.bytes,
            young_files: found.young,
            faults: found.faults.iter().map(Fault::to_string).collect(),
        }
    }
}

/// The faults, and what was looked at.
fn lines(found: &Verified) -> Vec<String> {
    let mut lines: Vec<String> = found.faults.iter().map(Fault::to_string).collect();
    let verdict = match found.faults.len() {
        0 => "all is well".to_owned(),
        count => counted(u64::try_from(count).unwrap_or(u64::MAX), "fault"),
    };
    let young = match found.young {
        0 => String::new(),
        count => format!(", {} without a receipt yet", counted(count, "young file")),
    };
    let (receipts, files) = (counted(found.receipts, "receipt"), counted(found.files, "file"));
    let size = bytes(found.bytes);
    lines.push(format!("{}: {verdict}: {receipts}, {files} of {size}{young}", found.place.display()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::print::Surface;
    use crate::ctl::testing::printed;

    fn found(faults: Vec<Fault>) -> Verified {
        Verified { place: "/var/lib/formd".into(), receipts: 12, files: 3, bytes: 5_000_000, young: 1, faults }
    }

    #[test]
    fn each_fault_is_a_line_with_an_id_and_never_a_visitors_file_name() {
        assert_eq!(
            lines(&found(Vec::new())),
            ["/var/lib/formd: all is well: 12 receipts, 3 files of 4.7 MiB, 1 young file without a receipt yet"]
        );
        let (id, path) = ("06d2q4hjx4s01-a1".to_owned(), "attachments/2026-11-30/06d2q4hjx4s01-1".to_owned());
        let all = found(vec![
            Fault::Missing { id: id.clone(), path: path.clone() },
            Fault::Size { id: id.clone(), path: path.clone(), expected: 10, found: 9 },
            Fault::Bytes { id: id.clone(), path: path.clone() },
            Fault::Unreadable { id, path: path.clone(), reason: "Permission denied (os error 13)".to_owned() },
            Fault::Stray { path },
            Fault::Manifest("counts 2 receipts, the database has 3".to_owned()),
            Fault::Database("row 1 missing from index x".to_owned()),
        ]);
        insta::assert_snapshot!("verify_faults", lines(&all).join("\n"));
        insta::assert_snapshot!("verify_json", printed(Surface::Pipe, |out| out.json(&Report::from(&all)).unwrap()));
    }
}
