//! Mail servers of every kind through the whole daemon: what each makes of a delivery, in which words and for how
//! long; and what leaves when TLS or the login is not what it should be.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::missing_docs_in_private_items,
    clippy::cast_precision_loss,
    reason = "a test ends where it fails, and its name is its documentation"
)]

mod common;

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use common::client::pdf;
use common::mailpeer::{Certificate, Does, MailPeer, Setup, Tls};
use common::{FIELDS, World, submission, write_private};
use formd::harness::{Span, Timestamp};

const CA: &str = include_str!("data/tls/mail-ca.pem");
const OTHER_CA: &str = include_str!("data/tls/mail-other-ca.pem");

/// A world with one mail to deliver, whose `[mail]` leads to `peer` with these further lines.
fn world_to(peer: &MailPeer, lines: &str) -> (World, String) {
    let world = World::with("", &format!("[form.quote]\ndestinations = [\"sales\"]\n{FIELDS}"));
    let folder = world.config_file().parent().unwrap().to_owned();
    write_private(&folder.join("ca.pem"), CA);
    write_private(&folder.join("other-ca.pem"), OTHER_CA);
    write_private(&folder.join("self-signed.pem"), include_str!("data/tls/mail-self-signed.pem"));
    write_private(&folder.join("self-signed-ca.pem"), include_str!("data/tls/mail-self-signed-authority.pem"));
    std::fs::create_dir_all(folder.join("secrets")).unwrap();
    write_private(&folder.join("secrets/smtp"), "pass word 4711\n");
    let mail = format!("[mail]\nfrom = \"Forms <forms@example.com>\"\nport = {}\n{lines}", peer.address.port());
    let text = format!("listen = \"127.0.0.1:0\"\ndata_dir = \"data\"\n{mail}\n[delivery]\nenabled = false\n");
    write_private(&world.config_file(), &text);
    world.reload().unwrap();
    let receipt = world.post(&submission(), None).receipt();
    (world, receipt)
}

/// What an attempt came to.
#[derive(Debug)]
struct Came {
    state: String,
    note: String,
    /// Seconds until the next attempt.
    due: Option<i64>,
    took: Duration,
}

/// Makes one attempt.
fn attempt(world: &World, receipt: &str) -> Came {
    let started = Instant::now();
    assert_eq!(world.deliver(), 1);
    let took = started.elapsed();
    let delivery = world.show(receipt)["deliveries"][0].clone();
    let due = delivery["next_attempt_at"].as_str().map(|at| Timestamp::parse(at).unwrap());
    Came {
        state: format!("{} {}", delivery["state"].as_str().unwrap(), delivery["attempts"]),
        note: delivery["note"].as_str().unwrap().to_owned(),
        due: due.map(|at| at.since(world.clock.now()).as_millis() / 1000),
        took,
    }
}

/// One attempt at `setup` with these lines in `[mail]`, and what the server heard.
fn one_attempt(setup: Setup, lines: &str) -> (Came, MailPeer) {
    let peer = MailPeer::start(setup);
    let (world, receipt) = world_to(&peer, lines);
    (attempt(&world, &receipt), peer)
}

const PLAIN: &str = "host = \"127.0.0.1\"\ntls = \"none\"";
const STARTTLS: &str = "host = \"localhost\"\nca_file = \"ca.pem\"";
const LOGIN: &str = "\nusername = \"forms@example.com\"\npassword_file = \"smtp\"";

