//! Gathers the entries of a body within the bounds, whatever the transport, and takes the key out of them.
//!
//! # Charsets
//!
//! Which charset a form is in, a browser says in the field `_charset_`, which may come last. So names, values and file
//! names wait as the bytes they were sent as, within the bounds of values, and become text at the end: a value by the
//! charset of its part, else that of the request, else the one that `_charset_` names, else UTF-8; names by the last
//! three. Nothing is ever replaced but in a file's name, which is only shown. A value that does not decode becomes a
//! fault of its field; a name that does not makes the whole body malformed.
//!
//! A `_charset_` that names no charset of a form says nothing of what the bytes mean: ASCII passes, other values are
//! faults, since bytes of another charset can happen to be UTF-8 and would be stored as nonsense.

use std::sync::Arc;

use super::BodyError;
use crate::domain::bounds::Bounds;
use crate::domain::charset::{Charset, Undecodable, UnknownCharset};
use crate::domain::control;
use crate::domain::digest::Sha256Sum;
use crate::domain::disposition::SentName;
use crate::domain::draft::{Draft, DraftFile, Shape};
use crate::domain::filekind::Sniffed;
use crate::domain::filename;
use crate::domain::ids::SubmitKey;

/// What a value is told that is longer than it may be, as sent or as text.
const LONG_VALUE: BodyError = BodyError::TooMuch("a value is longer than allowed");
/// What is told of all of them.
const LONG_VALUES: BodyError = BodyError::TooMuch("all values together are longer than allowed");

/// What was read so far.
#[derive(Debug)]
pub(super) struct Fields {
    /// The bounds in force.
    bounds: Arc<Bounds>,
    /// The charset that the request names.
    request: Option<Charset>,
    /// The charset that `_charset_` names.
    form: Option<Result<Charset, UnknownCharset>>,
    /// Texts in the order they came.
    texts: Vec<SentText>,
    /// Files in the order they came.
    files: Vec<SentFile>,
    /// Bytes of all values, and of what names are longer than they may be.
    bytes: u64,
    /// The submission key.
    key: Option<SubmitKey>,
}

/// A text entry as sent.
#[derive(Debug)]
pub(super) struct SentText {
    /// The field's name.
    pub(super) name: Vec<u8>,
    /// Its value.
    pub(super) value: Vec<u8>,
    /// What the transport says of it.
    pub(super) shape: Shape,
    /// The charset that its own part names.
    pub(super) charset: Option<Charset>,
}

/// A file as sent.
#[derive(Debug)]
pub(super) struct SentFile {
    /// The field's name.
    pub(super) field: Vec<u8>,
    /// The file's name.
    pub(super) filename: SentName,
    /// Bytes received.
    pub(super) size: u64,
    /// Their hash.
    pub(super) sha256: Sha256Sum,
    /// What they are.
    pub(super) sniffed: Sniffed,
}

impl Fields {
    /// Nothing yet, of a request that names this charset or none.
    pub(super) fn new(bounds: Arc<Bounds>, request: Option<Charset>) -> Self {
        Self { bounds, request, form: None, texts: Vec::new(), files: Vec::new(), bytes: 0, key: None }
    }

    /// Adds a text. A name longer than allowed passes, bounded as a value is: validation names it, and answers 422 to
    /// JSON that was sent under the urlencoded type, where all of it looks like one name.
    pub(super) fn text(&mut self, text: SentText) -> Result<(), BodyError> {
        let (name_bytes, value_bytes) = (text.name.len() as u64, text.value.len() as u64);
        self.bytes = self.bytes.saturating_add(value_bytes + name_bytes.saturating_sub(self.bounds.field_name));
        if value_bytes.max(name_bytes) > self.bounds.value {
            return Err(LONG_VALUE);
        }
        if self.bytes > self.bounds.values {
            return Err(LONG_VALUES);
        }
        if text.name == control::KEY.as_bytes() {
            return self.take_key(&text);
        }
        if self.texts.len() as u64 >= self.bounds.fields {
            return Err(BodyError::TooMuch("more fields than allowed"));
        }
        if text.name == control::CHARSET.as_bytes() && text.shape == Shape::Scalar && !text.value.is_empty() {
            self.hear(&text.value);
        }
        self.texts.push(text);
        Ok(())
    }

