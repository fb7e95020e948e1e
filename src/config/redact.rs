//! Which lines of a configuration file may hold a secret, so that no message draws them.
//!
//! The question is asked of files that may be broken in any way, so the answer looks at words, not at syntax, and
//! errs on the side of hiding: a line too many hidden costs a look into the file, a line too few shown ends in a log.
//! What the parser understood is added by [`of_keys`], which also knows keys written with escapes.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::domain::signing;

/// Words that name a secret; what is spelled nearly so is one as well.
const WORDS: &[&str] = &["secret", "password", "passwd", "token"];
/// What the secret URLs of chats hold: a line is judged before it is known whether `format` stands beside it.
const CHATS: &[&str] =
    &["hooks.slack", "/services/", "/api/webhooks/", "api.telegram", "/bot", "/_matrix/", "/webhook/", "ntfy"];
/// Letters by which a word may differ from one of [`WORDS`].
const TYPOS: usize = 2;
/// Signs `=` of a line before which a torn key is looked for.
const TORN: usize = 4;

/// What the lines after the present one belong to.
enum State {
    /// Nothing special.
    Open,
    /// A multi-line text of a secret, until this delimiter.
    Until(&'static str),
    /// What follows a secret's key, until the next key or header.
    UntilKey,
}

/// The lines that may hold a secret, judged by their words alone.
pub(super) fn of_text(text: &str) -> Vec<Range<usize>> {
    let mut hidden = Vec::new();
    let mut state = State::Open;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let place = start..start + line.len().saturating_sub(1);
        start += line.len();
        match state {
            State::Until(delimiter) => {
                hidden.push(place);
                if line.contains(delimiter) {
                    state = State::UntilKey;
                }
                continue;
            }
            State::UntilKey if !begins_anew(line) => {
                hidden.push(place);
                continue;
            }
            State::UntilKey | State::Open => state = State::Open,
        }
        if names_a_secret(line) {
            hidden.push(place);
            let open = |delimiter: &str| line.matches(delimiter).count() % 2 == 1;
            state = match () {
                () if open("\"\"\"") => State::Until("\"\"\""),
                () if open("'''") => State::Until("'''"),
                () => State::UntilKey,
            };
        } else if line.contains(signing::PREFIX) || has_private_url(line) {
            hidden.push(place);
        }
    }
    hidden
}

/// The keys and values that the parser understood to be secrets.
pub(super) fn of_keys(table: &DeTable<'_>, hidden: &mut Vec<Range<usize>>) {
    let is_chat = table.get("format").is_some_and(|format| format.get_ref().as_str() != Some("formd"));
    for (key, value) in table {
        let key_word: &str = key.get_ref();
        let secret_word = is_secret_word(key_word) && !is_file_key(key_word);
        if secret_word || (is_chat && key_word == "webhook") {
            hidden.extend([key.span(), value.span()]);
        }
        inside(value.get_ref(), hidden);
    }
}

/// The secrets of the tables within a value.
fn inside(value: &DeValue<'_>, hidden: &mut Vec<Range<usize>>) {
    match value {
        DeValue::Table(table) => of_keys(table, hidden),
        DeValue::Array(items) => items.iter().for_each(|item| inside(item.get_ref(), hidden)),
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}

/// Whether a line begins with a header or with a key and `=`.
fn begins_anew(line: &str) -> bool {
    let line = line.trim_start();
    let key = line.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_-.\"'".contains(c));
    line.starts_with('[') || (key.len() < line.len() && key.trim_start().starts_with('='))
}

/// Whether a word of the line names a secret. A line that only says in which file one lies does not hold it.
fn names_a_secret(line: &str) -> bool {
    let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).filter(|w| !w.is_empty());
    let first = words.clone().next().unwrap_or_default();
    let only_names_a_file = is_file_key(first) && line.matches('=').count() == 1;
    // A key that a stray quote, bracket or `=` has torn.
    let torn = |(end, _): (usize, &str)| {
        let key = line.get(..end).unwrap_or_default();
        is_secret_word(&key.chars().filter(|c| c.is_alphanumeric()).collect::<String>())
    };
    !only_names_a_file && (words.any(is_secret_word) || line.match_indices('=').take(TORN).any(torn))
}

