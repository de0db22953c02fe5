//! Compares the findings of an analysis with accepted ones.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use super::incomplete::{UNNAMED, doubt, doubt_of, incomplete_run};
use super::run::{identity, rounded};
use super::spread::Tolerance;
use super::troubles::{count_absent, troubles};
use super::{Baseline, Job, measure, metrics};
use crate::fingerprint::{Fingerprint, JobKey, without_lines};
use crate::results::{
    Absence, Absent, Accepted, ApplicationReport, Change, Comparison, Counts, FindingChange, JobComparison,
    JobState, MeasureChange, MetricVerdict, Report, Told, TroubleChange,
};
use elephant_base::severity::Severity;
use elephant_rule::finding::{Finding, Worse};

/// Compares all findings of `report` with the accepted ones. The report must contain all findings of
/// severity low and above.
#[must_use]
pub fn compare(report: &Report, baseline: &Baseline, tolerance: &Tolerance) -> Comparison {
    let mut runs: BTreeMap<JobKey, Vec<&ApplicationReport>> = BTreeMap::new();
    let mut unnamed: BTreeMap<JobKey, Vec<&ApplicationReport>> = BTreeMap::new();
    for app in &report.applications {
        let jobs = if app.is_unnamed() { &mut unnamed } else { &mut runs };
        jobs.entry(app.compared_job()).or_default().push(app);
    }
    let rules: BTreeSet<&str> = report.rules.iter().map(|rule| rule.id.as_ref()).collect();
    let absent = baseline.jobs.iter().map(|job| JobKey::from(job.job.clone()));
    let absent: Vec<JobKey> = absent.filter(|key| !runs.contains_key(key)).collect();
    let mut jobs: Vec<JobComparison> = runs
        .into_iter()
        .map(|(key, apps)| {
            let accepted = baseline.job(key.as_str());
            job(key, &apps, accepted, &rules, tolerance)
        })
        .collect();
    jobs.extend(unnamed.into_iter().map(|(key, apps)| unnamed_job(key, &apps)));
    jobs.extend(absent.into_iter().map(|key| {
        let accepted_runs = baseline.job(key.as_str()).map_or(0, |job| job.runs.len());
        JobComparison { accepted_runs, ..empty(key, JobState::Absent) }
    }));
    jobs.sort_by_cached_key(|job| {
        let bad = job.findings().filter(|change| change.change.is_bad());
        let worst = bad.map(|change| change.finding.severity).max();
        let is_judged = job.unjudged().next().is_none();
        (
            Reverse(job.is_worse(Some(Severity::Low), true)),
            Reverse(worst),
            is_judged,
            job.state,
            job.key.clone(),
        )
    });
    let counts = Counts { unread_files: report.summary.files_failed, ..counts(&jobs) };
    Comparison { jobs, counts, ..Comparison::default() }
}

fn empty(key: JobKey, state: JobState) -> JobComparison {
    JobComparison {
        key,
        state,
        applications: Vec::new(),
        accepted_runs: 0,
        troubles: Vec::new(),
        absent: Vec::new(),
        metrics: Vec::new(),
        not_compared: Vec::new(),
        incomplete: Vec::new(),
        regressed_since: None,
    }
}

/// Runs whose job is unknown. They have findings, but whether those are accepted is unknown.
fn unnamed_job(key: JobKey, apps: &[&ApplicationReport]) -> JobComparison {
    let mut findings = worst_of_each(apps);
    for found in &mut findings {
        found.change = Change::NotJudged;
        found.doubt = Some(UNNAMED.to_owned());
    }
    JobComparison {
        applications: apps.iter().map(|app| app.id.clone()).collect(),
        troubles: troubles(findings, &[]),
        incomplete: apps.iter().filter_map(|app| incomplete_run(app)).collect(),
        ..empty(key, JobState::Unnamed)
    }
}

