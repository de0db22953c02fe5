//! The replays of one application.

use std::cmp::Ordering;

use super::scaling::{Resource, Scaling};
use super::settings::{Change, Settings, Trouble};
use crate::results::{JobGroup, Sort};
use elephant_analysis::memory_fit::{MemoryFit, MemoryVerdict};
use elephant_analysis::replay::mapreduce::{self, Kind, StartUp};
use elephant_analysis::replay::spark::{Cause, Overhead, Partitions, RecordedOnce};
use elephant_base::units::Millis;
use elephant_model::model::{Application, Engine, Subject};
use elephant_verdict::savings::{
    self, Amounts, Baseline, MapReduceReplays, Prediction, Range, Resources, SparkReplays, Unknown,
};
use elephant_verdict::troubles::Basis;

/// An application, and what it would have taken under changes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ApplicationReplays {
    /// Its id in the history.
    pub id: String,
    /// Its name; `None` if it is not logged.
    pub name: Option<String>,
    /// Who ran it.
    pub user: Option<String>,
    /// The engine that ran it.
    pub engine: Engine,
    /// The files it was read from, the history first.
    pub sources: Vec<String>,
    /// The replays, or why there are none.
    pub replays: Result<Replays, String>,
    /// Whether changed memory would hold what the run needed, which takes no replay; empty if there are replays, whose
    /// scenarios say so.
    pub memory: Vec<MemoryCheck>,
}

/// Whether the memory of a change would be enough for a run that cannot be replayed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MemoryCheck {
    /// The change.
    pub change: Change,
    /// Whether its memory would be enough.
    pub fit: MemoryFit,
}

/// The replays of an application.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Replays {
    /// From submission to end, as logged.
    pub recorded: Millis,
    /// What the run took, as logged.
    pub took: Amounts,
    /// What that cost; `None` without prices, or if an amount that has a price is unknown.
    pub cost: Option<Range>,
    /// The run time, replayed without a change.
    pub replayed: Millis,
    /// By how much the two differ, in percent of the recorded time.
    pub residual_percent: f64,
    /// With a free slot for each task at any time.
    pub critical_path: Millis,
    /// The time of the driver, plus all work spread evenly over all slots.
    pub ideal: Millis,
    /// The time in which no job ran (Spark).
    pub driver: Option<Millis>,
    /// How many tasks can run at once.
    pub slots: u32,
    /// The stages that the end of the application waited for, longest first.
    pub path: Vec<PathStage>,
    /// The changes.
    pub scenarios: Vec<Scenario>,
    /// Run time and cost by the number of executors, cores or tasks; `None` if too little can be predicted.
    pub scaling: Option<Scaling>,
}

/// A stage on the path that determines the time of the application.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PathStage {
    /// The stage.
    pub subject: Subject,
    /// Its name.
    pub name: Option<String>,
    /// From its submission to its end.
    pub time: Millis,
}

/// A change, and what the application would have taken.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The change.
    pub change: Change,
    /// What it would have taken, or why that is unknown.
    pub prediction: Result<Prediction, String>,
    /// What that would have cost; `None` if [`Replays::cost`] is, or if it is unknown.
    pub cost: Option<Cost>,
    /// Whether the changed memory would hold what the run needed; `None` if memory stays as it is.
    pub memory: Option<MemoryFit>,
    /// Whether the driver runs the tasks, so that there are no executors.
    pub is_local: bool,
}

/// What an application would have cost under a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// The cost.
    pub takes: Range,
    /// What is saved of the cost of the run as it was; negative if the change costs more.
    pub saves: Range,
}

