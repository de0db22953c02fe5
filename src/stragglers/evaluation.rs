//! How well detectors would have served finished jobs, and which one best.

use std::fmt;

use super::detect::{Detector, Parameter};
use super::executions::{AttemptsByTask, Certainty, Execution, Executions};
use super::labels::{Edge, Labels, MIN_TASKS, TaskTime, UsualRule, UsualSource, label_by_usual};
use super::quality::{Judged, Quality};
use super::replay::{Options, Replay, Sources, Timeline, replay};
use crate::model::Engine;
use crate::model::table::{TaskGroup, TimePoint};
use crate::units::Millis;

/// The name of the cluster's own speculation among detectors.
pub const ACTUAL: &str = "actual";
/// With fewer stragglers than this one more or less decides, and no detector is called the best.
pub const ENOUGH_STRAGGLERS: u64 = 10;
/// Precision counts twice as much as recall. The first-order model has false positives cost no time, but where machines
/// are shared they do: in S0's table 7 and figure 4 Hierarchical, with half the recall of Default and twice its precision,
/// ends a third earlier, while the model's time ranks it behind.
pub const BETA: f64 = 0.5;

/// What the tasks of a group are judged by, in the order of its executions.
#[derive(Debug, Clone, PartialEq)]
pub struct GroundTruth {
    /// How long each usually takes, in seconds.
    pub usual: Vec<Option<f64>>,
    /// Whether each was a straggler; `None` where it cannot be told.
    pub stragglers: Vec<Option<bool>>,
    /// Where the usual times come from; `None` for a label of the whole group.
    pub source: Option<UsualSource>,
}

impl GroundTruth {
    /// More than 1.2 times the usual time (S0 section 6.1), with other runs of the same group where there are some.
    #[must_use]
    pub fn usual(executions: &Executions, rule: &UsualRule, others: &[&[TaskTime]]) -> Self {
        let time =
            |task: &Execution| (TaskTime { duration: task.duration, input: task.input() }, task.certainty);
        let times: Vec<(TaskTime, Certainty)> = executions.tasks.iter().map(time).collect();
        Self::of_times(&times, rule, others)
    }

    /// The same for times that were kept of a group.
    #[must_use]
    pub fn of_times(times: &[(TaskTime, Certainty)], rule: &UsualRule, others: &[&[TaskTime]]) -> Self {
        let run: Vec<TaskTime> = times.iter().map(|(time, _)| *time).collect();
        let (usual, source) = rule.usual(&run, others);
        let enough = run.len() >= MIN_TASKS;
        let label = |((time, certainty), usual): (&(TaskTime, Certainty), &Option<f64>)| {
            let straggler =
                label_by_usual(time.duration, usual.filter(|&usual| usual > 0.0), rule.factor, Edge::Above);
            // A lower bound below the limit tells nothing.
            straggler
                .map(|straggler| straggler && enough)
                .filter(|&it| it || *certainty != Certainty::AtLeast)
        };
        let stragglers = times.iter().zip(&usual).map(label).collect();
        Self { usual, stragglers, source: Some(source) }
    }

    /// Labels by a multiple of the group's mean or median, which then stands for the usual time.
    #[must_use]
    pub fn group(labels: &Labels) -> Self {
        let usual = vec![labels.limit.map(|limit| limit.reference); labels.stragglers.len()];
        Self { usual, stragglers: labels.stragglers.clone(), source: None }
    }
}

/// The detectors over one group.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupEvaluation {
    /// Detector by detector: the cluster's own speculation first, then those that were replayed.
    pub detectors: Vec<Evaluated>,
    /// Tasks of which it cannot be told whether they were stragglers; they are outside of all ratios.
    pub undetermined: u64,
    /// Where the usual times come from.
    pub usual_source: Option<UsualSource>,
    /// What progress curves were drawn from.
    pub sources: Sources,
    /// Whether most of them know the future ([`Replay::is_optimistic`]).
    pub optimistic: bool,
    /// Time between scans at the beginning and at the end.
    pub steps: (Millis, Millis),
}

