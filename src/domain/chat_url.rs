//! What the URLs of some chat services say beyond where to post: the topic of ntfy, the room and the token of Matrix, the
//! method of Telegram. Read once at the check of a configuration, and again when a message is made.

/// A topic of ntfy: `https://SERVER/TOPIC`.
#[derive(Debug, PartialEq, Eq)]
pub struct NtfyTopic {
    /// Where JSON is posted: the URL without the topic, its query kept.
    pub server: String,
    /// The topic.
    pub topic: String,
}

impl NtfyTopic {
    /// The longest topic.
    const LONGEST: usize = 64;

    /// The topic that a URL names.
    pub fn of(url: &str) -> Option<Self> {
        let (address, query) = parts(url);
        let (before, topic) = address.trim_end_matches('/').rsplit_once('/')?;
        let named = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let fits = (1..=Self::LONGEST).contains(&topic.len()) && topic.chars().all(named);
        // `https://SERVER` ends with no topic but with the host.
        let has_path = !before.ends_with('/');
        (fits && has_path).then(|| Self { server: format!("{before}/{query}"), topic: topic.to_owned() })
    }
}

/// A URL of a Matrix destination.
#[derive(Debug, PartialEq, Eq)]
pub enum MatrixUrl {
    /// A room of the client-server API, and the token for it.
    Room {
        /// The URL up to `/send/m.room.message`.
        room: String,
        /// `?` and what else its query holds; empty without.
        query: String,
        /// `access_token` of its query.
        token: String,
    },
    /// Such a room without a token.
    RoomWithoutToken,
    /// Anything else: a webhook of matrix-hookshot.
    Hook,
}

impl MatrixUrl {
    /// What a URL is.
    pub fn of(url: &str) -> Self {
        let (address, query) = parts(url);
        let room = address.trim_end_matches('/');
        if !(room.contains("/_matrix/client/") && room.ends_with("/send/m.room.message")) {
            return Self::Hook;
        }
        let pairs = || query.trim_start_matches('?').split('&');
        let token = pairs().find_map(|pair| pair.strip_prefix("access_token=")).unwrap_or_default();
        if token.is_empty() {
            return Self::RoomWithoutToken;
        }
        let others: Vec<&str> = pairs().filter(|pair| !pair.starts_with("access_token=")).collect();
        let query = if others.is_empty() { String::new() } else { format!("?{}", others.join("&")) };
        Self::Room { room: room.to_owned(), query, token: token.to_owned() }
    }
}

/// Whether a URL is that of Telegram's method `sendMessage` for a bot.
pub fn is_telegram(url: &str) -> bool {
    let (address, _) = parts(url);
    address.contains("/bot") && address.ends_with("/sendMessage")
}

/// Whether a text is a chat of Telegram: a number, or `@` and the name of a public one.
pub fn is_telegram_chat(chat: &str) -> bool {
    let named = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    chat.strip_prefix('@').map_or_else(|| chat.parse::<i64>().is_ok_and(|number| number != 0), named)
}

/// A URL without its query, and the query with its `?`.
fn parts(url: &str) -> (&str, &str) {
    url.split_at(url.find('?').unwrap_or(url.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topic_of_ntfy_is_the_last_part_of_the_path() {
        let of = |url| NtfyTopic::of(url).map(|found| (found.server, found.topic));
        let found = |server: &str, topic: &str| Some((server.to_owned(), topic.to_owned()));
        assert_eq!(of("https://ntfy.sh/acme-forms"), found("https://ntfy.sh/", "acme-forms"));
        assert_eq!(of("https://n.example/in/acme/?auth=x"), found("https://n.example/in/?auth=x", "acme"));
        for bad in
            ["https://ntfy.sh", "https://ntfy.sh/", "https://ntfy", "https://ntfy.sh/a.b", "https://ntfy.sh/?t=a"]
        {
            assert_eq!(of(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_token_of_a_room_leaves_the_url() {
        let room = "https://m.example/_matrix/client/v3/rooms/!r:m.example/send/m.room.message";
        let of = |query: &str| MatrixUrl::of(&format!("{room}{query}"));
        let found = |query: &str| MatrixUrl::Room { room: room.into(), query: query.into(), token: "t0".into() };
        assert_eq!(of("?access_token=t0"), found(""));
        assert_eq!(of("/?user_id=a&access_token=t0&ts=1"), found("?user_id=a&ts=1"));
        assert_eq!(of(""), MatrixUrl::RoomWithoutToken);
        assert_eq!(of("?access_token="), MatrixUrl::RoomWithoutToken);
        assert_eq!(MatrixUrl::of("https://hooks.m.example/webhook/abc"), MatrixUrl::Hook);
    }

    #[test]
    fn a_chat_of_telegram_is_a_number_or_a_name() {
        for good in ["-1001234567890", "7", "@acme_forms"] {
            assert!(is_telegram_chat(good), "{good}");
        }
        for bad in ["", "0", "acme", "@", "@a b", "12x", "1.5"] {
            assert!(!is_telegram_chat(bad), "{bad}");
        }
    }
}
