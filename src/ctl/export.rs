//! `formctl export`: all kept values of a selection into one file or a pipe.
//!
//! A file appears whole or not at all, and never over another. For root the parent makes the file and a child that
//! runs as the owner of the data directory fills it.

use std::ffi::OsString;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use super::installation::{self, Installation};
use super::lookup::KnownForms;
use super::moment::Moment;
use super::newfile::NewFile;
use super::outcome::{CommandError, Exit, Kind};
use super::owner::Owner;
use super::print::{Output, Surface};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::form::FieldKind;
use crate::domain::ids::{FormId, SiteId};
use crate::export::{self, ExportError, Format, Guard, Order, Report, Separator, Style, Zone};
use crate::store::Selection;

/// What to export, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl export --format csv --excel --tz Europe/Berlin --since 30d -o month.csv
  formctl export --format jsonl --site acme | gzip > acme.jsonl.gz
  formctl export --format zip --form acme/jobs -o applications.zip

Only what is kept: erased and expired values are in no export. A file appears whole or not at all, mode 0600, and \
never over another one. In CSV a leading apostrophe keeps a spreadsheet from running or changing a cell; JSON Lines \
hold every value exactly as it was sent. T is a date (2026-11-30), RFC 3339, or an age (30d, 12h), in UTC.")]
pub struct Args {
    /// One table, one JSON object a line, or a ZIP with both and the files.
    #[arg(long, value_name = "csv|jsonl|zip", value_parser = read_format)]
    format: Format,
    /// Only this site.
    #[arg(long, value_name = "S")]
    site: Option<String>,
    /// Only this form.
    #[arg(long, value_name = "F")]
    form: Option<String>,
    /// Arrived at T or later.
    #[arg(long, value_name = "T", value_parser = Moment::parse)]
    since: Option<Moment>,
    /// Arrived before T.
    #[arg(long, value_name = "T", value_parser = Moment::parse)]
    until: Option<Moment>,
    /// CSV: times in this zone, such as Europe/Berlin; without it RFC 3339 in UTC.
    #[arg(long, value_name = "Z", value_parser = Zone::parse)]
    tz: Option<Zone>,
    /// CSV: with a byte order mark and `;`, as Excel opens it in most of Europe.
    #[arg(long)]
    excel: bool,
    /// CSV: cells exactly as sent. Dangerous: a spreadsheet runs formulas that a visitor wrote.
    #[arg(long)]
    raw: bool,
    /// A new file; without it, or with `-`, to standard output.
    #[arg(short, long, value_name = "FILE", overrides_with = "output")]
    output: Option<PathBuf>,
}

/// Reads the name of a format.
fn read_format(text: &str) -> Result<Format, String> {
    match text {
        "csv" => Ok(Format::Csv),
        "jsonl" => Ok(Format::Lines),
        "zip" => Ok(Format::Zip),
        _ => Err("write csv, jsonl or zip".to_owned()),
    }
}

/// Exports.
pub fn run(
    args: &Args,
    installation: &Installation,
    clock: &Clock,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    args.refuse_what_cannot_be_meant(out.surface())?;
    let store = installation.open()?;
    let config = installation.declared().ok();
    let (site, form) = KnownForms::gather(&store, config)?.choose(args.site.as_deref(), args.form.as_deref())?;
    let order = args.order(config, site, form, clock);
    let report = match args.file() {
        None => {
            let (to, mut progress) = out.bytes_with_progress();
            export::run(&store, clock, &order, to, &mut |percent| progress.show(percent))?
        }
        Some(path) => {
            let mut new = NewFile::outside(store.directory().root(), path)?;
            let mut progress = out.progress();
            let mut file = BufWriter::new(new.file());
            let report = export::run(&store, clock, &order, &mut file, &mut |percent| progress.show(percent))?;
            file.flush().map_err(ExportError::from)?;
            drop(file);
            new.keep()?;
            report
        }
    };
    out.flush()?;
    out.note(&sentence(&report, order.format));
    Ok(Exit::Done)
}

