//! Log lines: one an event, to standard error, as text or JSON.
//!
//! Never a visitor's value, address or file name: callers log ids, sizes, durations and outcome codes only.
//! A log that cannot be written (its disk is full, its reader has gone) costs no visitor an answer: the line is lost.
//! Under systemd the journal adds the time, so the text form leaves it out there.

use tracing_subscriber::fmt;

use crate::config::LogFormat;

/// Starts logging for the whole process: what is as grave as `least`, or graver. A second call changes nothing.
pub fn start(format: LogFormat, least: tracing::Level) {
    let under_journal = std::env::var_os("JOURNAL_STREAM").is_some();
    // Of a line that could not be written the subscriber would complain on standard error, where it could not be
    // written either, and panic in the middle of a request.
    let lines = fmt().with_writer(std::io::stderr).log_internal_errors(false).with_target(false).with_max_level(least);
    // A second start finds the first one's subscriber in place, which is what the caller wants.
    let started = match format {
        LogFormat::Json => tracing::subscriber::set_global_default(lines.json().flatten_event(true).finish()),
        LogFormat::Text if under_journal => {
            tracing::subscriber::set_global_default(lines.without_time().with_ansi(false).finish())
        }
        LogFormat::Text => tracing::subscriber::set_global_default(lines.with_ansi(false).finish()),
    };
    if started.is_err() {
        tracing::debug!("logging was started before");
    }
}
