//! What changes of configurations saved: the cost of a job before and after.
//!
//! The store keeps the changes of each job, because finding them takes all of its runs. `stale_job` has the jobs that got
//! or lost runs since then, and they are compared again when histories have been read ([`Store::compare_again`]).

mod found;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::configured::{self, Settings};
use super::database::Value;
use super::levels::MOST_BEFORE;
use super::selection::Selection;
use super::steps::{self, MeasuredRun};
use super::{MS_PER_HOUR, Store, StoreError, gb_hours};
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_verdict::troubles::same_value;
pub(super) use found::Found;

/// Jobs that one statement names.
const AT_ONCE: usize = 500;
/// Changes whose advice one statement looks up.
const ADVISED_AT_ONCE: usize = 100;
/// The last runs of a job among which changes are searched.
const MOST_RUNS: usize = 2000;

/// A change that is less likely by chance is sure.
const RARELY: f64 = 0.01;

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

/// How sure a change of costs is: how rarely runs differ so much by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// Once in twenty times.
    Moderate,
    /// Once in a hundred times.
    High,
}

impl Confidence {
    fn of(p: f64) -> Self {
        if p < RARELY { Self::High } else { Self::Moderate }
    }

    /// The word for readers and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Moderate => "moderate",
            Self::High => "high",
        }
    }
}

/// A change of a job's configuration, with the medians of its runs before and after.
#[derive(Debug, Clone, PartialEq)]
pub struct Realised {
    /// The key of the job.
    pub job: String,
    /// The cluster that it ran on, if that is known: what runs take differs between clusters.
    pub cluster: Option<String>,
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
    /// Memory of a run before and after, for the same input if that is known.
    pub used_gb_hours: (f64, f64),
    /// What a run read before and after, if costs are compared for the same input.
    pub input: Option<(Bytes, Bytes)>,
    /// How sure it is that the cost changed.
    pub confidence: Confidence,
    /// Run time of a run before and after, if known.
    pub run_time: Option<(Millis, Millis)>,
    /// What all selected runs with the change saved; negative if they took more.
    pub saved_gb_hours: f64,
    /// What a run cost before and after, if there are prices and it is known.
    pub cost: Option<(f64, f64)>,
    /// What all selected runs with the change saved of it; negative if they cost more.
    pub saved_cost: Option<f64>,
}

/// A job on one cluster, with its runs in the order of time.
struct JobRuns {
    job: i64,
    cluster: Option<String>,
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
        let mut places: FxHashMap<(i64, Option<String>), Vec<usize>> = FxHashMap::default();
        for (place, found) in found.iter_mut().enumerate() {
            found.step.runs_since = 0;
            places.entry((found.job, found.cluster.clone())).or_default().push(place);
        }
        let query = format!(
            "SELECT job, cluster, submitted FROM application WHERE {condition} AND {MEASURED} AND job IN (SELECT job FROM job_change \
             UNION SELECT job FROM stale_job)"
        );
        self.database.visit(&query, values, |row| {
            let submitted = Timestamp::from_millis(row.get("submitted")?);
            for place in places.get(&(row.get("job")?, row.get("cluster")?)).into_iter().flatten() {
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
            for JobRuns { job, cluster, runs } in some {
                let steps = steps::steps(&runs, &settings).into_iter();
                found.extend(steps.map(|step| Found::new(job, cluster.clone(), step)));
            }
        }
        Ok(found)
    }

    /// The last runs of those of these jobs that had more than one configuration, cluster by cluster.
    fn runs_of(&self, jobs: &[i64]) -> Result<Vec<JobRuns>, StoreError> {
        let (these, values) = self.database.backend().among_ids(jobs);
        let query = format!(
            "SELECT job, cluster, configuration, id, submitted, used, run_time, core_time, input FROM application WHERE counts IS TRUE AND \
             job {these} AND {MEASURED} AND configuration IS NOT NULL AND job IN (SELECT job FROM configuration_sum WHERE \
             applications > 0 GROUP BY job HAVING count(*) > 1) ORDER BY job, coalesce(cluster, ''), submitted, id, attempt, source"
        );
        let mut all: Vec<JobRuns> = Vec::new();
        self.database.visit(&query, &values, |row| {
            let (job, cluster) = (row.get("job")?, row.get("cluster")?);
            let Some(used_gb_hours) = row.amount("used")?.map(gb_hours) else { return Ok(true) };
            let number =
                |column: &str| Ok::<_, StoreError>(row.get::<Option<i64>>(column)?.map(|value| value as f64));
            let run = MeasuredRun {
                configuration: row.get("configuration")?,
                id: row.get("id")?,
                submitted: Timestamp::from_millis(row.get("submitted")?),
                used_gb_hours,
                run_time: number("run_time")?,
                core_hours: number("core_time")?.map(|time| time / MS_PER_HOUR),
                input: number("input")?,
            };
            match all.last_mut().filter(|last| last.job == job && last.cluster == cluster) {
                Some(last) => last.runs.push(run),
                None => all.push(JobRuns { job, cluster, runs: vec![run] }),
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
            let keys = self.database.rows(&query, &values, |row| Ok((row.get("job")?, row.get("key")?)))?;
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
                 job = {job} AND cluster IS NOT DISTINCT FROM ?{} AND submitted < {} ORDER BY submitted DESC LIMIT \
                 {MOST_BEFORE}) AS earlier JOIN setting USING (application)",
                n + 1,
                step.since.as_millis()
            )
        };
        let queries: Vec<String> = found.iter().enumerate().map(of_change).collect();
        if queries.is_empty() {
            return Ok(Vec::new());
        }
        let query = queries.join(" UNION ");
        let mut advised: BTreeMap<i64, BTreeSet<(String, String)>> = BTreeMap::new();
        let clusters: Vec<Value<'_>> = found.iter().map(|found| found.cluster.as_deref().into()).collect();
        self.database.visit(&query, &clusters, |row| {
            advised.entry(row.get("n")?).or_default().insert((row.get("name")?, row.get("new")?));
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
mod tests;
