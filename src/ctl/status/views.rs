//! The four forms of `status`: for a person, as JSON, for Prometheus, for monitoring plugins.

use serde::Serialize;

use crate::ctl::moment;
use crate::domain::quantity::{age, bytes, counted};
use crate::status::{Daemon, Files, Level, Mail, Status};

/// The object of `status --json`; the names are the contract's.
#[derive(Debug, Serialize)]
pub struct Object<'a> {
    /// `ok`, `warning`, `critical`.
    level: &'static str,
    /// Free bytes of the data file system.
    free_bytes: u64,
    /// Age of the oldest waiting delivery.
    oldest_pending_seconds: Option<i64>,
    /// Bytes in `tmp/`.
    tmp_bytes: u64,
    /// Files in `tmp/`.
    tmp_files: u64,
    /// Failed deliveries nobody has dealt with.
    failed_deliveries: u64,
    /// Files in quarantine.
    quarantine_files: u64,
    /// When the last sweep ended.
    last_sweep_at: Option<String>,
    /// Bytes of the database and its log.
    database_bytes: u64,
    /// Whether the files on disk are what runs.
    config_current: bool,
    /// Whether the daemon runs.
    daemon: bool,
    /// Why it is not all well.
    reasons: Vec<&'a str>,
    /// Whether mail can leave.
    mail_configured: bool,
    /// Forms nobody is told of.
    untold_forms: &'a [String],
    /// Receipts held as spam.
    spam_held: u64,
    /// Requests that passed because the limiter's file failed.
    limiter_failures: u64,
    /// Bytes of kept attachments.
    attachments_bytes: u64,
    /// Kept attachments.
    attachments_files: u64,
    /// When the last backup was made.
    last_backup_at: Option<String>,
    /// Submissions of the last hour.
    last_hour: u64,
    /// What is usual for that hour.
    usual_hour: Option<f64>,
    /// Receipts with equal content and different keys.
    lookalikes: u64,
}

impl<'a> From<&'a Status> for Object<'a> {
    fn from(status: &'a Status) -> Self {
        let (observed, numbers) = (&status.observed, &status.observed.numbers);
        Self {
            level: status.level.word(),
            free_bytes: numbers.free_bytes,
            oldest_pending_seconds: observed.oldest_pending().map(|waited| waited.as_millis() / 1000),
            tmp_bytes: numbers.tmp_bytes,
            tmp_files: numbers.tmp_files,
            failed_deliveries: numbers.failed_deliveries,
            quarantine_files: numbers.quarantine_files,
            last_sweep_at: observed.facts.last_sweep_at.map(|at| at.to_string()),
            database_bytes: numbers.database_bytes,
            config_current: observed.files() == Files::InForce,
            daemon: matches!(observed.daemon, Daemon::Running { .. }),
            reasons: status.reasons.iter().map(|reason| reason.text.as_str()).collect(),
            mail_configured: observed.declared.as_ref().is_some_and(|declared| declared.mail == Mail::Configured),
            untold_forms: observed.declared.as_ref().map_or(&[], |declared| &declared.untold_forms),
            spam_held: numbers.spam_held,
            limiter_failures: observed.facts.limiter_failures,
            attachments_bytes: numbers.attachments_bytes,
            attachments_files: numbers.attachments_files,
            last_backup_at: observed.facts.last_backup_at.map(|at| at.to_string()),
            last_hour: numbers.last_hour,
            usual_hour: numbers.usual_hour,
            lookalikes: numbers.lookalikes,
        }
    }
}

