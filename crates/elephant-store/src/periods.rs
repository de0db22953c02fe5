//! Sums of groups over time.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate};
use rustc_hash::FxHashMap;

use super::database::Row;
use super::day::day_at;
use super::selection::{DAY, MS_PER_DAY, Selection};
use super::{Grouped, Grouping, Store, StoreError, gb_hours};
use elephant_base::units::Timestamp;

/// At most this many periods are shown: two months of days, a year of weeks, or else months.
const MOST: usize = 62;
/// Earlier months are left out.
const MOST_MONTHS: usize = 120;
/// Days between applications that are this far apart may be due to a wrong clock.
const APART: i64 = 366;
/// Applications that far from others are shown if they are at least this share of all: one in so many.
const SHOWN_APART: u64 = 20;
/// The most groups that a query names.
const MOST_NAMED: usize = 200;

/// The length of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Day,
    /// From Monday.
    Week,
    Month,
}

/// Periods without a gap, the last one with the last submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Periods {
    pub(crate) length: Length,
    /// The first day of each, such as `2026-11-02`.
    pub names: Vec<String>,
    /// Whether there are applications outside: earlier ones, for which there is no room, or some with dates that are far from
    /// those of all others.
    pub is_cut: bool,
}

/// What a group used and wasted in each period; nothing where it did not run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OverTime {
    /// Memory used in each period; `None` if it is unknown.
    pub used_gb_hours: Vec<Option<f64>>,
    /// The part of it that was not needed; `None` if it is unknown.
    pub wasted_gb_hours: Vec<Option<f64>>,
}

impl Length {
    const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
        }
    }

    /// The SQL expression by which days are grouped: a number for each week, otherwise for each day. Days are counted
    /// from 1970, so a Monday is day 4.
    const fn bucket(self) -> &'static str {
        match self {
            Self::Day | Self::Month => "day",
            Self::Week => "CASE WHEN day >= 0 THEN (day + 3) / 7 ELSE -1 END",
        }
    }

    fn beginning(self, day: NaiveDate) -> Option<NaiveDate> {
        match self {
            Self::Day => Some(day),
            Self::Week => day.checked_sub_days(Days::new(day.weekday().num_days_from_monday().into())),
            Self::Month => day.with_day(1),
        }
    }

    fn after(self, day: NaiveDate) -> Option<NaiveDate> {
        match self {
            Self::Day => day.succ_opt(),
            Self::Week => day.checked_add_days(Days::new(7)),
            Self::Month => day.checked_add_months(Months::new(1)),
        }
    }
}

impl Periods {
    /// The periods from the first to the last submission; `None` if no submission is known.
    pub(super) fn between(from: Timestamp, until: Timestamp) -> Option<Self> {
        let day = |moment: Timestamp| Some(DateTime::from_timestamp_millis(moment.as_millis())?.date_naive());
        let (from, until) = (day(from)?, day(until)?);
        [Length::Day, Length::Week, Length::Month].into_iter().find_map(|length| {
            let most = if length == Length::Month { MOST_MONTHS } else { MOST };
            let mut names = Vec::new();
            // Count back from the last period, so that the earliest ones are left out if there are too many.
            let mut first = length.beginning(until)?;
            loop {
                names.push(first.to_string());
                if first <= from || names.len() == most {
                    break;
                }
                first = length.beginning(first.pred_opt()?)?;
            }
            names.reverse();
            let is_cut = first > from;
            (!is_cut || length == Length::Month).then_some(Self { length, names, is_cut })
        })
    }

    /// Days with these names.
    #[must_use]
    pub fn of_days(names: &[&str]) -> Self {
        Self {
            length: Length::Day,
            names: names.iter().map(|&name| name.to_owned()).collect(),
            is_cut: false,
        }
    }

    /// "day", "week" or "month".
    #[must_use]
    pub const fn unit(&self) -> &'static str {
        self.length.name()
    }

    /// The last day of the period that begins on this day.
    #[must_use]
    pub fn last_day(&self, name: &str) -> Option<String> {
        let last = self.length.after(name.parse().ok()?)?.pred_opt()?;
        Some(last.to_string())
    }
}

