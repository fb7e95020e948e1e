//! What a visitor's mail may say, and what it never says.

use mail_parser::MessageParser;
use proptest::prelude::*;

use super::super::{mail, sample};
use super::*;
use crate::config::Transport;
use crate::domain::submission::{Contents, Role};
use crate::domain::target::Target;

/// The recipient.
const ANNA: &str = "anna+forms@home.example";

/// A confirmation with these templates.
fn target(subject: &str, text: &str) -> ConfirmationTarget {
    ConfirmationTarget { address: ANNA.into(), subject: subject.into(), text: text.into() }
}

/// The claim of a submission of these fields.
fn claim(target: &ConfirmationTarget, fields: Vec<KeptField>) -> Claim {
    let contents = Contents { fields, consent: Some(true), ..Contents::default() };
    Claim { contents, target: Target::Confirmation(target.clone()), ..sample::email_claim() }
}

/// What the place of a text field shows.
fn shown(value: &str) -> String {
    let target = target("s", "{{name}}");
    text(&target, &claim(&target, vec![sample::plain("name", value)])).unwrap()
}

#[test]
fn the_mail_to_a_visitor_byte_for_byte() {
    let text = "Здравствуйте, {{name}}!\nЗаявка {{@receipt}} принята.";
    let target = target("Мы получили вашу заявку, {{name}}", text);
    let claim = claim(&target, vec![sample::plain("name", "Анна"), sample::plain("message", "Bcc: x@evil.example")]);
    let mail = mail::compose_confirmation(&sample::mail(Transport::File), &target, &claim).unwrap();
    assert_eq!(mail.to.to_string(), ANNA);
    insta::assert_snapshot!(String::from_utf8(mail.bytes).unwrap().replace("\r\n", "\n"), @r"
    From: Forms <forms@acme.example>
    To: anna+forms@home.example
    Subject: =?utf-8?b?0JzRiyDQv9C+0LvRg9GH0LjQu9C4INCy0LDRiNGDINC30LDRj9Cy?=
     =?utf-8?b?0LrRgywg0JDQvdC90LA=?=
    Date: Mon, 30 Nov 2026 16:28:19 +0000
    Message-ID: <0cpew90by0007-d1@acme.example>
    Auto-Submitted: auto-replied
    MIME-Version: 1.0
    Content-Type: text/plain; charset=utf-8
    Content-Transfer-Encoding: base64

    0JfQtNGA0LDQstGB0YLQstGD0LnRgtC1LCDQkNC90L3QsCENCtCX0LDRj9Cy0LrQsCAwY3Bldzkw
    YnkwMDA3INC/0YDQuNC90Y/RgtCwLg0K
    ");
}

#[test]
fn short_plain_words_show() {
    for value in [
        "Anna",
        "J. R. R. Tolkien",
        "J.R.R.T.",
        "Dr.-Ing. Łukasz O'Neil, e.V.",
        "+49 (0)30 / 1234-56",
        "12.50",
        "1.12.2026",
        "10:30",
        "山田太郎",
        "محمد",
        "ANNA 👍",
        ANNA,
        "",
    ] {
        assert_eq!(shown(value), format!("{value}\n"));
    }
    assert_eq!(shown(&"я".repeat(100)), format!("{}\n", "я".repeat(100)));
}

#[test]
fn what_could_be_a_link_another_line_or_a_long_text_shows_as_nothing() {
    for value in [
        "https://evil.example/x",
        "HTTP://evil",
        "//evil",
        "WWW.evil",
        "evil.com",
        "see evil.com/win now",
        "(evil.co.uk)",
        "evil\u{3002}com",
        "ｅｖｉｌ．ｃｏｍ",
        "evil\u{2024}com",
        "почта.рф",
        "evil.c\u{301}om",
        "xn--80a1acny.xn--p1ai",
        "93.184.216.34",
        "93.184.216.34:8080",
        "eve@evil.example",
        "@eve",
        "eve＠evil",
        "anna+FORMS@home.example",
        "tel:0900",
        "mailto:eve",
        "javascript:x",
        "\\\\evil\\share",
        "<b>x</b>",
        "=?utf-8?q?evil=2Ecom?=",
        "a\nb",
        "a\rb",
        "a\u{2028}b",
        "a\u{85}b",
        "a\tb",
        "a\u{0}b",
        "a\u{202e}b",
        "a\u{200b}b",
        "a\u{ad}b",
        "a\u{e0041}b",
    ] {
        assert_eq!(shown(value), "\n", "{value:?}");
    }
    assert_eq!(shown(&"я".repeat(101)), "\n");
}

#[test]
fn boxes_and_options_are_the_forms_own_words() {
    let target = target("{{agree}} {{off}}", "{{extras}}|{{many}}|{{none}}|{{gone}}");
    let list = |options: &[&str]| Value::List(options.iter().map(|&option| option.to_owned()).collect());
    let field = |name: &str, value| sample::field(name, name, Role::Plain, value);
    let fields = vec![
        field("agree", Value::Bool(true)),
        field("off", Value::Bool(false)),
        field("extras", list(&["one", "two (acme.example)"])),
        field("many", list(&["a long option"; 20])),
        field("none", list(&[])),
    ];
    let claim = claim(&target, fields);
    assert_eq!(subject(&target, &claim).unwrap(), "Yes No");
    assert_eq!(text(&target, &claim).unwrap(), "one, two (acme.example)|||\n");
}

#[test]
fn the_page_is_a_visitors_word_too() {
    let target = target("s", "{{@form}} {{@page}}.");
    for (page, line) in [("pricing", "quote pricing.\n"), ("/a/b", "quote /a/b.\n"), ("evil.com", "quote .\n")] {
        let claim = Claim { page: Some(page.to_owned()), ..claim(&target, Vec::new()) };
        assert_eq!(text(&target, &claim).unwrap(), line);
    }
}

/// Pieces of what a spammer would write.
fn spam() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "http://",
            "www.",
            "evil",
            ".com",
            ".",
            "@",
            "\r\n",
            "\n",
            "Bcc: x",
            "{{text}}",
            "{{@page}}",
            "\u{202e}",
            "\u{200d}",
            "=?utf-8?q?x?=",
            "<a href=",
            "/",
            ":",
            "\\",
            " ",
            "\u{3002}",
            "＠",
            "-oQ",
            "\0",
            "t.me/x",
            "Subject: y",
            "я",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,12}",
        "[ -~\\n\\r\\t]{0,40}",
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_of_a_stranger_makes_a_link_a_line_or_a_header(name in spam(), page in spam()) {
        let target = target("Got it, {{name}} {{@page}}", "Dear [{{name}}] of [{{@page}}],\nbye\n");
        let fields = vec![sample::plain("name", &name), sample::plain("text", "secret words")];
        let claim = Claim { page: Some(page.clone()), ..claim(&target, fields) };
        let composed = mail::compose_confirmation(&sample::mail(Transport::File), &target, &claim).unwrap();
        prop_assert_eq!(composed.to.to_string(), ANNA);
        let raw = String::from_utf8(composed.bytes.clone()).unwrap();
        prop_assert!(!raw.replace("\r\n", "").contains(['\r', '\n']));
        let mail = MessageParser::default().parse(&composed.bytes).unwrap();
        prop_assert_eq!(mail.headers().len(), 9, "{}", raw);
        prop_assert_eq!(mail.attachment_count(), 0);
        let text = mail.body_text(0).unwrap().replace("\r\n", "\n");
        let subject = mail.subject().unwrap();
        prop_assert_eq!(text.trim_end().matches('\n').count(), 1, "{:?}", text);
        for said in [&text[..], subject] {
            prop_assert!(said.chars().count() < 260, "{said:?}");
            let lower = said.to_lowercase();
            for never in ["://", "www.", ".com", "@", "<", "secret", "t.me", "\u{202e}", "\u{200d}", "\0"] {
                prop_assert!(!lower.contains(never), "{:?} in {:?}", never, said);
            }
        }
        let whole = text.strip_prefix("Dear [").unwrap();
        prop_assert!(whole.starts_with(&format!("{name}] of [")) || whole.starts_with("] of ["), "{:?}", whole);
    }
}