/// Whether a word is one of [`WORDS`], holds one, or is nearly one.
fn is_secret_word(word: &str) -> bool {
    let word = word.to_lowercase();
    let like = |secret: &str| word.len().abs_diff(secret.len()) <= TYPOS;
    let near =
        |secret: &&str| word.contains(*secret) || (like(secret) && strsim::damerau_levenshtein(&word, secret) <= TYPOS);
    word.len() > 3 && WORDS.iter().any(near)
}

/// Whether a key names the file of a secret.
fn is_file_key(key: &str) -> bool {
    key.ends_with("secret_file") || key.ends_with("password_file")
}

/// Whether a line holds a URL with a user name, one with a query whose meaning only its owner knows, one of a chat, or
/// one that was meant to stand in a file.
fn has_private_url(line: &str) -> bool {
    let begins = |key: &&str| line.trim_start().starts_with(*key);
    let public = ["success_url", "public_url", "origins"].iter().any(begins);
    let chat = |rest: &str| CHATS.iter().any(|mark| rest.contains(mark));
    line.split_once("://").is_some_and(|(_, rest)| {
        rest.contains('@') || (rest.contains('?') && !public) || chat(rest) || line.contains("url_file")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hidden lines of a text, each as its first ten characters.
    fn hidden(text: &str) -> Vec<&str> {
        of_text(text).into_iter().map(|line| &text[line]).map(|line| &line[..line.len().min(10)]).collect()
    }

    #[test]
    fn a_line_that_may_hold_a_secret_is_hidden_and_what_hangs_on_it_too() {
        assert_eq!(hidden("a = 1\nsecret = \"x\"\nb = 2\n"), ["secret = \""]);
        assert_eq!(hidden("secert = 'x'\nb = 2\n"), ["secert = '"]);
        assert_eq!(hidden("secret = \"\"\"\nb = 1\nx\"\"\"\nc = 1\n"), ["secret = \"", "b = 1", "x\"\"\""]);
        assert_eq!(hidden("secret =\n \"x\"\n\nc = 1\n"), ["secret =", " \"x\"", ""]);
        assert_eq!(hidden("{ id = 1, \"password\" = 2 }\n"), ["{ id = 1, "]);
    }

    #[test]
    fn what_is_no_secret_is_shown() {
        for line in [
            "kind = \"select\"\n",
            "secret_file = \"acme-crm\"\n",
            "webhook = \"https://a.example/x\"\n",
            "success_url = \"https://a.example/?x=1\"\n",
            "type = \"text\"\n",
        ] {
            assert!(hidden(line).is_empty(), "{line}");
        }
        assert_eq!(hidden("secret_file = \"whsec_AAAA\"\n").len(), 1, "the secret itself");
        assert_eq!(hidden("webhook = \"https://u:p@a.example/\"\n").len(), 1);
        assert_eq!(hidden("webhook = \"https://a.example/?key=1\"\n").len(), 1);
        assert_eq!(hidden("webhook = \"https://hooks.slack.com/services/T0/B0/x\"\n").len(), 1);
        assert_eq!(hidden("url_file = \"https://a.example/x\"\n").len(), 1);
        assert!(hidden("url_file = \"slack\"\n").is_empty());
    }

    #[test]
    fn the_address_of_a_chat_is_a_secret_and_that_of_a_program_is_not() {
        let shown = |format: &str| {
            let text = format!("webhook = 'https://m.example/hooks/x'\n{format}");
            let mut found = Vec::new();
            of_keys(DeTable::parse_recoverable(&text).0.get_ref(), &mut found);
            found.is_empty()
        };
        assert!(shown("") && shown("format = 'formd'"));
        assert!(!shown("format = 'mattermost'") && !shown("format = 'matermost'") && !shown("format = 1"));
    }

    #[test]
    fn a_key_written_with_escapes_is_still_a_secret() {
        let text = "\"\\u0073ecret\" = 'x'\n";
        let (table, _) = DeTable::parse_recoverable(text);
        let mut found = Vec::new();
        of_keys(table.get_ref(), &mut found);
        assert_eq!(found.len(), 2);
    }
}
