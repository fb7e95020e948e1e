//! What a peer said, made fit to be kept: a note outlives the values, so it may hold neither the visitor's nor
//! the operator's addresses, and it must be one readable line.

/// Longest note, in characters.
const LONGEST: usize = 200;

/// `text` as one line of at most 200 characters, every word that may be an address replaced by `(address)`.
pub fn scrub(text: &str) -> String {
    let mut note = String::new();
    let words =
        text.split(|c: char| c.is_whitespace() || c.is_control() || is_invisible(c)).filter(|word| !word.is_empty());
    for word in words {
        let word = if word.contains(['@', '<', '>']) { "(address)" } else { word };
        if word == "(address)" && note.ends_with(word) {
            continue;
        }
        if !note.is_empty() {
            note.push(' ');
        }
        note.push_str(word);
    }
    if note.chars().count() > LONGEST {
        note = note.chars().take(LONGEST - 1).chain(['…']).collect();
    }
    note
}

/// Characters that reorder or hide text: bidi controls, zero-width ones, the soft hyphen.
pub fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_note_names_no_address() {
        for (said, kept) in [
            (
                "550 5.1.1 <anna@a.example>: Recipient address rejected",
                "550 5.1.1 (address) Recipient address rejected",
            ),
            ("451 try   again\r\n later", "451 try again later"),
            ("no <\"anna b\"@a.example> here", "no (address) here"),
            ("HTTP 500", "HTTP 500"),
            ("a\u{1b}[31mb \u{202e}c", "a [31mb c"),
            ("", ""),
        ] {
            assert_eq!(scrub(said), kept, "{said:?}");
        }
        assert_eq!(scrub(&"ж".repeat(300)).chars().count(), 200);
    }

    proptest! {
        #[test]
        fn a_note_is_one_short_line_without_an_at_sign(said in "\\PC{0,300}|[ -~\\n\\r\\t]{0,300}") {
            let note = scrub(&said);
            prop_assert!(note.chars().count() <= LONGEST);
            prop_assert!(!note.contains(['@', '<', '>']) && !note.chars().any(char::is_control));
        }
    }
}
