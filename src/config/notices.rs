//! What is valid but worth a word from `check`, `reload` and `status`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Alert, AlertWay, Daemon};
use crate::domain::form::{Form, Site};
use crate::domain::ids::SiteId;
use crate::domain::target::Target;

/// The sites by id.
type Sites = BTreeMap<SiteId, Arc<Site>>;

/// The notices of a configuration, those of the daemon first.
pub(super) fn of(daemon: &Daemon, sites: &Sites) -> Vec<String> {
    let mut notices = Vec::new();
    if sites.is_empty() {
        notices.push("no site is declared: create `sites/SITE.toml` beside formd.toml".to_owned());
    }
    let mut destinations = sites.values().flat_map(|site| &site.destinations);
    if daemon.mail.is_none() && destinations.any(|d| matches!(d.target, Target::Email(_))) {
        notices.push("mail is not set up: e-mail deliveries will fail with `mail not configured`".to_owned());
    }
    if let (None, Some(Alert { way: AlertWay::Email(_), .. })) = (&daemon.mail, &daemon.alert) {
        notices.push("mail is not set up: the alert of failed deliveries cannot leave".to_owned());
    }
    let confirming: Vec<String> = forms(sites)
        .filter(|(_, form)| form.confirmation.is_some())
        .map(|(site, form)| format!("`{}/{}`", site.id, form.id))
        .collect();
    if daemon.mail.is_none() && !confirming.is_empty() {
        notices.push(format!(
            "mail is not set up: confirmations to visitors of form {} will fail with `mail not configured`",
            confirming.join(", ")
        ));
    }
    if !daemon.delivery.enabled {
        notices.push("the daemon sends nothing: `[delivery] enabled` is false".to_owned());
    }
    notices.extend(untold(sites).map(|(site, form)| {
        let why =
            if form.destinations.is_empty() { "it has no destination" } else { "all its destinations are paused" };
        format!("nobody is told of submissions to form `{}/{}`: {why}", site.id, form.id)
    }));
    notices
}

/// The forms without a destination that takes deliveries.
pub(super) fn untold(sites: &Sites) -> impl Iterator<Item = (&Site, &Form)> {
    forms(sites).filter(|(_, form)| form.destinations.iter().all(|destination| destination.paused))
}

/// All forms, each with its site.
fn forms(sites: &Sites) -> impl Iterator<Item = (&Site, &Form)> {
    sites.values().flat_map(|site| site.forms.values().map(move |form| (&**site, &**form)))
}
