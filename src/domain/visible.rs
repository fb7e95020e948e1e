//! The one escaper for terminals and logs.
//!
//! Whatever a visitor wrote may hold escape sequences that move a cursor, set a window's title or turn a line
//! around. Here every character that does something instead of showing something becomes visible. What shows,
//! stays: a backslash is not doubled, so the text is for reading, not for reading back.

/// `text` with control, bidi and zero-width characters and line breaks made visible (`\n`, `\u{202e}`).
pub fn escape_line(text: &str) -> String {
    escape(text, |_| false)
}

/// The same, but a newline stays one: for a value shown over several lines.
pub fn escape_text(text: &str) -> String {
    escape(text, |c| c == '\n')
}

/// The same JSON value with every character that a terminal would obey or hide written as `\uXXXX`. Such characters
/// stand only inside strings, where the two spellings mean the same.
pub fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// Escapes every hidden character but those that may stay.
fn escape(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if stays(c) || !is_hidden(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.extend(other.escape_unicode()),
        }
    }
    out
}

/// Characters that act on the text around them and show nothing: C0 and C1 controls, bidi controls, zero-width
/// characters, separators of lines, annotations and tags.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_acts_is_shown_and_what_shows_is_left() {
        assert_eq!(escape_line("a\u{1b}[31mb\r\nc\td\u{7f}\u{9b}"), r"a\u{1b}[31mb\r\nc\td\u{7f}\u{9b}");
        assert_eq!(escape_line("x\u{202e}fdp.exe\u{200b}\u{feff}"), r"x\u{202e}fdp.exe\u{200b}\u{feff}");
        assert_eq!(escape_line(r"C:\dir — «ёж» 日本 👍"), r"C:\dir — «ёж» 日本 👍");
    }

    #[test]
    fn a_value_keeps_its_lines() {
        assert_eq!(escape_text("a\nb\rc\u{1b}"), "a\nb\\rc\\u{1b}");
    }

    #[test]
    fn json_keeps_its_value_and_shows_what_acts() {
        let value = serde_json::json!({"a": "\u{9b}2J \u{7f} \u{202e} \u{e0041} ж \\ \n"});
        let text = escape_json(&value.to_string());
        assert_eq!(text, "{\"a\":\"\\u009b2J \\u007f \\u202e \\udb40\\udc41 ж \\\\ \\n\"}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    proptest! {
        #[test]
        fn an_escaped_line_is_one_line_and_stays_as_it_is(text in "(\\PC|\\p{C}){0,40}") {
            let once = escape_line(&text);
            prop_assert!(!once.chars().any(is_hidden));
            prop_assert_eq!(escape_line(&once), once);
        }
    }
}
