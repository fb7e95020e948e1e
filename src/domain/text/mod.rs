//! The visitor's texts. One file a language, each a whole [`Texts`]: a missing text does not compile, nor does a
//! text that forgets one of its places, since a text with places is a function of them.
//!
//! Texts are plain text: whoever puts one into HTML escapes it. Each says what to do next.

mod en;
mod notices;
mod ru;

pub use notices::{Notice, Notices};

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

    /// Its texts.
    pub fn texts(self) -> &'static Texts {
        match self {
            Self::En => &en::TEXTS,
            Self::Ru => &ru::TEXTS,
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

/// A text about one field; its argument is the field's label.
pub type Labelled = fn(label: &str) -> String;

/// A text about one file; its argument is the file's display name.
pub type Named = fn(file: &str) -> String;

/// Every text a visitor can read.
#[derive(Debug)]
pub struct Texts {
    // The thank-you page and the success answer.
    /// Title of the thank-you page.
    pub thanks_title: &'static str,
    /// What stands below it; also the `message` of a JSON success.
    pub thanks_message: &'static str,
    /// The line with the receipt.
    pub receipt_line: fn(receipt: &str) -> String,
    /// The link back to the page the form stands on.
    pub back: &'static str,

    // The hosted form and the pages that show a form again.
    /// Title of a form that declares none.
    pub form_title: &'static str,
    /// The button that sends.
    pub send: &'static str,
    /// The line that explains the mark of required fields.
    pub required_note: &'static str,
    /// What a screen reader says beside a required field.
    pub required_mark: &'static str,
    /// The first choice of a select that has none yet.
    pub choose: &'static str,
    /// Below a file input that takes one file: the largest size, as [`Texts::size`] writes it.
    pub max_size: fn(size: &str) -> String,
    /// Below a file input that takes several files.
    pub max_files: fn(count: u64, size: &str) -> String,
    /// Below a file input that takes certain kinds, such as `PDF, PNG`.
    pub file_kinds: fn(kinds: &str) -> String,
    /// Beside a file input of a form that is shown again.
    pub choose_again: &'static str,
    /// The accessible name of the list of faults.
    pub faults_label: &'static str,
    /// The accessible prefix of a message at its field.
    pub fault_prefix: &'static str,
    /// The accessible name of the hidden trap for robots.
    pub trap_label: &'static str,
    /// The button of the conflict page.
    pub send_as_new: &'static str,
    /// Above the visitor's text on a page that could not take it.
    pub your_text: &'static str,
    /// Yes, for a ticked box.
    pub yes: &'static str,
    /// No, for an empty box.
    pub no: &'static str,
    /// A number of bytes for a reader: `5 MB`.
    pub size: fn(bytes: u64) -> String,

    // Refusals of a whole request.
    /// Title and detail of each.
    pub notices: Notices,

    // Faults of a field.
    /// Nothing was given.
    pub required: Labelled,
    /// A box was not ticked.
    pub required_tick: Labelled,
    /// No option was chosen.
    pub required_choice: Labelled,
    /// No file was chosen.
    pub required_file: Labelled,
    /// Too short.
    pub too_short: fn(label: &str, min: u64) -> String,
    /// Too long.
    pub too_long: fn(label: &str, max: u64) -> String,
    /// Does not match the pattern.
    pub pattern: Labelled,
    /// No e-mail address.
    pub email: Labelled,
    /// An example of one.
    pub email_hint: &'static str,
    /// No web address.
    pub url: Labelled,
    /// An example of one.
    pub url_hint: &'static str,
    /// No number.
    pub number: Labelled,
    /// An example of one.
    pub number_hint: &'static str,
    /// A number that is too small.
    pub number_min: fn(label: &str, min: &str) -> String,
    /// A number that is too large.
    pub number_max: fn(label: &str, max: &str) -> String,
    /// No date.
    pub date: Labelled,
    /// An example of one.
    pub date_hint: &'static str,
    /// Too early a date.
    pub date_min: fn(label: &str, min: &str) -> String,
    /// Too late a date.
    pub date_max: fn(label: &str, max: &str) -> String,
    /// Not one of the options.
    pub option: Labelled,
    /// Sent more than once.
    pub repeated: Labelled,
    /// A line break in a line.
    pub line_break: Labelled,
    /// A control character.
    pub control_character: Labelled,
    /// How to be rid of it.
    pub control_character_hint: &'static str,
    /// Bytes that are no text.
    pub not_text: Labelled,
    /// An object or a list where a text belongs.
    pub nested: Labelled,
    /// A field the form does not have.
    pub unknown_field: Labelled,
    /// A file the form does not ask for.
    pub unknown_file: Labelled,
    /// A text where a file belongs.
    pub file_expected: Labelled,
    /// A file where a text belongs.
    pub text_expected: Labelled,
    /// A file of 0 bytes.
    pub file_empty: Named,
    /// A kind that is not taken.
    pub file_type: Named,
    /// The kinds that are.
    pub file_type_hint: fn(kinds: &str) -> String,
    /// A file that is not what its name says.
    pub file_contradicts: fn(file: &str, extension: &str) -> String,
    /// How to mend it.
    pub file_contradicts_hint: &'static str,
    /// A file that was cut on the way.
    pub file_damaged: Named,
    /// Too large a file.
    pub file_too_large: fn(file: &str, max: &str) -> String,
    /// How to make it smaller.
    pub file_too_large_hint: &'static str,
    /// Too many files at a field or in all.
    pub files_too_many: fn(label: &str, max: u64) -> String,
    /// All files together are too large.
    pub files_total: fn(max: &str) -> String,
    /// Stands for the name of a file that has none.
    pub unnamed_file: &'static str,
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
            ("de, fr;q=0.9, ru;q=0.5, en;q=0.4", Language::Ru),
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

    #[test]
    fn sizes_are_written_as_the_language_writes_them() {
        let (en, ru) = (Language::En.texts(), Language::Ru.texts());
        assert_eq!((en.size)(5 * 1024 * 1024), "5\u{a0}MB");
        assert_eq!((en.size)(1536), "1.5\u{a0}KB");
        assert_eq!((ru.size)(1_048_576 * 5 / 2), "2,5\u{a0}МБ");
        assert_eq!((ru.size)(7), "7\u{a0}Б");
        assert!(!(en.size)(u64::MAX).is_empty());
    }

    #[test]
    fn russian_counts_files_as_russian_does() {
        let texts = Language::Ru.texts();
        for (count, words) in [(1, "1 файл"), (2, "2 файла"), (5, "5 файлов"), (11, "11 файлов"), (21, "21 файл")]
        {
            assert!((texts.files_too_many)("Файлы", count).contains(words), "{count}");
        }
    }
}
