//! Replays of a Spark application.

use std::collections::BTreeSet;

use super::bounds::{Bound, at_bound, is_range};
use super::estimate::Prediction;
use super::predict::{Baseline, Cost, Outlook, PathStage, Unknown, predict};
use elephant_analysis::metrics::{Metrics, SparkMetricParams};
use elephant_analysis::replay::Replayed;
use elephant_analysis::replay::spark::{Cause, Change, Outcome, Plan, Recorded, RecordedOnce, Slots};
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::spark::{Executor, Placement, Spark, Stage, StageAttempt};
use elephant_model::model::{Application, Subject};
use elephant_query::{FixedBy, Purpose};
use elephant_ruleset::RuleSet;
use elephant_ruleset::settings::TroubleParams;

/// The maximum number of stages on the path that are named.
const PATH_STAGES: usize = 5;

/// Executors of another number or size; `None` for what stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resources {
    /// Number of executors.
    pub executors: Option<u32>,
    /// Cores of an executor.
    pub cores: Option<u32>,
    /// Heap of an executor.
    pub memory: Option<Bytes>,
    /// Memory of an executor outside its heap.
    pub overhead: Option<Bytes>,
}

impl Resources {
    /// Whether nothing changes.
    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// These changes, and those of `other` where this one has none.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            executors: self.executors.or(other.executors),
            cores: self.cores.or(other.cores),
            memory: self.memory.or(other.memory),
            overhead: self.overhead.or(other.overhead),
        }
    }
}

/// The slots of a replay, and by which factors they differ from the recorded ones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    slots: Slots,
    /// Their number.
    pub(super) factor: f64,
    /// The memory of one.
    pub(super) memory: f64,
    /// The cores of one.
    pub(super) cores: f64,
}

/// A Spark application, replayed without a change, and ready for replays with one.
pub struct SparkReplays<'a> {
    app: &'a Application,
    params: &'a SparkMetricParams,
    troubles: &'a TroubleParams,
    cost: Cost,
    plan: Plan,
    base: Outcome,
    /// What is known of the application without any change.
    pub baseline: Baseline,
}

impl<'a> SparkReplays<'a> {
    /// # Errors
    /// If the application cannot be replayed.
    pub fn of(
        app: &'a Application,
        rules: &'a RuleSet,
        metrics: &Metrics,
        recorded: RecordedOnce,
    ) -> Result<Self, Unknown> {
        let Recorded { plan, base } = recorded.into_inner(app)?;
        let unlimited = plan.replay(&Change { slots: Slots::Unlimited, ..Change::default() })?;
        let driver = plan.driver_time();
        let work = base.replayed.task_time.as_f64() / f64::from(plan.peak_slots().max(1));
        let path = plan.path(&base).into_iter().take(PATH_STAGES).filter_map(|(place, time)| {
            let id = plan.stages.get(place as usize)?.id;
            let name =
                app.spark.as_deref().and_then(|spark| spark.stage(id)?.name.as_deref().map(str::to_owned));
            Some(PathStage { subject: Subject::Stage(id), name, time: time.to_millis() })
        });
        let baseline = Baseline {
            recorded: plan.recorded.to_millis(),
            replayed: base.replayed.wall.to_millis(),
            critical_path: unlimited.replayed.wall.to_millis(),
            // Tasks that share a slot for a moment would make it longer than the replay.
            ideal: (driver + elephant_analysis::replay::Micros::from_f64(work))
                .min(base.replayed.wall)
                .to_millis(),
            driver: Some(driver.to_millis()),
            path: path.collect(),
        };
        let (params, troubles) = (rules.spark_metrics(), rules.troubles());
        Ok(Self { app, params, troubles, cost: Cost::of(metrics), plan, base, baseline })
    }

    /// The replay without a change.
    pub(super) const fn base(&self) -> Replayed {
        self.base.replayed
    }

    /// The attempts that a replay schedules.
    pub(super) const fn attempts(&self) -> usize {
        self.plan.attempts.len()
    }

