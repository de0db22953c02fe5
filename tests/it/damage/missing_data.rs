//! Results that depend on missing data are unknown or not evaluated, and the report gives the reason: unreadable
//! numbers, limits, invalid words and counts.

use elephant_rs::limits::Limits;
use elephant_rs::units::Bytes;
use serde_json::{Map, Value, json};

use super::reports::{app, found, mapreduce, not_evaluated, problems, replaced, report_within, spark};
use elephant_testing::history::Job;
use elephant_testing::spark_log::{App, Ending, MIB, Task};

/// A stage of twenty tasks on two executors, with shuffle reads and garbage collection.
fn twenty_tasks() -> App {
    let task = |number: u64| {
        Task::new(if number.is_multiple_of(2) { "1" } else { "2" }, 10_000)
            .metric("JVM GC Time", 7000 + number)
            .metric("Shuffle Read Metrics.Remote Bytes Read", 5 * MIB + number)
            .metric("Shuffle Read Metrics.Local Bytes Read", 2 * MIB + number)
    };
    App::with(&[("spark.executor.memory", "2g")], 2, 10).stage((0..20).map(task).collect())
}

/// The members of the object after `"Shuffle Read Metrics":`.
fn shuffle_read(text: &str, of: &str) -> String {
    let at = text.find(of).unwrap();
    let start = text[..at].rfind("\"Shuffle Read Metrics\":{").unwrap() + "\"Shuffle Read Metrics\":".len();
    let end = start + text[start..].find('}').unwrap();
    text[start..=end].to_owned()
}

#[test]
fn unreadable_counter_makes_its_sums_unknown() {
    let text = twenty_tasks().text();
    let whole = spark(&text);
    assert_eq!(problems(&whole), [""; 0]);
    let whole = app(&whole);
    assert_eq!(whole["phases"][0]["gc_time_ms"], 20 * 7000 + 190);
    assert_eq!(whole["phases"][0]["shuffle_read_bytes"], 140 * MIB + 380);
    assert!(found(whole, "spark-executor-gc").is_some());

    let gc = "\"JVM GC Time\":7004";
    for wrong in ["\"7004\"", "-7004", "99999999999999999999", "7.5", "true", "[7004]", "null"] {
        let report = spark(&replaced(&text, gc, &format!("\"JVM GC Time\":{wrong}")));
        let messages = problems(&report);
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].starts_with("unreadable-counter: 1 task counter"), "{messages:?}");
        // GC times have one name for all engines.
        assert!(messages[0].contains("JVM GC Time of task 4"), "{messages:?}");
        let app = app(&report);
        assert_eq!(app["complete"], false);
        assert_eq!(app["phases"][0]["gc_time_ms"], Value::Null, "{wrong}");
        assert_eq!(app["phases"][0]["shuffle_read_bytes"], whole["phases"][0]["shuffle_read_bytes"]);
        // Results that depend only on task times are known.
        for key in ["core_hours_used", "resource_used_gb_hours"] {
            assert_eq!(app["metrics"][key], whole["metrics"][key], "{key}");
        }
        assert!(app["metrics"]["core_hours_used"].is_number());
    }
}

#[test]
fn out_of_range_value_makes_its_sum_unknown() {
    let text = twenty_tasks().text();
    let huge = (1_u64 << 60).to_string();
    let report = spark(&replaced(&text, "\"JVM GC Time\":7004", &format!("\"JVM GC Time\":{huge}")));
    assert!(problems(&report)[0].starts_with("impossible-counter"), "{:?}", problems(&report));
    assert_eq!(app(&report)["phases"][0]["gc_time_ms"], Value::Null);
    assert_eq!(app(&report)["complete"], false);
}

#[test]
fn malformed_counter_group_makes_all_its_counters_unknown() {
    let text = twenty_tasks().text();
    let group = shuffle_read(&text, &format!("{}", 5 * MIB + 4));
    let report = spark(&text.replacen(&group, "5", 1));
    let messages = problems(&report);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].starts_with("unreadable-counter: 7 task counters"), "{messages:?}");
    let broken = app(&report);
    assert_eq!(broken["phases"][0]["shuffle_read_bytes"], Value::Null);
    assert_eq!(broken["phases"][0]["gc_time_ms"], 20 * 7000 + 190);

    // One of two summed counters is enough.
    let local = format!("\"Local Bytes Read\":{}", 2 * MIB + 4);
    let report = spark(&replaced(&text, &local, "\"Local Bytes Read\":\"x\""));
    assert_eq!(app(&report)["phases"][0]["shuffle_read_bytes"], Value::Null);

    let from = text.find("\"Task Metrics\":{").unwrap() + "\"Task Metrics\":".len();
    let end = from + text[from..].find("\"Updated Blocks\":[]}").unwrap() + "\"Updated Blocks\":[]}".len();
    for (none, is_told) in [("5", true), ("[]", true), ("null", false)] {
        let report = spark(&[&text[..from], none, &text[end..]].concat());
        assert_eq!(problems(&report).len(), usize::from(is_told), "{none}: {:?}", problems(&report));
        assert_eq!(app(&report)["phases"][0]["gc_time_ms"].is_null(), is_told, "{none}");
    }
}

