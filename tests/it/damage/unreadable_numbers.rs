//! One unreadable or impossible number in a history makes only the results that depend on it unknown.

use elephant_rs::limits::Limits;
use elephant_rs::units::Bytes;
use serde_json::{Value, json};

use super::reports::{app, found, mapreduce, not_evaluated, problems, replaced, report_within, spark};
use elephant_testing::history::{EPOCH, Job, event};
use elephant_testing::spark_log::{App, Ending, MIB, Task};

const WRONG: [&str; 7] = ["\"x\"", "7.5", "99999999999999999999", "-7", "true", "[7]", "null"];

/// A job whose maps read, spill and collect garbage, and whose reduces shuffle.
fn job() -> String {
    let map = |gc: u64| {
        json!({"role": "map", "count": 10, "time": {"total_ms": 600_000}, "counters": {
            "HDFS_BYTES_READ": 64 * MIB + gc, "SPILLED_RECORDS": 3000, "MAP_OUTPUT_RECORDS": 1000,
            "GC_TIME_MILLIS": gc, "CPU_MILLISECONDS": 400_000, "PHYSICAL_MEMORY_BYTES": 300 * MIB}})
    };
    let reduce = json!({"role": "reduce", "count": 3, "time": {"total_ms": 9000}, "counters": {
        "REDUCE_SHUFFLE_BYTES": 4096, "GC_TIME_MILLIS": 5, "CPU_MILLISECONDS": 5000}});
    Job::succeeded(&json!([map(90_000), map(90_001), reduce])).history()
}

/// A counter as these histories write it.
fn counter(name: &str, value: &str) -> String {
    format!("\"name\":\"{name}\",\"displayName\":\"{name}\",\"value\":{value}")
}

/// The offset of the first line with this record.
fn line_of(text: &str, record: &str) -> usize {
    let at = text.find(&format!("jobhistory.{record}\"")).unwrap();
    text[..at].rfind('\n').unwrap() + 1
}

/// Rules that do not read the GC time of maps.
const UNTOUCHED: [&str; 6] =
    ["mapper-time", "mapper-spill", "mapper-speed", "failed-attempts", "shuffle-sort", "reducer-gc"];

fn verdict(report: &Value, rule: &str) -> (Option<(String, u64)>, Option<String>) {
    (found(app(report), rule), not_evaluated(app(report), rule))
}

#[test]
fn unreadable_map_counter_affects_only_dependent_results() {
    let text = job();
    let whole = mapreduce(&text);
    assert_eq!(problems(&whole), [""; 0]);
    assert_eq!(app(&whole)["phases"][0]["gc_time_ms"], 1_800_010);
    assert!(verdict(&whole, "mapper-gc").0.is_some());
    // The task's end event repeats the counters of its attempt.
    let gc = counter("GC_TIME_MILLIS", "90001");
    for wrong in WRONG.into_iter().chain(["9000000000000000000"]) {
        let report = mapreduce(&replaced(&text, &gc, &counter("GC_TIME_MILLIS", wrong)));
        let messages = problems(&report);
        assert_eq!(messages.len(), 1, "{wrong}: {messages:?}");
        let code = match wrong {
            "-7" => "negative-counter",
            "9000000000000000000" => "impossible-counter",
            _ => "unreadable-counter",
        };
        assert!(messages[0].starts_with(&format!("{code}: GC_TIME_MILLIS of ")), "{wrong}: {messages:?}");
        let damaged = app(&report);
        assert_eq!(damaged["complete"], false, "{wrong}");
        assert_eq!(damaged["phases"][0]["gc_time_ms"], Value::Null, "{wrong}");
        for (phase, key) in [(0, "input_bytes"), (0, "task_time_ms"), (1, "gc_time_ms")] {
            assert_eq!(damaged["phases"][phase][key], app(&whole)["phases"][phase][key], "{wrong} {key}");
        }
        assert_eq!(damaged["metrics"], app(&whole)["metrics"], "{wrong}");
        let (finding, reason) = verdict(&report, "mapper-gc");
        assert_eq!((finding, reason.as_deref()), (None, Some("GC_TIME_MILLIS of 1 attempt cannot be read")));
        for rule in UNTOUCHED {
            assert_eq!(verdict(&report, rule), verdict(&whole, rule), "{wrong} {rule}");
        }
    }
}

