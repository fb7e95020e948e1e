//! Escaping, accessibility and what a form that is shown again keeps.

use super::*;
use crate::domain::draft::{Draft, Shape};
use crate::domain::filekind::FileKind;
use crate::domain::form::{DateRules, ExtraFields, Field, FieldKind, FileRules, NumberRules, TextRules};
use crate::domain::ids::FormId;
use crate::domain::pattern::Pattern;
use crate::domain::response::Response;
use crate::domain::text::Language;
use crate::domain::validate::RenderedError;

/// A text that would do harm wherever it is not escaped.
const HOSTILE: &str = "\"'><script>alert(1)</script>{{ key }}{% for x in y %}&amp;</textarea>";

/// A form with a field of every kind, every text of which is `text`.
fn every_kind(text: &str) -> Form {
    let options = || vec![text.to_owned(), "second".to_owned()];
    let rules = TextRules { min_length: Some(2), max_length: Some(40), pattern: Pattern::parse("[a-z\"<>]*").ok() };
    let file = FileRules { types: vec![FileKind::Pdf], max_files: 2, max_size: 5 * 1024 * 1024 };
    let kinds = [
        FieldKind::Text(rules.clone()),
        FieldKind::Textarea(rules.clone()),
        FieldKind::Email(rules.clone()),
        FieldKind::Tel(rules.clone()),
        FieldKind::Url(rules.clone()),
        FieldKind::Number(NumberRules { min: Some(1.5), max: Some(9.0) }),
        FieldKind::Date(DateRules { min: Some("2026-01-01".to_owned()), max: None }),
        FieldKind::Select(options()),
        FieldKind::Radio(options()),
        FieldKind::Checkbox,
        FieldKind::Checkboxes(options()),
        FieldKind::Hidden(rules),
        FieldKind::File(file),
    ];
    let field = |(place, kind): (usize, FieldKind)| Field {
        name: format!("{text}{place}"),
        label: text.to_owned(),
        kind,
        required: true,
        placeholder: Some(text.to_owned()),
        help: Some(text.to_owned()),
    };
    Form {
        id: FormId::parse("quote").unwrap(),
        title: Some(text.to_owned()),
        page: None,
        locale: None,
        accept: true,
        accept_files: false,
        paths: Vec::new(),
        selectors: Vec::new(),
        unwrap: None,
        signature: None,
        destinations: Vec::new(),
        success_url: Some("https://acme.example/thanks".to_owned()),
        consent: None,
        confirmation: None,
        extra_fields: ExtraFields::Keep,
        response: Response::Usual,
        fields: kinds.into_iter().enumerate().map(field).collect(),
    }
}

/// What a visitor sent: the same value at every field, and at one the form does not have.
fn sent(form: &Form, value: &str) -> Draft {
    let mut draft = Draft::default();
    for name in form.fields.iter().map(|field| field.name.as_str()).chain(["extra", "_page"]) {
        draft.push(name.to_owned(), value, Shape::Scalar);
    }
    draft
}

/// A message at every field.
fn messages(form: &Form, text: &str) -> Vec<RenderedError> {
    let message = |field: &Field| RenderedError {
        field: field.name.clone(),
        code: "required",
        message: text.to_owned(),
        hint: Some(text.to_owned()),
        rows: Vec::new(),
    };
    form.fields.iter().map(message).collect()
}

fn fresh(form: &Form, language: Language) -> Page {
    let page = FormPage { form, action: None, key: "k1", texts: &language.texts(), next: None, again: None };
    Pages::new().unwrap().form(&page)
}

fn again(form: &Form, draft: &Draft, messages: &[RenderedError], said: &str, button: Button) -> Page {
    let said = Said { title: said, lines: vec![said] };
    let again = Some(Again { said, draft, messages, button });
    let next = Some("https://acme.example/next");
    let page = FormPage { form, action: Some(HOSTILE), key: HOSTILE, texts: &Language::En.texts(), next, again };
    Pages::new().unwrap().form(&page)
}

