//! `spark-would-broadcast`: joins that shuffle and sort both sides although one is small enough to be sent to all tasks.

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries, Site, sites};
use super::rows::{children, exchange_below, sorts_between};
use crate::declare::spark as rule;
use elephant_base::units::Bytes;
use elephant_catalogue::{Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_query::{
    Ground, JoinKind, OperatorKind, Query, SqlCounter, TaskTime, name_of_operator, name_of_query,
};
use elephant_rule::finding::{Advice, Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::change;

rule_params! {
    /// Parameters of `spark-would-broadcast`.
    pub(super) struct WouldBroadcast / WouldBroadcastLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// A side is small below this size, whatever the other one has.
        small_side: Quantity<Size>,
        /// So it is below this size, if the other side has at least `large_other`.
        medium_side: Quantity<Size>,
        /// The size of the other side for `medium_side`.
        large_other: Quantity<Size>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-would-broadcast", "Spark Would Broadcast", tells Join, WouldBroadcast, |layers, _| {
        load(layers, OnQueries::<WouldBroadcast>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query}: {operator} shuffles and sorts both sides, {small_side_bytes} and {other_side_bytes}; \
                       broadcasting the small one instead spares up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";

/// The setting that switches broadcasts off.
const OFF: &str = "-1";

impl Judge for WouldBroadcast {
    const FITS: &'static str = "no join shuffles a small side for long";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted = |kind| matches!(kind, OperatorKind::Join(JoinKind::SortMerge | JoinKind::ShuffledHash));
        sites(ground, wanted).filter_map(|join| self.judge_join(join)).collect()
    }
}

/// A side of a join, with the exchange that shuffles it.
struct Side {
    /// Whether it is the left one.
    left: bool,
    /// The top of the side, and its exchange, as places among the operators of the query.
    top: usize,
    exchange: usize,
    size: Bytes,
}

impl Side {
    fn of(query: &Query<'_>, top: usize, left: bool) -> Option<Self> {
        let exchange = exchange_below(query, top)?;
        let size = query.operators.get(exchange)?.bytes(SqlCounter::DataSize)?;
        Some(Self { left, top, exchange, size })
    }
}

impl WouldBroadcast {
    fn judge_join(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        let tops: Vec<usize> = children(query, place).collect();
        let [left, right] = tops.as_slice() else { return None };
        let sides = [Side::of(query, *left, true)?, Side::of(query, *right, false)?];
        let [one, other] = &sides;
        let (small, large) = if one.size <= other.size { (one, other) } else { (other, one) };
        (self.is_small(small.size, large.size) && may_be_sent(operator.text, small.left)).then_some(())?;
        let mut time = TaskTime::default();
        for side in &sides {
            time.add_all(&ground.time_of(query, side.exchange));
            for sort in sorts_between(query, side.top, side.exchange) {
                time.add_all(&ground.time_of(query, sort));
            }
        }
        // Rows are looked up instead of merged: the rest of the join's stage is the most that this spares.
        time.add_all(&ground.rest_of(query, place));
        let cost = ground.cost(&time)?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(cost.wall, ground.run_time)?;
        let judged = loss
            .judgement(Some(&cost))
            .in_query(query.execution.id, Some(place))
            .fact("small_side_bytes", Measure::Size(small.size))
            .fact("other_side_bytes", Measure::Size(large.size));
        let words: [(_, &dyn std::fmt::Display); 3] = [
            ("query", &name_of_query(query.execution)),
            ("operator", &name_of_operator(operator)),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| advice(ground.app, small.size)))
    }

    fn is_small(&self, size: Bytes, other: Bytes) -> bool {
        let (size, other) = (size.as_f64(), other.as_f64());
        size < other
            && (size <= self.small_side.get()
                || (size <= self.medium_side.get() && other >= self.large_other.get()))
    }
}

/// Whether a side of a join of this text may be sent to all tasks: an outer join keeps all rows of its outer side, which
/// only one task may do (`canBuildBroadcastLeft`, `canBuildBroadcastRight` of Spark's `joins.scala`).
fn may_be_sent(text: &str, left: bool) -> bool {
    let kind = |name: &str| text.contains(&format!(", {name}"));
    if kind("FullOuter") {
        return false;
    }
    if left { kind("Inner") || kind("RightOuter") || kind("Cross") } else { !kind("RightOuter") }
}

fn advice(app: &Application, size: Bytes) -> Vec<Advice> {
    let mut lines = Vec::new();
    if app.conf.raw(ConfKey::BroadcastThreshold.name()).is_some_and(|set| set.trim() == OFF) {
        let wanted = format!("{}m", size.get().div_ceil(Bytes::PER_MIB).max(10));
        let set = change(app, ConfKey::BroadcastThreshold, wanted);
        lines.push(Advice::new("let Spark broadcast small sides of joins").set([set]));
    }
    lines.push(Advice::new(
        "name the small side in the query: broadcast(df), or the hint /*+ BROADCAST(table) */",
    ));
    lines
}

#[cfg(test)]
mod tests {
    use super::may_be_sent;

    #[test]
    fn outer_sides_are_not_sent() {
        for (text, left, right) in [
            ("SortMergeJoin [k#1], [k#2], Inner", true, true),
            ("SortMergeJoin [k#1], [k#2], LeftOuter", false, true),
            ("SortMergeJoin [k#1], [k#2], RightOuter", true, false),
            ("SortMergeJoin [k#1], [k#2], LeftSemi", false, true),
            ("SortMergeJoin [k#1], [k#2], LeftAnti", false, true),
            ("SortMergeJoin [k#1], [k#2], FullOuter", false, false),
        ] {
            assert_eq!((may_be_sent(text, true), may_be_sent(text, false)), (left, right), "{text}");
        }
    }
}