#[test]
fn task_without_metrics_is_not_a_problem() {
    let lost = Task { index: Some(20), ..Task::new("1", 500).ending(Ending::ExecutorLost("gone")) };
    let again = Task { index: Some(20), attempt: 1, ..Task::new("2", 500).metric("JVM GC Time", 1) };
    let mut log = twenty_tasks();
    log.jobs[0].stages[0].tasks.extend([lost, again]);
    let report = spark(&log.text());
    assert_eq!(problems(&report), [""; 0]);
    assert_eq!(app(&report)["complete"], true);
    assert_eq!(app(&report)["phases"][0]["gc_time_ms"], 20 * 7000 + 190 + 1);
}

#[test]
fn rules_do_not_judge_by_remaining_counters() {
    // One executor's tasks report no GC time; the other executor alone would give no finding.
    let task = |number: u64| {
        let gc = if number.is_multiple_of(2) { 0 } else { 9000 };
        Task::new(if gc == 0 { "1" } else { "2" }, 10_000).metric("JVM GC Time", gc)
    };
    let text = App::with(&[], 2, 10).stage((0..20).map(task).collect()).text();
    assert!(found(app(&spark(&text)), "spark-executor-gc").unwrap().1 > 0);
    let report = spark(&text.replace("\"JVM GC Time\":9000", "\"JVM GC Time\":\"9000\""));
    assert!(
        problems(&report)[0].starts_with("unreadable-counter: 10 task counters"),
        "{:?}",
        problems(&report)
    );
    let reason = not_evaluated(app(&report), "spark-executor-gc").unwrap();
    assert_eq!(reason, "JVM GC Time of 10 attempts cannot be read");
}

#[test]
fn executor_sums_are_not_judged_by_remaining_executors() {
    let task = |number: u64| {
        Task::new(if number.is_multiple_of(2) { "1" } else { "2" }, 10_000)
            .metric("Memory Bytes Spilled", 900 * MIB)
            .metric("Input Metrics.Bytes Read", 20 * MIB + number % 2)
    };
    let text = App::with(&[], 2, 10).stage((0..20).map(task).collect()).text();
    let whole = spark(&text);
    let rules = ["spark-executor-spill", "spark-executor-load-balance"];
    assert!(rules.iter().all(|rule| found(app(&whole), rule).is_some()), "{whole:#}");
    let input = format!("\"Bytes Read\":{}", 20 * MIB + 1);
    let report = spark(&replaced(&text, &input, "\"Bytes Read\":\"x\""));
    for rule in rules {
        assert_eq!(found(app(&report), rule), None);
        assert_eq!(
            not_evaluated(app(&report), rule).unwrap(),
            "Input Metrics.Bytes Read of 1 attempt cannot be read"
        );
    }
    // The largest data flow is unknown, so nothing may be compared with the largest of the rest.
    let settings = "spark-configuration-parameters";
    let score = |report: &Value| found(app(report), settings).map_or(0, |(_, score)| score);
    assert!(score(&report) <= score(&whole), "{report:#}");
}

#[test]
fn invalid_start_or_end_time_is_reported() {
    let text = twenty_tasks().text();
    for event in ["SparkListenerApplicationStart", "SparkListenerApplicationEnd"] {
        let line = text.lines().find(|line| line.contains(event)).unwrap();
        let from = line.find("\"Timestamp\":").unwrap() + "\"Timestamp\":".len();
        let digits = line[from..].bytes().take_while(u8::is_ascii_digit).count();
        for time in ["\"x\"", "-5", "1700000000000000000"] {
            let damaged = [&line[..from], time, &line[from + digits..]].concat();
            let report = spark(&replaced(&text, line, &damaged));
            assert!(
                problems(&report).iter().any(|problem| problem.starts_with("application-time-unknown")),
                "{time}"
            );
            assert_eq!(app(&report)["complete"], false, "{event} {time}");
        }
    }
}

