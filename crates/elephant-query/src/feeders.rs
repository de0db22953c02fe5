//! What the time of an aggregation contains.
//!
//! `HashAggregateExec` measures how long it builds its table, and the loop that it measures also runs all operators that feed
//! it in its pipeline (`doConsume` of generated code). Their timings are taken out of it; an operator without any, such as a
//! filter or a join, cannot be told from the aggregation.

use crate::pipeline::is_timed;
use crate::query::{PlacedOperator, Query};
use elephant_model::model::spark::{OperatorEngine, SqlCounter};

/// The operators whose time is part of that of an aggregation, because no timing tells them apart: as indices into
/// [`Query::operators`]. Empty if all that feeds it in its pipeline has timings, or came from other tasks.
pub(crate) fn in_time_of(query: &Query<'_>, aggregation: usize) -> Vec<usize> {
    let Some(operator) = query.operators.get(aggregation).filter(|operator| measures_feeders(operator))
    else {
        return Vec::new();
    };
    let mut found = Vec::new();
    // The places of operators whose rows reach the aggregation in its own tasks; parents come before their children.
    let mut within = vec![aggregation];
    for (place, other) in query.operators.iter().enumerate().skip(aggregation + 1) {
        let is_fed = other.parent.is_some_and(|parent| within.binary_search(&parent).is_ok());
        if !is_fed || other.kind.moves_rows() || other.is_subquery() {
            continue;
        }
        let is_timed = is_timed(other);
        let is_there = other.stages.iter().any(|stage| operator.stages.binary_search(stage).is_ok());
        if !is_timed && is_there && !other.kind.only_refers() {
            found.push(place);
        }
        // What feeds another aggregation is in the time of that one.
        if !measures_feeders(other) {
            within.push(place);
        }
    }
    found
}

/// Whether it is an aggregation of Spark's own code that tells its time. Engines outside the JVM measure theirs alone.
fn measures_feeders(operator: &PlacedOperator<'_>) -> bool {
    operator.total(SqlCounter::AggregationTime).is_some()
        && OperatorEngine::of(operator.name) == OperatorEngine::Jvm
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Queries;
    use crate::sample::{self, Node};

    /// The names of the operators in the time of the first one.
    fn found(plan: Node) -> Vec<String> {
        let (mut app, spark) = sample::query(plan, &[1, 2, 3], 0);
        app.spark = Some(Box::new(spark));
        let queries = Queries::of(&app).unwrap();
        let query = queries.iter().next().unwrap();
        in_time_of(&query, 0).into_iter().map(|place| query.operators[place].name.to_owned()).collect()
    }

    fn aggregate() -> Node {
        Node::of("HashAggregate").with_metric("time in aggregation build", 1)
    }

    fn scan() -> Node {
        Node::of("Scan parquet default.sales").with_metric("scan time", 2)
    }

    #[test]
    fn operators_without_timings_are_in_the_time_of_the_aggregation_that_they_feed() {
        let filter = Node::of("Filter").above(Node::of("InputAdapter").above(scan()));
        let sent = Node::of("BroadcastExchange").above(Node::of("Project"));
        let join = Node::of("BroadcastHashJoin").above(filter).above(sent);
        assert_eq!(found(aggregate().above(join)), ["BroadcastHashJoin", "Filter"]);
    }

    #[test]
    fn what_has_timings_or_comes_from_other_tasks_is_not() {
        assert_eq!(found(aggregate().above(scan())), [""; 0]);
        let exchange = Node::of("Exchange").above(Node::of("Filter").above(scan()));
        assert_eq!(found(aggregate().above(Node::of("InputAdapter").above(exchange))), [""; 0]);
        // What feeds a second aggregation is in the time of that one.
        let inner = Node::of("HashAggregate")
            .with_metric("time in aggregation build", 3)
            .above(Node::of("Filter").above(scan()));
        assert_eq!(found(aggregate().above(Node::of("Project").above(inner))), ["Project"]);
        let sorted = Node::of("Sort").with_metric("sort time", 3).above(Node::of("Filter").above(scan()));
        assert_eq!(found(aggregate().above(sorted)), ["Filter"]);
    }

    #[test]
    fn an_aggregation_without_a_time_contains_nothing() {
        let plain = Node::of("HashAggregate").with_metric("number of output rows", 1);
        assert_eq!(found(plain.above(Node::of("Filter").above(scan()))), [""; 0]);
        let native = Node::of("GpuHashAggregate").with_metric("aggregate time", 1);
        assert_eq!(found(native.above(Node::of("GpuFilter").above(scan()))), [""; 0]);
    }
}
