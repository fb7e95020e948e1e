//! `formctl erase`: values, addresses and files are gone for good, now; the receipt stays, so that a repeat is
//! still recognised. `done` means that no file of the data directory holds a trace; `pending` (exit 4) that an old
//! reader still pins the database's log or a file could not be removed, and every sweep tries again.
//!
//! It asks before it erases. Where nobody can be asked, `--yes` is needed and nothing is touched without it.

use super::installation::Installation;
use super::lookup::{self, KnownForms};
use super::moment::{self, Moment};
use super::outcome::{CommandError, Exit, Kind};
use super::print::{Answer, Output};
use crate::domain::ids::ReceiptId;
use crate::domain::quantity::counted;
use crate::domain::receipt::ReceiptState;
use crate::domain::submission::{Contents, KeptField, Role, Value};
use crate::domain::time::Timestamp;
use crate::store::{Erased, ListFilter, ReceiptRow, Room, Store, Vacuum};

/// Receipts of one question to the database, and of one erasing transaction.
const PAGE: u32 = 500;
/// Receipts that the question names.
const NAMED: usize = 5;

/// What to erase.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("which").required(true).multiple(false).args(["receipts", "before", "field"]),
    override_usage = "formctl erase RECEIPT... [--yes] [--vacuum]
       formctl erase --site S [--form F] --before T [--yes] [--vacuum]
       formctl erase --where FIELD=VALUE [--site S] [--form F] [--yes] [--vacuum]",
    after_help = "\
Examples:
  formctl erase 4qzk1p8                           one submission
  formctl erase --where email=ann@example.org     all of a person, in all sites
  formctl erase --site acme --before 2026-01-01 --yes

Erased: values, files, recipients and URLs. Kept: the receipt itself, its time, and the state of its deliveries. \
Out of reach: backups, copies at recipients, downloaded files; a file without a receipt waits in quarantine.

`--vacuum` is for a database in which an older formd erased, or for certainty beyond that.

Exit codes: 0 done, 2 nobody to ask and no --yes, 3 not found, 4 pending: the sweep finishes it.")]
pub struct Args {
    /// Receipts, or their first characters.
    #[arg(value_name = "RECEIPT")]
    receipts: Vec<String>,
    /// Only this site.
    #[arg(long, value_name = "S", conflicts_with = "receipts")]
    site: Option<String>,
    /// Only this form.
    #[arg(long, value_name = "F", conflicts_with = "receipts")]
    form: Option<String>,
    /// Everything of the site that arrived before T: a date, RFC 3339 or an age such as 90d.
    #[arg(long, value_name = "T", value_parser = Moment::parse, requires = "site")]
    before: Option<Moment>,
    /// Everything where the field named FIELD is VALUE; an e-mail address in any case of letters.
    #[arg(long = "where", value_name = "FIELD=VALUE", value_parser = Condition::parse)]
    field: Option<Condition>,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    /// Write the whole database anew as well; it takes twice its size of free space, and submissions wait meanwhile.
    #[arg(long)]
    vacuum: bool,
}

/// `FIELD=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Condition {
    /// The field's name.
    name: String,
    /// The whole value.
    value: String,
}

impl Condition {
    /// Reads `FIELD=VALUE`, split at the first `=`; the value is not empty, since that would match most receipts.
    fn parse(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() && !value.trim().is_empty() => {
                Ok(Self { name: name.to_owned(), value: value.trim().to_owned() })
            }
            _ => Err("write FIELD=VALUE, such as email=ann@example.org".to_owned()),
        }
    }

    /// Whether one of the fields of this name has the value.
    fn matches(&self, contents: &Contents) -> bool {
        contents.fields.iter().filter(|field| field.name == self.name).any(|field| self.equals(field))
    }

    /// Whether the field has the value.
    fn equals(&self, field: &KeptField) -> bool {
        // An address is one in a plain text field of an older form as well.
        let any_case = field.role == Role::Email || self.value.contains('@');
        match (&field.value, field.role) {
            (Value::Text(text), _) if any_case => text.trim().to_lowercase() == self.value.to_lowercase(),
            (Value::Text(text), _) => text.trim() == self.value,
            (Value::List(values), _) => values.contains(&self.value),
            (Value::Bool(ticked), _) => self.value == if *ticked { "true" } else { "false" },
        }
    }
}

