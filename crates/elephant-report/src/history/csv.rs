//! Answers as CSV: one line for each group, or for each application.

mod overview;

use std::io::{self, Write};

use super::{unjudged, words};
use crate::document::Value;
use crate::document::csv::{self, Column};
use elephant_base::units::Millis;
use elephant_store::{Answer, Change, Group, Measure, NodeSums, Run, Runs, View};

/// A group, and what it is grouped by.
type Named<'a> = (&'static str, &'a Group);

pub(super) fn of_groups<'a>() -> [Column<Named<'a>>; 18] {
    [
        ("by", |(by, _)| (*by).into()),
        ("key", |(_, group)| group.key.as_deref().into()),
        ("applications", |(_, group)| group.applications.into()),
        ("failed", |(_, group)| group.failed.into()),
        ("not_judged", |(_, group)| group.unjudged.into()),
        ("memory_unknown", |(_, group)| group.unmeasured.into()),
        ("severity", |(_, group)| group.severity.name().into()),
        ("runtime_ms", |(_, group)| group.run_time.into()),
        ("resource_used_gb_hours", |(_, group)| group.used_gb_hours.into()),
        ("resource_wasted_gb_hours", |(_, group)| group.wasted_gb_hours.into()),
        ("saves_gb_hours", |(_, group)| group.saved_gb_hours.into()),
        ("saves_ms", |(_, group)| group.saved_time.into()),
        ("cost", |(_, group)| group.cost.into()),
        ("saves_cost", |(_, group)| group.saved_cost.into()),
        ("resource_judged_gb_hours", |(_, group)| group.judged_gb_hours.into()),
        ("cost_unknown", |(_, group)| group.cost.map(|_| group.unpriced).into()),
        ("saves_more_at_most_ms", |(_, group)| group.limit_time.into()),
        ("killed", |(_, group)| group.killed.into()),
    ]
}

const OF_RUNS: [Column<Run>; 16] = [
    ("application", |run| run.id.as_str().into()),
    ("attempt", |run| run.attempt.as_deref().into()),
    ("source", |run| run.source.as_str().into()),
    ("name", |run| run.name.as_deref().into()),
    ("user", |run| run.user.as_deref().into()),
    ("queue", |run| run.queue.as_deref().into()),
    ("status", |run| run.status.as_str().into()),
    ("submitted_at", |run| run.submitted.into()),
    ("runtime_ms", |run| run.run_time.into()),
    ("resource_used_gb_hours", |run| run.used_gb_hours.into()),
    ("resource_wasted_gb_hours", |run| run.wasted_gb_hours.into()),
    ("saves_gb_hours", |run| run.saved_gb_hours.into()),
    ("severity", |run| run.severity.name().into()),
    ("trouble", |run| run.trouble.as_ref().map(|(cause, _)| cause.as_str()).into()),
    ("cost", |run| run.cost.into()),
    ("cluster", |run| run.cluster.as_deref().into()),
];

/// What a scheduler calls them, after all other columns.
const OF_SCHEDULERS: [Column<Run>; 4] = [
    ("flow", |run| run.flow.as_deref().into()),
    ("flow_run", |run| run.flow_run.as_deref().into()),
    ("task", |run| run.task.as_deref().into()),
    ("owner", |run| run.owner.as_deref().into()),
];

/// What to change against the first trouble; runs of one job would repeat it.
const REMEDY: Column<Run> =
    ("remedy", |run| run.trouble.as_ref().and_then(|(_, remedy)| remedy.as_deref()).into());

/// The medians before and after a change, in the row of the first run after it.
fn of_changes<'a>() -> [Column<Vec<&'a Change>>; 4] {
    [
        ("runtime_before_ms", |changes| median(changes, Measure::RunTime, |change| change.before)),
        ("runtime_after_ms", |changes| median(changes, Measure::RunTime, |change| change.after)),
        ("resource_used_before_gb_hours", |changes| median(changes, Measure::Used, |change| change.before)),
        ("resource_used_after_gb_hours", |changes| median(changes, Measure::Used, |change| change.after)),
    ]
}

fn median(changes: &[&Change], measure: Measure, side: fn(&Change) -> f64) -> Value<'static> {
    changes.iter().find(|change| change.measure == measure).map(|change| side(change)).into()
}

pub(super) const OF_NODES: [Column<NodeSums>; 15] = [
    ("node", |node| node.name.as_str().into()),
    ("applications", |node| node.applications.into()),
    ("attempts", |node| node.attempts.into()),
    ("failed", |node| node.failed.into()),
    ("task_time_ms", |node| node.task_time.map(Millis::get).into()),
    ("lost_executors", |node| node.lost_executors.into()),
    ("node_failures", |node| node.node_failures.into()),
    ("compared_tasks", |node| node.compared.into()),
    ("stragglers", |node| node.stragglers.into()),
    ("stragglers_ratio", |node| node.straggler_share().into()),
    ("mean_z", |node| node.mean.into()),
    ("mean_low_z", |node| node.interval.map(|interval| interval.low).into()),
    ("mean_high_z", |node| node.interval.map(|interval| interval.high).into()),
    ("level", |node| node.level.into()),
    ("slow", |node| node.level.map(|_| node.is_slow).into()),
];

pub(super) fn write(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    match &answer.view {
        View::Overview(fleet) => overview::write(answer, fleet, out),
        View::Groups(grouping, grouped) => {
            let named: Vec<Named<'_>> = grouped.groups.iter().map(|group| (grouping.name(), group)).collect();
            csv::write(&of_groups(), &named, out)
        }
        View::Nodes(all) => csv::write(&OF_NODES, &all.nodes, out),
        View::Worst(all) => csv::write(&[&OF_RUNS[..], &[REMEDY], &OF_SCHEDULERS].concat(), all, out),
        View::Unjudged(all) => unjudged::csv(all, out),
        View::Job(runs) => job(runs, out),
    }
}

fn job(runs: &Runs, out: &mut dyn Write) -> io::Result<()> {
    let titles = [csv::titles(&OF_RUNS), csv::titles(&of_changes()), csv::titles(&OF_SCHEDULERS)];
    writeln!(out, "{}", titles.join(","))?;
    runs.shown.iter().try_for_each(|run| {
        let changes: Vec<&Change> = words::changes_with(run, runs).collect();
        let cells =
            [csv::row(&OF_RUNS, run), csv::row(&of_changes(), &changes), csv::row(&OF_SCHEDULERS, run)];
        writeln!(out, "{}", cells.join(","))
    })
}
