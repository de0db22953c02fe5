//! Accepts what an analysis shows.

use std::collections::BTreeMap;

use super::comparison::{Absence, Change, FindingChange, JobComparison, JobState};
use super::metrics::settled;
use super::run::{rounded, unfit};
use super::{Accepted, Baseline, Comparison, Job, Run};
use crate::engine::{ApplicationReport, Report};
use crate::fingerprint::JobKey;

/// The baseline that accepts everything in `report`, of which `comparison` tells how it stands to `baseline`.
///
/// - A job's accepted findings become those of its runs in the report. What could not be judged stays accepted; what is
///   gone leaves, so that it is new when it comes back. A finding that is as accepted keeps its accepted value, so that
///   small steps do not add up unseen.
/// - Runs that succeeded are added, the oldest beyond [`Baseline::keep_runs`] leave. Where a run regressed, a new level
///   starts: runs from before it leave, because they cost less than what is accepted now.
/// - Jobs that the report does not have stay, unless `prune` is set.
///
/// To accept the same report twice changes nothing.
#[must_use]
pub fn update(baseline: &Baseline, report: &Report, comparison: &Comparison, prune: bool) -> Baseline {
    let mut runs: BTreeMap<JobKey, Vec<&ApplicationReport>> = BTreeMap::new();
    for app in &report.applications {
        runs.entry(JobKey::of(app)).or_default().push(app);
    }
    let mut updated = Baseline { version: baseline.version, keep_runs: baseline.keep_runs, jobs: Vec::new() };
    for compared in &comparison.jobs {
        let known = baseline.job(compared.key.as_str());
        if compared.state == JobState::Absent {
            updated.jobs.extend(known.filter(|_| !prune).cloned());
            continue;
        }
        let apps = runs.get(&compared.key).map(Vec::as_slice).unwrap_or_default();
        updated.jobs.push(job(known, compared, apps, baseline.keep_runs));
    }
    updated.sort();
    updated
}

fn job(known: Option<&Job>, compared: &JobComparison, apps: &[&ApplicationReport], keep_runs: usize) -> Job {
    let accepted = known.map(|job| job.findings.as_slice()).unwrap_or_default();
    let mut findings: Vec<Accepted> = compared.findings.iter().map(|found| accept(found, accepted)).collect();
    let unjudged = compared.absent.iter().filter(|absent| absent.absence != Absence::Gone);
    findings.extend(unjudged.filter_map(|absent| {
        accepted.iter().find(|finding| finding.fingerprint == absent.fingerprint.as_str()).cloned()
    }));
    let mut job = Job {
        job: compared.key.as_str().to_owned(),
        since: known.and_then(|job| job.since.clone()),
        findings,
        runs: known.map(|job| job.runs.clone()).unwrap_or_default(),
    };
    job.since = compared.regressed_since.clone().max(job.since);
    for run in apps.iter().filter(|app| unfit(app).is_none()).map(|app| Run::of(app)) {
        if settled(&job, &run).is_none() {
            job.runs.push(run);
        }
    }
    job.runs.retain(|run| job.since.is_none() || run.started_at >= job.since);
    job.runs.sort_by(|a, b| (&a.started_at, &a.run).cmp(&(&b.started_at, &b.run)));
    let surplus = job.runs.len().saturating_sub(keep_runs);
    if surplus > 0 {
        job.runs.drain(..surplus);
        job.since = job.runs.first().and_then(|run| run.started_at.clone()).max(job.since);
    }
    job
}

/// The entry of a finding. An unchanged one keeps its accepted severity and value, whatever its call site is now.
fn accept(found: &FindingChange, accepted: &[Accepted]) -> Accepted {
    let fingerprint = found.fingerprint.as_str();
    let before = accepted.iter().find(|accepted| accepted.fingerprint == fingerprint);
    if let (Some(before), Change::Unchanged) = (before, found.change) {
        return before.clone();
    }
    let value = found.measure.as_ref().map(|measure| match (found.change, measure.accepted) {
        (Change::Unchanged, Some(accepted)) => accepted,
        _ => rounded(measure.value),
    });
    Accepted {
        rule: found.finding.rule.clone().into_owned(),
        subject: found.subject.clone(),
        severity: found.finding.severity,
        measure: found.measure.as_ref().map(|measure| measure.key.to_owned()),
        value,
        fingerprint: fingerprint.to_owned(),
    }
}
