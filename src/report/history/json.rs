//! Answers as JSON. The ending of a key names its unit, and unknown values are `null`.

use std::io::{self, Write};

use serde::Serialize;

use super::super::json::{Tool, write_pretty};
use super::words;
use crate::store::{Answer, Change, Group, Grouped, Grouping, Measure, Run, Runs, View};
use crate::units::{Millis, Timestamp};

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u64,
    tool: Tool,
    from: Option<String>,
    until: Option<String>,
    total: GroupView<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupsView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applications: Option<Vec<RunView<'a>>>,
}

#[derive(Serialize)]
struct GroupsView<'a> {
    by: &'static str,
    groups_count: u64,
    groups: Vec<GroupView<'a>>,
}

#[derive(Serialize)]
struct GroupView<'a> {
    key: Option<&'a str>,
    applications_count: u64,
    failed_count: u64,
    not_judged_count: u64,
    memory_unknown_count: u64,
    severity: &'static str,
    runtime_ms: Option<u64>,
    resource_used_gb_hours: Option<f64>,
    resource_wasted_gb_hours: Option<f64>,
    core_hours: Option<f64>,
    saves_gb_hours: f64,
    saves_ms: u64,
}

#[derive(Serialize)]
struct JobView<'a> {
    key: &'a str,
    runs_count: u64,
    changes: Vec<ChangeView<'a>>,
}

#[derive(Serialize)]
struct ChangeView<'a> {
    measure: &'static str,
    first: &'a str,
    since: Option<String>,
    before: f64,
    after: f64,
    runs_before_count: u64,
    runs_after_count: u64,
}

#[derive(Serialize)]
struct RunView<'a> {
    id: &'a str,
    attempt: Option<&'a str>,
    source: &'a str,
    name: Option<&'a str>,
    user: Option<&'a str>,
    queue: Option<&'a str>,
    status: &'a str,
    submitted_at: Option<String>,
    runtime_ms: Option<u64>,
    resource_used_gb_hours: Option<f64>,
    resource_wasted_gb_hours: Option<f64>,
    saves_gb_hours: Option<f64>,
    severity: &'static str,
    trouble: Option<&'a str>,
    remedy: Option<&'a str>,
}

pub(super) fn write(answer: &Answer, summary: bool, out: &mut dyn Write) -> io::Result<()> {
    let Answer { total, from, until, view } = answer;
    let (groups, job, applications) = match view {
        _ if summary => (Vec::new(), None, None),
        View::Overview { jobs, troubles, users } => {
            let all = [(Grouping::Job, jobs), (Grouping::Trouble, troubles), (Grouping::User, users)];
            (all.map(|(grouping, grouped)| groups(grouping, grouped)).into(), None, None)
        }
        View::Groups(grouping, grouped) => (vec![groups(*grouping, grouped)], None, None),
        View::Worst(runs) => (Vec::new(), None, Some(runs.iter().map(run).collect())),
        View::Job(runs) => (Vec::new(), Some(job(runs)), Some(runs.shown.iter().map(run).collect())),
    };
    let document = Document {
        schema_version: 1,
        tool: Tool::THIS,
        from: from.and_then(Timestamp::to_rfc3339),
        until: until.and_then(Timestamp::to_rfc3339),
        total: group(total),
        groups,
        job,
        applications,
    };
    write_pretty(&document, out)
}

fn groups(grouping: Grouping, grouped: &Grouped) -> GroupsView<'_> {
    let groups = grouped.groups.iter().map(group).collect();
    GroupsView { by: words::key(grouping), groups_count: grouped.of, groups }
}

fn group(group: &Group) -> GroupView<'_> {
    GroupView {
        key: group.key.as_deref(),
        applications_count: group.applications,
        failed_count: group.failed,
        not_judged_count: group.unjudged,
        memory_unknown_count: group.unmeasured,
        severity: group.severity.name(),
        runtime_ms: group.run_time.map(Millis::get),
        resource_used_gb_hours: group.used_gb_hours,
        resource_wasted_gb_hours: group.wasted_gb_hours,
        core_hours: group.core_hours,
        saves_gb_hours: group.saved_gb_hours,
        saves_ms: group.saved_time.get(),
    }
}

fn job(runs: &Runs) -> JobView<'_> {
    JobView { key: &runs.job, runs_count: runs.of, changes: runs.changes.iter().map(change).collect() }
}

fn change(change: &Change) -> ChangeView<'_> {
    ChangeView {
        measure: match change.measure {
            Measure::RunTime => "runtime_ms",
            Measure::Used => "resource_used_gb_hours",
        },
        first: &change.first,
        since: change.since.and_then(Timestamp::to_rfc3339),
        before: change.before,
        after: change.after,
        runs_before_count: change.runs_before,
        runs_after_count: change.runs_after,
    }
}

fn run(run: &Run) -> RunView<'_> {
    RunView {
        id: &run.id,
        attempt: run.attempt.as_deref(),
        source: &run.source,
        name: run.name.as_deref(),
        user: run.user.as_deref(),
        queue: run.queue.as_deref(),
        status: &run.status,
        submitted_at: run.submitted.and_then(Timestamp::to_rfc3339),
        runtime_ms: run.run_time.map(Millis::get),
        resource_used_gb_hours: run.used_gb_hours,
        resource_wasted_gb_hours: run.wasted_gb_hours,
        saves_gb_hours: run.saved_gb_hours,
        severity: run.severity.name(),
        trouble: run.trouble.as_ref().map(|(cause, _)| cause.as_str()),
        remedy: run.trouble.as_ref().and_then(|(_, remedy)| remedy.as_deref()),
    }
}
