use std::sync::Arc;

use super::spread::Tolerance;
use super::update::update;
use super::*;
use crate::finding::{Finding, KeyMeasure, Measure, NotEvaluated, Provenance, RuleFacts, Subject, Worse};
use crate::model::{Engine, Status};
use crate::results::{Absence, ApplicationReport, Change, Comparison, JobState, Report};
use crate::rules::RuleInfo;
use crate::severity::Severity;

const GC: &str = "mapper-gc";
const FACTS: RuleFacts = RuleFacts {
    key_measure: Some(KeyMeasure { key: "gc_cpu_ratio", worse: Worse::Higher }),
    ..RuleFacts::of(Provenance::Own)
};

fn whole(id: &str, findings: &[(Severity, f64)]) -> ApplicationReport {
    let finding = |&(severity, ratio): &(Severity, f64)| Finding {
        rule: GC.into(),
        title: GC.into(),
        rule_facts: &FACTS,
        severity,
        score: 1,
        subject: Subject::Tasks("map"),
        message: String::new(),
        evidence: vec![("gc_cpu_ratio".into(), Measure::Ratio(Some(ratio)))],
        thresholds: [].into(),
        advice: Vec::new(),
    };
    ApplicationReport {
        engine: Engine::MapReduce,
        name: Some("nightly".to_owned()),
        findings: findings.iter().map(finding).collect(),
        evaluated: Arc::new([GC.into()]),
        ..ApplicationReport::blank(id)
    }
}

fn part(id: &str, findings: &[(Severity, f64)]) -> ApplicationReport {
    let judged = !findings.is_empty();
    let missing = NotEvaluated { rule: GC.into(), reason: "2 tasks have no known end".to_owned() };
    ApplicationReport {
        complete: false,
        incomplete: Some("the history ends early".to_owned()),
        judged,
        evaluated: if judged { Arc::new([GC.into()]) } else { Arc::default() },
        not_evaluated: if judged { Vec::new() } else { vec![missing] },
        ..whole(id, findings)
    }
}

fn unnamed(app: ApplicationReport) -> ApplicationReport {
    ApplicationReport { name: None, ..app }
}

fn report(applications: Vec<ApplicationReport>) -> Report {
    let rule = RuleInfo { id: GC.into(), title: GC.into(), page: "".into() };
    Report { rules: vec![rule], applications, ..Report::default() }
}

fn compared(baseline: &Baseline, applications: Vec<ApplicationReport>) -> Comparison {
    compare(&report(applications), baseline, &Tolerance::default())
}

fn updated(baseline: &Baseline, applications: Vec<ApplicationReport>) -> Baseline {
    let report = report(applications);
    let comparison = compare(&report, baseline, &Tolerance::default());
    let updated = update(baseline, &report, &comparison, true);
    let again = compare(&report, &updated, &Tolerance::default());
    assert_eq!(update(&updated, &report, &again, true), updated, "accepting twice changes nothing");
    updated
}

fn accepted(applications: Vec<ApplicationReport>) -> Baseline {
    updated(&Baseline::default(), applications)
}

/// How the only finding stands, its value and its application.
fn change(comparison: &Comparison) -> (Change, Option<f64>, &str) {
    let found = &comparison.jobs[0].findings[0];
    (found.change, found.measure.as_ref().map(|measure| measure.value), &found.application)
}

/// Severity, value and mark of the only accepted finding.
fn entry(baseline: &Baseline) -> (Severity, Option<f64>, bool) {
    let finding = &baseline.jobs[0].findings[0];
    (finding.severity, finding.value, finding.incomplete)
}

use Severity::{Critical, Low, Moderate, Severe};

#[test]
fn better_in_a_part_alone_is_not_judged() {
    let before = accepted(vec![whole("a", &[(Severe, 4.0)])]);
    for better in [(Low, 1.0), (Severe, 1.0)] {
        let comparison = compared(&before, vec![part("b", &[better])]);
        assert_eq!(change(&comparison), (Change::NotJudged, Some(1.0), "b"));
        assert_eq!(comparison.counts.not_judged, 1);
        assert_eq!(comparison.counts.better, 0);
        assert!(!comparison.is_worse(Some(Low)));
        assert_eq!(updated(&before, vec![part("b", &[better])]), before);
    }
    // A run that failed early is no proof, either.
    let failed = ApplicationReport { status: Status::Failed, ..whole("b", &[(Low, 1.0)]) };
    let comparison = compared(&before, vec![failed]);
    assert_eq!(change(&comparison).0, Change::NotJudged);
    assert_eq!(comparison.jobs[0].findings[0].doubt.as_deref(), Some("it failed"));
}

#[test]
fn better_in_a_whole_run_is_better_whatever_parts_there_are() {
    let before = accepted(vec![whole("a", &[(Severe, 4.0)])]);
    let runs = vec![part("p", &[(Moderate, 2.0)]), whole("w", &[(Low, 1.0)])];
    let comparison = compared(&before, runs.clone());
    assert_eq!(change(&comparison), (Change::Better, Some(1.0), "w"));
    assert_eq!(comparison.jobs[0].findings[0].runs, 2);
    let after = updated(&before, runs);
    assert_eq!(entry(&after), (Low, Some(1.0), false));
}

