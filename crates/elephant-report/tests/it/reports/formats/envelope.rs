//! NDJSON with an envelope: it lacks nothing that the other formats have, and a report that was cut is recognised.

use elephant_report::Format;
use serde_json::{Value, json};

use super::reports::mixed;
use super::{all, written};

fn lines(report: &str) -> Vec<Value> {
    report.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn schema() -> jsonschema::Validator {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../../../docs/ndjson.schema.json")).unwrap();
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

#[test]
fn the_envelope_has_everything_and_matches_the_schema() {
    let schema = schema();
    for report in all() {
        let lines = lines(&written(&report, Format::NdjsonEnvelope));
        for line in &lines {
            let problems: Vec<String> = schema.iter_errors(line).map(|error| error.to_string()).collect();
            assert!(problems.is_empty(), "{problems:?}: {line}");
        }
        let of_type = |name: &str| -> Vec<Value> {
            let lines = lines.iter().filter(|line| line["type"] == name).cloned();
            let without_type = |mut line: Value| {
                line.as_object_mut().unwrap().shift_remove("type");
                line
            };
            lines.map(without_type).collect()
        };
        let document: Value = serde_json::from_str(&written(&report, Format::Json)).unwrap();
        assert_eq!(lines[0]["type"], "run");
        assert_eq!(lines[0]["schema_version"], document["schema_version"]);
        assert_eq!(lines[0]["tool"], document["tool"]);
        assert_eq!(&of_type("application"), document["applications"].as_array().unwrap());
        assert_eq!(&of_type("problem"), document["problems"].as_array().unwrap());
        let [end] = of_type("end").try_into().unwrap();
        assert_eq!(end["summary"], document["summary"]);
        assert_eq!(
            end["lines"],
            json!({"applications": of_type("application").len(), "problems": of_type("problem").len()})
        );
        assert_eq!(lines.last().unwrap()["type"], "end");
    }
}

#[test]
fn the_schema_refuses_lines_of_another_form() {
    let (schema, report) = (schema(), written(&mixed(), Format::NdjsonEnvelope));
    let lines = lines(&report);
    assert_eq!(lines[0]["rules_hash"].as_str().map(str::len), Some(32));
    for line in &lines {
        for key in line.as_object().unwrap().keys() {
            let mut less = line.clone();
            less.as_object_mut().unwrap().shift_remove(key);
            assert!(!schema.is_valid(&less), "without {key}");
        }
        let mut more = line.clone();
        more["unheard_of"] = json!(1);
        assert!(!schema.is_valid(&more), "{more}");
    }
    let finding = lines.iter().find(|line| !line["findings"][0].is_null()).unwrap();
    let mut other = finding.clone();
    other["findings"][0]["severity"] = json!("catastrophic");
    assert!(!schema.is_valid(&other));
}
