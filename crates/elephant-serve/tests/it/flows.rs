//! Flows of schedulers over engines.

use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
use elephant_engine::results::ApplicationReport;
use elephant_model::model::{Engine, Status};
use elephant_ruleset::JobIdentity;
use elephant_store::{Place, Store};
use serde_json::json;
use tempfile::TempDir;

use super::client::{Running, options};
use super::stores;

const HOUR: i64 = 3_600_000;

/// An application of a task in a run of a flow, which began after so many hours and took one.
fn app(number: u8, engine: Engine, (run, task): (Option<&str>, &str), hours: i64) -> ApplicationReport {
    let mut app = ApplicationReport::blank(&format!("app_{number}"));
    app.engine = engine;
    app.name = Some(task.to_owned());
    app.user = Some("alice".to_owned());
    app.sources = vec![format!("{number}.log")];
    app.status = if number == 4 { Status::Killed } else { Status::Succeeded };
    app.submitted_at = Some(Timestamp::from_millis(hours * HOUR));
    app.finished_at = Some(Timestamp::from_millis((hours + 1) * HOUR));
    app.metrics.run_time = Some(Millis::from_secs(3600));
    app.metrics.used = Some(MbMillis::of(Bytes::from_mib(1024 * u64::from(number)), Millis::from_secs(3600)));
    app.identity = Some(JobIdentity {
        scheduler: "airflow".to_owned(),
        flow: Some("etl/nightly?".to_owned()),
        run: run.map(str::to_owned),
        task: Some(task.to_owned()),
        owner: Some("team-a".to_owned()),
        link: Some(format!("https://airflow.example/{number}")),
        ..JobIdentity::default()
    });
    app
}

/// Two runs of a flow, each with a query of Hive and a job of Spark, one run without a name, and another application.
fn of_a_flow() -> (Place, TempDir) {
    let apps = vec![
        app(1, Engine::MapReduce, (Some("run 1"), "query"), 0),
        app(2, Engine::Spark, (Some("run 1"), "load"), 2),
        app(3, Engine::MapReduce, (Some("run 2"), "query"), 24),
        app(4, Engine::Spark, (Some("run 2"), "load"), 25),
        app(5, Engine::Spark, (None, "load"), 48),
        ApplicationReport::blank("alone"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let place = stores::place(&folder);
    Store::create(&place).unwrap().fill(apps.into_iter(), 10).unwrap();
    (place, folder)
}

const FLOW: &str = "/flow/etl%2Fnightly%3F";

#[test]
fn applications_of_two_engines_are_one_execution() {
    let (place, _folder) = of_a_flow();
    let server = Running::start(options(place));
    let flow = server.get("/api/v1/flows/etl%2Fnightly%3F").json();
    assert_eq!((&flow["executions_count"], &flow["jobs_count"]), (&json!(3), &json!(2)));
    assert_eq!((&flow["scheduler"], &flow["link"]), (&json!("airflow"), &json!("https://airflow.example/5")));
    let of = |at: usize, key: &str| flow["executions"][at][key].clone();
    // The last one first. Its run is not known, but its day is.
    assert_eq!((of(0, "run"), of(0, "day")), (json!(null), json!("1970-01-03")));
    assert_eq!(
        (of(1, "run"), of(1, "applications_count"), of(1, "killed_count")),
        (json!("run 2"), json!(2), json!(1))
    );
    assert_eq!((of(1, "runtime_ms"), of(2, "runtime_ms")), (json!(2 * HOUR), json!(3 * HOUR)));
    assert_eq!((of(1, "resource_used_gb_hours"), of(2, "resource_used_gb_hours")), (json!(7.0), json!(3.0)));
    assert_eq!(flow["total"]["applications_count"], 5);
    assert_eq!(server.get("/api/v1/flows/none").status, 404);
    // In parts.
    let one = server.get("/api/v1/flows/etl%2Fnightly%3F?limit=1").json();
    assert_eq!((one["executions"].as_array().map(Vec::len), &one["executions_count"]), (Some(1), &json!(3)));
    let keys = |by: &str| {
        let sums = server.get(&format!("/api/v1/groups/{by}")).json();
        let groups = sums["groups"][0]["groups"].as_array().unwrap().clone();
        groups.into_iter().map(|group| group["key"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(keys("flow"), [json!("etl/nightly?"), json!(null)]);
    assert_eq!(keys("owner"), [json!("team-a"), json!(null)]);
}

#[test]
fn an_execution_has_its_tasks_and_is_compared_with_another() {
    let (place, _folder) = of_a_flow();
    let server = Running::start(options(place));
    let page = server.get(FLOW).body;
    for text in ["run 1", "run 2", "of 1970-01-03", "Its last run in airflow", "with the one before"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let link = format!("href=\"{FLOW}?run=run%202&#38;with=run%201\"");
    assert!(page.contains(&link), "{page}");
    assert!(page.contains("/search?flow=etl%2Fnightly%3F&#38;from=1970-01-03&#38;to=1970-01-04"), "{page}");
    let execution = server.get(&format!("{FLOW}?run=run%202"));
    assert_eq!(execution.status, 200);
    for text in ["app_3", "app_4", "0 failed, 1 killed, 0 not judged", "query", "load"] {
        assert!(execution.body.contains(text), "{text}: {}", execution.body);
    }
    assert!(!execution.body.contains("app_1"));
    let two = server.get(&format!("{FLOW}?run=run%202&with=run%201"));
    assert_eq!(two.status, 200);
    assert!(two.body.contains("2 jobs"), "{}", two.body);
    for (path, status) in [
        (format!("{FLOW}?with=run%201"), 400),
        (format!("{FLOW}?run=run%209"), 404),
        (format!("{FLOW}?run=run%202&with=run%209"), 404),
        ("/flow/none".to_owned(), 404),
        (format!("{FLOW}?from=1970-01-04"), 404),
    ] {
        assert_eq!(server.get(&path).status, status, "{path}");
    }
    // From an application to its execution, and to its scheduler.
    let page = server.get("/application/app_3").body;
    assert!(page.contains(&format!("href=\"{FLOW}?run=run%202\"")), "{page}");
    assert!(page.contains("href=\"https://airflow.example/3\""), "{page}");
    assert!(!server.get("/application/alone").body.contains("/flow/"));
}

#[test]
fn applications_are_found_by_flow_and_owner() {
    let (place, _folder) = of_a_flow();
    let server = Running::start(options(place));
    let count = |query: &str| {
        server.get(&format!("/api/v1/applications?{query}")).json()["applications_count"].as_u64().unwrap()
    };
    for (query, expected) in [
        ("flow=etl*", 5),
        ("flow=etl%2Fnightly%3F", 5),
        ("flow=none", 0),
        ("owner=team-*", 5),
        ("owner=team-b", 0),
        ("q=nightly", 5),
        ("flow=etl*&status=killed", 1),
        ("ended_from=1970-01-02&ended_to=1970-01-03", 2),
        ("ended_from=1970-01-03T00:30:00Z", 1),
        ("ended_to=1970-01-01T02:00:00Z", 1),
    ] {
        assert_eq!(count(query), expected, "{query}");
    }
    let summary = |query: &str| {
        server.get(&format!("/api/v1/summary?{query}")).json()["total"]["applications_count"].clone()
    };
    assert_eq!((summary("flow=etl*"), summary("owner=x"), summary("")), (json!(5), json!(0), json!(6)));
}
