//! What arrived, before anyone judged it: text entries in the sender's order, and of each file its facts.

use super::control;
use super::digest::Sha256Sum;
use super::filekind::Sniffed;

/// The readable content of a request body, the same whether it came as multipart, urlencoded or JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Text entries in the order they were sent, control fields included.
    pub entries: Vec<Entry>,
    /// Files in the order they were sent. The n-th one's bytes are in the n-th `.part` of the request.
    pub files: Vec<DraftFile>,
}

/// One text entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The field's name as sent.
    pub name: String,
    /// The value; CR LF and a lone CR are already LF.
    pub value: String,
    /// What the transport said about the value beyond its text.
    pub shape: Shape,
}

/// What the transport said about a value beyond its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A plain value.
    Scalar,
    /// An element of a JSON array.
    Element,
    /// A JSON object or an array in an array: the value is empty, validation refuses it.
    Nested,
    /// Bytes that are no text: the value is empty, validation refuses it.
    Undecodable,
}

/// The facts of a file that was chosen; an input without a file leaves nothing here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftFile {
    /// The field's name as sent.
    pub field: String,
    /// The cleaned display name; empty when nothing of the sent one was left.
    pub name: String,
    /// Bytes received.
    pub size: u64,
    /// Hash of the bytes received.
    pub sha256: Sha256Sum,
    /// What the bytes are.
    pub sniffed: Sniffed,
}

impl Draft {
    /// Adds a text entry; line breaks become LF, as counting, hashing and storing want them.
    pub fn push(&mut self, name: String, value: &str, shape: Shape) {
        let value = value.replace("\r\n", "\n").replace('\r', "\n");
        self.entries.push(Entry { name, value, shape });
    }

    /// The last value of a control field such as `_next`; `None` when it was not sent or is empty.
    pub fn control(&self, name: &str) -> Option<&str> {
        debug_assert!(control::is_control(name), "{name} is not a control field");
        let entry = self.entries.iter().rev().find(|entry| entry.name == name)?;
        (!entry.value.is_empty()).then_some(entry.value.as_str())
    }
}
