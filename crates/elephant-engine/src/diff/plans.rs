//! The plan of a query, as far as two runs of it can be compared: what it computes, and how.

use std::collections::{BTreeMap, BTreeSet};

use super::side::Query;
use crate::fingerprint::{hash, normalise};
use elephant_query::{OperatorKind, QuerySummary, without_numbers};

/// What differs between the plans of two runs of a query.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanChange {
    /// A join whose tables or keys are the same uses another strategy.
    Join {
        /// Its keys; empty for none.
        on: String,
        /// The strategy on the first side, such as `SortMergeJoin`.
        a: String,
        /// The strategy on the second side.
        b: String,
    },
    /// A source is scanned in another way.
    Scan {
        /// The table or path.
        source: String,
        /// What differs: the node, its columns, or the filters that it was given.
        what: &'static str,
        /// That on the first side.
        a: String,
        /// That on the second side.
        b: String,
    },
    /// The second side has an operator more often: an exchange, a broadcast, a join or a scan.
    Added {
        /// The operator with what it works on.
        operator: String,
        /// How many more there are.
        count: usize,
    },
    /// The second side has an operator less often.
    Lost {
        /// The operator with what it works on.
        operator: String,
        /// How many fewer there are.
        count: usize,
    },
}

/// A hash of what a query computes, the same in all runs; `None` if its plan tells nothing.
pub(crate) fn computed_by(query: &QuerySummary) -> Option<String> {
    Plan::of(&query.into()).computes()
}

/// What a plan computes and how.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What it computes, whatever the strategies: without ids, literals, exchanges and sorts.
    pub(super) shape: BTreeSet<String>,
    /// The strategies of its joins, in the order of the plan, by what is joined.
    joins: BTreeMap<String, Vec<String>>,
    /// Its scans by source.
    scans: BTreeMap<String, Scan>,
    /// How often rows move to other tasks, by how they are distributed.
    exchanges: BTreeMap<String, usize>,
}

/// A scan of a source. A source that is scanned several times has the parts of all of its scans.
#[derive(Debug, Default, PartialEq, Eq)]
struct Scan {
    count: usize,
    nodes: BTreeSet<String>,
    columns: BTreeSet<String>,
    partition_filters: BTreeSet<String>,
    pushed_filters: BTreeSet<String>,
}

impl Plan {
    /// The last plan of a query.
    pub(super) fn of(query: &Query) -> Self {
        let mut plan = Self::default();
        for operator in query.operators.iter().filter(|operator| !operator.replaced) {
            plan.add(&without_numbers(&operator.text));
        }
        plan
    }

    /// A hash of what it computes; `None` if its texts tell nothing.
    fn computes(&self) -> Option<String> {
        let shape: Vec<&str> = self.shape.iter().map(String::as_str).collect();
        (!shape.is_empty()).then(|| hash(&shape.join("\n")))
    }

    fn add(&mut self, text: &str) {
        let node = text.split([' ', '(', '[']).next().unwrap_or_default();
        match OperatorKind::of(node) {
            OperatorKind::Join(_) => {
                let (on, joined) = joined(text);
                self.shape.insert(format!("join {joined}"));
                self.joins.entry(on).or_default().push(node.to_owned());
            }
            OperatorKind::Scan | OperatorKind::CachedScan | OperatorKind::Source => {
                let source = source(text);
                self.shape.insert(format!("scan {source}"));
                self.scans.entry(source).or_default().add(node, text);
            }
            kind @ (OperatorKind::Exchange | OperatorKind::Broadcast) => {
                let how = if kind == OperatorKind::Broadcast { node.to_owned() } else { distribution(text) };
                *self.exchanges.entry(how).or_default() += 1;
            }
            OperatorKind::Subquery if node.ends_with("SubqueryBroadcast") => {
                *self.exchanges.entry(node.to_owned()).or_default() += 1;
            }
            OperatorKind::Aggregate => {
                let (keys, _) = list_after(text, "keys=").unwrap_or_default();
                self.shape.insert(format!("aggregate by {}", without_literals(keys)));
            }
            OperatorKind::Write => {
                self.shape.insert(format!("write {}", normalise(&start_of(text))));
            }
            kind @ (OperatorKind::Window
            | OperatorKind::Union
            | OperatorKind::Limit
            | OperatorKind::Python) => {
                self.shape.insert(format!("{kind:?}"));
            }
            // Filters and columns move into scans, and sorts come and go with strategies.
            _ => {}
        }
    }

