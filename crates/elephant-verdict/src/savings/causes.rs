//! Translates the causes that savings name into those of the engines.

use std::collections::BTreeSet;

use super::bounds::{Bound, at_bound, at_bound_of_job, is_range, is_range_of_job};
use super::mapreduce::MapReduceReplays;
use super::predict::{Baseline, Unknown};
use super::removal::Cause;
use super::replays::Replays;
use super::spark::{Resources, SparkReplays};
use elephant_analysis::replay::{PerMille, Replayed, mapreduce, spark};
use elephant_model::model::Subject;

/// A cause in the terms of an engine; several where it has several places.
#[derive(Debug, Clone)]
pub(super) enum EngineCauses {
    Spark(Vec<spark::Cause>),
    MapReduce(Vec<mapreduce::Cause>),
}

impl EngineCauses {
    /// Whether replays without them have two ends.
    pub(super) fn is_range(&self) -> bool {
        match self {
            Self::Spark(causes) => causes.iter().any(is_range),
            Self::MapReduce(causes) => causes.iter().copied().any(is_range_of_job),
        }
    }
}

impl Replays<'_> {
    pub(super) const fn baseline(&self) -> &Baseline {
        match self {
            Self::Spark(spark) => &spark.baseline,
            Self::MapReduce(job) => &job.baseline,
        }
    }

    /// The replay without a change.
    pub(super) const fn base(&self) -> Replayed {
        match self {
            Self::Spark(spark) => spark.base(),
            Self::MapReduce(job) => job.base(),
        }
    }

    /// The attempts that a replay schedules.
    pub(super) fn attempts(&self) -> usize {
        match self {
            Self::Spark(spark) => spark.attempts(),
            Self::MapReduce(job) => job.attempts(),
        }
    }

    /// A cause in the engine's terms.
    ///
    /// # Errors
    /// If the log lacks the data that a replay without the cause needs.
    pub(super) fn causes(&self, cause: Cause, subjects: &[Subject]) -> Result<EngineCauses, Unknown> {
        match self {
            Self::Spark(spark) => spark.causes(cause, subjects).map(EngineCauses::Spark),
            Self::MapReduce(job) => job.causes(cause, subjects).map(EngineCauses::MapReduce),
        }
    }

    /// An empty list of causes of this engine.
    pub(super) const fn no_causes(&self) -> EngineCauses {
        match self {
            Self::Spark(_) => EngineCauses::Spark(Vec::new()),
            Self::MapReduce(_) => EngineCauses::MapReduce(Vec::new()),
        }
    }

    /// The factors by which other resources change the number of slots, and the memory and the cores of one slot.
    ///
    /// # Errors
    /// If that cannot be replayed.
    pub(super) fn factors(&self, resources: Resources) -> Result<[f64; 3], Unknown> {
        match self {
            Self::Spark(spark) => {
                spark.sizes(resources).map(|sizes| [sizes.factor, sizes.memory, sizes.cores])
            }
            Self::MapReduce(_) if resources.is_nothing() => Ok([1.0; 3]),
            Self::MapReduce(_) => Err(Unknown::NotApplicable("MapReduce has no executors")),
        }
    }

    /// The replay without these causes, with other resources; `None` if it is the recorded run.
    ///
    /// # Errors
    /// If together they leave nothing that can be replayed.
    pub(super) fn with<'c>(
        &self,
        causes: impl Iterator<Item = &'c EngineCauses>,
        resources: Resources,
        bound: Bound,
    ) -> Result<Option<Replayed>, Unknown> {
        let (mut of_spark, mut of_job) = (Vec::new(), Vec::new());
        for causes in causes {
            match causes {
                EngineCauses::Spark(causes) => {
                    of_spark.extend(causes.iter().filter_map(|cause| at_bound(cause, bound)));
                }
                EngineCauses::MapReduce(causes) => {
                    of_job.extend(causes.iter().filter_map(|cause| at_bound_of_job(*cause, bound)));
                }
            }
        }
        match self {
            Self::Spark(spark) => spark.replay_with(&of_spark, resources),
            Self::MapReduce(job) => job.replay_without(&of_job),
        }
    }
}

