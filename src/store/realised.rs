//! What changes of configurations saved: the cost of a job before and after.
//!
//! The store keeps the changes of each job, because finding them takes all of its runs. `stale_job` has the jobs that got
//! or lost runs since then, and they are compared again when histories have been read ([`Store::compare_again`]).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::configured::{self, Settings};
use super::database::{Row, Value, values};
use super::record::whole;
use super::selection::Selection;
use super::{Store, StoreError, gb_hours};
use crate::stats::descriptive::median;
use crate::troubles::same_value;
use crate::units::{Millis, Timestamp};

/// Successful runs that are needed on both sides of a change. A single run may have been slow by chance.
const LEAST_RUNS: usize = 3;
/// The last runs before a change that are compared with those after it.
const MOST_BEFORE: usize = 20;
/// Smaller changes of the cost are within the variation from run to run.
const SMALLEST_CHANGE: f64 = 0.1;
/// Jobs that one statement names.
const AT_ONCE: usize = 500;

/// A setting that changed; `None` where it was not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) setting: String,
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    /// Whether this value was recommended for a run before the change.
    pub(crate) advised: bool,
}

/// A change of a job's configuration, with the medians of its runs before and after.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_field_names)] // `run_time` is the usual name
pub(crate) struct Realised {
    pub(crate) job: String,
    /// The first run with the new settings.
    pub(crate) first: String,
    pub(crate) since: Option<Timestamp>,
    pub(crate) changed: Vec<Changed>,
    /// Runs that succeeded and are compared, before and after.
    pub(crate) runs: (u64, u64),
    /// Memory of a run before and after.
    pub(crate) used_gb_hours: (f64, f64),
    /// Run time of a run before and after, if known.
    pub(crate) run_time: Option<(Millis, Millis)>,
    /// What all runs since then saved; negative if they took more.
    pub(crate) saved_gb_hours: f64,
}

/// A clear change without its settings, which are read only for changes that are shown.
pub(super) struct Found {
    job: i64,
    /// The configurations before and after.
    configurations: (i64, i64),
    /// Without the key of its job, until it is sorted.
    change: Realised,
}

impl Found {
    pub(super) const fn saved_gb_hours(&self) -> f64 {
        self.change.saved_gb_hours
    }

    /// A change that is kept.
    fn of(row: &Row<'_>) -> Result<Self, StoreError> {
        let (used_gb_hours, runs) = ((row.get(7)?, row.get(8)?), (row.count(5)?, row.count(6)?));
        let change = Realised {
            job: String::new(),
            first: row.get(3)?,
            since: row.get::<Option<i64>>(4)?.map(Timestamp::from_millis),
            changed: Vec::new(),
            runs,
            used_gb_hours,
            run_time: row.amount(9)?.map(Millis::new).zip(row.amount(10)?.map(Millis::new)),
            saved_gb_hours: saved(used_gb_hours, runs),
        };
        Ok(Self { job: row.get(0)?, configurations: (row.get(1)?, row.get(2)?), change })
    }

    /// The row that keeps it, with a number that no other change of its job has.
    fn row(&self, n: i64) -> [Value<'_>; 12] {
        let Realised { first, since, runs, used_gb_hours: used, run_time, .. } = &self.change;
        values![
            self.job,
            n,
            self.configurations.0,
            self.configurations.1,
            first,
            since.map(Timestamp::as_millis),
            whole(runs.0),
            whole(runs.1),
            used.0,
            used.1,
            run_time.map(|time| whole(time.0.get())),
            run_time.map(|time| whole(time.1.get())),
        ]
    }
}

/// What all runs since a change saved.
fn saved((before, after): (f64, f64), runs: (u64, u64)) -> f64 {
    (before - after) * runs.1 as f64
}

/// Runs of a job, one after the other, with the same settings.
struct Section {
    configuration: i64,
    first: String,
    since: Option<Timestamp>,
    /// GB·h and, if known, milliseconds of those that succeeded.
    runs: Vec<(f64, Option<f64>)>,
}

