//! The time of tasks against the bytes that they read, as points.

use std::collections::BTreeSet;

use askama::Template;

use super::draw::{HEIGHT, WIDTH, amount_text};
use super::filters::{self, grouped};
use super::links::Links;
use elephant_model::model::Subject;
use elephant_verdict::charts::{Axis, Point, Scale, Scatter};

#[derive(Template)]
#[template(path = "scatter.html")]
pub(super) struct ScatterView<'a> {
    pub(super) chart: &'a Scatter,
    pub(super) links: Links<'a>,
}

impl askama::filters::HtmlSafe for ScatterView<'_> {}

impl ScatterView<'_> {
    fn title(&self) -> String {
        let what = if self.chart.subject == Subject::Tasks("reduce") { "shuffled" } else { "read" };
        format!("Run time by bytes {what}: {}", self.chart.subject.name())
    }

    /// One dot per point, without those that hide each other.
    fn dots(&self) -> String {
        let Scatter { bytes, time, points, .. } = self.chart;
        let dot = |point: &Point| {
            let x = bytes.share(point.bytes.get()) * WIDTH;
            let y = HEIGHT - time.share(point.time.get()) * HEIGHT;
            format!("M{x:.0} {y:.1}h0")
        };
        let dots: BTreeSet<String> = points.iter().map(dot).collect();
        dots.into_iter().collect()
    }

    fn bytes_ticks(&self) -> Vec<String> {
        ticks(&self.chart.bytes)
    }

    /// Labels of the time axis, from the top.
    fn time_ticks(&self) -> Vec<String> {
        let mut ticks = ticks(&self.chart.time);
        ticks.reverse();
        ticks
    }

    /// The tasks that stand out, and which axes are not linear.
    fn sentence(&self) -> String {
        let Scatter { bytes, time, points, tasks, unknown, .. } = self.chart;
        let mut parts = vec![format!("{} tasks", grouped(*tasks))];
        let point = |point: &Point| format!("ran {} and read {}", point.time, point.bytes);
        parts.extend(points.first().map(|slowest| format!("the slowest {}", point(slowest))));
        let largest = points.iter().max_by_key(|point| (point.bytes, point.time));
        let largest = largest.filter(|largest| points.first() != Some(*largest));
        parts.extend(largest.map(|largest| format!("the one that read most {}", point(largest))));
        if *unknown > 0 {
            parts.push(format!("{} without a known size are not drawn", grouped(*unknown)));
        }
        parts.extend(match [time, bytes].map(|axis| axis.scale == Scale::Logarithmic) {
            [true, true] => Some("both scales are logarithmic".to_owned()),
            [true, false] => Some("the time scale is logarithmic".to_owned()),
            [false, true] => Some("the size scale is logarithmic".to_owned()),
            [false, false] => None,
        });
        parts.join("; ")
    }

    /// How many points are drawn of how many tasks; `None` if all are.
    fn sampled(&self) -> Option<String> {
        let shown = self.chart.points.len() as u64;
        (shown < self.chart.tasks)
            .then(|| format!("{} of the tasks are drawn, with all of the slowest", grouped(shown)))
    }
}

/// Labels at the quarters of an axis.
fn ticks(axis: &Axis) -> Vec<String> {
    let quarter = (axis.edges.len().saturating_sub(1) / 4).max(1);
    axis.edges.iter().step_by(quarter).map(|&edge| amount_text(axis.quantity.amount(edge))).collect()
}
