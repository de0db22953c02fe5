//! Where the default rules differ from Dr. Elephant, and the key that disables each difference.
//!
//! Each test shows both results for one history: the default's and the preset's.

use elephant_analysis::metrics::Metrics;
use elephant_base::severity::Severity;
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_model::model::conf::Property;
use elephant_parse::jhist::json;
use elephant_ruleset::{RuleFile, RuleSet};
use serde::Serialize;
use serde_json::{Value, json};

use elephant_testing::history::{EPOCH, Job, counters, event};

const MIB: u64 = 1 << 20;
const MINUTE: u64 = 60_000;

fn defaults() -> RuleSet {
    RuleSet::new(elephant_heuristics::BUILT_IN).unwrap()
}

fn preset() -> RuleSet {
    RuleSet::with_files(
        elephant_heuristics::BUILT_IN,
        &elephant_ruleset::find_files(std::path::Path::new("dr-elephant")).unwrap(),
    )
    .unwrap()
}

/// Skew judged by the amounts alone, whatever it costs.
fn by_amount() -> RuleSet {
    let text = "rule: mapper-skew\nlost_share: off\nlost_time: off\nlarge_group_blocks: [1/8, 1/4, 1/2, 1]\n";
    RuleSet::with_files(
        elephant_heuristics::BUILT_IN,
        &[RuleFile { name: "by amount".into(), text: text.to_owned() }],
    )
    .unwrap()
}

fn read(history: &str, conf: &[(&str, &str)]) -> Application {
    let mut app = json::parse(ByteWindow::new(history.as_bytes())).applications.remove(0);
    for (name, value) in conf {
        let property = Property { value: (*value).to_owned(), is_final: false };
        app.conf.insert((*name).to_owned(), property);
    }
    app
}

fn group(role: &str, count: u64, total_ms: u64, counters: impl Serialize) -> Value {
    json!({"role": role, "count": count, "counters": counters,
        "time": {"total_ms": total_ms, "shuffle_ms": 0, "sort_ms": 0}})
}

/// The severity of a rule, or `None` if it was not judged.
fn severity(rules: &RuleSet, app: &Application, rule: &str) -> Option<Severity> {
    rules.evaluate(app).findings.iter().find(|finding| finding.rule == rule).map(|finding| finding.severity)
}

fn reason(rules: &RuleSet, app: &Application, rule: &str) -> Option<String> {
    rules.evaluate(app).not_evaluated.into_iter().find(|entry| entry.rule == rule).map(|entry| entry.reason)
}

#[test]
fn time_skew_of_a_few_seconds_is_not_a_finding() {
    let groups = json!([group("map", 200, 1000, json!({})), group("map", 1, 20_000, json!({}))]);
    let app = read(&Job::succeeded(&groups).history(), &[]);
    assert_eq!(severity(&defaults(), &app, "mapper-skew"), Some(Severity::None));
    assert_eq!(severity(&preset(), &app, "mapper-skew"), Some(Severity::Critical));
}

fn judged_by(presets: &[&str]) -> RuleSet {
    let files = |preset: &&str| elephant_ruleset::find_files(std::path::Path::new(preset)).unwrap();
    let files: Vec<_> = presets.iter().flat_map(files).collect();
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &files).unwrap()
}

#[test]
fn only_data_is_skewed_before_version_2_0_14() {
    let values = json!({"HDFS_BYTES_READ": MIB});
    let groups = json!([group("map", 200, 1000, values.clone()), group("map", 1, 20_000, values)]);
    let app = read(&Job::succeeded(&groups).history(), &[]);
    assert_eq!(severity(&judged_by(&["dr-elephant"]), &app, "mapper-skew"), Some(Severity::Critical));
    for presets in [&["dr-elephant-0.4"][..], &["dr-elephant", "dr-elephant-2.0"]] {
        assert_eq!(severity(&judged_by(presets), &app, "mapper-skew"), Some(Severity::None), "{presets:?}");
    }
}