/// A run as the query has it.
struct RunRow {
    job: i64,
    configuration: i64,
    id: String,
    submitted: Option<Timestamp>,
    /// Memory and run time, if the run succeeded and its memory is known.
    measured: Option<(f64, Option<f64>)>,
}

impl RunRow {
    fn of(row: &Row<'_>) -> Result<Self, StoreError> {
        let succeeded = row.get::<bool>(4)?;
        let used = row.amount(5)?.map(gb_hours);
        let run_time = row.get::<Option<i64>>(6)?.map(|time| time as f64);
        Ok(Self {
            job: row.get(0)?,
            configuration: row.get(1)?,
            id: row.get(2)?,
            submitted: row.get::<Option<i64>>(3)?.map(Timestamp::from_millis),
            measured: used.filter(|_| succeeded).map(|used| (used, run_time)),
        })
    }
}

impl Store {
    /// The changes of configurations after which jobs cost clearly more or less, those that saved most first.
    pub(super) fn changes(&self, selection: &Selection) -> Result<Vec<Found>, StoreError> {
        let runs = selection.looked_up();
        let mut found = match &selection.days {
            Some(days) if days.are_all() => {
                let kept = format!(
                    "SELECT job, old, new, first, since, runs_before, runs_after, used_before, used_after, time_before, \
                     time_after FROM job_change JOIN job USING (job) WHERE job NOT IN (SELECT job FROM stale_job) AND {}",
                    days.condition(1)
                );
                let mut found = self.database.rows(&kept, &days.values(), Found::of)?;
                let stale = format!("{} AND job IN (SELECT job FROM stale_job)", runs.condition);
                found.extend(self.compared(&stale, &runs.values)?);
                found
            }
            _ => self.compared(&runs.condition, &runs.values)?,
        };
        self.name_jobs(&mut found)?;
        found.sort_by(|Found { change: a, .. }, Found { change: b, .. }| {
            b.saved_gb_hours
                .total_cmp(&a.saved_gb_hours)
                .then_with(|| (&a.job, &a.first).cmp(&(&b.job, &b.first)))
        });
        Ok(found)
    }

    /// Keeps the changes of the jobs that got or lost runs.
    pub(super) fn compare_again(&self) -> Result<(), StoreError> {
        while self.database.writing(|| self.compare_some_again())? {}
        Ok(())
    }

    /// Compares the next of these jobs; `false` if there are none.
    fn compare_some_again(&self) -> Result<bool, StoreError> {
        let database = &self.database;
        let jobs = database.ids(&format!("SELECT job FROM stale_job ORDER BY job LIMIT {AT_ONCE}"), &[])?;
        if jobs.is_empty() {
            return Ok(false);
        }
        let (these, values) = database.backend().among_ids(&jobs);
        let found = self.compared(&format!("application.counts IS TRUE AND job {these}"), &values)?;
        database.send(&format!("DELETE FROM job_change WHERE job {these}"), &values)?;
        let rows: Vec<_> = (0_i64..).zip(&found).map(|(n, found)| found.row(n)).collect();
        database.insert_all(
            "job_change (job, n, old, new, first, since, runs_before, runs_after, used_before, used_after, time_before, \
             time_after)",
            &rows,
        )?;
        database.send(&format!("DELETE FROM stale_job WHERE job {these}"), &values)?;
        Ok(true)
    }

