//! Why the jobs of an execution of a flow failed: `/rest/workflow-exceptions`, `/rest/exception-statuses`.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use super::super::json::bytes;
use super::super::whole_report::WholeReport;
use super::record::Record;
use elephant_store::StoredApplication;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Answer<'a> {
    WorkflowExceptions(Vec<Job<'a>>),
    ExceptionStatuses(Statuses<'a>),
}

#[derive(Serialize)]
struct Job<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    #[serde(flatten)]
    told: Told,
    status: &'static str,
}

/// Jobs of an engine have applications, killed ones only say so.
#[derive(Serialize)]
#[serde(untagged)]
enum Told {
    Applications { applications: Vec<Application> },
    Summary(Summary),
}

#[derive(Serialize)]
struct Application {
    name: String,
    #[serde(flatten)]
    summary: Summary,
    tasks: Vec<Application>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    exception_summary: Option<String>,
}

#[derive(Serialize)]
struct Statuses<'a> {
    exceptionenabled: &'static str,
    schedulers: Vec<Scheduler<'a>>,
    id: &'static str,
}

#[derive(Serialize)]
struct Scheduler<'a> {
    name: &'a str,
}

/// The jobs with applications that failed or were killed, of all applications of an execution.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn workflow_exceptions(apps: &[StoredApplication]) -> io::Result<Vec<u8>> {
    let records: Vec<(Record<'_>, &StoredApplication)> =
        apps.iter().filter(|app| has_failed(app)).map(|app| (Record::from(app), app)).collect();
    let mut jobs: BTreeMap<&str, Vec<&(Record<'_>, &StoredApplication)>> = BTreeMap::new();
    for both in &records {
        jobs.entry(both.0.job_name().unwrap_or(&both.0.id)).or_default().push(both);
    }
    let jobs = jobs.into_iter().map(|(name, apps)| job(name, &apps));
    bytes(&Answer::WorkflowExceptions(jobs.collect()))
}

fn has_failed(app: &StoredApplication) -> bool {
    ["failed", "killed"].contains(&app.run.status.as_str())
}

/// One job, by the names of Dr. Elephant's constants.
fn job<'a>(name: &'a str, apps: &[&(Record<'_>, &StoredApplication)]) -> Job<'a> {
    let all_killed = apps.iter().all(|(_, app)| app.run.status == "killed");
    let is_spark = apps.iter().any(|(_, app)| app.engine == "spark");
    let (kind, told) = if all_killed {
        let mut causes = apps.iter().filter_map(|(_, app)| cause(app));
        ("KILL", Told::Summary(Summary { exception_summary: causes.next() }))
    } else {
        let applications = apps.iter().map(|(record, app)| Application {
            name: record.id.clone(),
            summary: Summary { exception_summary: cause(app) },
            tasks: Vec::new(),
        });
        let applications = applications.collect();
        (if is_spark { "SPARK" } else { "MR" }, Told::Applications { applications })
    };
    Job { name, kind, id: name, told, status: "failed" }
}

/// The kinds of failures with their causes, one a line; without any, the cause of its first trouble.
fn cause(app: &StoredApplication) -> Option<String> {
    let report = WholeReport::of(app.report.as_deref());
    let failures = report.failures().map(|(kind, cause)| format!("{kind}: {cause}"));
    let told = failures.reduce(|told, next| format!("{told}\n{next}"));
    told.or_else(|| app.run.trouble.as_ref().map(|(cause, _)| cause.clone()))
}

/// The schedulers whose flows have answers.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn exception_statuses(schedulers: &[String]) -> io::Result<Vec<u8>> {
    bytes(&Answer::ExceptionStatuses(Statuses {
        exceptionenabled: if schedulers.is_empty() { "false" } else { "true" },
        schedulers: schedulers.iter().map(|name| Scheduler { name }).collect(),
        id: "exception-status",
    }))
}
