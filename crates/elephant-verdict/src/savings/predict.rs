//! Predictions: what they rest on, and their error.

use std::fmt;

use super::estimate::{Amounts, Prediction, Range};
use elephant_analysis::metrics::Metrics;
use elephant_analysis::replay::{ERROR, MAX_RESIDUAL, Replayed, mapreduce, spark};
use elephant_base::state::State;
use elephant_base::units::Millis;
use elephant_model::model::{Status, Subject};

/// [`ERROR`] where the number of slots changes by a factor of two or more.
const ERROR_OF_SLOTS: f64 = 0.1;

/// Why nothing can be predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unknown {
    /// The application cannot be replayed.
    Spark(spark::Unknown),
    /// The job cannot be replayed.
    MapReduce(mapreduce::Unknown),
    /// Its vertices form a graph that no replay models.
    Tez,
    /// It did not succeed.
    Status(Status),
    /// The replay without a change differs too much from the recorded run; in percent.
    Residual(f64),
    /// The change does not apply to this application.
    NotApplicable(&'static str),
}

impl From<spark::Unknown> for Unknown {
    fn from(unknown: spark::Unknown) -> Self {
        Self::Spark(unknown)
    }
}

impl From<mapreduce::Unknown> for Unknown {
    fn from(unknown: mapreduce::Unknown) -> Self {
        Self::MapReduce(unknown)
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spark(unknown) => unknown.fmt(f),
            Self::MapReduce(unknown) => unknown.fmt(f),
            Self::Tez => f.write_str("DAGs of Tez are not replayed"),
            Self::Status(status) => {
                write!(
                    f,
                    "the application's status is {}, so the time of a full run is unknown",
                    status.name()
                )
            }
            Self::Residual(percent) => {
                write!(
                    f,
                    "the replay differs by {percent:+.1} % from the recorded time even without a change"
                )
            }
            Self::NotApplicable(why) => f.write_str(why),
        }
    }
}

/// A stage on the path that determines the time of the application.
#[derive(Debug, Clone, PartialEq, State)]
pub struct PathStage {
    /// The stage attempt, or the tasks of one kind of a MapReduce job.
    pub subject: Subject,
    /// The stage's name; `None` if the log has none.
    pub name: Option<String>,
    /// From its submission to its end.
    pub time: Millis,
}

/// What is known of an application without any change.
#[derive(Debug, Clone, PartialEq, State)]
pub struct Baseline {
    /// From submission to end, as logged.
    pub recorded: Millis,
    /// The same time in a replay without a change.
    pub replayed: Millis,
    /// The run time with a free slot for each task at any time.
    pub critical_path: Millis,
    /// The time of the driver, plus the work spread evenly over all slots.
    pub ideal: Millis,
    /// The time in which no job ran (Spark).
    pub driver: Option<Millis>,
    /// The stages that determine the run time most, longest first.
    pub path: Vec<PathStage>,
}

impl Baseline {
    /// By how much the replay differs from the log, as a share of the recorded time.
    #[must_use]
    pub fn residual(&self) -> f64 {
        (self.replayed.as_f64() - self.recorded.as_f64()) / self.recorded.as_f64().max(1.0)
    }

    /// By how much the replay differs from the log, in milliseconds.
    fn residual_ms(&self) -> f64 {
        (self.replayed.as_f64() - self.recorded.as_f64()).abs()
    }

    /// Whether the replay without a change takes as long as the recorded run.
    pub(crate) fn trusted_up_to_its_end(&self) -> Result<(), Unknown> {
        let residual = self.residual();
        if residual.abs() > MAX_RESIDUAL { Err(Unknown::Residual(100.0 * residual)) } else { Ok(()) }
    }

    /// The status of predictions of a full run: `Err` if there can be none.
    pub(crate) fn trusted(&self, status: Status) -> Result<(), Unknown> {
        self.trusted_up_to_its_end()?;
        if status == Status::Succeeded { Ok(()) } else { Err(Unknown::Status(status)) }
    }
}

