use super::*;
use elephant_model::model::table::{Outcome, TaskKind, TimePoint};
use elephant_model::model::tez::Processor;
use elephant_model::model::{Application, Status, job_type};

fn one(parsed: Parsed) -> Application {
    let Parsed { mut applications, .. } = parsed;
    assert_eq!(applications.len(), 1);
    applications.remove(0)
}

/// A DAG of one vertex with one task, as the timeline server lists it.
const DAG: &str = r#"{"entities":[
    {"entitytype":"TEZ_TASK_ATTEMPT_ID","entity":"attempt_7_0001_1_00_000000_0","otherinfo":{"creationTime":1500000001500,
     "startTime":1500000002000,"endTime":1500000009000,"status":"SUCCEEDED","nodeId":"n1:45454","counters":{"counterGroups":[
        {"counterGroupName":"org.apache.tez.common.counters.TaskCounter","counters":[
            {"counterName":"CPU_MILLISECONDS","counterValue":-30},{"counterName":"OUTPUT_RECORDS","counterValue":5}]}]}}},
    {"entitytype":"TEZ_TASK_ID","entity":"task_7_0001_1_00_000000","otherinfo":{"status":"SUCCEEDED",
     "successfulAttemptId":"attempt_7_0001_1_00_000000_0"}},
    {"entitytype":"TEZ_VERTEX_ID","entity":"vertex_7_0001_1_00","otherinfo":{"vertexName":"Map 1","numTasks":1,
     "processorClassName":"org.apache.hadoop.hive.ql.exec.tez.MapTezProcessor","initTime":1500000001000,
     "startTime":1500000001400,"endTime":1500000009100,"status":"SUCCEEDED"}},
    {"entitytype":"TEZ_DAG_ID","entity":"dag_7_0001_1","primaryfilters":{"user":["ann"],"dagName":["q1:1"]},
     "events":[{"timestamp":1500000000000,"eventtype":"DAG_SUBMITTED"}],
     "otherinfo":{"startTime":1500000000900,"endTime":1500000009200,"status":"SUCCEEDED"}},
    {"entitytype":"TEZ_APPLICATION","entity":"tez_application_7_0001","otherinfo":{"config":{"tez.queue.name":"etl"}}},
    {"entitytype":"HIVE_QUERY_ID","entity":"q1","otherinfo":{"query":"{\"queryText\":\"select 1\"}"}}
]}"#;

#[test]
fn a_dag_is_an_application_and_its_vertices_are_phases() {
    let parsed = parse(DAG.as_bytes());
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
    assert_eq!(parsed.confs.len(), 1);
    let app = one(parsed);
    assert_eq!((app.id.as_str(), app.status, app.complete), ("dag_7_0001_1", Status::Succeeded, true));
    assert_eq!(
        (app.name.as_deref(), app.user.as_deref(), job_type(&app)),
        (Some("q1:1"), Some("ann"), Some("Hive"))
    );
    let tez = app.tez.as_ref().unwrap();
    assert_eq!((tez.application_id.as_str(), tez.query.as_deref()), ("application_7_0001", Some("select 1")));
    let (vertex, group) = app.vertices_with(Processor::Mapper).next().unwrap();
    assert_eq!(
        (vertex.title().as_str(), vertex.wait().map(elephant_base::units::Millis::get)),
        ("Map 1", Some(400))
    );
    assert_eq!((group.kind, group.attempts.outcome(0)), (TaskKind::Vertex(0), Outcome::Succeeded));
    let wait = group.attempts.span(0, TimePoint::Created, TimePoint::Start);
    assert_eq!(
        (
            wait.map(elephant_base::units::Millis::get),
            group.attempts.run_time(0).map(elephant_base::units::Millis::get)
        ),
        (Some(500), Some(7000))
    );
}

