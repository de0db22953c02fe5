//! What people and scripts read.

use crate::{Gate, healthy, named, on_day, skewed};

/// A gate with something of everything: new, gone, known, a new job, an absent one, and costs.
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
    insta::with_settings!({
        snapshot_path => "../../snapshots/reports/check", prepend_module_to_snapshot => false, omit_expression => true,
    }, {
        insta::assert_snapshot!("check.txt", text);
        insta::assert_snapshot!("check.json", baseline);
        insta::assert_snapshot!("updated.txt", updated);
        insta::assert_snapshot!("baseline.yaml", file);
    });
}

#[test]
fn what_is_shown_can_be_chosen_and_what_fails_does_not_depend_on_it() {
    let gate = gate();
    let (code, text) = gate.check(&["--min-severity", "critical", "--top", "1"]);
    assert_eq!(code, 1);
    assert!(!text.contains("hourly") || text.contains("not in the input"), "{text}");
    let (_, report) = gate.json(&["--top", "1"]);
    assert_eq!(report["applications"].as_array().unwrap().len(), 1);
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let gate = gate();
    let one = gate.check(&["--format", "json", "--jobs", "1"]);
    assert_eq!(one, gate.check(&["--format", "json", "--jobs", "8"]));
}
