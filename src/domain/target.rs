//! Where a delivery goes and how it is written: what is fixed at acceptance, kept with the values and erased with
//! them. A later change of the configuration acts on new submissions only (contract 10.2).

use serde::{Deserialize, Serialize};

use super::delivery::Channel;
use super::secret::Secret;

/// The way of one delivery.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A mail to one address of the operator's.
    Email(EmailTarget),
    /// A POST to one URL.
    Webhook(WebhookTarget),
    /// A mail to the visitor.
    Confirmation(ConfirmationTarget),
}

impl Target {
    /// The channel of its deliveries.
    pub fn channel(&self) -> Channel {
        match self {
            Self::Email(_) => Channel::Email,
            Self::Webhook(_) => Channel::Webhook,
            Self::Confirmation(_) => Channel::Confirmation,
        }
    }

    /// What an operator may see of it: the address, or of a webhook what [`Disclosure`] allows.
    pub fn shown(&self) -> String {
        match self {
            Self::Email(mail) => mail.address.clone(),
            Self::Confirmation(mail) => mail.address.clone(),
            Self::Webhook(hook) => hook.shown(),
        }
    }
}

/// A mail to one address.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EmailTarget {
    /// The recipient.
    pub address: String,
    /// A template of the subject; `None`: the standard subject.
    pub subject: Option<String>,
    /// A template of the text; `None`: the standard mail.
    pub text: Option<String>,
    /// The field whose address answers go to; `None`: the first e-mail field.
    pub reply_to: Option<String>,
    /// Whether the files travel with the mail.
    pub attach_files: bool,
    /// Bytes of files above which the mail names them instead.
    pub max_attach: u64,
    /// The form's title at acceptance, for the subject.
    pub title: Option<String>,
}

/// A mail to the visitor: no files, and of the visitor's own words only short plain ones.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConfirmationTarget {
    /// The recipient: what the visitor gave in a declared e-mail field.
    pub address: String,
    /// A template of the subject: the form's own, or the standard one in the visitor's language.
    pub subject: String,
    /// A template of the text, likewise.
    pub text: String,
}

/// A POST to one URL.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WebhookTarget {
    /// An `https` URL, or `http` to a loopback host; no user name, no password.
    pub url: String,
    /// How much of the URL may be shown.
    pub disclosure: Disclosure,
    /// Whether private addresses may be reached.
    pub allow_private: bool,
    /// What is posted.
    pub format: Format,
    /// The form's title at acceptance, for chats.
    pub title: Option<String>,
}

/// How much of a URL may be shown. The query never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disclosure {
    /// Scheme, host and path.
    Path,
    /// Scheme and host: the path is a secret, as chat services have it.
    Host,
}

/// What a webhook is posted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// formd's own object, signed.
    Formd(Signing),
    /// The operator's own JSON, a template; signed where there is a secret.
    Own {
        /// The template, `body` of the configuration.
        body: String,
        /// What signs it.
        signing: Option<Signing>,
    },
    /// An incoming webhook of Slack.
    Slack,
    /// A webhook of Discord.
    Discord,
    /// `sendMessage` of Telegram's Bot API.
    Telegram {
        /// The chat's number or `@name`.
        chat: String,
    },
    /// An incoming webhook of Mattermost.
    Mattermost,
    /// A room of Matrix.
    Matrix,
    /// A topic of ntfy.
    Ntfy,
}

/// The secrets that sign a body. Both are in the snapshot, so a delivery that waits over a change of the secret is
/// still signed as it was promised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signing {
    /// The current one.
    pub secret: Secret,
    /// The one before, while receivers change over.
    pub previous: Option<Secret>,
}

impl Format {
    /// Whether it is a chat's: shown to people, never signed.
    pub fn is_chat(&self) -> bool {
        !matches!(self, Self::Formd(_) | Self::Own { .. })
    }

    /// What signs its bodies.
    pub fn signing(&self) -> Option<&Signing> {
        match self {
            Self::Formd(signing) => Some(signing),
            Self::Own { signing, .. } => signing.as_ref(),
            _ => None,
        }
    }

    /// Its word in the configuration.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Formd(_) | Self::Own { .. } => "formd",
            Self::Slack => "slack",
            Self::Discord => "discord",
            Self::Telegram { .. } => "telegram",
            Self::Mattermost => "mattermost",
            Self::Matrix => "matrix",
            Self::Ntfy => "ntfy",
        }
    }
}

impl WebhookTarget {
    /// The URL as far as it may be shown.
    fn shown(&self) -> String {
        let open = self.url.split(['?', '#']).next().unwrap_or_default();
        match self.disclosure {
            Disclosure::Path => open.to_owned(),
            Disclosure::Host => {
                let (scheme, rest) = open.split_once("://").unwrap_or_default();
                format!("{scheme}://{}", rest.split('/').next().unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_url_only_what_is_no_secret_is_shown() {
        let url = "https://hooks.chat.example/services/T0/B0/xyz?key=abc#frag".to_owned();
        let shown = |disclosure| {
            let url = url.clone();
            Target::Webhook(WebhookTarget { url, disclosure, allow_private: false, format: Format::Slack, title: None })
                .shown()
        };
        assert_eq!(shown(Disclosure::Path), "https://hooks.chat.example/services/T0/B0/xyz");
        assert_eq!(shown(Disclosure::Host), "https://hooks.chat.example");
    }
}
