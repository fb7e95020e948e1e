//! Mails as they leave, read back by an independent parser.

use mail_parser::{Address as Parsed, MessageParser, MimeHeaders};

use super::super::sample;
use super::*;
use crate::store::AttachmentRow;

/// The mail of `claim` with its files where the target attaches them.
fn composed(claim: &Claim) -> Vec<u8> {
    let Target::Email(target) = &claim.target else { panic!("an e-mail claim") };
    let parts = match weight(claim) {
        Weight::Light => Vec::new(),
        Weight::Heavy => mail_parts::read(&claim.attachments).unwrap(),
    };
    compose(&sample::mail(Transport::File), target, claim, parts).unwrap().bytes
}

/// The sample with another target.
fn claim_with(change: impl FnOnce(&mut EmailTarget)) -> Claim {
    let mut target = sample::email_target();
    change(&mut target);
    Claim { target: Target::Email(target), ..sample::email_claim() }
}

/// The address in `Reply-To`.
fn reply_to_of(claim: &Claim) -> Option<String> {
    let bytes = composed(claim);
    let mail = MessageParser::default().parse(&bytes).unwrap();
    match mail.reply_to() {
        Some(Parsed::List(list)) if list.len() == 1 => list[0].address.as_ref().map(ToString::to_string),
        Some(other) => panic!("{other:?}"),
        None => None,
    }
}

#[test]
fn the_standard_mail_byte_for_byte() {
    let text = String::from_utf8(composed(&sample::email_claim())).unwrap();
    insta::assert_snapshot!(text.replace("\r\n", "\n"), @r#"
    From: Forms <forms@acme.example>
    To: sales@acme.example
    Subject: New form submission: Quote - 0cpew90by0007
    Date: Mon, 30 Nov 2026 16:28:19 +0000
    Message-ID: <0cpew90by0007-d1@acme.example>
    Auto-Submitted: auto-generated
    Reply-To: anna@home.example
    MIME-Version: 1.0
    Content-Type: text/plain; charset=utf-8
    Content-Transfer-Encoding: quoted-printable

    Name: Anna
    E-mail: anna@home.example
    Message: Hello
     =20
      Bcc: x@evil.example
    Phone: =E2=80=94
    Colours: red, blue
    I agree: Yes
    Consent: given
    Attachment: plan.pdf (13 bytes)
    Receipt 0cpew90by0007, page pricing, locale en, received 2026-11-30T16:28:1=
    9.007Z
    "#);
}

#[test]
fn every_attempt_sends_the_same_bytes() {
    let first = composed(&sample::email_claim());
    assert_eq!(first, composed(&Claim { attempt: 4, token: 77, ..sample::email_claim() }));
}

#[test]
fn files_travel_with_their_bytes_type_and_both_names() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = b"%PDF-1.7\n--=_formd_\r\n.\r\n%%EOF\n".repeat(3000);
    let row =
        AttachmentRow { path: folder.path().join("x"), ..sample::attachment(1, "file", "чертёж.pdf", &bytes) };
    std::fs::write(&row.path, &bytes).unwrap();
    let claim = Claim { attachments: vec![row], ..claim_with(|target| target.attach_files = true) };
    assert_eq!((weight(&claim), limit(&claim)), (Weight::Heavy, Duration::from_secs(11)));
    let mail = composed(&claim);
    assert_eq!(mail, composed(&claim), "the boundary is no random one");
    assert!(mail.is_ascii() && !mail.windows(3).any(|w| w == b"\n.\r"));
    let parsed = MessageParser::default().parse(&mail).unwrap();
    assert_eq!(parsed.attachment_count(), 1);
    let part = parsed.attachment(0).unwrap();
    assert_eq!(part.contents(), bytes);
    assert_eq!(part.attachment_name(), Some("чертёж.pdf"));
    let kind = part.content_type().unwrap();
    assert_eq!((kind.ctype(), kind.subtype()), ("application", Some("pdf")));
    assert!(String::from_utf8_lossy(&mail).contains("filename=\"______.pdf\""));
    assert!(parsed.body_text(0).unwrap().contains("Attachment: чертёж.pdf (87.8 KiB)\r\n"));
}

