//! Times and numbers that the rest of a history contradicts are unknown, with a warning that says why. A value that no
//! other record contradicts is believed, so that undamaged histories get no warning.

use std::io::Cursor;

use elephant_base::limits::Limits;
use elephant_input::window::ByteWindow;
use elephant_model::model::table::TimePoint;
use elephant_model::model::{Application, Status};
use elephant_parse::spark::{self, Completeness, Feed, Log, Names, Part};
use elephant_parse::{OtherCounters, Parsed, ToldByName, hadoop1, jhist};
use serde_json::{Value, json};

use super::recordings::{Format, Recording, recordings};

/// Days in milliseconds.
const DAY: i64 = 24 * 3600 * 1000;

/// When the application of [`log`] began.
const AT: i64 = 1_700_000_000_000;

fn parse(format: Format, bytes: &[u8], name: &str) -> Parsed {
    let (window, limits, name) = (ByteWindow::new(bytes), Limits::default(), ToldByName::read(name));
    match format {
        Format::Hadoop1 => hadoop1::parse_within(window, &limits, OtherCounters::Kept, name),
        Format::Json => jhist::json::parse_within(window, &limits, OtherCounters::Kept, name),
        Format::Binary => jhist::avro::parse_within(window, &limits, OtherCounters::Kept, name),
    }
}

/// The only application, and the codes of its problems.
fn only(parsed: Parsed) -> (Application, Vec<&'static str>) {
    let parts = parsed.part_problems.into_iter().flat_map(|(_, problems)| problems.into_vec());
    let codes =
        parsed.problems.into_vec().into_iter().chain(parts).map(|problem| problem.known_code()).collect();
    (parsed.applications.into_iter().next().unwrap(), codes)
}

fn named(name: &str) -> Recording {
    recordings().into_iter().find(|recording| recording.name.contains(name)).unwrap()
}

/// The history with another number after the last `key` of its text.
fn with_number(bytes: &[u8], key: &str, change: impl Fn(i64) -> i64) -> Vec<u8> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let (before, rest) = text.rsplit_once(key).unwrap();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = change(rest[..digits].parse().unwrap());
    format!("{before}{key}{number}{}", &rest[digits..]).into_bytes()
}

const END: &str = "\"org.apache.hadoop.mapreduce.jobhistory.JobFinished\":{\"jobid\":\"";

/// The text before the time at which the job ended.
fn end_of(job: &str) -> String {
    format!("{END}{job}\",\"finishTime\":")
}

#[test]
fn the_names_of_recordings_agree_with_their_times() {
    let mut compared = 0;
    for recording in recordings() {
        compared += usize::from(ToldByName::read(&recording.name) != ToldByName::default());
        let parsed = parse(recording.format, &recording.bytes, &recording.name);
        assert!(parsed.problems.is_empty(), "{}: {:?}", recording.name, parsed.problems);
    }
    assert!(compared > 0);
}

#[test]
fn a_job_ends_with_its_tasks() {
    let healthy = named("-healthy-");
    let (whole, _) = only(parse(healthy.format, &healthy.bytes, ""));
    let end = end_of(&whole.id);
    for off in [-10_000, -DAY, 8 * DAY, 11 * DAY] {
        let changed = with_number(&healthy.bytes, &end, |at| at + off);
        let (app, codes) = only(parse(healthy.format, &changed, ""));
        assert!(app.finished_at.is_none() && !app.complete, "{off}");
        assert_eq!(codes, ["end-impossible"], "{off}");
    }
    // The output of a job may take hours to commit.
    let changed = with_number(&healthy.bytes, &end, |at| at + DAY / 2);
    let (app, codes) = only(parse(healthy.format, &changed, ""));
    assert!(app.finished_at.is_some() && app.complete && codes.is_empty());
}

