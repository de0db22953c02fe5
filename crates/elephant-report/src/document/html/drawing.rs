//! Drawings in cells and charts. They stretch with the page.

use super::super::table::AxisDay;
use super::super::{Axis as Kind, Bar, Chart, Drawing, Value};
use super::axis::{Axis, HEIGHT, MIN_BAR, WIDTH, time_unit};
use super::escape::escaped;
use crate::words::millis;

/// The share of its place that a bar leaves free on each side.
const GAP: f64 = 0.1;
/// From this number on, days have no gaps between them.
const MANY_DAYS: usize = 30;

/// The scale of the drawings in a column.
pub(super) enum Scale<'a> {
    Values(Axis),
    Times(Axis),
    Shares,
    Days(&'a [AxisDay]),
}

impl<'a> Scale<'a> {
    /// `None` if there is nothing to draw.
    pub(super) fn of<'v>(kind: &'a Kind, values: impl Iterator<Item = &'v Value<'v>>) -> Option<Self> {
        match kind {
            Kind::Shares => Some(Self::Shares),
            Kind::Days(days) => Some(Self::Days(days)),
            Kind::Times => {
                let times = values.filter_map(|value| match value {
                    Value::Drawing(Drawing::Sides(sides)) => Some(sides.iter().flatten().copied()),
                    _ => None,
                });
                let most = times.flatten().fold(0.0, f64::max);
                Axis::over([most].into_iter(), time_unit(most)).map(Self::Times)
            }
            Kind::Values => {
                let ends = values.filter_map(|value| match value {
                    Value::Drawing(Drawing::Interval { range, .. }) => Some((*range, [].as_slice())),
                    Value::Drawing(Drawing::Box { whiskers, outliers, .. }) => Some((*whiskers, outliers)),
                    _ => None,
                });
                let ends = ends.flat_map(|((low, high), others)| others.iter().copied().chain([low, high]));
                Axis::over(ends, 1.0).map(Self::Values)
            }
        }
    }

    /// The labels of the axis.
    pub(super) fn head(&self) -> String {
        match self {
            Self::Values(axis) => ticks(&axis.ticks()),
            Self::Times(axis) => {
                let tick = |at: f64| if at <= 0.0 { "0".to_owned() } else { millis(at) };
                ticks(&axis.values().into_iter().map(tick).collect::<Vec<_>>())
            }
            Self::Shares => ticks(&["0", "50", "100 %"]),
            Self::Days(days) => {
                let label = |day: &String| format!("<i>{}</i>", escaped(day));
                let column = |AxisDay { class, day }: &AxisDay| {
                    format!("<span class=\"{class}\">{}</span>", day.as_ref().map(label).unwrap_or_default())
                };
                let columns: String = days.iter().map(column).collect();
                format!("<span class=\"axis\"><span class=\"dates\">{columns}</span></span>")
            }
        }
    }

    pub(super) fn draw(&self, drawing: &Drawing) -> String {
        let hidden = "aria-hidden=\"true\"".to_owned();
        let (role, drawn) = match (self, drawing) {
            (Self::Values(axis), Drawing::Interval { class, range, mean }) => {
                (hidden, interval(*axis, class, *range, *mean))
            }
            (Self::Values(axis), Drawing::Box { quartiles, median, whiskers, outliers }) => {
                (hidden, box_plot(*axis, *quartiles, *median, (*whiskers, outliers)))
            }
            (Self::Times(axis), Drawing::Sides(times)) => (hidden, sides(*axis, times)),
            (_, Drawing::Shares(parts)) => (hidden, shares(parts)),
            (Self::Days(columns), Drawing::Days(days, label)) => {
                (format!("role=\"img\" aria-label=\"{}\"", escaped(label)), self::days(days, columns.len()))
            }
            _ => return String::new(),
        };
        format!("<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" {role}>{drawn}</svg>")
    }
}

/// An axis with labels at equal distances.
pub(super) fn ticks<T: AsRef<str>>(ticks: &[T]) -> String {
    let tick = |tick: &T| format!("<span><i>{}</i></span>", escaped(tick.as_ref()));
    format!(
        "<span class=\"axis\"><span class=\"ticks\">{}</span></span>",
        ticks.iter().map(tick).collect::<String>()
    )
}

/// The labels of a vertical axis, from the bottom.
pub(super) fn heights(ticks: &[String]) -> String {
    ticks.iter().rev().map(|tick| format!("<li>{}</li>", escaped(tick))).collect::<Vec<_>>().concat()
}

fn interval(axis: Axis, class: &str, (low, high): (f64, f64), mean: Option<f64>) -> String {
    let (zero, x) = (axis.x(0.0), axis.x(low));
    let width = (axis.x(high) - x).max(MIN_BAR);
    let mean = mean.map(|mean| axis.x(mean));
    let mean = mean.map(|x| format!("<line class=\"mean\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"1\" y2=\"9\"/>"));
    format!(
        "<line class=\"zero\" x1=\"{zero:.1}\" x2=\"{zero:.1}\" y1=\"0\" y2=\"10\"/><rect class=\"{class}\" x=\"{x:.1}\" y=\"3\" width=\"{width:.1}\" height=\"4\"/>{}",
        mean.unwrap_or_default()
    )
}

