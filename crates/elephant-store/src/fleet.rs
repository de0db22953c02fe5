//! All applications of a store as one picture.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::address::without_cluster;
use super::realised::Found;
use super::selection::Selection;
use super::{Grouped, Grouping, Nodes, OverTime, Periods, Realised, Remedy, Store, StoreError};
use elephant_engine::engine::Sort;

/// What all applications used and wasted, how this developed, and which remedies there are.
#[derive(Debug, Clone, PartialEq)]
pub struct Fleet {
    /// `None` if no submission is known.
    pub periods: Option<Periods>,
    /// All applications in each period.
    pub over_time: OverTime,
    /// The most lines of each list.
    pub most: usize,
    /// The jobs.
    pub jobs: Ranked,
    /// The users.
    pub users: Ranked,
    /// The queues.
    pub queues: Ranked,
    /// The kinds of trouble.
    pub troubles: Grouped,
    /// The settings that are recommended, those that save most first.
    pub remedies: Vec<Remedy>,
    /// How many settings are recommended, shown or not.
    pub remedies_of: u64,
    /// Changes of configurations that were made, and what they saved.
    pub realised: Vec<Realised>,
    /// How many changes of configurations were clear, shown or not.
    pub realised_of: u64,
    /// What all of them saved together, shown or not.
    pub realised_gb_hours: f64,
    /// The same as money, if there are prices and any of it is known.
    pub realised_cost: Option<f64>,
    /// Changes whose cost is unknown, and which are missing in `realised_cost`, if there are prices.
    pub realised_unpriced: u64,
    /// What nodes did, the slowest first.
    pub nodes: Nodes,
    /// Files that could not be read, by problem.
    pub unread: Vec<Unread>,
    /// Files that could not be read, shown or not.
    pub unread_of: u64,
}

/// Groups with what each of them used and wasted over time, in the same order.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The groups.
    pub grouped: Grouped,
    /// What each of them used and wasted in each period.
    pub over_time: Vec<OverTime>,
}

/// Files with the same problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The problem, as it was reported.
    pub problem: String,
    /// How many files have it.
    pub files: u64,
    /// The first of them by name.
    pub example: String,
}

/// What was used and wasted in a period, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InPeriod<'a> {
    /// The first day.
    pub from: &'a str,
    /// Memory used, in GB·h; `None` if it is known of no application.
    pub used_gb_hours: Option<f64>,
    /// The part of it that was not needed; `None` if it is known of no application.
    pub wasted_gb_hours: Option<f64>,
}

impl OverTime {
    /// The periods with known amounts.
    pub fn known<'a>(&'a self, periods: &'a Periods) -> impl Iterator<Item = InPeriod<'a>> {
        let amounts = self.used_gb_hours.iter().zip(&self.wasted_gb_hours);
        let all = periods.names.iter().zip(amounts).map(|(from, (used, wasted))| InPeriod {
            from,
            used_gb_hours: *used,
            wasted_gb_hours: *wasted,
        });
        all.filter(|period| period.used_gb_hours.is_some() || period.wasted_gb_hours.is_some())
    }
}

impl Fleet {
    /// The latest `most` periods, in the order of time, and the number of earlier ones. Those without known amounts are
    /// left out, because applications may be years apart. `None` if all applications are in the same period.
    #[must_use]
    pub fn latest(&self, most: usize) -> Option<(&Periods, Vec<InPeriod<'_>>, u64)> {
        let periods = self.periods.as_ref().filter(|periods| periods.names.len() > 1)?;
        let mut known: Vec<InPeriod<'_>> = self.over_time.known(periods).collect();
        let earlier = known.len().saturating_sub(most);
        known.drain(..earlier);
        (!known.is_empty()).then_some((periods, known, earlier as u64))
    }

    /// Files that could not be read whose problem is not in the list.
    #[must_use]
    pub fn unread_hidden(&self) -> u64 {
        let shown: u64 = self.unread.iter().map(|kind| kind.files).sum();
        self.unread_of.saturating_sub(shown)
    }
}

impl Store {
    /// The picture of the selected applications, with at most `most` lines in each list. Groups are in this order.
    pub(super) fn fleet(
        &self,
        selection: &Selection,
        (sort, most): (Option<Sort>, usize),
    ) -> Result<Fleet, StoreError> {
        let periods = self.periods(selection)?;
        let over_time = |grouping, groups: &Grouped| match &periods {
            Some(periods) => self.over_time(grouping, groups, periods, selection),
            None => Ok(Vec::new()),
        };
        let ranked = |grouping| {
            let grouped = self.grouped(grouping, selection, (sort, Some(most)))?;
            let over_time = over_time(grouping, &grouped)?;
            Ok::<_, StoreError>(Ranked { grouped, over_time })
        };
        let everything = self.grouped(Grouping::Everything, selection, (None, None))?;
        // A change is found among all runs of a job, and nothing is known of a file that could not be read.
        let mut changes = if self.sees_all() { self.changes(selection)? } else { Vec::new() };
        let (realised_cost, realised_unpriced) = self.price_changes(&mut changes)?.unzip();
        let realised_of = changes.len() as u64;
        // The sum of no numbers is -0.0.
        let realised_gb_hours = changes.iter().map(Found::saved_gb_hours).fold(0.0, |sum, saved| sum + saved);
        let realised = self.realised(changes.into_iter().take(most).collect())?;
        let (remedies, remedies_of) = self.remedies(selection, most)?;
        let (unread, unread_of) = if self.sees_all() { self.unread(most)? } else { (Vec::new(), 0) };
        Ok(Fleet {
            over_time: over_time(Grouping::Everything, &everything)?.pop().unwrap_or_default(),
            most,
            jobs: ranked(Grouping::Job)?,
            users: ranked(Grouping::User)?,
            queues: ranked(Grouping::Queue)?,
            troubles: self.grouped(Grouping::Trouble, selection, (sort, Some(most)))?,
            remedies,
            remedies_of,
            realised,
            realised_of,
            realised_gb_hours,
            realised_cost: realised_cost.flatten(),
            realised_unpriced: realised_unpriced.unwrap_or_default(),
            nodes: self.nodes(selection, most)?,
            unread,
            unread_of,
            periods,
        })
    }