    /// The changes of jobs by those of their runs that meet a condition.
    fn compared(&self, condition: &str, values: &[Value<'_>]) -> Result<Vec<Found>, StoreError> {
        let mut found = Vec::new();
        let mut job = None;
        let mut sections: Vec<Section> = Vec::new();
        let query = format!(
            "SELECT job, configuration, id, submitted, status = 'succeeded', used, run_time FROM application WHERE \
             {condition} AND configuration IS NOT NULL AND job IN (SELECT job FROM configuration_sum WHERE applications > 0 \
             GROUP BY job HAVING count(*) > 1) ORDER BY job, submitted NULLS FIRST, id, attempt, source"
        );
        self.database.visit(&query, values, |row| {
            let run = RunRow::of(row)?;
            if job != Some(run.job) {
                compare(job, &sections, &mut found);
                sections.clear();
                job = Some(run.job);
            }
            match sections.last_mut().filter(|section| section.configuration == run.configuration) {
                Some(section) => section.runs.extend(run.measured),
                None => sections.push(Section {
                    configuration: run.configuration,
                    first: run.id,
                    since: run.submitted,
                    runs: run.measured.into_iter().collect(),
                }),
            }
            Ok(true)
        })?;
        compare(job, &sections, &mut found);
        Ok(found)
    }

    /// Adds the keys of their jobs.
    fn name_jobs(&self, found: &mut [Found]) -> Result<(), StoreError> {
        for found in found.chunks_mut(AT_ONCE) {
            let jobs: Vec<i64> = found.iter().map(|found| found.job).collect();
            let (these, values) = self.database.backend().among_ids(&jobs);
            let query = format!("SELECT job, key FROM job WHERE job {these}");
            let keys = self.database.rows(&query, &values, |row| Ok((row.get(0)?, row.get(1)?)))?;
            let keys: FxHashMap<i64, String> = keys.into_iter().collect();
            for Found { job, change, .. } in found {
                change.job = keys.get(job).cloned().unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Adds to changes which settings it was.
    pub(super) fn realised(&self, found: Vec<Found>) -> Result<Vec<Realised>, StoreError> {
        let places = found.iter().flat_map(|found| [found.configurations.0, found.configurations.1]);
        let settings = configured::at(&self.database, &places.collect())?;
        let unknown = Settings::new();
        let mut advised = Vec::with_capacity(found.len());
        for found in found.chunks(AT_ONCE) {
            advised.extend(self.advised(found)?);
        }
        let with_settings = |(found, advised): (Found, BTreeSet<(String, String)>)| {
            let of = |place| settings.get(place).unwrap_or(&unknown);
            let (before, after) = &found.configurations;
            Realised { changed: changed(&advised, of(before), of(after)), ..found.change }
        };
        Ok(found.into_iter().zip(advised).map(with_settings).collect())
    }

    /// The settings that were recommended for runs of each job before its change, with their values.
    fn advised(&self, found: &[Found]) -> Result<Vec<BTreeSet<(String, String)>>, StoreError> {
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let place = |found: &Found| (found.job, found.configurations.0);
        let wanted: Vec<String> =
            found.iter().map(place).map(|(job, configuration)| format!("({job}, {configuration})")).collect();
        let query = format!(
            "WITH wanted (job, configuration) AS (VALUES {}) SELECT DISTINCT job, configuration, setting.name, new FROM \
             wanted JOIN application USING (job, configuration) JOIN setting USING (application)",
            wanted.join(", ")
        );
        let mut advised: BTreeMap<(i64, i64), BTreeSet<(String, String)>> = BTreeMap::new();
        self.database.visit(&query, &[], |row| {
            advised.entry((row.get(0)?, row.get(1)?)).or_default().insert((row.get(2)?, row.get(3)?));
            Ok(true)
        })?;
        Ok(found.iter().map(|found| advised.get(&place(found)).cloned().unwrap_or_default()).collect())
    }
}

/// The settings that differ between two configurations, and whether their new values were `advised`.
fn changed(advised: &BTreeSet<(String, String)>, old: &Settings, new: &Settings) -> Vec<Changed> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let was_advised = |name: &str, to: &str| {
        advised.iter().any(|(setting, value)| setting == name && same_value(name, value, to))
    };
    let changed = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
    let changed = changed.map(|name| {
        let to = new.get(name).cloned();
        let advised = to.as_ref().is_some_and(|to| was_advised(name, to));
        Changed { setting: name.clone(), from: old.get(name).cloned(), to, advised }
    });
    changed.collect()
}

/// Compares each section of a job with the one before it.
fn compare(job: Option<i64>, sections: &[Section], found: &mut Vec<Found>) {
    let Some(job) = job else { return };
    for pair in sections.windows(2) {
        let [before, after] = pair else { continue };
        let last = before.runs.len().saturating_sub(MOST_BEFORE);
        let Some((_, compared)) = before.runs.split_at_checked(last) else { continue };
        if compared.len() < LEAST_RUNS || after.runs.len() < LEAST_RUNS {
            continue;
        }
        let Some(used) = medians(compared, &after.runs, |run| Some(run.0)) else { continue };
        if (used.0 - used.1).abs() < SMALLEST_CHANGE * used.0.max(used.1) {
            continue;
        }
        let run_time = medians(compared, &after.runs, |run| run.1);
        let time = |ms: f64| Millis::from_f64(ms.round());
        let runs = (compared.len() as u64, after.runs.len() as u64);
        let change = Realised {
            job: String::new(),
            first: after.first.clone(),
            since: after.since,
            changed: Vec::new(),
            runs,
            used_gb_hours: used,
            run_time: run_time.and_then(|(before, after)| time(before).zip(time(after))),
            saved_gb_hours: saved(used, runs),
        };
        found.push(Found { job, configurations: (before.configuration, after.configuration), change });
    }
}

/// The medians of the known values of the runs before and after.
fn medians<R>(before: &[R], after: &[R], value: impl Fn(&R) -> Option<f64>) -> Option<(f64, f64)> {
    let of = |runs: &[R]| median(&runs.iter().filter_map(&value).collect::<Vec<f64>>());
    Some((of(before)?, of(after)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Filter;
    use crate::internal::sample;
    use crate::model::Status;
    use crate::results::ApplicationReport;
    use crate::store::record;
    use crate::store::testing::with_stores;
    use crate::units::{Bytes, MbMillis};

    /// A run of an hour with this heap, which held `gib` GiB.
    fn nightly(night: i64, heap: &str, gib: u64, status: Status) -> ApplicationReport {
        let mut app = ApplicationReport::blank(&format!("app_{night:03}"));
        app.name = Some("nightly".to_owned());
        app.status = status;
        app.sources = vec![format!("logs/app_{night:03}")];
        app.submitted_at = Some(Timestamp::from_millis(night * 86_400_000));
        app.metrics.run_time = Some(Millis::from_secs(3600));
        app.metrics.used = Some(MbMillis::of(Bytes::from_mib(1024 * gib), Millis::from_secs(3600)));
        app.configuration = Some(Box::new(sample::app(&[("spark.executor.memory", heap)]).conf));
        app
    }

    fn of(store: &Store) -> Vec<Realised> {
        let found = store.changes(&Selection::of(&store.database, &Filter::default()).unwrap()).unwrap();
        store.realised(found).unwrap()
    }

    /// The same in each database.
    fn realised(apps: &[ApplicationReport]) -> Vec<Realised> {
        let all = std::sync::Mutex::new(Vec::new());
        with_stores(apps, |store| {
            let found = of(store);
            store.compare_again().unwrap();
            assert_eq!(found, of(store));
            all.lock().unwrap().push(found);
        });
        let mut all = all.into_inner().unwrap();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
        all.pop().unwrap()
    }

    #[test]
    fn a_changed_heap_saves_the_difference_of_the_medians_in_each_later_run() {
        let mut apps: Vec<_> = (0..4).map(|night| nightly(night, "4g", 40, Status::Succeeded)).collect();
        apps.push(nightly(4, "4g", 400, Status::Failed));
        apps.extend((5..10).map(|night| nightly(night, "2g", 25, Status::Succeeded)));
        let [change] = &realised(&apps)[..] else { panic!() };
        assert_eq!((change.first.as_str(), change.runs), ("app_005", (4, 5)));
        assert_eq!(change.since, Some(Timestamp::from_millis(5 * 86_400_000)));
        assert_eq!(change.used_gb_hours, (40.0, 25.0));
        assert!((change.saved_gb_hours - 75.0).abs() < 1e-9);
        let [setting] = &change.changed[..] else { panic!() };
        assert_eq!(setting.setting, "spark.executor.memory");
        assert_eq!((setting.from.as_deref(), setting.to.as_deref()), (Some("4g"), Some("2g")));
        assert!(!setting.advised);
    }

    #[test]
    fn a_recommended_value_is_told_however_it_is_written() {
        let apps: Vec<_> = (0..6)
            .map(|night| {
                let (heap, gib) = if night < 3 { ("4g", 40) } else { ("2g", 25) };
                nightly(night, heap, gib, Status::Succeeded)
            })
            .collect();
        with_stores(&apps, |store| {
            let advice = "INSERT INTO setting SELECT application, 0, 'spark.executor.memory', '4g', '2048m' FROM application \
                          WHERE id = 'app_001'";
            store.database.execute(advice, &[]).unwrap();
            let [change] = &of(store)[..] else { panic!() };
            assert!(change.changed.iter().all(|setting| setting.advised), "{change:?}");
        });
    }

    #[test]
    fn kept_changes_are_those_of_all_runs() {
        let night = |night: i64, (heap, gib): (&str, u64)| nightly(night, heap, gib, Status::Succeeded);
        let apps: Vec<_> = (0..9).map(|n| night(n, if n < 4 { ("4g", 40) } else { ("2g", 25) })).collect();
        with_stores(&apps, |store| {
            let kept = || store.database.count("SELECT count(*) FROM job_change", &[]).unwrap();
            let stale = || store.database.count("SELECT count(*) FROM stale_job", &[]).unwrap();
            assert_eq!((kept(), stale()), (0, 1));
            store.compare_again().unwrap();
            assert_eq!((kept(), stale()), (1, 0));
            // Other runs of the job, one of them before the change.
            for app in [night(9, ("2g", 5)), night(-1, ("4g", 60)), night(10, ("8g", 9))] {
                record::application(&store.database, 1, &app).unwrap();
                let found = of(store);
                let all = |filter: &Filter| {
                    store.changes(&Selection::of(&store.database, filter).unwrap()).unwrap().len()
                };
                assert_eq!((found.len(), stale()), (1, 1));
                assert_eq!(all(&Filter { ids: vec!["*".parse().unwrap()], ..Filter::default() }), 1);
                store.compare_again().unwrap();
                assert_eq!((of(store), stale()), (found, 0));
            }
            // Other engines have no such job.
            let other = Filter { engine: Some(crate::model::Engine::MapReduce), ..Filter::default() };
            assert!(store.changes(&Selection::of(&store.database, &other).unwrap()).unwrap().is_empty());
            // Too few runs are left.
            store.prune(Timestamp::from_millis(3 * 86_400_000)).unwrap();
            assert_eq!((of(store), kept(), stale()), (Vec::new(), 0, 0));
        });
    }

    #[test]
    fn few_runs_and_small_differences_tell_nothing() {
        let job = |sides: [(&str, u64, i64); 2]| {
            let [(a, cost_a, runs_a), (b, cost_b, runs_b)] = sides;
            let before = (0..runs_a).map(|night| nightly(night, a, cost_a, Status::Succeeded));
            let after = (runs_a..runs_a + runs_b).map(|night| nightly(night, b, cost_b, Status::Succeeded));
            realised(&before.chain(after).collect::<Vec<_>>())
        };
        assert_eq!(job([("4g", 40, 2), ("2g", 20, 9)]), []);
        assert_eq!(job([("4g", 40, 9), ("2g", 20, 2)]), []);
        assert_eq!(job([("4g", 40, 9), ("2g", 38, 9)]), []);
        assert_eq!(job([("4g", 40, 9), ("4g", 20, 9)]), []);
        // A change for the worse is one, too.
        assert!(job([("2g", 20, 3), ("4g", 40, 3)]).iter().all(|change| change.saved_gb_hours < 0.0));
    }
}
