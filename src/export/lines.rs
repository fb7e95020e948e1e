//! JSON Lines: one object a receipt with the names of `show --json` (contract, appendix B: only ever added to) and
//! every value exactly as it was sent. Characters that a terminal would obey are written as JSON's own `\uXXXX`: the
//! same value.

use std::io::Write;

use serde::Serialize;

use super::{ExportError, Pages, Report};
use crate::domain::submission::{Imported, KeptField, SentBy, Value};
use crate::domain::visible::escape_json;
use crate::store::{AttachmentRow, Kept};

/// One receipt.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// The receipt.
    receipt: String,
    /// Its site.
    site: &'a str,
    /// Its form.
    form: &'a str,
    /// The page the form stands on.
    page: Option<&'a str>,
    /// The language of the answer.
    locale: &'a str,
    /// When it arrived.
    received_at: String,
    /// The erase date fixed at arrival.
    erase_at: String,
    /// Judged spam.
    spam: bool,
    /// Sent by `formctl test`; absent otherwise, as in a webhook.
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<bool>,
    /// The values.
    values: Vec<Field<'a>>,
    /// Whether consent was given; null where the form asks none.
    consent: Option<bool>,
    /// The files.
    attachments: Vec<Attachment<'a>>,
    /// Where it was before; absent unless it was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    imported: Option<Origin<'a>>,
}

/// A value, here and in `show --json`.
#[derive(Debug, Serialize)]
pub struct Field<'a> {
    /// The field's name.
    name: &'a str,
    /// Its label at acceptance.
    label: &'a str,
    /// A string, a boolean or an array of strings.
    value: &'a Value,
}

/// A file, here and in `show --json`.
#[derive(Debug, Serialize)]
pub struct Attachment<'a> {
    /// Its id.
    id: String,
    /// The field's name.
    field: &'a str,
    /// The display name.
    name: &'a str,
    /// The MIME type.
    #[serde(rename = "type")]
    mime: &'a str,
    /// Bytes.
    size: u64,
    /// Their hash in hex.
    sha256: String,
}

/// Where an imported submission was before, here and in `show --json`.
#[derive(Debug, Serialize)]
pub struct Origin<'a> {
    /// `netlify`, `formspree`, `formd`.
    from: &'static str,
    /// What it was called there.
    id: Option<&'a str>,
    /// When it arrived there.
    at: Option<String>,
}

impl<'a> From<&'a KeptField> for Field<'a> {
    fn from(field: &'a KeptField) -> Self {
        Self { name: &field.name, label: &field.label, value: &field.value }
    }
}

impl<'a> From<&'a AttachmentRow> for Attachment<'a> {
    fn from(row: &'a AttachmentRow) -> Self {
        Self {
            id: row.id.to_string(),
            field: &row.field,
            name: &row.name,
            mime: &row.mime,
            size: row.size,
            sha256: row.sha256.to_string(),
        }
    }
}

impl<'a> From<&'a Imported> for Origin<'a> {
    fn from(imported: &'a Imported) -> Self {
        Self { from: imported.from.word(), id: imported.id.as_deref(), at: imported.at.map(|at| at.to_string()) }
    }
}

impl<'a> From<&'a Kept> for Line<'a> {
    fn from(kept: &'a Kept) -> Self {
        Self {
            receipt: kept.id.to_string(),
            site: &kept.site,
            form: &kept.form,
            page: kept.page.as_deref(),
            locale: &kept.locale,
            received_at: kept.id.arrived_at().to_string(),
            erase_at: kept.erase_at.to_string(),
            spam: kept.spam,
            test: (kept.contents.sent_by == SentBy::Test).then_some(true),
            values: kept.contents.fields.iter().map(Field::from).collect(),
            consent: kept.contents.consent,
            attachments: kept.attachments.iter().map(Attachment::from).collect(),
            imported: kept.contents.imported.as_ref().map(Origin::from),
        }
    }
}

/// Writes all of them.
pub fn write(pages: &mut Pages<'_>, to: &mut dyn Write) -> Result<Report, ExportError> {
    let receipts = pages.each(|kept| {
        let line = serde_json::to_string(&Line::from(&kept)).map_err(std::io::Error::from)?;
        Ok(writeln!(to, "{}", escape_json(&line))?)
    })?;
    Ok(Report { receipts, ..Report::default() })
}
