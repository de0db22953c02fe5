//! Hours in which a receiver gets nothing. What falls into them is sent at their end: it would be lost otherwise, because
//! the run that has the trouble is an earlier run by then, and the next one is no worse.

use elephant_base::units::Timestamp;

const DAY: i64 = 24 * 60;
const MINUTE_MS: i64 = 60_000;
/// No place of the world is further from UTC.
const MOST_OFFSET: i64 = 14 * 60;

/// How to write quiet hours.
pub(super) const EXAMPLE: &str = "write for example 22:00-07:00 (UTC), or 22:00-07:00 +01:00";

/// Quiet hours of each day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quiet {
    /// The first minute of the day that is quiet, and the first that is not, by the clock of the receiver.
    from: i64,
    to: i64,
    /// How far that clock is ahead of UTC, in minutes.
    ahead: i64,
}

impl Quiet {
    /// Parses `22:00-07:00` with an offset from UTC, if there is one: `+01:00`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" are no quiet hours");
        let mut words = text.split_whitespace();
        let (hours, zone) = (words.next().ok_or_else(wrong)?, words.next());
        if words.next().is_some() {
            return Err(wrong());
        }
        let (from, to) = hours.split_once('-').ok_or_else(wrong)?;
        let ahead = match zone {
            None | Some("UTC" | "Z") => Some(0),
            Some(zone) => offset(zone),
        };
        let minute = |text| minutes(text).filter(|minute| *minute < DAY);
        let read = minute(from).zip(minute(to)).zip(ahead.filter(|ahead| ahead.abs() <= MOST_OFFSET));
        let ((from, to), ahead) = read.ok_or_else(wrong)?;
        if from == to {
            return Err(format!("\"{hours}\" begin when they end"));
        }
        Ok(Self { from, to, ahead })
    }

    /// From when on something may be sent that was found now.
    pub(crate) fn ends_after(&self, now: Timestamp) -> Timestamp {
        let now = now.as_millis();
        let minute = (now.div_euclid(MINUTE_MS) + self.ahead).rem_euclid(DAY);
        let is_quiet = if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        };
        if !is_quiet {
            return Timestamp::from_millis(now);
        }
        let left = (self.to - minute).rem_euclid(DAY);
        Timestamp::from_millis((now.div_euclid(MINUTE_MS) + left) * MINUTE_MS)
    }
}

/// The minutes of `07:30`.
fn minutes(text: &str) -> Option<i64> {
    let (hours, minutes) = text.split_once(':')?;
    let number = |text: &str| {
        (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let (hours, minutes): (i64, i64) = (number(hours)?, number(minutes)?);
    (hours <= 24 && minutes < 60).then_some(hours * 60 + minutes)
}

/// The minutes of `+01:00` or `-03:30`.
fn offset(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(west) => minutes(west).map(|minutes| -minutes),
        None => minutes(text.strip_prefix('+')?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The minute of a day at which it is no longer quiet for something that is found at this one, in UTC.
    fn end(quiet: &str, found: &str) -> String {
        let day = 20_000 * DAY;
        let now = Timestamp::from_millis((day + minutes(found).unwrap()) * MINUTE_MS + 1);
        let end = Quiet::parse(quiet).unwrap().ends_after(now).as_millis();
        if end == now.as_millis() {
            return "now".to_owned();
        }
        assert_eq!(end % MINUTE_MS, 0);
        let minute = end / MINUTE_MS - day;
        format!("{}{:02}:{:02}", if minute >= DAY { "next day " } else { "" }, minute % DAY / 60, minute % 60)
    }

    #[test]
    fn what_falls_into_quiet_hours_waits_for_their_end() {
        for (quiet, found, expected) in [
            ("22:00-07:00", "21:59", "now"),
            ("22:00-07:00", "22:00", "next day 07:00"),
            ("22:00-07:00", "23:59", "next day 07:00"),
            ("22:00-07:00 UTC", "00:00", "07:00"),
            ("22:00-07:00", "06:59", "07:00"),
            ("22:00-07:00", "07:00", "now"),
            ("12:00-13:30", "12:15", "13:30"),
            ("12:00-13:30", "13:30", "now"),
            // In Berlin it is an hour later, in Newfoundland three and a half hours earlier.
            ("22:00-07:00 +01:00", "21:00", "next day 06:00"),
            ("22:00-07:00 +01:00", "06:00", "now"),
            ("22:00-07:00 -03:30", "01:30", "10:30"),
            ("22:00-07:00 -03:30", "01:29", "now"),
            ("00:00-23:59 +14:00", "10:00", "next day 09:59"),
        ] {
            assert_eq!(end(quiet, found), expected, "{quiet} {found}");
        }
    }

    #[test]
    fn other_texts_are_no_quiet_hours() {
        for text in [
            "",
            "22:00",
            "22-07",
            "22:00-07:00 CET",
            "22:00-07:00 +1",
            "24:00-07:00",
            "22:60-07:00",
            "7:00-08:00",
            "22:00-07:00 +15:00",
            "22:00-07:00 +01:00 x",
            "08:00-08:00",
            "+1:00-02:00",
        ] {
            assert!(Quiet::parse(text).is_err(), "{text}");
        }
    }
}
