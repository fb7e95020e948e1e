//! Mattermost's incoming webhooks. A block of code is its plain mode: no markup, no links, no emoji, nobody called, and
//! lines that wrap. No value ends the block, since no two backticks of a value stand beside each other.
//!
//! It counts characters, 16,383 at most, and breaks what is longer into several messages.

use serde_json::json;

use super::Message;
use super::text::{Dialect, Text};

/// What begins and ends the block.
const FENCE: &str = "```";
/// Parts backticks.
const JOINER: char = '\u{2060}';
/// How Mattermost writes and counts; two fences and two line breaks stand around it.
const DIALECT: Dialect = Dialect { limit: 16_383 - 2 * (FENCE.len() + 1), cost: characters, write };

/// The message.
pub fn message(url: &str, text: &Text) -> Option<Message> {
    Message::post(url, &json!({"text": format!("{FENCE}\n{}\n{FENCE}", DIALECT.fit(&text.titled(), text))}))
}

/// Characters.
fn characters(text: &str) -> usize {
    text.chars().count()
}

/// Writes a backtick so that none follows it at once.
fn write(c: char, out: &mut String) {
    out.push(c);
    if c == '`' {
        out.push(JOINER);
    }
}
