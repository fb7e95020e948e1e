//! The texts that a site words itself: `[texts.LANGUAGE]`, each by its name.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::problem::{quoted, suggestion};
use super::super::table::Table;
use super::super::value::Value;
use crate::domain::text::{CATALOG, Language, Overrides, WordingError};

/// Reads the section `texts` of a site.
pub(super) fn check(table: &mut Table<'_>) -> HashMap<Language, Arc<Overrides>> {
    let mut texts = HashMap::new();
    let Some(section) = table.section("texts") else { return texts };
    for value in section.entries() {
        let Some(language) = Language::ALL.into_iter().find(|language| language.tag() == value.key) else {
            let known = Language::ALL.into_iter().map(Language::tag);
            let remedy = suggestion(value.key, known, "the languages are");
            value.misplaced(format!("{} is no language of this version", quoted(value.key)), remedy);
            continue;
        };
        let Some(words) = value.table(format!("`[texts.{}]`", language.tag())) else { continue };
        let mut own = Overrides::default();
        words.entries().for_each(|value| word(&value, &mut own));
        if !own.is_empty() {
            texts.insert(language, Arc::new(own));
        }
    }
    texts
}

/// Reads one text.
fn word(value: &Value<'_>, own: &mut Overrides) {
    let Some(entry) = CATALOG.iter().find(|entry| entry.name == value.key) else {
        // The whole list is long: without a near name the manual helps more.
        let near = super::super::problem::nearest(value.key, CATALOG.iter().map(|entry| entry.name));
        let remedy = near.map_or_else(
            || "the manual lists the texts; correct the name or remove it".to_owned(),
            |near| format!("did you mean {}?", quoted(near)),
        );
        value.misplaced(format!("there is no text {}", quoted(value.key)), remedy);
        return;
    };
    let Some(written) = value.text() else { return };
    let Err(error) = own.put(entry, written) else { return };
    let name = quoted(value.key);
    match error {
        WordingError::Empty => {
            value
                .wrong(format!("the text {name} is empty"), "write something, or remove the key for the built-in text");
        }
        WordingError::Unclosed => value.wrong(format!("the text {name} has `{{` without `}}`"), "close the place"),
        WordingError::UnknownPlace(place) => {
            let remedy = match entry.places {
                [] => "it has no places at all: remove it".to_owned(),
                places => suggestion(&place, places.iter().copied(), "its places are"),
            };
            value.wrong(format!("the text {name} has no place {}", quoted(&place)), remedy);
        }
    }
}