/// One detector over one group, one job or many.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// The detector's name.
    pub id: &'static str,
    /// Its settings.
    pub parameters: Vec<Parameter>,
    /// The engine that offers it; `None` for those of papers and other systems.
    pub engine: Option<Engine>,
    /// How good it was.
    pub quality: Quality,
    /// For each execution the time from the launch of the attempt to its detection; empty in sums over groups.
    pub detections: Vec<Option<Millis>>,
}

impl GroupEvaluation {
    /// Replays the detectors over a group and judges them.
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

/// What the cluster's speculation did: for each execution the time from the launch of the judged attempt to that of the
/// first copy. The copy had to wait for its place, so the task was flagged at that moment at the latest.
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

/// The detectors over one job: the sum over its groups, which were all judged by the same detectors.
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

/// One detector over many jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pooled {
    /// The counts of all jobs added up (micro mean).
    pub total: Evaluated,
    /// Means over the jobs in which they are known (macro means).
    pub means: Means,
}

/// Means of ratios over the jobs in which they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[allow(missing_docs)] // the ratios of `Quality`
pub struct Means {
    pub precision: Option<f64>,
    pub precision_raw: Option<f64>,
    pub recall: Option<f64>,
    pub recall_strict: Option<f64>,
    pub detection_latency: Option<f64>,
    pub undetected_time: Option<f64>,
    pub fake_positive_ratio: Option<f64>,
}

impl Means {
    fn of(jobs: &[Quality]) -> Self {
        let mean = |ratio: fn(&Quality) -> Option<f64>| {
            let known: Vec<f64> = jobs.iter().filter_map(ratio).collect();
            crate::stats::descriptive::mean(&known)
        };
        Self {
            precision: mean(Quality::precision),
            precision_raw: mean(Quality::precision_raw),
            recall: mean(Quality::recall),
            recall_strict: mean(Quality::recall_strict),
            detection_latency: mean(Quality::detection_latency),
            undetected_time: mean(Quality::undetected_time),
            fake_positive_ratio: mean(Quality::fake_positive_ratio),
        }
    }
}

/// Pools jobs that were judged by the same detectors, each as [`sum`] gives it.
#[must_use]
pub fn pool(jobs: &[Vec<Evaluated>]) -> Vec<Pooled> {
    let Some(longest) = jobs.iter().max_by_key(|job| job.len()) else { return Vec::new() };
    let pooled = longest.iter().enumerate().map(|(place, detector)| {
        let qualities: Vec<Quality> =
            jobs.iter().filter_map(|job| job.get(place)).map(|detector| detector.quality).collect();
        let quality = qualities.iter().copied().fold(Quality::default(), |sum, quality| sum + quality);
        Pooled {
            total: Evaluated { quality, detections: Vec::new(), ..detector.clone() },
            means: Means::of(&qualities),
        }
    });
    pooled.collect()
}

/// One line of the table that ranks detectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The place among the detectors that were ranked.
    pub place: usize,
    /// F-score of precision and strict recall with [`BETA`]; `None` where it flagged nothing or there were no stragglers.
    pub score: Option<f64>,
    /// By how much a mean task would have been shorter than without any detection, as a share of its usual time, by the
    /// first-order model; `None` where the model is not valid or lacks a value. Negative where it would have been longer.
    pub time_saved: Option<f64>,
    /// By how much its energy would have grown, in the same way.
    pub energy_added: Option<f64>,
}

