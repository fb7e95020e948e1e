//! A form of a site: its settings, its fields and where its submissions go.

use std::collections::HashMap;

use super::super::problem::{listed, quoted, suggestion};
use super::super::table::Table;
use super::super::value::Value;
use super::confirmation::{self, Consent};
use super::{Ground, destination, field, response, url};
use crate::domain::form::{Destination, ExtraFields, Field, FieldKind, Form};
use crate::domain::ids::{FormId, SiteId};
use crate::domain::target::Target;
use crate::domain::text::Language;

/// Destinations of a form (contract 1, fixed).
const MOST_DESTINATIONS: usize = 5;

/// The extra and shared paths of the whole configuration, each with whom it belongs to.
#[derive(Default)]
pub(super) struct Paths(HashMap<String, String>);

impl Paths {
    /// Takes the path that `item` names for `owner`; `None` when it is none, or taken.
    pub(super) fn claim(
        &mut self,
        table: &Table<'_>,
        item: &Value<'_>,
        owner: &str,
        read: impl FnOnce(&str) -> Result<String, url::Fault>,
    ) -> Option<String> {
        let path = match read(item.text()?) {
            Ok(path) => path,
            Err((message, remedy)) => {
                item.wrong(message, remedy);
                return None;
            }
        };
        if let Some(owner) = self.0.get(&path) {
            let message = format!("the path {} stands twice in the configuration", quoted(&path));
            item.wrong(message, format!("it belongs to {owner} already: choose another, or remove one"));
            return None;
        }
        self.0.insert(path.clone(), format!("{owner} ({})", table.findings.place(&item.span())));
        Some(path)
    }
}

/// What a form needs to know of its site.
pub(super) struct Surroundings<'s, 'd> {
    /// The site's id.
    pub(super) site: &'s SiteId,
    /// The site's language.
    pub(super) locale: Option<Language>,
    /// The site's destinations.
    pub(super) destinations: &'s [destination::Declared<'d>],
    /// Ids that were declared and could not be read: naming them is no second mistake.
    pub(super) lost: bool,
}

/// Reads a form.
pub(super) fn check(
    mut table: Table<'_>,
    id: FormId,
    around: &Surroundings<'_, '_>,
    ground: &Ground<'_>,
    paths: &mut Paths,
) -> Form {
    let line = |value: Value<'_>| value.line().map(str::to_owned);
    let title = table.take("title").and_then(line);
    let page = table.take("page").and_then(line);
    let locale = table.take("locale").map_or(around.locale, |value| locale(&value));
    let accept = table.take("accept").and_then(|value| value.flag()).unwrap_or(true);
    let declared = fields(&mut table, ground);
    let accept_files = accept_files(&mut table, &declared);
    let own = format!("{}/{id}", around.site);
    let paths = table.take("paths").map(|value| extra_paths(&table, &value, &own, paths)).unwrap_or_default();
    let unwrap = table.take("unwrap").and_then(|value| unwrap(&value));
    let signature = table.take("signature_secret_file").and_then(|value| ground.secrets.of_signature(&value));
    let mut destinations = destinations(&mut table, around);
    for destination in &mut destinations {
        match &mut destination.target {
            Target::Email(mail) => mail.title.clone_from(&title),
            Target::Webhook(hook) => hook.title.clone_from(&title),
            Target::Confirmation(_) => {}
        }
    }
    let success_url = table.take("success_url").and_then(|value| {
        value.parsed("write `https://...` or a path that begins with one `/`, in ASCII", url::success)
    });
    let consent = table.take("consent");
    let named = if consent.is_some() { Consent::Named } else { Consent::Absent };
    let consent = consent.and_then(|value| self::consent(&value, &declared));
    let confirmation = table.take("confirmation").and_then(|value| {
        let section = value.table(format!("`[form.{id}.confirmation]`"))?;
        confirmation::check(section, &declared, named, ground)
    });
    let extra_fields = extra_fields(&mut table, &declared);
    let response = table.take("response").map(|value| response::check(&value)).unwrap_or_default();
    table.finish();
    Form {
        id,
        title,
        page,
        locale,
        accept,
        accept_files,
        paths,
        selectors: Vec::new(),
        unwrap,
        signature,
        destinations,
        success_url,
        consent,
        confirmation,
        extra_fields,
        response,
        fields: declared,
    }
}

/// A language, or `auto` for the visitor's.
pub(super) fn locale(value: &Value<'_>) -> Option<Language> {
    let tag = value.text()?;
    let language = Language::parse(tag);
    if language.is_none() && tag != "auto" {
        let known = Language::ALL.into_iter().map(Language::tag);
        value.wrong(
            format!("{} is no language of this version", quoted(tag)),
            format!("write one of {}, or `auto` for the visitor's", listed(known)),
        );
    }
    language
}

