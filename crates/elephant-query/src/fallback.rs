//! What ran in the JVM although a native engine was at work.

use std::collections::{BTreeMap, BTreeSet};

use crate::ground::{Ground, TaskTime};
use crate::query::{PlacedOperator, Query};
use elephant_base::units::Millis;
use elephant_model::model::spark::{OperatorEngine, OperatorKind};

/// Whether an operator does work that an engine may take over: it reads, computes or writes rows.
fn works(operator: &PlacedOperator<'_>) -> bool {
    !matches!(
        operator.kind,
        OperatorKind::Exchange
            | OperatorKind::Broadcast
            | OperatorKind::Subquery
            | OperatorKind::CachedScan
            | OperatorKind::Source
            | OperatorKind::Transition
            | OperatorKind::Pipeline
            | OperatorKind::Reference
            | OperatorKind::Write
            | OperatorKind::Other
    )
}

/// The operators of a query that worked in the JVM, by index.
#[must_use]
pub fn in_the_jvm(query: &Query<'_>) -> BTreeSet<usize> {
    let own = |operator: &PlacedOperator<'_>| {
        works(operator)
            && OperatorEngine::of(operator.name) == OperatorEngine::Jvm
            && !operator.stages.is_empty()
    };
    (0..).zip(&query.operators).filter(|(_, operator)| own(operator)).map(|(place, _)| place).collect()
}

/// The operators of a query that convert rows from one engine to the other, by index.
#[must_use]
pub fn transitions(query: &Query<'_>) -> usize {
    let converts = |operator: &&PlacedOperator<'_>| {
        operator.is_last && operator.kind == OperatorKind::Transition && operator.name.contains("Columnar")
    };
    query.operators.iter().filter(converts).count()
}

impl Ground<'_> {
    /// The time of the stages in which operators of a query worked in the JVM, without what native operators took in them.
    #[must_use]
    pub fn time_in_the_jvm(&self, query: &Query<'_>) -> TaskTime {
        let mut time = TaskTime::default();
        let stages: BTreeSet<u32> = in_the_jvm(query)
            .into_iter()
            .filter_map(|place| query.operators.get(place))
            .flat_map(|operator| operator.stages.iter().copied())
            .collect();
        for stage in stages {
            let Some(work) = self.work.get(&stage) else { continue };
            let is_native = |part: &&crate::Part| {
                let operator = query.operators.get(part.operator);
                part.execution == query.execution.id
                    && operator
                        .is_some_and(|operator| OperatorEngine::of(operator.name) != OperatorEngine::Jvm)
            };
            let native: Millis = work.parts.iter().filter(is_native).map(|part| part.time).sum();
            time.add(stage, Millis::new(work.total.get().saturating_sub(native.get())));
        }
        time
    }

    /// The share of the time of tasks of queries in which the native engine worked; `None` without such tasks.
    #[must_use]
    pub fn native_share(&self) -> Option<f64> {
        let mut in_jvm: BTreeMap<u32, Millis> = BTreeMap::new();
        for query in &self.queries {
            let time = self.time_in_the_jvm(query);
            for (stage, time) in time.by_stage() {
                let known = in_jvm.entry(stage).or_default();
                *known = (*known).max(time);
            }
        }
        let total: Millis = self.work.values().map(|work| work.total).sum();
        let jvm: Millis = in_jvm.values().copied().sum();
        (total > Millis::ZERO).then(|| 1.0 - jvm.as_f64() / total.as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Node};

    #[test]
    fn operators_without_a_native_one_work_in_the_jvm() {
        let scan = || Node::of("CometScan parquet default.sales").with_metric("number of output rows", 7);
        let queries = |(mut app, spark): (elephant_model::model::Application, _)| {
            app.spark = Some(Box::new(spark));
            let queries = crate::Queries::of(&app).unwrap();
            let query = queries.iter().next().unwrap();
            let places: Vec<usize> = in_the_jvm(&query).into_iter().collect();
            (places, transitions(&query))
        };
        assert_eq!(queries(sample::query(Node::of("Project").above(scan()), &[7], 0)), (vec![0], 0));
        let native = Node::of("ColumnarToRow").above(Node::of("CometProject").above(scan()));
        assert_eq!(queries(sample::query(native, &[7], 0)), (Vec::new(), 1));
    }
}
