//! `spark-shuffle-volume`: queries that send several times as many bytes from task to task as they read.

use std::cmp::Reverse;

use super::loss::Limits;
use super::on_queries::{Judge, OnQueries};
use super::rows::inputs;
use crate::declare::spark as rule;
use elephant_base::units::Bytes;
use elephant_catalogue::{Rule, load};
use elephant_query::{
    Ground, OperatorKind, PlacedOperator, Query, SqlCounter, below, name_of_operator, name_of_query,
};
use elephant_rule::finding::{Judgement, Measure, Worse, multiple};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;

rule_params! {
    /// Parameters of `spark-shuffle-volume`.
    pub(super) struct ShuffleVolume / ShuffleVolumeLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Bytes that exchanges write / bytes that scans read, from which on a query is judged.
        times_read: Quantity<Count>,
        /// The least growth of rows in an operator that is named as a reason.
        grows: Quantity<Count>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-shuffle-volume", "Spark Shuffle Volume", tells Volume, ShuffleVolume, |layers, _| {
        load(layers, OnQueries::<ShuffleVolume>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query} reads {read_bytes} and sends {shuffle_bytes} from task to task, {times} as much[; {grows} makes \
                       {grown} as many rows]; this took up to {lost_ms}, {lost_ratio:%} of the run time ({limit})";

impl Judge for ShuffleVolume {
    const FITS: &'static str = "no query sends several times as many bytes from task to task as it reads";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        ground.queries.iter().filter_map(|query| self.judge_query(ground, query)).collect()
    }
}

impl ShuffleVolume {
    fn judge_query(&self, ground: &Ground<'_>, query: &Query<'_>) -> Option<Judgement> {
        let read = read_bytes(query)?;
        let exchanges = exchanges(query);
        let sent: Bytes = exchanges.iter().map(|(_, bytes)| *bytes).sum();
        let times = sent.as_f64() / read.as_f64().max(1.0);
        (times >= self.times_read.get()).then_some(())?;
        let places = exchanges.iter().map(|(place, _)| *place);
        let cost = ground.cost(&ground.time_of_all(query, places).scaled(1.0 - 1.0 / times))?;
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let loss = limits.loss(cost.wall.min(ground.run_time), ground.run_time)?;
        let (largest, _) = exchanges.into_iter().max_by_key(|(place, bytes)| (*bytes, Reverse(*place)))?;
        let grower = grower(query, largest, self.grows.get());
        let judged = loss
            .judgement(Some(&cost))
            .in_query(query.execution.id, Some(largest))
            .fact("read_bytes", Measure::Size(read))
            .fact("shuffle_bytes", Measure::Size(sent));
        let words: [(_, &dyn std::fmt::Display); 5] = [
            ("query", &name_of_query(query.execution)),
            ("times", &multiple(times)),
            ("grows", &grower.map(|(operator, _)| name_of_operator(operator)).unwrap_or_default()),
            ("grown", &grower.map(|(_, times)| multiple(times)).unwrap_or_default()),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| vec![advice(grower.map(|(operator, _)| operator))]))
    }
}

/// What the scans of a query read; `None` if not all that it reads has a known size.
fn read_bytes(query: &Query<'_>) -> Option<Bytes> {
    let is_source = |operator: &&PlacedOperator<'_>| {
        matches!(operator.kind, OperatorKind::Scan | OperatorKind::CachedScan | OperatorKind::Source)
            && operator.is_last
            && operator.repeats.is_none()
    };
    let sizes = query.operators.iter().filter(is_source).map(|scan| scan.bytes(SqlCounter::FileBytesRead));
    sizes.sum::<Option<Bytes>>().filter(|read| read.get() > 0)
}

/// The exchanges that wrote, each once, and what they wrote.
fn exchanges(query: &Query<'_>) -> Vec<(usize, Bytes)> {
    let all = query.operators.iter().enumerate().filter(|(_, operator)| {
        operator.kind == OperatorKind::Exchange && operator.is_last && operator.repeats.is_none()
    });
    all.filter_map(|(place, exchange)| Some((place, exchange.bytes(SqlCounter::ShuffleBytesWritten)?)))
        .collect()
}

/// The operator below an exchange that makes most rows of one, and how many, if these are at least `least`.
fn grower<'q, 'a>(
    query: &'q Query<'a>,
    exchange: usize,
    least: f64,
) -> Option<(&'q PlacedOperator<'a>, f64)> {
    let grown = |place: usize| {
        let operator = query.operators.get(place)?;
        let may_grow = matches!(operator.kind, OperatorKind::Expand | OperatorKind::Join(_));
        let rows = operator.total(SqlCounter::OutputRows).filter(|_| may_grow)?;
        let larger = inputs(query, place).into_iter().max().filter(|rows| *rows > 0)?;
        Some((operator, rows as f64 / larger as f64))
    };
    let all = below(query, exchange).filter_map(grown);
    all.filter(|(_, times)| *times >= least).max_by(|(_, one), (_, other)| one.total_cmp(other))
}

fn advice(grower: Option<&PlacedOperator<'_>>) -> String {
    match grower {
        Some(operator) if operator.kind == OperatorKind::Expand => format!(
            "aggregate, filter and drop columns before {}: what it makes of each row need not be sent",
            name_of_operator(operator)
        ),
        Some(operator) => format!(
            "aggregate one side, or remove repeated keys, before {}, so that fewer rows are sent",
            name_of_operator(operator)
        ),
        None => "select only the columns that are needed, filter and aggregate before rows are sent; compute long texts and \
                 nested values after the join or the aggregation"
            .to_owned(),
    }
}
