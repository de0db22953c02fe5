//! Slow nodes and uneven records in written logs: one trouble each, with the cause in its headline.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use elephant_base::severity::Severity;
use elephant_engine::results::ApplicationReport;
use elephant_rule::finding::{Finding, TroubleKind};
use elephant_sample::judge::{judge, rules};
use elephant_testing::spark_log::{App, Ending, MIB, Task};

/// About `usual` milliseconds, a little different for each task.
fn about(usual: i64, task: i64) -> i64 {
    usual * (90 + (task * 37) % 20) / 100
}

/// A stage of `tasks` tasks on `executors` executors of four cores, each as soon as a core is free. On executor 3, they
/// take `times` as long.
fn on_one_slow_node(tasks: i64, usual: i64, executors: u32, times: i64) -> Vec<Task> {
    let ids = (1..=executors).flat_map(|id| [id; 4]);
    let mut free: BinaryHeap<Reverse<(i64, u32)>> = ids.map(|id| Reverse((0, id))).collect();
    let mut stage = Vec::new();
    for task in 0..tasks {
        let Reverse((launch, id)) = free.pop().unwrap();
        let duration = about(usual, task) * if id == 3 { times } else { 1 };
        free.push(Reverse((launch + duration, id)));
        let task = Task::new(&id.to_string(), duration).metric("Input Metrics.Bytes Read", 128 * MIB);
        stage.push(Task { launch, ..task });
    }
    stage
}

fn report(app: &App) -> ApplicationReport {
    judge(app, &rules(&[], ""))
}

fn finding<'a>(report: &'a ApplicationReport, rule: &str) -> &'a Finding {
    report.findings.iter().find(|finding| finding.rule == rule).unwrap()
}

fn proposes(report: &ApplicationReport, setting: &str) -> bool {
    let advice = report.findings.iter().flat_map(|finding| &finding.advice);
    advice.flat_map(|advice| &advice.settings).any(|change| change.setting == setting)
}

const EXCLUDE: &str = "spark.excludeOnFailure.enabled";

#[test]
fn a_slow_node_is_one_trouble_with_its_name() {
    let tasks = || on_one_slow_node(160, 9000, 4, 3);
    let report_of = |tasks| {
        report(
            &App::with(&[("spark.speculation", "true")], 4, 4)
                .stage(tasks)
                .stage(self::on_one_slow_node(160, 6000, 4, 3)),
        )
    };
    let found = report_of(tasks());
    let of_node: Vec<_> = found.troubles.iter().filter(|it| it.kind == TroubleKind::Stragglers).collect();
    assert_eq!(of_node.len(), 1);
    let trouble = of_node[0];
    assert!(trouble.cause.starts_with("worker3 is slow: "), "{}", trouble.cause);
    assert!(
        trouble.cause.contains("typically 3") && trouble.cause.contains("; that cost about "),
        "{}",
        trouble.cause
    );
    assert!(trouble.severity >= Severity::Low);
    assert!(!trouble.cause.contains('{'), "{}", trouble.cause);
    assert!(trouble.advice[0].starts_with("faulty or slow node (inferred): take worker3 out of the cluster"));
    assert_eq!(&*trouble.findings[0].rule, "straggler-impact");
    let subjects: Vec<_> = trouble.subjects.iter().map(|subject| subject.name().into_owned()).collect();
    assert_eq!(subjects, ["node worker3", "stage 0.0", "stage 1.0"]);
    // No task failed, so Spark would not exclude it.
    assert!(!proposes(&found, EXCLUDE));
    let failed = Task { attempt: 0, index: Some(0), ..Task::new("3", 100) };
    let mut tasks = tasks();
    tasks.push(failed.ending(Ending::Exception("java.io.IOException", "Input/output error")));
    assert!(proposes(&report_of(tasks), EXCLUDE));
}

#[test]
fn executors_that_wait_for_a_slow_node_are_no_trouble_of_their_own() {
    let stage = || on_one_slow_node(40, 60_000, 10, 4);
    let found = report(&App::with(&[], 10, 4).stage(stage()).stage(stage()));
    let trouble = found.troubles.iter().find(|it| it.kind == TroubleKind::Stragglers).unwrap();
    assert!(trouble.cause.starts_with("worker3 is slow: 8 of its 8 tasks"), "{}", trouble.cause);
    assert!(trouble.cause.contains("; the longest waits: task "), "{}", trouble.cause);
    assert!(found.troubles.iter().all(|it| it.kind != TroubleKind::IdleExecutors), "{:?}", found.troubles);
    assert!(!proposes(&found, EXCLUDE));
}

/// As many bytes of shorter records.
#[test]
fn a_task_with_more_records_is_skewed_and_no_straggler() {
    let task = |number: i64| {
        let times = if number == 77 { 15 } else { 1 };
        let task = Task::new(&(number % 4 + 1).to_string(), about(6000, number) * times)
            .metric("Shuffle Read Metrics.Local Bytes Read", 40 * MIB)
            .metric("Shuffle Read Metrics.Total Records Read", 400_000 * u64::try_from(times).unwrap());
        Task { launch: number / 16 * 7000, ..task }
    };
    let found = report(&App::with(&[], 4, 4).stage((0..160).map(task).collect()));
    assert!(finding(&found, "spark-skew").severity > Severity::None);
    for rule in ["straggler-impact", "straggler-dos-index"] {
        assert_eq!(finding(&found, rule).severity, Severity::None, "{}", finding(&found, rule).message);
    }
    assert!(found.troubles.iter().all(|it| it.kind != TroubleKind::Stragglers));
}
