//! The ranking as CSV.

use crate::document::csv::Column;
use elephant_engine::nodes::indicators::Node;

/// Scripts rely on titles and their order, so add columns at the end.
pub(super) const COLUMNS: [Column<Node>; 35] = [
    ("node", |node| node.name.as_ref().into()),
    ("rack", |node| node.rack.as_deref().into()),
    ("type", |node| node.kind.as_deref().into()),
    ("level", |node| node.level.into()),
    ("straggler", |node| node.level.map(|_| node.is_straggler()).into()),
    ("suspected", |node| node.suspected.into()),
    ("tasks_count", |node| node.tasks.into()),
    ("overtaken_count", |node| node.overtaken.into()),
    ("mean_z", |node| node.mean.into()),
    ("sd_z", |node| node.deviation.into()),
    ("mean_low_z", |node| node.mean_interval.map(|interval| interval.low).into()),
    ("mean_high_z", |node| node.mean_interval.map(|interval| interval.high).into()),
    ("prediction_low_z", |node| node.prediction_interval.map(|interval| interval.low).into()),
    ("prediction_high_z", |node| node.prediction_interval.map(|interval| interval.high).into()),
    ("quantile_z", |node| node.quantile.into()),
    ("sample_quantile_z", |node| node.sample_quantile.into()),
    ("extreme_value_ratio", |node| node.extreme_value.into()),
    ("stragglers_count", |node| node.stragglers.into()),
    ("stragglers_ratio", |node| node.straggler_share.into()),
    ("stragglers_low_ratio", |node| node.straggler_interval.map(|interval| interval.low).into()),
    ("stragglers_high_ratio", |node| node.straggler_interval.map(|interval| interval.high).into()),
    ("others_stragglers_ratio", |node| node.others_straggler_share.into()),
    ("executors_lost_count", |node| node.losses.executors.into()),
    ("failures_count", |node| node.losses.failures.into()),
    ("best_fit", |node| node.best().map(|fit| fit.family().name()).into()),
    ("best_fit_ad", |node| node.best().and_then(|fit| fit.goodness.anderson_darling).into()),
    ("trend_z_per_day", |node| node.trend.slope.into()),
    ("trend_days_count", |node| node.trend.days.len().into()),
    ("trend_slow_days_ratio", |node| node.trend.slow_days.into()),
    ("trend_sign_changes_count", |node| node.trend.sign_changes.into()),
    ("transient", |node| node.trend.transient.into()),
    ("failed", |node| node.failed.into()),
    ("executors_compared_count", |node| node.executors.members.into()),
    ("applications_count", |node| node.applications.into()),
    ("to_exclude", |node| node.to_exclude.into()),
];