/// How often `part` stands in `text`.
fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn no_value_of_a_visitor_or_an_operator_becomes_markup() {
    let hostile = every_kind(HOSTILE);
    let harmless = every_kind("harmless");
    let page = |form: &Form, text: &str| again(form, &sent(form, text), &messages(form, text), text, Button::Send).html;
    let (bad, good) = (page(&hostile, HOSTILE), page(&harmless, "harmless"));
    assert!(!bad.contains("<script") && !bad.contains("</textarea>{{"), "{bad}");
    assert!(bad.contains("{{ key }}"), "a value is never read as a template");
    for mark in ["<", "=\"", "</textarea>", " checked", " selected"] {
        // The key and the action are hostile on both pages, and the values on one: the markup is the same.
        assert_eq!(count(&bad, mark), count(&good, mark), "{mark:?}");
    }
    let note = Note {
        texts: &Language::Ru.texts(),
        title: HOSTILE,
        lines: &[HOSTILE],
        receipt: Some(HOSTILE),
        back: Some(HOSTILE),
    };
    assert!(!Pages::new().unwrap().note(&note).html.contains("<script"));
}

#[test]
fn a_fresh_form_begins_with_its_key_and_names_every_control() {
    let form = every_kind("Label");
    let page = fresh(&form, Language::Ru).html;
    let first = page.find("<input").unwrap();
    assert!(page[first..].starts_with("<input type=\"hidden\" name=\"_key\" value=\"k1\">"), "{page}");
    assert!(page.contains("<html lang=\"ru\">") && page.contains("<meta name=\"viewport\""));
    assert!(page.contains("enctype=\"multipart/form-data\""));
    assert!(page.contains("<form method=\"post\" enctype"), "it goes back to the address it came from");
    assert!(!page.contains("novalidate") && !page.contains("<script"));
    for place in 1..=12 {
        let id = format!("id=\"f{place}\"");
        assert_eq!(count(&page, &id), 1, "{id}");
        let labelled = page.contains(&format!("<label for=\"f{place}\"")) || page.contains(&format!("<fieldset {id}"));
        assert!(labelled, "{id}");
    }
    for part in [
        "type=\"email\"",
        "min=\"1.5\" max=\"9\"",
        "min=\"2026-01-01\"",
        "minlength=\"2\" maxlength=\"40\"",
        "accept=\".pdf,application/pdf\" multiple",
        "aria-describedby=\"f1-help\"",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}

#[test]
fn a_form_shown_again_keeps_the_text_and_puts_each_message_at_its_field() {
    let form = every_kind("Label");
    let mut draft = sent(&form, "second");
    draft.push("_next".to_owned(), "https://evil.example/", Shape::Scalar);
    let page = again(&form, &draft, &messages(&form, "please mend"), "not yet", Button::Send);
    let html = &page.html;
    assert!(html.contains("value=\"second\"") && html.contains(">\nsecond</textarea>"), "{html}");
    assert_eq!(count(html, " selected"), 1);
    assert_eq!(count(html, " checked"), 3, "radio, box and one of the boxes");
    assert!(html.contains("name=\"extra\" value=\"second\"") && html.contains("name=\"_page\" value=\"second\""));
    assert!(html.contains("name=\"_next\" value=\"https://acme.example/next\""));
    assert!(!html.contains("evil.example"));
    assert!(html.contains("href=\"#f1\"") && html.contains("aria-describedby=\"f1-help f1-error\""));
    assert_eq!(count(html, "class=\"error\""), 12, "every field but the hidden one");
    assert!(html.contains(Language::En.texts().choose_again()), "files must be chosen again");
    assert!(!html.contains(Language::En.texts().send_as_new()));
}

#[test]
fn a_number_or_date_that_is_none_stays_to_be_mended() {
    let form = every_kind("Label");
    let kept = |value: &str| again(&form, &sent(&form, value), &[], "not yet", Button::Send).html;
    let html = kept("12,5 Stück");
    assert_eq!(count(&html, "value=\"12,5 Stück\""), 9, "every input that takes a text, and the hidden ones: {html}");
    assert!(html.contains("type=\"text\" id=\"f6\"") && html.contains("type=\"text\" id=\"f7\""));
    assert!(kept("12.5").contains("type=\"number\" id=\"f6\"") && kept("12.5").contains("value=\"12.5\" step"));
    assert!(kept("2026-11-30").contains("type=\"date\" id=\"f7\""));
}

#[test]
fn a_conflict_keeps_the_text_and_offers_to_send_it_as_new() {
    let form = every_kind("Label");
    let html = again(&form, &sent(&form, "my text"), &[], "conflict", Button::SendAsNew).html;
    assert!(html.contains(">\nmy text</textarea>"));
    assert!(html.contains(&format!("<button type=\"submit\">{}</button>", Language::En.texts().send_as_new())));
}

#[test]
fn a_form_that_declares_nothing_shows_the_usual_fields_or_those_that_were_sent() {
    let mut form = every_kind("Label");
    form.fields.clear();
    let html = fresh(&form, Language::En).html;
    for name in ["name=\"name\"", "name=\"email\"", "name=\"message\""] {
        assert!(html.contains(name), "{name}");
    }
    assert!(html.contains("application/x-www-form-urlencoded") && !html.contains("type=\"file\""));
    let mut draft = Draft::default();
    draft.push("topic".to_owned(), "ships\nand wax", Shape::Scalar);
    draft.push("_gotcha".to_owned(), "x", Shape::Scalar);
    form.accept_files = true;
    let html = again(&form, &draft, &[], "again", Button::Send).html;
    assert!(html.contains("name=\"topic\"") && html.contains("ships\nand wax</textarea>"), "{html}");
    assert!(!html.contains("_gotcha") && !html.contains("name=\"message\"") && html.contains("type=\"file\""));
}

#[test]
fn a_form_that_declares_nothing_loses_no_value_of_a_name_that_came_twice() {
    let mut form = every_kind("Label");
    form.fields.clear();
    let mut draft = Draft::default();
    for (name, value) in [("wish[]", "tea"), ("wish[]", "cake"), ("wish", "salt"), ("day", "Mon"), ("day", "")] {
        draft.push(name.to_owned(), value, Shape::Scalar);
    }
    let html = again(&form, &draft, &[], "conflict", Button::SendAsNew).html;
    let sent = ["name=\"wish[]\" value=\"tea\"", "name=\"wish[]\" value=\"cake\"", "name=\"wish\" value=\"salt\""];
    for control in sent.into_iter().chain(["name=\"day\" value=\"Mon\"", "name=\"day\" value=\"\""]) {
        assert_eq!(count(&html, control), 1, "{control}\n{html}");
    }
    assert!(html.contains("id=\"f5\"") && html.contains("for=\"f5\""), "each has its own label");
}

#[test]
fn the_policy_forbids_everything_but_the_style_sheet_and_the_way_on() {
    let form = every_kind("Label");
    let page = fresh(&form, Language::En);
    let style = page.html.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let hash = base64(Sha256Sum::of(style.as_bytes()).as_bytes());
    assert_eq!(
        page.policy,
        format!(
            "default-src 'none'; style-src 'sha256-{hash}'; form-action 'self' https://acme.example; base-uri 'none'; \
             frame-ancestors 'none'"
        )
    );
    let note = Note { texts: &Language::En.texts(), title: "t", lines: &[], receipt: None, back: None };
    assert!(Pages::new().unwrap().note(&note).policy.contains("form-action 'none'"));
    for attribute in [" style=", " src=", " onclick="] {
        assert!(!page.html.contains(attribute), "{attribute}");
    }
}

#[test]
fn the_script_is_small_and_does_without_anything_else() {
    let script = include_str!("../../web/formd.js");
    assert!(script.len() < 2 * 1024, "{} bytes", script.len());
    for word in ["import ", "require(", "eval(", "innerHTML"] {
        assert!(!script.contains(word), "{word}");
    }
}

#[test]
fn base64_as_the_rfc_has_it() {
    for (plain, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
        assert_eq!(base64(plain.as_bytes()), text);
    }
}
