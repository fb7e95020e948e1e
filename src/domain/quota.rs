//! Fixed windows aligned to UTC: counters and `now` in, admission out. The limiter's arithmetic without its files.

use super::time::{Span, Timestamp};

/// At most `count` requests in each window of `span`, written `10/10m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Requests a window, at least 1.
    pub count: u32,
    /// The window: 1 s to 366 days.
    pub span: Span,
}

/// One window as it stands in a state file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counter {
    /// The window's length in milliseconds.
    pub span: i64,
    /// When it began, in milliseconds since 1970.
    pub start: i64,
    /// Requests charged to it.
    pub used: u32,
}

/// The window with the least left, for `X-RateLimit-*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// Requests a window.
    pub limit: u32,
    /// Requests left in it.
    pub left: u32,
    /// Until it ends.
    pub reset: Span,
}

/// What a charge decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The request passes; `None` where no quota is declared.
    Admit(Option<Remaining>),
    /// The request is refused until the latest end among the exhausted windows.
    Deny {
        /// Until that end.
        retry_after: Span,
        /// The window with the least left.
        remaining: Remaining,
    },
}

impl Quota {
    /// Reads `COUNT/SPAN`.
    pub fn parse(text: &str) -> Option<Self> {
        let (count, span) = text.split_once('/')?;
        let count: u32 = count.parse().ok().filter(|&c| c > 0)?;
        let span = Span::parse(span).filter(|s| *s >= Span::from_secs(1) && *s <= Span::from_days(366))?;
        Some(Self { count, span })
    }
}

/// Charges one request to every window, refused ones included, and says whether it passes. `counters` is
/// replaced by the windows of `quotas`; a counter that is missing, of another window, or of a future start
/// (a clock that went back) begins anew.
pub fn charge(quotas: &[Quota], counters: &mut Vec<Counter>, now: Timestamp) -> Admission {
    let mut charged = Vec::with_capacity(quotas.len());
    let mut least: Option<Remaining> = None;
    let mut latest: Option<Span> = None;
    for quota in quotas {
        let span = quota.span.as_millis();
        let start = now.as_millis() - now.as_millis() % span;
        let used = counters.iter().find(|c| c.span == span && c.start == start).map_or(0, |c| c.used).saturating_add(1);
        charged.push(Counter { span, start, used });
        let reset = Timestamp::from_millis(start + span).since(now);
        let left = quota.count.saturating_sub(used);
        if least.is_none_or(|l| (left, std::cmp::Reverse(reset)) < (l.left, std::cmp::Reverse(l.reset))) {
            least = Some(Remaining { limit: quota.count, left, reset });
        }
        if used > quota.count {
            latest = latest.max(Some(reset));
        }
    }
    *counters = charged;
    match (latest, least) {
        (Some(retry_after), Some(remaining)) => Admission::Deny { retry_after, remaining },
        (_, least) => Admission::Admit(least),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_millis(secs * 1000)
    }

    #[test]
    fn refused_requests_count_and_the_latest_exhausted_window_decides() {
        let quotas = [Quota::parse("2/m").unwrap(), Quota::parse("3/h").unwrap()];
        let mut counters = Vec::new();
        let mut next = |secs| charge(&quotas, &mut counters, at(secs));
        assert_eq!(next(3600), Admission::Admit(Some(Remaining { limit: 2, left: 1, reset: Span::from_secs(60) })));
        assert!(matches!(next(3600), Admission::Admit(_)));
        assert!(matches!(next(3610), Admission::Deny { retry_after, .. } if retry_after == Span::from_secs(50)));
        // The refused third request used up the hour as well.
        assert!(matches!(next(3660), Admission::Deny { retry_after, .. } if retry_after == Span::from_secs(3540)));
        assert!(matches!(next(7200), Admission::Admit(_)));
    }

    #[test]
    fn a_quota_is_a_count_and_a_span() {
        assert_eq!(Quota::parse("10/10m"), Some(Quota { count: 10, span: Span::from_minutes(10) }));
        for bad in ["", "10", "0/m", "-1/m", "1/0s", "1/", "1/500d", "x/m"] {
            assert_eq!(Quota::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn never_more_than_the_limit_passes_in_a_window(count in 1u32..20, moments in proptest::collection::vec(0i64..300, 0..200)) {
            let quota = Quota { count, span: Span::from_minutes(1) };
            let mut sorted = moments;
            sorted.sort_unstable();
            let mut counters = Vec::new();
            let mut passed = std::collections::HashMap::new();
            for secs in sorted {
                if let Admission::Admit(_) = charge(&[quota], &mut counters, at(secs)) {
                    *passed.entry(secs / 60).or_insert(0u32) += 1;
                }
            }
            prop_assert!(passed.values().all(|&n| n <= count));
        }
    }
}
