//! Every setting with its value in force, as `formctl check --show` prints it: the keys are those of the files, so
//! that a line can be copied into one. Secrets, templates and webhook queries are left out.

use crate::config::{Config, Daemon, Listen, LogFormat, Source, Transport};
use crate::domain::bounds::{Bounds, KIB, MIB};
use crate::domain::form::{Destination, Field, FieldKind, Form, Site, Target};
use crate::domain::visible::escape_line;

/// All of it.
pub fn text(config: &Config) -> String {
    let mut text = String::new();
    let source = match &config.source {
        Source::Embedded => "the embedded default".to_owned(),
        Source::Files(file) => file.display().to_string(),
    };
    line(&mut text, &format!("# {source}"));
    daemon(&mut text, &config.daemon);
    limits(&mut text, &config.daemon.bounds);
    config.sites.values().for_each(|site| site_lines(&mut text, site));
    text
}

/// Appends a line; texts of the files may hold anything.
fn line(text: &mut String, content: &str) {
    text.push_str(&escape_line(content));
    text.push('\n');
}

/// A key with a quoted text.
fn quoted(text: &mut String, key: &str, value: &str) {
    line(text, &format!("{key} = {value:?}"));
}

/// A key with a bare value.
fn bare(text: &mut String, key: &str, value: impl std::fmt::Display) {
    line(text, &format!("{key} = {value}"));
}

/// A size in the largest unit that divides it.
fn size(count: u64) -> String {
    let units = [(MIB, "MiB"), (KIB, "KiB")];
    match units.iter().find(|(unit, _)| count > 0 && count.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", count / unit),
        None => count.to_string(),
    }
}

/// `formd.toml` without `[limits]`.
fn daemon(text: &mut String, daemon: &Daemon) {
    match &daemon.listen {
        Listen::Tcp(address) => quoted(text, "listen", &address.to_string()),
        Listen::Unix(path) => quoted(text, "listen", &format!("unix:{}", path.display())),
    }
    quoted(text, "data_dir", &daemon.data_dir.display().to_string());
    quoted(text, "limiter_dir", &daemon.limiter_dir.display().to_string());
    match &daemon.public_url {
        Some(url) => quoted(text, "public_url", url),
        None => line(text, "# public_url: made of the Host header"),
    }
    let proxies: Vec<String> = daemon.trusted_proxies.iter().map(ToString::to_string).collect();
    line(text, &format!("trusted_proxies = {proxies:?}"));
    let log = match daemon.log {
        LogFormat::Text => "text",
        LogFormat::Json => "json",
    };
    quoted(text, "log", log);
    match &daemon.mail {
        None => line(text, "# [mail]: not set up"),
        Some(mail) => {
            line(text, "[mail]");
            quoted(text, "from", &format!("{} <{}>", mail.from_name, mail.from_address));
            match &mail.transport {
                Transport::File => quoted(text, "transport", "file"),
                Transport::Smtp { host, port } => {
                    quoted(text, "transport", "smtp");
                    quoted(text, "host", host);
                    bare(text, "port", port);
                }
            }
        }
    }
    line(text, "[delivery]");
    bare(text, "attempts", daemon.delivery.attempts);
    bare(text, "workers", daemon.delivery.workers);
    bare(text, "enabled", daemon.delivery.enabled);
    line(text, "[sweep]");
    quoted(text, "part_age", &daemon.sweep.part_age.to_string());
    quoted(text, "orphan_age", &daemon.sweep.orphan_age.to_string());
    bare(text, "quarantine_days", daemon.sweep.quarantine_days);
}