/// The first and the last of the days, which have numbers of applications, without those that are few and far from others.
fn usual(days: &[(i64, u64)]) -> Option<(i64, i64)> {
    let all: u64 = days.iter().map(|(_, count)| count).sum();
    let clusters = days.chunk_by(|(day, _), (next, _)| next - day <= APART);
    let is_usual =
        |days: &&[(i64, u64)]| days.iter().map(|(_, count)| count).sum::<u64>() >= all.div_ceil(SHOWN_APART);
    let mut usual = clusters.filter(is_usual);
    let first = usual.next()?;
    let last = usual.next_back().unwrap_or(first);
    Some((first.first()?.0, last.last()?.0))
}

/// What a group used and wasted in a period, as far as it is known, as the tables have it.
type UsedAndWasted = (Option<u64>, Option<u64>);

/// What a group used and wasted on a day, as the tables have it.
struct OfDay {
    group: Option<String>,
    day: i64,
    used: Option<u64>,
    wasted: Option<u64>,
}

impl OfDay {
    fn of(row: &Row<'_>) -> Result<Self, StoreError> {
        Ok(Self { group: row.get(0)?, day: row.get(1)?, used: row.amount(2)?, wasted: row.amount(3)? })
    }
}

impl Store {
    /// The periods in which the selected applications were submitted; `None` if no submission is known. A few applications
    /// whose dates are more than a year from all others are left out: a wrong clock would leave no room for the others.
    pub(super) fn periods(&self, selection: &Selection) -> Result<Option<Periods>, StoreError> {
        let (Some(from), Some(until)) = self.period(selection)? else { return Ok(None) };
        let Some(all) = Periods::between(from, until) else { return Ok(None) };
        if all.length != Length::Month {
            return Ok(Some(all));
        }
        let query = format!(
            "SELECT CAST({DAY} AS BIGINT), count(*) FROM application WHERE {} AND submitted IS NOT NULL GROUP BY 1 ORDER BY 1",
            selection.condition
        );
        let days = self.database.rows(&query, &selection.values, |row| Ok((row.get(0)?, row.count(1)?)))?;
        let moment = |day: i64| Timestamp::from_millis(day * MS_PER_DAY);
        let usual = usual(&days).filter(|(first, last)| moment(*first) > from || moment(last + 1) <= until);
        let shown = usual.and_then(|(first, last)| Periods::between(moment(first), moment(last)));
        Ok(Some(shown.map_or(all, |shown| Periods { is_cut: true, ..shown })))
    }

    /// What each of the `groups` used and wasted in each period.
    pub(super) fn over_time(
        &self,
        grouping: Grouping,
        groups: &Grouped,
        periods: &Periods,
        selection: &Selection,
    ) -> Result<Vec<OverTime>, StoreError> {
        let places: FxHashMap<&str, usize> =
            periods.names.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        let nothing = vec![(None, None); periods.names.len()];
        let mut sums: FxHashMap<Option<String>, Vec<UsedAndWasted>> =
            groups.groups.iter().map(|group| (group.key.clone(), nothing.clone())).collect();
        for row in self.days_of((grouping, groups), periods.length, selection)? {
            let period = day_at(row.day).and_then(|day| periods.length.beginning(day));
            let place = period.and_then(|period| places.get(period.to_string().as_str()));
            let Some((sums, &place)) = sums.get_mut(&row.group).zip(place) else { continue };
            let add = |sum: &mut Option<u64>, amount: Option<u64>| {
                *sum = sum.map_or(amount, |sum| Some(sum + amount.unwrap_or_default()));
            };
            if let Some((used, wasted)) = sums.get_mut(place) {
                add(used, row.used);
                add(wasted, row.wasted);
            }
        }
        let over_time = |key: &Option<String>| {
            let sums = sums.remove(key).unwrap_or_default();
            OverTime {
                used_gb_hours: sums.iter().map(|sums| sums.0.map(gb_hours)).collect(),
                wasted_gb_hours: sums.iter().map(|sums| sums.1.map(gb_hours)).collect(),
            }
        };
        Ok(groups.groups.iter().map(|group| &group.key).map(over_time).collect())
    }

