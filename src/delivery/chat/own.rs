//! The operator's own JSON (`body`): a template whose places are filled inside its strings.

use super::super::mail_text::filled;
use super::Message;
use crate::domain::json_body::JsonBody;
use crate::outbound::Method;
use crate::store::Claim;

/// The message; `None` when the template is none, which a check of the configuration refuses.
pub fn message(url: &str, body: &str, claim: &Claim) -> Option<Message> {
    let body = JsonBody::parse(body).ok()?.render(|name| filled(name, claim));
    Some(Message { method: Method::Post, url: url.to_owned(), token: None, body: body.into_bytes() })
}