#[test]
fn unreadable_repeated_task_counter_is_reported() {
    let text = job();
    let whole = mapreduce(&text);
    let at = text.rfind(&counter("GC_TIME_MILLIS", "90001")).unwrap();
    let damaged = [&text[..at], &text[at..].replacen(":90001", ":\"x\"", 1)].concat();
    let report = mapreduce(&damaged);
    assert!(problems(&report)[0].starts_with("unreadable-counter: GC_TIME_MILLIS of task_"));
    assert_eq!(app(&report)["complete"], false);
    assert_eq!(app(&report)["phases"], app(&whole)["phases"]);
    assert_eq!(verdict(&report, "mapper-gc"), verdict(&whole, "mapper-gc"));
}

#[test]
fn unreadable_memory_makes_waste_unknown() {
    let text = job();
    let memory = counter("PHYSICAL_MEMORY_BYTES", &(300 * MIB).to_string());
    let report = mapreduce(&replaced(&text, &memory, &counter("PHYSICAL_MEMORY_BYTES", "-1")));
    let metrics = &app(&report)["metrics"];
    assert_eq!(metrics["resource_wasted_gb_hours"], Value::Null);
    assert_eq!(
        metrics["resource_used_gb_hours"],
        app(&mapreduce(&text))["metrics"]["resource_used_gb_hours"]
    );
    let reason = not_evaluated(app(&report), "mapper-memory").unwrap();
    assert_eq!(reason, "PHYSICAL_MEMORY_BYTES of 1 attempt cannot be read");
}

#[test]
fn real_history_names_the_unreadable_counter() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/done/2026/11/21/000000");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let path = names.into_iter().find(|path| path.to_string_lossy().contains("-healthy-")).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let whole = mapreduce(&text);
    let key = "\"name\":\"REDUCE_SHUFFLE_BYTES\",\"displayName\":\"Reduce shuffle bytes\",\"value\":";
    let report = mapreduce(&replaced(&text, key, &format!("{key}-")));
    assert!(
        problems(&report)[0].starts_with("negative-counter: REDUCE_SHUFFLE_BYTES"),
        "{:?}",
        problems(&report)
    );
    assert_eq!(problems(&report).len(), 1, "{:?}", problems(&report));
    assert_eq!(app(&report)["complete"], false);
    let (phases, before) = (&app(&report)["phases"], &app(&whole)["phases"]);
    assert_eq!(phases[0], before[0]);
    assert!(before[1]["shuffle_read_bytes"].is_number());
    assert_eq!(phases[1]["shuffle_read_bytes"], Value::Null);
    for rule in ["mapper-skew", "mapper-gc", "reducer-gc", "reducer-time", "failed-attempts"] {
        assert_eq!(verdict(&report, rule), verdict(&whole, rule), "{rule}");
    }
    let reason = not_evaluated(app(&report), "reducer-skew");
    assert_eq!(reason.as_deref(), Some("REDUCE_SHUFFLE_BYTES of 1 attempt cannot be read"));
}

#[test]
fn hadoop_1_history_names_the_unreadable_counter() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/testdata/hadoop1/jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let name = "jt1_1386370000000_job_201311192236_0042_etl";
    let read = |text: &str| report_within(Limits::default(), name, text);
    let whole = read(&text);
    let map = text.find("MapAttempt TASK_TYPE=\"MAP\"").unwrap();
    let at = map + text[map..].find("[(SPILLED_RECORDS)").unwrap();
    let end = at + text[at..].find(")]").unwrap();
    let start = text[..end].rfind('(').unwrap() + 1;
    let report = read(&[&text[..start], "x", &text[end..]].concat());
    let messages: Vec<String> =
        problems(&report).into_iter().filter(|problem| !problems(&whole).contains(problem)).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].starts_with("unreadable-counter: SPILLED_RECORDS of attempt_"), "{messages:?}");
    assert_eq!(app(&report)["complete"], false);
    assert_eq!(app(&report)["phases"], app(&whole)["phases"]);
    let reason = not_evaluated(app(&report), "mapper-spill").unwrap();
    assert_eq!(reason, "SPILLED_RECORDS of 1 attempt cannot be read");
    assert_eq!(verdict(&report, "mapper-gc"), verdict(&whole, "mapper-gc"));
}

