//! A webhook: where it is posted, in which shape, signed by what (contract 2.9).
//!
//! An address is a secret where it stands in a file of its own (`url_file`) and where it leads to a chat: whoever has
//! it can write there. Such an address is in no message, no list and no log, and a site's file that holds one must not
//! be readable by others.

use super::super::files::TextFile;
use super::super::problem::{printable, quoted, suggestion};
use super::super::table::Table;
use super::super::value::Value;
use super::destination::{Names, name_fields};
use super::secret::{Need, Secrets};
use super::url::{self, Fault, Reach, WebhookUrl};
use crate::domain::chat_url::{self, MatrixUrl, NtfyTopic};
use crate::domain::json_body::{JsonBody, JsonBodyError};
use crate::domain::target::{Disclosure, Format, WebhookTarget};

/// The keys that sign.
const SIGNING_KEYS: &[&str] = &["secret", "secret_file", "previous_secret", "previous_secret_file"];
/// The words of `format`.
const FORMATS: &[&str] = &["formd", "slack", "discord", "telegram", "mattermost", "matrix", "ntfy"];

/// The value that gives the address.
pub(super) enum Address<'d> {
    /// `webhook`: it is the address.
    Inline(Value<'d>),
    /// `url_file`: the address is the only line of the file that it names.
    File(Value<'d>),
}

/// What a destination says about its shape.
enum Shape {
    /// formd's own object.
    Formd,
    /// The operator's JSON.
    Own(String),
    /// A chat's.
    Chat(Format),
}

/// Reads the keys of a webhook in `file`; `None` when one is wrong. The fields that its `body` names are added to
/// `names`.
pub(super) fn check<'d>(
    table: &mut Table<'d>,
    address: &Address<'d>,
    secrets: &Secrets<'_>,
    file: &TextFile,
    names: &mut Names<'d>,
) -> Option<WebhookTarget> {
    let allowed = table.take("allow_private").and_then(|value| value.flag()).unwrap_or_default();
    let shape = shape(table, names);
    let chat = matches!(shape, Some(Shape::Chat(_)));
    let url = match address {
        Address::Inline(value) => {
            if chat {
                file.keeps_secret(value);
            }
            value.text().and_then(|text| known(value, url::webhook(text)))
        }
        Address::File(value) => read(value, secrets),
    };
    let format = match shape {
        Some(Shape::Formd) => secrets.signing(table, file, Need::Obligatory).map(Format::Formd),
        Some(Shape::Own(body)) => Some(Format::Own { body, signing: secrets.signing(table, file, Need::Optional) }),
        Some(Shape::Chat(format)) => {
            refuse_signing(table, &format);
            let fits = url.as_ref().is_none_or(|url| known(address.value(), fits(&format, &url.url)).is_some());
            fits.then_some(format)
        }
        None => {
            forgo(table);
            None
        }
    };
    let (url, format) = (url?, format?);
    let secret = chat || matches!(address, Address::File(_));
    let disclosure = if secret { Disclosure::Host } else { Disclosure::Path };
    let allow_private = allowed || url.reach == Reach::Loopback;
    Some(WebhookTarget { url: url.url, disclosure, allow_private, format, title: None })
}

impl<'d> Address<'d> {
    /// The value that gives it.
    fn value(&self) -> &Value<'d> {
        match self {
            Self::Inline(value) | Self::File(value) => value,
        }
    }
}

/// The address in the file that a value names.
fn read(value: &Value<'_>, secrets: &Secrets<'_>) -> Option<WebhookUrl> {
    if value.text()?.contains("://") {
        value.wrong("`url_file` names a file, not the address", "write the address into a file and name that");
        return None;
    }
    known(value, url::webhook(&secrets.read(value)?))
}

/// What a value was found to be; a fault is noted.
fn known<T>(value: &Value<'_>, found: Result<T, Fault>) -> Option<T> {
    found.map_err(|(message, remedy)| value.wrong(message, remedy)).ok()
}