#[test]
fn invalid_cached_block_size_is_reported() {
    let mut log = twenty_tasks();
    log.executors[0].cached = 5 * MIB;
    let text = log.text();
    assert_eq!(app(&spark(&text))["complete"], true);
    let size = format!("\"Memory Size\":{}", 5 * MIB);
    for damaged in ["\"x\"", "-5", "9223372036854775807", "1e30", "null"] {
        let report = spark(&replaced(&text, &size, &format!("\"Memory Size\":{damaged}")));
        assert!(
            problems(&report)[0].starts_with("unreadable-block: 1 cached block"),
            "{:?}",
            problems(&report)
        );
        assert_eq!(app(&report)["complete"], false);
    }
}

#[test]
fn duplicate_stage_end_events_change_nothing() {
    let text = twenty_tasks().text();
    let end = text.lines().find(|line| line.contains("SparkListenerStageCompleted")).unwrap();
    let often = replaced(&text, end, &[end; 50].join("\n"));
    let (once, often) = (spark(&text), spark(&often));
    assert_eq!(app(&once)["phases"], app(&often)["phases"]);
}

#[test]
fn peak_with_an_unreadable_value_is_unknown() {
    let mut log = twenty_tasks();
    for executor in &mut log.executors {
        executor.peaks = vec![("JVMHeapMemory", 300 * MIB), ("OnHeapUnifiedMemory", 40 * MIB)];
    }
    let text = log.text();
    assert!(app(&spark(&text))["metrics"]["resource_wasted_gb_hours"].is_number());
    let peak = format!("\"JVMHeapMemory\":{}", 300 * MIB);
    let report = spark(&text.replace(&peak, "\"JVMHeapMemory\":\"much\""));
    assert!(
        problems(&report)[0].starts_with("unreadable-metric: 2 executor metrics"),
        "{:?}",
        problems(&report)
    );
    assert_eq!(app(&report)["complete"], false);
    assert_eq!(app(&report)["metrics"]["resource_wasted_gb_hours"], Value::Null);
}

#[test]
fn task_without_a_start_time_is_reported_as_missing() {
    let text = twenty_tasks().text();
    let launch = "\"Launch Time\":1700000000000";
    let report = spark(&text.replace(
        &format!("\"Task ID\":3,\"Index\":3,\"Attempt\":0,\"Partition ID\":3,{launch}"),
        "\"Task ID\":3,\"Index\":3,\"Attempt\":0,\"Partition ID\":3,\"Launch Time\":\"noon\"",
    ));
    assert!(problems(&report)[0].starts_with("end-without-time: 1 task"), "{:?}", problems(&report));
    assert_eq!(app(&report)["complete"], false);
    assert_eq!(app(&report)["metrics"]["core_hours_used"], Value::Null);
}

#[test]
fn job_results_are_matched_exactly() {
    let text = twenty_tasks().text();
    let counts = |report: &Value| {
        let jobs = &app(report)["metrics"]["spark"]["jobs"];
        [jobs["succeeded_count"].as_u64().unwrap(), jobs["failed_count"].as_u64().unwrap()]
    };
    for (word, jobs, status) in [
        ("JobSucceeded", [1, 0], "succeeded"),
        ("Job\\u0053ucceeded", [1, 0], "succeeded"),
        ("JobFailed", [0, 1], "failed"),
        ("Job\\u0046ailed", [0, 1], "failed"),
        ("JobEvaporated", [0, 0], "unknown"),
        ("jobsucceeded", [0, 0], "unknown"),
    ] {
        let report =
            spark(&replaced(&text, "\"Result\":\"JobSucceeded\"", &format!("\"Result\":\"{word}\"")));
        assert_eq!((counts(&report), app(&report)["status"].as_str().unwrap()), (jobs, status), "{word}");
        let messages = problems(&report);
        assert_eq!(messages.len(), usize::from(status == "unknown"), "{messages:?}");
        assert!(
            messages.iter().all(|problem| problem.starts_with("job-results-unknown: 1 job has a result")),
            "{messages:?}"
        );
        assert_eq!(app(&report)["complete"], status != "unknown", "{word}");
        assert_eq!(not_evaluated(app(&report), "spark-job-metrics").is_some(), status == "unknown", "{word}");
    }
}

