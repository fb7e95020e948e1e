//! What can be wrong with a field, and how it is said.

use serde::Serialize;

use super::super::filekind::{Close, FileKind};
use super::super::form::Form;
use super::super::text::Texts;
use super::remedy;

/// One fault at one field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// The field's name, as declared or (at most 200 bytes of it) as sent.
    pub field: String,
    /// What is wrong.
    pub fault: Fault,
    /// Which of the field's files is at fault, counted from 1; `None`: the field as a whole.
    pub row: Option<usize>,
}

/// A fault as the visitor reads it: one member of `errors`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RenderedError {
    /// The field's name.
    pub field: String,
    /// The stable word for programs.
    pub code: &'static str,
    /// What is wrong and what to do.
    pub message: String,
    /// More help, where there is some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Which of the field's files are at fault, counted from 1 in the order of the visitor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<usize>,
}

impl FieldError {
    /// The fault in the visitor's language; a field that the form does not declare is called by its name.
    pub fn render(&self, form: Option<&Form>, texts: &Texts) -> RenderedError {
        let label = form.and_then(|form| form.field(&self.field)).map_or(self.field.as_str(), |field| &field.label);
        RenderedError {
            field: self.field.clone(),
            code: self.fault.code(),
            message: self.fault.message(texts, label),
            hint: self.fault.hint(texts),
            rows: self.row.into_iter().collect(),
        }
    }
}

/// What a required field lacks: it decides only how the message asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A text.
    Text,
    /// A tick.
    Tick,
    /// A choice.
    Choice,
    /// A file.
    File,
}

/// What is wrong with a field, with what the message needs to say. A `file` is a display name, perhaps empty.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Nothing was given.
    Required(Missing),
    /// Fewer than `min` UTF-16 units.
    TooShort {
        /// The least.
        min: u32,
    },
    /// More than `max` UTF-16 units.
    TooLong {
        /// The most.
        max: u32,
    },
    /// Does not match the field's pattern.
    Pattern,
    /// No e-mail address.
    Email,
    /// No absolute http or https URL.
    Url,
    /// No number.
    Number,
    /// Below the least number.
    NumberMin(f64),
    /// Above the greatest number.
    NumberMax(f64),
    /// No calendar date.
    Date,
    /// Before the first date.
    DateMin(String),
    /// After the last date.
    DateMax(String),
    /// Not one of the options.
    Option,
    /// Sent more than once.
    Repeated,
    /// A line break where one line belongs.
    LineBreak,
    /// A control character.
    ControlCharacter,
    /// Bytes that are no text.
    NotText,
    /// An object or a list where a text belongs.
    Nested,
    /// A text field the form does not take.
    UnknownField,
    /// A file at a field that is not declared.
    UnknownFile,
    /// A text where a file belongs.
    FileExpected,
    /// A file where a text belongs.
    TextExpected,
    /// 0 bytes.
    FileEmpty {
        /// Which.
        file: String,
    },
    /// Of no kind that the field takes.
    FileType {
        /// Which.
        file: String,
        /// The kinds it takes; empty: all supported ones.
        accepted: Vec<FileKind>,
        /// What it is close to, where it is no supported kind at all.
        close: Option<Close>,
    },
    /// Not what its extension says.
    FileContradicts {
        /// Which.
        file: String,
        /// The extension in lower case, without the dot.
        extension: String,
    },
    /// Begins as a supported kind and does not end as one.
    FileDamaged {
        /// Which.
        file: String,
    },
    /// Larger than the field takes.
    FileTooLarge {
        /// Which.
        file: String,
        /// The most bytes.
        max: u64,
    },
    /// More files than the field, or the whole submission, takes.
    FilesTooMany {
        /// The most.
        max: u64,
    },
    /// More bytes in all files than a submission takes.
    FilesTotal {
        /// The most.
        max: u64,
    },
}

