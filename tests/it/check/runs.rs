//! One run compared with one accepted run.

use super::{Gate, healthy, named, on_day, shifted, skewed, spread};
use elephant_testing::spark_log::{Ending, Task};

#[test]
fn new_run_passes_despite_other_ids_times_and_task_counts() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    let skewed = |tasks| skewed(healthy(tasks, 2_000));
    for (day, app) in [(2, skewed(40)), (3, skewed(48)), (4, shifted(skewed(40)))] {
        gate.put(&[on_day(&app, day)]);
        let (code, report) = gate.json(&[]);
        assert_eq!(code, 0, "{:#}", report["baseline"]);
        assert_eq!(report["baseline"]["summary"]["new_count"], 0);
        assert_eq!(report["baseline"]["summary"]["gone_count"], 0);
        assert!(report["baseline"]["summary"]["unchanged_count"].as_u64().unwrap() > 0);
    }
}

#[test]
fn deliberately_broken_job_fails_with_the_reason() {
    let gate = Gate::accepting(&[on_day(&healthy(40, 2_000), 1)]);
    gate.put(&[on_day(&skewed(healthy(40, 2_000)), 2)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 1, "{text}");
    for part in
        ["NEW       Stragglers, critical", "WORSE     run time 10m", "is accepted", "FAILED", "--update"]
    {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (code, report) = gate.json(&[]);
    assert_eq!(code, 1);
    let metrics = report["baseline"]["jobs"][0]["metrics"].as_array().unwrap();
    let runtime = metrics.iter().find(|metric| metric["metric"] == "runtime_ms").unwrap();
    assert_eq!(runtime["verdict"], "regressed");
    assert!(runtime["value"].as_f64() > runtime["high"].as_f64());
}

#[test]
fn higher_severity_is_worse_and_lower_severity_is_better() {
    let failing = |failures: usize| {
        let mut app = healthy(40, 200_000);
        let stage = &mut app.jobs[0].stages[0];
        for index in 0..failures {
            let mut task = Task::new("1", 200_000);
            (task.index, task.attempt) = (Some(u32::try_from(index).unwrap()), 1);
            stage.tasks[index] =
                stage.tasks[index].clone().ending(Ending::Exception("java.io.IOException", "reset"));
            stage.tasks.push(task);
        }
        app
    };
    let gate = Gate::accepting(&[on_day(&failing(2), 1)]);
    gate.put(&[on_day(&failing(20), 2)]);
    let (code, report) = gate.json(&["--no-metrics"]);
    assert_eq!(code, 1, "{:#}", report["baseline"]);
    let findings = report["baseline"]["jobs"][0]["findings"].as_array().unwrap();
    let worse: Vec<_> = findings.iter().filter(|finding| finding["change"] == "worse").collect();
    assert!(!worse.is_empty(), "{findings:#?}");
    assert!(worse.iter().any(|finding| finding["severity"] != finding["accepted_severity"]), "{worse:#?}");
    gate.run(&["--update"]);
    gate.put(&[on_day(&failing(36), 3)]);
    let (code, report) = gate.json(&["--no-metrics"]);
    assert_eq!(code, 1, "{:#}", report["baseline"]);
    let findings = report["baseline"]["jobs"][0]["findings"].as_array().unwrap();
    let counted = findings.iter().find(|finding| finding["measure"] == "failed_attempts_count").unwrap();
    assert_eq!((&counted["change"], &counted["value"]), (&"worse".into(), &36.into()), "{counted:#}");
    assert_eq!(counted["accepted_value"], 20);
    gate.put(&[on_day(&failing(2), 3)]);
    let (code, report) = gate.json(&["--no-metrics"]);
    assert_eq!(code, 0);
    assert!(report["baseline"]["summary"]["better_count"].as_u64().unwrap() > 0, "{:#}", report["baseline"]);
}

#[test]
fn fail_on_selects_the_severities_that_count() {
    let gate = Gate::accepting(&[on_day(&healthy(40, 2_000), 1)]);
    gate.put(&[on_day(&skewed(healthy(40, 2_000)), 2)]);
    let (_, report) = gate.json(&[]);
    let findings = report["baseline"]["jobs"][0]["findings"].as_array().unwrap();
    let has = |level: &str| findings.iter().any(|finding| finding["severity"] == level);
    assert!(has("critical") || has("severe") || has("moderate"), "{findings:#?}");
    assert_eq!(gate.check(&["--no-metrics"]).0, 1);
    assert_eq!(gate.check(&["--no-metrics", "--fail-on", "low"]).0, 1);
    assert_eq!(gate.check(&["--no-metrics", "--fail-on", "none"]).0, 0);
    let expected = i32::from(has("critical"));
    assert_eq!(gate.check(&["--no-metrics", "--fail-on", "critical"]).0, expected);
}

#[test]
fn fixed_finding_leaves_the_baseline_and_is_new_when_it_returns() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    gate.put(&[on_day(&healthy(40, 2_000), 2)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("GONE") && text.contains("BETTER    run time"), "{text}");
    gate.run(&["--update"]);
    assert!(!gate.baseline_text().contains("straggler-impact"));
    gate.put(&[on_day(&skewed(healthy(40, 2_000)), 3)]);
    let (code, report) = gate.json(&["--no-metrics"]);
    assert_eq!(code, 1);
    assert!(report["baseline"]["summary"]["new_count"].as_u64().unwrap() > 0);
}

#[test]
fn moved_call_site_is_the_same_finding() {
    let gate = Gate::accepting(&[on_day(&skewed(healthy(40, 2_000)), 1)]);
    gate.put(&[on_day(&skewed(healthy(40, 2_000)), 2).replace("App.scala:10", "App.scala:123")]);
    let (code, report) = gate.json(&[]);
    assert_eq!(code, 0, "{:#}", report["baseline"]);
    assert_eq!(report["baseline"]["summary"]["gone_count"], 0);
    // An update keeps the values accepted before.
    let before = gate.baseline_text();
    gate.run(&["--update"]);
    assert_eq!(before.matches("severity: ").count(), gate.baseline_text().matches("severity: ").count());
}

#[test]
fn new_job_is_reported_as_new() {
    let gate = Gate::accepting(&[on_day(&healthy(40, 2_000), 1)]);
    gate.put(&[on_day(&healthy(40, 2_000), 2), named(&skewed(healthy(40, 2_000)), "weekly", 3)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("spark · weekly") && text.contains("a new job"), "{text}");
    gate.put(&[on_day(&healthy(40, 2_000), 2), named(&healthy(40, 2_000), "weekly", 3)]);
    let (code, text) = gate.check(&[]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("1 new job without findings") && text.contains("1 job as accepted"), "{text}");
}

#[test]
fn costs_of_a_failed_run_are_not_compared() {
    let gate = Gate::accepting(&[on_day(&healthy(40, 2_000), 1)]);
    let mut failed = healthy(40, 2_000);
    failed.jobs[1].failed = true;
    failed.jobs[1].stages[0].tasks = spread(40, 60_000);
    gate.put(&[on_day(&failed, 2)]);
    let (_, report) = gate.json(&[]);
    let job = &report["baseline"]["jobs"][0];
    assert_eq!(job["metrics"].as_array().unwrap().len(), 0, "{job:#}");
    assert_eq!(job["not_compared"][0]["reason"], "it failed");
    gate.run(&["--update"]);
    assert_eq!(gate.baseline_text().matches("- run: ").count(), 1);
}

#[test]
fn hostile_names_do_not_break_the_output() {
    let hostile = format!("<script>'\"\n\u{1b}[31m\u{202e}: &a *b {{ [ #\0 {}", "x".repeat(10_000));
    let gate = Gate::accepting(&[named(&skewed(healthy(40, 2_000)), &hostile, 1)]);
    gate.put(&[named(&skewed(healthy(40, 2_000)), &hostile, 2)]);
    let (code, text) = gate.check(&["--min-severity", "none"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\0']));
    gate.put(&[named(&skewed(healthy(80, 2_000)), &format!("y{hostile}"), 2)]);
    assert_eq!(gate.check(&[]).0, 1, "another name is another job, however long");
}
