//! Our own export as JSON Lines: one object a receipt, with the members of `formctl show --json`. The files of a
//! submission are not in it; they are counted.
//!
//! A submission that was imported into the formd it comes from keeps its first origin: the time that counts for its
//! reader is the one when somebody filled the form.

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::row::{Refusal, Row, value};
use crate::domain::submission::{ImportSource, Imported};
use crate::domain::time::Timestamp;

/// The members that matter; others may be added to an export at any time.
#[derive(Debug, Deserialize)]
struct Exported {
    /// The receipt.
    receipt: String,
    /// Its site.
    site: String,
    /// Its form.
    form: String,
    /// The page.
    #[serde(default)]
    page: Option<String>,
    /// The language.
    #[serde(default)]
    locale: Option<String>,
    /// When it arrived.
    received_at: String,
    /// Judged spam.
    #[serde(default)]
    spam: bool,
    /// The values; null once erased.
    values: Option<Vec<Field>>,
    /// Whether consent was given.
    #[serde(default)]
    consent: Option<bool>,
    /// The files; null once erased.
    #[serde(default)]
    attachments: Option<Vec<Json>>,
    /// Where it had come from.
    #[serde(default)]
    imported: Option<Before>,
}

/// A value.
#[derive(Debug, Deserialize)]
struct Field {
    /// The field's name.
    name: String,
    /// Its label at acceptance.
    label: String,
    /// A text, a boolean or a list of texts.
    value: Json,
}

/// The member `imported`.
#[derive(Debug, Deserialize)]
struct Before {
    /// Whose export it was.
    from: ImportSource,
    /// What it was called there.
    #[serde(default)]
    id: Option<String>,
    /// When it arrived there.
    #[serde(default)]
    at: Option<String>,
}

/// A submission of an export.
pub fn submission(members: Map<String, Json>) -> Result<Row, Refusal> {
    let exported: Exported = serde_json::from_value(Json::Object(members)).map_err(|_| Refusal::NoExport)?;
    let mut row = Row {
        id: Some(exported.receipt),
        time: Some(exported.received_at),
        form: Some(format!("{}/{}", exported.site, exported.form)),
        spam: exported.spam,
        page: exported.page,
        locale: exported.locale,
        consent: exported.consent,
        files: exported.attachments.map_or(0, |files| u64::try_from(files.len()).unwrap_or(u64::MAX)),
        origin: exported.imported.map(|before| Imported {
            from: before.from,
            id: before.id,
            at: before.at.as_deref().and_then(Timestamp::parse),
        }),
        ..Row::default()
    };
    for field in exported.values.ok_or(Refusal::Erased)? {
        let mut none = 0;
        if let Some(value) = value(field.value, &mut none) {
            row.push(field.name, Some(field.label), value);
        }
    }
    Ok(row)
}
