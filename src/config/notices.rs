//! What is valid but worth a word from `check`, `reload` and `status`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use super::{Alert, AlertWay, Daemon, Mail, Security, Transport};
use crate::domain::form::{Destination, Form, Site};
use crate::domain::ids::SiteId;
use crate::domain::origin::Origin;
use crate::domain::target::{Target, WebhookTarget};

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
    notices.extend(daemon.mail.as_ref().and_then(unusual_port));
    notices.extend(
        sites.values().flat_map(|site| site.destinations.iter().map(move |d| (site, d))).filter_map(unreachable),
    );
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

/// A port that servers use for the other way of TLS: the commonest reason for a mail server that never answers.
fn unusual_port(mail: &Mail) -> Option<String> {
    let Transport::Smtp(server) = &mail.transport else { return None };
    let usual = match (server.security, server.port) {
        (Security::StartTls, 465) => Security::Tls,
        (Security::Tls, 25 | 587) => Security::StartTls,
        (Security::StartTls | Security::Tls | Security::None, _) => return None,
    };
    let (port, is, usual) = (server.port, server.security.word(), usual.word());
    Some(format!("mail servers mostly want `tls = \"{usual}\"` on port {port}; `[mail]` says `tls = \"{is}\"`"))
}

/// A webhook whose host is one that will not be called.
fn unreachable((site, destination): (&Arc<Site>, &Destination)) -> Option<String> {
    let Target::Webhook(WebhookTarget { url, allow_private: false, .. }) = &destination.target else { return None };
    let origin = Origin::of_url(url)?;
    let host = origin.host();
    let private = match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) => v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_unspecified(),
        Ok(IpAddr::V6(v6)) => {
            v6.is_loopback() || v6.is_unspecified() || v6.is_unique_local() || v6.is_unicast_link_local()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    };
    private.then(|| {
        let (site, id) = (&site.id, &destination.id);
        format!("destination `{id}` of site `{site}` will not be called: its address is private; `allow_private = true` would allow it")
    })
}

/// The forms without a destination that takes deliveries.
pub(super) fn untold(sites: &Sites) -> impl Iterator<Item = (&Site, &Form)> {
    forms(sites).filter(|(_, form)| form.destinations.iter().all(|destination| destination.paused))
}

/// All forms, each with its site.
fn forms(sites: &Sites) -> impl Iterator<Item = (&Site, &Form)> {
    sites.values().flat_map(|site| site.forms.values().map(move |form| (&**site, &**form)))
}
