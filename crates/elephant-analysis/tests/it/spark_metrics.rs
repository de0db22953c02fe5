//! Tests arithmetic and degenerate cases on applications built by hand.

use elephant_analysis::metrics::Metrics;
use elephant_analysis::metrics::SparkMetricParams;
use elephant_analysis::metrics::spark::{Formula, idle_beyond};
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_model::model::conf::Property;
use elephant_model::model::spark::{
    Executor, ExecutorMetric, Job, JobResult, ResourceProfile, Spark, Stage, StageAttempt, StageStatus,
};
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine};

const HOUR: i64 = 3_600_000;
const STAGE: StageAttempt = StageAttempt { stage: 0, attempt: 0 };

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

fn params() -> SparkMetricParams {
    elephant_sample::spark_metrics()
}

fn executor(id: &str, cores: u32, added: i64, removed: Option<i64>) -> Executor {
    Executor {
        id: id.to_owned(),
        cores: Some(cores),
        added_at: Some(at(added)),
        removed_at: removed.map(at),
        ..Executor::default()
    }
}

fn with_peak(mut executor: Executor, metric: ExecutorMetric, mib: i64) -> Executor {
    executor.peaks.raise(metric, mib << 20);
    executor
}

/// An application that ran ten hours.
fn app(conf: &[(&str, &str)], executors: Vec<Executor>) -> Application {
    let mut app = Application::new(Engine::Spark);
    for (name, value) in conf {
        app.conf.insert((*name).to_owned(), Property { value: (*value).to_owned(), is_final: false });
    }
    app.submitted_at = Some(at(0));
    app.finished_at = Some(at(10 * HOUR));
    let driver = Executor { id: "driver".to_owned(), ..Executor::default() };
    app.spark = Some(Box::new(Spark { executors, driver, ..Spark::default() }));
    app
}

fn spark(app: &mut Application) -> &mut Spark {
    app.spark.as_mut().unwrap()
}

/// Adds an attempt of a new task.
fn attempt(app: &mut Application, executor: &str, span: (i64, i64), outcome: Outcome) {
    let symbol = app.strings.intern(executor);
    if app.groups.is_empty() {
        app.groups.push(TaskGroup::new(TaskKind::Stage(STAGE)));
    }
    let group = &mut app.groups[0];
    let task = group.tasks.push(0);
    group.tasks.set_outcome(task, outcome);
    let row = group.attempts.push(u32::try_from(task).unwrap(), 0);
    group.attempts.set_outcome(row, outcome);
    group.attempts.set_executor(row, symbol);
    group.attempts.set_time(row, TimePoint::Start, Some(at(span.0)));
    if outcome != Outcome::Unfinished {
        group.attempts.set_time(row, TimePoint::Finish, Some(at(span.1)));
    }
}

fn gb_hours(app: &Application) -> Option<f64> {
    Metrics::of_spark(app, &params()).used.map(elephant_base::units::MbMillis::as_gb_hours)
}

fn same(actual: Option<f64>, expected: f64) {
    let close = actual.is_some_and(|actual| (actual - expected).abs() < 1e-6 * expected.max(1.0));
    assert!(close, "{actual:?} is not {expected}");
}

#[test]
fn yarn_rounds_heap_and_overhead_up() {
    let conf = [("spark.master", "yarn"), ("spark.executor.memory", "4g")];
    let executors = vec![executor("1", 2, HOUR, Some(3 * HOUR)), executor("2", 2, 0, None)];
    // 4096 + 409 MiB are rounded up to 5120; the master in client mode requests 512 + 384 and gets 1024.
    same(gb_hours(&app(&conf, executors.clone())), 5.0 * 12.0 + 10.0);
    let cluster =
        [&conf[..], &[("spark.submit.deployMode", "cluster"), ("spark.driver.memory", "2g")]].concat();
    same(gb_hours(&app(&cluster, executors.clone())), 5.0 * 12.0 + 3.0 * 10.0);
    let fair = [&conf[..], &[("yarn.scheduler.increment-allocation-mb", "512")]].concat();
    same(gb_hours(&app(&fair, executors.clone())), 4.5 * 12.0 + 10.0);
    let least = [&conf[..], &[("yarn.scheduler.minimum-allocation-mb", "8192")]].concat();
    same(gb_hours(&app(&least, executors)), 8.0 * 12.0 + 80.0);
}

