//! From a submission of an export to one of the form: values under the declared labels, in the order of the form,
//! the others behind them. Pure.
//!
//! The form's rules are not applied: the operator's own data is taken as it is, within the bounds of any submission
//! (contract 13), and what today's form would refuse is only counted. Files stay where they are, so the rules of file
//! fields say nothing. Fields that steer a submission are left out as ever (contract 6.6).

use std::collections::BTreeSet;

use super::row::{Refusal, Row, Sent, texts};
use crate::domain::bounds::Bounds;
use crate::domain::draft::{Draft, Shape};
use crate::domain::email;
use crate::domain::form::{Field, FieldKind, Form};
use crate::domain::submission::{Contents, KeptField, Role, Value};
use crate::domain::validate::validate;

/// A submission that fits.
#[derive(Debug)]
pub struct Fitted {
    /// What is kept.
    pub contents: Contents,
    /// What was sent, for hashes.
    pub draft: Draft,
    /// What today's form would say: field and word.
    pub faults: BTreeSet<(String, &'static str)>,
    /// Links to files that stay where they are.
    pub links: u64,
    /// Steering fields that were left out.
    pub left_out: Vec<String>,
}

/// What a field is called whose name the form does not know: it may be anything a visitor invented.
const UNDECLARED: &str = "a field that it does not declare";

/// Fits a row to a form.
pub fn fit(row: Row, form: &Form, bounds: &Bounds) -> Result<Fitted, Refusal> {
    let (steering, fields): (Vec<_>, Vec<_>) = row.fields.into_iter().partition(|sent| form.is_control(&sent.name));
    within(&fields, bounds)?;
    let draft = draft_of(fields.iter().map(|sent| (&sent.name, &sent.value)));
    let mut links = 0;
    let mut kept: Vec<(usize, KeptField)> = fields.into_iter().map(|sent| place(sent, form, &mut links)).collect();
    kept.sort_by_key(|(place, _)| *place);
    let fields: Vec<KeptField> = kept.into_iter().map(|(_, field)| field).collect();
    let faults = faults(form, bounds, &draft_of(fields.iter().map(|field| (&field.name, &field.value))));
    let ticked = form.consent.as_ref().and_then(|name| {
        let field = fields.iter().find(|field| field.name == *name)?;
        if let Value::Bool(ticked) = field.value { Some(ticked) } else { None }
    });
    let contents = Contents { fields, consent: ticked.or(row.consent), ..Contents::default() };
    let left_out = steering.into_iter().map(|sent| sent.name).collect();
    Ok(Fitted { contents, draft, faults, links, left_out })
}

/// Values as a visitor would send them.
fn draft_of<'a>(values: impl Iterator<Item = (&'a String, &'a Value)>) -> Draft {
    let mut draft = Draft::default();
    for (name, value) in values {
        let shape = if matches!(value, Value::List(_)) { Shape::Element } else { Shape::Scalar };
        for text in texts(value.clone()) {
            draft.push(name.clone(), &text, shape);
        }
    }
    draft
}

/// The bounds of any submission.
fn within(fields: &[Sent], bounds: &Bounds) -> Result<(), Refusal> {
    let size = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
    if u64::try_from(fields.len()).unwrap_or(u64::MAX) > bounds.fields {
        return Err(Refusal::Fields(bounds.fields));
    }
    let is_name = |name: &str| !name.is_empty() && size(name) <= bounds.field_name && !name.contains(char::is_control);
    if !fields.iter().all(|sent| is_name(&sent.name)) {
        return Err(Refusal::Name(bounds.field_name));
    }
    let values = || {
        fields.iter().flat_map(|sent| match &sent.value {
            Value::Bool(_) => &[],
            Value::Text(text) => std::slice::from_ref(text),
            Value::List(texts) => texts.as_slice(),
        })
    };
    if values().any(|text| size(text) > bounds.value) {
        return Err(Refusal::Value(bounds.value));
    }
    if values().map(|text| size(text)).sum::<u64>() > bounds.values {
        return Err(Refusal::Values(bounds.values));
    }
    Ok(())
}

