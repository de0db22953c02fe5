//! The ranking as JSON. The ending of a key names its unit (`_z`: standard deviations), and unknown values are `null`.

mod groups;

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::SerializeMap;

use super::super::json::{Each, Pairs, Tool, files, problem, write_pretty};
use super::shown;
use elephant_base::units::Timestamp;
use elephant_engine::conditions::Conditions;
use elephant_engine::engine::Filter;
use elephant_engine::nodes::NodesReport;
use elephant_engine::nodes::collect::{GroupCounts, beginning_of};
use elephant_engine::nodes::fit::Fit;
use elephant_engine::nodes::indicators::Node;
use elephant_engine::nodes::levels::Interval;
use elephant_engine::nodes::settings::Settings;
use elephant_engine::nodes::summary::Summary;
use elephant_engine::nodes::trend::{Day, Trend};
use elephant_engine::nodes::types::NodeGroup;
use groups::{RackView, TypeView, kind, rack};

pub(super) fn write(report: &NodesReport, top: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&Document(report, shown(report, top)), out)
}

struct Document<'a>(&'a NodesReport, &'a [Node]);

impl Serialize for Document<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report, nodes) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &1)?;
        map.serialize_entry("tool", &Tool::THIS)?;
        map.serialize_entry("settings", &settings(&report.settings, &report.filter, &report.conditions))?;
        map.serialize_entry("files", &files(&report.files))?;
        map.serialize_entry("applications_count", &report.files.applications)?;
        map.serialize_entry("applications_left_out_count", &report.files.left_out)?;
        map.serialize_entry("summary", &summary(report))?;
        map.serialize_entry("nodes", &Each(nodes, node))?;
        map.serialize_entry("problems", &Each(&report.problems, problem))?;
        map.end()
    }
}

#[derive(Serialize)]
struct SettingsView {
    order: &'static str,
    interval: &'static str,
    confidence_ratio: f64,
    min_group_count: usize,
    min_node_tasks_count: u64,
    min_day_tasks_count: u64,
    quantile_ratio: f64,
    extreme_value_z: f64,
    straggler_median_ratio: f64,
    slow_mean_z: f64,
    slow_straggler_ratio: f64,
    suspect_tasks_count: u64,
    suspect_ratio: f64,
    failed_executors_count: u64,
    failed_ratio: f64,
    exclude_applications_count: u64,
    since: Option<String>,
    until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#where: Option<String>,
}

fn settings(settings: &Settings, filter: &Filter, conditions: &Conditions) -> SettingsView {
    let moment = |at: Option<Timestamp>| at.and_then(Timestamp::to_rfc3339);
    SettingsView {
        order: settings.order.name(),
        interval: settings.interval.name(),
        confidence_ratio: settings.confidence,
        min_group_count: settings.min_group,
        min_node_tasks_count: settings.min_node_tasks,
        min_day_tasks_count: settings.min_day_tasks,
        quantile_ratio: settings.quantile,
        extreme_value_z: settings.extreme,
        straggler_median_ratio: settings.straggler,
        slow_mean_z: settings.slow_mean,
        slow_straggler_ratio: settings.slow_straggler_ratio,
        suspect_tasks_count: settings.suspect_tasks,
        suspect_ratio: settings.suspect_share,
        failed_executors_count: settings.failed_executors,
        failed_ratio: settings.failed_share,
        exclude_applications_count: settings.exclude_applications,
        since: moment(filter.since),
        until: moment(filter.until),
        r#where: (!conditions.is_empty()).then(|| conditions.to_string()),
    }
}

#[derive(Serialize)]
struct SummaryView<'a> {
    nodes_count: u64,
    ranked_count: u64,
    unranked_count: u64,
    stragglers_count: u64,
    failed_count: u64,
    suspected_count: u64,
    slightly_slow_count: u64,
    slow_by_chance_count: f64,
    transient_count: u64,
    groups: GroupsView,
    levels: Vec<LevelView>,
    fitted_count: u64,
    best_fit: Pairs<&'static str, ShareView>,
    loglogistic3_in_top_three: ShareView,
    racks: Each<'a, NodeGroup, RackView<'a>>,
    types: Each<'a, NodeGroup, TypeView<'a>>,
}

#[derive(Serialize)]
struct GroupsView {
    used_count: u64,
    too_small_count: u64,
    without_spread_count: u64,
    tasks_count: u64,
    /// Originals that copies overtook, in addition.
    overtaken_count: u64,
    tasks_without_node_count: u64,
}

#[derive(Serialize)]
struct LevelView {
    level: usize,
    nodes_count: u64,
    nodes_percent: Option<f64>,
}

#[derive(Serialize)]
struct ShareView {
    nodes_count: u64,
    nodes_percent: Option<f64>,
}

fn summary(report: &NodesReport) -> SummaryView<'_> {
    let summary: &Summary = &report.ranking.summary;
    let percent = |part: u64, whole: u64| (whole > 0).then(|| 100.0 * part as f64 / whole as f64);
    let share = |count| ShareView { nodes_count: count, nodes_percent: percent(count, summary.fitted) };
    let level = |(level, &nodes_count): (usize, &u64)| LevelView {
        level,
        nodes_count,
        nodes_percent: percent(nodes_count, summary.ranked),
    };
    let GroupCounts { used, too_small, without_spread, tasks, overtaken, tasks_without_node } =
        summary.groups;
    SummaryView {
        nodes_count: summary.nodes,
        ranked_count: summary.ranked,
        unranked_count: summary.nodes - summary.ranked,
        stragglers_count: summary.stragglers,
        failed_count: summary.failed,
        suspected_count: summary.suspected,
        slightly_slow_count: summary.slightly_slow,
        slow_by_chance_count: report.slow_by_chance(),
        transient_count: summary.transient,
        groups: GroupsView {
            used_count: used,
            too_small_count: too_small,
            without_spread_count: without_spread,
            tasks_count: tasks,
            overtaken_count: overtaken,
            tasks_without_node_count: tasks_without_node,
        },
        levels: summary.levels.iter().enumerate().map(level).collect(),
        fitted_count: summary.fitted,
        best_fit: Pairs(
            summary.best_fits.iter().map(|&(family, count)| (family.name(), share(count))).collect(),
        ),
        loglogistic3_in_top_three: share(summary.loglogistic_in_top_three),
        racks: Each(&summary.racks, rack),
        types: Each(&summary.types, kind),
    }
}

