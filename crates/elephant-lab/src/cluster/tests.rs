//! The orderings of S0 that the simulation reproduces whatever the random numbers.

use super::policy::Policy;
use super::scenario::Scenario;
use super::study::{Metric, Plan, Row, Study, simulate, single};
use super::*;

const SEEDS: u64 = 20;

fn scenario(name: &str) -> Scenario {
    Scenario::shipped(name).unwrap().unwrap()
}

fn rows(study: Study, scenarios: Vec<Scenario>, seeds: u64) -> Vec<Row> {
    let report = simulate(&Plan { studies: vec![(study, scenarios)], first_seed: 1, seeds });
    report.studies.into_iter().flat_map(|(_, rows)| rows).collect()
}

fn mean(rows: &[Row], scenario: &str, policy: Policy, detector: &str, metric: Metric) -> f64 {
    let of = |row: &&Row| row.scenario == scenario && row.policy == policy && row.detector == detector;
    rows.iter().find(of).unwrap().get(metric).unwrap().mean
}

#[test]
fn characteristics_are_ordered_as_in_table_6() {
    let rows = rows(Study::Characteristics, ["C1", "C2", "C3", "C4"].map(scenario).to_vec(), SEEDS);
    let of = |name: &str, detector: &str, metric| mean(&rows, name, Policy::Reserve(100), detector, metric);
    let (d, h, l) = ("default", "hierarchical", "late-printed");
    for name in ["C1", "C2", "C3", "C4"] {
        let precision = |detector| of(name, detector, Metric::Precision);
        assert!(of(name, l, Metric::Recall) >= of(name, d, Metric::Recall), "{name}");
        assert!(precision(l) >= precision(d), "{name}");
        assert!(precision(h) >= precision(d) + 0.3 && precision(h) >= 0.8, "{name}");
        assert!(of(name, h, Metric::DetectionLatency) >= of(name, d, Metric::DetectionLatency), "{name}");
        assert!(of(name, l, Metric::UndetectedTime) <= of(name, d, Metric::UndetectedTime), "{name}");
        assert!(of(name, d, Metric::FakeRatio) <= 0.05, "{name}");
    }
    let default = |name| of(name, d, Metric::Precision);
    assert!((default("C1") - default("C2")).abs() <= 0.05);
    assert!(default("C2") > default("C3") && default("C3") > default("C4") && default("C4") <= 0.2);
    let late = |name| of(name, l, Metric::Precision);
    assert!(late("C1").min(late("C2")) > late("C3").max(late("C4")));
}

#[test]
fn policies_are_ordered_as_in_figures_4_to_6() {
    let mut c2 = scenario("C2");
    c2.policies = vec![Policy::Reserve(100), Policy::Reserve(50), Policy::Shared];
    let rows = rows(Study::Policies, vec![c2], SEEDS);
    let of = |policy, detector, metric| mean(&rows, "C2", policy, detector, metric);
    let half = Policy::Reserve(50);
    let time = of(half, "default", Metric::RelativeTime);
    assert!((1.25..=1.45).contains(&time), "{time}");
    let energy = of(half, "default", Metric::RelativeEnergy);
    assert!((1.2..=1.4).contains(&energy), "{energy}");
    let copies = |detector| of(half, detector, Metric::Copies);
    assert!(copies("default") >= 2.5 * copies("hierarchical"));
    for policy in [half, Policy::Shared] {
        let time = |detector| of(policy, detector, Metric::RelativeTime);
        assert!(time("hierarchical") <= time("late-printed") && time("late-printed") <= time("default"));
    }
}

#[test]
fn a_long_lag_gives_fakes_as_in_figure_3() {
    let mut c2 = scenario("C2");
    let usual = c2.job.task_s;
    c2.lags_s = vec![20.0, 1.75 * usual, 2.0 * usual];
    let rows = rows(Study::Lag, vec![c2], SEEDS);
    let fakes: Vec<f64> = rows.iter().map(|row| row.get(Metric::FakeRatio).unwrap().mean).collect();
    assert!(fakes[0] <= 0.05 && fakes[1] >= 0.1 && fakes[2] >= 0.1, "{fakes:?}");
}

#[test]
fn a_seed_gives_the_same_result_on_any_number_of_threads() {
    let plan =
        Plan { studies: vec![(Study::Characteristics, vec![scenario("C4")])], first_seed: 7, seeds: 3 };
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let here = simulate(&plan);
    assert_eq!(here, alone.install(|| simulate(&plan)));
    assert_ne!(here.studies, simulate(&Plan { first_seed: 8, ..plan }).studies);
}

