//! CSV: one table for people and their spreadsheets, RFC 4180 with CR LF.
//!
//! The columns are those of every receipt, then one a field, then the files. A first pass gathers the names of fields
//! that no form declares (any more); a second one writes. A list is joined by a comma and a blank, a box is Yes or No.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};

use super::{ExportError, Guard, Order, Pages, Report, Zone};
use crate::domain::submission::Value;
use crate::store::Kept;

/// What stands before the fields.
const FRONT: [&str; 7] = ["receipt", "received_at", "site", "form", "page", "locale", "consent"];
/// What stands behind them.
const BACK: &str = "attachments";

/// How the table looks.
#[derive(Clone, Debug)]
pub struct Style {
    /// Whether cells are made safe for a spreadsheet.
    pub guard: Guard,
    /// What separates cells.
    pub separator: Separator,
    /// In which zone times are written.
    pub zone: Zone,
}

/// What separates cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// A comma, as RFC 4180 has it.
    Comma,
    /// A semicolon after a byte order mark, as Excel opens it where the decimal sign is a comma.
    Excel,
}

/// The fields that have a column: name and place.
#[derive(Debug, Default)]
pub struct Columns {
    /// In order.
    names: Vec<String>,
    /// The place of each.
    places: HashMap<String, usize>,
}

impl Columns {
    /// A column for this field, unless it has one.
    fn add(&mut self, name: &str) {
        if !self.places.contains_key(name) {
            self.places.insert(name.to_owned(), self.names.len());
            self.names.push(name.to_owned());
        }
    }

    /// The first row. A field that is called like one of our columns says that it is a field.
    fn header(&self) -> Vec<Cow<'_, str>> {
        let fields = self.names.iter().map(|name| {
            let ours = name == BACK || FRONT.contains(&name.as_str());
            if ours { Cow::Owned(format!("{name} (field)")) } else { Cow::Borrowed(name.as_str()) }
        });
        FRONT.into_iter().map(Cow::Borrowed).chain(fields).chain([Cow::Borrowed(BACK)]).collect()
    }
}

/// The declared fields, then those that only receipts have, as they come.
pub fn columns(pages: &mut Pages<'_>, order: &Order) -> Result<Columns, ExportError> {
    let mut columns = Columns::default();
    order.declared.iter().for_each(|name| columns.add(name));
    pages.each(|kept| {
        kept.contents.fields.iter().for_each(|field| columns.add(&field.name));
        Ok(())
    })?;
    Ok(columns)
}

/// Writes the table.
pub fn write(
    pages: &mut Pages<'_>,
    columns: &Columns,
    style: &Style,
    to: &mut dyn Write,
) -> Result<Report, ExportError> {
    let delimiter = match style.separator {
        Separator::Comma => b',',
        Separator::Excel => {
            to.write_all("\u{feff}".as_bytes())?;
            b';'
        }
    };
    let mut table = csv::WriterBuilder::new().delimiter(delimiter).terminator(csv::Terminator::CRLF).from_writer(to);
    let mut write_row = |cells: Vec<Cow<'_, str>>| {
        let cells = cells.iter().map(|cell| style.guard.cell(cell));
        table.write_record(cells.map(|cell| cell.into_owned().into_bytes())).map_err(lost)
    };
    write_row(columns.header())?;
    let receipts = pages.each(|kept| Ok(write_row(row(&kept, columns, &style.zone)?)?))?;
    table.flush()?;
    Ok(Report { receipts, ..Report::default() })
}

/// The cells of a receipt.
fn row<'a>(kept: &'a Kept, columns: &Columns, zone: &Zone) -> Result<Vec<Cow<'a, str>>, ExportError> {
    let mut fields: Vec<Cow<'a, str>> = vec![Cow::Borrowed(""); columns.names.len()];
    for field in &kept.contents.fields {
        let place = columns.places.get(&field.name).and_then(|place| fields.get_mut(*place));
        let cell = place.ok_or(ExportError::NewField(kept.id))?;
        let text = match &field.value {
            Value::Bool(ticked) => Cow::Borrowed(yes_or_no(*ticked)),
            Value::Text(text) => Cow::Borrowed(text.as_str()),
            Value::List(texts) => Cow::Owned(texts.join(", ")),
        };
        // A form that declares no fields keeps every value of a name.
        *cell = if cell.is_empty() { text } else { Cow::Owned(format!("{cell}, {text}")) };
    }
    let files: Vec<String> = kept.attachments.iter().map(|file| format!("{} {}", file.id, file.name)).collect();
    let front = [
        Cow::Owned(kept.id.to_string()),
        Cow::Owned(zone.text(kept.id.arrived_at())),
        Cow::Borrowed(kept.site.as_str()),
        Cow::Borrowed(kept.form.as_str()),
        Cow::Borrowed(kept.page.as_deref().unwrap_or_default()),
        Cow::Borrowed(kept.locale.as_str()),
        Cow::Borrowed(kept.contents.consent.map_or("", yes_or_no)),
    ];
    Ok(front.into_iter().chain(fields).chain([Cow::Owned(files.join(", "))]).collect())
}

/// A box.
fn yes_or_no(ticked: bool) -> &'static str {
    if ticked { "Yes" } else { "No" }
}

/// What the writer of CSV says of its output.
fn lost(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
