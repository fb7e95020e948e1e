//! `formctl deliveries`: what waits and what failed, why and since when, oldest first; failures acknowledged; what a
//! restore held let go.

use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::installation::Installation;
use super::lookup::{self, Named};
use super::moment;
use super::outcome::{CommandError, Exit, Kind};
use super::print::{Output, Surface};
use super::receipt::{Delivery, delivery_phrase};
use crate::config::{Activity, Config};
use crate::domain::delivery::{Hold, Reason};
use crate::domain::ids::DeliveryId;
use crate::domain::quantity::counted;
use crate::domain::time::Timestamp;
use crate::store::{Acknowledged, Fate, Outstanding, Store, Which};

/// Deliveries of one question to the database.
const PAGE: u32 = 500;
/// What `--state` takes.
const STATES: [&str; 4] = ["pending", "retrying", "failed", "held"];

/// What to list or to do.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "formctl deliveries [--state STATE] [--json]\n       formctl deliveries --ack [DELIVERY...]\n       formctl deliveries --release",
    after_help = "\
Examples:
  formctl deliveries                        what waits, and what failed and was not acknowledged
  formctl deliveries --state failed         every failure, acknowledged ones too
  formctl deliveries --ack 4qzk1p8-d2       seen: `status` is no longer critical for it
  formctl deliveries --ack                  the same for all that failed
  formctl deliveries --release              send what a restore held

A failure stays in `status` until it is delivered, sent again (`formctl resend`), erased or acknowledged. On a \
terminal a table, elsewhere one line a delivery with tabs: delivery, since, site/form, channel, destination, state, \
attempts, next attempt, why, note. All times are UTC.

Exit codes: 0 done, 1 not acknowledged (the line says why), 3 not found."
)]
pub struct Args {
    /// Only what is in this state; `held`: what waits for a release.
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(STATES))]
    state: Option<String>,
    /// One JSON object a line.
    #[arg(long)]
    json: bool,
    /// Acknowledge these failed deliveries (a receipt: all of its), or every one.
    #[arg(long, value_name = "DELIVERY", num_args = 0.., conflicts_with_all = ["state", "json", "release"])]
    ack: Option<Vec<String>>,
    /// Let go what is held since a restore.
    #[arg(long, conflicts_with_all = ["state", "json"])]
    release: bool,
}

/// Lists, acknowledges or lets go.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let store = installation.open()?;
    match &args.ack {
        Some(named) if named.is_empty() => acknowledge_all(&store, out),
        Some(named) => acknowledge(&store, named, now, out),
        None if args.release => release(&store, now, out),
        None => list(args, &store, installation.declared().ok(), now, out),
    }
}

/// Prints what was asked for, page by page.
fn list(
    args: &Args,
    store: &Store,
    config: Option<&Config>,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let which = match args.state.as_deref() {
        Some("pending") => Which::Pending,
        Some("retrying") => Which::Retrying,
        Some("held") => Which::Held,
        Some("failed") => Which::Failed,
        Some(_) | None => Which::Outstanding,
    };
    let mut after = None;
    loop {
        let rows = store.outstanding(which, after, PAGE, now)?;
        if rows.is_empty() && after.is_none() && out.surface() != Surface::Pipe {
            out.note(if which == Which::Outstanding { "nothing waits and nothing failed" } else { "no such delivery" });
        }
        print_rows(&rows, args.json, config, now, out)?;
        match rows.last() {
            Some(last) if rows.len() == usize::try_from(PAGE).unwrap_or(usize::MAX) => after = Some(last.delivery.id),
            Some(_) | None => return Ok(Exit::Done),
        }
    }
}

/// A delivery of `deliveries --json`.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    /// The receipt.
    receipt: String,
    /// Its site.
    site: &'a str,
    /// Its form.
    form: &'a str,
    /// When it arrived.
    received_at: String,
    /// As in `list --json`.
    #[serde(flatten)]
    delivery: Delivery<'a>,
    /// `spam`, `restored`, `site_gone`; null when it is not held.
    held_why: Option<&'static str>,
    /// Whether the operator has seen the failure.
    acked: bool,
}

impl<'a> From<&'a Outstanding> for Listed<'a> {
    fn from(row: &'a Outstanding) -> Self {
        Self {
            receipt: row.delivery.id.receipt.to_string(),
            site: &row.site,
            form: &row.form,
            received_at: row.delivery.id.receipt.arrived_at().to_string(),
            delivery: Delivery::from(&row.delivery),
            held_why: row.delivery.held.map(Hold::word),
            acked: row.delivery.acked,
        }
    }
}

