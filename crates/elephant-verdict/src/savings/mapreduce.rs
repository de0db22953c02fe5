//! Replays of a MapReduce job.

use super::bounds::{Bound, at_bound_of_job, is_range_of_job};
use super::estimate::Prediction;
use super::predict::{Baseline, Cost, Outlook, Unknown, error_of, predict};
use elephant_analysis::metrics::{MetricParams, Metrics};
use elephant_analysis::replay::Replayed;
use elephant_analysis::replay::mapreduce::{self, Cause, Change, Kind, Plan};
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::table::TaskGroup;
use elephant_model::model::{Application, Status};

/// The most that a setting saves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangeEffect {
    /// Run time; negative if the job takes longer.
    pub(crate) wall_ms: f64,
    /// The error of that time.
    pub(crate) error_ms: f64,
    /// The time that fewer tasks save in and between tasks, spread over all containers. The run time may change by
    /// more, because other tasks happen to fit the containers better or worse.
    pub(crate) start_ups_ms: f64,
    /// The share of the time of held containers that is saved.
    pub(crate) held: f64,
}

/// A MapReduce job, replayed without a change, and ready for replays with one.
pub struct MapReduceReplays {
    status: Status,
    cost: Cost,
    plan: Plan,
    base: Replayed,
    /// The time for which tasks of each kind held their containers, and the size of one; or why that is unknown.
    held: Result<Vec<(Millis, Bytes)>, &'static str>,
    /// What is known of the job without any change.
    pub baseline: Baseline,
}

impl MapReduceReplays {
    /// # Errors
    /// If the job cannot be replayed.
    pub(crate) fn of(app: &Application, params: &MetricParams, metrics: &Metrics) -> Result<Self, Unknown> {
        let plan = Plan::of(app)?;
        let base = plan.replay(&Change::default());
        let baseline = Baseline {
            recorded: plan.recorded().to_millis(),
            replayed: base.wall.to_millis(),
            critical_path: plan.critical_path().to_millis(),
            ideal: plan.ideal().min(base.wall).to_millis(),
            driver: None,
            path: Vec::new(),
        };
        Ok(Self {
            status: app.status,
            cost: Cost::of(metrics),
            plan,
            base,
            held: held(app, params),
            baseline,
        })
    }

    /// The replay without a change.
    pub(super) const fn base(&self) -> Replayed {
        self.base
    }

    /// The attempts that a replay schedules.
    pub(super) const fn attempts(&self) -> usize {
        self.plan.attempts_count()
    }

    /// The replay without these causes; `None` if it is the recorded run.
    ///
    /// # Errors
    /// If they leave nothing that can be replayed.
    pub(super) fn replay_without(&self, causes: &[Cause]) -> Result<Option<Replayed>, Unknown> {
        let change = self.plan.without(causes)?;
        Ok((!change.is_nothing()).then(|| self.plan.replay(&change)))
    }

