//! Accepts the current state of an analysis.

use std::collections::{BTreeMap, BTreeSet};

use super::lost::hash_of;
use super::metrics::settled;
use super::run::{identity, rounded, unfit};
use super::{Baseline, Job, Run};
use crate::fingerprint::JobKey;
use crate::results::{
    Absence, Accepted, ApplicationReport, Change, Comparison, FindingChange, JobComparison, JobState, Report,
};

/// The baseline that accepts everything in `report`; `comparison` compares the report with `baseline`.
///
/// - A job's accepted findings become those of its runs in the report. Findings that could not be judged
///   stay accepted. Findings that are gone are removed, so they are new if they come back. An unchanged
///   finding keeps its accepted value, so that small increases do not add up unnoticed.
/// - Findings of an incomplete run are marked and never replace those of a complete run; the run is listed, so that it is
///   not compared again. A job that could not be judged at all stays as it is, and runs without their job's name are
///   skipped.
/// - Runs that could not be judged are listed, so that they are not reported again. Those listed before stay if they are
///   not in the report; `prune` removes them.
/// - Runs that succeeded are added, and the oldest beyond [`Baseline::keep_runs`] are dropped. A regressed
///   run starts a new level: earlier runs are dropped, because they cost less than what is accepted now.
/// - Accepted runs without phases get those of the report.
/// - Files that no longer hold a history are forgotten.
/// - Jobs that are not in the report stay. `prune` removes them, unless some run has lost its job's name:
///   it may belong to one of them.
///
/// Accepting the same report twice changes nothing.
#[must_use]
pub fn update(baseline: &Baseline, report: &Report, comparison: &Comparison, prune: bool) -> Baseline {
    let mut runs: BTreeMap<JobKey, Vec<&ApplicationReport>> = BTreeMap::new();
    for app in &report.applications {
        runs.entry(app.compared_job()).or_default().push(app);
    }
    let unjudged = comparison.jobs.iter().flat_map(JobComparison::unjudged);
    let mut not_judged: BTreeSet<String> = unjudged.map(|run| run.run.clone()).collect();
    if !prune {
        let seen: BTreeSet<String> = report.applications.iter().map(identity).collect();
        not_judged.extend(baseline.not_judged.iter().filter(|run| !seen.contains(*run)).cloned());
    }
    let mut updated = Baseline {
        version: baseline.version,
        keep_runs: baseline.keep_runs,
        not_judged: not_judged.into_iter().collect(),
        jobs: Vec::new(),
    };
    let lost: BTreeSet<String> = comparison.lost.iter().filter_map(|path| hash_of(path)).collect();
    let prune = prune && comparison.jobs.iter().all(|job| job.state != JobState::Unnamed);
    for compared in &comparison.jobs {
        let known = baseline.job(compared.key.as_str());
        if compared.state == JobState::Absent {
            updated.jobs.extend(known.filter(|_| !prune).cloned());
            continue;
        }
        let is_unjudged = compared.unjudged().count() == compared.applications.len();
        if compared.state == JobState::Unnamed || (is_unjudged && compared.troubles.is_empty()) {
            updated.jobs.extend(known.filter(|_| compared.state == JobState::Known).cloned());
            continue;
        }
        let apps = runs.get(&compared.key).map(Vec::as_slice).unwrap_or_default();
        updated.jobs.push(job(known, compared, apps, baseline.keep_runs));
    }
    for job in &mut updated.jobs {
        job.histories.retain(|name| !lost.contains(name));
    }
    updated.sort();
    updated
}