#[test]
fn the_name_of_a_history_repeats_its_times() {
    let healthy = named("-healthy-");
    let (whole, _) = only(parse(healthy.format, &healthy.bytes, &healthy.name));
    let changed = with_number(&healthy.bytes, "\"submitTime\":", |at| at - 1_000_000);
    let (app, codes) = only(parse(healthy.format, &changed, &healthy.name));
    assert_eq!((app.submitted_at, codes), (None, vec!["name-disagrees"]));
    let changed = with_number(&healthy.bytes, &end_of(&whole.id), |at| at + 1_000_000);
    let (app, codes) = only(parse(healthy.format, &changed, &healthy.name));
    assert_eq!((app.finished_at, codes), (None, vec!["name-disagrees"]));
    // The name of another job says nothing of this one.
    let other = healthy.name.replacen("job_", "job_1", 1);
    let (app, codes) = only(parse(healthy.format, &changed, &other));
    assert!(app.finished_at.is_some() && codes.is_empty());
}

#[test]
fn a_job_is_submitted_after_its_job_tracker_started() {
    let job = named("job_201311192236_0042");
    assert_eq!(job.format, Format::Hadoop1);
    let without_name = |off: i64| {
        let changed = with_number(&job.bytes, "SUBMIT_TIME=\"", |at| at + off);
        only(parse(job.format, &changed, ""))
    };
    assert!(without_name(0).1.is_empty());
    for off in [-60 * DAY, -9 * DAY, DAY] {
        let (app, codes) = without_name(off);
        assert_eq!((app.submitted_at, codes), (None, vec!["submission-impossible"]), "{off}");
    }
    // It may have waited in a queue.
    assert!(without_name(-3600 * 1000).1.is_empty());
}

#[test]
fn no_attempt_starts_before_its_cluster() {
    let healthy = named("-healthy-");
    let text = String::from_utf8(healthy.bytes).unwrap();
    let starts = |app: &Application| {
        let attempts = app.groups.iter().map(|group| &group.attempts);
        attempts.flat_map(|it| (0..it.len()).filter_map(|row| it.time(row, TimePoint::Start))).count()
    };
    let (whole, codes) = only(parse(healthy.format, text.as_bytes(), ""));
    assert!(starts(&whole) > 20 && codes.is_empty());
    let early = text.replace("\"startTime\":179", "\"startTime\":169");
    let (app, codes) = only(parse(healthy.format, early.as_bytes(), ""));
    assert_eq!((starts(&app), app.complete), (0, false));
    assert_eq!((app.submitted_at, app.finished_at), (whole.submitted_at, whole.finished_at));
    assert_eq!(codes, ["time-before-cluster"]);
    // Anonymised histories have changed ids.
    let (_, cluster) = whole.id.split_once('_').unwrap();
    let changed = text.replace(cluster, &cluster.replacen("179", "189", 1));
    let (app, codes) = only(parse(healthy.format, changed.as_bytes(), ""));
    assert_eq!((starts(&app), codes), (starts(&whole), vec!["submission-impossible"]));
}

#[test]
fn a_job_that_failed_by_a_task_has_tasks() {
    let failed = recordings()
        .into_iter()
        .filter(|recording| recording.format == Format::Json && recording.name.contains("FAILED"));
    for recording in failed {
        let without = |lost: &[&str]| {
            let records = recording.records.iter().enumerate();
            let kept = records.filter(|(at, _)| !lost.iter().any(|lost| recording.kind(*at).contains(lost)));
            let start = &recording.bytes[..recording.records[0].start];
            let rest = kept.flat_map(|(_, record)| &recording.bytes[record.clone()]);
            let bytes: Vec<u8> = start.iter().chain(rest).copied().collect();
            only(parse(recording.format, &bytes, ""))
        };
        let (app, codes) = without(&["TASK", "ATTEMPT"]);
        assert!(!app.complete && codes.contains(&"tasks-missing"), "{}: {codes:?}", recording.name);
        // Nothing announces the tasks either.
        let (app, codes) = without(&["TASK", "ATTEMPT", "INITED", "AM_STARTED"]);
        let names_task = app.diagnostics.is_some_and(|text| text.contains("Task failed task_"));
        assert_eq!(
            !app.complete && codes.contains(&"tasks-missing"),
            names_task,
            "{}: {codes:?}",
            recording.name
        );
    }
}

