//! Fields that take declared options, and boxes.

use super::super::draft::Entry;
use super::super::form::Field;
use super::super::submission::Value;
use super::fault::{Fault, Missing};
use super::text;

/// What a box says when it is off; absent says the same.
const OFF: [&str; 5] = ["", "0", "false", "off", "no"];

/// A box: absent is off, and the last of several counts, since pages send a hidden `0` before the box's own value.
pub(super) fn checkbox(field: &Field, entries: &[&Entry]) -> Result<Value, Fault> {
    let last = entries.last().map_or(Ok(""), |entry| text::plain(entry))?;
    let ticked = !OFF.contains(&last.trim().to_ascii_lowercase().as_str());
    if field.required && !ticked {
        return Err(Fault::Required(Missing::Tick));
    }
    Ok(Value::Bool(ticked))
}

/// One of the options, or none where none is required. An empty value is none, even when it is an option: that
/// is how HTML writes "please choose".
pub(super) fn one(field: &Field, options: &[String], entries: &[&Entry]) -> Result<Value, Fault> {
    let chosen = text::single(entries)?;
    if field.required && chosen.is_empty() {
        return Err(Fault::Required(Missing::Choice));
    }
    if !chosen.is_empty() && !options.iter().any(|option| option == chosen) {
        return Err(Fault::Option);
    }
    Ok(Value::Text(chosen.to_owned()))
}

/// Any number of the options in the sender's order; empty values, which pages send for "none", are left out.
pub(super) fn checkboxes(field: &Field, options: &[String], entries: &[&Entry]) -> Result<Value, Fault> {
    let mut chosen = Vec::new();
    for entry in entries {
        match text::element(entry)? {
            "" => {}
            value if options.iter().any(|option| option == value) => chosen.push(value.to_owned()),
            _ => return Err(Fault::Option),
        }
    }
    if field.required && chosen.is_empty() {
        return Err(Fault::Required(Missing::Choice));
    }
    Ok(Value::List(chosen))
}
