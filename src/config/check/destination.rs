//! A destination of a site: one e-mail address or one webhook, with the keys that fit it.

use super::super::files::TextFile;
use super::super::problem::{listed, printable, quoted};
use super::super::table::Table;
use super::super::value::Value;
use super::secret::Secrets;
use super::webhook::{self, Address};
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
const WEBHOOK_KEYS: &[&str] =
    &["secret", "secret_file", "previous_secret", "previous_secret_file", "allow_private", "format", "body", "chat"];

/// Names of fields, each with the value that has it.
pub(super) type Names<'d> = Vec<(Value<'d>, String)>;

/// A destination with the places whose names every form that uses it must have.
pub(super) struct Declared<'d> {
    /// The destination; where a value is wrong a harmless one stands in.
    pub(super) destination: Destination,
    /// The field names it uses, each with the value that names it.
    names: Names<'d>,
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
    let target = match [table.take("email"), table.take("webhook"), table.take("url_file")] {
        [Some(address), None, None] => {
            refuse(&mut table, WEBHOOK_KEYS, "an e-mail destination");
            Some(Target::Email(mail(&mut table, &address, &mut names)))
        }
        [None, Some(address), None] => {
            refuse(&mut table, EMAIL_KEYS, "a webhook");
            webhook::check(&mut table, &Address::Inline(address), secrets, file, &mut names).map(Target::Webhook)
        }
        [None, None, Some(address)] => {
            refuse(&mut table, EMAIL_KEYS, "a webhook");
            webhook::check(&mut table, &Address::File(address), secrets, file, &mut names).map(Target::Webhook)
        }
        [None, None, None] => {
            table.missing_all(
                "neither `email` nor `webhook` nor `url_file`",
                "write `email = \"ADDRESS\"` or `webhook = \"https://...\"`",
            );
            forgo(&mut table);
            None
        }
        several => {
            let mut ways = several.into_iter().flatten();
            if let (Some(first), Some(second)) = (ways.next(), ways.next()) {
                let message = format!("`{}` stands beside `{}`", second.key, first.key);
                second.misplaced(message, "make two destinations of them");
            }
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
    Target::Webhook(WebhookTarget {
        url: String::new(),
        disclosure: Disclosure::Host,
        allow_private: false,
        format,
        title: None,
    })
}

/// An e-mail destination.
fn mail<'d>(table: &mut Table<'d>, address: &Value<'d>, names: &mut Names<'d>) -> EmailTarget {
    let address = address.parsed("write one address such as `sales@example.com`", |text| {
        email::is_mailbox(text).then(|| text.to_owned())
    });
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
pub(super) fn template<'d>(value: &Value<'d>, names: &mut Names<'d>) -> Option<String> {
    let text = value.text()?;
    match Template::parse(text) {
        Ok(template) => {
            name_fields(value, template.names(), names);
            Some(text.to_owned())
        }
        Err(fault) => {
            let message = format!("{} is no template: {fault}", quoted(value.key));
            value.wrong(printable(&message), "write `{{FIELD}}` with the name of a field");
            None
        }
    }
}

/// Adds the fields that the places of a template name, each once.
pub(super) fn name_fields<'d, 'n>(value: &Value<'d>, places: impl Iterator<Item = &'n Name>, names: &mut Names<'d>) {
    let mut fields: Vec<String> = places.filter_map(field_name).collect();
    fields.sort();
    fields.dedup();
    names.extend(fields.into_iter().map(|field| (value.clone(), field)));
}

/// The field that a place of a template names.
fn field_name(name: &Name) -> Option<String> {
    match name {
        Name::Field(field) => Some(field.clone()),
        Name::Receipt | Name::Form | Name::Page | Name::ReceivedAt => None,
    }
}
