//! Settings of a replay.

use crate::stragglers::regression::ProgressModel;
use elephant_base::units::Millis;
use elephant_model::model::Engine;

/// Settings of a replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Time between scans.
    pub step: Millis,
    /// Time between reports of an attempt, counted from its launch.
    pub report: Millis,
    /// Time after launch without progress, for curves that are straight lines. Containers and JVMs need time
    /// to start, and a line from the launch would be more optimistic.
    pub startup: Millis,
    /// After this many observations of running attempts the step doubles, and again after as many more, so
    /// the cost of a replay grows with the logarithm of a job's length. Small groups use a limit of 1,000 per
    /// task.
    pub observations_per_step: u64,
    /// Usual progress of the group's tasks, from earlier runs of the job; otherwise it is learnt from the
    /// tasks that succeed while the job runs.
    pub usual_progress: Option<ProgressModel>,
    /// Whether attempts without a curve report their progress while they run. Their progress is 0 until the
    /// first report.
    pub told_progress: bool,
}

impl Options {
    /// MapReduce: a scan each second and a report every 3 s. Spark: a scan every 100 ms
    /// (`spark.speculation.interval`) and a report every 10 s (`spark.executor.heartbeatInterval`). Tez: a scan each second (`LegacySpeculator`) and a
    /// report every 100 ms (`tez.task.am.heartbeat.interval-ms.max`).
    #[must_use]
    pub const fn of_engine(engine: Engine) -> Self {
        let (step, report) = match engine {
            Engine::MapReduce => (1000, 3000),
            Engine::Spark => (100, 10_000),
            Engine::Tez => (1000, 100),
        };
        Self {
            step: Millis::new(step),
            report: Millis::new(report),
            startup: Millis::ZERO,
            observations_per_step: 1_000_000,
            usual_progress: None,
            told_progress: false,
        }
    }
}
