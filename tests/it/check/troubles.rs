//! One cause is one change, one failed test and one result, however many rules tell of it.

use serde_json::Value;

use super::{Gate, healthy, on_day};
use elephant_testing::spark_log::{App, Ending, Task};

/// An application in which so many tasks of the first stage ran out of memory once.
fn failing(failures: usize) -> App {
    let mut app = healthy(40, 200_000);
    let stage = &mut app.jobs[0].stages[0];
    for index in 0..failures {
        let mut task = Task::new("1", 200_000);
        (task.index, task.attempt) = (Some(u32::try_from(index).unwrap()), 1);
        let error = Ending::Exception("java.lang.OutOfMemoryError", "Java heap space");
        stage.tasks[index] = stage.tasks[index].clone().ending(error);
        stage.tasks.push(task);
    }
    app
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap()
}

#[test]
fn one_cause_is_one_change_in_every_format() {
    let gate = Gate::accepting(&[on_day(&healthy(40, 200_000), 1)]);
    gate.put(&[on_day(&failing(20), 2)]);
    let (code, report) = gate.json(&["--no-metrics"]);
    assert_eq!(code, 1);
    let job = &report["baseline"]["jobs"][0];
    let failures: Vec<&Value> = list(job, "troubles")
        .iter()
        .filter(|it| it["title"].as_str().unwrap().starts_with("Failures"))
        .collect();
    let [failure] = failures[..] else { panic!("{:#}", job["troubles"]) };
    assert!(list(failure, "fingerprints").len() > 1, "several rules tell of it: {failure:#}");
    assert_eq!(failure["change"], "new", "{job:#}");
    let new = list(job, "troubles").iter().filter(|it| it["change"] == "new").count();
    assert_eq!(report["baseline"]["summary"]["new_count"], new);
    let listed = list(job, "findings").iter().filter(|it| it["trouble"] == failure["trouble"]).count();
    assert_eq!(listed, list(failure, "fingerprints").len());
    let (_, text) = gate.check(&["--no-metrics"]);
    assert_eq!(text.matches("NEW       Failures").count(), 1, "{text}");
    let (_, junit) = gate.check(&["--no-metrics", "--format", "junit"]);
    assert_eq!(junit.matches("<failure").count(), new, "{junit}");
    assert!(junit.contains("a consequence of what another rule finds"), "{junit}");
    let (_, sarif) = gate.check(&["--no-metrics", "--format", "sarif"]);
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let results = list(&sarif["runs"][0], "results");
    assert_eq!(results.iter().filter(|it| it["baselineState"] == "new").count(), new);
    assert_eq!(results.len(), list(job, "troubles").len());
    assert!(results.iter().any(|it| !it["properties"]["also"].is_null()), "{results:#?}");
}

#[test]
fn a_trouble_is_worse_if_one_of_its_findings_is() {
    let gate = Gate::accepting(&[on_day(&failing(4), 1)]);
    gate.put(&[on_day(&failing(4), 2)]);
    let (code, report) = gate.json(&["--no-metrics"]);
    let states = |report: &Value| -> Vec<String> {
        let troubles = list(&report["baseline"]["jobs"][0], "troubles");
        troubles.iter().map(|it| it["change"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(code, 0, "{:#}", report["baseline"]);
    assert!(states(&report).iter().all(|state| state == "unchanged"), "{:#}", report["baseline"]);
    gate.put(&[on_day(&failing(30), 2)]);
    let (code, report) = gate.json(&["--no-metrics"]);
    assert_eq!(code, 1);
    assert!(states(&report).contains(&"worse".to_owned()), "{:#}", report["baseline"]);
    // A cause that is gone is one change, too.
    gate.put(&[on_day(&healthy(40, 200_000), 2)]);
    let (code, report) = gate.json(&["--no-metrics"]);
    let job = &report["baseline"]["jobs"][0];
    let gone: std::collections::BTreeSet<&str> =
        list(job, "absent").iter().map(|it| it["trouble"].as_str().unwrap()).collect();
    assert_eq!((code, report["baseline"]["summary"]["gone_count"].as_u64()), (0, Some(gone.len() as u64)));
    assert!(list(job, "absent").len() > gone.len(), "{job:#}");
}

#[test]
fn baselines_of_earlier_versions_pass() {
    let gate = Gate::accepting(&[on_day(&failing(20), 1)]);
    let text = gate.baseline_text();
    let old: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("trouble: ")).collect();
    assert!(old.len() < text.lines().count());
    std::fs::write(gate.baseline(), old.join("\n")).unwrap();
    gate.put(&[on_day(&failing(20), 2)]);
    let (code, report) = gate.json(&["--no-metrics"]);
    assert_eq!(code, 0, "{:#}", report["baseline"]);
    assert_eq!(report["baseline"]["summary"]["new_count"], 0);
    gate.run(&["--update"]);
    assert_eq!(gate.baseline_text().matches("trouble: ").count(), text.matches("trouble: ").count());
}
