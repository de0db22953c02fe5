//! Why jobs of flows failed.

use serde_json::json;

use super::super::stores::{self, app};
use super::{Running, TEXT, of_executions, options, told};
use elephant_engine::engine::{self, Options};
use elephant_heuristics::BUILT_IN;
use elephant_model::model::{Engine, Status};
use elephant_ruleset::RuleSet;

#[test]
fn jobs_that_failed_have_the_kinds_of_their_failures() {
    let rules = RuleSet::new(BUILT_IN).unwrap();
    let path = elephant_testing::root().join("testdata/spark/3.5.9/execkill");
    let read = engine::analyze(&[path], &rules, Options::default());
    let mut failed = read.applications.into_iter().next().unwrap();
    let place = |task| app("", Engine::Spark, Some(["nightly", "9", task])).identity;
    (failed.identity, failed.status) = (place("join"), Status::Failed);
    let causes: Vec<String> = failed
        .troubles
        .iter()
        .filter_map(|trouble| Some(format!("{}: {}", trouble.failure.as_ref()?.kind.name(), trouble.cause)))
        .collect();
    assert!(!causes.is_empty());
    let id = failed.id.clone();
    let mut load = app("job_1_0007", Engine::MapReduce, Some(["nightly", "9", "load"]));
    load.status = Status::Failed;
    let mut killed = app("job_1_0008", Engine::MapReduce, Some(["nightly", "9", "mail"]));
    killed.status = Status::Killed;
    let fine = app("job_1_0009", Engine::MapReduce, Some(["nightly", "9", "fine"]));
    let (place, _folder) = stores::of(vec![failed, load, killed, fine]);
    let server = Running::start(options(place));
    let wanted = json!({
        "workflow-exceptions": [
            {
                "name": "join",
                "type": "SPARK",
                "id": "join",
                "applications": [{"name": id, "exceptionSummary": causes.join("\n"), "tasks": []}],
                "status": "failed",
            },
            {
                "name": "load",
                "type": "MR",
                "id": "load",
                "applications": [{"name": "application_1_0007", "exceptionSummary": null, "tasks": []}],
                "status": "failed",
            },
            {"name": "mail", "type": "KILL", "id": "mail", "exceptionSummary": null, "status": "failed"},
        ],
    });
    let found = server.get("/rest/workflow-exceptions?flow-exec-url=nightly/9");
    assert_eq!(found.json(), wanted);
    assert_eq!(
        server.get("/rest/workflow-exceptions?flow-exec-url=nightly/9&scheduler=azkaban").json(),
        wanted
    );
}

#[test]
fn schedulers_are_those_of_the_store() {
    let (server, _folder) = of_executions();
    let statuses = json!({
        "exception-statuses": {
            "exceptionenabled": "true", "schedulers": [{"name": "azkaban"}], "id": "exception-status",
        },
    });
    assert_eq!(server.get("/rest/exception-statuses").json(), statuses);
    let other = server.get("/rest/workflow-exceptions?flow-exec-url=nightly/8&scheduler=oozie");
    assert_eq!(told(&other), (503, TEXT, "Service is currently unavailable"));
    let nothing = json!({"workflow-exceptions": []});
    let unnamed = server.get("/rest/workflow-exceptions");
    assert_eq!((unnamed.status, unnamed.json()), (404, nothing.clone()));
    let unknown = server.get("/rest/workflow-exceptions?flow-exec-url=none");
    assert_eq!((unknown.status, unknown.json()), (200, nothing));
    let (place, _folder) = stores::of(Vec::new());
    let empty = Running::start(options(place)).get("/rest/exception-statuses").json();
    let wanted = json!({"exceptionenabled": "false", "schedulers": [], "id": "exception-status"});
    assert_eq!(empty["exception-statuses"], wanted);
}