/// For a person: the numbers, and at the end, where the eye is, the verdict.
pub fn text(status: &Status) -> String {
    let (observed, numbers) = (&status.observed, &status.observed.numbers);
    let files = |bytes_: u64, count: u64| format!("{} in {}", bytes(bytes_), counted(count, "file"));
    let swept = observed.facts.last_sweep_at.map_or_else(
        || "never".to_owned(),
        |at| format!("{} UTC, {} ago", moment::second(at), age(observed.now.since(at).as_millis() / 1000)),
    );
    let usual = numbers.usual_hour.map(|usual| format!(", usually {usual:.1}")).unwrap_or_default();
    let rows = [
        ("free space", bytes(numbers.free_bytes)),
        ("oldest pending", observed.oldest_pending().map_or("none".to_owned(), |w| age(w.as_millis() / 1000))),
        ("uploads in tmp/", files(numbers.tmp_bytes, numbers.tmp_files)),
        ("failed deliveries", numbers.failed_deliveries.to_string()),
        ("quarantine", counted(numbers.quarantine_files, "file")),
        ("last sweep", swept),
        ("database", bytes(numbers.database_bytes)),
        ("attachments", files(numbers.attachments_bytes, numbers.attachments_files)),
        ("daemon", daemon(observed.daemon)),
        ("configuration", files_phrase(observed.files()).to_owned()),
        ("mail", mail_phrase(observed.declared.as_ref().map(|declared| declared.mail)).to_owned()),
        ("spam held", numbers.spam_held.to_string()),
        ("limiter failures", observed.facts.limiter_failures.to_string()),
        ("last hour", format!("{}{usual}", counted(numbers.last_hour, "submission"))),
        ("look-alikes", format!("{} with different keys and equal content", counted(numbers.lookalikes, "receipt"))),
    ];
    let mut text = String::new();
    for (name, value) in rows {
        line(&mut text, &format!("{name:<18} {value}"));
    }
    line(&mut text, "");
    for reason in &status.reasons {
        line(&mut text, &format!("{}: {}", reason.level.word(), reason.text));
    }
    if status.level == Level::Ok {
        line(&mut text, "ok");
    }
    text
}

/// The line about the daemon.
fn daemon(daemon: Daemon) -> String {
    match daemon {
        Daemon::Running { pid } => format!("running, pid {pid}"),
        Daemon::Stopped => "not running".to_owned(),
    }
}

/// The line about the files.
fn files_phrase(files: Files) -> &'static str {
    match files {
        Files::InForce => "in force",
        Files::Changed => "the files are not what runs",
        Files::Broken => "the files are not what runs, they have mistakes",
    }
}

/// The line about mail.
fn mail_phrase(mail: Option<Mail>) -> &'static str {
    match mail {
        Some(Mail::Configured) => "set up",
        Some(Mail::Missing) => "not set up",
        Some(Mail::NotNeeded) => "not set up, and no destination needs it",
        None => "unknown while the files have mistakes",
    }
}

/// One line as monitoring plugins print it: verdict, words, figures with their limits.
pub fn plugin_line(status: &Status) -> String {
    let (observed, limits) = (&status.observed, &status.thresholds);
    let words = match status.reasons.as_slice() {
        [] => format!("{} free", bytes(observed.numbers.free_bytes)),
        reasons => reasons.iter().map(|reason| reason.text.as_str()).collect::<Vec<_>>().join("; "),
    };
    let waited = observed.oldest_pending().map_or(0, |waited| waited.as_millis() / 1000);
    let seconds = |span: crate::domain::time::Span| span.as_millis() / 1000;
    // A bar would begin the figures.
    let words = words.replace('|', "/");
    format!(
        "FORMD {} - {words} | free={}B;{}:;{}: pending={waited}s;{};{} tmp={}B;{};{} failed={}",
        status.level.word().to_uppercase(),
        observed.numbers.free_bytes,
        limits.free.warning,
        limits.free.critical,
        seconds(limits.pending.warning),
        seconds(limits.pending.critical),
        observed.numbers.tmp_bytes,
        limits.tmp.warning,
        limits.tmp.critical,
        observed.numbers.failed_deliveries,
    )
}

