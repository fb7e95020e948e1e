//! A site's own wording: texts by name, with `{place}` where a value goes.
//!
//! A wording is read once, when the configuration is; a name or a place that does not exist is a mistake there, so
//! nothing can be missing when a visitor is waiting.

use std::collections::HashMap;

use super::catalog::{CATALOG, Entry};

/// The texts of one language that a site words itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(HashMap<&'static str, Wording>);

/// One text: runs of it, each with the place behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wording {
    /// As the operator wrote it.
    written: String,
    /// The runs and places.
    runs: Vec<(String, Option<&'static str>)>,
}

/// Why a text cannot stand for a built-in one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WordingError {
    /// Nothing is left to read.
    #[error("the text is empty")]
    Empty,
    /// `{` without `}`.
    #[error("`{{` without `}}`")]
    Unclosed,
    /// A place that the text does not have.
    #[error("unknown place `{{{0}}}`")]
    UnknownPlace(String),
}

impl Overrides {
    /// Words the text `entry` anew.
    pub fn put(&mut self, entry: &'static Entry, written: &str) -> Result<(), WordingError> {
        if written.trim().is_empty() {
            return Err(WordingError::Empty);
        }
        let mut runs = Vec::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or(WordingError::Unclosed)?;
            let place = entry.places.iter().find(|place| **place == name.trim());
            let place = *place.ok_or_else(|| WordingError::UnknownPlace(name.trim().to_owned()))?;
            runs.push((before.to_owned(), Some(place)));
            rest = after;
        }
        runs.push((rest.to_owned(), None));
        self.0.insert(entry.name, Wording { written: written.to_owned(), runs });
        Ok(())
    }

    /// The names and texts as written, in the order of the catalog.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        CATALOG.iter().filter_map(|entry| Some((entry.name, self.0.get(entry.name)?.written.as_str())))
    }

    /// Whether the site words nothing itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text without places.
    pub(super) fn plain(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|wording| wording.written.as_str())
    }

    /// A text with its places filled.
    pub(super) fn filled(&self, name: &str, places: &[(&str, String)]) -> Option<String> {
        let wording = self.0.get(name)?;
        let value = |wanted: &str| places.iter().find(|(place, _)| *place == wanted).map(|(_, value)| value.as_str());
        let run = |(text, place): &(String, Option<&'static str>)| [text, place.and_then(value).unwrap_or("")].concat();
        Some(wording.runs.iter().map(run).collect())
    }
}
