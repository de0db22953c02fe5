//! Racks and types of nodes.

use serde::Serialize;

use elephant_base::stats::box_plot::BoxPlot;
use elephant_engine::nodes::types::NodeGroup;

#[derive(Serialize)]
pub(super) struct RackView<'a> {
    rack: &'a str,
    #[serde(flatten)]
    group: GroupView,
}

#[derive(Serialize)]
pub(super) struct TypeView<'a> {
    r#type: &'a str,
    #[serde(flatten)]
    group: GroupView,
}

#[derive(Serialize)]
struct GroupView {
    nodes_count: u64,
    tasks_count: u64,
    mean_z: Option<f64>,
    stragglers_ratio: Option<f64>,
    /// Of the nodes' mean z-scores.
    node_mean_box_z: Option<BoxView>,
    /// Of the nodes' probabilities of an extreme value; nodes without a fit are left out.
    node_extreme_value_box_ratio: Option<BoxView>,
}

/// A box plot. Outliers are beyond the whiskers.
#[derive(Serialize)]
struct BoxView {
    nodes_count: u64,
    minimum: f64,
    lower_whisker: f64,
    first_quartile: f64,
    median: f64,
    third_quartile: f64,
    upper_whisker: f64,
    maximum: f64,
    outliers_count: usize,
}

pub(super) fn rack(rack: &NodeGroup) -> RackView<'_> {
    RackView { rack: &rack.name, group: group(rack) }
}

pub(super) fn kind(kind: &NodeGroup) -> TypeView<'_> {
    TypeView { r#type: &kind.name, group: group(kind) }
}

fn group(group: &NodeGroup) -> GroupView {
    GroupView {
        nodes_count: group.nodes,
        tasks_count: group.tasks,
        mean_z: group.mean,
        stragglers_ratio: group.straggler_share,
        node_mean_box_z: group.means.as_ref().map(plot),
        node_extreme_value_box_ratio: group.extreme_values.as_ref().map(plot),
    }
}

fn plot(plot: &BoxPlot) -> BoxView {
    let (lower_whisker, upper_whisker) = plot.whiskers;
    BoxView {
        nodes_count: plot.count,
        minimum: plot.minimum,
        lower_whisker,
        first_quartile: plot.first_quartile,
        median: plot.median,
        third_quartile: plot.third_quartile,
        upper_whisker,
        maximum: plot.maximum,
        outliers_count: plot.outliers.len(),
    }
}
