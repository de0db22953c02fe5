//! The last applications, jobs and flows, and the severities of the last day.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::super::stores::{self, app, timed};
use super::{GB_HOUR, Running, of_executions, only, options};
use elephant_base::severity::Severity;
use elephant_model::model::Engine;

fn list<'a>(answer: &'a Value, key: &str) -> &'a [Value] {
    answer[key].as_array().unwrap()
}

fn ids(list: &[Value]) -> Vec<&str> {
    list.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[test]
fn applications_have_their_heuristics() {
    let (server, _folder) = of_executions();
    let answer = server.get("/rest/application-summaries?username=ann").json();
    let found = list(&answer, "application-summaries");
    assert_eq!(ids(found), ["application_1_0003", "application_1_0002", "application_1_0001"]);
    let mut last = found[2].clone();
    let rules = last.as_object_mut().unwrap().remove("heuristicsummary").unwrap();
    let wanted = json!({
        "id": "application_1_0001",
        "username": "ann",
        "jobname": "load",
        "jobtype": "Hive",
        "starttime": 1_000_000,
        "finishtime": 1_060_000,
        "runtime": 60_000,
        "waittime": 5_000,
        "resourceused": 2 * GB_HOUR,
        "resourcewasted": GB_HOUR,
        "queue": "etl",
        "severity": "Moderate",
    });
    assert_eq!(last, wanted);
    let rules = rules.as_array().unwrap();
    assert!(rules.contains(&json!({"name": "Mapper Skew", "severity": "None"})), "{rules:?}");
    assert!(!rules.iter().any(|rule| rule["name"].as_str().unwrap().starts_with("Spark")), "{rules:?}");
    let all = server.get("/rest/application-summaries").json();
    // Those whose end is unknown are last.
    assert_eq!(ids(list(&all, "application-summaries"))[4], "application_1_0005");
    assert_eq!(
        server.get("/rest/application-summaries?username=x").json(),
        json!({"application-summaries": []})
    );
}

#[test]
fn jobs_and_flows_have_sums() {
    let (server, _folder) = of_executions();
    let jobs = server.get("/rest/job-summaries").json();
    let jobs = list(&jobs, "job-summaries");
    assert_eq!(ids(jobs), ["nightly/8/join", "nightly/8/load", "nightly/7/join", "nightly/7/load"]);
    let wanted = json!({
        "id": "nightly/7/load",
        "jobname": "load",
        "jobtype": "Hive",
        "username": "ann",
        "starttime": 1_000_000,
        "finishtime": 1_060_000,
        "runtime": 60_000,
        "waittime": 5_000,
        "resourceused": 2 * GB_HOUR,
        "resourcewasted": GB_HOUR,
        "queue": "etl",
        "scheduler": "azkaban",
        "severity": "Moderate",
        "jobdefid": stores::executions()[0].job_key().as_str(),
        "jobexecid": "nightly/7/load",
        "tasksseverity": [{"severity": "Moderate", "count": 1}],
    });
    assert_eq!(jobs[3], wanted);
    let flows = server.get("/rest/workflow-summaries").json();
    let flows = list(&flows, "workflow-summaries");
    assert_eq!(ids(flows), ["nightly/8", "nightly/7"]);
    let wanted = json!({
        "id": "nightly/7",
        "username": "ann",
        "starttime": 1_000_000,
        "finishtime": 1_100_000,
        "runtime": 100_000,
        "waittime": 16_000,
        "resourceused": 6 * GB_HOUR,
        "resourcewasted": GB_HOUR,
        "queue": "etl",
        "severity": "Moderate",
        "scheduler": "azkaban",
        "flowexecid": "nightly/7",
        "flowdefid": "nightly",
        "jobsseverity": [{"severity": "Moderate", "count": 1}, {"severity": "None", "count": 1}],
    });
    assert_eq!(flows[1], wanted);
    // Only what the user ran is in the sums.
    let of_bob = server.get("/rest/workflow-summaries?username=bob").json();
    let of_bob = list(&of_bob, "workflow-summaries");
    let wanted = json!({"id": "nightly/8", "username": "bob", "severity": "Low", "resourceused": null});
    assert_eq!(only(&of_bob[0], "id username severity resourceused"), wanted);
    assert_eq!(server.get("/rest/job-summaries?username=x").json(), json!({"job-summaries": []}));
}

#[test]
fn the_severities_of_the_last_day_are_counted() {
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let hour = 3_600_000;
    let at = |number: usize, hours: u64, severity: Severity| {
        let app = app(&format!("job_3_{number:04}"), Engine::MapReduce, None);
        let mut app = timed(app, [now - (hours + 1) * hour, now - hours * hour, 0]);
        app.severity = severity;
        app
    };
    let mut apps: Vec<_> =
        Severity::ALL.iter().enumerate().map(|(number, severity)| at(number, 2, *severity)).collect();
    apps.push(at(7, 3, Severity::Critical));
    apps.push(at(8, 25, Severity::Critical));
    let (place, _folder) = stores::of(apps);
    let server = Running::start(options(place));
    let wanted = json!({
        "dashboard-summaries": {
            "id": "dashboard", "total": 6, "critical": 2, "severe": 1, "moderate": 1, "low": 1, "none": 1,
        },
    });
    assert_eq!(server.get("/rest/dashboard-summaries").json(), wanted);
}
