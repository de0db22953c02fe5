//! Advice of the Spark rules: settings that have an effect, that are not in force yet, and that are enough.

use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::spark::ExecutorMetric::{
    DirectPoolMemory, JvmHeapMemory, JvmOffHeapMemory, ProcessTreeJvmRssMemory,
};
use elephant_model::model::table::{Outcome, TimePoint};
use elephant_rule::finding::{Finding, TroubleKind};

const HOUR: i64 = 3_600_000;
const GIB: i64 = 1 << 30;

fn found(app: &Application, rule: &str) -> Vec<Finding> {
    let found = elephant_sample::evaluate(app, rule, false).findings.into_iter();
    found.filter(|finding| finding.severity > Severity::None).collect()
}

/// The advised settings as "name=value".
fn settings(found: &[Finding]) -> Vec<String> {
    let advice = found.iter().flat_map(|finding| &finding.advice);
    let settings = advice.flat_map(|advice| &advice.settings);
    settings.map(|change| format!("{}={}", change.setting, change.to)).collect()
}

/// An application of an hour with a stage of this many tasks that takes all the time, and one executor of four cores, or
/// none in local mode.
fn long_stage(conf: &[(&str, &str)], tasks: usize) -> Application {
    let mut app = elephant_sample::app(conf);
    elephant_sample::stage(&mut app, 0, &vec![(Outcome::Succeeded, HOUR); tasks]);
    app.finished_at = Some(Timestamp::from_millis(HOUR));
    let local = conf.iter().any(|(_, value)| value.starts_with("local"));
    if local {
        let driver = &mut elephant_sample::spark(&mut app).driver;
        driver.id = "driver".to_owned();
        driver.totals.tasks = 1;
        driver.cores = Some(4);
    } else {
        elephant_sample::executor(&mut app, "1").cores = Some(4);
    }
    app
}

#[test]
fn more_executors_are_advised_only_if_a_setting_bounds_them() {
    let advised = |conf: &[(&str, &str)]| settings(&found(&long_stage(conf, 100), "spark-stage-runtime"));
    assert_eq!(advised(&[("spark.master", "yarn")]), ["spark.executor.instances=2"]);
    // A standalone cluster gives all its cores.
    assert_eq!(advised(&[("spark.master", "spark://host:7077")]), [""; 0]);
    assert_eq!(
        advised(&[("spark.master", "spark://host:7077"), ("spark.cores.max", "4")]),
        ["spark.cores.max=8"]
    );
    let dynamic = ("spark.dynamicAllocation.enabled", "true");
    let most = |most| [("spark.master", "yarn"), dynamic, ("spark.dynamicAllocation.maxExecutors", most)];
    assert_eq!(advised(&most("1")), ["spark.dynamicAllocation.maxExecutors=2"]);
    assert_eq!(advised(&most("50")), [""; 0]);
    assert_eq!(advised(&[("spark.master", "yarn"), dynamic]), [""; 0]);
}

#[test]
fn in_local_mode_only_the_cores_of_the_master_count() {
    let local = long_stage(&[("spark.master", "local[4]")], 100);
    let found = found(&local, "spark-stage-runtime");
    assert_eq!(settings(&found), ["spark.master=local[8]"]);
    assert!(found[0].advice[0].conditional, "the machine may have no more cores");
    assert_eq!(found[0].tells, TroubleKind::LongRun);
    let all = long_stage(&[("spark.master", "local[*]")], 100);
    assert_eq!(settings(&self::found(&all, "spark-stage-runtime")), [""; 0]);
}

#[test]
fn few_tasks_never_become_fewer() {
    let advised = |conf: &[(&str, &str)]| {
        let mut app = long_stage(conf, 2);
        elephant_sample::succeed(&mut app);
        let found = found(&app, "spark-stage-runtime");
        assert_eq!(found[0].tells, TroubleKind::FewTasks);
        assert!(found[0].advice[0].contains("12"), "{:?}", found[0].advice);
        settings(&found)
    };
    // Without a shuffle, the number comes from the code.
    assert_eq!(advised(&[]), [""; 0]);
    assert_eq!(advised(&[("spark.default.parallelism", "2")]), ["spark.default.parallelism=12"]);
    assert_eq!(advised(&[("spark.default.parallelism", "100")]), [""; 0]);
}