#[test]
fn the_parts_of_an_attempts_progress_are_not_longer_than_it() {
    let healthy = named("-healthy-");
    let (whole, codes) = only(parse(healthy.format, &healthy.bytes, ""));
    assert!(codes.is_empty());
    let progress = |app: &Application| {
        let rows = app.groups.iter().flat_map(|group| (0..group.attempts.len()).map(move |row| (group, row)));
        rows.filter(|(group, row)| group.attempts.progress(*row).is_some()).count()
    };
    let changed = with_number(&healthy.bytes, "\"clockSplits\":[", |part| part + 1_000_000_000);
    let (app, codes) = only(parse(healthy.format, &changed, ""));
    assert_eq!((progress(&app), codes), (progress(&whole) - 1, vec!["progress-exceeds-attempt"]));
}

/// A log of an application with these events and a stage of one second.
fn log(start: i64, id: &str, properties: &Value, cores: i64, end: i64) -> String {
    let driver = json!({"Executor ID": "driver", "Host": "h", "Port": 1});
    let executor = json!({"Executor ID": "1", "Host": "h", "Port": 2});
    let info = |completed: Value| {
        json!({"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "s", "Number of Tasks": 1,
            "Submission Time": AT + 5000, "Completion Time": completed})
    };
    let task = |more: Value| {
        let mut task = json!({"Task ID": 0, "Index": 0, "Attempt": 0, "Launch Time": AT + 5000, "Executor ID": "1",
            "Host": "h", "Locality": "ANY", "Speculative": false});
        task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        task
    };
    let manager = |id: &Value, at: i64| {
        json!({"Event": "SparkListenerBlockManagerAdded", "Block Manager ID": id, "Maximum Memory": 1 << 30,
            "Timestamp": at})
    };
    elephant_testing::make::lines(&[
        json!({"Event": "SparkListenerLogStart", "Spark Version": "3.5.0"}),
        manager(&driver, AT + 1000),
        json!({"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": properties}),
        json!({"Event": "SparkListenerApplicationStart", "App Name": "x", "App ID": id, "Timestamp": AT + start}),
        json!({"Event": "SparkListenerExecutorAdded", "Timestamp": AT + 3000, "Executor ID": "1",
            "Executor Info": {"Host": "h", "Total Cores": cores}}),
        manager(&executor, AT + 3100),
        json!({"Event": "SparkListenerExecutorAdded", "Timestamp": AT + 3000, "Executor ID": "2",
            "Executor Info": {"Host": "h", "Total Cores": 4}}),
        manager(&json!({"Executor ID": "2", "Host": "h", "Port": 3}), AT + 3100),
        json!({"Event": "SparkListenerJobStart", "Job ID": 0, "Submission Time": AT + 4900, "Stage IDs": [0]}),
        json!({"Event": "SparkListenerStageSubmitted", "Stage Info": info(Value::Null)}),
        json!({"Event": "SparkListenerTaskStart", "Stage ID": 0, "Stage Attempt ID": 0, "Task Info": task(json!({}))}),
        json!({"Event": "SparkListenerTaskEnd", "Stage ID": 0, "Stage Attempt ID": 0, "Task Type": "ResultTask",
            "Task End Reason": {"Reason": "Success"}, "Task Info": task(json!({"Finish Time": AT + 6000})),
            "Task Metrics": {"Executor Run Time": 900, "JVM GC Time": 10}}),
        json!({"Event": "SparkListenerStageCompleted", "Stage Info": info(json!(AT + 6000))}),
        json!({"Event": "SparkListenerJobEnd", "Job ID": 0, "Completion Time": AT + 6000,
            "Job Result": {"Result": "JobSucceeded"}}),
        json!({"Event": "SparkListenerApplicationEnd", "Timestamp": AT + end}),
    ])
}

fn parse_log(log: String) -> (Application, Vec<&'static str>) {
    let open = move || Ok(Feed::Stream(Box::new(Cursor::new(log.clone().into_bytes()))));
    let part = Part { name: "log".to_owned(), open: Box::new(open) };
    let log = Log { parts: vec![part], names: Names::default(), completeness: Completeness::default() };
    only(spark::parse(&log))
}

/// Ids of applications that began at the same time, and much later than their resource manager.
const LOCAL: &str = "local-1700000000500";
const YARN: &str = "application_1690000000000_0001";

