//! What a form takes and what it says to the rest.

use proptest::prelude::*;

use super::super::draft::Shape;
use super::super::filekind::{Close, FileKind, Sniffed};
use super::super::form::{ExtraFields, FileRules, NumberRules, TextRules};
use super::super::ids::FormId;
use super::super::pattern::Pattern;
use super::super::response::Response;
use super::super::text::Language;
use super::*;
use crate::domain::digest::Sha256Sum;

/// A form with these fields; those whose name ends in `!` are required.
fn form(fields: Vec<(&str, FieldKind)>) -> Form {
    let field = |(name, kind): (&str, FieldKind)| Field {
        name: name.trim_end_matches('!').to_owned(),
        label: format!("The {}", name.trim_end_matches('!')),
        kind,
        required: name.ends_with('!'),
        placeholder: None,
        help: None,
    };
    Form {
        id: FormId::parse("quote").unwrap(),
        title: None,
        page: None,
        locale: None,
        accept: true,
        accept_files: false,
        paths: Vec::new(),
        selectors: Vec::new(),
        unwrap: None,
        signature: None,
        destinations: Vec::new(),
        success_url: None,
        consent: None,
        confirmation: None,
        extra_fields: ExtraFields::Keep,
        response: Response::Usual,
        fields: fields.into_iter().map(field).collect(),
    }
}

fn text() -> FieldKind {
    FieldKind::Text(TextRules::default())
}

fn pdfs(max_files: u8) -> FieldKind {
    FieldKind::File(FileRules { types: vec![FileKind::Pdf], max_files, max_size: 1000 })
}

fn draft(entries: &[(&str, &str)]) -> Draft {
    let mut draft = Draft::default();
    for (name, value) in entries {
        draft.push((*name).to_owned(), value, Shape::Scalar);
    }
    draft
}

fn pdf(field: &str, name: &str, size: u64) -> DraftFile {
    let sniffed = Sniffed::Known(FileKind::Pdf);
    DraftFile { field: field.into(), name: name.into(), size, sha256: Sha256Sum::of(name.as_bytes()), sniffed }
}

fn with_files(mut draft: Draft, files: Vec<DraftFile>) -> Draft {
    draft.files = files;
    draft
}

/// Each fault as `field: code`.
fn faults(form: &Form, draft: &Draft) -> Vec<String> {
    let errors = validate(form, &Bounds::default(), draft).expect_err("faults");
    errors.iter().map(|error| format!("{}: {}", error.field, error.fault.code())).collect()
}

/// Each value as `field=value`, each file as `field=name`.
fn kept(form: &Form, draft: &Draft) -> Vec<String> {
    let submission = validate(form, &Bounds::default(), draft).expect("a submission");
    let value = |value: &Value| match value {
        Value::Bool(on) => on.to_string(),
        Value::Text(text) => text.clone(),
        Value::List(list) => format!("{list:?}"),
    };
    let fields = submission.contents.fields.iter().map(|field| format!("{}={}", field.name, value(&field.value)));
    fields.chain(submission.files.iter().map(|file| format!("{}={}", file.field, file.name))).collect()
}

#[test]
fn every_fault_is_named_at_once_in_the_order_of_the_form() {
    let form = form(vec![("name!", text()), ("email!", FieldKind::Email(TextRules::default())), ("cv!", pdfs(1))]);
    let draft = draft(&[("zzz", "\u{0}"), ("email", "nobody"), ("_key", "k")]);
    assert_eq!(faults(&form, &draft), ["name: required", "email: email", "cv: required", "zzz: control_character"]);
}

#[test]
fn a_field_that_was_not_sent_is_there_all_the_same() {
    let boxes = FieldKind::Checkboxes(vec!["a".into()]);
    let form = form(vec![("name", text()), ("agree", FieldKind::Checkbox), ("many", boxes), ("cv", pdfs(1))]);
    assert_eq!(kept(&form, &Draft::default()), ["name=", "agree=false", "many=[]"]);
}