fn job(
    key: JobKey,
    apps: &[&ApplicationReport],
    accepted: Option<&Job>,
    rules: &BTreeSet<&str>,
    tolerance: &Tolerance,
) -> JobComparison {
    let (mut findings, first_settled) = worst_before_accepted_parts(apps, accepted);
    let mut left: Vec<&Accepted> = accepted.map(|job| job.findings.iter().collect()).unwrap_or_default();
    // Exact matches first, so that a call site that moved never takes the entry of one that still exists.
    for loosely in [false, true] {
        for found in findings.iter_mut().filter(|found| found.accepted.is_none()) {
            let same = |accepted: &&Accepted| {
                if loosely {
                    accepted.rule == found.finding.rule
                        && without_lines(&accepted.subject) == without_lines(&found.subject)
                } else {
                    accepted.fingerprint == found.fingerprint.as_str()
                }
            };
            if let Some(at) = left.iter().position(same) {
                judge(found, left.remove(at), tolerance);
            }
        }
    }
    // What an accepted part shows was accepted with it.
    for found in findings.iter_mut().skip(first_settled).filter(|found| found.change.is_bad()) {
        found.change = Change::Unchanged;
    }
    confirm_improvements(&mut findings, apps, tolerance);
    let absent = left.into_iter().map(|accepted| Absent {
        fingerprint: Fingerprint::from(accepted.fingerprint.clone()),
        rule: accepted.rule.clone(),
        subject: accepted.subject.clone(),
        severity: accepted.severity,
        trouble: accepted.trouble.clone(),
        absence: absence(accepted, apps, rules),
    });
    let absent: Vec<Absent> = absent.collect();
    let state = if accepted.is_some() { JobState::Known } else { JobState::New };
    let costs = accepted.map(|job| metrics::compare(job, apps, tolerance)).unwrap_or_default();
    JobComparison {
        applications: apps.iter().map(|app| app.id.clone()).collect(),
        accepted_runs: accepted.map_or(0, |job| job.runs.len()),
        troubles: troubles(findings, &absent),
        absent,
        metrics: costs.metrics,
        not_compared: costs.not_compared,
        incomplete: apps.iter().filter_map(|app| incomplete_run(app)).collect(),
        regressed_since: costs.regressed_since,
        ..empty(key, state)
    }
}

/// An improvement seen in an incomplete run counts only if a complete run confirms it.
fn confirm_improvements(findings: &mut [FindingChange], apps: &[&ApplicationReport], tolerance: &Tolerance) {
    let is_doubtful = |found: &FindingChange| found.change == Change::Better && found.doubt.is_some();
    if !findings.iter().any(is_doubtful) {
        return;
    }
    let whole: Vec<&ApplicationReport> = apps.iter().copied().filter(|app| doubt(app).is_none()).collect();
    let whole = worst_of_each(&whole);
    for found in findings.iter_mut().filter(|found| is_doubtful(found)) {
        let firm = whole.iter().find(|firm| firm.fingerprint == found.fingerprint);
        match (firm, found.accepted.clone()) {
            (Some(firm), Some(accepted)) => {
                *found = FindingChange { runs: found.runs, ..firm.clone() };
                judge(found, &accepted, tolerance);
            }
            _ => found.change = Change::NotJudged,
        }
    }
}

/// Each finding of the job's runs once: first those of runs that are open, then what only incomplete runs show that were
/// accepted before, and where these begin.
fn worst_before_accepted_parts(
    apps: &[&ApplicationReport],
    accepted: Option<&Job>,
) -> (Vec<FindingChange>, usize) {
    let is_accepted_part = |app: &&ApplicationReport| {
        accepted.is_some_and(|job| !app.complete && job.incomplete_runs.contains(&identity(app)))
    };
    let (parts, open): (Vec<&ApplicationReport>, Vec<&ApplicationReport>) =
        apps.iter().copied().partition(is_accepted_part);
    let mut findings = worst_of_each(&open);
    let known: BTreeSet<Fingerprint> = findings.iter().map(|found| found.fingerprint.clone()).collect();
    let first = findings.len();
    findings.extend(worst_of_each(&parts).into_iter().filter(|found| !known.contains(&found.fingerprint)));
    (findings, first)
}

/// Each finding of the job's runs once, from the run where it is worst. The result ignores accepted
/// findings.
fn worst_of_each(apps: &[&ApplicationReport]) -> Vec<FindingChange> {
    let mut found: BTreeMap<Fingerprint, FindingChange> = BTreeMap::new();
    // Between equal findings, take the one of a complete run.
    let (whole, doubtful): (Vec<&ApplicationReport>, Vec<&ApplicationReport>) =
        apps.iter().copied().partition(|app| doubt(app).is_none());
    for app in whole.into_iter().chain(doubtful) {
        let mut seen = BTreeSet::new();
        let troubles = Told::all(app);
        for finding in app.findings.iter().filter(|finding| finding.severity > Severity::None) {
            let fingerprint = app.fingerprint(finding);
            let is_first = seen.insert(fingerprint.clone());
            let change = FindingChange {
                fingerprint: fingerprint.clone(),
                change: Change::New,
                application: app.id.clone(),
                runs: 0,
                subject: app.subject_key(&finding.subject),
                accepted: None,
                doubt: doubt(app),
                incomplete: !app.complete,
                measure: measure_of(finding),
                told: Told::of(&troubles, finding),
                finding: finding.clone(),
            };
            let worst = found.entry(fingerprint).or_insert_with(|| change.clone());
            let runs = worst.runs + usize::from(is_first);
            if outweighs(&change, worst) {
                *worst = change;
            }
            worst.runs = runs;
        }
    }
    found.into_values().collect()
}

fn measure_of(finding: &Finding) -> Option<MeasureChange> {
    let key = finding.rule_facts.key_measure?.key;
    Some(MeasureChange { key, value: measure::value(finding)?, accepted: None })
}

