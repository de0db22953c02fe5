//! From the tasks of an application to z-scores of nodes.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::score::z_scores;
use super::settings::Settings;
use crate::model::table::{TaskGroup, TaskKind, TimePoint};
use crate::model::{Application, Interner, Symbol};
use crate::stats::descriptive::median;
use crate::units::{Millis, Timestamp};

const MILLIS_OF_A_DAY: i64 = 86_400_000;

/// What is known of nodes: of one application, or of many that were merged.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    nodes: Vec<NodeSample>,
    places: FxHashMap<Box<str>, usize>,
    /// The groups that the samples come from.
    pub groups: GroupCounts,
}

/// The normalised task times of one node.
#[derive(Debug, Clone, Default)]
pub struct NodeSample {
    /// The host as the histories write it.
    pub name: Box<str>,
    /// The rack that the histories declare first.
    pub rack: Option<Box<str>>,
    /// A z-score for each successful attempt, in the order of the histories.
    pub scores: Vec<f64>,
    /// How many of these attempts were stragglers of their group.
    pub stragglers: u64,
    /// Sums for each day (UTC, in days since 1970) on which attempts started.
    pub days: BTreeMap<i32, DaySum>,
}

/// The z-scores of one day.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DaySum {
    /// How many there are.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
    /// The sum of their squares.
    pub squares: f64,
}

/// What became of the groups of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupCounts {
    /// Groups whose tasks have z-scores.
    pub used: u64,
    /// Groups with too few successful tasks.
    pub too_small: u64,
    /// Groups whose tasks all took the same time.
    pub without_spread: u64,
    /// Successful attempts in the groups used.
    pub tasks: u64,
    /// Those of them whose node the history does not name: they count in their group, and for no node.
    pub tasks_without_node: u64,
}

/// A node within one [`Collected`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeIndex(usize);

/// A successful attempt.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Where it ran.
    pub node: Option<NodeIndex>,
    /// When it started.
    pub start: Option<Timestamp>,
    /// From its start to its end.
    pub run_time: Millis,
}

impl Collected {
    /// The z-scores of an application's tasks: successful attempts of maps, reduces and stages, each group by itself,
    /// originals and winning copies alike, each for its own node.
    #[must_use]
    pub fn of(app: &Application, settings: &Settings) -> Self {
        let mut collected = Self::default();
        let mut known = Vec::new();
        for group in &app.groups {
            if matches!(group.kind, TaskKind::Map | TaskKind::Reduce | TaskKind::Stage(_)) {
                let runs = collected.runs(group, &app.strings, &mut known, settings);
                collected.add_group(&runs, settings);
            }
        }
        collected
    }

    fn runs(
        &mut self,
        group: &TaskGroup,
        strings: &Interner,
        known: &mut Vec<Option<NodeIndex>>,
        settings: &Settings,
    ) -> Vec<Run> {
        let attempts = &group.attempts;
        let mut runs = Vec::new();
        for row in group.winners() {
            let start = attempts.time(row, TimePoint::Start);
            let Some(run_time) = attempts.run_time(row).filter(|_| settings.counts(start)) else { continue };
            let rack = attempts.rack(row);
            let node = attempts.node(row).and_then(|node| self.node_of(node, rack, strings, known));
            runs.push(Run { node, start, run_time });
        }
        runs
    }

    fn node_of(
        &mut self,
        node: Symbol,
        rack: Option<Symbol>,
        strings: &Interner,
        known: &mut Vec<Option<NodeIndex>>,
    ) -> Option<NodeIndex> {
        let place = node.index() as usize;
        if let Some(index) = known.get(place).copied().flatten() {
            return Some(index);
        }
        let index = self.node(strings.get(node)?, rack.and_then(|rack| strings.get(rack)));
        if known.len() <= place {
            known.resize(place + 1, None);
        }
        if let Some(slot) = known.get_mut(place) {
            *slot = Some(index);
        }
        Some(index)
    }

    /// The node of this name, new or known.
    pub fn node(&mut self, name: &str, rack: Option<&str>) -> NodeIndex {
        let next = self.nodes.len();
        let place = *self.places.entry(name.into()).or_insert(next);
        if place == next {
            self.nodes.push(NodeSample { name: name.into(), ..NodeSample::default() });
        }
        if let Some(node) = self.nodes.get_mut(place)
            && node.rack.is_none()
        {
            node.rack = rack.map(Into::into);
        }
        NodeIndex(place)
    }

    /// Adds the successful attempts of one group.
    pub fn add_group(&mut self, runs: &[Run], settings: &Settings) {
        if runs.is_empty() {
            return;
        }
        if runs.len() < settings.min_group {
            self.groups.too_small += 1;
            return;
        }
        let times: Vec<f64> = runs.iter().map(|run| run.run_time.as_f64() / 1000.0).collect();
        let Some(scores) = z_scores(&times, 1) else {
            self.groups.without_spread += 1;
            return;
        };
        // A median of 0 is no measure of what takes long.
        let limit = median(&times).filter(|&usual| usual > 0.0).map(|usual| settings.straggler * usual);
        self.groups.used += 1;
        self.groups.tasks += runs.len() as u64;
        for ((run, time), score) in runs.iter().zip(times).zip(scores) {
            let Some(node) = run.node.and_then(|NodeIndex(place)| self.nodes.get_mut(place)) else {
                self.groups.tasks_without_node += 1;
                continue;
            };
            node.scores.push(score);
            node.stragglers += u64::from(limit.is_some_and(|limit| time >= limit));
            if let Some(day) = run.start.and_then(day_of) {
                let sum = node.days.entry(day).or_default();
                sum.count += 1;
                sum.sum += score;
                sum.squares += score * score;
            }
        }
    }

    /// Adds what another application tells. Nodes of one name are one node.
    pub fn merge(&mut self, other: Self) {
        for sample in other.nodes {
            if sample.scores.is_empty() {
                continue;
            }
            let NodeIndex(place) = self.node(&sample.name, sample.rack.as_deref());
            let Some(node) = self.nodes.get_mut(place) else { continue };
            if node.scores.is_empty() {
                node.scores = sample.scores;
            } else {
                node.scores.extend(sample.scores);
            }
            node.stragglers += sample.stragglers;
            for (day, sum) in sample.days {
                let total = node.days.entry(day).or_default();
                total.count += sum.count;
                total.sum += sum.sum;
                total.squares += sum.squares;
            }
        }
        let GroupCounts { used, too_small, without_spread, tasks, tasks_without_node } = other.groups;
        self.groups.used += used;
        self.groups.too_small += too_small;
        self.groups.without_spread += without_spread;
        self.groups.tasks += tasks;
        self.groups.tasks_without_node += tasks_without_node;
    }

    /// The nodes that have z-scores, by name.
    #[must_use]
    pub fn into_nodes(self) -> Vec<NodeSample> {
        let mut nodes = self.nodes;
        nodes.retain(|node| !node.scores.is_empty());
        nodes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        nodes
    }
}

/// The day (UTC) as a number of days since 1970.
fn day_of(at: Timestamp) -> Option<i32> {
    i32::try_from(at.as_millis().div_euclid(MILLIS_OF_A_DAY)).ok()
}

/// The moment at which a day begins.
#[must_use]
pub fn beginning_of(day: i32) -> Timestamp {
    Timestamp::from_millis(i64::from(day) * MILLIS_OF_A_DAY)
}
