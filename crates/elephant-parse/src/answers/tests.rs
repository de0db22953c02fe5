use super::*;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Outcome, TaskKind, TimePoint};
use elephant_model::model::{Application, Status};

/// A job of one map and one reduce task, in the spelling of Hadoop's documents.
fn answers() -> Vec<String> {
    let lines = [
        r#"{"job": {"id": "job_1326232085508_4_4", "name": "sleep", "user": "alice", "queue": "etl", "state": "SUCCEEDED",
            "submitTime": 1326381444693, "startTime": 1326381446529, "finishTime": 1326381582106, "mapsTotal": 1,
            "mapsCompleted": 1, "reducesTotal": 1, "reducesCompleted": 1, "uberized": false, "diagnostics": ""}}"#,
        r#"{"jobCounters": {"id": "job_1326232085508_4_4", "counterGroup": [{"counterGroupName":
            "org.apache.hadoop.mapreduce.JobCounter", "counter": [{"name": "MB_MILLIS_MAPS", "mapCounterValue": 0,
            "reduceCounterValue": 0, "totalCounterValue": 2048000}]}]}}"#,
        r#"{"tasks": {"task": [
            {"id": "task_1326232085508_4_4_m_0", "type": "MAP", "state": "SUCCEEDED", "startTime": 1326381446541,
             "finishTime": 1326381453318, "successfulAttempt": "attempt_1326232085508_4_4_m_0_0"},
            {"id": "task_1326232085508_4_4_r_0", "type": "REDUCE", "state": "SUCCEEDED", "startTime": 1326381446544,
             "finishTime": 1326381582103, "successfulAttempt": "attempt_1326232085508_4_4_r_0_0"}]}}"#,
        r#"{"taskAttempts": {"taskAttempt": [{"id": "attempt_1326232085508_4_4_m_0_0", "type": "MAP", "state": "SUCCEEDED",
            "startTime": 1326381450680, "finishTime": 1326381453318, "rack": "/98.139.92.0",
            "nodeHttpAddress": "host1.example.com:8042", "assignedContainerId": "container_1326232085508_0004_01_000002"}]}}"#,
        r#"{"taskAttempts": {"taskAttempt": [{"type": "reduceTaskAttemptInfo", "id": "attempt_1326232085508_4_4_r_0_0",
            "type": "REDUCE", "state": "SUCCEEDED", "startTime": 1326381452000, "finishTime": 1326381582103,
            "shuffleFinishTime": 1326381460000, "mergeFinishTime": 1326381461000, "nodeHttpAddress": "host2:8042"}]}}"#,
        r#"{"jobTaskAttemptCounters": {"id": "attempt_1326232085508_4_4_m_0_0", "taskAttemptCounterGroup": [
            {"counterGroupName": "org.apache.hadoop.mapreduce.TaskCounter", "counter": [{"name": "GC_TIME_MILLIS",
            "value": 12}]}]}}"#,
        r#"{"jobTaskCounters": {"id": "task_1326232085508_4_4_r_0", "taskCounterGroup": [{"counterGroupName":
            "org.apache.hadoop.mapreduce.TaskCounter", "counter": [{"name": "SPILLED_RECORDS", "value": "7"}]}]}}"#,
        r#"{"conf": {"path": "hdfs://nn:8020/user/alice/.staging/job_1326232085508_0004/job.xml", "property": [
            {"name": "mapreduce.map.memory.mb", "value": "2048", "source": ["mapred-default.xml"]}]}}"#,
        r#"{"jobAttempts": {"jobAttempt": [{"id": 1, "startTime": 1326381444000, "nodeHttpAddress": "host3:8042",
            "containerId": "container_1326232085508_0004_01_000001"}]}}"#,
    ];
    lines.map(str::to_owned).to_vec()
}

