//! What an incomplete history shows that its application cost at least.

use rustc_hash::FxHashMap;

use super::mapreduce::is_charged;
use super::{MetricParams, Metrics, SparkMetricParams};
use crate::model::spark::{Executor, Spark};
use crate::model::table::{TaskGroup, TimePoint};
use crate::model::{Application, Symbol};
use crate::state::state;
use crate::units::{MbMillis, Millis, Timestamp};

/// Lower limits; `None` if even these are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct AtLeast {
    /// From submission to the latest time in the history.
    pub(crate) run_time: Option<Millis>,
    /// Container memory × time until then.
    pub(crate) used: Option<MbMillis>,
}

state!(struct AtLeast { run_time, used });

impl AtLeast {
    /// The lower limits of an application, of which `metrics` are the known costs.
    pub(crate) fn of(
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
    let spark = app.spark.as_ref()?;
    let is_known = |executor: &&Executor| executor.added_at.is_some();
    let mut executors: Vec<Executor> = spark.executors.iter().filter(is_known).cloned().collect();
    if spark.gaps.unreadable > 0 || spark.gaps.executors > 0 || spark.gaps.missing_parts {
        // The lost part may have the removal of an executor, so it only existed until its last task ended.
        let last_ends = last_ends(app);
        for executor in executors.iter_mut().filter(|executor| executor.removed_at.is_none()) {
            let last = app.strings.find(&executor.id).and_then(|id| last_ends.get(&id).copied());
            executor.removed_at = last.max(executor.added_at);
        }
    }
    let part = Spark {
        executors,
        driver: spark.driver.clone(),
        resource_profiles: spark.resource_profiles.clone(),
        ..Spark::default()
    };
    let part = Application {
        id: app.id.clone(),
        submitted_at: app.submitted_at,
        finished_at: app.last_time(),
        conf: app.conf.clone(),
        spark: Some(Box::new(part)),
        ..Application::new(app.engine)
    };
    Metrics::of_spark(&part, params).used
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::table::TaskKind;
    use crate::model::{Engine, Status};
    use crate::rules::RuleSet;
    use crate::units::Bytes;

    const fn minute(minutes: i64) -> Timestamp {
        Timestamp::from_millis(60_000 * minutes)
    }

    fn at_least(app: &Application) -> AtLeast {
        let rules = RuleSet::built_in().unwrap();
        AtLeast::of(app, &rules.measure(app), (rules.metrics(), rules.spark_metrics()))
    }

    #[test]
    fn attempts_with_known_ends_cost_at_least_their_containers() {
        let mut app = Application::new(Engine::MapReduce);
        app.status = Status::Running;
        app.events_missing = true;
        app.submitted_at = Some(minute(0));
        crate::internal::sample::set(&mut app, &[("mapreduce.map.memory.mb", "2048")]);
        let mut group = TaskGroup::new(TaskKind::Map);
        for (number, end) in [(0, Some(minute(4))), (1, Some(minute(9))), (2, None)] {
            group.tasks.push(number);
            let row = group.attempts.push(number, 0);
            group.attempts.set_time(row, TimePoint::Start, Some(minute(1)));
            group.attempts.set_time(row, TimePoint::Finish, end);
        }
        app.groups = vec![group];
        let used = MbMillis::of(Bytes::from_mib(2048), Millis::from_secs(11 * 60));
        assert_eq!(at_least(&app), AtLeast { run_time: Some(Millis::from_secs(9 * 60)), used: Some(used) });
    }

    #[test]
    fn executors_cost_at_least_what_they_held_until_the_last_event() {
        let mut app = Application::new(Engine::Spark);
        app.status = Status::Running;
        app.submitted_at = Some(minute(0));
        let settings = [
            ("spark.master", "spark://a:7077"),
            ("spark.submit.deployMode", "client"),
            ("spark.executor.memory", "1g"),
            ("spark.driver.memory", "1g"),
        ];
        crate::internal::sample::set(&mut app, &settings);
        let executor = |added_at, removed_at| Executor {
            id: "1".to_owned(),
            cores: Some(1),
            added_at,
            removed_at,
            ..Executor::default()
        };
        let mut spark =
            Spark { executors: vec![executor(Some(minute(1)), Some(minute(5)))], ..Spark::default() };
        spark.log.last_event = Some(minute(10));
        spark.gaps.end = true;
        app.spark = Some(Box::new(spark));
        let one = at_least(&app).used.unwrap();
        assert_eq!(at_least(&app).run_time, Some(Millis::from_secs(600)));
        let spark = app.spark.as_mut().unwrap();
        spark.executors.extend([executor(Some(minute(1)), None), executor(None, None)]);
        let two = at_least(&app).used.unwrap();
        // Four minutes of one executor, and nine of another.
        let four = MbMillis::of(Bytes::from_mib(1024), Millis::from_secs(4 * 60));
        let nine = MbMillis::of(Bytes::from_mib(1024), Millis::from_secs(9 * 60));
        assert!(one >= four && two - one >= nine, "{one:?} {two:?}");
        // A lost line may have been the removal of the executor, on which no task is known.
        app.spark.as_mut().unwrap().gaps.unreadable = 1;
        assert_eq!(at_least(&app).used, Some(one));
    }
}
