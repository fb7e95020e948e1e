//! `formctl show`: everything about one receipt. A value cannot forge a line: its further lines are indented, and
//! whatever a terminal would obey is made visible.

use super::installation::Installation;
use super::lookup;
use super::moment;
use super::outcome::{CommandError, Exit};
use super::print::Output;
use super::receipt::{Shown, delivery_phrase};
use crate::domain::receipt::{Erasure, ReceiptState};
use crate::domain::submission::{Contents, Imported, Value};
use crate::domain::time::Timestamp;
use crate::domain::visible::{escape_line, escape_text};
use crate::store::{AttachmentRow, DeliveryRow, ReceiptView};

/// Which receipt.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl show 4qzk1p8            the first characters do while they are unique
  formctl show 4qzk1p8 --json     with stable names, for a program

An erased receipt is shown without values, files and addresses: they are gone.")]
pub struct Args {
    /// The receipt, or its first characters.
    #[arg(value_name = "RECEIPT")]
    receipt: String,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Shows.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let store = installation.open()?;
    let view = lookup::view(&store, &args.receipt, now)?;
    if args.json {
        out.json(&Shown::from(&view))?;
    } else {
        out.text(&text(&view, now))?;
    }
    Ok(Exit::Done)
}

/// A receipt for a person; every part is made visible.
fn text(view: &ReceiptView, now: Timestamp) -> String {
    let mut text = head(view);
    if let Some(contents) = &view.contents {
        text.push_str("\nvalues\n");
        text.push_str(&values(contents));
    }
    if let Some(files) = view.attachments.as_deref().filter(|files| !files.is_empty()) {
        text.push_str("\nattachments\n");
        for file in files {
            text.push_str(&attachment(file));
        }
    }
    if !view.row.deliveries.is_empty() {
        text.push_str("\ndeliveries\n");
    }
    for (n, row) in view.row.deliveries.iter().enumerate() {
        text.push_str(&delivery(row, now));
        for attempt in view.attempts.get(n).into_iter().flatten() {
            let note = attempt.note.as_deref().map(|note| format!("  {}", escape_line(note))).unwrap_or_default();
            let at = moment::second(attempt.at);
            line(
                &mut text,
                &format!("    {at}  {:<9}  {:>5} ms{note}", escape_line(&attempt.outcome), attempt.milliseconds),
            );
        }
    }
    text
}

/// The facts that outlive the values.
fn head(view: &ReceiptView) -> String {
    let row = &view.row;
    let mut text = String::new();
    let mut fact = |name: &str, value: &str| line(&mut text, &format!("{name:<10} {}", escape_line(value)));
    fact("receipt", &row.id.to_string());
    fact("received", &format!("{} UTC", moment::second(row.id.arrived_at())));
    fact("form", &format!("{}/{}", row.site, row.form));
    if let Some(page) = &row.page {
        fact("page", page);
    }
    fact("locale", &row.locale);
    if row.spam {
        fact("spam", "yes");
    }
    if let Some(imported) = view.contents.as_ref().and_then(|contents| contents.imported.as_ref()) {
        fact("imported", &origin(imported));
    }
    match row.state {
        ReceiptState::Kept { until } => fact("erase date", &format!("{} UTC", moment::minute(until))),
        ReceiptState::Erased { at, why } => {
            let why = match why {
                Erasure::Expired => "its time was over",
                Erasure::Operator => "by `formctl erase`",
            };
            fact("erased", &format!("since {} UTC, {why}; values, files and addresses are gone", moment::second(at)));
        }
    }
    text
}

/// Where an imported submission came from.
fn origin(imported: &Imported) -> String {
    let at = imported.at.map_or_else(String::new, |at| format!(", arrived there {} UTC", moment::second(at)));
    let id = imported.id.as_deref().map_or_else(String::new, |id| format!(" as {id}"));
    format!("from {}{at}{id}", imported.from.word())
}

/// One line a value, further lines of it indented.
fn values(contents: &Contents) -> String {
    let mut text = String::new();
    for field in &contents.fields {
        let value = match &field.value {
            Value::Bool(true) => "Yes".to_owned(),
            Value::Bool(false) => "No".to_owned(),
            Value::Text(value) if value.is_empty() => "\u{2014}".to_owned(),
            Value::Text(value) => value.clone(),
            Value::List(values) if values.is_empty() => "\u{2014}".to_owned(),
            Value::List(values) => values.join(", "),
        };
        let value = escape_text(&value).replace('\n', "\n      ");
        line(&mut text, &format!("  {}: {value}", escape_line(&field.label)));
    }
    match contents.consent {
        Some(true) => line(&mut text, "  Consent: given"),
        Some(false) => line(&mut text, "  Consent: not given"),
        None => {}
    }
    text
}

/// One file.
fn attachment(file: &AttachmentRow) -> String {
    let (name, field) = (escape_line(&file.name), escape_line(&file.field));
    let mime = escape_line(&file.mime);
    format!("  {}  {name}\n    field {field}, {mime}, {} bytes, sha256 {}\n", file.id, file.size, file.sha256)
}

/// One delivery and where it goes, with what the peer said last.
fn delivery(row: &DeliveryRow, now: Timestamp) -> String {
    let target = row.target.as_deref().map(|target| format!("\n    to {}", escape_line(target))).unwrap_or_default();
    let note = row.note.as_deref().map(|note| format!("\n    last: {}", escape_line(note))).unwrap_or_default();
    format!("  {}  {}{target}{note}\n", row.id, escape_line(&delivery_phrase(row, now)))
}

/// Appends a line.
fn line(text: &mut String, content: &str) {
    text.push_str(content);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::print::Surface;
    use crate::ctl::testing::{erased_view, hostile_view, now, printed, view};
    use crate::domain::submission::ImportSource;
    use crate::domain::time::Span;

    #[test]
    fn a_kept_receipt_shows_values_files_and_every_attempt() {
        insta::assert_snapshot!("show_kept", text(&view(), now()));
    }

    #[test]
    fn a_hostile_value_can_neither_forge_a_line_nor_move_the_cursor() {
        let shown = text(&hostile_view(), now());
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        insta::assert_snapshot!("show_hostile", shown);
    }

    #[test]
    fn an_imported_receipt_says_where_it_came_from_and_when_it_arrived_there() {
        let mut view = view();
        let imported = Imported {
            from: ImportSource::Netlify,
            id: Some("5f85\u{1b}[2J".to_owned()),
            at: Some(now().minus(Span::from_days(400))),
        };
        view.contents.as_mut().unwrap().imported = Some(imported);
        let line = "imported   from netlify, arrived there 2025-10-26 16:28:19 UTC as 5f85\\u{1b}[2J\n";
        assert!(text(&view, now()).contains(line), "{}", text(&view, now()));
        let json = printed(Surface::Pipe, |out| out.json(&Shown::from(&view)).unwrap());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let expected = serde_json::json!(
            {"from": "netlify", "id": "5f85\u{1b}[2J", "at": "2025-10-26T16:28:19.007Z"}
        );
        assert_eq!(json["imported"], expected);
    }

    #[test]
    fn an_erased_receipt_says_so_and_since_when() {
        insta::assert_snapshot!("show_erased", text(&erased_view(), now()));
    }

    #[test]
    fn a_receipt_as_json_has_the_names_of_the_contract_in_its_order() {
        let json = |view: &ReceiptView| printed(Surface::Pipe, |out| out.json(&Shown::from(view)).unwrap());
        insta::assert_snapshot!("show_json", json(&view()));
        insta::assert_snapshot!("show_erased_json", json(&erased_view()));
    }
}
