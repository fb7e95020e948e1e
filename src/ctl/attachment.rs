//! `formctl attachment`: the files of a receipt, out of the private directory into a place of the administrator's.
//!
//! A visitor chose the display name, so it is made safe before it names anything; no file is ever written over.
//! The bytes are hashed on the way and an output file gets its name only once they are the accepted ones: a
//! broken copy, a full disk or Ctrl-C leaves nothing behind. Standard output cannot be called back, so for `-o -`
//! the file is hashed once before.
//!
//! For root the bytes come from a child that runs as the owner of the data directory; the output files are made
//! by the parent, in places where only root may write.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use super::installation::Installation;
use super::lookup;
use super::newfile::NewFile;
use super::outcome::{CommandError, Exit, Kind};
use super::owner::Owner;
use super::print::{Output, Surface};
use crate::domain::digest::{RunningSum, Sha256Sum};
use crate::domain::time::Timestamp;
use crate::domain::visible::escape_line;
use crate::store::AttachmentRow;

mod choice;

use choice::Choice;

/// Which files, and where to.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl attachment 4qzk1p8                  the only file, to this folder
  formctl attachment 4qzk1p8 -o /tmp/cv/      all files, to an existing folder
  formctl attachment 4qzk1p8 a2 -o - | less   the second file, to a program

Files get the visitor's name made safe, and mode 0600. Nothing is ever written over. The bytes are compared with \
the SHA-256 of their arrival; what differs is not kept.")]
pub struct Args {
    /// The receipt, or its first characters.
    #[arg(value_name = "RECEIPT")]
    receipt: String,
    /// The file's name, or its id: a2, or RECEIPT-a2.
    #[arg(value_name = "NAME|ID")]
    file: Option<String>,
    /// A new file, an existing folder, or `-` for standard output.
    #[arg(short, long, value_name = "FILE|DIR|-")]
    output: Option<PathBuf>,
}

impl Args {
    /// Whether it makes files, rather than writing to standard output.
    pub fn writes_a_file(&self) -> bool {
        !self.output.as_deref().is_some_and(is_stdout)
    }

    /// Where the files go.
    fn place(&self) -> Place<'_> {
        match self.output.as_deref() {
            None => Place::Folder(Path::new(".")),
            Some(path) if is_stdout(path) => Place::Stdout,
            Some(path) if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") => Place::Folder(path),
            Some(path) => Place::File(path),
        }
    }
}

/// Whether an output path means standard output.
fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Where files go.
#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    /// Under their safe names into this folder.
    Folder(&'a Path),
    /// One file under this name.
    File(&'a Path),
    /// One file to standard output.
    Stdout,
}

/// Copies files out.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let store = installation.open()?;
    let view = lookup::view(&store, &args.receipt, now)?;
    let id = view.row.id;
    let rows = view.attachments.ok_or_else(|| gone(&id.to_string()))?;
    let files: Vec<Choice> = rows.iter().map(Choice::from).collect();
    let place = args.place();
    let chosen = choice::choose(&id.to_string(), &files, args.file.as_deref(), several_fit(args, place))?;
    let row_of = |choice: &Choice| {
        rows.iter()
            .find(|row| row.id.position == choice.position)
            .ok_or_else(|| CommandError::new(Kind::NotFound, format!("there is no attachment `{}`", choice.id)))
    };
    match (place, chosen.as_slice()) {
        (Place::Stdout, [one]) => to_stdout(row_of(one)?, out),
        (Place::Stdout, _) => Err(CommandError::new(Kind::Usage, "`-o -` takes one file")),
        (Place::Folder(_) | Place::File(_), _) => {
            save(place, &files, &chosen, out, |choice, file| copy(row_of(choice)?, file))
        }
    }
}

/// The same for root: `owner` reads, we write.
pub fn run_for_root(
    args: &Args,
    owner: Owner,
    config: Option<&Path>,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let (id, files) = match owner.show(config, &args.receipt)? {
        Ok(shown) => choice::from_json(&shown)?,
        // The child has said why.
        Err(code) => return Ok(Exit::Passed(code)),
    };
    let place = args.place();
    let files = files.ok_or_else(|| gone(&id))?;
    let chosen = choice::choose(&id, &files, args.file.as_deref(), several_fit(args, place))?;
    save(place, &files, &chosen, out, |choice, file| owner.copy_attachment(config, &id, &choice.id, file))
}

/// Several files go together only into a folder that was named.
fn several_fit(args: &Args, place: Place<'_>) -> choice::Several {
    match place {
        Place::Folder(_) if args.output.is_some() => choice::Several::Fit,
        Place::Folder(_) | Place::File(_) | Place::Stdout => choice::Several::MustBeNamed,
    }
}

