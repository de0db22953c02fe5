//! What changes of configurations saved: the cost of a job before and after.
//!
//! The store keeps the changes of each job, because finding them takes all of its runs. `stale_job` has the jobs that got
//! or lost runs since then, and they are compared again when histories have been read ([`Store::compare_again`]).

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::configured::{self, Settings};
use super::costs::rounded;
use super::database::{Row, Value, values};
use super::record::whole;
use super::selection::Selection;
use super::steps::{self, MOST_BEFORE, MeasuredRun, Step};
use super::{MS_PER_HOUR, Store, StoreError, gb_hours};
use elephant_base::units::{Millis, Timestamp};
use elephant_verdict::troubles::same_value;

/// Jobs that one statement names.
const AT_ONCE: usize = 500;
/// Changes whose advice one statement looks up.
const ADVISED_AT_ONCE: usize = 100;
/// The last runs of a job among which changes are searched.
const MOST_RUNS: usize = 2000;

/// The condition of a run that is compared.
const MEASURED: &str = "status = 'succeeded' AND used IS NOT NULL AND submitted IS NOT NULL";

/// A setting that changed; `None` where it was not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The name of the setting.
    pub setting: String,
    /// The value before.
    pub from: Option<String>,
    /// The value after.
    pub to: Option<String>,
    /// Whether this value was recommended for a run before the change.
    pub advised: bool,
}

/// A change of a job's configuration, with the medians of its runs before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Realised {
    /// The key of the job.
    pub job: String,
    /// The first run with the new settings.
    pub first: String,
    /// When that run was submitted.
    pub since: Option<Timestamp>,
    /// When an earlier configuration came back.
    pub undone: Option<Timestamp>,
    /// The settings that changed.
    pub changed: Vec<Changed>,
    /// Runs before that are compared, and selected runs that have the change.
    pub runs: (u64, u64),
    /// Memory of a run before and after.
    pub used_gb_hours: (f64, f64),
    /// Run time of a run before and after, if known.
    pub run_time: Option<(Millis, Millis)>,
    /// What all selected runs with the change saved; negative if they took more.
    pub saved_gb_hours: f64,
    /// What a run cost before and after, if there are prices and it is known.
    pub cost: Option<(f64, f64)>,
    /// What all selected runs with the change saved of it; negative if they cost more.
    pub saved_cost: Option<f64>,
}

/// A clear change without the values of its settings, which are read only for changes that are shown.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) job: i64,
    /// The job's key, once it is looked up.
    key: String,
    pub(super) step: Step,
    /// What a run cost before and after, once prices are applied.
    pub(super) cost: Option<(f64, f64)>,
}

impl Found {
    const fn new(job: i64, step: Step) -> Self {
        Self { job, key: String::new(), step, cost: None }
    }

    pub(super) fn saved_gb_hours(&self) -> f64 {
        let (before, after) = self.step.used_gb_hours;
        (before - after) * self.step.runs_since as f64
    }

    pub(super) fn saved_cost(&self) -> Option<f64> {
        self.cost.map(|(before, after)| (before - after) * self.step.runs_since as f64)
    }

    /// The columns of [`Self::of`] and [`Self::row`] between the job and its number, in their order.
    const COLUMNS: &str = "old, new, settings, first, since, undone, runs_before, runs_after, used_before, used_after, \
                           time_before, time_after, cores_before, cores_after";

    /// A change that is kept.
    fn of(row: &Row<'_>) -> Result<Self, StoreError> {
        let step = Step {
            configurations: (row.get(1)?, row.get(2)?),
            settings: row.get::<String>(3)?.lines().map(str::to_owned).collect(),
            first: row.get(4)?,
            since: Timestamp::from_millis(row.get(5)?),
            undone: row.get::<Option<i64>>(6)?.map(Timestamp::from_millis),
            runs_before: usize::try_from(row.count(7)?).unwrap_or(usize::MAX),
            runs_since: usize::try_from(row.count(8)?).unwrap_or(usize::MAX),
            used_gb_hours: (row.get(9)?, row.get(10)?),
            run_time: row.amount(11)?.map(Millis::new).zip(row.amount(12)?.map(Millis::new)),
            core_hours: row.get::<Option<f64>>(13)?.zip(row.get(14)?),
        };
        Ok(Self::new(row.get(0)?, step))
    }