#[test]
fn a_box_is_off_when_absent_and_the_last_of_two_counts() {
    let mut form = form(vec![("agree", FieldKind::Checkbox)]);
    form.consent = Some("agree".into());
    for (sent, on) in [
        (vec![], false),
        (vec!["0"], false),
        (vec!["No"], false),
        (vec!["off"], false),
        (vec![""], false),
        (vec!["on"], true),
        (vec!["0", "1"], true),
        (vec!["1", "0"], false),
        (vec!["anything"], true),
    ] {
        let entries: Vec<_> = sent.iter().map(|value| ("agree", *value)).collect();
        let submission = validate(&form, &Bounds::default(), &draft(&entries)).unwrap();
        assert_eq!(submission.contents.consent, Some(on), "{sent:?}");
    }
    form.fields[0].required = true;
    assert_eq!(faults(&form, &draft(&[("agree", "0")])), ["agree: required"]);
}

#[test]
fn only_checkboxes_take_a_name_twice() {
    let options = vec!["red".to_owned(), "blue".to_owned()];
    let form = form(vec![
        ("name", text()),
        ("many!", FieldKind::Checkboxes(options.clone())),
        ("one", FieldKind::Radio(options)),
    ]);
    let sent = draft(&[("many[]", "blue"), ("many", ""), ("many", "red"), ("one", "red")]);
    assert_eq!(kept(&form, &sent), ["name=", "many=[\"blue\", \"red\"]", "one=red"]);
    let sent = draft(&[("name", "a"), ("name", "a"), ("one", "red"), ("one", "blue"), ("many", "green")]);
    assert_eq!(faults(&form, &sent), ["name: repeated", "many: option", "one: repeated"]);
    assert_eq!(faults(&form, &draft(&[("many", ""), ("one", "green")])), ["many: required", "one: option"]);
}

#[test]
fn texts_are_counted_as_html_counts_them() {
    let rules = TextRules { min_length: Some(2), max_length: Some(4), pattern: None };
    let form = form(vec![("note", FieldKind::Textarea(rules))]);
    for (value, code) in [("👍👍👍", "too_long"), ("a", "too_short"), ("abcd\r\n", "too_long")] {
        assert_eq!(faults(&form, &draft(&[("note", value)])), [format!("note: {code}")], "{value:?}");
    }
    for value in ["", "👍👍", "a\r\nb\t", "ab"] {
        assert!(validate(&form, &Bounds::default(), &draft(&[("note", value)])).is_ok(), "{value:?}");
    }
}

#[test]
fn a_line_takes_no_line_break_and_nothing_takes_a_control_character() {
    let rules = TextRules { pattern: Some(Pattern::parse("[a-z]+").unwrap()), ..TextRules::default() };
    let form = form(vec![
        ("line", FieldKind::Text(rules)),
        ("lines", FieldKind::Textarea(TextRules::default())),
        ("count", FieldKind::Number(NumberRules::default())),
    ]);
    for (name, value, code) in [
        ("line", "a\r\nBcc: x@y", "line_break"),
        ("line", "a\tb", "control_character"),
        ("line", "A", "pattern"),
        ("lines", "a\u{0}b", "control_character"),
        ("lines", "a\u{1b}[31m", "control_character"),
        ("lines", "a\u{85}b", "control_character"),
        ("count", "1\n", "line_break"),
        ("count", "one", "number"),
        ("extra", "a\u{7f}", "control_character"),
        ("ex\r\ntra", "a", "unknown_field"),
        ("", "a", "unknown_field"),
    ] {
        assert_eq!(faults(&form, &draft(&[(name, value)])), [format!("{name}: {code}")], "{value:?}");
    }
}

#[test]
fn what_is_no_plain_text_is_refused_at_its_field() {
    let form = form(vec![("name", text()), ("agree", FieldKind::Checkbox)]);
    for (shape, code) in [(Shape::Element, "nested"), (Shape::Nested, "nested"), (Shape::Undecodable, "not_text")] {
        for name in ["name", "agree"] {
            let mut sent = Draft::default();
            sent.push(name.into(), "", shape);
            assert_eq!(faults(&form, &sent), [format!("{name}: {code}")]);
        }
    }
}

