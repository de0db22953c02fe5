//! Answers as JSON. The ending of a key names its unit, and unknown values are `null`.

mod realised;

use std::io::{self, Write};

use serde::Serialize;

use super::super::json::{Tool, write_pretty};
use super::{nodes, unjudged};
use elephant_base::units::{Millis, Timestamp};
use elephant_store::{
    Answer, Change, Fleet, Group, Grouped, Grouping, Measure, OverTime, PerMonth, Periods, Ranked, Run, Runs,
    SettingChange, Unread, View,
};

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u64,
    tool: Tool,
    from: Option<String>,
    until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<&'a str>,
    total: GroupView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    periods: Option<PeriodsView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupsView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedies_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedies: Option<Vec<RemedyView<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    realised: Option<realised::RealisedView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<nodes::NodesView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<UnreadView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_judged: Option<unjudged::View<'a>>,
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
pub(crate) struct GroupView<'a> {
    key: Option<&'a str>,
    applications_count: u64,
    failed_count: u64,
    killed_count: u64,
    not_judged_count: u64,
    memory_unknown_count: u64,
    severity: &'static str,
    runtime_ms: Option<u64>,
    resource_used_gb_hours: Option<f64>,
    resource_wasted_gb_hours: Option<f64>,
    core_hours: Option<f64>,
    /// Memory used by the applications whose waste is known.
    resource_judged_gb_hours: Option<f64>,
    saves_gb_hours: Option<f64>,
    saves_ms: Option<u64>,
    /// In addition, where only an upper limit is known.
    saves_more_at_most_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_unknown_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    saves_cost: Option<f64>,
    /// In each of the periods.
    #[serde(skip_serializing_if = "Option::is_none")]
    over_time: Option<OverTimeView<'a>>,
}

#[derive(Serialize)]
struct PeriodsView<'a> {
    unit: &'static str,
    /// The first day of each period.
    from: &'a [String],
    resource_used_gb_hours: &'a [Option<f64>],
    resource_wasted_gb_hours: &'a [Option<f64>],
}

#[derive(Serialize)]
struct OverTimeView<'a> {
    resource_used_gb_hours: &'a [Option<f64>],
    resource_wasted_gb_hours: &'a [Option<f64>],
}

#[derive(Serialize)]
struct RemedyView<'a> {
    setting: &'a str,
    direction: &'static str,
    saved_gb_hours: Option<f64>,
    saved_ms: Option<u64>,
    applications_count: u64,
    jobs_count: u64,
    most_often: MostOften<'a>,
}

#[derive(Serialize)]
struct MostOften<'a> {
    from: Option<&'a str>,
    to: &'a str,
    applications_count: u64,
}

#[derive(Serialize)]
struct UnreadView<'a> {
    files_count: u64,
    problems: Vec<UnreadKindView<'a>>,
}

#[derive(Serialize)]
struct UnreadKindView<'a> {
    problem: &'a str,
    files_count: u64,
    example: &'a str,
}

#[derive(Serialize)]
struct JobView<'a> {
    key: &'a str,
    runs_count: u64,
    /// If they go on as until now; `null` if too few are known.
    per_month: Option<PerMonthView>,
    changes: Vec<ChangeView<'a>>,
}

#[derive(Serialize)]
struct PerMonthView {
    runs: f64,
    resource_used_gb_hours: Option<f64>,
    saves_gb_hours: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    saves_cost: Option<f64>,
}

#[derive(Serialize)]
struct SettingView<'a> {
    setting: &'a str,
    from: Option<&'a str>,
    to: Option<&'a str>,
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
    /// The settings that changed with it; `null` if they are not known.
    settings: Option<Vec<SettingView<'a>>>,
}