#[test]
fn other_managers_allocate_exactly_the_requested_size() {
    let used = |conf: &[(&str, &str)]| gb_hours(&app(conf, vec![executor("1", 2, 0, None)]));
    let k8s = ("spark.master", "k8s://https://host");
    same(used(&[k8s]), 10.0 * (1024.0 + 384.0) / 1024.0);
    same(used(&[k8s, ("spark.executor.memory", "10g")]), 10.0 * 11.0);
    same(used(&[k8s, ("spark.executor.memory", "10g"), ("spark.kubernetes.resource.type", "python")]), 140.0);
    let cluster = ("spark.submit.deployMode", "cluster");
    same(used(&[k8s, cluster]), 2.0 * 10.0 * 1408.0 / 1024.0);
    let standalone = ("spark.master", "spark://host:7077");
    same(used(&[standalone, ("spark.executor.memoryOverhead", "2g")]), 10.0);
    same(used(&[standalone, cluster, ("spark.driver.memory", "512m")]), 15.0);
    same(used(&[("spark.master", "mesos://host"), ("spark.executor.memoryOverhead", "1g")]), 20.0);
    same(used(&[k8s, ("spark.memory.offHeap.enabled", "true"), ("spark.memory.offHeap.size", "640m")]), 20.0);
    same(used(&[k8s, ("spark.executor.memory", "lots"), cluster]).or(Some(-1.0)), -1.0);
    assert_eq!(used(&[("spark.executor.memory", "1g")]), None, "the cluster manager is unknown");
}

#[test]
fn resource_profiles_have_their_own_sizes() {
    let conf = [("spark.master", "k8s://host"), ("spark.executor.memory", "1g")];
    let mut big = executor("1", 2, 0, None);
    big.resource_profile = Some(1);
    let mut app = app(&conf, vec![big]);
    assert_eq!(gb_hours(&app), None, "the profile is not described");
    let memory = Some(Bytes::from_mib(4096));
    spark(&mut app).resource_profiles = vec![ResourceProfile { id: 1, memory, ..ResourceProfile::default() }];
    same(gb_hours(&app), 10.0 * (4096.0 + 384.0) / 1024.0);
}

#[test]
fn local_mode_uses_the_drivers_heap() {
    let mut app = app(&[("spark.master", "local[4]"), ("spark.driver.memory", "2g")], Vec::new());
    spark(&mut app).driver.cores = Some(4);
    attempt(&mut app, "driver", (HOUR, 3 * HOUR), Outcome::Succeeded);
    let metrics = Metrics::of_spark(&app, &params());
    same(metrics.used.map(elephant_base::units::MbMillis::as_gb_hours), 20.0);
    same(metrics.cores_used.map(elephant_base::units::CoreMillis::as_core_hours), 2.0);
    same(metrics.cores_idle.map(elephant_base::units::CoreMillis::as_core_hours), 38.0);
    assert_eq!(metrics.wait_time, Some(Millis::ZERO));
}

#[test]
fn the_application_id_may_reveal_the_cluster_manager() {
    let mut app = app(&[("spark.executor.memory", "2g")], vec![executor("1", 1, 0, None)]);
    app.id = "app-20200706201101-0003".to_owned();
    same(gb_hours(&app), 20.0);
    app.id = "application_1457600942802_0093".to_owned();
    same(gb_hours(&app), 30.0 + 10.0);
    app.id = "local-1422981759269".to_owned();
    assert_eq!(gb_hours(&app), None, "local mode has no executors");
    spark(&mut app).executors.clear();
    same(gb_hours(&app), 10.0);
    app.conf = elephant_model::model::conf::Conf::default();
    assert_eq!(gb_hours(&app), None, "the settings are missing");
}