#[test]
fn each_of_twenty_servers_leaves_a_delivery_in_its_state_with_its_words_and_its_next_time() {
    let (later, taken) = ("retrying 1", "delivered 1");
    let closed = "the mail server closed the connection";
    let starttls = Setup::plain(Does::Ok);
    let cases = [
        (Setup::plain(Does::Ok), PLAIN, taken, "250 2.0.0 queued as ABC123", 1),
        (Setup::plain(Does::SilentAtQuit), PLAIN, taken, "250 2.0.0 queued as ABC123", 1),
        (Setup::plain(Does::Greylist), PLAIN, later, "451 4.7.1 Greylisted, try again later", 0),
        (Setup::plain(Does::Rcpt550), PLAIN, later, "550 5.1.1 no such user", 0),
        (Setup::plain(Does::Rcpt452), PLAIN, later, "452 4.2.2 mailbox full", 0),
        (Setup::plain(Does::Data554), PLAIN, later, "554 5.7.1 refused", 0),
        (Setup::plain(Does::Final451), PLAIN, later, "451 4.3.0 try later", 0),
        (Setup::plain(Does::Final550), PLAIN, later, "550 5.7.1 spam", 0),
        (Setup::plain(Does::DropAfterData), PLAIN, later, closed, 1),
        (Setup::plain(Does::DropMidData), PLAIN, later, "", 0),
        (Setup::plain(Does::HangBanner), PLAIN, later, "timeout", 0),
        (Setup::plain(Does::HangEhlo), PLAIN, later, "timeout", 0),
        (Setup::plain(Does::HangFinal), PLAIN, later, "timeout", 1),
        (Setup::plain(Does::Banner421), PLAIN, later, "421 4.3.2 busy", 0),
        (Setup::plain(Does::Banner554), PLAIN, later, "554 5.7.1 go away", 0),
        (Setup::plain(Does::NoEhlo), PLAIN, later, "502 5.5.1 no", 0),
        (Setup::plain(Does::Slow), PLAIN, later, "timeout", 0),
        (Setup::plain(Does::LongLine), PLAIN, later, "the mail server's answers are too long", 0),
        (Setup::plain(Does::Mail552), PLAIN, later, "552 5.3.4 too big", 0),
        (starttls, STARTTLS, later, "the mail server offers no STARTTLS", 0),
    ];
    let attempts: Vec<_> = cases
        .map(|(setup, lines, state, note, mails)| {
            let attempt = thread::spawn(move || one_attempt(setup, lines));
            (setup.does, attempt, state, note, mails)
        })
        .into();
    for (does, attempt, state, note, mails) in attempts {
        let (came, peer) = attempt.join().unwrap();
        assert_eq!(came.state, state, "{does:?}: {came:?}");
        if does == Does::DropMidData {
            // The end of the connection is seen while writing or while reading.
            assert!([closed, "mail server: connection reset", "mail server: broken pipe"].contains(&&*came.note));
        } else {
            assert_eq!(came.note, note, "{does:?}");
        }
        assert_eq!(peer.mails().len(), mails, "{does:?}");
        assert_eq!(came.due.is_some(), state == later, "{does:?}: {came:?}");
        assert!(came.due.is_none_or(|due| (29..=60).contains(&due)), "{does:?}: {came:?}");
        assert!(came.took < Duration::from_millis(10_500), "{does:?}: {came:?}");
        let hangs = matches!(does, Does::HangBanner | Does::HangEhlo | Does::HangFinal | Does::Slow);
        assert_eq!(came.took > Duration::from_secs(5), hangs, "{does:?}: {came:?}");
    }
}

#[test]
fn a_server_that_takes_the_mail_and_never_says_so_has_it_five_times_under_one_message_id() {
    let peer = MailPeer::start(Setup::plain(Does::DropAfterData));
    let (world, receipt) = world_to(&peer, PLAIN);
    for (number, window) in (1..=5).zip([29..=60, 59..=120, 119..=240, 239..=480, 0..=0]) {
        let came = attempt(&world, &receipt);
        let state = if number < 5 { "retrying" } else { "failed" };
        assert_eq!(came.state, format!("{state} {number}"));
        assert!(came.due.map_or(number == 5, |due| window.contains(&due)), "{number}: {came:?}");
        world.pass(Span::from_hours(1));
    }
    assert_eq!(world.deliver(), 0);
    assert_eq!(world.show(&receipt)["deliveries"][0]["reason"], "exhausted");
    let mails = peer.mails();
    assert_eq!(mails.len(), 5);
    let id = |mail: &String| mail.lines().find(|line| line.starts_with("Message-ID: ")).unwrap().to_owned();
    let ids: BTreeSet<String> = mails.iter().map(id).collect();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(mails.iter().collect::<BTreeSet<_>>().len(), 1, "not a byte differs");
}

#[test]
fn silence_at_quit_is_one_mail_and_never_a_second_one() {
    let peer = MailPeer::start(Setup::plain(Does::SilentAtQuit));
    let (world, receipt) = world_to(&peer, PLAIN);
    assert_eq!(attempt(&world, &receipt).state, "delivered 1");
    world.pass(Span::from_days(1));
    assert_eq!(world.deliver(), 0);
    assert_eq!(peer.mails().len(), 1);
}

