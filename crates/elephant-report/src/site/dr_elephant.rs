//! Applications and users as the API of Dr. Elephant had them, for scripts that ask it. What its store had and ours does
//! not is null.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::json::bytes;
use super::whole_report::{Identity, WholeReport};
use elephant_base::severity::Severity;
use elephant_base::units::{Millis, Timestamp};
use elephant_base::whole::Whole as _;
use elephant_ruleset::RuleInfo;
use elephant_store::{Group, StoredApplication};

/// Dr. Elephant counted in MiB·s.
const MB_SECONDS_PER_GB_HOUR: f64 = 1024.0 * 3600.0;

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
    job_exec_id: Option<String>,
    flow_exec_id: Option<String>,
    job_def_id: &'a str,
    flow_def_id: Option<String>,
    job_exec_url: Option<String>,
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
    resource_used: Option<u64>,
    resource_wasted: Option<u64>,
}

/// One application: `/rest/job`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn application(app: &StoredApplication, rules: &[&RuleInfo]) -> io::Result<Vec<u8>> {
    bytes(&result(app, rules))
}

/// Several: `/rest/search`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn applications(apps: &[StoredApplication], rules: &[&RuleInfo]) -> io::Result<Vec<u8>> {
    bytes(&apps.iter().map(|app| result(app, rules)).collect::<Vec<_>>())
}

/// What each user used: `/rest/resourceusagedatabyuser`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn users(users: &[Group]) -> io::Result<Vec<u8>> {
    let known = users.iter().filter_map(|group| {
        Some(UsageOfUser {
            user: group.key.as_deref()?,
            resource_used: mb_seconds(group.used_gb_hours),
            resource_wasted: mb_seconds(group.wasted_gb_hours),
        })
    });
    bytes(&known.collect::<Vec<_>>())
}

fn result<'a>(app: &'a StoredApplication, rules: &[&'a RuleInfo]) -> AppResult<'a> {
    let run = &app.run;
    let mut report = WholeReport::of(app.report.as_deref());
    let heuristics = heuristics(app, &report, rules);
    let identity = report.identity.take();
    let of_scheduler = |part: fn(&Identity) -> &Option<String>| part(identity.as_ref()?).clone();
    let end = || Some(run.submitted?.as_millis().saturating_add_unsigned(run.run_time.map(Millis::get)?));
    AppResult {
        // Dr. Elephant knew MapReduce's jobs by their names at YARN.
        id: run
            .id
            .strip_prefix("job_")
            .map_or_else(|| run.id.clone(), |numbers| format!("application_{numbers}")),
        name: run.name.as_deref(),
        username: run.user.as_deref(),
        queue_name: run.queue.as_deref(),
        start_time: run.submitted.map(Timestamp::as_millis),
        finish_time: app.finished.map(Timestamp::as_millis).or_else(end),
        tracking_url: None,
        job_type: if app.engine == "spark" { Some("Spark".to_owned()) } else { report.job_type },
        severity: severity(run.severity),
        score: app.score,
        workflow_depth: None,
        scheduler: of_scheduler(|identity| &identity.scheduler),
        job_name: run.name.as_deref(),
        job_exec_id: of_scheduler(|identity| &identity.task),
        flow_exec_id: of_scheduler(|identity| &identity.run),
        job_def_id: &app.job,
        flow_def_id: of_scheduler(|identity| &identity.flow),
        job_exec_url: of_scheduler(|identity| &identity.link),
        flow_exec_url: None,
        job_def_url: None,
        flow_def_url: None,
        resource_used: mb_seconds(run.used_gb_hours),
        resource_wasted: mb_seconds(run.wasted_gb_hours),
        total_delay: report.wait.map(Millis::get),
        yarn_app_heuristic_results: heuristics,
    }
}

/// One result for each rule, with a detail for each of its findings.
fn heuristics<'a>(
    app: &'a StoredApplication,
    report: &WholeReport,
    rules: &[&'a RuleInfo],
) -> Vec<HeuristicResult<'a>> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut results: Vec<(Severity, HeuristicResult<'a>)> = Vec::new();
    for finding in &app.findings {
        let place = *places.entry(&finding.rule).or_insert_with(|| {
            let info = rules.iter().find(|info| *info.id == *finding.rule);
            let result = HeuristicResult {
                heuristic_class: None,
                heuristic_name: info.map_or(&finding.rule, |info| &info.title),
                severity: String::new(),
                score: report.score(&finding.rule),
                yarn_app_heuristic_result_details: Vec::new(),
            };
            results.push((Severity::None, result));
            results.len() - 1
        });
        if let Some((worst, result)) = results.get_mut(place) {
            *worst = finding.severity.max(*worst);
            result.severity = severity(*worst);
            let detail = Detail { name: &finding.subject, value: &finding.message, details: None };
            result.yarn_app_heuristic_result_details.push(detail);
        }
    }
    results.into_iter().map(|(_, result)| result).collect()
}

/// As the names of Dr. Elephant's constants.
fn severity(severity: Severity) -> String {
    severity.name().to_ascii_uppercase()
}

fn mb_seconds(gb_hours: Option<f64>) -> Option<u64> {
    gb_hours.map(|hours| (hours * MB_SECONDS_PER_GB_HOUR).round().as_u64())
}
