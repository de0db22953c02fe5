//! One execution of a flow, one of a job, and one application: `/rest/workflows`, `/rest/jobs`, `/rest/applications`.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::super::json::bytes;
use super::super::whole_report::WholeReport;
use super::heuristics::heuristics;
use super::record::{Record, SeverityCount, Sums, grouped, latest_first, severity_counts, text};
use super::summaries::{
    ApplicationSummary, Figures, JobSummary, application_summary, job_of_flow, jobs_severity,
};
use elephant_ruleset::RuleSet;
use elephant_store::{Member, StoredApplication};

/// What Dr. Elephant wrote for a cluster that is unknown.
const NO_CLUSTER: &str = "None";

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum One<'a> {
    Workflows(Workflow<'a>),
    Jobs(Job<'a>),
    Applications(Application<'a>),
}

#[derive(Serialize)]
struct Workflow<'a> {
    id: &'a str,
    username: Option<&'a str>,
    #[serde(flatten)]
    figures: Figures,
    flowexecid: &'a str,
    flowdefid: Option<&'a str>,
    queue: Option<&'a str>,
    scheduler: Option<&'a str>,
    jobssummaries: Vec<JobSummary<'a>>,
    jobsseverity: Vec<SeverityCount>,
}

#[derive(Serialize)]
struct Job<'a> {
    id: &'a str,
    username: Option<&'a str>,
    jobname: Option<&'a str>,
    jobtype: Option<&'a str>,
    #[serde(flatten)]
    figures: Figures,
    jobexecid: &'a str,
    jobdefid: Option<&'a str>,
    flowexecid: Option<&'a str>,
    flowdefid: Option<&'a str>,
    queue: Option<&'a str>,
    scheduler: Option<&'a str>,
    cluster: &'a str,
    taskssummaries: Vec<ApplicationSummary<'a>>,
    tasksseverity: Vec<SeverityCount>,
}

#[derive(Serialize)]
struct Application<'a> {
    id: &'a str,
    username: Option<&'a str>,
    jobtype: Option<&'a str>,
    mapreducejobname: Option<&'a str>,
    #[serde(flatten)]
    figures: Figures,
    trackingurl: Option<&'a str>,
    jobexecid: &'a str,
    jobdefid: &'a str,
    flowexecid: Option<&'a str>,
    flowdefid: Option<&'a str>,
    queue: Option<&'a str>,
    yarnappheuristicresults: Vec<HeuristicResult<'a>>,
}

#[derive(Serialize)]
struct HeuristicResult<'a> {
    name: &'a str,
    severity: &'static str,
    details: Vec<Detail<'a>>,
}

#[derive(Serialize)]
struct Detail<'a> {
    name: &'a str,
    value: &'a str,
    details: Option<&'a str>,
}

/// An execution of a flow with the members that it has.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn workflow_details(execution: &str, members: &[Member]) -> io::Result<Vec<u8>> {
    let records = latest_first(members);
    let all: Vec<&Record<'_>> = records.iter().collect();
    let jobs = grouped(&records, |record| Some(record.job_execution.clone()));
    bytes(&One::Workflows(Workflow {
        id: execution,
        username: all.iter().find_map(|record| record.run.user.as_deref()),
        figures: Figures::from(&Sums::of(&all)),
        flowexecid: execution,
        flowdefid: all.iter().find_map(|record| record.run.flow.as_deref()),
        queue: all.iter().find_map(|record| record.run.queue.as_deref()),
        scheduler: all.iter().find_map(|record| record.scheduler.as_deref()),
        jobssummaries: jobs.iter().map(|(execution, records)| job_of_flow(execution, records)).collect(),
        jobsseverity: jobs_severity(&all),
    }))
}

/// An execution of a job with all that is stored of its applications.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn job_details(execution: &str, apps: &[StoredApplication], rules: &RuleSet) -> io::Result<Vec<u8>> {
    let mut both: Vec<(Record<'_>, &StoredApplication)> =
        apps.iter().map(|app| (Record::from(app), app)).collect();
    both.sort_by_key(|(record, _)| std::cmp::Reverse(record.finish));
    let all: Vec<&Record<'_>> = both.iter().map(|(record, _)| record).collect();
    bytes(&One::Jobs(Job {
        id: execution,
        username: all.iter().find_map(|record| record.run.user.as_deref()),
        jobname: all.iter().find_map(|record| record.job_name()),
        jobtype: all.iter().find_map(|record| record.job_type.as_deref()),
        figures: Figures::from(&Sums::of(&all)),
        jobexecid: execution,
        jobdefid: all.first().map(|record| record.job),
        flowexecid: all.iter().find_map(|record| record.flow_execution.as_deref()),
        flowdefid: all.iter().find_map(|record| record.run.flow.as_deref()),
        queue: all.iter().find_map(|record| record.run.queue.as_deref()),
        scheduler: all.iter().find_map(|record| record.scheduler.as_deref()),
        cluster: all.iter().find_map(|record| record.run.cluster.as_deref()).unwrap_or(NO_CLUSTER),
        taskssummaries: both.iter().map(|(record, app)| application_summary(record, app, rules)).collect(),
        tasksseverity: severity_counts(all.iter().map(|record| record.run.severity)),
    }))
}

/// An application with its heuristics.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn application_details(app: &StoredApplication, rules: &RuleSet) -> io::Result<Vec<u8>> {
    let record = Record::from(app);
    let report = WholeReport::of(app.report.as_deref());
    let results = heuristics(app, &report, rules).into_iter().map(|found| HeuristicResult {
        name: found.name,
        severity: text(found.severity),
        details: found
            .findings
            .iter()
            .map(|finding| Detail { name: &finding.subject, value: &finding.message, details: None })
            .collect(),
    });
    bytes(&One::Applications(Application {
        id: &record.id,
        username: app.run.user.as_deref(),
        jobtype: record.job_type.as_deref(),
        mapreducejobname: record.job_name(),
        figures: Figures::from(&Sums::of(&[&record])),
        trackingurl: None,
        jobexecid: &record.job_execution,
        jobdefid: record.job,
        flowexecid: record.flow_execution.as_deref(),
        flowdefid: app.run.flow.as_deref(),
        queue: app.run.queue.as_deref(),
        yarnappheuristicresults: results.collect(),
    }))
}

/// An answer without content: an empty object below a key.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn no_details(key: &str) -> io::Result<Vec<u8>> {
    bytes(&Json::Object([(key.to_owned(), Json::Object(Map::new()))].into_iter().collect()))
}
