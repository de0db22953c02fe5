//! The work of nodes, in the formats of answers.

use std::io::{self, Write};

use serde::Serialize;

use super::super::cells::{number, quoted};
use super::super::grid::{Cell, Column, UNKNOWN};
use super::super::words::plural;
use super::super::wrap::clean;
use elephant_base::units::Millis;
use elephant_store::{NodeSums, Nodes};

/// The first columns. Scripts rely on the names and on their order, so add new columns at the end of [`WORK`].
const NODE: [&str; 2] = ["node", "applications"];

/// What the node did.
pub(super) const WORK: [&str; 13] = [
    "attempts",
    "failed",
    "task_time_ms",
    "lost_executors",
    "node_failures",
    "compared_tasks",
    "stragglers",
    "stragglers_ratio",
    "mean_z",
    "mean_low_z",
    "mean_high_z",
    "level",
    "slow",
];

pub(super) fn csv(nodes: &Nodes, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", [&NODE[..], &WORK].concat().join(","))?;
    nodes.nodes.iter().try_for_each(|node| writeln!(out, "{}", row(node).join(",")))
}

pub(super) fn row(node: &NodeSums) -> [String; NODE.len() + WORK.len()] {
    [
        quoted(&node.name),
        node.applications.to_string(),
        node.attempts.to_string(),
        node.failed.to_string(),
        number(node.task_time.map(Millis::get)),
        node.lost_executors.to_string(),
        node.node_failures.to_string(),
        node.compared.to_string(),
        node.stragglers.to_string(),
        number(node.straggler_share()),
        number(node.mean),
        number(node.interval.map(|interval| interval.low)),
        number(node.interval.map(|interval| interval.high)),
        node.level.map(|level| level.to_string()).unwrap_or_default(),
        node.level.map(|_| node.is_slow.to_string()).unwrap_or_default(),
    ]
}

#[derive(Serialize)]
pub(super) struct NodesView<'a> {
    nodes_count: u64,
    slow_count: u64,
    /// Applications that are missing from the sums.
    nodes_unknown_count: u64,
    nodes: Vec<NodeView<'a>>,
}

#[derive(Serialize)]
struct NodeView<'a> {
    node: &'a str,
    applications_count: u64,
    attempts_count: u64,
    failed_count: u64,
    task_time_ms: Option<u64>,
    executors_lost_count: u64,
    failures_count: u64,
    /// Tasks that are compared with tasks on other nodes.
    tasks_count: u64,
    stragglers_count: u64,
    stragglers_ratio: Option<f64>,
    mean_z: Option<f64>,
    mean_interval_z: Option<IntervalView>,
    level: Option<u32>,
    slow: Option<bool>,
}

#[derive(Serialize)]
struct IntervalView {
    low: f64,
    high: f64,
}

pub(super) fn json(nodes: &Nodes) -> NodesView<'_> {
    NodesView {
        nodes_count: nodes.of,
        slow_count: nodes.slow,
        nodes_unknown_count: nodes.unknown,
        nodes: nodes.nodes.iter().map(view).collect(),
    }
}

fn view(node: &NodeSums) -> NodeView<'_> {
    NodeView {
        node: &node.name,
        applications_count: node.applications,
        attempts_count: node.attempts,
        failed_count: node.failed,
        task_time_ms: node.task_time.map(Millis::get),
        executors_lost_count: node.lost_executors,
        failures_count: node.node_failures,
        tasks_count: node.compared,
        stragglers_count: node.stragglers,
        stragglers_ratio: node.straggler_share(),
        mean_z: node.mean,
        mean_interval_z: node
            .interval
            .map(|interval| IntervalView { low: interval.low, high: interval.high }),
        level: node.level,
        slow: node.level.map(|_| node.is_slow),
    }
}

/// The columns of a table in a terminal.
pub(super) fn columns() -> [Column; 7] {
    [
        Column::key("node", 12, 40),
        Column::number("runs", 5),
        Column::number("tasks", 6).named("attempts"),
        Column::number("failed", 6),
        Column::number("lost", 4).named("lost executors"),
        Column::number("slow %", 6).named("stragglers %"),
        Column::number("mean z", 6),
    ]
}

pub(super) fn cells(node: &NodeSums) -> [Cell; 7] {
    [
        clean(&node.name).into(),
        node.applications.to_string().into(),
        node.attempts.to_string().into(),
        node.failed.to_string().into(),
        node.lost_executors.to_string().into(),
        share(node).unwrap_or_else(|| UNKNOWN.to_owned()).into(),
        mean(node).unwrap_or_else(|| UNKNOWN.to_owned()).into(),
    ]
}

/// "12.5", in percent.
pub(super) fn share(node: &NodeSums) -> Option<String> {
    node.straggler_share().map(|share| format!("{:.1}", 100.0 * share))
}

/// "+0.62", by how many standard deviations its tasks take longer than others.
pub(super) fn mean(node: &NodeSums) -> Option<String> {
    node.mean.map(|mean| format!("{mean:+.2}"))
}

/// The number of slow nodes, and the number of applications whose nodes are unknown; `None` without nodes.
pub(super) fn summary(nodes: &Nodes) -> Option<String> {
    let unknown = match nodes.unknown {
        0 => String::new(),
        count => format!("; without {} whose nodes are unknown", plural(count, "application")),
    };
    if nodes.of == 0 {
        return (nodes.unknown > 0).then(|| "the nodes are unknown".to_owned());
    }
    let all = plural(nodes.of, "node");
    let names: Vec<String> =
        nodes.nodes.iter().filter(|node| node.is_slow).map(|node| clean(&node.name)).collect();
    let more = nodes.slow.saturating_sub(names.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(match nodes.slow {
        0 => format!("{all}, none of them clearly slow{unknown}"),
        slow => format!("{all}, {slow} of them slow: {}{more}{unknown}", names.join(", ")),
    })
}
