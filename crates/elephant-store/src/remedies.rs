//! The settings that would help, over all applications.
//!
//! A job has one value for all its runs, because the next run may be as large as any of them: it is never lower than what one
//! of them needed. That is the value advised to a run, or the value of a run to which none is advised.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use super::configured;
use super::selection::Selection;
use super::sums::IS_LONG;
use super::{Store, StoreError, gb_hours};
use elephant_base::units::Millis;
use elephant_verdict::troubles::{magnitude, same_value};

/// A setting that would help, over all applications.
#[derive(Debug, Clone, PartialEq)]
pub struct Remedy {
    /// The name of the setting.
    pub setting: String,
    /// Whether a higher or a lower value helps.
    pub direction: Direction,
    /// Applications to which a value is advised, of the jobs whose value would change so.
    pub applications: u64,
    /// Jobs that these belong to.
    pub jobs: u64,
    /// The most frequent change of a job: the value now, if it is set, and the recommended one.
    pub from: Option<String>,
    /// The recommended value.
    pub to: String,
    /// Number of applications of jobs with this change.
    pub alike: u64,
    /// The memory that it saves, in GB·h; `None` if that is known of no application.
    pub saved_gb_hours: Option<f64>,
    /// The run time that it saves; `None` if that is known of no application.
    pub saved_time: Option<Millis>,
}

/// How a setting should change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// To a lower value.
    Lower,
    /// To a higher value.
    Raise,
    /// To another value that is no number, or from one that is not known.
    Set,
}

impl Direction {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lower => "lower",
            Self::Raise => "raise",
            Self::Set => "set",
        }
    }
}

/// A change that is advised to applications of a job.
struct Advised {
    /// The value now, if it is set.
    old: Option<String>,
    new: String,
    applications: u64,
    saved_memory: Option<u64>,
    saved_time: Option<u64>,
}

/// The changes of a setting by job.
type Jobs = BTreeMap<i64, Vec<Advised>>;

/// The values of settings by job, with the number of applications that have them.
type Values = BTreeMap<(i64, String), BTreeMap<String, u64>>;

impl Store {
    /// The settings that save most, and how many settings there are.
    pub(super) fn remedies(
        &self,
        selection: &Selection,
        most: usize,
    ) -> Result<(Vec<Remedy>, u64), StoreError> {
        let advised = self.advised_by_job(selection)?;
        let values = self.values_of(&advised, selection)?;
        let mut remedies: BTreeMap<(String, Direction), Sum> = BTreeMap::new();
        for (setting, jobs) in advised {
            for (job, advised) in jobs {
                let values = values.get(&(job, setting.clone()));
                if let Some(settled) = Settled::of(&setting, &advised, values) {
                    remedies.entry((setting.clone(), settled.direction)).or_default().add(settled);
                }
            }
        }
        let remedies =
            remedies.into_iter().filter_map(|((setting, direction), sum)| sum.remedy(setting, direction));
        let mut remedies: Vec<(Saved, Remedy)> = remedies.collect();
        // The sort is stable: of equal ones, the first by name comes first.
        remedies.sort_by_key(|(saved, remedy)| Reverse((*saved, remedy.applications, remedy.jobs)));
        let of = remedies.len() as u64;
        remedies.truncate(most);
        Ok((remedies.into_iter().map(|(_, remedy)| remedy).collect(), of))
    }

    /// The advised changes by setting and job.
    fn advised_by_job(&self, selection: &Selection) -> Result<BTreeMap<String, Jobs>, StoreError> {
        const SUMS: &str =
            "count(*), CAST(sum(setting.saved_memory) AS BIGINT), CAST(sum(setting.saved_time) AS BIGINT)";
        let all = |condition: &str| {
            format!(
                "SELECT setting.name, setting.old IS NOT NULL, coalesce(setting.old, ''), setting.new, application.job, \
                 {SUMS} FROM setting JOIN application ON application.application = setting.application WHERE {condition} \
                 GROUP BY 1, 2, 3, 4, 5"
            )
        };
        // The database does not know that few settings are long. With a subquery it looks up only their applications.
        let long = |condition: &str| {
            format!(
                "SELECT name, known, old, new, job, {SUMS} FROM (SELECT setting.name, setting.old IS NOT NULL AS known, \
                 coalesce(setting.old, '') AS old, setting.new, setting.saved_memory, setting.saved_time, (SELECT \
                 application.job FROM application WHERE application.application = setting.application AND {condition}) AS job \
                 FROM setting WHERE {IS_LONG}) AS setting GROUP BY 1, 2, 3, 4, 5"
            )
        };
        let queries = match &selection.days {
            Some(days) if days.are_all() => {
                let sums = format!(
                    "SELECT setting_sum.name, known, old, new, job, applications, CASE WHEN saving_memory > 0 THEN saved_memory \
                     END, CASE WHEN saving_time > 0 THEN saved_time END FROM setting_sum JOIN job USING (job) WHERE \
                     applications > 0 AND {}",
                    days.condition(1)
                );
                vec![
                    (sums, days.values()),
                    (long(&selection.looked_up().condition), selection.values.clone()),
                ]
            }
            _ => vec![(all(&selection.condition), selection.values.clone())],
        };
        let mut settings: BTreeMap<String, Jobs> = BTreeMap::new();
        for (query, values) in queries {
            self.database.visit(&query, &values, |row| {
                // Copies do not count.
                let Some(job) = row.get(4)? else { return Ok(true) };
                let advised = Advised {
                    old: row.get::<bool>(1)?.then(|| row.get::<String>(2)).transpose()?,
                    new: row.get(3)?,
                    applications: row.count(5)?,
                    saved_memory: row.amount(6)?,
                    saved_time: row.amount(7)?,
                };
                settings.entry(row.get(0)?).or_default().entry(job).or_default().push(advised);
                Ok(true)
            })?;
        }
        Ok(settings)
    }

