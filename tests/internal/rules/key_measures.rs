//! Key measures are in the evidence of the rules that have them.

use std::collections::BTreeSet;

use elephant_rs::baseline::measure::value;
use elephant_rs::engine::{Options, analyze};
use elephant_rs::heuristics;
use elephant_rs::rules::RuleSet;

#[test]
fn findings_contain_the_key_measure_of_their_rule() {
    let histories = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/heuristics");
    let report = analyze(&[histories], &RuleSet::built_in().unwrap(), Options::default());
    let findings: Vec<_> = report.applications.iter().flat_map(|app| &app.findings).collect();
    let present: BTreeSet<&str> = findings
        .iter()
        .filter(|finding| value(finding).is_some())
        .map(|finding| finding.rule.as_ref())
        .collect();
    let measured = heuristics::all().filter(|rule| rule.facts.key_measure.is_some());
    let missing: Vec<&str> = measured.map(|rule| rule.id).filter(|id| !present.contains(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