fn job(known: Option<&Job>, compared: &JobComparison, apps: &[&ApplicationReport], keep_runs: usize) -> Job {
    let accepted = known.map(|job| job.findings.as_slice()).unwrap_or_default();
    let mut findings: Vec<Accepted> = compared.findings().map(accept).collect();
    let unjudged = compared.absent.iter().filter(|absent| absent.absence != Absence::Gone);
    findings.extend(unjudged.filter_map(|absent| {
        accepted.iter().find(|finding| finding.fingerprint == absent.fingerprint.as_str()).cloned()
    }));
    let mut job = Job {
        job: compared.key.as_str().to_owned(),
        since: known.and_then(|job| job.since.clone()),
        incomplete_runs: incomplete_runs(known, apps, keep_runs),
        histories: histories(known, apps, keep_runs),
        findings,
        runs: known.map(|job| job.runs.clone()).unwrap_or_default(),
    };
    job.since = compared.regressed_since.clone().max(job.since);
    for run in apps.iter().filter(|app| unfit(app).is_none()).map(|app| Run::of(app)) {
        let known = job.runs.iter_mut().find(|known| known.run == run.run && known.phases.is_empty());
        if let Some(known) = known {
            // An earlier version accepted it.
            known.phases = run.phases;
        } else if settled(&job, &run).is_none() {
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

/// The incomplete runs among `apps`, and those that were accepted before, as long as they are not too many.
fn incomplete_runs(known: Option<&Job>, apps: &[&ApplicationReport], keep_runs: usize) -> Vec<String> {
    let now: BTreeSet<String> = apps.iter().filter(|app| !app.complete).map(|app| identity(app)).collect();
    let seen: BTreeSet<String> = apps.iter().map(|app| identity(app)).collect();
    let before = known.map(|job| job.incomplete_runs.as_slice()).unwrap_or_default();
    let before: Vec<&String> = before.iter().filter(|run| !seen.contains(*run)).collect();
    let kept = keep_runs.saturating_sub(now.len()).min(before.len());
    let before = before.into_iter().rev().take(kept).rev().cloned();
    before.chain(now).collect()
}

/// The files that `apps` were read from, and before them earlier histories, as long as they are not too many.
fn histories(known: Option<&Job>, apps: &[&ApplicationReport], keep_runs: usize) -> Vec<String> {
    let files = apps.iter().filter_map(|app| app.sources.first());
    let now: BTreeSet<String> = files.filter_map(|source| hash_of(source)).collect();
    let before = known.map(|job| job.histories.as_slice()).unwrap_or_default();
    let before: Vec<&String> = before.iter().filter(|path| !now.contains(*path)).collect();
    let kept = keep_runs.saturating_sub(now.len()).min(before.len());
    before.into_iter().rev().take(kept).rev().cloned().chain(now).collect()
}

/// The entry of a finding. An unchanged finding keeps its accepted severity and value, even if its call
/// site moved.
fn accept(found: &FindingChange) -> Accepted {
    let fingerprint = found.fingerprint.as_str();
    let trouble = found.told.as_ref().map(|told| told.key.clone());
    let is_unchanged = found.change == Change::Unchanged;
    // A complete run with the same finding replaces an incomplete one.
    let is_firmer = |before: &Accepted| before.incomplete && !found.incomplete;
    if let Some(before) = &found.accepted
        && (found.keeps_accepted()
            || (is_unchanged && before.fingerprint == fingerprint && !is_firmer(before)))
    {
        let known = before.trouble.clone();
        let trouble = if found.keeps_accepted() { known.or(trouble) } else { trouble.or(known) };
        return Accepted { trouble, ..before.clone() };
    }
    let keeps_value = is_unchanged && !found.accepted.as_ref().is_some_and(is_firmer);
    let value = found.measure.as_ref().map(|measure| match measure.accepted {
        Some(accepted) if keeps_value => accepted,
        _ => rounded(measure.value),
    });
    let was_incomplete = found.accepted.as_ref().is_none_or(|before| before.incomplete);
    Accepted {
        rule: found.finding.rule.clone().into_owned(),
        subject: found.subject.clone(),
        severity: found.finding.severity,
        severity_in_larger_run: Some(found.finding.severity_in_larger_run()),
        measure: found.measure.as_ref().map(|measure| measure.key.to_owned()),
        value,
        incomplete: found.incomplete && was_incomplete,
        trouble,
        fingerprint: fingerprint.to_owned(),
    }
}
