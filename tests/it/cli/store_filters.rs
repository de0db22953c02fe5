//! `--rule` and `--sort` of `history`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::store::{histories, json, on_each_database, printed, run, text};

/// Calls a test with a filled store and the path of its histories.
fn with_store(test: impl Fn(&str, &str)) {
    on_each_database(|place| {
        let folder = histories();
        let (store, path) = (place(&folder.path().join("x.db")), text(folder.path()));
        printed(&["ingest", "--quiet", "--store", &store, &path]);
        test(&store, &path);
    });
}

/// The applications of a list, and what `value` says of each.
fn listed<T>(report: &Value, value: impl Fn(&Value) -> T) -> Vec<T> {
    let apps = report["applications"].as_array().unwrap();
    apps.iter().map(value).collect()
}

fn id(app: &Value) -> String {
    app["id"].as_str().unwrap().to_owned()
}

#[test]
fn rules_select_the_applications_with_their_findings() {
    with_store(|store, path| {
        let report = json(&["analyze", "--quiet", path]);
        let rules = ["mapper-gc", "mapper-skew"];
        let has = |app: &Value| {
            let findings = app["findings"].as_array().unwrap().iter();
            findings.clone().any(|finding| rules.iter().any(|rule| finding["rule"] == *rule))
        };
        let applications = report["applications"].as_array().unwrap().iter();
        let expected: BTreeSet<String> = applications.filter(|app| has(app)).map(id).collect();
        assert!(expected.len() > 2);
        let asked = ["history", "--store", store, "--rule", rules[0], "--rule", rules[1]];
        let answer = |more: &[&str]| json(&[&asked[..], more].concat());
        let worst = answer(&["--worst", "--top", "1000"]);
        assert_eq!(listed(&worst, id).into_iter().collect::<BTreeSet<_>>(), expected);
        assert_eq!(worst["total"]["applications_count"], expected.len());
        for question in [&[][..], &["--by", "day"], &["--by", "node"], &["--user", "*"]] {
            let total = answer(question)["total"]["applications_count"].as_u64().unwrap();
            assert!(total > 0 && total <= expected.len() as u64, "{question:?}: {total}");
        }
        let by_rule = answer(&["--by", "rule"]);
        let shown = by_rule["groups"][0]["groups"].as_array().unwrap().iter();
        assert!(shown.map(|group| group["key"].as_str().unwrap()).all(|rule| rules.contains(&rule)));
    });
}

#[test]
fn rules_that_found_nothing_are_named() {
    with_store(|store, _| {
        let told = |rule: &str| {
            let output = run(&["history", "--store", store, "--rule", rule]);
            assert_eq!(output.status.code(), Some(0));
            String::from_utf8(output.stderr).unwrap()
        };
        assert_eq!(told("mapper-gc"), "");
        assert!(told("mapper-gcc").contains("neither the store nor elephant-rs has a rule mapper-gcc"));
        assert!(told("job-queue-limit").contains("the store has no findings of job-queue-limit"));
    });
}

#[test]
fn groups_and_applications_have_the_order_that_is_asked_for() {
    with_store(|store, _| {
        let answer = |more: &[&str]| json(&[&["history", "--store", store, "--top", "1000"], more].concat());
        let worst = |sort: &str| answer(&["--worst", "--sort", sort]);
        let time = |app: &Value| std::cmp::Reverse(app["runtime_ms"].as_u64());
        assert!(listed(&worst("runtime"), time).is_sorted());
        let name = |app: &Value| (app["name"].is_null(), app["name"].as_str().map(str::to_owned));
        assert!(listed(&worst("name"), name).is_sorted());
        assert_eq!(worst("waste"), answer(&["--worst"]));
        for sort in ["saving", "severity"] {
            assert_eq!(listed(&worst(sort), id).len(), listed(&worst("waste"), id).len());
        }
        let groups = |by: &str, sort: &[&str]| {
            let answer = answer(&[&["--by", by], sort].concat());
            let groups = answer["groups"][0]["groups"].as_array().unwrap().iter();
            groups
                .map(|group| (group["key"].as_str().map(str::to_owned), group["runtime_ms"].as_u64()))
                .collect()
        };
        let keys = |groups: Vec<(Option<String>, Option<u64>)>| -> Vec<_> {
            groups.into_iter().filter_map(|(key, _)| key).collect()
        };
        assert!(keys(groups("job", &["--sort", "name"])).is_sorted());
        assert!(keys(groups("day", &["--sort", "name"])).is_sorted());
        assert!(keys(groups("day", &[])).is_sorted_by(|a: &String, b| a >= b));
        let long: Vec<_> = groups("queue", &["--sort", "runtime"]).into_iter().map(|group| group.1).collect();
        assert!(long.is_sorted_by(|a, b| a >= b));
        for (question, order) in
            [(["--by", "node"], "slowest nodes first"), (["--job", "nightly"], "in the order of time")]
        {
            let refused = run(&[&["history", "--store", store, "--sort", "name"][..], &question].concat());
            assert!(String::from_utf8_lossy(&refused.stderr).contains(order), "{question:?}");
        }
    });
}