#[test]
fn undeclared_texts_are_kept_dropped_or_refused_as_the_form_says() {
    let mut form = form(vec![("name", text())]);
    let sent = draft(&[("b", "1"), ("name", "n"), ("a", "2"), ("b", "3"), ("_next", "/x"), ("bot-field", "")]);
    assert_eq!(kept(&form, &sent), ["name=n", "b=[\"1\", \"3\"]", "a=2"]);
    form.extra_fields = ExtraFields::Ignore;
    assert_eq!(kept(&form, &sent), ["name=n"]);
    form.extra_fields = ExtraFields::Reject;
    assert_eq!(faults(&form, &sent), ["b: unknown_field", "a: unknown_field"]);
    let long = "n".repeat(300);
    form.extra_fields = ExtraFields::Keep;
    assert_eq!(faults(&form, &draft(&[(&long, "")])), [format!("{}: unknown_field", &long[..200])]);
}

#[test]
fn a_form_without_fields_takes_any_text_and_files_only_when_it_says_so() {
    let mut form = form(vec![]);
    form.extra_fields = ExtraFields::Reject;
    let sent = with_files(draft(&[("email", "a@b.c"), ("x", "1"), ("x", "2")]), vec![pdf("doc", "", 9)]);
    assert_eq!(faults(&form, &sent), ["doc: unknown_file"]);
    form.accept_files = true;
    assert_eq!(kept(&form, &sent), ["email=a@b.c", "x=[\"1\", \"2\"]", "doc=file.pdf"]);
    let submission = validate(&form, &Bounds::default(), &sent).unwrap();
    assert_eq!(submission.contents.fields[0].role, Role::Email);
    assert_eq!(submission.contents.consent, None);
    let six = with_files(Draft::default(), (0..6).map(|n| pdf("doc", &format!("{n}.pdf"), 9)).collect());
    assert_eq!(faults(&form, &six), ["doc: files_too_many"]);
}

#[test]
fn a_file_field_takes_files_and_a_text_field_takes_none() {
    let form = form(vec![("name", text()), ("cv", pdfs(2))]);
    assert_eq!(kept(&form, &draft(&[("cv", "")])), ["name="]);
    assert_eq!(faults(&form, &draft(&[("cv", "undefined")])), ["cv: file_expected"]);
    let sent = with_files(Draft::default(), vec![pdf("name", "a.pdf", 9), pdf("x", "b.pdf", 9)]);
    assert_eq!(faults(&form, &sent), ["name: text_expected", "x: unknown_file"]);
}

#[test]
fn each_file_is_judged_by_its_bytes_and_its_name() {
    let form = form(vec![("cv", pdfs(1))]);
    let sniffed = |name: &str, sniffed: Sniffed| DraftFile { sniffed, ..pdf("cv", name, 9) };
    for (file, code) in [
        (pdf("cv", "a.pdf", 0), "file_empty"),
        (pdf("cv", "a.pdf", 1001), "file_too_large"),
        (sniffed("a.pdf", Sniffed::Refused(Close::Damaged(Some(FileKind::Pdf)))), "file_damaged"),
        (sniffed("a.jpg", Sniffed::Refused(Close::Damaged(Some(FileKind::Jpeg)))), "file_type"),
        (sniffed("a.docx", Sniffed::Refused(Close::Damaged(None))), "file_type"),
        (sniffed("a.pdf", Sniffed::Refused(Close::Unknown)), "file_contradicts"),
        (sniffed("a.html", Sniffed::Refused(Close::Unknown)), "file_type"),
        (pdf("cv", "a.DOCX", 9), "file_contradicts"),
        (pdf("cv", "a.exe", 9), "file_contradicts"),
        (pdf("cv", "a.exe. ", 9), "file_contradicts"),
    ] {
        let name = file.name.clone();
        assert_eq!(faults(&form, &with_files(Draft::default(), vec![file])), [format!("cv: {code}")], "{name}");
    }
    for name in ["a.pdf", "A.PDF", "noext", "report.v2"] {
        let sent = with_files(Draft::default(), vec![pdf("cv", name, 1000)]);
        assert_eq!(kept(&form, &sent), [format!("cv={name}")]);
    }
}

#[test]
fn where_any_kind_is_taken_the_true_type_counts_and_not_the_name() {
    let any = FileRules { types: vec![], max_files: 1, max_size: 1000 };
    let form = form(vec![("cv", FieldKind::File(any))]);
    let submission =
        validate(&form, &Bounds::default(), &with_files(Draft::default(), vec![pdf("cv", "a.docx", 9)])).unwrap();
    assert_eq!((submission.files[0].kind, submission.files[0].name.as_str()), (FileKind::Pdf, "a.docx"));
}

