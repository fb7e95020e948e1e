//! The words of an alert, pure: how many failed, where, which ones, and what to do next.
//!
//! Nothing of a visitor stands in it. Ids are the operator's. What a peer said may quote the mail or the body that it
//! was sent, and an alert lies where no erasure reaches; so of a peer's answer only its code is told ([`without_words`]), the
//! words stay with the delivery.

use std::fmt::Write as _;

use serde::Serialize;

use crate::domain::delivery::Channel;
use crate::domain::quantity::counted;
use crate::domain::time::Span;
use crate::domain::visible::escape_line;
use crate::store::{Failure, Failures, Tally};

/// Lines of numbers by destination.
const TALLIES: usize = 50;

/// The event of an alert's webhook.
pub const EVENT: &str = "delivery.failed";

/// The subject of the mail.
pub fn subject(failures: &Failures) -> String {
    format!("formd: {} failed", deliveries(failures.count()))
}

/// The text of the mail; `server` is the address under which visitors reach this daemon.
pub fn mail(failures: &Failures, server: Option<&str>, every: Span) -> String {
    let mut text = format!(
        "{} failed for good: no further attempt is made unless you ask for one.\n",
        deliveries(failures.count())
    );
    if let Some(server) = server {
        push(&mut text, format_args!("Server: {server}"));
    }
    push(&mut text, format_args!("\nWhere:"));
    for tally in failures.tallies.iter().take(TALLIES) {
        let Tally { site, form, destination, count } = tally;
        push(&mut text, format_args!("  {count} of {site}/{form} to {destination}"));
    }
    let others = failures.tallies.len().saturating_sub(TALLIES);
    if others > 0 {
        push(&mut text, format_args!("  and to {}", counted(count(others), "other destination")));
    }
    let shown = count(failures.first.len());
    let which = if shown < failures.count() { format!(" (the first {shown})") } else { String::new() };
    push(&mut text, format_args!("\nWhich{which}:"));
    for failure in &failures.first {
        push(&mut text, format_args!("  {}", line(failure)));
    }
    text + &next_steps(failures, every)
}

/// One failure in one line.
fn line(failure: &Failure) -> String {
    let Failure { id, site, form, destination, reason, attempts, .. } = failure;
    let by = if failure.channel == Channel::Webhook { "webhook" } else { "mail" };
    let at = failure.failed_at.map(|at| format!(", {at}")).unwrap_or_default();
    let note = failure.note.as_deref().map(|note| format!(": {}", without_words(note))).unwrap_or_default();
    let attempts = counted(u64::from(*attempts), "attempt");
    format!("{id}  {site}/{form} to {destination} by {by}, {} after {attempts}{at}{note}", reason.word())
}

/// What to do.
fn next_steps(failures: &Failures, every: Span) -> String {
    let receipt = failures.first.first().map(|failure| failure.id.receipt.to_string()).unwrap_or_default();
    format!(
        "\nThe submissions are kept. On the server:\n  \
         formctl deliveries --state failed   lists every failed delivery\n  \
         formctl show {receipt}          shows one with its attempts and what the peer said\n  \
         formctl resend --failed             sends all of them again, once the cause is mended\n  \
         formctl deliveries --ack            ends the alarm where nothing is to be done\n\n\
         Further failures are told in one mail, {every} from now at the earliest.\n"
    )
}

/// `N deliveries`.
fn deliveries(number: u64) -> String {
    if number == 1 { "1 delivery".to_owned() } else { format!("{number} deliveries") }
}

/// Adds a line.
fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    writeln!(text, "{line}").unwrap_or_default();
}

/// A length as a number.
fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// A note without what a peer said: up to its status (`HTTP 410`, `550 5.1.1`). A note without one is formd's own.
pub fn without_words(note: &str) -> String {
    let mut kept = Vec::new();
    let mut words = note.split_whitespace();
    for word in words.by_ref() {
        let bare = word.trim_end_matches([':', ',', ';']);
        if bare.len() == 3 && bare.bytes().all(|b| b.is_ascii_digit()) {
            kept.push(bare);
            kept.extend(words.next().filter(|word| is_enhanced(word)));
            break;
        }
        kept.push(word);
    }
    escape_line(&kept.join(" "))
}

/// Whether a word is an enhanced status code of SMTP, such as `5.1.1`.
fn is_enhanced(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    parts.len() == 3
        && parts.iter().all(|part| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
}

/// What the webhook is posted.
#[derive(Serialize)]
struct Body<'a> {
    /// [`EVENT`].
    event: &'static str,
    /// How many failed.
    failed: u64,
    /// The first of them.
    deliveries: Vec<Entry<'a>>,
}

/// One failure.
#[derive(Serialize)]
struct Entry<'a> {
    /// The delivery.
    id: String,
    /// Its receipt.
    receipt: String,
    /// Its site.
    site: &'a str,
    /// Its form.
    form: &'a str,
    /// `email` or `webhook`.
    channel: &'static str,
    /// Its destination.
    destination: &'a str,
    /// `refused` or `exhausted`.
    reason: &'static str,
    /// Attempts.
    attempts: u32,
    /// When the last one ended, RFC 3339 in UTC with milliseconds.
    failed_at: Option<String>,
    /// What it came to, without the peer's words.
    note: Option<String>,
}

impl<'a> Entry<'a> {
    /// What is told of a failure.
    fn of(failure: &'a Failure) -> Self {
        Self {
            id: failure.id.to_string(),
            receipt: failure.id.receipt.to_string(),
            site: &failure.site,
            form: &failure.form,
            channel: failure.channel.word(),
            destination: &failure.destination,
            reason: failure.reason.word(),
            attempts: failure.attempts,
            failed_at: failure.failed_at.map(|at| at.to_string()),
            note: failure.note.as_deref().map(without_words),
        }
    }
}

/// The exact bytes that the webhook is posted.
pub fn json(failures: &Failures) -> Result<Vec<u8>, serde_json::Error> {
    let deliveries = failures.first.iter().map(Entry::of).collect();
    serde_json::to_vec(&Body { event: EVENT, failed: failures.count(), deliveries })
}