impl Fault {
    /// The stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Required(_) => "required",
            Self::TooShort { .. } => "too_short",
            Self::TooLong { .. } => "too_long",
            Self::Pattern => "pattern",
            Self::Email => "email",
            Self::Url => "url",
            Self::Number => "number",
            Self::NumberMin(_) => "number_min",
            Self::NumberMax(_) => "number_max",
            Self::Date => "date",
            Self::DateMin(_) => "date_min",
            Self::DateMax(_) => "date_max",
            Self::Option => "option",
            Self::Repeated => "repeated",
            Self::LineBreak => "line_break",
            Self::ControlCharacter => "control_character",
            Self::NotText => "not_text",
            Self::Nested => "nested",
            Self::UnknownField => "unknown_field",
            Self::UnknownFile => "unknown_file",
            Self::FileExpected => "file_expected",
            Self::TextExpected => "text_expected",
            Self::FileEmpty { .. } => "file_empty",
            Self::FileType { .. } => "file_type",
            Self::FileContradicts { .. } => "file_contradicts",
            Self::FileDamaged { .. } => "file_damaged",
            Self::FileTooLarge { .. } => "file_too_large",
            Self::FilesTooMany { .. } => "files_too_many",
            Self::FilesTotal { .. } => "files_total",
        }
    }

    /// What is wrong and what to do, in plain text.
    pub fn message(&self, texts: &Texts, label: &str) -> String {
        let named = |file: &str| if file.is_empty() { texts.unnamed_file() } else { file }.to_owned();
        match self {
            Self::Required(Missing::Text) => texts.required(label),
            Self::Required(Missing::Tick) => texts.required_tick(label),
            Self::Required(Missing::Choice) => texts.required_choice(label),
            Self::Required(Missing::File) => texts.required_file(label),
            Self::TooShort { min } => texts.too_short(label, u64::from(*min)),
            Self::TooLong { max } => texts.too_long(label, u64::from(*max)),
            Self::Pattern => texts.pattern(label),
            Self::Email => texts.email(label),
            Self::Url => texts.url(label),
            Self::Number => texts.number(label),
            Self::NumberMin(min) => texts.number_min(label, &min.to_string()),
            Self::NumberMax(max) => texts.number_max(label, &max.to_string()),
            Self::Date => texts.date(label),
            Self::DateMin(min) => texts.date_min(label, min),
            Self::DateMax(max) => texts.date_max(label, max),
            Self::Option => texts.option(label),
            Self::Repeated => texts.repeated(label),
            Self::LineBreak => texts.line_break(label),
            Self::ControlCharacter => texts.control_character(label),
            Self::NotText => texts.not_text(label),
            Self::Nested => texts.nested(label),
            Self::UnknownField => texts.unknown_field(label),
            Self::UnknownFile => texts.unknown_file(label),
            Self::FileExpected => texts.file_expected(label),
            Self::TextExpected => texts.text_expected(label),
            Self::FileEmpty { file } => texts.file_empty(&named(file)),
            Self::FileType { file, close, .. } => {
                let file = named(file);
                close.and_then(|close| remedy::what(close, &file, texts)).unwrap_or_else(|| texts.file_type(&file))
            }
            Self::FileContradicts { file, extension } => texts.file_contradicts(&named(file), extension),
            Self::FileDamaged { file } => texts.file_damaged(&named(file)),
            Self::FileTooLarge { file, max } => texts.file_too_large(&named(file), &texts.size(*max)),
            Self::FilesTooMany { max } => texts.files_too_many(label, *max),
            Self::FilesTotal { max } => texts.files_total(&texts.size(*max)),
        }
    }

    /// More help: an example, what is accepted, how to mend it.
    pub fn hint(&self, texts: &Texts) -> Option<String> {
        let hint = match self {
            Self::Email => texts.email_hint(),
            Self::Url => texts.url_hint(),
            Self::Number => texts.number_hint(),
            Self::Date => texts.date_hint(),
            Self::ControlCharacter => texts.control_character_hint(),
            Self::FileContradicts { .. } => texts.file_contradicts_hint(),
            Self::FileTooLarge { .. } => texts.file_too_large_hint(),
            Self::FileType { accepted, close, .. } => {
                let remedy = close.and_then(|close| remedy::how(close, accepted, texts));
                return Some(remedy.unwrap_or_else(|| texts.file_type_hint(&FileKind::list(accepted))));
            }
            Self::Required(_)
            | Self::TooShort { .. }
            | Self::TooLong { .. }
            | Self::Pattern
            | Self::NumberMin(_)
            | Self::NumberMax(_)
            | Self::DateMin(_)
            | Self::DateMax(_)
            | Self::Option
            | Self::Repeated
            | Self::LineBreak
            | Self::NotText
            | Self::Nested
            | Self::UnknownField
            | Self::UnknownFile
            | Self::FileExpected
            | Self::TextExpected
            | Self::FileEmpty { .. }
            | Self::FileDamaged { .. }
            | Self::FilesTooMany { .. }
            | Self::FilesTotal { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
