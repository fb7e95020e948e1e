//! The visitor's texts. One file a language, each a whole [`Texts`]: a missing text does not compile.

mod en;
mod ru;

/// A built-in language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Russian.
    Ru,
}

impl Language {
    /// The tag in receipts and in `lang=""`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ru => "ru",
        }
    }

    /// The built-in language of a tag such as `ru` or `ru-RU`.
    pub fn parse(tag: &str) -> Option<Self> {
        match tag.split('-').next()?.to_ascii_lowercase().as_str() {
            "en" => Some(Self::En),
            "ru" => Some(Self::Ru),
            _ => None,
        }
    }

    /// The best language for an `Accept-Language` header; English when none fits.
    pub fn negotiate(accept_language: &str) -> Self {
        todo!()
    }

    /// Its texts.
    pub fn texts(self) -> &'static Texts {
        match self {
            Self::En => &en::TEXTS,
            Self::Ru => &ru::TEXTS,
        }
    }
}

/// Every text a visitor can read.
#[derive(Debug)]
pub struct Texts {
    /// Title of the thank-you page.
    pub thanks_title: &'static str,
}
