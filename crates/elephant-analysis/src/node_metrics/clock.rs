//! Dates and times in the formats of monitoring tools.

use std::fmt;
use std::str::FromStr;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};

/// Offset of local time from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UtcOffset {
    minutes: i32,
}

/// The text is not a UTC offset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a UTC offset; give hours and minutes, such as +08:00, -03:30 or Z")]
pub struct InvalidOffset(String);

impl FromStr for UtcOffset {
    type Err = InvalidOffset;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidOffset(text.to_owned());
        if matches!(text, "Z" | "z" | "UTC") {
            return Ok(Self::default());
        }
        let (sign, digits) = match text.split_at_checked(1) {
            Some(("+", digits)) => (1, digits),
            Some(("-", digits)) => (-1, digits),
            _ => return Err(invalid()),
        };
        let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
            (Some(parts), 5) => parts,
            (None, 4) => digits.split_at_checked(2).ok_or_else(invalid)?,
            (None, 1 | 2) => (digits, "0"),
            _ => return Err(invalid()),
        };
        let number = |digits: &str, limit: i32| {
            let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<i32>().ok().filter(|number| plain && *number <= limit).ok_or_else(invalid)
        };
        // Real offsets are from −12:00 to +14:00.
        Ok(Self { minutes: sign * (number(hours, 14)? * 60 + number(minutes, 59)?) })
    }
}

impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.minutes < 0 { '-' } else { '+' };
        let minutes = self.minutes.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

impl UtcOffset {
    /// Converts a local time to milliseconds since the epoch.
    pub(super) fn epoch_ms(self, local: NaiveDateTime) -> i64 {
        local.and_utc().timestamp_millis().saturating_sub(i64::from(self.minutes) * 60_000)
    }
}

/// A date as `sar` prints it: `2026-11-21` (with `S_TIME_FORMAT=ISO`), or in the locale's format. Of the
/// latter, dates with the month first are read (`11/21/2026`, `11/21/26`), and dates with the day first if
/// the day cannot be a month.
pub(super) fn date(text: &str) -> Option<NaiveDate> {
    if let Ok(date) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return Some(date);
    }
    let mut parts = text.split('/').map(|part| part.parse::<u32>().ok());
    let (first, second, year) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() {
        return None;
    }
    let year = i32::try_from(if year < 100 { year + 2000 } else { year }).ok()?;
    let month_first = NaiveDate::from_ymd_opt(year, first, second);
    month_first.or_else(|| NaiveDate::from_ymd_opt(year, second, first))
}

/// A time such as `15:04:05`.
pub(super) fn time(text: &str) -> Option<NaiveTime> {
    NaiveTime::parse_from_str(text, "%H:%M:%S").ok()
}

/// A time such as `03:04:05` with `AM` or `PM`.
pub(super) fn time_of_half(text: &str, half: &str) -> Option<NaiveTime> {
    NaiveTime::parse_from_str(&format!("{text} {half}"), "%I:%M:%S %p").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_parsed() {
        let minutes = |text: &str| text.parse::<UtcOffset>().ok().map(|offset| offset.minutes);
        assert_eq!(minutes("Z"), Some(0));
        assert_eq!(minutes("+08:00"), Some(480));
        assert_eq!(minutes("-0330"), Some(-210));
        assert_eq!(minutes("+5"), Some(300));
        for bad in ["", "8", "+", "+25", "+08:60", "+8:0", "+a", "+-5", "+é", "++08:0"] {
            assert_eq!(minutes(bad), None, "{bad}");
        }
        assert_eq!("-03:30".parse::<UtcOffset>().unwrap().to_string(), "-03:30");
    }

    #[test]
    fn dates_are_parsed() {
        let ymd = |y, m, d| NaiveDate::from_ymd_opt(y, m, d);
        assert_eq!(date("2026-11-21"), ymd(2026, 11, 21));
        assert_eq!(date("01/19/2020"), ymd(2020, 1, 19));
        assert_eq!(date("12/10/19"), ymd(2019, 12, 10));
        assert_eq!(date("21/11/26"), ymd(2026, 11, 21));
        for bad in ["", "2020年04月22日", "1/2", "1/2/3/4", "31/31/20", "02/30/2020"] {
            assert_eq!(date(bad), None, "{bad}");
        }
    }

    #[test]
    fn midnight_and_noon_are_parsed() {
        assert_eq!(time_of_half("12:00:01", "AM"), time("00:00:01"));
        assert_eq!(time_of_half("12:00:01", "PM"), time("12:00:01"));
        assert_eq!(time_of_half("03:09:04", "PM"), time("15:09:04"));
        assert_eq!(time("24:00:01"), None);
    }
}
