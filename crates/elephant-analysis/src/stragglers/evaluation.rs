//! Rates detectors on finished jobs, and picks the best one.

pub mod pool;

use std::fmt;

use super::detect::{Detector, Parameter};
use super::executions::{AttemptsByTask, Certainty, Execution, Executions};
use super::labels::{Edge, MIN_TASKS};
use super::quality::{Judged, Quality};
use super::replay::{Options, Replay, Sources, Timeline, replay};
use super::usual::{TaskTime, UsualRule, UsualSource, label_by_usual};
use elephant_base::units::Millis;
use elephant_model::model::Engine;
use elephant_model::model::table::{TaskGroup, TimePoint};

/// Name under which the cluster's own speculation appears among the detectors.
pub const ACTUAL: &str = "actual";
/// With fewer stragglers than this, no detector is called the best: a single straggler would decide.
pub(crate) const ENOUGH_STRAGGLERS: u64 = 10;
/// A detector that found a smaller share of the stragglers is not called the best, however precise it is.
pub(crate) const ENOUGH_RECALL: f64 = 0.2;
/// Precision counts more than recall (F-score with beta 0.5). The first-order model charges no time for false
/// positives, but on shared machines they cost time: in S0's table 7 and figure 4 Hierarchical, with half the
/// recall of Default and twice its precision, ends a third earlier, although the model ranks it behind.
pub(crate) const BETA: f64 = 0.5;

/// The usual times and labels that the tasks of a group are judged by, in the order of its executions.
#[derive(Debug, Clone, PartialEq)]
pub struct GroundTruth {
    /// Usual time of each task, in seconds.
    pub usual: Vec<Option<f64>>,
    /// Whether each task was a straggler; `None` if that is unknown.
    pub stragglers: Vec<Option<bool>>,
    /// Where the usual times come from; `None` if one limit labelled the whole group.
    pub source: Option<UsualSource>,
}

impl GroundTruth {
    /// Labels tasks that took more than 1.2 times their usual time (S0 section 6.1). `others` are other runs
    /// of the same group, if any.
    #[must_use]
    pub fn usual(executions: &Executions, rule: &UsualRule, others: &[&[TaskTime]]) -> Self {
        let time = |task: &Execution| {
            (TaskTime { number: None, duration: task.duration, input: task.input() }, task.certainty)
        };
        let times: Vec<(TaskTime, Certainty)> = executions.tasks.iter().map(time).collect();
        Self::of_times(&times, rule, others)
    }

    /// Labels stored times of a group in the same way.
    #[must_use]
    pub fn of_times(times: &[(TaskTime, Certainty)], rule: &UsualRule, others: &[&[TaskTime]]) -> Self {
        let run: Vec<TaskTime> = times.iter().map(|(time, _)| *time).collect();
        let (usual, source) = rule.usual(&run, others);
        let enough = run.len() >= MIN_TASKS;
        let label = |((time, certainty), usual): (&(TaskTime, Certainty), &Option<f64>)| {
            let straggler =
                label_by_usual(time.duration, usual.filter(|&usual| usual > 0.0), rule.factor, Edge::Above);
            // A lower bound below the limit does not decide the label.
            straggler
                .map(|straggler| straggler && enough)
                .filter(|&it| it || *certainty != Certainty::AtLeast)
        };
        let stragglers = times.iter().zip(&usual).map(label).collect();
        Self { usual, stragglers, source: Some(source) }
    }
}

/// Results of the detectors on one group.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupEvaluation {
    /// One entry per detector: the cluster's own speculation first, then the replayed ones.
    pub detectors: Vec<Evaluated>,
    /// Tasks whose label is unknown; no ratio counts them.
    pub undetermined: u64,
    /// Where the usual times come from.
    pub usual_source: Option<UsualSource>,
    /// Where the progress curves come from.
    pub sources: Sources,
    /// Whether most of the curves use knowledge of the future (`Replay::is_optimistic`).
    pub optimistic: bool,
    /// Time between scans at the start and at the end.
    pub steps: (Millis, Millis),
}