/// The best first: by score, then by the time that would have been saved, then by fewer tasks flagged in vain, then in
/// the order of the detectors.
#[must_use]
pub fn rank(detectors: &[Evaluated]) -> Vec<Ranked> {
    let ranked = |(place, detector): (usize, &Evaluated)| {
        let quality = &detector.quality;
        let model = quality.first_order().filter(super::first_order::FirstOrder::is_valid);
        // Energy and time of doing nothing are the same in the model.
        let nothing = quality.time_without_detection();
        let than_nothing = |value: Option<f64>| Some(value? - nothing?);
        Ranked {
            place,
            score: quality.f_score(BETA),
            time_saved: than_nothing(model.and_then(|model| model.expected_time())).map(|added| -added),
            energy_added: than_nothing(model.and_then(|model| model.expected_energy())),
        }
    };
    let mut rows: Vec<Ranked> = detectors.iter().enumerate().map(ranked).collect();
    // One that flags nothing saves nothing, and does no harm either.
    let key = |value: Option<f64>| value.unwrap_or(0.0);
    let harm = |row: &Ranked| {
        let quality = detectors.get(row.place).map(|detector| detector.quality).unwrap_or_default();
        quality.detected.saturating_sub(quality.true_positives)
    };
    rows.sort_by(|a, b| {
        let by_score = key(b.score).total_cmp(&key(a.score));
        let by_time = key(b.time_saved).total_cmp(&key(a.time_saved));
        by_score.then(by_time).then(harm(a).cmp(&harm(b))).then(a.place.cmp(&b.place))
    });
    rows
}

/// Which detector would have served best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Best {
    /// Too few stragglers to tell.
    TooFew {
        /// How many there were.
        stragglers: u64,
    },
    /// None would have made tasks shorter.
    None,
    /// The detector at this place.
    Detector {
        /// Its name.
        id: &'static str,
        /// Its place among the detectors.
        place: usize,
    },
}

/// Which of the detectors would have served best: the first of the ranking that saves time, the cluster's own aside. With
/// an engine, only what that engine offers is looked at.
#[must_use]
pub fn best(detectors: &[Evaluated], engine: Option<Engine>) -> Best {
    let stragglers = detectors.iter().map(|detector| detector.quality.stragglers).max().unwrap_or(0);
    if stragglers < ENOUGH_STRAGGLERS {
        return Best::TooFew { stragglers };
    }
    let candidates = rank(detectors).into_iter().filter_map(|row| Some((detectors.get(row.place)?, row)));
    let found = candidates.into_iter().find(|(detector, row)| {
        let offered = engine.is_none_or(|engine| detector.engine == Some(engine));
        detector.id != ACTUAL
            && offered
            && row.score.is_some_and(|score| score > 0.0)
            && row.time_saved.is_some_and(|saved| saved > 0.0)
    });
    found.map_or(Best::None, |(detector, row)| Best::Detector { id: detector.id, place: row.place })
}

impl fmt::Display for Best {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { stragglers: 1 } => write!(f, "1 straggler is too few to tell detectors apart"),
            Self::TooFew { stragglers } => {
                write!(f, "{stragglers} stragglers are too few to tell detectors apart")
            }
            Self::None => {
                write!(f, "no detector would have made tasks shorter than leaving stragglers alone")
            }
            Self::Detector { id, .. } => write!(f, "{id} would have served best"),
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn a_few_stragglers_tell_nothing() {
        let few = [detector("late", None, &tasks(9, Some(5.0), None))];
        assert_eq!(best(&few, None), Best::TooFew { stragglers: 9 });
        assert_eq!(best(&[], None), Best::TooFew { stragglers: 0 });
    }

    #[test]
    fn the_best_saves_time_and_is_offered() {
        let all = [
            detector(ACTUAL, None, &tasks(10, Some(5.0), None)),
            detector("never", None, &tasks(10, None, None)),
            detector("all", None, &tasks(10, Some(5.0), Some(5.0))),
            detector("exact", None, &tasks(10, Some(12.0), None)),
            detector("spark-3", Some(Engine::Spark), &tasks(10, Some(15.0), None)),
        ];
        let order: Vec<usize> = rank(&all).iter().map(|row| row.place).collect();
        assert_eq!(order, [0, 3, 4, 2, 1]);
        assert_eq!(best(&all, None), Best::Detector { id: "exact", place: 3 });
        assert_eq!(best(&all, Some(Engine::Spark)), Best::Detector { id: "spark-3", place: 4 });
        assert_eq!(best(&all, Some(Engine::MapReduce)), Best::None);
        let late = [detector("late", None, &tasks(10, Some(39.0), None))];
        assert_eq!(best(&late, None), Best::None);
    }

    #[test]
    fn jobs_are_pooled_both_ways() {
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
