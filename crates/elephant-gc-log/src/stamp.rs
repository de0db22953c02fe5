//! The stamps of a line: a date, a time since the start of the JVM, or both.

use std::time::Duration;

use chrono::{NaiveDate, TimeDelta};
use elephant_base::units::Timestamp;

use crate::scan;

/// When a line was written. Either may be missing, and with `-Xlog:…:none` both are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The wall clock, which may be set back.
    pub wall: Option<Timestamp>,
    /// Time since the start of the JVM.
    pub uptime: Option<Duration>,
}

/// From this many milliseconds, `…ms` is a date and not an uptime: 1973 as a date, three years as an uptime.
const DATES_FROM_MILLIS: u64 = 100_000_000_000;

impl Stamp {
    /// Whether the line has no stamp.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.wall.is_none() && self.uptime.is_none()
    }

    /// Adds what one decoration tells: a date, `0.017s`, `17ms` or `17000000ns`. Returns whether it is a stamp.
    pub(crate) fn decorate(&mut self, text: &str) -> bool {
        if let Some(wall) = date(text) {
            self.wall = Some(wall);
        } else if let Some(nanos) = text.strip_suffix("ns").and_then(|number| number.parse().ok()) {
            // Of `timenanos` and `uptimenanos`, the second is written last. Both have no relation to a date.
            self.uptime = Some(Duration::from_nanos(nanos));
        } else if let Some(millis) = text.strip_suffix("ms").and_then(|number| number.parse::<u64>().ok()) {
            if millis < DATES_FROM_MILLIS {
                self.uptime = self.uptime.or(Some(Duration::from_millis(millis)));
            } else {
                self.wall = self.wall.or(i64::try_from(millis).ok().map(Timestamp::from_millis));
            }
        } else if let Some(uptime) = text.strip_suffix('s').and_then(scan::seconds) {
            self.uptime = Some(uptime);
        } else {
            return false;
        }
        true
    }

    /// The stamps at the start of a classic line, `2014-06-16T07:57:14.622+0200: 30284,932: …`, and the text after them.
    pub(crate) fn leading(text: &str) -> (Self, &str) {
        let mut stamp = Self::default();
        let mut rest = text.trim_start();
        if !rest.starts_with(|first: char| first.is_ascii_digit()) {
            return (stamp, rest);
        }
        // Not twice the same: the second uptime of `12.2: 12.3: […` belongs to what follows.
        while let Some((word, after)) = rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")))
        {
            if let Some(wall) = date(word).filter(|_| stamp.is_empty()) {
                stamp.wall = Some(wall);
            } else if let Some(uptime) = fractional(word).filter(|_| stamp.uptime.is_none()) {
                stamp.uptime = Some(uptime);
            } else {
                break;
            }
            rest = after;
        }
        (stamp, rest)
    }

    /// The stamps at the end of the text in front of a classic record.
    pub(crate) fn trailing(text: &str) -> Self {
        let mut stamp = Self::default();
        let Some(text) = text.trim_end().strip_suffix(':') else { return stamp };
        let (before, number) = scan::trailing_number(text).unwrap_or((text, ""));
        let mut rest = text;
        if let Some(uptime) = fractional(number) {
            stamp.uptime = Some(uptime);
            let Some(date) = before.trim_end().strip_suffix(':') else { return stamp };
            rest = date;
        }
        stamp.wall = DATE_LENGTHS
            .iter()
            .find_map(|length| rest.len().checked_sub(*length).and_then(|at| rest.get(at..)).and_then(date));
        stamp
    }
}

/// Lengths of `2014-06-16T07:57:14.622+0200` and of the same with a colon in the zone.
const DATE_LENGTHS: [usize; 2] = [28, 29];

/// An uptime of a classic log, which always has a fraction: `12: ` is not one.
fn fractional(text: &str) -> Option<Duration> {
    text.contains(['.', ',']).then(|| scan::seconds(text))?
}

