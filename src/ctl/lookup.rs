//! From what an administrator types to the receipt, delivery, site or form that is meant. A receipt may be given
//! by any unique prefix; what cannot be a receipt is simply not found.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::outcome::{CommandError, Kind};
use crate::config::Config;
use crate::domain::form::{Form, Site};
use crate::domain::ids::{DeliveryId, FormId, ReceiptId, ReceiptPrefix, SiteId};
use crate::domain::time::Timestamp;
use crate::intake::Published;
use crate::store::{ReceiptView, Store};

/// Candidates that an ambiguous prefix names.
const CANDIDATES: usize = 10;

/// The receipt that begins with `text`.
pub fn receipt(store: &Store, text: &str) -> Result<ReceiptId, CommandError> {
    let limit = u32::try_from(CANDIDATES + 1).unwrap_or(u32::MAX);
    let found = match ReceiptPrefix::parse(text) {
        Some(prefix) => store.find_by_prefix(prefix, limit)?,
        None => Vec::new(),
    };
    unique(text, &found)
}

/// All of the receipt that begins with `text`, as it is readable at `now`.
pub fn view(store: &Store, text: &str, now: Timestamp) -> Result<ReceiptView, CommandError> {
    let id = receipt(store, text)?;
    store.show(id, now)?.ok_or_else(|| CommandError::new(Kind::NotFound, format!("there is no receipt `{id}`")))
}

/// A delivery, `RECEIPT-dN`, or a whole receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// One delivery.
    Delivery(DeliveryId),
    /// All of a receipt.
    Receipt(ReceiptId),
}

/// The delivery or receipt that `text` names; the receipt in `RECEIPT-dN` may be a unique prefix as well.
pub fn delivery_or_receipt(store: &Store, text: &str) -> Result<Named, CommandError> {
    match split_delivery(text) {
        Some((receipt_text, n)) => Ok(Named::Delivery(DeliveryId { receipt: receipt(store, receipt_text)?, n })),
        None => Ok(Named::Receipt(receipt(store, text)?)),
    }
}

/// Splits `RECEIPT-dN`; N is 1..255 without leading zeros.
fn split_delivery(text: &str) -> Option<(&str, u8)> {
    let (receipt, n) = text.rsplit_once('-')?;
    let digits = n.strip_prefix(['d', 'D'])?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    Some((receipt, digits.parse().ok().filter(|_| plain)?))
}

/// The only one of `found`, else why there is none.
fn unique(text: &str, found: &[ReceiptId]) -> Result<ReceiptId, CommandError> {
    match found {
        [one] => Ok(*one),
        [] => Err(CommandError::new(Kind::NotFound, format!("there is no receipt `{text}`"))
            .hint("`formctl list` shows the latest ones")),
        many => {
            let mut lines: Vec<String> = many.iter().take(CANDIDATES).map(|id| format!("  {id}")).collect();
            if many.len() > CANDIDATES {
                lines.push("  and more".to_owned());
            }
            let text = format!("`{text}` begins more than one receipt:\n{}", lines.join("\n"));
            Err(CommandError::new(Kind::NotFound, text).hint("type more of its characters"))
        }
    }
}

/// Sites and forms that exist: declared ones and those that have receipts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownForms {
    /// Sites, those without a form as well.
    sites: BTreeSet<String>,
    /// Sites and forms.
    forms: BTreeSet<(String, String)>,
}

impl KnownForms {
    /// The forms of `config` (when it is free of mistakes) and of the store.
    pub fn gather(store: &Store, config: Option<&Config>) -> Result<Self, CommandError> {
        let sites = || config.into_iter().flat_map(|config| config.sites.values());
        let declared = sites().flat_map(|site| site.forms.keys().map(|form| (site.id.to_string(), form.to_string())));
        let forms: BTreeSet<_> = declared.chain(store.known_forms()?).collect();
        let named = sites().map(|site| site.id.to_string()).chain(forms.iter().map(|(site, _)| site.clone())).collect();
        Ok(Self { sites: named, forms })
    }

    /// The site and form asked for, once they exist; names that cannot be ids do not exist. A form may be named with
    /// its site, `acme/quote`, as every list and every hint writes it.
    pub fn choose(
        &self,
        site: Option<&str>,
        form: Option<&str>,
    ) -> Result<(Option<SiteId>, Option<FormId>), CommandError> {
        if let Some((in_site, name)) = form.and_then(|form| form.split_once('/')) {
            return match site {
                Some(other) if other != in_site => {
                    let text = format!("`{in_site}/{name}` is no form of site `{other}`");
                    Err(CommandError::new(Kind::Usage, text).hint("leave `--site` out, or name the form alone"))
                }
                Some(_) | None => self.choose(Some(in_site), Some(name)),
            };
        }
        if let Some(site) = site.filter(|site| !self.sites.contains(*site)) {
            return Err(missing("site", site, self.sites.clone()));
        }
        let here: Vec<_> = self.forms.iter().filter(|(s, _)| site.is_none_or(|site| s == site)).collect();
        if let Some(form) = form.filter(|form| !here.iter().any(|(_, f)| f == form)) {
            return Err(missing("form", form, here.iter().map(|(s, f)| format!("{s}/{f}")).collect()));
        }
        Ok((site.and_then(|s| SiteId::parse(s).ok()), form.and_then(|f| FormId::parse(f).ok())))
    }

