//! `sendMessage` of Telegram's Bot API. Without `parse_mode` the text is plain; Telegram itself finds URLs and names in
//! it, and the names are parted (see [`super::text`]). It counts UTF-16 units, 4,096 at most.

use serde_json::json;

use super::Message;
use super::text::{Dialect, Text, plain, utf16};

/// How Telegram writes and counts.
const DIALECT: Dialect = Dialect { limit: 4096, cost: utf16, write: plain };

/// The message: to a chat's number or the name of a public one, without a preview of what is behind links.
pub fn message(url: &str, chat: &str, text: &Text) -> Option<Message> {
    let chat = chat.parse().map_or_else(|_| json!(chat), |number: i64| json!(number));
    let text = DIALECT.fit(&text.titled(), text);
    Message::post(url, &json!({"chat_id": chat, "text": text, "link_preview_options": {"is_disabled": true}}))
}
