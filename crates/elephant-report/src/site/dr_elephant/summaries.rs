//! Summaries of the last applications, jobs and flows, and of what a search finds.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;

use serde::Serialize;

use super::super::json::bytes;
use super::graphs::keep_whole;
use super::heuristics::{HeuristicSummary, summary};
use super::record::{Key, Record, SeverityCount, Sums, grouped, latest_first, severity_counts, sum, text};
use elephant_base::severity::Severity;
use elephant_ruleset::RuleSet;
use elephant_store::{Member, StoredApplication};

/// Flows, and jobs, of a list.
const MOST: usize = 25;

/// Times and memory, as all summaries have them.
#[derive(Serialize)]
pub(super) struct Figures {
    starttime: Option<i64>,
    finishtime: Option<i64>,
    runtime: Option<i64>,
    waittime: Option<i64>,
    resourceused: Option<u64>,
    resourcewasted: Option<u64>,
    severity: &'static str,
}

impl From<&Sums> for Figures {
    fn from(sums: &Sums) -> Self {
        let Sums { start, finish, run_time, wait, used, wasted, severity, .. } = *sums;
        Self {
            starttime: start,
            finishtime: finish,
            runtime: run_time,
            waittime: wait,
            resourceused: used,
            resourcewasted: wasted,
            severity: text(severity),
        }
    }
}

#[derive(Serialize)]
pub(super) struct ApplicationSummary<'a> {
    id: String,
    username: Option<&'a str>,
    #[serde(flatten)]
    figures: Figures,
    queue: Option<&'a str>,
    heuristicsummary: Vec<HeuristicSummary<'a>>,
}

#[derive(Serialize)]
struct NamedApplication<'a> {
    #[serde(flatten)]
    summary: ApplicationSummary<'a>,
    jobname: Option<&'a str>,
    jobtype: Option<String>,
}

#[derive(Serialize)]
pub(super) struct JobSummary<'a> {
    id: String,
    jobname: Option<&'a str>,
    jobtype: Option<&'a str>,
    username: Option<&'a str>,
    #[serde(flatten)]
    figures: Figures,
    queue: Option<&'a str>,
    scheduler: Option<&'a str>,
    /// Only where the job is not a part of the answer on its flow.
    #[serde(flatten)]
    ids: Option<JobIds<'a>>,
    tasksseverity: Vec<SeverityCount>,
}

#[derive(Serialize)]
struct JobIds<'a> {
    jobdefid: &'a str,
    jobexecid: String,
}

#[derive(Serialize)]
struct WorkflowSummary<'a> {
    id: &'a str,
    username: Option<&'a str>,
    #[serde(flatten)]
    figures: Figures,
    queue: Option<&'a str>,
    scheduler: Option<&'a str>,
    flowexecid: &'a str,
    flowdefid: Option<&'a str>,
    jobsseverity: Vec<SeverityCount>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum List<'a> {
    ApplicationSummaries(Vec<NamedApplication<'a>>),
    JobSummaries(Vec<JobSummary<'a>>),
    WorkflowSummaries(Vec<WorkflowSummary<'a>>),
    DashboardSummaries(Dashboard),
    SearchResults(Found<'a>),
    UserDetails(UserDetails<'a>),
}

#[derive(Serialize)]
struct Dashboard {
    id: &'static str,
    total: u64,
    critical: u64,
    severe: u64,
    moderate: u64,
    low: u64,
    none: u64,
}

#[derive(Serialize)]
struct Found<'a> {
    id: &'a str,
    start: usize,
    end: usize,
    total: usize,
    summaries: Vec<ApplicationSummary<'a>>,
}

#[derive(Serialize)]
struct UserDetails<'a> {
    totalapplications: Option<usize>,
    totaljobs: Option<usize>,
    totalworkflows: Option<usize>,
    resourceused: Option<u64>,
    resourcewasted: Option<u64>,
    runtime: Option<i64>,
    waittime: Option<u64>,
    #[serde(flatten)]
    found: Found<'a>,
}

/// The last applications: `/rest/application-summaries`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn application_summaries(apps: &[StoredApplication], rules: &RuleSet) -> io::Result<Vec<u8>> {
    let mut apps: Vec<(Record<'_>, _)> = apps.iter().map(|app| (Record::from(app), app)).collect();
    apps.sort_by_key(|(record, _)| Reverse(record.finish));
    let named = apps.into_iter().map(|(record, app)| NamedApplication {
        jobname: record.job_name(),
        summary: application_summary(&record, app, rules),
        jobtype: record.job_type,
    });
    bytes(&List::ApplicationSummaries(named.collect()))
}

pub(super) fn application_summary<'a>(
    record: &Record<'a>,
    app: &'a StoredApplication,
    rules: &'a RuleSet,
) -> ApplicationSummary<'a> {
    ApplicationSummary {
        id: record.id.clone(),
        username: record.run.user.as_deref(),
        figures: Figures::from(&Sums::of(&[record])),
        queue: record.run.queue.as_deref(),
        heuristicsummary: summary(app, rules),
    }
}

/// The last executions of jobs, of `members` of flows, as many as `most` were asked for: `/rest/job-summaries`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn job_summaries(members: &[Member], most: usize) -> io::Result<Vec<u8>> {
    let records = latest_first(members);
    let mut jobs = grouped(&records, |record| Some(record.job_execution.clone()));
    keep_whole(&mut jobs, (records.len(), most), MOST);
    jobs.sort_by_key(|(_, records)| Reverse(Sums::of(records).finish));
    let jobs = jobs.iter().filter_map(|(execution, records)| {
        let jobdefid = records.first()?.job;
        let ids = JobIds { jobdefid, jobexecid: execution.clone() };
        Some(job_summary(execution, records, Some(ids)))
    });
    bytes(&List::JobSummaries(jobs.collect()))
}

