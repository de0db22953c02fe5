//! The routes of Dr. Elephant's `conf/routes` that answer GET.

use serde_json::json;

use super::super::stores;
use super::of_executions;

/// A request that has an answer there, and the status that it has here; or why there is none.
const ROUTES: &[(&str, Result<u16, &str>)] = &[
    ("/", Ok(200)),
    ("/help", Ok(303)),
    ("/search", Ok(200)),
    ("/compare", Ok(200)),
    ("/flowhistory", Ok(303)),
    ("/jobhistory", Ok(303)),
    ("/newflowhistory", Ok(303)),
    ("/newjobhistory", Ok(303)),
    ("/newhelp", Ok(303)),
    ("/rest/job?id=job_1_0001", Ok(200)),
    ("/rest/jobexec?id=nightly/7/load", Ok(200)),
    ("/rest/flowexec?id=nightly/7", Ok(200)),
    ("/rest/search", Ok(200)),
    ("/rest/compare", Ok(200)),
    ("/rest/flowgraphdata?id=nightly", Ok(200)),
    ("/rest/jobgraphdata?id=none", Ok(200)),
    ("/rest/jobmetricsgraphdata?id=none", Ok(200)),
    ("/rest/flowmetricsgraphdata?id=nightly", Ok(200)),
    ("/rest/dashboard-summaries", Ok(200)),
    ("/rest/workflow-summaries?username=ann", Ok(200)),
    ("/rest/job-summaries?username=ann", Ok(200)),
    ("/rest/application-summaries?username=ann", Ok(200)),
    ("/rest/workflows?workflowid=nightly/7", Ok(200)),
    ("/rest/jobs?jobid=nightly/7/load", Ok(200)),
    ("/rest/applications?applicationid=job_1_0001", Ok(200)),
    ("/rest/search-options", Ok(200)),
    ("/rest/search-results", Ok(200)),
    ("/rest/resourceusagedatabyuser?startTime=1970-01-01&endTime=1970-01-02", Ok(200)),
    ("/rest/user-details?usernames=ann", Ok(200)),
    ("/rest/workflow-exceptions?flow-exec-url=nightly/8", Ok(200)),
    ("/rest/exception-statuses", Ok(200)),
    ("/rest/tunein?id=x", Err("nothing here tunes running jobs")),
    ("/ping", Ok(200)),
    ("/metrics", Ok(200)),
    ("/tuneinmetrics", Err("nothing here tunes running jobs")),
    ("/healthcheck", Ok(200)),
    ("/assets/x.js", Err("pages load nothing")),
    ("/new", Ok(303)),
    ("/new/x", Ok(303)),
];

#[test]
fn every_route_answers_or_is_left_out_for_a_reason() {
    let (server, _folder) = of_executions();
    for (address, wanted) in ROUTES {
        let status = server.get(address).status;
        assert_eq!(status, wanted.unwrap_or(404), "{address}");
    }
    // The description of the API is that of our own.
    let described = server.get("/api/v1/openapi.json").json();
    let paths = described["paths"].as_object().unwrap();
    assert!(paths.keys().all(|path| path.starts_with("/api/v1/")), "{paths:?}");
}

#[test]
fn a_server_is_alive_and_healthy() {
    let (server, _folder) = of_executions();
    assert_eq!(server.get("/ping").json(), json!("alive"));
    let well = json!({"healthy": true, "message": null, "error": null});
    assert_eq!(server.get("/healthcheck").json(), json!({"ingest": well, "store": well}));
}

#[test]
fn hostile_names_come_back_as_they_are() {
    let (place, _folder) = stores::hostile();
    let server = super::Running::start(super::options(place));
    let found = server.get("/rest/search?page=1").json();
    let names: Vec<&str> =
        found.as_array().unwrap().iter().map(|app| app["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), stores::HOSTILE.len());
    for text in stores::HOSTILE {
        assert!(names.contains(&text), "{text}");
        let user: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let of_user = server.get(&format!("/rest/application-summaries?username={user}")).json();
        assert_eq!(of_user["application-summaries"].as_array().unwrap().len(), 1, "{text}");
        for parameter in ["jobexec?id", "flowexec?id", "job?id", "search?flow-exec-id"] {
            let answer = server.get(&format!("/rest/{parameter}={user}"));
            assert_eq!(
                (answer.status, answer.header("content-type")),
                (404, super::TEXT),
                "{parameter} {text}"
            );
        }
    }
}
