//! How a form answers programs: a preset by name, or templates of the operator's own.

use std::sync::Arc;

use super::super::problem::{printable, quoted, suggestion};
use super::super::value::Value;
use crate::domain::response::{JsonTemplate, OwnResponse, Place, Preset, Response, ResponseError};

/// What it looks like.
const SHAPE: &str = "write `response = \"netlify\"` or `response = { success = '...', error = '...' }`";

/// Reads `response`.
pub(super) fn check(value: &Value<'_>) -> Response {
    if value.is_table() { own(value) } else { preset(value) }
}

/// A preset by its name.
fn preset(value: &Value<'_>) -> Response {
    let Some(word) = value.text() else { return Response::Usual };
    let found = Preset::ALL.into_iter().find(|preset| preset.name() == word);
    if found.is_none() {
        let known = Preset::ALL.into_iter().map(Preset::name);
        let remedy = suggestion(word, known, &format!("{SHAPE}; the presets are"));
        value.wrong("`response` names no preset", remedy);
    }
    found.map_or(Response::Usual, Response::Preset)
}

/// Templates of the operator's own.
fn own(value: &Value<'_>) -> Response {
    let Some(mut table) = value.table("`response`".to_owned()) else { return Response::Usual };
    let success = table.take("success").and_then(|value| template(&value));
    let error = table.take("error").and_then(|value| template(&value));
    let error_status = table.take("error_status").and_then(|value| value.whole(400..=599));
    let error_status = error_status.and_then(|status| u16::try_from(status).ok());
    table.finish();
    Response::Own(Arc::new(OwnResponse { success, error, error_status }))
}

/// One template.
fn template(value: &Value<'_>) -> Option<JsonTemplate> {
    let error = match JsonTemplate::parse(value.text()?) {
        Ok(template) => return Some(template),
        Err(error) => error,
    };
    let name = quoted(value.key);
    match error {
        ResponseError::Unclosed => {
            value.wrong(format!("the template {name} has `{{{{` without `}}}}`"), "close the place");
        }
        ResponseError::UnknownPlace(place) => {
            let remedy = suggestion(&place, Place::ALL.into_iter().map(Place::name), "the places are");
            value.wrong(format!("the template {name} has no place {}", quoted(&place)), remedy);
        }
        ResponseError::NotJson(why) => value.wrong(
            format!("the template {name}, filled in, is not valid JSON: {}", printable(&why)),
            "write JSON in which a place stands for a whole value, without quotes around it",
        ),
    }
    None
}
