//! The values of a test: for each declared field one of its kind that its rules allow, where one can be made up. What
//! cannot be made up and need not be filled stays empty. Whether the form takes it all is for validation to say.

use std::io::Cursor;

use super::super::outcome::{CommandError, Kind};
use super::files;
use crate::clock::Clock;
use crate::domain::draft::{Draft, DraftFile, Shape};
use crate::domain::filekind::{FileKind, Sniffer};
use crate::domain::form::{DateRules, Field, FieldKind, Form, NumberRules, TextRules};
use crate::store::{PartFile, Store, StoreError};

/// The text of a field that takes one line.
const LINE: &str = "formctl test";
/// The text of a field that takes several.
const LINES: &str = "This is a test, sent by `formctl test`.\nNo visitor wrote it.";
/// An address that nobody has (RFC 2606).
const EMAIL: &str = "formctl-test@example.com";
/// A number that nobody has.
const TEL: &str = "+1 555 0100";
/// A page that belongs to nobody.
const URL: &str = "https://example.com/";

/// What the operator chose.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// Values of their own.
    pub set: &'a [(String, String)],
    /// What e-mail fields hold.
    pub email: Option<&'a str>,
    /// No file where none is required.
    pub no_files: bool,
}

/// What is sent.
#[derive(Debug)]
pub struct Sample {
    /// Values and the facts of the files.
    pub draft: Draft,
    /// The files.
    pub parts: Vec<PartFile>,
}

/// Makes values and files for `form`.
pub fn make(form: &Form, wishes: &Wishes<'_>, store: &Store, clock: &Clock) -> Result<Sample, CommandError> {
    let mut sample = Sample { draft: values(form, wishes, &clock.now().day())?, parts: Vec::new() };
    for (field, kind) in files_of(form, wishes) {
        sample.attach(field, kind, store, clock)?;
    }
    Ok(sample)
}

impl Sample {
    /// Writes a file and notes its facts, as the reader of a request does.
    fn attach(&mut self, field: &str, kind: FileKind, store: &Store, clock: &Clock) -> Result<(), StoreError> {
        let bytes = files::bytes(kind);
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let mut part = PartFile::create(store.directory(), clock.random_u64())?;
        part.write(bytes)?;
        let mut reader = Sniffer::default();
        reader.push(bytes);
        let sniffed = part.read_back(|_, size| reader.finish(&mut Cursor::new(bytes), size))?;
        let (name, sha256) = (files::name(kind), part.sha256());
        self.draft.files.push(DraftFile { field: field.to_owned(), name, size, sha256, sniffed });
        self.parts.push(part);
        Ok(())
    }
}

/// The file fields that get a file, and of which kind.
fn files_of<'f>(form: &'f Form, wishes: &Wishes<'_>) -> Vec<(&'f str, FileKind)> {
    let mut chosen = Vec::new();
    for field in &form.fields {
        if let FieldKind::File(rules) = &field.kind
            && (field.required || !wishes.no_files)
        {
            chosen.push((field.name.as_str(), files::fitting(&rules.types, rules.max_size)));
        }
    }
    if form.takes_any_field() && form.accept_files && !wishes.no_files {
        chosen.push(("file", FileKind::Pdf));
    }
    chosen
}

/// The values, in the order of the form; `today` is a date.
fn values(form: &Form, wishes: &Wishes<'_>, today: &str) -> Result<Draft, CommandError> {
    let mut draft = Draft::default();
    for (name, _) in wishes.set {
        refuse_unknown(form, name)?;
    }
    let email = wishes.email.unwrap_or(EMAIL);
    if form.takes_any_field() {
        let usual = [("name", LINE), ("email", email), ("message", LINES)];
        for (name, value) in usual.into_iter().filter(|(name, _)| !wishes.sets(name)) {
            draft.push(name.to_owned(), value, Shape::Scalar);
        }
    }
    for field in form.fields.iter().filter(|field| !wishes.sets(&field.name)) {
        match value(&field.kind, email, today) {
            Some(value) => draft.push(field.name.clone(), &value, Shape::Scalar),
            None if field.required && !matches!(field.kind, FieldKind::File(_)) => return Err(impossible(field)),
            None => {}
        }
    }
    for (name, value) in wishes.set {
        draft.push(name.clone(), value, Shape::Scalar);
    }
    Ok(draft)
}