/// The same for root: `owner` reads, we make the file.
pub fn run_for_root(
    args: &Args,
    typed: &[OsString],
    owner: Owner,
    config: Option<&Path>,
) -> Result<Exit, CommandError> {
    let typed = typed.get(1..).unwrap_or_default();
    let Some(path) = args.file() else {
        return owner.run_again(typed).map(Exit::Passed);
    };
    let mut new = NewFile::outside(&installation::data_dir_unchecked(config)?, path)?;
    let code = owner.run_into(&[typed, &["--output".into(), "-".into()]].concat(), new.file())?;
    if code == 0 {
        new.keep()?;
    }
    // The child has said what it did.
    Ok(Exit::Passed(code))
}

impl Args {
    /// The file to make; `None`: standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Options that do not go together, and outputs that are no place for such bytes.
    fn refuse_what_cannot_be_meant(&self, surface: Surface) -> Result<(), CommandError> {
        let to_terminal = self.file().is_none() && matches!(surface, Surface::Terminal { .. });
        if self.format == Format::Lines && (self.tz.is_some() || self.excel || self.raw) {
            return Err(CommandError::new(Kind::Usage, "`--tz`, `--excel` and `--raw` are about CSV")
                .hint("JSON Lines hold every value exactly, and times in UTC"));
        }
        if to_terminal && (self.format == Format::Zip || self.raw) {
            return Err(CommandError::new(Kind::Usage, "bytes as visitors sent them are not written to a terminal")
                .hint("name a file with `-o FILE`"));
        }
        Ok(())
    }

    /// What the export is told.
    fn order(&self, config: Option<&Config>, site: Option<SiteId>, form: Option<FormId>, clock: &Clock) -> Order {
        let now = clock.now();
        Order {
            format: self.format,
            declared: declared(config, site.as_ref(), form.as_ref()),
            selection: Selection {
                site,
                form,
                since: self.since.map(|moment| moment.at(now)),
                until: self.until.map(|moment| moment.at(now)),
                last: None,
            },
            style: Style {
                guard: if self.raw { Guard::Off } else { Guard::On },
                separator: if self.excel { Separator::Excel } else { Separator::Comma },
                zone: self.tz.clone().unwrap_or(Zone::Utc),
            },
        }
    }
}

/// The names of the declared fields that hold values, in the order of the files.
fn declared(config: Option<&Config>, site: Option<&SiteId>, form: Option<&FormId>) -> Vec<String> {
    let sites = config.into_iter().flat_map(|config| config.sites.values());
    let sites = sites.filter(|found| site.is_none_or(|site| *site == found.id));
    let forms = sites.flat_map(|found| found.forms.values());
    let forms = forms.filter(|found| form.is_none_or(|form| *form == found.id));
    let fields = forms.flat_map(|found| &found.fields);
    fields.filter(|field| !matches!(field.kind, FieldKind::File(_))).map(|field| field.name.clone()).collect()
}

/// What was written, in words.
fn sentence(report: &Report, format: Format) -> String {
    let counted = |n: u64, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let mut text = counted(report.receipts, "receipt");
    if format == Format::Zip {
        text = format!("{text}, {}", counted(report.files, "file"));
    }
    if report.erased_meanwhile > 0 {
        text = format!("{text}; {} erased meanwhile and left out", counted(report.erased_meanwhile, "file"));
    }
    text
}

impl From<ExportError> for CommandError {
    fn from(error: ExportError) -> Self {
        let told = Self::new(Kind::Failed, error.to_string());
        match error {
            ExportError::Store(error) => Self::from(error),
            ExportError::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                Self::new(Kind::ReaderGone, "")
            }
            ExportError::Output(_) => told,
            ExportError::Unreadable(..) | ExportError::Damaged(_) => {
                told.hint("restore the file from a backup; `--format jsonl` exports the values without files")
            }
            ExportError::NewField(_) => told.hint("run the export again"),
        }
    }
}