    /// The row that keeps it, with a number that no other change of its job has.
    fn row(&self, n: i64) -> [Value<'_>; 16] {
        let Step {
            configurations: (old, new),
            settings,
            first,
            since,
            undone,
            used_gb_hours: used,
            run_time,
            core_hours,
            ..
        } = &self.step;
        values![
            self.job,
            n,
            *old,
            *new,
            settings.join("\n"),
            first,
            since.as_millis(),
            undone.map(Timestamp::as_millis),
            whole(self.step.runs_before as u64),
            whole(self.step.runs_since as u64),
            used.0,
            used.1,
            run_time.map(|time| whole(time.0.get())),
            run_time.map(|time| whole(time.1.get())),
            core_hours.map(|hours| hours.0),
            core_hours.map(|hours| hours.1),
        ]
    }

    fn realised(self, changed: Vec<Changed>) -> Realised {
        let (saved_gb_hours, saved_cost) = (self.saved_gb_hours(), self.saved_cost());
        let Self { key, step, cost, .. } = self;
        Realised {
            job: key,
            first: step.first,
            since: Some(step.since),
            undone: step.undone,
            changed,
            runs: (step.runs_before as u64, step.runs_since as u64),
            used_gb_hours: step.used_gb_hours,
            run_time: step.run_time,
            saved_gb_hours,
            cost: cost.map(|(before, after)| (rounded(before), rounded(after))),
            saved_cost: saved_cost.map(rounded),
        }
    }
}

/// A job with its runs in the order of time.
struct JobRuns {
    job: i64,
    runs: Vec<MeasuredRun>,
}

impl JobRuns {
    fn configurations(&self) -> BTreeSet<i64> {
        self.runs.iter().map(|run| run.configuration).collect()
    }
}

impl Store {
    /// The changes of configurations that the selected runs have, and after which jobs cost clearly more or less, those
    /// that saved most first.
    pub(super) fn changes(&self, selection: &Selection) -> Result<Vec<Found>, StoreError> {
        let kept = format!(
            "SELECT job, {} FROM job_change WHERE job NOT IN (SELECT job FROM stale_job) ORDER BY job, n",
            Found::COLUMNS
        );
        let mut found = self.database.rows(&kept, &[], Found::of)?;
        let stale = self.database.ids("SELECT job FROM stale_job ORDER BY job", &[])?;
        for jobs in stale.chunks(AT_ONCE) {
            found.extend(self.compared(jobs)?);
        }
        self.count_selected(&mut found, selection)?;
        found.retain(|found| found.step.runs_since > 0);
        self.name_jobs(&mut found)?;
        found.sort_by(|a, b| {
            let saved = b.saved_gb_hours().total_cmp(&a.saved_gb_hours());
            saved.then_with(|| {
                (&a.key, a.step.since, &a.step.first).cmp(&(&b.key, b.step.since, &b.step.first))
            })
        });
        Ok(found)
    }

    /// Counts the selected runs that have each change. Changes themselves are found among all runs of a job, so that a
    /// change before the selected time, or of another user's runs, is one.
    fn count_selected(&self, found: &mut [Found], selection: &Selection) -> Result<(), StoreError> {
        let (condition, values) = match &selection.days {
            Some(days) if days.are_all() && days.engine().is_none() => return Ok(()),
            _ => (selection.looked_up().condition, &selection.values),
        };
        let mut places: FxHashMap<i64, Vec<usize>> = FxHashMap::default();
        for (place, found) in found.iter_mut().enumerate() {
            found.step.runs_since = 0;
            places.entry(found.job).or_default().push(place);
        }
        let query = format!(
            "SELECT job, submitted FROM application WHERE {condition} AND {MEASURED} AND job IN (SELECT job FROM job_change \
             UNION SELECT job FROM stale_job)"
        );
        self.database.visit(&query, values, |row| {
            let submitted = Timestamp::from_millis(row.get(1)?);
            for place in places.get(&row.get(0)?).into_iter().flatten() {
                if let Some(Found { step, .. }) = found.get_mut(*place)
                    && step.holds_at(submitted)
                {
                    step.runs_since += 1;
                }
            }
            Ok(true)
        })
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
        let found = self.compared(&jobs)?;
        let (these, values) = database.backend().among_ids(&jobs);
        database.send(&format!("DELETE FROM job_change WHERE job {these}"), &values)?;
        let rows: Vec<_> = (0_i64..).zip(&found).map(|(n, found)| found.row(n)).collect();
        database.insert_all(&format!("job_change (job, n, {})", Found::COLUMNS), &rows)?;
        database.send(&format!("DELETE FROM stale_job WHERE job {these}"), &values)?;
        Ok(true)
    }

