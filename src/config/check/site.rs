//! A site's file: its settings, destinations and forms.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::super::files::TextFile;
use super::super::problem::quoted;
use super::super::table::{Sheet, Table};
use super::super::value::Value;
use super::form::{self, Paths, Surroundings};
use super::{Ground, destination, shared_path, texts};
use crate::domain::form::{Field, Form, Site};
use crate::domain::ids::{FormId, SiteId};
use crate::domain::origin::OriginPattern;
use crate::domain::quota::Quota;

/// Days that values may be kept (contract 2.6).
const RETENTION: RangeInclusive<u64> = 1..=365;
/// Windows of a site's rate limit (contract 8.2).
const MOST_QUOTAS: usize = 4;
/// The rate of a site that says nothing.
const RATE: &[&str] = &["10/10m", "300/d"];

/// Reads a site's file.
pub(super) fn check(sheet: &Sheet<'_>, id: SiteId, file: &TextFile, ground: &Ground<'_>, paths: &mut Paths) -> Site {
    let mut table = sheet.root("the site's file");
    let flag = |table: &mut Table<'_>, key| table.take(key).and_then(|value| value.flag());
    let enabled = flag(&mut table, "enabled").unwrap_or(true);
    let accept = flag(&mut table, "accept").unwrap_or(true);
    let origins = table.take("origins").and_then(|value| value.list()).unwrap_or_default();
    let origins = origins.iter().filter_map(origin).collect();
    let origins_strict = flag(&mut table, "origins_strict").unwrap_or_default();
    let retention = table.take("retention_days").and_then(|value| value.whole(RETENTION)).unwrap_or(30);
    let rate = table.take("rate").map_or_else(default_rate, |value| rate(&value));
    let locale = table.take("locale").and_then(|value| form::locale(&value));
    let texts = texts::check(&mut table);
    let (declared, lost) = destinations(&mut table, file, ground);
    let around = Surroundings { site: &id, locale, destinations: &declared, lost };
    let mut forms = forms(&mut table, &around, ground, paths);
    let shared_paths = shared_path::check(&mut table, &id, &mut forms, paths);
    table.finish();
    for destination in &declared {
        let goes_there = |form: &&Arc<Form>| form.destinations.iter().any(|d| d.id == destination.destination.id);
        let senders = forms.values().filter(goes_there);
        let senders: Vec<(&str, &[Field])> = senders.map(|form| (form.id.as_str(), form.fields.as_slice())).collect();
        destination.check_names(&senders);
    }
    let destinations = declared.into_iter().map(|declared| declared.destination).collect();
    Site {
        id,
        enabled,
        accept,
        origins,
        origins_strict,
        retention_days: u16::try_from(retention).unwrap_or(30),
        rate,
        locale,
        texts,
        destinations,
        shared_paths,
        forms,
    }
}

/// An entry of `origins`.
fn origin(value: &Value<'_>) -> Option<OriginPattern> {
    value.parsed(
        "write scheme and host alone, such as `https://acme.example` or `https://*.acme.example`; no `origins` \
         means any",
        OriginPattern::parse,
    )
}

/// The rate of a site that says nothing.
fn default_rate() -> Vec<Quota> {
    RATE.iter().filter_map(|quota| Quota::parse(quota)).collect()
}

/// The windows of `rate`; an empty list switches the limit off.
fn rate(value: &Value<'_>) -> Vec<Quota> {
    let items = value.list().unwrap_or_default();
    if items.len() > MOST_QUOTAS {
        value.wrong("`rate` has too many windows", format!("name at most {MOST_QUOTAS}"));
    }
    let quota = |item: &Value<'_>| item.parsed("write `COUNT/SPAN` such as `10/10m` or `300/d`", Quota::parse);
    items.iter().filter_map(quota).collect()
}

/// The destinations, each id once; and whether one has no usable id.
fn destinations<'d>(
    table: &mut Table<'d>,
    file: &TextFile,
    ground: &Ground<'_>,
) -> (Vec<destination::Declared<'d>>, bool) {
    let Some(value) = table.take("destination") else { return (Vec::new(), false) };
    let mut declared: Vec<destination::Declared<'_>> = Vec::new();
    let mut lost = false;
    for table in value.tables("destination", "destination") {
        let (findings, span) = (table.findings, table.span.clone());
        let Some(next) = destination::check(table, ground.secrets, file) else {
            lost = true;
            continue;
        };
        let id = &next.destination.id;
        if declared.iter().any(|known| known.destination.id == *id) {
            findings.wrong(
                &span,
                format!("the destination {} stands twice", quoted(id.as_str())),
                "give each one an id of its own",
            );
        } else {
            declared.push(next);
        }
    }
    (declared, lost)
}

/// The forms by id.
fn forms(
    table: &mut Table<'_>,
    around: &Surroundings<'_, '_>,
    ground: &Ground<'_>,
    paths: &mut Paths,
) -> BTreeMap<FormId, Arc<Form>> {
    let mut forms = BTreeMap::new();
    let Some(section) = table.section("form") else { return forms };
    for value in section.entries() {
        let Ok(id) = FormId::parse(value.key) else {
            value.misplaced(
                format!("{} is no id for a form", quoted(value.key)),
                "take 1 to 64 letters, digits, `-`, `_`",
            );
            continue;
        };
        let Some(form) = value.table(format!("form {}", quoted(value.key))) else { continue };
        forms.insert(id.clone(), Arc::new(form::check(form, id, around, ground, paths)));
    }
    forms
}
