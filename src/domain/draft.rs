//! What arrived, before anyone judged it: text entries in the sender's order, and of each file its facts.

use std::borrow::Cow;

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
    /// A plain value in a JSON object that is a member: named `OBJECT[NAME]`, as forms write it.
    Member,
    /// An element of a JSON array in such an object.
    MemberElement,
    /// JSON nested more deeply: the value is empty, validation refuses it.
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

    /// The draft as a form with this `unwrap` means it: `fields[name]` is `name`, however it was sent. A JSON object
    /// of another name is one nested value.
    pub fn unwrapped(&self, unwrap: Option<&str>) -> Cow<'_, Self> {
        let is_member = |entry: &Entry| matches!(entry.shape, Shape::Member | Shape::MemberElement);
        if unwrap.is_none() && !self.entries.iter().any(is_member) {
            return Cow::Borrowed(self);
        }
        let mut plain = Self::default();
        for entry in &self.entries {
            let next = match (inside(&entry.name, unwrap), entry.shape) {
                (Some(name), Shape::MemberElement) => Entry { shape: Shape::Element, ..entry.named(name) },
                (Some(name), Shape::Member) => Entry { shape: Shape::Scalar, ..entry.named(name) },
                (Some(name), _) => entry.named(name),
                (None, Shape::Member | Shape::MemberElement) => {
                    let object = entry.name.split('[').next().unwrap_or_default();
                    Entry { name: object.to_owned(), value: String::new(), shape: Shape::Nested }
                }
                (None, _) => entry.clone(),
            };
            if next.shape != Shape::Nested || plain.entries.last() != Some(&next) {
                plain.entries.push(next);
            }
        }
        plain.files.clone_from(&self.files);
        for file in &mut plain.files {
            if let Some(name) = inside(&file.field, unwrap) {
                file.field = name;
            }
        }
        Cow::Owned(plain)
    }

    /// The last value of a control field such as `_next`; `None` when it was not sent or is empty.
    pub fn control(&self, name: &str) -> Option<&str> {
        debug_assert!(control::is_control(name), "{name} is not a control field");
        let entry = self.entries.iter().rev().find(|entry| entry.name == name)?;
        (!entry.value.is_empty()).then_some(entry.value.as_str())
    }
}

impl Entry {
    /// The same value under another name.
    fn named(&self, name: String) -> Self {
        Self { name, value: self.value.clone(), shape: self.shape }
    }
}

/// `a` of `fields[a]`, where `fields` is to be unwrapped; `a[]` of `fields[a][]`.
fn inside(name: &str, unwrap: Option<&str>) -> Option<String> {
    let inner = name.strip_prefix(unwrap?)?.strip_prefix('[')?;
    match inner.strip_suffix("][]") {
        Some(list) => Some(format!("{list}[]")),
        None => inner.strip_suffix(']').map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(entries: &[(&str, &str, Shape)]) -> Draft {
        let mut draft = Draft::default();
        for (name, value, shape) in entries {
            draft.push((*name).to_owned(), value, *shape);
        }
        draft
    }

    #[test]
    fn the_chosen_object_is_unwrapped_however_it_was_sent() {
        let sent = draft(&[
            ("fields[name]", "Ann", Shape::Scalar),
            ("fields[city]", "Ulm", Shape::Member),
            ("fields[tags]", "a", Shape::MemberElement),
            ("fields[more][]", "b", Shape::Scalar),
            ("options[x]", "1", Shape::Member),
            ("options[y]", "2", Shape::Member),
            ("plain", "c", Shape::Scalar),
            ("other[z]", "d", Shape::Scalar),
        ]);
        let expected = draft(&[
            ("name", "Ann", Shape::Scalar),
            ("city", "Ulm", Shape::Scalar),
            ("tags", "a", Shape::Element),
            ("more[]", "b", Shape::Scalar),
            ("options", "", Shape::Nested),
            ("plain", "c", Shape::Scalar),
            ("other[z]", "d", Shape::Scalar),
        ]);
        assert_eq!(*sent.unwrapped(Some("fields")), expected);
    }

    #[test]
    fn without_a_choice_nothing_changes_but_that_an_object_is_one_nested_value() {
        let flat = draft(&[("fields[name]", "Ann", Shape::Scalar)]);
        assert!(matches!(flat.unwrapped(None), Cow::Borrowed(_)));
        let nested = draft(&[("a[x]", "1", Shape::Member), ("a[y]", "2", Shape::MemberElement)]);
        assert_eq!(*nested.unwrapped(None), draft(&[("a", "", Shape::Nested)]));
    }
}
