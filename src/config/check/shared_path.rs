//! `[[shared_path]]` of a site: one address that finds its form by the value of a field.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::problem::{listed, quoted, suggestion};
use super::super::table::Table;
use super::super::value::Value;
use super::form::Paths;
use super::url;
use crate::domain::control;
use crate::domain::form::Form;
use crate::domain::ids::{FormId, SiteId};
use crate::domain::shared_path::{SharedPath, Values};

/// Bytes of the longest selector (contract 2.8).
const LONGEST: usize = 200;

/// The forms of the site.
type Forms = BTreeMap<FormId, Arc<Form>>;

/// Reads all of a site, and tells each form the fields by which it is found.
pub(super) fn check(table: &mut Table<'_>, site: &SiteId, forms: &mut Forms, paths: &mut Paths) -> Vec<SharedPath> {
    let Some(value) = table.take("shared_path") else { return Vec::new() };
    let tables = value.tables("shared_path", "shared path");
    let shared: Vec<SharedPath> = tables.into_iter().filter_map(|table| one(table, site, forms, paths)).collect();
    for path in &shared {
        for form in forms.values_mut().filter(|form| path.leads_to(&form.id)) {
            let form = Arc::make_mut(form);
            if !form.selectors.contains(&path.selector) {
                form.selectors.push(path.selector.clone());
            }
        }
    }
    shared
}

/// Reads one.
fn one(mut table: Table<'_>, site: &SiteId, forms: &Forms, paths: &mut Paths) -> Option<SharedPath> {
    let path = table.need("path", "name the address that pages post to: `path = \"/submit\"`");
    let owner = format!("a shared path of `{site}`");
    let path = path.and_then(|value| paths.claim(&table, &value, &owner, url::shared_path));
    let selector_value = table.need("selector", "name the field that tells the form: `selector = \"form-name\"`");
    let selector = selector_value.as_ref().and_then(selector);
    let values = table.take("values").map(|value| values(&value, forms));
    table.finish();
    let (selector, values) = (selector?, values.map_or(Some(Values::Ids), |table| table.map(Values::Table))?);
    let shared = SharedPath { path: path?, selector, values };
    if let Some(value) = selector_value {
        fit(&value, &shared, forms);
    }
    Some(shared)
}

/// The field that names the form: one that does not steer anything else.
fn selector(value: &Value<'_>) -> Option<String> {
    let name = value.line()?;
    if control::is_control(name) && !control::SELECTORS.contains(&name) {
        value.wrong(
            format!("{} steers something else", quoted(name)),
            "take `form-name`, `access_key` or another field that the pages send",
        );
        return None;
    }
    if name.len() > LONGEST {
        value.wrong("the name of the selector is too long", format!("take at most {LONGEST} bytes"));
        return None;
    }
    Some(name.to_owned())
}

/// The forms by the values that stand for them.
fn values(value: &Value<'_>, forms: &Forms) -> Option<BTreeMap<String, FormId>> {
    let mut found = BTreeMap::new();
    for item in value.table("`[shared_path.values]`".to_owned())?.entries() {
        let Some(text) = item.text() else { continue };
        if let Some(form) = FormId::parse(text).ok().filter(|id| forms.contains_key(id)) {
            found.insert(item.key.to_owned(), form);
        } else {
            let ids = forms.keys().map(FormId::as_str);
            let remedy = suggestion(text, ids, "the forms of this site are");
            item.dangling(format!("the site has no form {}", quoted(text)), remedy);
        }
    }
    Some(found)
}

/// Notes the forms that cannot be found by this field: those that declare it, and those that want a signature, since
/// that must be verified before anything of a body is read.
fn fit(value: &Value<'_>, shared: &SharedPath, forms: &Forms) {
    let reached = || forms.values().filter(|form| shared.leads_to(&form.id));
    let declaring: Vec<&str> =
        reached().filter(|form| form.field(&shared.selector).is_some()).map(|form| form.id.as_str()).collect();
    if !declaring.is_empty() {
        value.wrong(
            format!("{} is a declared field of form {}", quoted(&shared.selector), listed(declaring)),
            "a selector is never stored: take another field, or remove the declaration",
        );
    }
    let signed: Vec<&str> = reached().filter(|form| form.signature.is_some()).map(|form| form.id.as_str()).collect();
    if !signed.is_empty() {
        value.misplaced(
            format!("a form that wants a signature cannot be reached by a shared path: {}", listed(signed)),
            "name the other forms under `[shared_path.values]`, or remove `signature_secret_file`",
        );
    }
}
