//! The visitor's texts: five languages, each text with a name, each overridable by the operator.
//!
//! [`catalog`] lists every text once: its name and its places. A language is one file that fills the whole list, so a
//! missing text does not compile. [`Texts`] is a language as one site speaks it: the built-in words, but for those
//! that the site's `[texts.LANGUAGE]` replaces ([`Overrides`]).
//!
//! Texts are plain text: whoever puts one into HTML escapes it. Each says what to do next.

mod catalog;
mod de;
mod en;
mod es;
mod fr;
mod language;
mod overrides;
mod ru;

pub use catalog::{CATALOG, Texts};
pub use language::Language;
pub use overrides::{Overrides, WordingError};

/// What a page or a problem answer says about a whole request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice<'a> {
    /// A few words: the page's heading, the problem's `title`.
    pub title: &'a str,
    /// One or two sentences that say what to do: the problem's `detail`.
    pub detail: &'a str,
}

/// A number of bytes in the largest unit that keeps it short, with one decimal where it needs one. The units are
/// the language's words for KiB and MiB.
fn size(bytes: u64, units: [&str; 3], comma: char) -> String {
    let [bytes_word, kib, mib] = units;
    let (tenths, unit) = match bytes {
        0..1024 => return format!("{bytes}\u{a0}{bytes_word}"),
        1024..1_048_576 => (bytes * 10 / 1024, kib),
        _ => (u64::try_from(u128::from(bytes) * 10 / 1_048_576).unwrap_or(u64::MAX), mib),
    };
    match tenths % 10 {
        0 => format!("{}\u{a0}{unit}", tenths / 10),
        part => format!("{}{comma}{part}\u{a0}{unit}", tenths / 10),
    }
}

/// A number and the word that follows it: that of one, or that of any other number.
fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count}\u{a0}{}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
