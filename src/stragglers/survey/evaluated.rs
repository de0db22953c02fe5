//! What detectors flagged in a group, kept small until all runs of a job are known.

use crate::model::Engine;
use crate::model::table::TaskGroup;
use crate::stragglers::detect::{Parameter, all};
use crate::stragglers::evaluation::{Evaluated, GroundTruth, GroupEvaluation};
use crate::stragglers::executions::Executions;
use crate::stragglers::labels::UsualSource;
use crate::stragglers::quality::{Judged, Quality};
use crate::stragglers::replay::{Options, Sources};
use crate::stragglers::survey::Settings;
use crate::units::Millis;

/// A task that a detector flagged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detection {
    /// The task's place among the executions of its group.
    pub place: u32,
    /// The time since the launch of its attempt.
    pub after: Millis,
}

/// A detector with the tasks that it flagged.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Flags {
    id: &'static str,
    parameters: Vec<Parameter>,
    engine: Option<Engine>,
    detections: Vec<Detection>,
}

/// What a replay of a group left.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Replayed {
    flags: Vec<Flags>,
    sources: Sources,
    optimistic: bool,
    steps: (Millis, Millis),
}

/// How detectors did in a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Tasks of which it cannot be told whether they were stragglers; they are outside of all ratios.
    pub undetermined: u64,
    /// Where the usual times come from.
    pub usual_source: Option<UsualSource>,
    /// Progress curves by what they were drawn from.
    pub sources: Sources,
    /// Whether most of them know the future.
    pub optimistic: bool,
    /// Time between scans at the beginning and at the end.
    pub steps: (Millis, Millis),
}

/// The detectors over one group.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GroupDetectors {
    pub(super) detectors: Vec<Evaluated>,
    pub(super) evaluation: Option<Evaluation>,
}

impl Replayed {
    /// Takes all detectors through a group.
    pub(super) fn of(
        group: &TaskGroup,
        executions: &Executions,
        engine: Engine,
        settings: &Settings,
    ) -> Self {
        let own = Options::of_engine(engine);
        let options =
            Options { startup: settings.startup, report: settings.report.unwrap_or(own.report), ..own };
        let truth = GroundTruth::usual(executions, &settings.usual, &[]);
        let evaluation = GroupEvaluation::of(group, executions, &truth, &all(), &options);
        let flags = evaluation.detectors.into_iter().map(|detector| Flags {
            id: detector.id,
            parameters: detector.parameters,
            engine: detector.engine,
            detections: (0u32..)
                .zip(detector.detections)
                .filter_map(|(place, after)| Some(Detection { place, after: after? }))
                .collect(),
        });
        Self {
            flags: flags.collect(),
            sources: evaluation.sources,
            optimistic: evaluation.optimistic,
            steps: evaluation.steps,
        }
    }

    /// Judges the detectors by the truth.
    pub(super) fn judge(&self, durations: &[f64], truth: &GroundTruth) -> GroupDetectors {
        let evaluated = |flags: &Flags| Evaluated {
            id: flags.id,
            parameters: flags.parameters.clone(),
            engine: flags.engine,
            quality: flags.quality(durations, truth),
            detections: Vec::new(),
        };
        GroupDetectors {
            detectors: self.flags.iter().map(evaluated).collect(),
            evaluation: Some(Evaluation {
                undetermined: truth.stragglers.iter().filter(|label| label.is_none()).count() as u64,
                usual_source: truth.source,
                sources: self.sources,
                optimistic: self.optimistic,
                steps: self.steps,
            }),
        }
    }
}

impl Flags {
    fn quality(&self, durations: &[f64], truth: &GroundTruth) -> Quality {
        let mut flagged = self.detections.iter().peekable();
        let tasks = (0u32..).zip(durations).zip(truth.usual.iter().zip(&truth.stragglers)).filter_map(
            |((place, &duration), (usual, straggler))| {
                let detected = flagged.next_if(|detection| detection.place == place);
                Some(Judged {
                    duration,
                    usual: (*usual)?,
                    straggler: (*straggler)?,
                    detected: detected.map(|detection| detection.after.as_f64() / 1000.0),
                })
            },
        );
        Quality::of(tasks)
    }
}
