//! A submission as the JSON of somebody else's API: of a chat service, or the operator's own. Pure.
//!
//! Guarantees. A chat shows the title, one line for each field (as the standard mail has it, so no value can forge
//! another line), consent, files by name and size, and last the receipt, the page and the time of arrival. Every
//! message fits its service's documented limits, in the unit that the service counts; what is too long is cut between
//! two characters, later fields first, and a line says where the rest is. No value becomes markup, a link with
//! another text, an image or a call to people: where a service has a plain mode it is taken, else its markup is
//! escaped, and in front of a name an `@` is parted from it everywhere. The bytes are a function of what was stored, so
//! every attempt sends the same.
//!
//! What fails how: a target that cannot be written (which `formctl check` would have refused) is `None`.
//!
//! Deliberately not done: files do not travel to chats, texts are English like the standard mail's, and a bare URL in
//! a value stays one, which most services turn into a link to just that.

mod discord;
mod matrix;
mod mattermost;
mod ntfy;
mod own;
mod slack;
mod telegram;
mod text;

use serde::Serialize;

use crate::domain::target::{Format, WebhookTarget};
use crate::outbound::Method;
use crate::store::Claim;
use text::Text;

/// What is sent where. The URL and the token are secrets.
#[derive(PartialEq, Eq)]
pub struct Message {
    /// How.
    pub method: Method,
    /// Where to.
    pub url: String,
    /// What goes into `Authorization: Bearer`.
    pub token: Option<String>,
    /// The exact bytes of the JSON.
    pub body: Vec<u8>,
}

impl Message {
    /// A POST of `body` to `url`.
    pub fn post(url: impl Into<String>, body: &impl Serialize) -> Option<Self> {
        Some(Self { method: Method::Post, url: url.into(), token: None, body: serde_json::to_vec(body).ok()? })
    }
}

/// The message that a target's format makes of a claim; `None` for formd's own format, which is not made here.
pub fn message(target: &WebhookTarget, claim: &Claim) -> Option<Message> {
    let text = || Text::of(target.title.as_deref(), claim);
    match &target.format {
        Format::Formd(_) => None,
        Format::Own { body, .. } => own::message(&target.url, body, claim),
        Format::Slack => slack::message(&target.url, &text()),
        Format::Discord => discord::message(&target.url, &text()),
        Format::Telegram { chat } => telegram::message(&target.url, chat, &text()),
        Format::Mattermost => mattermost::message(&target.url, &text()),
        Format::Matrix => matrix::message(&target.url, &claim.id.to_string(), &text()),
        Format::Ntfy => ntfy::message(&target.url, &text()),
    }
}

#[cfg(test)]
mod tests;
