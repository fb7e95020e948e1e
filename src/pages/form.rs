//! What the form page shows, for the first time or again.

use minijinja::{Value, context};

use super::control::{Control, controls};
use crate::domain::control;
use crate::domain::draft::{Draft, Entry};
use crate::domain::form::{ExtraFields, FieldKind, Form};
use crate::domain::text::Texts;
use crate::domain::validate::RenderedError;

/// A form made from its definition.
#[derive(Debug)]
pub struct FormPage<'a> {
    /// The form.
    pub form: &'a Form,
    /// The address it is sent to; `None`: the one the page came from, whatever a proxy made of it on the way.
    pub action: Option<&'a str>,
    /// The submission key: the first hidden field, so that it is in the first bytes of the body.
    pub key: &'a str,
    /// The visitor's language, in the site's words.
    pub texts: &'a Texts,
    /// Where the visitor wants to go after success, when that is allowed.
    pub next: Option<&'a str>,
    /// What was sent before and why it is shown again; `None` for a fresh form.
    pub again: Option<Again<'a>>,
}

/// A form that is shown again.
#[derive(Debug)]
pub struct Again<'a> {
    /// Why.
    pub said: Said<'a>,
    /// What was sent.
    pub draft: &'a Draft,
    /// The faults at fields.
    pub messages: &'a [RenderedError],
    /// What its button says.
    pub button: Button,
}

/// A heading and paragraphs.
#[derive(Debug)]
pub struct Said<'a> {
    /// What happened.
    pub title: &'a str,
    /// What to do.
    pub lines: Vec<&'a str>,
}

/// What the button of a form that is shown again does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// Sends it again under its key.
    Send,
    /// Sends it under a fresh key.
    SendAsNew,
}

/// The values of the template.
pub(super) fn context(page: &FormPage<'_>, title: &str, words: Value) -> Value {
    let texts = page.texts;
    let controls = controls(page);
    let has_files = controls.iter().any(|control| control.widget == "file");
    let again = page.again.as_ref();
    let notice = again.map(|again| {
        let lines: Value = again.said.lines.iter().copied().collect();
        context! { title => again.said.title, lines => lines }
    });
    let faults: Value = again.map(|again| faults(again.messages, &controls)).unwrap_or_default().into_iter().collect();
    let button = match again.map(|again| again.button) {
        None | Some(Button::Send) => texts.send(),
        Some(Button::SendAsNew) => texts.send_as_new(),
    };
    context! {
        title => title,
        notice => notice.unwrap_or_else(|| Value::from(false)),
        faults => faults,
        action => page.action.unwrap_or_default(),
        // Text alone travels urlencoded: short enough to be kept when the rate limit refuses it.
        enctype => if has_files { "multipart/form-data" } else { "application/x-www-form-urlencoded" },
        key => page.key,
        hidden => hidden(page).into_iter().collect::<Value>(),
        any_required => controls.iter().any(|control| control.required),
        controls => controls.iter().map(Control::value).collect::<Value>(),
        button => button,
        words => words,
    }
}

/// The list of faults above the form, each with a link to its field.
fn faults(messages: &[RenderedError], controls: &[Control]) -> Vec<Value> {
    let id = |field: &str| controls.iter().find(|control| control.field == field).map(|control| control.id.as_str());
    let fault = |message: &RenderedError| {
        context! {
            id => id(&message.field).unwrap_or_default(),
            message => message.message.as_str(),
            hint => message.hint.as_deref().unwrap_or_default(),
        }
    };
    messages.iter().map(fault).collect()
}

/// Hidden fields behind the key: the wish for a next page, what selects the form, hidden fields of the form, and undeclared fields that the
/// form keeps, so that nothing the page sent is lost on the way through an error.
fn hidden(page: &FormPage<'_>) -> Vec<Value> {
    let pair = |name: &str, value: &str| context! { name => name, value => value };
    let entries = page.again.as_ref().map(|again| again.draft.entries.as_slice()).unwrap_or_default();
    let mut pairs = Vec::new();
    if let Some(next) = page.next {
        pairs.push(pair("_next", next));
    }
    let sent_page = entries.iter().rev().find(|entry| entry.name == control::PAGE);
    pairs.extend(sent_page.map(|entry| pair(control::PAGE, &entry.value)));
    for selector in &page.form.selectors {
        // The page may stand at an address that finds its form by this field.
        let sent = entries.iter().rev().find(|entry| entry.name == *selector);
        pairs.extend(sent.map(|entry| pair(selector, &entry.value)));
    }
    for field in &page.form.fields {
        if matches!(field.kind, FieldKind::Hidden(_)) {
            let value = entries.iter().rev().find(|entry| entry.name == field.name);
            pairs.push(pair(&field.name, value.map(|entry| entry.value.as_str()).unwrap_or_default()));
        }
    }
    if !page.form.takes_any_field() && page.form.extra_fields == ExtraFields::Keep {
        let extra = |entry: &&Entry| is_extra(page.form, &entry.name);
        pairs.extend(entries.iter().filter(extra).map(|entry| pair(&entry.name, &entry.value)));
    }
    pairs
}

/// Whether a name is neither declared nor a control field.
fn is_extra(form: &Form, name: &str) -> bool {
    let declared = form.field(name).is_some() || form.field(name.trim_end_matches("[]")).is_some();
    !declared && !form.is_control(name)
}