#[test]
fn of_equals_the_whole_run_is_told() {
    let before = accepted(vec![whole("a", &[(Low, 1.0)])]);
    let comparison = compared(&before, vec![part("p", &[(Severe, 4.0)]), whole("w", &[(Severe, 4.0)])]);
    assert_eq!(change(&comparison), (Change::Worse, Some(4.0), "w"));
    assert!(!comparison.jobs[0].findings[0].keeps_accepted());
}

#[test]
fn worse_in_a_part_stands_and_is_not_accepted_over_a_whole_run() {
    let before = accepted(vec![whole("a", &[(Low, 1.0)])]);
    let worse = || vec![part("b", &[(Critical, 9.0)])];
    let comparison = compared(&before, worse());
    assert_eq!(change(&comparison), (Change::Worse, Some(9.0), "b"));
    assert!(comparison.is_worse(Some(Low)));
    assert_eq!(comparison.counts.worse_in_part, 1);
    assert_eq!(updated(&before, worse()), before);
}

#[test]
fn parts_are_accepted_as_such_and_whole_runs_take_their_place() {
    let first = accepted(vec![part("a", &[(Low, 1.0)])]);
    assert_eq!(entry(&first), (Low, Some(1.0), true));
    assert_eq!(first.jobs[0].runs, []);
    let second = updated(&first, vec![part("b", &[(Severe, 4.0)])]);
    assert_eq!(entry(&second), (Severe, Some(4.0), true));
    assert_eq!(updated(&second, vec![part("c", &[(Low, 1.0)])]), second);
    // As accepted, but now it is known of a whole run.
    let third = updated(&second, vec![whole("d", &[(Severe, 4.1)])]);
    assert_eq!(entry(&third), (Severe, Some(4.1), false));
    assert_eq!(third.jobs[0].runs.len(), 1);
    let text = third.to_yaml().unwrap();
    assert!(!text.contains("incomplete") && second.to_yaml().unwrap().contains("incomplete: true"));
}

#[test]
fn only_a_whole_run_tells_what_is_gone() {
    let before = accepted(vec![whole("a", &[(Low, 1.0)])]);
    let absence = |runs| compared(&before, runs).jobs[0].absent[0].absence.clone();
    assert_eq!(absence(vec![part("b", &[])]), Absence::NotJudged("2 tasks have no known end".to_owned()));
    let two = Absence::NotJudged("b: 2 tasks have no known end".to_owned());
    assert_eq!(absence(vec![part("b", &[]), part("c", &[])]), two);
    assert_eq!(absence(vec![part("b", &[]), whole("c", &[])]), Absence::Gone);
    let mut silent = part("b", &[]);
    silent.not_evaluated.clear();
    let why = "its history is incomplete: the history ends early";
    assert_eq!(absence(vec![silent]), Absence::NotJudged(why.to_owned()));
    assert_eq!(updated(&before, vec![part("b", &[])]).jobs, before.jobs);
}

#[test]
fn runs_of_which_nothing_could_be_judged_are_counted_and_accept_nothing() {
    let none = Baseline::default();
    let comparison = compared(&none, vec![part("a", &[])]);
    assert!(comparison.judges_nothing());
    assert_eq!((comparison.counts.incomplete_runs, comparison.counts.unjudged_runs), (1, 1));
    let noted = accepted(vec![part("a", &[])]);
    assert_eq!(noted.jobs, none.jobs);
    // The same run is no news, another one is.
    assert!(none.leaves_open(&comparison) && !noted.leaves_open(&comparison));
    assert!(noted.leaves_open(&compared(&noted, vec![part("b", &[])])));
    assert_eq!(updated(&noted, vec![whole("a", &[])]).not_judged, Vec::<String>::new());
    let comparison = compared(&none, vec![part("a", &[]), whole("b", &[])]);
    assert!(!comparison.judges_nothing());
    assert_eq!(comparison.counts.unjudged_runs, 1);
    assert!(!compared(&none, Vec::new()).judges_nothing(), "no runs are another trouble");
}

#[test]
fn a_part_without_the_name_of_its_job_is_no_job_and_no_reason_to_prune() {
    let nameless = || unnamed(part("p", &[(Severe, 4.0)]));
    // A whole history without a name is a job that has none.
    let before = accepted(vec![whole("a", &[(Low, 1.0)]), unnamed(whole("b", &[(Low, 1.0)]))]);
    assert_eq!(before.jobs.len(), 2);
    let comparison = compared(&before, vec![nameless()]);
    assert_eq!(comparison.jobs[0].state, JobState::Unnamed);
    assert_eq!(change(&comparison).0, Change::NotJudged);
    assert_eq!((comparison.counts.unjudged_runs, comparison.counts.absent_jobs), (1, 2));
    assert!(!comparison.is_worse(Some(Low)));
    let app = nameless();
    let found = comparison.of(&app, &app.findings[0]).unwrap();
    assert_eq!(found.change, Change::NotJudged);
    assert_eq!(updated(&before, vec![nameless()]).jobs, before.jobs);
}
