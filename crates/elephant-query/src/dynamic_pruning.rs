//! Dynamic partition pruning: while a query runs, the keys of one side of a join choose the partitions of a scan on the other
//! side. Spark collects the keys in a subquery of the scan, from the rows that it broadcasts for the join if it can
//! (`PlanDynamicPruningFilters`, `PlanAdaptiveDynamicPruningFilters`).

use crate::plan_text::{attributes, lists, mentions};
use crate::query::{PlacedOperator, Query};
use crate::words::{below, without_numbers};
use elephant_model::model::spark::OperatorKind;

/// Keys of a join that chose partitions of a scan on its other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicPruning {
    /// The columns of partitions that are compared with the keys.
    pub columns: Vec<String>,
    /// The operator that collects the keys, as an index into [`Query::operators`]; `None` if the plan does not have it.
    pub subquery: Option<usize>,
    /// The join on these columns, as an index into [`Query::operators`]; `None` if the plan names them in none.
    pub join: Option<usize>,
}

/// How Spark prints the condition (`DynamicPruningExpression`, which is nothing but `true` if the optimiser gave it up), and
/// what it calls its subquery (`PlanDynamicPruningFilters`).
const CONDITION: &str = "dynamicpruningexpression(";
const SUBQUERY: &str = "dynamicpruning#";

/// The joins that chose partitions of a scan, in the order of its conditions.
#[must_use]
pub fn dynamic_pruning(query: &Query<'_>, scan: usize) -> Vec<DynamicPruning> {
    let Some(operator) = query.operators.get(scan).filter(|operator| operator.kind == OperatorKind::Scan)
    else {
        return Vec::new();
    };
    // Spark cuts the conditions in the text of a scan of files, but not among its facts.
    let told = operator.fact("PartitionFilters").unwrap_or(operator.text);
    let of_scan = |place: &usize| {
        let is_below = |operator: &&PlacedOperator<'_>| operator.parent == Some(scan);
        query.operators.get(*place).filter(is_below).is_some_and(|it| it.text.contains(SUBQUERY))
    };
    let subqueries: Vec<usize> = below(query, scan).filter(of_scan).collect();
    let compared = |told| -> Option<&str> {
        let (compared, keys): (&str, &str) = str::split_once(told, " IN ")?;
        keys.starts_with(SUBQUERY).then_some(compared)
    };
    let conditions = told.split(CONDITION).skip(1).filter_map(compared);
    let found = conditions.enumerate().map(|(at, compared)| {
        let attributes = attributes(compared);
        DynamicPruning {
            columns: attributes.iter().map(|column| without_numbers(column)).collect(),
            subquery: subqueries.get(at).copied(),
            join: join_above(query, scan, &attributes),
        }
    });
    found.collect()
}

/// The scan whose partitions the rows of a broadcast chose, if they did; as an index into [`Query::operators`].
#[must_use]
pub fn feeds_pruning(query: &Query<'_>, broadcast: usize) -> Option<usize> {
    let is_it = |at: usize| {
        at == broadcast || query.operators.get(at).is_some_and(|other| other.repeats == Some(broadcast))
    };
    (0..query.operators.len()).find(|&scan| {
        let all = dynamic_pruning(query, scan);
        all.iter().filter_map(|it| it.subquery).any(|subquery| below(query, subquery).any(is_it))
    })
}

/// The nearest join above a scan that compares one of these attributes.
fn join_above(query: &Query<'_>, scan: usize, attributes: &[&str]) -> Option<usize> {
    let compares = |operator: &PlacedOperator<'_>| {
        let keys = lists(operator.text);
        let mut keys = keys.iter().take(2);
        keys.any(|keys| attributes.iter().any(|attribute| mentions(keys, attribute)))
    };
    let mut place = query.operators.get(scan)?.parent;
    while let Some((at, operator)) = place.and_then(|at| Some((at, query.operators.get(at)?))) {
        if matches!(operator.kind, OperatorKind::Join(_)) && compares(operator) {
            return Some(at);
        }
        place = operator.parent;
    }
    None
}

/// Whether a dynamic condition holds for all partitions.
pub(crate) fn is_given_up(condition: &str) -> bool {
    condition.strip_prefix(CONDITION).is_some_and(|condition| condition.starts_with("true"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Queries;
    use crate::sample::{self, Node};

    /// A join of a scan with what chooses its partitions, by these conditions, with these operators above the scan.
    fn joined(filters: &'static str, keys: &str) -> Vec<DynamicPruning> {
        let subquery =
            Node::text("SubqueryBroadcast", "SubqueryBroadcast dynamicpruning#9, 0, [d#7], [id=#4]")
                .above(Node::of("BroadcastExchange").above(Node::of("LocalTableScan")));
        let scan =
            Node::of("Scan parquet default.sales").with_fact("PartitionFilters", filters).above(subquery);
        let other =
            Node::text("BroadcastHashJoin", "BroadcastHashJoin [v#2], [w#8], Inner, BuildRight, false");
        let plan = Node::text("BroadcastHashJoin", keys).above(other.above(Node::of("Project").above(scan)));
        let (mut app, spark) = sample::query(plan, &[], 0);
        app.spark = Some(Box::new(spark));
        let queries = Queries::of(&app).unwrap();
        let query = queries.iter().next().unwrap();
        (0..query.operators.len()).flat_map(|place| dynamic_pruning(&query, place)).collect()
    }

    #[test]
    fn the_join_is_known_that_chooses_partitions_while_the_query_runs() {
        let filters = "[isnotnull(day#3), dynamicpruningexpression(day#3 IN dynamicpruning#9)]";
        let pruning = |join| DynamicPruning { columns: vec!["day".to_owned()], subquery: Some(4), join };
        let keys = "BroadcastHashJoin [day#3], [d#7], Inner, BuildRight, false";
        assert_eq!(joined(filters, keys), [pruning(Some(0))]);
        // A name computed from the column.
        assert_eq!(joined(filters, "BroadcastHashJoin [x#31], [d#7], Inner"), [pruning(None)]);
        assert_eq!(joined("[dynamicpruningexpression(true)]", keys), []);
        assert_eq!(joined("[(day#3 = 2026-01-03), (day#3 IN (1,2))]", keys), []);
        assert_eq!(joined("[dynamicpruningexpression(true), (day#3 IN (1,2))]", keys), []);
    }

    #[test]
    fn scans_without_facts_tell_their_conditions_in_their_texts() {
        let text = "BatchScan sales[id#1L, day#3] sales [filters=] RuntimeFilters: \
                    [dynamicpruningexpression(day#3 IN dynamicpruning#9)]";
        let join = Node::text("SortMergeJoin", "SortMergeJoin [day#3], [d#7], Inner");
        let (mut app, spark) = sample::query(join.above(Node::text("BatchScan sales", text)), &[], 0);
        app.spark = Some(Box::new(spark));
        let queries = Queries::of(&app).unwrap();
        let query = queries.iter().next().unwrap();
        let columns = vec!["day".to_owned()];
        assert_eq!(dynamic_pruning(&query, 1), [DynamicPruning { columns, subquery: None, join: Some(0) }]);
    }
}
