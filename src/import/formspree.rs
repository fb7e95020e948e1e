//! Formspree: the CSV of the dashboard and the JSON of the dashboard or the API
//! (`{"fields": [...], "submissions": [...]}`). Both are flat: the fields beside `_date`, `_id`, `_status` and the like.
//!
//! `_replyto` is how its pages call the visitor's address: it becomes `email`, unless there is one.

use serde_json::{Map, Value as Json};

use super::row::{Column, Row, is_named};
use crate::domain::submission::Value;

/// What formd has no use for.
const LEFT_OUT: [&str; 9] =
    ["_status", "_ip", "_host", "_referrer", "_referer", "_user_agent", "_form", "_archived", "_errors"];

/// What a column or member means.
pub fn column(name: &str) -> Column {
    if is_named(name, "_id") || is_named(name, "_submission_id") {
        Column::Id
    } else if is_named(name, "_date") {
        Column::Time
    } else if is_named(name, "_spam") {
        Column::Spam
    } else {
        LEFT_OUT.into_iter().find(|left| is_named(name, left)).map_or(Column::Field, Column::LeftOut)
    }
}

/// A submission of a JSON export.
pub fn submission(members: Map<String, Json>) -> Row {
    with_address(Row::of_members(members, column))
}

/// The row whose address for answers is called `email`.
pub fn with_address(mut row: Row) -> Row {
    let is_filled = |value: &Value| *value != Value::Text(String::new());
    let Some(place) = row.fields.iter().position(|sent| sent.name == "_replyto") else { return row };
    match row.fields.iter().position(|sent| sent.name.eq_ignore_ascii_case("email")) {
        Some(email) if row.fields.get(email).is_some_and(|sent| is_filled(&sent.value)) => {
            row.left_out.push("_replyto");
            row.fields.remove(place);
        }
        email => {
            if let Some(sent) = row.fields.get_mut(place) {
                "email".clone_into(&mut sent.name);
            }
            if let Some(empty) = email {
                row.fields.remove(empty);
            }
        }
    }
    row
}
