//! `formctl test`: a submission that says it is one goes through a form, and each delivery is watched until it was
//! tried once. It takes the way of any other: the same validation, the same record, the same queue; only the rate
//! limit, which counts visitors, is not charged, and its receipt names the page `formctl test`.
//!
//! A daemon that delivers is woken and does its work; else this process sends this submission, and no other. A
//! confirmation goes only where `--email` leads. Not tested are what stands in front of formd (web server, TLS) and
//! the page's HTML.

mod files;
mod sample;
mod watch;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::Serialize;

use super::installation::{DRAFT, Installation};
use super::lookup;
use super::outcome::{CommandError, Exit, Kind};
use super::print::Output;
use super::receipt::{Delivery, tried_phrase};
use crate::clock::Clock;
use crate::config::{Config, Current};
use crate::delivery::{Deliverer, Standing};
use crate::domain::form::Form;
use crate::domain::ids::ReceiptId;
use crate::domain::receipt::Outcome;
use crate::domain::submission::SentBy;
use crate::domain::text::Language;
use crate::domain::validate::FieldError;
use crate::intake::{self, Arrival, Published, Refusal};
use crate::store::{ReceiptView, Store};
use sample::Sample;

/// The page that the receipt of a test names.
const PAGE: &str = "formctl test";

/// Which form, and what to send.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl test acme/quote                            does it arrive?
  formctl test acme/quote --email you@acme.example   and the confirmation, sent to you
  formctl test acme/quote --set plz=10115            a value of your own

Each field gets a value of its kind, boxes are ticked, file fields get a small file. The mail's subject begins with \
`[test]`, a webhook's body says `\"test\": true`, the receipt's page is `formctl test`. The rate limit is not charged. \
A running daemon delivers; without one, or with `[delivery] enabled = false`, this command does. What it left is \
kept as long as any submission; the last line says how to erase it.

Exit codes: 0 all delivered, 1 a delivery failed or the form refused, 3 no such form, 4 some still wait.")]
pub struct Args {
    /// The form.
    #[arg(value_name = "SITE/FORM")]
    form: String,
    /// The value of a field; may be given again. An empty one leaves the field empty.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = read_pair)]
    set: Vec<(String, String)>,
    /// What e-mail fields hold; the form's confirmation is sent there.
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Leave file fields empty that need not be filled.
    #[arg(long)]
    no_files: bool,
    /// How long to wait for the deliveries.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=3600))]
    wait: u64,
    /// One JSON object for the receipt, then one a delivery.
    #[arg(long)]
    json: bool,
}

/// Reads `NAME=VALUE`.
fn read_pair(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| "write NAME=VALUE".to_owned())
}

/// The first object of `test --json`.
#[derive(Debug, Serialize)]
struct Accepted<'a> {
    /// The receipt.
    receipt: String,
    /// Its site.
    site: &'a str,
    /// Its form.
    form: &'a str,
    /// The erase date.
    erase_at: String,
    /// How many deliveries it has.
    deliveries: usize,
}

/// Tests.
pub fn run(
    args: &Args,
    installation: &Installation,
    clock: &Clock,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let config = installation.config()?;
    let published = lookup::declared(config, &args.form)?;
    refuse_closed(&published)?;
    let store = installation.open()?;
    let receipt = submit(args, config, &published, &store, clock)?;
    let view = watch::view(&store, receipt, clock)?;
    announce(args, &view, &published, out)?;
    let runs = store.directory().daemon_pid()?.is_some();
    let standing = installation.standing(&store)?;
    if standing == Standing::Draft {
        out.note(DRAFT);
    }
    let sends = !(runs && config.daemon.delivery.enabled);
    let deliverer = sends.then(|| Deliverer::new(store.clone(), Current::new(config.clone()), clock.clone(), standing));
    let ended =
        watch::until_tried(&store, deliverer.as_ref(), view, Duration::from_secs(args.wait), clock, |row, now| {
            if args.json {
                out.json(&Delivery::from(row))?;
            } else {
                out.line(&tried_phrase(row, now))?;
            }
            // An attempt may take seconds: whoever watches wants to see each line when it is true.
            out.flush()
        })?;
    if !args.json {
        out.line(&format!("erase it: formctl erase {receipt} --yes"))?;
    }
    Ok(ended)
}

