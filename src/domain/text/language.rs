//! The built-in languages, and which of them a visitor reads best.

use std::sync::Arc;

use super::catalog::{BuiltIn, Texts};
use super::overrides::Overrides;
use super::{de, en, es, fr, ru};

/// A built-in language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Russian.
    Ru,
    /// German.
    De,
    /// French.
    Fr,
    /// Spanish.
    Es,
}

impl Language {
    /// All of them, in the order of the manual.
    pub const ALL: [Self; 5] = [Self::En, Self::Ru, Self::De, Self::Fr, Self::Es];

    /// The tag in receipts and in `lang=""`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ru => "ru",
            Self::De => "de",
            Self::Fr => "fr",
            Self::Es => "es",
        }
    }

    /// The built-in language of a tag such as `ru` or `ru-RU`.
    pub fn parse(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next()?;
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }

    /// The best language for an `Accept-Language` header (RFC 9110, 12.5.4): the highest `q` wins, the first
    /// among equals; `q=0` is a refusal. English when none fits.
    pub fn negotiate(accept_language: &str) -> Self {
        let mut best = (Self::default(), 0);
        for range in accept_language.split(',') {
            let mut pieces = range.split(';');
            let Some(language) = pieces.next().and_then(|tag| Self::parse(tag.trim())) else { continue };
            let weight = pieces.next().map_or(Some(1000), |q| weight(q.trim())).unwrap_or(0);
            if weight > best.1 {
                best = (language, weight);
            }
        }
        best.0
    }

    /// Its texts as built in.
    pub fn texts(self) -> Texts {
        Texts::new(self, self.built_in(), None)
    }

    /// Its texts with those of a site in their place.
    pub fn texts_with(self, overrides: &Arc<Overrides>) -> Texts {
        Texts::new(self, self.built_in(), Some(Arc::clone(overrides)))
    }

    /// The whole list, filled.
    pub(super) fn built_in(self) -> &'static BuiltIn {
        match self {
            Self::En => &en::TEXTS,
            Self::Ru => &ru::TEXTS,
            Self::De => &de::TEXTS,
            Self::Fr => &fr::TEXTS,
            Self::Es => &es::TEXTS,
        }
    }
}

/// The thousandths of `q=0.8`; `None` when it is not well formed.
fn weight(parameter: &str) -> Option<u32> {
    let (name, value) = parameter.split_once('=')?;
    let (whole, part) = value.trim().split_once('.').unwrap_or((value.trim(), ""));
    if !name.trim().eq_ignore_ascii_case("q") || part.len() > 3 || !part.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let thousandths: u32 = format!("{part:0<3}").parse().ok()?;
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_language_the_visitor_reads_wins() {
        for (header, language) in [
            ("", Language::En),
            ("ru", Language::Ru),
            ("ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7", Language::Ru),
            ("en-GB, ru;q=0.9", Language::En),
            ("pt, fr-CA;q=0.9, ru;q=0.5, en;q=0.4", Language::Fr),
            ("de-AT", Language::De),
            ("it, es-419;q=0.1", Language::Es),
            ("en;q=0.2, RU ; q=0.30", Language::Ru),
            ("ru;q=0", Language::En),
            ("ru;q=0, en;q=0.1", Language::En),
            ("ru;q=x", Language::En),
            ("*", Language::En),
            (";;,,;q=1", Language::En),
        ] {
            assert_eq!(Language::negotiate(header), language, "{header:?}");
        }
    }
}
