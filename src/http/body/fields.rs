//! Gathers the text entries of a body within the bounds, whatever the transport, and takes the key out of them.

use std::sync::Arc;

use super::BodyError;
use crate::domain::bounds::Bounds;
use crate::domain::charset::{Charset, Undecodable};
use crate::domain::control;
use crate::domain::draft::{Draft, DraftFile, Entry, Shape};
use crate::domain::ids::SubmitKey;

/// What was read so far.
#[derive(Debug)]
pub(super) struct Fields {
    /// The bounds in force.
    bounds: Arc<Bounds>,
    /// Entries and files.
    draft: Draft,
    /// Bytes of all values, and of what names are longer than they may be.
    bytes: u64,
    /// The submission key.
    key: Option<SubmitKey>,
}

impl Fields {
    /// Nothing yet.
    pub(super) fn new(bounds: Arc<Bounds>) -> Self {
        Self { bounds, draft: Draft::default(), bytes: 0, key: None }
    }

    /// Adds a text entry. A name longer than allowed passes, bounded as a value is: validation names it, and answers
    /// 422 to JSON that was sent under the urlencoded type, where all of it looks like one name.
    pub(super) fn text(&mut self, name: String, value: &str, shape: Shape) -> Result<(), BodyError> {
        let (name_bytes, value_bytes) = (name.len() as u64, value.len() as u64);
        self.bytes = self.bytes.saturating_add(value_bytes + name_bytes.saturating_sub(self.bounds.field_name));
        if value_bytes.max(name_bytes) > self.bounds.value {
            return Err(BodyError::TooMuch("a value is longer than allowed"));
        }
        if self.bytes > self.bounds.values {
            return Err(BodyError::TooMuch("all values together are longer than allowed"));
        }
        if name == control::KEY {
            return self.take_key(value, shape);
        }
        if self.draft.entries.len() as u64 >= self.bounds.fields {
            return Err(BodyError::TooMuch("more fields than allowed"));
        }
        self.draft.push(name, value, shape);
        Ok(())
    }

    /// Adds a text entry that arrived as bytes; those that are no text become a fault of their field.
    pub(super) fn bytes(&mut self, name: String, value: &[u8], charset: Charset) -> Result<(), BodyError> {
        match charset.decode(value) {
            Ok(text) => self.text(name, &text, Shape::Scalar),
            Err(Undecodable) => self.text(name, "", Shape::Undecodable),
        }
    }

    /// Adds a file.
    pub(super) fn file(&mut self, file: DraftFile) {
        self.draft.files.push(file);
    }

    /// Files so far.
    pub(super) fn files(&self) -> u64 {
        self.draft.files.len() as u64
    }

    /// The key, when one has come.
    pub(super) fn key(&self) -> Option<&SubmitKey> {
        self.key.as_ref()
    }

    /// Takes the key; two that differ are none.
    fn take_key(&mut self, value: &str, shape: Shape) -> Result<(), BodyError> {
        if shape != Shape::Scalar {
            return Err(BodyError::BadKey);
        }
        match (SubmitKey::parse(value).map_err(|_| BodyError::BadKey)?, &self.key) {
            (Some(key), Some(known)) if &key != known => return Err(BodyError::BadKey),
            (Some(key), _) => self.key = Some(key),
            (None, _) => {}
        }
        Ok(())
    }

    /// The draft and the key. `_charset_` speaks for all values, so it is heard only now. Values beyond ASCII that are
    /// said to be in another charset than UTF-8 are refused: their bytes are gone, and those of another charset can
    /// happen to be UTF-8 and would be stored as nonsense.
    pub(super) fn finish(mut self) -> (Draft, Option<SubmitKey>) {
        let label = self.draft.control(control::CHARSET);
        let charset = label.map_or(Ok(Charset::UTF_8), Charset::parse);
        let is_safe = |value: &str| charset == Ok(Charset::UTF_8) || value.is_ascii();
        let foreign = |entry: &&mut Entry| !is_safe(&entry.value) && entry.name != control::CHARSET;
        for entry in self.draft.entries.iter_mut().filter(foreign) {
            entry.value.clear();
            entry.shape = Shape::Undecodable;
        }
        (self.draft, self.key)
    }
}