    /// What differs in another plan.
    pub(super) fn changes(&self, other: &Self) -> Vec<PlanChange> {
        let mut changes = BTreeSet::new();
        self.changed_joins(other, &mut changes);
        self.changed_scans(other, &mut changes);
        counted(&self.exchanges, &other.exchanges, &mut changes);
        changes.into_iter().collect()
    }

    fn changed_joins(&self, other: &Self, changes: &mut BTreeSet<PlanChange>) {
        let none = Vec::new();
        let all: BTreeSet<&String> = self.joins.keys().chain(other.joins.keys()).collect();
        for on in all {
            let (a, b) = (self.joins.get(on).unwrap_or(&none), other.joins.get(on).unwrap_or(&none));
            for (a, b) in a.iter().zip(b).filter(|(a, b)| a != b) {
                changes.insert(PlanChange::Join { on: on.clone(), a: a.clone(), b: b.clone() });
            }
            // What one side has more often.
            let mut counts = [BTreeMap::new(), BTreeMap::new()];
            let named = |strategy: &String| {
                if on.is_empty() { strategy.clone() } else { format!("{strategy} on {on}") }
            };
            let both = a.len().min(b.len());
            for (side, count) in [a, b].into_iter().zip(&mut counts) {
                for strategy in side.iter().skip(both) {
                    *count.entry(named(strategy)).or_default() += 1;
                }
            }
            let [a, b] = counts;
            counted(&a, &b, changes);
        }
    }

