//! The `Content-Type` of a request: which of the three bodies it is.

/// The three bodies a form takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::http) enum ContentType {
    /// `multipart/form-data` with its boundary.
    Multipart {
        /// 1..=70 characters.
        boundary: String,
    },
    /// `application/x-www-form-urlencoded`.
    Urlencoded,
    /// `application/json`.
    Json,
}

/// Why a `Content-Type` is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum ContentTypeError {
    /// 415: none of the three.
    Unsupported,
    /// 400: multipart without a boundary of 1..70 characters.
    BadBoundary,
}

/// The longest boundary (RFC 2046, 5.1.1).
const LONGEST_BOUNDARY: usize = 70;

impl ContentType {
    /// Reads the header's value; its other parameters do not matter.
    pub(in crate::http) fn parse(header: &[u8]) -> Result<Self, ContentTypeError> {
        let text = std::str::from_utf8(header).map_err(|_| ContentTypeError::Unsupported)?;
        let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
        match essence.trim().to_ascii_lowercase().as_str() {
            "application/x-www-form-urlencoded" => Ok(Self::Urlencoded),
            "application/json" => Ok(Self::Json),
            "multipart/form-data" => {
                let boundary = parameter(parameters, "boundary").ok_or(ContentTypeError::BadBoundary)?;
                if is_boundary(&boundary) {
                    Ok(Self::Multipart { boundary })
                } else {
                    Err(ContentTypeError::BadBoundary)
                }
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
pub(super) fn parameter(text: &str, wanted: &str) -> Option<String> {
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
            assert_eq!(ContentType::parse(header.as_bytes()), Ok(ContentType::Multipart { boundary }), "{header}");
        }
        assert_eq!(
            ContentType::parse(b"application/x-www-form-urlencoded; charset=UTF-8"),
            Ok(ContentType::Urlencoded)
        );
        assert_eq!(ContentType::parse(b" Application/JSON "), Ok(ContentType::Json));
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
