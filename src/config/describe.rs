//! The whole configuration as it is in force, defaults included, for `formctl check --show`. It is written like the
//! files it came from, so that a line can be copied into one. No secret stands in it, and no webhook's query.

use std::fmt::Write as _;

use super::value::size_text;
use super::{Alert, AlertWay, Config, Daemon, Listen, LogFormat, Mail, Source, Transport};
use crate::domain::bounds::Bounds;
use crate::domain::form::{Destination, ExtraFields, Field, FieldKind, Form, Site, TextRules};
use crate::domain::quota::Quota;
use crate::domain::response::{JsonTemplate, Response};
use crate::domain::shared_path::Values;
use crate::domain::target::{Disclosure, Format, Target};
use crate::domain::text::Language;

/// Lines of a description.
#[derive(Default)]
struct Lines(String);

impl Lines {
    /// A header with a blank line before it.
    fn header(&mut self, header: &str) {
        let gap = if self.0.is_empty() { "" } else { "\n" };
        self.push(format_args!("{gap}{header}"));
    }

    /// `key = value`, the value written as it is.
    fn set(&mut self, key: &str, value: impl std::fmt::Display) {
        self.push(format_args!("{key} = {value}"));
    }

    /// `key = "value"`.
    fn text(&mut self, key: &str, value: &str) {
        self.set(key, quote(value));
    }

    /// `key = "value"`, if there is one.
    fn maybe(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(key, value);
        }
    }

    /// `key = ["value", ...]`.
    fn list<T: AsRef<str>>(&mut self, key: &str, values: impl IntoIterator<Item = T>) {
        let values: Vec<String> = values.into_iter().map(|value| quote(value.as_ref())).collect();
        self.set(key, format_args!("[{}]", values.join(", ")));
    }

    /// One line.
    fn push(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        writeln!(self.0, "{line}").unwrap_or_default();
    }
}

/// A text as a TOML string that no terminal obeys.
fn quote(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '\'' => "'".to_owned(),
            '\n' => "\\n".to_owned(),
            c => match c.escape_debug().to_string() {
                escape if escape.starts_with("\\u") => format!("\\U{:08X}", u32::from(c)),
                escape if escape == "\\0" => "\\u0000".to_owned(),
                escape => escape,
            },
        })
        .collect();
    format!("\"{escaped}\"")
}

impl Config {
    /// Every setting and bound in force, without secrets.
    pub fn describe(&self) -> String {
        let mut lines = Lines::default();
        match &self.source {
            Source::Embedded => lines.header("# the embedded default"),
            Source::Files(path) => lines.header(&format!("# {}", quote(&path.to_string_lossy()))),
        }
        daemon(&mut lines, &self.daemon);
        bounds(&mut lines, &self.daemon.bounds);
        for site in self.sites.values() {
            lines.header(&format!("# site {}", site.id));
            self::site(&mut lines, site);
        }
        lines.0
    }
}

/// The daemon's settings.
fn daemon(lines: &mut Lines, daemon: &Daemon) {
    match &daemon.listen {
        Listen::Tcp(address) => lines.text("listen", &address.to_string()),
        Listen::Unix(path) => lines.text("listen", &format!("unix:{}", path.display())),
    }
    lines.text("data_dir", &daemon.data_dir.to_string_lossy());
    lines.text("limiter_dir", &daemon.limiter_dir.to_string_lossy());
    lines.maybe("public_url", daemon.public_url.as_deref());
    lines.list("trusted_proxies", daemon.trusted_proxies.iter().map(ToString::to_string));
    let log = match daemon.log {
        LogFormat::Text => "text",
        LogFormat::Json => "json",
    };
    lines.text("log", log);
    mail(lines, daemon.mail.as_ref());
    alert(lines, daemon.alert.as_ref());
    lines.header("[delivery]");
    lines.set("attempts", daemon.delivery.attempts);
    lines.set("workers", daemon.delivery.workers);
    lines.set("enabled", daemon.delivery.enabled);
    lines.set("confirmations_per_hour", daemon.delivery.confirmations_per_hour);
    lines.header("[sweep]");
    lines.text("part_age", &daemon.sweep.part_age.to_string());
    lines.text("orphan_age", &daemon.sweep.orphan_age.to_string());
    lines.set("quarantine_days", daemon.sweep.quarantine_days);
}