    /// Every form of `site` and `form` where given, as ids.
    pub fn matching(&self, site: Option<&SiteId>, form: Option<&FormId>) -> Vec<(SiteId, FormId)> {
        let ids = self.forms.iter().filter_map(|(s, f)| Some((SiteId::parse(s).ok()?, FormId::parse(f).ok()?)));
        ids.filter(|(s, f)| site.is_none_or(|site| site == s) && form.is_none_or(|form| form == f)).collect()
    }
}

/// The declared form of this name; a form's own name is enough where one site alone has it.
pub fn declared(config: &Config, name: &str) -> Result<Published, CommandError> {
    let all = config.sites.values().flat_map(|site| site.forms.values().map(move |form| (site, form)));
    let full = |site: &Site, form: &Form| format!("{}/{}", site.id, form.id);
    let named: Vec<_> =
        all.clone().filter(|(site, form)| full(site, form) == name || form.id.as_str() == name).collect();
    if let [(site, form)] = named.as_slice() {
        return Ok(Published { site: Arc::clone(site), form: Arc::clone(form) });
    }
    let text = if named.is_empty() { "there is no form" } else { "more than one site has a form" };
    let existing: Vec<String> = all.map(|(site, form)| format!("`{}`", full(site, form))).collect();
    let error = CommandError::new(Kind::NotFound, format!("{text} `{name}`"));
    Err(error.hint(if existing.is_empty() {
        "there is none at all yet".to_owned()
    } else {
        format!("there is {}", existing.join(", "))
    }))
}

/// No such site or form, with the names that do exist.
fn missing(kind: &str, name: &str, names: BTreeSet<String>) -> CommandError {
    let error = CommandError::new(Kind::NotFound, format!("there is no {kind} `{name}`"));
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    error.hint(if names.is_empty() {
        "there is none at all yet".to_owned()
    } else {
        format!("there is {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::testing::receipt_id;

    #[test]
    fn an_ambiguous_prefix_names_its_candidates() {
        assert_eq!(unique("x", &[receipt_id(1)]), Ok(receipt_id(1)));
        let none = unique("nothing here", &[]).unwrap_err();
        assert_eq!((none.code(), none.text.as_str()), (3, "there is no receipt `nothing here`"));
        let many = unique("4", &(1..=11).map(receipt_id).collect::<Vec<_>>()).unwrap_err();
        assert_eq!(many.code(), 3);
        assert!(many.text.contains(&receipt_id(10).to_string()) && !many.text.contains(&receipt_id(11).to_string()));
        assert!(many.text.ends_with("and more"));
    }

    #[test]
    fn a_delivery_is_a_receipt_and_a_number() {
        for (text, split) in [
            ("4abc-d1", Some(("4abc", 1))),
            ("4abc-D255", Some(("4abc", 255))),
            ("4abc", None),
            ("4abc-d0", None),
            ("4abc-d01", None),
            ("4abc-d+1", None),
            ("4abc-d256", None),
            ("4abc-a1", None),
        ] {
            assert_eq!(split_delivery(text), split, "{text}");
        }
    }

    #[test]
    fn an_unknown_site_or_form_is_told_which_ones_exist() {
        let pair = |s: &str, f: &str| (s.to_owned(), f.to_owned());
        let known = KnownForms {
            sites: ["acme", "new", "old"].map(str::to_owned).into(),
            forms: [pair("acme", "quote"), pair("acme", "jobs"), pair("old", "quote")].into(),
        };
        let (site, form) = known.choose(Some("acme"), Some("quote")).unwrap();
        assert_eq!(known.matching(site.as_ref(), form.as_ref()).len(), 1);
        assert_eq!(known.matching(None, form.as_ref()).len(), 2);
        assert_eq!(known.choose(None, Some("acme/quote")).unwrap(), (site.clone(), form.clone()));
        assert_eq!(known.choose(Some("acme"), Some("acme/quote")).unwrap(), (site, form));
        assert_eq!(known.choose(Some("old"), Some("acme/quote")).unwrap_err().code(), 2);
        for (site, form, hint) in [
            (Some("acne"), None, "there is `acme`, `new`, `old`"),
            (Some("a/b"), None, "there is `acme`, `new`, `old`"),
            (Some("new"), Some("jobs"), "there is none at all yet"),
            (Some("old"), Some("jobs"), "there is `old/quote`"),
            (None, Some("acme/x"), "there is `acme/jobs`, `acme/quote`"),
            (None, Some("acme/"), "there is `acme/jobs`, `acme/quote`"),
            (None, Some("x"), "there is `acme/jobs`, `acme/quote`, `old/quote`"),
        ] {
            let error = known.choose(site, form).unwrap_err();
            assert_eq!((error.code(), error.hint.as_deref()), (3, Some(hint)), "{site:?} {form:?}");
        }
        let error = KnownForms::default().choose(Some("acme"), None).unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("there is none at all yet"));
    }
}