#[test]
fn tasks_that_compute_read_slowly_for_dr_elephant() {
    let values = json!({"HDFS_BYTES_READ": 64 * MIB, "CPU_MILLISECONDS": 90 * MINUTE});
    let app = read(&Job::succeeded(&json!([group("map", 4, 120 * MINUTE, values)])).history(), &[]);
    assert_eq!(severity(&defaults(), &app, "mapper-speed"), Some(Severity::Low));
    for preset in ["dr-elephant", "dr-elephant-0.4"] {
        assert_eq!(
            severity(&judged_by(&[preset]), &app, "mapper-speed"),
            Some(Severity::Critical),
            "{preset}"
        );
    }
}

/// Five reduce tasks; one fetches twelve times as much as the others and ends eleven minutes after them.
#[test]
fn time_lost_decides_however_few_the_tasks_are() {
    let groups = json!([
        group("reduce", 4, 62_000, json!({"REDUCE_SHUFFLE_BYTES": 100 * MIB})),
        group("reduce", 1, 728_000, json!({"REDUCE_SHUFFLE_BYTES": 1200 * MIB})),
    ]);
    let app = read(&Job::succeeded(&groups).history(), &[]);
    let found = defaults().evaluate(&app).findings;
    let found = found.iter().find(|finding| finding.rule == "reducer-skew").unwrap();
    assert_eq!(found.severity, Severity::Critical);
    assert_eq!(
        found.message,
        "4 reduce tasks read 100 MiB each, 1 reads 1.17 GiB: 12×; only the large ones still ran for 11m 6s, 91.5 % \
         of the time that tasks ran (critical from 40 %)"
    );
    assert_eq!(severity(&preset(), &app, "reducer-skew"), Some(Severity::None));
    // The input explains the time, so that the skew rule alone reports it.
    assert_eq!(severity(&defaults(), &app, "straggler-impact"), Some(Severity::None));
}

#[test]
fn skew_that_costs_no_time_is_a_note() {
    let groups = json!([
        group("map", 200, MINUTE, json!({"HDFS_BYTES_READ": MIB})),
        group("map", 1, MINUTE, json!({"HDFS_BYTES_READ": 500 * MIB})),
    ]);
    let app = read(&Job::succeeded(&groups).history(), &[]);
    assert_eq!(severity(&defaults(), &app, "mapper-skew"), Some(Severity::Low));
    assert_eq!(severity(&preset(), &app, "mapper-skew"), Some(Severity::Critical));
}

#[test]
fn missing_counter_is_unknown_not_zero() {
    let groups = json!([group("map", 3, MINUTE, json!({"SPILLED_RECORDS": 5}))]);
    let app = read(&Job::succeeded(&groups).history(), &[("mapreduce.map.memory.mb", "8192")]);
    assert_eq!(severity(&preset(), &app, "mapper-memory"), Some(Severity::Critical));
    assert_eq!(severity(&defaults(), &app, "mapper-memory"), None);
    let expected = Some("no map task reports PHYSICAL_MEMORY_BYTES".to_owned());
    assert_eq!(reason(&defaults(), &app, "mapper-memory"), expected);
}

#[test]
fn zero_memory_for_every_task_means_not_measured() {
    let groups =
        json!([group("map", 3, MINUTE, json!({"PHYSICAL_MEMORY_BYTES": 0, "VIRTUAL_MEMORY_BYTES": 0}))]);
    let app = read(&Job::succeeded(&groups).history(), &[("mapreduce.map.memory.mb", "1024")]);
    let ours = Metrics::of(&app, defaults().metrics());
    assert!(ours.used.is_some() && ours.wasted.is_none());
    let theirs = Metrics::of(&app, preset().metrics());
    assert_eq!(theirs.wasted_percent(), Some(100.0));
}

#[test]
fn every_file_system_except_local_counts_as_input() {
    for (counter, counts) in [("ABFS_BYTES_READ", true), ("GS_BYTES_READ", true), ("FILE_BYTES_READ", false)]
    {
        let groups = json!([
            group("map", 200, MINUTE, json!({counter: MIB})),
            group("map", 1, MINUTE, json!({counter: 500 * MIB})),
        ]);
        let app = read(&Job::succeeded(&groups).history(), &[]);
        let expected = if counts { Severity::Critical } else { Severity::None };
        assert_eq!(severity(&by_amount(), &app, "mapper-skew"), Some(expected), "{counter}");
        assert_eq!(severity(&preset(), &app, "mapper-skew"), Some(Severity::None), "{counter}");
    }
}

