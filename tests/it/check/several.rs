//! Several accepted runs, and several runs in the input.

use super::{Gate, healthy, on_day};

fn run(day: u32, seconds: i64) -> String {
    on_day(&healthy(40, seconds * 100), day)
}

#[test]
fn tolerance_grows_with_the_spread_of_accepted_runs() {
    let noisy: Vec<String> = (1..).zip([100, 60, 140, 90, 120, 75]).map(|(day, s)| run(day, s)).collect();
    let calm: Vec<String> = (1..).zip([100, 101, 99, 100, 102, 100]).map(|(day, s)| run(day, s)).collect();
    let (noisy, calm) = (Gate::accepting(&noisy), Gate::accepting(&calm));
    for gate in [&noisy, &calm] {
        gate.put(&[run(20, 150)]);
    }
    let (code, text) = noisy.check(&[]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = calm.check(&[]);
    assert_eq!(code, 1, "{text}");
    // Its spread is below the floor.
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("of 6 accepted runs; differences below 10 s do not count"), "{text}");
    noisy.put(&[run(20, 300)]);
    let (code, text) = noisy.check(&[]);
    assert_eq!(code, 1, "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("of 6 accepted runs, and their spread"), "{text}");
    // A value within the tolerance of a single run exceeds the spread of many similar runs.
    calm.put(&[run(20, 115)]);
    assert_eq!(calm.check(&[]).0, 1);
    let one = Gate::accepting(&[run(1, 100)]);
    one.put(&[run(20, 115)]);
    assert_eq!(one.check(&[]).0, 0);
    assert_eq!(one.check(&["--tolerance", "5"]).0, 1);
    assert_eq!(one.check(&["--tolerance", "runtime_ms=5", "--tolerance", "50%"]).0, 1);
    assert_eq!(one.check(&["--tolerance", "failed_attempts_count=5"]).0, 0);
}

#[test]
fn each_run_is_compared_and_the_worst_is_reported() {
    let gate = Gate::accepting(&[run(1, 100)]);
    gate.put(&[run(2, 100), run(3, 300), run(4, 90)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 1, "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("worst of 3 runs (application_1803000000000_0003), 1 beyond"), "{text}");
}

#[test]
fn updating_twice_is_idempotent_and_accepted_runs_pass() {
    let runs: Vec<String> = (1..=14).map(|day| run(day, 100 + i64::from(day % 5) * 8)).collect();
    let gate = Gate::accepting(&runs);
    let first = gate.baseline_text();
    assert_eq!(first.matches("- run: ").count(), 10);
    assert_eq!(gate.check(&[]).0, 0);
    gate.run(&["--update"]);
    assert_eq!(gate.baseline_text(), first);
    gate.run(&["--update", "--jobs", "1"]);
    assert_eq!(gate.baseline_text(), first);
    gate.run(&["--update", "--keep-runs", "3"]);
    assert_eq!(gate.baseline_text().matches("- run: ").count(), 3);
    assert!(gate.baseline_text().contains("keep_runs: 3"));
}

#[test]
fn accepted_regression_becomes_the_new_level() {
    let runs: Vec<String> = (1..=6).map(|day| run(day, 100)).collect();
    let gate = Gate::accepting(&runs);
    let all = [runs, vec![run(7, 200)]].concat();
    gate.put(&all);
    assert_eq!(gate.check(&[]).0, 1);
    gate.run(&["--update"]);
    let accepted = gate.baseline_text();
    assert_eq!(accepted.matches("- run: ").count(), 1, "{accepted}");
    gate.run(&["--update"]);
    assert_eq!(gate.baseline_text(), accepted, "old runs that are still in the folder are not added");
    gate.put(&[run(8, 205)]);
    assert_eq!(gate.check(&[]).0, 0);
}

#[test]
fn same_history_in_two_folders_counts_as_one_run() {
    let gate = Gate::accepting(&[run(1, 100), run(1, 100)]);
    assert_eq!(gate.baseline_text().matches("- run: ").count(), 1);
}

#[test]
fn dropped_accepted_runs_are_not_compared_again() {
    let runs: Vec<String> = (1..=13).map(|day| run(day, if day == 1 { 900 } else { 100 })).collect();
    let gate = Gate::accepting(&runs);
    let (code, report) = gate.json(&[]);
    assert_eq!(code, 0, "{:#}", report["baseline"]);
    let reasons = report["baseline"]["jobs"][0]["not_compared"].as_array().unwrap();
    let older = reasons.iter().filter(|run| run["reason"] == "it is older than the accepted runs").count();
    assert_eq!(older, 3, "{reasons:#?}");
}
