//! Days as the tables have them: counted from 1970 in UTC.

use chrono::{Days, NaiveDate};

/// The day with this number; `None` for -1, which stands for an unknown day.
pub(super) fn day_at(day: i64) -> Option<NaiveDate> {
    let day = u64::try_from(day).ok()?;
    NaiveDate::from_ymd_opt(1970, 1, 1)?.checked_add_days(Days::new(day))
}

/// Its name, such as `2026-11-02`.
pub(super) fn name_of(day: i64) -> Option<String> {
    Some(day_at(day)?.to_string())
}
