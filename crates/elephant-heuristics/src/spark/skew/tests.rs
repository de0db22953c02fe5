use super::*;
use elephant_base::units::Timestamp;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{
    Job, Operator, OperatorKind, PlanMetric, PlanText, SqlExecution, counter_of,
};
use elephant_model::model::table::{Outcome, TaskGroup};
use elephant_rule::finding::TroubleKind;

const ID: &str = RULE.id;

/// A stage of four tasks on four cores, of which the last takes 60 s instead of 10 s, in an application of two minutes.
fn app(settings: &[(&str, &str)]) -> Application {
    let mut app = elephant_sample::app(settings);
    let times = [10_000, 10_000, 10_000, 60_000].map(|time| (Outcome::Succeeded, time));
    elephant_sample::stage(&mut app, 0, &times);
    for task in 0..times.len() {
        group(&mut app).tasks.set_representative(task, Some(task));
    }
    app.finished_at = Some(Timestamp::from_millis(120_000));
    app
}

fn group(app: &mut Application) -> &mut TaskGroup {
    app.groups.last_mut().unwrap()
}

/// The same with this value of a counter for each task.
fn with(mut app: Application, counter: Counter, values: [i64; 4]) -> Application {
    for (row, value) in values.into_iter().enumerate() {
        group(&mut app).attempts.set_counter(row, counter, Some(value));
    }
    app
}

fn found(app: &Application) -> Vec<elephant_rule::finding::Finding> {
    let found = elephant_sample::evaluate(app, ID, false).findings.into_iter();
    found.filter(|finding| finding.severity > Severity::None).collect()
}

const MIB: i64 = 1 << 20;

#[test]
fn bytes_or_records_of_shuffles_or_input_explain_skew() {
    // 90 s of task time on four slots would take 22.5 s.
    let cost = ", and takes 1m; the stage takes 37.5 s longer than with even data, 31.2 % of the run time (severe from 30 s)";
    for (counter, unit, reads) in [
        (Counter::ShuffleRemoteBytesRead, MIB, "reads 60 MiB of shuffle data, 6× the median of 10 MiB"),
        (Counter::InputBytes, MIB, "reads 60 MiB, 6× the median of 10 MiB"),
        (Counter::ShuffleRecordsRead, 100, "reads 6,000 records of shuffle data, 6× the median of 1,000"),
        (Counter::InputRecords, 100, "reads 6,000 records, 6× the median of 1,000"),
    ] {
        let found = found(&with(app(&[]), counter, [10, 10, 10, 60].map(|value| value * unit)));
        assert_eq!(found[0].message, format!("a task of stage 0.0 (count at App.scala:0) {reads}{cost}"));
        assert_eq!((found[0].severity, found[0].tells), (Severity::Severe, TroubleKind::Skew));
    }
}

#[test]
fn a_slow_task_with_as_much_data_as_others_is_no_skew() {
    assert!(found(&app(&[])).is_empty());
    let even = with(app(&[]), Counter::ShuffleRemoteBytesRead, [10 * MIB; 4]);
    assert!(found(&even).is_empty());
    // Twice the data does not explain six times the time.
    let little_more = [10, 10, 10, 22].map(|mib| mib * MIB);
    assert!(found(&with(app(&[]), Counter::ShuffleRemoteBytesRead, little_more)).is_empty());
}

#[test]
fn amounts_that_take_no_time_explain_nothing() {
    assert!(found(&with(app(&[]), Counter::ShuffleRemoteBytesRead, [1000, 1000, 1000, 6000])).is_empty());
    assert!(found(&with(app(&[]), Counter::ShuffleRecordsRead, [1, 1, 1, 6])).is_empty());
}

#[test]
fn a_task_that_ends_with_the_others_costs_nothing() {
    let mut app = with(app(&[]), Counter::ShuffleRemoteBytesRead, [10, 10, 10, 60].map(|mib| mib * MIB));
    for row in 0..3 {
        let end = Some(Timestamp::from_millis(60_000));
        group(&mut app).attempts.set_time(row, elephant_model::model::table::TimePoint::Finish, end);
        let time = Some(10_000);
        group(&mut app).attempts.set_counter(row, Counter::ExecutorRunTime, time);
    }
    assert!(found(&app).is_empty());
}

