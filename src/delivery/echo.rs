//! What a receiver's answer may repeat of a call although it is a secret: web servers like to answer
//! `Cannot POST /hooks/KEY`. Such words are taken out of an answer before it is kept, since `formctl show` shows it.
//!
//! Guarantees: of the URL nothing is left that [`Disclosure`] hides: the path and query as a whole, the query, each of
//! its values and each part of a hidden path that is long enough to be a key; nor a secret that signs. A part that
//! begins with `bot`, as Telegram's, is known without that too.
//!
//! Deliberately not done: finding a secret that the receiver has encoded in some other way, or the half of one.

use crate::domain::secret::Secret;
use crate::domain::target::{Disclosure, WebhookTarget};

/// What stands in a secret's place.
const HIDDEN: &str = "(secret)";
/// The shortest part of a URL that is taken for a key by itself.
const KEY: usize = 8;

/// The secrets of a target, the longest first: a shorter one may be a part of it.
pub fn secrets(target: &WebhookTarget) -> Vec<&str> {
    let (_, rest) = target.url.split_once("://").unwrap_or_default();
    let whole = rest.find(['/', '?']).and_then(|at| rest.get(at..)).unwrap_or_default();
    let (path, query) = whole.split_once('?').unwrap_or((whole, ""));
    let mut secrets: Vec<&str> = query.split('&').filter_map(|pair| pair.split('=').nth(1)).filter(is_key).collect();
    secrets.push(query);
    if target.disclosure == Disclosure::Host {
        let parts = path.split('/').flat_map(|part| [Some(part), part.strip_prefix("bot")]);
        secrets.extend(parts.flatten().filter(is_key));
        secrets.extend([whole, path].into_iter().filter(|text| *text != "/"));
    }
    let signing = target.format.signing();
    let keys = signing.into_iter().flat_map(|signing| std::iter::once(&signing.secret).chain(&signing.previous));
    secrets.extend(keys.map(Secret::reveal));
    secrets.retain(|secret| !secret.is_empty());
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

/// `text` without `secrets`.
pub fn without(text: &str, secrets: &[&str]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
}

/// Whether a part of a URL is long enough to be a key; a shorter one would tear common words.
fn is_key(part: &&str) -> bool {
    part.len() >= KEY
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::domain::target::{Format, Signing};

    /// What is left of `answer` to a call of `target`.
    fn left(target: &WebhookTarget, answer: &str) -> String {
        without(answer, &secrets(target))
    }

    #[test]
    fn an_answer_that_repeats_a_secret_address_does_not_show_it() {
        let url = "https://hooks.chat.example/services/T0/B0/kEyOfTheChat?auth=tokenOfIt&x=1".to_owned();
        let chat = WebhookTarget { url, disclosure: Disclosure::Host, ..sample::webhook_target("") };
        for (answer, kept) in [
            ("Cannot POST /services/T0/B0/kEyOfTheChat?auth=tokenOfIt&x=1", "Cannot POST (secret)"),
            ("no hook /services/T0/B0/kEyOfTheChat here", "no hook (secret) here"),
            (r#"{"path":"\/services\/T0\/B0\/kEyOfTheChat"}"#, r#"{"path":"\/(secret)\/T0\/B0\/(secret)"}"#),
            ("bad token tokenOfIt", "bad token (secret)"),
            ("auth=tokenOfIt&x=1", "(secret)"),
            ("no such chat", "no such chat"),
        ] {
            assert_eq!(left(&chat, answer), kept);
        }
        let bot = WebhookTarget { url: "https://t.example/bot12:abcdefgh/sendMessage".into(), ..chat };
        assert_eq!(left(&bot, "12:abcdefgh is no token"), "(secret) is no token");
    }

    #[test]
    fn of_an_open_address_the_query_alone_is_hidden_and_what_signs() {
        let secret = |text: &str| Secret::new(text.to_owned());
        let signing = Signing { secret: secret("current-secret-01"), previous: Some(secret("previous-secret-1")) };
        let url = "https://crm.example/hooks/forms?key=abc".to_owned();
        let format = Format::Formd(signing);
        let target = WebhookTarget { url, disclosure: Disclosure::Path, format, ..sample::webhook_target("") };
        assert_eq!(left(&target, "no /hooks/forms?key=abc"), "no /hooks/forms?(secret)");
        assert_eq!(left(&target, "current-secret-01, previous-secret-1"), "(secret), (secret)");
        let bare = WebhookTarget { url: "https://crm.example".into(), ..target.clone() };
        assert_eq!(left(&bare, "a / b ? c"), "a / b ? c");
        let root = WebhookTarget { url: "https://crm.example/".into(), disclosure: Disclosure::Host, ..target };
        assert_eq!(left(&root, "a / b ? c"), "a / b ? c");
    }
}
