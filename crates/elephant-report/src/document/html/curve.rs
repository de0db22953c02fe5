//! Curves with their ranges.

use std::fmt::Write as _;

use super::super::{Curve, Point};
use super::axis::{Axis, WIDTH};
use super::drawing;
use super::escape::escaped;

/// Empty if there is nothing to draw.
pub(super) fn figure(curve: &Curve) -> String {
    let Curve { title, ticks, points, lines, level, unit, tick, legend, note } = curve;
    let most = points.iter().map(|point| point.range.1).chain(*level).fold(0.0, f64::max);
    let Some(axis) = Axis::over([most].into_iter(), unit(most)) else { return String::new() };
    let at = |tick: &fn(f64) -> String| {
        let label = |value: f64| if value <= 0.0 { "0".to_owned() } else { tick(value) };
        axis.values().into_iter().map(label).collect()
    };
    let heights: Vec<String> = tick.as_ref().map_or_else(|| axis.ticks(), at);
    let heights = drawing::heights(&heights);
    let mut drawn: String = axis.values().into_iter().map(|value| across("grid", axis.y(value))).collect();
    for (class, x) in lines {
        let x = x * WIDTH;
        let _ = write!(drawn, "<line class=\"{class}\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"0\" y2=\"100\"/>");
    }
    drawn.extend(level.map(|level| across("limit", axis.y(level))));
    drawn.push_str(&drawn_points(points, axis));
    let texts: Vec<&str> = points.iter().map(|point| point.text.as_str()).collect();
    let level = level.map(|_| ("limit", "recorded time"));
    let keys = legend.iter().map(|(class, text)| (*class, text.as_str())).chain(level);
    format!(
        "<figure><figcaption>{title}</figcaption>\n<div class=\"plot\"><ul class=\"ys\" aria-hidden=\"true\">{heights}</ul><svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{title}: {}\">{drawn}</svg>\n{}</div>\n<ul class=\"legend\">\n<li>{}</li>\n<li>{note}</li>\n</ul>\n</figure>",
        escaped(&texts.join("; ")),
        drawing::ticks(ticks),
        super::legend(keys)
    )
}

fn across(class: &str, y: f64) -> String {
    format!("<line class=\"{class}\" x1=\"0\" x2=\"1000\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>")
}

/// The outline of the ranges: along the upper ends, and back along the lower ones; then the curve with its points.
fn drawn_points(points: &[Point], axis: Axis) -> String {
    let upper = points.iter().map(|point| (point.x * WIDTH, axis.y(point.range.1)));
    let lower = points.iter().rev().map(|point| (point.x * WIDTH, axis.y(point.range.0)));
    let at = |point: &Point| (point.x * WIDTH, axis.y(point.value));
    let (band, line) = (path(upper.chain(lower)), path(points.iter().map(at)));
    let dot = |point: &Point| {
        let (x, y) = at(point);
        let text = escaped(&point.text);
        format!("<g><title>{text}</title><path class=\"dot\" d=\"M{x:.1} {y:.1}h.01\"/></g>")
    };
    let dots: String = points.iter().map(dot).collect();
    format!("<path class=\"band\" d=\"{band}Z\"/><path class=\"curve\" d=\"{line}\"/>{dots}")
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let command = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{command}{x:.1} {y:.1}");
    }
    path
}
