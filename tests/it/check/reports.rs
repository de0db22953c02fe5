//! Reports for people and scripts.

use super::{Gate, healthy, named, on_day, skewed};

/// A gate with every kind of change: new, gone and known findings, a new job, a missing job, and costs.
fn gate() -> Gate {
    let accepted = [
        on_day(&healthy(40, 2_000), 1),
        named(&skewed(healthy(40, 2_000)), "hourly", 2),
        named(&healthy(8, 500), "old", 3),
    ];
    let gate = Gate::accepting(&accepted);
    gate.put(&[
        on_day(&skewed(healthy(40, 2_000)), 4),
        named(&healthy(40, 2_000), "hourly", 5),
        named(&healthy(8, 500), "weekly", 6),
    ]);
    gate
}

#[test]
fn reports() {
    let gate = gate();
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 1);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (_, json) = gate.json(&[]);
    let baseline = serde_json::to_string_pretty(&json["baseline"]).unwrap();
    let file = gate.baseline_text();
    let (code, updated) = gate.check(&["--update"]);
    assert_eq!(code, 0);
    elephant_testing::with_snapshots("reports/check", || {
        insta::assert_snapshot!("check.txt", text);
        insta::assert_snapshot!("check.json", baseline);
        insta::assert_snapshot!("updated.txt", updated);
        insta::assert_snapshot!("baseline.yaml", file);
    });
}

#[test]
fn display_options_do_not_change_what_fails() {
    let gate = gate();
    let (code, text) = gate.check(&["--min-severity", "critical", "--top", "1"]);
    assert_eq!(code, 1);
    assert!(!text.contains("hourly") || text.contains("not in the input"), "{text}");
    let (_, report) = gate.json(&["--top", "1"]);
    assert_eq!(report["applications"].as_array().unwrap().len(), 1);
}

#[test]
fn output_does_not_depend_on_the_number_of_threads() {
    let gate = gate();
    let one = gate.check(&["--format", "json", "--jobs", "1"]);
    assert_eq!(one, gate.check(&["--format", "json", "--jobs", "8"]));
}

#[test]
fn ci_formats_distinguish_new_from_accepted_findings() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    gate.put(&[on_day(&skewed(healthy(40, 2_000)), 2)]);
    let format = |format: &str| gate.check(&["--format", format]);
    let states = |sarif: &str| -> Vec<String> {
        let sarif: serde_json::Value = serde_json::from_str(sarif).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap().clone();
        results.iter().map(|result| result["baselineState"].as_str().unwrap().to_owned()).collect()
    };
    let (code, sarif) = format("sarif");
    assert_eq!(code, 0);
    assert!(!states(&sarif).is_empty() && states(&sarif).iter().all(|state| state == "unchanged"));
    let (_, junit) = format("junit");
    assert!(junit.contains("failures=\"0\"") && junit.contains("accepted by the baseline"), "{junit}");
    assert!(!junit.contains("<failure"), "{junit}");
    let (_, markdown) = format("markdown");
    assert!(markdown.contains("Passed against the baseline: nothing changed."), "{markdown}");
    gate.put(&[named(&skewed(healthy(40, 2_000)), "weekly", 3), on_day(&skewed(healthy(80, 4_000)), 4)]);
    let (code, sarif) = format("sarif");
    assert_eq!(code, 1);
    assert!(states(&sarif).iter().any(|state| state == "new"), "{sarif}");
    let (_, junit) = format("junit");
    assert!(junit.contains("<failure") && junit.contains("name=\"task_time_ms\""), "{junit}");
    let (_, markdown) = format("markdown");
    for part in [
        "**Failed** against the baseline",
        "- **NEW** spark · weekly",
        "- **WORSE** spark · nightly &lt;date&gt;",
    ] {
        assert!(markdown.contains(part), "{part} is missing in {markdown}");
    }
}