#[test]
fn memory_above_the_peaks_is_wasted() {
    let conf = [("spark.master", "spark://host"), ("spark.executor.memory", "4g")];
    let measured = |conf: &[(&str, &str)], executors| {
        let metrics = Metrics::of_spark(&app(conf, executors), &params());
        metrics.wasted.map(elephant_base::units::MbMillis::as_gb_hours)
    };
    let plain = || executor("1", 1, 0, None);
    assert_eq!(measured(&conf, vec![plain()]), None, "nothing was measured");
    let heap = || with_peak(plain(), ExecutorMetric::JvmHeapMemory, 724);
    same(measured(&conf, vec![heap()]), 10.0 * (4.0 - 1.5));
    // An executor without measurements is assumed to need as much.
    same(measured(&conf, vec![heap(), executor("2", 1, 5 * HOUR, None)]), 15.0 * (4.0 - 1.5));
    let tree = with_peak(heap(), ExecutorMetric::ProcessTreeJvmRssMemory, 2048);
    same(measured(&conf, vec![tree]), 10.0);
    let full = with_peak(plain(), ExecutorMetric::JvmHeapMemory, 4000);
    same(measured(&conf, vec![full]), 0.0);
}

#[test]
fn unsuccessful_attempts_cost_their_slot() {
    let conf = [("spark.master", "spark://host"), ("spark.executor.memory", "4g"), ("spark.task.cpus", "2")];
    let mut app = app(&conf, vec![executor("1", 8, HOUR, Some(5 * HOUR)), executor("1", 8, 6 * HOUR, None)]);
    attempt(&mut app, "1", (2 * HOUR, 3 * HOUR), Outcome::Failed);
    attempt(&mut app, "1", (4 * HOUR, 9 * HOUR), Outcome::Killed);
    attempt(&mut app, "1", (7 * HOUR, 0), Outcome::Unfinished);
    let metrics = Metrics::of_spark(&app, &params());
    same(metrics.failed_attempts.map(elephant_base::units::MbMillis::as_gb_hours), 1.0);
    // After its executor's end an attempt holds nothing.
    same(metrics.killed_attempts.map(elephant_base::units::MbMillis::as_gb_hours), 1.0);
    same(metrics.losing_attempts.map(elephant_base::units::MbMillis::as_gb_hours), 0.0);
    same(metrics.cores_used.map(elephant_base::units::CoreMillis::as_core_hours), 2.0 * (1.0 + 1.0 + 3.0));
    same(metrics.cores_idle.map(elephant_base::units::CoreMillis::as_core_hours), 8.0 * 8.0 - 10.0);
    let counts = metrics.tasks[0].1.unwrap();
    assert_eq!((counts.total, counts.attempts, counts.failed, counts.killed), (3, 3, 1, 1));
}

#[test]
fn missing_data_makes_sums_unknown() {
    let conf = [("spark.master", "yarn")];
    let whole = || app(&conf, vec![executor("1", 1, HOUR, None)]);
    assert!(Metrics::of_spark(&whole(), &params()).used.is_some());
    let without = |change: fn(&mut Application)| {
        let mut app = whole();
        change(&mut app);
        let metrics = Metrics::of_spark(&app, &params());
        assert_eq!((metrics.used, metrics.wasted, metrics.cores_idle), (None, None, None));
        metrics
    };
    without(|app| app.finished_at = None);
    without(|app| spark(app).gaps.end = true);
    without(|app| spark(app).gaps.executors = 1);
    without(|app| spark(app).gaps.beginning = true);
    without(|app| spark(app).executors[0].added_at = None);
    without(|app| spark(app).executors[0].removed_at = Some(at(0)));
    assert_eq!(without(|app| spark(app).gaps.compacted = true).wait_time, None);
    assert_eq!(without(|app| app.finished_at = Some(at(-5))).run_time, None);
    assert_eq!(Metrics::of_spark(&Application::new(Engine::Spark), &params()), Metrics::default());
}

