//! The two ways to a side of a comparison: from an analysis in memory, and from its JSON report.

use std::path::Path;

use elephant_engine::diff::Side;
use elephant_engine::engine::{Options, analyze};
use elephant_report::write_json;
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