    fn changed_scans(&self, other: &Self, changes: &mut BTreeSet<PlanChange>) {
        let counts = |plan: &Self| -> BTreeMap<String, usize> {
            plan.scans.iter().map(|(source, scan)| (format!("scan of {source}"), scan.count)).collect()
        };
        counted(&counts(self), &counts(other), changes);
        for (source, a) in &self.scans {
            let Some(b) = other.scans.get(source) else { continue };
            let parts: [(&'static str, &BTreeSet<String>, &BTreeSet<String>); 4] = [
                ("node", &a.nodes, &b.nodes),
                ("columns", &a.columns, &b.columns),
                ("partition filters", &a.partition_filters, &b.partition_filters),
                ("pushed filters", &a.pushed_filters, &b.pushed_filters),
            ];
            for (what, a, b) in parts.into_iter().filter(|(_, a, b)| a != b) {
                let list = |of: &BTreeSet<String>| of.iter().cloned().collect::<Vec<_>>().join(", ");
                changes.insert(PlanChange::Scan { source: source.clone(), what, a: list(a), b: list(b) });
            }
        }
    }
}

impl Scan {
    fn add(&mut self, node: &str, text: &str) {
        self.count += 1;
        self.nodes.insert(node.to_owned());
        let list = |key: &str| {
            let of =
                list_after(text, key).into_iter().flat_map(|(list, _)| parts_of(list)).map(without_literals);
            of.collect::<BTreeSet<String>>()
        };
        self.partition_filters.extend(list("PartitionFilters: "));
        self.pushed_filters.extend(list("PushedFilters: "));
        // "ReadSchema: struct<c:bigint,v:bigint>".
        let schema = text.split_once("ReadSchema: struct<").and_then(|(_, rest)| rest.rsplit_once('>'));
        let columns = schema.map(|(columns, _)| columns).filter(|columns| !columns.contains("..."));
        let names = columns.into_iter().flat_map(|columns| columns.split(','));
        self.columns.extend(names.filter_map(|column| column.split(':').next()).map(str::to_owned));
    }
}

/// A part of a name is no longer than this.
const LONGEST: usize = 200;

/// Adds what is there more or less often.
fn counted(a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>, changes: &mut BTreeSet<PlanChange>) {
    let all: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for operator in all {
        let [a, b] = [a, b].map(|side| side.get(operator).copied().unwrap_or_default());
        let operator = operator.clone();
        if b > a {
            changes.insert(PlanChange::Added { operator, count: b - a });
        } else if a > b {
            changes.insert(PlanChange::Lost { operator, count: a - b });
        }
    }
}

/// The types of joins (`JoinType`).
const JOIN_TYPES: [&str; 7] =
    ["Inner", "LeftOuter", "RightOuter", "FullOuter", "LeftSemi", "LeftAnti", "ExistenceJoin"];

/// The keys of a join for readers, and its keys and type, whatever its strategy: `SortMergeJoin [c], [id], Inner` and
/// `BroadcastHashJoin [c], [id], Inner, BuildRight, false` join the same.
fn joined(text: &str) -> (String, String) {
    let (left, rest) = list_after(text, " ").unwrap_or(("", text));
    let (right, _) = list_after(rest, ", ").unwrap_or_default();
    let is_word = |kind: &&str| text.split([',', ' ', '(', ')']).any(|word| word == *kind);
    let kind = JOIN_TYPES.into_iter().find(is_word).unwrap_or_default();
    let keys = start_of(&without_literals(left));
    let both = format!("{kind} {keys} = {}", without_literals(right));
    (keys, both)
}

/// How an exchange distributes rows, without the number of partitions and that of the plan: "Exchange hashpartitioning(c)".
fn distribution(text: &str) -> String {
    let (node, how) = text.split_once(' ').unwrap_or((text, ""));
    let how = match how.split_once('(') {
        Some((name, rest)) if !name.contains([',', ' ']) => {
            let mut parts = parts_of(within(rest));
            parts.pop_if(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
            let keys = parts.join(", ");
            if keys.is_empty() { name.to_owned() } else { format!("{name}({keys})") }
        }
        _ => how.split(',').next().unwrap_or_default().to_owned(),
    };
    start_of(format!("{node} {}", without_literals(&how)).trim())
}

fn start_of(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// The table or path that a scan reads, without dates and ids of one run.
fn source(text: &str) -> String {
    // "Scan JDBCRelation(orders) [numPartitions=1]".
    if let Some((_, relation)) = text.split_once("JDBCRelation(") {
        return normalise(&start_of(within(relation)));
    }
    let path = text.split_once("Location: ").and_then(|(_, rest)| rest.split_once('['));
    let path = path.and_then(|(_, paths)| paths.split([',', ']']).next()).filter(|path| !path.is_empty());
    let head = text.split(['[', '(']).next().unwrap_or_default();
    let mut words = head.split_whitespace();
    let table = words.nth(2);
    normalise(&start_of(table.or(path).unwrap_or(head)))
}

/// The contents of the square brackets that follow `key`, and what follows them.
fn list_after<'t>(text: &'t str, key: &str) -> Option<(&'t str, &'t str)> {
    let mut starts = text.match_indices(key).map(|(at, _)| at + key.len());
    let list = starts.find_map(|at| text.get(at..)?.strip_prefix('['))?;
    let inside = within(list);
    Some((inside, list.get(inside.len() + 1..).unwrap_or_default()))
}

/// A text up to the bracket that closes one before it; all of it if Spark has cut it.
fn within(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// The entries of a list, which commas divide outside of brackets.
fn parts_of(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, letter) in list.char_indices() {
        match letter {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(list.get(start..at));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(list.get(start..));
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// A text with "?" for its literals: numbers that are no part of a name, texts in quotes, and the last value of a source's
/// filter such as `EqualTo(country,DE)`.
fn without_literals(text: &str) -> String {
    let filter = text.strip_suffix(')').and_then(|inner| {
        let (call, arguments) = inner.split_once('(')?;
        let (column, _) = arguments.split_once(',')?;
        let is_filter = call.chars().next().is_some_and(char::is_uppercase) && !arguments.contains('(');
        is_filter.then(|| format!("{call}({column},?)"))
    });
    if let Some(filter) = filter {
        return filter;
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let in_name = before.is_alphanumeric() || before == '_';
        match letter {
            '\'' | '"' => {
                while letters.next().is_some_and(|other| other != letter) {}
                plain.push('?');
            }
            '0'..='9' if !in_name => {
                while letters.next_if(|other| other.is_alphanumeric() || *other == '.').is_some() {}
                plain.push('?');
            }
            _ => plain.push(letter),
        }
        before = letter;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_join_the_same() {
        let merge = joined("SortMergeJoin [c, d], [id], Inner");
        let broadcast = joined("BroadcastHashJoin [c, d], [id], Inner, BuildRight, false");
        assert_eq!(merge, broadcast);
        assert_eq!(merge.1, "Inner c, d = id");
        let outer = joined("SortMergeJoin(skew=true) [c, d], [id], LeftOuter");
        assert_ne!(merge.1, outer.1);
        assert_eq!(merge.0, outer.0);
        assert_eq!(joined("CartesianProduct (a < 5)").0, "");
    }

    #[test]
    fn exchanges_are_named_by_how_they_distribute_rows() {
        for (text, expected) in [
            (
                "Exchange hashpartitioning(c, 8), ENSURE_REQUIREMENTS, [plan_id=12]",
                "Exchange hashpartitioning(c)",
            ),
            ("Exchange hashpartitioning(a, b, 200)", "Exchange hashpartitioning(a, b)"),
            ("Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=1]", "Exchange SinglePartition"),
            ("Exchange RoundRobinPartitioning(4), REPARTITION_BY_NUM", "Exchange RoundRobinPartitioning"),
            ("Exchange hashpartitioning(cast(a as int), 8)", "Exchange hashpartitioning(cast(a as int))"),
            ("Exchange", "Exchange"),
        ] {
            assert_eq!(distribution(text), expected);
        }
    }

    #[test]
    fn literals_are_left_out_and_names_stay() {
        for (text, expected) in [
            ("EqualTo(country,DE)", "EqualTo(country,?)"),
            ("IsNotNull(c1)", "IsNotNull(c1)"),
            ("(c = 17)", "(c = ?)"),
            ("substring(t2, 1, 3.5)", "substring(t2, ?, ?)"),
            ("a = 'x y'", "a = ?"),
        ] {
            assert_eq!(without_literals(text), expected);
        }
    }

    #[test]
    fn queries_that_compute_the_same_have_one_hash() {
        let of = |texts: &[&str]| {
            let mut plan = Plan::default();
            for text in texts {
                plan.add(text);
            }
            plan.computes()
        };
        let scan = "FileScan parquet db.sales[c,v] Batched: true, PushedFilters: [EqualTo(c,17)]";
        let merge =
            of(&["SortMergeJoin [c], [id], Inner", "Exchange hashpartitioning(c, 8)", "Sort [c]", scan]);
        let later = "FileScan parquet db.sales[c,v] Batched: true, PushedFilters: [EqualTo(c,18)]";
        assert_eq!(merge, of(&["BroadcastHashJoin [c], [id], Inner, BuildRight", "Filter (c = 18)", later]));
        assert_ne!(merge, of(&["SortMergeJoin [d], [id], Inner", scan]));
        assert_ne!(merge, of(&[scan]));
        assert_eq!(merge.map(|hash| hash.len()), Some(32));
        assert_eq!(of(&["Project [a]"]), None);
    }

    #[test]
    fn sources_are_tables_or_paths() {
        let scan = "FileScan parquet [c,v] Batched: true, DataFilters: [], Format: Parquet, Location: \
                    InMemoryFileIndex(1 paths)[file:/in/sales/2026-11-20], PartitionFilters: [], PushedFilters: \
                    [IsNotNull(c), EqualTo(c,17)], ReadSchema: struct<c:bigint,v:bigint>";
        assert_eq!(source(scan), "file:/in/sales/<date>");
        assert_eq!(source("FileScan parquet db.sales[c,v] Batched: true"), "db.sales");
        let mut of = Scan::default();
        of.add("FileScan", scan);
        let texts = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>();
        assert_eq!(texts(&of.pushed_filters), ["EqualTo(c,?)", "IsNotNull(c)"]);
        assert_eq!(texts(&of.columns), ["c", "v"]);
        assert!(of.partition_filters.is_empty());
    }
}
