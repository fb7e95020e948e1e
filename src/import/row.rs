//! One submission as an export has it, whatever service wrote it; and why one is not taken. A refusal never repeats a
//! value: its reader sees the file.

use std::fmt;

use serde_json::{Map, Value as Json};

use crate::domain::submission::{Imported, Value};

/// Where a submission stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The line on which it begins, from 1.
    Line(u64),
    /// Its number in the list, from 1: an API's answer has but one line.
    Number(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Number(number) => write!(f, "submission {number}"),
        }
    }
}

/// A submission of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// What it is called there.
    pub id: Option<String>,
    /// When it arrived there, as written.
    pub time: Option<String>,
    /// The form it belongs to there.
    pub form: Option<String>,
    /// Whether it is spam there.
    pub spam: bool,
    /// The page of its form.
    pub page: Option<String>,
    /// The language of its answer.
    pub locale: Option<String>,
    /// Whether consent was given.
    pub consent: Option<bool>,
    /// Its values in the order of the export; each name once.
    pub fields: Vec<Sent>,
    /// Files that are spoken of, and whose bytes are not in the export.
    pub files: u64,
    /// Files whose address stands in a value.
    pub links: u64,
    /// Columns and members that are no values.
    pub left_out: Vec<&'static str>,
    /// Where it had come from before it was there.
    pub origin: Option<Imported>,
}

/// One value of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The field's name.
    pub name: String,
    /// Its label, where the export has one.
    pub label: Option<String>,
    /// The value.
    pub value: Value,
}

/// What a column of a flat export means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// What the submission is called.
    Id,
    /// When it arrived.
    Time,
    /// Which form it belongs to.
    Form,
    /// Whether it is spam.
    Spam,
    /// Nothing that is kept, such as an address of the network.
    LeftOut(&'static str),
    /// What the fields say once more.
    Summary,
    /// A value.
    Field,
}

/// Why a submission is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Something else than an object.
    #[error("it is no JSON object")]
    NoObject,
    /// A line that is no JSON.
    #[error("it is no JSON")]
    NoJson,
    /// A line that is no text in UTF-8.
    #[error("it is no UTF-8")]
    NoText,
    /// A row that its header does not fit.
    #[error("it has {found} cells, the header has {header}")]
    Cells {
        /// Of the row.
        found: usize,
        /// Of the header.
        header: usize,
    },
    /// A quoted cell that goes on to the end of the file.
    #[error("a quoted cell is not closed; what follows it was not read")]
    OpenQuote,
    /// A submission that is larger than any that could be taken.
    #[error("it is larger than all values of a submission may be")]
    TooLarge,
    /// Nothing to keep.
    #[error("it has no values")]
    Empty,
    /// An object that no export of formd writes.
    #[error("it is no submission as `formctl export` writes it")]
    NoExport,
    /// A submission of formd without its values.
    #[error("its values were erased before the export")]
    Erased,
    /// Two forms in one file.
    #[error(
        "it belongs to form `{this}`, the first one of this file to `{first}`: export and import each form by itself"
    )]
    OtherForm {
        /// Of the first submission.
        first: String,
        /// Of this one.
        this: String,
    },
    /// Too many values.
    #[error("it has more than {0} fields")]
    Fields(u64),
    /// A name that no field can have.
    #[error("a field's name is empty, longer than {0} bytes or holds control characters")]
    Name(u64),
    /// A long value.
    #[error("a value is larger than {0} bytes")]
    Value(u64),
    /// Many long values.
    #[error("its values are larger than {0} bytes together")]
    Values(u64),
    /// Something else was imported under this id.
    #[error("it was imported before, with other values; what is here stays")]
    OtherValues,
}

/// Whether a column or member means what is meant by `name`: letters' case, blanks, `-` and `_` do not count.
pub fn is_named(column: &str, name: &str) -> bool {
    let plain = |c: char| if matches!(c, ' ' | '-') { '_' } else { c.to_ascii_lowercase() };
    column.trim().chars().map(plain).eq(name.chars())
}

impl Row {
    /// A row of columns, told apart by `meaning`.
    pub fn of_columns(cells: impl IntoIterator<Item = (String, Value)>, meaning: fn(&str) -> Column) -> Self {
        let mut row = Self::default();
        for (name, value) in cells {
            match (meaning(&name), plain(&value)) {
                (Column::Id, text) => row.id = text,
                (Column::Time, text) => row.time = text,
                (Column::Form, text) => row.form = text,
                (Column::Spam, text) => row.spam = text.is_some_and(|text| says_yes(&text)),
                (Column::LeftOut(what), _) => row.left_out.push(what),
                (Column::Summary, _) => {}
                (Column::Field, _) => row.push(name, None, value),
            }
        }
        row
    }

    /// A row of the members of a JSON object, told apart by `meaning`.
    pub fn of_members(members: Map<String, Json>, meaning: fn(&str) -> Column) -> Self {
        let mut links = 0;
        let cells: Vec<_> = members
            .into_iter()
            .filter_map(|(name, json)| {
                let value = value(json, &mut links)?;
                Some((name, value))
            })
            .collect();
        Self { links, ..Self::of_columns(cells, meaning) }
    }

    /// Adds a value; a name that comes again makes a list.
    pub fn push(&mut self, name: String, label: Option<String>, value: Value) {
        let Some(there) = self.fields.iter_mut().find(|sent| sent.name == name) else {
            self.fields.push(Sent { name, label, value });
            return;
        };
        let mut all = texts(std::mem::replace(&mut there.value, Value::Bool(false)));
        all.extend(texts(value));
        there.value = Value::List(all);
    }
}

/// The texts of a value.
pub fn texts(value: Value) -> Vec<String> {
    match value {
        Value::Bool(on) => vec![on.to_string()],
        Value::Text(text) => vec![text],
        Value::List(texts) => texts,
    }
}

/// A value as one text; `None` for an empty one.
fn plain(value: &Value) -> Option<String> {
    let text = texts(value.clone()).join(", ");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether a mark is set.
fn says_yes(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "true" | "1" | "yes" | "spam")
}

/// A JSON value as a value of a field: a file is its address, and counted; `None` for null.
pub fn value(json: Json, links: &mut u64) -> Option<Value> {
    match json {
        Json::Null => None,
        Json::Bool(on) => Some(Value::Bool(on)),
        Json::Array(items) => {
            Some(Value::List(items.into_iter().filter_map(|item| value(item, links)).flat_map(texts).collect()))
        }
        Json::Object(members) => match members.get("url") {
            Some(Json::String(address)) => {
                *links += 1;
                Some(Value::Text(address.clone()))
            }
            _ => Some(Value::Text(Json::Object(members).to_string())),
        },
        Json::Number(number) => Some(Value::Text(number.to_string())),
        Json::String(text) => Some(Value::Text(text)),
    }
}