#[test]
fn the_start_of_an_application_is_told_twice() {
    let of = |start: i64, id: &str, master: &str, set: Option<&str>| {
        let mut properties = json!({"spark.master": master});
        if let Some(set) = set {
            properties["spark.app.startTime"] = json!(set);
        }
        let (app, mut codes) = parse_log(log(start, id, &properties, 4, 8000));
        codes.retain(|code| *code == "application-time-unknown");
        (app.submitted_at.is_some(), codes)
    };
    let exact = Some("1700000000000");
    let doubted = (false, vec!["application-time-unknown"]);
    let believed = (true, Vec::new());
    assert_eq!(of(0, YARN, "yarn", exact), believed);
    assert_eq!(of(0, YARN, "yarn", None), believed);
    assert_eq!(of(-1_000_000, YARN, "yarn", exact), doubted);
    // An application may wait in the queue of YARN, but not for a cluster of its own.
    assert_eq!(of(-1_000_000, YARN, "yarn", None), believed);
    assert_eq!(of(-1_000_000, "app-20231114221320-0000", "spark://h:7077", None), doubted);
    assert_eq!(of(-DAY + 1000, "app-20231114221320-0000", "mesos://h:5050", None), doubted);
    assert_eq!(of(-1_000_000, LOCAL, "local[4]", None), doubted);
    // Anonymised histories have changed ids.
    assert_eq!(of(0, "app-20231101221320-0000", "spark://h:7077", None), believed);
    assert_eq!(of(0, "application_1802000000000_0001", "yarn", None), believed);
    // Two of three agree.
    assert_eq!(of(0, LOCAL, "local[4]", Some("1600000000000")), believed);
    assert_eq!(of(0, "local-1600000000000", "local[4]", exact), believed);
}

#[test]
fn an_application_does_not_end_long_after_its_last_event() {
    let properties = json!({"spark.master": "yarn"});
    for (end, believed) in [(8000, true), (DAY / 25, true), (3 * DAY / 8, false), (11 * DAY, false)] {
        let (app, codes) = parse_log(log(0, YARN, &properties, 4, end));
        assert_eq!(
            (app.finished_at.is_some(), app.complete, codes.is_empty()),
            (believed, believed, believed),
            "{end}"
        );
        // The lower limit of its run time ends with the other records, all of them in the first eight seconds.
        let last = app.last_time().unwrap().as_millis() - AT;
        assert_eq!(last, if believed { end } else { last.min(8000) }, "{end}");
    }
}

#[test]
fn a_job_of_hadoop_1_is_neither_submitted_nor_ended_long_before_or_after_its_tasks() {
    let job = named("job_201311192236_0042");
    let changed = |key: &str, off: i64| {
        let bytes = with_number(&job.bytes, key, |at| at + off);
        let (app, codes) = only(parse(job.format, &bytes, ""));
        (app.submitted_at.is_some(), app.finished_at.is_some(), app.complete, codes)
    };
    let nine_hours = 3 * DAY / 8;
    assert_eq!(changed("SUBMIT_TIME=\"", 0), (true, true, true, Vec::new()));
    assert_eq!(changed("SUBMIT_TIME=\"", -nine_hours), (false, true, false, vec!["submission-impossible"]));
    assert_eq!(changed("FINISH_TIME=\"", nine_hours), (true, false, false, vec!["end-impossible"]));
}

#[test]
fn a_query_that_others_follow_has_an_end() {
    let whole = log(0, YARN, &json!({"spark.master": "yarn"}), 4, 8000);
    let (before, end) = whole.trim_end().rsplit_once('\n').unwrap();
    let codes = |before: &str, events: &[(&str, u64, i64)]| {
        let event = |&(kind, id, at): &(&str, u64, i64)| {
            let name = format!("org.apache.spark.sql.execution.ui.SparkListenerSQLExecution{kind}");
            let plan = json!({"nodeName": "Scan", "simpleString": "", "children": [], "metrics": []});
            json!({"Event": name, "executionId": id, "description": "", "time": AT + at, "sparkPlanInfo": plan})
        };
        let events: Vec<String> = events.iter().map(|it| event(it).to_string()).collect();
        let (app, codes) = parse_log(format!("{before}\n{}\n{end}\n", events.join("\n")));
        (app.complete, codes)
    };
    let first = [("Start", 0, 6100), ("End", 0, 6200)];
    let last = [("Start", 2, 6500), ("End", 2, 6600)];
    let all = [&first[..], &[("Start", 1, 6300), ("End", 1, 6400)], &last].concat();
    assert_eq!(codes(before, &all), (true, Vec::new()));
    let lost = [&first[..], &[("Start", 1, 6300)], &last].concat();
    assert_eq!(codes(before, &lost), (false, vec!["query-ends-missing"]));
    // The application may have been stopped while the query ran.
    assert_eq!(codes(before, &[&first[..], &[("Start", 1, 6300)]].concat()), (true, Vec::new()));
    let stopped = before.replace("JobSucceeded", "JobFailed");
    let open = [&[("Start", 0, -1000)], &[("Start", 1, 6300), ("End", 1, 6400)][..]].concat();
    assert!(!codes(&stopped, &open).1.contains(&"query-ends-missing"));
}