#[test]
fn impossible_times_are_reported_but_unknown_times_are_not() {
    let text = job();
    let finish = format!("\"finishTime\":{}", EPOCH + 600_000);
    for wrong in ["9000000000000000000", "-5", "\"noon\"", "1e30", "null"] {
        let report = mapreduce(&replaced(&text, &finish, &format!("\"finishTime\":{wrong}")));
        let messages = problems(&report);
        assert!(
            messages.iter().any(|problem| problem.starts_with("bad-number: a time")),
            "{wrong}: {messages:?}"
        );
        assert_eq!(app(&report)["complete"], false, "{wrong}");
    }
    // Hadoop writes 0 and −1 for unknown times; an attempt that succeeded has a time.
    for unknown in ["0", "-1"] {
        let report = mapreduce(&replaced(&text, &finish, &format!("\"finishTime\":{unknown}")));
        let messages = problems(&report);
        assert!(messages.iter().all(|problem| !problem.starts_with("bad-number")), "{messages:?}");
        assert!(messages.iter().any(|problem| problem.starts_with("missing-field")), "{messages:?}");
        assert_eq!(app(&report)["complete"], false, "{unknown}");
    }
    let end = format!("\"finishTime\":{}", EPOCH + 400_000_000);
    for (wrong, code) in [("0", "missing-field"), ("9000000000000000000", "bad-number")] {
        let report = mapreduce(&replaced(&text, &end, &format!("\"finishTime\":{wrong}")));
        assert!(problems(&report).iter().any(|problem| problem.starts_with(code)), "{:?}", problems(&report));
        assert_eq!(app(&report)["complete"], false, "{wrong}");
    }
}

#[test]
fn non_numeric_task_counts_are_reported() {
    let mut inited = String::new();
    let master = json!({"applicationAttemptId": "appattempt_1500000000000_0001_000001", "startTime": EPOCH,
        "containerId": "container_1500000000000_0001_01_000001", "nodeManagerHost": "node1", "nodeManagerPort": 1,
        "nodeManagerHttpPort": 2});
    event(&mut inited, "AM_STARTED", "AMStarted", master);
    let fields = json!({"jobid": "job_1500000000000_0001", "launchTime": EPOCH, "totalMaps": 20, "totalReduces": 3,
        "jobStatus": "INITED", "uberized": false});
    event(&mut inited, "JOB_INITED", "JobInited", fields);
    let times = json!({"jobid": "job_1500000000000_0001", "submitTime": EPOCH, "launchTime": EPOCH});
    event(&mut inited, "JOB_INFO_CHANGED", "JobInfoChange", times);
    let text = job();
    let at = line_of(&text, "TaskStarted");
    let text = [&text[..at], &inited, &text[at..]].concat();
    let whole = mapreduce(&text);
    assert_eq!(problems(&whole), [""; 0]);
    for wrong in ["\"x\"", "1e3", "null", "-3", "9000000000000000000"] {
        let report = mapreduce(&replaced(&text, "\"totalMaps\":20", &format!("\"totalMaps\":{wrong}")));
        let messages = problems(&report);
        assert_eq!(messages.len(), 1, "{wrong}: {messages:?}");
        assert!(messages[0].starts_with("impossible-task-count"), "{messages:?}");
        assert_eq!(app(&report)["complete"], false);
        assert_eq!(app(&report)["not_evaluated"], app(&whole)["not_evaluated"]);
    }
    let mut log = App::with(&[], 1, 4).stage((0..4).map(|_| Task::new("1", 5000)).collect());
    log.jobs[0].stages[0].failure = None;
    let text = log.text();
    assert_eq!(problems(&spark(&text)), [""; 0]);
    for wrong in ["\"x\"", "1e3", "null", "-3"] {
        let report = spark(&text.replace("\"Number of Tasks\":4", &format!("\"Number of Tasks\":{wrong}")));
        let messages = problems(&report);
        assert!(messages[0].starts_with("impossible-task-count: 1 stage"), "{wrong}: {messages:?}");
        assert_eq!(app(&report)["complete"], false, "{wrong}");
    }
}

