//! A submission that passed validation: values with the labels they were declared under, files with their place.

use serde::{Deserialize, Serialize};

use super::digest::Sha256Sum;
use super::filekind::FileKind;
use super::time::Timestamp;

/// What is recorded, delivered and shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The values in form order, then the extra ones in the sender's.
    pub contents: Contents,
    /// The files in form order, positions from 1.
    pub files: Vec<AcceptedFile>,
}

/// The visitor's fields as they are kept: the only home of values. Stored as one JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The fields in order.
    pub fields: Vec<KeptField>,
    /// Whether the visitor ticked the consent field; `None` where the form asks for none.
    pub consent: Option<bool>,
    /// Who sent it.
    #[serde(default, skip_serializing_if = "SentBy::is_visitor")]
    pub sent_by: SentBy,
    /// Where it was before; `None`: it was sent to this form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

/// Where an imported submission came from. It stands beside the values and is erased with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Whose export it was.
    pub from: ImportSource,
    /// What it was called there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it arrived there; `None` where the export does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// Whose exports are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportSource {
    /// Netlify Forms.
    Netlify,
    /// Formspree.
    Formspree,
    /// Another formd, or this one.
    Formd,
}

impl ImportSource {
    /// The word in JSON, in hashes and on the terminal.
    pub fn word(self) -> &'static str {
        match self {
            Self::Netlify => "netlify",
            Self::Formspree => "formspree",
            Self::Formd => "formd",
        }
    }
}

/// Who sent a submission: whoever reads a mail or a webhook must not take a test for a customer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SentBy {
    /// Somebody who filled the form; what was stored before there were tests says nothing and means this.
    #[default]
    Visitor,
    /// The operator, by `formctl test`.
    Test,
}

impl SentBy {
    /// Whether nobody needs to be told.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
    fn is_visitor(&self) -> bool {
        *self == Self::Visitor
    }
}

/// One field with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptField {
    /// The name under which it was declared or sent.
    pub name: String,
    /// The label at acceptance.
    pub label: String,
    /// What it is for a reader.
    pub role: Role,
    /// What the visitor gave.
    pub value: Value,
}

/// What a value is for whoever reads it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// An e-mail address, valid or empty.
    Email,
    /// Anything else.
    Plain,
}

/// What the visitor gave. An empty answer is an empty text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A checkbox.
    Bool(bool),
    /// A text, possibly empty.
    Text(String),
    /// The chosen options of `checkboxes`, in the sender's order.
    List(Vec<String>),
}

/// A file that belongs to the submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedFile {
    /// Index into the draft's files, and so into the request's `.part` files.
    pub index: usize,
    /// The declared field's name.
    pub field: String,
    /// The display name, never empty, never part of a path.
    pub name: String,
    /// The true type, from the content.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Hash of the bytes.
    pub sha256: Sha256Sum,
}