/// Prints some deliveries in the form asked for.
fn print_rows(
    rows: &[Outstanding],
    json: bool,
    config: Option<&Config>,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<(), CommandError> {
    if json {
        return rows.iter().try_for_each(|row| out.json(&Listed::from(row)));
    }
    match out.surface() {
        Surface::Terminal { .. } => {
            let cells: Vec<_> = rows.iter().map(|row| table_row(row, config, now)).collect();
            out.table(&["DELIVERY", "SINCE", "SITE/FORM", "DESTINATION AND STATE"], &cells)
        }
        Surface::Pipe => {
            let cells: Vec<_> = rows.iter().map(|row| stream_row(row, config)).collect();
            out.table(&[], &cells)
        }
    }
}

/// Whether a delivery waits for its site to be enabled.
fn is_disabled(row: &Outstanding, config: Option<&Config>) -> bool {
    let activity =
        |config: &Config| config.activity(&row.site, &row.form, row.delivery.channel, &row.delivery.destination);
    row.delivery.next_attempt_at.is_some() && config.map(activity) == Some(Activity::SiteDisabled)
}

/// The cells for a person.
fn table_row(row: &Outstanding, config: Option<&Config>, now: Timestamp) -> Vec<String> {
    let mut state = delivery_phrase(&row.delivery, now);
    if is_disabled(row, config) {
        state.push_str(", waits: its site is disabled");
    }
    if row.delivery.acked {
        state.push_str(", acknowledged");
    }
    if let Some(note) = &row.delivery.note {
        state.push('\n');
        state.push_str(&note.replace('\n', " "));
    }
    let id = row.delivery.id;
    vec![id.to_string(), moment::minute(id.receipt.arrived_at()), format!("{}/{}", row.site, row.form), state]
}

/// The cells for a program.
fn stream_row(row: &Outstanding, config: Option<&Config>) -> Vec<String> {
    let delivery = &row.delivery;
    let disabled = is_disabled(row, config).then_some("site_disabled");
    let why = delivery.reason.map(Reason::word).or(delivery.held.map(Hold::word)).or(disabled);
    vec![
        delivery.id.to_string(),
        delivery.id.receipt.arrived_at().to_string(),
        format!("{}/{}", row.site, row.form),
        delivery.channel.word().to_owned(),
        delivery.destination.clone(),
        delivery.state.to_owned(),
        delivery.attempts.to_string(),
        delivery.next_attempt_at.map_or_else(|| "-".to_owned(), |at| at.to_string()),
        why.unwrap_or("-").to_owned(),
        delivery.note.as_deref().unwrap_or("-").replace('\n', " "),
    ]
}

/// Acknowledges everything that failed.
fn acknowledge_all(store: &Store, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    let count = store.acknowledge_all()?;
    out.line(&if count == 0 {
        "no failed delivery to acknowledge".to_owned()
    } else {
        format!("acknowledged: {}", counted(count, "failure"))
    })?;
    Ok(Exit::Done)
}

/// Acknowledges the failures that were named. All names are looked up first: one that is wrong changes nothing.
fn acknowledge(store: &Store, named: &[String], now: Timestamp, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    let mut ids = Vec::new();
    for text in named {
        ids.extend(failures(store, text, now)?);
    }
    let mut exit = Exit::Done;
    for id in ids {
        match store.acknowledge(id)? {
            Acknowledged::Now => out.line(&format!("{id}: acknowledged"))?,
            Acknowledged::Before => out.line(&format!("{id}: was acknowledged before"))?,
            Acknowledged::NotFailed(state) => {
                exit = Exit::Failed;
                out.line(&format!("{id}: not acknowledged: it has not failed, it is {}", state.word()))?;
            }
            Acknowledged::Missing => {
                return Err(CommandError::new(Kind::NotFound, format!("there is no delivery `{id}`"))
                    .hint(format!("`formctl show {}` names its deliveries", id.receipt)));
            }
        }
    }
    Ok(exit)
}

/// The delivery that was named, or what failed of a receipt; its first delivery where nothing did, so that its line says
/// so.
fn failures(store: &Store, text: &str, now: Timestamp) -> Result<Vec<DeliveryId>, CommandError> {
    let receipt = match lookup::delivery_or_receipt(store, text)? {
        Named::Delivery(id) => return Ok(vec![id]),
        Named::Receipt(receipt) => receipt,
    };
    let rows = store.show(receipt, now)?.map(|view| view.row.deliveries).unwrap_or_default();
    let failed: Vec<_> = rows.iter().filter(|row| row.reason.is_some()).map(|row| row.id).collect();
    match (failed.as_slice(), rows.first()) {
        ([], Some(first)) => Ok(vec![first.id]),
        ([], None) => Err(CommandError::new(Kind::NotFound, format!("receipt `{receipt}` has no deliveries"))),
        _ => Ok(failed),
    }
}

/// Lets go what a restore held.
fn release(store: &Store, now: Timestamp, out: &mut Output<'_>) -> Result<Exit, CommandError> {
    let released = store.move_waiting(|_| Fate::Release(Hold::Restored), now)?.released;
    out.line(&match released {
        0 => "nothing is held since a restore".to_owned(),
        1 => "released: 1 delivery".to_owned(),
        count => format!("released: {count} deliveries"),
    })?;
    if released > 0 && store.directory().daemon_pid()?.is_none() {
        out.note("the daemon is not running: start it, or send now with `formctl deliver`");
    }
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::testing::{erased_row, hostile_row, now, printed, row};

    /// What the examples have outstanding.
    fn rows() -> Vec<Outstanding> {
        let mut rows = Vec::new();
        for receipt in [erased_row(), hostile_row(), row()] {
            let (site, form) = (receipt.site, receipt.form);
            let open = receipt.deliveries.into_iter().filter(|delivery| delivery.state != "delivered");
            rows.extend(open.map(|delivery| Outstanding { site: site.clone(), form: form.clone(), delivery }));
        }
        rows[0].delivery.acked = true;
        rows
    }

    #[test]
    fn what_is_outstanding_is_a_table_lines_or_objects() {
        let shown = |surface, json| printed(surface, |out| print_rows(&rows(), json, None, now(), out).unwrap());
        insta::assert_snapshot!("deliveries_terminal", shown(Surface::Terminal { width: 100 }, false));
        insta::assert_snapshot!("deliveries_stream", shown(Surface::Pipe, false));
        insta::assert_snapshot!("deliveries_json", shown(Surface::Pipe, true));
    }
}
