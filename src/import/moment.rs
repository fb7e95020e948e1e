//! Moments as exports write them: RFC 3339, or the same with a blank for the `T`, `UTC` for the `Z`, an offset without
//! its colon, or no zone at all, which means UTC in both services. Anything else, such as `03/04/2024`, is read by
//! nobody for sure: the submission is taken without its time.

use crate::domain::time::Timestamp;

/// The moment that `text` means.
pub fn read(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let text = text.strip_suffix("UTC").map_or(text, str::trim_end);
    let (date, time) = (text.get(..10)?, text.get(10..)?);
    if time.is_empty() {
        return Timestamp::parse(date);
    }
    let time = time.strip_prefix(['T', 't', ' '])?;
    let (clock, zone) = match time.find(['Z', 'z', '+', '-', ' ']) {
        Some(at) => (time.get(..at)?, time.get(at..)?.trim()),
        None => (time, ""),
    };
    let zone = match zone.len() {
        0 => "Z".to_owned(),
        5 if zone.starts_with(['+', '-']) => format!("{}:{}", zone.get(..3)?, zone.get(3..)?),
        _ => zone.to_owned(),
    };
    let clock = if clock.len() == 5 { format!("{clock}:00") } else { clock.to_owned() };
    Timestamp::parse(&format!("{date}T{clock}{zone}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_of_both_services_are_read_and_guesses_are_not_made() {
        let moment = Timestamp::parse("2024-05-06T07:08:09Z");
        for text in [
            "2024-05-06T07:08:09Z",
            "2024-05-06T07:08:09",
            "2024-05-06T07:08:09.000000",
            "2024-05-06 07:08:09 UTC",
            "2024-05-06 07:08:09",
            "2024-05-06 09:08:09 +0200",
            "2024-05-06T09:08:09+02:00",
            " 2024-05-06t07:08:09z ",
        ] {
            assert_eq!(read(text), moment, "{text}");
        }
        assert_eq!(read("2024-05-06 07:08"), Timestamp::parse("2024-05-06T07:08:00Z"));
        assert_eq!(read("2024-05-06"), Timestamp::parse("2024-05-06"));
        for text in
            ["", "05/06/2024 07:08", "yesterday", "2024-05-06T", "2024-05-06Tx", "2024-05-06 25:00:00", "ä2024-05-06"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