#[test]
fn with_starttls_or_tls_and_a_private_authority_the_mail_and_the_login_travel_encrypted() {
    for (tls, word) in [(Tls::OnRequest, "starttls"), (Tls::AtOnce, "tls")] {
        for (auth, host) in [("PLAIN LOGIN", "localhost"), ("LOGIN", "127.0.0.1"), ("CRAM-MD5 PLAIN", "localhost")] {
            let lines = format!("host = \"{host}\"\ntls = \"{word}\"\nca_file = \"ca.pem\"{LOGIN}");
            let (came, peer) = one_attempt(Setup::with(tls, Certificate::Good, auth), &lines);
            assert_eq!((came.state.as_str(), came.note.as_str()), ("delivered 1", "250 2.0.0 queued as ABC123"));
            assert_eq!(peer.mails().len(), 1);
            let heard = peer.lines();
            let plain: Vec<&str> = heard.iter().filter_map(|line| line.strip_prefix("plain ")).collect();
            assert!(plain.iter().all(|line| line.starts_with("EHLO ") || *line == "STARTTLS"), "{plain:?}");
            assert_eq!(plain.len(), if tls == Tls::AtOnce { 0 } else { 2 });
            let words: Vec<&str> = heard.iter().filter_map(|line| line.strip_prefix("tls ")).collect();
            let login =
                if auth == "LOGIN" { "AUTH LOGIN" } else { "AUTH PLAIN AGZvcm1zQGV4YW1wbGUuY29tAHBhc3Mgd29yZCA0NzEx" };
            assert!(words[0].starts_with("EHLO ") && words[1] == login, "{words:?}");
            assert!(words.iter().any(|line| line.starts_with("MAIL FROM:<forms@example.com> SIZE=")), "{words:?}");
            assert_eq!(words.last(), Some(&"QUIT"));
        }
    }
}

#[test]
fn a_certificate_that_signed_itself_is_believed_when_it_is_named_and_is_no_authority() {
    let server = |certificate| Setup::with(Tls::OnRequest, certificate, "");
    let (came, _) = one_attempt(server(Certificate::SelfSigned), "host = \"localhost\"\nca_file = \"self-signed.pem\"");
    assert_eq!(came.state, "delivered 1", "{came:?}");
    let authority = server(Certificate::SelfSignedAuthority);
    let (came, peer) = one_attempt(authority, "host = \"localhost\"\nca_file = \"self-signed-ca.pem\"");
    assert_eq!((came.state.as_str(), peer.mails().len()), ("retrying 1", 0));
    assert!(
        came.note.ends_with("its certificate is an authority's; make one for a server, with `CA:FALSE`"),
        "{came:?}"
    );
}

#[test]
fn the_threads_of_the_daemon_send_a_large_mail_over_tls() {
    let peer = MailPeer::start(Setup::with(Tls::OnRequest, Certificate::Good, "PLAIN"));
    let (mut world, first) = world_to(&peer, &format!("{STARTTLS}{LOGIN}"));
    assert_eq!(attempt(&world, &first).state, "delivered 1");
    let text = std::fs::read_to_string(world.config_file()).unwrap();
    write_private(&world.config_file(), &text.replace("enabled = false", "enabled = true"));
    let site = "[[destination]]\nid = \"sales\"\nemail = \"sales@acme.example\"\nattach_files = true\n";
    world.write_site(site, &format!("[form.quote]\n{FIELDS}"));
    world.restart();
    let receipt = world.post(&submission().pdf("plan.pdf", &pdf("tls", 400_000)), None).receipt();
    let started = Instant::now();
    while world.states(&receipt) != ["email delivered 1"] {
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", world.show(&receipt));
        thread::sleep(Duration::from_millis(20));
    }
    let mails = peer.mails();
    let parsed = mail_parser::MessageParser::default().parse(mails[1].as_bytes()).unwrap();
    assert!(parsed.attachment(0).unwrap().contents() == pdf("tls", 400_000));
}

