//! Netlify Forms: the CSV of the web interface, one column a field and some of its own, and the JSON of the API
//! (`GET /api/v1/forms/ID/submissions`), where the fields are the members of `data`.
//!
//! The API's other members (`title`, `summary`, `body`, `human_fields` ...) repeat the fields for a reader. The
//! visitor's network address, browser and page are not kept: formd does not keep them of its own submissions.

use serde_json::{Map, Value as Json};

use super::row::{Column, Row, is_named};

/// What formd has no use for.
const LEFT_OUT: [&str; 6] = ["ip", "user_agent", "referrer", "referer", "site_url", "form_id"];

/// What a column of the CSV, or a member of `data`, means.
pub fn column(name: &str) -> Column {
    if is_named(name, "id") || is_named(name, "submission_id") {
        Column::Id
    } else if is_named(name, "created_at") {
        Column::Time
    } else if is_named(name, "form_name") {
        Column::Form
    } else {
        LEFT_OUT.into_iter().find(|left| is_named(name, left)).map_or(Column::Field, Column::LeftOut)
    }
}

/// A submission of the API's answer; one without `data` is read as flat.
pub fn submission(mut members: Map<String, Json>) -> Row {
    let Some(Json::Object(data)) = members.remove("data") else { return Row::of_members(members, column) };
    let own = Row::of_members(members, about);
    let row = Row::of_members(data, column);
    Row { fields: row.fields, links: row.links, left_out: row.left_out, form: own.form.or(row.form), ..own }
}

/// What a member beside `data` means.
fn about(name: &str) -> Column {
    match name {
        "id" => Column::Id,
        "created_at" => Column::Time,
        "form_name" => Column::Form,
        "state" | "spam" => Column::Spam,
        _ => Column::Summary,
    }
}