    /// The values with which the applications of a job ran, of settings that some of them should lower.
    fn values_of(
        &self,
        advised: &BTreeMap<String, Jobs>,
        selection: &Selection,
    ) -> Result<Values, StoreError> {
        let mut wanted: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
        for (setting, jobs) in advised {
            for (job, _) in jobs.iter().filter(|(_, advised)| advised.iter().any(|one| one.lowers(setting))) {
                wanted.entry(*job).or_default().push(setting);
            }
        }
        if wanted.is_empty() {
            return Ok(Values::new());
        }
        let (query, parameters) = match &selection.days {
            Some(days) if days.are_all() => {
                const KEPT: &str =
                    "SELECT job, configuration, applications FROM configuration_sum WHERE applications > 0";
                (KEPT.to_owned(), Vec::new())
            }
            _ => (
                format!(
                    "SELECT application.job, application.configuration, count(*) FROM application WHERE \
                     application.configuration IS NOT NULL AND {} GROUP BY 1, 2",
                    selection.condition
                ),
                selection.values.clone(),
            ),
        };
        let mut ran: Vec<(i64, i64, u64)> = Vec::new();
        self.database.visit(&query, &parameters, |row| {
            let job = row.get(0)?;
            if wanted.contains_key(&job) {
                ran.push((job, row.get(1)?, row.count(2)?));
            }
            Ok(true)
        })?;
        let places: BTreeSet<i64> = ran.iter().map(|(_, configuration, _)| *configuration).collect();
        let configurations = configured::at(&self.database, &places)?;
        let mut values = Values::new();
        for (job, configuration, applications) in ran {
            let Some(settings) = configurations.get(&configuration) else { continue };
            for setting in wanted.get(&job).into_iter().flatten() {
                if let Some(value) = settings.get(*setting) {
                    let of_setting = values.entry((job, (*setting).to_owned())).or_default();
                    *of_setting.entry(value.clone()).or_default() += applications;
                }
            }
        }
        Ok(values)
    }
}

impl Advised {
    fn lowers(&self, setting: &str) -> bool {
        let old = self.old.as_deref().and_then(|old| magnitude(setting, old));
        old.zip(magnitude(setting, &self.new)).is_some_and(|(old, new)| new < old)
    }
}

/// What is saved, in the units of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Saved {
    memory: Option<u64>,
    time: Option<u64>,
}

impl Saved {
    /// Adds a share of what a change saves.
    fn add(&mut self, advised: &Advised, share: f64) {
        let part = |amount: Option<u64>| amount.map(|amount| rounded(amount as f64 * share));
        self.merge(Self { memory: part(advised.saved_memory), time: part(advised.saved_time) });
    }

    fn merge(&mut self, other: Self) {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        *self = Self { memory: sum(self.memory, other.memory), time: sum(self.time, other.time) };
    }
}

fn rounded(amount: f64) -> u64 {
    Millis::from_f64(amount.round()).unwrap_or_default().get()
}

/// The one value of a job.
struct Settled {
    direction: Direction,
    from: Option<String>,
    to: String,
    applications: u64,
    saved: Saved,
}

