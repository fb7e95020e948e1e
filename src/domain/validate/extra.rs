//! What was sent under names that the form does not declare.

use super::super::bounds::Bounds;
use super::super::draft::{Draft, Entry};
use super::super::email;
use super::super::form::{ExtraFields, Form};
use super::super::submission::{Role, Value};
use super::fault::Fault;
use super::{Findings, declared, file, text};

/// Undeclared text fields, each name once, in the order in which the names came first.
pub(super) fn texts(form: &Form, bounds: &Bounds, draft: &Draft, findings: &mut Findings) {
    let policy = if form.takes_any_field() { ExtraFields::Keep } else { form.extra_fields };
    let mut names: Vec<&str> = Vec::new();
    for entry in &draft.entries {
        let name = entry.name.as_str();
        if !form.is_control(name) && declared(form, name).is_none() && !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let entries: Vec<&Entry> = draft.entries.iter().filter(|entry| entry.name == name).collect();
        let judged = match policy {
            ExtraFields::Ignore => continue,
            ExtraFields::Reject => Err(Fault::UnknownField),
            ExtraFields::Keep if !is_name(name, bounds) => Err(Fault::UnknownField),
            ExtraFields::Keep => value(&entries),
        };
        match judged {
            Ok(value) => findings.keep(name, name, role(form, name, &value), value),
            Err(fault) => findings.fault(shown(name, bounds), fault),
        }
    }
}

/// Undeclared files: taken where the form declares no fields and takes files, else an error at their field.
pub(super) fn files(
    form: &Form,
    bounds: &Bounds,
    draft: &Draft,
    budget: &mut file::Budget<'_>,
    findings: &mut Findings,
) {
    for (index, sent) in draft.files.iter().enumerate() {
        if declared(form, &sent.field).is_some() {
            continue;
        }
        if form.takes_any_field() && form.accept_files && is_name(&sent.field, bounds) {
            file::take_any(index, sent, budget, findings);
        } else {
            findings.fault(shown(&sent.field, bounds), Fault::UnknownFile);
        }
    }
}

/// Whether a name could have been declared: 1..200 bytes without control characters. A line break in it would
/// forge a line of the mail.
fn is_name(name: &str, bounds: &Bounds) -> bool {
    let longest = usize::try_from(bounds.field_name).unwrap_or(usize::MAX);
    (1..=longest).contains(&name.len()) && !name.contains(char::is_control)
}

/// As much of a name as an error repeats.
fn shown<'n>(name: &'n str, bounds: &Bounds) -> &'n str {
    let longest = usize::try_from(bounds.field_name).unwrap_or(usize::MAX);
    name.get(..name.floor_char_boundary(longest)).unwrap_or_default()
}

/// One text, or all of several in the sender's order.
fn value(entries: &[&Entry]) -> Result<Value, Fault> {
    let mut values = Vec::new();
    for entry in entries {
        let value = text::element(entry)?;
        text::characters(value, text::Lines::Several)?;
        values.push(value.to_owned());
    }
    match <[String; 1]>::try_from(values) {
        Ok([value]) => Ok(Value::Text(value)),
        Err(values) => Ok(Value::List(values)),
    }
}

/// In a form without declared fields an address in a field called `email` is one that answers can go to.
fn role(form: &Form, name: &str, value: &Value) -> Role {
    match value {
        Value::Text(text) if form.takes_any_field() && name.eq_ignore_ascii_case("email") && email::is_valid(text) => {
            Role::Email
        }
        Value::Text(_) | Value::List(_) | Value::Bool(_) => Role::Plain,
    }
}