/// Erases.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let store = installation.open()?;
    let ids =
        if args.receipts.is_empty() { found(args, installation, &store, now)? } else { named(&store, &args.receipts)? };
    if ids.is_empty() {
        return nothing(args, out);
    }
    if args.vacuum {
        check_room(store.vacuum_room()?)?;
    }
    if !args.yes {
        ask(&question(&ids), out)?;
    }
    let mut total = Erased { wal_truncated: true, ..Erased::default() };
    for page in ids.chunks(usize::try_from(PAGE).unwrap_or(usize::MAX)) {
        match store.erase(page, now) {
            Ok(erased) => total = sum(total, erased),
            Err(error) => {
                // What went before is erased, and worth saying before the error is.
                if total.receipts > 0 {
                    report(&total, Strength::Unfinished, out)?;
                }
                return Err(error.into());
            }
        }
    }
    let strength = if args.vacuum { vacuum(&store, &mut total)? } else { Strength::Plain };
    report(&total, strength, out)
}

/// How thorough an erasure was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strength {
    /// What was asked for was erased.
    Plain,
    /// An error ended it before all of it was done.
    Unfinished,
    /// The database was written anew after it.
    Vacuumed,
    /// It was to be, and somebody else wrote all the time.
    Busy,
}

/// Ends the command before anything is erased when the database could not be written anew.
fn check_room(room: Room) -> Result<(), CommandError> {
    if room.free >= room.needed {
        return Ok(());
    }
    Err(CommandError::new(Kind::Failed, format!("nothing was erased: for `--vacuum` {room}"))
        .hint("without `--vacuum` it needs none; or make room and ask again"))
}

/// Writes the database anew and empties the log behind it.
fn vacuum(store: &Store, total: &mut Erased) -> Result<Strength, CommandError> {
    match store.vacuum()? {
        Vacuum::Busy => Ok(Strength::Busy),
        Vacuum::Done => {
            total.wal_truncated = store.truncate_log()?;
            Ok(Strength::Vacuumed)
        }
    }
}

