//! The words that every chat shows, and how they are written and cut for one service.

use super::super::mail_text::{self, Files, TEST_SUBJECT, header_line};
use crate::domain::submission::SentBy;
use crate::store::Claim;

/// Parts an `@` from the name behind it: no width, no line break.
const JOINER: char = '\u{2060}';
/// Characters of a title.
const TITLE: usize = 150;
/// Characters of a page in the last line.
const PAGE: usize = 100;

/// What is shown, without any service's markup.
pub struct Text {
    /// What arrived.
    pub title: String,
    /// One line for each field, the consent, each file; no line break at its end.
    pub facts: String,
    /// Where the rest is, when the facts are cut.
    rest: String,
    /// Receipt, page and time of arrival.
    last: String,
}

impl Text {
    /// The words for a claim.
    pub fn of(title: Option<&str>, claim: &Claim) -> Self {
        let form = format!("{}/{}", claim.site, claim.form);
        let title = first(&header_line(title.unwrap_or(&form)), TITLE);
        let mark = match claim.contents.sent_by {
            SentBy::Visitor => "",
            SentBy::Test => TEST_SUBJECT,
        };
        let page = mail_text::page(claim).map(|page| format!(", page {}", first(&page, PAGE))).unwrap_or_default();
        let (receipt, arrived) = (claim.id.receipt, claim.received_at);
        Self {
            title: parted(&format!("{mark}New form submission: {title}")),
            facts: parted(mail_text::facts(claim, Files::Named).trim_end_matches('\n')),
            rest: format!("... the rest: formctl show {receipt}"),
            last: parted(&format!("Receipt {receipt}{page}, received {arrived}")),
        }
    }

    /// The title as a first line, and the facts.
    pub fn titled(&self) -> String {
        format!("{}\n{}", self.title, self.facts)
    }
}

/// How a service writes and counts text.
pub struct Dialect {
    /// The most that a text may cost.
    pub limit: usize,
    /// What a piece of written text costs.
    pub cost: fn(&str) -> usize,
    /// Writes one character so that it shows as itself.
    pub write: fn(char, &mut String),
}

impl Dialect {
    /// `body` and the last line of `text`; where that is too long, as much of `body` as fits and the line about the rest.
    pub fn fit(&self, body: &str, text: &Text) -> String {
        let (end, _) = self.write(&format!("\n{}", text.last), self.limit);
        if let (whole, "") = self.write(body, self.room(&end)) {
            return whole + &end;
        }
        let (end, _) = self.write(&format!("\n{}\n{}", text.rest, text.last), self.limit);
        let (cut, _) = self.write(body, self.room(&end));
        cut.trim_end().to_owned() + &end
    }

    /// `text` written, as far as it fits.
    pub fn clip(&self, text: &str, limit: usize) -> String {
        self.write(text, limit).0
    }

    /// What is left beside `end`.
    fn room(&self, end: &str) -> usize {
        self.limit.saturating_sub((self.cost)(end))
    }

    /// `text` written up to the last character that costs no more than `limit` with those before it, and what is left
    /// of it.
    fn write<'t>(&self, text: &'t str, limit: usize) -> (String, &'t str) {
        let (mut out, mut spent) = (String::new(), 0);
        for (at, c) in text.char_indices() {
            let start = out.len();
            (self.write)(c, &mut out);
            spent += (self.cost)(out.get(start..).unwrap_or_default());
            if spent > limit {
                out.truncate(start);
                return (out, text.get(at..).unwrap_or_default());
            }
        }
        (out, "")
    }
}

/// Writes a character as it is.
pub fn plain(c: char, out: &mut String) {
    out.push(c);
}

/// UTF-16 units, which is what most services call characters.
pub fn utf16(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Bytes of a text inside JSON.
pub fn in_json(text: &str) -> usize {
    let escaped = |c: char| match c {
        '"' | '\\' | '\n' | '\t' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    };
    text.chars().map(escaped).sum()
}

/// `text` cut visibly to `most` characters.
fn first(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// `text` in which no `@` calls anybody: each that does not stand within an e-mail address, as between letters or
/// digits, is parted from what follows. An address stays as it is, so that it can be copied.
fn parted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        out.push(c);
        if c == '@' && !before.is_ascii_alphanumeric() {
            out.push(JOINER);
        }
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_not_called_and_an_address_can_be_copied() {
        for (written, shown) in [
            ("@channel", "@\u{2060}channel"),
            ("x.@here", "x.@\u{2060}here"),
            ("@@all", "@\u{2060}@\u{2060}all"),
            ("anna@home.example", "anna@home.example"),
            ("ж@anna", "ж@\u{2060}anna"),
        ] {
            assert_eq!(parted(written), shown);
        }
    }

    #[test]
    fn a_cut_never_splits_a_character_or_its_escape() {
        let write = |c: char, out: &mut String| out.extend(['\\', c]);
        let dialect = Dialect { limit: 5, cost: utf16, write };
        assert_eq!(dialect.clip("abc", 5), "\\a\\b");
        assert_eq!(dialect.clip("a😀b", 5), "\\a\\😀");
        assert_eq!(dialect.clip("😀😀", 5), "\\😀");
    }
}
