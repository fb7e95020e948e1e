//! Publishing to ntfy as JSON: to the root of the server, the topic being the last part of the URL's path. Without
//! `markdown` the message is plain, and there is nobody to call.
//!
//! ntfy makes a file of a message beyond 4,096 bytes and refuses a JSON body beyond 8,192. The bytes are counted as they
//! stand in JSON, which keeps both.

use serde_json::json;

use super::Message;
use super::text::{Dialect, Text, in_json, plain};
use crate::domain::chat_url::NtfyTopic;

/// How ntfy writes and counts.
const DIALECT: Dialect = Dialect { limit: 4096, cost: in_json, write: plain };

/// The message; `None` when the URL names no topic.
pub fn message(url: &str, text: &Text) -> Option<Message> {
    let NtfyTopic { server, topic } = NtfyTopic::of(url)?;
    let message = DIALECT.fit(&text.facts, text);
    Message::post(server, &json!({"topic": topic, "title": text.title, "message": message}))
}
