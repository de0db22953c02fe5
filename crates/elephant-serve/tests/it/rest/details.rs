//! One execution of a flow, one of a job, and one application.

use serde_json::{Value, json};

use super::super::stores;
use super::{GB_HOUR, Running, keys, of_executions, options};

#[test]
fn a_flow_has_its_jobs() {
    let (server, _folder) = of_executions();
    let answer = server.get("/rest/workflows?workflowid=nightly/8").json();
    let job = |name: &str, kind: Value, user: &str, [start, finish]: [u64; 2], severity: &str| {
        let wait = if name == "load" { 2_000 } else { 0 };
        let used = if name == "load" { json!(2 * GB_HOUR) } else { Value::Null };
        json!({
            "id": format!("nightly/8/{name}"),
            "jobname": name,
            "jobtype": kind,
            "username": user,
            "starttime": start,
            "finishtime": finish,
            "runtime": finish - start,
            "waittime": wait,
            "resourceused": used,
            "resourcewasted": null,
            "queue": null,
            "scheduler": "azkaban",
            "severity": severity,
            "tasksseverity": [{"severity": severity, "count": 1}],
        })
    };
    let wanted = json!({
        "workflows": {
            "id": "nightly/8",
            "username": "bob",
            "starttime": 2_000_000,
            "finishtime": 2_060_500,
            "runtime": 60_500,
            "waittime": 12_000,
            "resourceused": 2 * GB_HOUR,
            "resourcewasted": null,
            "severity": "Severe",
            "flowexecid": "nightly/8",
            "flowdefid": "nightly",
            "queue": null,
            "scheduler": "azkaban",
            "jobssummaries": [
                job("join", json!("Spark"), "bob", [2_060_000, 2_060_500], "Low"),
                job("load", Value::Null, "ann", [2_000_000, 2_050_000], "Severe"),
            ],
            "jobsseverity": [{"severity": "Severe", "count": 1}, {"severity": "Low", "count": 1}],
        },
    });
    assert_eq!(answer, wanted);
}

#[test]
fn a_job_has_its_applications() {
    let (server, _folder) = of_executions();
    let mut answer = server.get("/rest/jobs?jobid=nightly/7/load").json();
    let tasks = answer["jobs"].as_object_mut().unwrap().remove("taskssummaries").unwrap();
    let wanted = json!({
        "jobs": {
            "id": "nightly/7/load",
            "username": "ann",
            "jobname": "load",
            "jobtype": "Hive",
            "starttime": 1_000_000,
            "finishtime": 1_060_000,
            "runtime": 60_000,
            "waittime": 5_000,
            "resourceused": 2 * GB_HOUR,
            "resourcewasted": GB_HOUR,
            "severity": "Moderate",
            "jobexecid": "nightly/7/load",
            "jobdefid": stores::executions()[0].job_key().as_str(),
            "flowexecid": "nightly/7",
            "flowdefid": "nightly",
            "queue": "etl",
            "scheduler": "azkaban",
            "cluster": "None",
            "tasksseverity": [{"severity": "Moderate", "count": 1}],
        },
    });
    assert_eq!(answer, wanted);
    let fields = "id username starttime finishtime runtime waittime resourceused resourcewasted severity queue \
        heuristicsummary";
    let [task] = tasks.as_array().unwrap().as_slice() else { panic!("{tasks}") };
    assert_eq!(keys(task), fields.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn an_application_has_its_findings() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let id = "app-20261121094226-0000";
    let app = server.get(&format!("/rest/applications?applicationid={id}")).json();
    let app = &app["applications"];
    let fields = "id username jobtype mapreducejobname starttime finishtime runtime waittime resourceused \
        resourcewasted severity trackingurl jobexecid jobdefid flowexecid flowdefid queue yarnappheuristicresults";
    assert_eq!(keys(app), fields.split_whitespace().collect::<Vec<_>>());
    assert_eq!((&app["id"], &app["jobtype"], &app["jobexecid"]), (&json!(id), &json!("Spark"), &json!(id)));
    // The same rules as in the answer on the job, by the other names of severities.
    let job = server.get(&format!("/rest/job?id={id}")).json();
    let other = job["yarnAppHeuristicResults"].as_array().unwrap();
    let results = app["yarnappheuristicresults"].as_array().unwrap();
    assert_eq!(results.len(), other.len());
    for (result, other) in results.iter().zip(other) {
        assert_eq!(result["name"], other["heuristicName"]);
        let severity = result["severity"].as_str().unwrap();
        assert_eq!(severity.to_uppercase(), other["severity"].as_str().unwrap());
        assert_eq!(result["details"], other["yarnAppHeuristicResultDetails"]);
    }
    let found = server.get(&format!("/api/v1/applications/{id}")).json();
    let of = |rule: &str| {
        let findings = found["applications"][0]["findings"].as_array().unwrap();
        findings.iter().filter(|finding| finding["rule"] == rule).count()
    };
    let failed = results.iter().find(|result| result["name"] == "Spark Stages with Failed Tasks").unwrap();
    assert_eq!(failed["details"].as_array().unwrap().len(), of("spark-stages-with-failed-tasks"));
}

#[test]
fn what_is_not_there_is_an_empty_object() {
    let (server, _folder) = of_executions();
    for (route, parameter) in
        [("workflows", "workflowid"), ("jobs", "jobid"), ("applications", "applicationid")]
    {
        for query in
            ["", &format!("?{parameter}="), &format!("?{parameter}=none"), &format!("?{parameter}=a/b/c/d")]
        {
            let answer = server.get(&format!("/rest/{route}{query}"));
            assert_eq!(
                (answer.status, answer.header("content-type")),
                (404, "application/json"),
                "{route}{query}"
            );
            assert_eq!(answer.json(), json!({route: {}}), "{route}{query}");
        }
    }
}
