use std::sync::Arc;

use super::spread::Tolerance;
use super::update::update;
use super::*;
use crate::results::{Absence, ApplicationReport, Change, Comparison, JobState, MetricVerdict, Report};
use elephant_base::severity::Severity;
use elephant_model::model::{Engine, Status};
use elephant_rule::finding::{
    Cap, CapReason, Caps, Finding, KeyMeasure, Measure, NotEvaluated, Provenance, RuleFacts, Subject,
    TroubleKind, Worse,
};
use elephant_ruleset::RuleInfo;

const GC: &str = "mapper-gc";
const FACTS: RuleFacts = RuleFacts {
    key_measure: Some(KeyMeasure { key: "gc_cpu_ratio", worse: Worse::Higher }),
    ..RuleFacts::of(Provenance::Own, elephant_rule::finding::TroubleKind::Other)
};

fn complete(id: &str, findings: &[(Severity, f64)]) -> ApplicationReport {
    let finding = |&(severity, ratio): &(Severity, f64)| Finding {
        rule: GC.into(),
        title: GC.into(),
        rule_facts: &FACTS,
        tells: TroubleKind::Other,
        repartition: None,
        of_more_parts: false,
        also_about: Vec::new(),
        in_queries: Vec::new(),
        conditions: Vec::new(),
        raw_severity: severity,
        caps: Caps::default(),
        severity,
        score: 1,
        subject: Subject::Tasks("map"),
        message: String::new(),
        statement: String::new(),
        evidence: vec![("gc_cpu_ratio".into(), Measure::Ratio(Some(ratio)))],
        thresholds: [].into(),
        advice: Vec::new(),
        failure: None,
    };
    ApplicationReport {
        engine: Engine::MapReduce,
        name: Some("nightly".to_owned()),
        findings: findings.iter().map(finding).collect(),
        evaluated: Arc::new([GC.into()]),
        ..ApplicationReport::blank(id)
    }
}

