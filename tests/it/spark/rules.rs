//! Spark rules with their defaults: problems are found and named; healthy applications have no findings.

use elephant_rs::engine::{Options, analyze};
use elephant_rs::finding::Finding;
use elephant_rs::severity::Severity;
use elephant_sample::judge::{judge, rules};
use elephant_testing::spark_log::{App, Ending, Executor, GIB, MIB, Task};

const MINUTE: i64 = 60_000;

fn found(app: &App, rule: &str, yaml: &str) -> Vec<Finding> {
    let findings = judge(app, &rules(&[], yaml)).findings;
    findings.into_iter().filter(|finding| finding.rule == rule).collect()
}

/// The only finding of a rule.
fn only(app: &App, rule: &str) -> Finding {
    let mut found = found(app, rule, "");
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn spread(executors: u32, durations: &[i64]) -> App {
    let tasks = durations.iter().zip(1..).map(|(duration, id)| Task::new(&i32::to_string(&id), *duration));
    App::with(&[], executors, 1).stage(tasks.collect())
}

#[test]
fn single_busy_executor_is_found_by_possible_savings() {
    let finding = only(&spread(3, &[10 * MINUTE, MINUTE, MINUTE]), "spark-executor-metrics");
    assert_eq!(finding.severity, Severity::Critical);
    assert!(
        finding.message.starts_with("executor 1 has 10m of task time, 10× the median of 1m"),
        "{}",
        finding.message
    );
    assert!(finding.advice[0].contains("--conf spark.default.parallelism=9"), "{:?}", finding.advice);
    // In an application of four hours, the same imbalance is negligible.
    let mut long = spread(3, &[10 * MINUTE, MINUTE, MINUTE]);
    long.end = Some(240 * MINUTE);
    assert_eq!(only(&long, "spark-executor-metrics").severity, Severity::None);
}

#[test]
fn executors_added_near_the_end_are_not_compared() {
    let mut app = spread(3, &[10 * MINUTE, 10 * MINUTE, 1000]);
    app.executors[2].added = 9 * MINUTE;
    app.jobs[0].stages[0].tasks[2].launch = 9 * MINUTE;
    let finding = only(&app, "spark-executor-metrics");
    let compared = format!("{:?}", finding.evidence[1]);
    assert_eq!(compared, "(\"compared_executors_count\", Count(2))");
    assert_eq!(finding.severity, Severity::None);
}

#[test]
fn single_executor_is_not_compared() {
    assert_eq!(found(&spread(1, &[MINUTE]), "spark-executor-metrics", ""), []);
    assert_eq!(found(&App::default().stage(vec![Task::new("driver", 5)]), "spark-executor-metrics", ""), []);
}

fn attempts(failed: u32, succeeded: u32) -> Vec<Task> {
    let error = Ending::Exception("java.lang.OutOfMemoryError", "Java heap space");
    let failed =
        (0..failed).map(|attempt| Task { index: Some(0), attempt, ..Task::new("1", 1000).ending(error) });
    failed.chain((0..succeeded).map(|index| Task { index: Some(index), ..Task::new("1", 1000) })).collect()
}

#[test]
fn one_failed_attempt_of_two_is_not_a_finding() {
    let app = App::with(&[], 1, 1).stage(attempts(1, 1));
    assert_eq!(only(&app, "spark-job-metrics").severity, Severity::None);
    assert_eq!(only(&app, "spark-stage-metrics").severity, Severity::None);
    let preset = rules(&["dr-elephant"], "");
    let findings = judge(&app, &preset).findings;
    let severity = |rule| findings.iter().filter(|f| f.rule == rule).map(|f| f.severity).max();
    assert_eq!(severity("spark-job-metrics"), Some(Severity::Critical));
    assert_eq!(severity("spark-stage-metrics"), Some(Severity::Critical));
}

#[test]
fn worst_failing_stages_are_named_and_the_rest_counted() {
    let mut app = App::with(&[("spark.executor.memory", "2g")], 1, 1);
    for failed in [2, 20, 12, 6, 3] {
        app = app.stage(attempts(failed, 5));
    }
    // By default another rule judges failing tasks.
    assert_eq!(only(&app, "spark-stage-metrics").subject.name(), "application");
    let rates = "rule: spark-stage-metrics\ntask_failure_rate: [10%, 30%, 50%, 50%]\n";
    let found = found(&app, "spark-stage-metrics", rates);
    let subjects: Vec<String> = found.iter().map(|finding| finding.subject.name().into_owned()).collect();
    assert_eq!(subjects, ["stage 1.0", "stage 2.0", "stage 3.0"]);
    assert!(
        found[0].message.starts_with("stage 1.0 (count at App.scala:11): 20 of 25"),
        "{}",
        found[0].message
    );
    assert!(found[0].message.ends_with("mostly because the heap was full"), "{}", found[0].message);
    assert!(found[2].message.ends_with("; 2 more stages are similar"), "{}", found[2].message);
    assert!(
        found[0].advice[0]
            .starts_with("give tasks more heap (`elephant-rs rules show spark-stages-with-failed-tasks`)"),
        "{:?}",
        found[0].advice
    );
}

#[test]
fn default_spark_settings_are_not_a_finding() {
    for conf in [
        &[][..],
        &[("spark.dynamicAllocation.enabled", "true")],
        &[("spark.executor.cores", "5"), ("spark.executor.memory", "20g")],
        &[("spark.dynamicAllocation.enabled", "true"), ("spark.dynamicAllocation.minExecutors", "0")],
    ] {
        let app = App::with(conf, 2, 1).stage(vec![Task::new("1", 1000)]);
        let finding = only(&app, "spark-configuration");
        assert_eq!(
            (finding.severity, finding.message.as_str()),
            (Severity::None, "no setting needs a change")
        );
    }
}

#[test]
fn wasteful_settings_are_named_worst_first_with_advice() {
    let conf = [
        ("spark.dynamicAllocation.enabled", "true"),
        ("spark.dynamicAllocation.shuffleTracking.enabled", "false"),
        ("spark.dynamicAllocation.minExecutors", "10"),
        ("spark.executor.cores", "8"),
    ];
    let app = App::with(&conf, 10, 8).stage(vec![Task::new("1", 10 * MINUTE)]);
    let finding = only(&app, "spark-configuration");
    assert_eq!(finding.severity, Severity::Severe);
    assert_eq!(finding.advice.len(), 2);
    assert!(finding.advice[0].contains("shuffleTracking.enabled=true (now false)"), "{:?}", finding.advice);
    assert!(
        finding.message.contains("minExecutors is 10, of which 98.8 % were idle on average"),
        "{}",
        finding.message
    );
}

#[test]
fn cores_and_heap_shrink_together() {
    let conf = [("spark.executor.cores", "16"), ("spark.executor.memory", "80g")];
    let finding = only(&App::with(&conf, 2, 16).stage(vec![Task::new("1", 1000)]), "spark-configuration");
    assert_eq!(finding.severity, Severity::Moderate);
    let expected = "--conf spark.executor.cores=4 (now 16) --conf spark.executor.memory=20g (now 80g)";
    assert_eq!(finding.advice.len(), 1);
    assert!(finding.advice[0].ends_with(expected), "{:?}", finding.advice);
}

#[test]
fn kryo_matters_where_rdds_shuffle() {
    let shuffled = Task::new("1", 1000).metric("Shuffle Write Metrics.Shuffle Bytes Written", 2 * GIB);
    let of = |settings: &[(&str, &str)]| {
        only(&App::with(settings, 1, 1).stage(vec![shuffled.clone()]), "spark-configuration")
    };
    // Spark's default is a matter of taste.
    assert_eq!(of(&[]).severity, Severity::None);
    let finding = of(&[("spark.serializer", "org.apache.spark.serializer.JavaSerializer")]);
    assert_eq!(finding.severity, Severity::Low);
    assert!(finding.advice[0].conditional, "{:?}", finding.advice);
    assert!(finding.message.contains("RDDs shuffled 2 GiB"), "{}", finding.message);
}

fn large(peak: u64) -> App {
    let executor = |id: u32| Executor {
        max_memory: Some(6 * GIB),
        peaks: vec![("JVMHeapMemory", peak), ("OnHeapUnifiedMemory", peak / 2)],
        ..Executor::new(&id.to_string(), 4)
    };
    let mut app = App::with(&[("spark.executor.memory", "10g")], 0, 0);
    app.executors = (1..=100).map(executor).collect();
    app.stage((1..=100).map(|id| Task::new(&i32::to_string(&id), MINUTE)).collect())
}

#[test]
fn large_unused_memory_is_a_finding() {
    let idle = only(&large(2 * GIB), "spark-memory-limit");
    assert_eq!(idle.severity, Severity::Severe, "{}", idle.message);
    assert!(idle.advice[0].ends_with("--conf spark.executor.memory=3g (now 10g)"), "{:?}", idle.advice);
    assert_eq!(only(&large(9 * GIB), "spark-memory-limit").severity, Severity::None);
    let mut unknown = large(0);
    for executor in &mut unknown.executors {
        executor.peaks.clear();
    }
    let report = judge(&unknown, &rules(&[], ""));
    assert!(report.not_evaluated.iter().any(|rule| rule.rule == "spark-memory-limit"));
}

#[test]
fn low_gc_time_is_noted_but_not_a_finding() {
    let task = |gc| Task::new("1", 10 * MINUTE).metric("JVM GC Time", gc);
    let app = |gc| App::with(&[], 1, 1).stage(vec![task(gc)]);
    let quiet = only(&app(3_000), "spark-executor-gc");
    assert_eq!(quiet.severity, Severity::None);
    assert!(quiet.evidence.iter().any(|(key, _)| *key == "gc_low_text"));
    let busy = only(&app(120_000), "spark-executor-gc");
    assert_eq!(busy.severity, Severity::Critical);
    assert!(busy.evidence.iter().all(|(key, _)| *key != "gc_low_text"));
}

#[test]
fn large_single_file_logs_get_advice_to_roll() {
    let app = App::with(&[("spark.eventLog.logBlockUpdates.enabled", "true")], 1, 1)
        .stage(vec![Task::new("1", 1000).metric("Input Metrics.Bytes Read", MIB)]);
    let small = "rule: spark-event-log-limit\nsize: [1KB, 1KB, 1TB, 1TB]\n";
    let found = found(&app, "spark-event-log-limit", small);
    assert_eq!(found[0].severity, Severity::Moderate);
    assert_eq!(found[0].advice.len(), 2);
    assert!(found[0].advice[0].contains(
        "--conf spark.eventLog.rolling.enabled=true --conf spark.eventLog.rolling.maxFileSize=128m"
    ));
    assert_eq!(only(&app, "spark-event-log-limit").severity, Severity::None);
}

#[test]
fn empty_application_is_reported_as_empty() {
    let report = judge(&App::default(), &rules(&[], ""));
    assert!(
        report.findings.iter().all(|finding| finding.severity == Severity::None),
        "{:?}",
        report.findings
    );
}

/// The rules tested in this file.
const RULES: [&str; 7] = [
    "spark-configuration",
    "spark-executor-metrics",
    "spark-job-metrics",
    "spark-stage-metrics",
    "spark-executor-gc",
    "spark-event-log-limit",
    "spark-memory-limit",
];

/// The rules with findings in a recording.
fn findings_of(recording: &str) -> Option<Vec<String>> {
    let path = elephant_testing::shared(&format!("runs/{recording}"))?;
    let report = analyze(&[path], &rules(&[], ""), Options::default());
    let findings = report.applications.into_iter().flat_map(|app| app.findings);
    let mut found: Vec<String> = findings.map(|finding| finding.rule.into_owned()).collect();
    found.retain(|rule| RULES.contains(&rule.as_str()));
    found.dedup();
    Some(found)
}

#[test]
fn healthy_recordings_have_no_findings() {
    for recording in ["healthy", "local", "cached", "sqlaqe", "dynalloc", "speculation"] {
        let Some(found) = findings_of(&format!("spark-3.5.9/{recording}")) else { return };
        assert!(found.is_empty(), "{recording}: {found:?}");
    }
}

#[test]
fn problems_in_recordings_are_found() {
    for (recording, expected) in [
        ("spark-3.5.9/gc", &["spark-executor-gc"][..]),
        ("spark-3.5.9/failures", &["spark-job-metrics", "spark-stage-metrics"]),
        ("spark-3.5.9/execkill", &["spark-job-metrics", "spark-stage-metrics"]),
        ("spark-2.4.8/failures", &["spark-job-metrics", "spark-stage-metrics"]),
        ("spark-3.1.3/failures", &["spark-job-metrics", "spark-stage-metrics"]),
        ("spark-4.3.0/failures", &["spark-job-metrics", "spark-stage-metrics"]),
    ] {
        let Some(mut found) = findings_of(recording) else { return };
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, expected, "{recording}");
    }
}
