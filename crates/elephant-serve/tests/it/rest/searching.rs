//! Searches with all conditions and their parts, and the applications of users.

use serde_json::{Value, json};

use super::super::stores;
use super::{GB_HOUR, Running, TEXT, keys, of_executions, only, options, told};

fn ids(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap();
    list.iter().map(|app| app["id"].as_str().unwrap().trim_start_matches("application_1_000")).collect()
}

#[test]
fn both_searches_have_the_same_conditions() {
    let (server, _folder) = of_executions();
    for (query, wanted) in [
        ("", vec!["4", "3", "2", "1", "5"]),
        ("username=ann", vec!["3", "2", "1"]),
        ("queue-name=etl", vec!["2", "1"]),
        ("severity=2", vec!["3", "1"]),
        ("severity=0&username=bob", vec!["4"]),
        ("job-type=Spark", vec!["4", "2", "5"]),
        ("job-type=hive", vec!["1"]),
        ("job-type=Pig", vec![]),
        ("started-time-begin=1070000&started-time-end=2000000", vec!["3", "2"]),
        ("finished-time-begin=1100000&finished-time-end=2050000", vec!["3", "2"]),
        ("finished-time-end=1099999", vec!["1"]),
        // As there, a heuristic is a condition only together with a severity.
        ("analysis=nonsense", vec!["4", "3", "2", "1", "5"]),
        ("analysis=nonsense&severity=0", vec![]),
    ] {
        let answer = server.get(&format!("/rest/search?{query}"));
        if wanted.is_empty() {
            assert_eq!(told(&answer), (404, TEXT, "No records"), "{query}");
        } else {
            assert_eq!(ids(&answer.json()), wanted, "{query}");
        }
        let results = server.get(&format!("/rest/search-results?{query}")).json();
        let results = &results["search-results"];
        assert_eq!(ids(&results["summaries"]), wanted, "{query}");
        let range = json!({"id": query, "start": 0, "end": wanted.len(), "total": wanted.len()});
        assert_eq!(only(results, "id start end total"), range, "{query}");
    }
    for wrong in ["severity=5", "severity=low", "finished-time-begin=today", "page=0", "nonsense=1"] {
        assert_eq!(server.get(&format!("/rest/search?{wrong}")).status, 400, "{wrong}");
    }
}

#[test]
fn results_have_parts() {
    let (server, _folder) = of_executions();
    let part =
        |query: &str| server.get(&format!("/rest/search-results?{query}")).json()["search-results"].clone();
    let range = |found: &Value| ["start", "end", "total"].map(|key| found[key].as_u64().unwrap());
    let middle = part("offset=1&limit=2");
    assert_eq!((range(&middle), ids(&middle["summaries"])), ([1, 3, 5], vec!["3", "2"]));
    assert_eq!(middle["id"], "");
    assert_eq!(range(&part("offset=-3&limit=900")), [0, 5, 5]);
    assert_eq!(range(&part("offset=77")), [5, 5, 5]);
    assert_eq!(range(&part("job-type=Spark&offset=2&limit=2")), [2, 3, 3]);
    assert_eq!(range(&part("job-type=Hive&offset=1")), [1, 1, 1]);
    let summary = &middle["summaries"][0];
    let fields = "id username starttime finishtime runtime waittime resourceused resourcewasted severity queue \
        heuristicsummary";
    assert_eq!(keys(summary), fields.split_whitespace().collect::<Vec<_>>());
    for none in ["limit=0", "limit=-1"] {
        for route in ["search-results", "user-details"] {
            assert_eq!(server.get(&format!("/rest/{route}?{none}")).json(), json!({}), "{none}");
        }
    }
    assert_eq!(server.get("/rest/search-results?limit=many").status, 400);
}

#[test]
fn a_heuristic_is_a_condition() {
    let (place, _folder) = stores::of_histories();
    let server = Running::start(options(place));
    let found = |analysis: &str, severity: u64| {
        let query = format!("/rest/search-results?limit=500&analysis={analysis}&severity={severity}");
        server.get(&query).json()["search-results"]["total"].as_u64().unwrap()
    };
    let by_rule = |severity: &str| {
        let query = format!("/api/v1/applications?limit=1000&rule=spark-stages-with-failed-tasks{severity}");
        server.get(&query).json()["applications_count"].as_u64().unwrap()
    };
    assert!(by_rule("") > 0);
    // By Dr. Elephant's name, by the title of the rule, and by its id.
    for name in [
        "Stages%20with%20failed%20tasks",
        "Spark%20Stages%20with%20Failed%20Tasks",
        "spark-stages-with-failed-tasks",
    ] {
        assert_eq!(found(name, 0), by_rule(""), "{name}");
        assert_eq!(found(name, 3), by_rule("&severity=severe"), "{name}");
    }
}