/// How mail leaves.
fn mail(lines: &mut Lines, mail: Option<&Mail>) {
    let Some(mail) = mail else {
        lines.header("# [mail] is not set up");
        return;
    };
    lines.header("[mail]");
    let from = match mail.from_name.as_str() {
        "" => mail.from_address.clone(),
        name => format!("{name} <{}>", mail.from_address),
    };
    lines.text("from", &from);
    let server = match &mail.transport {
        Transport::File => return lines.text("transport", "file"),
        Transport::Smtp(server) => server,
    };
    lines.text("transport", "smtp");
    lines.text("host", &server.host);
    lines.set("port", server.port);
    lines.text("tls", server.security.word());
    lines.maybe("ca_file", server.ca.as_ref().map(|ca| ca.file.to_string_lossy()).as_deref());
    if let Some(login) = &server.login {
        lines.text("username", &login.username);
        lines.push(format_args!("# password: {:?}", login.password));
    }
}

/// The bounds, every one.
fn bounds(lines: &mut Lines, bounds: &Bounds) {
    let size = |bytes| size_text(bytes);
    lines.header("[limits]");
    lines.text("head", &size(bounds.head));
    lines.set("headers", bounds.headers);
    lines.text("head_time", &bounds.head_time.to_string());
    lines.text("part_header", &size(bounds.part_header));
    lines.set("parts", bounds.parts);
    lines.set("fields", bounds.fields);
    lines.set("field_name", bounds.field_name);
    lines.text("value", &size(bounds.value));
    lines.text("values", &size(bounds.values));
    lines.set("max_files", bounds.max_files);
    lines.text("max_file", &size(bounds.max_file));
    lines.text("max_files_total", &size(bounds.max_files_total));
    lines.text("min_rate", &format!("{}/s", size(bounds.min_rate)));
    lines.text("body_time", &bounds.body_time.to_string());
    lines.set("connections", bounds.connections);
    lines.set("in_flight", bounds.in_flight);
    lines.text("disk_reserve", &size(bounds.disk_reserve));
    lines.set("limiter_files", bounds.limiter_files);
}

/// Who is told of failures.
fn alert(lines: &mut Lines, alert: Option<&Alert>) {
    let Some(alert) = alert else { return lines.header("# [alert] is not set up") };
    lines.header("[alert]");
    match &alert.way {
        AlertWay::Email(address) => lines.text("email", address),
        AlertWay::Webhook(hook) => {
            lines.text("webhook", hook.url.split('?').next().unwrap_or_default());
            lines.push(format_args!("# secret: (secret)"));
            lines.set("allow_private", hook.allow_private);
        }
    }
    lines.text("at_most_every", &alert.at_most_every.to_string());
}

/// A site's settings.
fn site(lines: &mut Lines, site: &Site) {
    lines.set("enabled", site.enabled);
    lines.set("accept", site.accept);
    if !site.origins.is_empty() {
        lines.list("origins", site.origins.iter().map(ToString::to_string));
    }
    lines.set("origins_strict", site.origins_strict);
    lines.set("retention_days", site.retention_days);
    lines.list("rate", site.rate.iter().map(|Quota { count, span }| format!("{count}/{span}")));
    lines.text("locale", site.locale.map_or("auto", |language| language.tag()));
    for language in Language::ALL {
        if let Some(own) = site.texts.get(&language) {
            lines.header(&format!("[texts.{}]", language.tag()));
            own.iter().for_each(|(name, text)| lines.text(name, text));
        }
    }
    for destination in &site.destinations {
        lines.header("[[destination]]");
        self::destination(lines, destination);
    }
    for shared in &site.shared_paths {
        lines.header("[[shared_path]]");
        lines.text("path", &shared.path);
        lines.text("selector", &shared.selector);
        if let Values::Table(table) = &shared.values {
            lines.header("[shared_path.values]");
            for (value, form) in table {
                lines.text(&quote(value), form.as_str());
            }
        }
    }
    for form in site.forms.values() {
        lines.header(&format!("[form.{}]", form.id));
        self::form(lines, form);
    }
}

/// A destination's settings.
fn destination(lines: &mut Lines, destination: &Destination) {
    lines.text("id", destination.id.as_str());
    lines.set("paused", destination.paused);
    match &destination.target {
        Target::Email(mail) => {
            lines.text("email", &mail.address);
            lines.maybe("subject", mail.subject.as_deref());
            lines.maybe("text", mail.text.as_deref());
            lines.maybe("reply_to", mail.reply_to.as_deref());
            lines.set("attach_files", mail.attach_files);
            lines.text("max_attach", &size_text(mail.max_attach));
        }
        Target::Confirmation(_) => {}
        Target::Webhook(hook) => {
            let shown = destination.target.shown();
            match hook.disclosure {
                Disclosure::Path => lines.text("webhook", &shown),
                Disclosure::Host => lines.push(format_args!("# webhook: {shown}/... (secret)")),
            }
            webhook_format(lines, &hook.format);
            lines.set("allow_private", hook.allow_private);
        }
    }
}

