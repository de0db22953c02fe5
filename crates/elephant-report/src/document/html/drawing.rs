//! Drawings in cells and charts. They stretch with the page.

use super::super::table::AxisDay;
use super::super::{Axis as Kind, Drawing, Value};
#[cfg(feature = "store")]
use super::super::{Bar, Chart};
#[cfg(feature = "store")]
use super::axis::HEIGHT;
use super::axis::{Axis, MIN_BAR, WIDTH};
use super::escape::escaped;

/// The share of its place that a bar leaves free on each side.
#[cfg(feature = "store")]
const GAP: f64 = 0.1;
/// From this number on, days have no gaps between them.
const MANY_DAYS: usize = 30;

/// The scale of the drawings in a column.
pub(super) enum Scale<'a> {
    Values(Axis),
    Shares,
    Days(&'a [AxisDay]),
}

impl<'a> Scale<'a> {
    /// `None` if there is nothing to draw.
    pub(super) fn of<'v>(kind: &'a Kind, values: impl Iterator<Item = &'v Value<'v>>) -> Option<Self> {
        match kind {
            Kind::Shares => Some(Self::Shares),
            Kind::Days(days) => Some(Self::Days(days)),
            Kind::Values => {
                let ends = values.filter_map(|value| match value {
                    Value::Drawing(Drawing::Interval { range: (low, high), .. }) => Some([*low, *high]),
                    _ => None,
                });
                Axis::over(ends.flatten(), 1.0).map(Self::Values)
            }
        }
    }

    /// The labels of the axis.
    pub(super) fn head(&self) -> String {
        match self {
            Self::Values(axis) => ticks(&axis.ticks()),
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
#[cfg(feature = "store")]
pub(super) fn figure(chart: &Chart) -> String {
    let values = chart.bars.iter().flatten().flat_map(|bar| &bar.parts).map(|(_, value)| *value);
    let Some(axis) = Axis::over(values, 1.0) else { return String::new() };
    let heights: String = axis.ticks().iter().rev().map(|height| format!("<li>{height}</li>")).collect();
    let remark = chart.remark.map(|remark| format!("; {}", escaped(remark))).unwrap_or_default();
    format!(
        "<figure><figcaption>{}</figcaption>\n<div class=\"plot\"><ul class=\"ys\">{heights}</ul>\n{}\n{}</div>\n<p class=\"legend\">{}{remark}</p>\n</figure>",
        escaped(&chart.caption),
        drawing("", chart, |value| HEIGHT - axis.y(value)),
        ticks(&chart.ends),
        super::legend(chart.legend.iter().copied())
    )
}

/// Bars in a cell, on a scale of their own, because rows differ by orders of magnitude.
#[cfg(feature = "store")]
pub(super) fn trend(chart: &Chart) -> String {
    let values = chart.bars.iter().flatten().flat_map(|bar| &bar.parts);
    let most = values.map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
    drawing(" class=\"trend\"", chart, |value| HEIGHT * value / most)
}

#[cfg(feature = "store")]
fn drawing(class: &str, chart: &Chart, height: impl Fn(f64) -> f64) -> String {
    let room = WIDTH / chart.bars.len().max(1) as f64;
    let drawn = chart.bars.iter().enumerate().filter_map(|(place, bar)| Some((place, bar.as_ref()?)));
    let bar = |(place, Bar { parts, text }): (usize, &Bar)| {
        let (x, width) = ((place as f64 + GAP) * room, (1.0 - 2.0 * GAP) * room);
        let part = |(class, value): &(&str, f64)| {
            let (height, y) = (height(*value), HEIGHT - height(*value));
            format!(
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
            )
        };
        format!("<g><title>{}</title>{}</g>", escaped(text), parts.iter().map(part).collect::<String>())
    };
    let (bars, label) = (drawn.map(bar).collect::<String>(), escaped(&chart.label));
    format!(
        "<svg{class} viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{label}\">{bars}</svg>"
    )
}
