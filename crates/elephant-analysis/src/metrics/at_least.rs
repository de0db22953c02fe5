//! What an incomplete history shows that its application cost at least.

use rustc_hash::FxHashMap;

use super::mapreduce::is_charged;
use super::spark::used_until;
use super::{MetricParams, Metrics, SparkMetricParams};
use elephant_base::state::State;
use elephant_base::units::{MbMillis, Millis, Timestamp};
use elephant_model::model::spark::Executor;
use elephant_model::model::table::{TaskGroup, TimePoint};
use elephant_model::model::{Application, Symbol};

/// Lower limits; `None` if even these are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct AtLeast {
    /// From submission to the latest time in the history.
    pub run_time: Option<Millis>,
    /// Container memory × time until then.
    pub used: Option<MbMillis>,
}

impl AtLeast {
    /// The lower limits of an application, of which `metrics` are the known costs.
    #[must_use]
    pub fn of(
        app: &Application,
        metrics: &Metrics,
        (params, of_spark): (&MetricParams, &SparkMetricParams),
    ) -> Self {
        let so_far = || Millis::between(app.submitted_at?, app.last_time()?);
        let used = || match app.spark {
            Some(_) => of_executors(app, of_spark),
            None => of_attempts(app, params),
        };
        Self { run_time: metrics.run_time.or_else(so_far), used: metrics.used.or_else(used) }
    }
}

/// What the executors held that the log shows, until their ends or that of the log.
fn of_executors(app: &Application, params: &SparkMetricParams) -> Option<MbMillis> {
    let (spark, end) = (app.spark.as_deref()?, app.last_time()?);
    let lost = spark.gaps.unreadable > 0 || spark.gaps.executors > 0 || spark.gaps.missing_parts;
    // The lost part may have the removal of an executor, so it only existed until its last task ended.
    let last_ends = lost.then(|| last_ends(app));
    let removed = |executor: &Executor| {
        let last = |ends: &FxHashMap<Symbol, Timestamp>| ends.get(&app.strings.find(&executor.id)?).copied();
        let idle_since = || last_ends.as_ref().and_then(|ends| last(ends).max(executor.added_at));
        executor.removed_at.or_else(idle_since)
    };
    used_until(app, params, end, &removed)
}

/// When the last attempt on each executor ended.
fn last_ends(app: &Application) -> FxHashMap<Symbol, Timestamp> {
    let mut last = FxHashMap::default();
    for attempts in app.groups.iter().map(|group| &group.attempts) {
        for row in 0..attempts.len() {
            if let Some((executor, end)) = attempts.executor(row).zip(attempts.time(row, TimePoint::Finish)) {
                let known = last.entry(executor).or_insert(end);
                *known = end.max(*known);
            }
        }
    }
    last
}

/// What the containers of all charged attempts with known ends held.
fn of_attempts(app: &Application, params: &MetricParams) -> Option<MbMillis> {
    let of_group = |group: &TaskGroup| {
        let container = params.container(app, group.kind)?;
        let charged =
            (0..group.attempts.len()).filter(|&row| is_charged(group.attempts.outcome(row), params));
        let times = charged.filter_map(|row| group.attempts.run_time(row));
        Some(MbMillis::of(container, times.sum()))
    };
    app.groups.iter().map(of_group).sum()
}