/// What a webhook is sent.
fn webhook_format(lines: &mut Lines, format: &Format) {
    match format {
        Format::Own { body, .. } => lines.text("body", body),
        Format::Telegram { chat } => {
            lines.text("format", format.word());
            lines.text("chat", chat);
        }
        _ => lines.text("format", format.word()),
    }
    if format.signing().is_some() {
        lines.push(format_args!("# secret: (secret)"));
    }
}

/// A form's settings.
fn form(lines: &mut Lines, form: &Form) {
    lines.maybe("title", form.title.as_deref());
    lines.maybe("page", form.page.as_deref());
    lines.text("locale", form.locale.map_or("auto", |language| language.tag()));
    lines.set("accept", form.accept);
    lines.set("accept_files", form.accept_files);
    lines.list("paths", &form.paths);
    lines.maybe("unwrap", form.unwrap.as_deref());
    if form.signature.is_some() {
        lines.push(format_args!("# signature_secret_file: (secret)"));
    }
    lines.list("destinations", form.destinations.iter().map(|destination| destination.id.as_str()));
    lines.maybe("consent", form.consent.as_deref());
    lines.maybe("success_url", form.success_url.as_deref());
    let extra = match form.extra_fields {
        ExtraFields::Keep => "keep",
        ExtraFields::Ignore => "ignore",
        ExtraFields::Reject => "reject",
    };
    lines.text("extra_fields", extra);
    response(lines, &form.response);
    if let Some(confirmation) = &form.confirmation {
        lines.header(&format!("[form.{}.confirmation]", form.id));
        lines.text("to", &confirmation.to);
        lines.maybe("subject", confirmation.subject.as_deref());
        lines.maybe("text", confirmation.text.as_deref());
    }
    for field in &form.fields {
        lines.header(&format!("[[form.{}.field]]", form.id));
        self::field(lines, field);
    }
}

/// How a form answers programs.
fn response(lines: &mut Lines, response: &Response) {
    match response {
        Response::Usual => {}
        Response::Preset(preset) => lines.text("response", preset.name()),
        Response::Own(own) => {
            let text = |key: &str, template: &Option<JsonTemplate>| {
                template.as_ref().map(|template| format!("{key} = {}", quote(template.written())))
            };
            let status = own.error_status.map(|status| format!("error_status = {status}"));
            let keys = [text("success", &own.success), text("error", &own.error), status];
            lines.set("response", format_args!("{{ {} }}", keys.into_iter().flatten().collect::<Vec<_>>().join(", ")));
        }
    }
}

/// A field's settings.
fn field(lines: &mut Lines, field: &Field) {
    lines.text("name", &field.name);
    lines.text("label", &field.label);
    lines.text("kind", field.kind.name());
    lines.set("required", field.required);
    match &field.kind {
        FieldKind::Text(rules)
        | FieldKind::Textarea(rules)
        | FieldKind::Email(rules)
        | FieldKind::Tel(rules)
        | FieldKind::Url(rules)
        | FieldKind::Hidden(rules) => text_rules(lines, rules),
        FieldKind::Number(rules) => {
            let bounds = [("min", rules.min), ("max", rules.max)];
            bounds.into_iter().filter_map(|(key, n)| Some((key, n?))).for_each(|(key, n)| lines.set(key, n));
        }
        FieldKind::Date(rules) => {
            lines.maybe("min", rules.min.as_deref());
            lines.maybe("max", rules.max.as_deref());
        }
        FieldKind::Select(options) | FieldKind::Radio(options) | FieldKind::Checkboxes(options) => {
            lines.list("options", options);
        }
        FieldKind::Checkbox => {}
        FieldKind::File(rules) => {
            lines.list("types", rules.types.iter().map(|kind| format!(".{}", kind.extension())));
            lines.set("max_files", rules.max_files);
            lines.text("max_size", &size_text(rules.max_size));
        }
    }
    lines.maybe("placeholder", field.placeholder.as_deref());
    lines.maybe("help", field.help.as_deref());
}

/// The rules of a text.
fn text_rules(lines: &mut Lines, rules: &TextRules) {
    let lengths = [("min_length", rules.min_length), ("max_length", rules.max_length)];
    lengths.into_iter().filter_map(|(key, n)| Some((key, n?))).for_each(|(key, n)| lines.set(key, n));
    lines.maybe("pattern", rules.pattern.as_ref().map(crate::domain::pattern::Pattern::as_str));
}
