//! Slack's incoming webhooks. `text` with `mrkdwn` off is plain but for `&`, `<` and `>`, which begin links and calls.
//!
//! Slack takes 40,000 characters and advises 4,000: it breaks a longer text into several messages, in the middle of an
//! escape if need be. So 4,000 is the limit here.

use serde_json::json;

use super::Message;
use super::text::{Dialect, Text, utf16};

/// How Slack writes and counts.
const DIALECT: Dialect = Dialect { limit: 4000, cost: utf16, write };

/// The message: no markup, no names looked for behind `@` and `#`, no pages or pictures shown behind links.
pub fn message(url: &str, text: &Text) -> Option<Message> {
    let shown = DIALECT.fit(&text.titled(), text);
    let body = json!({
        "text": shown, "mrkdwn": false, "link_names": false, "unfurl_links": false, "unfurl_media": false,
    });
    Message::post(url, &body)
}

/// Writes the three characters that mean something as entities.
fn write(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        c => out.push(c),
    }
}
