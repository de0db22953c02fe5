//! What the tools answer is what the commands print.

use elephant_base::limits::Limits;
use elephant_engine::diff::{self, Side};
use elephant_engine::engine::{Filter, Options, Progress, analyze_by};
use elephant_engine::results::Report;
use elephant_engine::survey;
use elephant_engine::whatif::{Change, Settings, report_with};
use elephant_input::named::Named;
use elephant_report::whatif::{WhatIfFormat, write};
use elephant_report::{Format, TextOptions};
use elephant_verdict::troubles::Basis;
use serde_json::{Value, json};

use super::client::Client;
use super::library::{of_histories, rules, testdata};

const FAILED: (&str, &str) = ("app-20261121090043-0000", "spark/3.5.9/failures");
const QUERIES: (&str, &str) = ("app-20261121100649-0000", "spark/3.5.9/gc");
const SKEW: (&str, &str) = ("app-20261121094318-0000", "spark/3.5.9/skew");
const KILLED: (&str, &str) = ("app-20261121094226-0000", "spark/3.5.9/execkill");

fn analysis(path: &str) -> Report {
    let (rules, paths) = (rules(), [testdata(path)]);
    let basis = Basis { rules: &rules, prices: None };
    let options = Options { details: true, ..Options::default() };
    analyze_by(Named::from(paths.as_slice()), basis, &options, &Progress::default())
}

fn json_report(path: &str) -> Value {
    let mut written = Vec::new();
    elephant_report::write(&analysis(path), Format::Json, TextOptions::default(), &mut written).unwrap();
    let report: Value = serde_json::from_slice(&written).unwrap();
    report["applications"][0].clone()
}

/// Whether a number is the other one with six digits.
fn is_same(told: &Value, whole: &Value) -> bool {
    let (told, whole) = (told.as_f64().unwrap(), whole.as_f64().unwrap());
    (told - whole).abs() <= 1e-5 * whole.abs()
}

#[test]
fn diagnose_has_the_troubles_of_analyze() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    for (id, path) in [FAILED, KILLED] {
        let expected = json_report(path);
        let told = client.all("diagnose", &json!({ "application": id }), "troubles");
        assert_eq!(told.len(), expected["troubles"].as_array().unwrap().len());
        for (told, expected) in told.iter().zip(expected["troubles"].as_array().unwrap()) {
            for key in ["id", "kind", "cause", "severity", "confidence"] {
                assert_eq!(told[key], expected[key], "{id}");
            }
            let (told, expected) = (&told["savings"], &expected["savings"]);
            assert_eq!(told["status"], expected["status"], "{id}");
            for key in ["alone", "at_most"].into_iter().filter(|key| expected[key].is_object()) {
                for end in ["low", "point", "high"] {
                    let (told, expected) = (&told[key]["wall_ms"][end], &expected[key]["wall_ms"][end]);
                    assert!(is_same(told, expected), "{id}: {told} {expected}");
                }
            }
        }
        let configuration = client.all("diagnose", &json!({ "application": id }), "configuration");
        let recommended = expected["recommended_configuration"].as_array().unwrap();
        let settings =
            |list: &[Value]| -> Vec<Value> { list.iter().map(|it| it["setting"].clone()).collect() };
        assert_eq!(settings(&configuration), settings(recommended));
    }
}

#[test]
fn evidence_has_the_numbers_of_analyze() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let (id, path) = FAILED;
    for finding in json_report(path)["findings"].as_array().unwrap() {
        let wanted = json!({ "application": id, "rule": finding["rule"], "subject": finding["subject"] });
        let measured = client.all("evidence", &wanted, "measured");
        assert_eq!(measured.len(), finding["evidence"].as_object().unwrap().len());
        for measured in measured {
            let expected = &finding["evidence"][measured["key"].as_str().unwrap()];
            if expected.is_number() {
                assert!(is_same(&measured["value"], expected), "{measured} {expected}");
            } else if expected.as_str().is_some_and(|text| text.len() < 200) {
                assert_eq!(&measured["value"], expected);
            }
        }
    }
}

#[test]
fn whatif_predicts_what_the_command_does() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let (id, path) = KILLED;
    let change = Change { executors: Some(8), ..Change::default() };
    let (rules, paths) = (rules(), [testdata(path)]);
    let basis = Basis { rules: &rules, prices: None };
    let named = Named::from(paths.as_slice());
    let settings = Settings { changes: vec![change] };
    let report =
        report_with(named, basis, &settings, &Filter::default(), &Limits::default(), &Progress::default());
    let mut written = Vec::new();
    write(&report, WhatIfFormat::Json, TextOptions::default(), None, &mut written).unwrap();
    let expected: Value = serde_json::from_slice(&written).unwrap();
    let replay = &expected["applications"][0]["replay"];
    let told = client.told("whatif", &json!({ "application": id, "executors": 8 })).structured;
    assert_eq!(told["now"]["replayed_ms"], replay["replayed_ms"]);
    let (told, expected) = (&told["scenarios"][0], &replay["scenarios"][0]);
    assert_eq!((&told["status"], &told["change"]["executors_count"]), (&expected["status"], &json!(8)));
    assert!(is_same(&told["takes"]["wall_ms"]["point"], &expected["takes"]["wall_ms"]["point"]));
}

