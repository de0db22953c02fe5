//! Physical plans of SQL executions (`SparkPlanInfo`).

use std::sync::LazyLock;

use memchr::memmem::{Finder, FinderRev};

use super::strings::{Local, Strings};
use crate::scan::{Cursor, Scan, Unexpected};

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
    read_operators(cursor, Operators::All, strings)
}

fn read_operators(cursor: &mut Cursor<'_>, operators: Operators, strings: &mut Strings) -> Scan<Plan> {
    let mut reader = Reader { operators, strings, plan: Plan::default() };
    reader.node(cursor, None, 0)?;
    let mut plan = reader.plan;
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
        read(cursor, &mut Strings::default())?;
    }
    let passed = start.rest().len().saturating_sub(cursor.rest().len());
    if !start.rest().get(..passed).is_some_and(names_shuffled_join) {
        return Ok(Plan::default());
    }
    let mut again = start;
    Ok(read_operators(&mut again, Operators::ShuffledJoins, strings).unwrap_or_default())
}

/// Whether a text names an operator that joins shuffled data.
fn names_shuffled_join(plan: &[u8]) -> bool {
    static JOIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"Join"));
    JOIN.find_iter(plan).any(|at| {
        let before = plan.get(..at).unwrap_or_default();
        SHUFFLED_JOINS.iter().any(|name| before.ends_with(name.trim_end_matches("Join").as_bytes()))
    })
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

/// Which operators of a plan are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operators {
    All,
    /// Those that join shuffled data, without parents.
    ShuffledJoins,
}

struct Reader<'s> {
    operators: Operators,
    strings: &'s mut Strings,
    plan: Plan,
}

impl Reader<'_> {
    /// Reads an operator and those below it.
    fn node(&mut self, cursor: &mut Cursor<'_>, parent: Option<u32>, depth: u32) -> Scan<()> {
        const KEYS: [&[u8]; 3] = [b"\"nodeName\":", b"\"children\":", b"\"metrics\":"];
        let mut place = match self.operators {
            Operators::All => Some(self.push("", parent)),
            Operators::ShuffledJoins => None,
        };
        let mut passed_metrics = None;
        cursor.members(&KEYS, |key, cursor| match key {
            0 => {
                self.name(cursor, &mut place)?;
                // Spark writes the name first. Otherwise, it decides only now whether metrics are read.
                let (Some(place), Some(mut metrics)) = (place, passed_metrics.take()) else { return Ok(()) };
                self.metrics(&mut metrics, place)
            }
            1 if depth < MAX_DEPTH => cursor.elements(|cursor| self.node(cursor, place, depth + 1)),
            1 => cursor.skip_value(),
            _ => {
                if let Some(place) = place {
                    return self.metrics(cursor, place);
                }
                passed_metrics = Some(*cursor);
                cursor.skip_value()
            }
        })
    }

    /// Reads the name of an operator: the operator at `place`, or a new one if its name decides that it is kept.
    fn name(&mut self, cursor: &mut Cursor<'_>, place: &mut Option<u32>) -> Scan<()> {
        let Some(name) = cursor.string_or_skip()? else { return Ok(()) };
        let name = name.text();
        match (self.operators, *place) {
            (Operators::ShuffledJoins, None) => {
                if SHUFFLED_JOINS.iter().any(|join| name.starts_with(join)) {
                    *place = Some(self.push(&name, None));
                }
            }
            (_, place) => {
                let node = place.and_then(|place| self.plan.nodes.get_mut(usize::try_from(place).ok()?));
                if let Some(node) = node {
                    node.name = self.strings.intern(&name);
                }
            }
        }
        Ok(())
    }

    fn metrics(&mut self, cursor: &mut Cursor<'_>, node: u32) -> Scan<()> {
        cursor.elements(|cursor| metric(cursor, self.strings, node, &mut self.plan.metrics))
    }

    fn push(&mut self, name: &str, parent: Option<u32>) -> u32 {
        let place = u32::try_from(self.plan.nodes.len()).unwrap_or(u32::MAX);
        let parent = parent.filter(|_| self.operators == Operators::All);
        self.plan.nodes.push(Node { name: self.strings.intern(name), parent });
        place
    }
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