impl ApplicationReplays {
    pub(super) fn of(app: &Application, sources: &[String], basis: Basis<'_>, settings: &Settings) -> Self {
        let metrics = basis.rules.measure(app);
        let recorded = Recorded { app, basis, settings, took: Amounts::used(&metrics) };
        let replays = savings::Replays::of(app, basis.rules, &metrics, RecordedOnce::default());
        let replays = replays.map(|replays| match replays {
            savings::Replays::Spark(spark) => {
                let predict = |change: &Change| predict_spark(&spark, change);
                let scaling = scaling(&spark, &settings.requested());
                let slots = (spark.slots(), spark.is_local());
                recorded.replays(&spark.baseline, slots, || standard(&spark), predict, scaling)
            }
            savings::Replays::MapReduce(job) => {
                let predict = |change: &Change| predict_mapreduce(&job, change, None);
                let scaling = scaling_of_job(&job, &settings.requested());
                let slots = (job.slots(), false);
                recorded.replays(&job.baseline, slots, || standard_of_job(&job), predict, scaling)
            }
        });
        let memory = if replays.is_ok() { Vec::new() } else { recorded.memory_checks() };
        Self {
            memory,
            id: app.id.clone(),
            name: app.name.clone(),
            user: app.user.clone(),
            engine: app.engine,
            sources: sources.to_vec(),
            replays: replays.map_err(|unknown| unknown.to_string()),
        }
    }

    /// The job that it is a run of.
    pub(super) fn group(&self) -> JobGroup {
        JobGroup::of_run(self.engine, self.name.as_deref(), self.user.as_deref(), &self.id)
    }

    /// Another order; ties are broken by the usual one.
    pub(super) fn order(one: &Self, other: &Self, by: Sort) -> Ordering {
        let name = |app: &Self| app.name.clone().unwrap_or_else(|| app.id.clone());
        let greatest = |of: fn(&Replays) -> f64| {
            let of = |app: &Self| app.replays.as_ref().map_or(f64::NEG_INFINITY, of);
            of(other).total_cmp(&of(one))
        };
        let first = match by {
            Sort::Name => name(one).cmp(&name(other)),
            Sort::RunTime => greatest(|replays| replays.recorded.as_f64()),
            Sort::Waste => greatest(Replays::most_memory_saved),
            Sort::Saving | Sort::Severity => Ordering::Equal,
        };
        first.then_with(|| Self::by_saving(one, other))
    }

    /// The order of a report: the application that can save the most time first, unknown ones last.
    pub(super) fn by_saving(one: &Self, other: &Self) -> Ordering {
        let saving = |app: &Self| app.replays.as_ref().map_or(f64::NEG_INFINITY, Replays::most_saved);
        let by_name = (&one.id, &one.sources).cmp(&(&other.id, &other.sources));
        saving(other).total_cmp(&saving(one)).then(by_name)
    }
}

/// A recorded run, and what is asked about it.
struct Recorded<'a> {
    app: &'a Application,
    basis: Basis<'a>,
    settings: &'a Settings,
    /// What it took.
    took: Amounts,
}

impl Recorded<'_> {
    fn replays(
        &self,
        baseline: &Baseline,
        (slots, is_local): (u32, bool),
        standard: impl FnOnce() -> Vec<Change>,
        predict: impl Fn(&Change) -> Result<Prediction, Unknown>,
        scaling: Option<Scaling>,
    ) -> Replays {
        let requested = &self.settings.changes;
        let changes = if requested.is_empty() { standard() } else { requested.clone() };
        let scenario = |change: Change| {
            let prediction = predict(&change).map_err(|unknown| unknown.to_string());
            let cost = prediction.as_ref().ok().and_then(|prediction| self.cost_of(prediction));
            Scenario { memory: self.memory_fit(&change), cost, prediction, change, is_local }
        };
        let stage = |stage: &savings::PathStage| PathStage {
            subject: stage.subject.clone(),
            name: stage.name.clone(),
            time: stage.time,
        };
        Replays {
            recorded: baseline.recorded,
            took: self.took,
            cost: self.cost(&self.took),
            replayed: baseline.replayed,
            residual_percent: 100.0 * baseline.residual(),
            critical_path: baseline.critical_path,
            ideal: baseline.ideal,
            driver: baseline.driver,
            slots,
            path: baseline.path.iter().map(stage).collect(),
            scenarios: changes.into_iter().map(scenario).collect(),
            scaling,
        }
    }

    /// What these amounts cost; `None` without prices, or if an amount that has a price is unknown.
    fn cost(&self, amounts: &Amounts) -> Option<Range> {
        self.basis.prices?.cost(self.app, amounts)
    }

    fn cost_of(&self, prediction: &Prediction) -> Option<Cost> {
        let takes = self.cost(&prediction.takes)?;
        Some(Cost { saves: takes.subtracted_from(self.cost(&self.took)?.point), takes })
    }

    fn memory_checks(&self) -> Vec<MemoryCheck> {
        let check =
            |change: &Change| Some(MemoryCheck { fit: self.memory_fit(change)?, change: change.clone() });
        self.settings.changes.iter().filter_map(check).collect()
    }

    fn memory_fit(&self, change: &Change) -> Option<MemoryFit> {
        let memory = change.memory?;
        Some(match self.app.engine {
            Engine::Spark => MemoryFit::of_executors(self.app, memory, change.cores),
            Engine::MapReduce | Engine::Tez => {
                MemoryFit::of_tasks(self.app, self.basis.rules.metrics(), memory)
            }
        })
    }
}