    /// The changes of these jobs.
    pub(super) fn compared(&self, jobs: &[i64]) -> Result<Vec<Found>, StoreError> {
        let mut rest = self.runs_of(jobs)?.into_iter().peekable();
        let mut found = Vec::new();
        while rest.peek().is_some() {
            // Settings are looked up for many jobs at once, but not kept for all of them.
            let (mut some, mut places) = (Vec::new(), BTreeSet::new());
            while let Some(job) = rest.next_if(|_| places.len() < AT_ONCE) {
                places.extend(job.configurations());
                some.push(job);
            }
            let settings = configured::at(&self.database, &places)?;
            for JobRuns { job, runs } in some {
                let steps = steps::steps(&runs, &settings).into_iter();
                found.extend(steps.map(|step| Found::new(job, step)));
            }
        }
        Ok(found)
    }

    /// The last runs of those of these jobs that had more than one configuration.
    fn runs_of(&self, jobs: &[i64]) -> Result<Vec<JobRuns>, StoreError> {
        let (these, values) = self.database.backend().among_ids(jobs);
        let query = format!(
            "SELECT job, configuration, id, submitted, used, run_time, core_time FROM application WHERE counts IS TRUE AND \
             job {these} AND {MEASURED} AND configuration IS NOT NULL AND job IN (SELECT job FROM configuration_sum WHERE \
             applications > 0 GROUP BY job HAVING count(*) > 1) ORDER BY job, submitted, id, attempt, source"
        );
        let mut all: Vec<JobRuns> = Vec::new();
        self.database.visit(&query, &values, |row| {
            let job = row.get(0)?;
            let Some(used_gb_hours) = row.amount(4)?.map(gb_hours) else { return Ok(true) };
            let run = MeasuredRun {
                configuration: row.get(1)?,
                id: row.get(2)?,
                submitted: Timestamp::from_millis(row.get(3)?),
                used_gb_hours,
                run_time: row.get::<Option<i64>>(5)?.map(|time| time as f64),
                core_hours: row.get::<Option<i64>>(6)?.map(|time| time as f64 / MS_PER_HOUR),
            };
            match all.last_mut().filter(|last| last.job == job) {
                Some(last) => last.runs.push(run),
                None => all.push(JobRuns { job, runs: vec![run] }),
            }
            Ok(true)
        })?;
        for JobRuns { runs, .. } in &mut all {
            let earlier = runs.len().saturating_sub(MOST_RUNS);
            runs.drain(..earlier);
        }
        Ok(all)
    }