/// The fields in order, each name once.
fn fields(table: &mut Table<'_>, ground: &Ground<'_>) -> Vec<Field> {
    let Some(value) = table.take("field") else { return Vec::new() };
    let bounds = ground.bounds;
    let mut fields: Vec<Field> = Vec::new();
    let mut files = 0;
    for table in value.tables("form.FORM.field", "field") {
        let Some(declared) = field::check(table, bounds) else { continue };
        let field = declared.field;
        if fields.iter().any(|known| known.name == field.name) {
            declared.name.wrong(format!("the field {} stands twice", quoted(&field.name)), "rename or remove one");
            continue;
        }
        if field.required && matches!(field.kind, FieldKind::File(_)) {
            files += 1;
            if files > bounds.max_files {
                declared.name.wrong(
                    format!("this is obligatory file {files}, and a submission has at most {}", bounds.max_files),
                    "nobody could send the form: make it optional, or raise `max_files` in `[limits]`",
                );
            }
        }
        fields.push(field);
    }
    let most = usize::try_from(bounds.fields).unwrap_or(usize::MAX);
    if fields.len() > most {
        value.misplaced(
            format!("the form has {} fields, and a submission at most {most}", fields.len()),
            "remove some, or raise `fields` in `[limits]` of formd.toml",
        );
    }
    fields
}

/// `accept_files`, which only a form without declared fields has.
fn accept_files(table: &mut Table<'_>, fields: &[Field]) -> bool {
    let Some(value) = table.take("accept_files") else { return false };
    let accept = value.flag().unwrap_or_default();
    if accept && !fields.is_empty() {
        value.misplaced(
            "`accept_files` does not fit a form that declares its fields",
            "declare a field with `kind = \"file\"` instead",
        );
    }
    accept
}

/// The name of the object whose members are the fields.
fn unwrap(value: &Value<'_>) -> Option<String> {
    let name = value.line()?;
    if name.contains(['[', ']']) {
        value.wrong("`unwrap` is a name without brackets", "write `fields` for `fields[name]`");
        return None;
    }
    Some(name.to_owned())
}

/// The further addresses of a form; each stands once in the whole configuration.
fn extra_paths(table: &Table<'_>, value: &Value<'_>, form: &str, taken: &mut Paths) -> Vec<String> {
    let owner = format!("form `{form}`");
    let items = value.list().unwrap_or_default();
    items.iter().filter_map(|item| taken.claim(table, item, &owner, url::path)).collect()
}

/// The destinations that a form names, or all of its site.
fn destinations(table: &mut Table<'_>, around: &Surroundings<'_, '_>) -> Vec<Destination> {
    let all = around.destinations.iter().map(|declared| &declared.destination);
    let Some(value) = table.take("destinations") else {
        if around.destinations.len() > MOST_DESTINATIONS {
            table.findings.wrong(
                &table.span,
                format!("the form goes to all {} destinations of the site", around.destinations.len()),
                format!("name at most {MOST_DESTINATIONS} of them: `destinations = [\"ID\"]`"),
            );
        }
        return all.cloned().collect();
    };
    let items = value.list().unwrap_or_default();
    if items.len() > MOST_DESTINATIONS {
        value.wrong("the form has too many destinations", format!("name at most {MOST_DESTINATIONS}"));
    }
    let mut chosen: Vec<Destination> = Vec::new();
    for item in items {
        let Some(id) = item.text() else { continue };
        match all.clone().find(|destination| destination.id.as_str() == id) {
            Some(_) if chosen.iter().any(|known| known.id.as_str() == id) => {
                item.wrong(format!("the destination {} stands twice", quoted(id)), "remove one of the two");
            }
            Some(destination) => chosen.push(destination.clone()),
            None if around.lost => {}
            None => {
                let known = all.clone().map(|destination| destination.id.as_str());
                let remedy = match around.destinations {
                    [] => "declare it with a line `[[destination]]`".into(),
                    [..] => suggestion(id, known, "the site has"),
                };
                item.dangling(format!("the site has no destination {}", quoted(id)), remedy);
            }
        }
    }
    chosen
}

/// The checkbox that gives consent.
fn consent(value: &Value<'_>, fields: &[Field]) -> Option<String> {
    let name = value.text()?;
    match fields.iter().find(|field| field.name == name) {
        Some(field) if matches!(field.kind, FieldKind::Checkbox) => Some(name.to_owned()),
        Some(field) => {
            let kind = field.kind.name();
            value.dangling(
                format!("`consent` names {}, which is of kind `{kind}`", quoted(name)),
                "consent is given by a field with `kind = \"checkbox\"`",
            );
            None
        }
        None => {
            value.dangling(
                format!("`consent` names {}, which is no field of this form", quoted(name)),
                "declare it as a field with `kind = \"checkbox\"`",
            );
            None
        }
    }
}

/// What happens to fields that are not declared.
fn extra_fields(table: &mut Table<'_>, fields: &[Field]) -> ExtraFields {
    let Some(value) = table.take("extra_fields") else { return ExtraFields::default() };
    let extra = value.parsed("write `keep`, `ignore` or `reject`", |word| match word {
        "keep" => Some(ExtraFields::Keep),
        "ignore" => Some(ExtraFields::Ignore),
        "reject" => Some(ExtraFields::Reject),
        _ => None,
    });
    let extra = extra.unwrap_or_default();
    if extra != ExtraFields::Keep && fields.is_empty() {
        table.findings.absent(
            &value.key_span,
            "`extra_fields` does not fit a form that declares no fields",
            "such a form takes any field: declare its fields, or remove this",
        );
    }
    extra
}