impl Wishes<'_> {
    /// Whether the operator gives this field's value.
    fn sets(&self, name: &str) -> bool {
        self.set.iter().any(|(set, _)| set == name)
    }
}

/// A value of the operator's own needs a field that takes a text.
fn refuse_unknown(form: &Form, name: &str) -> Result<(), CommandError> {
    match form.field(name) {
        Some(Field { kind: FieldKind::File(_), .. }) => {
            Err(CommandError::new(Kind::Usage, format!("field `{name}` takes files; `--set` gives texts")))
        }
        None if !form.takes_any_field() => {
            let names: Vec<String> = form.fields.iter().map(|field| format!("`{}`", field.name)).collect();
            let text = format!("form `{}` has no field `{name}`", form.id);
            Err(CommandError::new(Kind::Usage, text).hint(format!("it has {}", names.join(", "))))
        }
        Some(_) | None => Ok(()),
    }
}

/// No value of this field could be made up.
fn impossible(field: &Field) -> CommandError {
    let text = format!("no value for field `{}` could be made up that its rules allow", field.name);
    CommandError::new(Kind::Failed, text).hint(format!("give one: `--set '{}=VALUE'`", field.name))
}

/// A value of this kind; `None` where there is none, or none was found.
fn value(kind: &FieldKind, email: &str, today: &str) -> Option<String> {
    match kind {
        FieldKind::Text(rules) | FieldKind::Hidden(rules) => text(rules, LINE, Padding::Any),
        FieldKind::Textarea(rules) => text(rules, LINES, Padding::Any),
        FieldKind::Tel(rules) => text(rules, TEL, Padding::Any),
        FieldKind::Url(rules) => text(rules, URL, Padding::Any),
        FieldKind::Email(rules) => text(rules, email, Padding::None),
        FieldKind::Number(rules) => Some(number(*rules)),
        FieldKind::Date(rules) => Some(date(rules, today)),
        FieldKind::Select(options) | FieldKind::Radio(options) | FieldKind::Checkboxes(options) => {
            options.first().cloned()
        }
        FieldKind::Checkbox => Some("on".to_owned()),
        FieldKind::File(_) => None,
    }
}

/// Whether a text may be cut and lengthened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    /// It stays what it is.
    Any,
    /// It would be another one.
    None,
}

/// `base` in the lengths of the rules where the pattern takes it, else an example of the pattern.
fn text(rules: &TextRules, base: &str, padding: Padding) -> Option<String> {
    let (min, max) = (rules.min_length.unwrap_or(0), rules.max_length.unwrap_or(u32::MAX));
    let fits = |length: usize| u32::try_from(length).is_ok_and(|length| (min..=max).contains(&length));
    let fitted = match padding {
        Padding::Any => fitted(base, min, max),
        Padding::None => base.to_owned(),
    };
    match &rules.pattern {
        Some(pattern) if !pattern.matches(&fitted) => pattern.example(fits),
        Some(_) | None => fits(fitted.encode_utf16().count()).then_some(fitted),
    }
}

/// `base`, which is ASCII, cut or lengthened.
fn fitted(base: &str, min: u32, max: u32) -> String {
    let length = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    let filled: String = base.chars().chain(std::iter::repeat('1')).take(base.len().max(length(min))).collect();
    filled.chars().take(length(max)).collect()
}

/// 1, or the nearest number that is allowed.
fn number(rules: NumberRules) -> String {
    let at_least = rules.min.map_or(1.0, |min| min.max(1.0));
    rules.max.map_or(at_least, |max| max.min(at_least)).to_string()
}

/// Today, or the nearest day that is allowed; days compare as their texts do.
fn date(rules: &DateRules, today: &str) -> String {
    let from = rules.min.as_deref().map_or(today, |min| min.max(today));
    rules.max.as_deref().map_or(from, |max| max.min(from)).to_owned()
}

#[cfg(test)]
mod tests;
