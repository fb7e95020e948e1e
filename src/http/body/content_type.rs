//! The `Content-Type` of a request: which of the three bodies it is, and in which charset.
//!
//! A boundary is read strictly, since readers that disagree on it see different bodies. A charset is read as the MIME
//! Sniffing standard reads it: what is no parameter is skipped, and the first of several counts.

use crate::domain::charset::{Charset, UnknownCharset};

/// The three bodies a form takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) enum ContentType {
    /// `multipart/form-data` with its boundary.
    Multipart {
        /// 1..=70 characters.
        boundary: String,
        /// The charset it names.
        charset: Option<Charset>,
    },
    /// `application/x-www-form-urlencoded`.
    Urlencoded {
        /// The charset it names.
        charset: Option<Charset>,
    },
    /// `application/json`, which is UTF-8 whatever it names.
    Json,
}

/// Why a `Content-Type` is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum ContentTypeError {
    /// 415: none of the three, or in a charset that forms are not sent in.
    Unsupported,
    /// 400: multipart without a boundary of 1..70 characters.
    BadBoundary,
}

/// The longest boundary (RFC 2046, 5.1.1).
const LONGEST_BOUNDARY: usize = 70;

impl ContentType {
    /// Reads the header's value; its other parameters do not matter. An empty charset says nothing.
    pub(in crate::http) fn parse(header: &[u8]) -> Result<Self, ContentTypeError> {
        let text = std::str::from_utf8(header).map_err(|_| ContentTypeError::Unsupported)?;
        let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
        match essence.trim().to_ascii_lowercase().as_str() {
            "application/x-www-form-urlencoded" => {
                Ok(Self::Urlencoded { charset: charset(parameters).map_err(|_| ContentTypeError::Unsupported)? })
            }
            "application/json" => Ok(Self::Json),
            "multipart/form-data" => {
                let boundary = parameter(parameters, "boundary").ok_or(ContentTypeError::BadBoundary)?;
                if !is_boundary(&boundary) {
                    return Err(ContentTypeError::BadBoundary);
                }
                let charset = charset(parameters).map_err(|_| ContentTypeError::Unsupported)?;
                Ok(Self::Multipart { boundary, charset })
            }
            _ => Err(ContentTypeError::Unsupported),
        }
    }
}

/// 1..70 visible characters, blanks inside only. A little more than RFC 2046 allows, since clients do; no quote,
/// backslash or semicolon, which readers disagree on.
fn is_boundary(text: &str) -> bool {
    let fits = |b: u8| (b.is_ascii_graphic() && !matches!(b, b'"' | b'\\' | b';')) || b == b' ';
    (1..=LONGEST_BOUNDARY).contains(&text.len()) && text.bytes().all(fits) && text.trim() == text
}

/// The value of the one parameter of this name; `None` when it is missing, doubled or not well formed.
fn parameter(text: &str, wanted: &str) -> Option<String> {
    let mut rest = text.trim_start();
    let mut found = None;
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = if let Some(quoted) = after.strip_prefix('"') {
            unquote(quoted)?
        } else {
            let (value, after) = after.split_at_checked(after.find(';').unwrap_or(after.len()))?;
            (value.trim_end().to_owned(), after)
        };
        if name.eq_ignore_ascii_case(wanted) && found.replace(value).is_some() {
            return None;
        }
        let after = after.trim_start();
        rest = if after.is_empty() { after } else { after.strip_prefix(';')?.trim_start() };
    }
    found
}