impl Settled {
    /// `values` are those with which the applications ran. `None` if the job's value stays as it is.
    fn of(setting: &str, advised: &[Advised], values: Option<&BTreeMap<String, u64>>) -> Option<Self> {
        let from = most_frequent(advised.iter().map(|one| (&one.old, one.applications)))?.clone();
        let applications = advised.iter().map(|one| one.applications).sum();
        let now = from.as_deref().and_then(|from| magnitude(setting, from));
        let compared = now.and_then(|now| Self::compared(setting, advised, now, values));
        let (direction, to) = match compared {
            Some((Ordering::Equal, _)) => return None,
            Some((Ordering::Less, to)) => (Direction::Lower, to),
            Some((Ordering::Greater, to)) => (Direction::Raise, to),
            None => {
                let to = most_frequent(advised.iter().map(|one| (&one.new, one.applications)))?;
                (Direction::Set, to.clone())
            }
        };
        let mut saved = Saved::default();
        for one in advised {
            saved.add(one, share(setting, one, &to));
        }
        Some(Self { direction, from, to, applications, saved })
    }

    /// The value that is enough for all runs, compared with the one now; `None` if the values are no quantities.
    fn compared(
        setting: &str,
        advised: &[Advised],
        now: f64,
        values: Option<&BTreeMap<String, u64>>,
    ) -> Option<(Ordering, String)> {
        let mut enough: Option<(f64, &str)> = None;
        for one in advised {
            enough = Some(higher(enough, (magnitude(setting, &one.new)?, one.new.as_str())));
        }
        let (highest, _) = enough?;
        // A value that is higher anyway is enough for the runs to which none is advised.
        if highest < now {
            for text in without_advice(setting, advised, values) {
                if let Some(amount) = magnitude(setting, text) {
                    enough = Some(higher(enough, (amount, text)));
                }
            }
        }
        let (most, to) = enough?;
        // Runs that have more than the usual value show no need to raise it.
        let stays = highest < now && most >= now;
        Some((if stays { Ordering::Equal } else { most.total_cmp(&now) }, to.to_owned()))
    }
}

/// The higher of two amounts with their texts; the first of equal ones.
fn higher<'t>(one: Option<(f64, &'t str)>, other: (f64, &'t str)) -> (f64, &'t str) {
    one.filter(|(one, _)| *one >= other.0).unwrap_or(other)
}

/// The values of runs to which none is advised.
fn without_advice<'v>(
    setting: &str,
    advised: &[Advised],
    values: Option<&'v BTreeMap<String, u64>>,
) -> impl Iterator<Item = &'v str> {
    let with = |value: &str| -> u64 {
        let has = |one: &&Advised| one.old.as_deref().is_some_and(|old| same_value(setting, old, value));
        let same = advised.iter().filter(has);
        same.map(|one| one.applications).sum()
    };
    let without = values.into_iter().flatten().filter(move |(value, runs)| **runs > with(value));
    without.map(|(value, _)| value.as_str()).collect::<Vec<_>>().into_iter()
}

/// The share of what a change saves that is left with another value: it grows with the distance from the value now.
fn share(setting: &str, advised: &Advised, to: &str) -> f64 {
    let amounts = || {
        let (old, new) = (magnitude(setting, advised.old.as_deref()?)?, magnitude(setting, &advised.new)?);
        Some((old, new, magnitude(setting, to)?))
    };
    match amounts() {
        _ if advised.new == to => 1.0,
        Some((old, new, to)) if new.total_cmp(&old).is_ne() => ((to - old) / (new - old)).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

/// The most frequent of these; among equals the first.
fn most_frequent<'a, T: Ord>(all: impl Iterator<Item = (&'a T, u64)>) -> Option<&'a T> {
    let mut counts: BTreeMap<&T, u64> = BTreeMap::new();
    for (one, count) in all {
        *counts.entry(one).or_default() += count;
    }
    Some(counts.into_iter().rev().max_by_key(|(_, count)| *count)?.0)
}

/// The jobs that should change a setting in one direction.
#[derive(Default)]
struct Sum {
    jobs: u64,
    saved: Saved,
    /// The value now and the recommended one, with the number of applications.
    changes: BTreeMap<(Option<String>, String), u64>,
}

impl Sum {
    fn add(&mut self, settled: Settled) {
        self.jobs += 1;
        self.saved.merge(settled.saved);
        *self.changes.entry((settled.from, settled.to)).or_default() += settled.applications;
    }

    fn remedy(self, setting: String, direction: Direction) -> Option<(Saved, Remedy)> {
        let applications = self.changes.values().sum();
        // The first of equally frequent changes, by its values.
        let ((from, to), alike) = self.changes.into_iter().rev().max_by_key(|(_, count)| *count)?;
        let saved_gb_hours = self.saved.memory.map(gb_hours);
        let saved_time = self.saved.time.map(Millis::new);
        let jobs = self.jobs;
        let remedy =
            Remedy { setting, direction, applications, jobs, from, to, alike, saved_gb_hours, saved_time };
        Some((self.saved, remedy))
    }
}

#[cfg(test)]
mod tests;
