//! Discord's webhooks: one embed, where there is room for 256 and 4,096 characters, and where nobody is called.
//!
//! Discord has no plain mode: every sign of its markup gets a backslash, which it does not show. That holds for `:` as
//! well, else the backslashes within a URL would belong to the link.

use serde_json::json;

use super::Message;
use super::text::{Dialect, Text, utf16};

/// How Discord writes and counts a description.
const DIALECT: Dialect = Dialect { limit: 4096, cost: utf16, write };
/// The longest title.
const TITLE: usize = 256;
/// Signs of markup.
const MARKUP: &[char] = &['\\', '`', '*', '_', '~', '|', '<', '>', '[', ']', '(', ')', '#', '-', '+', ':', '.'];

/// The message: one embed, and nobody may be called. Discord is asked to answer when it has the message, not before.
pub fn message(url: &str, text: &Text) -> Option<Message> {
    let embed = json!({"title": DIALECT.clip(&text.title, TITLE), "description": DIALECT.fit(&text.facts, text)});
    Message::post(confirmed(url), &json!({"embeds": [embed], "allowed_mentions": {"parse": []}}))
}

/// The URL with `wait=true`, unless it says `wait` itself: without it Discord answers 204 for what it then drops.
fn confirmed(url: &str) -> String {
    match url.split_once('?') {
        None => format!("{url}?wait=true"),
        Some((_, query)) if query.split('&').any(|pair| pair.starts_with("wait=")) => url.to_owned(),
        Some((_, query)) => format!("{url}{}wait=true", if query.is_empty() { "" } else { "&" }),
    }
}

/// Writes a sign of markup with a backslash.
fn write(c: char, out: &mut String) {
    if MARKUP.contains(&c) {
        out.push('\\');
    }
    out.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_waited_for_unless_the_url_says_otherwise() {
        for (url, called) in [
            ("https://d.example/1/x", "https://d.example/1/x?wait=true"),
            ("https://d.example/1/x?", "https://d.example/1/x?wait=true"),
            ("https://d.example/1/x?thread_id=7", "https://d.example/1/x?thread_id=7&wait=true"),
            ("https://d.example/1/x?wait=false", "https://d.example/1/x?wait=false"),
        ] {
            assert_eq!(confirmed(url), called);
        }
    }
}