#[test]
fn time_without_a_requested_executor_is_wait_time() {
    let job = |submitted, completed| Job {
        submitted_at: Some(at(submitted)),
        completed_at: Some(at(completed)),
        has_end: true,
        result: Some(JobResult::Succeeded),
        ..Job::new(0)
    };
    let wait = |conf: &[(&str, &str)]| {
        let mut app =
            app(conf, vec![executor("1", 1, 3 * HOUR, Some(4 * HOUR)), executor("2", 1, 7 * HOUR, None)]);
        spark(&mut app).jobs = vec![job(2 * HOUR, 5 * HOUR), job(6 * HOUR, 8 * HOUR)];
        Metrics::of_spark(&app, &params()).wait_time.map(Millis::as_hours)
    };
    let dynamic = ("spark.dynamicAllocation.enabled", "true");
    same(wait(&[("spark.master", "yarn")]), 3.0 + 1.0 + 1.0);
    same(wait(&[("spark.master", "yarn"), dynamic]), 1.0 + 1.0 + 1.0);
    same(wait(&[("spark.master", "yarn"), dynamic, ("spark.dynamicAllocation.minExecutors", "1")]), 5.0);
    assert_eq!(wait(&[]), None);
    let without_executors = Metrics::of_spark(&app(&[("spark.master", "yarn")], Vec::new()), &params());
    assert_eq!(without_executors.wait_time, None, "no executor ever started");
}

#[test]
fn executors_that_start_late_are_waited_for() {
    let wait = |late: i64, busy: i64, dynamic: &str| {
        let conf = [("spark.master", "yarn"), ("spark.dynamicAllocation.enabled", dynamic)];
        let executors =
            ["1", "2", "3", "4"].map(|id| executor(id, 1, if id == "1" { 0 } else { late }, None));
        let mut app = app(&conf, executors.to_vec());
        attempt(&mut app, "1", (0, busy), Outcome::Succeeded);
        let metrics = Metrics::of_spark(&app, &params());
        assert_eq!(metrics.wait_time, metrics.wait_for_late);
        metrics.wait_time.map(Millis::as_hours)
    };
    // Three of four executors were missing for four hours.
    same(wait(4 * HOUR, 10 * HOUR, "false"), 3.0);
    // The first executor had no work for three of the four hours, so these do not count.
    same(wait(4 * HOUR, HOUR, "false"), 0.75);
    same(wait(HOUR / 120, 10 * HOUR, "false"), 0.0);
    same(wait(4 * HOUR, 10 * HOUR, "true"), 0.0);
}

/// Dynamic allocation asks for executors while tasks wait: four tasks from the start on, three executors four hours later.
#[test]
fn dynamic_allocation_that_asks_late_is_waited_for() {
    let wait = |starts: &[i64]| {
        let conf = [("spark.master", "yarn"), ("spark.dynamicAllocation.enabled", "true")];
        let executors =
            ["1", "2", "3", "4"].map(|id| executor(id, 1, if id == "1" { 0 } else { 4 * HOUR }, None));
        let mut app = app(&conf, executors.to_vec());
        let id = elephant_sample::stage(&mut app, 0, &vec![(Outcome::Succeeded, 0); starts.len()]);
        assert_eq!(id.stage, 0);
        let attempts = &mut app.groups.last_mut().unwrap().attempts;
        for (row, start) in starts.iter().enumerate() {
            attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(*start)));
            attempts.set_time(row, TimePoint::Finish, Some(Timestamp::from_millis(start + 4 * HOUR)));
        }
        Metrics::of_spark(&app, &params()).wait_for_late.map(Millis::as_hours)
    };
    // Three of four executors were missing for four hours.
    same(wait(&[0, 4 * HOUR, 4 * HOUR, 4 * HOUR]), 3.0);
    // One of two executors was missing for the only task that waited.
    same(wait(&[0, 4 * HOUR]), 2.0);
    same(wait(&[0]), 0.0);
}

