//! Physical plans of SQL executions (`SparkPlanInfo`).

use std::sync::LazyLock;

use memchr::memmem::{Finder, FinderRev};

use super::strings::{Local, Strings};
use crate::parse::scan::{Cursor, Scan, Unexpected};

/// Maximum depth of a plan: its longest chain of operators. Deeper parts are skipped.
const MAX_DEPTH: u32 = 200;

/// Whether plans are read: they are a third of a log of short queries, and rules use only the joins of shuffled data. In a
/// skipped plan, damage goes unnoticed as long as what follows it is intact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plans {
    Kept,
    PassedOver,
}

/// The operators that join shuffled data. Adaptive execution may add to their names: `SortMergeJoin(skew=true)`.
const SHUFFLED_JOINS: [&str; 2] = ["SortMergeJoin", "ShuffledHashJoin"];

/// A plan: parents before children.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) nodes: Vec<Node>,
    pub(super) metrics: Vec<Metric>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: Option<Local>,
    pub(super) parent: Option<u32>,
}

#[derive(Debug)]
pub(super) struct Metric {
    pub(super) node: u32,
    pub(super) name: Local,
    pub(super) kind: Local,
    pub(super) accumulator: u64,
}

/// Reads a plan.
pub(super) fn read(cursor: &mut Cursor<'_>, strings: &mut Strings) -> Scan<Plan> {
    let mut plan = Plan::default();
    node(cursor, strings, None, 0, &mut plan)?;
    plan.metrics.sort_by_key(|metric| metric.node);
    Ok(plan)
}

/// Moves a cursor from the start of a plan to the bracket that ends it, without reading the plan. A guess: the caller
/// must read everything after it.
pub(super) type Shortcut = fn(&mut Cursor<'_>) -> Scan<()>;

/// Skips a plan, by a shortcut if it applies, except for its joins of shuffled data.
pub(super) fn pass_over(
    cursor: &mut Cursor<'_>,
    strings: &mut Strings,
    shortcut: Option<Shortcut>,
) -> Scan<Plan> {
    let start = *cursor;
    if let Some(shortcut) = shortcut {
        shortcut(cursor)?;
        cursor.expect(b'}')?;
    } else if cursor.skip_value().is_err() {
        // A plan may nest deeper than the cursor can skip.
        *cursor = start;
        node(cursor, &mut Strings::default(), None, 0, &mut Plan::default())?;
    }
    let passed = start.rest().len().saturating_sub(cursor.rest().len());
    if !start.rest().get(..passed).is_some_and(names_shuffled_join) {
        return Ok(Plan::default());
    }
    let mut again = start;
    Ok(read(&mut again, strings).map(|plan| plan.shuffled_joins(strings)).unwrap_or_default())
}

/// Whether a text names an operator that joins shuffled data.
fn names_shuffled_join(plan: &[u8]) -> bool {
    static JOIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"Join"));
    JOIN.find_iter(plan).any(|at| {
        let before = plan.get(..at).unwrap_or_default();
        SHUFFLED_JOINS.iter().any(|name| before.ends_with(name.trim_end_matches("Join").as_bytes()))
    })
}

impl Plan {
    /// Only the operators that join shuffled data, with their metrics.
    fn shuffled_joins(mut self, strings: &Strings) -> Self {
        let mut places = vec![None; self.nodes.len()];
        let mut kept = Vec::new();
        for (place, node) in places.iter_mut().zip(self.nodes) {
            let name = node.name.map(|name| strings.get(name)).unwrap_or_default();
            if SHUFFLED_JOINS.iter().any(|join| name.starts_with(join)) {
                *place = u32::try_from(kept.len()).ok();
                kept.push(Node { parent: None, ..node });
            }
        }
        let place = |node: u32| places.get(usize::try_from(node).ok()?).copied().flatten();
        self.metrics.retain_mut(|metric| {
            place(metric.node).is_some_and(|place| {
                metric.node = place;
                true
            })
        });
        Self { nodes: kept, metrics: self.metrics }
    }
}

/// The shortcut for the start of an execution: its time follows the plan. No string contains this text, because a quote
/// after a comma ends any string.
pub(super) fn skip_to_time(cursor: &mut Cursor<'_>) -> Scan<()> {
    static TIME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"},\"time\":"));
    let end = TIME.find(cursor.rest()).ok_or(Unexpected)?;
    cursor.skip(end);
    Ok(())
}

/// The shortcut for a new plan, which is the last member of its event. Its own last member is read: the metrics of the
/// topmost operator.
pub(super) fn skip_to_end(cursor: &mut Cursor<'_>) -> Scan<()> {
    const NEAR: usize = 8 << 10;
    static METRICS: LazyLock<FinderRev<'static>> = LazyLock::new(|| FinderRev::new(b",\"metrics\":["));
    let rest = cursor.rest();
    let far = rest.len().saturating_sub(NEAR);
    let at = METRICS.rfind(rest.get(far..).ok_or(Unexpected)?).ok_or(Unexpected)?;
    cursor.skip(far + at + METRICS.needle().len() - 1);
    cursor.skip_value()
}

fn node(
    cursor: &mut Cursor<'_>,
    strings: &mut Strings,
    parent: Option<u32>,
    depth: u32,
    plan: &mut Plan,
) -> Scan<()> {
    const KEYS: [&[u8]; 3] = [b"\"nodeName\":", b"\"children\":", b"\"metrics\":"];
    let place = plan.nodes.len();
    let own = u32::try_from(place).unwrap_or(u32::MAX);
    plan.nodes.push(Node { name: None, parent });
    cursor.members(&KEYS, |key, cursor| match key {
        0 => {
            let name = strings.read(cursor)?;
            if let Some(node) = plan.nodes.get_mut(place) {
                node.name = name;
            }
            Ok(())
        }
        1 if depth < MAX_DEPTH => cursor.elements(|cursor| node(cursor, strings, Some(own), depth + 1, plan)),
        1 => cursor.skip_value(),
        _ => cursor.elements(|cursor| metric(cursor, strings, own, &mut plan.metrics)),
    })?;
    if let Some(node) = plan.nodes.get_mut(place).filter(|node| node.name.is_none()) {
        node.name = strings.intern("");
    }
    Ok(())
}

fn metric(cursor: &mut Cursor<'_>, strings: &mut Strings, node: u32, metrics: &mut Vec<Metric>) -> Scan<()> {
    const KEYS: [&[u8]; 3] = [b"\"name\":", b"\"accumulatorId\":", b"\"metricType\":"];
    let (mut name, mut accumulator, mut kind) = (None, None, None);
    cursor.members(&KEYS, |key, cursor| {
        match key {
            0 => name = strings.read(cursor)?,
            1 => accumulator = cursor.integer_or_skip()?,
            _ => kind = strings.read(cursor)?,
        }
        Ok(())
    })?;
    let accumulator = accumulator.and_then(|id| u64::try_from(id).ok());
    if let (Some(name), Some(kind), Some(accumulator)) = (name, kind, accumulator) {
        metrics.push(Metric { node, name, kind, accumulator });
    }
    Ok(())
}
