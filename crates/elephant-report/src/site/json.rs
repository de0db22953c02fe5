//! Answers of the API as JSON, with the keys of `history --format json`.

use std::io;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::history::json::{RunView, run};
use crate::json::{Tool, write_pretty};
use elephant_base::units::{Millis, Timestamp};
use elephant_store::{Execution, FlowHistory, Group, Matches, Matching, StoredApplication, View};

#[derive(Serialize)]
struct List<'a> {
    schema_version: u64,
    tool: Tool,
    /// How many match, or the number beyond which they are not counted.
    applications_count: u64,
    /// Whether there are more than that.
    applications_count_is_least: bool,
    /// What `after` of the next part is.
    next: Option<String>,
    applications: Vec<RunView<'a>>,
}

#[derive(Serialize)]
struct Jobs<'a> {
    schema_version: u64,
    tool: Tool,
    jobs_count: u64,
    /// What `after` of the next part is.
    next: Option<&'a str>,
    jobs: Vec<crate::history::json::GroupView<'a>>,
}

#[derive(Serialize)]
struct Flow<'a> {
    schema_version: u64,
    tool: Tool,
    flow: &'a str,
    scheduler: Option<&'a str>,
    link: Option<&'a str>,
    total: crate::history::json::GroupView<'a>,
    executions_count: u64,
    /// The last one first.
    executions: Vec<ExecutionView<'a>>,
    jobs_count: u64,
    jobs: Vec<crate::history::json::GroupView<'a>>,
}

#[derive(Serialize)]
struct ExecutionView<'a> {
    run: Option<&'a str>,
    /// If no application tells the run.
    day: Option<&'a str>,
    began_at: Option<String>,
    runtime_ms: Option<u64>,
    applications_count: u64,
    failed_count: u64,
    killed_count: u64,
    not_judged_count: u64,
    resource_used_gb_hours: Option<f64>,
    resource_wasted_gb_hours: Option<f64>,
    saves_gb_hours: Option<f64>,
    severity: &'static str,
}

#[derive(Serialize)]
struct One<'a> {
    schema_version: u64,
    tool: Tool,
    applications: Vec<Whole<'a>>,
}

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    run: RunView<'a>,
    engine: &'a str,
    job: &'a str,
    complete: bool,
    /// Why the history is not complete, as far as that is known.
    incomplete: Option<&'a str>,
    judged: bool,
    /// The address of its page in the scheduler.
    link: Option<&'a str>,
    finished_at: Option<String>,
    tasks_count: Option<u64>,
    failed_attempts_count: Option<u64>,
    nodes_count: Option<u64>,
    core_hours: Option<f64>,
    saves_ms: Option<u64>,
    score: u64,
    files_count: u64,
    read_at: Option<String>,
    read_by_version: &'a str,
    troubles: Vec<Trouble<'a>>,
    findings: Vec<Finding<'a>>,
    settings: Vec<Setting<'a>>,
    /// The application of the JSON report.
    report: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Trouble<'a> {
    kind: &'a str,
    severity: &'static str,
    cause: &'a str,
    remedy: Option<&'a str>,
    saves_gb_hours: Option<f64>,
    saves_ms: Option<u64>,
}

#[derive(Serialize)]
struct Finding<'a> {
    rule: &'a str,
    severity: &'static str,
    subject: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct Setting<'a> {
    setting: &'a str,
    from: Option<&'a str>,
    to: &'a str,
}

pub(super) fn bytes(document: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    write_pretty(document, &mut out)?;
    Ok(out)
}

/// A part of the applications that match.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn applications(found: &Matches) -> io::Result<Vec<u8>> {
    let (applications_count, applications_count_is_least) = match found.of {
        Matching::Exactly(count) => (count, false),
        Matching::MoreThan(count) => (count, true),
    };
    bytes(&List {
        schema_version: 1,
        tool: Tool::THIS,
        applications_count,
        applications_count_is_least,
        next: found.next.map(|next| next.to_string()),
        applications: found.runs.iter().map(run).collect(),
    })
}

