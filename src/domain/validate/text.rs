//! Fields that take one text.

use super::super::draft::{Entry, Shape};
use super::super::email;
use super::super::form::{DateRules, Field, FieldKind, NumberRules, TextRules};
use super::super::origin::Origin;
use super::super::submission::Value;
use super::fault::{Fault, Missing};

/// Judges a field that takes one text.
pub(super) fn judge(field: &Field, entries: &[&Entry]) -> Result<Value, Fault> {
    let text = single(entries)?;
    if field.required && text.trim().is_empty() {
        return Err(Fault::Required(Missing::Text));
    }
    if !text.is_empty() {
        let lines = if matches!(field.kind, FieldKind::Textarea(_)) { Lines::Several } else { Lines::One };
        characters(text, lines)?;
        rules(&field.kind, text)?;
    }
    Ok(Value::Text(text.to_owned()))
}

/// The one text of a field that takes one; empty when nothing was sent.
pub(super) fn single<'a>(entries: &[&'a Entry]) -> Result<&'a str, Fault> {
    match entries {
        [] => Ok(""),
        [entry] => plain(entry),
        _ => Err(Fault::Repeated),
    }
}

/// The text of an entry that must be a plain one.
pub(super) fn plain(entry: &Entry) -> Result<&str, Fault> {
    match entry.shape {
        Shape::Scalar => Ok(&entry.value),
        Shape::Element | Shape::Member | Shape::MemberElement | Shape::Nested => Err(Fault::Nested),
        Shape::Undecodable => Err(Fault::NotText),
    }
}

/// The text of an entry that may be an element of a list.
pub(super) fn element(entry: &Entry) -> Result<&str, Fault> {
    match entry.shape {
        Shape::Scalar | Shape::Element => Ok(&entry.value),
        Shape::Member | Shape::MemberElement | Shape::Nested => Err(Fault::Nested),
        Shape::Undecodable => Err(Fault::NotText),
    }
}

/// How many lines a text may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// One, without tabs.
    One,
    /// Any number; tabs as well.
    Several,
}

/// No control characters; newline and tab only where several lines may stand.
pub(super) fn characters(text: &str, lines: Lines) -> Result<(), Fault> {
    for c in text.chars().filter(|c| c.is_control()) {
        match c {
            '\n' | '\t' if lines == Lines::Several => {}
            '\n' => return Err(Fault::LineBreak),
            _ => return Err(Fault::ControlCharacter),
        }
    }
    Ok(())
}

/// The rules of the field's kind, for a text that is not empty.
fn rules(kind: &FieldKind, text: &str) -> Result<(), Fault> {
    match kind {
        FieldKind::Text(rules) | FieldKind::Textarea(rules) | FieldKind::Tel(rules) | FieldKind::Hidden(rules) => {
            lengths(rules, text)
        }
        FieldKind::Email(rules) => {
            lengths(rules, text)?;
            email::is_valid(text).then_some(()).ok_or(Fault::Email)
        }
        FieldKind::Url(rules) => {
            lengths(rules, text)?;
            is_web_address(text).then_some(()).ok_or(Fault::Url)
        }
        FieldKind::Number(rules) => number(*rules, text),
        FieldKind::Date(rules) => date(rules, text),
        FieldKind::Select(_)
        | FieldKind::Radio(_)
        | FieldKind::Checkbox
        | FieldKind::Checkboxes(_)
        | FieldKind::File(_) => Ok(()),
    }
}

/// Lengths in UTF-16 units, as HTML counts them, and the pattern.
fn lengths(rules: &TextRules, text: &str) -> Result<(), Fault> {
    let length = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
    if let Some(max) = rules.max_length.filter(|&max| length > max) {
        return Err(Fault::TooLong { max });
    }
    if let Some(min) = rules.min_length.filter(|&min| length < min) {
        return Err(Fault::TooShort { min });
    }
    match &rules.pattern {
        Some(pattern) if !pattern.matches(text) => Err(Fault::Pattern),
        _ => Ok(()),
    }
}

