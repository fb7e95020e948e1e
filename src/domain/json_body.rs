//! A JSON text of the operator's with places inside its strings: `{"subject": "New: {{name}}"}`. The quotes are the
//! operator's; a value is escaped for the string it stands in and never read again, so that whatever a visitor writes
//! the result is the same JSON with other texts.
//!
//! That holds since a place outside a string, or in the name of a member, is refused, and since the text is tried with a
//! character in every place that is neither a hexadecimal digit nor an escape: a backslash in front of a place is no
//! JSON then.

use serde_json::Value;

use super::template::{Name, Template, TemplateError};

/// A JSON text with places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonBody(Template);

/// Why a text is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonBodyError {
    /// It is no template.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A place has no quotes around it.
    #[error("a `{{{{...}}}}` stands outside of a text")]
    OutsideText,
    /// A member is named by a place: a visitor could name it as another one.
    #[error("a `{{{{...}}}}` stands in the name of a member")]
    InName,
    /// It is no JSON.
    #[error("it is not valid JSON: {0}")]
    NotJson(String),
}

/// Stands in a place when the text is tried.
const SAMPLE: char = '\u{e000}';

impl JsonBody {
    /// Reads a text and tries it.
    pub fn parse(text: &str) -> Result<Self, JsonBodyError> {
        let body = Self(Template::parse(text)?);
        // Between the places every quote without a backslash opens or closes a string.
        let mut open = false;
        let runs: Vec<&str> = text.split("{{").collect();
        for (number, run) in runs.iter().enumerate() {
            let text = if number == 0 { run } else { run.split_once("}}").map_or("", |(_, text)| text) };
            open ^= quotes(text) % 2 == 1;
            if !open && number + 1 < runs.len() {
                return Err(JsonBodyError::OutsideText);
            }
        }
        let tried = body.render(|_| SAMPLE.to_string());
        let tried = serde_json::from_str(&tried).map_err(|error| JsonBodyError::NotJson(error.to_string()))?;
        if names_a_member(&tried) { Err(JsonBodyError::InName) } else { Ok(body) }
    }

    /// The names it uses, in order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.0.names()
    }

    /// The text with every place filled.
    pub fn render(&self, value: impl Fn(&Name) -> String) -> String {
        self.0.render(|name| escaped(&value(name)))
    }
}

/// Whether a place, tried as [`SAMPLE`], is part of a member's name.
fn names_a_member(tried: &Value) -> bool {
    match tried {
        Value::Object(members) => members.iter().any(|(name, value)| name.contains(SAMPLE) || names_a_member(value)),
        Value::Array(items) => items.iter().any(names_a_member),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Quotes without a backslash.
fn quotes(text: &str) -> usize {
    let mut escape = false;
    let bare = |c: &char| {
        let bare = *c == '"' && !escape;
        escape = *c == '\\' && !escape;
        bare
    };
    text.chars().filter(bare).count()
}

/// A text as it stands within the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(body: &str, value: &str) -> Value {
        let text = JsonBody::parse(body).unwrap().render(|_| value.to_owned());
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_place_is_part_of_a_text_and_nothing_else() {
        assert_eq!(
            read(r#"{"a": "say \"{{name}}\", {{ @receipt }}", "n": [1, {"x": null}]}"#, "Q\"\n"),
            json!({"a": "say \"Q\"\n\", Q\"\n", "n": [1, {"x": null}]})
        );
        assert_eq!(read(r#""{{a}}{{b}}""#, "{{a}}"), json!("{{a}}{{a}}"));
        for bad in [r#"{"a": {{name}}}"#, r"{{name}}", r#"{"a": "x" {{b}} "y"}"#, r#"["{{a}}", {{b}}]"#] {
            assert_eq!(JsonBody::parse(bad), Err(JsonBodyError::OutsideText), "{bad}");
        }
        // `{"role": "guest", "{{x}}": ""}` would leave it to the visitor what `role` is.
        for bad in [r#"{"a": "b", "{{x}}": "c"}"#, r#"["{{x}}", {"a": {"b{{x}}": 1}}]"#] {
            assert_eq!(JsonBody::parse(bad), Err(JsonBodyError::InName), "{bad}");
        }
        for bad in ["", "{", r#"{"a": "{{b}}",}"#, r#""\{{a}}""#, r#""\u12{{a}}""#, r#"{"a": 'x'}"#, r#""{{a}}"#] {
            assert!(matches!(JsonBody::parse(bad), Err(JsonBodyError::NotJson(_))), "{bad}");
        }
        assert!(matches!(JsonBody::parse(r#""{{@date}}""#), Err(JsonBodyError::Template(_))));
    }

    proptest! {
        #[test]
        fn no_value_leaves_its_place(value in any::<String>(), other in ".{0,3}") {
            let body = r#"{"a": "<{{x}}>", "b": ["{{@page}}\\", 7]}"#;
            prop_assert_eq!(read(body, &value), json!({"a": format!("<{value}>"), "b": [format!("{value}\\"), 7]}));
            // Whatever is accepted as a template stays JSON with any value.
            let near = format!(r#"{{"a": "{other}{{{{x}}}}{other}"}}"#);
            if let Ok(near) = JsonBody::parse(&near) {
                let text = near.render(|_| value.clone());
                prop_assert!(serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
            }
        }
    }
}