#[test]
fn failed_and_killed_jobs_are_judged() {
    let groups = json!([group("map", 10, 120 * MINUTE, json!({}))]);
    for (status, exception) in [("FAILED", Severity::Severe), ("KILLED", Severity::Low)] {
        let app = read(&Job::succeeded(&groups).ended(status, "because").history(), &[]);
        assert_eq!(severity(&defaults(), &app, "mapper-time"), Some(Severity::Critical));
        assert_eq!(severity(&preset(), &app, "mapper-time"), None);
        assert_eq!(severity(&defaults(), &app, "job-exception"), Some(exception));
    }
    let failed = read(&Job::succeeded(&groups).ended("FAILED", "because").history(), &[]);
    assert_eq!(severity(&preset(), &failed, "job-exception"), Some(Severity::Moderate));
    let killed = read(&Job::succeeded(&groups).ended("KILLED", "because").history(), &[]);
    assert_eq!(severity(&preset(), &killed, "job-exception"), None);
}

#[test]
fn gc_time_is_also_compared_with_run_time() {
    // On an overloaded node a task gets a tenth of its time as CPU time; GC takes 0.5 % of its run time.
    let values = json!({"CPU_MILLISECONDS": 100_000, "GC_TIME_MILLIS": 5_000});
    let groups = json!([group("map", 4, 1_000_000, values)]);
    let app = read(&Job::succeeded(&groups).history(), &[]);
    assert_eq!(severity(&defaults(), &app, "mapper-gc"), Some(Severity::None));
    assert_eq!(severity(&preset(), &app, "mapper-gc"), Some(Severity::Critical));
}

#[test]
fn short_tasks_that_lose_much_to_collections_are_found() {
    // Tasks of half a minute: 42.8 % of their CPU time, and a JVM that only starts.
    for (gc, expected) in [(12_000, Severity::Moderate), (2_800, Severity::None)] {
        let values = json!({"CPU_MILLISECONDS": 28_000, "GC_TIME_MILLIS": gc});
        let app = read(&Job::succeeded(&json!([group("map", 40, 30_000, values)])).history(), &[]);
        assert_eq!(severity(&defaults(), &app, "mapper-gc"), Some(expected), "{gc}");
        assert_eq!(severity(&preset(), &app, "mapper-gc"), Some(Severity::None), "{gc}");
    }
}

#[test]
fn block_size_of_the_job_is_used() {
    let groups = json!([
        group("map", 200, MINUTE, json!({"HDFS_BYTES_READ": MIB})),
        group("map", 1, MINUTE, json!({"HDFS_BYTES_READ": 100 * MIB})),
    ]);
    let app = read(&Job::succeeded(&groups).history(), &[("dfs.blocksize", "268435456")]);
    assert_eq!(severity(&by_amount(), &app, "mapper-skew"), Some(Severity::Moderate));
    assert_eq!(severity(&preset(), &app, "mapper-skew"), Some(Severity::Critical));
}

#[test]
fn unknown_container_size_is_not_assumed() {
    let groups = json!([group("map", 3, MINUTE, json!({"PHYSICAL_MEMORY_BYTES": 100 * MIB}))]);
    let app = read(&Job::succeeded(&groups).history(), &[]);
    assert_eq!(Metrics::of(&app, defaults().metrics()).used, None);
    let theirs = Metrics::of(&app, preset().metrics()).used.unwrap();
    assert!((theirs.as_mb_seconds() - 3.0 * 60.0 * 2048.0).abs() < 1e-9);
}

