//! Broadcasts that take much of a heap: the driver and every executor hold all of their rows.

use super::memory::{heap, is_local};
use elephant_base::units::Bytes;
use elephant_catalogue::Advised;
use elephant_model::diagnosis::FailureKind;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::spark::{Spark, SqlExecution};
use elephant_model::model::table::Outcome;
use elephant_query::{OperatorKind, Queries, Query, SqlCounter, name_of_query};
use elephant_rule::finding::{Advice, SettingChange};
use elephant_rule::wording::{change, percent};

/// The smaller heap of the driver and an executor, and whose it is.
pub(crate) fn smaller_heap(app: &Application, spark: &Spark) -> (Bytes, &'static str) {
    let driver = heap(app, ConfKey::DriverMemory);
    let executor = heap(app, ConfKey::ExecutorMemory);
    if is_local(app, spark) || driver <= executor {
        (driver, "the driver")
    } else {
        (executor, "an executor")
    }
}

/// The share of that heap that these rows take.
pub(crate) fn share_of_heap(app: &Application, spark: &Spark, size: Bytes) -> f64 {
    size.as_f64() / smaller_heap(app, spark).0.as_f64().max(1.0)
}

/// A limit on the sides that are broadcast that this one exceeds, if the limit in force lets sides of this size through.
pub(crate) fn lower_threshold(app: &Application, size: Bytes) -> Option<SettingChange> {
    let read = |conf: &Conf, key| conf.spark_size(key, Bytes::new(1));
    let now = app.in_force(ConfKey::BroadcastThreshold, read)?;
    (now >= size).then(|| change(app, ConfKey::BroadcastThreshold, "10m"))
}

/// What to do if the heap or the container of a process was too small while a large broadcast lay in it. `None` if none of
/// the queries that failed, or whose tasks failed, has one.
pub(crate) fn against(app: &Advised<'_>, spark: &Spark, kind: FailureKind) -> Option<Advice> {
    let is_of_heap = matches!(
        kind,
        FailureKind::HeapSpace
            | FailureKind::GcOverhead
            | FailureKind::ExecutionMemory
            | FailureKind::ContainerMemory
    );
    let queries = Queries::of(app).filter(|_| is_of_heap && spark.sql.iter().any(has_plan))?;
    let failed = queries.iter().filter(|query| has_failed(app, spark, &queries, query));
    let sizes = failed.filter_map(|query| Some((largest(&query)?, name_of_query(query.execution))));
    let (size, query) = sizes.reduce(|most, next| if next.0 > most.0 { next } else { most })?;
    let share = share_of_heap(app, spark, size);
    let (_, whose) = smaller_heap(app, spark);
    (share >= app.advice.large_broadcast.get()).then(|| {
        let what = format!(
            "do not broadcast {size} in {query}: these rows take {} of the heap of {whose} or more, because they are larger \
             in memory; remove the hint BROADCAST, or filter rows and select columns before the join",
            percent(share)
        );
        Advice::new(what).set(lower_threshold(app, size))
    })
}

fn has_plan(execution: &SqlExecution) -> bool {
    !execution.plan.operators.is_empty()
}

/// Whether a query ended with an error, or a task of it failed.
fn has_failed(app: &Application, spark: &Spark, queries: &Queries<'_>, query: &Query<'_>) -> bool {
    let failed_in = |stage: &u32| {
        let stage = spark.stages.get(*stage as usize);
        let group = stage.and_then(|stage| app.groups.get(stage.group?));
        let attempts = group.map(|group| &group.attempts);
        stage.is_some_and(|stage| stage.failure.is_some())
            || attempts.is_some_and(|rows| (0..rows.len()).any(|row| rows.outcome(row) == Outcome::Failed))
    };
    query.execution.error.is_some() || queries.stages(query).iter().any(failed_in)
}

/// The largest broadcast of a query.
fn largest(query: &Query<'_>) -> Option<Bytes> {
    let broadcasts = query.operators.iter().filter(|operator| operator.kind == OperatorKind::Broadcast);
    broadcasts.filter_map(|operator| operator.bytes(SqlCounter::DataSize)).max()
}

#[cfg(test)]
mod tests {
    use elephant_base::severity::Severity;
    use elephant_sample::judge::{judge_despite_problems, rules};
    use elephant_testing::spark_log::{App, Ending, Job, MIB, Operator, Query, Stage, Task};

    const HEAP: Ending = Ending::Exception("java.lang.OutOfMemoryError", "Java heap space");
    const OTHER: Ending = Ending::Exception("java.lang.IllegalStateException", "no such key");

    /// A query that broadcasts these MiB to executors of 1 GiB, whose tasks fail like this.
    fn advice(mib: i64, ending: Ending, threshold: Option<&str>) -> Vec<String> {
        let sent = Operator::new(
            "BroadcastExchange HashedRelationBroadcastMode(List(input[0, bigint, false]))",
            vec![Operator::new("Range (0, 9, step=1, splits=4)", Vec::new())],
        )
        .told("data size", "size", mib << 20);
        let join = Operator::new("BroadcastHashJoin [k#1L], [k#2L], Inner, BuildRight", vec![sent]);
        let failed = (0..4).map(|attempt| {
            let launch = i64::from(attempt) * 30_000;
            Task { index: Some(0), attempt, launch, ..Task::new("1", 30_000).ending(ending) }
        });
        let failure = Some("Job aborted due to stage failure: Task 0 in stage failed 4 times".to_owned());
        let stage = Stage { failure, ..Stage::new(0, failed.collect()) };
        let mut settings = vec![("spark.executor.memory", "1g"), ("spark.driver.memory", "4g")];
        settings.extend(threshold.map(|threshold| ("spark.sql.autoBroadcastJoinThreshold", threshold)));
        let app = App {
            jobs: vec![Job { id: 0, stages: vec![stage], failed: true, ..Job::default() }],
            queries: vec![Query {
                id: 0,
                description: "sales".to_owned(),
                start: 0,
                end: 120_000,
                jobs: vec![0],
                plan: join,
            }],
            ..App::with(&settings, 1, 1)
        };
        let report = judge_despite_problems(&app, &rules(&[], ""));
        let mut found = report.findings.into_iter();
        let found = found.find(|finding| finding.rule == "spark-stages-with-failed-tasks").unwrap();
        assert!(found.severity > Severity::None);
        found.advice.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_large_broadcast_is_the_cause_of_a_lack_of_memory() {
        let mib = i64::try_from(MIB).unwrap() >> 20;
        let told = advice(600 * mib, HEAP, None);
        assert!(
            told[0].starts_with("do not broadcast 600 MiB in query 0 \"sales\": these rows take 58.6 % of the heap of an executor"),
            "{told:?}"
        );
        assert!(
            !told[0].contains("autoBroadcastJoinThreshold"),
            "the default lets no such side through: {told:?}"
        );
        let told = advice(600, HEAP, Some("1g"));
        assert!(told[0].contains("spark.sql.autoBroadcastJoinThreshold=10m"), "{told:?}");
    }

    #[test]
    fn small_broadcasts_and_other_failures_are_not_blamed_on_it() {
        for told in [advice(300, HEAP, None), advice(600, OTHER, None)] {
            assert!(told.iter().all(|line| !line.contains("broadcast")), "{told:?}");
        }
    }
}
