//! The words of a mail: subject and text, pure (contract 11.1, 11.2).
//!
//! The standard text is one line for each thing, and a visitor cannot forge one: every further line of a value is
//! indented by two blanks, whatever character some reader takes for a line break (LF, CR, VT, FF, the separators
//! FS to RS, NEL, U+2028, U+2029); other control characters are shown as escapes, in labels and file names the
//! reordering and invisible ones too. A label loses its outer blanks, so that it cannot pass for a further line.
//!
//! A text template is the operator's own layout: values go in as they are, line breaks included, and forging is
//! the operator's to prevent (`formctl show` and the standard mail stay unambiguous).
//!
//! Deliberately not done: telling a declared field from an extra one. A form that keeps extra fields shows a
//! visitor's field named `Consent` as a line of that name.

use super::note::is_invisible;
use crate::domain::submission::{SentBy, Value};
use crate::domain::target::EmailTarget;
use crate::domain::template::{Name, Template, TemplateError};
use crate::store::Claim;

/// What an empty answer looks like.
const EMPTY: &str = "—";
/// What the subject of a test begins with.
pub const TEST_SUBJECT: &str = "[test] ";
/// What the text of a test begins with.
const TEST_TEXT: &str = "This is a test, sent by `formctl test`: no visitor filled the form.\n\n";
/// Longest subject, in characters; a header line of a mail ends at 998 bytes.
const SUBJECT: usize = 250;

/// What becomes of the files of a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// They travel with it.
    Attached,
    /// They should, but are too large together: it names them.
    TooLarge,
    /// It names them.
    Named,
}

/// The subject: the destination's template, else the standard one. One line without control characters. A test says
/// first that it is one.
pub fn subject(target: &EmailTarget, claim: &Claim) -> Result<String, TemplateError> {
    let text = if let Some(template) = &target.subject {
        Template::parse(template)?.render(|name| filled(name, claim))
    } else {
        let title = target.title.as_deref().map(|title| format!(": {title}")).unwrap_or_default();
        format!("New form submission{title} - {}", claim.id.receipt)
    };
    Ok(match claim.contents.sent_by {
        SentBy::Visitor => subject_line(&text),
        SentBy::Test => subject_line(&format!("{TEST_SUBJECT}{text}")),
    })
}

/// `text` fit for a subject: one line without control characters, not too long.
pub fn subject_line(text: &str) -> String {
    let line = header_text(text);
    if line.chars().count() > SUBJECT { line.chars().take(SUBJECT - 1).chain(['…']).collect() } else { line }
}

/// The text: the destination's template, else the standard one. Lines end in LF; no other control character but
/// the tab is left. A test says first that it is one.
pub fn text(target: &EmailTarget, claim: &Claim, files: Files) -> Result<String, TemplateError> {
    let text = plain_text(target, claim, files)?;
    Ok(match claim.contents.sent_by {
        SentBy::Visitor => text,
        SentBy::Test => format!("{TEST_TEXT}{text}"),
    })
}

/// The text of any submission.
fn plain_text(target: &EmailTarget, claim: &Claim, files: Files) -> Result<String, TemplateError> {
    let Some(template) = &target.text else {
        return Ok(standard(claim, files));
    };
    Ok(own_layout(&Template::parse(template)?.render(|name| filled(name, claim))))
}

/// A filled template as the text of a mail: lines end in LF, no other control character but the tab is left.
pub fn own_layout(filled: &str) -> String {
    let text = filled.replace("\r\n", "\n").replace('\r', "\n");
    let end = if text.ends_with('\n') { "" } else { "\n" };
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n") + end
}

/// The standard text.
fn standard(claim: &Claim, files: Files) -> String {
    let page = page(claim);
    format!(
        "{}Receipt {}, page {}, locale {}, received {}\n",
        facts(claim, files),
        claim.id.receipt,
        page.as_deref().unwrap_or(EMPTY),
        claim.locale,
        claim.received_at
    )
}