#[test]
fn text_under_the_name_of_a_binary_type_is_refused_even_where_any_kind_is_taken() {
    let any = FileRules { types: vec![], max_files: 1, max_size: 1000 };
    let form = form(vec![("cv", FieldKind::File(any))]);
    let text = |name: &str| DraftFile { sniffed: Sniffed::Known(FileKind::Txt), ..pdf("cv", name, 9) };
    for name in ["a.docx", "a.pdf", "a.jpg", "a.rtf", "a.doc"] {
        assert_eq!(faults(&form, &with_files(Draft::default(), vec![text(name)])), ["cv: file_contradicts"], "{name}");
    }
    for (name, kind) in [("a.txt", FileKind::Txt), ("a.csv", FileKind::Csv), ("a", FileKind::Txt)] {
        let sent = with_files(Draft::default(), vec![text(name)]);
        assert_eq!(validate(&form, &Bounds::default(), &sent).unwrap().files[0].kind, kind, "{name}");
    }
}

#[test]
fn files_are_taken_in_form_order_and_point_at_their_bytes() {
    let form = form(vec![("a", pdfs(1)), ("b", pdfs(1))]);
    let sent = with_files(Draft::default(), vec![pdf("b", "b.pdf", 9), pdf("a", "a.pdf", 9)]);
    let submission = validate(&form, &Bounds::default(), &sent).unwrap();
    let found: Vec<_> = submission.files.iter().map(|file| (file.index, file.field.as_str())).collect();
    assert_eq!(found, [(1, "a"), (0, "b")]);
}

#[test]
fn too_many_and_too_much_are_said_once() {
    let wide = FileRules { types: vec![], max_files: 5, max_size: 5 << 20 };
    let form = form(vec![("a", FieldKind::File(wide.clone())), ("b", FieldKind::File(wide))]);
    let big = |field: &str, n: usize| (0..n).map(|i| pdf(field, &format!("{i}.pdf"), 4 << 20)).collect::<Vec<_>>();
    assert_eq!(faults(&form, &with_files(Draft::default(), big("a", 3))), ["a: files_total"]);
    assert_eq!(faults(&form, &with_files(Draft::default(), big("a", 6))), ["a: files_too_many", "a: files_total"]);
    let small = [big("a", 4), big("b", 3)].concat().into_iter().map(|f| DraftFile { size: 1, ..f }).collect();
    assert_eq!(faults(&form, &with_files(Draft::default(), small)), ["b: files_too_many"]);
}

#[test]
fn of_a_file_beyond_the_most_only_its_number_is_a_fault() {
    let unread = |field: &str| DraftFile { sniffed: Sniffed::Refused(Close::Unknown), ..pdf(field, "6.pdf", 9) };
    let five = |field: &str| (1..=5).map(|n| pdf(field, &format!("{n}.pdf"), 9)).collect::<Vec<_>>();
    let mut any = form(Vec::new());
    any.accept_files = true;
    let sent = with_files(Draft::default(), [five("doc"), vec![unread("doc")]].concat());
    assert_eq!(faults(&any, &sent), ["doc: files_too_many"]);
    // The form's order is not the body's: what was not read is what came last.
    let two = form(vec![("a", pdfs(5)), ("b", pdfs(5))]);
    let sent = with_files(Draft::default(), [five("b"), vec![unread("a")]].concat());
    assert_eq!(faults(&two, &sent), ["a: files_too_many"]);
}

#[test]
fn only_files_that_are_too_large_make_a_413() {
    let form = form(vec![("name!", text()), ("cv", pdfs(1))]);
    let large = with_files(draft(&[("name", "n")]), vec![pdf("cv", "a.pdf", 1001)]);
    let judge = |draft: &Draft| only_too_large(&validate(&form, &Bounds::default(), draft).unwrap_err());
    assert_eq!(judge(&large), Verdict::OnlyTooLarge);
    assert_eq!(judge(&with_files(Draft::default(), large.files)), Verdict::Invalid);
    assert_eq!(only_too_large(&[]), Verdict::Invalid);
}