#[derive(Serialize)]
pub(crate) struct RunView<'a> {
    id: &'a str,
    attempt: Option<&'a str>,
    source: &'a str,
    cluster: Option<&'a str>,
    name: Option<&'a str>,
    user: Option<&'a str>,
    queue: Option<&'a str>,
    flow: Option<&'a str>,
    flow_run: Option<&'a str>,
    task: Option<&'a str>,
    owner: Option<&'a str>,
    status: &'a str,
    submitted_at: Option<String>,
    runtime_ms: Option<u64>,
    resource_used_gb_hours: Option<f64>,
    resource_wasted_gb_hours: Option<f64>,
    saves_gb_hours: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    severity: &'static str,
    trouble: Option<&'a str>,
    remedy: Option<&'a str>,
}

pub(super) fn write(answer: &Answer, summary: bool, out: &mut dyn Write) -> io::Result<()> {
    let Answer { total, from, until, currency, view } = answer;
    let fleet = match view {
        View::Overview(fleet) if !summary => Some(&**fleet),
        _ => None,
    };
    let nodes = match view {
        View::Overview(fleet) => Some(&fleet.nodes),
        View::Nodes(nodes) => Some(nodes),
        _ => None,
    };
    let (groups, job, applications) = match view {
        _ if summary => (Vec::new(), None, None),
        View::Overview(fleet) => (groups_of(fleet), None, None),
        View::Groups(grouping, grouped) => (vec![groups(*grouping, grouped)], None, None),
        View::Nodes(_) | View::Unjudged(_) => (Vec::new(), None, None),
        View::Worst(runs) => (Vec::new(), None, Some(runs.iter().map(run).collect())),
        View::Job(runs) => (Vec::new(), Some(job(answer, runs)), Some(runs.shown.iter().map(run).collect())),
    };
    let document = Document {
        schema_version: 1,
        tool: Tool::THIS,
        from: from.and_then(Timestamp::to_rfc3339),
        until: until.and_then(Timestamp::to_rfc3339),
        currency: currency.as_deref(),
        total: group(total),
        periods: fleet.and_then(|fleet| Some(periods(fleet.periods.as_ref()?, &fleet.over_time))),
        groups,
        remedies_count: fleet.map(|fleet| fleet.remedies_of),
        remedies: fleet.map(remedies),
        realised: fleet.map(|fleet| realised::view(fleet, currency.is_some())),
        nodes: nodes.filter(|_| !summary).map(nodes::json),
        unread: fleet.map(unread),
        not_judged: match view {
            View::Unjudged(all) if !summary => Some(unjudged::json(all)),
            _ => None,
        },
        job,
        applications,
    };
    write_pretty(&document, out)
}

fn groups(grouping: Grouping, grouped: &Grouped) -> GroupsView<'_> {
    let groups = grouped.groups.iter().map(group).collect();
    GroupsView { by: grouping.name(), groups_count: grouped.of, groups }
}

fn groups_of(fleet: &Fleet) -> Vec<GroupsView<'_>> {
    vec![
        ranked(Grouping::Job, &fleet.jobs),
        groups(Grouping::Trouble, &fleet.troubles),
        ranked(Grouping::User, &fleet.users),
        ranked(Grouping::Queue, &fleet.queues),
    ]
}

fn ranked(grouping: Grouping, ranked: &Ranked) -> GroupsView<'_> {
    let rows = ranked.grouped.groups.iter().enumerate().map(|(place, own)| GroupView {
        over_time: ranked.over_time.get(place).map(over_time),
        ..group(own)
    });
    GroupsView { by: grouping.name(), groups_count: ranked.grouped.of, groups: rows.collect() }
}

fn over_time(values: &OverTime) -> OverTimeView<'_> {
    let OverTime { used_gb_hours, wasted_gb_hours } = values;
    OverTimeView { resource_used_gb_hours: used_gb_hours, resource_wasted_gb_hours: wasted_gb_hours }
}

fn periods<'a>(periods: &'a Periods, all: &'a OverTime) -> PeriodsView<'a> {
    PeriodsView {
        unit: periods.unit(),
        from: &periods.names,
        resource_used_gb_hours: &all.used_gb_hours,
        resource_wasted_gb_hours: &all.wasted_gb_hours,
    }
}