#[test]
fn unreadable_counter_does_not_affect_unrelated_rules() {
    let task = |number: u64| {
        let executor = if number.is_multiple_of(2) { "1" } else { "2" };
        Task::new(executor, 10_000)
            .metric("Input Metrics.Bytes Read", 20 * MIB)
            .metric("Output Metrics.Records Written", 100 + number)
    };
    let text = App::with(&[("spark.executor.memory", "2g")], 2, 5).stage((0..20).map(task).collect()).text();
    let whole = spark(&text);
    let verdicts = |report: &Value| {
        let app = app(report);
        (app["findings"].clone(), app["not_evaluated"].clone())
    };
    // No rule reads the records written.
    let report = spark(&replaced(&text, "\"Records Written\":104", "\"Records Written\":\"x\""));
    assert_eq!(app(&report)["complete"], false);
    assert_eq!(verdicts(&report), verdicts(&whole));
    // Only rules on input read it.
    let report = spark(&text.replacen(&format!("\"Bytes Read\":{}", 20 * MIB), "\"Bytes Read\":\"x\"", 1));
    let reason = "Input Metrics.Bytes Read of 1 attempt cannot be read";
    for rule in
        ["spark-executor-load-balance", "spark-executor-spill", "spark-executor-metrics", "straggler-impact"]
    {
        let (finding, not_evaluated) = verdict(&report, rule);
        let explanation = finding.map(|(message, _)| message).or(not_evaluated).unwrap_or_default();
        assert!(
            explanation.contains(reason) || verdict(&whole, rule) == (None, None),
            "{rule}: {explanation}"
        );
    }
    for rule in ["spark-executor-gc", "spark-job-metrics", "spark-stage-metrics", "failed-attempts"] {
        assert_eq!(verdict(&report, rule), verdict(&whole, rule), "{rule}");
        assert_eq!(not_evaluated(app(&report), rule), None, "{rule}");
    }
}

#[test]
fn unknown_end_reason_is_neither_success_nor_failure() {
    let mut log = App::with(&[], 1, 4).stage((0..9).map(|_| Task::new("1", 5000)).collect());
    let failing = Task {
        index: Some(9),
        ..Task::new("1", 500).ending(Ending::Exception("java.io.IOException", "full"))
    };
    log.jobs[0].stages[0].tasks.extend([failing, Task { index: Some(9), attempt: 1, ..Task::new("1", 500) }]);
    let text = log.text();
    let count = |report: &Value, key: &str| app(report)["metrics"]["tasks"]["task"][key].clone();
    assert_eq!(count(&spark(&text), "succeeded_count"), 10);
    let report = spark(&text.replacen("{\"Reason\":\"Success\"}", "{\"Reason\":\"Evaporated\"}", 1));
    let messages = problems(&report);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(
        messages[0].starts_with("task-reasons-unknown: 1 task has an unknown end reason"),
        "{messages:?}"
    );
    assert_eq!(app(&report)["complete"], false);
    assert_eq!((count(&report, "succeeded_count"), count(&report, "failed_count")), (json!(9), json!(0)));
    let reason = not_evaluated(app(&report), "spark-job-metrics").unwrap();
    assert!(reason.contains("1 task has no known end"), "{reason}");
}

