//! How long a delivery waits before the next attempt.

use super::time::{Span, Timestamp};

/// The wait after the first failed attempt.
const FIRST: Span = Span::from_minutes(1);
/// No wait is longer, whatever the peer asks for.
const LONGEST: Span = Span::from_hours(1);

/// The wait after attempt `attempt` (from 1): 1 minute doubling to at most 1 hour, times a random factor
/// 0.5..1.0 made of `chance` in 0..1. The peer's `after` may lengthen it, to 1 hour at most.
pub fn wait(attempt: u32, after: Option<Span>, chance: f64) -> Span {
    let doublings = attempt.saturating_sub(1).min(6);
    let full = FIRST.as_millis().saturating_mul(1 << doublings).min(LONGEST.as_millis());
    let half = full / 2;
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "at most 1,800,000 ms")]
    let jitter = (half as f64 * chance.clamp(0.0, 1.0)) as i64;
    let wait = Span::from_millis(half + jitter);
    wait.max(after.unwrap_or(Span::ZERO).min(LONGEST))
}

/// Reads `Retry-After`: seconds or an HTTP date (RFC 9110, 10.2.3). A date that is over, and anything else,
/// asks for nothing.
pub fn parse_retry_after(text: &str, now: Timestamp) -> Option<Span> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.parse().map_or(LONGEST, Span::from_secs));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let millis = date.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis();
    let at = Timestamp::from_millis(i64::try_from(millis).ok()?);
    (at > now).then(|| at.since(now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::parse("2026-11-30T12:00:00Z").unwrap();
        let read = |text| parse_retry_after(text, now);
        assert_eq!(read("120"), Some(Span::from_secs(120)));
        assert_eq!(read("Mon, 30 Nov 2026 12:02:00 GMT"), Some(Span::from_secs(120)));
        assert_eq!(read("Mon, 30 Nov 2026 11:00:00 GMT"), None);
        assert_eq!(read("99999999999999999999999"), Some(LONGEST));
        for bad in ["", "-1", "1.5", "soon"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_wait_is_half_to_all_of_the_doubled_minute_and_at_most_an_hour(attempt in 1u32..100, chance in 0.0f64..1.0, after in proptest::option::of(0i64..100_000)) {
            let full = Span::from_minutes(1 << (attempt - 1).min(6)).min(LONGEST);
            let wait = wait(attempt, after.map(Span::from_secs), chance);
            prop_assert!(wait >= Span::from_millis(full.as_millis() / 2) && wait <= LONGEST);
            if let Some(after) = after {
                prop_assert!(wait >= Span::from_secs(after).min(LONGEST));
            } else {
                prop_assert!(wait <= full);
            }
        }
    }
}
