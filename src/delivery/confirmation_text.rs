//! The words of a mail to a visitor, pure (contract 11.4).
//!
//! Anybody can write a stranger's address into a form, and any text beside it. So the text is the operator's, and of the
//! visitor's own words only what [`shows`] lets through takes a place in it: one short line without anything that a mail
//! program makes a link of, or that could pass for another line. Whatever is more than that shows as nothing. The
//! recipient's own address, ticked boxes (`Yes`, `No`) and chosen options of `checkboxes` are the form's words, or the
//! recipient's.
//!
//! Deliberately not done: judging what a short line says. A form that puts `{{name}}` into its confirmation lets
//! strangers send a hundred characters; one that does not lets them send none.

use super::mail_text;
use crate::domain::submission::{KeptField, Value};
use crate::domain::target::ConfirmationTarget;
use crate::domain::template::{Name, Template, TemplateError};
use crate::domain::visible;
use crate::store::Claim;

/// Most characters of a value that shows.
const SHORT: usize = 100;
/// Dots between the labels of a host's name: the ASCII one and those that IDNA takes for it (UTS 46), and the leader.
const DOTS: [char; 5] = ['.', '\u{3002}', '\u{ff0e}', '\u{ff61}', '\u{2024}'];
/// At signs: the ASCII one, the small one, the full-width one.
const ATS: [char; 3] = ['@', '\u{fe6b}', '\u{ff20}'];

/// The subject: one line.
pub fn subject(target: &ConfirmationTarget, claim: &Claim) -> Result<String, TemplateError> {
    let filled = Template::parse(&target.subject)?.render(|name| value(name, target, claim));
    Ok(mail_text::subject_line(&filled))
}

/// The text. Lines end in LF; no other control character but the tab is left.
pub fn text(target: &ConfirmationTarget, claim: &Claim) -> Result<String, TemplateError> {
    let filled = Template::parse(&target.text)?.render(|name| value(name, target, claim));
    Ok(mail_text::own_layout(&filled))
}

/// What fills a place.
fn value(name: &Name, target: &ConfirmationTarget, claim: &Claim) -> String {
    match name {
        Name::Receipt => claim.id.receipt.to_string(),
        Name::Form => claim.form.clone(),
        Name::ReceivedAt => claim.received_at.to_string(),
        // A page may have told it, so it is as good as a value.
        Name::Page => claim.page.as_deref().filter(|page| shows(page)).unwrap_or_default().to_owned(),
        Name::Field(name) => {
            let named = claim.contents.fields.iter().find(|field| field.name == *name);
            named.map_or_else(String::new, |field| words(field, target))
        }
    }
}

/// A value, or nothing.
fn words(field: &KeptField, target: &ConfirmationTarget) -> String {
    match &field.value {
        Value::Bool(true) => "Yes".to_owned(),
        Value::Bool(false) => "No".to_owned(),
        Value::Text(text) if *text == target.address || shows(text) => text.clone(),
        Value::List(options) if options.iter().map(|option| option.chars().count() + 2).sum::<usize>() <= SHORT + 2 => {
            options.join(", ")
        }
        Value::Text(_) | Value::List(_) => String::new(),
    }
}

/// Whether a text of a visitor may stand in a mail to a stranger.
fn shows(text: &str) -> bool {
    let plain = |c: char| !c.is_control() && !matches!(c, '<' | '>' | '\\') && !ATS.contains(&c);
    text.chars().count() <= SHORT
        && text.chars().all(plain)
        && visible::escape_line(text) == text
        && !text.contains("//")
        && !text.contains("=?")
        && !text.to_lowercase().contains("www.")
        && !text.split_whitespace().any(is_address_like)
}

/// Whether a word may be, or hold, the name of a host, a numeric address, or a link's scheme and what follows it:
/// `evil.example`, `10.0.0.1`, `tel:0900`. Not `J.R.`, `Dr.-Ing.`, `12.50`, `1.12.2026` or `10:30`.
fn is_address_like(word: &str) -> bool {
    let labels = || word.split(DOTS);
    let numeric = labels().filter(|label| label.contains(char::is_numeric)).count() > 3;
    let named = labels().skip(1).any(|label| {
        let mut chars = label.chars();
        chars.next().is_some_and(char::is_alphanumeric)
            && chars.next().is_some_and(|c| c == '-' || !c.is_ascii_punctuation())
            && label.contains(char::is_alphabetic)
    });
    let scheme = word.split_once(':').is_some_and(|(scheme, rest)| {
        !rest.is_empty() && scheme.ends_with(|c: char| c.is_alphanumeric()) && scheme.contains(char::is_alphabetic)
    });
    numeric || named || scheme
}

#[cfg(test)]
mod tests;
