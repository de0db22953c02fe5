//! The presets of other tools judge by the arithmetic of these tools, computed here a second time.

use std::collections::BTreeSet;

use elephant_base::severity::Severity;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind};
use elephant_ruleset::RuleSet;
use elephant_sample::judge;
use elephant_testing::spark_log::{App, MIB, Task};

/// The rules that a preset leaves on.
fn on(rules: &RuleSet) -> BTreeSet<String> {
    rules.rules().iter().filter(|rule| rule.enabled.value).map(|rule| rule.info.id.to_string()).collect()
}

/// What the rules of a preset find in an application, by rule.
fn severity(preset: &str, app: &Application, rule: &str) -> Severity {
    let rules = judge::rules(&[preset], "");
    let found = rules.evaluate(app).findings.into_iter();
    found.filter(|finding| finding.rule == rule).map(|finding| finding.raw_severity).max().unwrap_or_default()
}

#[test]
fn presets_leave_on_what_the_manual_says() {
    let vaidya = ["failed-attempts", "mapper-side-reads", "mapper-spill", "reducer-skew"];
    assert_eq!(on(&judge::rules(&["vaidya"], "")), vaidya.map(str::to_owned).into());
    let compass = [
        "large-scan",
        "mapper-gc",
        "mapper-skew",
        "reducer-gc",
        "reducer-skew",
        "spark-broadcast",
        "speculation-waste",
        "straggler-dos-index",
        "wasted-resources",
    ];
    assert_eq!(on(&judge::rules(&["compass"], "")), compass.map(str::to_owned).into());
}

/// Vaidya's severity, impact x importance, as a level: its threshold is low, quarters are the levels above.
fn vaidyas(impact: f64, threshold: f64, importance: f64) -> Severity {
    let severity = impact.min(1.0) * importance;
    match impact {
        impact if impact < threshold - 1e-9 => Severity::None,
        _ if severity >= 0.75 - 1e-9 => Severity::Critical,
        _ if severity >= 0.5 - 1e-9 => Severity::Severe,
        _ if severity >= 0.25 - 1e-9 => Severity::Moderate,
        _ => Severity::Low,
    }
}

fn tasks(kind: TaskKind, count: usize) -> TaskGroup {
    elephant_sample::tasks(kind, vec![(0, Some(60)); count])
}

#[test]
fn vaidya_counts_busy_reduce_tasks() {
    // Records of each of ten reduce tasks, and how many of the largest have 85 % of them.
    let cases: [(&[i64], usize); 5] = [
        (&[100; 10], 9),
        (&[100, 100, 100, 100, 100, 100, 100, 10, 10, 10], 7),
        (&[500, 250, 100, 50, 50, 10, 10, 10, 10, 10], 3),
        (&[900, 10, 10, 10, 10, 10, 10, 10, 10, 20], 1),
        (&[0; 10], 10),
    ];
    for (records, busy) in cases {
        let mut group = tasks(TaskKind::Reduce, records.len());
        for (row, records) in records.iter().enumerate() {
            group.attempts.set_counter(row, Counter::ReduceInputRecords, Some(*records));
            group.attempts.set_counter(row, Counter::ReduceShuffleBytes, Some(1 << 20));
        }
        let app = elephant_sample::job(vec![group], &[]);
        let impact = 1.0 - busy as f64 / records.len() as f64;
        let expected = vaidyas(impact, 0.2, 0.99);
        assert_eq!(severity("vaidya", &app, "reducer-skew"), expected, "{records:?}");
    }
}

#[test]
fn vaidya_counts_attempts_that_run_again() {
    for kind in [TaskKind::Map, TaskKind::Reduce] {
        for again in [0, 3, 4, 5, 6, 8, 10, 15] {
            let mut group = tasks(kind, 10);
            for row in 0..again {
                let attempt = group.attempts.push(row % 10, 1 + row / 10);
                group.attempts.set_outcome(attempt, Outcome::Killed);
                for point in [
                    elephant_model::model::table::TimePoint::Start,
                    elephant_model::model::table::TimePoint::Finish,
                ] {
                    let at = elephant_base::units::Timestamp::from_millis(5000);
                    group.attempts.set_time(attempt, point, Some(at));
                }
            }
            let app = elephant_sample::job(vec![group], &[]);
            let expected = vaidyas(f64::from(again) / 10.0, 0.4, 0.99);
            assert_eq!(severity("vaidya", &app, "failed-attempts"), expected, "{kind:?} {again}");
        }
    }
}

/// Four map tasks with these counters in MiB, before a reduce task.
fn maps(counters: &[(Counter, i64)]) -> Application {
    let mut group = tasks(TaskKind::Map, 4);
    for row in 0..4 {
        for (counter, mib) in counters {
            group.attempts.set_counter(row, *counter, Some(mib << 20));
        }
        group.attempts.set_counter(row, Counter::SpilledRecords, Some(1000));
        group.attempts.set_counter(row, Counter::MapOutputRecords, Some(1000));
    }
    elephant_sample::job(vec![group, tasks(TaskKind::Reduce, 1)], &[])
}