#[test]
fn every_task_ends_once_and_copies_are_elsewhere() {
    let c2 = scenario("C2");
    let run = single(&c2, Policy::Shared, "default", 1).unwrap();
    for task in 0..c2.job.tasks {
        let attempts: Vec<_> = run.attempts.iter().filter(|attempt| attempt.task == task).collect();
        assert_eq!(attempts.iter().filter(|attempt| attempt.won).count(), 1);
        assert!(attempts.iter().all(|attempt| attempt.end == attempts[0].end));
        match attempts.as_slice() {
            [original] => assert!(!original.copy),
            [original, copy] => {
                assert!(!original.copy && copy.copy && original.node != copy.node);
                assert!(copy.start >= original.start + original.detected.unwrap());
            }
            more => panic!("{} attempts of one task", more.len()),
        }
    }
    let end = run.attempts.iter().filter_map(|attempt| attempt.end).fold(0.0, f64::max);
    assert!((run.makespan - end).abs() < f64::MIN_POSITIVE);
}

#[test]
fn containers_and_reserves_are_never_exceeded() {
    let c2 = scenario("C2");
    for policy in [Policy::Reserve(75), Policy::Reserve(100)] {
        let run = single(&c2, policy, "default", 2).unwrap();
        let last_launch = run
            .attempts
            .iter()
            .filter(|attempt| !attempt.copy)
            .map(|attempt| attempt.start)
            .fold(0.0, f64::max);
        for at in run.attempts.iter().map(|attempt| attempt.start) {
            let live = |node: usize, copy: bool| {
                let here = run.attempts.iter().filter(|it| it.node == node && it.copy == copy);
                here.filter(|it| it.start <= at && it.end.unwrap() > at).count()
            };
            for node in 0..20 {
                assert!(live(node, false) + live(node, true) <= 8);
                if policy == Policy::Reserve(75) {
                    assert!(live(node, false) <= 6);
                    assert!(live(node, true) <= 2 || at >= last_launch);
                } else {
                    assert!(live(node, true) == 0 || at >= last_launch);
                }
            }
        }
    }
}

#[test]
fn most_killed_copies_have_an_estimated_duration() {
    let run = single(&scenario("C4"), Policy::Reserve(100), "default", 1).unwrap();
    let killed = || run.attempts.iter().filter(|attempt| !attempt.won);
    let censored = killed().filter(|it| matches!(it.duration(), Some(outcome::Duration::AtLeast(_)))).count();
    // Attempts killed before their first report of progress are censored, but most killed attempts are not.
    assert!(censored > 0 && censored < killed().count() / 2, "{censored} of {}", killed().count());
}

#[test]
fn own_scenarios_change_only_what_they_name() {
    let own =
        Scenario::read("{name: own, nodes: [{count: 3, active_cores: 2}], job: {tasks: 24}}", "own").unwrap();
    let c2 = scenario("C2");
    assert_eq!((own.job.tasks, own.job.task_s, own.noise), (24, c2.job.task_s, c2.noise));
    assert_eq!(own.node_count(), 3);
    let run = single(&own, Policy::Reserve(100), "default", 1).unwrap();
    // One wave of tasks on half of the cores.
    assert!(run.makespan > 1.5 * own.job.task_s && run.makespan < 3.0 * own.job.task_s, "{}", run.makespan);
}

#[test]
fn impossible_scenarios_are_rejected() {
    let with = |text: &str| Scenario::read(text, "x").map(|_| ()).unwrap_err().to_string();
    assert!(with("{name: a}").contains("nodes"));
    let nodes = "name: a\nnodes: [{count: 1, active_cores: 1}]\n";
    for (text, word) in [
        ("job: {task_s: 0}", "task_s"),
        ("job: {task_s: .nan}", "task_s"),
        ("job: {length: 3}", "length"),
        ("noise: {node: -1}", "node"),
        ("policies: [0]", "policy"),
        ("policies: []", "policy"),
        ("lags_s: [-5]", "lags_s"),
        ("judgement: {usual_runs: 0}", "usual_runs"),
        ("cluster: {containers_per_node: 100001}", "containers_per_node"),
        ("cluster: {cores_per_node: 0.5}", "active_cores is 1, not from 0.05 to 0.5"),
    ] {
        let message = with(&format!("{nodes}{text}"));
        assert!(message.contains(word), "{text}: {message}");
    }
    let unknown = Scenario::read(&format!("{nodes}detectors: [none]"), "x").unwrap();
    assert!(study::check(&[unknown]).unwrap_err().to_string().contains("late-printed"));
}
