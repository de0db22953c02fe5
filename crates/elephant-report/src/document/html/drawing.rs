//! Charts as drawings that stretch with the page.

use super::super::{Bar, Chart};
use super::escaped;
use crate::html::draw::{Axis, HEIGHT, WIDTH};

/// The share of its place that a bar leaves free on each side.
const GAP: f64 = 0.1;

/// Bars with an axis and a legend.
pub(super) fn figure(chart: &Chart) -> String {
    let values = chart.bars.iter().flatten().flat_map(|bar| &bar.parts).map(|(_, value)| *value);
    let Some(axis) = Axis::over(values, 1.0) else { return String::new() };
    let heights: String = axis.ticks().iter().rev().map(|height| format!("<li>{height}</li>")).collect();
    let ends: String = chart.ends.iter().map(|end| format!("<span><i>{}</i></span>", escaped(end))).collect();
    let key = |(class, name): &(&str, &str)| format!("<span class=\"key {class}\"></span>{name}");
    let legend = chart.legend.iter().map(key).collect::<Vec<_>>().join(" ");
    let remark = chart.remark.map(|remark| format!("; {}", escaped(remark))).unwrap_or_default();
    format!(
        "<figure><figcaption>{}</figcaption>\n<div class=\"plot\"><ul class=\"ys\">{heights}</ul>\n{}\n<span class=\"axis\"><span class=\"ticks\">{ends}</span></span></div>\n<p class=\"legend\">{legend}{remark}</p>\n</figure>",
        escaped(&chart.caption),
        drawing("", chart, |value| HEIGHT - axis.y(value))
    )
}

/// Bars in a cell, on a scale of their own, because rows differ by orders of magnitude.
pub(super) fn trend(chart: &Chart) -> String {
    let values = chart.bars.iter().flatten().flat_map(|bar| &bar.parts);
    let most = values.map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
    drawing(" class=\"trend\"", chart, |value| HEIGHT * value / most)
}

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
