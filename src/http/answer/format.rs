//! JSON or a page: the first rule that applies (the order is the rule).

use hyper::HeaderMap;
use hyper::header::{ACCEPT, CONTENT_TYPE};

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Format {
    /// For a program.
    Json,
    /// For a browser's window.
    Page,
}

/// What the path says about the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum Suffix {
    /// `.json`.
    Json,
    /// Nothing.
    None,
}

/// What an `Accept` header names first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// A JSON type.
    Json,
    /// HTML.
    Html,
    /// Neither.
    Neither,
}

/// The format of the answer to a request.
pub(in crate::http) fn choose(suffix: Suffix, headers: &HeaderMap) -> Format {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // Several lines of a list are one list (RFC 9110, 5.3).
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let named = accepted.map(named).find(|named| *named != Named::Neither).unwrap_or(Named::Neither);
    let mode = text("sec-fetch-mode");
    let is_json = text(CONTENT_TYPE.as_str()).is_some_and(is_json_type);
    match (suffix, named, mode) {
        (Suffix::Json, _, _) | (_, Named::Json, _) => Format::Json,
        _ if headers.contains_key("x-requested-with") => Format::Json,
        (_, _, Some(mode)) if mode.eq_ignore_ascii_case("navigate") => Format::Page,
        (_, _, Some(_)) => Format::Json,
        _ if is_json => Format::Json,
        (_, Named::Html, None) => Format::Page,
        (_, Named::Neither, None) => Format::Json,
    }
}

/// The first of JSON and HTML in an `Accept` header that is not refused with `q=0`.
fn named(accept: &str) -> Named {
    for range in accept.split(',') {
        let mut pieces = range.split(';').map(str::trim);
        let kind = pieces.next().unwrap_or_default().to_ascii_lowercase();
        let refused = pieces.any(|piece| {
            let weight = piece.strip_prefix("q=").or_else(|| piece.strip_prefix("Q="));
            weight.and_then(|weight| weight.trim().parse::<f32>().ok()).is_some_and(|weight| weight <= 0.0)
        });
        match kind.as_str() {
            _ if refused => {}
            "text/html" | "application/xhtml+xml" => return Named::Html,
            kind if is_json_type(kind) => return Named::Json,
            _ => {}
        }
    }
    Named::Neither
}

/// `application/json` and its kin (RFC 6839, 3.1), parameters ignored.
fn is_json_type(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    matches!(kind.as_str(), "application/json" | "text/json") || kind.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_applies_decides() {
        use Format::{Json, Page};
        const CHROME: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        let accept = |value| ("accept", value);
        let mode = |value| ("sec-fetch-mode", value);
        let body = |value| ("content-type", value);
        let ajax = ("x-requested-with", "XMLHttpRequest");
        for (suffix, headers, expected) in [
            (Suffix::Json, vec![accept(CHROME), mode("navigate")], Json),
            (Suffix::None, vec![accept("application/json")], Json),
            (Suffix::None, vec![accept("application/problem+json, text/html"), mode("navigate")], Json),
            (Suffix::None, vec![accept("text/html, application/json"), mode("cors")], Json),
            (Suffix::None, vec![accept("text/html, application/json")], Page),
            (Suffix::None, vec![accept("application/json;q=0, text/html")], Page),
            (Suffix::None, vec![accept(CHROME), ajax, mode("navigate")], Json),
            (Suffix::None, vec![accept(CHROME), mode("navigate"), body("application/json")], Page),
            (Suffix::None, vec![accept("*/*"), mode("cors"), body("multipart/form-data; boundary=x")], Json),
            (Suffix::None, vec![accept(CHROME), mode("same-origin")], Json),
            (Suffix::None, vec![accept(CHROME), body("application/json; charset=utf-8")], Json),
            (Suffix::None, vec![accept(CHROME), body("application/x-www-form-urlencoded")], Page),
            (Suffix::None, vec![accept("*/*")], Json),
            (Suffix::None, vec![accept("*/*"), accept("text/html")], Page),
            (Suffix::None, vec![], Json),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in &headers {
                map.append(*name, value.parse().unwrap());
            }
            assert_eq!(choose(suffix, &map), expected, "{suffix:?} {headers:?}");
        }
    }
}