#[test]
fn compare_has_the_figures_of_diff() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let sides = [FAILED, KILLED].map(|(_, path)| Side::of(&analysis(path)));
    let expected = diff::diff(&sides[0], &sides[1], diff::Options::default());
    let pair = &expected.pairs[0];
    let wanted = json!({ "a": FAILED.0, "b": KILLED.0 });
    let figures = client.all("compare", &wanted, "figures");
    let keys: Vec<&str> = figures.iter().map(|figure| figure["key"].as_str().unwrap()).collect();
    assert_eq!(keys, pair.figures.iter().map(|figure| figure.key.as_str()).collect::<Vec<_>>());
    let findings = client.all("compare", &wanted, "findings");
    let changed = pair.findings.iter().filter(|finding| finding.moved != diff::Move::Same).count();
    assert_eq!(findings.len(), changed);
    let settings = client.all("compare", &wanted, "settings");
    assert_eq!(settings.len(), pair.configuration.as_ref().unwrap().settings.len());
    // A run does not differ from itself.
    let same = client.told("compare", &json!({ "a": FAILED.0, "b": FAILED.0 })).structured;
    assert_eq!((&same["settings"], &same["findings"]), (&json!([]), &json!([])));
}

#[test]
fn queries_have_the_figures_of_analyze() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let (id, path) = QUERIES;
    let expected = json_report(path);
    let whole = expected["queries"].as_array().unwrap();
    let told = client.all("queries", &json!({ "application": id }), "queries");
    assert_eq!(told.len(), whole.len());
    let time = |query: &Value| query["task_time_ms"].as_u64().unwrap_or_default();
    let all: u64 = whole.iter().map(time).sum();
    assert!(all > 0);
    let mut before = u64::MAX;
    for query in &told {
        let expected = whole.iter().find(|expected| expected["id"] == query["id"]).unwrap();
        for key in ["wall", "input_bytes", "shuffle_write_bytes", "error"] {
            assert_eq!(query[key], expected[key], "{key}");
        }
        assert!(time(expected) <= before, "the most expensive query is first");
        before = time(expected);
        if let Some(share) = query["task_time_percent"].as_f64() {
            let expected = 100.0 * time(expected) as f64 / all as f64;
            assert!((share - expected).abs() < 1e-3, "{share} {expected}");
        }
    }
    // Only those with a word, whatever its case.
    let word = whole[0]["operators"][0]["name"].as_str().unwrap().to_uppercase();
    let some = client.all("queries", &json!({ "application": id, "contains": word }), "queries");
    assert!(some.iter().any(|query| query["id"] == whole[0]["id"]) && some.len() <= whole.len());
    let none = client.told("queries", &json!({ "application": id, "contains": "no such table" })).structured;
    assert_eq!((&none["queries_count"], &none["queries"]), (&json!(0), &json!([])));
}

#[test]
fn stragglers_are_those_of_the_command() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let mut seen = 0;
    for (id, path) in [SKEW, KILLED] {
        let paths = [testdata(path)];
        let settings = survey::Settings::default();
        let report = survey::report(&paths, &settings, None);
        let app = report.applications.iter().find(|app| app.id == id).unwrap();
        let told = client.told("stragglers", &json!({ "application": id })).structured;
        assert_eq!(told["tasks_count"], app.judged());
        assert_eq!(told["stragglers_count"], app.stragglers());
        assert_eq!(told["only_stragglers_left_ms"], app.delay.get());
        assert_eq!(told["copies"]["copies_count"], app.copies.launched);
        let listed = client.all("stragglers", &json!({ "application": id }), "stragglers");
        assert_eq!(listed.len() as u64, app.stragglers());
        let detectors = client.all("stragglers", &json!({ "application": id }), "detectors");
        assert_eq!(detectors.len(), report.total.engines[0].detectors.len());
        seen += listed.len();
    }
    assert!(seen > 0, "no history has stragglers");
}

#[test]
fn stages_get_other_numbers_of_tasks() {
    let (options, _folder) = of_histories();
    let mut client = Client::start(options);
    let wanted = json!({ "application": KILLED.0, "partitions": [{ "stage": 0, "tasks_count": 64 }] });
    let told = client.told("whatif", &wanted).structured;
    assert_eq!(
        told["scenarios"][0]["change"]["partitions"],
        json!([{ "stage": 0, "tasks_count": 64 }]),
        "{told}"
    );
    let none = json!({ "application": KILLED.0, "partitions": [{ "stage": 0, "tasks_count": 0 }] });
    assert!(client.fails("whatif", &none).contains("tasks_count"));
}
