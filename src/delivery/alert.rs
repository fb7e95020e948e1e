//! The operator is told of what failed for good: one message about everything that no message has named yet.
//!
//! Guarantees. At most one message in `at_most_every`, over restarts and whoever sends it; it names each failure once,
//! and again only when it was sent again and has failed anew. Nothing of a visitor stands in it ([`text`]). It leaves
//! off the path of deliveries: on a thread of its own ([`watch`]), or at the end of `formctl deliver` where the daemon
//! sends nothing.
//!
//! What fails how. A try that fails is a log line, no delivery and no alarm; the next one comes after five minutes, or
//! `at_most_every` where that is shorter. The try is written down before the message leaves, so a crash never makes two
//! of one moment; a crash behind the peer's acceptance repeats the message later under the same `Message-ID` or
//! `webhook-id`. A clock that was set back makes a message early, never late.
//!
//! Deliberately not done: confirmations, and what the operator or retention has ended, are no alarm; nobody is told that
//! a failure was mended.

mod text;
#[cfg(test)]
mod text_tests;
pub(super) mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::attempt::Ended;
use super::worker::{Deliverer, Inner};
use super::{LIMIT, mail, webhook};
use crate::config::{Alert, AlertHook, AlertWay, Daemon};
use crate::domain::delivery::Verdict;
use crate::domain::signing;
use crate::domain::time::{Span, Timestamp};
use crate::outbound::{Call, Method};
use crate::store::{AlertTimes, Begun, Failures, StoreError};

/// The longest wait after a try that failed.
const RETRY: Span = Span::from_minutes(5);

/// What a look at the failures came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alerted {
    /// There is nobody to tell, nothing to be told, or it is too early.
    Nothing,
    /// A message about so many failures was taken.
    Sent(u64),
    /// It was not taken, for this reason.
    Failed(String),
}

impl Deliverer {
    /// Tells the operator of new failures when it is time, on this thread: for `formctl deliver`. It asks nobody whether
    /// the daemon delivers.
    pub fn alert(&self) -> Result<Alerted, StoreError> {
        self.inner.alert()
    }
}

impl Inner {
    /// Sends one message about all failures that none has named, when it is time.
    pub(super) fn alert(&self) -> Result<Alerted, StoreError> {
        let config = self.current.get();
        let Some(alert) = &config.daemon.alert else { return Ok(Alerted::Nothing) };
        let (times, now) = (self.store.alert_times()?, self.clock.now());
        if !is_due(times, alert.at_most_every, now) {
            return Ok(Alerted::Nothing);
        }
        let failures = self.store.failures()?;
        let Some(name) = failures.name() else { return Ok(Alerted::Nothing) };
        if self.store.begin_alert(times, now)? == Begun::Others {
            return Ok(Alerted::Nothing);
        }
        let sent = catch_unwind(AssertUnwindSafe(|| self.send_alert(&config.daemon, alert, &failures, &name, now)));
        let ended = sent.unwrap_or_else(|_| Ended::later("internal error"));
        if ended.verdict != Verdict::Accepted {
            let why = text::without_words(&ended.note);
            tracing::error!(
                event = "alert_failed",
                failed = failures.count(),
                why,
                "an alert was not taken; it is tried again"
            );
            return Ok(Alerted::Failed(why));
        }
        self.store.settle_alert(&failures, self.clock.now())?;
        tracing::info!(event = "alert_sent", failed = failures.count(), "the operator was told of failed deliveries");
        Ok(Alerted::Sent(failures.count()))
    }

    /// Sends the message `name` once.
    fn send_alert(&self, daemon: &Daemon, alert: &Alert, failures: &Failures, name: &str, now: Timestamp) -> Ended {
        match &alert.way {
            AlertWay::Email(to) => {
                let Some(mail) = &daemon.mail else { return Ended::later("mail not configured") };
                let head = mail::Head { name, to, subject: text::subject(failures), date: now };
                let text = text::mail(failures, daemon.public_url.as_deref(), alert.at_most_every);
                match mail::plain(mail, head, text) {
                    Ok(composed) => {
                        mail::leave(mail, &composed, LIMIT, |bytes| self.store.directory().write_alert(bytes))
                    }
                    Err(why) => Ended::later(&why.to_string()),
                }
            }
            AlertWay::Webhook(hook) => match text::json(failures) {
                Ok(body) => webhook::post(&call(hook, name, body, now), &[], &self.outbound, &self.clock),
                Err(_) => Ended::later("the failures cannot be written as JSON"),
            },
        }
    }
}

/// The call of the message `name`, signed like a submission's.
fn call(hook: &AlertHook, name: &str, body: Vec<u8>, now: Timestamp) -> Call {
    let mut headers = vec![
        ("Content-Type", "application/json".to_owned()),
        ("X-Formd-Event", text::EVENT.to_owned()),
        ("X-Formd-Delivery", name.to_owned()),
    ];
    headers.extend(signing::headers(&hook.signing, name, now, &body));
    let reach = webhook::reach(&hook.url, hook.allow_private);
    Call { method: Method::Post, url: hook.url.clone(), headers, body, reach }
}

/// Whether a message may be sent: `every` after the last one that was taken, and some minutes after the last try. A
/// moment that is still to come was written before the clock was set back, and holds nothing up.
fn is_due(times: AlertTimes, every: Span, now: Timestamp) -> bool {
    let over = |last: Option<Timestamp>, wait: Span| last.is_none_or(|at| at > now || now >= at.plus(wait));
    over(times.sent, every) && over(times.tried, RETRY.min(every))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_for_the_last_one_and_a_try_for_the_last_try() {
        let now = Timestamp::from_millis(1_796_056_099_007);
        let ago = |minutes| Some(now.minus(Span::from_minutes(minutes)));
        let hour = Span::from_hours(1);
        let ahead = Some(now.plus(hour));
        for (sent, tried, every, due) in [
            (None, None, hour, true),
            (ago(60), ago(60), hour, true),
            (ago(59), ago(59), hour, false),
            // A try that failed.
            (ago(90), ago(4), hour, false),
            (ago(90), ago(5), hour, true),
            (None, ago(4), hour, false),
            (None, ago(2), Span::from_minutes(2), true),
            // The clock was an hour ahead when these were written.
            (ahead, ahead, hour, true),
            (ago(59), ahead, hour, false),
        ] {
            assert_eq!(is_due(AlertTimes { tried, sent }, every, now), due, "{sent:?} {tried:?} {every}");
        }
    }
}