#[test]
fn score_counts_at_most_ten_times_the_logged_tasks() {
    let error = Ending::Exception("java.lang.OutOfMemoryError", "Java heap space");
    let task = |number| Task { index: Some(number), ..Task::new("1", 5000).ending(error) };
    let mut log = App::with(&[], 1, 4).stage((0..10).map(task).collect());
    log.jobs[0].failed = true;
    log.jobs[0].stages[0].failure = Some("Job aborted due to stage failure".to_owned());
    let text = log.text();
    let rule = "spark-stages-with-failed-tasks";
    let (_, whole) = found(app(&spark(&text)), rule).unwrap();
    assert_eq!(whole, 4 * 10);

    // The log of a stage with many tasks is truncated after ten of them.
    let many = text.replace("\"Number of Tasks\":10", "\"Number of Tasks\":100000");
    let end = many.find("{\"Event\":\"SparkListenerStageCompleted\"").unwrap();
    for log in [&many, &many[..end]] {
        let score = found(app(&spark(log)), rule).map_or(0, |(_, score)| score);
        assert!(score <= 4 * 10 * 10, "{score}");
    }
    for count in [(1_u64 << 40).to_string(), "-3".to_owned(), i64::MAX.to_string()] {
        let text = text.replace("\"Number of Tasks\":10", &format!("\"Number of Tasks\":{count}"));
        let report = spark(&text);
        assert!(
            problems(&report)[0].starts_with("impossible-task-count: 1 stage"),
            "{:?}",
            problems(&report)
        );
        assert_eq!(app(&report)["complete"], false);
        assert_eq!(found(app(&report), rule).unwrap().1, whole, "{count}");
    }
}

/// Sums over phases are unknown, because more may follow after the limit.
fn assert_sums_are_unknown(app: &Value) {
    let phases = app["phases"].as_array().unwrap();
    assert!(!phases.is_empty());
    for phase in phases {
        assert_eq!(phase["tasks"]["total_count"], Value::Null, "{phase:#}");
        for sum in ["task_time_ms", "gc_time_ms", "input_bytes", "shuffle_read_bytes", "spilled_bytes"] {
            assert_eq!(phase[sum], Value::Null, "{sum}: {phase:#}");
        }
    }
}

#[test]
fn limit_is_reported_first_and_as_the_reason_for_unevaluated_rules() {
    let few_tasks = |tasks| Limits { tasks: Some(tasks), ..Limits::default() };
    let few_bytes = |bytes: usize| Limits { decoded: Some(Bytes::new(bytes as u64)), ..Limits::default() };
    // The first tasks are harmless; the tasks after them spend all their time on garbage collection.
    let task = |number| Task::new("1", 10_000).metric("JVM GC Time", if number < 5 { 1 } else { 9000 });
    let log = App::with(&[], 1, 100).stage((0..100).map(task).collect()).text();
    assert!(found(app(&spark(&log)), "spark-executor-gc").unwrap().1 > 0);
    let half = log.find("{\"Event\":\"SparkListenerTaskEnd\"").unwrap() + 4000;
    let name = "application_1700000000000_0001";
    for (limits, words) in [
        (few_tasks(5), "--max-tasks kept 5 of 100 tasks"),
        (few_bytes(half), "--max-decoded kept only part of the log: 100 tasks"),
    ] {
        let report = report_within(limits, name, &log);
        let messages = problems(&report);
        assert!(messages[0].starts_with("limit-reached"), "{messages:?}");
        assert_eq!(
            messages.iter().filter(|problem| problem.starts_with("limit-reached")).count(),
            1,
            "{messages:?}"
        );
        assert_eq!(not_evaluated(app(&report), "spark-executor-gc").as_deref(), Some(words));
        assert_sums_are_unknown(app(&report));
        let partial = app(&report)["findings"].as_array().unwrap().iter();
        let of_file = ["spark-event-log-limit", "spark-configuration"];
        for finding in partial.filter(|finding| of_file.iter().all(|rule| finding["rule"] != *rule)) {
            let message = finding["message"].as_str().unwrap();
            assert!(message.contains(words) || finding["severity"] == "none", "{finding:#}");
        }
    }

    let groups = json!([
        {"role": "map", "count": 100, "time": {"total_ms": 60_000}, "counters": {"HDFS_BYTES_READ": 100 * MIB}},
        {"role": "reduce", "count": 3, "time": {"total_ms": 9000}, "counters": {"REDUCE_SHUFFLE_BYTES": 4096}},
    ]);
    let history = Job::succeeded(&groups).history();
    assert_eq!(not_evaluated(app(&mapreduce(&history)), "mapper-skew"), None);
    let (words, name) = ("--max-tasks kept only part of the log: 5 tasks", "job_1500000000000_0001.jhist");
    let report = report_within(few_tasks(5), name, &history);
    assert!(problems(&report)[0].starts_with("limit-reached"), "{:?}", problems(&report));
    for rule in ["mapper-skew", "reducer-skew", "mapper-time", "shuffle-sort", "failed-attempts"] {
        let reason = not_evaluated(app(&report), rule);
        let found = found(app(&report), rule).is_some_and(|(message, _)| message.contains(words));
        assert!(found || reason.as_deref() == Some(words), "{rule}: {reason:?}");
    }
    assert_sums_are_unknown(app(&report));
    let report = report_within(few_bytes(history.len() / 2), name, &history);
    assert!(problems(&report)[0].starts_with("limit-reached"), "{:?}", problems(&report));
    assert_sums_are_unknown(app(&report));
    let reason = not_evaluated(app(&report), "mapper-skew").unwrap();
    assert!(reason.starts_with("--max-decoded kept only part of the log"), "{reason}");
}