#[test]
fn impossible_executor_metrics_are_reported() {
    let mut log = App::with(&[], 2, 4).stage((0..4).map(|_| Task::new("1", 5000)).collect());
    for executor in &mut log.executors {
        executor.peaks = vec![("JVMHeapMemory", 300 * MIB), ("OnHeapUnifiedMemory", 40 * MIB)];
    }
    let text = log.text();
    assert_eq!(problems(&spark(&text)), [""; 0]);
    let heap = format!("\"JVMHeapMemory\":{}", 300 * MIB);
    for wrong in ["-5", "-1", "\"x\"", "9000000000000000000"] {
        let report = spark(&replaced(&text, &heap, &format!("\"JVMHeapMemory\":{wrong}")));
        assert!(
            problems(&report)[0].starts_with("unreadable-metric: 1 executor metric"),
            "{wrong} {:?}",
            problems(&report)
        );
        assert_eq!(app(&report)["complete"], false, "{wrong}");
        let reason = not_evaluated(app(&report), "spark-jvm-used-memory");
        let partial = found(app(&report), "spark-jvm-used-memory");
        let is_partial =
            partial.is_some_and(|(message, _)| message.contains("1 executor metric cannot be read"));
        assert!(is_partial || reason.is_some(), "{wrong}");
    }
    let memory = text.find("\"Maximum Memory\":").unwrap() + "\"Maximum Memory\":".len();
    let digits = text[memory..].bytes().take_while(u8::is_ascii_digit).count();
    for wrong in ["-5", "\"x\"", "null", "9000000000000000000"] {
        let report = spark(&[&text[..memory], wrong, &text[memory + digits..]].concat());
        assert!(
            problems(&report)[0].starts_with("unreadable-memory: 1 block manager"),
            "{wrong} {:?}",
            problems(&report)
        );
        assert_eq!(app(&report)["complete"], false, "{wrong}");
    }
}

#[test]
fn overlong_line_is_given_as_the_reason_everywhere() {
    let text = job();
    let limits = Limits { line: Some(Bytes::new(5000)), ..Limits::default() };
    let name = "job_1500000000000_0001.jhist";
    assert_eq!(problems(&report_within(limits, name, &text)), [""; 0]);
    let at = line_of(&text, "TaskFinished");
    let long = [&text[..at], "{\"x\":\"", &"x".repeat(6000), "\"}\n", &text[at..]].concat();
    let report = report_within(limits, name, &long);
    let reason = not_evaluated(app(&report), "failed-attempts").unwrap();
    assert!(reason.starts_with("--max-line kept only part of the log"), "{reason}");

    let log = App::with(&[], 1, 4).stage((0..4).map(|_| Task::new("1", 5000)).collect()).text();
    let at = log.find("{\"Event\":\"SparkListenerTaskEnd\"").unwrap();
    let long = [&log[..at], "{\"x\":\"", &"x".repeat(6000), "\"}\n", &log[at..]].concat();
    let report = report_within(limits, "application_1700000000000_0001", &long);
    let reason = not_evaluated(app(&report), "spark-job-metrics").unwrap();
    assert!(reason.starts_with("--max-line kept only part of the log"), "{reason}");

    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/testdata/hadoop1/jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let long = text.replacen("Task TASKID", &format!("Task X=\"{}\" .\nTask TASKID", "x".repeat(20_000)), 1);
    let limits = Limits { line: Some(Bytes::new(15_000)), ..Limits::default() };
    let report = report_within(limits, "jt1_1386370000000_job_201311192236_0042_etl", &long);
    let reason = not_evaluated(app(&report), "failed-attempts").unwrap();
    assert!(reason.starts_with("--max-line kept only part of the log"), "{reason}");
}

#[test]
fn limit_is_given_before_missing_rule_data() {
    let groups = json!([{"role": "map", "count": 9, "time": {"total_ms": 60_000}, "counters": {}}]);
    let history = Job::succeeded(&groups).history();
    let reason = not_evaluated(app(&mapreduce(&history)), "mapper-gc").unwrap();
    let limits = Limits { tasks: Some(5), ..Limits::default() };
    let report = report_within(limits, "job_1500000000000_0001.jhist", &history);
    let behind = not_evaluated(app(&report), "mapper-gc").unwrap();
    assert_eq!(behind, format!("--max-tasks kept only part of the log: 5 tasks; {reason}"));
}

#[test]
fn job_with_a_skipped_end_event_is_not_running() {
    let text = job();
    let end = line_of(&text, "JobFinished");
    let lost = [&text[..end], "?", &text[end + 1..]].concat();
    for (damaged, status) in [(&text[..end], "running"), (&lost, "unknown")] {
        let report = mapreduce(damaged);
        assert_eq!((&app(&report)["status"], &app(&report)["complete"]), (&json!(status), &json!(false)));
        assert!(
            problems(&report).iter().any(|problem| problem.starts_with("no-job-end")),
            "{:?}",
            problems(&report)
        );
    }
}