    /// The most task containers at the same time.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.plan.containers()
    }

    /// The number of reduce tasks.
    #[must_use]
    pub fn reduces(&self) -> u32 {
        self.plan.reduces()
    }

    /// The most that a setting saves; `None` if nothing can be predicted. If the history does not show how long
    /// starting a task takes, the usual time is taken as the most.
    pub(crate) fn effect_of(&self, setting: Cause) -> Option<ChangeEffect> {
        self.baseline.trusted(self.status).ok()?;
        let at_most = at_bound_of_job(setting, Bound::Most)?;
        let change = self.plan.without(&[at_most]).ok()?;
        let replayed = self.plan.replay(&change);
        let wall = replayed.wall.to_millis().as_f64();
        Some(ChangeEffect {
            wall_ms: self.baseline.replayed.as_f64() - wall,
            error_ms: error_of(&self.baseline, wall, 1.0),
            start_ups_ms: self.plan.start_ups_saved(&change, self.base.task_time - replayed.task_time),
            held: 1.0 - replayed.held.as_f64() / self.base.held.as_f64().max(1.0),
        })
    }

    /// By which factor the memory of all tasks would change with containers of this size for map and reduce tasks.
    fn memory_factor(&self, container: Option<Bytes>) -> Result<f64, Unknown> {
        let Some(container) = container else { return Ok(1.0) };
        let held = self.held.as_ref().map_err(|why| Unknown::NotApplicable(why))?;
        let (mut then, mut now) = (0.0, 0.0);
        for (time, size) in held {
            then += time.as_f64() * container.as_f64();
            now += time.as_f64() * size.as_f64();
        }
        if now > 0.0 { Ok(then / now) } else { Err(Unknown::NotApplicable("no task ran")) }
    }

    /// What the job would take without these troubles, in tasks of both kinds, and with these settings and containers of
    /// this size. If `maps` is given, at most this many map tasks run at once.
    ///
    /// # Errors
    /// If nothing can be predicted.
    pub fn predict(
        &self,
        troubles: &[fn(Kind) -> Cause],
        settings: &[Cause],
        (maps, container): (Option<u32>, Option<Bytes>),
    ) -> Result<Prediction, Unknown> {
        self.baseline.trusted(self.status)?;
        let memory = self.memory_factor(container)?;
        let mut causes = settings.to_vec();
        for trouble in troubles {
            causes.extend(self.of_kinds(&Kind::ALL, trouble)?);
        }
        let replay = |bound: Bound| -> Result<Replayed, Unknown> {
            let causes: Vec<Cause> =
                causes.iter().filter_map(|cause| at_bound_of_job(*cause, bound)).collect();
            let mut change = self.plan.without(&causes)?;
            change.slots.map = maps.map(|maps| maps as usize).or(change.slots.map);
            Ok(self.plan.replay(&change))
        };
        // Many more tasks at once than were ever seen make a prediction less certain.
        let least: Vec<Cause> = causes.iter().filter_map(|it| at_bound_of_job(*it, Bound::Least)).collect();
        let at_once = self.plan.more_at_once(&self.plan.without(&least)?);
        let one = replay(Bound::Least)?;
        let other = if causes.iter().copied().any(is_range_of_job) { replay(Bound::Most)? } else { one };
        let slots = maps.map_or(at_once, |maps| f64::from(maps) / f64::from(self.slots().max(1)));
        let outlook = Outlook { replayed: [one, other], memory, cores: 1.0, slots };
        Ok(predict(&self.baseline, self.base, self.cost, &outlook))
    }

    /// The causes of the trouble in those kinds of tasks for which the history has the data that a replay needs.
    ///
    /// # Errors
    /// If the history has the data for none of them.
    pub(super) fn of_kinds(
        &self,
        kinds: &[Kind],
        trouble: impl Fn(Kind) -> Cause,
    ) -> Result<Vec<Cause>, mapreduce::Unknown> {
        let mut causes = Vec::new();
        let mut unknown = None;
        for &kind in kinds {
            match self.plan.without(at_bound_of_job(trouble(kind), Bound::Most).as_slice()) {
                Ok(_) => causes.push(trouble(kind)),
                Err(why) => {
                    unknown = unknown.filter(|known| *known != mapreduce::Unknown::NoTasks).or(Some(why));
                }
            }
        }
        match unknown {
            Some(why) if causes.is_empty() => Err(why),
            _ => Ok(causes),
        }
    }
}

/// The time for which tasks of each kind held their containers, and the size of one.
fn held(app: &Application, params: &MetricParams) -> Result<Vec<(Millis, Bytes)>, &'static str> {
    if app.uberized == Some(true) {
        return Err("all tasks ran in the container of the application master");
    }
    let of_group = |group: &TaskGroup| {
        let time = (0..group.attempts.len()).filter_map(|row| group.attempts.run_time(row)).sum();
        Some((time, params.container(app, group.kind)?))
    };
    let held: Option<Vec<(Millis, Bytes)>> = app.groups.iter().map(of_group).collect();
    held.ok_or("the job history lacks the size of the containers")
}
