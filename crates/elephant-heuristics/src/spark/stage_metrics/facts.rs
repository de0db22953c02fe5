//! The measurements of one stage attempt.

use std::collections::BTreeSet;

use super::Share;
use crate::shown::STAGE_NAME;
use crate::spark::support::cancelled::stage_was_cancelled;
use crate::spark::support::failures::Ends;
use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Spark, Stage, StageAttempt, StageStatus};
use elephant_model::model::table::{EndReason, TaskGroup};

pub(super) struct Facts<'a> {
    pub(super) stage: &'a Stage,
    pub(super) tasks: u64,
    pub(super) ends: Ends,
    /// Total run time of all attempts; `None` if no attempt reports it, or if one is unreadable.
    pub(super) run_time: Option<Millis>,
    /// The same, divided as [`Share`] says.
    pub(super) time_each: Option<Millis>,
}

impl<'a> Facts<'a> {
    /// `None` for a stage without tasks in the event log.
    pub(super) fn of(app: &'a Application, spark: &'a Spark, stage: &'a Stage, per: Share) -> Option<Self> {
        let group = app.groups.get(stage.group?)?;
        let run_time = group.attempts.sum(&[Counter::ExecutorRunTime]).map(Millis::new);
        let parts = match per {
            Share::Core => cores(app, spark, group),
            Share::Executor => executors(app, spark),
            Share::Task => group.attempts.len() as u64,
        };
        let divide = |time: Millis| time.get().checked_div(parts).map(Millis::new);
        Some(Self {
            stage,
            tasks: group.tasks.len() as u64,
            ends: Ends::of(group),
            run_time,
            time_each: run_time.and_then(divide),
        })
    }

    pub(super) const fn id(&self) -> StageAttempt {
        self.stage.id
    }

    /// Whether the stage failed by itself. If it only lost shuffle data of other stages, Spark runs those again, and
    /// then this stage.
    pub(super) fn failed_by_its_tasks(&self) -> bool {
        self.stage.status == StageStatus::Failed
            && !stage_was_cancelled(self.stage)
            && self.ends.main_reason() != Some(EndReason::FetchFailed)
    }

    /// "stage 3.0 (count at App.scala:10)".
    pub(super) fn name(&self) -> String {
        match &self.stage.name {
            Some(name) => format!("stage {} ({})", self.id(), shortened(name)),
            None => format!("stage {}", self.id()),
        }
    }
}

/// A text on one line, shortened if it is long.
pub(super) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= STAGE_NAME {
        return line;
    }
    let start: String = line.chars().take(STAGE_NAME - 1).collect();
    format!("{}…", start.trim_end())
}

/// The cores of the executors that ran attempts of the group; 1 for an executor of unknown size.
fn cores(app: &Application, spark: &Spark, group: &TaskGroup) -> u64 {
    let symbols: BTreeSet<_> =
        (0..group.attempts.len()).filter_map(|row| group.attempts.executor(row)).collect();
    let ids: BTreeSet<&str> = symbols.into_iter().filter_map(|symbol| app.strings.get(symbol)).collect();
    // An id may be reused; the larger of its executors counts.
    let cores = |id: &str| {
        let driver = Some(&spark.driver).filter(|driver| driver.id == id);
        let same = spark.executors_with_id(id).iter().chain(driver);
        same.filter_map(|executor| executor.cores).max().unwrap_or(1)
    };
    ids.into_iter().map(|id| u64::from(cores(id).max(1))).sum()
}

/// The number of requested executors; else all executors in the event log and the driver.
fn executors(app: &Application, spark: &Spark) -> u64 {
    let asked = app.conf.integer(ConfKey::ExecutorInstances).and_then(|count| u64::try_from(count).ok());
    asked.filter(|&count| count > 0).unwrap_or(spark.executors.len() as u64 + 1)
}