fn remedies(fleet: &Fleet) -> Vec<RemedyView<'_>> {
    let all = fleet.remedies.iter().map(|remedy| RemedyView {
        setting: &remedy.setting,
        direction: remedy.direction.name(),
        saved_gb_hours: remedy.saved_gb_hours,
        saved_ms: remedy.saved_time.map(Millis::get),
        applications_count: remedy.applications,
        jobs_count: remedy.jobs,
        most_often: MostOften {
            from: remedy.from.as_deref(),
            to: &remedy.to,
            applications_count: remedy.alike,
        },
    });
    all.collect()
}

fn unread(fleet: &Fleet) -> UnreadView<'_> {
    UnreadView { files_count: fleet.unread_of, problems: fleet.unread.iter().map(unread_kind).collect() }
}

fn unread_kind(kind: &Unread) -> UnreadKindView<'_> {
    UnreadKindView { problem: &kind.problem, files_count: kind.files, example: &kind.example }
}

pub(crate) fn group(group: &Group) -> GroupView<'_> {
    GroupView {
        key: group.key.as_deref(),
        applications_count: group.applications,
        failed_count: group.failed,
        killed_count: group.killed,
        not_judged_count: group.unjudged,
        memory_unknown_count: group.unmeasured,
        severity: group.severity.name(),
        runtime_ms: group.run_time.map(Millis::get),
        resource_used_gb_hours: group.used_gb_hours,
        resource_wasted_gb_hours: group.wasted_gb_hours,
        core_hours: group.core_hours,
        resource_judged_gb_hours: group.judged_gb_hours,
        saves_gb_hours: group.saved_gb_hours,
        saves_ms: group.saved_time.map(Millis::get),
        saves_more_at_most_ms: group.limit_time.map(Millis::get),
        cost: group.cost,
        cost_unknown_count: group.cost.map(|_| group.unpriced),
        saves_cost: group.saved_cost,
        over_time: None,
    }
}

fn job<'a>(answer: &Answer, runs: &'a Runs) -> JobView<'a> {
    JobView {
        key: &runs.job,
        runs_count: runs.of,
        per_month: answer.per_month().map(per_month),
        changes: runs.changes.iter().map(change).collect(),
    }
}

fn setting(change: &SettingChange) -> SettingView<'_> {
    SettingView { setting: &change.setting, from: change.from.as_deref(), to: change.to.as_deref() }
}

fn per_month(of: PerMonth) -> PerMonthView {
    PerMonthView {
        runs: of.runs,
        resource_used_gb_hours: of.used_gb_hours,
        saves_gb_hours: of.saved_gb_hours,
        cost: of.cost,
        saves_cost: of.saved_cost,
    }
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
        settings: change.settings.as_ref().map(|settings| settings.iter().map(setting).collect()),
    }
}

pub(crate) fn run(run: &Run) -> RunView<'_> {
    RunView {
        id: &run.id,
        attempt: run.attempt.as_deref(),
        source: &run.source,
        cluster: run.cluster.as_deref(),
        name: run.name.as_deref(),
        user: run.user.as_deref(),
        queue: run.queue.as_deref(),
        flow: run.flow.as_deref(),
        flow_run: run.flow_run.as_deref(),
        task: run.task.as_deref(),
        owner: run.owner.as_deref(),
        status: &run.status,
        submitted_at: run.submitted.and_then(Timestamp::to_rfc3339),
        runtime_ms: run.run_time.map(Millis::get),
        resource_used_gb_hours: run.used_gb_hours,
        resource_wasted_gb_hours: run.wasted_gb_hours,
        saves_gb_hours: run.saved_gb_hours,
        cost: run.cost,
        severity: run.severity.name(),
        trouble: run.trouble.as_ref().map(|(cause, _)| cause.as_str()),
        remedy: run.trouble.as_ref().and_then(|(_, remedy)| remedy.as_deref()),
    }
}