/// A value with its place among those of the form.
fn place(sent: Sent, form: &Form, links: &mut u64) -> (usize, KeptField) {
    let bare = sent.name.strip_suffix("[]");
    let declared = form.fields.iter().enumerate().find(|(_, field)| {
        field.name == sent.name || (matches!(field.kind, FieldKind::Checkboxes(_)) && bare == Some(field.name.as_str()))
    });
    let Some((place, field)) = declared else {
        let value = clean(sent.value);
        let role = role(form.takes_any_field() && sent.name.eq_ignore_ascii_case("email"), &value);
        let label = sent.label.unwrap_or_else(|| sent.name.clone());
        return (usize::MAX, KeptField { name: sent.name, label, role, value });
    };
    let is_file = matches!(field.kind, FieldKind::File(_));
    *links += u64::from(is_file && texts(sent.value.clone()).iter().any(|text| !text.is_empty()));
    let value = meant(field, clean(sent.value));
    let role = role(matches!(field.kind, FieldKind::Email(_)), &value);
    (place, KeptField { name: field.name.clone(), label: field.label.clone(), role, value })
}

/// Line ends as they are kept.
fn clean(value: Value) -> Value {
    let lines = |text: String| text.replace("\r\n", "\n").replace('\r', "\n");
    match value {
        Value::Bool(on) => Value::Bool(on),
        Value::Text(text) => Value::Text(lines(text)),
        Value::List(texts) => Value::List(texts.into_iter().map(lines).collect()),
    }
}

/// A text as its field means it, where that is beyond doubt: a box that says on or off, and options that a table
/// wrote in one cell.
fn meant(field: &Field, value: Value) -> Value {
    match (&field.kind, value) {
        (FieldKind::Checkbox, Value::Text(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "on" | "true" | "yes" | "1" | "checked" => Value::Bool(true),
            "" | "off" | "false" | "no" | "0" => Value::Bool(false),
            _ => Value::Text(text),
        },
        (FieldKind::Checkboxes(_), Value::Text(text)) if text.is_empty() => Value::List(Vec::new()),
        (FieldKind::Checkboxes(options), Value::Text(text)) => {
            let split: Vec<String> = text.split([',', '|', '\n']).map(|part| part.trim().to_owned()).collect();
            let is_whole = options.contains(&text) || !split.iter().all(|part| options.contains(part));
            Value::List(if is_whole { vec![text] } else { split })
        }
        (_, value) => value,
    }
}

/// What a value is for its reader.
fn role(is_address: bool, value: &Value) -> Role {
    match value {
        Value::Text(text) if is_address && (text.is_empty() || email::is_valid(text)) => Role::Email,
        Value::Text(_) | Value::List(_) | Value::Bool(_) => Role::Plain,
    }
}

/// What today's form would say, files apart.
fn faults(form: &Form, bounds: &Bounds, draft: &Draft) -> BTreeSet<(String, &'static str)> {
    let errors = validate(form, bounds, draft).err().unwrap_or_default();
    let of_values = errors
        .iter()
        .filter(|error| !form.field(&error.field).is_some_and(|field| matches!(field.kind, FieldKind::File(_))));
    of_values
        .map(|error| {
            let name = form.field(&error.field).map_or(UNDECLARED, |field| &field.name);
            (name.to_owned(), error.fault.code())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FieldKind) -> Field {
        let name = "x".to_owned();
        Field { label: name.clone(), name, kind, required: false, placeholder: None, help: None }
    }

    #[test]
    fn a_text_is_what_its_field_means_only_beyond_doubt() {
        let text = |text: &str| Value::Text(text.to_owned());
        let list = |texts: &[&str]| Value::List(texts.iter().map(|text| (*text).to_owned()).collect());
        let tick = field(FieldKind::Checkbox);
        let options = ["Roof", "Wall", "Roof, wall"].map(str::to_owned).into();
        let boxes = field(FieldKind::Checkboxes(options));
        for (field, given, expected) in [
            (&tick, text("On"), Value::Bool(true)),
            (&tick, text(""), Value::Bool(false)),
            (&tick, text("agreed to the terms"), text("agreed to the terms")),
            (&tick, Value::Bool(false), Value::Bool(false)),
            (&boxes, text(""), list(&[])),
            (&boxes, text("Roof"), list(&["Roof"])),
            (&boxes, text("Roof, Wall"), list(&["Roof", "Wall"])),
            (&boxes, text("Roof, wall"), list(&["Roof, wall"])),
            (&boxes, text("Roof, Door"), list(&["Roof, Door"])),
            (&boxes, list(&["Wall"]), list(&["Wall"])),
        ] {
            assert_eq!(meant(field, given.clone()), expected, "{given:?}");
        }
    }

    #[test]
    fn only_an_address_can_be_answered() {
        for (is_address, value, expected) in [
            (true, "ann@example.org", Role::Email),
            (true, "", Role::Email),
            (true, "not an address", Role::Plain),
            (false, "ann@example.org", Role::Plain),
        ] {
            assert_eq!(role(is_address, &Value::Text(value.to_owned())), expected, "{value}");
        }
    }
}