#[test]
fn vaidya_counts_reads_of_other_files() {
    for (read, input) in
        [(100, 100), (109, 100), (110, 100), (160, 100), (220, 100), (300, 100), (50, 0), (0, 0)]
    {
        let app = maps(&[(Counter::HdfsBytesRead, read), (Counter::MapInputBytes, input)]);
        let ratio = if input > 0 { (read - input) as f64 / input as f64 } else { f64::INFINITY };
        let impact = if ratio >= 2.0 { f64::from(u8::from(read > 0)) } else { ratio / 2.0 };
        let expected = vaidyas(impact, 0.05, 0.99);
        assert_eq!(severity("vaidya", &app, "mapper-side-reads"), expected, "{read} of {input}");
    }
}

#[test]
fn vaidya_counts_bytes_on_local_disks() {
    for written in [100, 189, 190, 300, 327, 328, 500] {
        let app = maps(&[(Counter::FileBytesWritten, written), (Counter::MapOutputBytes, 100)]);
        let ratio = (written - 100) as f64 / 100.0;
        let impact = if ratio > 3.0 { 1.0 } else { ratio / 3.0 };
        let expected = vaidyas(impact, 0.3, 0.33);
        assert_eq!(severity("vaidya", &app, "mapper-spill"), expected, "{written}");
    }
}

#[test]
fn compass_counts_copies_collections_and_rows() {
    let mut group = tasks(TaskKind::Map, 20);
    for task in 0..9 {
        let copy = group.attempts.push(task, 1);
        group.attempts.set_outcome(copy, Outcome::Killed);
        group.attempts.set_speculative(copy, Some(true));
    }
    for row in 0..20 {
        group.attempts.set_counter(row, Counter::CpuMilliseconds, Some(1000));
        group.attempts.set_counter(row, Counter::GcTimeMillis, Some(99));
        group.attempts.set_counter(row, Counter::MapInputRecords, Some(249_999_999));
    }
    let mut app = elephant_sample::job(vec![group], &[]);
    for rule in ["speculation-waste", "mapper-gc", "large-scan"] {
        assert_eq!(severity("compass", &app, rule), Severity::None, "{rule}");
    }
    let group = &mut app.groups[0];
    let copy = group.attempts.push(9, 1);
    group.attempts.set_outcome(copy, Outcome::Killed);
    group.attempts.set_speculative(copy, Some(true));
    for row in 0..20 {
        group.attempts.set_counter(row, Counter::GcTimeMillis, Some(100));
        group.attempts.set_counter(row, Counter::MapInputRecords, Some(250_000_000));
    }
    for rule in ["speculation-waste", "mapper-gc", "large-scan"] {
        assert_eq!(severity("compass", &app, rule), Severity::Low, "{rule}");
    }
}

/// Twenty tasks that read 100 MiB in 30 s each; the last one takes this long, in seconds.
fn reading(seconds: i64) -> App {
    let task = |index: i64| {
        let time = if index == 19 { seconds } else { 30 };
        Task::new(if index % 2 == 0 { "1" } else { "2" }, time * 1000)
            .metric("Input Metrics.Bytes Read", 100 * MIB)
            .metric("Input Metrics.Records Read", 1_000_000)
    };
    App::with(&[("spark.executor.memory", "2g")], 2, 10).stage((0..20).map(task).collect())
}

/// `HdfsStuck`: the median speed of a stage is more than ten times that of its slowest task.
#[test]
fn a_task_that_reads_slowly_is_told_by_the_rules_on_stragglers() {
    let found = |app: &App, rules: &RuleSet| -> BTreeSet<String> {
        let found = judge::judge(app, rules).findings.into_iter();
        found.filter(|it| it.severity > Severity::None).map(|it| it.rule.to_string()).collect()
    };
    let (ours, compass) = (judge::rules(&[], ""), judge::rules(&["compass"], ""));
    let stuck = found(&reading(600), &ours);
    assert!(stuck.contains("straggler-dos-index") && stuck.contains("straggler-impact"), "{stuck:?}");
    assert!(found(&reading(600), &compass).contains("straggler-dos-index"));
    assert!(!found(&reading(60), &compass).contains("straggler-dos-index"));
    assert!(!found(&reading(30), &ours).contains("straggler-dos-index"));
}

/// `GlobalSort`: a stage with a single task reads more than 50 million records for more than 20 min.
#[test]
fn a_single_task_that_sorts_everything_is_told_as_too_few_tasks() {
    let sort = Task::new("1", 1_300_000)
        .metric("Shuffle Read Metrics.Total Records Read", 60_000_000)
        .metric("Shuffle Read Metrics.Local Bytes Read", 6000 * MIB);
    let before = ["1", "2"].map(|executor| {
        Task::new(executor, 30_000).metric("Shuffle Write Metrics.Shuffle Bytes Written", 3000 * MIB)
    });
    let app = App::with(&[("spark.executor.memory", "2g")], 2, 10).stage(before.to_vec()).stage(vec![sort]);
    let found = judge::judge(&app, &judge::rules(&[], "")).findings;
    let told = found.iter().find(|finding| finding.rule == "spark-parallelism").unwrap();
    assert!(told.severity >= Severity::Severe, "{}", told.message);
}
