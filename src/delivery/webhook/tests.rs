//! Webhooks as they leave, and what answers mean.

use super::super::{LIMIT, sample};
use super::*;
use crate::domain::submission::Role;
use crate::domain::target::{Disclosure, Target};
use crate::domain::time::{Span, Timestamp};
use std::io::Write as _;
use std::time::{Duration, Instant};

/// The bytes of the object.
fn body(claim: &Claim) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&object(claim))
}

/// One attempt at a peer, at 2026-11-30T12:00:00Z.
fn sent_to(url: &str) -> Ended {
    let clock = Clock::stepped(Timestamp::parse("2026-11-30T12:00:00Z").unwrap());
    send(&sample::webhook_target(url), &sample::webhook_claim(url), &Outbound::new(LIMIT), &clock)
}

#[test]
fn the_body_byte_for_byte() {
    let claim = sample::webhook_claim("https://crm.example/hook");
    insta::assert_snapshot!(String::from_utf8(body(&claim).unwrap()).unwrap(), @r#"{"event":"form.submitted","receipt":"0cpew90by0007","site":"acme","form":"quote","page":"pricing","locale":"en","section":"quote","submitted_at":"2026-11-30T16:28:19.007Z","values":{"name":"Anna","email":"anna@home.example","message":"Hello\n\nBcc: x@evil.example","phone":"","colours":["red","blue"],"agree":true},"labels":{"name":"Name","email":"E-mail","message":"Message","phone":"Phone","colours":"Colours","agree":"I agree"},"consent":true,"attachments":{"file":[{"id":"0cpew90by0007-a1","name":"plan.pdf","type":"application/pdf","size":13}]}}"#);
    assert_eq!(body(&claim).unwrap(), body(&Claim { attempt: 3, token: 9, ..claim }).unwrap());
}

#[test]
fn the_body_of_an_empty_submission() {
    let mut claim = sample::webhook_claim("https://crm.example/hook");
    claim.contents.fields.clear();
    (claim.contents.consent, claim.page) = (None, None);
    claim.attachments.clear();
    let text = String::from_utf8(body(&claim).unwrap()).unwrap();
    assert!(text.ends_with(r#""values":{},"labels":{},"consent":null,"attachments":{}}"#), "{text}");
    assert!(text.contains(r#""page":null,"#), "{text}");
}

#[test]
fn a_name_that_came_twice_is_one_member() {
    let mut claim = sample::webhook_claim("https://crm.example/hook");
    claim.contents.fields = vec![
        sample::plain("a", "1"),
        sample::plain("b", "2"),
        sample::field("a", "a", Role::Plain, Value::List(vec!["3".into(), "4".into()])),
    ];
    claim.attachments.push(sample::attachment(2, "file", "b.pdf", b"%PDF"));
    let body: serde_json::Value = serde_json::from_slice(&body(&claim).unwrap()).unwrap();
    assert_eq!(body["values"], serde_json::json!({"a": ["1", "3", "4"], "b": "2"}));
    assert_eq!(body["attachments"]["file"].as_array().unwrap().len(), 2);
}

#[test]
fn a_note_repeats_no_secret_address_that_the_receiver_repeated() {
    let peer = sample::Peer::http(
        "HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\nCannot POST /services/T0/kEyOfTheChat?k=v\n",
    );
    let url = format!("http://{}/services/T0/kEyOfTheChat?k=v", peer.address);
    let target = WebhookTarget { disclosure: Disclosure::Host, ..sample::webhook_target(&url) };
    let ended = send(&target, &sample::webhook_claim(&url), &Outbound::new(LIMIT), &Clock::system());
    assert_eq!(ended, Ended::new(Verdict::Refused, "HTTP 404: Cannot POST (secret)"));
}

#[test]
fn the_request_carries_the_exact_body_and_its_signature() {
    let peer = sample::Peer::http("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(sent_to(&peer.url()), Ended::new(Verdict::Accepted, "HTTP 204"));
    let request = peer.heard.recv().unwrap();
    let (head, sent) = request.split_once("\r\n\r\n").unwrap();
    let claim = sample::webhook_claim(&peer.url());
    let expected = body(&claim).unwrap();
    assert_eq!(sent.as_bytes(), expected);
    let mut lines: Vec<String> = head
        .lines()
        .skip(1)
        .map(|line| line.split_once(':').map_or(line.into(), |(n, v)| format!("{}:{v}", n.to_ascii_lowercase())))
        .collect();
    lines.sort();
    let mut wanted = vec![
        format!("host: {}", peer.address),
        format!("content-length: {}", expected.len()),
        "content-type: application/json".to_owned(),
        "connection: close".to_owned(),
        concat!("user-agent: formd/", env!("CARGO_PKG_VERSION")).to_owned(),
        "x-formd-event: form.submitted".to_owned(),
        format!("x-formd-delivery: {}", claim.id),
    ];
    let Target::Webhook(WebhookTarget { format: Format::Formd(signing), .. }) = &claim.target else { panic!("a chat") };
    let at = Timestamp::parse("2026-11-30T12:00:00Z").unwrap();
    let proof = signing::headers(signing, &claim.id.to_string(), at, &expected);
    wanted.extend(proof.map(|(name, value)| format!("{}: {value}", name.to_ascii_lowercase())));
    wanted.sort();
    assert_eq!(lines, wanted);
    assert!(head.starts_with("POST /hook HTTP/1.1\r\n"), "{head}");
}

#[test]
fn answers_mean_what_the_contract_says() {
    let later = |secs: Option<i64>| Verdict::TryLater { after: secs.map(Span::from_secs) };
    for (status, header, verdict) in [
        ("200 OK", "", Verdict::Accepted),
        ("299 Odd", "", Verdict::Accepted),
        ("500 Oops", "", later(None)),
        ("503 Busy", "Retry-After: 7\r\n", later(Some(7))),
        ("429 Slow", "Retry-After: 120\r\n", later(Some(120))),
        ("429 Slow", "Retry-After: Mon, 30 Nov 2026 12:02:00 GMT\r\n", later(Some(120))),
        ("429 Slow", "Retry-After: soon\r\n", later(None)),
        ("408 Late", "", later(None)),
        ("302 Found", "Location: /other\r\n", Verdict::Refused),
        ("307 Again", "Location: /other\r\n", Verdict::Refused),
        ("400 Bad", "", Verdict::Refused),
        ("401 No", "", Verdict::Refused),
        ("410 Gone", "Retry-After: 7\r\n", Verdict::Refused),
        ("600 What", "", Verdict::Refused),
    ] {
        let peer = sample::Peer::http(&format!("HTTP/1.1 {status}\r\n{header}Content-Length: 2\r\n\r\nok"));
        let ended = sent_to(&peer.url());
        assert_eq!(
            (ended.verdict, ended.note.as_str()),
            (verdict, &*format!("HTTP {}: ok", &status[..3])),
            "{status} {header}"
        );
        peer.heard.recv().unwrap();
        assert!(peer.heard.recv_timeout(Duration::from_millis(20)).is_err(), "one request: {status}");
    }
}

#[test]
fn every_status_means_one_of_three_things() {
    let clock = Clock::stepped(Timestamp::parse("2026-11-30T12:00:00Z").unwrap());
    let forms = [None, Some("7"), Some("Mon, 30 Nov 2026 12:00:07 GMT"), Some("-1")];
    for (status, header) in (200..=999).flat_map(|status| forms.map(|header| (status, header))) {
        let answer = Answer { status, retry_after: header.map(str::to_owned), beginning: Vec::new() };
        let after = header.filter(|text| *text != "-1").map(|_| Span::from_secs(7));
        let expected = match status / 100 {
            2 => Verdict::Accepted,
            5 => Verdict::TryLater { after },
            _ if status == 408 || status == 429 => Verdict::TryLater { after },
            _ => Verdict::Refused,
        };
        assert_eq!(judge(&answer, &[], &clock).verdict, expected, "{status} {header:?}");
    }
}

#[test]
fn peers_that_misbehave_cost_one_attempt() {
    let note = |answer: &str| sent_to(&sample::Peer::http(answer).url());
    assert_eq!(note(""), Ended::later("connection failed: unexpected end of file"));
    assert_eq!(note("SSH-2.0-hello\r\n\r\n"), Ended::later("the answer is not readable HTTP"));
    assert_eq!(
        note(&format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(17_000))),
        Ended::later("the answer is not readable HTTP")
    );
    // A body that is huge, or broken, takes nothing back.
    assert_eq!(
        note(&format!("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n{}", "x".repeat(9_000_000))).verdict,
        Verdict::Accepted
    );
    assert_eq!(note("HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\nx").verdict, Verdict::Accepted);
    assert_eq!(
        note("HTTP/1.1 500 No\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nxyz"),
        Ended::later("HTTP 500: xyz")
    );
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(sent_to(&format!("http://{closed}/")), Ended::later("connection failed: connection refused"));
    assert_eq!(sent_to("http://[::bad/").verdict, Verdict::Refused);
}

#[test]
fn a_silent_or_dripping_peer_holds_a_send_for_ten_seconds_at_most() {
    /// Writes `text` again and again, half a second apart, as long as anybody listens.
    fn drip(start: &'static str, text: &'static str) -> sample::Peer {
        sample::Peer::new(move |mut stream| {
            let request = sample::read_request(&mut stream);
            let mut wrote = stream.write_all(start.as_bytes());
            while wrote.is_ok() {
                std::thread::sleep(Duration::from_millis(500));
                wrote = stream.write_all(text.as_bytes());
            }
            request
        })
    }
    let peers = [
        drip("", ""),
        drip("HTTP/1.1 200 OK\r\nX: ", "x"),
        drip("", "HTTP/1.1 100 Continue\r\n\r\n"),
        drip("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", "x"),
    ];
    let started = Instant::now();
    let sends: Vec<_> = peers
        .iter()
        .map(|peer| {
            let url = peer.url();
            std::thread::spawn(move || sent_to(&url))
        })
        .collect();
    let ended: Vec<Ended> = sends.into_iter().map(|send| send.join().unwrap()).collect();
    let took = started.elapsed();
    assert!(took < Duration::from_millis(10_800), "{took:?}");
    for ended in &ended[..3] {
        assert_eq!(*ended, Ended::later("timeout"));
    }
    // Its status had come: the receiver has the submission.
    assert_eq!(ended[3].verdict, Verdict::Accepted);
}

#[test]
fn a_private_target_is_not_called() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in
        ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0", "[::1]", "[::ffff:127.0.0.1]", "127.1", "0177.0.0.1"]
    {
        let ended = sent_to(&format!("https://{host}:{port}/"));
        assert!(matches!(ended.verdict, Verdict::TryLater { .. }), "{host}: {ended:?}");
        assert!(
            ended.note.starts_with("the address is private") || ended.note.contains("name is not known"),
            "{host}: {ended:?}"
        );
    }
    assert!(listener.accept().is_err(), "nobody called");
    assert_eq!(reach("HTTP://localhost/", false), Reach::Loopback);
    let open = WebhookTarget { allow_private: true, ..sample::webhook_target("https://10.0.0.5/") };
    assert_eq!(reach(&open.url, open.allow_private), Reach::Any);
}