fn incomplete(id: &str, findings: &[(Severity, f64)]) -> ApplicationReport {
    let judged = !findings.is_empty();
    let missing = NotEvaluated { rule: GC.into(), reason: "2 tasks have no known end".to_owned() };
    ApplicationReport {
        complete: false,
        incomplete: Some("the history ends early".to_owned()),
        judged,
        evaluated: if judged { Arc::new([GC.into()]) } else { Arc::default() },
        not_evaluated: if judged { Vec::new() } else { vec![missing] },
        ..complete(id, findings)
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

/// The change, value and application of the only finding.
fn change(comparison: &Comparison) -> (Change, Option<f64>, &str) {
    let found = &comparison.jobs[0].troubles[0].findings[0];
    (found.change, found.measure.as_ref().map(|measure| measure.value), &found.application)
}

/// The severity, value and incomplete mark of the only accepted finding.
fn entry(baseline: &Baseline) -> (Severity, Option<f64>, bool) {
    let finding = &baseline.jobs[0].findings[0];
    (finding.severity, finding.value, finding.incomplete)
}

use Severity::{Critical, Low, Moderate, Severe};

#[test]
fn an_improvement_only_in_an_incomplete_run_is_not_judged() {
    let before = accepted(vec![complete("a", &[(Severe, 4.0)])]);
    for better in [(Low, 1.0), (Severe, 1.0)] {
        let comparison = compared(&before, vec![incomplete("b", &[better])]);
        assert_eq!(change(&comparison), (Change::NotJudged, Some(1.0), "b"));
        assert_eq!(comparison.counts.not_judged, 1);
        assert_eq!(comparison.counts.better, 0);
        assert!(!comparison.is_worse(Some(Low), true));
        let after = updated(&before, vec![incomplete("b", &[better])]);
        assert_eq!((entry(&after), &after.jobs[0].runs), (entry(&before), &before.jobs[0].runs));
    }
    // A run that failed early is no proof either.
    let failed = ApplicationReport { status: Status::Failed, ..complete("b", &[(Low, 1.0)]) };
    let comparison = compared(&before, vec![failed]);
    assert_eq!(change(&comparison).0, Change::NotJudged);
    assert_eq!(comparison.jobs[0].troubles[0].findings[0].doubt.as_deref(), Some("it failed"));
}

#[test]
fn an_improvement_in_a_complete_run_counts_despite_incomplete_runs() {
    let before = accepted(vec![complete("a", &[(Severe, 4.0)])]);
    let runs = vec![incomplete("p", &[(Moderate, 2.0)]), complete("w", &[(Low, 1.0)])];
    let comparison = compared(&before, runs.clone());
    assert_eq!(change(&comparison), (Change::Better, Some(1.0), "w"));
    assert_eq!(comparison.jobs[0].troubles[0].findings[0].runs, 2);
    let after = updated(&before, runs);
    assert_eq!(entry(&after), (Low, Some(1.0), false));
}

#[test]
fn between_equal_findings_the_complete_run_is_reported() {
    let before = accepted(vec![complete("a", &[(Low, 1.0)])]);
    let comparison =
        compared(&before, vec![incomplete("p", &[(Severe, 4.0)]), complete("w", &[(Severe, 4.0)])]);
    assert_eq!(change(&comparison), (Change::Worse, Some(4.0), "w"));
    assert!(!comparison.jobs[0].troubles[0].findings[0].keeps_accepted());
}

#[test]
fn a_worse_finding_in_an_incomplete_run_counts_but_is_not_accepted() {
    let before = accepted(vec![complete("a", &[(Low, 1.0)])]);
    let worse = || vec![incomplete("b", &[(Critical, 9.0)])];
    let comparison = compared(&before, worse());
    assert_eq!(change(&comparison), (Change::Worse, Some(9.0), "b"));
    assert!(comparison.is_worse(Some(Low), true));
    assert_eq!(comparison.counts.worse_in_part, 1);
    let after = updated(&before, worse());
    assert_eq!(entry(&after), entry(&before));
    // What was accepted passes, and another run that shows the same does not.
    assert!(!compared(&after, worse()).is_worse(Some(Low), true));
    assert!(compared(&after, vec![incomplete("c", &[(Critical, 9.0)])]).is_worse(Some(Low), true));
    let both = vec![incomplete("b", &[(Critical, 9.0)]), complete("d", &[(Severe, 4.0)])];
    assert_eq!(change(&compared(&after, both)), (Change::Worse, Some(4.0), "d"), "a part hides no run");
}

#[test]
fn limits_of_small_runs_are_no_change() {
    let capped = |severity| {
        let mut app = complete("a", &[(Severe, 4.0)]);
        app.findings[0].cap(Cap { at_most: severity, why: CapReason::SmallRun });
        app
    };
    let (small, large) = (accepted(vec![capped(Moderate)]), accepted(vec![complete("b", &[(Severe, 4.0)])]));
    for (before, now) in [(&small, complete("c", &[(Severe, 4.0)])), (&large, capped(Moderate))] {
        let read = Baseline::parse(std::path::Path::new("b"), &before.to_yaml().unwrap()).unwrap();
        assert_eq!(&read, before);
        assert_eq!(change(&compared(&read, vec![now])).0, Change::Unchanged);
    }
    // Beyond the limit, it is worse, although it shows the same severity.
    let low = accepted(vec![complete("b", &[(Moderate, 4.0)])]);
    assert_eq!(change(&compared(&low, vec![capped(Moderate)])).0, Change::Worse);
}

#[test]
fn only_the_known_version_is_read() {
    for (version, message) in
        [(0, "no elephant-rs writes version 0"), (2, "use the elephant-rs that wrote it")]
    {
        let text = format!("version: {version}\nkeep_runs: 10\njobs: []\n");
        let error = Baseline::parse(std::path::Path::new("b"), &text).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn a_baseline_that_nests_too_deeply_is_refused_at_once() {
    let closed = "[".repeat(50_000) + &"]".repeat(50_000);
    for (nested, place) in
        [(closed, "b:2:39: "), ("[".repeat(50_000), "b:2:"), ("{a: ".repeat(25_000), "b:2:")]
    {
        let text = format!("version: 1\njobs: {nested}");
        let error = Baseline::parse(std::path::Path::new("b"), &text).unwrap_err().to_string();
        assert!(error.contains("nested too deeply") && error.contains(place), "{error}");
    }
}

#[test]
fn values_that_cannot_be_are_refused() {
    let parse = |keep: u32, run: &str| {
        let run = format!("{{run: a, {run}}}");
        let text = format!("version: 1\nkeep_runs: {keep}\njobs:\n- job: j\n  runs: [{run}]\n");
        Baseline::parse(std::path::Path::new("b"), &text).map_err(|error| error.to_string())
    };
    let time = "started_at: 2026-11-21T08:00:00.000Z";
    assert!(parse(1, &format!("{time}, resource_used_gb_hours: 7.5")).is_ok());
    for (keep, run, told) in [
        (0, time, "keep_runs must be at least 1"),
        (1, "started_at: yesterday", "not RFC 3339"),
        (1, "resource_used_gb_hours: 1e308", "negative or invalid"),
    ] {
        let error = parse(keep, run).unwrap_err();
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn costs_without_accepted_costs_are_told() {
    let before = accepted(vec![incomplete("a", &[(Low, 1.0)])]);
    let mut run = complete("b", &[(Low, 1.0)]);
    run.metrics.run_time = Some(elephant_base::units::Millis::from_secs(3600));
    let comparison = compared(&before, vec![run.clone()]);
    let [told] = &comparison.jobs[0].not_compared[..] else { panic!() };
    assert_eq!((told.application.as_str(), told.unfit), ("b", true));
    let before = updated(&before, vec![run.clone()]);
    run.id = "c".to_owned();
    assert_eq!(compared(&before, vec![run]).jobs[0].not_compared, []);
}

#[test]
fn a_part_that_costs_more_than_is_accepted_fails() {
    let seconds = |seconds| Some(elephant_base::units::Millis::from_secs(seconds));
    let mut before = complete("a", &[(Low, 1.0)]);
    before.metrics.run_time = seconds(100);
    let before = accepted(vec![before]);
    let part = |time| {
        let mut run = incomplete("b", &[(Low, 1.0)]);
        run.at_least.run_time = seconds(time);
        run
    };
    let comparison = compared(&before, vec![part(600)]);
    let [told] = &comparison.jobs[0].metrics[..] else { panic!() };
    assert_eq!((told.verdict, told.at_least, told.value), (MetricVerdict::Regressed, true, 600_000.0));
    assert!(comparison.jobs[0].is_worse(None, true));
    // The whole run may cost more than a part, and as much as is accepted.
    for time in [10, 100] {
        let comparison = compared(&before, vec![part(time)]);
        assert_eq!(comparison.jobs[0].metrics, []);
        assert!(!comparison.jobs[0].is_worse(None, true));
    }
}

#[test]
fn files_that_could_not_be_read_are_part_of_the_verdict() {
    let run = complete("a", &[(Low, 1.0)]);
    let before = accepted(vec![run.clone()]);
    let mut report = report(vec![run]);
    report.summary.files_failed = 1;
    let counts = compare(&report, &before, &Tolerance::default()).counts;
    assert_eq!(counts.unread_files, 1);
}

#[test]
fn complete_runs_replace_accepted_incomplete_runs() {
    let first = accepted(vec![incomplete("a", &[(Low, 1.0)])]);
    assert_eq!(entry(&first), (Low, Some(1.0), true));
    assert_eq!(first.jobs[0].runs, []);
    let second = updated(&first, vec![incomplete("b", &[(Severe, 4.0)])]);
    assert_eq!(entry(&second), (Severe, Some(4.0), true));
    assert_eq!(entry(&updated(&second, vec![incomplete("c", &[(Low, 1.0)])])), entry(&second));
    // As accepted, but now confirmed by a complete run.
    let third = updated(&second, vec![complete("d", &[(Severe, 4.1)])]);
    assert_eq!(entry(&third), (Severe, Some(4.1), false));
    assert_eq!(third.jobs[0].runs.len(), 1);
    let text = third.to_yaml().unwrap();
    assert!(!text.contains("incomplete: true") && second.to_yaml().unwrap().contains("incomplete: true"));
}

#[test]
fn only_a_complete_run_shows_that_a_finding_is_gone() {
    let before = accepted(vec![complete("a", &[(Low, 1.0)])]);
    let absence = |runs| compared(&before, runs).jobs[0].absent[0].absence.clone();
    assert_eq!(
        absence(vec![incomplete("b", &[])]),
        Absence::NotJudged("2 tasks have no known end".to_owned())
    );
    let two = Absence::NotJudged("b: 2 tasks have no known end".to_owned());
    assert_eq!(absence(vec![incomplete("b", &[]), incomplete("c", &[])]), two);
    assert_eq!(absence(vec![incomplete("b", &[]), complete("c", &[])]), Absence::Gone);
    let mut silent = incomplete("b", &[]);
    silent.not_evaluated.clear();
    let why = "its log is incomplete: the history ends early";
    assert_eq!(absence(vec![silent]), Absence::NotJudged(why.to_owned()));
    assert_eq!(updated(&before, vec![incomplete("b", &[])]).jobs, before.jobs);
}

#[test]
fn unjudged_runs_are_counted_and_accept_nothing() {
    let none = Baseline::default();
    let comparison = compared(&none, vec![incomplete("a", &[])]);
    assert!(comparison.judges_nothing());
    assert_eq!((comparison.counts.incomplete_runs, comparison.counts.unjudged_runs), (1, 1));
    let noted = accepted(vec![incomplete("a", &[])]);
    assert_eq!(noted.jobs, none.jobs);
    // The same run is not reported again, but another one is.
    assert!(none.leaves_open(&comparison) && !noted.leaves_open(&comparison));
    assert!(noted.leaves_open(&compared(&noted, vec![incomplete("b", &[])])));
    assert_eq!(updated(&noted, vec![complete("a", &[])]).not_judged, Vec::<String>::new());
    let comparison = compared(&none, vec![incomplete("a", &[]), complete("b", &[])]);
    assert!(!comparison.judges_nothing());
    assert_eq!(comparison.counts.unjudged_runs, 1);
    assert!(!compared(&none, Vec::new()).judges_nothing(), "without runs there is nothing to judge");
}

#[test]
fn an_incomplete_run_without_a_job_name_is_not_a_job_and_never_prunes() {
    let nameless = || unnamed(incomplete("p", &[(Severe, 4.0)]));
    // A complete history without a name belongs to a job without a name.
    let before = accepted(vec![complete("a", &[(Low, 1.0)]), unnamed(complete("b", &[(Low, 1.0)]))]);
    assert_eq!(before.jobs.len(), 2);
    let comparison = compared(&before, vec![nameless()]);
    assert_eq!(comparison.jobs[0].state, JobState::Unnamed);
    assert_eq!(change(&comparison).0, Change::NotJudged);
    assert_eq!((comparison.counts.unjudged_runs, comparison.counts.absent_jobs), (1, 2));
    assert!(!comparison.is_worse(Some(Low), true));
    let app = nameless();
    let found = comparison.of(&app, &app.findings[0]).unwrap();
    assert_eq!(found.change, Change::NotJudged);
    assert_eq!(updated(&before, vec![nameless()]).jobs, before.jobs);
}

/// A folder with two histories, one of which is emptied or overwritten after it was accepted.
#[test]
fn an_accepted_history_that_is_none_any_more_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let history = folder.path().join("job_1.jhist");
    let groups = serde_json::json!([{"role": "map", "count": 2, "counters": {},
        "time": {"total_ms": 60_000, "shuffle_ms": 0, "sort_ms": 0}}]);
    let text = elephant_testing::history::Job::succeeded(&groups).history();
    std::fs::write(&history, &text).unwrap();
    let rules = elephant_ruleset::RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let analyze = || {
        let options = crate::engine::Options::default();
        crate::engine::analyze(&[folder.path().to_path_buf()], &rules, options)
    };
    let inputs = [folder.path()];
    let report = analyze();
    let comparison = compare(&report, &Baseline::default(), &Tolerance::default());
    let accepted = update(&Baseline::default(), &report, &comparison, false);
    let accepted = Baseline::parse(std::path::Path::new("b.yaml"), &accepted.to_yaml().unwrap()).unwrap();
    assert!(lost_histories(&accepted, &analyze(), &inputs).is_empty());
    for content in [&b""[..], b"\x00\x93\xfe\x11random bytes\x80"] {
        std::fs::write(&history, content).unwrap();
        let lost = lost_histories(&accepted, &analyze(), &inputs);
        assert_eq!(lost, [history.display().to_string()]);
        assert!(lost_histories(&accepted, &analyze(), &[std::path::Path::new("/elsewhere")]).is_empty());
        let report = analyze();
        let mut comparison = compare(&report, &accepted, &Tolerance::default());
        comparison.lost = lost;
        let updated = update(&accepted, &report, &comparison, false);
        assert!(lost_histories(&updated, &report, &inputs).is_empty(), "an update forgets it");
    }
    std::fs::remove_file(&history).unwrap();
    assert!(lost_histories(&accepted, &analyze(), &inputs).is_empty(), "a deleted history is no damage");
}
