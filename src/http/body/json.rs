//! `application/json`: one flat object.
//!
//! Strings are taken as they are, numbers as they are written, `true` and `false` as words; `null` is absent. The
//! strings of an array are its elements, the members of an object are named `OBJECT[NAME]`. Deeper things become a
//! fault of their field. Duplicate names, which a parser would resolve silently, make the whole body malformed, and so
//! does anything that is not JSON in UTF-8. A charset in the request's type or in a member `_charset_` says nothing
//! here (RFC 8259, 8.1 and 11).

use std::fmt;

use bytes::Bytes;
use futures_util::StreamExt as _;
use hyper::body::Body;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::fields::{Fields, SentText};
use super::gate::{BodyFault, Gate};
use super::{BodyError, Context};
use crate::domain::bounds::{Bounds, KIB};
use crate::domain::charset::Charset;
use crate::domain::control;
use crate::domain::draft::Shape;
use crate::domain::ids::SubmitKey;

/// The deepest nesting that is looked at at all.
const DEEPEST: usize = 128;

/// What a body is told that is not one flat JSON object.
const NOT_JSON: BodyError = BodyError::Malformed("the body is not one JSON object in UTF-8");

/// What a body is told that holds more than a submission may.
const TOO_MANY: BodyError = BodyError::TooMuch("more fields than allowed");

/// Reads a whole body. At most three times the bytes of all values are kept: `\u0430` takes six for two.
pub(super) async fn read<B>(gate: &mut Gate<B>, context: &Context) -> Result<Fields, BodyError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BodyFault>,
{
    let most = usize::try_from(context.bounds.values.saturating_mul(3).saturating_add(64 * KIB)).unwrap_or(usize::MAX);
    let mut text = Vec::new();
    while let Some(piece) = gate.next().await {
        let piece = piece?;
        if text.len() + piece.len() > most {
            return Err(BodyError::TooMuch("all values together are longer than allowed"));
        }
        text.extend_from_slice(&piece);
    }
    parse(&text, Fields::new(context.bounds.clone(), Some(Charset::UTF_8)), &context.bounds)
}

/// Reads the text of a body.
fn parse(text: &[u8], mut fields: Fields, bounds: &Bounds) -> Result<Fields, BodyError> {
    let text = std::str::from_utf8(text).map_err(|_| NOT_JSON)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let most = usize::try_from(bounds.fields).unwrap_or(usize::MAX);
    // The key is no field.
    let mut reader = serde_json::Deserializer::from_str(text);
    let members = reader.deserialize_map(Members(most.saturating_add(1))).map_err(|_| NOT_JSON)?;
    reader.end().map_err(|_| NOT_JSON)?;
    let members = members.ok_or(TOO_MANY)?;
    for (place, (name, value)) in members.iter().enumerate() {
        if members.iter().take(place).any(|(other, _)| other == name) {
            return Err(BodyError::Malformed("a name stands twice in the JSON object"));
        }
        member(&mut fields, name, value, most)?;
    }
    Ok(fields)
}

/// Adds one member.
fn member(fields: &mut Fields, name: &str, value: &RawValue, most: usize) -> Result<(), BodyError> {
    if depth(value.get()) > DEEPEST {
        return Err(BodyError::Malformed("the JSON is nested too deeply"));
    }
    if value.get().starts_with('{') {
        return object(fields, name, value, most);
    }
    if value.get().starts_with('[') {
        let elements = serde_json::Deserializer::from_str(value.get()).deserialize_seq(Elements(most));
        for element in elements.map_err(|_| NOT_JSON)?.ok_or(TOO_MANY)? {
            scalar(fields, name, element, Shape::Element)?;
        }
        return Ok(());
    }
    scalar(fields, name, value, Shape::Scalar)
}

/// Adds the members of an object as `OBJECT[NAME]`: a form may choose to unwrap it.
fn object(fields: &mut Fields, object: &str, value: &RawValue, most: usize) -> Result<(), BodyError> {
    let members = serde_json::Deserializer::from_str(value.get()).deserialize_map(Members(most));
    let members = members.map_err(|_| NOT_JSON)?.ok_or(TOO_MANY)?;
    if members.iter().all(|(_, value)| value.get() == "null") {
        return text(fields, object, "", Shape::Nested);
    }
    for (place, (name, value)) in members.iter().enumerate() {
        if members.iter().take(place).any(|(other, _)| other == name) {
            return Err(BodyError::Malformed("a name stands twice in a JSON object"));
        }
        let full = format!("{object}[{name}]");
        if value.get().starts_with('[') {
            let elements = serde_json::Deserializer::from_str(value.get()).deserialize_seq(Elements(most));
            for element in elements.map_err(|_| NOT_JSON)?.ok_or(TOO_MANY)? {
                scalar(fields, &full, element, Shape::MemberElement)?;
            }
        } else {
            scalar(fields, &full, value, Shape::Member)?;
        }
    }
    Ok(())
}

/// Adds one value that may have this shape, unless it is an object or an array.
fn scalar(fields: &mut Fields, name: &str, value: &RawValue, shape: Shape) -> Result<(), BodyError> {
    let raw = value.get();
    match raw.as_bytes().first() {
        Some(b'n') => Ok(()),
        Some(b'{' | b'[') => text(fields, name, "", Shape::Nested),
        Some(b'"') => {
            let value: String = serde_json::from_str(raw).map_err(|_| NOT_JSON)?;
            text(fields, name, &value, shape)
        }
        _ => text(fields, name, raw, shape),
    }
}

