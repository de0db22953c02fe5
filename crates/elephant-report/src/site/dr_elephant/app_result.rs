//! Applications with their heuristics: `/rest/job`, `/rest/jobexec`, `/rest/flowexec`, `/rest/search`, `/rest/compare`; and
//! what users used.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::super::json::bytes;
use super::super::whole_report::WholeReport;
use super::heuristics::{Heuristic, heuristics};
use super::record::{Record, name};
use elephant_ruleset::RuleSet;
use elephant_store::{Group, StoredApplication};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AppResult<'a> {
    id: String,
    name: Option<&'a str>,
    username: Option<&'a str>,
    queue_name: Option<&'a str>,
    start_time: Option<i64>,
    finish_time: Option<i64>,
    tracking_url: Option<&'a str>,
    job_type: Option<String>,
    severity: String,
    score: u64,
    workflow_depth: Option<u64>,
    scheduler: Option<String>,
    job_name: Option<&'a str>,
    job_exec_id: String,
    flow_exec_id: Option<String>,
    job_def_id: &'a str,
    flow_def_id: Option<&'a str>,
    job_exec_url: Option<&'a str>,
    flow_exec_url: Option<&'a str>,
    job_def_url: Option<&'a str>,
    flow_def_url: Option<&'a str>,
    resource_used: Option<u64>,
    resource_wasted: Option<u64>,
    total_delay: Option<u64>,
    yarn_app_heuristic_results: Vec<HeuristicResult<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HeuristicResult<'a> {
    heuristic_class: Option<&'a str>,
    heuristic_name: &'a str,
    severity: String,
    score: Option<u64>,
    yarn_app_heuristic_result_details: Vec<Detail<'a>>,
}

#[derive(Serialize)]
struct Detail<'a> {
    name: &'a str,
    value: &'a str,
    details: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UsageOfUser<'a> {
    user: &'a str,
    resource_used: Option<f64>,
    resource_wasted: Option<f64>,
}

/// One application.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn application(app: &StoredApplication, rules: &RuleSet) -> io::Result<Vec<u8>> {
    bytes(&result(app, rules))
}

/// Several in a list.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn applications(apps: &[StoredApplication], rules: &RuleSet) -> io::Result<Vec<u8>> {
    bytes(&results(apps, rules))
}

/// The applications of an execution of a flow, in a list for each of its jobs.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn by_job_execution(apps: &[StoredApplication], rules: &RuleSet) -> io::Result<Vec<u8>> {
    let mut jobs: BTreeMap<String, Vec<AppResult<'_>>> = BTreeMap::new();
    for app in apps {
        jobs.entry(app.run.job_execution()).or_default().push(result(app, rules));
    }
    bytes(&jobs)
}

/// Two executions of flows, by their jobs: for each job, the applications of both executions, or null in the one that did
/// not run it. Dr. Elephant wrote the second execution over the first, so that only that one is in its answers.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn compared(executions: [(&str, &[StoredApplication]); 2], rules: &RuleSet) -> io::Result<Vec<u8>> {
    type OfJob<'a> = BTreeMap<&'a str, Option<Vec<AppResult<'a>>>>;
    let mut jobs: BTreeMap<&str, OfJob<'_>> = BTreeMap::new();
    if executions.iter().all(|(_, apps)| !apps.is_empty()) {
        let names = executions.map(|(name, _)| name);
        for (name, app) in executions.iter().flat_map(|(name, apps)| apps.iter().map(move |app| (*name, app)))
        {
            let of_job = jobs.entry(&app.job).or_insert_with(|| names.map(|name| (name, None)).into());
            of_job.entry(name).or_default().get_or_insert_default().push(result(app, rules));
        }
    }
    bytes(&jobs)
}

/// What each user used, in GB·h, as Dr. Elephant's code has it; its documentation has MB·s.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn users(users: &[Group]) -> io::Result<Vec<u8>> {
    let known = users.iter().filter_map(|group| {
        Some(UsageOfUser {
            user: group.key.as_deref()?,
            resource_used: group.used_gb_hours,
            resource_wasted: group.wasted_gb_hours,
        })
    });
    bytes(&known.collect::<Vec<_>>())
}

fn results<'a>(apps: &'a [StoredApplication], rules: &'a RuleSet) -> Vec<AppResult<'a>> {
    apps.iter().map(|app| result(app, rules)).collect()
}

fn result<'a>(app: &'a StoredApplication, rules: &'a RuleSet) -> AppResult<'a> {
    let run = &app.run;
    let record = Record::from(app);
    let report = WholeReport::of(app.report.as_deref());
    AppResult {
        name: run.name.as_deref(),
        username: run.user.as_deref(),
        queue_name: run.queue.as_deref(),
        start_time: record.start,
        finish_time: record.finish,
        tracking_url: None,
        severity: name(run.severity),
        score: app.score,
        workflow_depth: None,
        job_name: record.job_name(),
        job_def_id: record.job,
        flow_def_id: run.flow.as_deref(),
        job_exec_url: record.link,
        flow_exec_url: None,
        job_def_url: None,
        flow_def_url: None,
        resource_used: record.used(),
        resource_wasted: record.wasted(),
        total_delay: record.wait,
        yarn_app_heuristic_results: heuristics(app, &report, rules).iter().map(heuristic).collect(),
        id: record.id,
        job_type: record.job_type,
        scheduler: record.scheduler,
        job_exec_id: record.job_execution,
        flow_exec_id: record.flow_execution,
    }
}

/// A result with a detail for each of its findings.
fn heuristic<'a>(found: &Heuristic<'a>) -> HeuristicResult<'a> {
    let details = found.findings.iter();
    HeuristicResult {
        heuristic_class: None,
        heuristic_name: found.name,
        severity: name(found.severity),
        score: found.score,
        yarn_app_heuristic_result_details: details
            .map(|finding| Detail { name: &finding.subject, value: &finding.message, details: None })
            .collect(),
    }
}