#[test]
fn the_preset_judges_skew_in_the_other_rule() {
    let mut app = with(app(&[]), Counter::ShuffleRemoteBytesRead, [10, 10, 10, 60].map(|mib| mib * MIB));
    let other = "spark-configuration-parameters";
    assert_eq!(elephant_sample::severity(&app, other, false), Some(Severity::None));
    assert_eq!(elephant_sample::severity(&app, ID, true), None);
    group(&mut app).attempts.set_time(
        3,
        elephant_model::model::table::TimePoint::Finish,
        Some(Timestamp::from_millis(200_000)),
    );
    elephant_sample::spark(&mut app).stages[0].completed_at = Some(Timestamp::from_millis(200_000));
    assert_eq!(elephant_sample::severity(&app, other, true), Some(Severity::Critical));
}

/// The stage is part of a query with these nodes.
fn in_query(mut app: Application, version: &str, nodes: &[&str]) -> Application {
    app.engine_version = Some(version.to_owned());
    let mut query = SqlExecution::new(7);
    query.plan.operators = nodes
        .iter()
        .map(|name| {
            let (name, kind) = (app.strings.intern(name).unwrap(), OperatorKind::of(name));
            Operator { name, kind, parent: None, text: PlanText::default() }
        })
        .collect();
    let mut job = Job::new(0);
    job.sql_execution = Some(7);
    job.stages = vec![0];
    let spark = elephant_sample::spark(&mut app);
    spark.sql.push(query);
    spark.jobs.push(job);
    spark.stages[0].job = Some(0);
    app
}

fn advice(app: &Application) -> String {
    found(app)
        .iter()
        .flat_map(|finding| &finding.advice)
        .map(|advice| advice.text.clone())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn adaptive_execution_is_advised_for_joins_that_it_can_split() {
    let skewed = |settings: &[(&str, &str)]| {
        with(app(settings), Counter::ShuffleRemoteBytesRead, [100, 100, 100, 600].map(|mib| mib * MIB))
    };
    let joined =
        |version, settings: &[(&str, &str)]| advice(&in_query(skewed(settings), version, &["SortMergeJoin"]));
    let split = "let Spark split the skewed partitions of the join ";
    assert_eq!(
        joined("3.1.3", &[]),
        format!("{split}(adaptive execution is off): --conf spark.sql.adaptive.enabled=true")
    );
    let off = [("spark.sql.adaptive.enabled", "true"), ("spark.sql.adaptive.skewJoin.enabled", "false")];
    assert_eq!(
        joined("3.5.1", &off),
        format!("{split}(its skew join is off): --conf spark.sql.adaptive.skewJoin.enabled=true (now false)")
    );
    // It is on by default, and did not help.
    assert!(joined("3.5.1", &[]).starts_with("broadcast the smaller side"), "{}", joined("3.5.1", &[]));
    assert!(joined("2.4.8", &[]).starts_with("broadcast the smaller side"));
    let aggregated = advice(&in_query(skewed(&[]), "3.1.3", &["HashAggregate"]));
    assert!(aggregated.contains("salt") && !aggregated.contains("--conf"), "{aggregated}");
    assert!(advice(&skewed(&[])).contains("salt"));
}

#[test]
fn partitions_below_the_threshold_of_adaptive_execution_need_a_lower_one() {
    let small = with(app(&[]), Counter::ShuffleRemoteBytesRead, [10, 10, 10, 60].map(|mib| mib * MIB));
    let expected = "let Spark split the skewed partitions of the join (the largest, 60 MiB, is below the threshold of 256 MiB): --conf \
                    spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=30m --conf \
                    spark.sql.adaptive.advisoryPartitionSizeInBytes=10m";
    assert_eq!(advice(&in_query(small, "3.5.1", &["SortMergeJoin"])), expected);
}

#[test]
fn large_inputs_are_split_if_they_can_be() {
    let sized = |mib: [i64; 4], settings: &[(&str, &str)]| {
        in_query(
            with(app(settings), Counter::InputBytes, mib.map(|mib| mib * MIB)),
            "3.5.1",
            &["Scan parquet"],
        )
    };
    let splits = found(&sized([10, 10, 10, 100], &[]));
    assert_eq!(
        splits[0].advice,
        ["if the files can be split, use smaller splits: --conf spark.sql.files.maxPartitionBytes=13m"]
    );
    assert!(splits[0].advice[0].conditional);
    // A split larger than the setting is a file that cannot be split.
    assert!(!advice(&sized([100, 100, 100, 900], &[])).contains("--conf"));
}

#[test]
fn many_stages_that_lose_little_lose_much_together() {
    let stages = |count: u32, run_time: i64| {
        let mut app = elephant_sample::app(&[]);
        for id in 0..count {
            let times = [10_000, 10_000, 10_000, 20_000].map(|time| (Outcome::Succeeded, time));
            elephant_sample::stage(&mut app, id, &times);
            for task in 0..times.len() {
                group(&mut app).tasks.set_representative(task, Some(task));
            }
            app = with(app, Counter::InputBytes, [10, 10, 10, 40].map(|value| value * MIB));
        }
        app.finished_at = Some(Timestamp::from_millis(run_time));
        app
    };
    // Each loses 7.5 s of 500 s.
    assert_eq!(found(&stages(1, 500_000)), []);
    let found = found(&stages(20, 500_000));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].severity, Severity::Severe);
    assert!(
        found[0]
            .message
            .ends_with("; with 19 other stages, 2m 30s are lost, 30 % of the run time (severe from 20 %)"),
        "{}",
        found[0].message
    );
}