/// Results of one detector on one group, one job or many jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// The detector's name.
    pub id: &'static str,
    /// Its settings.
    pub parameters: Vec<Parameter>,
    /// The engine that ships it; `None` for detectors from papers and other systems.
    pub engine: Option<Engine>,
    /// Its quality.
    pub quality: Quality,
    /// For each execution, the time from the launch of the attempt to its detection; empty in sums over
    /// groups.
    pub detections: Vec<Option<Millis>>,
}

impl GroupEvaluation {
    /// Replays the detectors on a group and rates them.
    #[must_use]
    pub fn of(
        group: &TaskGroup,
        executions: &Executions,
        truth: &GroundTruth,
        detectors: &[Box<dyn Detector>],
        options: &Options,
    ) -> Self {
        let timeline = Timeline::of(group, executions);
        let places = timeline.places();
        let replay: Replay = replay(&timeline, detectors, options);
        let optimistic = replay.is_optimistic();
        let actual = Evaluated {
            id: ACTUAL,
            parameters: Vec::new(),
            engine: None,
            quality: Quality::default(),
            detections: actual(group, executions),
        };
        let replayed = replay.detectors.into_iter().zip(detectors).map(|(detections, detector)| {
            let of = |attempt: usize| *detections.first.get(*places.get(&attempt)?)?;
            Evaluated {
                id: detections.id,
                engine: detector.engine(),
                quality: Quality::default(),
                detections: executions.tasks.iter().map(|task| of(task.attempt())).collect(),
                parameters: detections.parameters,
            }
        });
        let mut evaluated: Vec<Evaluated> = std::iter::once(actual).chain(replayed).collect();
        for detector in &mut evaluated {
            detector.quality = quality(executions, truth, &detector.detections);
        }
        Self {
            detectors: evaluated,
            undetermined: truth.stragglers.iter().filter(|label| label.is_none()).count() as u64,
            usual_source: truth.source,
            optimistic,
            sources: replay.sources,
            steps: (replay.step, replay.last_step),
        }
    }
}

fn quality(executions: &Executions, truth: &GroundTruth, detections: &[Option<Millis>]) -> Quality {
    let columns = truth.usual.iter().zip(&truth.stragglers).zip(detections);
    let tasks = executions.tasks.iter().zip(columns).filter_map(|(task, ((usual, straggler), detected))| {
        Some(Judged {
            duration: task.duration,
            usual: (*usual)?,
            straggler: (*straggler)?,
            detected: detected.map(|at| at.as_f64() / 1000.0),
        })
    });
    Quality::of(tasks)
}

/// What the cluster's speculation did: for each execution, the time from the launch of the judged attempt to
/// the launch of the first copy. The copy had to wait for a free slot, so the task was flagged at that time
/// or earlier.
#[must_use]
pub fn actual(group: &TaskGroup, executions: &Executions) -> Vec<Option<Millis>> {
    let by_task = AttemptsByTask::of(group);
    let start = |row: usize| group.attempts.time(row, TimePoint::Start);
    let of_task = |task: &Execution| {
        let launched = start(task.attempt())?;
        let rows = by_task.of_task(task.task());
        let copies =
            rows.filter(|&row| row != task.attempt() && group.attempts.is_speculative(row) == Some(true));
        copies.filter_map(|row| Millis::between(launched, start(row)?)).min()
    };
    executions.tasks.iter().map(of_task).collect()
}

/// Results of the detectors on one job: the sum over its groups. All groups must have been judged by the same
/// detectors.
#[must_use]
pub fn sum(groups: &[GroupEvaluation]) -> Vec<Evaluated> {
    let mut sums: Vec<Evaluated> = Vec::new();
    for group in groups {
        for (place, detector) in group.detectors.iter().enumerate() {
            match sums.get_mut(place) {
                Some(sum) => sum.quality = sum.quality + detector.quality,
                None => sums.push(Evaluated { detections: Vec::new(), ..detector.clone() }),
            }
        }
    }
    sums
}

/// One row of the detector ranking.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Ranked {
    /// Index of the detector in the ranked list.
    pub place: usize,
    /// F-score of precision and strict recall with beta 0.5; `None` if the detector flagged nothing or there
    /// were no stragglers.
    pub score: Option<f64>,
    /// Change of the mean task time by the first-order model, as a share of the time without detection;
    /// negative if tasks would have been shorter, never below −1. `None` if the model lacks a value.
    pub time_change: Option<f64>,
    /// Change of the mean task energy, in the same way.
    pub energy_change: Option<f64>,
}

