//! The one validator: a form and a draft in, a submission or every fault at once out.
//!
//! It is the same for every way in, so it sees only a [`Draft`], never a transport: what came as JSON and what came
//! from a page without JavaScript is judged alike, and gives the same submission.
//!
//! * Fields come out in the order of the form, then the undeclared ones in the sender's; so do faults.
//! * A declared field that was not sent is there all the same, empty: whoever reads the submission sees the whole
//!   form.
//! * A field has one fault at a time, except a file field, where each file and their number can be at fault.
//! * Control fields take no part.
//!
//! It decides nothing about spam, repeats or closed forms, and it never panics, whatever the draft holds.

mod choice;
mod expected;
mod extra;
mod fault;
mod file;
mod remedy;
mod text;

pub use expected::expected;
pub use fault::{Fault, FieldError, RenderedError};

use super::bounds::Bounds;
use super::draft::{Draft, DraftFile, Entry};
use super::form::{Field, FieldKind, Form};
use super::submission::{AcceptedFile, Contents, KeptField, Role, Submission, Value};

/// Judges a draft. Errors come in the order of the form, then for undeclared fields in the sender's.
pub fn validate(form: &Form, bounds: &Bounds, draft: &Draft) -> Result<Submission, Vec<FieldError>> {
    let draft = &*draft.unwrapped(form.unwrap.as_deref());
    let mut findings = Findings::default();
    let mut budget = file::Budget::new(bounds);
    let sent = Sent::of(form, draft);
    for field in &form.fields {
        let given = sent.to(field);
        let role = if matches!(field.kind, FieldKind::Email(_)) { Role::Email } else { Role::Plain };
        match judge(field, &given, &mut budget, &mut findings) {
            Ok(Some(value)) => findings.keep(&field.name, &field.label, role, value),
            Ok(None) => {}
            Err(fault) => findings.fault(&field.name, fault),
        }
    }
    extra::texts(form, bounds, draft, &mut findings);
    extra::files(form, bounds, draft, &mut budget, &mut findings);
    findings.conclude(form)
}

/// Judges one declared field; a file field puts what it finds into `findings` itself and has no value.
fn judge(
    field: &Field,
    given: &Given<'_>,
    budget: &mut file::Budget<'_>,
    findings: &mut Findings,
) -> Result<Option<Value>, Fault> {
    if let FieldKind::File(rules) = &field.kind {
        file::judge(field, rules, given, budget, findings);
        return Ok(None);
    }
    if !given.files.is_empty() {
        return Err(Fault::TextExpected);
    }
    match &field.kind {
        FieldKind::Checkbox => choice::checkbox(field, &given.entries),
        FieldKind::Checkboxes(options) => choice::checkboxes(field, options, &given.entries),
        FieldKind::Select(options) | FieldKind::Radio(options) => choice::one(field, options, &given.entries),
        FieldKind::Text(_)
        | FieldKind::Textarea(_)
        | FieldKind::Email(_)
        | FieldKind::Tel(_)
        | FieldKind::Url(_)
        | FieldKind::Number(_)
        | FieldKind::Date(_)
        | FieldKind::Hidden(_)
        | FieldKind::File(_) => text::judge(field, &given.entries),
    }
    .map(Some)
}

/// What was sent for one field.
#[derive(Debug)]
struct Given<'a> {
    /// Its text entries in the sender's order.
    entries: Vec<&'a Entry>,
    /// Its files with their places in the draft.
    files: Vec<(usize, &'a DraftFile)>,
}

/// What was sent, each piece with the declared field it means.
#[derive(Debug)]
struct Sent<'f, 'a> {
    /// The text entries.
    entries: Vec<(Option<&'f Field>, &'a Entry)>,
    /// The files.
    files: Vec<(Option<&'f Field>, &'a DraftFile)>,
}

impl<'f, 'a> Sent<'f, 'a> {
    /// Finds the field of each piece.
    fn of(form: &'f Form, draft: &'a Draft) -> Self {
        Self {
            entries: draft.entries.iter().map(|entry| (declared(form, &entry.name), entry)).collect(),
            files: draft.files.iter().map(|file| (declared(form, &file.field), file)).collect(),
        }
    }

    /// What was sent for one field.
    fn to(&self, field: &Field) -> Given<'a> {
        let is_its = |owner: Option<&Field>| owner.is_some_and(|owner| std::ptr::eq(owner, field));
        let entries = self.entries.iter().filter(|(owner, _)| is_its(*owner)).map(|&(_, entry)| entry);
        let files = self.files.iter().enumerate().filter(|(_, (owner, _))| is_its(*owner));
        Given { entries: entries.collect(), files: files.map(|(index, &(_, file))| (index, file)).collect() }
    }
}

/// The declared field that a sent name means: the one of this name, else the `checkboxes` it is the `name[]` of.
fn declared<'f>(form: &'f Form, name: &str) -> Option<&'f Field> {
    form.field(name).or_else(|| {
        let field = form.field(name.strip_suffix("[]")?)?;
        matches!(field.kind, FieldKind::Checkboxes(_)).then_some(field)
    })
}

/// What was found so far.
#[derive(Debug, Default)]
struct Findings {
    /// Values in order.
    fields: Vec<KeptField>,
    /// Files in order.
    files: Vec<AcceptedFile>,
    /// Faults in order.
    errors: Vec<FieldError>,
}

impl Findings {
    /// A value that is in order.
    fn keep(&mut self, name: &str, label: &str, role: Role, value: Value) {
        self.fields.push(KeptField { name: name.to_owned(), label: label.to_owned(), role, value });
    }

    /// A fault.
    fn fault(&mut self, field: &str, fault: Fault) {
        self.errors.push(FieldError { field: field.to_owned(), fault, row: None });
    }

    /// A fault of one of a field's files.
    fn fault_at(&mut self, field: &str, row: usize, fault: Fault) {
        self.errors.push(FieldError { field: field.to_owned(), fault, row: Some(row) });
    }

    /// The submission, when nothing is at fault.
    fn conclude(self, form: &Form) -> Result<Submission, Vec<FieldError>> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let ticked = |name: &String| self.fields.iter().any(|f| &f.name == name && f.value == Value::Bool(true));
        let consent = form.consent.as_ref().map(ticked);
        Ok(Submission { contents: Contents { fields: self.fields, consent, ..Contents::default() }, files: self.files })
    }
}

/// Which status a refusal for faulty fields has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// 413: nothing is wrong but the size of files.
    OnlyTooLarge,
    /// 422: anything else, mixtures included.
    Invalid,
}

/// Whether nothing is wrong but the size of files.
pub fn only_too_large(errors: &[FieldError]) -> Verdict {
    let large = |error: &FieldError| matches!(error.fault, Fault::FileTooLarge { .. } | Fault::FilesTotal { .. });
    if !errors.is_empty() && errors.iter().all(large) { Verdict::OnlyTooLarge } else { Verdict::Invalid }
}

#[cfg(test)]
mod tests;