#[test]
fn a_fault_is_said_in_the_language_of_the_form() {
    let form = form(vec![("cv!", pdfs(1))]);
    let errors = validate(&form, &Bounds::default(), &Draft::default()).unwrap_err();
    let english = errors[0].render(Some(&form), &Language::En.texts());
    let russian = errors[0].render(None, &Language::Ru.texts());
    assert_eq!(english.message, "Please choose a file for “The cv”.");
    assert_eq!(russian.message, "Выберите файл в поле «cv».");
    let sent = with_files(Draft::default(), vec![pdf("cv", "a.pdf", 2_000_000)]);
    let errors = validate(&form, &Bounds::default(), &sent).unwrap_err();
    let json = serde_json::to_value(errors[0].render(Some(&form), &Language::En.texts())).unwrap();
    assert_eq!(json["code"], "file_too_large");
    assert_eq!(json["hint"], "Please choose a smaller file, or send a link to it.");
}

/// Any draft at all, over few names so that they meet the form's.
fn any_draft() -> impl Strategy<Value = Draft> {
    let name =
        || prop_oneof!["name", "many", "many\\[\\]", "one", "agree", "cv", "n", "when", "at", "mail", "\\PC{0,3}"];
    let shape = prop_oneof![Just(Shape::Scalar), Just(Shape::Element), Just(Shape::Nested), Just(Shape::Undecodable)];
    let value = prop_oneof!["red", "blue", "", "on", "a@b", "12", "2026-01-01", "(\\PC|\\p{C}){0,8}"];
    let sniffed = prop_oneof![
        Just(Sniffed::Known(FileKind::Pdf)),
        Just(Sniffed::Refused(Close::Damaged(Some(FileKind::Pdf)))),
        Just(Sniffed::Refused(Close::Unknown))
    ];
    let file = (name(), "(\\PC|\\p{C}){0,8}", any::<u64>(), sniffed)
        .prop_map(|(field, file, size, sniffed)| DraftFile { sniffed, ..pdf(&field, &file, size) });
    let entries = proptest::collection::vec((name(), value, shape), 0..12);
    (entries, proptest::collection::vec(file, 0..4)).prop_map(|(entries, files)| {
        let mut draft = Draft::default();
        for (name, value, shape) in entries {
            draft.push(name, &value, shape);
        }
        with_files(draft, files)
    })
}

/// A form with a field of each kind.
fn every_kind() -> Form {
    let rules = TextRules::default;
    let options = || vec!["red".to_owned(), "blue".to_owned()];
    form(vec![
        ("name", FieldKind::Textarea(rules())),
        ("many", FieldKind::Checkboxes(options())),
        ("one", FieldKind::Select(options())),
        ("agree", FieldKind::Checkbox),
        ("cv", pdfs(2)),
        ("n", FieldKind::Number(NumberRules { min: Some(1.0), max: None })),
        ("when", FieldKind::Date(super::super::form::DateRules::default())),
        ("at", FieldKind::Url(rules())),
        ("mail", FieldKind::Email(rules())),
    ])
}

proptest! {
    #[test]
    fn no_draft_makes_it_panic_and_each_fault_can_be_said(draft in any_draft()) {
        for form in [every_kind(), form(vec![])] {
            for error in validate(&form, &Bounds::default(), &draft).err().into_iter().flatten() {
                for language in Language::ALL {
                    prop_assert!(!error.render(Some(&form), &language.texts()).message.is_empty());
                }
            }
        }
    }

    /// What JSON sends as an array, urlencoded sends as repeats.
    #[test]
    fn one_content_gives_one_submission_however_it_travelled(
        many in proptest::collection::vec("red|blue", 0..4), extra in proptest::collection::vec("[a-z]{0,3}", 0..4),
        name in "[a-z\r\n]{0,9}", on in any::<bool>(),
    ) {
        let (mut json, mut urlencoded) = (draft(&[("name", &name)]), draft(&[("name", &name)]));
        json.push("agree".into(), if on { "true" } else { "false" }, Shape::Scalar);
        if on {
            urlencoded.push("agree".into(), "on", Shape::Scalar);
        }
        for (field, values) in [("many", many), ("other", extra)] {
            for value in values {
                json.push(field.into(), &value, Shape::Element);
                urlencoded.push(field.into(), &value, Shape::Scalar);
            }
        }
        let form = every_kind();
        prop_assert_eq!(validate(&form, &Bounds::default(), &json), validate(&form, &Bounds::default(), &urlencoded));
    }
}