/// Sorts detectors, best first: by score, then by the change of time, then by fewer false positives, then by input
/// order.
#[must_use]
pub fn rank(detectors: &[Evaluated]) -> Vec<Ranked> {
    let ranked = |(place, detector): (usize, &Evaluated)| {
        let quality = &detector.quality;
        let (time_change, energy_change) = (quality.time_change(), quality.energy_change());
        Ranked { place, score: quality.f_score(BETA), time_change, energy_change }
    };
    let mut rows: Vec<Ranked> = detectors.iter().enumerate().map(ranked).collect();
    // A detector that flags nothing saves nothing and does no harm.
    let key = |value: Option<f64>| value.unwrap_or(0.0);
    let harm = |row: &Ranked| {
        let quality = detectors.get(row.place).map(|detector| detector.quality).unwrap_or_default();
        quality.detected.saturating_sub(quality.true_positives)
    };
    rows.sort_by(|a, b| {
        let by_score = key(b.score).total_cmp(&key(a.score));
        let by_time = key(a.time_change).total_cmp(&key(b.time_change));
        by_score.then(by_time).then(harm(a).cmp(&harm(b))).then(a.place.cmp(&b.place))
    });
    rows
}

/// The detector that would have performed best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Best {
    /// Too few stragglers to tell.
    TooFew {
        /// How many there were.
        stragglers: u64,
    },
    /// No detector would have shortened the tasks.
    None,
    /// Detectors would have shortened the tasks, but found too small a share of the stragglers. The
    /// best-ranked of them:
    FewFound {
        /// Its name.
        id: &'static str,
        /// Its index among the detectors.
        place: usize,
    },
    /// This detector.
    Detector {
        /// Its name.
        id: &'static str,
        /// Its index among the detectors.
        place: usize,
    },
}

/// Picks the best detector: the first in the ranking that saves time, except for the cluster's own
/// speculation. Considers only detectors whose places are `offered`.
#[must_use]
pub fn best(detectors: &[Evaluated], offered: impl Fn(usize) -> bool) -> Best {
    let stragglers = detectors.iter().map(|detector| detector.quality.stragglers).max().unwrap_or(0);
    if stragglers < ENOUGH_STRAGGLERS {
        return Best::TooFew { stragglers };
    }
    let ranked = rank(detectors);
    let candidates = ranked.iter().filter_map(|row| Some((detectors.get(row.place)?, row)));
    let mut useful = candidates.filter(|(detector, row)| {
        detector.id != ACTUAL
            && offered(row.place)
            && row.score.is_some_and(|score| score > 0.0)
            && row.time_change.is_some_and(|change| change < 0.0)
    });
    let Some((first, row)) = useful.next() else { return Best::None };
    let finds_enough =
        |detector: &Evaluated| detector.quality.recall().is_some_and(|recall| recall >= ENOUGH_RECALL);
    let best = std::iter::once((first, row)).chain(useful).find(|(detector, _)| finds_enough(detector));
    match best {
        Some((detector, row)) => Best::Detector { id: detector.id, place: row.place },
        None => Best::FewFound { id: first.id, place: row.place },
    }
}

