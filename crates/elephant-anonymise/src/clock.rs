//! All times of all files are moved by the same number of whole days, which comes from the key.
//!
//! Durations and the time of day stay, the date and the day of the week do not.

use chrono::{Days, NaiveDate};

use super::pseudonyms::Pseudonyms;

/// Times are moved back by at least this many days.
const LEAST: i64 = 30;
/// And by fewer than this many more: less than five years, so that no history is older than its engine.
const AMONG: i64 = 1700;

const MILLIS_PER_DAY: i64 = 86_400_000;
/// 2000-01-01 and 2100-01-01 in milliseconds. What is before or after is no time of a history.
const TIMES: std::ops::Range<i64> = 946_684_800_000..4_102_444_800_000;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    days: i64,
}

impl Clock {
    pub(crate) fn new(pseudonyms: &Pseudonyms) -> Self {
        Self { days: LEAST + pseudonyms.days(AMONG) }
    }

    /// A time in milliseconds since 1970, moved. Other numbers, such as 0 and -1 for unknown, stay.
    pub(crate) fn millis(self, time: i64) -> i64 {
        if TIMES.contains(&time) { time - self.days * MILLIS_PER_DAY } else { time }
    }

    /// Whether a number can be a time in milliseconds.
    pub(crate) fn is_time(number: i64) -> bool {
        TIMES.contains(&number)
    }

    /// A time in the digits of an id: milliseconds, or `yyyyMMddHHmm` with or without seconds. `None` for others.
    pub(crate) fn digits(self, digits: &str) -> Option<String> {
        match digits.len() {
            13 => {
                let time: i64 = digits.parse().ok()?;
                Self::is_time(time).then(|| self.millis(time).to_string())
            }
            // Seconds since 1970.
            10 => {
                let time: i64 = digits.parse().ok()?;
                Self::is_time(time * 1000).then(|| (self.millis(time * 1000) / 1000).to_string())
            }
            12 | 14 => {
                let (date, clock) = digits.split_at_checked(8)?;
                Some(format!("{}{clock}", self.compact_date(date)?))
            }
            8 => self.compact_date(digits),
            _ => None,
        }
    }

    /// A text that starts with a date, `2026-11-30` or `2026/11/30`, with that date moved; the rest stays if it has only
    /// digits and the signs of times (`T22:10:05.123Z`).
    pub(crate) fn date(self, text: &str) -> Option<String> {
        let (date, rest) = text.split_at_checked(10)?;
        let sign = date.chars().nth(4).filter(|sign| matches!(sign, '-' | '/'))?;
        let mut parts = date.split(sign);
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let moved = self.moved(year, month, day)?;
        let is_of_time =
            |c: char| c.is_ascii_digit() || matches!(c, 'T' | 'Z' | ':' | '.' | '+' | '-' | '_' | ' ');
        rest.chars()
            .all(is_of_time)
            .then(|| format!("{}{rest}", moved.format(&format!("%Y{sign}%m{sign}%d"))))
    }

    /// The folders `2026/11/30` of a date.
    pub(crate) fn folders(self, year: &str, month: &str, day: &str) -> Option<[String; 3]> {
        let moved = self.moved(year, month, day)?;
        Some(["%Y", "%m", "%d"].map(|part| moved.format(part).to_string()))
    }

    fn compact_date(self, date: &str) -> Option<String> {
        let (year, rest) = date.split_at_checked(4)?;
        let (month, day) = rest.split_at_checked(2)?;
        Some(self.moved(year, month, day)?.format("%Y%m%d").to_string())
    }

    fn moved(self, year: &str, month: &str, day: &str) -> Option<NaiveDate> {
        let is_number = |text: &str, len| text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(year, 4) || !is_number(month, 2) || !is_number(day, 2) {
            return None;
        }
        let date = NaiveDate::from_ymd_opt(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
        let years = 2000..2100;
        let date = Some(date).filter(|_| years.contains(&year.parse().unwrap_or(0)))?;
        date.checked_sub_days(Days::new(u64::try_from(self.days).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Clock = Clock { days: 31 };

    #[test]
    fn all_forms_of_a_time_move_together() {
        assert_eq!(CLOCK.millis(1_795_255_830_918), 1_795_255_830_918 - 31 * MILLIS_PER_DAY);
        assert_eq!([0, -1, 1300, i64::MAX].map(|time| CLOCK.millis(time)), [0, -1, 1300, i64::MAX]);
        assert_eq!(CLOCK.digits("201311192236").as_deref(), Some("201310192236"));
        assert_eq!(CLOCK.digits("20131119223605").as_deref(), Some("20131019223605"));
        assert_eq!(CLOCK.digits("1398331617000").as_deref(), Some("1395653217000"));
        assert_eq!(CLOCK.digits("20131119").as_deref(), Some("20131019"));
        assert_eq!((CLOCK.digits("201399192236"), CLOCK.digits("0042")), (None, None));
        assert_eq!(CLOCK.date("2026-11-30T22:10:05.123Z").as_deref(), Some("2026-10-30T22:10:05.123Z"));
        assert_eq!(CLOCK.date("2026-11-30x"), None);
        assert_eq!(CLOCK.date("é026-11-30"), None);
        assert_eq!(CLOCK.folders("2026", "12", "01"), Some(["2026", "10", "31"].map(String::from)));
    }
}
