//! Runs that read more than the accepted run.

use super::{Gate, healthy, on_day, spread};
use elephant_testing::spark_log::App;

#[test]
fn more_input_explains_higher_costs() {
    let reading = |megabytes: u64, ms: i64| {
        let mut app = healthy(40, ms);
        for task in app.jobs.iter_mut().flat_map(|job| &mut job.stages[0].tasks) {
            task.metrics.push(("Input Metrics.Bytes Read", megabytes << 20));
        }
        app
    };
    let gate = Gate::accepting(&[on_day(&reading(10, 4_000), 1)]);
    gate.put(&[on_day(&reading(20, 8_000), 2)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 0, "{text}");
    gate.put(&[on_day(&reading(10, 8_000), 2)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 1, "{text}");
}

/// An application of a stage that reads a small table and of one that reads a large table, with the megabytes and
/// milliseconds of a task of each.
fn joining(small: (u64, i64), large: (u64, i64)) -> App {
    let mut app = healthy(40, 1_000);
    for (job, (megabytes, ms)) in app.jobs.iter_mut().zip([small, large]) {
        job.stages[0].tasks = spread(40, ms);
        for task in &mut job.stages[0].tasks {
            task.metrics.push(("Input Metrics.Bytes Read", megabytes << 20));
        }
    }
    app
}

#[test]
fn only_the_stage_that_read_more_may_take_longer() {
    let gate = Gate::accepting(&[on_day(&joining((1, 100), (2, 4_000)), 1)]);
    let arguments = ["--tolerance", "0", "--min-severity", "none"];
    // The small stage read 2.9 times as much, the large one took twice as long.
    gate.put(&[on_day(&joining((3, 290), (2, 8_000)), 2)]);
    let (code, text) = gate.check(&arguments);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("WORSE     run time") && text.contains("of the limit because"), "{text}");
    let (_, report) = gate.json(&arguments);
    let metrics = report["baseline"]["jobs"][0]["metrics"].as_array().unwrap();
    let run_time = metrics.iter().find(|metric| metric["metric"] == "runtime_ms").unwrap();
    let grown = &run_time["grown_phases"].as_array().unwrap();
    assert!(grown.len() == 1 && grown[0]["read_ratio"] == 3, "{run_time:#}");
    assert!(run_time["limit_growth_ratio"].as_f64().unwrap() < 1.1, "{run_time:#}");
    // Only the small stage took longer: that is accepted, and said.
    gate.put(&[on_day(&joining((3, 290), (2, 4_000)), 2)]);
    let (code, text) = gate.check(&arguments);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("STEADY    run time") && text.contains("read 3× as much"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // The main stage really doubled.
    gate.put(&[on_day(&joining((1, 100), (4, 8_000)), 2)]);
    let (code, text) = gate.check(&arguments);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn baselines_of_earlier_versions_get_their_stages_by_an_update() {
    let run = on_day(&joining((1, 100), (2, 4_000)), 1);
    let gate = Gate::accepting(std::slice::from_ref(&run));
    let written = gate.baseline_text();
    let start = written.find("    phases:").unwrap();
    std::fs::write(gate.baseline(), &written[..start]).unwrap();
    gate.put(&[on_day(&joining((3, 290), (2, 4_000)), 2)]);
    let (code, text) = gate.check(&["--tolerance", "0"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("the accepted runs do not tell their stages"), "{text}");
    gate.put(&[run]);
    gate.run(&["--update"]);
    assert_eq!(gate.baseline_text(), written);
}

/// A store of the accepted runs, next to the gate.
#[cfg(feature = "store")]
fn store_of(gate: &Gate) {
    let mut ingest = assert_cmd::Command::cargo_bin("elephant-rs").unwrap();
    let ingest =
        ingest.current_dir(gate.folder.path()).args(["ingest", "--quiet", "--store", "x.db", "history"]);
    ingest.assert().success();
}

/// What a check against the store says, as [`Gate::json`] does for the file.
#[cfg(feature = "store")]
fn by_store(gate: &Gate, arguments: &[&str]) -> (i32, serde_json::Value) {
    let mut check = assert_cmd::Command::cargo_bin("elephant-rs").unwrap();
    let check = check.current_dir(gate.folder.path()).args(["check", "--store", "x.db", "history"]);
    let output = check.args(["--format", "json"]).args(arguments).output().unwrap();
    (output.status.code().unwrap(), serde_json::from_slice(&output.stdout).unwrap())
}

#[cfg(feature = "store")]
#[test]
fn a_store_gives_the_verdict_of_a_file() {
    let arguments = ["--tolerance", "0", "--min-severity", "none"];
    let accepted = on_day(&joining((1, 100), (2, 4_000)), 1);
    for (small, large) in [((3, 290), (2, 8_000)), ((3, 290), (2, 4_000)), ((1, 100), (4, 8_000))] {
        let gate = Gate::accepting(std::slice::from_ref(&accepted));
        store_of(&gate);
        gate.put(&[on_day(&joining(small, large), 2)]);
        let (file, store) = (gate.json(&arguments), by_store(&gate, &arguments));
        assert_eq!(file.0, store.0, "{:#}", store.1["baseline"]);
        let costs = |report: &serde_json::Value| {
            let metrics = report["baseline"]["jobs"][0]["metrics"].as_array().unwrap().iter();
            let named = metrics.map(|metric| {
                ["metric", "verdict", "limit_growth_ratio", "grown_phases"].map(|key| metric[key].clone())
            });
            named.collect::<Vec<_>>()
        };
        assert_eq!(costs(&file.1), costs(&store.1));
        let grown = costs(&store.1).into_iter().map(|[.., phases]| phases.as_array().unwrap().len());
        assert!(grown.max() > Some(0), "{:#}", store.1["baseline"]);
    }
}

/// An application with a task that takes twenty times as long as the others.
#[cfg(feature = "store")]
fn skewed(ms: i64) -> App {
    let mut app = healthy(40, ms);
    if let Some(last) = app.jobs[0].stages[0].tasks.last_mut() {
        let task = super::Task::new("1", 20 * ms);
        *last = super::Task { launch: last.launch, ..task };
    }
    app
}

#[cfg(feature = "store")]
#[test]
fn a_store_does_not_take_the_limit_of_a_small_run_for_a_lower_severity() {
    let gate = Gate::accepting(&[on_day(&skewed(500), 1)]);
    store_of(&gate);
    gate.put(&[on_day(&skewed(20_000), 2)]);
    let arguments = ["--costs", "ignore"];
    let findings = |report: &serde_json::Value| report["baseline"]["summary"].clone();
    let (file, store) = (gate.json(&arguments), by_store(&gate, &arguments));
    let worse = |report: &serde_json::Value| {
        let found = report["applications"][0]["findings"].as_array().unwrap();
        found
            .iter()
            .filter(|finding| finding["severity"] == "severe" || finding["severity"] == "critical")
            .count()
    };
    assert!(worse(&file.1) > 0, "{:#}", file.1["applications"][0]["findings"]);
    assert_eq!((file.0, findings(&file.1)), (store.0, findings(&store.1)));
}
