//! What a peer said, made fit to be kept: one readable line that does nothing to a terminal.
//!
//! A mail server quotes addresses, and needs none of them to be understood: [`scrub`] takes them out. A webhook's
//! receiver says in its own words what was wrong with the submission: [`answered`] keeps their beginning as it is,
//! with all that acts made visible. Both are erased with the values and stand in no log.

use crate::domain::visible::escape_line;

/// Longest part of what was said, in characters.
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

/// The status of an answer and the first 200 characters of its body; what is hidden in them is shown as an escape.
pub fn answered(status: u16, body: &str) -> String {
    let text: String = body.chars().take(LONGEST).collect();
    let said = escape_line(text.trim_end());
    if said.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {said}") }
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

    #[test]
    fn an_answer_is_its_status_and_what_it_begins_with() {
        for (body, kept) in [
            (&b"database is down\n"[..], "HTTP 503: database is down"),
            (b"", "HTTP 503"),
            (b" \r\n", "HTTP 503"),
            (b"{\"error\": \"anna@a.example\"}", "HTTP 503: {\"error\": \"anna@a.example\"}"),
            (b"a\r\nb\x1b[2Jc\0\x7f", r"HTTP 503: a\r\nb\u{1b}[2Jc\u{0}\u{7f}"),
            ("\u{202e}fdp\u{200b}\u{2028}\u{feff}".as_bytes(), r"HTTP 503: \u{202e}fdp\u{200b}\u{2028}\u{feff}"),
            (b"\xff\x1f\x8bok", "HTTP 503: \u{fffd}\\u{1f}\u{fffd}ok"),
        ] {
            assert_eq!(answered(503, &String::from_utf8_lossy(body)), kept);
        }
        let said = |text: &str, kept: usize| {
            answered(200, &String::from_utf8_lossy(&text.as_bytes()[..kept])).chars().count() - "HTTP 200: ".len()
        };
        assert_eq!(
            (said(&"x".repeat(800), 800), said(&"😀".repeat(300), 800), said(&"ж".repeat(500), 799)),
            (200, 200, 200)
        );
    }

    proptest! {
        #[test]
        fn an_answer_of_any_bytes_is_one_line(body in proptest::collection::vec(any::<u8>(), 0..800)) {
            let note = answered(500, &String::from_utf8_lossy(&body));
            prop_assert!(note.chars().count() <= LONGEST * 10 + 10);
            prop_assert_eq!(escape_line(&note), note);
        }

        #[test]
        fn a_note_is_one_short_line_without_an_at_sign(said in "\\PC{0,300}|[ -~\\n\\r\\t]{0,300}") {
            let note = scrub(&said);
            prop_assert!(note.chars().count() <= LONGEST);
            prop_assert!(!note.contains(['@', '<', '>']) && !note.chars().any(char::is_control));
        }
    }
}