/// Prometheus text format. A number nobody knows is left out, as Prometheus wants it.
pub fn prometheus(status: &Status) -> String {
    let object = Object::from(status);
    let level = match status.level {
        Level::Ok => 0,
        Level::Warning => 1,
        Level::Critical => 2,
    };
    let swept = status.observed.facts.last_sweep_at.map(|at| at.as_secs().to_string());
    let flag = |set: bool| Some(u8::from(set).to_string());
    let rows = [
        ("formd_level", "0 ok, 1 warning, 2 critical", Some(level.to_string())),
        ("formd_free_bytes", "free bytes of the data file system", Some(object.free_bytes.to_string())),
        (
            "formd_oldest_pending_seconds",
            "age of the oldest waiting delivery, 0 without one",
            Some(object.oldest_pending_seconds.unwrap_or(0).to_string()),
        ),
        ("formd_tmp_bytes", "bytes of uploads in progress", Some(object.tmp_bytes.to_string())),
        ("formd_tmp_files", "uploads in progress", Some(object.tmp_files.to_string())),
        (
            "formd_failed_deliveries",
            "failed deliveries nobody has dealt with",
            Some(object.failed_deliveries.to_string()),
        ),
        ("formd_quarantine_files", "files in quarantine", Some(object.quarantine_files.to_string())),
        ("formd_last_sweep_timestamp_seconds", "end of the last sweep", swept),
        ("formd_database_bytes", "bytes of the database and its log", Some(object.database_bytes.to_string())),
        ("formd_attachments_bytes", "bytes of kept attachments", Some(object.attachments_bytes.to_string())),
        ("formd_attachments_files", "kept attachments", Some(object.attachments_files.to_string())),
        ("formd_up", "whether the daemon runs", flag(object.daemon)),
        ("formd_config_current", "whether the files on disk are what runs", flag(object.config_current)),
        ("formd_mail_configured", "whether mail is set up", flag(object.mail_configured)),
        ("formd_untold_forms", "forms nobody is told of", Some(object.untold_forms.len().to_string())),
        ("formd_spam_held", "receipts held as spam", Some(object.spam_held.to_string())),
        (
            "formd_limiter_failures",
            "requests passed because the limiter failed",
            Some(object.limiter_failures.to_string()),
        ),
        ("formd_last_hour_submissions", "submissions of the last hour", Some(object.last_hour.to_string())),
        (
            "formd_usual_hour_submissions",
            "what is usual for that hour",
            object.usual_hour.map(|usual| usual.to_string()),
        ),
        ("formd_lookalikes", "receipts with equal content and different keys", Some(object.lookalikes.to_string())),
    ];
    let mut text = String::new();
    for (name, help, value) in rows {
        if let Some(value) = value {
            line(&mut text, &format!("# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}"));
        }
    }
    text
}

/// Appends a line.
fn line(text: &mut String, content: &str) {
    text.push_str(content);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::ctl::print::Surface;
    use crate::ctl::testing::{files, printed, troubled, well};
    use crate::status::Declared;

    #[test]
    fn a_form_whose_destinations_are_all_paused_reaches_nobody() {
        let declared = |paused, kind| {
            let (_folder, file) =
                files(&format!("[[destination]]\nid = \"d\"\npaused = {paused}\n{kind}\n[form.jobs]\n"));
            Declared::from(&Config::load(Some(std::path::Path::new(&file))).unwrap())
        };
        let mail = "email = \"a@acme.example\"";
        let hook = "webhook = \"https://acme.example/\"\nsecret = \"0123456789abcdef\"";
        assert_eq!(declared(true, mail).untold_forms, ["acme/jobs"]);
        assert_eq!(declared(false, mail).untold_forms, Vec::<String>::new());
        let moods = [declared(true, mail).mail, declared(false, mail).mail, declared(false, hook).mail];
        assert_eq!(moods, [Mail::Missing, Mail::Missing, Mail::NotNeeded]);
    }

    #[test]
    fn the_first_three_numbers_stand_first_and_the_verdict_last() {
        insta::assert_snapshot!("status_ok", text(&well()));
        insta::assert_snapshot!("status_critical", text(&troubled()));
    }

    #[test]
    fn status_as_json_has_the_names_of_the_contract_in_its_order() {
        let json = |status: &Status| printed(Surface::Pipe, |out| out.json(&Object::from(status)).unwrap());
        insta::assert_snapshot!("status_json", format!("{}{}", json(&well()), json(&troubled())));
    }

    #[test]
    fn a_monitoring_plugin_is_one_line_with_figures() {
        insta::assert_snapshot!("status_check", format!("{}\n{}", plugin_line(&well()), plugin_line(&troubled())));
    }

    #[test]
    fn prometheus_gets_a_gauge_for_each_number_that_is_known() {
        insta::assert_snapshot!("status_prometheus", prometheus(&troubled()));
    }
}