impl SparkReplays<'_> {
    fn causes(&self, cause: Cause, subjects: &[Subject]) -> Result<Vec<spark::Cause>, Unknown> {
        let scope = self.scope(subjects)?;
        let causes = match cause {
            Cause::Failures => vec![spark::Cause::Failures],
            // Copies that won saved time; how much is unknown, because their originals were killed.
            Cause::Copies { .. } => vec![spark::Cause::LosingCopies],
            Cause::Splits { .. } => {
                return Err(Unknown::NotApplicable("Spark's tasks do not read splits of this size"));
            }
            Cause::SlowStart { .. } => return Err(Unknown::NotApplicable("Spark has no such setting")),
            Cause::Collections { limit } => {
                vec![spark::Cause::Collections(scope, PerMille::of_share(limit))]
            }
            Cause::Spill => vec![spark::Cause::Spill(scope)],
            Cause::FetchWait => vec![spark::Cause::FetchWait(scope)],
            Cause::Work { share } => vec![spark::Cause::Work(scope, PerMille::of_share(share))],
            Cause::Stragglers => vec![spark::Cause::Stragglers(scope)],
            Cause::Skew => vec![spark::Cause::Skew(scope)],
            Cause::Uneven => vec![spark::Cause::Stragglers(scope.clone()), spark::Cause::Skew(scope)],
            Cause::Tasks { count } => {
                let stages = scope.ok_or(Unknown::NotApplicable("the finding does not say which stage"))?;
                let overhead = spark::Overhead::Least;
                let of = |stage| spark::Partitions { stage, tasks: count, overhead };
                stages.into_iter().map(|stage| spark::Cause::Partitions(of(stage))).collect()
            }
        };
        self.check(&causes)?;
        Ok(causes)
    }

    /// The places of stages; `None` for all.
    fn scope(&self, subjects: &[Subject]) -> Result<spark::Scope, Unknown> {
        let stages = subjects.iter().map(|subject| match subject {
            Subject::Stage(id) => Some(*id),
            _ => None,
        });
        let Some(stages) = stages.collect::<Option<BTreeSet<_>>>().filter(|stages| !stages.is_empty()) else {
            return Ok(None);
        };
        let places = self.places_of(&stages);
        if places.is_empty() {
            return Err(Unknown::NotApplicable("the stage has no tasks with a start and an end"));
        }
        Ok(Some(places))
    }
}

impl MapReduceReplays {
    fn causes(&self, cause: Cause, subjects: &[Subject]) -> Result<Vec<mapreduce::Cause>, Unknown> {
        use mapreduce::{Cause as Of, Kind, StartUp};
        if let Cause::Splits { size } = cause {
            return Ok(self.of_kinds(&[Kind::Map], |_| Of::SplitSize(size, StartUp::Container))?);
        }
        if cause == Cause::Uneven {
            let [skew, stragglers] =
                [Cause::Skew, Cause::Stragglers].map(|cause| self.causes(cause, subjects));
            return Ok([skew?, stragglers.unwrap_or_default()].concat());
        }
        if matches!(cause, Cause::Work { .. }) {
            return Err(Unknown::NotApplicable("a job has no operators"));
        }
        if cause == Cause::FetchWait {
            return Err(Unknown::NotApplicable("the history of a job does not tell when its tasks waited"));
        }
        if let Cause::SlowStart { share } = cause {
            return Ok(self.of_kinds(&[Kind::Reduce], |_| Of::SlowStart(share))?);
        }
        let named: Option<Vec<Kind>> = subjects.iter().map(kind).collect();
        let kinds = named.filter(|kinds| !kinds.is_empty());
        let tasks = match (cause, kinds.as_deref()) {
            (Cause::Tasks { .. }, None) => {
                return Err(Unknown::NotApplicable("the finding does not say which tasks"));
            }
            (Cause::Tasks { count }, _) => usize::try_from(count).unwrap_or(usize::MAX),
            _ => 0,
        };
        let of = |kind: Kind| match cause {
            Cause::Failures => Of::FailedAttempts(kind),
            Cause::Copies { .. } => Of::LosingCopies(kind),
            Cause::Collections { limit } => Of::Collections(kind, PerMille::of_share(limit)),
            Cause::Spill => Of::Spill(kind),
            Cause::Stragglers => Of::Stragglers(kind),
            Cause::Skew | Cause::Uneven => Of::Skew(kind),
            Cause::SlowStart { share } => Of::SlowStart(share),
            Cause::Tasks { .. } | Cause::Splits { .. } | Cause::FetchWait | Cause::Work { .. } => {
                Of::Tasks(kind, tasks, StartUp::Container)
            }
        };
        Ok(self.of_kinds(kinds.as_deref().unwrap_or(&Kind::ALL), of)?)
    }
}

fn kind(subject: &Subject) -> Option<mapreduce::Kind> {
    let Subject::Tasks(name) = subject else { return None };
    mapreduce::Kind::ALL.into_iter().find(|kind| kind.group().name() == *name)
}
