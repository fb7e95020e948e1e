//! A room of Matrix, by one of two ways that the URL tells apart.
//!
//! *The client-server API*: PUT, with the delivery's id as the transaction, so that a homeserver that has the message
//! already shows it once. The token goes from the URL into a header. `body` alone is plain text, and an empty
//! `m.mentions` calls nobody.
//!
//! *Any other URL* is taken for an inbound webhook of matrix-hookshot. It reads `text` as Markdown unless there is `html`,
//! so there always is. Each further line of a value keeps its indent there as blanks that do not collapse.
//!
//! An event has 65,536 bytes at most, signatures and names of the server included. Hookshot puts what it was sent into
//! the event once more, so that less than half is left.

use serde_json::json;

use super::Message;
use super::text::{Dialect, Text, in_json, plain};
use crate::domain::chat_url::MatrixUrl;
use crate::outbound::Method;

/// How a room writes and counts.
const ROOM: Dialect = Dialect { limit: 60_000, cost: in_json, write: plain };
/// How Hookshot writes and counts: each character stands in the text and in the HTML.
const HOOK: Dialect = Dialect { limit: 28_000, cost: in_both, write: plain };
/// A further line of a value, and what it is in HTML.
const INDENT: [&str; 2] = ["\n  ", "<br>&nbsp;&nbsp;"];

/// The message; `transaction` is the delivery's id. `None` when the URL of a room has no token.
pub fn message(url: &str, transaction: &str, text: &Text) -> Option<Message> {
    match MatrixUrl::of(url) {
        MatrixUrl::Hook => {
            let text = HOOK.fit(&text.titled(), text);
            Message::post(url, &json!({"html": html(&text), "text": text}))
        }
        MatrixUrl::RoomWithoutToken => None,
        MatrixUrl::Room { room, query, token } => {
            // Of `m.text` clients notify; `m.notice` is silent.
            let event = json!({"msgtype": "m.text", "body": ROOM.fit(&text.titled(), text), "m.mentions": {}});
            let message = Message::post(format!("{room}/{transaction}{query}"), &event)?;
            Some(Message { method: Method::Put, token: Some(token), ..message })
        }
    }
}

/// A text as HTML.
fn html(text: &str) -> String {
    let [indent, kept] = INDENT;
    text.chars().map(entity).collect::<String>().replace(indent, kept).replace('\n', "<br>")
}

/// A character as HTML.
fn entity(c: char) -> String {
    match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#39;".to_owned(),
        c => c.to_string(),
    }
}

/// Bytes of a text and of its HTML, both inside JSON; a line break as if it began a further line of a value.
fn in_both(text: &str) -> usize {
    let [_, indent] = INDENT;
    let of_html = |c: char| if c == '\n' { indent.len() } else { in_json(&entity(c)) };
    in_json(text) + text.chars().map(of_html).sum::<usize>()
}
