//! The mean and its interval for each of the first nodes, on one axis.

use super::between;
use crate::html::draw::{Axis, MIN_BAR, Part, two_places};
use elephant_engine::nodes::indicators::Node;
use elephant_engine::nodes::levels::Interval;

/// Nodes that are drawn.
const MAX_DRAWN: usize = 40;

/// The nodes that are drawn, and their axis.
pub(super) struct Intervals<'a> {
    axis: Axis,
    rows: Vec<Row<'a>>,
    /// Nodes with an interval that are not drawn.
    pub(super) left_out: u64,
}

/// One node.
pub(super) struct Row<'a> {
    pub(super) node: &'a Node,
    interval: Interval,
}

impl<'a> Intervals<'a> {
    /// `None` if no node has an interval.
    pub(super) fn of(nodes: &'a [Node]) -> Option<Self> {
        let ranked = nodes.iter().filter(|node| node.level.is_some());
        let all = ranked.filter_map(|node| Some(Row { node, interval: node.interval()? }));
        let mut rows: Vec<Row<'a>> = all.collect();
        let left_out = rows.len().saturating_sub(MAX_DRAWN) as u64;
        rows.truncate(MAX_DRAWN);
        let ends = rows.iter().flat_map(|row| [row.interval.low, row.interval.high]);
        Some(Self { axis: Axis::over(ends, 1.0)?, rows, left_out })
    }

    pub(super) fn rows(&self) -> &[Row<'a>] {
        &self.rows
    }

    pub(super) fn ticks(&self) -> Vec<String> {
        self.axis.ticks()
    }

    /// The place of 0: the average of all nodes.
    pub(super) fn zero(&self) -> f64 {
        self.axis.x(0.0)
    }

    /// The drawn interval.
    pub(super) fn part(&self, row: &Row<'_>) -> Part {
        let x = self.axis.x(row.interval.low);
        Part { x, width: (self.axis.x(row.interval.high) - x).max(MIN_BAR) }
    }

    /// The place of the mean.
    pub(super) fn mean(&self, row: &Row<'_>) -> Option<f64> {
        row.node.mean.map(|mean| self.axis.x(mean))
    }
}

impl Row<'_> {
    /// The colour: slower or faster than average, or neither.
    pub(super) fn class(&self) -> &'static str {
        match self.interval {
            _ if self.node.is_straggler() => "bad",
            Interval { low, .. } if low > 0.0 => "large",
            Interval { high, .. } if high < 0.0 => "held",
            _ => "open",
        }
    }

    pub(super) fn mean_text(&self) -> Option<String> {
        self.node.mean.map(two_places)
    }

    pub(super) fn interval_text(&self) -> String {
        between(self.interval)
    }
}