/// The summary of a job's execution within its flow.
pub(super) fn job_of_flow<'a>(execution: &str, records: &[&'a Record<'_>]) -> JobSummary<'a> {
    job_summary(execution, records, None)
}

fn job_summary<'a>(execution: &str, records: &[&'a Record<'_>], ids: Option<JobIds<'a>>) -> JobSummary<'a> {
    JobSummary {
        id: execution.to_owned(),
        jobname: records.iter().find_map(|record| record.job_name()),
        jobtype: records.iter().find_map(|record| record.job_type.as_deref()),
        username: records.iter().find_map(|record| record.run.user.as_deref()),
        figures: Figures::from(&Sums::of(records)),
        queue: records.iter().find_map(|record| record.run.queue.as_deref()),
        scheduler: records.iter().find_map(|record| record.scheduler.as_deref()),
        ids,
        tasksseverity: severity_counts(records.iter().map(|record| record.run.severity)),
    }
}

/// The severities of the jobs of an execution of a flow: each has that of its worst application.
pub(super) fn jobs_severity(records: &[&Record<'_>]) -> Vec<SeverityCount> {
    let jobs = grouped(records.iter().copied(), |record| Some(record.job_execution.clone()));
    severity_counts(jobs.iter().map(|(_, records)| Sums::of(records).severity))
}

/// The last executions of flows: `/rest/workflow-summaries`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn workflow_summaries(members: &[Member], most: usize) -> io::Result<Vec<u8>> {
    let records = latest_first(members);
    let mut flows = grouped(&records, |record| record.flow_execution.clone());
    keep_whole(&mut flows, (records.len(), most), MOST);
    flows.sort_by_key(|(_, records)| Reverse(Sums::of(records).finish));
    let flows = flows.iter().map(|(execution, records)| WorkflowSummary {
        id: execution,
        username: records.iter().find_map(|record| record.run.user.as_deref()),
        figures: Figures::from(&Sums::of(records)),
        queue: records.iter().find_map(|record| record.run.queue.as_deref()),
        scheduler: records.iter().find_map(|record| record.scheduler.as_deref()),
        flowexecid: execution,
        flowdefid: records.iter().find_map(|record| record.run.flow.as_deref()),
        jobsseverity: jobs_severity(records),
    });
    bytes(&List::WorkflowSummaries(flows.collect()))
}

/// How many applications have each severity, the lowest first: `/rest/dashboard-summaries`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn dashboard(counts: [u64; Severity::ALL.len()]) -> io::Result<Vec<u8>> {
    let [none, low, moderate, severe, critical] = counts;
    let total = counts.iter().sum();
    let dashboard = Dashboard { id: "dashboard", total, critical, severe, moderate, low, none };
    bytes(&List::DashboardSummaries(dashboard))
}

/// A part of what was found.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// What was asked for.
    pub id: &'a str,
    /// How many are before it.
    pub start: usize,
    /// How many there are in all parts.
    pub total: usize,
}

fn found<'a>(part: Part<'a>, apps: &'a [StoredApplication], rules: &'a RuleSet) -> Found<'a> {
    let summaries = apps.iter().map(|app| application_summary(&Record::from(app), app, rules));
    let Part { id, start, total } = part;
    Found { id, start, end: start.saturating_add(apps.len()), total, summaries: summaries.collect() }
}

/// A part of what a search found: `/rest/search-results`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn search_results(part: Part<'_>, apps: &[StoredApplication], rules: &RuleSet) -> io::Result<Vec<u8>> {
    bytes(&List::SearchResults(found(part, apps, rules)))
}

/// The applications of some users.
#[derive(Debug, Clone, Copy)]
pub struct OfUsers<'a> {
    /// Those that were read.
    pub members: &'a [Member],
    /// Whether these are all of them; otherwise, their sums say nothing.
    pub are_all: bool,
}

/// What some users used, and a part of their applications: `/rest/user-details`.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn user_details(
    users: OfUsers<'_>,
    part: Part<'_>,
    apps: &[StoredApplication],
    rules: &RuleSet,
) -> io::Result<Vec<u8>> {
    let all: Vec<Record<'_>> = users.members.iter().map(Record::from).collect();
    let jobs: BTreeSet<&str> = all.iter().map(|record| record.job_execution.as_str()).collect();
    let flows: BTreeSet<&str> = all.iter().filter_map(|record| record.flow_execution.as_deref()).collect();
    let known = |count: usize| users.are_all.then_some(count);
    let if_all = |sum: Option<u64>| sum.filter(|_| users.are_all);
    let run_times = all.iter().filter_map(Record::run_time);
    let details = UserDetails {
        totalapplications: known(all.len()),
        totaljobs: known(jobs.len()),
        totalworkflows: known(flows.len()),
        resourceused: if_all(sum(all.iter().map(Record::used))),
        resourcewasted: if_all(sum(all.iter().map(Record::wasted))),
        runtime: run_times.reduce(i64::saturating_add).filter(|_| users.are_all),
        waittime: if_all(sum(all.iter().map(|record| record.wait))),
        found: found(part, apps, rules),
    };
    bytes(&List::UserDetails(details))
}

/// The members in the order of a key; those of which it is unknown are last.
#[must_use]
pub fn in_order(members: &[Member], key: Key, is_increasing: bool) -> Vec<&Member> {
    let mut keyed: Vec<(Option<i64>, &Member)> =
        members.iter().map(|member| (key.of(&Record::from(member)), member)).collect();
    keyed.sort_by_key(|(key, _)| {
        let key = key.map(|key| if is_increasing { key } else { key.saturating_neg() });
        (key.is_none(), key)
    });
    keyed.into_iter().map(|(_, member)| member).collect()
}
