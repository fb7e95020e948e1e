//! Made-up values against the validator itself.

use super::*;
use crate::config::Config;
use crate::ctl::testing::files as written;
use crate::domain::bounds::Bounds;
use crate::domain::filekind::{Agreement, Resolved, resolve};
use crate::domain::form::ExtraFields;
use crate::domain::submission::{KeptField, Value};
use crate::domain::validate::validate;

/// The form `f` with these fields, each a line of TOML members.
fn form(fields: &[&str]) -> Form {
    let fields: String =
        fields.iter().map(|field| ["[[form.f.field]]", &field.replace("; ", "\n"), ""].join("\n")).collect();
    let (_folder, file) = written(&format!("[form.f]\n{fields}"));
    let config = Config::load(Some(file.as_ref())).unwrap_or_else(|problems| panic!("{problems}"));
    Form::clone(config.form_at("/f/acme/f").unwrap().1)
}

/// Nothing of one's own.
const NOTHING: Wishes<'_> = Wishes { set: &[], email: None, no_files: false };

/// What validation keeps of the values made for `form`.
fn kept(form: &Form, wishes: &Wishes<'_>) -> Vec<KeptField> {
    let draft = values(form, wishes, "2026-11-30").unwrap();
    validate(form, &Bounds::default(), &draft).unwrap().contents.fields
}

/// The one value made for a field of these members.
fn made(field: &str) -> Value {
    kept(&form(&[field]), &NOTHING).remove(0).value
}

#[test]
fn every_kind_of_field_gets_a_value_that_its_rules_allow() {
    let text = |text: &str| Value::Text(text.to_owned());
    for (field, value) in [
        ("name = 'a'; kind = 'text'; required = true", text("formctl test")),
        ("name = 'a'; kind = 'text'; max_length = 4", text("form")),
        ("name = 'a'; kind = 'text'; min_length = 15", text("formctl test111")),
        ("name = 'a'; kind = 'text'; pattern = '[0-9]{5}'", text("11111")),
        ("name = 'a'; kind = 'text'; pattern = '[0-9]+'; min_length = 7; max_length = 7", text("1111111")),
        ("name = 'a'; kind = 'hidden'; pattern = '[a-z]+'", text("aa")),
        ("name = 'a'; kind = 'textarea'; max_length = 14", text("This is a test")),
        ("name = 'a'; kind = 'tel'; pattern = '\\+[0-9 ]+'; required = true", text("+1 555 0100")),
        ("name = 'a'; kind = 'url'; required = true", text("https://example.com/")),
        ("name = 'a'; kind = 'email'; required = true", text("formctl-test@example.com")),
        ("name = 'a'; kind = 'number'", text("1")),
        ("name = 'a'; kind = 'number'; min = 2.5", text("2.5")),
        ("name = 'a'; kind = 'number'; max = -3", text("-3")),
        ("name = 'a'; kind = 'date'", text("2026-11-30")),
        ("name = 'a'; kind = 'date'; min = '2027-01-01'", text("2027-01-01")),
        ("name = 'a'; kind = 'date'; max = '2020-02-29'", text("2020-02-29")),
        ("name = 'a'; kind = 'select'; options = ['x', 'y']; required = true", text("x")),
        ("name = 'a'; kind = 'radio'; options = ['y', 'x']", text("y")),
        ("name = 'a'; kind = 'checkboxes'; options = ['p', 'q']; required = true", Value::List(vec!["p".to_owned()])),
        ("name = 'a'; kind = 'checkbox'; required = true", Value::Bool(true)),
        ("name = 'a'; kind = 'text'; pattern = 'a\\bb'", text("")),
    ] {
        assert_eq!(made(field), value, "{field}");
    }
}

#[test]
fn a_form_that_takes_any_field_gets_name_email_and_message() {
    let (_folder, file) = written("[form.f]\n");
    let config = Config::load(Some(file.as_ref())).unwrap();
    let any = Form::clone(config.form_at("/f/acme/f").unwrap().1);
    let set = [("message".to_owned(), "my own".to_owned())];
    let fields = kept(&any, &Wishes { set: &set, email: Some("me@acme.example"), ..NOTHING });
    let pairs: Vec<_> = fields.iter().map(|field| (field.name.as_str(), field.value.clone())).collect();
    let text = |text: &str| Value::Text(text.to_owned());
    assert_eq!(
        pairs,
        [("name", text("formctl test")), ("email", text("me@acme.example")), ("message", text("my own"))]
    );
    assert!(files_of(&any, &NOTHING).is_empty());
    assert_eq!(files_of(&Form { accept_files: true, ..any }, &NOTHING), [("file", FileKind::Pdf)]);
}

#[test]
fn what_cannot_be_made_up_is_asked_for_and_taken() {
    let strict = Form {
        extra_fields: ExtraFields::Reject,
        ..form(&["name = 'plz'; kind = 'text'; pattern = 'a\\bb|x\\by'; required = true"])
    };
    let error = values(&strict, &NOTHING, "2026-11-30").unwrap_err();
    assert_eq!((error.code(), error.hint.as_deref()), (1, Some("give one: `--set 'plz=VALUE'`")));
    let set = [("plz".to_owned(), "mine".to_owned())];
    let draft = values(&strict, &Wishes { set: &set, ..NOTHING }, "2026-11-30").unwrap();
    assert_eq!((draft.entries.len(), draft.entries[0].value.as_str()), (1, "mine"));
    let set = [("plx".to_owned(), "mine".to_owned())];
    let error = values(&strict, &Wishes { set: &set, ..NOTHING }, "2026-11-30").unwrap_err();
    assert_eq!((error.code(), error.hint.as_deref()), (2, Some("it has `plz`")));
}

#[test]
fn a_file_field_gets_a_file_of_a_kind_and_size_it_takes() {
    let form = form(&[
        "name = 'plan'; kind = 'file'; types = ['.docx', '.png']; required = true",
        "name = 'small'; kind = 'file'; types = ['.pptx', '.odt']; max_size = '2KiB'",
        "name = 'any'; kind = 'file'",
    ]);
    let all = [("plan", FileKind::Docx), ("small", FileKind::Odt), ("any", FileKind::Pdf)];
    assert_eq!(files_of(&form, &NOTHING), all);
    assert_eq!(files_of(&form, &Wishes { no_files: true, ..NOTHING }), [("plan", FileKind::Docx)]);
    let set = [("plan".to_owned(), "x".to_owned())];
    assert_eq!(values(&form, &Wishes { set: &set, ..NOTHING }, "2026-11-30").unwrap_err().code(), 2);
}

#[test]
fn each_file_is_what_its_name_says() {
    for kind in FileKind::ALL {
        let bytes = files::bytes(kind);
        let mut reader = Sniffer::default();
        reader.push(bytes);
        let found = reader.finish(&mut Cursor::new(bytes), bytes.len() as u64).unwrap();
        let resolved = resolve(found, kind.extension());
        assert_eq!(resolved, Ok(Resolved { kind, agreement: Agreement::Agrees }), "{}", files::name(kind));
    }
}