/// Makes each chosen file by `fill` and prints its path.
fn save(
    place: Place<'_>,
    all: &[Choice],
    chosen: &[&Choice],
    out: &mut Output<'_>,
    fill: impl Fn(&Choice, &mut File) -> Result<(), CommandError>,
) -> Result<Exit, CommandError> {
    for wanted in chosen {
        let path = match place {
            Place::Folder(folder) => folder.join(choice::safe_name(wanted, all)),
            Place::File(path) => path.to_owned(),
            Place::Stdout => return Err(CommandError::new(Kind::Usage, "`-o -` takes one file")),
        };
        let mut new = NewFile::create(&path)?;
        fill(wanted, new.file())?;
        new.keep()?;
        out.line(&format!("{}  {}", wanted.id, path.display()))?;
    }
    Ok(Exit::Done)
}

/// One file to standard output, once its bytes are known to be right.
fn to_stdout(row: &AttachmentRow, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    if let Surface::Terminal { .. } = out.surface() {
        return Err(CommandError::new(Kind::Usage, "a visitor's file is not written to a terminal")
            .hint("send it into a pipe or a file: `-o - | less`, `-o FILE`"));
    }
    copy(row, &mut std::io::sink())?;
    copy(row, out.bytes())?;
    Ok(Exit::Done)
}

/// Copies the bytes of `row`, comparing them with the hash of their arrival.
fn copy(row: &AttachmentRow, to: &mut dyn Write) -> Result<(), CommandError> {
    let mut file = File::open(&row.path).map_err(|error| unreadable(row, &error))?;
    let mut sum = RunningSum::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut buffer).map_err(|error| unreadable(row, &error))?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        sum.push(bytes);
        to.write_all(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => CommandError::new(Kind::ReaderGone, ""),
            _ => CommandError::new(Kind::Failed, format!("cannot write attachment `{}`: {error}", row.id)),
        })?;
    }
    compare(row, sum.finish())
}

/// The sum must be that of the arrival.
fn compare(row: &AttachmentRow, sum: Sha256Sum) -> Result<(), CommandError> {
    if sum == row.sha256 {
        return Ok(());
    }
    let text = format!("attachment `{}` is damaged: its bytes are not those that were accepted", row.id);
    Err(CommandError::new(Kind::Failed, text).hint(format!(
        "restore `{}` from a backup; its SHA-256 is {}",
        row.path.display(),
        row.sha256
    )))
}

/// The stored file cannot be read.
fn unreadable(row: &AttachmentRow, error: &std::io::Error) -> CommandError {
    let path = row.path.display();
    CommandError::new(Kind::Failed, format!("cannot read attachment `{}` in `{path}`: {error}", row.id))
}

/// The receipt has no files any more.
fn gone(id: &str) -> CommandError {
    CommandError::new(Kind::NotFound, format!("the files of `{}` are erased", escape_line(id)))
        .hint(format!("`formctl show {id}` says since when"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::testing::{printed, view};

    /// The first file of the example, with its bytes on disk being `bytes`.
    fn stored(folder: &Path, bytes: &[u8]) -> AttachmentRow {
        let path = folder.join("stored");
        std::fs::write(&path, bytes).unwrap();
        let row = view().attachments.unwrap().remove(0);
        AttachmentRow { path, sha256: Sha256Sum::of(b"%PDF-1.7"), ..row }
    }

    fn save_one(folder: &Path, row: &AttachmentRow) -> Result<Exit, CommandError> {
        let choices = [Choice::from(row)];
        let mut out = Output::new(std::io::sink(), std::io::sink(), Surface::Pipe);
        save(Place::Folder(folder), &choices, &[&choices[0]], &mut out, |_, file| copy(row, file))
    }

    #[test]
    fn a_file_is_saved_under_its_safe_name_and_never_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let row = stored(folder.path(), b"%PDF-1.7");
        assert_eq!(save_one(folder.path(), &row), Ok(Exit::Done));
        assert_eq!(std::fs::read(folder.path().join("cv.pdf")).unwrap(), b"%PDF-1.7");
        let error = save_one(folder.path(), &row).unwrap_err();
        assert_eq!(error.code(), 1);
        assert!(error.text.contains("exists"), "{}", error.text);
    }

    #[test]
    fn damaged_bytes_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let row = stored(folder.path(), b"%PDF-1.8");
        let error = save_one(folder.path(), &row).unwrap_err();
        assert!(error.text.contains("damaged"), "{}", error.text);
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["stored"]);
    }

    #[test]
    fn standard_output_gets_right_bytes_or_none_and_no_terminal_gets_any() {
        let folder = tempfile::tempdir().unwrap();
        let row = stored(folder.path(), b"%PDF-1.7");
        assert_eq!(printed(Surface::Pipe, |out| assert_eq!(to_stdout(&row, out), Ok(Exit::Done))), "%PDF-1.7");
        let terminal = Surface::Terminal { width: 80 };
        assert_eq!(printed(terminal, |out| assert_eq!(to_stdout(&row, out).unwrap_err().code(), 2)), "");
        let row = stored(folder.path(), b"%PDF-1.8");
        assert_eq!(printed(Surface::Pipe, |out| assert_eq!(to_stdout(&row, out).unwrap_err().code(), 1)), "");
    }
}