#[doc(hidden)]
impl Scenario {
    /// Whether the run would not end, because its tasks need more memory than the change gives them.
    #[must_use]
    pub fn would_break(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.fit == MemoryVerdict::WouldBreak)
    }
}

impl Replays {
    /// The most memory that one of the changes saves.
    fn most_memory_saved(&self) -> f64 {
        let predictions = self.scenarios.iter().filter_map(|scenario| scenario.prediction.as_ref().ok());
        let saved = predictions.filter_map(|prediction| prediction.saves.gb_hours);
        saved.map(|saved| saved.point).fold(0.0, f64::max)
    }

    /// The longest time that one of the changes saves.
    fn most_saved(&self) -> f64 {
        let predictions = self.scenarios.iter().filter_map(|scenario| scenario.prediction.as_ref().ok());
        let saved = predictions.filter(|prediction| !prediction.within_error);
        saved.map(|prediction| prediction.saves.wall_ms.point).fold(0.0, f64::max)
    }
}

/// Each trouble alone, and all together.
pub(super) fn without_troubles() -> Vec<Change> {
    let alone = Trouble::ALL.iter().map(|&trouble| Change::without(&[trouble]));
    alone.chain([Change::without(&Trouble::ALL)]).collect()
}

/// A quarter, half, twice and four times a number.
fn scaled(now: u32) -> Vec<u32> {
    let mut counts = vec![now.div_ceil(4), now.div_ceil(2), now.saturating_mul(2), now.saturating_mul(4)];
    counts.retain(|&count| count != now);
    counts.dedup();
    counts
}

/// Without troubles, and with other numbers of reduces.
fn standard_of_job(job: &MapReduceReplays) -> Vec<Change> {
    let mut changes = without_troubles();
    let counts = scaled(job.reduces()).into_iter().filter(|_| job.reduces() > 0);
    changes.extend(counts.map(|count| Change { reducers: Some(count), ..Change::default() }));
    changes
}

/// Without troubles, with more tasks where a stage has few, and with other numbers of executors, or of cores in local mode.
fn standard(spark: &SparkReplays<'_>) -> Vec<Change> {
    let mut changes = without_troubles();
    // Only stages whose tasks can be predicted.
    let mut partitions = spark.few_tasks();
    let alone = |stage| Change { partitions: vec![stage], ..Change::default() };
    partitions.retain(|stage| predict_spark(spark, &alone(*stage)).is_ok());
    if !partitions.is_empty() {
        changes.push(Change { partitions, ..Change::default() });
    }
    let Some((executors, cores)) = spark.executors() else { return changes };
    let now = if spark.is_local() { cores } else { executors };
    changes.extend(scaled(now).into_iter().map(|count| {
        let counted = Some(count);
        if spark.is_local() {
            Change { cores: counted, ..Change::default() }
        } else {
            Change { executors: counted, ..Change::default() }
        }
    }));
    changes
}

