//! Rules on stages and settings, with their defaults: on recordings of known problems, and in cases where they must
//! not contradict each other.

use elephant_rs::engine::{Options, analyze};
use elephant_rs::finding::{Finding, Subject, TroubleKind};
use elephant_rs::severity::Severity;
use elephant_sample::judge::{judge, rules};
use elephant_testing::spark_log::{App, Ending, Executor, GIB, Job, MIB, Stage, Task};

const SETTINGS: &str = "spark-configuration-parameters";
const FAILED: &str = "spark-stages-with-failed-tasks";
const SKEW: &str = "spark-skew";

/// The findings of a rule in a recording; `None` if it is missing.
fn recorded(run: &str, rule: &str) -> Option<Vec<Finding>> {
    let path = elephant_testing::shared(&format!("runs/{run}"))?;
    let report = analyze(&[path], &rules(&[], ""), Options::default());
    let found = report.applications.into_iter().flat_map(|app| app.findings);
    Some(found.filter(|finding| finding.rule == rule).collect())
}

fn found(app: &App, rule: &str) -> Vec<Finding> {
    let found = judge(app, &rules(&[], "")).findings.into_iter();
    found.filter(|finding| finding.rule == rule && finding.severity > Severity::None).collect()
}

fn advice(findings: &[Finding]) -> String {
    findings
        .iter()
        .flat_map(|finding| &finding.advice)
        .map(|advice| advice.text.clone())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn healthy_stages_have_no_findings() {
    let versions =
        ["healthy", "local", "cached", "sqlaqe", "dynalloc"].map(|run| format!("spark-3.5.9/{run}"));
    let more = ["spark-4.3.0/healthy", "spark-4.3.0/sqlaqe", "spark-3.1.3/local", "spark-2.4.8/local"];
    for run in versions.iter().map(String::as_str).chain(more) {
        for rule in [SETTINGS, FAILED, SKEW] {
            let found = recorded(run, rule).unwrap_or_default();
            assert!(found.iter().all(|finding| finding.severity == Severity::None), "{run}: {found:?}");
        }
    }
}

#[test]
fn recorded_skew_is_found_with_its_data_and_its_cost() {
    let Some(found) = recorded("replay/skew-big", SKEW) else { return };
    assert_eq!(found.len(), 1, "{found:?}");
    // Measured against the same program with even data: 9.0 s.
    let expected = "a task of stage 2.0 (save at NativeMethodAccessorImpl.java:0) reads 400 records of shuffle data, 10.5× the \
                    median of 38, and takes 16.0 s; the stage takes 10.1 s longer than with even data, 23.8 % of the run \
                    time (moderate from 5 s)";
    assert_eq!(found[0].message, expected);
    assert!(recorded("replay/skew-big", SETTINGS).unwrap().iter().all(|f| f.severity == Severity::None));
}

#[test]
fn skew_that_costs_little_time_is_low_however_uneven_the_data() {
    let Some(found) = recorded("spark-3.5.9/skew", SKEW) else { return };
    let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(found[0].severity, Severity::Low, "{messages:?}");
    assert_eq!(found[0].subject.name(), "stage 1.0", "{messages:?}");
    let fullest =
        "reads 23.9 MiB of shuffle data, 53.6× the median of 457 KiB, but costs little time (low from 16×)";
    assert!(found[0].message.contains(fullest), "{messages:?}");
}

#[test]
fn recorded_failures_are_reported_with_their_message() {
    for version in ["2.4.8", "3.1.3", "3.5.9", "4.3.0"] {
        let Some(found) = recorded(&format!("spark-{version}/failures"), FAILED) else { return };
        let critical = found.iter().filter(|finding| finding.raw_severity == Severity::Critical).count();
        assert!(critical >= 1, "{version}: {found:?}");
        assert!(found.iter().all(|finding| matches!(finding.subject, Subject::Stage(_))), "{version}");
        assert!(found.iter().any(|finding| finding.message.contains("mostly \"")), "{version}");
    }
}

#[test]
fn recorded_executor_loss_is_reported_with_time_and_reason() {
    let Some(found) = recorded("spark-3.5.9/execkill", FAILED) else { return };
    let whole = found.iter().find(|finding| finding.subject == Subject::Application).unwrap();
    assert!(whole.message.contains("executor 1 on "), "{}", whole.message);
    assert!(
        whole.message.contains("was lost 11.5 s after it was added: exit code 137 (SIGKILL"),
        "{}",
        whole.message
    );
    assert!(advice(&found).contains("SIGKILL"), "{}", advice(&found));
    let stage = found.iter().find(|finding| finding.subject.name() == "stage 1.0").unwrap();
    assert!(stage.message.contains("had to run again"), "{}", stage.message);
    assert!(stage.message.contains("3 because a shuffle fetch failed"), "{}", stage.message);
}

/// An application whose second stage has 8 tasks that spill `spill` bytes each.
fn spilling(conf: &[(&str, &str)], spill: u64) -> App {
    let task = |read: u64| {
        Task::new("1", 30_000)
            .metric("Shuffle Read Metrics.Local Bytes Read", read)
            .metric("Memory Bytes Spilled", spill)
    };
    App::with(conf, 2, 2).stage((0..8).map(|_| task(256 * MIB)).collect())
}

#[test]
fn spill_advice_prefers_the_cheapest_change() {
    let low_fraction =
        spilling(&[("spark.memory.fraction", "0.05"), ("spark.executor.memory", "4g")], 256 * MIB);
    let found = found(&low_fraction, SETTINGS);
    assert_eq!(found.len(), 1);
    let advice = advice(&found);
    assert!(advice.contains("--conf spark.memory.fraction=0.6 (now 0.05): less spill"), "{advice}");
    assert!(!advice.contains("spark.executor.memory="), "{advice}");
}

#[test]
fn spill_advice_asks_for_memory_if_partitions_are_fixed() {
    let found = found(&spilling(&[("spark.executor.memory", "2g")], 2 * GIB), SETTINGS);
    let advice = advice(&found);
    assert!(advice.contains("spark.executor.memory=10g (now 2g): less spill"), "{advice}");
    assert!(found[0].message.contains("tasks spilled 16 GiB"), "{}", found[0].message);
    assert_eq!(found.len(), 1, "the finding on the stage names the settings");
}

/// Executors of `heap` whose memory peaks at `peak` and whose tasks spend `gc` of each minute on garbage collection.
fn executors(conf: &[(&str, &str)], peak: u64, gc: u64) -> App {
    let tasks = (0..8).map(|_| Task::new("1", 60_000).metric("JVM GC Time", gc)).collect();
    let mut app = App::with(conf, 1, 2).stage(tasks);
    app.executors = vec![Executor { peaks: vec![("JVMHeapMemory", peak)], ..Executor::new("1", 2) }];
    app
}

#[test]
fn large_heaps_shrink_but_stay_above_the_peak() {
    let app = executors(&[("spark.executor.memory", "16g")], 2 * GIB, 0);
    let found = found(&app, SETTINGS);
    assert_eq!(found.iter().map(|finding| finding.severity).max(), Some(Severity::Low));
    assert!(
        advice(&found).contains("spark.executor.memory=3g (now 16g): the rest was never used"),
        "{}",
        advice(&found)
    );
}

#[test]
fn heaps_under_pressure_never_shrink_and_one_rule_reports_it() {
    let conf = [("spark.executor.memory", "6g"), ("spark.executor.cores", "2")];
    let app = executors(&conf, 5 * GIB, 12_000);
    let (settings, gc) = (found(&app, SETTINGS), found(&app, "spark-executor-gc"));
    assert!(advice(&gc).contains("--conf spark.executor.memory="), "{}", advice(&gc));
    assert!(settings.is_empty(), "{settings:?}");
    // If the heap was mostly empty, a larger one does not shorten the collections.
    let empty = advice(&found(&executors(&conf, GIB, 12_000), "spark-executor-gc"));
    assert!(empty.contains("a larger heap would hardly help"), "{empty}");
}

#[test]
fn local_mode_advice_is_about_the_driver() {
    let conf = [("spark.master", "local[4]"), ("spark.driver.memory", "2g"), ("spark.executor.memory", "1g")];
    let tasks = (0..8).map(|_| Task::new("driver", 60_000).metric("JVM GC Time", 12_000)).collect();
    let found = found(&App::with(&conf, 0, 1).stage(tasks), "spark-executor-gc");
    assert!(advice(&found).contains("spark.driver.memory=4g (now 2g)"), "{}", advice(&found));
    assert!(!advice(&found).contains("spark.executor"), "{}", advice(&found));
}

#[test]
fn dynamic_allocation_advice_has_no_executor_count() {
    let fixed =
        [("spark.executor.instances", "10"), ("spark.executor.cores", "8"), ("spark.executor.memory", "16g")];
    let of = |conf: &[(&str, &str)]| {
        let app = executors(conf, 14 * GIB, 24_000);
        advice(&found(&app, SETTINGS)) + &advice(&found(&app, "spark-executor-gc"))
    };
    let dynamic = [&fixed[..], &[("spark.dynamicAllocation.enabled", "true")]].concat();
    let advised = of(&fixed);
    assert!(advised.contains("spark.executor.cores=4 (now 8)"), "{advised}");
    assert!(advised.contains("spark.executor.instances=20 (now 10)"), "{advised}");
    let advised = of(&dynamic);
    assert!(!advised.contains("instances"), "{advised}");
}

#[test]
fn data_skew_is_reported_with_the_data() {
    let task = |executor: u32, duration, read| {
        Task::new(&executor.to_string(), duration).metric("Shuffle Read Metrics.Remote Bytes Read", read)
    };
    let mut tasks: Vec<Task> = (0..20).map(|index| task(index / 2 + 1, 10_000, 10 * MIB)).collect();
    tasks.push(task(11, 100_000, 500 * MIB));
    let found = found(&App::with(&[], 11, 2).stage(tasks), SKEW);
    assert_eq!(found.len(), 1);
    let start = "a task of stage 0.0 (count at App.scala:10) reads 500 MiB of shuffle data, 50× the median of 10 MiB, and takes \
                 1m 40s";
    assert!(found[0].message.starts_with(start), "{}", found[0].message);
    assert!(advice(&found).contains("salt"), "{}", advice(&found));
}

#[test]
fn few_failures_in_a_large_stage_are_not_a_finding() {
    let mut tasks: Vec<Task> = (0..500).map(|_| Task::new("1", 1000)).collect();
    let failure = Task::new("1", 10).ending(Ending::Exception("java.io.IOException", "gone"));
    tasks.push(Task { index: Some(0), attempt: 1, ..failure });
    assert!(found(&App::with(&[], 2, 2).stage(tasks), FAILED).is_empty());
}

#[test]
fn both_rules_advise_more_overhead_for_killed_containers() {
    let reason =
        "Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used.";
    let mut tasks: Vec<Task> = (0..20).map(|_| Task::new("1", 1000)).collect();
    let killed = Task::new("1", 10).ending(Ending::ExecutorLost(
        "Container killed by YARN for exceeding memory limits. 5.5 GB of 5.5 GB physical memory used.",
    ));
    tasks.push(Task { index: Some(0), attempt: 1, ..killed });
    let conf = [("spark.executor.memory", "4g"), ("spark.executor.memoryOverhead", "512m")];
    let mut app = App::with(&conf, 2, 2).stage(tasks);
    app.executors[0].removed = Some((900, reason.to_owned()));
    let line = "--conf spark.executor.memoryOverhead=1536m (now 512m)";
    for rule in [FAILED, SETTINGS] {
        let found = found(&app, rule);
        assert!(advice(&found).contains(line), "{rule}: {}", advice(&found));
    }
    assert!(
        found(&app, FAILED).iter().any(|finding| finding.message.contains("executor 1 on worker1 was lost"))
    );
}

#[test]
fn only_the_worst_stages_are_reported() {
    let stage = |id| {
        let failure = Task::new("1", 10).ending(Ending::Exception("java.io.IOException", "gone"));
        let failed = (0..4).map(|attempt| Task { index: Some(0), attempt, ..failure.clone() });
        let tasks: Vec<Task> = (0..10).map(|_| Task::new("1", 1000)).collect();
        Stage::new(id, tasks.into_iter().chain(failed).collect())
    };
    let job = |id| Job { id, stages: vec![stage(id)], ..Job::default() };
    let app = App { jobs: (0..5).map(job).collect(), ..App::with(&[], 1, 1) };
    let found = found(&app, FAILED);
    assert_eq!(found.len(), 3);
    assert!(found.iter().any(|finding| finding.message.ends_with("2 more stages are similar")));
}

/// Ten executors with 4 cores and 8 GiB for three hours, and one busy core. The log has no memory metrics.
fn idle(master: &str) -> App {
    App::with(&[("spark.master", master), ("spark.executor.memory", "8g")], 10, 4)
        .stage(vec![Task::new("1", 10_800_000)])
}

#[test]
fn idle_cores_are_waste_even_if_the_needs_of_executors_are_unknown() {
    let found = found(&idle("yarn"), "wasted-resources");
    assert_eq!(found.len(), 1, "{found:?}");
    let message = "the cores of executors were idle for 97.5 % of the time, while they held";
    assert!(found[0].message.starts_with(message), "{}", found[0].message);
    assert_eq!(found[0].tells, TroubleKind::IdleExecutors);
    let released = "release idle executors: --conf spark.dynamicAllocation.enabled=true";
    assert!(advice(&found).contains(released), "{found:?}");
    // If the memory is too large, too, both findings are shown together: each number must say what it is.
    let mut large = idle("yarn");
    for executor in &mut large.executors {
        executor.peaks = vec![("JVMHeapMemory", GIB)];
    }
    let found = self::found(&large, "wasted-resources");
    let message =
        "executors held 273 GB·h while their cores were idle for 97.5 % of the time; by its size alone, ";
    assert!(found[0].message.starts_with(message), "{}", found[0].message);
}

#[test]
fn idle_cores_in_local_mode_are_no_idle_executors() {
    let log = "corpus/spark-compressed/NVIDIA__spark-rapids-tools/profiling/eventlog_dsv1.zstd";
    let Some(path) = elephant_testing::shared(log) else { return };
    let report = analyze(&[path], &rules(&[], ""), Options::default());
    let app = &report.applications[0];
    let waste: Vec<Finding> =
        app.findings.iter().filter(|found| found.rule == "wasted-resources").cloned().collect();
    assert_eq!(waste.len(), 1, "{:?}", app.findings);
    assert!(advice(&waste).contains("spark.driver.memory=1280m (now 30g)"), "{}", advice(&waste));
    assert!(!advice(&waste).contains("executor"), "{}", advice(&waste));
    let kinds: Vec<TroubleKind> = app.troubles.iter().map(|trouble| trouble.kind).collect();
    assert_eq!(kinds, [TroubleKind::MuchMemory]);
}

#[test]
fn many_small_tasks_that_all_work_have_little_overhead() {
    let App { executors, .. } = App::with(&[], 2, 4);
    let tasks =
        |ms: i64| (0..2000).map(|task| Task::new(if task % 2 == 0 { "1" } else { "2" }, ms)).collect();
    let alike = App { executors, ..App::default() }.stage(tasks(150));
    let found = found(&alike, "spark-parallelism");
    // 15 ms for each of about 2,000 tasks on 8 slots, not 150.
    assert!(found.iter().all(|found| !found.message.contains("150 ms is overhead")), "{found:?}");
}

#[test]
fn no_setting_makes_the_application_slower() {
    // All eight cores of both executors are busy, and half of the time is garbage collection.
    let tasks = (0..160)
        .map(|task| Task::new(if task % 2 == 0 { "1" } else { "2" }, 60_000).metric("JVM GC Time", 30_000));
    let app = App::with(&[("spark.executor.memory", "16g"), ("spark.executor.cores", "8")], 2, 8)
        .stage(tasks.collect());
    let judged = judge(&app, &rules(&[], ""));
    let proposed = |name: &str| judged.recommended.iter().any(|it| it.change.setting == name);
    assert!(
        judged.findings.iter().any(|finding| finding.rule == "spark-executor-gc"),
        "{:?}",
        judged.findings
    );
    assert!(!proposed("spark.executor.cores"), "{:?}", judged.recommended);
}

/// The settings recommended for each application of a history.
fn recommended(path: &str) -> Option<Vec<String>> {
    let report = analyze(&[elephant_testing::shared(path)?], &rules(&[], ""), Options::default());
    let apps = report.applications.into_iter();
    let all =
        apps.flat_map(|app| app.recommended).map(|it| format!("{}={}", it.change.setting, it.change.to));
    Some(all.collect())
}

#[test]
fn a_heap_against_collections_is_larger_than_one_that_was_measured_to_be_too_small() {
    let Some(of_small) = recommended("runs/replay/gc-heap512m") else { return };
    // With 2560 MiB, 19.5 % of the time was garbage collection.
    assert_eq!(of_small, ["spark.executor.memory=2816m"]);
    // At most 1.1 GiB of these 2560 MiB were in use.
    assert_eq!(recommended("runs/replay/gc-heap2560m").unwrap(), Vec::<String>::new());
}

#[test]
fn a_second_task_is_not_advised_where_its_memory_does_not_fit() {
    let path = "corpus/spark-rolling/kubeflow__mcp-apache-spark-history-server";
    let Some(of_taxis) = recommended(path) else { return };
    assert!(!of_taxis.iter().any(|it| it.contains("cores")), "{of_taxis:?}");
}

#[test]
fn executors_that_were_idle_for_seconds_are_not_released() {
    let path = "corpus/spark-compressed/NVIDIA__spark-rapids/nds_q86_fail_test.zstd";
    let Some(of_short) = recommended(path) else { return };
    assert!(!of_short.iter().any(|it| it.contains("dynamicAllocation")), "{of_short:?}");
}

#[test]
fn more_executors_come_only_with_fewer_cores() {
    let tasks = (0..160)
        .map(|task| Task::new(if task % 2 == 0 { "1" } else { "2" }, 60_000).metric("JVM GC Time", 30_000));
    let conf =
        [("spark.executor.memory", "16g"), ("spark.executor.cores", "8"), ("spark.executor.instances", "2")];
    let judged = judge(&App::with(&conf, 2, 8).stage(tasks.collect()), &rules(&[], ""));
    let proposed = |name: &str| judged.recommended.iter().any(|it| it.change.setting == name);
    let (cores, executors) = (proposed("spark.executor.cores"), proposed("spark.executor.instances"));
    assert_eq!(cores, executors, "{:?}", judged.recommended);
}