    /// The replay without these causes, with other resources; `None` if it is the recorded run.
    ///
    /// # Errors
    /// If they leave nothing that can be replayed.
    pub(super) fn replay_with(
        &self,
        causes: &[Cause],
        resources: Resources,
    ) -> Result<Option<Replayed>, Unknown> {
        let slots = self.sizes(resources)?.slots;
        let change = Change { slots, ..self.plan.without(self.app, causes)? };
        if change.is_nothing() {
            return Ok(None);
        }
        Ok(Some(self.plan.replay(&change)?.replayed))
    }

    /// # Errors
    /// If the log lacks the data that a replay without these causes needs.
    pub(super) fn check(&self, causes: &[Cause]) -> Result<(), Unknown> {
        for cause in causes {
            let unknown = matches!(cause, Cause::Skew(scope) if !self.plan.knows_data(self.app, scope));
            if unknown {
                return Err(Unknown::NotApplicable("the event log does not contain what the tasks read"));
            }
            // Other causes leave out nothing if the log has no data on them.
            if matches!(
                cause,
                Cause::Collections(..)
                    | Cause::Spill(_)
                    | Cause::FetchWait(_)
                    | Cause::Work(..)
                    | Cause::Partitions(_)
            ) {
                self.plan.without(self.app, &at_bound(cause, Bound::Most))?;
            }
        }
        Ok(())
    }

    /// The places of the stage attempts that completed.
    pub(super) fn places_of(&self, ids: &BTreeSet<StageAttempt>) -> BTreeSet<u32> {
        let completed = (0u32..).zip(&self.plan.stages).filter(|(_, known)| known.completed);
        completed.filter(|(_, known)| ids.contains(&known.id)).map(|(place, _)| place).collect()
    }