/// A task that failed once and was retried, and whose second attempt won against a speculative copy.
fn eventful_history() -> String {
    let mut out = String::from("Avro-Json\n");
    let submitted = json!({"jobid": "job_1_1", "jobName": "j", "userName": "u", "submitTime": EPOCH});
    event(&mut out, "JOB_SUBMITTED", "JobSubmitted", submitted);
    let task = "task_1_1_m_000000";
    event(
        &mut out,
        "TASK_STARTED",
        "TaskStarted",
        json!({"taskid": task, "taskType": "MAP", "startTime": EPOCH}),
    );
    let start = |out: &mut String, attempt: &str, at: i64| {
        let fields =
            json!({"taskid": task, "taskType": "MAP", "attemptId": attempt, "startTime": EPOCH + at});
        event(out, "MAP_ATTEMPT_STARTED", "TaskAttemptStarted", fields);
    };
    let end = |out: &mut String, attempt: &str, status: &str, at: i64| {
        let fields = json!({"taskid": task, "taskType": "MAP", "attemptId": attempt, "status": status,
            "finishTime": EPOCH + at, "error": "x", "counters": counters(None)});
        event(out, &format!("MAP_ATTEMPT_{status}"), "TaskAttemptUnsuccessfulCompletion", fields);
    };
    start(&mut out, "attempt_1_1_m_000000_0", 0);
    end(&mut out, "attempt_1_1_m_000000_0", "FAILED", 10_000);
    start(&mut out, "attempt_1_1_m_000000_1", 10_000);
    start(&mut out, "attempt_1_1_m_000000_2", 40_000);
    let won = "attempt_1_1_m_000000_1";
    let fields = json!({"taskid": task, "taskType": "MAP", "attemptId": won, "taskStatus": "SUCCEEDED",
        "finishTime": EPOCH + 70_500, "counters": counters(Some(&json!({"PHYSICAL_MEMORY_BYTES": 50 * MIB})))});
    event(&mut out, "MAP_ATTEMPT_FINISHED", "MapAttemptFinished", fields);
    end(&mut out, "attempt_1_1_m_000000_2", "KILLED", 71_000);
    let fields = json!({"taskid": task, "taskType": "MAP", "status": "SUCCEEDED", "successfulAttemptId": won,
        "finishTime": EPOCH + 70_500, "counters": counters(Some(&json!({"PHYSICAL_MEMORY_BYTES": 50 * MIB})))});
    event(&mut out, "TASK_FINISHED", "TaskFinished", fields);
    event(&mut out, "JOB_FINISHED", "JobFinished", json!({"jobid": "job_1_1", "finishTime": EPOCH + 72_000}));
    out
}

#[test]
fn failed_and_losing_attempts_have_a_cost() {
    let app = read(&eventful_history(), &[("mapreduce.map.memory.mb", "1024")]);
    let ours = Metrics::of(&app, defaults().metrics());
    let mb_seconds = |part: Option<elephant_base::units::MbMillis>| part.unwrap().as_mb_seconds() / 1024.0;
    assert!((mb_seconds(ours.used) - (10.0 + 60.5 + 31.0)).abs() < 1e-9);
    assert!((mb_seconds(ours.failed_attempts) - 10.0).abs() < 1e-9);
    assert!((mb_seconds(ours.losing_attempts) - 31.0).abs() < 1e-9);
    assert!(mb_seconds(ours.killed_attempts).abs() < 1e-9);
    let counts = ours.tasks[0].1.unwrap();
    assert_eq!((counts.total, counts.attempts, counts.speculative_attempts), (1, 3, 1));
    // Dr. Elephant charges only the winner, in whole seconds.
    let theirs = Metrics::of(&app, preset().metrics());
    assert!((mb_seconds(theirs.used) - 60.0).abs() < 1e-9);
}

