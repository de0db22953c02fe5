//! Box plots of the nodes of each rack and type.

use super::tables::MAX_LISTED;
use crate::document::{Axis, Block, Cell, Column, Drawing, Media, Row, Table, Value};
use crate::words::grouped;
use elephant_base::stats::box_plot::BoxPlot;
use elephant_base::units::three_digits;
use elephant_engine::nodes::NodeGroup;
use elephant_engine::nodes::settings::Settings;

/// Columns of the name of a rack or type.
const NAME: usize = 40;

/// A value of nodes that is drawn.
#[derive(Clone, Copy)]
struct Measure {
    of: fn(&NodeGroup) -> Option<&BoxPlot>,
    /// By what values are multiplied.
    factor: f64,
    value: fn(f64) -> Value<'static>,
}

/// The mean z-score.
const MEAN: Measure = Measure { of: |group| group.means.as_ref(), factor: 1.0, value: Value::Decimal };
/// The probability of an extreme value.
const EXTREME: Measure = Measure {
    of: |group| group.extreme_values.as_ref(),
    factor: 100.0,
    value: |percent| Value::Percent(percent, 1),
};

/// Both values of the nodes of these groups, as figures and as tables for a terminal; `name` is what a group is.
pub(super) fn blocks<'a>(
    name: &'static str,
    groups: &'a [NodeGroup],
    settings: &Settings,
) -> Vec<(Media, Block<'a>)> {
    let extreme = three_digits(settings.extreme);
    let measures = [
        (
            MEAN,
            format!("mean z of nodes, by {name}"),
            format!("Mean z-scores of the nodes, by {name}; 0 is the average"),
        ),
        (
            EXTREME,
            format!("z>{extreme} on nodes, by {name}"),
            format!(
                "Probability that the z-score of a task is above {extreme}, in percent, on the nodes, by {name}"
            ),
        ),
    ];
    let known = |measure: Measure| groups.iter().any(|group| (measure.of)(group).is_some());
    let tables = measures.into_iter().filter(|(measure, ..)| known(*measure));
    let both = tables.flat_map(|(measure, title, caption)| {
        let figure = figure(name, groups, measure).figure("boxes", caption).legend(legend());
        [(Media::TEXT, table(title, groups, measure)), (Media::HTML, figure)]
    });
    let more = groups.len().saturating_sub(MAX_LISTED);
    let more = (more > 0).then(|| format!("and {} more", grouped(more as u64)));
    let block = |(media, table): (Media, Table<'a>)| {
        let block = Block::Table(table.note(more.clone()));
        // On a page, each figure has the whole width.
        (media, if media == Media::HTML { Block::Beside(vec![block]) } else { block })
    };
    both.map(block).collect()
}

fn legend() -> Vec<(&'static str, String)> {
    let keys = [
        ("held", "from the first to the third quartile"),
        ("mean", "median"),
        ("now", "to the last value within 1.5 times that distance"),
        ("dot", "further values"),
    ];
    keys.map(|(class, text)| (class, text.to_owned())).into()
}

fn drawn(plot: &BoxPlot, factor: f64) -> Drawing {
    let scaled = |(low, high): (f64, f64)| (factor * low, factor * high);
    Drawing::Box {
        quartiles: scaled((plot.first_quartile, plot.third_quartile)),
        median: factor * plot.median,
        whiskers: scaled(plot.whiskers),
        outliers: plot.outliers.iter().map(|value| factor * value).collect(),
    }
}

/// The boxes on one axis, with their numbers.
fn figure<'a>(name: &'static str, groups: &'a [NodeGroup], measure: Measure) -> Table<'a> {
    let columns = [
        Column::key(name, 0, 0),
        Column::drawn(Axis::Values),
        Column::number("median", 0),
        Column::number("quartiles", 0),
        Column::number("lowest and highest", 0),
        Column::number("nodes", 0),
    ];
    let Measure { of, factor, .. } = measure;
    let row = |group: &'a NodeGroup| {
        let plot = of(group);
        let range = |ends: fn(&BoxPlot) -> (f64, f64)| {
            Value::known(plot.map(ends), |(low, high)| Value::Range(factor * low, factor * high))
        };
        let outliers = plot.map_or(0, |plot| plot.outliers.len() as u64);
        let outliers = (outliers > 0).then(|| Value::words(format!("{} apart", grouped(outliers))));
        Row::new([
            (&*group.name).into(),
            plot.map_or(Value::Nothing, |plot| Value::Drawing(drawn(plot, factor))).into(),
            Value::known(plot, |plot| Value::Decimal(factor * plot.median)).into(),
            range(|plot| (plot.first_quartile, plot.third_quartile)).into(),
            range(|plot| (plot.minimum, plot.maximum)).into(),
            Cell::from(plot.map_or(0, |plot| plot.count)).remark(outliers),
        ])
    };
    Table::new(columns, groups.iter().take(MAX_LISTED).map(row))
}

/// The five numbers of each group.
fn table<'a>(title: String, groups: &'a [NodeGroup], measure: Measure) -> Table<'a> {
    let columns = [
        Column::key(title, 0, NAME),
        Column::number("min", 5),
        Column::number("q1", 5),
        Column::number("median", 6),
        Column::number("q3", 5),
        Column::number("max", 5),
        Column::number("nodes", 5),
    ];
    let Measure { of, factor, value } = measure;
    let row = |group: &'a NodeGroup| {
        let number = |number: fn(&BoxPlot) -> f64| {
            Cell::from(Value::known(of(group), |plot| value(factor * number(plot))))
        };
        Row::new([
            (&*group.name).into(),
            number(|plot| plot.minimum),
            number(|plot| plot.first_quartile),
            number(|plot| plot.median),
            number(|plot| plot.third_quartile),
            number(|plot| plot.maximum),
            of(group).map_or(0, |plot| plot.count).into(),
        ])
    };
    Table::new(columns, groups.iter().take(MAX_LISTED).map(row))
}