    /// Adds the keys of their jobs.
    pub(super) fn name_jobs(&self, found: &mut [Found]) -> Result<(), StoreError> {
        for found in found.chunks_mut(AT_ONCE) {
            let jobs: Vec<i64> = found.iter().map(|found| found.job).collect();
            let (these, values) = self.database.backend().among_ids(&jobs);
            let query = format!("SELECT job, key FROM job WHERE job {these}");
            let keys = self.database.rows(&query, &values, |row| Ok((row.get(0)?, row.get(1)?)))?;
            let keys: FxHashMap<i64, String> = keys.into_iter().collect();
            for Found { job, key, .. } in found {
                *key = keys.get(job).cloned().unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Adds to changes the values of their settings.
    pub(super) fn realised(&self, found: Vec<Found>) -> Result<Vec<Realised>, StoreError> {
        let places =
            found.iter().flat_map(|found| [found.step.configurations.0, found.step.configurations.1]);
        let settings = configured::at(&self.database, &places.collect())?;
        let unknown = Settings::new();
        let mut advised = Vec::with_capacity(found.len());
        for found in found.chunks(ADVISED_AT_ONCE) {
            advised.extend(self.advised(found)?);
        }
        let with_settings = |(found, advised): (Found, BTreeSet<(String, String)>)| {
            let of = |place| settings.get(&place).unwrap_or(&unknown);
            let (before, after) = found.step.configurations;
            let changed = changed(&found.step.settings, &advised, of(before), of(after));
            found.realised(changed)
        };
        Ok(found.into_iter().zip(advised).map(with_settings).collect())
    }

    /// The settings that were recommended for the last runs of each job before its change, with their values.
    fn advised(&self, found: &[Found]) -> Result<Vec<BTreeSet<(String, String)>>, StoreError> {
        // A query for each change, but one statement.
        let of_change = |(n, Found { job, step, .. }): (usize, &Found)| {
            format!(
                "SELECT CAST({n} AS BIGINT) AS n, setting.name AS name, setting.new AS new FROM (SELECT application FROM application WHERE \
                 job = {job} AND submitted < {} ORDER BY submitted DESC LIMIT {MOST_BEFORE}) AS earlier JOIN setting USING \
                 (application)",
                step.since.as_millis()
            )
        };
        let queries: Vec<String> = found.iter().enumerate().map(of_change).collect();
        if queries.is_empty() {
            return Ok(Vec::new());
        }
        let query = queries.join(" UNION ");
        let mut advised: BTreeMap<i64, BTreeSet<(String, String)>> = BTreeMap::new();
        self.database.visit(&query, &[], |row| {
            advised.entry(row.get(0)?).or_default().insert((row.get(1)?, row.get(2)?));
            Ok(true)
        })?;
        Ok((0_i64..).zip(found).map(|(n, _)| advised.remove(&n).unwrap_or_default()).collect())
    }
}

/// The settings that changed, and whether their new values were `advised`.
fn changed(
    settings: &[String],
    advised: &BTreeSet<(String, String)>,
    old: &Settings,
    new: &Settings,
) -> Vec<Changed> {
    let was_advised = |name: &str, to: &str| {
        advised.iter().any(|(setting, value)| setting == name && same_value(name, value, to))
    };
    let changed = settings.iter().map(|name| {
        let to = new.get(name).cloned();
        let advised = to.as_ref().is_some_and(|to| was_advised(name, to));
        Changed { setting: name.clone(), from: old.get(name).cloned(), to, advised }
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record;
    use crate::testing::with_stores;
    use elephant_base::units::{Bytes, MbMillis};
    use elephant_engine::engine::Filter;
    use elephant_engine::results::ApplicationReport;
    use elephant_model::model::Status;

    /// A run of an hour with this heap, which held `gib` GiB.
    fn nightly(night: i64, heap: &str, gib: u64, status: Status) -> ApplicationReport {
        let mut app = ApplicationReport::blank(&format!("app_{night:03}"));
        app.name = Some("nightly".to_owned());
        app.status = status;
        app.sources = vec![format!("logs/app_{night:03}")];
        app.submitted_at = Some(Timestamp::from_millis(night * 86_400_000));
        app.metrics.run_time = Some(Millis::from_secs(3600));
        app.metrics.used = Some(MbMillis::of(Bytes::from_mib(1024 * gib), Millis::from_secs(3600)));
        app.configuration = Some(Box::new(elephant_sample::app(&[("spark.executor.memory", heap)]).conf));
        app
    }

    fn of(store: &Store) -> Vec<Realised> {
        let found = store.changes(&Selection::of(&store.database, &Filter::default(), &[]).unwrap()).unwrap();
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
            let advice = "INSERT INTO setting (application, n, name, old, new) \
                          SELECT application, 0, 'spark.executor.memory', '4g', '2048m' FROM application \
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
                    store.changes(&Selection::of(&store.database, filter, &[]).unwrap()).unwrap().len()
                };
                assert_eq!((found.len(), stale()), (1, 1));
                assert_eq!(all(&Filter { ids: vec!["*".parse().unwrap()], ..Filter::default() }), 1);
                store.compare_again().unwrap();
                assert_eq!((of(store), stale()), (found, 0));
            }
            // Runs since a day after the change still have it.
            let day = |day: i64| Timestamp::from_millis(day * 86_400_000);
            let later = Filter { since: Some(day(6)), until: Some(day(8)), ..Filter::default() };
            let later = store.changes(&Selection::of(&store.database, &later, &[]).unwrap()).unwrap();
            assert_eq!((later.len(), later[0].step.runs_since), (1, 2));
            // Other engines have no such job.
            let other =
                Filter { engine: Some(elephant_model::model::Engine::MapReduce), ..Filter::default() };
            assert!(store.changes(&Selection::of(&store.database, &other, &[]).unwrap()).unwrap().is_empty());
            // Too few runs are left.
            store.prune(Timestamp::from_millis(3 * 86_400_000)).unwrap();
            assert_eq!((of(store), kept(), stale()), (Vec::new(), 0, 0));
        });
    }
}
