//! Types for quantities, so that every number that leaves a parser has a unit.
//!
//! Constructors name their unit; `Display` writes for readers. Hadoop mixes milliseconds, bytes, mebibytes
//! and megabyte-milliseconds; these types convert them once.

mod digits;
mod held;

use crate::whole::Whole;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Sub};

use chrono::{DateTime, Datelike, SecondsFormat};

use crate::state::State;

pub use digits::{three_digits, three_digits_grouped, two_digits_at_least, with_thousands};
pub use held::{CoreMillis, MbMillis, show_gb_hours, show_hours};

/// A time span in milliseconds. Never negative: if the end is before the start, the span is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
pub struct Millis(u64);

impl Millis {
    /// A span of zero.
    pub const ZERO: Self = Self(0);

    /// A span of `ms` milliseconds.
    #[must_use]
    pub const fn new(ms: u64) -> Self {
        Self(ms)
    }

    /// A span of `secs` seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    /// The span from `start` to `end`; `None` if `end` is before `start`, because the clock was set back.
    #[must_use]
    pub fn between(start: Timestamp, end: Timestamp) -> Option<Self> {
        let span = end.0.checked_sub(start.0)?;
        u64::try_from(span).ok().map(Self)
    }

    /// Converts a double, truncating; `None` for negative, infinite or NaN input.
    #[must_use]
    #[doc(hidden)]
    pub fn from_f64(ms: f64) -> Option<Self> {
        (ms >= 0.0 && ms < u64::MAX as f64).then_some(Self(ms.as_u64()))
    }

    /// This span by `whole`; `None` if `whole` is zero.
    #[must_use]
    #[doc(hidden)]
    pub fn share_of(self, whole: Self) -> Option<f64> {
        (whole.0 > 0).then(|| self.as_f64() / whole.as_f64())
    }

    /// The nearest whole number of milliseconds; `None` for negative, infinite or NaN input. Seconds that were computed from
    /// milliseconds come back unchanged, which truncation would not do.
    #[must_use]
    #[doc(hidden)]
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        Self::from_f64((1000.0 * seconds).round())
    }

    /// The nearest whole number of milliseconds; zero for a negative span.
    #[must_use]
    #[doc(hidden)]
    pub fn from_nanos(nanos: i128) -> Self {
        Self(u64::try_from((nanos.max(0).saturating_add(500_000)) / 1_000_000).unwrap_or(u64::MAX))
    }

    /// Whole milliseconds.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Milliseconds as a double, for statistics.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Hours as a double, for gigabyte-hours.
    #[must_use]
    pub const fn as_hours(self) -> f64 {
        self.0 as f64 / 3_600_000.0
    }

    /// Whole seconds, truncated as in Dr. Elephant.
    #[must_use]
    #[doc(hidden)]
    pub const fn whole_secs(self) -> u64 {
        self.0 / 1000
    }
}

#[doc(hidden)]
impl Millis {
    /// Like `Display`, but to the millisecond below a minute: `2.27 s`. `Display` cuts, so that a limit of 2.27 s and a
    /// time of 2.25 s below it would both be 2.2 s.
    #[must_use]
    pub fn precise(self) -> String {
        match (self.0 / 1000, self.0 % 1000) {
            (secs @ 1..=59, ms @ 1..) => {
                format!("{secs}.{}", format!("{ms:03}").trim_end_matches('0')) + " s"
            }
            _ => self.to_string(),
        }
    }
}

impl Add for Millis {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Millis {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Millis {
    /// At most the two largest units: `350 ms`, `4.2 s`, `2m 5s`, `1h`, `3d 4h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.0;
        let secs = ms / 1000;
        match secs {
            0 => write!(f, "{ms} ms"),
            1..=59 if ms.is_multiple_of(1000) => write!(f, "{secs} s"),
            1..=59 => write!(f, "{secs}.{} s", ms % 1000 / 100),
            60..=3599 => two_parts(f, (secs / 60, "m"), (secs % 60, "s")),
            3600..=86_399 => two_parts(f, (secs / 3600, "h"), (secs % 3600 / 60, "m")),
            _ => two_parts(f, (secs / 86_400, "d"), (secs % 86_400 / 3600, "h")),
        }
    }
}

fn two_parts(f: &mut fmt::Formatter<'_>, large: (u64, &str), small: (u64, &str)) -> fmt::Result {
    write!(f, "{}{}", large.0, large.1)?;
    if small.0 > 0 { write!(f, " {}{}", small.0, small.1) } else { Ok(()) }
}

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z, as Hadoop and Spark log it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, State)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The time `ms` milliseconds after the epoch.
    #[must_use]
    pub const fn from_millis(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// A time as RFC 3339, in any zone.
    #[must_use]
    #[doc(hidden)]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc3339(text).ok().map(|time| Self(time.timestamp_millis()))
    }

    /// RFC 3339 in UTC with milliseconds; `None` if the year has more than four digits or is negative.
    #[must_use]
    pub fn to_rfc3339(self) -> Option<String> {
        // RFC 3339 requires a four-digit year.
        let moment = DateTime::from_timestamp_millis(self.0).filter(|at| (0..=9999).contains(&at.year()))?;
        Some(moment.to_rfc3339_opts(SecondsFormat::Millis, true))
    }

    /// For people: "2026-11-21 18:30:05Z".
    #[must_use]
    #[doc(hidden)]
    pub fn to_second(self) -> Option<String> {
        let text = self.to_rfc3339()?;
        Some(format!("{} {}Z", text.get(..10)?, text.get(11..19)?))
    }
}