/// An absolute http or https URL with a host, without a user name and without blanks.
fn is_web_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let Some(authority) = rest.get(..end) else { return false };
    if text.contains(|c: char| c.is_whitespace() || matches!(c, '\\' | '"' | '<' | '>' | '^' | '`' | '{' | '|' | '}')) {
        return false;
    }
    if authority.is_ascii() {
        return Origin::parse(&format!("{scheme}://{authority}")).is_some();
    }
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let port = port.map_or(String::new(), |port| format!(":{port}"));
    email::ascii_domain(host).is_some_and(|host| Origin::parse(&format!("{scheme}://{host}{port}")).is_some())
}

/// A valid floating-point number of HTML within its bounds.
fn number(rules: NumberRules, text: &str) -> Result<(), Fault> {
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && is_number(text)).ok_or(Fault::Number)?;
    match (rules.min, rules.max) {
        (Some(min), _) if value < min => Err(Fault::NumberMin(min)),
        (_, Some(max)) if value > max => Err(Fault::NumberMax(max)),
        _ => Ok(()),
    }
}

/// HTML, valid floating-point number: `-? (digits | digits? "." digits) ([eE] [+-]? digits)?`.
fn is_number(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let mantissa = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let whole = match mantissa.split_once('.') {
        Some((before, after)) => (before.is_empty() || digits(before)) && digits(after),
        None => digits(mantissa),
    };
    whole && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

/// A date of the calendar within its bounds. `YYYY-MM-DD` sorts as text.
fn date(rules: &DateRules, text: &str) -> Result<(), Fault> {
    if !is_date(text) {
        return Err(Fault::Date);
    }
    match (&rules.min, &rules.max) {
        (Some(min), _) if text < min.as_str() => Err(Fault::DateMin(min.clone())),
        (_, Some(max)) if text > max.as_str() => Err(Fault::DateMax(max.clone())),
        _ => Ok(()),
    }
}

/// `YYYY-MM-DD`, a day that exists, from the year 1 on.
fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut part = |length: usize| {
        let part = parts.next().filter(|p| p.len() == length && p.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse::<u32>().ok()
    };
    let (Some(year), Some(month), Some(day)) = (part(4), part(2), part(2)) else { return false };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    parts.next().is_none() && year > 0 && (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_html_means() {
        for good in ["0", "-0", "12", "1.5", ".5", "-.5", "1e3", "1E-3", "1.5e+10", "007"] {
            assert_eq!(number(NumberRules::default(), good), Ok(()), "{good}");
        }
        for bad in ["+1", "1.", "e3", "1e", "1,5", "0x1", "NaN", "inf", " 1", "1 ", "--1", "1e999", "١"] {
            assert_eq!(number(NumberRules::default(), bad), Err(Fault::Number), "{bad}");
        }
        let rules = NumberRules { min: Some(1.0), max: Some(5.5) };
        assert_eq!(number(rules, "0.9"), Err(Fault::NumberMin(1.0)));
        assert_eq!(number(rules, "5.6"), Err(Fault::NumberMax(5.5)));
        assert_eq!(number(rules, "5.5"), Ok(()));
    }

    #[test]
    fn a_date_is_a_day_of_the_calendar() {
        for good in ["2026-11-30", "2024-02-29", "2000-02-29", "0001-01-01"] {
            assert!(is_date(good), "{good}");
        }
        for bad in ["2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "26-01-01", "0000-01-01"] {
            assert!(!is_date(bad), "{bad}");
        }
        for bad in ["2026-1-1", "2026-01-01T00:00", "2026/01/01", "30.11.2026", "2026-01-01-", "+026-01-01"] {
            assert!(!is_date(bad), "{bad}");
        }
        let rules = DateRules { min: Some("2026-01-01".into()), max: None };
        assert_eq!(date(&rules, "2025-12-31"), Err(Fault::DateMin("2026-01-01".into())));
    }

    #[test]
    fn a_web_address_is_absolute_and_has_a_host() {
        for good in [
            "https://example.com",
            "HTTP://example.com:8080/a?b=c#d",
            "https://почта.рф/путь?к=я",
            "https://почта.рф:444",
            "http://[::1]/",
            "http://localhost",
        ] {
            assert!(is_web_address(good), "{good}");
        }
        for bad in [
            "example.com",
            "//example.com",
            "javascript:alert(1)",
            "ftp://example.com",
            "https://",
            "https:///a",
            "https://a b",
            "https://user:pw@example.com",
            "https://example.com:99999",
            "https://exa<mple.com",
            "https:\\\\example.com",
        ] {
            assert!(!is_web_address(bad), "{bad}");
        }
    }
}
