//! `spark-exploding-join`: joins whose keys repeat on both sides, so that many more rows come out than go in.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, sites};
use super::rows::inputs;
use crate::declare::spark as rule;
use elephant_catalogue::{Rule, load};
use elephant_query::{Ground, JoinKind, OperatorKind, SqlCounter, name_of_operator, name_of_query};
use elephant_rule::finding::{Judgement, Measure, Worse, multiple};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::grouped;

rule_params! {
    /// Parameters of `spark-exploding-join`.
    pub(super) struct Exploding / ExplodingLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Joins with fewer rows that come out are not judged.
        min_rows: Quantity<Count>,
        /// Rows that come out / rows of the larger side, from which on a join explodes.
        times_input: Quantity<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-exploding-join", "Spark Exploding Join", tells Join, Exploding, |layers, _| {
        load(layers, OnQueries::<Exploding>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query}: {operator} makes {rows} rows of {larger}, {times} as many; this took up to {lost_ms}, \
                       {lost_ratio:%} of the run time ({limit})";

const ADVICE: &str = "keys repeat on both sides: remove duplicates, or aggregate one side, before the join; or add the column \
                      to the condition that makes the key unique";

impl Judge for Exploding {
    const FITS: &'static str = "no join makes many more rows than it reads for long";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted = |kind| {
            use JoinKind::{BroadcastHash, ShuffledHash, SortMerge};
            matches!(kind, OperatorKind::Join(SortMerge | ShuffledHash | BroadcastHash))
        };
        sites(ground, wanted).filter_map(|join| self.judge_join(join)).collect()
    }
}

impl Exploding {
    fn judge_join(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        let rows = operator.total(SqlCounter::OutputRows)?;
        let sides = inputs(query, place);
        let [one, other] = sides.as_slice() else { return None };
        let larger = *one.max(other);
        let times = rows as f64 / larger.max(1) as f64;
        let is_much = rows as f64 >= self.min_rows.get() && times >= self.times_input.get();
        let cost = ground.cost(&ground.most_of(query, place)).filter(|_| is_much)?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(cost.wall, ground.run_time)?;
        let judged = loss
            .judgement(Some(&cost))
            .in_query(query.execution.id, Some(place))
            .fact("output_rows_count", Measure::Count(rows))
            .fact("input_rows_count", Measure::Count(larger));
        let words: [(_, &dyn std::fmt::Display); 6] = [
            ("query", &name_of_query(query.execution)),
            ("operator", &name_of_operator(operator)),
            ("rows", &grouped(i128::from(rows))),
            ("larger", &grouped(i128::from(larger))),
            ("times", &multiple(times)),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| vec![ADVICE]))
    }
}
