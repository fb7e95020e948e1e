//! Mail servers that misbehave.

use super::super::attempt::{Ended, attempt};
use super::super::{LIMIT, sample};
use crate::clock::Clock;
use crate::config::{Authorities, Security, Server, Transport};
use crate::domain::delivery::Verdict;
use crate::outbound::Outbound;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// One attempt at the sample mail.
fn sent_by(transport: Transport) -> Ended {
    let mail = sample::mail(transport);
    attempt(&sample::email_claim(), Some(&mail), &Outbound::new(LIMIT), &Clock::system(), |_, _| panic!("no file"))
}

/// A private authority.
fn authorities() -> Authorities {
    use rustls::pki_types::{CertificateDer, pem::PemObject as _};
    let pem = include_bytes!("../../../tests/data/tls/mail-ca.pem");
    let certificates = vec![CertificateDer::from_pem_slice(pem).unwrap().to_vec()];
    Authorities { file: "ca.pem".into(), certificates }
}

/// A script that greets and goes on with `more`.
fn after_greeting(more: &[(&'static str, &'static str)]) -> sample::Peer {
    sample::Peer::smtp(&[&[("", "220 mx ESMTP\r\n"), ("EHLO", "250-mx\r\n250 8BITMIME\r\n")], more].concat())
}

/// All the way to the message.
const TO_DATA: [(&str, &str); 3] = [("MAIL", "250 ok\r\n"), ("RCPT", "250 ok\r\n"), ("DATA", "354 go\r\n")];

#[test]
fn a_mail_is_delivered_at_the_reply_to_its_message() {
    let peer =
        after_greeting(&[&TO_DATA[..], &[(".", "250 2.0.0 queued as AB12\r\n"), ("QUIT", "221 bye\r\n")]].concat());
    assert_eq!(sent_by(peer.transport()), Ended::new(Verdict::Accepted, "250 2.0.0 queued as AB12"));
    let heard = peer.heard.recv().unwrap();
    let (hello, heard) = heard.split_once("\r\n").unwrap();
    assert!(hello.starts_with("EHLO ") && hello.contains('.'), "{hello}");
    assert!(
        heard.starts_with("MAIL FROM:<forms@acme.example>\r\nRCPT TO:<sales@acme.example>\r\nDATA\r\nFrom: "),
        "{heard}"
    );
    assert!(heard.ends_with("\r\n.\r\nQUIT\r\n"), "{heard}");
    assert_eq!(heard.matches('\n').count(), heard.matches("\r\n").count());
}

#[test]
fn silence_at_quit_changes_nothing() {
    let peer = after_greeting(&[&TO_DATA[..], &[(".", "250 ok\r\n")]].concat());
    let started = Instant::now();
    assert_eq!(sent_by(peer.transport()).verdict, Verdict::Accepted);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(peer.heard.recv().unwrap().matches("DATA\r\n").count(), 1);
}