#[test]
fn truncated_log_does_not_report_idle_executors_or_unused_memory() {
    let rules = [
        "spark-executor-metrics",
        "spark-executor-load-balance",
        "spark-jvm-used-memory",
        "spark-memory-limit",
        "spark-peak-unified-memory",
    ];
    // All executors do the same: one stage with little memory and one with nearly all of it.
    let conf = [("spark.executor.memory", "400g")];
    let task = |number: u32, used: u64| Task {
        peaks: vec![("JVMHeapMemory", used << 30), ("OnHeapUnifiedMemory", (used * 6 / 10) << 30)],
        ..Task::new(&(1 + number % 8).to_string(), 900_000)
    };
    let stage = |used: u64| (0..8).map(|number| task(number, used)).collect();
    let log = App::with(&conf, 8, 1).stage(stage(1)).stage(stage(390)).text();
    let found_in =
        |report: &Value| rules.map(|rule| found(app(report), rule).is_some_and(|(_, score)| score > 0));
    assert_eq!(found_in(&spark(&log)), [false; 5]);
    assert_eq!(rules.map(|rule| not_evaluated(app(&spark(&log)), rule)), [const { None }; 5]);

    let name = "application_1700000000000_0001";
    let limited = report_within(Limits { tasks: Some(1), ..Limits::default() }, name, &log);
    let through_the_first = |event: &str| {
        let start = log.find(event).unwrap();
        spark(&log[..=start + log[start..].find('\n').unwrap()])
    };
    let mut ends = 0;
    let mut is_kept = |line: &&str| {
        let is_end = line.contains("SparkListenerTaskEnd");
        ends += u32::from(is_end);
        !is_end || ends == 1
    };
    let holed: String = log.split_inclusive('\n').filter(|line| is_kept(line)).collect();
    for (report, why) in [
        (limited, "--max-tasks kept 1 of 16 tasks"),
        (through_the_first("SparkListenerTaskEnd"), "the log ends before the application does"),
        (through_the_first("SparkListenerStageCompleted"), "the log ends before the application does"),
        (spark(&holed), "15 tasks have no known end"),
    ] {
        assert_eq!(found_in(&report), [false; 5]);
        for rule in rules {
            let reason = not_evaluated(app(&report), rule).unwrap();
            assert!(reason.contains(why), "{rule}: {reason}");
        }
    }
}

#[test]
fn rules_without_findings_are_unevaluated_on_truncated_logs() {
    let groups = json!([{"role": "map", "count": 9, "time": {"total_ms": 60_000}, "counters": {}}]);
    let history = Job::succeeded(&groups).history();
    let cut = &history[..history.len() / 2];
    let at_an_end = &cut[..=cut.rfind('\n').unwrap()];
    for (text, reason) in
        [(cut, "a part of the job history is missing"), (at_an_end, "the job history ends before the job")]
    {
        let report = mapreduce(text);
        let actual = not_evaluated(app(&report), "failed-attempts").unwrap();
        assert!(actual.starts_with(reason), "{actual}");
    }
}