#[test]
fn a_driver_outside_the_cluster_is_at_most_low() {
    let of = |conf: &[(&str, &str)], preset| {
        let mut app = elephant_sample::app(conf);
        elephant_sample::executor(&mut app, "1");
        elephant_sample::severity(&app, "spark-driver-metrics", preset)
    };
    let client = ("spark.submit.deployMode", "client");
    assert_eq!(of(&[("spark.driver.memory", "30g")], false), Some(Severity::Critical));
    assert_eq!(of(&[("spark.driver.memory", "30g"), client], false), Some(Severity::Low));
    assert_eq!(of(&[("spark.driver.memory", "30g"), client], true), Some(Severity::Critical));
    // In client mode, the driver is not charged for these.
    assert_eq!(of(&[("spark.driver.cores", "20"), client], false), Some(Severity::None));
    assert_eq!(of(&[("spark.driver.memoryOverhead", "20g"), client], false), Some(Severity::None));
    assert_eq!(of(&[("spark.driver.cores", "20"), client], true), Some(Severity::Critical));
    let mut local = elephant_sample::app(&[("spark.master", "local[2]"), ("spark.driver.memory", "30g")]);
    let driver = &mut elephant_sample::spark(&mut local).driver;
    driver.totals.tasks = 1;
    elephant_sample::peaks(driver, &[(JvmHeapMemory, GIB)]);
    local.finished_at = Some(Timestamp::from_millis(100 * HOUR));
    let heap = found(&local, "spark-jvm-used-memory");
    assert_eq!(heap[0].severity, Severity::Low);
    assert!(
        heap[0].message.starts_with("the driver, which runs the tasks, has 30 GiB"),
        "{}",
        heap[0].message
    );
    assert_eq!(elephant_sample::severity(&local, "spark-jvm-used-memory", true), Some(Severity::Critical));
}

#[test]
fn an_advised_driver_heap_is_not_too_large_for_the_same_rule() {
    let with = |heap: &str| {
        let mut app = elephant_sample::app(&[("spark.driver.memory", heap)]);
        elephant_sample::executor(&mut app, "1");
        elephant_sample::peaks(&mut elephant_sample::spark(&mut app).driver, &[(JvmHeapMemory, 3 * GIB)]);
        app
    };
    let advised = settings(&found(&with("9g"), "spark-driver-metrics"));
    let (_, heap) = advised[0].split_once('=').unwrap();
    assert!(found(&with(heap), "spark-driver-metrics").is_empty(), "{heap}");
    // Half of 80 GiB that are used would be no remedy.
    let mut used = with("80g");
    elephant_sample::peaks(&mut elephant_sample::spark(&mut used).driver, &[(JvmHeapMemory, 75 * GIB)]);
    assert_eq!(settings(&found(&used, "spark-driver-metrics")), [""; 0]);
}

/// Executors with this overhead next to a heap of 10 GiB, and these peaks.
fn with_overhead(
    conf: &[(&str, &str)],
    peaks: &[(elephant_model::model::spark::ExecutorMetric, i64)],
) -> Vec<Finding> {
    let conf = [&[("spark.executor.memory", "10g"), ("spark.executor.memoryOverhead", "20g")], conf].concat();
    let mut app = elephant_sample::app(&conf);
    elephant_sample::peaks(elephant_sample::executor(&mut app, "1"), peaks);
    found(&app, "spark-configuration")
}

