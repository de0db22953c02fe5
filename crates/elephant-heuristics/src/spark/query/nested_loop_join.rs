//! `spark-nested-loop-join`: joins that compare every row of one side with every row of the other one.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, sites};
use super::rows::inputs;
use crate::declare::spark as rule;
use elephant_catalogue::{Rule, load};
use elephant_query::{Ground, JoinKind, OperatorKind, SqlCounter, name_of_operator, name_of_query};
use elephant_rule::finding::{Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::grouped;

rule_params! {
    /// Parameters of `spark-nested-loop-join`.
    pub(super) struct NestedLoop / NestedLoopLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Joins that compare fewer pairs of rows are not judged.
        min_pairs: Quantity<Count>,
        /// Pairs / rows of the larger side, from which on a join compares too many.
        times_input: Quantity<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-nested-loop-join", "Spark Nested-Loop Join", tells Join, NestedLoop, |layers, _| {
        load(layers, OnQueries::<NestedLoop>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query}: {operator} compares every row of one side with every row of the other one, {pairs} pairs; \
                       this took up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";

const ADVICE: &str = "join on an equal key, so that Spark can hash or sort; for a range, also join on a coarser part of it, \
                      such as the day, and keep the range as a further condition";

impl Judge for NestedLoop {
    const FITS: &'static str = "no query compares every pair of rows for long";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted =
            |kind| matches!(kind, OperatorKind::Join(JoinKind::BroadcastNestedLoop | JoinKind::Cartesian));
        sites(ground, wanted).filter_map(|join| self.judge_join(join)).collect()
    }
}

impl NestedLoop {
    fn judge_join(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        let sides = inputs(query, place);
        let output = operator.total(SqlCounter::OutputRows);
        let pairs = match sides.as_slice() {
            [one, other] => one.saturating_mul(*other),
            _ => output?,
        };
        let larger = sides.iter().copied().max().unwrap_or(1).max(1);
        let is_much =
            pairs as f64 >= self.min_pairs.get() && pairs as f64 >= self.times_input.get() * larger as f64;
        let cost = ground.cost(&ground.most_of(query, place)).filter(|_| is_much)?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(cost.wall, ground.run_time)?;
        let judged = loss
            .judgement(Some(&cost))
            .in_query(query.execution.id, Some(place))
            .fact("pairs_count", Measure::Count(pairs))
            .facts(output.map(|rows| ("output_rows_count", Measure::Count(rows))));
        let words: [(_, &dyn std::fmt::Display); 4] = [
            ("query", &name_of_query(query.execution)),
            ("operator", &name_of_operator(operator)),
            ("pairs", &grouped(i128::from(pairs))),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| vec![ADVICE]))
    }
}