/// A closed form would refuse a visitor too.
fn refuse_closed(published: &Published) -> Result<(), CommandError> {
    let Published { site, form } = published;
    let (what, key) = match (site.enabled, site.accept, form.accept) {
        (false, _, _) => (format!("site `{}`", site.id), "enabled"),
        (true, false, _) => (format!("site `{}`", site.id), "accept"),
        (true, true, false) => (format!("form `{}/{}`", site.id, form.id), "accept"),
        (true, true, true) => return Ok(()),
    };
    let text = format!("{what} is closed: `{key} = false`; a visitor's submission would be refused too");
    Err(CommandError::new(Kind::Failed, text).hint("open it and `formctl reload`, then test"))
}

/// Makes the submission and has it accepted as any other.
fn submit(
    args: &Args,
    config: &Config,
    published: &Published,
    store: &Store,
    clock: &Clock,
) -> Result<ReceiptId, CommandError> {
    let Published { site, form } = published;
    let wishes = sample::Wishes { set: &args.set, email: args.email.as_deref(), no_files: args.no_files };
    let Sample { draft, parts } = sample::make(form, &wishes, store, clock)?;
    let confirmation = form.confirmation.clone().filter(|_| args.email.is_some());
    let tested = Form { confirmation, page: Some(PAGE.to_owned()), ..Form::clone(form) };
    let arrival = Arrival {
        address: format!("/f/{}/{}", site.id, form.id),
        site: site.id.clone(),
        form: form.id.clone(),
        published: Some(Published { site: Arc::clone(site), form: Arc::new(tested) }),
        // No key, and a client of its own: a test is no repeat, and no sign of a page that renews its key.
        key: None,
        client: format!("formctl test {:016x}", clock.random_u64()),
        language: form.locale.unwrap_or(Language::En),
        sent_by: SentBy::Test,
        draft,
        parts,
    };
    let (reply, word) = channel();
    intake::judge(store.key(), &config.daemon.bounds, arrival).accept(store, clock, move |word| drop(reply.send(word)));
    match word.recv() {
        Ok(Ok(Outcome::Stored(receipt) | Outcome::Repeated(receipt))) => Ok(receipt),
        Ok(Ok(Outcome::Conflict)) | Err(_) => Err(CommandError::new(Kind::Failed, "the test was not stored")),
        Ok(Err(Refusal::Invalid(errors))) => Err(invalid(&errors, form)),
        Ok(Err(Refusal::Unavailable(error))) => Err(error.into()),
        Ok(Err(Refusal::Unknown | Refusal::Closed)) => Err(CommandError::new(Kind::Failed, "the form is closed")),
    }
}

/// What the form says of the values.
fn invalid(errors: &[FieldError], form: &Form) -> CommandError {
    let texts = Language::En.texts();
    let said = errors.iter().map(|error| error.render(Some(form), &texts));
    let lines: Vec<String> = said.map(|error| format!("  {}: {}", error.field, error.message)).collect();
    let text = format!("the form refuses these values:\n{}", lines.join("\n"));
    CommandError::new(Kind::Failed, text).hint("give values of your own: `--set NAME=VALUE`")
}

/// Says what was stored.
fn announce(args: &Args, view: &ReceiptView, published: &Published, out: &mut Output<'_>) -> Result<(), CommandError> {
    let Published { site, form } = published;
    let (receipt, erase_at, deliveries) = (view.row.id.to_string(), view.row.erase_at, view.row.deliveries.len());
    let to = match deliveries {
        0 => "nobody is told of it".to_owned(),
        1 => "1 delivery".to_owned(),
        more => format!("{more} deliveries"),
    };
    if args.json {
        let (site, form, erase_at) = (site.id.as_str(), form.id.as_str(), erase_at.to_string());
        out.json(&Accepted { receipt, site, form, erase_at, deliveries })?;
    } else {
        out.line(&format!("{}/{}: accepted as {receipt}; {to}", site.id, form.id))?;
    }
    for paused in form.destinations.iter().filter(|destination| destination.paused) {
        out.note(&format!("destination `{}` is paused", paused.id));
    }
    out.flush()
}

#[cfg(test)]
mod tests;
