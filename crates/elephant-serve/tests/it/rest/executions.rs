//! Applications of executions: `/rest/job`, `/rest/jobexec`, `/rest/flowexec`, `/rest/search`, `/rest/compare`.

use serde_json::{Value, json};

use super::super::stores;
use super::{GB_HOUR, TEXT, of_executions, only, told};

/// What Dr. Elephant has of the first application, except its heuristics.
fn first() -> Value {
    json!({
        "id": "application_1_0001",
        "name": "load q1",
        "username": "ann",
        "queueName": "etl",
        "startTime": 1_000_000,
        "finishTime": 1_060_000,
        "trackingUrl": null,
        "jobType": "Hive",
        "severity": "MODERATE",
        "score": 20,
        "workflowDepth": null,
        "scheduler": "azkaban",
        "jobName": "load",
        "jobExecId": "nightly/7/load",
        "flowExecId": "nightly/7",
        "jobDefId": stores::executions()[0].job_key().as_str(),
        "flowDefId": "nightly",
        "jobExecUrl": "https://azkaban/7/load",
        "flowExecUrl": null,
        "jobDefUrl": null,
        "flowDefUrl": null,
        "resourceUsed": 2 * GB_HOUR,
        "resourceWasted": GB_HOUR,
        "totalDelay": 5_000,
    })
}

fn without_heuristics(app: &Value) -> Value {
    let mut app = app.clone();
    app.as_object_mut().unwrap().remove("yarnAppHeuristicResults").unwrap();
    app
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|app| app["id"].as_str().unwrap()).collect()
}

#[test]
fn an_application_is_found_by_each_of_its_names() {
    let (server, _folder) = of_executions();
    for id in ["job_1_0001", "application_1_0001"] {
        let app = server.get(&format!("/rest/job?id={id}&prioritize=true")).json();
        assert_eq!(without_heuristics(&app), first());
        assert_eq!(app, server.get(&format!("/rest/search?id={id}")).json());
    }
    let odd = server.get("/rest/job?id=application_1_0005").json();
    assert_eq!(odd["name"], "<odd> / \"name\" ä");
    // What is unknown is not 0; what no scheduler started is an execution of its own.
    let unknown =
        only(&odd, "username queueName startTime finishTime scheduler flowExecId resourceUsed totalDelay");
    assert!(unknown.as_object().unwrap().values().all(Value::is_null), "{unknown}");
    assert_eq!((&odd["jobExecId"], &odd["jobType"]), (&json!("application_1_0005"), &json!("Spark")));
}

#[test]
fn executions_have_their_applications() {
    let (server, _folder) = of_executions();
    let job = server.get("/rest/jobexec?id=nightly/7/load").json();
    assert_eq!(ids(&job), ["application_1_0001"]);
    assert_eq!(without_heuristics(&job[0]), first());
    assert_eq!(ids(&server.get("/rest/jobexec?id=job_1_0005").json()), ["application_1_0005"]);
    let flow = server.get("/rest/flowexec?id=nightly%2F7").json();
    assert_eq!(flow.as_object().unwrap().len(), 2);
    assert_eq!(ids(&flow["nightly/7/load"]), ["application_1_0001"]);
    assert_eq!(ids(&flow["nightly/7/join"]), ["application_1_0002"]);
    let found = server.get("/rest/search?flow-exec-id=nightly/8").json();
    assert_eq!(ids(&found), ["application_1_0004", "application_1_0003"]);
}

#[test]
fn what_is_not_there_is_told_in_its_words() {
    let (server, _folder) = of_executions();
    for (address, status, text) in [
        ("job", 400, "No job id provided."),
        ("job?id=", 400, "No job id provided."),
        ("job?id=job_9_9", 404, "Unable to find record on id: application_9_9"),
        ("search?id=job_9_9", 404, "Unable to find record on id: application_9_9"),
        ("search?flow-exec-id=x", 404, "Unable to find record on flow execution: x"),
        ("search?username=nobody", 404, "No records"),
        ("jobexec", 400, "No job exec url provided."),
        ("jobexec?id=nightly/7", 404, "Unable to find record on job exec url: nightly/7"),
        ("flowexec", 400, "No flow exec url provided."),
        ("flowexec?id=<b>", 404, "Unable to find record on flow exec url: <b>"),
    ] {
        let address = format!("/rest/{address}").replace('<', "%3C").replace('>', "%3E");
        assert_eq!(told(&server.get(&address)), (status, TEXT, text), "{address}");
    }
}

#[test]
fn two_executions_are_compared_by_job() {
    let mut apps = stores::executions();
    // A job that only the second execution ran.
    let alone = stores::app(
        "application_1_0006",
        elephant_model::model::Engine::Spark,
        Some(["nightly", "8", "mail"]),
    );
    let keys: Vec<String> = [&apps[0], &apps[1], &alone].map(|app| app.job_key().as_str().to_owned()).into();
    // The jobs of both executions have one key, whatever the names of their applications are.
    apps[3].name = Some("join".to_owned());
    apps.push(alone);
    let (place, _folder) = stores::of(apps);
    let server = super::Running::start(super::options(place));
    let compared = server.get("/rest/compare?flow-exec-id1=nightly/7&flow-exec-id2=nightly/8").json();
    assert_eq!(compared.as_object().unwrap().len(), 3);
    for (key, first, second) in [
        (&keys[0], Some("application_1_0001"), "application_1_0003"),
        (&keys[1], Some("application_1_0002"), "application_1_0004"),
        (&keys[2], None, "application_1_0006"),
    ] {
        let job = &compared[key];
        assert_eq!(job.as_object().unwrap().len(), 2, "{key}");
        assert_eq!(ids(&job["nightly/8"]), [second]);
        match first {
            Some(first) => assert_eq!(ids(&job["nightly/7"]), [first]),
            None => assert_eq!(job["nightly/7"], Value::Null),
        }
    }
    for query in ["", "?flow-exec-id1=nightly/7", "?flow-exec-id1=nightly/7&flow-exec-id2=none"] {
        assert_eq!(server.get(&format!("/rest/compare{query}")).json(), json!({}), "{query}");
    }
}
