//! The work of nodes, in the formats of answers.

use serde::Serialize;

use super::links::Links;
use crate::document::{Block, Cell, Column, Media, Row, Section, Table, Value};
use crate::words::plural;
use crate::wrap::clean;
use elephant_base::units::Millis;
use elephant_store::{NodeSums, Nodes};

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

/// The nodes, the slowest first. `summary` are the formats that say here how many are slow.
pub(crate) fn ranking(nodes: &Nodes, summary: Media, links: Links) -> Section<'_> {
    const NOTE: &str = "z is by how many standard deviations tasks took longer than the others of their stage or kind. The slowest nodes come first; those with few tasks are last.";
    let section =
        Section::new("nodes", "Nodes", "Nodes").only(summary, self::summary(nodes).map(Block::Lead));
    if nodes.nodes.is_empty() {
        return section;
    }
    let columns = [
        Column::key("node", 12, 40),
        Column::number("runs", 5),
        Column::number("tasks", 6).long("attempts"),
        Column::number("failed", 6),
        Column::number("task time", 0).only(Media::WIDE),
        Column::number("lost", 4).long("lost executors"),
        Column::number("slow %", 6).long("stragglers").in_list("stragglers %"),
        Column::number("mean z", 6),
    ];
    let row = |node: &NodeSums| {
        let name = Cell::from(node.name.clone()).remark(node.is_slow.then(|| Value::words("slow")));
        let share = node.straggler_share();
        Row::new([
            name,
            node.applications.into(),
            node.attempts.into(),
            node.failed.into(),
            node.task_time.into(),
            node.lost_executors.into(),
            Value::known(share, |share| Value::Percent(100.0 * share, 1)).into(),
            Value::known(node.mean, |mean| Value::Sorted(format!("{mean:+.2}"), Some(mean))).into(),
        ])
    };
    section
        .with(Block::Table(Table::new(columns, nodes.nodes.iter().map(row))))
        .hiding(super::words::hidden(nodes.of, nodes.nodes.len()), links.more())
        .only(Media::HTML, Block::Note(NOTE.to_owned()))
}

/// The number of slow nodes, and the number of applications whose nodes are unknown; `None` without nodes.
pub(crate) fn summary(nodes: &Nodes) -> Option<String> {
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
