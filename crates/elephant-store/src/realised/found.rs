//! A change of a job's configuration as the store keeps it.

use super::{Changed, Confidence, Realised};
use crate::StoreError;
use crate::costs::rounded;
use crate::database::{Row, Value, values};
use crate::record::whole;
use crate::steps::Step;
use elephant_base::units::{Bytes, Millis, Timestamp};

/// A clear change without the values of its settings, which are read only for changes that are shown.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) job: i64,
    pub(super) cluster: Option<String>,
    /// The job's key, once it is looked up.
    pub(super) key: String,
    pub(crate) step: Step,
    /// What a run cost before and after, once prices are applied.
    pub(crate) cost: Option<(f64, f64)>,
}

impl Found {
    pub(super) const fn new(job: i64, cluster: Option<String>, step: Step) -> Self {
        Self { job, cluster, key: String::new(), step, cost: None }
    }

    pub(crate) fn saved_gb_hours(&self) -> f64 {
        let (before, after) = self.step.used_gb_hours;
        (before - after) * self.step.runs_since as f64
    }

    pub(crate) fn saved_cost(&self) -> Option<f64> {
        self.cost.map(|(before, after)| (before - after) * self.step.runs_since as f64)
    }

    /// The columns of [`Self::row`] after the job and its number, in their order.
    pub(super) const COLUMNS: &str = "old, new, settings, first, since, undone, runs_before, runs_after, used_before, used_after, \
                           time_before, time_after, cores_before, cores_after, input_before, input_after, p, \
                           cluster";

    /// A change that is kept.
    pub(super) fn of(row: &Row<'_>) -> Result<Self, StoreError> {
        let known = |before: &str, after: &str| {
            Ok::<_, StoreError>(row.get::<Option<f64>>(before)?.zip(row.get::<Option<f64>>(after)?))
        };
        let runs =
            |column: &str| Ok::<_, StoreError>(usize::try_from(row.count(column)?).unwrap_or(usize::MAX));
        let times = row.amount("time_before")?.zip(row.amount("time_after")?);
        let step = Step {
            configurations: (row.get("old")?, row.get("new")?),
            settings: row.get::<String>("settings")?.lines().map(str::to_owned).collect(),
            first: row.get("first")?,
            since: Timestamp::from_millis(row.get("since")?),
            undone: row.get::<Option<i64>>("undone")?.map(Timestamp::from_millis),
            runs_before: runs("runs_before")?,
            runs_since: runs("runs_after")?,
            used_gb_hours: (row.get("used_before")?, row.get("used_after")?),
            run_time: times.map(|(before, after)| (Millis::new(before), Millis::new(after))),
            core_hours: known("cores_before", "cores_after")?,
            input: known("input_before", "input_after")?,
            p: row.get::<Option<f64>>("p")?.unwrap_or(1.0),
        };
        Ok(Self::new(row.get("job")?, row.get("cluster")?, step))
    }

    /// The row that keeps it, with a number that no other change of its job has.
    pub(super) fn row(&self, n: i64) -> [Value<'_>; 20] {
        let Step {
            configurations: (old, new),
            settings,
            first,
            since,
            undone,
            used_gb_hours: used,
            run_time,
            core_hours,
            input,
            p,
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
            input.map(|bytes| bytes.0),
            input.map(|bytes| bytes.1),
            *p,
            self.cluster.as_deref(),
        ]
    }

    pub(super) fn realised(self, changed: Vec<Changed>) -> Realised {
        let (saved_gb_hours, saved_cost) = (self.saved_gb_hours(), self.saved_cost());
        let Self { key, cluster, step, cost, .. } = self;
        Realised {
            job: key,
            cluster,
            first: step.first,
            since: Some(step.since),
            undone: step.undone,
            changed,
            runs: (step.runs_before as u64, step.runs_since as u64),
            used_gb_hours: step.used_gb_hours,
            input: step
                .input
                .and_then(|(before, after)| Some((Bytes::from_f64(before)?, Bytes::from_f64(after)?))),
            confidence: Confidence::of(step.p),
            run_time: step.run_time,
            saved_gb_hours,
            cost: cost.map(|(before, after)| (rounded(before), rounded(after))),
            saved_cost: saved_cost.map(rounded),
        }
    }
}
