//! Moments and spans. Nothing here reads a clock: `now` is always an argument.
//!
//! A moment is a count of milliseconds since 1970 in UTC, the same number in Rust and in SQL.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A moment in UTC, to the millisecond, between the years 1970 and 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// A length of time in milliseconds; never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(i64);

/// The last millisecond of the year 9999, the last moment RFC 3339 can write.
const LAST: i64 = 253_402_300_799_999;

impl Timestamp {
    /// The moment `millis` after 1970, clamped to the years that RFC 3339 can write.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(0, LAST))
    }

    /// Milliseconds since 1970.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970.
    pub fn as_secs(self) -> i64 {
        self.0 / 1000
    }

    /// This moment and `span` more; the end of the year 9999 at the latest.
    #[must_use]
    pub fn plus(self, span: Span) -> Self {
        Self::from_millis(self.0.saturating_add(span.0))
    }

    /// This moment less `span`; 1970 at the earliest.
    #[must_use]
    pub fn minus(self, span: Span) -> Self {
        Self::from_millis(self.0.saturating_sub(span.0))
    }

    /// The time from `earlier` to this moment; zero when `earlier` is later.
    pub fn since(self, earlier: Self) -> Span {
        Span((self.0 - earlier.0).max(0))
    }

    /// The calendar day in UTC, such as `2026-11-30`: the name of a folder of attachments.
    pub fn day(self) -> String {
        self.to_string().chars().take(10).collect()
    }

    /// Reads RFC 3339 with any offset, or a bare date, which means its first moment in UTC.
    pub fn parse(text: &str) -> Option<Self> {
        let moment: jiff::Timestamp = match text.parse() {
            Ok(moment) => moment,
            // jiff takes the date of `2026-11-30T16:28` and drops the time: a time without a zone is no moment.
            Err(_) if text.len() == 10 => {
                format!("{}T00:00:00Z", text.parse::<jiff::civil::Date>().ok()?).parse().ok()?
            }
            Err(_) => return None,
        };
        Some(Self::from_millis(moment.as_millisecond()))
    }
}

/// RFC 3339 in UTC with milliseconds, as every `--json` and every webhook writes it.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By the calendar, since jiff's own moments end 26 hours before the year 9999 does.
        let since = jiff::SignedDuration::from_millis(self.0);
        let moment = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0).saturating_add(since);
        write!(f, "{moment:.3}Z")
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `millis` milliseconds; a negative count is zero.
    pub const fn from_millis(millis: i64) -> Self {
        Self(if millis < 0 { 0 } else { millis })
    }

    /// `secs` seconds.
    pub const fn from_secs(secs: i64) -> Self {
        Self::from_millis(secs.saturating_mul(1000))
    }

    /// `minutes` minutes.
    pub const fn from_minutes(minutes: i64) -> Self {
        Self::from_secs(minutes.saturating_mul(60))
    }

    /// `hours` hours.
    pub const fn from_hours(hours: i64) -> Self {
        Self::from_minutes(hours.saturating_mul(60))
    }

    /// `days` days of 24 hours.
    pub const fn from_days(days: i64) -> Self {
        Self::from_hours(days.saturating_mul(24))
    }

    /// Milliseconds.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Seconds, rounded up: what `Retry-After` must say so that nobody comes too early.
    pub const fn as_secs_ceil(self) -> i64 {
        (self.0 + 999) / 1000
    }

    /// The same span for the standard library.
    pub fn as_duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(u64::try_from(self.0).unwrap_or(0))
    }

    /// Reads `COUNT` and a unit `s`, `m`, `h` or `d`; a bare unit is one of it: `30s`, `10m`, `h`, `2d`.
    pub fn parse(text: &str) -> Option<Self> {
        let (count, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
        let count: i64 = if count.is_empty() { 1 } else { count.parse().ok()? };
        let secs = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            "d" => 86_400,
            _ => return None,
        };
        Some(Self(count.checked_mul(secs)?.checked_mul(1000)?))
    }
}

/// The largest unit that divides the span evenly: `10m`, `2h`, `1500ms`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => write!(f, "0s"),
            ms if ms % 86_400_000 == 0 => write!(f, "{}d", ms / 86_400_000),
            ms if ms % 3_600_000 == 0 => write!(f, "{}h", ms / 3_600_000),
            ms if ms % 60_000 == 0 => write!(f, "{}m", ms / 60_000),
            ms if ms % 1000 == 0 => write!(f, "{}s", ms / 1000),
            ms => write!(f, "{ms}ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_in_utc_with_milliseconds_and_read_back() {
        let moment = Timestamp::from_millis(1_796_056_099_007);
        assert_eq!(moment.to_string(), "2026-11-30T16:28:19.007Z");
        assert_eq!(Timestamp::parse("2026-11-30T16:28:19.007Z"), Some(moment));
        assert_eq!(Timestamp::parse("2026-11-30T17:28:19.007+01:00"), Some(moment));
        assert_eq!(moment.day(), "2026-11-30");
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_millis(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn a_bare_date_is_its_first_moment() {
        assert_eq!(Timestamp::parse("2026-11-30").map(|t| t.to_string()).as_deref(), Some("2026-11-30T00:00:00.000Z"));
        for bad in ["", "today", "2026-13-01", "2026-11-30T16:28", "30d"] {
            assert_eq!(Timestamp::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_span_is_a_count_and_a_unit() {
        for (text, secs) in [("s", 1), ("m", 60), ("10m", 600), ("h", 3600), ("2d", 172_800)] {
            assert_eq!(Span::parse(text), Some(Span::from_secs(secs)), "{text}");
        }
        for bad in ["", "10", "10x", "-5m", "1.5h", "m10", "99999999999999999999d", "9999999999999999d"] {
            assert_eq!(Span::parse(bad), None, "{bad}");
        }
        assert_eq!(Span::from_secs(600).to_string(), "10m");
        assert_eq!(Span::from_millis(1500).to_string(), "1500ms");
    }
}