#[test]
fn counts_are_unknown_if_a_history_stops_at_its_start_or_a_limit() {
    let log = App::with(&[], 1, 4).stage((0..9).map(|_| Task::new("1", 5000)).collect()).text();
    let executors = log.find("{\"Event\":\"SparkListenerExecutorAdded\"").unwrap();
    let tasks = log.find("{\"Event\":\"SparkListenerTaskStart\"").unwrap();
    for (cut, shows_any) in [(executors, false), (tasks, true)] {
        let report = spark(&log[..cut]);
        let metrics = &app(&report)["metrics"];
        assert_eq!(metrics["tasks"]["task"]["total_count"], Value::Null);
        assert_eq!(metrics["spark"].is_null(), !shows_any);
    }
    let text = job();
    let report = mapreduce(&text[..line_of(&text, "TaskStarted")]);
    let tasks = &app(&report)["metrics"]["tasks"];
    assert_eq!((&tasks["map"]["total_count"], &tasks["reduce"]["total_count"]), (&Value::Null, &Value::Null));
    assert!(tasks.get("map").is_some());

    let limits = Limits { tasks: Some(5), ..Limits::default() };
    let report = report_within(limits, "job_1500000000000_0001.jhist", &text);
    assert_eq!(app(&report)["metrics"]["tasks"]["map"]["total_count"], Value::Null);
    let report = report_within(limits, "application_1700000000000_0001", &log);
    assert_eq!(app(&report)["metrics"]["tasks"]["task"]["total_count"], Value::Null);
}

#[test]
fn cached_block_limit_is_reported() {
    let mut log = App::with(&[], 1, 4).stage((0..4).map(|_| Task::new("1", 5000)).collect());
    log.executors[0].cached = 5 * MIB;
    let text = log.text();
    let block = text.lines().find(|line| line.contains("SparkListenerBlockUpdated")).unwrap();
    let more: String =
        (0..9).map(|number| replaced(block, "rdd_0_", &format!("rdd_{number}_")) + "\n").collect();
    let text = replaced(&text, &format!("{block}\n"), &more);
    let limits = Limits { tasks: Some(4), ..Limits::default() };
    let report = report_within(limits, "application_1700000000000_0001", &text);
    let messages = problems(&report);
    assert!(messages[0].starts_with("limit-reached: it has more than 4 cached blocks;"), "{messages:?}");
    assert_eq!(app(&report)["complete"], false);
    assert_eq!(app(&report)["metrics"]["tasks"]["task"]["total_count"], 4);
    for entry in app(&report)["not_evaluated"].as_array().unwrap() {
        let reason = entry["reason"].as_str().unwrap();
        assert!(!reason.contains(" tasks"), "{entry}");
    }
    assert_eq!(not_evaluated(app(&report), "spark-job-metrics"), None);
}

#[test]
fn file_without_its_compression_trailer_is_truncated() {
    use flate2::write::GzEncoder;
    use std::io::Write as _;
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let log = App::with(&[], 1, 4).stage((0..4).map(|_| Task::new("1", 5000)).collect()).text();
    for (name, text) in
        [("application_1700000000000_0001", log.clone()), ("job_1500000000000_0001.jhist", job())]
    {
        let whole = packed(&text);
        for missing in [0, 1, 8] {
            let report = report_within(Limits::default(), name, &whole[..whole.len() - missing]);
            let messages = problems(&report);
            assert_eq!(
                messages.iter().any(|problem| problem.starts_with("truncated")),
                missing > 0,
                "{name}: {messages:?}"
            );
            assert_eq!(app(&report)["complete"], missing == 0, "{name} {missing}");
        }
    }
    let half = report_within(Limits::default(), "application_1700000000000_0001", log + "{\"Event\":\"Spa");
    assert!(problems(&half)[0].starts_with("truncated"), "{:?}", problems(&half));
}
