//! What graphs are drawn from: the last executions, the first one first.

use serde_json::json;

use super::super::stores::{self, app, timed};
use super::{GB_HOUR, Running, of_executions, options};
use elephant_model::model::Engine;

#[test]
fn flows_have_the_scores_of_their_jobs() {
    let (server, _folder) = of_executions();
    let job = |score: u64, run: &str, task: &str| json!({"jobscore": score, "jobdefurl": null, "jobexecurl": format!("https://azkaban/{run}/{task}")});
    let wanted = json!([
        {"flowtime": 1_100_000, "score": 20, "jobscores": [job(20, "7", "load"), job(0, "7", "join")]},
        {"flowtime": 2_060_500, "score": 33, "jobscores": [job(30, "8", "load"), job(3, "8", "join")]},
    ]);
    assert_eq!(server.get("/rest/flowgraphdata?id=nightly").json(), wanted);
}

#[test]
fn flows_have_times_and_memory() {
    let (server, _folder) = of_executions();
    let found = server.get("/rest/flowmetricsgraphdata?id=nightly").json();
    // It waited before both applications, and between them.
    let wanted = json!({
        "flowtime": 1_100_000,
        "runtime": 100_000,
        "waittime": 1_000 + 10_000 + 5_000,
        "resourceused": 6 * GB_HOUR,
        "resourcewasted": GB_HOUR,
        "jobmetrics": [
            {
                "runtime": 60_000, "waittime": 5_000, "resourceused": 2 * GB_HOUR, "resourcewasted": GB_HOUR,
                "jobdefurl": null, "jobexecurl": "https://azkaban/7/load",
            },
            {
                "runtime": 30_000, "waittime": 1_000, "resourceused": 4 * GB_HOUR, "resourcewasted": 0,
                "jobdefurl": null, "jobexecurl": "https://azkaban/7/join",
            },
        ],
    });
    assert_eq!(found[0], wanted);
    // Waste is unknown of both applications of the other one.
    assert_eq!((&found[1]["resourceused"], &found[1]["resourcewasted"]), (&json!(2 * GB_HOUR), &json!(null)));
}

#[test]
fn jobs_have_their_applications() {
    let mut apps = stores::executions();
    // Another application of the same task, which ran at the same time.
    let mut again = timed(
        app("job_1_0009", Engine::MapReduce, Some(["nightly", "7", "load"])),
        [1_010_000, 1_050_000, 7],
    );
    (again.name, again.score) = (apps[0].name.clone(), 5);
    let key = apps[0].job_key().as_str().to_owned();
    apps.push(again);
    let (place, _folder) = stores::of(apps);
    let server = Running::start(options(place));
    let key: String = form_urlencoded::byte_serialize(key.as_bytes()).collect();
    let scores = json!([
        {
            "flowtime": 1_060_000,
            "score": 25,
            "stagescores": [
                {"stageid": "application_1_0009", "stagescore": 5},
                {"stageid": "application_1_0001", "stagescore": 20},
            ],
        },
        {"flowtime": 2_050_000, "score": 30, "stagescores": [{"stageid": "application_1_0003", "stagescore": 30}]},
    ]);
    assert_eq!(server.get(&format!("/rest/jobgraphdata?id={key}")).json(), scores);
    let metrics = server.get(&format!("/rest/jobmetricsgraphdata?id={key}")).json();
    let wanted = json!({
        "flowtime": 1_060_000,
        "runtime": 60_000,
        // The other application waited meanwhile.
        "waittime": 5_000,
        "resourceused": 2 * GB_HOUR,
        "resourcewasted": GB_HOUR,
        "jobmetrics": [
            {
                "stageid": "application_1_0001", "runtime": 60_000, "waittime": 5_000,
                "resourceused": 2 * GB_HOUR, "resourcewasted": GB_HOUR,
            },
            {
                "stageid": "application_1_0009", "runtime": 40_000, "waittime": 7,
                "resourceused": null, "resourcewasted": null,
            },
        ],
    });
    assert_eq!(metrics[0], wanted);
}

#[test]
fn graphs_have_the_last_fifteen_executions() {
    let runs = (1..=20_u64).map(|run| {
        let place = ["hourly", &*run.to_string(), "load"];
        timed(
            app(&format!("job_2_{run:04}"), Engine::MapReduce, Some(place)),
            [1_000 * run, 1_000 * run + 1, 0],
        )
    });
    let (place, _folder) = stores::of(runs.collect());
    let server = Running::start(options(place));
    let found = server.get("/rest/flowgraphdata?id=hourly").json();
    let times: Vec<u64> =
        found.as_array().unwrap().iter().map(|run| run["flowtime"].as_u64().unwrap()).collect();
    assert_eq!(times, (6..=20).map(|run| 1_000 * run + 1).collect::<Vec<_>>());
    for route in ["flowgraphdata", "jobgraphdata", "flowmetricsgraphdata", "jobmetricsgraphdata"] {
        for query in ["", "?id=", "?id=none"] {
            let answer = server.get(&format!("/rest/{route}{query}"));
            assert_eq!((answer.status, answer.json()), (200, json!([])), "{route}{query}");
        }
    }
}