    /// What each of the groups used and wasted on each day, or in more days of the same period.
    fn days_of(
        &self,
        (grouping, groups): (Grouping, &Grouped),
        length: Length,
        selection: &Selection,
    ) -> Result<Vec<OfDay>, StoreError> {
        // Few groups are looked up, so that not all applications are added up.
        let are_few = grouping != Grouping::Everything && groups.groups.len() <= MOST_NAMED;
        let keys = groups.groups.iter().map(|group| group.key.as_deref());
        let kept = selection.days.as_ref().filter(|_| grouping != Grouping::Job);
        if let Some((days, (_, key, condition))) = kept.and_then(|days| Some((days, grouping.kept(days)?))) {
            let mut rows = Selection {
                condition,
                values: days.values(),
                by_patterns: false,
                days: None,
                rules: Vec::new(),
            };
            if are_few {
                rows.among_known("known", "key", keys);
            }
            return self.database.rows(
                &format!(
                    "SELECT {key}, min(day), CAST(CASE WHEN sum(measured) > 0 THEN sum(used) END AS BIGINT), CAST(CASE WHEN \
                     sum(compared) > 0 THEN sum(wasted) END AS BIGINT) FROM group_day WHERE {} GROUP BY 1, {}",
                    rows.condition,
                    length.bucket()
                ),
                &rows.values,
                OfDay::of,
            );
        }
        let (table, key, _) = grouping.parts();
        let mut rows = selection.clone();
        if are_few {
            rows.among(key, keys);
        }
        self.database.rows(
            &format!(
                "SELECT {key}, CAST({DAY} AS BIGINT), CAST(sum(used) AS BIGINT), CAST(sum(wasted) AS BIGINT) FROM {table} \
                 WHERE {} AND submitted IS NOT NULL GROUP BY 1, 2",
                rows.condition
            ),
            &rows.values,
            OfDay::of,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn periods(from: &str, until: &str) -> Periods {
        let moment = |day: &str| {
            let noon = day.parse::<NaiveDate>().unwrap().and_hms_opt(12, 0, 0).unwrap();
            Timestamp::from_millis(noon.and_utc().timestamp_millis())
        };
        Periods::between(moment(from), moment(until)).unwrap()
    }

    #[test]
    fn a_wrong_clock_leaves_room_for_the_others() {
        let days = |first: i64| (first..first + 40).map(|day| (day, 3));
        let wrong = |early: &[(i64, u64)], late: &[(i64, u64)]| {
            let days: Vec<_> =
                early.iter().copied().chain(days(20_000)).chain(late.iter().copied()).collect();
            usual(&days)
        };
        assert_eq!(wrong(&[], &[]), Some((20_000, 20_039)));
        assert_eq!(wrong(&[(0, 2)], &[(47_000, 1)]), Some((20_000, 20_039)));
        // Many are no mistake, and neither is a month.
        assert_eq!(wrong(&[(0, 20)], &[(20_100, 1)]), Some((0, 20_100)));
        assert_eq!(usual(&[]), None);
        let app = |day: i64| {
            let mut app = elephant_engine::results::ApplicationReport::blank(&format!("app_{day}"));
            app.sources = vec![format!("logs/app_{day}")];
            app.submitted_at = Some(Timestamp::from_millis(day * MS_PER_DAY + 5));
            app
        };
        let apps: Vec<_> = (20_000..20_030).chain([47_000]).map(app).collect();
        crate::testing::with_stores(&apps, |store| {
            let all =
                Selection::of(&store.database, &elephant_engine::engine::Filter::default(), crate::Only::ALL)
                    .unwrap();
            let periods = store.periods(&all).unwrap().unwrap();
            assert_eq!((periods.names.len(), periods.unit(), periods.is_cut), (30, "day", true));
        });
    }

    #[test]
    fn the_longer_the_time_the_longer_the_periods() {
        let days = periods("2026-10-30", "2026-11-02");
        assert_eq!(days.names, ["2026-10-30", "2026-10-31", "2026-11-01", "2026-11-02"]);
        assert_eq!(periods("2026-11-02", "2026-11-02").names, ["2026-11-02"]);
        let weeks = periods("2026-08-01", "2026-11-04");
        // A Saturday and a Wednesday.
        assert_eq!((weeks.unit(), weeks.names.len()), ("week", 15));
        assert_eq!(weeks.names.first().unwrap(), "2026-07-27");
        assert_eq!(weeks.names.last().unwrap(), "2026-11-02");
        assert_eq!(weeks.last_day("2026-11-02").unwrap(), "2026-11-08");
        let months = periods("2024-02-29", "2026-11-04");
        assert_eq!((months.unit(), months.names.len()), ("month", 34));
        assert_eq!(months.names.first().unwrap(), "2024-02-01");
        assert_eq!(months.last_day("2024-02-01").unwrap(), "2024-02-29");
        assert!(!months.is_cut);
        let all = periods("1970-01-01", "2026-11-04");
        assert_eq!((all.names.len(), all.is_cut), (MOST_MONTHS, true));
    }
}
