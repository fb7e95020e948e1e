//! One address for several forms of a site: the value of a field says which form is meant.
//!
//! Hosted form services work this way: all forms of a page post to one address, and a hidden field such as
//! `form-name` or `access_key` tells them apart.

use std::collections::BTreeMap;

use super::draft::{Draft, Shape};
use super::ids::FormId;

/// `[[shared_path]]` of a site.
#[derive(Clone, Debug)]
pub struct SharedPath {
    /// The address, beginning with `/`; `/` itself is possible.
    pub path: String,
    /// The field that names the form.
    pub selector: String,
    /// What its values mean.
    pub values: Values,
}

/// What the values of a selector mean.
#[derive(Clone, Debug)]
pub enum Values {
    /// A value is the form's id.
    Ids,
    /// Each value stands for this form; others for none.
    Table(BTreeMap<String, FormId>),
}

impl SharedPath {
    /// Whether a form can be reached by this address.
    pub fn leads_to(&self, form: &FormId) -> bool {
        match &self.values {
            Values::Ids => true,
            Values::Table(table) => table.values().any(|known| known == form),
        }
    }

    /// The form that a submission names. `None` when it names none or something that no form can be called. Where
    /// values are ids, the form may be one that the configuration lost: a repeat still has its key.
    pub fn form_of(&self, draft: &Draft) -> Option<FormId> {
        let sent = |entry: &&super::draft::Entry| entry.name == self.selector && entry.shape == Shape::Scalar;
        let value = draft.entries.iter().rev().find(sent)?.value.as_str();
        match &self.values {
            Values::Ids => FormId::parse(value).ok(),
            Values::Table(table) => table.get(value).cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(pairs: &[(&str, &str)]) -> Draft {
        let mut draft = Draft::default();
        for (name, value) in pairs {
            draft.push((*name).to_owned(), value, Shape::Scalar);
        }
        draft
    }

    #[test]
    fn a_value_is_an_id_or_stands_in_the_table() {
        let form = |id: &str| FormId::parse(id).unwrap();
        let ids = SharedPath { path: "/".to_owned(), selector: "form-name".to_owned(), values: Values::Ids };
        let table = BTreeMap::from([("3f1c-key".to_owned(), form("quote"))]);
        let keys = SharedPath { values: Values::Table(table), selector: "access_key".to_owned(), ..ids.clone() };
        assert_eq!(ids.form_of(&draft(&[("form-name", "quote")])), Some(form("quote")));
        assert_eq!(ids.form_of(&draft(&[("form-name", "a"), ("form-name", "quote")])), Some(form("quote")));
        assert_eq!(keys.form_of(&draft(&[("access_key", "3f1c-key")])), Some(form("quote")));
        for nothing in [&[][..], &[("form-name", "")], &[("form-name", "no id")], &[("other", "quote")]] {
            assert_eq!(ids.form_of(&draft(nothing)), None);
            assert_eq!(keys.form_of(&draft(nothing)), None);
        }
        assert_eq!(keys.form_of(&draft(&[("access_key", "quote")])), None);
        assert!(ids.leads_to(&form("any")) && keys.leads_to(&form("quote")) && !keys.leads_to(&form("other")));
    }
}