#[test]
fn advised_overhead_keeps_what_is_used_outside_the_heap() {
    assert_eq!(settings(&with_overhead(&[], &[])), ["spark.executor.memoryOverhead=1g"]);
    // Classes, threads and buffers take 4 GiB.
    let pools = [(JvmOffHeapMemory, GIB), (DirectPoolMemory, 3 * GIB)];
    assert_eq!(settings(&with_overhead(&[], &pools)), ["spark.executor.memoryOverhead=5g"]);
    // All processes take 16 GiB, of which 10 GiB are heap.
    let resident = [(ProcessTreeJvmRssMemory, 16 * GIB)];
    assert_eq!(settings(&with_overhead(&[], &resident)), ["spark.executor.memoryOverhead=10g"]);
    assert!(with_overhead(&[], &[(ProcessTreeJvmRssMemory, 28 * GIB)]).is_empty(), "it is used");
    // The memory of Python is unknown.
    let python = [("spark.yarn.isPython", "true")];
    assert_eq!(settings(&with_overhead(&python, &[])), ["spark.executor.processTreeMetrics.enabled=true"]);
    let pool = [("spark.yarn.isPython", "true"), ("spark.executor.pyspark.memory", "4g")];
    assert_eq!(settings(&with_overhead(&pool, &[])), ["spark.executor.memoryOverhead=1g"]);
}

#[test]
fn heaps_that_are_used_are_split() {
    let conf = [
        ("spark.executor.memory", "300g"),
        ("spark.executor.cores", "6"),
        ("spark.executor.instances", "10"),
    ];
    let mut app = elephant_sample::app(&conf);
    elephant_sample::peaks(elephant_sample::executor(&mut app, "1"), &[(JvmHeapMemory, 230 * GIB)]);
    let expected = ["spark.executor.memory=16g", "spark.executor.cores=1", "spark.executor.instances=60"];
    assert_eq!(settings(&found(&app, "spark-configuration")), expected);
}

#[test]
fn limits_of_dynamic_allocation_count_only_while_it_is_on() {
    let severity = |on: &str, preset| {
        let conf =
            [("spark.dynamicAllocation.enabled", on), ("spark.dynamicAllocation.maxExecutors", "30000")];
        elephant_sample::severity(&elephant_sample::app(&conf), "spark-configuration", preset)
    };
    assert_eq!(severity("false", false), Some(Severity::None));
    assert!(severity("true", false) >= Some(Severity::Critical));
    assert_eq!(severity("false", true), Some(Severity::Critical));
}

/// Executors with their start, end and task time in minutes, in an application of an hour.
fn executors(conf: &[(&str, &str)], lives: &[(i64, i64, u64)]) -> Application {
    const MINUTE: i64 = 60_000;
    let mut app = elephant_sample::app(conf);
    for (id, &(added, removed, worked)) in lives.iter().enumerate() {
        let executor = elephant_sample::executor(&mut app, &id.to_string());
        executor.added_at = Some(Timestamp::from_millis(added * MINUTE));
        executor.removed_at = (removed < 60).then(|| Timestamp::from_millis(removed * MINUTE));
        executor.removed_reason = executor.removed_at.map(|_| "Executor killed by driver.".to_owned());
        executor.totals.first_task_at = executor.added_at;
        let last = added * MINUTE + i64::try_from(worked).unwrap() * MINUTE;
        executor.totals.last_task_at = Some(Timestamp::from_millis(last));
        executor.totals.task_time = Some(Millis::from_secs(60 * worked));
        executor.storage.total = Some(Bytes::from_mib(1024));
    }
    app.finished_at = Some(Timestamp::from_millis(60 * MINUTE));
    app
}

#[test]
fn executors_that_came_later_or_were_released_are_not_unbalanced() {
    let dynamic = [("spark.dynamicAllocation.enabled", "true")];
    for rule in ["spark-executor-load-balance", "spark-executor-metrics"] {
        // Half the life, half the work.
        assert!(found(&executors(&[], &[(0, 60, 60), (0, 60, 60), (30, 60, 30)]), rule).is_empty(), "{rule}");
        // Released after 30 minutes without work.
        let released = [(0, 60, 60), (0, 60, 60), (0, 45, 15)];
        assert!(found(&executors(&dynamic, &released), rule).is_empty(), "{rule}");
        let idle = found(&executors(&[], &[(0, 60, 60), (0, 60, 4), (0, 60, 4)]), rule);
        assert!(idle[0].severity >= Severity::Severe, "{rule}: {idle:?}");
    }
}

