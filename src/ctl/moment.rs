//! Moments as an administrator writes and reads them: RFC 3339, a date, or an age such as `30d`. UTC throughout:
//! receipts of one server are compared across time zones and summer time.

use crate::domain::time::{Span, Timestamp};

/// A moment given on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// This one.
    At(Timestamp),
    /// So long before now.
    Ago(Span),
}

impl Moment {
    /// Reads RFC 3339, a date (its first moment in UTC) or an age of a count and `s`, `m`, `h`, `d`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let age = text.starts_with(|c: char| c.is_ascii_digit()).then(|| Span::parse(text)).flatten();
        age.map(Self::Ago).or_else(|| Timestamp::parse(text).map(Self::At)).ok_or_else(|| {
            "write a date such as 2026-11-30, RFC 3339 such as 2026-11-30T08:00:00Z, or an age such as 30d".to_owned()
        })
    }

    /// The moment itself.
    pub fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::At(moment) => moment,
            Self::Ago(age) => now.minus(age),
        }
    }
}

/// `2026-11-30 16:28`.
pub fn minute(moment: Timestamp) -> String {
    moment.to_string().replacen('T', " ", 1).chars().take(16).collect()
}

/// `2026-11-30 16:28:19`.
pub fn second(moment: Timestamp) -> String {
    moment.to_string().replacen('T', " ", 1).chars().take(19).collect()
}

/// `16:28` on the day of `now`, else with the date.
pub fn near(moment: Timestamp, now: Timestamp) -> String {
    let full = minute(moment);
    if moment.day() == now.day() { full.chars().skip(11).collect() } else { full }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::ctl::testing::now;

    #[test]
    fn a_moment_is_rfc_3339_a_date_or_an_age() {
        for (text, moment) in [
            ("2026-11-30", "2026-11-30T00:00:00.000Z"),
            ("2026-11-30T08:00:00Z", "2026-11-30T08:00:00.000Z"),
            ("2026-11-30T08:00:00+03:00", "2026-11-30T05:00:00.000Z"),
            ("30d", "2026-10-31T16:28:19.007Z"),
            ("90m", "2026-11-30T14:58:19.007Z"),
        ] {
            assert_eq!(Moment::parse(text).map(|m| m.at(now()).to_string()), Ok(moment.to_owned()), "{text}");
        }
        for bad in ["", "d", "30", "yesterday", "-3d", "2026-13-01", "30 d", "1.5h", "2026-11-30 08:00"] {
            assert!(Moment::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_moment_of_today_is_shown_without_its_date() {
        assert_eq!(near(now().plus(Span::from_hours(1)), now()), "17:28");
        assert_eq!(near(now().plus(Span::from_hours(12)), now()), "2026-12-01 04:28");
        assert_eq!(second(now()), "2026-11-30 16:28:19");
    }
}
