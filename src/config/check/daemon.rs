//! `formd.toml`: the daemon's settings, with their defaults.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use ipnet::IpNet;

use super::super::files::TextFile;
use super::super::locate::DATA_DIR;
use super::super::table::{Sheet, Table};
use super::super::value::Value;
use super::super::{Daemon, DeliverySettings, Listen, LogFormat, SweepSettings};
use super::secret::Secrets;
use super::{alert, limits, mail, url};
use crate::domain::bounds::Bounds;
use crate::domain::time::Span;

/// Ages that `[sweep]` takes.
const AGES: std::ops::RangeInclusive<Span> = Span::from_minutes(1)..=Span::from_days(30);

/// The settings of a daemon whose file says nothing.
pub(super) fn defaults() -> Daemon {
    let loopback = |text: &str| text.parse().ok();
    Daemon {
        listen: Listen::Tcp(([127, 0, 0, 1], 8787).into()),
        data_dir: PathBuf::from(DATA_DIR),
        limiter_dir: Path::new(DATA_DIR).join("limiter"),
        public_url: None,
        trusted_proxies: ["127.0.0.0/8", "::1/128"].into_iter().filter_map(loopback).collect(),
        mail: None,
        alert: None,
        delivery: DeliverySettings { attempts: 5, workers: 8, enabled: true, confirmations_per_hour: 100 },
        sweep: SweepSettings { part_age: Span::from_hours(2), orphan_age: Span::from_hours(2), quarantine_days: 7 },
        bounds: Bounds::default(),
        log: LogFormat::Text,
    }
}

/// Reads `file`; relative paths start from `base`. Where a value is wrong its default stands in.
pub(super) fn check(sheet: &Sheet<'_>, file: &TextFile, base: &Path, secrets: &Secrets<'_>) -> Daemon {
    let mut table = sheet.root("formd.toml");
    let mut daemon = defaults();
    if let Some(listen) = table.take("listen").and_then(|value| listen(&value, base)) {
        daemon.listen = listen;
    }
    let folder = |value: Value<'_>| Some(base.join(value.line()?));
    if let Some(data_dir) = table.take("data_dir").and_then(folder) {
        daemon.data_dir = data_dir;
    }
    let limiter_dir = table.take("limiter_dir").and_then(folder);
    daemon.limiter_dir = limiter_dir.unwrap_or_else(|| daemon.data_dir.join("limiter"));
    daemon.public_url = table.take("public_url").and_then(|value| {
        value.parsed("write `https://HOST`, where visitors reach the daemon, without query", url::public)
    });
    if let Some(proxies) = table.take("trusted_proxies").and_then(|value| value.list()) {
        daemon.trusted_proxies = proxies.iter().filter_map(proxy).collect();
    }
    if let Some(log) = table.take("log").and_then(|value| value.parsed("write `text` or `json`", log_format)) {
        daemon.log = log;
    }
    daemon.mail = table.section("mail").and_then(|section| mail::check(section, file, base, secrets));
    if let Some(section) = table.section("delivery") {
        daemon.delivery = delivery(section, daemon.delivery);
    }
    if let Some(section) = table.section("limits") {
        daemon.bounds = limits::check(section);
    }
    daemon.alert = table.section("alert").and_then(|section| alert::check(section, secrets, file));
    let section = table.section("sweep");
    daemon.sweep = sweep(section, daemon.sweep, &daemon.bounds);
    table.finish();
    daemon
}

/// `ADDRESS:PORT` or `unix:PATH`.
fn listen(value: &Value<'_>, base: &Path) -> Option<Listen> {
    let remedy = "write an address and a port such as `127.0.0.1:8787`, or `unix:/run/formd/formd.sock`";
    value.parsed(remedy, |text| Listen::parse(text, base))
}

/// An address or a network of proxies.
fn proxy(value: &Value<'_>) -> Option<IpNet> {
    value.parsed("write an address such as `10.0.0.5`, or a network such as `10.0.0.0/8`", |text| {
        text.parse::<IpNet>().ok().or_else(|| Some(text.parse::<IpAddr>().ok()?.into()))
    })
}

/// The word of `log`.
fn log_format(word: &str) -> Option<LogFormat> {
    match word {
        "text" => Some(LogFormat::Text),
        "json" => Some(LogFormat::Json),
        _ => None,
    }
}

/// `[delivery]`.
fn delivery(mut table: Table<'_>, mut settings: DeliverySettings) -> DeliverySettings {
    let small = |value: Value<'_>, most| value.whole(1..=most).and_then(|n| u32::try_from(n).ok());
    if let Some(attempts) = table.take("attempts").and_then(|value| small(value, 20)) {
        settings.attempts = attempts;
    }
    if let Some(workers) = table.take("workers").and_then(|value| small(value, 32)) {
        settings.workers = workers;
    }
    if let Some(enabled) = table.take("enabled").and_then(|value| value.flag()) {
        settings.enabled = enabled;
    }
    if let Some(most) = table.take("confirmations_per_hour").and_then(|value| value.whole(0..=100_000)) {
        settings.confirmations_per_hour = u32::try_from(most).unwrap_or(settings.confirmations_per_hour);
    }
    table.finish();
    settings
}

/// `[sweep]`. A `.part` must outlive the time that a body may take, else the sweep would tear up an upload under way;
/// so the default grows with `body_time`.
fn sweep(table: Option<Table<'_>>, mut settings: SweepSettings, bounds: &Bounds) -> SweepSettings {
    settings.part_age = settings.part_age.max(bounds.body_time);
    let Some(mut table) = table else { return settings };
    if let Some(value) = table.take("part_age")
        && let Some(age) = value.time(&AGES)
    {
        settings.part_age = age;
        if age < bounds.body_time {
            value.wrong(
                format!("`part_age` is shorter than `body_time`, {}", bounds.body_time),
                "an upload under way would be removed: make it at least as long",
            );
        }
    }
    if let Some(age) = table.take("orphan_age").and_then(|value| value.time(&AGES)) {
        settings.orphan_age = age;
    }
    if let Some(days) = table.take("quarantine_days").and_then(|value| value.whole(1..=365)) {
        settings.quarantine_days = u16::try_from(days).unwrap_or(settings.quarantine_days);
    }
    table.finish();
    settings
}
