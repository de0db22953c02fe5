//! Parts of a plan that are told twice: a reused exchange is followed by the whole plan of the exchange that it reuses.

use std::collections::BTreeMap;

use elephant_model::model::spark::{Operator, Plan};

/// For each operator below one that reuses an exchange: that exchange, where the plan tells it in its own place. They are
/// known by their accumulators, which an exchange shares with nothing but its copies.
pub(crate) fn repeated(plan: &Plan, is_reuse: impl Fn(&Operator) -> bool) -> Vec<Option<u32>> {
    let mut repeated: Vec<Option<u32>> = vec![None; plan.operators.len()];
    // The nearest operator above, or the operator itself, that reuses something.
    let mut reuse: Vec<Option<u32>> = Vec::with_capacity(plan.operators.len());
    // Parents come before their children.
    for (place, operator) in (0_u32..).zip(&plan.operators) {
        let above = operator.parent.and_then(|parent| reuse.get(parent as usize).copied().flatten());
        reuse.push(if is_reuse(operator) { Some(place) } else { above });
    }
    if reuse.iter().all(Option::is_none) {
        return repeated;
    }
    let mut originals: BTreeMap<u64, u32> = BTreeMap::new();
    for (place, _) in (0_u32..).zip(&reuse).filter(|(_, reuse)| reuse.is_none()) {
        for metric in plan.metrics_of(place) {
            originals.entry(metric.accumulator).or_insert(place);
        }
    }
    for (place, operator) in plan.operators.iter().enumerate() {
        let Some(parent) = operator.parent else { continue };
        let original = if plan.operators.get(parent as usize).is_some_and(&is_reuse) {
            let metrics = u32::try_from(place).map(|place| plan.metrics_of(place)).unwrap_or_default();
            metrics.iter().find_map(|metric| originals.get(&metric.accumulator).copied())
        } else {
            repeated.get(parent as usize).copied().flatten()
        };
        if let Some(slot) = repeated.get_mut(place) {
            *slot = original;
        }
    }
    repeated
}

#[cfg(test)]
mod tests {
    use crate::query::Queries;
    use crate::sample::{self, Node};

    fn exchange(accumulator: u64) -> Node {
        let scan = Node::of("Scan parquet default.sales").with_metric("scan time", accumulator + 1);
        Node::of("Exchange").with_metric("data size", accumulator).above(Node::of("Project").above(scan))
    }

    fn repeats(plan: Node) -> Vec<Option<usize>> {
        let (mut app, spark) = sample::query(plan, &[7, 8], 0);
        app.spark = Some(Box::new(spark));
        let queries = Queries::of(&app).unwrap();
        let query = queries.iter().next().unwrap();
        query.operators.iter().map(|operator| operator.repeats).collect()
    }

    #[test]
    fn what_stands_below_a_reused_exchange_repeats_the_exchange_elsewhere() {
        let reused = |accumulator| Node::of("ReusedExchange").above(exchange(accumulator));
        let after = Node::of("Union").above(exchange(7)).above(reused(7));
        assert_eq!(repeats(after), [None, None, None, None, None, Some(1), Some(1), Some(1)]);
        let before = Node::of("Union").above(reused(7)).above(exchange(7));
        assert_eq!(repeats(before), [None, None, Some(5), Some(5), Some(5), None, None, None]);
    }

    #[test]
    fn an_exchange_that_stands_nowhere_else_is_its_own() {
        let alone =
            Node::of("Union").above(Node::of("ReusedExchange").above(exchange(7))).above(exchange(70));
        assert_eq!(repeats(alone), [None; 8]);
    }

    #[test]
    fn the_time_of_a_repeated_operator_counts_once() {
        let reused = Node::of("ReusedExchange").above(exchange(7));
        let (mut app, mut spark) =
            sample::query(Node::of("Union").above(exchange(7)).above(reused), &[7, 8], 0);
        spark.stages[0].accumulables = [(7, 1), (8, 40)].into();
        app.groups[0].attempts.set_counter(
            0,
            elephant_model::model::counters::Counter::ExecutorRunTime,
            Some(100),
        );
        app.spark = Some(Box::new(spark));
        let queries = Queries::of(&app).unwrap();
        let all: Vec<_> = queries.iter().collect();
        let work = queries.work(&all);
        let parts: Vec<_> = work[&0].parts.iter().map(|part| (part.operator, part.time.get())).collect();
        assert_eq!((parts, work[&0].rest.get()), (vec![(3, 40)], 60));
    }
}