#[test]
fn an_imbalance_is_told_in_multiples_of_the_mean_or_the_median() {
    let unbalanced = executors(&[], &[(0, 60, 60), (0, 60, 12), (0, 60, 12)]);
    let balance = found(&unbalanced, "spark-executor-load-balance");
    let expected = "task time of 3 executors per lifetime is 0.43× to 2.14× the mean; the busiest worked 1h per core \
                    (critical from 100 % above or below)";
    assert_eq!(balance[0].message, expected);
    assert_eq!(balance[0].tells, TroubleKind::IdleExecutors);
    let metrics = found(&unbalanced, "spark-executor-metrics");
    let expected = "executor 0 has 1h of task time, 5× the median of 12m (severe from 5×); the excess per core is 80 % of the \
                    application's run time";
    assert_eq!(metrics[0].message, expected);
}

#[test]
fn memory_is_that_of_executors_that_ran_at_the_same_time() {
    let conf = [("spark.executor.memory", "500g"), ("spark.dynamicAllocation.enabled", "true")];
    let mut app = executors(&conf, &[(0, 20, 1), (20, 40, 1), (40, 60, 1)]);
    for executor in &mut elephant_sample::spark(&mut app).executors {
        elephant_sample::peaks(executor, &[(JvmHeapMemory, GIB)]);
    }
    let found = found(&app, "spark-memory-limit");
    assert!(
        found[0].message.starts_with("one executor at a time has 550 GiB of memory"),
        "{}",
        found[0].message
    );
    assert_eq!(settings(&found), ["spark.executor.memory=1792m"]);
}

#[test]
fn settings_that_are_in_force_are_not_advised() {
    let late = |conf: &[(&str, &str)]| {
        let app = executors(conf, &[(0, 60, 60), (5, 60, 4), (5, 60, 4)]);
        settings(&found(&app, "spark-executor-metrics"))
    };
    let ratio = "spark.scheduler.minRegisteredResourcesRatio";
    assert!(late(&[]).contains(&format!("{ratio}=1.0")), "{:?}", late(&[]));
    let set = late(&[(ratio, "1.0"), ("spark.speculation", "true")]);
    assert!(!set.iter().any(|set| set.contains(ratio) || set.contains("speculation")), "{set:?}");
}

/// Tasks of this many milliseconds on 16 slots, in at most two waves, in a run that takes hardly longer.
fn waves(tasks: usize, time: i64) -> Application {
    let mut app = elephant_sample::app(&[]);
    for id in ["1", "2", "3", "4"] {
        elephant_sample::executor(&mut app, id).cores = Some(4);
    }
    elephant_sample::stage(&mut app, 0, &vec![(Outcome::Succeeded, time); tasks]);
    for row in 16..tasks {
        let at = |time| Some(Timestamp::from_millis(time));
        app.groups[0].attempts.set_time(row, TimePoint::Start, at(time));
        app.groups[0].attempts.set_time(row, TimePoint::Finish, at(2 * time));
    }
    elephant_sample::succeed(&mut app);
    app.finished_at = Some(Timestamp::from_millis(2 * time + 1000));
    app
}

#[test]
fn a_last_wave_that_leaves_slots_idle_for_a_few_seconds_is_at_most_low() {
    let judged = |app: &Application| {
        let found = found(app, "spark-parallelism");
        found.into_iter().next().map(|finding| (finding.severity, finding.message)).unwrap()
    };
    // 7.5 s of 21 s are lost.
    let (severity, message) = judged(&waves(20, 10_000));
    assert_eq!(severity, Severity::Low);
    assert!(message.ends_with("(low below 30 s, because every slot had a task)"), "{message}");
    assert!(judged(&waves(20, 60_000)).0 >= Severity::Severe);
    assert!(judged(&waves(8, 20_000)).0 >= Severity::Moderate, "slots without a task");
}
