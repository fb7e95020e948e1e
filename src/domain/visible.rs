//! The one escaper for terminals and logs.

/// `text` with control, bidi and zero-width characters and line breaks made visible (`\n`, `\u{202e}`).
pub fn escape_line(text: &str) -> String {
    todo!()
}

/// The same, but a newline stays one: for a value shown over several lines.
pub fn escape_text(text: &str) -> String {
    todo!()
}