/// What the recorded application cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Cost {
    pub(crate) core_hours: Option<f64>,
    pub(crate) gb_hours: Option<f64>,
}

impl Cost {
    pub(crate) fn of(metrics: &Metrics) -> Self {
        let cores = metrics.cores_used.zip(metrics.cores_idle).map(|(used, idle)| used + idle);
        Self {
            core_hours: cores.map(elephant_base::units::CoreMillis::as_core_hours),
            gb_hours: metrics.used.map(elephant_base::units::MbMillis::as_gb_hours),
        }
    }
}

/// A replay under a change, with the factors by which other quantities change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlook {
    /// Two replays that the truth lies between; often the same.
    pub(crate) replayed: [Replayed; 2],
    /// By which factor the memory of a slot changes.
    pub(crate) memory: f64,
    /// By which factor the cores of a slot change.
    pub(crate) cores: f64,
    /// By which factor the number of slots changes.
    pub(crate) slots: f64,
}

/// By how much a replay that took `wall` may be off, in milliseconds; `None` if the replay without a change differs too much
/// from the recorded time.
#[must_use]
pub fn error_of_replay(recorded: Millis, replayed: Millis, wall: Millis) -> Option<f64> {
    let residual = (replayed.as_f64() - recorded.as_f64()).abs();
    let trusted = residual <= MAX_RESIDUAL * recorded.as_f64().max(1.0);
    trusted.then(|| ERROR.mul_add(wall.as_f64(), residual))
}

/// By how much a replay that took `wall`, in milliseconds, may be off; `slots` is the factor by which their number changes.
pub(super) fn error_of(baseline: &Baseline, wall: f64, slots: f64) -> f64 {
    let share = if slots >= 2.0 || slots <= 0.5 { ERROR_OF_SLOTS } else { ERROR };
    share.mul_add(wall, baseline.residual_ms())
}

/// The prediction for a change.
pub(crate) fn predict(baseline: &Baseline, base: Replayed, cost: Cost, outlook: &Outlook) -> Prediction {
    let [one, other] = outlook.replayed.map(|replayed| replayed.wall.to_millis().as_f64());
    let walls = Range::between(one, other);
    let unchanged =
        one.max(other) <= baseline.replayed.as_f64() && one.min(other) >= baseline.replayed.as_f64();
    let error = if unchanged { 0.0 } else { error_of(baseline, walls.point, outlook.slots) };
    let wall = walls.widened(error);
    let takes_wall = Range { low: wall.low.max(0.0), ..wall };
    let relative = if walls.point > 0.0 { error / walls.point } else { 0.0 };
    let held = |replayed: Replayed| replayed.held.as_f64() / base.held.as_f64().max(1.0);
    let takes = |recorded: f64, factor: f64| {
        let [one, other] = outlook.replayed.map(|replayed| recorded * factor * held(replayed));
        let range = Range::between(one, other);
        let range = range.widened(range.point * relative);
        Range { low: range.low.max(0.0), ..range }
    };
    let core_hours = cost.core_hours.map(|recorded| (recorded, takes(recorded, outlook.cores)));
    let gb_hours = cost.gb_hours.map(|recorded| (recorded, takes(recorded, outlook.memory)));
    let left = |amount: Option<(f64, Range)>| amount.map(|(recorded, takes)| takes.subtracted_from(recorded));
    let saved = takes_wall.subtracted_from(baseline.replayed.as_f64());
    Prediction {
        within_error: saved.contains_zero(),
        takes: Amounts {
            wall_ms: takes_wall,
            core_hours: core_hours.map(|(_, takes)| takes),
            gb_hours: gb_hours.map(|(_, takes)| takes),
        },
        saves: Amounts { wall_ms: saved, core_hours: left(core_hours), gb_hours: left(gb_hours) },
    }
}