#[test]
fn refusals_and_broken_connections_are_tried_later() {
    let at = |n: usize, answer: (&'static str, &'static str)| after_greeting(&[&TO_DATA[..n], &[answer]].concat());
    for (peer, note) in [
        (sample::Peer::smtp(&[("", "421 4.3.2 busy\r\n")]), "421 4.3.2 busy"),
        (sample::Peer::smtp(&[("", "554 no\r\n")]), "554 no"),
        (sample::Peer::smtp(&[("", "SSH-2.0-hello\r\n")]), "the mail server's answer is not readable SMTP"),
        (sample::Peer::smtp(&[("", "drop")]), "the mail server closed the connection"),
        (at(0, ("MAIL", "451 4.7.1 greylisted\r\n")), "451 4.7.1 greylisted"),
        (at(1, ("RCPT", "550 5.1.1 <sales@acme.example> unknown\r\n")), "550 5.1.1 (address) unknown"),
        (at(1, ("RCPT", "450-4.2.0 full\r\n450 4.2.0 really\r\n")), "450 4.2.0 full really"),
        (at(2, ("DATA", "250 ok\r\n")), "unexpected reply 250 to DATA"),
        (at(2, ("DATA", "drop")), "the mail server closed the connection"),
        (at(3, (".", "451 4.3.0 later\r\n")), "451 4.3.0 later"),
        (at(3, (".", "552 5.3.4 too big\r\n")), "552 5.3.4 too big"),
        (at(3, (".", "drop")), "the mail server closed the connection"),
    ] {
        let started = Instant::now();
        assert_eq!(sent_by(peer.transport()), Ended::later(note));
        assert!(started.elapsed() < Duration::from_secs(2), "{note}: {:?}", started.elapsed());
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = sent_by(Transport::Smtp(sample::server("localhost", closed.port())));
    assert_eq!(refused, Ended::later("mail server: connection refused"));
    let elsewhere = sent_by(Transport::Smtp(sample::server("192.0.2.1", 25)));
    assert_eq!(elsewhere, Ended::later("the mail server is not on this machine, and `tls` is `none`"));
}

#[test]
fn odd_but_lawful_answers_are_understood() {
    // A code alone, an EHLO line without a word, bare line feeds.
    let script = [
        ("", "220\r\n"),
        ("EHLO", "250-mx\n250-  \r\n250 SIZE 1000\n"),
        ("MAIL FROM:<forms@acme.example> SIZE=", "250\r\n"),
        ("RCPT", "250 \r\n"),
        ("DATA", "354\r\n"),
        (".", "250 2.0.0 ok\r\n"),
    ];
    assert_eq!(sent_by(sample::Peer::smtp(&script).transport()), Ended::new(Verdict::Accepted, "250 2.0.0 ok"));
}

#[test]
fn no_server_holds_a_send_longer_than_ten_seconds() {
    /// A server that greets and then writes `text` for ever, `pause` apart.
    fn endless(text: &'static str, pause: Duration) -> sample::Peer {
        sample::Peer::new(move |mut stream| {
            while stream.write_all(text.as_bytes()).is_ok() {
                std::thread::sleep(pause);
            }
            String::new()
        })
    }
    let silent = sample::Peer::smtp(&[]);
    let greeting = [("", "220 mx\r\n"), ("EHLO", "250-mx\r\n250 STARTTLS\r\n"), ("STARTTLS", "220 go\r\n")];
    let quick = Duration::from_micros(10);
    let peers = [
        (&silent, Security::None, "timeout"),
        (&silent, Security::Tls, "timeout"),
        (
            &silent,
            Security::StartTls,
            "timeout: the mail server sent no greeting; one that speaks TLS from the first byte, as on port 465, needs \
             `tls = \"tls\"`",
        ),
        (&sample::Peer::smtp(&greeting), Security::StartTls, "timeout"),
        (&after_greeting(&TO_DATA), Security::None, "timeout"),
        (&endless("2", Duration::from_millis(400)), Security::None, "timeout"),
        (&endless("220-mx\r\n", quick), Security::None, "the mail server's answers are too long"),
        (&endless("xxxxxxxxxxxxxxxx", quick), Security::None, "the mail server's answers are too long"),
        // A handshake of 65,535 bytes that drips, and plain words where TLS should begin.
        (&endless("\u{16}\u{3}\u{3}", Duration::from_millis(400)), Security::Tls, "timeout"),
        (
            &after_greeting(&[]),
            Security::Tls,
            "TLS with the mail server failed: it speaks without TLS; one that begins so, as on port 587, needs \
             `tls = \"starttls\"`",
        ),
    ];
    let started = Instant::now();
    let sends: Vec<_> = peers
        .iter()
        .map(|(peer, security, _)| Server { security: *security, ca: Some(authorities()), ..peer.server() })
        .map(|server| std::thread::spawn(move || sent_by(Transport::Smtp(server))))
        .collect();
    for (send, (_, _, note)) in sends.into_iter().zip(&peers) {
        assert_eq!(send.join().unwrap(), Ended::later(note));
    }
    assert!(started.elapsed() < Duration::from_millis(10_800), "{:?}", started.elapsed());
}

#[test]
fn a_server_that_stops_reading_holds_a_send_no_longer_than_its_limit() {
    let peer = sample::Peer::new(|mut stream| {
        drop(stream.write_all(b"220 mx\r\n250 mx\r\n250 ok\r\n250 ok\r\n354 go\r\n"));
        std::thread::sleep(Duration::from_secs(3));
        String::new()
    });
    let (from, to) = ("a@b.example".parse().unwrap(), "c@d.example".parse().unwrap());
    let message = "a line\r\n".repeat(3_000_000);
    let started = Instant::now();
    let said = super::send(&peer.server(), &from, &to, message.as_bytes(), Duration::from_millis(500));
    assert_eq!(said, Err("timeout".to_owned()));
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[test]
fn a_message_arrives_as_it_was_wherever_it_is_cut() {
    let message =
        b"H: v\r\n\r\n".iter().chain(b".\r\n..\r\n.a\r\n".repeat(20_000).iter()).copied().collect::<Vec<u8>>();
    let peer = after_greeting(&[&TO_DATA[..], &[(".", "250 ok\r\n"), ("QUIT", "221 bye\r\n")]].concat());
    let (from, to) = ("a@b.example".parse().unwrap(), "c@d.example".parse().unwrap());
    super::send(&sample::server("127.0.0.1", peer.address.port()), &from, &to, &message, LIMIT).unwrap();
    let heard = peer.heard.recv().unwrap();
    let (_, sent) = heard.split_once("DATA\r\n").unwrap();
    let sent = sent.strip_suffix(".\r\nQUIT\r\n").unwrap();
    let unstuffed: Vec<&str> = sent.split("\r\n").map(|line| line.strip_prefix('.').unwrap_or(line)).collect();
    assert!(unstuffed.join("\r\n").as_bytes() == message);
}