/// Adds one text.
fn text(fields: &mut Fields, name: &str, value: &str, shape: Shape) -> Result<(), BodyError> {
    fields.text(SentText { name: name.into(), value: value.into(), shape, charset: None })
}

/// How deep a valid JSON text is nested.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The key of a body of which only the beginning is known: `None` when it does not stand there.
pub(super) fn early_key(prefix: &[u8]) -> Option<SubmitKey> {
    let mut found = None;
    let mut reader = serde_json::Deserializer::from_slice(prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix));
    // It ends with an error wherever the prefix does; what was found before that counts.
    let ended = reader.deserialize_map(KeyVisitor(&mut found));
    drop(ended);
    SubmitKey::parse(&found?).ok()?
}

/// Looks for the key and stops there.
struct KeyVisitor<'f>(&'f mut Option<String>);

impl<'de> Visitor<'de> for KeyVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one flat object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(name) = map.next_key::<String>()? {
            if name == control::KEY {
                *self.0 = Some(map.next_value()?);
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The members of an object, read up to a bound.
struct Members(usize);

impl<'de> Visitor<'de> for Members {
    /// `None` when there are more than the bound.
    type Value = Option<Vec<(String, &'de RawValue)>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one flat object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            if members.len() == self.0 {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(None);
            }
            members.push(member);
        }
        Ok(Some(members))
    }
}

/// The elements of an array, read up to a bound.
struct Elements(usize);

impl<'de> Visitor<'de> for Elements {
    /// `None` when there are more than the bound.
    type Value = Option<Vec<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Self::Value, S::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            if elements.len() == self.0 {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(None);
            }
            elements.push(element);
        }
        Ok(Some(elements))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Each entry as `name=value/shape`.
    fn read(json: &str) -> Result<Vec<String>, BodyError> {
        let bounds = Bounds::default();
        let (draft, _) =
            parse(json.as_bytes(), Fields::new(Arc::new(bounds.clone()), Some(Charset::UTF_8)), &bounds)?.finish()?;
        Ok(draft.entries.iter().map(|e| format!("{}={}/{:?}", e.name, e.value, e.shape)).collect())
    }

    #[test]
    fn a_flat_object_is_read_as_it_is_written() {
        let json = "\u{feff}{\"a\": \"\\u0430\\r\\n\", \"n\": -1.50e+3, \"t\": true, \"f\": false, \"z\": null, \"_key\": \"k\"}";
        assert_eq!(read(json).unwrap(), ["a=а\n/Scalar", "n=-1.50e+3/Scalar", "t=true/Scalar", "f=false/Scalar"]);
        assert_eq!(read("{\"a\": [\"x\", 1, null], \"b\": []}").unwrap(), ["a=x/Element", "a=1/Element"]);
        assert_eq!(read("{\"a\": {\"b\": 1}, \"c\": [[1]]}").unwrap(), ["a[b]=1/Member", "c=/Nested"]);
        assert_eq!(
            read("{\"a\": {\"b\": [1, \"x\"], \"c\": {\"d\": 1}, \"_key\": 1, \"e\": null}}").unwrap(),
            ["a[b]=1/MemberElement", "a[b]=x/MemberElement", "a[c]=/Nested", "a[_key]=1/Member"]
        );
        assert_eq!(read("{\"a\": {}, \"b\": {\"c\": null}}").unwrap(), ["a=/Nested", "b=/Nested"]);
        assert_eq!(read(" {} ").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_one_object_is_malformed() {
        let deep = format!("{{\"a\": {}{}}}", "[".repeat(5000), "]".repeat(5000));
        let bad = [
            "",
            "[]",
            "1",
            "{\"a\":1,}",
            "{\"a\":1} x",
            "{\"a\":1,\"a\":1}",
            "{\"o\":{\"a\":1,\"a\":1}}",
            "{\"a\":\"\\ud800\"}",
            "{'a':1}",
            &deep,
        ];
        for json in bad {
            assert!(matches!(read(json), Err(BodyError::Malformed(_))), "{json:.40}");
        }
    }

    #[test]
    fn more_than_allowed_is_too_much() {
        let many = (0..202).map(|n| format!("\"{n}\":1")).collect::<Vec<_>>().join(",");
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(65537));
        let list = format!("{{\"a\": [{}1]}}", "1,".repeat(300_000));
        for json in [format!("{{{many}}}"), long, list] {
            assert!(matches!(read(&json), Err(BodyError::TooMuch(_))), "{json:.40}");
        }
    }

    #[test]
    fn a_key_must_be_one_plain_text() {
        for json in ["{\"_key\": [\"k\"]}", "{\"_key\": {}}", "{\"_key\": \"a b\"}"] {
            assert!(matches!(read(json), Err(BodyError::BadKey)), "{json}");
        }
    }

    #[test]
    fn an_early_key_is_found_in_a_body_that_is_cut() {
        let key = |prefix: &str| early_key(prefix.as_bytes()).map(|key| key.as_str().to_owned());
        assert_eq!(key("{\"_key\": \"k1\", \"a\": \"cut"), Some("k1".into()));
        assert_eq!(key("{\"a\": [1, {}], \"_key\": \"k1\""), Some("k1".into()));
        assert_eq!(key("{\"a\": 1, \"_key\": \"k"), None);
        assert_eq!(key("{\"_key\": \"a b\"}"), None);
    }
}