/// Whether an address is one of the service.
fn fits(format: &Format, url: &str) -> Result<(), Fault> {
    match format {
        Format::Telegram { .. } if !chat_url::is_telegram(url) => Err((
            "the address is not that of Telegram's `sendMessage`",
            "write `https://api.telegram.org/botTOKEN/sendMessage` with the bot's token",
        )),
        Format::Ntfy if NtfyTopic::of(url).is_none() => Err((
            "the address names no topic of ntfy",
            "write `https://SERVER/TOPIC`; a topic has 1 to 64 letters, digits, `-`, `_`",
        )),
        Format::Matrix if MatrixUrl::of(url) == MatrixUrl::RoomWithoutToken => Err((
            "the address of the room has no token",
            "write `?access_token=TOKEN` behind it; the token is sent in a header",
        )),
        _ => Ok(()),
    }
}

/// `format`, `body` and `chat`; `None` when they do not fit each other.
fn shape<'d>(table: &mut Table<'d>, names: &mut Names<'d>) -> Option<Shape> {
    let (format, body, chat) = (table.take("format"), table.take("body"), table.take("chat"));
    let word = format.as_ref().map_or(Some("formd"), word);
    if let Some(chat) = chat.as_ref().filter(|_| word.is_some_and(|word| word != "telegram")) {
        chat.misplaced("`chat` is for Telegram alone", "remove it, or write `format = \"telegram\"`");
    }
    let format = match (word?, body) {
        ("formd", None) => return Some(Shape::Formd),
        ("formd", Some(body)) => return self::body(&body, names).map(Shape::Own),
        (word, Some(body)) => {
            body.misplaced(format!("`body` stands beside the format {}", quoted(word)), "keep one of the two");
            return None;
        }
        ("slack", None) => Format::Slack,
        ("discord", None) => Format::Discord,
        ("mattermost", None) => Format::Mattermost,
        ("matrix", None) => Format::Matrix,
        ("ntfy", None) => Format::Ntfy,
        (_, None) => Format::Telegram { chat: self::chat(table, chat)? },
    };
    Some(Shape::Chat(format))
}

/// The word of `format`.
fn word(value: &Value<'_>) -> Option<&'static str> {
    let written = value.text()?;
    let found = FORMATS.iter().find(|word| **word == written);
    if found.is_none() {
        let remedy = suggestion(written, FORMATS.iter().copied(), "the formats are");
        value.wrong("`format` names no format", remedy);
    }
    found.copied()
}

/// The chat of Telegram.
fn chat(table: &Table<'_>, chat: Option<Value<'_>>) -> Option<String> {
    let shape = "write the chat's number or the `@name` of a public one, such as `chat = \"-1001234567890\"`";
    let Some(chat) = chat else {
        table.missing("chat", shape);
        return None;
    };
    chat.parsed(shape, |text| chat_url::is_telegram_chat(text).then(|| text.to_owned()))
}

/// The operator's JSON as written.
fn body<'d>(value: &Value<'d>, names: &mut Names<'d>) -> Option<String> {
    let text = value.text()?;
    let (message, remedy) = match JsonBody::parse(text) {
        Ok(body) => {
            name_fields(value, body.names(), names);
            return Some(text.to_owned());
        }
        Err(JsonBodyError::Template(fault)) => {
            (format!("`body` is no template: {fault}"), "write `{{FIELD}}` with the name of a field")
        }
        Err(JsonBodyError::OutsideText) => (
            "`body` has a `{{...}}` outside of a JSON text".to_owned(),
            "put quotes around it: every value is a text there, such as `\"{{FIELD}}\"`",
        ),
        Err(JsonBodyError::InName) => (
            "`body` has a `{{...}}` in the name of a member".to_owned(),
            "write the name yourself: a visitor could name it like another member",
        ),
        Err(JsonBodyError::NotJson(why)) => {
            (format!("`body` is not valid JSON: {why}"), "write JSON whose texts have the places, `'''` around it")
        }
    };
    value.wrong(printable(&message), remedy);
    None
}

/// Notes each key that signs: nobody checks it.
fn refuse_signing(table: &mut Table<'_>, format: &Format) {
    for key in SIGNING_KEYS {
        if let Some(value) = table.take(key) {
            let message = format!("`{key}` is senseless with the format `{}`", format.word());
            value.misplaced(message, "remove it: a chat does not check signatures");
        }
    }
}

/// Takes the keys that sign, where it is not known whether there may be any.
fn forgo(table: &mut Table<'_>) {
    for key in SIGNING_KEYS {
        table.take(key);
    }
}
