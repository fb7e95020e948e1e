//! The one validator: a form and a draft in, a submission or every fault at once out.

use super::bounds::Bounds;
use super::draft::Draft;
use super::form::Form;
use super::submission::Submission;

/// One fault at one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// The field's name.
    pub field: String,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a field, with what the message needs to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Nothing was given.
    Required,
}

/// Judges a draft. Errors come in the order of the form, then for undeclared fields in the sender's.
pub fn validate(form: &Form, bounds: &Bounds, draft: &Draft) -> Result<Submission, Vec<FieldError>> {
    todo!()
}