    /// Adds a file.
    pub(super) fn file(&mut self, file: SentFile) {
        self.files.push(file);
    }

    /// Files so far.
    pub(super) fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// The key, when one has come.
    pub(super) fn key(&self) -> Option<&SubmitKey> {
        self.key.as_ref()
    }

    /// Takes the key; two that differ are none.
    fn take_key(&mut self, text: &SentText) -> Result<(), BodyError> {
        let value = std::str::from_utf8(&text.value).map_err(|_| BodyError::BadKey)?;
        if text.shape != Shape::Scalar {
            return Err(BodyError::BadKey);
        }
        match (SubmitKey::parse(value).map_err(|_| BodyError::BadKey)?, &self.key) {
            (Some(key), Some(known)) if &key != known => return Err(BodyError::BadKey),
            (Some(key), _) => self.key = Some(key),
            (None, _) => {}
        }
        Ok(())
    }

    /// Hears `_charset_`. Of several the first that names a charset speaks.
    fn hear(&mut self, label: &[u8]) {
        if !matches!(self.form, Some(Ok(_))) {
            let label = std::str::from_utf8(label).map_err(|_| UnknownCharset);
            self.form = Some(label.and_then(Charset::parse));
        }
    }

    /// The draft and the key.
    pub(super) fn finish(self) -> Result<(Draft, Option<SubmitKey>), BodyError> {
        let form = match (self.request, self.form) {
            (Some(charset), _) | (None, Some(Ok(charset))) => Spoken::In(charset),
            (None, None) => Spoken::In(Charset::UTF_8),
            (None, Some(Err(UnknownCharset))) => Spoken::Unknown,
        };
        let name = |bytes: &[u8]| form.decode(bytes).map_err(|_| BodyError::Malformed("a field's name is no text"));
        let mut draft = Draft::default();
        let mut bytes = 0_u64;
        for text in &self.texts {
            let charset = text.charset.map_or(form, Spoken::In);
            let (value, shape) = match charset.decode(&text.value) {
                Ok(value) => (value, text.shape),
                Err(Undecodable) => (String::new(), Shape::Undecodable),
            };
            bytes = bytes.saturating_add(value.len() as u64);
            if value.len() as u64 > self.bounds.value {
                return Err(LONG_VALUE);
            }
            if bytes > self.bounds.values {
                return Err(LONG_VALUES);
            }
            draft.push(name(&text.name)?, &value, shape);
        }
        for SentFile { field, filename, size, sha256, sniffed } in self.files {
            let shown = filename.lossy(form.charset());
            draft.files.push(DraftFile { field: name(&field)?, name: filename::clean(&shown), size, sha256, sniffed });
        }
        Ok((draft, self.key))
    }
}

/// The charset in which a form was sent, as far as anyone said.
#[derive(Clone, Copy, Debug)]
enum Spoken {
    /// This one.
    In(Charset),
    /// One that nobody knows.
    Unknown,
}

impl Spoken {
    /// The text of bytes.
    fn decode(self, bytes: &[u8]) -> Result<String, Undecodable> {
        match self {
            Self::In(charset) => charset.decode(bytes),
            Self::Unknown if bytes.is_ascii() => Charset::UTF_8.decode(bytes),
            Self::Unknown => Err(Undecodable),
        }
    }

    /// The charset to show a file's name in.
    fn charset(self) -> Charset {
        match self {
            Self::In(charset) => charset,
            Self::Unknown => Charset::UTF_8,
        }
    }
}
