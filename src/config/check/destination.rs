//! A destination of a site: one e-mail address or one webhook, with the keys that fit it.

use super::super::files::TextFile;
use super::super::problem::{listed, printable, quoted};
use super::super::table::Table;
use super::super::value::Value;
use super::secret::{Need, Secrets};
use super::url::{self, Reach};
use crate::domain::bounds::MIB;
use crate::domain::email;
use crate::domain::form::{Destination, Field};
use crate::domain::ids::DestinationId;
use crate::domain::secret::Secret;
use crate::domain::target::{Disclosure, EmailTarget, Format, Signing, Target, WebhookTarget};
use crate::domain::template::{Name, Template};

/// Bytes of files that travel with a mail unless the destination says otherwise.
const MAX_ATTACH: u64 = 7 * MIB;
/// Keys that only an e-mail destination has.
const EMAIL_KEYS: &[&str] = &["subject", "text", "reply_to", "attach_files", "max_attach"];
/// Keys that only a webhook has.
const WEBHOOK_KEYS: &[&str] = &["secret", "secret_file", "previous_secret", "previous_secret_file", "allow_private"];

/// A destination with the places whose names every form that uses it must have.
pub(super) struct Declared<'d> {
    /// The destination; where a value is wrong a harmless one stands in.
    pub(super) destination: Destination,
    /// The field names it uses, each with the value that names it.
    names: Vec<(Value<'d>, String)>,
}

impl Declared<'_> {
    /// Notes the names that are no fields of the forms that use it; `forms` are their ids and fields. A form that
    /// declares no fields has any name.
    pub(super) fn check_names(&self, forms: &[(&str, &[Field])]) {
        for (value, name) in &self.names {
            let lacks =
                |(_, fields): &&(&str, &[Field])| !fields.is_empty() && !fields.iter().any(|field| field.name == *name);
            let lacking: Vec<&str> = forms.iter().filter(lacks).map(|(id, _)| *id).collect();
            if !lacking.is_empty() {
                value.dangling(
                    format!(
                        "{} names {}, which is no field of form {}",
                        quoted(value.key),
                        quoted(name),
                        listed(lacking)
                    ),
                    "correct the name, declare the field in each form, or give the form `destinations` of its own",
                );
            }
        }
    }
}

/// Reads a destination that stands in `file`; `None` without a usable id.
pub(super) fn check<'d>(mut table: Table<'d>, secrets: &Secrets<'_>, file: &TextFile) -> Option<Declared<'d>> {
    let id = table.need("id", "give it a name of its own: `id = \"sales\"`").and_then(|value| {
        let id = value.parsed("take 1 to 64 letters, digits, `-`, `_`", |text| DestinationId::parse(text).ok())?;
        table.rename(format!("destination {}", quoted(id.as_str())));
        Some(id)
    });
    let paused = table.take("paused").and_then(|value| value.flag()).unwrap_or_default();
    let mut names = Vec::new();
    let target = match (table.take("email"), table.take("webhook")) {
        (Some(address), None) => {
            refuse(&mut table, WEBHOOK_KEYS, "an e-mail destination");
            Some(Target::Email(mail(&mut table, &address, &mut names)))
        }
        (None, Some(address)) => {
            refuse(&mut table, EMAIL_KEYS, "a webhook");
            webhook(&mut table, &address, secrets, file).map(Target::Webhook)
        }
        (Some(_), Some(webhook)) => {
            webhook.misplaced("`webhook` stands beside `email`", "make two destinations of them");
            forgo(&mut table);
            None
        }
        (None, None) => {
            table.missing_all(
                "neither `email` nor `webhook`",
                "write `email = \"ADDRESS\"` or `webhook = \"https://...\"`",
            );
            forgo(&mut table);
            None
        }
    };
    table.finish();
    let target = target.unwrap_or_else(nowhere);
    Some(Declared { destination: Destination { id: id?, paused, target }, names })
}

/// Notes each of `keys` that is present: `this` does not take them.
fn refuse(table: &mut Table<'_>, keys: &[&'static str], this: &str) {
    for key in keys {
        if let Some(value) = table.take(key) {
            let other = if keys == EMAIL_KEYS { "an e-mail destination" } else { "a webhook" };
            value.misplaced(format!("`{key}` does not fit {this}"), format!("remove it; it belongs to {other}"));
        }
    }
}

/// Takes the keys of both kinds, where it is not known which one is meant.
fn forgo(table: &mut Table<'_>) {
    for key in EMAIL_KEYS.iter().chain(WEBHOOK_KEYS) {
        table.take(key);
    }
}

/// What stands in for a destination that could not be read, so that its id is known to the forms.
fn nowhere() -> Target {
    let signing = Signing { secret: Secret::new(String::new()), previous: None };
    let format = Format::Formd(signing);
    Target::Webhook(WebhookTarget { url: String::new(), disclosure: Disclosure::Host, allow_private: false, format })
}

/// An e-mail destination.
fn mail<'d>(table: &mut Table<'d>, address: &Value<'d>, names: &mut Vec<(Value<'d>, String)>) -> EmailTarget {
    let address = address
        .parsed("write one address such as `sales@example.com`", |text| email::is_valid(text).then(|| text.to_owned()));
    let subject = table.take("subject").filter(|value| value.line().is_some());
    let subject = subject.and_then(|value| template(&value, names));
    let text = table.take("text").and_then(|value| template(&value, names));
    let reply_to = table.take("reply_to").and_then(|value| {
        let name = value.line()?.to_owned();
        names.push((value, name.clone()));
        Some(name)
    });
    let attach_files = table.take("attach_files").and_then(|value| value.flag()).unwrap_or_default();
    let max_attach = table.take("max_attach").and_then(|value| value.size(1..=1024 * MIB)).unwrap_or(MAX_ATTACH);
    EmailTarget { address: address.unwrap_or_default(), subject, text, reply_to, attach_files, max_attach, title: None }
}

/// A template, as written; the fields it names are added to `names`.
pub(super) fn template<'d>(value: &Value<'d>, names: &mut Vec<(Value<'d>, String)>) -> Option<String> {
    let text = value.text()?;
    match Template::parse(text) {
        Ok(template) => {
            let mut fields: Vec<String> = template.names().filter_map(field_name).collect();
            fields.sort();
            fields.dedup();
            names.extend(fields.into_iter().map(|field| (value.clone(), field)));
            Some(text.to_owned())
        }
        Err(fault) => {
            let message = format!("{} is no template: {fault}", quoted(value.key));
            value.wrong(printable(&message), "write `{{FIELD}}` with the name of a field");
            None
        }
    }
}

/// The field that a place of a template names.
fn field_name(name: &Name) -> Option<String> {
    match name {
        Name::Field(field) => Some(field.clone()),
        Name::Receipt | Name::Form | Name::Page | Name::ReceivedAt => None,
    }
}

/// A webhook; `None` when its address or secret is wrong.
fn webhook(
    table: &mut Table<'_>,
    address: &Value<'_>,
    secrets: &Secrets<'_>,
    file: &TextFile,
) -> Option<WebhookTarget> {
    let url = address
        .text()
        .and_then(|text| url::webhook(text).map_err(|(message, remedy)| address.wrong(message, remedy)).ok());
    let allowed = table.take("allow_private").and_then(|value| value.flag()).unwrap_or_default();
    let signing = secrets.signing(table, file, Need::Obligatory);
    let (url, signing) = (url?, signing?);
    let allow_private = allowed || url.reach == Reach::Loopback;
    let format = Format::Formd(signing);
    Some(WebhookTarget { url: url.url, disclosure: Disclosure::Path, allow_private, format })
}