/// Stages with findings of their own are not counted by another one.
#[test]
fn stages_that_lose_much_each_stand_alone() {
    let mut app = elephant_sample::app(&[]);
    for id in 0..2 {
        let times = [10_000, 10_000, 10_000, 300_000].map(|time| (Outcome::Succeeded, time));
        elephant_sample::stage(&mut app, id, &times);
        for task in 0..times.len() {
            group(&mut app).tasks.set_representative(task, Some(task));
        }
        app = with(app, Counter::InputBytes, [10, 10, 10, 300].map(|value| value * MIB));
    }
    app.finished_at = Some(Timestamp::from_millis(1_000_000));
    let found = found(&app);
    assert_eq!(found.len(), 2, "{found:?}");
    for found in found {
        assert!(!found.message.contains("other stage") && !found.of_more_parts, "{}", found.message);
    }
}

/// A straggler with as much data as the others ends after the skewed task and hides it.
#[test]
fn a_skewed_task_next_to_a_slower_straggler_is_found() {
    let mut app = app(&[]);
    let times = [10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 60_000, 80_000];
    app.groups.clear();
    elephant_sample::spark(&mut app).stages.clear();
    elephant_sample::stage(&mut app, 0, &times.map(|time| (Outcome::Succeeded, time)));
    for task in 0..times.len() {
        group(&mut app).tasks.set_representative(task, Some(task));
        let mib = if task == 6 { 60 } else { 10 };
        group(&mut app).attempts.set_counter(task, Counter::ShuffleRemoteBytesRead, Some(mib * MIB));
    }
    let found = found(&app);
    assert_eq!(found.len(), 1, "{found:?}");
    let message = &found[0].message;
    assert!(
        message.contains(" reads 60 MiB of shuffle data, 6× the median of 10 MiB, and takes 1m; "),
        "{message}"
    );
    assert!(message.contains(" of the run time, apart from slower tasks without more data ("), "{message}");
}

/// RDDs have no plan that tells of a join; the call does.
#[test]
fn skewed_joins_of_rdds_are_known_by_their_call() {
    let advice = |name: &str| {
        let mut app =
            with(app(&[]), Counter::ShuffleRemoteBytesRead, [10 * MIB, 10 * MIB, 10 * MIB, 60 * MIB]);
        elephant_sample::spark(&mut app).stages[0].name = Some(name.into());
        found(&app)[0].advice[0].text.clone()
    };
    for call in ["join", "leftOuterJoin", "cogroup"] {
        let advice = advice(&format!("{call} at Orders.scala:210"));
        assert!(advice.starts_with("broadcast the smaller side of the join"), "{advice}");
    }
    // "joined" is a name of the user.
    for other in ["reduceByKey at Orders.scala:210", "joined at Orders.scala:210"] {
        assert!(advice(other).starts_with("distribute the most frequent keys"), "{}", advice(other));
    }
}