impl fmt::Display for Best {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { stragglers: 0 } => {
                write!(f, "no task was overdue, so detectors cannot be compared")
            }
            Self::TooFew { stragglers: 1 } => write!(f, "1 overdue task is too few to compare detectors"),
            Self::TooFew { stragglers } => {
                write!(f, "{stragglers} overdue tasks are too few to compare detectors")
            }
            Self::None => {
                write!(f, "no detector would have shortened the tasks")
            }
            Self::FewFound { .. } => {
                write!(f, "no detector would have found {:.0} % of the overdue tasks", 100.0 * ENOUGH_RECALL)
            }
            Self::Detector { id, .. } => write!(f, "{id} would have performed best"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pool::pool;
    use super::*;

    fn quality_of(tasks: &[(f64, Option<f64>)]) -> Quality {
        let judged = |&(duration, detected): &(f64, Option<f64>)| Judged {
            duration,
            usual: 10.0,
            straggler: duration > 12.0,
            detected,
        };
        Quality::of(tasks.iter().map(judged))
    }

    fn detector(id: &'static str, engine: Option<Engine>, tasks: &[(f64, Option<f64>)]) -> Evaluated {
        let quality = quality_of(tasks);
        Evaluated { id, parameters: Vec::new(), engine, quality, detections: Vec::new() }
    }

    fn tasks(stragglers: usize, found: Option<f64>, others: Option<f64>) -> Vec<(f64, Option<f64>)> {
        let mut tasks = vec![(40.0, found); stragglers];
        tasks.extend(vec![(10.0, others); 90]);
        tasks
    }

    #[test]
    fn a_few_stragglers_do_not_pick_a_winner() {
        let few = [detector("late", None, &tasks(9, Some(5.0), None))];
        assert_eq!(best(&few, |_| true), Best::TooFew { stragglers: 9 });
        assert_eq!(best(&[], |_| true), Best::TooFew { stragglers: 0 });
    }

    #[test]
    fn the_best_detector_saves_time_and_ships_with_the_engine() {
        let all = [
            detector(ACTUAL, None, &tasks(10, Some(5.0), None)),
            detector("never", None, &tasks(10, None, None)),
            detector("all", None, &tasks(10, Some(5.0), Some(5.0))),
            detector("exact", None, &tasks(10, Some(12.0), None)),
            detector("spark-3", Some(Engine::Spark), &tasks(10, Some(15.0), None)),
        ];
        let order: Vec<usize> = rank(&all).iter().map(|row| row.place).collect();
        assert_eq!(order, [0, 3, 4, 2, 1]);
        assert_eq!(best(&all, |_| true), Best::Detector { id: "exact", place: 3 });
        assert_eq!(best(&all, |place| place == 4), Best::Detector { id: "spark-3", place: 4 });
        assert_eq!(best(&all, |_| false), Best::None);
        let late = [detector("late", None, &tasks(10, Some(39.0), None))];
        assert_eq!(best(&late, |_| true), Best::None);
    }

    #[test]
    fn a_detector_that_finds_less_than_a_fifth_is_not_the_best() {
        let finds = |id, found: usize| {
            let missed = tasks(100 - found, None, None);
            let found = std::iter::repeat_n((40.0, Some(5.0)), found);
            detector(id, None, &missed.into_iter().chain(found).collect::<Vec<_>>())
        };
        let one = [finds("late", 19)];
        assert_eq!(best(&one, |_| true), Best::FewFound { id: "late", place: 0 });
        assert_eq!(
            best(&one, |_| true).to_string(),
            "no detector would have found 20 % of the overdue tasks"
        );
        let two = [finds("late", 19), finds("mantri", 20)];
        assert_eq!(best(&two, |_| true), Best::Detector { id: "mantri", place: 1 });
    }

    #[test]
    fn jobs_are_pooled_as_micro_and_macro_averages() {
        let (one, other) = (tasks(10, Some(5.0), None), [(40.0, None), (40.0, None), (10.0, None)]);
        let jobs = [vec![detector("late", None, &one)], vec![detector("late", None, &other)]];
        let pooled = pool(&jobs);
        assert_eq!(pooled[0].total.quality.recall(), Some(10.0 / 12.0));
        assert_eq!(pooled[0].means.recall, Some(0.5));
        assert_eq!(pooled[0].means.precision, Some(1.0));
        assert_eq!(pool(&[]), []);
    }

    #[test]
    fn bounds_below_the_limit_are_undetermined() {
        let task = |duration, certainty| Execution::of_row(0, duration, certainty, None).unwrap();
        let mut executions = Executions::default();
        executions.tasks.extend(std::iter::repeat_n(task(10.0, Certainty::Measured), 5));
        executions.tasks.push(task(11.0, Certainty::AtLeast));
        executions.tasks.push(task(13.0, Certainty::AtLeast));
        let truth = GroundTruth::usual(&executions, &UsualRule::default(), &[]);
        assert_eq!(truth.stragglers[4..], [Some(false), None, Some(true)]);
        let alone = Executions { tasks: vec![task(10.0, Certainty::Measured)], ..Executions::default() };
        assert_eq!(GroundTruth::usual(&alone, &UsualRule::default(), &[]).stragglers, [Some(false)]);
    }
}