#[test]
fn the_order_of_records_and_of_files_does_not_matter() {
    let value: serde_json::Value = serde_json::from_str(DAG).unwrap();
    let entities = value["entities"].as_array().unwrap();
    let texts: Vec<String> = entities.iter().rev().map(ToString::to_string).collect();
    let parts: Vec<FilePart<'_>> = texts
        .iter()
        .map(|text| FilePart {
            name: "x".to_owned(),
            open: Box::new(move || Ok(Box::new(text.as_bytes()) as Box<dyn Read + '_>)),
        })
        .collect();
    let parsed = parse_within(&parts, &Limits::default(), OtherCounters::Kept);
    let expected = one(parse(DAG.as_bytes()));
    let app = one(parsed);
    assert_eq!((app.complete, app.groups.len()), (true, expected.groups.len()));
    let run_time = |app: &Application| app.groups[0].attempts.run_time(0);
    assert_eq!(run_time(&app), run_time(&expected));
}

#[test]
fn a_list_that_was_cut_is_incomplete() {
    let cut = DAG.replace("\"numTasks\":1", "\"numTasks\":250");
    let parsed = parse(cut.as_bytes());
    let problems = parsed.problems.clone().into_vec();
    assert_eq!(problems.iter().map(|problem| &*problem.code).collect::<Vec<_>>(), ["tasks-missing"]);
    assert!(problems[0].message.contains("250 tasks"), "{problems:?}");
    let app = one(parsed);
    assert!(!app.complete && app.events_missing);
}

#[test]
fn queries_without_a_dag_are_refused() {
    let parsed = parse(br#"{"queries":[{"queryId":"q","query":"drop table x","dags":[]}]}"#);
    assert!(parsed.applications.is_empty());
    let problems = parsed.problems.into_vec();
    assert_eq!((problems.len(), &*problems[0].code, problems[0].level), (1, "no-dag", Level::Error));
}

#[test]
fn a_stated_application_that_contradicts_the_id_is_reported() {
    let parsed = parse(
        br#"{"entity":"dag_7_0425_1","entitytype":"TEZ_DAG_ID","otherinfo":{"applicationId":"application_8_0014"}}"#,
    );
    assert!(parsed.problems.into_vec().iter().any(|problem| problem.code == "application-disagrees"));
}

#[test]
fn every_cut_of_a_history_is_read() {
    for len in 0..DAG.len() {
        let parsed = parse(DAG.as_bytes().get(..len).unwrap());
        assert!(parsed.applications.iter().all(|app| !app.complete), "{len}");
    }
}

/// What a DAG is made of, as text.
fn described(app: &Application) -> String {
    let tez = app.tez.as_ref().unwrap();
    let of_vertex = |vertex: &elephant_model::model::tez::Vertex| {
        (
            vertex.title(),
            vertex.processor,
            vertex.announced,
            vertex.initialised_at,
            vertex.started_at,
            vertex.finished_at,
        )
    };
    let of_group = |group: &elephant_model::model::table::TaskGroup| {
        let attempts = &group.attempts;
        let of_row = |row| {
            let points = [TimePoint::Created, TimePoint::Start, TimePoint::Finish];
            let counters: Vec<_> = elephant_model::model::counters::Counter::ALL
                .iter()
                .filter_map(|of| attempts.count(row, *of))
                .collect();
            (attempts.outcome(row), points.map(|point| attempts.time(row, point)), counters)
        };
        (group.kind, group.tasks.len(), (0..attempts.len()).map(of_row).collect::<Vec<_>>())
    };
    format!(
        "{:?} {:?} {:?} {:?} {:#?} {:#?}",
        (&app.id, &app.name, &app.user, app.status, app.complete),
        app.submitted_at,
        app.launched_at,
        app.finished_at,
        tez.vertices.iter().map(of_vertex).collect::<Vec<_>>(),
        app.groups.iter().map(of_group).collect::<Vec<_>>()
    )
}

#[test]
fn all_forms_tell_the_same() {
    let groups = serde_json::json!([
        {"role": "map", "count": 3, "time": {"total_ms": 7000}, "counters": {"HDFS_BYTES_READ": 9, "OUTPUT_RECORDS": 5}},
        {"role": "reduce", "count": 2, "time": {"total_ms": 0}, "counters": {"SHUFFLE_BYTES": 4}},
        {"role": "scope", "count": 1, "time": {"total_ms": 9}, "counters": null},
    ]);
    let dag = elephant_testing::tez::Dag::of(&groups).config(&[("hive.tez.container.size", "2048")]);
    let of = |bytes: &[u8]| {
        let parsed = parse(bytes);
        assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
        assert_eq!(parsed.confs[0].1.raw("hive.tez.container.size").as_deref(), Some("2048"));
        described(&one(parsed))
    };
    let timeline = of(dag.timeline().as_bytes());
    assert!(timeline.contains("true"), "{timeline}");
    assert_eq!(of(dag.simple().as_bytes()), timeline);
    assert_eq!(of(&dag.protobuf()), timeline);
}

#[test]
fn damage_costs_records_but_never_a_wrong_number_of_tasks() {
    let groups = serde_json::json!([{"role": "map", "count": 5, "time": {"total_ms": 7000}, "counters": {}}]);
    let bytes = elephant_testing::tez::Dag::of(&groups).protobuf();
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        for app in parse(&damaged).applications {
            assert!(app.task_count() <= 5, "{at}");
        }
        let cut = parse(&bytes[..at]);
        assert!(cut.applications.iter().all(|app| !app.complete), "{at}");
    }
}