#[test]
fn the_options_are_the_rules_and_types() {
    let (server, _folder) = of_executions();
    let options = server.get("/rest/search-options").json();
    let options = &options["search-options"];
    assert_eq!(options["id"], "search");
    let severities = ["Critical", "Severe", "Moderate", "Low", "None"].into_iter().zip((0..5).rev());
    let severities: Vec<Value> =
        severities.map(|(name, value): (&str, u64)| json!({"name": name, "value": value})).collect();
    assert_eq!(options["severities"], json!(severities));
    let [mapreduce, spark, tez] = options["jobcategory"].as_array().unwrap().as_slice() else {
        panic!("{options}")
    };
    let names = [mapreduce, spark, tez].map(|category| category["name"].as_str().unwrap());
    assert_eq!(names, ["MAPREDUCE", "SPARK", "TEZ"]);
    assert_eq!(spark["jobtypes"], json!([{"name": "Spark"}]));
    assert!(mapreduce["jobtypes"].as_array().unwrap().contains(&json!({"name": "HadoopJava"})));
    let has = |category: &Value, name: &str| {
        category["heuristics"].as_array().unwrap().contains(&json!({"name": name}))
    };
    assert!(has(mapreduce, "Shuffle & Sort") && !has(spark, "Shuffle & Sort"));
    assert!(has(spark, "Spark Executor GC") && !has(mapreduce, "Spark Executor GC"));
    // Rules on all engines are in both; those that are off are in none.
    assert!(has(mapreduce, "Wait Time") && has(spark, "Wait Time"));
    assert!(!has(mapreduce, "Job Queue Limit"));
    // What the options name can be searched for.
    let name = spark["heuristics"][0]["name"].as_str().unwrap().replace(' ', "%20");
    assert_eq!(server.get(&format!("/rest/search-results?severity=1&analysis={name}")).status, 200);
}

#[test]
fn users_have_sums_and_parts() {
    let (server, _folder) = of_executions();
    let times = "finished-time-begin=0&finished-time-end=9000000";
    let found = |query: &str| {
        server.get(&format!("/rest/user-details?usernames={query}&{times}")).json()["user-details"].clone()
    };
    let ann = found("ann");
    let wanted = json!({
        "id": "ann",
        "totalapplications": 3,
        "totaljobs": 3,
        "totalworkflows": 2,
        "resourceused": 8 * GB_HOUR,
        "resourcewasted": GB_HOUR,
        "runtime": 60_000 + 30_000 + 50_000,
        "waittime": 5_000 + 1_000 + 2_000,
        "start": 0,
        "end": 3,
        "total": 3,
    });
    let names: Vec<&str> = wanted.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(only(&ann, &names.join(" ")), wanted);
    // The least severe first, as there, unless the request says otherwise.
    for (query, order) in [
        ("ann,bob", ["2", "4", "1", "3"]),
        ("ann,bob&increasing=false", ["3", "1", "4", "2"]),
        ("ann,bob&sortKey=delay", ["4", "2", "3", "1"]),
        ("ann,bob&sortKey=finish_time&increasing=FALSE", ["4", "3", "2", "1"]),
        // Where it is unknown, they are last in both directions.
        ("ann,bob&sortKey=resourceUsed", ["3", "1", "2", "4"]),
        ("ann,bob&sortKey=resourceUsed&increasing=false", ["2", "3", "1", "4"]),
    ] {
        assert_eq!(ids(&found(query)["summaries"]), order, "{query}");
    }
    let part = found("ann,bob&offset=1&limit=2");
    assert_eq!(
        (ids(&part["summaries"]), &part["end"], &part["total"]),
        (vec!["4", "1"], &json!(3), &json!(4))
    );
    // Without a time, it is the last week.
    let none = server.get("/rest/user-details?usernames=ann").json();
    let none = only(&none["user-details"], "totalapplications resourceused total summaries");
    assert_eq!(none, json!({"totalapplications": 0, "resourceused": null, "total": 0, "summaries": []}));
    let missing = server.get("/rest/user-details");
    assert_eq!((missing.status, missing.json()), (404, json!({"user-results": {}})));
}