#[test]
fn an_executor_has_the_cores_that_were_requested() {
    let of = |cores: i64, set: Option<&str>| {
        let mut properties = json!({"spark.master": "yarn"});
        if let Some(set) = set {
            properties["spark.executor.cores"] = json!(set);
        }
        let (app, codes) = parse_log(log(0, YARN, &properties, cores, 8000));
        (app.spark.unwrap().executors[0].cores, codes)
    };
    let doubted = (None, vec!["executors-impossible"]);
    assert_eq!(of(4, Some("4")), (Some(4), Vec::new()));
    assert_eq!(of(2, Some("4")), (Some(2), Vec::new()));
    assert_eq!(of(999, Some("4")), doubted);
    // No executor confirms the setting: it may not be what the cluster gave.
    assert_eq!(of(16, Some("8")), (Some(16), Vec::new()));
    assert_eq!(of(i64::from(i32::MAX), None), doubted);
    assert_eq!(of(128, None), (Some(128), Vec::new()));
}

#[test]
fn records_that_disagree_or_cannot_be_read_are_told() {
    let whole = log(0, YARN, &json!({"spark.master": "yarn"}), 4, 8000);
    let codes = |text: String| parse_log(text).1;
    assert!(codes(whole.clone()).is_empty());
    // The end of a failed attempt, like that of a successful one.
    let failed = whole.replacen(
        r#""Reason":"Success""#,
        r#""Reason":"ExceptionFailure","Class Name":"a.B","Description":"no""#,
        1,
    );
    assert!(codes(failed.clone()).iter().all(|code| *code != "end-without-time"));
    for wrong in ["0", "-1", "1700000006000000"] {
        let changed =
            failed.replacen(r#""Finish Time":1700000006000"#, &format!(r#""Finish Time":{wrong}"#), 1);
        assert_ne!(changed, failed);
        assert!(codes(changed).contains(&"end-without-time"), "{wrong}");
    }
    let more = with_number(whole.as_bytes(), r#""Number of Tasks":"#, |count| count + 3);
    assert_eq!(codes(String::from_utf8(more).unwrap()), ["impossible-task-count"]);
    // The submission of the stage, at its start and at its end.
    let other = with_number(whole.as_bytes(), r#""Submission Time":"#, |at| at - 30_000);
    assert!(codes(String::from_utf8(other).unwrap()).contains(&"stage-times-impossible"));
    let changed = |from: &str, to: &str| {
        let changed = whole.replacen(from, to, 1);
        assert_ne!(changed, whole);
        parse_log(changed)
    };
    // The stage remains, and its job is another one.
    let other_job = changed(r#""Stage IDs":[0]"#, r#""Stage IDs":[]"#);
    assert_eq!((other_job.1, other_job.0.complete), (vec!["jobs-missing"], false));
    assert!(changed(r#""Stage IDs":[0]"#, r#""Stage IDs":[0,-1]"#).1.contains(&"job-times-impossible"));
    let end = r#""Event":"SparkListenerApplicationEnd","#;
    let (app, told) = changed(end, &format!(r#"{end}"ExitCode":1000000000000,"#));
    assert_eq!((app.status, told), (Status::Unknown, vec!["exit-code-impossible"]));
    let (app, told) = changed(end, &format!(r#"{end}"ExitCode":137,"#));
    assert_eq!((app.status, told), (Status::Failed, Vec::new()));
    let late =
        whole.replacen(r#""Completion Time":1700000006000"#, r#""Completion Time":1700000006000000"#, 1);
    assert_ne!(late, whole);
    assert!(codes(late).contains(&"stage-times-impossible"));
}
