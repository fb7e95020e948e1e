//! `GET /f/SITE/FORM/form.json`: the published form for a front-end that draws it itself: labels, kinds, limits and
//! texts, in the visitor's language. No destination, no secret, no honeypot stands in it.

use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderValue, VARY};
use serde_json::{Map, Value, json};

use super::answer::{Ask, finish, reply};
use super::server::Reply;
use crate::domain::bounds::Bounds;
use crate::domain::control;
use crate::domain::form::{ExtraFields, Field, FieldKind, FileRules, Form, Site, TextRules};
use crate::domain::text::Texts;
use crate::domain::validate::expected;

/// The answer.
pub(super) fn definition(site: &Site, form: &Form, public_url: Option<&str>, bounds: &Bounds, ask: &Ask) -> Reply {
    let body = describe(site, form, public_url, bounds, &ask.texts);
    let mut reply = finish(reply(StatusCode::OK, "application/json", body.to_string()), &ask.cors);
    // Fresh after every reload, and cheap to ask for.
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply.headers_mut().append(VARY, HeaderValue::from_static("Accept-Language"));
    reply
}

/// The form as JSON.
fn describe(site: &Site, form: &Form, public_url: Option<&str>, bounds: &Bounds, texts: &Texts) -> Value {
    let has_files = form.accept_files || form.fields.iter().any(|field| matches!(field.kind, FieldKind::File(_)));
    json!({
        "site": site.id.as_str(),
        "form": form.id.as_str(),
        "title": form.title.as_deref().unwrap_or(texts.form_title()),
        "locale": texts.language().tag(),
        "accept": site.enabled && site.accept && form.accept,
        "action": format!("{}/f/{}/{}", public_url.unwrap_or_default(), site.id, form.id),
        "method": "post",
        "enctype": if has_files { "multipart/form-data" } else { "application/x-www-form-urlencoded" },
        "key_field": control::KEY,
        "any_field": form.takes_any_field(),
        "extra_fields": match form.extra_fields {
            ExtraFields::Keep => "keep",
            ExtraFields::Ignore => "ignore",
            ExtraFields::Reject => "reject",
        },
        "consent": form.consent,
        "fields": form.fields.iter().map(|field| self::field(form, field, texts)).collect::<Vec<_>>(),
        "limits": {
            "fields": bounds.fields,
            "value": bounds.value,
            "values": bounds.values,
            "max_files": if has_files { bounds.max_files } else { 0 },
            "max_file": bounds.max_file,
            "max_files_total": bounds.max_files_total,
        },
        "texts": {
            "send": texts.send(),
            "send_as_new": texts.send_as_new(),
            "thanks_title": texts.thanks_title(),
            "thanks_message": texts.thanks_message(),
            "required_note": texts.required_note(),
            "choose": texts.choose(),
            "choose_again": texts.choose_again(),
            "fault_prefix": texts.fault_prefix(),
            "faults_label": texts.faults_label(),
            "back": texts.back(),
            "unavailable": texts.unavailable().detail,
        },
    })
}

/// One field with its rules, and the messages that the server would answer.
fn field(form: &Form, field: &Field, texts: &Texts) -> Value {
    let mut member = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() {
            member.insert(name.to_owned(), value);
        }
    };
    put("name", field.name.as_str().into());
    put("label", field.label.as_str().into());
    put("kind", field.kind.name().into());
    put("required", field.required.into());
    put("placeholder", json!(field.placeholder));
    put("help", json!(field.help));
    match &field.kind {
        FieldKind::Text(rules)
        | FieldKind::Textarea(rules)
        | FieldKind::Email(rules)
        | FieldKind::Tel(rules)
        | FieldKind::Url(rules)
        | FieldKind::Hidden(rules) => text(rules, put),
        FieldKind::Number(rules) => {
            put("min", json!(rules.min));
            put("max", json!(rules.max));
        }
        FieldKind::Date(rules) => {
            put("min", json!(rules.min));
            put("max", json!(rules.max));
        }
        FieldKind::Select(options) | FieldKind::Radio(options) | FieldKind::Checkboxes(options) => {
            put("options", json!(options));
        }
        FieldKind::Checkbox => {}
        FieldKind::File(rules) => files(rules, put),
    }
    let messages = expected(field).into_iter().map(|error| error.render(Some(form), texts));
    let messages: Map<String, Value> = messages.map(|error| (error.code.to_owned(), error.message.into())).collect();
    member.insert("messages".to_owned(), Value::Object(messages));
    Value::Object(member)
}

/// The rules of a text.
fn text(rules: &TextRules, mut put: impl FnMut(&str, Value)) {
    put("min_length", json!(rules.min_length));
    put("max_length", json!(rules.max_length));
    put("pattern", json!(rules.pattern.as_ref().map(crate::domain::pattern::Pattern::as_str)));
}

/// The rules of files.
fn files(rules: &FileRules, mut put: impl FnMut(&str, Value)) {
    let types: Vec<String> = rules.types.iter().map(|kind| format!(".{}", kind.extension())).collect();
    put("types", json!(types));
    put("max_files", rules.max_files.into());
    put("max_size", rules.max_size.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::text::Language;
    use crate::http::fixture::{form, site};

    #[test]
    fn a_front_end_learns_labels_kinds_limits_and_the_servers_own_words() {
        let form = form();
        let bounds = Bounds::default();
        let body = describe(&site(&[]), &form, Some("https://forms.example"), &bounds, &Language::De.texts());
        assert_eq!(body["action"], "https://forms.example/f/acme/quote");
        assert_eq!(body["locale"], "de");
        assert_eq!(body["fields"][0]["label"], "NAME");
        assert_eq!(body["fields"][0]["messages"]["required"], "Bitte füllen Sie „NAME“ aus.");
        assert_eq!(body["fields"][1]["max_files"], 2);
        let large = body["fields"][1]["messages"]["file_too_large"].as_str().unwrap_or_default();
        assert_eq!(large, "„{file}“ ist zu groß: höchstens 1\u{a0}MB.");
        assert_eq!(body["texts"]["send"], "Absenden");
        for word in ["destination", "secret", "webhook", "_gotcha"] {
            assert!(!body.to_string().contains(word), "{word}");
        }
    }
}
