//! `[form.ID.confirmation]`: the mail to the visitor.
//!
//! What its templates may name is narrower than an operator's: declared fields alone, and none that holds what a page
//! sets, a web address or a file, since those never show in it. Two values stand apart: each is looked at by itself, and
//! `{{a}}.{{b}}` would make a link of two harmless words.

use super::super::problem::{quoted, suggestion};
use super::super::table::Table;
use super::super::value::Value;
use super::{Ground, destination};
use crate::domain::form::{Confirmation, Field, FieldKind};

/// Whether the form has a consent field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    /// It names one, perhaps by mistake; that is told where it stands.
    Named,
    /// It names none.
    Absent,
}

/// Reads the section; `None` when a confirmation could go nowhere.
pub(super) fn check(
    mut table: Table<'_>,
    fields: &[Field],
    consent: Consent,
    ground: &Ground<'_>,
) -> Option<Confirmation> {
    if consent == Consent::Absent {
        table.findings.absent(
            &table.span,
            "a confirmation goes only to visitors who agreed, and this form has no `consent`",
            "declare a field with `kind = \"checkbox\"` and name it: `consent = \"FIELD\"` in `[form.ID]`",
        );
    }
    let to = table.need("to", "name the field with the visitor's address: `to = \"email\"`");
    let to = to.and_then(|value| recipient(&value, fields));
    let subject = table.take("subject").filter(|value| value.line().is_some());
    let subject = subject.and_then(|value| template(&value, fields));
    let text = table.take("text").and_then(|value| template(&value, fields));
    table.finish();
    Some(Confirmation { to: to?, subject, text, operator: ground.operator.clone(), per_hour: ground.confirmations })
}

/// The declared field whose address it goes to.
fn recipient(value: &Value<'_>, fields: &[Field]) -> Option<String> {
    let name = value.text()?;
    let message = match fields.iter().find(|field| field.name == name) {
        Some(field) if matches!(field.kind, FieldKind::Email(_)) => return Some(name.to_owned()),
        Some(field) => format!("`to` names {}, which is of kind `{}`", quoted(name), field.kind.name()),
        None => format!("`to` names {}, which is no field of this form", quoted(name)),
    };
    value.dangling(message, "name a field that is declared with `kind = \"email\"`");
    None
}

/// A template, as written; each field it names must be one that may show.
fn template(value: &Value<'_>, fields: &[Field]) -> Option<String> {
    let mut names = Vec::new();
    let text = destination::template(value, &mut names)?;
    for (value, name) in names {
        match fields.iter().find(|field| field.name == name) {
            None => value.dangling(
                format!("{} names {}, which is no field of this form", quoted(value.key), quoted(&name)),
                suggestion(&name, fields.iter().map(|field| field.name.as_str()), "the fields are"),
            ),
            Some(Field { kind: kind @ (FieldKind::Hidden(_) | FieldKind::Url(_) | FieldKind::File(_)), .. }) => {
                value.wrong(
                    format!("{} names {}, which is of kind `{}`", quoted(value.key), quoted(&name), kind.name()),
                    "it never shows in a mail to a visitor, since anybody may have written it: leave it out",
                );
            }
            Some(_) => {}
        }
    }
    if touches(&text) {
        value.wrong(
            format!("{} puts two values of the visitor next to each other", quoted(value.key)),
            "put a blank between them: together they could make a link that neither is",
        );
    }
    Some(text)
}

/// Whether two values that a visitor may choose stand in one word.
fn touches(template: &str) -> bool {
    let mut open = false;
    template.split("{{").filter_map(|piece| piece.split_once("}}")).any(|(name, behind)| {
        let is_visitors = !matches!(name.trim(), "@receipt" | "@form" | "@received_at");
        let found = is_visitors && open;
        open = (is_visitors || open) && !behind.contains(char::is_whitespace);
        found
    })
}