#[test]
fn counts_are_unknown_if_a_limit_precedes_the_first_task() {
    let text = twenty_tasks().text();
    let end = text.find("{\"Event\":\"SparkListenerTaskStart\"").unwrap();
    let jobs = text.find("{\"Event\":\"SparkListenerJobStart\"").unwrap();
    let executors = text.find("{\"Event\":\"SparkListenerExecutorAdded\"").unwrap();
    for (bytes, shows_any) in [(end, true), (jobs, true), (executors, false)] {
        let limits = Limits { decoded: Some(Bytes::new(bytes as u64)), ..Limits::default() };
        let report = report_within(limits, "application_1700000000000_0001", &text);
        let metrics = &app(&report)["metrics"];
        for key in ["total_count", "succeeded_count", "attempts_count"] {
            assert_eq!(metrics["tasks"]["task"][key], Value::Null, "{key}");
        }
        assert_eq!(metrics["spark"].is_null(), !shows_any);
    }
    let groups = json!([{"role": "map", "count": 3, "time": {"total_ms": 5000}, "counters": {}}]);
    let history = Job::succeeded(&groups).history();
    let first =
        history.find("{\"type\":\"TASK_STARTED\"").or_else(|| history.find("{\"event\":{\"org")).unwrap();
    let first = history[first..].find('\n').unwrap() + first + 1;
    let limits = Limits { decoded: Some(Bytes::new(first as u64)), ..Limits::default() };
    let report = report_within(limits, "job_1500000000000_0001.jhist", &history[..]);
    let tasks = &app(&report)["metrics"]["tasks"];
    if tasks["map"]["total_count"] != 1 {
        assert_eq!(tasks["map"]["total_count"], Value::Null, "{tasks}");
        let reason = not_evaluated(app(&report), "mapper-time").unwrap();
        assert!(reason.starts_with("--max-decoded"), "{reason}");
    }
}

/// The same value with the keys of each object shuffled.
fn shuffled(value: &Value, state: &mut u64) -> Value {
    match value {
        Value::Object(members) => {
            let mut list: Vec<(String, Value)> =
                members.iter().map(|(key, value)| (key.clone(), shuffled(value, state))).collect();
            for place in (1..list.len()).rev() {
                *state =
                    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                list.swap(place, usize::try_from(*state >> 33).unwrap() % (place + 1));
            }
            Value::Object(list.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(list) => list.iter().map(|value| shuffled(value, state)).collect(),
        value => value.clone(),
    }
}

fn shuffled_lines(text: &str, seed: u64) -> String {
    let mut state = seed;
    let line = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(event) if event.get("fields").is_none() => shuffled(&event, &mut state).to_string() + "\n",
        _ => line.to_owned() + "\n",
    };
    text.lines().map(line).collect()
}

/// The report on an application, without values that depend on file size or path.
fn comparable(report: &Value) -> Value {
    let mut app = app(report).clone();
    let findings = app["findings"].as_array_mut().unwrap();
    findings.retain(|finding| finding["rule"] != "spark-event-log-limit");
    app.as_object_mut().unwrap().remove("sources");
    app
}

#[test]
fn key_order_does_not_change_the_report() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/done/2026/11/21/000000");
    let mut histories: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    histories.retain(|path| path.extension().is_some_and(|suffix| suffix == "jhist"));
    histories.sort();
    let texts = histories.iter().filter_map(|path| String::from_utf8(std::fs::read(path).unwrap()).ok());
    let texts: Vec<String> = texts.filter(|text| text.starts_with("Avro-Json")).collect();
    assert!(texts.len() > 2);
    for (seed, text) in (1..).zip(&texts) {
        let whole = mapreduce(text);
        let report = mapreduce(&shuffled_lines(text, seed));
        assert_eq!(problems(&report), problems(&whole));
        assert_eq!(comparable(&report), comparable(&whole));
    }
    let log = twenty_tasks().text();
    assert_eq!(comparable(&spark(&shuffled_lines(&log, 7))), comparable(&spark(&log)));
}

#[test]
fn unnamed_counter_group_is_reported_as_missing() {
    let groups =
        json!([{"role": "map", "count": 3, "time": {"total_ms": 5000}, "counters": {"HDFS_BYTES_READ": 5}}]);
    let text = Job::succeeded(&groups).history();
    let (name, counts) = ("\"name\":\"org.apache.hadoop.mapreduce.FileSystemCounter\"", "\"counts\":");
    assert!(text.contains(name) && text.contains(counts), "{text}");
    let report = mapreduce(&text.replacen(name, "\"title\":\"x\"", 1));
    assert!(problems(&report)[0].starts_with("unreadable-counter"), "{:?}", problems(&report));
    assert_eq!(app(&report)["complete"], false);
    let escaped = text.replace(counts, "\"c\\u006funts\":");
    assert_eq!(comparable(&mapreduce(&escaped)), comparable(&mapreduce(&text)));
}
