//! What a spreadsheet would not take as text becomes text by a leading apostrophe (CWE-1236, contract 15.4).
//!
//! A cell is guarded when its first sign that shows is one of `= + - @`, their full-width forms or the minus sign, or
//! when it begins with a tab or a carriage return; blanks, byte order marks and other hidden characters in front do not
//! count. So is one that would come back as another number: digits with a zero in front or more than eleven of them,
//! with what people write into telephone numbers between them. `'+49 30 1234` is read by a person as it was meant, and
//! is neither a formula nor the number 49301234. Line breaks stay; other characters that act instead of showing become
//! visible. `tests/export.rs` asks `LibreOffice` whether that is enough.
//!
//! Without the guard, cells are what was sent, byte for byte.

use std::borrow::Cow;

use crate::domain::visible::{escape_text, is_hidden};

/// Whether cells are made safe for a spreadsheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// They are.
    On,
    /// They are as they were sent: for programs, never for a spreadsheet.
    Off,
}

/// Digits from which on a spreadsheet shows a power of ten instead of them.
const LONG_NUMBER: usize = 12;

impl Guard {
    /// The cell of a text.
    pub fn cell(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Off => Cow::Borrowed(text),
            Self::On => {
                let mark = if is_formula(text) || is_altered_number(text) { "'" } else { "" };
                Cow::Owned(format!("{mark}{}", escape_text(&text.replace("\r\n", "\n"))))
            }
        }
    }
}

/// Whether a spreadsheet may run it.
fn is_formula(text: &str) -> bool {
    let shown = text.trim_start_matches(|c: char| c.is_whitespace() || is_hidden(c));
    text.starts_with(['\t', '\r'])
        || shown.starts_with(['=', '+', '-', '@', '\u{2212}', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'])
}

/// Whether a spreadsheet may read it as a number and show another one.
fn is_altered_number(text: &str) -> bool {
    let text = text.trim();
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let number = text.bytes().all(|b| b.is_ascii_digit() || b" ()/.-".contains(&b));
    let mut first = text.trim_start_matches('(').bytes();
    let zero = first.next() == Some(b'0') && first.next().is_some_and(|b| b.is_ascii_digit());
    number && (digits >= LONG_NUMBER || zero)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_spreadsheet_would_run_or_change_gets_an_apostrophe() {
        for text in [
            "=1+1",
            "+1+1",
            "-1+1",
            "@SUM(A1)",
            "  =1+1",
            "\u{feff}=1+1",
            "\u{a0}\u{200b}=1+1",
            "\u{3000}＝1+1",
            "＋1",
            "－1",
            "＠x",
            "−5",
            "\n=1+1",
            "+49 30 1234",
            "+493012345",
            "0301234567",
            "030/1234567",
            "(030) 1234",
            "491701234567",
            "1234 5678 9012 3456",
        ] {
            let cell = Guard::On.cell(text).into_owned();
            assert!(cell.starts_with('\''), "{text:?} became {cell:?}");
            assert_eq!(Guard::Off.cell(text), text);
        }
        assert_eq!(Guard::On.cell("+49 30 1234"), "'+49 30 1234");
        assert_eq!(Guard::On.cell("\t=1+1"), "'\\t=1+1");
    }

    #[test]
    fn what_shows_as_it_is_stays_as_it_is() {
        for text in
            ["", "Anna", "a=b", "0", "0.5", "12.50", "2026-11-30", "08:30", "8 (800) 5", "'quoted'", "a\nb", "👍"]
        {
            assert_eq!(Guard::On.cell(text), text);
        }
        assert_eq!(Guard::On.cell("a\r\nb\u{1b}[2J\u{202e}"), "a\nb\\u{1b}[2J\\u{202e}");
    }

    proptest! {
        #[test]
        fn no_guarded_cell_begins_as_a_formula(text in "[ \t\r\n\u{feff}\u{200b}\u{a0}=+@＝-]{0,4}\\PC{0,8}") {
            let cell = Guard::On.cell(&text);
            prop_assert!(!is_formula(&cell), "{cell:?}");
            prop_assert!(!is_altered_number(&cell), "{cell:?}");
        }
    }
}