/// Whether `one` is worse than `other`, which has the same fingerprint.
fn outweighs(one: &FindingChange, other: &FindingChange) -> bool {
    if one.finding.severity != other.finding.severity {
        return one.finding.severity > other.finding.severity;
    }
    let worse = one.finding.rule_facts.key_measure.map_or(Worse::Higher, |measure| measure.worse);
    match (&one.measure, &other.measure) {
        (Some(one), Some(other)) => worse.beyond(one.value, other.value, 0.0, 0.0),
        _ => false,
    }
}

/// Sets how `found` compares with the accepted finding.
fn judge(found: &mut FindingChange, accepted: &Accepted, tolerance: &Tolerance) {
    found.accepted = Some(accepted.clone());
    let (mut worse, mut better) = (false, false);
    if let (Some(now), Some(key_measure)) = (&mut found.measure, found.finding.rule_facts.key_measure)
        && accepted.measure.as_deref() == Some(now.key)
        && let Some(value) = accepted.value
    {
        now.accepted = Some(value);
        let (direction, share) = (key_measure.worse, tolerance.of_measures());
        let floor = if share > 0.0 { key_measure.floor() } else { 0.0 };
        // Accepted values are rounded.
        let now = rounded(now.value);
        worse = direction.beyond(now, value, share, floor);
        better = direction.opposite().beyond(now, value, share, floor);
    }
    found.change = match severities(&found.finding, accepted) {
        Ordering::Greater => Change::Worse,
        Ordering::Less => Change::Better,
        Ordering::Equal if worse => Change::Worse,
        Ordering::Equal if better => Change::Better,
        Ordering::Equal => Change::Unchanged,
    };
}

/// How the severity of a finding compares with the accepted one. That a run is small limits its severity, and says nothing
/// about the finding: where the limit may decide, the severities are equal.
fn severities(finding: &Finding, accepted: &Accepted) -> Ordering {
    let larger = finding.severity_in_larger_run();
    match accepted.severity_in_larger_run {
        Some(before) => larger.cmp(&before),
        None if finding.severity > accepted.severity => Ordering::Greater,
        None if larger < accepted.severity => Ordering::Less,
        None => Ordering::Equal,
    }
}

fn absence(accepted: &Accepted, apps: &[&ApplicationReport], rules: &BTreeSet<&str>) -> Absence {
    if !rules.contains(accepted.rule.as_str()) {
        return Absence::RuleOff;
    }
    let silenced = |app: &&ApplicationReport| {
        app.suppressed.iter().any(|suppressed| {
            suppressed.finding.rule == accepted.rule
                && without_lines(&app.subject_key(&suppressed.finding.subject))
                    == without_lines(&accepted.subject)
        })
    };
    if apps.iter().any(silenced) {
        return Absence::Suppressed;
    }
    // A run that failed early or is cut says nothing about later stages. One complete run is enough.
    let mut doubts = Vec::new();
    for app in apps {
        match doubt_of(app, &accepted.rule) {
            Some(why) => doubts.push((app, why)),
            None => return Absence::Gone,
        }
    }
    match doubts.into_iter().next() {
        Some((_, why)) if apps.len() == 1 => Absence::NotJudged(why),
        Some((app, why)) => Absence::NotJudged(format!("{}: {why}", app.id)),
        None => Absence::Gone,
    }
}

fn counts(jobs: &[JobComparison]) -> Counts {
    let mut counts = Counts::default();
    for job in jobs {
        match job.state {
            JobState::New => counts.new_jobs += 1,
            JobState::Absent => counts.absent_jobs += 1,
            JobState::Known | JobState::Unnamed => {}
        }
        for trouble in &job.troubles {
            *match trouble.change {
                Change::New => &mut counts.new,
                Change::Worse => &mut counts.worse,
                Change::NotJudged => &mut counts.not_judged,
                Change::Unchanged => &mut counts.unchanged,
                Change::Better => &mut counts.better,
            } += 1;
            counts.worse_in_part += u64::from(is_worse_in_part(trouble));
        }
        let absent = |wanted: fn(&Absence) -> bool| {
            count_absent(job.absent.iter().filter(|absent| wanted(&absent.absence)), &job.troubles)
        };
        counts.gone += absent(|absence| *absence == Absence::Gone);
        counts.not_judged += absent(|absence| matches!(absence, Absence::NotJudged(_)));
        counts.incomplete_runs += job.incomplete.len() as u64;
        counts.unjudged_runs += job.unjudged().count() as u64;
        let verdicts = |wanted| job.metrics.iter().filter(|metric| metric.verdict == wanted).count() as u64;
        counts.regressed += verdicts(MetricVerdict::Regressed);
        counts.improved += verdicts(MetricVerdict::Improved);
    }
    counts
}

/// Whether some finding about it is only worse in an incomplete run, so that an update keeps the accepted one.
fn is_worse_in_part(trouble: &TroubleChange) -> bool {
    trouble.findings.iter().any(|found| found.change == Change::Worse && found.keeps_accepted())
}
