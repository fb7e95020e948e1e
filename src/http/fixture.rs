//! Sites and forms for the tests of this room.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::domain::form::{ExtraFields, Field, FieldKind, FileRules, Form, Site, TextRules};
use crate::domain::ids::{FormId, SiteId};
use crate::domain::origin::OriginPattern;
use crate::domain::response::Response;

/// A site with these origins and one form.
pub(super) fn site(origins: &[&str]) -> Site {
    let form = form();
    Site {
        id: SiteId::parse("acme").unwrap(),
        enabled: true,
        accept: true,
        origins: origins.iter().map(|text| OriginPattern::parse(text).unwrap()).collect(),
        origins_strict: false,
        retention_days: 30,
        rate: Vec::new(),
        locale: None,
        texts: HashMap::new(),
        destinations: Vec::new(),
        shared_paths: Vec::new(),
        forms: BTreeMap::from([(form.id.clone(), Arc::new(form))]),
    }
}

/// A form with a name and a file.
pub(super) fn form() -> Form {
    let field = |name: &str, kind| Field {
        name: name.to_owned(),
        label: name.to_uppercase(),
        kind,
        required: true,
        placeholder: None,
        help: None,
    };
    let file = FileRules { types: Vec::new(), max_files: 2, max_size: 1024 * 1024 };
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
        fields: vec![field("name", FieldKind::Text(TextRules::default())), field("file", FieldKind::File(file))],
    }
}
