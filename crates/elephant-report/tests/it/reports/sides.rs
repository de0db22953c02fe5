//! The two ways to a side of a comparison: from an analysis in memory, and from its JSON report.

use std::path::Path;

use elephant_engine::diff::{Options as DiffOptions, Side, diff};
use elephant_engine::engine::{Options, analyze};
use elephant_report::{DiffFormat, TextOptions, write_diff, write_json};
use elephant_ruleset::RuleSet;

#[test]
fn analysis_and_its_json_report_are_the_same_side() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    for details in [false, true] {
        let testdata = elephant_testing::root().join("testdata");
        let report = analyze(&[testdata], &rules, Options { details, ..Options::default() });
        assert!(report.applications.len() > 10);
        let mut json = Vec::new();
        write_json(&report, &mut json).unwrap();
        let read = Side::parse(Path::new("report.json"), &json).unwrap();
        for (one, other) in Side::of(&report).applications.iter().zip(&read.applications) {
            assert_eq!(one, other);
        }
        assert_eq!(Side::of(&report), read);
    }
}

/// A pair of recordings whose plans differ, in all formats.
#[test]
fn plans_that_changed_are_told_in_every_format() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let plans = elephant_testing::root().join("crates/elephant-engine/tests/plans");
    let side = |name: &str| {
        let report = analyze(&[plans.join(name)], &rules, Options { details: true, ..Options::default() });
        let mut json = Vec::new();
        write_json(&report, &mut json).unwrap();
        let read = Side::parse(Path::new("report.json"), &json).unwrap();
        assert_eq!(Side::of(&report), read);
        assert!(read.applications[0].queries.len() == 3);
        read
    };
    let diff = diff(&side("broadcast.zstd"), &side("sort-merge.zstd"), DiffOptions::default());
    let written = |format: DiffFormat| {
        let mut out = Vec::new();
        write_diff(&diff, format, TextOptions { details: true, ..TextOptions::default() }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    for format in [DiffFormat::Text, DiffFormat::Markdown, DiffFormat::Html] {
        let text = written(format);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("SortMergeJoin instead of BroadcastHashJoin on c"), "{text}");
        assert!(words.contains("this may be why it slowed"), "{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&written(DiffFormat::Json)).unwrap();
    let queries = &json["pairs"][0]["queries"];
    assert_eq!((&queries["pairs_count"], &queries["only_a_count"]), (&3.into(), &0.into()));
    let changed = &queries["changed"][0];
    assert_eq!((&changed["cause"], &changed["alike_count"]), (&true.into(), &1.into()));
    assert!(changed["wall_ms"]["change_ratio"].as_f64().unwrap() > 0.5, "{changed}");
    let join = serde_json::json!({
        "change": "join", "of": "c", "what": null, "a": "BroadcastHashJoin", "b": "SortMergeJoin", "count": null,
    });
    assert_eq!(changed["changes"][0], join);
}