/// What the visitor gave: one line for each field, the consent, each file.
pub fn facts(claim: &Claim, files: Files) -> String {
    let mut text = String::new();
    for field in &claim.contents.fields {
        let shown = shown(&field.value);
        push_line(&mut text, &field.label, if shown.is_empty() { EMPTY } else { &shown });
    }
    if claim.contents.consent == Some(true) {
        push_line(&mut text, "Consent", "given");
    }
    for row in &claim.attachments {
        let left_out = match files {
            Files::Attached | Files::Named => "",
            Files::TooLarge => ", too large to attach",
        };
        push_line(&mut text, "Attachment", &format!("{} ({}{left_out})", label(&row.name), size(row.size)));
    }
    text
}

/// The page of the receipt as one line.
pub fn page(claim: &Claim) -> Option<String> {
    claim.page.as_deref().map(label).filter(|page| !page.is_empty())
}

/// Adds `label: value`, further lines of the value indented by two blanks.
fn push_line(text: &mut String, name: &str, value: &str) {
    let value: Vec<String> = lines(value).into_iter().map(visible).collect();
    text.push_str(&label(name));
    text.push_str(": ");
    text.push_str(&value.join("\n  "));
    text.push('\n');
}

/// A value as a reader sees it; an empty answer is empty.
fn shown(value: &Value) -> String {
    match value {
        Value::Bool(true) => "Yes".to_owned(),
        Value::Bool(false) => "No".to_owned(),
        Value::Text(text) => text.clone(),
        Value::List(list) => list.join(", "),
    }
}

/// What fills a template's place. A field that was not sent is empty, a file field its files' names.
pub fn filled(name: &Name, claim: &Claim) -> String {
    match name {
        Name::Receipt => claim.id.receipt.to_string(),
        Name::Form => claim.form.clone(),
        Name::Page => claim.page.clone().unwrap_or_default(),
        Name::ReceivedAt => claim.received_at.to_string(),
        Name::Field(name) => claim.contents.fields.iter().find(|field| field.name == *name).map_or_else(
            || {
                let files = claim.attachments.iter().filter(|row| row.field == *name);
                files.map(|row| row.name.as_str()).collect::<Vec<_>>().join(", ")
            },
            |field| shown(&field.value),
        ),
    }
}

/// `text` fit for a header: every line break, control and reordering character becomes a blank, runs of blanks one.
pub fn header_line(text: &str) -> String {
    let blank = |c: char| c.is_whitespace() || c.is_control() || is_reordering(c);
    text.split(blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// [`header_line`] for a header whose encoded words are decoded: nothing in it passes for one (`=?utf-8?Q?=0D=0A?=`),
/// so that a reader shows what was written and no line break comes back.
pub fn header_text(text: &str) -> String {
    header_line(text).replace("=?", "= ?")
}

/// Cuts at everything that some reader takes for a line break; CR LF is one.
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((at, found)) = rest.char_indices().find(|(_, c)| is_line_break(*c)) {
        let (line, after) = rest.split_at(at);
        lines.push(line);
        let after = after.get(found.len_utf8()..).unwrap_or_default();
        rest = if found == '\r' { after.strip_prefix('\n').unwrap_or(after) } else { after };
    }
    lines.push(rest);
    lines
}

/// Characters that some reader takes for a line break (Unicode's, and those of Python's `splitlines`).
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The bidi controls that move text to where it does not stand. Zero-width joiners belong to scripts and emoji.
fn is_reordering(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line of a value: control characters but the tab as escapes (`\u{1b}`).
fn visible(line: &str) -> String {
    escaped(line, |c| c.is_control() && c != '\t')
}

/// A label or a file's name: one line without outer blanks, nothing hidden or reordering in it.
fn label(text: &str) -> String {
    let label = escaped(text.trim(), |c| c.is_control() || is_line_break(c) || is_invisible(c));
    if label.is_empty() { EMPTY.to_owned() } else { label }
}

/// `text` with the characters that `hostile` names as Rust would write them (`\n`, `\u{202e}`).
fn escaped(text: &str, hostile: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hostile(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// A size for a reader: whole bytes below 1 KiB, else one decimal, rounded down.
fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..KIB => format!("{bytes} bytes"),
        KIB..MIB => format!("{} KiB", tenths(KIB)),
        MIB.. => format!("{} MiB", tenths(MIB)),
    }
}

#[cfg(test)]
mod tests;
