//! `formctl import`: what another service had accepted becomes submissions of a form. It says how many it read, took,
//! knew and refused, and what there is to know about them; names of fields and places in the file, never values.
//!
//! For root the file is opened by the parent, which may read it, and comes to the owner of the data directory as
//! standard input.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::installation::Installation;
use super::lookup;
use super::outcome::{CommandError, Exit, Kind};
use super::owner::Owner;
use super::print::Output;
use crate::clock::Clock;
use crate::domain::quantity::counted;
use crate::domain::submission::ImportSource;
use crate::import::{self, Encoding, ImportError, Job, Mode, Report};
use crate::intake::Published;

/// Refusals that a person reads; `--json` has more.
const LINES: usize = 20;

/// What to import, and where to.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl import contact.csv --from netlify --form acme/quote --dry-run     what it would do
  formctl import contact.csv --from netlify --form acme/quote
  formctl import submissions.json --from formspree --form acme/quote
  formctl import quote.jsonl --from formd --form acme/quote                 of `formctl export --format jsonl`

CSV and JSON are told apart by their content. A column is the field of its name; network addresses and browsers are \
left out. Nothing is sent. A submission arrives now and is kept as long as any other; when it arrived there stands \
beside it (`formctl show`). Files are not fetched, their links are kept. The same file again adds nothing, so an \
import that was interrupted is repeated.

Exit codes: 0 all taken or there already, 1 some refused or the file is not readable, 3 no such form.")]
pub struct Args {
    /// The export; `-`: standard input, which has to be a file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Whose export it is: netlify, formspree or formd.
    #[arg(long, value_name = "SERVICE", value_parser = read_source)]
    from: ImportSource,
    /// The form they become submissions of.
    #[arg(long, value_name = "SITE/FORM")]
    form: String,
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Reads a service's name.
fn read_source(text: &str) -> Result<ImportSource, String> {
    let all = [ImportSource::Netlify, ImportSource::Formspree, ImportSource::Formd];
    all.into_iter().find(|source| source.word() == text).ok_or_else(|| "write netlify, formspree or formd".to_owned())
}

/// The object of `import --json`.
#[derive(Debug, Serialize)]
struct Told<'a> {
    /// The site.
    site: &'a str,
    /// The form.
    form: &'a str,
    /// Whose export it was.
    from: &'static str,
    /// Whether nothing was written.
    dry_run: bool,
    /// Submissions in the file, as far as it was read.
    read: u64,
    /// Stored.
    imported: u64,
    /// There before.
    skipped: u64,
    /// Not taken.
    refused: u64,
    /// The first 100 of them.
    refusals: Vec<Refused>,
    /// Of those imported: what the form would refuse today.
    faulty: u64,
    /// The same by field.
    faults: Vec<Fault<'a>>,
    /// Of those imported: older than the site's retention.
    older_than_retention: u64,
    /// Of those imported: without a time that can be read.
    without_time: u64,
    /// Of those imported: marked as spam.
    spam: u64,
    /// Files that are not in the export.
    files_missing: u64,
    /// Links to files, kept as text.
    links_kept: u64,
    /// Columns and members that are no values.
    left_out: Vec<&'a str>,
    /// `utf-8` or `windows-1252`; null where it was not looked at.
    encoding: Option<&'static str>,
    /// Why the file was not read to its end.
    error: Option<String>,
}

/// A refusal of `import --json`.
#[derive(Debug, Serialize)]
struct Refused {
    /// `line 12`, `submission 3`.
    place: String,
    /// Why.
    why: String,
}

/// A fault of `import --json`.
#[derive(Debug, Serialize)]
struct Fault<'a> {
    /// The field's name.
    field: &'a str,
    /// The word of the fault, as a visitor's program gets it.
    code: &'static str,
    /// In how many submissions.
    count: u64,
}

/// Imports.
pub fn run(
    args: &Args,
    installation: &Installation,
    clock: &Clock,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let config = installation.config()?;
    let published = lookup::declared(config, &args.form)?;
    let file = open(&args.file)?;
    let store = installation.open()?;
    let mode = if args.dry_run { Mode::Plan } else { Mode::CarryOut };
    let job = Job { source: args.from, published: &published, bounds: &config.daemon.bounds, store: &store, mode };
    let mut progress = out.progress();
    let (report, ended) = import::run(&job, file, clock, &mut |percent| progress.show(percent));
    drop(progress);
    if args.json {
        out.json(&told(args, &published, &report, ended.as_ref().err()))?;
    } else {
        lines(args, &published, &report).iter().try_for_each(|line| out.line(line))?;
    }
    match ended {
        Ok(()) if report.refused == 0 => Ok(Exit::Done),
        Ok(()) => Ok(Exit::Failed),
        Err(error) => Err(explain(args, error)),
    }
}

/// The same for root: we open, `owner` imports.
pub fn run_for_root(args: &Args, owner: Owner, config: Option<&Path>) -> Result<u8, CommandError> {
    let file = open(&args.file)?;
    let mut words: Vec<&OsStr> = ["import", "--from", args.from.word(), "--form", &args.form].map(OsStr::new).into();
    words.extend(args.dry_run.then_some(OsStr::new("--dry-run")));
    words.extend(args.json.then_some(OsStr::new("--json")));
    words.extend(["--", "-"].map(OsStr::new));
    owner.run_with(config, &words, file)
}

/// Opens what is to be read.
fn open(path: &Path) -> Result<File, CommandError> {
    let opened = if path.as_os_str() == "-" {
        std::io::stdin().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::open(path)
    };
    opened.map_err(|error| CommandError::new(Kind::Failed, format!("cannot open `{}`: {error}", path.display())))
}

