//! The local time of `--tz`, by the system's time zone database (Debian's `tzdata`): its rules are kept up to date by
//! the system, not by releases of formd. Without a zone times are RFC 3339 in UTC.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::domain::time::Timestamp;

/// In which zone times are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Zone {
    /// RFC 3339 in UTC with milliseconds.
    Utc,
    /// The local time of a zone, with its offset.
    Local(TimeZone),
}

impl Zone {
    /// Reads the name of a zone, such as `Europe/Berlin`.
    pub fn parse(name: &str) -> Result<Self, String> {
        TimeZone::get(name).map(Self::Local).map_err(|_| {
            "write a name such as Europe/Berlin or UTC; `timedatectl list-timezones` has them all (package tzdata)"
                .to_owned()
        })
    }

    /// A moment as it is written.
    pub fn text(&self, moment: Timestamp) -> String {
        let local = match self {
            Self::Utc => None,
            Self::Local(zone) => instant(moment).map(|instant| instant.to_zoned_datetime(zone.clone())),
        };
        local.map_or_else(|| moment.to_string(), |local| local.strftime("%Y-%m-%d %H:%M:%S %:z").to_string())
    }

    /// What a clock on the wall shows.
    pub fn wall(&self, moment: Timestamp) -> Option<DateTime> {
        let zone = match self {
            Self::Utc => TimeZone::UTC,
            Self::Local(zone) => zone.clone(),
        };
        instant(moment).map(|instant| instant.to_zoned_datetime(zone).datetime())
    }
}

/// The moment as jiff has it; its moments end 26 hours before the year 9999 does.
fn instant(moment: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(moment.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_time_says_its_offset_so_that_the_hour_that_comes_twice_is_told_apart() {
        let berlin = Zone::parse("Europe/Berlin").unwrap();
        for (moment, text) in [
            ("2026-07-01T10:00:00.999Z", "2026-07-01 12:00:00 +02:00"),
            ("2026-10-25T00:30:00Z", "2026-10-25 02:30:00 +02:00"),
            ("2026-10-25T01:30:00Z", "2026-10-25 02:30:00 +01:00"),
            ("1970-01-01T00:00:00Z", "1970-01-01 01:00:00 +01:00"),
        ] {
            let moment = Timestamp::parse(moment).unwrap();
            assert_eq!(berlin.text(moment), text);
        }
        assert_eq!(Zone::Utc.text(Timestamp::from_millis(7)), "1970-01-01T00:00:00.007Z");
        assert_eq!(berlin.text(Timestamp::from_millis(i64::MAX)), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn what_is_no_zone_is_refused() {
        for bad in ["", "Berlin", "Europe/Atlantis", "../../etc/passwd", "+01:00"] {
            assert!(Zone::parse(bad).is_err(), "{bad}");
        }
    }
}