/// The application by its number of executors, or of cores in local mode, under the rest of the requested change.
fn scaling(spark: &SparkReplays<'_>, requested: &Change) -> Option<Scaling> {
    let (executors, cores) = spark.executors()?;
    if spark.is_local() {
        let change = |count| Change { cores: Some(count), ..requested.clone() };
        let predict = |count| predict_spark(spark, &change(count));
        return Scaling::of(Resource::Cores, cores, requested.cores, predict);
    }
    let change = |count| Change { executors: Some(count), ..requested.clone() };
    Scaling::of(Resource::Executors, executors, requested.executors, |count| {
        predict_spark(spark, &change(count))
    })
}

/// The job by its number of reduces; a job without any by the number of maps that run at once.
fn scaling_of_job(job: &MapReduceReplays, requested: &Change) -> Option<Scaling> {
    if job.reduces() == 0 {
        let predict = |count| predict_mapreduce(job, requested, Some(count));
        return Scaling::of(Resource::MapsAtOnce, job.slots(), None, predict);
    }
    let change = |count| Change { reducers: Some(count), ..requested.clone() };
    let predict = |count| predict_mapreduce(job, &change(count), None);
    Scaling::of(Resource::Reduces, job.reduces(), requested.reducers, predict)
}

fn predict_spark(spark: &SparkReplays<'_>, change: &Change) -> Result<Prediction, Unknown> {
    if change.reducers.is_some() || change.split_size.is_some() || change.slow_start.is_some() {
        return Err(Unknown::NotApplicable("Spark has no such setting"));
    }
    let mut causes: Vec<Cause> = change.without.iter().map(|trouble| cause(*trouble)).collect();
    for &(stage, tasks) in &change.partitions {
        let places = spark.stages_with_id(stage);
        if places.is_empty() {
            return Err(Unknown::NotApplicable("no stage with this id completed"));
        }
        let partitions = |stage| Cause::Partitions(Partitions { stage, tasks, overhead: Overhead::Least });
        causes.extend(places.into_iter().map(partitions));
    }
    let Change { executors, cores, memory, .. } = *change;
    spark.predict(&causes, Resources { executors, cores, memory, overhead: None })
}

const fn cause(trouble: Trouble) -> Cause {
    match trouble {
        Trouble::Skew => Cause::Skew(None),
        Trouble::Stragglers => Cause::Stragglers(None),
        Trouble::Failures => Cause::Failures,
        Trouble::Speculation => Cause::Copies,
    }
}

fn predict_mapreduce(
    job: &MapReduceReplays,
    change: &Change,
    maps: Option<u32>,
) -> Result<Prediction, Unknown> {
    let Change { executors, cores, memory, partitions, reducers, split_size, slow_start, without } = change;
    if executors.is_some() || cores.is_some() || !partitions.is_empty() {
        return Err(Unknown::NotApplicable("MapReduce has no executors and no stages"));
    }
    let troubles: Vec<fn(Kind) -> mapreduce::Cause> =
        without.iter().map(|trouble| cause_of_job(*trouble)).collect();
    let mut settings = Vec::new();
    settings.extend(split_size.map(|size| mapreduce::Cause::SplitSize(size, StartUp::Container)));
    let tasks = |count: u32| mapreduce::Cause::Tasks(Kind::Reduce, count as usize, StartUp::Container);
    settings.extend(reducers.map(tasks));
    settings.extend(slow_start.map(mapreduce::Cause::SlowStart));
    job.predict(&troubles, &settings, (maps, *memory))
}

fn cause_of_job(trouble: Trouble) -> fn(Kind) -> mapreduce::Cause {
    match trouble {
        Trouble::Skew => mapreduce::Cause::Skew,
        Trouble::Stragglers => mapreduce::Cause::Stragglers,
        Trouble::Failures => mapreduce::Cause::FailedAttempts,
        Trouble::Speculation => mapreduce::Cause::Speculation,
    }
}