    /// The problems of files that could not be read, most files first, and the number of these files.
    fn unread(&self, most: usize) -> Result<(Vec<Unread>, u64), StoreError> {
        let mut kinds: BTreeMap<String, (u64, Vec<u8>)> = BTreeMap::new();
        let query = "SELECT problem, path FROM file WHERE problem IS NOT NULL";
        self.database.visit(query, &[], |row| {
            let (problem, path): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
            match kinds.get_mut(&problem) {
                Some((files, example)) => {
                    *files += 1;
                    if path < *example {
                        *example = path;
                    }
                }
                None => drop(kinds.insert(problem, (1, path))),
            }
            Ok(true)
        })?;
        let of = kinds.values().map(|(files, _)| files).sum();
        let unread = kinds.into_iter().map(|(problem, (files, example))| {
            let example = without_cluster(&String::from_utf8_lossy(&example)).to_owned();
            Unread { problem, files, example }
        });
        let mut unread: Vec<Unread> = unread.collect();
        // Stable, too: the first of equally frequent problems comes first.
        unread.sort_by_key(|kind| Reverse(kind.files));
        unread.truncate(most);
        Ok((unread, of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, with_stores};
    use crate::{Answer, Question, View};
    use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
    use elephant_engine::engine::Filter;
    use elephant_engine::results::ApplicationReport;

    const DAY: i64 = 86_400_000;

    /// A run of an hour with 1 GiB.
    fn app(name: &str, user: &str, day: i64) -> ApplicationReport {
        let mut app = ApplicationReport::blank(&format!("{name}_{day}"));
        app.name = Some(name.to_owned());
        app.user = Some(user.to_owned());
        app.sources = vec![format!("logs/{name}_{day}")];
        app.submitted_at = Some(Timestamp::from_millis(day * DAY));
        app.metrics.used = Some(MbMillis::of(Bytes::from_mib(1024), Millis::from_secs(3600)));
        app
    }

    fn answer(store: &Store, question: &Question, user: Option<&str>) -> Answer {
        let users = user.iter().map(|user| user.parse().unwrap()).collect();
        testing::answer(store, question, &Filter { users, ..Filter::default() }, 20).unwrap()
    }

    #[test]
    fn no_changes_saved_zero() {
        with_stores(&[app("nightly", "bob", 1)], |store| {
            let View::Overview(fleet) = answer(store, &Question::Overview, None).view else { panic!() };
            assert_eq!(fleet.realised_gb_hours.to_bits(), 0.0_f64.to_bits());
        });
    }

    #[test]
    fn the_sums_about_a_job_are_those_of_its_runs() {
        let apps = [
            app("nightly", "bob", 3),
            app("nightly", "eve", 4),
            app("hourly", "bob", 1),
            app("hourly", "al", 9),
        ];
        let job = Question::Job("nightly".to_owned());
        with_stores(&apps, |store| {
            let sums = |user| {
                let Answer { total, from, until, .. } = answer(store, &job, user);
                let days = [from, until].map(|end| end.map(|end| end.as_millis() / DAY));
                (total.applications, total.used_gb_hours, days)
            };
            assert_eq!(sums(None), (2, Some(2.0), [Some(3), Some(4)]));
            assert_eq!(sums(Some("bob")), (1, Some(1.0), [Some(3), Some(3)]));
            assert_eq!(sums(Some("al")), (0, None, [None, None]));
        });
    }

    #[test]
    fn a_short_table_has_the_latest_known_periods() {
        let apps: Vec<_> = (0..40).filter(|day| day % 2 == 0).map(|day| app("nightly", "bob", day)).collect();
        with_stores(&apps, |store| {
            let View::Overview(fleet) = answer(store, &Question::Overview, None).view else { panic!() };
            let (_, latest, earlier) = fleet.latest(12).unwrap();
            assert_eq!((latest.len(), earlier), (12, 8));
            assert_eq!(latest.last().unwrap().from, "1970-02-08");
            assert!(latest.iter().all(|period| period.used_gb_hours == Some(1.0)));
        });
    }
}
