//! What holds of every text in every language.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::catalog::marked;
use super::*;

/// What stands for a place where a text is looked at.
pub(super) trait Mark {
    fn mark(place: &'static str) -> Self;
}

impl Mark for &str {
    fn mark(place: &'static str) -> Self {
        place
    }
}

impl Mark for u64 {
    fn mark(_: &'static str) -> Self {
        4711
    }
}

/// Words that are the same in English.
const COGNATES: &[(Language, &str)] = &[(Language::De, "label_name")];

#[test]
fn every_language_has_every_text_with_its_places_and_none_is_the_english_one() {
    let english = marked(&Language::En.texts());
    assert_eq!(english.len(), CATALOG.len());
    for language in Language::ALL {
        for ((entry, text), english) in CATALOG.iter().zip(marked(&language.texts())).zip(&english) {
            let (name, tag) = (entry.name, language.tag());
            assert!(!text.trim().is_empty() && text.trim() == text, "{tag} {name}: {text:?}");
            for place in entry.places {
                let numeric = text.contains("4711");
                assert!(text.contains(place) || numeric, "{tag} {name} lacks {place}: {text}");
            }
            if language != Language::En && !COGNATES.contains(&(language, name)) {
                assert_ne!(&text, english, "{tag} {name} is the English one");
            }
        }
    }
}

#[test]
fn names_are_unique_and_each_sentence_ends() {
    let names: BTreeSet<&str> = CATALOG.iter().map(|entry| entry.name).collect();
    assert_eq!(names.len(), CATALOG.len());
    for language in Language::ALL {
        for (entry, text) in CATALOG.iter().zip(marked(&language.texts())) {
            if entry.name.ends_with("_detail") || entry.places.contains(&"label") {
                assert!(text.ends_with('.'), "{} {}: {text}", language.tag(), entry.name);
            }
        }
    }
}

#[test]
fn sizes_are_written_as_the_language_writes_them() {
    for (language, five, half) in [
        (Language::En, "5\u{a0}MB", "1.5\u{a0}KB"),
        (Language::Ru, "5\u{a0}МБ", "1,5\u{a0}КБ"),
        (Language::De, "5\u{a0}MB", "1,5\u{a0}KB"),
        (Language::Fr, "5\u{a0}Mo", "1,5\u{a0}Ko"),
        (Language::Es, "5\u{a0}MB", "1,5\u{a0}KB"),
    ] {
        let texts = language.texts();
        assert_eq!((texts.size(5 * 1024 * 1024).as_str(), texts.size(1536).as_str()), (five, half));
        assert!(!texts.size(u64::MAX).is_empty());
    }
    assert_eq!(Language::Ru.texts().size(7), "7\u{a0}Б");
}

#[test]
fn languages_count_as_they_do() {
    let russian = Language::Ru.texts();
    for (count, words) in [(1, "1 файл"), (2, "2 файла"), (5, "5 файлов"), (11, "11 файлов"), (21, "21 файл")]
    {
        assert!(russian.files_too_many("Файлы", count).contains(words), "{count}");
    }
    for (language, one, two) in [
        (Language::En, "1\u{a0}character.", "2\u{a0}characters."),
        (Language::Fr, "1\u{a0}caractère.", "2\u{a0}caractères."),
        (Language::Es, "1\u{a0}carácter.", "2\u{a0}caracteres."),
    ] {
        let texts = language.texts();
        assert!(texts.too_long("x", 1).ends_with(one) && texts.too_long("x", 2).ends_with(two), "{}", language.tag());
    }
}

#[test]
fn a_site_words_a_text_anew_and_keeps_the_others() {
    let entry = |name: &str| CATALOG.iter().find(|entry| entry.name == name).unwrap();
    let mut own = Overrides::default();
    own.put(entry("send"), "Off it goes").unwrap();
    own.put(entry("too_long"), "{label}: {max} at most, {label}!").unwrap();
    own.put(entry("invalid_title"), "Oh").unwrap();
    let texts = Language::En.texts_with(&Arc::new(own.clone()));
    assert_eq!(texts.send(), "Off it goes");
    assert_eq!(texts.too_long("Na{max}me", 7), "Na{max}me: 7 at most, Na{max}me!", "a value is never read again");
    assert_eq!(texts.invalid(), Notice { title: "Oh", detail: Language::En.texts().invalid().detail });
    assert_eq!(texts.back(), Language::En.texts().back());
    assert_eq!(own.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["send", "too_long", "invalid_title"]);
}

#[test]
fn a_wording_that_names_what_is_not_there_is_refused() {
    let too_long = CATALOG.iter().find(|entry| entry.name == "too_long").unwrap();
    let mut own = Overrides::default();
    for (written, error) in [
        ("{min}", WordingError::UnknownPlace("min".to_owned())),
        ("{}", WordingError::UnknownPlace(String::new())),
        ("a {max", WordingError::Unclosed),
        (" ", WordingError::Empty),
    ] {
        assert_eq!(own.put(too_long, written), Err(error), "{written}");
    }
    assert!(own.is_empty());
}