/// A stage that joins two shuffles, and reads unevenly from them.
fn joining(text: &str, sides: [&str; 2], above: &[&str]) -> Application {
    let mut app = with(app(&[]), Counter::ShuffleRemoteBytesRead, [100, 100, 100, 6000].map(|mib| mib * MIB));
    app.engine_version = Some("3.5.1".to_owned());
    let mut query = SqlExecution::new(7);
    let mut texts = String::new();
    let mut add = |app: &mut Application, text: &str, parent: Option<u32>| {
        let start = u32::try_from(texts.len()).unwrap();
        texts.push_str(text);
        let node = text.split([' ', '(']).next().unwrap();
        let (name, kind) = (app.strings.intern(node).unwrap(), OperatorKind::of(node));
        let text = PlanText { start, end: u32::try_from(texts.len()).unwrap() };
        query.plan.operators.push(Operator { name, kind, parent, text });
        u32::try_from(query.plan.operators.len() - 1).unwrap()
    };
    let mut parent = None;
    for text in above.iter().copied().chain([text]) {
        parent = Some(add(&mut app, text, parent));
    }
    let join = parent.unwrap();
    let mut sized = Vec::new();
    for side in sides {
        let mut below = join;
        for text in side.split(" < ") {
            below = add(&mut app, text, Some(below));
        }
        sized.push(below);
    }
    query.plan.texts = texts;
    let metric = |app: &mut Application, operator, name: &str, accumulator| PlanMetric {
        operator,
        name: app.strings.intern(name).unwrap(),
        kind: app.strings.intern("size").unwrap(),
        counter: counter_of(name),
        accumulator,
    };
    let metrics = vec![
        metric(&mut app, join, "number of output rows", 1),
        metric(&mut app, sized[0], "data size", 2),
        metric(&mut app, sized[1], "data size", 3),
    ];
    query.plan.metrics = metrics;
    let mut job = Job::new(0);
    job.sql_execution = Some(7);
    job.stages = vec![0];
    let spark = elephant_sample::spark(&mut app);
    query.driver_updates = vec![(2, 10 << 30), (3, 1 << 20)];
    spark.sql.push(query);
    spark.jobs.push(job);
    spark.stages[0].job = Some(0);
    spark.stages[0].accumulables = [(1, 5)].into();
    app
}

#[test]
fn the_form_of_the_plan_may_be_what_kept_a_join_whole() {
    const SIDE: &str =
        "Sort [k#1] < AQEShuffleRead skewed < Exchange hashpartitioning(k#1, 200), ENSURE_REQUIREMENTS";
    const INNER: &str = "SortMergeJoin [k#1], [k#2], Inner";
    let repartitioned = "Sort [k#1] < Exchange hashpartitioning(k#1, 20), REPARTITION_BY_NUM";
    let between = "Sort [k#1] < HashAggregate(keys=[k#1], functions=[]) < Exchange hashpartitioning(k#1, 200), ENSURE_REQUIREMENTS";
    let bucketed = "Sort [k#1] < Scan parquet default.sales";
    for (join, sides, above, expected) in [
        (INNER, [SIDE, repartitioned], &[][..], "because repartition() or a hint chose them"),
        (INNER, [between, SIDE], &[], "because HashAggregate by k lies between the join and its shuffle"),
        (INNER, [bucketed, SIDE], &[], "a side has no shuffle of its own"),
        (
            "SortMergeJoin [k#1], [k#2], RightOuter",
            [SIDE, SIDE],
            &[],
            "because a RightOuter join keeps the left side whole",
        ),
        (
            "SortMergeJoin [k#1], [k#2], FullOuter",
            [SIDE, SIDE],
            &[],
            "because a FullOuter join keeps the left side whole",
        ),
        (INNER, [SIDE, SIDE], &["Window [rank() AS r#9], [k#1]"], "although Window by"),
        (
            INNER,
            [SIDE, SIDE],
            &["Exchange hashpartitioning(z#1, 200), ENSURE_REQUIREMENTS"],
            "broadcast the smaller side",
        ),
        // It acted.
        (
            "SortMergeJoin(skew=true) [k#1], [k#2], RightOuter",
            [SIDE, SIDE],
            &[],
            "broadcast the smaller side",
        ),
    ] {
        let told = advice(&joining(join, sides, above));
        assert!(told.contains(expected), "{join} {sides:?}: {told}");
    }
}