fn parsed(answers: &[String]) -> Parsed {
    let parts: Vec<FilePart<'_>> = answers
        .iter()
        .map(|answer| FilePart {
            name: String::new(),
            open: Box::new(|| Ok(Box::new(answer.as_bytes()) as Box<dyn Read + '_>)),
        })
        .collect();
    parse_within(&parts, &Limits::default(), OtherCounters::Kept)
}

fn codes(parsed: Parsed) -> Vec<String> {
    let of_parts = parsed.part_problems.into_iter().flat_map(|(_, problems)| problems.into_vec());
    parsed.problems.into_vec().into_iter().chain(of_parts).map(|problem| problem.code.into_owned()).collect()
}

fn assert_whole(app: &Application) {
    assert_eq!((app.id.as_str(), app.status), ("job_1326232085508_0004", Status::Succeeded));
    assert_eq!((app.user.as_deref(), app.queue.as_deref()), (Some("alice"), Some("etl")));
    assert_eq!(app.finished_at.map(Timestamp::as_millis), Some(1_326_381_582_106));
    let maps = app.group(TaskKind::Map).unwrap();
    assert_eq!(maps.attempts.counter(0, Counter::GcTimeMillis), Some(12));
    assert_eq!(maps.attempts.run_time(0).map(Millis::get), Some(2638));
    assert_eq!(app.strings.get(maps.attempts.node(0).unwrap()), Some("host1.example.com"));
    let reduces = app.group(TaskKind::Reduce).unwrap();
    assert_eq!(reduces.attempts.outcome(0), Outcome::Succeeded);
    assert_eq!(reduces.attempts.counter(0, Counter::SpilledRecords), Some(7), "those of its task");
    let shuffled = reduces.attempts.time(0, TimePoint::ShuffleFinish);
    assert_eq!(shuffled.map(Timestamp::as_millis), Some(1_326_381_460_000));
}

#[test]
fn the_answers_about_a_job_are_one_application_in_any_order() {
    let mut answers = answers();
    for turn in 0..answers.len() {
        answers.rotate_left(1);
        let parsed = parsed(&answers);
        assert_eq!(parsed.applications.len(), 1, "{turn}");
        assert_whole(&parsed.applications[0]);
        assert!(parsed.applications[0].complete, "{turn}: {:?}", parsed.problems);
        assert_eq!(parsed.confs[0].0, "job_1326232085508_0004");
        assert_eq!(codes(parsed), Vec::<String>::new(), "{turn}");
    }
    // Also one after another in a file.
    let all = parse(answers.join("\n").as_bytes());
    assert_whole(&all.applications[0]);
}

#[test]
fn what_is_missing_is_told_with_its_address() {
    for (left_out, expected) in [
        (0, "the job itself (…/jobs/job_1326232085508_0004)"),
        (2, "2 of its 2 tasks (…/jobs/job_1326232085508_0004/tasks)"),
        (3, "the attempts of 1 tasks (…/jobs/job_1326232085508_0004/tasks/TASK/attempts)"),
        (5, "the counters of 1 attempts"),
    ] {
        let mut answers = answers();
        answers.remove(left_out);
        let parsed = parsed(&answers);
        assert!(!parsed.applications[0].complete, "{left_out}");
        let told = parsed.problems.into_vec();
        let told = told.iter().find(|problem| problem.code == "answers-missing").unwrap();
        assert!(told.message.contains(expected), "{left_out}: {}", told.message);
    }
}

#[test]
fn damaged_answers_cost_only_themselves() {
    let mut answers = answers();
    answers.push(r#"{"tasks": {"task": [{"id": "task_1326232085508_4_4_m_0", "#.to_owned());
    answers.push(r#"{"tasks": null}"#.to_owned());
    answers.push(r#"{"task": {"id": 7}}"#.to_owned());
    let parsed = parsed(&answers);
    assert_whole(&parsed.applications[0]);
    assert!(!parsed.applications[0].complete);
    assert_eq!(codes(parsed), ["record-unreadable", "record-unreadable"]);
}

#[test]
fn a_running_application_has_no_end() {
    let running = r#"{"apps": {"app": [{"id": "application_1_0001", "applicationType": "SPARK", "state": "RUNNING",
        "finalStatus": "UNDEFINED", "startedTime": 1401184778896, "finishedTime": 0},
        {"id": "application_1_0002", "applicationType": "TEZ", "state": "FINISHED", "finalStatus": "SUCCEEDED"}]}}"#;
    let parsed = parse(running.as_bytes());
    let app = &parsed.applications[0];
    assert_eq!((app.status, app.finished_at), (Status::Running, None));
    assert_eq!(parsed.applications.len(), 1);
    assert_eq!(codes(parsed), ["other-engine"]);
}