    /// The most slots that were open at once.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.plan.peak_slots()
    }

    /// The most executors at once and the cores of one, if all have as many.
    #[must_use]
    pub fn executors(&self) -> Option<(u32, u32)> {
        let (executors, slots) = self.plan.executor_slots()?;
        Some((executors, self.executor().and_then(|executor| executor.cores).unwrap_or(slots)))
    }

    /// The stages on the path with fewer tasks than slots, each with a number of tasks with which all slots would have
    /// work. Uneven tasks cannot be split, small ones are not worth it, and some stages cannot have another number.
    #[must_use]
    pub fn few_tasks(&self) -> Vec<(u32, u32)> {
        let spark = self.app.spark.as_deref();
        let wanted = |stage: &PathStage| {
            let Subject::Stage(id) = stage.subject else { return None };
            let (spark, stage) = (spark?, spark?.stage(id)?);
            if !can_change(self.app, spark, stage) {
                return None;
            }
            let group = self.app.groups.get(stage.group?)?;
            let times = group.winners().filter_map(|row| group.attempts.run_time(row));
            let times: Vec<f64> = times.map(Millis::as_f64).collect();
            let (count, slots) = (times.len() as f64, f64::from(self.slots()));
            let (all, longest) = (times.iter().sum::<f64>(), times.iter().copied().fold(0.0, f64::max));
            let splits = count < slots && longest <= self.troubles.even_tasks.get() * all / count.max(1.0);
            let waves = (all / slots / self.troubles.least_task_time.get()).floor();
            let waves = waves.min(self.troubles.tasks_per_slot.get()).max(0.0);
            let wanted = Millis::from_f64(slots * waves).filter(|it| splits && it.as_f64() > count)?;
            Some((id.stage, u32::try_from(wanted.get()).ok()?))
        };
        let mut stages: Vec<(u32, u32)> = self.baseline.path.iter().filter_map(wanted).collect();
        stages.sort_unstable();
        stages.dedup();
        stages
    }

    /// Whether the driver runs the tasks.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.app.spark.as_deref().is_some_and(|spark| spark.executors.is_empty())
    }

    /// The first executor with known cores.
    fn executor(&self) -> Option<&'a Executor> {
        let known = |executor: &&Executor| executor.cores.is_some_and(|cores| cores > 0);
        self.app.spark.as_deref()?.workers().find(known)
    }

    /// The slots of an executor with so many cores.
    fn slots_with(&self, cores: u32) -> u32 {
        let unknown = Executor::default();
        Placement::of(self.app).slots_with(self.executor().unwrap_or(&unknown), cores)
    }

    /// What the application would take without some troubles, and with other resources.
    ///
    /// # Errors
    /// If nothing can be predicted.
    pub fn predict(&self, causes: &[Cause], resources: Resources) -> Result<Prediction, Unknown> {
        self.baseline.trusted(self.app.status)?;
        let outlook = self.outlook(causes, resources)?;
        Ok(predict(&self.baseline, self.base.replayed, self.cost, &outlook))
    }

    fn outlook(&self, causes: &[Cause], resources: Resources) -> Result<Outlook, Unknown> {
        let Sizes { factor, memory, cores, .. } = self.sizes(resources)?;
        let replay = |bound: Bound| -> Result<Replayed, Unknown> {
            let causes: Vec<Cause> = causes.iter().filter_map(|cause| at_bound(cause, bound)).collect();
            Ok(self.replay_with(&causes, resources)?.unwrap_or_else(|| self.base()))
        };
        let one = replay(Bound::Least)?;
        let other = if causes.iter().any(is_range) { replay(Bound::Most)? } else { one };
        Ok(Outlook { replayed: [one, other], memory, cores, slots: factor })
    }

    /// # Errors
    /// If the log does not tell the present sizes, or if there can be none like these.
    pub(super) fn sizes(&self, resources: Resources) -> Result<Sizes, Unknown> {
        let Resources { executors, cores, memory, overhead } = resources;
        let recorded = self.plan.executor_slots();
        let memory = self.memory_factor(memory, overhead)?;
        if executors.is_none() && cores.is_none() {
            return Ok(Sizes { slots: Slots::Recorded, factor: 1.0, memory, cores: 1.0 });
        }
        let (count, slots) =
            recorded.ok_or(Unknown::NotApplicable("the event log contains no executor of a known size"))?;
        if executors.is_some() && self.is_local() {
            return Err(Unknown::NotApplicable(
                "local mode has no executors; the number of cores can change",
            ));
        }
        let of_one = cores.map_or(slots, |cores| self.slots_with(cores));
        if of_one == 0 {
            return Err(Unknown::NotApplicable("an executor would have fewer cores than a task needs"));
        }
        let all = executors.unwrap_or(count).saturating_mul(of_one);
        let factor = f64::from(all) / f64::from(self.plan.peak_slots().max(1));
        let slots_of_one = f64::from(of_one) / f64::from(slots);
        let cores_of_one = match (cores, self.executor().and_then(|executor| executor.cores)) {
            (Some(new), Some(now)) => f64::from(new) / f64::from(now),
            _ => slots_of_one,
        };
        // As many slots in executors of another size: they open and close as recorded.
        let same = all == count.saturating_mul(slots);
        Ok(Sizes {
            slots: if same { Slots::Recorded } else { Slots::Number(all) },
            factor: if same { 1.0 } else { factor },
            memory: memory / slots_of_one,
            cores: cores_of_one / slots_of_one,
        })
    }

    /// By which factor the memory of an executor changes with another heap or overhead.
    fn memory_factor(&self, heap: Option<Bytes>, overhead: Option<Bytes>) -> Result<f64, Unknown> {
        if heap.or(overhead).is_none() {
            return Ok(1.0);
        }
        elephant_analysis::metrics::executor_memory_factor(self.app, self.params, (heap, overhead))
            .ok_or(Unknown::NotApplicable("the event log lacks the size of an executor"))
    }

    /// The stage attempts with this id, by their place.
    #[must_use]
    pub fn stages_with_id(&self, stage: u32) -> Vec<u32> {
        let places = (0u32..).zip(&self.plan.stages);
        places
            .filter(|(_, known)| known.id.stage == stage && known.completed)
            .map(|(place, _)| place)
            .collect()
    }
}
/// Whether a stage can have another number of tasks.
fn can_change(app: &Application, spark: &Spark, stage: &Stage) -> bool {
    Purpose::of(app, spark, stage).is_chosen()
        && FixedBy::of(app, spark, stage).is_none_or(FixedBy::can_change)
}