/// The charset among the parameters of a type; `None` where none is named.
pub(super) fn charset(parameters: &str) -> Result<Option<Charset>, UnknownCharset> {
    let mut rest = parameters;
    while !rest.is_empty() {
        let (name, after) = rest.split_at_checked(rest.find([';', '=']).unwrap_or(rest.len())).unwrap_or((rest, ""));
        let Some(value) = after.strip_prefix('=') else {
            rest = after.strip_prefix(';').unwrap_or_default();
            continue;
        };
        let value = value.trim_start();
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => unquote(quoted).unwrap_or_else(|| (quoted.to_owned(), "")),
            None => (String::new(), value),
        };
        let (bare, after) = after.split_once(';').unwrap_or((after, ""));
        let label = if value.is_empty() { bare.trim() } else { value.trim() };
        if name.trim().eq_ignore_ascii_case("charset") && !label.is_empty() {
            return Charset::parse(label).map(Some);
        }
        rest = after;
    }
    Ok(None)
}

/// The inside of a quoted string whose opening quote is gone, and what follows.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '"' => return Some((value, chars.as_str())),
            '\\' => value.push(chars.next()?),
            other => value.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_types_are_known_whatever_their_case_and_parameters() {
        for (header, boundary) in [
            ("multipart/form-data; boundary=X", "X"),
            ("Multipart/Form-Data;charset=utf-8; Boundary=\"a b\"", "a b"),
            ("multipart/form-data; boundary=----=_Part_1; x=\"a;b\"", "----=_Part_1"),
            ("multipart/form-data; boundary=\"'()+_,-./:=? 9\"", "'()+_,-./:=? 9"),
            ("multipart/form-data; boundary=X;", "X"),
        ] {
            let boundary = boundary.to_owned();
            let got = ContentType::parse(header.as_bytes());
            let ok = matches!(&got, Ok(ContentType::Multipart { boundary: found, .. }) if *found == boundary);
            assert!(ok, "{header}: {got:?}");
        }
        assert_eq!(ContentType::parse(b" Application/JSON "), Ok(ContentType::Json));
    }

    #[test]
    fn the_charset_is_the_first_that_is_named() {
        let utf8 = Some(Charset::UTF_8);
        let cyrillic = Charset::parse("windows-1251").ok();
        for (parameters, charset) in [
            ("", None),
            ("charset=", None),
            ("charset=\"\"; charset=utf-8", utf8),
            (" Charset=UTF-8", utf8),
            ("charset = \"utf-8\"", utf8),
            ("charset=windows-1251; charset=utf-8", cyrillic),
            ("junk; charset=\"windows-1251\"junk", cyrillic),
            ("format=flowed; x=\"a;charset=koi8-r\"; charset=cp1251", cyrillic),
            ("charset=\"windows-1251", cyrillic),
        ] {
            let header = format!("application/x-www-form-urlencoded;{parameters}");
            assert_eq!(ContentType::parse(header.as_bytes()), Ok(ContentType::Urlencoded { charset }), "{header}");
        }
        for header in
            ["application/x-www-form-urlencoded; charset=utf-16", "multipart/form-data; boundary=X; charset=x"]
        {
            assert_eq!(ContentType::parse(header.as_bytes()), Err(ContentTypeError::Unsupported), "{header}");
        }
        assert_eq!(ContentType::parse(b"application/json; charset=utf-16"), Ok(ContentType::Json));
    }

    #[test]
    fn anything_else_is_refused() {
        for header in ["", "text/plain", "multipart/mixed; boundary=X", "application/vnd.api+json", "application/jsonx"]
        {
            assert_eq!(ContentType::parse(header.as_bytes()), Err(ContentTypeError::Unsupported), "{header}");
        }
        let long = format!("boundary={}", "x".repeat(71));
        let bad =
            ["", "boundary", "boundary=", "boundary=\"\"", "boundary=a; boundary=b", "boundary = X", "boundary=\"a"];
        for parameters in bad.into_iter().chain(["boundary=\"a\\\"b\"", "boundary=\"a \"", "boundary=\u{451}", &long]) {
            let header = format!("multipart/form-data; {parameters}");
            assert_eq!(ContentType::parse(header.as_bytes()), Err(ContentTypeError::BadBoundary), "{header}");
        }
    }
}
