//! `formctl list`: receipts, latest first. Values are not in lists.

use clap::builder::PossibleValuesParser;

use super::installation::Installation;
use super::lookup::KnownForms;
use super::moment::{self, Moment};
use super::outcome::{CommandError, Exit, Kind};
use super::print::{Output, Surface};
use super::receipt::{Listed, delivery_phrase};
use crate::domain::fingerprint::{KeyHash, submit_key};
use crate::domain::ids::{FormId, ReceiptId, SiteId, SubmitKey};
use crate::domain::receipt::ReceiptState;
use crate::domain::time::Timestamp;
use crate::store::{ListFilter, ReceiptRow, Store};

/// Receipts that one question to the database asks for: long readers would pin its log.
const PAGE: u32 = 500;
/// Columns from which on a row fits on one line.
const WIDE: u16 = 130;
/// The states of a delivery.
const STATES: [&str; 4] = ["pending", "retrying", "delivered", "failed"];

/// What to list.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl list --since 7d --state failed     what did not arrive in the last week
  formctl list --site acme --all --json      all of a site, one object a line
  formctl list --key 7b1d4c0e-...            the receipt of a browser's key

On a terminal a table, elsewhere one line a receipt with tabs and no header: receipt, received, site/form, page, \
locale, erase date, deliveries. T is a date (2026-11-30), RFC 3339, or an age (30d, 12h). All times are UTC.")]
pub struct Args {
    /// The receipt of this submission key.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
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
    /// With a delivery in this state.
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(STATES))]
    state: Option<String>,
    /// Only what was judged spam.
    #[arg(long)]
    spam: bool,
    /// At most N receipts.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// All receipts.
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Lists.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let key = args.key.as_deref().map(read_key).transpose()?;
    let store = installation.open()?;
    let known = KnownForms::gather(&store, installation.declared().ok())?;
    let (site, form) = known.choose(args.site.as_deref(), args.form.as_deref())?;
    let filter = args.filter(site, form, now);
    let Some(key) = key else {
        return print_pages(&store, &filter, args, now, out);
    };
    let mut found = false;
    for hash in key_hashes(&store, &known, &filter, &key) {
        let rows = store.list(&ListFilter { key_hash: Some(hash), ..filter.clone() }, None, args.limit, now)?;
        found |= !rows.is_empty();
        print_rows(&rows, args, now, out)?;
    }
    if !found {
        out.note("no receipt came in under this key");
    }
    Ok(Exit::Done)
}

/// Reads a submission key.
fn read_key(text: &str) -> Result<SubmitKey, CommandError> {
    match SubmitKey::parse(text) {
        Ok(Some(key)) => Ok(key),
        Ok(None) => Err(CommandError::new(Kind::Usage, "an empty submission key is none")),
        Err(error) => Err(CommandError::new(Kind::Usage, error.to_string())),
    }
}

/// The key is stored as a hash over site, form and key: one for each form that may be meant.
fn key_hashes(store: &Store, known: &KnownForms, filter: &ListFilter, key: &SubmitKey) -> Vec<KeyHash> {
    let forms = known.matching(filter.site.as_ref(), filter.form.as_ref());
    forms.iter().map(|(site, form)| submit_key(store.key(), site, form, key)).collect()
}

impl Args {
    /// What the store is asked for.
    fn filter(&self, site: Option<SiteId>, form: Option<FormId>, now: Timestamp) -> ListFilter {
        ListFilter {
            prefix: None,
            site,
            form,
            since: self.since.map(|moment| moment.at(now)),
            until: self.until.map(|moment| moment.at(now)),
            state: self.state.as_deref().and_then(|state| STATES.into_iter().find(|word| *word == state)),
            spam: self.spam,
            key_hash: None,
        }
    }
}

/// Prints page after page until the limit or the end.
fn print_pages(
    store: &Store,
    filter: &ListFilter,
    args: &Args,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let mut left = if args.all { u32::MAX } else { args.limit };
    let mut before: Option<ReceiptId> = None;
    while left > 0 {
        let asked = left.min(PAGE);
        let rows = store.list(filter, before, asked, now)?;
        print_rows(&rows, args, now, out)?;
        let got = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        if got == 0 && before.is_none() && matches!(out.surface(), Surface::Terminal { .. }) {
            out.note("no receipts");
        }
        if got < asked {
            return Ok(Exit::Done);
        }
        left -= asked;
        before = rows.last().map(|row| row.id);
    }
    if !args.all && matches!(out.surface(), Surface::Terminal { .. }) {
        out.note(&format!("the latest {} are shown; `--limit N` or `--all` shows more", args.limit));
    }
    Ok(Exit::Done)
}

