//! A visitor's file name as it is shown: metadata only, never part of a path.

use unicode_normalization::UnicodeNormalization as _;

use super::visible::is_hidden;

/// The longest display name, in bytes: what file systems and mail programs take.
pub const LONGEST: usize = 255;

/// The longest extension that is kept when a name is cut, in bytes with its dot.
const LONGEST_EXTENSION: usize = 32;

/// Last component, no control or bidi characters, NFC, at most 255 bytes with the extension kept. Empty when
/// nothing was left: blanks alone, `.` and `..` are nothing.
pub fn clean(sent: &str) -> String {
    let last = sent.rsplit(['/', '\\']).map(shown).find(|component| !component.is_empty());
    last.map(cut).unwrap_or_default()
}

/// One component without what must not be shown; empty when nothing was left of it.
fn shown(component: &str) -> String {
    let kept: String = component.chars().filter(|&c| !is_removed(c)).nfc().collect();
    match kept.trim() {
        "" | "." | ".." => String::new(),
        _ => kept,
    }
}

/// Characters that could turn a line or a name around: controls, bidi controls, line and paragraph separators.
fn is_removed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// `front` and a cleaned name as one component that every file system takes, with the extension kept: what Windows or
/// a shell would not take as it is becomes `_`.
pub fn portable(front: &str, name: &str) -> String {
    let kept: String = name
        .chars()
        .map(
            |c| if is_hidden(c) || matches!(c, '/' | '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*') { '_' } else { c },
        )
        .collect();
    cut(format!("{front}{}", kept.trim_end_matches(['.', ' '])))
}

/// Cuts a name to 255 bytes on a character, the extension kept.
fn cut(name: String) -> String {
    if name.len() <= LONGEST {
        return name;
    }
    let extension = match name.rfind('.').and_then(|dot| name.get(dot..)) {
        Some(extension) if extension.len() <= LONGEST_EXTENSION => extension,
        _ => "",
    };
    let stem = name.get(..name.floor_char_boundary(LONGEST - extension.len())).unwrap_or_default();
    format!("{stem}{extension}")
}

/// The extension of a cleaned name in lower case, without the dot; empty when there is none. Dots and blanks at the end
/// do not hide it: Windows drops them when it saves `setup.exe. `.
pub fn extension(name: &str) -> String {
    match name.trim_end_matches(|c: char| c == '.' || c.is_whitespace()).rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension.trim_end().to_lowercase(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_the_last_component_is_shown() {
        for (sent, kept) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            (r"C:\fakepath\x.pdf", "x.pdf"),
            (r"\\server\share\x.pdf", "x.pdf"),
            (r"dir\", "dir"),
            ("..", ""),
            ("a/..", "a"),
            ("   ", ""),
            ("", ""),
            ("a\u{202e}fdp.exe", "afdp.exe"),
            ("a\"b\"c\r\n;d.pdf", "a\"b\"c;d.pdf"),
            ("и\u{306}.pdf", "й.pdf"),
            ("CON.pdf", "CON.pdf"),
            (" a .pdf. ", " a .pdf. "),
        ] {
            assert_eq!(clean(sent), kept, "{sent:?}");
        }
    }

    #[test]
    fn a_long_name_is_cut_on_a_character_and_keeps_its_extension() {
        let name = clean(&format!("{}.pdf", "я".repeat(300)));
        assert_eq!(name, format!("{}.pdf", "я".repeat(125)));
        assert_eq!(clean(&"я".repeat(300)).len(), 254);
        assert_eq!(clean(&format!("a.{}", "b".repeat(300))).len(), 255);
    }

    #[test]
    fn the_extension_is_what_follows_the_last_dot() {
        for (name, extension_of) in [
            ("a.PDF", "pdf"),
            ("a.tar.gz", "gz"),
            ("a", ""),
            (".pdf", ""),
            ("a.", ""),
            ("a.pdf ", "pdf"),
            ("a.exe. .", "exe"),
        ] {
            assert_eq!(extension(name), extension_of, "{name}");
        }
    }

    #[test]
    fn a_portable_name_is_one_that_windows_takes_too() {
        for (name, portable_name) in [
            ("план.pdf", "7-план.pdf"),
            ("CON", "7-CON"),
            ("a<b>:\"|?*.txt", "7-a_b______.txt"),
            ("../../etc/passwd", "7-.._.._etc_passwd"),
            ("end. . ", "7-end"),
            ("a\u{200b}b\n", "7-a_b_"),
            ("", "7-"),
        ] {
            assert_eq!(portable("7-", name), portable_name, "{name:?}");
        }
        let long = portable("255-", &format!("{}.pdf", "я".repeat(125)));
        assert!(long.len() <= LONGEST && long.ends_with("я.pdf"), "{long}");
    }

    proptest! {
        #[test]
        fn a_clean_name_is_short_harmless_and_clean_already(sent in "(\\PC|\\p{C}|[./\\\\ ]){0,300}") {
            let name = clean(&sent);
            prop_assert!(name.len() <= LONGEST);
            prop_assert!(!name.contains(['/', '\\']));
            prop_assert!(!name.chars().any(is_removed));
            prop_assert_ne!(name.trim(), "..");
            prop_assert_eq!(clean(&name), name);
        }
    }
}