#[test]
fn reduce_slow_start_is_respected() {
    // Ten maps end one second apart; the reduce runs from 12 s to 20 s.
    let mut out = String::from("Avro-Json\n");
    let submitted = json!({"jobid": "job_1_1", "jobName": "j", "userName": "u", "submitTime": EPOCH});
    event(&mut out, "JOB_SUBMITTED", "JobSubmitted", submitted);
    let mut task = |role: &str, number: u32, start: i64, finish: i64| {
        let letter = if role == "MAP" { "m" } else { "r" };
        let task = format!("task_1_1_{letter}_{number:06}");
        let attempt = format!("attempt_1_1_{letter}_{number:06}_0");
        let fields =
            json!({"taskid": task, "taskType": role, "attemptId": attempt, "startTime": EPOCH + start});
        event(&mut out, &format!("{role}_ATTEMPT_STARTED"), "TaskAttemptStarted", fields);
        let fields = json!({"taskid": task, "taskType": role, "attemptId": attempt, "taskStatus": "SUCCEEDED",
            "finishTime": EPOCH + finish});
        event(&mut out, &format!("{role}_ATTEMPT_FINISHED"), "MapAttemptFinished", fields);
        let fields = json!({"taskid": task, "taskType": role, "status": "SUCCEEDED", "finishTime": EPOCH + finish,
            "successfulAttemptId": attempt});
        event(&mut out, "TASK_FINISHED", "TaskFinished", fields);
    };
    for number in 0..10 {
        task("MAP", number, 0, 1000 * (i64::from(number) + 1));
    }
    task("REDUCE", 0, 12_000, 20_000);
    event(&mut out, "JOB_FINISHED", "JobFinished", json!({"jobid": "job_1_1", "finishTime": EPOCH + 21_000}));
    let app = read(&out, &[("mapreduce.job.reduce.slowstart.completedmaps", "0.50")]);
    let wait = |rules: &RuleSet| Metrics::of(&app, rules.metrics()).wait_time.unwrap().get();
    // Half of the maps have ended at 5 s: the reduce could have run from 5 s to 13 s.
    assert_eq!(wait(&defaults()), 7_000);
    assert_eq!(wait(&preset()), 2_000);
}

/// The examples on Dr. Elephant's wiki page "Metrics and Heuristics".
#[test]
fn wiki_examples_give_the_documented_results() {
    let groups = |role: &str, minutes: [u64; 4]| -> Vec<Value> {
        minutes.iter().map(|m| group(role, 1, m * MINUTE, json!({}))).collect()
    };
    let all = [groups("map", [12, 15, 20, 30]), groups("reduce", [10, 12, 15, 18])].concat();
    let conf = [("mapreduce.map.memory.mb", "4096"), ("mapreduce.reduce.memory.mb", "4096")];
    let app = read(&Job::succeeded(&json!(all)).history(), &conf);
    let used = Metrics::of(&app, defaults().metrics()).used.unwrap().as_gb_hours();
    assert!((used - (4.0 * 77.0 / 60.0 + 4.0 * 55.0 / 60.0)).abs() < 1e-9, "{used}");

    let mut out = String::from("Avro-Json\n");
    let submitted =
        json!({"jobid": "job_1_1", "jobName": "j", "userName": "u", "submitTime": 1_461_837_302_868_i64});
    event(&mut out, "JOB_SUBMITTED", "JobSubmitted", submitted);
    let finished = json!({"jobid": "job_1_1", "finishTime": 1_461_840_952_182_i64});
    event(&mut out, "JOB_FINISHED", "JobFinished", finished);
    let run_time = Metrics::of(&read(&out, &[]), defaults().metrics()).run_time.unwrap();
    assert_eq!(run_time.get(), 3_649_314);
}

#[test]
fn uber_job_tasks_used_the_application_master_container() {
    let groups = json!([group("map", 3, MINUTE, json!({}))]);
    let history = Job::succeeded(&groups).history();
    let inited = json!({"type": "JOB_INITED", "event": {"org.apache.hadoop.mapreduce.jobhistory.JobInited":
        {"jobid": "job_1500000000000_0001", "launchTime": EPOCH, "totalMaps": 3, "totalReduces": 0,
         "jobStatus": "INITED", "uberized": true}}});
    let history = history.replacen("{\"type\":\"TASK", &format!("{inited}\n{{\"type\":\"TASK"), 1);
    let history = history.replacen("{\"event\"", &format!("{inited}\n{{\"event\""), 1);
    let conf = [("mapreduce.map.memory.mb", "1024"), ("yarn.app.mapreduce.am.resource.mb", "2048")];
    let app = read(&history, &conf);
    assert_eq!(app.uberized, Some(true));
    let used = Metrics::of(&app, defaults().metrics()).used.unwrap();
    assert!((used.as_mb_seconds() - 3.0 * 60.0 * 2048.0).abs() < 1e-9);
}
