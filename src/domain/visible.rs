//! The one escaper for terminals and logs.
//!
//! What a visitor wrote reaches an administrator's terminal only through here: a control sequence must not
//! move the cursor, a bidirectional override must not make one text look like another.

/// `text` with control, bidi and zero-width characters and line breaks made visible (`\n`, `\u{202e}`).
pub fn escape_line(text: &str) -> String {
    escape(text, |_| false)
}

/// The same, but a newline stays one: for a value shown over several lines.
pub fn escape_text(text: &str) -> String {
    escape(text, |c| c == '\n')
}

/// Escapes all but what `keep` lets through.
fn escape(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) && !keep(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Controls (C0, DEL, C1), bidirectional marks and overrides, zero-width characters, line separators.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