/// Prints some receipts in the form asked for.
fn print_rows(rows: &[ReceiptRow], args: &Args, now: Timestamp, out: &mut Output<'_>) -> Result<(), CommandError> {
    if args.json {
        return rows.iter().try_for_each(|row| out.json(&Listed::from(row)));
    }
    let surface = out.surface();
    let cells: Vec<_> = rows.iter().map(|row| cells(row, surface, now)).collect();
    match surface {
        Surface::Terminal { width: ..WIDE } => {
            let header = ["RECEIPT", "RECEIVED, ERASE DATE", "SITE/FORM, LOCALE, PAGE", "DELIVERIES"];
            out.table(&header, &cells.into_iter().map(narrow).collect::<Vec<_>>())
        }
        Surface::Terminal { .. } | Surface::Pipe => {
            let header = ["RECEIPT", "RECEIVED", "SITE/FORM", "PAGE", "LOCALE", "ERASE DATE", "DELIVERIES"];
            out.table(&header, &cells.into_iter().map(Vec::from).collect::<Vec<_>>())
        }
    }
}

/// The same cells for a narrow terminal: what belongs together stands one above the other.
fn narrow([receipt, received, form, page, locale, erase, deliveries]: [String; 7]) -> Vec<String> {
    vec![receipt, format!("{received}\n{erase}"), format!("{form}, {locale}\n{page}"), deliveries]
}

/// The cells of one receipt: short times for a person, whole ones for a program.
fn cells(row: &ReceiptRow, surface: Surface, now: Timestamp) -> [String; 7] {
    let time = |at: Timestamp| match surface {
        Surface::Terminal { .. } => moment::minute(at),
        Surface::Pipe => at.to_string(),
    };
    let deliveries: Vec<String> = row.deliveries.iter().map(|delivery| delivery_phrase(delivery, now)).collect();
    [
        row.id.to_string(),
        time(row.id.arrived_at()),
        format!("{}/{}{}", row.site, row.form, if row.spam { " (spam)" } else { "" }),
        // A page comes from the visitor's browser: a line break in it must not pass for one of ours.
        row.page.as_deref().unwrap_or("-").replace('\n', " "),
        row.locale.clone(),
        match row.state {
            ReceiptState::Kept { until } => match surface {
                Surface::Terminal { .. } => until.day(),
                Surface::Pipe => until.to_string(),
            },
            ReceiptState::Erased { .. } => "erased".to_owned(),
        },
        if deliveries.is_empty() { "-".to_owned() } else { deliveries.join("\n") },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::testing::{erased_row, hostile_row, now, printed, row};
    use clap::Parser;

    /// The options alone.
    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        args: Args,
    }

    fn args(options: &[&str]) -> Args {
        Alone::parse_from([&["list"], options].concat()).args
    }

    fn listed(surface: Surface, options: &[&str]) -> String {
        let rows = [row(), hostile_row(), erased_row()];
        printed(surface, |out| print_rows(&rows, &args(options), now(), out).unwrap())
    }

    #[test]
    fn a_list_on_a_terminal_is_a_table() {
        insta::assert_snapshot!("list_terminal", listed(Surface::Terminal { width: 140 }, &[]));
    }

    #[test]
    fn a_list_on_a_narrow_terminal_keeps_its_receipts_whole() {
        insta::assert_snapshot!("list_narrow", listed(Surface::Terminal { width: 80 }, &[]));
    }

    #[test]
    fn a_list_elsewhere_is_tab_separated() {
        insta::assert_snapshot!("list_stream", listed(Surface::Pipe, &[]));
    }

    #[test]
    fn a_list_as_json_has_the_names_of_the_contract_in_its_order() {
        insta::assert_snapshot!("list_json", listed(Surface::Pipe, &["--json"]));
    }

    #[test]
    fn options_become_one_question() {
        let filter =
            args(&["--since", "1d", "--until", "2026-11-30", "--state", "failed", "--spam"]).filter(None, None, now());
        assert_eq!(filter.since.map(|t| t.to_string()).as_deref(), Some("2026-11-29T16:28:19.007Z"));
        assert_eq!(filter.until.map(|t| t.to_string()).as_deref(), Some("2026-11-30T00:00:00.000Z"));
        assert_eq!((filter.state, filter.spam), (Some("failed"), true));
        assert_eq!(args(&[]).limit, 50);
    }

    #[test]
    fn a_key_that_cannot_be_one_is_a_usage_mistake() {
        for bad in ["", "with space", "ключ"] {
            assert_eq!(read_key(bad).unwrap_err().code(), 2, "{bad}");
        }
        assert!(read_key("\"7b1d\"").is_ok());
    }
}