#[derive(Serialize)]
struct IntervalView {
    low: f64,
    high: f64,
}

fn interval(interval: Option<Interval>) -> Option<IntervalView> {
    interval.map(|Interval { low, high }| IntervalView { low, high })
}

#[derive(Serialize)]
struct NodeView<'a> {
    node: &'a str,
    rack: Option<&'a str>,
    level: Option<u32>,
    r#type: Option<&'a str>,
    /// Unknown for a node that is not ranked.
    straggler: Option<bool>,
    /// Too few tasks to be ranked, most of them stragglers.
    suspected: bool,
    /// It lost many of its executors, clearly and significantly more than other nodes.
    failed: bool,
    to_exclude: bool,
    applications_count: u64,
    tasks_count: u64,
    /// Originals among them that copies overtook; their z-scores are lower bounds.
    overtaken_count: u64,
    mean_z: Option<f64>,
    sd_z: Option<f64>,
    mean_interval_z: Option<IntervalView>,
    prediction_interval_z: Option<IntervalView>,
    quantile_z: Option<f64>,
    sample_quantile_z: Option<f64>,
    extreme_value_ratio: Option<f64>,
    stragglers_count: u64,
    stragglers_ratio: Option<f64>,
    stragglers_interval_ratio: Option<IntervalView>,
    others_stragglers_ratio: Option<f64>,
    /// Adjusted for the number of ranked nodes, or of those that may be suspected.
    more_stragglers_by_chance_probability: Option<f64>,
    executors_lost_count: u64,
    /// Executors that can be compared with those of other nodes.
    executors_compared_count: u64,
    failures_count: u64,
    best_fit: Option<&'static str>,
    fits: Pairs<&'static str, FitView>,
    trend: TrendView<'a>,
}

fn node(node: &Node) -> NodeView<'_> {
    NodeView {
        node: &node.name,
        rack: node.rack.as_deref(),
        level: node.level,
        r#type: node.kind.as_deref(),
        straggler: node.level.map(|_| node.is_straggler()),
        suspected: node.suspected,
        failed: node.failed,
        to_exclude: node.to_exclude,
        applications_count: node.applications,
        tasks_count: node.tasks,
        overtaken_count: node.overtaken,
        mean_z: node.mean,
        sd_z: node.deviation,
        mean_interval_z: interval(node.mean_interval),
        prediction_interval_z: interval(node.prediction_interval),
        quantile_z: node.quantile,
        sample_quantile_z: node.sample_quantile,
        extreme_value_ratio: node.extreme_value,
        stragglers_count: node.stragglers,
        stragglers_ratio: node.straggler_share,
        stragglers_interval_ratio: interval(node.straggler_interval),
        others_stragglers_ratio: node.others_straggler_share,
        more_stragglers_by_chance_probability: node.more_stragglers_by_chance,
        executors_lost_count: node.losses.executors,
        executors_compared_count: node.executors.members,
        failures_count: node.losses.failures,
        best_fit: node.best().map(|fit| fit.family().name()),
        fits: Pairs(node.fits.iter().map(|fit| (fit.family().name(), view(fit))).collect()),
        trend: trend(&node.trend),
    }
}

#[derive(Serialize)]
struct FitView {
    status: &'static str,
    parameters: Pairs<&'static str, f64>,
    log_likelihood: f64,
    anderson_darling: Option<f64>,
    kolmogorov_smirnov: Option<f64>,
    aic: f64,
    bic: f64,
    mean_z: Option<f64>,
    sd_z: Option<f64>,
}

fn view(fit: &Fit) -> FitView {
    FitView {
        status: fit.status.name(),
        parameters: Pairs(fit.distribution.parameters()),
        log_likelihood: fit.log_likelihood,
        anderson_darling: fit.goodness.anderson_darling,
        kolmogorov_smirnov: fit.goodness.kolmogorov_smirnov,
        aic: fit.aic,
        bic: fit.bic,
        mean_z: fit.distribution.mean(),
        sd_z: fit.distribution.standard_deviation(),
    }
}

#[derive(Serialize)]
struct TrendView<'a> {
    slope_z_per_day: Option<f64>,
    slow_days_ratio: Option<f64>,
    sign_changes_count: u64,
    transient: bool,
    days: Each<'a, Day, DayView>,
}

fn trend(trend: &Trend) -> TrendView<'_> {
    TrendView {
        slope_z_per_day: trend.slope,
        slow_days_ratio: trend.slow_days,
        sign_changes_count: trend.sign_changes,
        transient: trend.transient,
        days: Each(&trend.days, day),
    }
}

#[derive(Serialize)]
struct DayView {
    /// In UTC.
    date: Option<String>,
    tasks_count: u64,
    mean_z: Option<f64>,
    mean_interval_z: Option<IntervalView>,
}

fn day(day: &Day) -> DayView {
    let date = beginning_of(day.number).to_rfc3339();
    DayView {
        date: date.and_then(|text| text.get(..10).map(str::to_owned)),
        tasks_count: day.tasks,
        mean_z: day.mean,
        mean_interval_z: interval(day.interval),
    }
}