#[test]
fn unsubmitted_stages_of_ended_jobs_are_skipped() {
    let mut app = app(&[("spark.master", "yarn")], vec![executor("1", 1, 0, Some(5))]);
    spark(&mut app).executors[0].removed_reason = Some("Command exited with code 137".to_owned());
    let job = |id, stages: &[u32], result: Option<JobResult>| Job {
        stages: stages.to_vec(),
        has_end: result.is_some(),
        result,
        ..Job::new(id)
    };
    let spark = spark(&mut app);
    spark.jobs = vec![
        job(0, &[0, 1, 2], Some(JobResult::Succeeded)),
        job(1, &[2, 3, 4], Some(JobResult::Failed)),
        job(2, &[4, 5], None),
    ];
    spark.stages = vec![
        Stage { status: StageStatus::Complete, ..Stage::new(STAGE) },
        Stage { status: StageStatus::Failed, ..Stage::new(StageAttempt { stage: 3, attempt: 0 }) },
    ];
    let counts = Metrics::of_spark(&app, &params()).spark.unwrap();
    assert_eq!(counts.stages.skipped, Some(2), "stages 1 and 2");
    assert_eq!((counts.stages.total, counts.stages.completed, counts.stages.failed), (4, 1, 1));
    assert_eq!((counts.jobs.total, counts.jobs.succeeded, counts.jobs.failed), (3, 1, 1));
    assert_eq!((counts.executors.total, counts.executors.removed, counts.executors.lost), (1, 1, 1));
}

#[test]
fn dr_elephants_formulas_treat_missing_values_as_zero() {
    let formulas =
        [Formula::Instances, Formula::TaskTime, Formula::RoundedContainers, Formula::StorageMemory];
    for formula in formulas {
        let params = SparkMetricParams { formula, ..params() };
        let metrics = Metrics::of_spark(&app(&[], vec![executor("1", 1, 0, None)]), &params);
        assert_eq!(metrics.used.map(elephant_base::units::MbMillis::as_gb_hours), Some(0.0), "{formula:?}");
        assert_eq!(metrics.wasted.map(elephant_base::units::MbMillis::as_gb_hours), Some(0.0), "{formula:?}");
    }
}

#[test]
fn idle_executors_give_back_what_they_hold_beyond_the_timeout() {
    let conf = [("spark.master", "yarn"), ("spark.executor.memory", "4g")];
    let minute = HOUR / 60;
    let executors = vec![executor("1", 2, 0, Some(HOUR)), executor("2", 2, 0, Some(HOUR))];
    let mut app = app(&conf, executors);
    // The first works without a pause. The second starts after 10 minutes, pauses for 30 seconds, and ends with 20 minutes
    // without a task.
    attempt(&mut app, "1", (0, HOUR), Outcome::Succeeded);
    attempt(&mut app, "2", (10 * minute, 20 * minute), Outcome::Succeeded);
    attempt(&mut app, "2", (12 * minute, 15 * minute), Outcome::Succeeded);
    attempt(&mut app, "2", (20 * minute + 30_000, 40 * minute), Outcome::Succeeded);
    let idle = |seconds: u64| {
        idle_beyond(&app, &params(), Millis::from_secs(seconds))
            .map(elephant_base::units::MbMillis::as_gb_hours)
    };
    same(idle(60), 5.0 * (9.0 + 19.0) / 60.0);
    same(idle(0), 5.0 * 30.5 / 60.0);
    same(idle(3600), 0.0);
    // In local mode nothing can be given back.
    let local = elephant_sample::app(&[("spark.master", "local[2]")]);
    assert_eq!(idle_beyond(&local, &params(), Millis::ZERO), None);
}
