//! Bytes to text by declared charset, strictly: what does not decode is never replaced.

/// A charset by its label.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8, and US-ASCII within it.
    #[default]
    Utf8,
    /// UTF-16 or UTF-32, which no form may use.
    Wide,
    /// Any other: so far only its ASCII half is read. What stands beyond is refused, since bytes of another charset
    /// can happen to be UTF-8 and would be stored as nonsense.
    Other,
}

impl Charset {
    /// Reads a label, whatever its case and blanks.
    pub fn parse(label: &str) -> Self {
        match label.trim().to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" | "us-ascii" | "ascii" | "" => Self::Utf8,
            wide if wide.starts_with("utf-16") || wide.starts_with("utf-32") || wide.starts_with("ucs-") => Self::Wide,
            _ => Self::Other,
        }
    }

    /// The text of `bytes`; `None` when they are no text of this charset.
    pub fn decode(self, bytes: &[u8]) -> Option<&str> {
        std::str::from_utf8(bytes).ok().filter(|text| self.carries(text))
    }

    /// Whether a text that was read as UTF-8 is the same in this charset.
    pub fn carries(self, text: &str) -> bool {
        match self {
            Self::Utf8 => true,
            Self::Wide => text.is_empty(),
            Self::Other => text.is_ascii(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_surely_decodes_is_read() {
        assert_eq!(Charset::parse(" UTF-8 ").decode("ёж".as_bytes()), Some("ёж"));
        assert_eq!(Charset::Utf8.decode(b"\xff"), None);
        assert_eq!(Charset::Utf8.decode(b"\xed\xa0\x80"), None);
        assert_eq!(Charset::parse("windows-1251").decode(b"abc"), Some("abc"));
        // In windows-1251 these bytes are two letters; as UTF-8 they would be one other.
        assert_eq!(Charset::parse("windows-1251").decode("ё".as_bytes()), None);
        assert_eq!(Charset::parse("utf-16le").decode(b"a\0"), None);
    }
}
