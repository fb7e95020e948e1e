//! Whether the wall clock can be believed when it says that much is over.
//!
//! A clock that is set a year ahead by mistake would make every value expire at once, and what is erased does not come
//! back with the right time. So the daemon keeps one reading of both clocks, and what the wall has gained on the steady
//! clock since then is its drift. Past a day of it, erasing waits for an hour of steady time, in which a person may
//! put the clock right; then the new time is believed. Values are unreadable meanwhile, as their date says.
//!
//! The steady clock counts while the machine sleeps (on Linux `CLOCK_BOOTTIME`) and is the same for every process, so
//! that `formctl sweep` judges by the daemon's reading. After a sleep both have gained alike: no jump. A restart
//! begins with a fresh reading: no jump either.

use std::fmt;

use super::time::{Span, Timestamp};

/// The gain from which on the wall clock is not believed.
const JUMP: Span = Span::from_days(1);
/// How long erasing waits then.
const WAIT: Span = Span::from_hours(1);

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The time of day.
    pub wall: Timestamp,
    /// The time since the machine was started, sleep included.
    pub steady: Span,
}

/// Whether what is over by its date is erased now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erasing {
    /// It is.
    Goes,
    /// The wall clock jumped ahead.
    Waits {
        /// Until then, by the wall clock as it goes now.
        until: Timestamp,
    },
}

/// What is remembered between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The reading that is believed.
    believed: Reading,
    /// When the jump was noticed, by the steady clock.
    noticed: Option<Span>,
}

impl Guard {
    /// Believes a first reading.
    pub fn new(reading: Reading) -> Self {
        Self { believed: reading, noticed: None }
    }

    /// Judges the next reading. A clock that falls behind is believed at once: it erases nothing.
    pub fn judge(self, now: Reading) -> (Self, Erasing) {
        let drift = (now.wall.as_millis() - self.believed.wall.as_millis())
            - (now.steady.as_millis() - self.believed.steady.as_millis());
        if drift < 0 {
            return (Self::new(now), Erasing::Goes);
        }
        if drift <= JUMP.as_millis() {
            return (Self { noticed: None, ..self }, Erasing::Goes);
        }
        let noticed = self.noticed.unwrap_or(now.steady);
        let waited = Span::from_millis(now.steady.as_millis() - noticed.as_millis());
        if waited >= WAIT {
            return (Self::new(now), Erasing::Goes);
        }
        let until = now.wall.plus(Span::from_millis(WAIT.as_millis() - waited.as_millis()));
        (Self { noticed: Some(noticed), ..self }, Erasing::Waits { until })
    }

    /// Reads what [`Guard`]'s `Display` wrote.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mut number = || words.next()?.parse::<i64>().ok();
        let (wall, steady) = (Timestamp::from_millis(number()?), Span::from_millis(number()?));
        Some(Self { believed: Reading { wall, steady }, noticed: number().map(Span::from_millis) })
    }
}

/// Milliseconds: the wall clock, the steady clock, and when a jump was noticed.
impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.believed.wall.as_millis(), self.believed.steady.as_millis())?;
        self.noticed.map_or(Ok(()), |noticed| write!(f, " {}", noticed.as_millis()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i64 = 1_796_056_099_007;
    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;

    fn reading(wall: i64, steady: i64) -> Reading {
        Reading { wall: Timestamp::from_millis(START + wall), steady: Span::from_millis(5000 + steady) }
    }

    /// What is said of each reading in turn: `true` where erasing goes.
    fn judged(readings: &[(i64, i64)]) -> Vec<bool> {
        let mut guard = Guard::new(reading(0, 0));
        let judge = |&(wall, steady): &(i64, i64)| {
            // As another process would read it.
            let (next, erasing) = Guard::parse(&guard.to_string()).unwrap().judge(reading(wall, steady));
            guard = next;
            erasing == Erasing::Goes
        };
        readings.iter().map(judge).collect()
    }

    #[test]
    fn erasing_waits_an_hour_after_a_jump_of_more_than_a_day_and_for_nothing_else() {
        type Case<'a> = (&'a str, &'a [(i64, i64)], &'a [bool]);
        let year = 365 * DAY;
        let cases: [Case<'_>; 9] = [
            ("time passes", &[(MINUTE, MINUTE), (40 * DAY, 40 * DAY)], &[true, true]),
            ("a machine that slept a month", &[(30 * DAY, 30 * DAY)], &[true]),
            ("a day exactly", &[(DAY + MINUTE, MINUTE)], &[true]),
            ("a day and a bit", &[(DAY + MINUTE + 1, MINUTE)], &[false]),
            (
                "a year, then an hour",
                &[(year, 0), (year + HOUR - 1, HOUR - 1), (year + HOUR, HOUR), (year + 2 * HOUR, 2 * HOUR)],
                &[false, false, true, true],
            ),
            ("put right", &[(year, 0), (MINUTE, MINUTE), (2 * MINUTE, 2 * MINUTE)], &[false, true, true]),
            ("put right and wrong again", &[(year, 0), (HOUR, HOUR), (year, 2 * HOUR)], &[false, true, false]),
            ("in two steps", &[(20 * HOUR, 0), (40 * HOUR, 0)], &[true, false]),
            ("back, then ahead to where it was", &[(-year, 0), (0, 0)], &[true, false]),
        ];
        for (name, readings, goes) in cases {
            assert_eq!(judged(readings), goes, "{name}");
        }
    }

    #[test]
    fn it_says_until_when() {
        let (guard, _) = Guard::new(reading(0, 0)).judge(reading(2 * DAY, 0));
        let (_, erasing) = guard.judge(reading(2 * DAY + 10 * MINUTE, 10 * MINUTE));
        assert_eq!(erasing, Erasing::Waits { until: Timestamp::from_millis(START + 2 * DAY + HOUR) });
        assert_eq!(Guard::parse("nonsense"), None);
    }
}
