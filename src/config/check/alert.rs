//! `[alert]`: who is told of deliveries that failed for good, by one address or one signed webhook.

use std::ops::RangeInclusive;

use super::super::files::TextFile;
use super::super::table::Table;
use super::super::value::Value;
use super::super::{Alert, AlertHook, AlertWay};
use super::secret::{Need, Secrets};
use super::url::{self, Reach};
use crate::domain::email;
use crate::domain::time::Span;

/// From one message to the next unless the section says otherwise.
const AT_MOST_EVERY: Span = Span::from_hours(1);
/// What it may say.
const PACES: RangeInclusive<Span> = Span::from_minutes(1)..=Span::from_days(7);
/// Keys that only a webhook has.
const WEBHOOK_KEYS: &[&str] = &["secret", "secret_file", "previous_secret", "previous_secret_file", "allow_private"];

/// Reads the section, which stands in `file`; `None` where nobody could be told.
pub(super) fn check(mut table: Table<'_>, secrets: &Secrets<'_>, file: &TextFile) -> Option<Alert> {
    let pace = table.take("at_most_every").and_then(|value| value.time(&PACES));
    let way = match (table.take("email"), table.take("webhook")) {
        (Some(address), None) => {
            for key in WEBHOOK_KEYS {
                if let Some(value) = table.take(key) {
                    value.misplaced(
                        format!("`{key}` does not fit an alert by mail"),
                        "remove it; it belongs to a webhook",
                    );
                }
            }
            mail(&address)
        }
        (None, Some(address)) => webhook(&mut table, &address, secrets, file),
        (both, webhook) => {
            match webhook.filter(|_| both.is_some()) {
                Some(webhook) => webhook.misplaced("`webhook` stands beside `email`", "keep one of the two"),
                None => table.missing_all(
                    "neither `email` nor `webhook`",
                    "write `email = \"ADDRESS\"` or `webhook = \"https://...\"`",
                ),
            }
            for key in WEBHOOK_KEYS {
                table.take(key);
            }
            None
        }
    };
    table.finish();
    Some(Alert { way: way?, at_most_every: pace.unwrap_or(AT_MOST_EVERY) })
}

/// A mail to one address.
fn mail(address: &Value<'_>) -> Option<AlertWay> {
    let read = |text: &str| email::is_mailbox(text).then(|| text.to_owned());
    address.parsed("write one address such as `admin@example.com`", read).map(AlertWay::Email)
}

/// A call, by the rules of a destination's webhook.
fn webhook(table: &mut Table<'_>, address: &Value<'_>, secrets: &Secrets<'_>, file: &TextFile) -> Option<AlertWay> {
    let url = address
        .text()
        .and_then(|text| url::webhook(text).map_err(|(message, remedy)| address.wrong(message, remedy)).ok());
    let allowed = table.take("allow_private").and_then(|value| value.flag()).unwrap_or_default();
    let signing = secrets.signing(table, file, Need::Obligatory);
    let (url, signing) = (url?, signing?);
    let allow_private = allowed || url.reach == Reach::Loopback;
    Some(AlertWay::Webhook(AlertHook { url: url.url, allow_private, signing }))
}
