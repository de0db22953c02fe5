//! The flags of detectors on a group, stored compactly until all runs of a job are known.

use crate::survey::Settings;
use elephant_analysis::stragglers::detect::options::EngineSetting;
use elephant_analysis::stragglers::detect::spark::SparkSpeculation;
use elephant_analysis::stragglers::detect::spark_settings::grid;
use elephant_analysis::stragglers::detect::{Detector, all_with};
use elephant_analysis::stragglers::evaluation::{ACTUAL, Evaluated, GroundTruth, GroupEvaluation};
use elephant_analysis::stragglers::executions::Executions;
use elephant_analysis::stragglers::quality::{Judged, Quality};
use elephant_analysis::stragglers::regression::ProgressModel;
use elephant_analysis::stragglers::replay::{Options, Sources};
use elephant_analysis::stragglers::usual::UsualSource;
use elephant_base::state::State;
use elephant_base::units::Millis;
use elephant_model::model::Engine;
use elephant_model::model::conf::defaults::Version;
use elephant_model::model::table::TaskGroup;

/// A task that a detector flagged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
struct Detection {
    /// The task's index among the executions of its group.
    place: u32,
    /// The time since the launch of its attempt.
    after: Millis,
}

/// Result of a replay of a group.
#[derive(Debug, Clone, PartialEq, State)]
pub(super) struct Replayed {
    /// Sorted by detector, as its index in [`catalogue`], then by task.
    detections: Vec<(u8, Detection)>,
    sources: Sources,
    optimistic: bool,
    steps: (Millis, Millis),
    model_runs: u64,
}

/// Name of Spark's speculation with each of the tried settings.
pub const SWEPT: &str = "spark-sweep";

/// The detectors to replay.
fn detectors(settings: &Settings) -> Vec<Box<dyn Detector>> {
    let mut detectors = all_with(&settings.detectors);
    if settings.sweep {
        detectors.extend(grid(SparkSpeculation { id: SWEPT, ..SparkSpeculation::V3_4 }));
    }
    detectors
}

/// The detectors without results: the cluster's own speculation, then the replayed ones.
pub(super) fn catalogue(settings: &Settings) -> Vec<Evaluated> {
    let evaluated = |id, parameters, engine| Evaluated {
        id,
        parameters,
        engine,
        quality: Quality::default(),
        detections: Vec::new(),
    };
    let replayed = detectors(settings);
    let replayed = replayed.iter().map(|it| evaluated(it.id(), it.parameters(), it.engine()));
    std::iter::once(evaluated(ACTUAL, Vec::new(), None)).chain(replayed).collect()
}

/// The detectors that an engine ships, as their indices in [`catalogue`]; without those of a sweep, which are many.
pub(super) fn offered(settings: &Settings, engine: Engine) -> Vec<u8> {
    let detectors = detectors(settings);
    let offered = (1u8..).zip(&detectors).filter(|(_, it)| it.engine() == Some(engine) && it.id() != SWEPT);
    offered.map(|(place, _)| place).collect()
}

/// For each index in [`catalogue`], the settings that make this version of an engine work like that detector;
/// empty if no settings do.
pub(super) fn engine_settings(
    settings: &Settings,
    (engine, version): (Engine, Option<Version>),
) -> Vec<Vec<EngineSetting>> {
    let of = |detector: Box<dyn Detector>| {
        if detector.engine() == Some(engine) { detector.settings(version) } else { Vec::new() }
    };
    std::iter::once(Vec::new()).chain(detectors(settings).into_iter().map(of)).collect()
}

/// Results of the detectors on a group.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// Tasks whose label is unknown; no ratio counts them.
    pub undetermined: u64,
    /// Where the usual times come from.
    pub usual_source: Option<UsualSource>,
    /// Progress curves by source.
    pub sources: Sources,
    /// Whether most of them use knowledge of the future.
    pub optimistic: bool,
    /// Time between scans at the start and at the end.
    pub steps: (Millis, Millis),
    /// Number of earlier runs that usual progress was learnt from; 0 if from the tasks that succeeded while the job ran.
    pub model_runs: u64,
}

impl Replayed {
    /// Replays all detectors on a group. Uses the usual progress in earlier runs, given with their number, if
    /// there are any.
    pub(super) fn of(
        group: &TaskGroup,
        executions: &Executions,
        engine: Engine,
        progress: Option<(ProgressModel, u64)>,
        settings: &Settings,
    ) -> Self {
        let own = Options::of_engine(engine);
        let (usual_progress, model_runs) = progress.unzip();
        let options = Options {
            startup: settings.startup,
            report: settings.report.unwrap_or(own.report),
            usual_progress,
            ..own
        };
        let truth = GroundTruth::usual(executions, &settings.usual, &[]);
        let evaluation = GroupEvaluation::of(group, executions, &truth, &detectors(settings), &options);
        let flagged = (0u8..).zip(evaluation.detectors).flat_map(|(detector, evaluated)| {
            let tasks = (0u32..).zip(evaluated.detections);
            tasks.filter_map(move |(place, after)| Some((detector, Detection { place, after: after? })))
        });
        Self {
            detections: flagged.collect(),
            sources: evaluation.sources,
            optimistic: evaluation.optimistic,
            steps: evaluation.steps,
            model_runs: model_runs.unwrap_or_default(),
        }
    }

    /// The tasks that a detector flagged, as their index among the executions, with the time from launch to
    /// flag.
    pub(super) fn flagged(&self, detector: u8) -> impl Iterator<Item = (usize, Millis)> + '_ {
        let own = self.detections.iter().filter(move |(it, _)| *it == detector);
        own.map(|(_, detection)| (detection.place as usize, detection.after))
    }

    /// Adds the results of each detector of the catalogue, rated against `truth`.
    pub(super) fn judge(
        &self,
        durations: &[f64],
        truth: &GroundTruth,
        detectors: &mut [Evaluated],
    ) -> Evaluation {
        let mut rest = self.detections.as_slice();
        for (number, detector) in (0u8..).zip(detectors) {
            let (own, others) = rest.split_at(rest.partition_point(|&(it, _)| it <= number));
            rest = others;
            detector.quality = detector.quality + quality(own, durations, truth);
        }
        Evaluation {
            undetermined: truth.stragglers.iter().filter(|label| label.is_none()).count() as u64,
            usual_source: truth.source,
            sources: self.sources,
            optimistic: self.optimistic,
            steps: self.steps,
            model_runs: self.model_runs,
        }
    }
}

fn quality(detections: &[(u8, Detection)], durations: &[f64], truth: &GroundTruth) -> Quality {
    let mut flagged = detections.iter().peekable();
    let tasks = (0u32..).zip(durations).zip(truth.usual.iter().zip(&truth.stragglers)).filter_map(
        |((place, &duration), (usual, straggler))| {
            let detected = flagged.next_if(|(_, detection)| detection.place == place);
            Some(Judged {
                duration,
                usual: (*usual)?,
                straggler: (*straggler)?,
                detected: detected.map(|(_, detection)| detection.after.as_f64() / 1000.0),
            })
        },
    );
    Quality::of(tasks)
}
