//! Bytes to text by a declared charset, strictly.
//!
//! Labels are those of the WHATWG Encoding Standard, since browsers write them: `windows-1251` of an old page, and
//! `iso-8859-1`, which means windows-1252 there. One differs: `us-ascii` is read as UTF-8, of which it is a part, since
//! libraries write it where they thought of no charset and their bytes are UTF-8; windows-1252 would store nonsense.
//! What does not decode is an error; nothing is replaced, and no byte order mark is looked at, so that bytes never
//! mean something else than their label says.
//!
//! UTF-16 is no charset of a form (HTML replaces it by UTF-8 when a form is sent), nor are the encodings that the
//! standard maps to `replacement`, nor `x-user-defined`, whose result is no text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, X_USER_DEFINED};
use thiserror::Error;

/// A charset that a form may be sent in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

/// A label that names no charset of a form. The label itself is the visitor's and is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the charset is not one that forms are sent in; use UTF-8")]
pub struct UnknownCharset;

/// Bytes that are no text in their charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the bytes are no text in the charset that was declared for them")]
pub struct Undecodable;

impl Default for Charset {
    /// UTF-8, what a form without a word about its charset is in.
    fn default() -> Self {
        Self::UTF_8
    }
}

impl Charset {
    /// UTF-8.
    pub const UTF_8: Self = Self(UTF_8);

    /// The charset of a label, in any case, with blanks around it or without.
    pub fn parse(label: &str) -> Result<Self, UnknownCharset> {
        if matches!(label.trim_ascii().to_ascii_lowercase().as_str(), "us-ascii" | "ascii") {
            return Ok(Self::UTF_8);
        }
        let encoding = Encoding::for_label_no_replacement(label.as_bytes()).ok_or(UnknownCharset)?;
        let is_of_forms = encoding != UTF_16LE && encoding != UTF_16BE && encoding != X_USER_DEFINED;
        is_of_forms.then_some(Self(encoding)).ok_or(UnknownCharset)
    }

    /// The text of `bytes`, all of it or none.
    pub fn decode(self, bytes: &[u8]) -> Result<String, Undecodable> {
        if self.0 == UTF_8 {
            return std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Undecodable);
        }
        let text = self.0.decode_without_bom_handling_and_without_replacement(bytes);
        text.map(std::borrow::Cow::into_owned).ok_or(Undecodable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_mean_what_browsers_mean_by_them() {
        let cases = [
            ("utf-8", "UTF-8"),
            ("UTF8", "UTF-8"),
            (" Windows-1251\t", "windows-1251"),
            ("cp1251", "windows-1251"),
            ("iso-8859-1", "windows-1252"),
            ("US-ASCII", "UTF-8"),
            ("koi8-r", "KOI8-R"),
            ("shift_jis", "Shift_JIS"),
            ("gb2312", "GBK"),
        ];
        for (label, name) in cases {
            assert_eq!(Charset::parse(label).map(|charset| charset.0.name()), Ok(name), "{label}");
        }
    }

    #[test]
    fn what_no_form_is_sent_in_is_no_charset() {
        for label in [
            "utf-16",
            "utf-16le",
            "UTF-16BE",
            "ucs-2",
            "iso-2022-kr",
            "replacement",
            "x-user-defined",
            "",
            "utf-7",
            "ebcdic",
        ] {
            assert_eq!(Charset::parse(label), Err(UnknownCharset), "{label}");
        }
    }

    #[test]
    fn each_charset_decodes_its_bytes_and_refuses_others() {
        let cases: [(&str, &[u8], Result<&str, Undecodable>); 13] = [
            ("utf-8", "Тест 🎉".as_bytes(), Ok("Тест 🎉")),
            ("utf-8", b"a\xff\xc0\xafb", Err(Undecodable)),
            ("utf-8", b"x\xed\xa0\xbd\xed\xb8\x80y", Err(Undecodable)),
            ("utf-8", b"\xff\xfea\0b\0", Err(Undecodable)),
            ("utf-8", b"\xef\xbb\xbfa", Ok("\u{feff}a")),
            ("windows-1251", b"\xd2\xe5\xf1\xf2", Ok("Тест")),
            ("windows-1251", b"\xef\xbb\xbfa", Ok("п»їa")),
            ("windows-1252", b"\x80 \xe9", Ok("€ é")),
            ("koi8-r", b"\xf4\xc5\xd3\xd4", Ok("Тест")),
            ("shift_jis", b"\x83e\x83X\x83g", Ok("テスト")),
            ("shift_jis", b"\x83", Err(Undecodable)),
            ("euc-jp", b"\xff", Err(Undecodable)),
            ("windows-1253", b"\xd2", Err(Undecodable)),
        ];
        for (label, bytes, expected) in cases {
            let decoded = Charset::parse(label).unwrap().decode(bytes);
            assert_eq!(decoded.as_deref(), expected.as_ref().map(|text| *text), "{label}: {bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_label_and_no_bytes_make_it_panic(
            label in "\\PC{0,12}", bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let charset = Charset::parse(&label).unwrap_or_default();
            prop_assert_eq!(charset.decode(&bytes), charset.decode(&bytes));
        }

        #[test]
        fn nothing_is_ever_replaced(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for label in ["windows-1251", "shift_jis", "iso-2022-jp", "big5", "euc-kr", "euc-jp"] {
                let decoded = Charset::parse(label).unwrap().decode(&bytes);
                let is_replaced = decoded.is_ok_and(|text| text.contains(char::REPLACEMENT_CHARACTER));
                prop_assert!(!is_replaced, "{}", label);
            }
        }
    }
}