/// `[limits]`, all of them.
fn limits(text: &mut String, bounds: &Bounds) {
    line(text, "[limits]");
    quoted(text, "head", &size(bounds.head));
    bare(text, "headers", bounds.headers);
    quoted(text, "head_time", &bounds.head_time.to_string());
    quoted(text, "part_header", &size(bounds.part_header));
    bare(text, "parts", bounds.parts);
    bare(text, "fields", bounds.fields);
    bare(text, "field_name", bounds.field_name);
    quoted(text, "value", &size(bounds.value));
    quoted(text, "values", &size(bounds.values));
    bare(text, "max_files", bounds.max_files);
    quoted(text, "max_file", &size(bounds.max_file));
    quoted(text, "max_files_total", &size(bounds.max_files_total));
    quoted(text, "min_rate", &format!("{}/s", size(bounds.min_rate)));
    quoted(text, "body_time", &bounds.body_time.to_string());
    bare(text, "connections", bounds.connections);
    bare(text, "in_flight", bounds.in_flight);
    quoted(text, "disk_reserve", &size(bounds.disk_reserve));
    bare(text, "limiter_files", bounds.limiter_files);
}

/// A site with its forms.
fn site_lines(text: &mut String, site: &Site) {
    line(text, "");
    line(text, &format!("# sites/{}.toml", site.id));
    bare(text, "enabled", site.enabled);
    bare(text, "accept", site.accept);
    bare(text, "retention_days", site.retention_days);
    let rates: Vec<String> = site.rate.iter().map(|quota| format!("{}/{}", quota.count, quota.span)).collect();
    line(text, &format!("rate = {rates:?}"));
    if site.origins.is_empty() {
        line(text, "# origins: any");
    } else {
        line(text, &format!("# origins: {}, strict: {}", site.origins.len(), site.origins_strict));
    }
    site.destinations.iter().for_each(|destination| destination_line(text, destination));
    site.forms.values().for_each(|form| form_lines(text, site, form));
}

/// A destination, without its secret.
fn destination_line(text: &mut String, destination: &Destination) {
    let kind = match &destination.target {
        Target::Email(_) => "email",
        Target::Webhook(_) => "webhook",
    };
    let paused = if destination.paused { ", paused" } else { "" };
    line(text, &format!("# destination {}: {kind} {}{paused}", destination.id, destination.target.shown()));
}

/// A form with its addresses, destinations and fields.
fn form_lines(text: &mut String, site: &Site, form: &Form) {
    line(text, &format!("# form {}", form.id));
    let addresses = [format!("/f/{}/{}", site.id, form.id)].into_iter().chain(form.paths.iter().cloned());
    line(text, &format!("#   at {}", addresses.collect::<Vec<_>>().join(", ")));
    let destinations: Vec<&str> = form.destinations.iter().map(|destination| destination.id.as_str()).collect();
    let told = if destinations.is_empty() { "nobody".to_owned() } else { destinations.join(", ") };
    line(text, &format!("#   tells {told}"));
    if !form.accept {
        line(text, "#   closed");
    }
    if form.takes_any_field() {
        line(text, &format!("#   takes any field, {}", if form.accept_files { "and files" } else { "no files" }));
    }
    form.fields.iter().for_each(|field| line(text, &format!("#   {}", field_phrase(field))));
}

/// A field in one line.
fn field_phrase(field: &Field) -> String {
    let required = if field.required { ", required" } else { "" };
    let files = match &field.kind {
        FieldKind::File(rules) => format!(", at most {} of {}", rules.max_files, size(rules.max_size)),
        FieldKind::Text(_)
        | FieldKind::Textarea(_)
        | FieldKind::Email(_)
        | FieldKind::Tel(_)
        | FieldKind::Url(_)
        | FieldKind::Number(_)
        | FieldKind::Date(_)
        | FieldKind::Select(_)
        | FieldKind::Radio(_)
        | FieldKind::Checkbox
        | FieldKind::Checkboxes(_)
        | FieldKind::Hidden(_) => String::new(),
    };
    format!("field {}: {}{required}{files}", field.name, field.kind.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::testing::config;

    #[test]
    fn every_setting_is_shown_and_no_secret() {
        let shown = text(&config());
        assert!(!shown.contains("whsec") && !shown.contains("token=1"), "{shown}");
        insta::assert_snapshot!("check_show", shown);
    }

    #[test]
    fn a_size_is_written_as_the_files_write_it() {
        for (count, written) in [(0, "0"), (1000, "1000"), (1024, "1KiB"), (5 * MIB, "5MiB"), (1024 * MIB, "1024MiB")] {
            assert_eq!(size(count), written);
        }
    }
}
