//! What an alert says, word by word.

use super::text::*;
use crate::delivery::sample::ARRIVED;
use crate::domain::delivery::{Channel, Reason};
use crate::domain::ids::{DeliveryId, ReceiptId};
use crate::domain::time::{Span, Timestamp};
use crate::store::{Failure, Failures};

/// A webhook that was refused.
fn failure(number: u32) -> Failure {
    Failure {
        id: DeliveryId { receipt: ReceiptId::new(Timestamp::from_millis(ARRIVED), number), n: 2 },
        site: "acme".into(),
        form: "quote".into(),
        channel: Channel::Webhook,
        destination: "crm".into(),
        reason: Reason::Refused,
        attempts: 1,
        failed_at: Some(Timestamp::from_millis(ARRIVED + 12)),
        note: Some("HTTP 422: name `Anna` is not known".into()),
    }
}

/// A mail that was tried in vain, without a note.
fn exhausted(number: u32) -> Failure {
    Failure {
        channel: Channel::Email,
        destination: "sales".into(),
        reason: Reason::Exhausted,
        attempts: 5,
        failed_at: None,
        note: None,
        ..failure(number)
    }
}

#[test]
fn the_mail_says_how_many_where_which_and_what_to_do() {
    let failures = Failures::of(vec![failure(1), exhausted(2), failure(3)]);
    assert_eq!(subject(&failures), "formd: 3 deliveries failed");
    let first = failure(1).id;
    let expected = format!(
        "3 deliveries failed for good: no further attempt is made unless you ask for one.
Server: https://forms.example.com

Where:
  2 of acme/quote to crm
  1 of acme/quote to sales

Which:
  {first}  acme/quote to crm by webhook, refused after 1 attempt, 2026-11-30T16:28:19.019Z: HTTP 422
  {}  acme/quote to sales by mail, exhausted after 5 attempts
  {}  acme/quote to crm by webhook, refused after 1 attempt, 2026-11-30T16:28:19.019Z: HTTP 422

The submissions are kept. On the server:
  formctl deliveries --state failed   lists every failed delivery
  formctl show {}          shows one with its attempts and what the peer said
  formctl resend --failed             sends all of them again, once the cause is mended
  formctl deliveries --ack            ends the alarm where nothing is to be done

Further failures are told in one mail, 1h from now at the earliest.
",
        exhausted(2).id,
        failure(3).id,
        first.receipt
    );
    assert_eq!(mail(&failures, Some("https://forms.example.com"), Span::from_hours(1)), expected);
}

#[test]
fn of_many_failures_all_are_counted_and_twenty_are_named() {
    let failures = Failures::of((1..=57).map(failure).collect());
    let text = mail(&failures, None, Span::from_hours(1));
    assert!(text.starts_with("57 deliveries failed for good") && text.contains("57 of acme/quote to crm"), "{text}");
    assert!(text.contains("Which (the first 20):"), "{text}");
    assert_eq!(text.matches("by webhook").count(), 20);
    let json: serde_json::Value = serde_json::from_slice(&json(&failures).unwrap()).unwrap();
    assert_eq!(json["failed"], 57);
    assert_eq!(json["deliveries"].as_array().unwrap().len(), 20);
}

#[test]
fn destinations_beyond_fifty_are_counted() {
    let elsewhere = |number| Failure { destination: format!("to-{number}"), ..failure(number) };
    let text = mail(&Failures::of((1..=53).map(elsewhere).collect()), None, Span::from_hours(1));
    assert!(text.contains("  and to 3 other destinations\n"), "{text}");
}

#[test]
fn the_webhook_names_the_same() {
    let failures = Failures::of(vec![failure(1), exhausted(2)]);
    let (first, second) = (failure(1).id, exhausted(2).id);
    let expected = serde_json::json!({
        "event": "delivery.failed",
        "failed": 2,
        "deliveries": [
            {
                "id": first.to_string(), "receipt": first.receipt.to_string(), "site": "acme", "form": "quote",
                "channel": "webhook", "destination": "crm", "reason": "refused", "attempts": 1,
                "failed_at": "2026-11-30T16:28:19.019Z", "note": "HTTP 422",
            },
            {
                "id": second.to_string(), "receipt": second.receipt.to_string(), "site": "acme", "form": "quote",
                "channel": "email", "destination": "sales", "reason": "exhausted", "attempts": 5,
                "failed_at": null, "note": null,
            },
        ],
    });
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&json(&failures).unwrap()).unwrap(), expected);
}

#[test]
fn of_what_a_peer_said_only_the_code_is_told() {
    for (note, told) in [
        ("HTTP 422: {\"error\":\"Anna is not known\"}", "HTTP 422"),
        ("HTTP 302", "HTTP 302"),
        ("550 5.1.1 (address) no such user Anna", "550 5.1.1"),
        ("554 Anna is spam", "554"),
        ("unexpected reply 250 to RCPT", "unexpected reply 250"),
        ("timeout", "timeout"),
        ("mail server: connection refused", "mail server: connection refused"),
        ("TLS failed: invalid peer certificate: UnknownIssuer", "TLS failed: invalid peer certificate: UnknownIssuer"),
        ("", ""),
    ] {
        assert_eq!(without_words(note), told, "{note}");
    }
}