/// The receipts that were named, each once; one that does not exist ends the command before anything is erased.
fn named(store: &Store, texts: &[String]) -> Result<Vec<ReceiptId>, CommandError> {
    let mut ids = texts.iter().map(|text| lookup::receipt(store, text)).collect::<Result<Vec<_>, _>>()?;
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// The receipts with values that the options describe.
fn found(
    args: &Args,
    installation: &Installation,
    store: &Store,
    now: Timestamp,
) -> Result<Vec<ReceiptId>, CommandError> {
    let known = KnownForms::gather(store, installation.declared().ok())?;
    let (site, form) = known.choose(args.site.as_deref(), args.form.as_deref())?;
    let filter = ListFilter { site, form, until: args.before.map(|moment| moment.at(now)), ..ListFilter::default() };
    let mut ids = Vec::new();
    let mut before = None;
    loop {
        let rows = store.list(&filter, before, PAGE, now)?;
        for row in rows.iter().filter(|row| matches!(row.state, ReceiptState::Kept { .. })) {
            if fits(store, row, args.field.as_ref(), now)? {
                ids.push(row.id);
            }
        }
        match rows.last() {
            Some(last) => before = Some(last.id),
            None => return Ok(ids),
        }
    }
}

/// Whether a receipt meets the condition, where there is one. No index covers values, so each is read.
fn fits(store: &Store, row: &ReceiptRow, condition: Option<&Condition>, now: Timestamp) -> Result<bool, CommandError> {
    let Some(condition) = condition else { return Ok(true) };
    let contents = store.show(row.id, now)?.and_then(|view| view.contents);
    Ok(contents.is_some_and(|contents| condition.matches(&contents)))
}

/// Nothing fits: for a person's data that is an answer to check twice, for a date it is none.
fn nothing(args: &Args, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    if let Some(condition) = &args.field {
        let name = crate::domain::visible::escape_line(&condition.name);
        return Err(CommandError::new(Kind::NotFound, format!("no kept receipt has this value in a field `{name}`"))
            .hint("the field's name, not its label, and its whole value; `formctl show RECEIPT --json` has both"));
    }
    out.line("nothing to erase")?;
    Ok(Exit::Done)
}

/// What a person is asked.
fn question(ids: &[ReceiptId]) -> String {
    let mut shown: Vec<String> =
        ids.iter().take(NAMED).map(|id| format!("{id} of {}", moment::minute(id.arrived_at()))).collect();
    if ids.len() > NAMED {
        shown.push(format!("{} more", ids.len() - NAMED));
    }
    let count = u64::try_from(ids.len()).unwrap_or(u64::MAX);
    format!("erase the values and files of {} for good: {}?", counted(count, "receipt"), shown.join(", "))
}

/// Goes on after a yes alone.
fn ask(question: &str, out: &mut Output<'_>) -> Result<(), CommandError> {
    match out.ask(question)? {
        Answer::Yes => Ok(()),
        Answer::No => Err(CommandError::new(Kind::Failed, "nothing was erased")),
        Answer::Nobody => Err(CommandError::new(Kind::Usage, "nothing was erased: there is nobody to ask")
            .hint("add `--yes` once the same options of `formctl list` show what you mean")),
    }
}

/// Both outcomes together.
fn sum(mut total: Erased, next: Erased) -> Erased {
    total.receipts += next.receipts;
    total.sending.extend(next.sending);
    total.files_left += next.files_left;
    // The last truncation covers all before it.
    total.wal_truncated = next.wal_truncated;
    total
}

/// Says what came of it.
fn report(erased: &Erased, strength: Strength, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    let whole = matches!(strength, Strength::Plain | Strength::Vacuumed);
    let done = whole && erased.wal_truncated && erased.files_left == 0;
    let what = match erased.receipts {
        0 => "the values were erased before".to_owned(),
        count => format!("the values of {} are erased", counted(count, "receipt")),
    };
    out.line(&format!("{}: {what}", if done { "done" } else { "pending" }))?;
    if !erased.wal_truncated {
        out.line("  a reader still holds the database's log, where they can be found; every sweep tries again")?;
    }
    if erased.files_left > 0 {
        let files = counted(erased.files_left, "file");
        out.line(&format!("  {files} could not be removed yet; every sweep tries again"))?;
    }
    match strength {
        Strength::Plain | Strength::Unfinished => {}
        Strength::Vacuumed => out.line("  the database was written anew")?,
        Strength::Busy => {
            out.line("  the database could not be written anew, others wrote all the time: ask again with `--vacuum`")?;
        }
    }
    for id in &erased.sending {
        out.line(&format!("  {id} was being sent and cannot be called back"))?;
    }
    out.line("  backups, copies at recipients and downloaded files keep what they hold;")?;
    out.line("  a file without a receipt waits in quarantine until the sweep removes it")?;
    Ok(if done { Exit::Done } else { Exit::Pending })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::print::Surface;
    use crate::ctl::testing::{printed, receipt_id, view};

    fn reported(erased: &Erased) -> (String, Exit) {
        let mut exit = None;
        let text = printed(Surface::Pipe, |out| exit = Some(report(erased, Strength::Plain, out).unwrap()));
        (text, exit.unwrap())
    }

    #[test]
    fn done_is_said_only_when_every_trace_is_gone() {
        let all_gone = Erased { receipts: 3, wal_truncated: true, ..Erased::default() };
        let (text, exit) = reported(&all_gone);
        assert_eq!(exit, Exit::Done);
        insta::assert_snapshot!("erase_done", text);
        let sending = vec![view().row.deliveries[0].id];
        let (text, exit) = reported(&Erased { receipts: 1, sending, files_left: 2, wal_truncated: false });
        assert_eq!(exit, Exit::Pending);
        insta::assert_snapshot!("erase_pending", text);
        assert_eq!(reported(&Erased { wal_truncated: false, ..all_gone }).1, Exit::Pending);
        assert_eq!(reported(&Erased { wal_truncated: true, ..Erased::default() }).1, Exit::Done);
    }

    #[test]
    fn nothing_is_erased_without_a_yes() {
        let ids: Vec<ReceiptId> = (1..=12).map(receipt_id).collect();
        insta::assert_snapshot!("erase_question", question(&ids));
        let mut out = Output::new(std::io::sink(), std::io::sink(), Surface::Pipe);
        assert_eq!(ask("?", &mut out).unwrap_err().code(), 2);
        let mut out = out.with_person(&b"n\n"[..]);
        assert_eq!(ask("?", &mut out).unwrap_err().code(), 1);
        let mut out = out.with_person(&b"y\n"[..]);
        assert_eq!(ask("?", &mut out), Ok(()));
    }

    #[test]
    fn a_condition_is_a_field_and_its_whole_value() {
        let contents = view().contents.unwrap();
        for (text, meets) in [
            ("email=ann@example.org", true),
            ("email=ANN@example.org", true),
            ("email=ann", false),
            ("name=Ann Example", true),
            ("name=ann example", false),
            ("Name=Ann Example", false),
            ("topics=Roof", true),
            ("topics=Roof, Wall", false),
            ("news=true", true),
        ] {
            assert_eq!(Condition::parse(text).unwrap().matches(&contents), meets, "{text}");
        }
        for bad in ["", "email", "=x", "email=", "email= "] {
            assert!(Condition::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Condition::parse("a=b=c").unwrap().value, "b=c");
    }

    #[test]
    fn the_last_truncation_covers_the_pages_before_it() {
        let page = |receipts, wal_truncated| Erased { receipts, wal_truncated, ..Erased::default() };
        assert_eq!(sum(page(500, false), page(3, true)), page(503, true));
        assert_eq!(sum(page(500, true), page(3, false)), page(503, false));
    }
}
