//! Key measures are in the evidence of the rules that have them.

use std::collections::BTreeSet;

use elephant_engine::baseline::measure::value;
use elephant_engine::engine::{Options, analyze};
use elephant_ruleset::{RuleFile, RuleSet};

#[test]
fn findings_contain_the_key_measure_of_their_rule() {
    let histories = elephant_testing::root().join("testdata/heuristics");
    let on = ["mapper-side-reads", "large-scan"].map(|id| format!("rule: {id}\nenabled: true\n"));
    let on = RuleFile { name: "on".to_owned(), text: on.join("---\n") };
    let rules = RuleSet::with_files(elephant_heuristics::BUILT_IN, &[on]).unwrap();
    let report = analyze(&[histories], &rules, Options::default());
    let findings: Vec<_> = report.applications.iter().flat_map(|app| &app.findings).collect();
    let present: BTreeSet<&str> = findings
        .iter()
        .filter(|finding| value(finding).is_some())
        .map(|finding| finding.rule.as_ref())
        .collect();
    let measured = elephant_heuristics::BUILT_IN.rules().filter(|rule| rule.facts.key_measure.is_some());
    let missing: Vec<&str> = measured.map(|rule| rule.id).filter(|id| !present.contains(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
