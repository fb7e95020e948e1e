//! The shape in which a form answers programs: the usual one, one that the front-ends of another service read, or the
//! operator's own.
//!
//! An own shape is a JSON text with places: `{{receipt}}`, `{{message}}`, `{{next}}`, `{{code}}`, `{{status}}`,
//! `{{errors}}`. Each is filled with a whole JSON value, quotes included, so no value can break out of its place; that
//! the text is JSON once it is filled is tried when it is read.

use std::sync::Arc;

use serde_json::{Value, json};

/// How a form answers programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Response {
    /// formd's own shape.
    #[default]
    Usual,
    /// What the front-ends of a service read.
    Preset(Preset),
    /// The operator's.
    Own(Arc<OwnResponse>),
}

/// A service whose front-ends are answered as they expect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// They look at the status alone.
    Netlify,
    /// They want a string `next`, or `errors` with `code`, `field`, `message`.
    Formspree,
    /// They compare `success` with `true`.
    Web3forms,
    /// They compare `success` with the text `"true"`.
    Formsubmit,
    /// They compare `code` with 200 or `status` with `"success"`.
    Formcarry,
    /// They look at `success`.
    Basin,
}

impl Preset {
    /// All of them, in the order of the manual.
    pub const ALL: [Self; 6] =
        [Self::Netlify, Self::Formspree, Self::Web3forms, Self::Formsubmit, Self::Formcarry, Self::Basin];

    /// Its word in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Netlify => "netlify",
            Self::Formspree => "formspree",
            Self::Web3forms => "web3forms",
            Self::Formsubmit => "formsubmit",
            Self::Formcarry => "formcarry",
            Self::Basin => "basin",
        }
    }
}

/// A shape of the operator's own; what it leaves out is answered as usual.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnResponse {
    /// The body of a success.
    pub success: Option<JsonTemplate>,
    /// The body of a refusal.
    pub error: Option<JsonTemplate>,
    /// The status of a refusal that the visitor can mend, in place of 400, 403, 409, 413, 415 or 422.
    pub error_status: Option<u16>,
}

/// A place in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The receipt's id; `null` in a refusal.
    Receipt,
    /// The sentence for the visitor.
    Message,
    /// Where to go; an empty text where that is nowhere.
    Next,
    /// The stable word.
    Code,
    /// The status of the answer.
    Status,
    /// The faults at fields.
    Errors,
}

impl Place {
    /// All of them, in the order of the manual.
    pub const ALL: [Self; 6] = [Self::Receipt, Self::Message, Self::Next, Self::Code, Self::Status, Self::Errors];

    /// Its word in a template.
    pub fn name(self) -> &'static str {
        match self {
            Self::Receipt => "receipt",
            Self::Message => "message",
            Self::Next => "next",
            Self::Code => "code",
            Self::Status => "status",
            Self::Errors => "errors",
        }
    }

    /// A value such as it may be filled with. Each has what would break out of a text, so that a place that stands
    /// between quotes is found.
    fn sample(self) -> Value {
        match self {
            Self::Status => 422.into(),
            Self::Errors => json!([{"field": "name", "code": "required", "message": "m"}]),
            Self::Receipt | Self::Message | Self::Next | Self::Code => "sample".into(),
        }
    }
}

/// A JSON text with places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonTemplate {
    /// As written.
    written: String,
    /// Runs of it, each with the place behind it.
    runs: Vec<(String, Option<Place>)>,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResponseError {
    /// `{{` without `}}`.
    #[error("`{{{{` without `}}}}`")]
    Unclosed,
    /// A place that does not exist.
    #[error("unknown place `{{{{{0}}}}}`")]
    UnknownPlace(String),
    /// Filled, it is no JSON.
    #[error("filled in, it is not valid JSON: {0}")]
    NotJson(String),
}

impl JsonTemplate {
    /// Reads a template and tries it.
    pub fn parse(written: &str) -> Result<Self, ResponseError> {
        let mut runs = Vec::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or(ResponseError::Unclosed)?;
            let place = Place::ALL.into_iter().find(|place| place.name() == name.trim());
            let place = place.ok_or_else(|| ResponseError::UnknownPlace(name.trim().to_owned()))?;
            runs.push((before.to_owned(), Some(place)));
            rest = after;
        }
        runs.push((rest.to_owned(), None));
        let template = Self { written: written.to_owned(), runs };
        let tried = serde_json::from_str::<Value>(&template.render(Place::sample));
        tried.map(|_| template).map_err(|error| ResponseError::NotJson(error.to_string()))
    }

    /// The text as written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// The JSON with every place filled.
    pub fn render(&self, value: impl Fn(Place) -> Value) -> String {
        let run = |(text, place): &(String, Option<Place>)| match place {
            Some(place) => format!("{text}{}", value(*place)),
            None => text.clone(),
        };
        self.runs.iter().map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_filled_with_a_whole_value_that_is_never_read_again() {
        let template = JsonTemplate::parse(r#"{"m":{{message}},"e":{{ errors }},"s":{{status}}}"#).unwrap();
        let text = template.render(|place| match place {
            Place::Message => "\"},{{status}}<".into(),
            Place::Errors => json!([]),
            _ => 422.into(),
        });
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read, json!({"m": "\"},{{status}}<", "e": [], "s": 422}));
    }

    #[test]
    fn a_text_that_would_not_be_json_is_refused() {
        for broken in [
            r#"{"m":"{{message}}"}"#,
            r#"{"m":"the errors: {{errors}}"}"#,
            r#"{"m":{{message}}"#,
            "{{{message}}:1}",
            "",
            "OK",
        ] {
            assert!(JsonTemplate::parse(broken).is_err(), "{broken}");
        }
        assert_eq!(JsonTemplate::parse("{{id}}"), Err(ResponseError::UnknownPlace("id".to_owned())));
        assert_eq!(JsonTemplate::parse("{{id"), Err(ResponseError::Unclosed));
        for good in [r#""OK""#, "{{receipt}}", r#"{"a":{"b":{{next}}}}"#] {
            assert!(JsonTemplate::parse(good).is_ok(), "{good}");
        }
    }
}
