//! Sizes, ages and counts as an administrator writes and reads them.

use super::bounds::{KIB, MIB};
use super::time::Span;

/// The units of sizes, largest first.
const UNITS: [(u64, &str); 4] = [(MIB * MIB, "TiB"), (MIB * KIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")];

/// `12.3 GiB`, rounded down, so that no limit looks kept that is not.
pub fn bytes(count: u64) -> String {
    match UNITS.iter().find(|(unit, _)| count >= *unit) {
        Some((unit, name)) => {
            let tenths = u128::from(count) * 10 / u128::from(*unit);
            if tenths >= 1000 {
                format!("{} {name}", count / unit)
            } else {
                format!("{}.{} {name}", tenths / 10, tenths % 10)
            }
        }
        None => format!("{count} B"),
    }
}

/// Reads bytes, or a count with `KiB`, `MiB`, `GiB`, `TiB`.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (count, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        unit => UNITS.iter().find(|(_, name)| *name == unit).map(|(factor, _)| *factor),
    };
    count
        .parse::<u64>()
        .ok()
        .zip(factor)
        .and_then(|(count, factor)| count.checked_mul(factor))
        .ok_or_else(|| "write a size such as 1073741824, 512MiB or 2GiB".to_owned())
}

/// Reads a length of time.
pub fn parse_age(text: &str) -> Result<Span, String> {
    Span::parse(text).ok_or_else(|| "write a length of time such as 30m, 2h or 1d".to_owned())
}

/// `2 h 5 min`: the two largest units of a length of time in seconds.
pub fn age(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{} s", seconds.max(0)),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// `1 receipt`, `3 receipts`: for nouns that take an `s`.
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_at_a_glance() {
        for (count, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1_048_575, "1023 KiB"),
            (268_435_456, "256 MiB"),
            (13_207_024_436, "12.3 GiB"),
            (u64::MAX, "16777215 TiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn a_size_is_a_count_and_a_unit() {
        for (text, count) in [("0", 0), ("512MiB", 512 * MIB), ("2 GiB", 2048 * MIB), ("7B", 7), ("1KiB", 1024)] {
            assert_eq!(parse_bytes(text), Ok(count), "{text}");
        }
        for bad in ["", "MiB", "-1", "1.5GiB", "1GB", "99999999999999TiB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn ages_show_two_units() {
        for (seconds, text) in [(-5, "0 s"), (59, "59 s"), (61, "1 min"), (3661, "1 h 1 min"), (180_000, "2 d 2 h")] {
            assert_eq!(age(seconds), text);
        }
    }
}
