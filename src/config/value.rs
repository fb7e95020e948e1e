//! One value of a TOML table, read as what its key wants. A value of another type, out of its range or of another
//! shape is a mistake at its place and reads as `None`. Messages quote what was written only where it cannot be a
//! secret: never in [`Value::text`], which reads those too.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use toml::de::{DeInteger, DeValue};

use super::problem::quoted;
use super::table::{Findings, Table, type_word};
use crate::domain::bounds::{KIB, MIB};
use crate::domain::time::{Span, Timestamp};

/// A value and its key.
#[derive(Clone)]
pub(super) struct Value<'d> {
    /// Where mistakes go.
    findings: &'d Findings,
    /// The key.
    pub(super) key: &'d str,
    /// Where the key stands.
    pub(super) key_span: Range<usize>,
    /// What it was given.
    given: &'d Spanned<DeValue<'d>>,
    /// Which part of it this is.
    part: Part,
}

/// Which part of a key's value is meant.
#[derive(Clone, Copy)]
enum Part {
    /// All of it.
    Whole,
    /// One entry of a list.
    Entry,
}

impl<'d> Value<'d> {
    /// A value found under `key`.
    pub(super) fn new(
        findings: &'d Findings,
        key: &'d str,
        key_span: Range<usize>,
        value: &'d Spanned<DeValue<'d>>,
    ) -> Self {
        Self { findings, key, key_span, given: value, part: Part::Whole }
    }

    /// Where the value stands.
    pub(super) fn span(&self) -> Range<usize> {
        self.given.span()
    }

    /// What messages call it.
    fn name(&self) -> String {
        match self.part {
            Part::Whole => quoted(self.key),
            Part::Entry => format!("an entry of {}", quoted(self.key)),
        }
    }

    /// Notes a mistake at the value.
    pub(super) fn wrong(&self, message: impl Into<String>, remedy: impl Into<String>) {
        self.findings.wrong(&self.given.span(), message, remedy);
    }

    /// Notes a mistake at the key.
    pub(super) fn misplaced(&self, message: impl Into<String>, remedy: impl Into<String>) {
        self.findings.wrong(&self.key_span, message, remedy);
    }

    /// Notes that the value names something that is not there.
    pub(super) fn dangling(&self, message: impl Into<String>, remedy: impl Into<String>) {
        self.findings.absent(&self.given.span(), message, remedy);
    }

    /// Notes that the value is of the wrong type.
    fn mistyped(&self, wanted: &str, remedy: &str) {
        let found = type_word(self.given.get_ref());
        self.wrong(format!("{} must be {wanted}, not {found}", self.name()), remedy);
    }