impl Add<Millis> for Timestamp {
    type Output = Self;
    fn add(self, span: Millis) -> Self {
        Self(self.0.saturating_add_unsigned(span.0))
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
pub struct Bytes(u64);

impl Bytes {
    /// Bytes in a mebibyte, the "MB" of Hadoop's settings.
    pub const PER_MIB: u64 = 1 << 20;

    /// `bytes` bytes.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// `mib` mebibytes, which Hadoop's settings call MB.
    #[must_use]
    pub const fn from_mib(mib: u64) -> Self {
        Self(mib.saturating_mul(Self::PER_MIB))
    }

    /// Converts a double, truncating; `None` for negative, infinite or NaN input.
    #[must_use]
    #[doc(hidden)]
    pub fn from_f64(bytes: f64) -> Option<Self> {
        (bytes >= 0.0 && bytes < u64::MAX as f64).then_some(Self(bytes.as_u64()))
    }

    /// Whole bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Bytes as a double, for statistics.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Whole mebibytes, truncated.
    #[must_use]
    #[doc(hidden)]
    pub const fn whole_mib(self) -> u64 {
        self.0 / Self::PER_MIB
    }

    /// Mebibytes as a double.
    #[must_use]
    pub const fn as_mib(self) -> f64 {
        self.0 as f64 / Self::PER_MIB as f64
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Bytes {
    type Output = Self;
    /// Stops at zero.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for Bytes {
    /// Three significant digits in binary units: `512 B`, `1.5 KiB`, `64 MiB`, `2.25 TiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let mut value = self.0 as f64;
        let mut unit = "B";
        for name in UNITS {
            unit = name;
            if value < 1023.5 {
                break;
            }
            if name != "EiB" {
                value /= 1024.0;
            }
        }
        write!(f, "{} {unit}", three_digits(value))
    }
}

/// A rate in bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, State)]
pub struct BytesPerSecond(f64);

impl BytesPerSecond {
    /// `rate` bytes per second.
    #[must_use]
    pub const fn new(rate: f64) -> Self {
        Self(rate)
    }

    /// Bytes per second.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", Bytes::from_f64(self.0).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_spans_are_unknown() {
        let (early, late) = (Timestamp::from_millis(5), Timestamp::from_millis(9));
        assert_eq!(Millis::between(early, late), Some(Millis::new(4)));
        assert_eq!(Millis::between(late, early), None);
        assert_eq!(Millis::between(Timestamp::from_millis(i64::MIN), Timestamp::from_millis(i64::MAX)), None);
        assert_eq!(Millis::from_f64(f64::NAN), None);
        assert_eq!(Millis::from_f64(-1.0), None);
    }

    #[test]
    fn seconds_come_back_as_the_same_milliseconds() {
        for ms in (0..20_000).chain(3_600_000..3_601_000) {
            assert_eq!(Millis::from_seconds(Millis::new(ms).as_f64() / 1000.0), Some(Millis::new(ms)));
        }
        assert_eq!(Millis::from_seconds(f64::NAN), None);
        assert_eq!(Millis::from_seconds(-1.0), None);
    }

    #[test]
    fn spans_show_their_two_largest_units() {
        let shown = |ms| Millis::new(ms).to_string();
        assert_eq!(shown(0), "0 ms");
        assert_eq!(shown(999), "999 ms");
        assert_eq!(shown(4_260), "4.2 s");
        assert_eq!(shown(60_000), "1m");
        assert_eq!(shown(125_000), "2m 5s");
        assert_eq!(shown(3_649_314), "1h");
        assert_eq!(shown(100 * 3_600_000), "4d 4h");
    }

    #[test]
    fn precise_spans_are_not_cut_below_a_minute() {
        let shown = |ms| Millis::new(ms).precise();
        assert_eq!([shown(0), shown(999), shown(1_000)], ["0 ms", "999 ms", "1 s"]);
        assert_eq!([shown(2_270), shown(2_250), shown(1_599)], ["2.27 s", "2.25 s", "1.599 s"]);
        assert_eq!([shown(4_005), shown(59_999), shown(125_500)], ["4.005 s", "59.999 s", "2m 5s"]);
    }

    #[test]
    fn bytes_show_binary_units() {
        let shown = |bytes| Bytes::new(bytes).to_string();
        assert_eq!(shown(0), "0 B");
        assert_eq!(shown(1023), "1023 B");
        assert_eq!(shown(1536), "1.5 KiB");
        assert_eq!(shown(100 << 20), "100 MiB");
        assert_eq!(shown(1 << 30), "1 GiB");
        assert_eq!(shown(u64::MAX), "16 EiB");
    }

    #[test]
    fn times_outside_the_calendar_have_no_text() {
        let shown = |ms| Timestamp::from_millis(ms).to_rfc3339();
        assert_eq!(shown(1_526_555_218_123).as_deref(), Some("2018-05-17T11:06:58.123Z"));
        assert_eq!(shown(-1).as_deref(), Some("1969-12-31T23:59:59.999Z"));
        assert_eq!(shown(i64::MAX), None);
    }

    #[test]
    fn the_wiki_example_of_used_resources() {
        let minutes = |m: u64| Millis::from_secs(m * 60);
        let container = Bytes::from_mib(4096);
        let used: MbMillis =
            [12, 15, 20, 30, 10, 12, 15, 18].map(|m| MbMillis::of(container, minutes(m))).into_iter().sum();
        assert!((used.as_gb_hours() - 8.8).abs() < 1e-9, "{}", used.as_gb_hours());
    }
}
