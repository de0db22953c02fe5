//! The ranking as CSV.

use std::io::{self, Write};

use super::super::cells::{number, quoted};
use super::shown;
use elephant_engine::nodes::NodesReport;
use elephant_engine::nodes::indicators::Node;
use elephant_engine::nodes::levels::Interval;

const HEADER: [&str; 31] = [
    "node",
    "rack",
    "type",
    "level",
    "straggler",
    "suspected",
    "tasks_count",
    "overtaken_count",
    "mean_z",
    "sd_z",
    "mean_low_z",
    "mean_high_z",
    "prediction_low_z",
    "prediction_high_z",
    "quantile_z",
    "sample_quantile_z",
    "extreme_value_ratio",
    "stragglers_count",
    "stragglers_ratio",
    "stragglers_low_ratio",
    "stragglers_high_ratio",
    "others_stragglers_ratio",
    "executors_lost_count",
    "failures_count",
    "best_fit",
    "best_fit_ad",
    "trend_z_per_day",
    "trend_days_count",
    "trend_slow_days_ratio",
    "trend_sign_changes_count",
    "transient",
];

pub(super) fn write(report: &NodesReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", HEADER.join(","))?;
    shown(report, top).iter().try_for_each(|node| writeln!(out, "{}", row(node).join(",")))
}

fn row(node: &Node) -> [String; HEADER.len()] {
    let low = |interval: Option<Interval>| number(interval.map(|interval| interval.low));
    let high = |interval: Option<Interval>| number(interval.map(|interval| interval.high));
    let best = node.best();
    let trend = &node.trend;
    [
        quoted(&node.name),
        quoted(node.rack.as_deref().unwrap_or_default()),
        quoted(node.kind.as_deref().unwrap_or_default()),
        node.level.map(|level| level.to_string()).unwrap_or_default(),
        node.level.map(|_| node.is_straggler().to_string()).unwrap_or_default(),
        node.suspected.to_string(),
        node.tasks.to_string(),
        node.overtaken.to_string(),
        number(node.mean),
        number(node.deviation),
        low(node.mean_interval),
        high(node.mean_interval),
        low(node.prediction_interval),
        high(node.prediction_interval),
        number(node.quantile),
        number(node.sample_quantile),
        number(node.extreme_value),
        node.stragglers.to_string(),
        number(node.straggler_share),
        low(node.straggler_interval),
        high(node.straggler_interval),
        number(node.others_straggler_share),
        node.losses.executors.to_string(),
        node.losses.failures.to_string(),
        best.map(|fit| fit.family().name().to_owned()).unwrap_or_default(),
        number(best.and_then(|fit| fit.goodness.anderson_darling)),
        number(trend.slope),
        trend.days.len().to_string(),
        number(trend.slow_days),
        trend.sign_changes.to_string(),
        trend.transient.to_string(),
    ]
}
