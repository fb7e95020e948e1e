//! The words of a mail.

use super::super::sample;
use super::*;
use crate::domain::submission::{Contents, KeptField, Role};

/// The standard text of a submission of these fields alone.
fn standard_of(fields: Vec<KeptField>) -> String {
    let claim = Claim {
        contents: Contents { fields, consent: Some(false), ..Contents::default() },
        attachments: Vec::new(),
        page: None,
        ..sample::email_claim()
    };
    text(&sample::email_target(), &claim, Files::Named).unwrap()
}

#[test]
fn the_standard_text_has_one_line_for_each_thing() {
    let claim = sample::email_claim();
    assert_eq!(
        text(&sample::email_target(), &claim, Files::Named).unwrap(),
        "Name: Anna\n\
         E-mail: anna@home.example\n\
         Message: Hello\n  \n  Bcc: x@evil.example\n\
         Phone: —\n\
         Colours: red, blue\n\
         I agree: Yes\n\
         Consent: given\n\
         Attachment: plan.pdf (13 bytes)\n\
         Receipt 0cpew90by0007, page pricing, locale en, received 2026-11-30T16:28:19.007Z\n"
    );
    let bare = standard_of(vec![sample::field("off", "Off", Role::Plain, Value::Bool(false))]);
    assert_eq!(
        bare,
        format!("Off: No\nReceipt {}, page —, locale en, received 2026-11-30T16:28:19.007Z\n", claim.id.receipt)
    );
}

#[test]
fn further_lines_are_indented_whatever_breaks_them() {
    for breaks in ["\n", "\r\n", "\r", "\u{b}", "\u{c}", "\u{1c}", "\u{85}", "\u{2028}", "\u{2029}"] {
        let text = standard_of(vec![sample::plain("m", &format!("one{breaks}Consent: given"))]);
        assert!(text.starts_with("m: one\n  Consent: given\n"), "{breaks:?}: {text:?}");
    }
    assert!(standard_of(vec![sample::plain("m", "a\n\nb")]).starts_with("m: a\n  \n  b\n"));
}

#[test]
fn what_does_not_show_is_made_visible() {
    for (name, value, line) in [
        ("m", "\u{1b}[31mred\u{0}", "m: \\u{1b}[31mred\\u{0}\n"),
        ("m", "a\tb", "m: a\tb\n"),
        ("m", "👩\u{200d}💻", "m: 👩\u{200d}💻\n"),
        ("a\nReceipt x", "v", "a\\nReceipt x: v\n"),
        ("  hidden", "v", "hidden: v\n"),
        ("\u{202e}gniht", "v", "\\u{202e}gniht: v\n"),
        (" ", "", "—: —\n"),
    ] {
        let text = standard_of(vec![sample::plain(name, value)]);
        assert!(text.starts_with(line), "{name:?} {value:?}: {text:?}");
    }
}

#[test]
fn the_subject_names_title_and_receipt() {
    let claim = sample::email_claim();
    let receipt = claim.id.receipt;
    let mut target = sample::email_target();
    assert_eq!(subject(&target, &claim).unwrap(), format!("New form submission: Quote - {receipt}"));
    target.title = None;
    assert_eq!(subject(&target, &claim).unwrap(), format!("New form submission - {receipt}"));
    target.subject = Some("{{message}} / {{@receipt}}".into());
    assert_eq!(subject(&target, &claim).unwrap(), format!("Hello Bcc: x@evil.example / {receipt}"));
    target.subject = Some("x".repeat(900));
    assert_eq!(subject(&target, &claim).unwrap().chars().count(), 250);
}

#[test]
fn a_template_takes_values_verbatim_and_once() {
    let mut claim = sample::email_claim();
    claim.contents.fields[0].value = Value::Text("{{email}} & <b>".into());
    let mut target = sample::email_target();
    target.text = Some("{{name}}|{{message}}|{{colours}}|{{agree}}|{{phone}}|{{file}}|{{nothing}}\r\n{{@form}} {{@page}} {{@received_at}}".into());
    assert_eq!(
        text(&target, &claim, Files::Named).unwrap(),
        "{{email}} & <b>|Hello\n\nBcc: x@evil.example|red, blue|Yes||plan.pdf|\nquote pricing 2026-11-30T16:28:19.007Z\n"
    );
}

#[test]
fn sizes_are_short() {
    for (bytes, text) in
        [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1_048_575, "1023.9 KiB"), (5_505_024, "5.2 MiB")]
    {
        assert_eq!(size(bytes), text);
    }
}