#[test]
fn files_above_the_limit_are_named() {
    let claim = claim_with(|target| (target.attach_files, target.max_attach) = (true, 12));
    assert_eq!((weight(&claim), limit(&claim)), (Weight::Light, LIMIT));
    let mail = composed(&claim);
    let parsed = MessageParser::default().parse(&mail).unwrap();
    assert_eq!(parsed.attachment_count(), 0);
    assert!(parsed.body_text(0).unwrap().contains("Attachment: plan.pdf (13 bytes, too large to attach)"));
}

#[test]
fn a_file_that_is_gone_or_damaged_is_tried_later() {
    let claim = claim_with(|target| target.attach_files = true);
    let Target::Email(target) = &claim.target else { unreachable!() };
    let mail = sample::mail(Transport::File);
    let gone = send(Some(&mail), target, &claim, |_, _| panic!("nothing is sent"));
    assert_eq!(gone, Ended::later(&format!("attachment {}-a1: entity not found", claim.id.receipt)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    std::fs::write(&path, "%PDF-1.7 plam").unwrap();
    let row = AttachmentRow { path, ..claim.attachments[0].clone() };
    let damaged =
        send(Some(&mail), target, &Claim { attachments: vec![row], ..claim.clone() }, |_, _| panic!("nothing is sent"));
    assert_eq!(damaged.note, format!("attachment {}-a1: its bytes are not those that were received", claim.id.receipt));
}

#[test]
fn a_mail_that_cannot_be_made_is_refused_and_a_set_up_that_can_be_repaired_is_not() {
    let mail = sample::mail(Transport::File);
    let claim = claim_with(|target| target.text = Some("{{open".into()));
    let Target::Email(target) = &claim.target else { unreachable!() };
    assert_eq!(send(Some(&mail), target, &claim, |_, _| Ok(())).verdict, Verdict::Refused);
    let broken = Mail { from_address: "nobody".into(), ..mail };
    let claim = sample::email_claim();
    let ended = send(Some(&broken), &sample::email_target(), &claim, |_, _| Ok(()));
    assert_eq!(ended, Ended::later("the address in `[mail] from` is not valid"));
}

#[test]
fn answers_go_to_one_valid_address_or_to_none() {
    assert_eq!(reply_to_of(&sample::email_claim()).as_deref(), Some("anna@home.example"));
    for (value, expected) in [
        ("anna@home.example", Some("anna@home.example")),
        ("i@почта.рф", Some("i@xn--80a1acny.xn--p1ai")),
        ("", None),
        ("anna", None),
        ("a@b.example, c@d.example", None),
        ("Anna <a@b.example>", None),
        ("a@b.example\nBcc: c@d.example", None),
        ("a@[127.0.0.1]", None),
        ("root@localhost", None),
        ("..@x.example", None),
    ] {
        let mut claim = claim_with(|target| target.reply_to = Some("contact".into()));
        claim.contents.fields.push(sample::plain("contact", value));
        assert_eq!(reply_to_of(&claim).as_deref(), expected, "{value:?}");
    }
    let mut twice = sample::email_claim();
    twice.contents.fields.push(sample::plain("email", "other@home.example"));
    assert_eq!(reply_to_of(&twice), None);
}

#[test]
fn hostile_names_of_the_operators_own_are_cleaned_before_lettre_sees_them() {
    let mail = Mail { from_name: "Forms\r\nBcc".into(), ..sample::mail(Transport::File) };
    let target = EmailTarget { title: Some("Q\r\nX: y".into()), ..sample::email_target() };
    let bytes = compose(&mail, &target, &sample::email_claim(), Vec::new()).unwrap().bytes;
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.starts_with("From: \"Forms Bcc\" <forms@acme.example>\r\n"), "{text}");
    assert!(text.contains("\r\nSubject: New form submission: Q X: y - "), "{text}");
}

mod hostile;

#[test]
fn every_address_that_a_configuration_may_name_can_be_written_to() {
    let long = format!("{}@{}.example", "x".repeat(64), ["y".repeat(60), "z".repeat(60)].join("."));
    let odd =
        ["a@b", "!#$%&'*+/=?^_`{|}~-@x.example", "-a@1.example", "a@xn--e1afmkfd.xn--p1ai", "info@почта.рф", &long];
    for text in odd {
        assert!(email::is_mailbox(text) && address(text).is_some(), "{text}");
    }
    for text in ["a..b@x.example", ".a@x.example", "a.@x.example", &format!("x{long}")] {
        assert!(!email::is_mailbox(text) && address(text).is_none(), "{text}");
    }
}
