//! Metrics of recorded and public event logs, compared with sums computed from the events without the parser.

use std::collections::BTreeMap;
use std::path::Path;

use elephant_rs::engine::{Options, analyze};
use elephant_rs::results::ApplicationReport;
use elephant_rs::rules::RuleSet;
use elephant_rs::units::{CoreMillis, MbMillis};
use serde_json::Value;

fn applications(path: &Path) -> Vec<ApplicationReport> {
    analyze(&[path.to_owned()], &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(), Options::default())
        .applications
}

/// Sums over the events themselves.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    run_ms: i64,
    executor_ms: i64,
    executor_core_ms: i64,
    task_ms: i64,
    failed_ms: i64,
}

/// The events of an uncompressed log, in order.
fn events(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sums(path: &Path) -> Sums {
    let events = events(path);
    let of = |name: &'static str| events.iter().filter(move |event| event["Event"] == name);
    let time = |name| of(name).next().unwrap()["Timestamp"].as_i64().unwrap();
    let (start, end) = (time("SparkListenerApplicationStart"), time("SparkListenerApplicationEnd"));
    let mut lives: BTreeMap<&str, (i64, i64, i64)> = BTreeMap::new();
    for event in of("SparkListenerExecutorAdded") {
        let id = event["Executor ID"].as_str().unwrap();
        let added = if id == "driver" { start } else { event["Timestamp"].as_i64().unwrap() };
        lives.insert(id, (added, end, event["Executor Info"]["Total Cores"].as_i64().unwrap()));
    }
    for event in of("SparkListenerExecutorRemoved") {
        lives.get_mut(event["Executor ID"].as_str().unwrap()).unwrap().1 =
            event["Timestamp"].as_i64().unwrap();
    }
    let mut sums = Sums { run_ms: end - start, ..Sums::default() };
    for (added, removed, cores) in lives.values() {
        sums.executor_ms += removed - added;
        sums.executor_core_ms += cores * (removed - added);
    }
    for event in of("SparkListenerTaskEnd") {
        let info = &event["Task Info"];
        let life = lives[info["Executor ID"].as_str().unwrap()];
        let finish = info["Finish Time"].as_i64().unwrap().min(life.1);
        let time = finish - info["Launch Time"].as_i64().unwrap();
        sums.task_ms += time;
        // A task on a lost executor is also marked as failed; a killed task is not.
        let failed = !matches!(event["Task End Reason"]["Reason"].as_str(), Some("Success" | "TaskKilled"));
        sums.failed_ms += if failed { time } else { 0 };
    }
    sums
}

fn hours(ms: i64) -> f64 {
    f64::from(i32::try_from(ms).unwrap()) / 3_600_000.0
}

/// An executor and its block manager are removed within milliseconds of each other.
fn assert_same(name: &str, actual: Option<f64>, expected: f64) {
    let tolerance = hours(10);
    assert!(
        actual.is_some_and(|actual| (actual - expected).abs() < tolerance),
        "{name}: {actual:?} is not {expected}"
    );
}

/// Compares a recording whose executors (or driver, in local mode) use `container_gb`.
fn check(run: &str, container_gb: f64) {
    let Some(folder) = elephant_testing::shared(&format!("runs/{run}")) else { return };
    let sums = sums(&elephant_testing::files_below(&folder)[0]);
    let metrics = applications(&folder).remove(0).metrics;
    assert_eq!(metrics.run_time.map(|time| time.get().cast_signed()), Some(sums.run_ms), "{run}");
    let gb_hours = |amount: Option<MbMillis>| amount.map(MbMillis::as_gb_hours);
    assert_same(run, gb_hours(metrics.used), container_gb * hours(sums.executor_ms));
    assert_same(run, gb_hours(metrics.failed_attempts), container_gb * hours(sums.failed_ms));
    let core_hours = |amount: Option<CoreMillis>| amount.map(CoreMillis::as_core_hours);
    assert_same(run, core_hours(metrics.cores_used), hours(sums.task_ms));
    assert_same(run, core_hours(metrics.cores_idle), hours(sums.executor_core_ms - sums.task_ms));
}

#[test]
fn recording_costs_match_the_sums_of_their_events() {
    for run in ["healthy", "dynalloc", "execkill", "failures", "skew"] {
        check(&format!("spark-3.5.9/{run}"), 1.0);
    }
    check("spark-4.3.0/healthy", 1.0);
}

#[test]
fn local_recordings_hold_the_driver_heap_and_never_wait() {
    let Some(folder) = elephant_testing::shared("runs/spark-3.5.9/local") else { return };
    let sums = sums(&elephant_testing::files_below(&folder)[0]);
    let metrics = applications(&folder).remove(0).metrics;
    assert_same("used", metrics.used.map(MbMillis::as_gb_hours), 700.0 / 1024.0 * hours(sums.run_ms));
    assert_eq!(metrics.wait_time.map(elephant_rs::units::Millis::get), Some(0));
}

#[test]
fn dynamic_allocation_waits_at_the_start_and_between_jobs() {
    let Some(folder) = elephant_testing::shared("runs/spark-3.5.9/dynalloc") else { return };
    let at = |event: &Value| event["Timestamp"].as_i64().unwrap();
    let events = events(&elephant_testing::files_below(&folder)[0]);
    let all = |name| events.iter().filter(|event| event["Event"] == name).collect::<Vec<_>>();
    let added = all("SparkListenerExecutorAdded");
    let removed = all("SparkListenerExecutorRemoved").into_iter().map(at).max().unwrap();
    let second_job = all("SparkListenerJobStart")[1]["Submission Time"].as_i64().unwrap();
    let start = at(all("SparkListenerApplicationStart")[0]);
    // Two executors start, both are removed, and two others start for the second job.
    let expected = at(added[0]) - start + at(added[2]) - second_job.max(removed);
    let wait = applications(&folder).remove(0).metrics.wait_time.unwrap().get();
    assert_eq!(wait.cast_signed(), expected);
}

#[test]
fn no_log_has_impossible_costs() {
    let kinds = ["plain", "compressed", "rolling", "archive"].map(|kind| format!("corpus/spark-{kind}"));
    let versions = ["2.4.8", "3.1.3", "3.5.9", "4.3.0"].map(|version| format!("runs/spark-{version}"));
    for folder in kinds.iter().chain(&versions) {
        let Some(folder) = elephant_testing::shared(folder) else { continue };
        for app in applications(&folder) {
            let name = app.sources.first().unwrap();
            let metrics = app.metrics;
            let within =
                |part: Option<MbMillis>| part.zip(metrics.used).is_none_or(|(part, used)| part <= used);
            assert!(within(metrics.wasted), "{name}");
            for part in [metrics.failed_attempts, metrics.killed_attempts, metrics.losing_attempts] {
                assert!(within(part), "{name}");
            }
            assert!(metrics.wait_time.zip(metrics.run_time).is_none_or(|(wait, run)| wait <= run), "{name}");
            assert!(metrics.idle_percent().is_none_or(|idle| (0.0..=100.0).contains(&idle)), "{name}");
            let tasks = metrics.tasks[0].1.unwrap_or_default();
            assert!(tasks.succeeded + tasks.failed + tasks.killed <= tasks.total, "{name}: {tasks:?}");
            assert!(tasks.total <= tasks.attempts, "{name}: {tasks:?}");
        }
    }
}