/// Why the file was not read to its end, and what to do.
fn explain(args: &Args, error: ImportError) -> CommandError {
    let name = match args.file.as_os_str() {
        name if name == "-" => "the file".to_owned(),
        name => format!("`{}`", name.display()),
    };
    let told = |error: &ImportError| format!("{name}: {error}");
    match error {
        ImportError::Store(error) => {
            let error = CommandError::from(error);
            if error.hint.is_some() { error } else { error.hint("what was imported stays; repeat the same command") }
        }
        ImportError::Broken { .. } | ImportError::TooLarge { .. } => CommandError::new(Kind::Failed, told(&error))
            .hint("mend or export it again and repeat the command: what was imported is recognised"),
        ImportError::Read(_) | ImportError::Unfit(_) => CommandError::new(Kind::Failed, told(&error)),
    }
}

/// The object for a program.
fn told<'a>(args: &Args, published: &'a Published, report: &'a Report, error: Option<&ImportError>) -> Told<'a> {
    let refusals =
        report.refusals.iter().map(|(place, why)| Refused { place: place.to_string(), why: why.to_string() });
    let faults = report.faults.iter().map(|((field, code), count)| Fault { field, code, count: *count });
    Told {
        site: published.site.id.as_str(),
        form: published.form.id.as_str(),
        from: args.from.word(),
        dry_run: args.dry_run,
        read: report.read,
        imported: report.imported,
        skipped: report.known,
        refused: report.refused,
        refusals: refusals.collect(),
        faulty: report.faulty,
        faults: faults.collect(),
        older_than_retention: report.outlived,
        without_time: report.timeless,
        spam: report.spam,
        files_missing: report.files,
        links_kept: report.links,
        left_out: report.left_out.iter().map(String::as_str).collect(),
        encoding: report.encoding.map(|encoding| match encoding {
            Encoding::Utf8 => "utf-8",
            Encoding::Windows1252 => "windows-1252",
        }),
        error: error.map(ToString::to_string),
    }
}

/// The lines for a person.
fn lines(args: &Args, published: &Published, report: &Report) -> Vec<String> {
    let Published { site, form } = published;
    let (would, are) = if args.dry_run { ("would be ", "would be") } else { ("", "are") };
    let mut lines = vec![format!(
        "{}/{}: {} read, {} {would}imported, {} there already, {} {would}refused",
        site.id,
        form.id,
        counted(report.read, "submission"),
        report.imported,
        report.known,
        report.refused
    )];
    let mut say = |count: u64, text: String| {
        if count > 0 {
            lines.push(format!("  {text}"));
        }
    };
    for (place, why) in report.refusals.iter().take(LINES) {
        say(1, format!("refused, {place}: {why}"));
    }
    let named = u64::try_from(report.refusals.len().min(LINES)).unwrap_or(0);
    say(report.refused - named, format!("refused: {} more; `--json` names the first 100", report.refused - named));
    let faults = report.faults.iter().map(|((field, code), count)| format!("{field} {code} {count}"));
    let faults: Vec<String> = faults.collect();
    say(report.faulty, format!("{} would not pass today's form: {}", report.faulty, faults.join(", ")));
    let days = counted(site.retention_days.into(), "day");
    say(
        report.outlived,
        format!(
            "{} older than the {days} that this site keeps values; they {are} kept {days} from now",
            report.outlived
        ),
    );
    say(report.timeless, format!("{} without a time that can be read", report.timeless));
    say(report.spam, format!("{} marked as spam there, and here: `formctl list --spam`", report.spam));
    say(
        report.files,
        format!("{} not imported: only what is said about them is in the export", counted(report.files, "file")),
    );
    say(
        report.links,
        format!("{} to files kept as text; the files stay where they are", counted(report.links, "link")),
    );
    if !report.left_out.is_empty() {
        say(1, format!("left out: {}", report.left_out.iter().map(String::as_str).collect::<Vec<_>>().join(", ")));
    }
    if report.encoding == Some(Encoding::Windows1252) {
        say(1, "the file is no UTF-8; it was read as windows-1252".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::ctl::print::Surface;
    use crate::ctl::testing::{files, now};
    use crate::store::Store;

    #[test]
    fn a_person_sees_how_far_an_import_is_and_a_program_does_not() {
        let (folder, config) = files("[form.quote]\n");
        let data = folder.path().join("data");
        let _store = Store::open_daemon(&data, now(), [7; 32]).unwrap();
        std::fs::write(&config, format!("data_dir = \"{}\"\n", data.display())).unwrap();
        let export = folder.path().join("export.csv");
        std::fs::write(&export, "name,id\nAnn,1\nBob,2\n").unwrap();
        let export = export.to_str().unwrap();
        let words = ["formctl", "--config", &config, "import", export, "--from", "netlify", "--form", "acme/quote"];
        let told = |watched: bool| {
            let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
            let mut out = Output::new(&mut stdout, &mut stderr, Surface::Pipe);
            if watched {
                out = out.with_person(&b""[..]);
            }
            let code = crate::ctl::run(words.map(OsString::from), &Clock::stepped(now()), &mut out);
            drop(out);
            (code, String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
        };
        let (code, report, bar) = told(true);
        assert_eq!(code, 0, "{bar}");
        assert!(report.starts_with("acme/quote: 2 submissions read, 2 imported"), "{report}");
        assert!(bar.contains("100 %"), "{bar}");
        assert_eq!(told(false).2, "");
    }
}
