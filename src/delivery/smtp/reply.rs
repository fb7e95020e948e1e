//! What a mail server says: a code of three digits and text, on one or more lines (RFC 5321, 4.2).
//!
//! Read generously where nothing hangs on it (a bare LF as the end of a line, no text behind the code) and strictly
//! where something does: a code is 200 to 599 and the same on all lines.

use std::fmt;

/// A whole reply.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    /// The code.
    pub(super) code: u16,
    /// The text of each line.
    lines: Vec<String>,
}

/// How much of a reply is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// More lines follow.
    Begun,
    /// All of it.
    Whole,
}

impl Reply {
    /// Adds a line; `None` when it belongs to no reply, or to another one.
    pub(super) fn add(&mut self, line: &str) -> Option<Part> {
        let (digits, rest) = line.split_at_checked(3)?;
        let code = digits.parse().ok().filter(|code| digits.is_ascii() && (200..600).contains(code))?;
        if !self.lines.is_empty() && self.code != code {
            return None;
        }
        let (part, text) = match rest.strip_prefix('-') {
            Some(text) => (Part::Begun, text),
            None if rest.is_empty() => (Part::Whole, ""),
            None => (Part::Whole, rest.strip_prefix(' ')?),
        };
        self.code = code;
        self.lines.push(text.trim().to_owned());
        Some(part)
    }

    /// The enhanced code (RFC 2034) at the beginning, which servers repeat on each line.
    fn enhanced(&self) -> Option<&str> {
        let word = self.lines.first()?.split(' ').next()?;
        let is_number = |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        (word.split('.').count() == 3 && word.split('.').all(is_number)).then_some(word)
    }
}

/// In one line: the code, the enhanced code once, the text.
impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        for (number, line) in self.lines.iter().enumerate() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let repeated = number > 0 && self.enhanced() == Some(word);
            let text = if repeated { rest.trim_start() } else { line };
            if !text.is_empty() {
                write!(f, " {text}")?;
            }
        }
        Ok(())
    }
}

/// What a server offers, as far as it matters here.
#[derive(Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a list of what is offered, each by itself")]
pub(super) struct Offer {
    /// TLS in the middle of the dialogue.
    pub(super) starttls: bool,
    /// A word on the size of a mail before it is sent.
    pub(super) size: bool,
    /// Login by PLAIN.
    pub(super) plain: bool,
    /// Login by LOGIN.
    pub(super) login: bool,
}

impl Offer {
    /// Reads the reply to EHLO. `AUTH=` is how old servers write it.
    pub(super) fn of(reply: &Reply) -> Self {
        let mut offer = Self::default();
        for line in reply.lines.iter().skip(1).map(|line| line.to_ascii_uppercase()) {
            let mut words = line.split([' ', '=']);
            match words.next() {
                Some("STARTTLS") => offer.starttls = true,
                Some("SIZE") => offer.size = true,
                Some("AUTH") => words.for_each(|word| match word {
                    "PLAIN" => offer.plain = true,
                    "LOGIN" => offer.login = true,
                    _ => {}
                }),
                _ => {}
            }
        }
        offer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A reply of these lines.
    fn reply(lines: &[&str]) -> Option<Reply> {
        let mut reply = Reply::default();
        for (number, line) in lines.iter().enumerate() {
            let wanted = if number + 1 == lines.len() { Part::Whole } else { Part::Begun };
            if reply.add(line)? != wanted {
                return None;
            }
        }
        Some(reply)
    }

    #[test]
    fn a_reply_reads_as_one_line() {
        for (lines, text) in [
            (&["250 2.0.0 queued as AB12"][..], "250 2.0.0 queued as AB12"),
            (&["354"], "354"),
            (&["354 "], "354"),
            (&["550-5.7.25 no PTR", "550-5.7.25 record", "550 5.7.25 here"], "550 5.7.25 no PTR record here"),
            (&["550-5.7.2 one", "550 5.7.25 two"], "550 5.7.2 one 5.7.25 two"),
            (&["550-no.such.user here", "550 no.such.user there"], "550 no.such.user here no.such.user there"),
            (&["220-mx", "220-", "220 hello"], "220 mx hello"),
        ] {
            assert_eq!(reply(lines).map(|reply| reply.to_string()).as_deref(), Some(text), "{lines:?}");
        }
    }

    #[test]
    fn what_is_no_reply_is_none() {
        for lines in [
            &["SSH-2.0-hello"][..],
            &["25"],
            &["2500 ok"],
            &["250ok"],
            &["150 go"],
            &["600 go"],
            &["+50 go"],
            &["２ go"],
            &["250-a", "251 b"],
            &[""],
        ] {
            assert_eq!(reply(lines), None, "{lines:?}");
        }
    }

    #[test]
    fn an_offer_is_read_in_any_case_and_in_the_old_way_of_writing() {
        let read = |lines: &[&str]| Offer::of(&reply(lines).unwrap());
        let all = Offer { starttls: true, size: true, plain: true, login: true };
        assert_eq!(read(&["250-mx", "250-size 100", "250-StartTLS", "250 AUTH CRAM-MD5 login plain"]), all);
        assert_eq!(read(&["250-mx", "250 AUTH=LOGIN"]), Offer { login: true, ..Offer::default() });
        // The greeting's own words offer nothing, nor does an empty line.
        assert_eq!(read(&["250-STARTTLS AUTH PLAIN", "250-  ", "250 AUTHX PLAIN"]), Offer::default());
    }

    proptest! {
        #[test]
        fn no_line_panics(lines in prop::collection::vec("[2-5][0-9]{2}[- ]?\\PC{0,20}|\\PC{0,20}", 0..5)) {
            let mut reply = Reply::default();
            let read = lines.iter().map_while(|line| reply.add(line)).count();
            prop_assert!(read <= lines.len());
            prop_assert!(!reply.to_string().contains('\n'));
            let _ = Offer::of(&reply);
        }
    }
}