/// A box between the quartiles with a line at the median, whiskers with ends, and dots for what is further away.
fn box_plot(
    axis: Axis,
    (first, third): (f64, f64),
    median: f64,
    ((low, high), outliers): ((f64, f64), &[f64]),
) -> String {
    let line = |class: &str, (from, to): (f64, f64), (top, bottom): (u8, u8)| {
        let (from, to) = (axis.x(from), axis.x(to));
        format!("<line class=\"{class}\" x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>")
    };
    let x = axis.x(first);
    let width = (axis.x(third) - x).max(MIN_BAR);
    // Dots at nearly the same place are one, so that a page has at most a thousand for each box.
    let mut dots: Vec<String> = outliers.iter().map(|value| format!("M{:.0} 5h0", axis.x(*value))).collect();
    dots.dedup();
    let dots = if dots.is_empty() {
        String::new()
    } else {
        format!("<path class=\"dot\" d=\"{}\"/>", dots.concat())
    };
    [
        line("zero", (0.0, 0.0), (0, 10)),
        line("now", (low, high), (5, 5)),
        line("now", (low, low), (3, 7)),
        line("now", (high, high), (3, 7)),
        format!("<rect class=\"held\" x=\"{x:.1}\" y=\"2\" width=\"{width:.1}\" height=\"6\"/>"),
        line("mean", (median, median), (1, 9)),
        dots,
    ]
    .concat()
}

/// A bar for each side that is known.
fn sides(axis: Axis, times: &[Option<f64>; 2]) -> String {
    let bars = times.iter().zip([("side-A", ""), ("side-B", " y=\"5.4\"")]);
    let bar = |(time, (class, y)): (&Option<f64>, (&str, &str))| {
        let width = axis.x((*time)?).max(MIN_BAR);
        Some(format!("<rect class=\"{class}\"{y} width=\"{width:.1}\" height=\"4.6\"/>"))
    };
    bars.filter_map(bar).collect()
}

fn shares(parts: &[(&'static str, f64)]) -> String {
    let mut x = 0.0;
    let part = |(class, share): &(&str, f64)| {
        let width = if *share > 0.0 { (share.min(1.0) * WIDTH).max(MIN_BAR) } else { 0.0 };
        let drawn = format!("<rect class=\"{class}\" x=\"{x:.1}\" width=\"{width:.1}\" height=\"10\"/>");
        x += width;
        drawn
    };
    parts.iter().map(part).collect()
}

fn days(days: &[(usize, &'static str, String)], columns: usize) -> String {
    let room = WIDTH / columns.max(1) as f64;
    let gap = if columns > MANY_DAYS { 0.0 } else { 0.04 * room };
    let day = |(place, class, text): &(usize, &str, String)| {
        let (x, width, text) = (*place as f64 * room + gap, room - 2.0 * gap, escaped(text));
        format!(
            "<g><title>{text}</title><rect class=\"{class}\" x=\"{x:.1}\" width=\"{width:.1}\" height=\"10\"/></g>"
        )
    };
    days.iter().map(day).collect()
}

/// Bars with an axis and a legend.
pub(super) fn figure(chart: &Chart) -> String {
    let Some(axis) = Axis::over(chart.bars.iter().flatten().map(size), 1.0) else { return String::new() };
    let heights = heights(&axis.ticks());
    let line = |keys: &Vec<(&'static str, String)>| {
        let keys = keys.iter().map(|(class, text)| (*class, text.as_str()));
        format!("\n<li>{}</li>", super::legend(keys))
    };
    let legend: String = chart.legend.iter().map(line).collect();
    let remark = chart.remark.map(|remark| format!("\n<p class=\"note\">{}</p>", escaped(remark)));
    format!(
        "<figure><figcaption>{}</figcaption>\n<div class=\"plot\"><ul class=\"ys\" aria-hidden=\"true\">{heights}</ul>\n{}\n{}</div>\n<ul class=\"legend\">{legend}\n</ul>{}\n</figure>",
        escaped(&chart.caption),
        drawing("", chart, |value| HEIGHT - axis.y(value)),
        ticks(&chart.ticks),
        remark.unwrap_or_default()
    )
}

/// Bars in a cell, on a scale of their own, because rows differ by orders of magnitude.
#[cfg(feature = "store")]
pub(super) fn trend(chart: &Chart) -> String {
    let most = chart.bars.iter().flatten().map(size).fold(f64::MIN_POSITIVE, f64::max);
    drawing(" class=\"trend\"", chart, |value| HEIGHT * value / most)
}

/// All parts of a bar.
fn size(bar: &Bar) -> f64 {
    bar.parts.iter().map(|(_, part)| part).sum()
}

fn drawing(class: &str, chart: &Chart, height: impl Fn(f64) -> f64) -> String {
    let room = WIDTH / chart.bars.len().max(1) as f64;
    let drawn = chart
        .bars
        .iter()
        .enumerate()
        .filter_map(|(place, bar)| Some((place, bar.as_ref().filter(|bar| size(bar) > 0.0)?)));
    let bar = |(place, bar): (usize, &Bar)| {
        let (x, width) = ((place as f64 + GAP) * room, (1.0 - 2.0 * GAP) * room);
        let mut top = HEIGHT;
        let part = |(class, size): &(&str, f64)| {
            let height = if *size > 0.0 { height(*size).max(MIN_BAR).min(top) } else { 0.0 };
            top -= height;
            format!(
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
            )
        };
        let parts: String = bar.parts.iter().filter(|(_, size)| *size > 0.0).map(part).collect();
        format!("<g><title>{}</title>{parts}</g>", escaped(&bar.text))
    };
    let limit = chart.limit.map(|place| place as f64 * room);
    let limit =
        limit.map(|x| format!("<line class=\"limit\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"100\"/>"));
    let (bars, label) = (drawn.map(bar).collect::<String>(), escaped(&chart.label));
    format!(
        "<svg{class} viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{label}\">{bars}{}</svg>",
        limit.unwrap_or_default()
    )
}