#[test]
fn a_server_that_cannot_prove_who_it_is_gets_neither_login_nor_mail() {
    let issuer = "TLS with the mail server failed: its certificate is from an unknown issuer; name the issuer's \
                  certificate in `ca_file`";
    let name = "TLS with the mail server failed: its certificate is for another name than `host`";
    let expired = "TLS with the mail server failed: its certificate has expired";
    for (certificate, ca_file, note) in [
        (Certificate::Good, "ca_file = \"other-ca.pem\"", issuer),
        // The system's store does not know the private authority; a machine without a store says so.
        (Certificate::Good, "", ""),
        (Certificate::WrongName, "ca_file = \"ca.pem\"", name),
        (Certificate::Expired, "ca_file = \"ca.pem\"", expired),
    ] {
        for (tls, word) in [(Tls::OnRequest, "starttls"), (Tls::AtOnce, "tls")] {
            let lines = format!("host = \"localhost\"\ntls = \"{word}\"\n{ca_file}{LOGIN}");
            let (came, peer) = one_attempt(Setup::with(tls, certificate, "PLAIN"), &lines);
            assert_eq!(came.state, "retrying 1", "{came:?}");
            let unknown =
                [issuer, "this machine trusts no certificates; install `ca-certificates`, or name a `ca_file`"];
            assert!(came.note == note || note.is_empty() && unknown.contains(&&*came.note), "{came:?}");
            let heard = peer.lines();
            assert!(heard.iter().all(|line| line.starts_with("plain EHLO ") || line == "plain STARTTLS"), "{heard:?}");
            assert!(peer.mails().is_empty());
        }
    }
}

#[test]
fn without_starttls_offered_nothing_leaves_in_plain_text() {
    let (came, peer) = one_attempt(Setup::with(Tls::Never, Certificate::Good, "PLAIN"), &format!("{STARTTLS}{LOGIN}"));
    assert_eq!(came.state, "retrying 1");
    assert_eq!(came.note, "the mail server offers no STARTTLS");
    let heard = peer.lines();
    assert!(heard.len() == 2 && heard[0].starts_with("plain EHLO ") && heard[1] == "plain QUIT", "{heard:?}");
}

#[test]
fn words_put_in_front_of_the_encrypted_ones_end_the_attempt() {
    let setup = Setup { does: Does::InjectBeforeTls, ..Setup::with(Tls::OnRequest, Certificate::Good, "PLAIN") };
    let (came, peer) = one_attempt(setup, &format!("{STARTTLS}{LOGIN}"));
    assert_eq!(came.state, "retrying 1");
    assert_eq!(came.note, "the mail server spoke between STARTTLS and TLS");
    assert!(!peer.lines().iter().any(|line| line.starts_with("tls") || line.contains("AUTH")), "{:?}", peer.lines());
}

#[test]
fn a_login_that_fails_is_tried_again_and_its_password_stands_nowhere() {
    let setup = |does, auth| Setup { does, ..Setup::with(Tls::OnRequest, Certificate::Good, auth) };
    let wrong = format!("{STARTTLS}\nusername = \"forms@example.com\"\npassword = \"wrong-4711\"");
    let right = format!("{STARTTLS}{LOGIN}");
    for (setup, lines, note) in [
        (setup(Does::Ok, "PLAIN LOGIN"), &wrong, "535 5.7.8 authentication failed"),
        (setup(Does::Ok, "LOGIN"), &wrong, "535 5.7.8 authentication failed"),
        (setup(Does::Ok, "XOAUTH2"), &right, "the mail server offers no login by PLAIN or LOGIN"),
        (setup(Does::Ok, ""), &right, "the mail server offers no login by PLAIN or LOGIN"),
        (setup(Does::EchoLogin, "PLAIN"), &right, "535 5.7.8 no: (secret) that is (secret)"),
        (setup(Does::EchoLogin, "LOGIN"), &right, "535 5.7.8 no: Zm9ybXNAZXhhbXBsZS5jb20= (secret) that is (secret)"),
    ] {
        let peer = MailPeer::start(setup);
        let (world, receipt) = world_to(&peer, lines);
        let came = attempt(&world, &receipt);
        assert_eq!((came.state.as_str(), came.note.as_str()), ("retrying 1", note));
        assert_eq!(peer.lines().last().map(String::as_str), Some("tls QUIT"));
        assert!(peer.mails().is_empty());
        for secret in ["pass word 4711", "wrong-4711", "cGFzcyB3b3JkIDQ3MTE", "AGZvcm1zQGV4YW1wbGUuY29tAHBhc3M"] {
            assert_eq!(world.traces(secret), Vec::<String>::new(), "{secret}");
            let said = world.ctl(&["check", "--show"]).ok() + &world.ctl(&["show", &receipt]).ok();
            assert!(!said.contains(secret), "{said}");
        }
    }
}