/// A date as `-XX:+PrintGCDateStamps` and the decorations `time` and `utctime` write it.
fn date(text: &str) -> Option<Timestamp> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok();
    let mark = |at: usize, marks: &[u8]| text.as_bytes().get(at).filter(|byte| marks.contains(byte));
    mark(4, b"-")?;
    mark(7, b"-")?;
    mark(10, b"T ")?;
    mark(13, b":")?;
    mark(19, b".,")?;
    let year = text.get(..4)?.parse().ok()?;
    let day = NaiveDate::from_ymd_opt(year, number(5, 7)?, number(8, 10)?)?;
    let local = day.and_hms_milli_opt(number(11, 13)?, number(14, 16)?, number(17, 19)?, number(20, 23)?)?;
    let east = if *mark(23, b"+-")? == b'+' { 1 } else { -1 };
    let minutes =
        if text.len() == 28 { number(26, 28)? } else { mark(26, b":").and_then(|_| number(27, 29))? };
    if !DATE_LENGTHS.contains(&text.len()) {
        return None;
    }
    let zone = TimeDelta::minutes(east * i64::from(number(24, 26)? * 60 + minutes));
    let utc = local.checked_sub_signed(zone)?;
    Some(Timestamp::from_millis(utc.and_utc().timestamp_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(text: &str) -> Option<Timestamp> {
        Timestamp::from_rfc3339(text)
    }

    #[test]
    fn dates_have_a_zone() {
        assert_eq!(date("2014-06-16T07:57:14.622+0200"), wall("2014-06-16T05:57:14.622Z"));
        assert_eq!(date("2022-11-10T03:37:29.443-0800"), wall("2022-11-10T11:37:29.443Z"));
        assert_eq!(date("2022-11-10T03:37:29,443+05:30"), wall("2022-11-09T22:07:29.443Z"));
        for wrong in [
            "",
            "2014-06-16",
            "2014-13-16T07:57:14.622+0200",
            "2014-06-16T07:57:14.622",
            "é014-06-16T07:57:14.622+020",
        ] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn decorations_are_told_apart_by_their_unit() {
        let mut stamp = Stamp::default();
        assert!(stamp.decorate("1668080249443ms"));
        assert!(stamp.decorate("17ms"));
        assert_eq!(stamp.wall, Some(Timestamp::from_millis(1_668_080_249_443)));
        assert_eq!(stamp.uptime, Some(Duration::from_millis(17)));
        assert!(stamp.decorate("0.018s"));
        assert_eq!(stamp.uptime, Some(Duration::from_millis(18)));
        assert!(stamp.decorate("19000000ns"));
        assert_eq!(stamp.uptime, Some(Duration::from_millis(19)));
        assert!(!stamp.decorate("info"));
        assert!(!stamp.decorate("gc,start"));
        assert!(!stamp.decorate("4711"));
    }

    #[test]
    fn classic_stamps_stand_in_front() {
        let (stamp, rest) =
            Stamp::leading("2014-06-16T07:57:14.622+0200: 30284,932: Application time: 9,8 seconds");
        assert_eq!(stamp.wall, wall("2014-06-16T05:57:14.622Z"));
        assert_eq!(stamp.uptime, Some(Duration::from_millis(30_284_932)));
        assert_eq!(rest, "Application time: 9,8 seconds");
        let (stamp, rest) = Stamp::leading("0.288: [GC 17024K->13057K(83008K), 0.0441346 secs]");
        assert_eq!((stamp.wall, stamp.uptime), (None, Some(Duration::from_millis(288))));
        assert!(rest.starts_with("[GC"));
        assert_eq!(Stamp::leading("12: not a stamp").0, Stamp::default());
    }

    #[test]
    fn text_may_stand_in_front_of_a_stamp() {
        let stamp = Stamp::trailing("stderr: 2011-08-07T18:30:12.100+0100: 10.362: ");
        assert_eq!(stamp.wall, wall("2011-08-07T17:30:12.100Z"));
        assert_eq!(stamp.uptime, Some(Duration::from_millis(10_362)));
        assert_eq!(Stamp::trailing("2011-08-07T18:30:12.100+0100: ").wall, wall("2011-08-07T17:30:12.100Z"));
        assert_eq!(
            Stamp::trailing("real=0.02 secs]21306.667: ").uptime,
            Some(Duration::from_millis(21_306_667))
        );
        assert_eq!(Stamp::trailing("é: "), Stamp::default());
        assert_eq!(Stamp::trailing(""), Stamp::default());
    }
}
