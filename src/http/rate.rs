//! The rate limit of one request, and what its answer says about it.

use hyper::header::{HeaderName, HeaderValue};
use tokio::task::spawn_blocking;

use super::server::Reply;
use crate::domain::quota::{Admission, Quota, Remaining};
use crate::domain::time::{Span, Timestamp};
use crate::store::{Charge, Throttle};

/// What the charge came to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rate {
    /// The request passes.
    Within(Option<Remaining>),
    /// Only an exact repeat is still answered.
    Over {
        /// When to come again.
        retry_after: Span,
        /// For the headers.
        remaining: Remaining,
    },
}

impl Rate {
    /// Charges one request to `key`.
    pub(super) async fn charge(throttle: &Throttle, key: String, quotas: &[Quota], now: Timestamp) -> Self {
        if quotas.is_empty() {
            return Self::Within(None);
        }
        let charge = match throttle.charge(&key, quotas, now) {
            Charge::Contended => {
                let (throttle, quotas) = (throttle.clone(), quotas.to_vec());
                let waiting = spawn_blocking(move || throttle.charge_waiting(&key, &quotas, now));
                // A thread that panicked or never ran is a failed limiter, and a failed limiter lets pass.
                waiting.await.unwrap_or(Charge::Open)
            }
            decided @ (Charge::Counted(_) | Charge::Open) => decided,
        };
        match charge {
            Charge::Counted(Admission::Admit(remaining)) => Self::Within(remaining),
            Charge::Counted(Admission::Deny { retry_after, remaining }) => Self::Over { retry_after, remaining },
            Charge::Contended | Charge::Open => Self::Within(None),
        }
    }

    /// Puts `X-RateLimit-*` on an answer that is given after the charge.
    pub(super) fn apply(self, reply: &mut Reply) {
        let (Self::Within(Some(remaining)) | Self::Over { remaining, .. }) = self else { return };
        let headers = reply.headers_mut();
        let mut put = |name: &'static str, value: HeaderValue| {
            headers.insert(HeaderName::from_static(name), value);
        };
        put("x-ratelimit-limit", HeaderValue::from(remaining.limit));
        put("x-ratelimit-remaining", HeaderValue::from(remaining.left));
        put("x-ratelimit-reset", HeaderValue::from(remaining.reset.as_secs_ceil()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_after_the_charge_names_the_window_with_the_least_left() {
        let remaining = Remaining { limit: 10, left: 3, reset: Span::from_millis(1500) };
        let mut reply = Reply::default();
        Rate::Within(Some(remaining)).apply(&mut reply);
        assert_eq!(reply.headers()["x-ratelimit-limit"], "10");
        assert_eq!(reply.headers()["x-ratelimit-remaining"], "3");
        assert_eq!(reply.headers()["x-ratelimit-reset"], "2");
        let mut reply = Reply::default();
        Rate::Within(None).apply(&mut reply);
        assert!(reply.headers().is_empty());
    }
}