/// The applications with one id.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn application(found: &[StoredApplication]) -> io::Result<Vec<u8>> {
    bytes(&One { schema_version: 1, tool: Tool::THIS, applications: found.iter().map(whole).collect() })
}

/// Some jobs of so many, and the key of the last one if there are more.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn jobs(jobs: &[Group], of: u64, next: Option<&str>) -> io::Result<Vec<u8>> {
    let jobs = jobs.iter().map(crate::history::json::group).collect();
    bytes(&Jobs { schema_version: 1, tool: Tool::THIS, jobs_count: of, next, jobs })
}

/// A flow, its last executions, and its jobs.
///
/// # Errors
/// Returns the errors of writing, of which there are none in memory.
pub fn flow(history: &FlowHistory) -> io::Result<Vec<u8>> {
    let FlowHistory { flow, scheduler: (scheduler, link), jobs, executions, of } = history;
    let (groups, jobs_count) = match &jobs.view {
        View::Groups(_, grouped) => (grouped.groups.as_slice(), grouped.of),
        _ => (&[][..], 0),
    };
    bytes(&Flow {
        schema_version: 1,
        tool: Tool::THIS,
        flow,
        scheduler: scheduler.as_deref(),
        link: link.as_deref(),
        total: crate::history::json::group(&jobs.total),
        executions_count: *of,
        executions: executions.iter().map(execution).collect(),
        jobs_count,
        jobs: groups.iter().map(crate::history::json::group).collect(),
    })
}

fn execution(of: &Execution) -> ExecutionView<'_> {
    ExecutionView {
        run: of.run.as_deref(),
        day: of.day.as_deref(),
        began_at: of.begin.and_then(Timestamp::to_rfc3339),
        runtime_ms: of.run_time.map(Millis::get),
        applications_count: of.applications,
        failed_count: of.failed,
        killed_count: of.killed,
        not_judged_count: of.unjudged,
        resource_used_gb_hours: of.used_gb_hours,
        resource_wasted_gb_hours: of.wasted_gb_hours,
        saves_gb_hours: of.saved_gb_hours,
        severity: of.severity.name(),
    }
}

fn whole(app: &StoredApplication) -> Whole<'_> {
    let troubles = app.troubles.iter().map(|trouble| Trouble {
        kind: &trouble.kind,
        severity: trouble.severity.name(),
        cause: &trouble.cause,
        remedy: trouble.remedy.as_deref(),
        saves_gb_hours: trouble.saved_gb_hours,
        saves_ms: trouble.saved_time.map(Millis::get),
    });
    let findings = app.findings.iter().map(|finding| Finding {
        rule: &finding.rule,
        severity: finding.severity.name(),
        subject: &finding.subject,
        message: &finding.message,
    });
    let settings = app.settings.iter().map(|setting| Setting {
        setting: &setting.name,
        from: setting.from.as_deref(),
        to: &setting.to,
    });
    Whole {
        run: run(&app.run),
        engine: &app.engine,
        job: &app.job,
        complete: app.is_complete,
        incomplete: app.incomplete.as_deref(),
        judged: app.is_judged,
        link: app.link.as_deref(),
        finished_at: app.finished.and_then(Timestamp::to_rfc3339),
        tasks_count: app.tasks,
        failed_attempts_count: app.failed_attempts,
        nodes_count: app.nodes,
        core_hours: app.core_hours,
        saves_ms: app.saved_time.map(Millis::get),
        score: app.score,
        files_count: app.files,
        read_at: app.read.to_rfc3339(),
        read_by_version: &app.tool,
        troubles: troubles.collect(),
        findings: findings.collect(),
        settings: settings.collect(),
        report: app.report.as_deref().and_then(|report| serde_json::from_str(report).ok()),
    }
}