    /// A text.
    pub(super) fn text(&self) -> Option<&'d str> {
        if let DeValue::String(text) = self.given.get_ref() {
            return Some(text);
        }
        self.mistyped("a text", "put one value between quotes");
        None
    }

    /// A text that is not empty and has no control characters: one that is shown in one line.
    pub(super) fn line(&self) -> Option<&'d str> {
        let text = self.text()?;
        if text.trim().is_empty() || text.chars().any(char::is_control) {
            self.wrong(
                format!("{} must be one line that is not empty", self.name()),
                "write it without line breaks and control characters, or leave the key out",
            );
            return None;
        }
        Some(text)
    }

    /// A text that `parse` reads; `shape` says what one looks like.
    pub(super) fn parsed<T>(&self, shape: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let text = self.text()?;
        let parsed = parse(text);
        if parsed.is_none() {
            self.wrong(format!("{} is not valid for {}", quoted(text), quoted(self.key)), shape);
        }
        parsed
    }

    /// `true` or `false`.
    pub(super) fn flag(&self) -> Option<bool> {
        if let DeValue::Boolean(flag) = self.given.get_ref() {
            return Some(*flag);
        }
        self.mistyped("`true` or `false`", "write `true` or `false` without quotes");
        None
    }

    /// A whole number within `range`.
    pub(super) fn whole(&self, range: RangeInclusive<u64>) -> Option<u64> {
        let DeValue::Integer(number) = self.given.get_ref() else {
            self.mistyped("a whole number", "write the number without quotes");
            return None;
        };
        self.within(unsigned(number), &range, |n| n.to_string())
    }

    /// A size in bytes within `range`: a whole number or such as `16KiB`.
    pub(super) fn size(&self, range: RangeInclusive<u64>) -> Option<u64> {
        if let DeValue::Integer(number) = self.given.get_ref() {
            return self.within(unsigned(number), &range, size_text);
        }
        let size = self.parsed("write bytes as a number, or a size such as `\"16KiB\"` or `\"5MiB\"`", parse_size)?;
        self.within(Some(size), &range, size_text)
    }

    /// A rate in bytes a second within `range`, such as `1KiB/s`.
    pub(super) fn rate(&self, range: RangeInclusive<u64>) -> Option<u64> {
        let read = |text: &str| parse_size(text.strip_suffix("/s")?);
        let rate = self.parsed("write bytes a second such as `\"1KiB/s\"`", read)?;
        self.within(Some(rate), &range, |bytes| format!("{}/s", size_text(bytes)))
    }

    /// A length of time within `range`, such as `10s`.
    pub(super) fn time(&self, range: &RangeInclusive<Span>) -> Option<Span> {
        let time = self.parsed("write a number and `s`, `m`, `h` or `d`, such as `\"30m\"`", Span::parse)?;
        self.within(Some(time), range, |span| span.to_string())
    }

    /// A decimal number; TOML's `inf` and `nan` are none.
    pub(super) fn number(&self) -> Option<f64> {
        let text = match self.given.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            _ => {
                self.mistyped("a decimal number", "write the number without quotes");
                return None;
            }
        };
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        if number.is_none() {
            self.wrong(format!("{} is no number that can be compared", self.name()), "write a decimal number");
        }
        number
    }

    /// A calendar date, as a text or as TOML's own.
    pub(super) fn date(&self) -> Option<String> {
        let date = match self.given.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Datetime(date) => date.to_string(),
            _ => {
                self.mistyped("a date", "write it as `\"YYYY-MM-DD\"`");
                return None;
            }
        };
        if !is_date(&date) {
            self.wrong(
                format!("{} is not valid for {}", quoted(&date), quoted(self.key)),
                "write a date of the calendar as `\"YYYY-MM-DD\"`",
            );
            return None;
        }
        Some(date)
    }

    /// The values of a list, each under the list's key.
    pub(super) fn list(&self) -> Option<Vec<Value<'d>>> {
        if let DeValue::Array(items) = self.given.get_ref() {
            let item = |given| Value { given, part: Part::Entry, ..self.clone() };
            return Some(items.iter().map(item).collect());
        }
        self.mistyped("a list", "put the values between `[` and `]`, with commas");
        None
    }

    /// Whether it is a table.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.given.get_ref(), DeValue::Table(_))
    }

    /// A table, which messages call `name`.
    pub(super) fn table(&self, name: String) -> Option<Table<'d>> {
        if let DeValue::Table(table) = self.given.get_ref() {
            return Some(Table::new(self.findings, table, self.key_span.clone(), name));
        }
        self.mistyped("a table", "write it as a section of its own, with a header in brackets");
        None
    }

    /// The tables of a list of tables, which messages call `name`.
    pub(super) fn tables(&self, header: &str, name: &str) -> Vec<Table<'d>> {
        let remedy = format!("begin each one with a line `[[{header}]]`");
        let DeValue::Array(items) = self.given.get_ref() else {
            self.mistyped("a list of tables", &remedy);
            return Vec::new();
        };
        let table = |item: &'d Spanned<DeValue<'d>>| {
            if let DeValue::Table(table) = item.get_ref() {
                return Some(Table::new(self.findings, table, item.span(), name.to_owned()));
            }
            Value { given: item, part: Part::Entry, ..self.clone() }.mistyped("a list of tables", &remedy);
            None
        };
        items.iter().filter_map(table).collect()
    }

    /// `read` when it lies within `range`.
    fn within<T: PartialOrd + Copy>(
        &self,
        read: Option<T>,
        range: &RangeInclusive<T>,
        show: impl Fn(T) -> String,
    ) -> Option<T> {
        let fits = read.filter(|value| range.contains(value));
        if fits.is_none() {
            let (low, high) = (show(*range.start()), show(*range.end()));
            self.wrong(format!("{} is out of range", self.name()), format!("write a value from {low} to {high}"));
        }
        fits
    }
}

/// A whole number that is not negative.
fn unsigned(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// Reads `COUNT` and a unit `B`, `KiB`, `MiB` or `GiB`.
fn parse_size(text: &str) -> Option<u64> {
    let (count, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let unit = match unit.trim_start() {
        "B" => 1,
        "KiB" => KIB,
        "MiB" => MIB,
        "GiB" => 1024 * MIB,
        _ => return None,
    };
    count.parse::<u64>().ok()?.checked_mul(unit)
}

/// A size with the largest unit that divides it evenly.
pub(super) fn size_text(bytes: u64) -> String {
    match bytes {
        0 => "0B".into(),
        n if n % (1024 * MIB) == 0 => format!("{}GiB", n / (1024 * MIB)),
        n if n % MIB == 0 => format!("{}MiB", n / MIB),
        n if n % KIB == 0 => format!("{}KiB", n / KIB),
        n => format!("{n}B"),
    }
}

/// Whether a text is a date of the calendar, `YYYY-MM-DD`.
fn is_date(text: &str) -> bool {
    let digit = |(place, byte): (usize, u8)| if matches!(place, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(digit) && Timestamp::parse(text).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_count_and_a_binary_unit() {
        for (text, bytes) in [("16KiB", 16 * KIB), ("5 MiB", 5 * MIB), ("1GiB", 1024 * MIB), ("7B", 7)] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for bad in ["", "16", "16KB", "-1KiB", "KiB", "1.5MiB", "99999999999999999999GiB", "99999999999999GiB"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
        assert_eq!(size_text(1536), "1536B");
        assert_eq!(size_text(3 * MIB), "3MiB");
    }

    #[test]
    fn a_date_is_one_of_the_calendar() {
        assert!(is_date("2024-02-29"));
        for bad in ["2023-02-29", "2024-1-1", "20240101", "2024-02-29T00:00:00Z", "+024-02-29", "", "２０２４"] {
            assert!(!is_date(bad), "{bad}");
        }
    }
}
