//! `spark-broadcast`: sides of joins that the driver collects, builds and sends for long, or that are too large for it.

use super::loss::{Limits, Loss};
use super::on_queries::{Judge, OnQueries, Site, sites};
use super::rows::inputs;
use crate::declare::spark as rule;
use crate::spark::support::broadcasts::{lower_threshold, share_of_heap, smaller_heap};
use elephant_base::severity::Severity;
use elephant_base::units::{Bytes, Millis};
use elephant_catalogue::{Rule, load};
use elephant_model::model::Application;
use elephant_query::{
    Ground, OperatorKind, Query, SqlCounter, feeds_pruning, name_of_query, name_of_source, sources_below,
};
use elephant_rule::finding::{Advice, Judgement, Measure, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Quantity, Ratio, Size};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{grouped, percent};

rule_params! {
    /// Parameters of `spark-broadcast`.
    pub(super) struct Broadcasts / BroadcastsLayer {
        /// Time lost / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost.
        lost_time: Ascending<Duration>,
        /// Smaller broadcasts are not judged: what takes long then is the query that makes the rows.
        min_size: Quantity<Size>,
        /// Rows / the smaller heap of the driver and an executor, however long they take.
        heap_share: Ascending<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-broadcast", "Spark Broadcast", tells Broadcast, Broadcasts, |layers, _| {
        load(layers, OnQueries::<Broadcasts>)
    })
    .measured_by("lost_ratio", Worse::Higher);

const MESSAGE: &str = "{query}: the driver broadcasts {size_bytes}[, {rows} rows][ of {source}]: collecting took {collect_ms}, \
                       building the table {build_ms}, sending it {send_ms}; up to {lost_ms} in all, {lost_ratio:%} of the run \
                       time ({limit})";

impl Judge for Broadcasts {
    const FITS: &'static str = "no broadcast takes the driver long";

    fn judge(&self, ground: &Ground<'_>) -> Vec<Judgement> {
        let wanted = |kind| kind == OperatorKind::Broadcast;
        sites(ground, wanted).filter_map(|exchange| self.judge_exchange(exchange)).collect()
    }
}

impl Broadcasts {
    fn judge_exchange(&self, Site { ground, query, place, operator }: Site<'_, '_>) -> Option<Judgement> {
        let size =
            operator.bytes(SqlCounter::DataSize).filter(|size| size.as_f64() >= self.min_size.get())?;
        let time = |counter| operator.millis(counter).unwrap_or_default();
        let collect = time(SqlCounter::BroadcastCollectTime);
        let (build, send) = (time(SqlCounter::BroadcastBuildTime), time(SqlCounter::BroadcastTime));
        let lost = [collect, build, send].into_iter().sum::<Millis>();
        let loss = self.loss(ground, lost.min(ground.run_time), size)?;
        let rows = operator.total(SqlCounter::OutputRows).or_else(|| inputs(query, place).first().copied());
        let source = sources_below(query, place).first().and_then(|&scan| query.operators.get(scan));
        let judged = loss
            .judgement(None)
            .in_query(query.execution.id, Some(place))
            .fact("size_bytes", Measure::Size(size))
            .fact("heap_ratio", Measure::Ratio(Some(share_of_heap(ground.app, ground.spark, size))))
            .fact("collect_ms", Measure::Time(collect))
            .fact("build_ms", Measure::Time(build))
            .fact("send_ms", Measure::Time(send))
            .fact("driver_ms", Measure::Time(loss.time));
        let words: [(_, &dyn std::fmt::Display); 4] = [
            ("query", &name_of_query(query.execution)),
            ("rows", &rows.map(|rows| grouped(i128::from(rows))).unwrap_or_default()),
            ("source", &source.map(name_of_source).unwrap_or_default()),
            ("limit", &loss.limit),
        ];
        Some(judged.message(MESSAGE, &words).advice(|| self.advice(ground.app, (query, place), size)))
    }

    /// The time that a broadcast lost, or what it holds of a heap if that is worse.
    fn loss(&self, ground: &Ground<'_>, time: Millis, size: Bytes) -> Option<Loss> {
        let limits = Limits { share: &self.lost_share, time: &self.lost_time };
        let by_time = limits.loss(time, ground.run_time);
        let share = share_of_heap(ground.app, ground.spark, size);
        let severity = self.heap_share.severity(share);
        if by_time.as_ref().map_or(Severity::None, |loss| loss.severity) >= severity {
            return by_time;
        }
        let (_, whose) = smaller_heap(ground.app, ground.spark);
        let show = |share: f64| format!("{} of the heap of {whose}", percent(share));
        let limit = self.heap_share.describe_in(severity, show);
        Some(Loss { severity, time, share: time.as_f64() / ground.run_time.as_f64(), limit })
    }

    fn advice(&self, app: &Application, (query, exchange): (&Query<'_>, usize), size: Bytes) -> Vec<Advice> {
        if let Some(scan) = feeds_pruning(query, exchange).and_then(|scan| query.operators.get(scan)) {
            return vec![Advice::new(format!(
                "send less of this side: filter rows and select the columns that the query needs before the join; without a \
                 broadcast, its keys would no longer choose the partitions of {} that are read",
                name_of_source(scan)
            ))];
        }
        let less = Advice::new(
            "remove the hint to broadcast this side, or send less of it: filter rows and select the columns that the query \
             needs before the join",
        );
        // Only a threshold above the default can have let so large a side through.
        let least = Bytes::from_f64(self.min_size.get()).unwrap_or(size).min(size);
        let set = lower_threshold(app, least).map(|set| Advice::new("shuffle sides of this size").set([set]));
        set.into_iter().chain([less]).collect()
    }
}
