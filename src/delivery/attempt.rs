//! One attempt at one claimed delivery: what the peer, or the lack of one, said. It writes nothing into the store
//! and cannot panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{mail, note, webhook};
use crate::clock::Clock;
use crate::config::Mail;
use crate::domain::delivery::Verdict;
use crate::domain::ids::DeliveryId;
use crate::domain::target::Target;
use crate::outbound::Outbound;
use crate::store::{Claim, StoreError};

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// What it means for the delivery.
    pub verdict: Verdict,
    /// What was said, one line: of a mail server at most 200 characters without addresses, of a webhook's receiver its
    /// status and the first 200 characters of its answer.
    pub note: String,
}

impl Ended {
    /// Ended with `verdict`; `said` is scrubbed.
    pub fn new(verdict: Verdict, said: &str) -> Self {
        Self { verdict, note: note::scrub(said) }
    }

    /// Failed for now, and nobody said how long to wait.
    pub fn later(said: &str) -> Self {
        Self::new(Verdict::TryLater { after: None }, said)
    }
}

/// Makes the attempt, on this thread, within the time of contract 10.5. `mail` is the mail set-up in force, `keep`
/// writes a mail of the file transport.
pub fn attempt(
    claim: &Claim,
    mail: Option<&Mail>,
    outbound: &Outbound,
    clock: &Clock,
    keep: impl Fn(DeliveryId, &[u8]) -> Result<(), StoreError>,
) -> Ended {
    let made = catch_unwind(AssertUnwindSafe(|| match &claim.target {
        Target::Email(target) => mail::send(mail, target, claim, keep),
        Target::Confirmation(target) => mail::confirm(mail, target, claim, keep),
        Target::Webhook(target) => webhook::send(target, claim, outbound, clock),
    }));
    made.unwrap_or_else(|_| {
        // The panic's own text may hold values; the panic hook decides about it, not this line.
        tracing::error!(event = "delivery_panic", delivery = %claim.id, "an attempt panicked; it counts as failed for now");
        Ended::later("internal error")
    })
}

#[cfg(test)]
mod tests {
    use super::super::{LIMIT, sample};
    use super::*;
    use crate::config::Transport;
    use std::cell::RefCell;

    #[test]
    fn a_mail_of_the_file_transport_is_written_under_its_delivery() {
        let claim = sample::email_claim();
        let mail = sample::mail(Transport::File);
        let written = RefCell::new(Vec::new());
        let keep = |id: DeliveryId, bytes: &[u8]| {
            written.borrow_mut().push((id, bytes.to_vec()));
            Ok(())
        };
        let ended = attempt(&claim, Some(&mail), &Outbound::new(LIMIT), &Clock::system(), keep);
        assert_eq!(ended.verdict, Verdict::Accepted);
        let written = written.into_inner();
        assert_eq!(written.len(), 1);
        assert_eq!(written[0].0, claim.id);
        assert!(written[0].1.starts_with(b"From: Forms <forms@acme.example>\r\n"));
    }

    #[test]
    fn without_a_mail_set_up_a_mail_waits() {
        let ended = attempt(&sample::email_claim(), None, &Outbound::new(LIMIT), &Clock::system(), |_, _| Ok(()));
        assert_eq!(ended, Ended::later("mail not configured"));
    }

    #[test]
    fn a_panic_costs_one_attempt() {
        let mail = sample::mail(Transport::File);
        let ended = attempt(&sample::email_claim(), Some(&mail), &Outbound::new(LIMIT), &Clock::system(), |_, _| {
            panic!("boom")
        });
        assert_eq!(ended, Ended::later("internal error"));
    }
}
