//! Comma-separated values: `ts_ms,node,cpu_util,disk_util,dfs_latency_ms,net_retrans_pct`.
//!
//! The header names the columns, in any order; `ts_ms` (milliseconds since the epoch) and `node` are
//! required. An empty cell is an unknown value. Other columns are ignored.

use super::NodeMetric;
use super::recorder::{Reading, Recorder};
use elephant_parse::{Position, Problems};

/// Whether a line is a header of this format.
pub(super) fn tells_format(line: &str) -> bool {
    Columns::of(line).is_some()
}

struct Columns {
    count: usize,
    time: usize,
    node: usize,
    metrics: Vec<(usize, NodeMetric)>,
}

impl Columns {
    fn of(header: &str) -> Option<Self> {
        let names: Vec<&str> = cells(header).collect();
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        let metrics = NodeMetric::ALL.into_iter().filter_map(|metric| Some((place(metric.name())?, metric)));
        Some(Self {
            count: names.len(),
            time: place("ts_ms")?,
            node: place("node")?,
            metrics: metrics.collect(),
        })
    }
}

pub(super) fn read(text: &str, recorder: &mut Recorder, problems: &mut Problems) {
    let mut columns = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let header = Columns::of(line);
        if header.is_some() {
            columns = header;
            continue;
        }
        let Some(columns) = &columns else { continue };
        if row(line, columns, recorder).is_none() {
            problems.warn("node-metrics-line", Some(Position::Line(number)), || {
                "the line does not have the header's columns, or a value is not a number of 0 or more; \
                 unreadable values count as unknown"
                    .to_owned()
            });
        }
    }
}

/// Records the readable values of a row; `None` if a value could not be read.
fn row(line: &str, columns: &Columns, recorder: &mut Recorder) -> Option<()> {
    let cells: Vec<&str> = cells(line).collect();
    if cells.len() != columns.count {
        return None;
    }
    let end = cells.get(columns.time)?.parse().ok()?;
    let node = cells.get(columns.node)?;
    let mut complete = Some(());
    for &(place, metric) in &columns.metrics {
        let cell = cells.get(place)?;
        if cell.is_empty() {
            continue;
        }
        let value = cell.parse().ok();
        if !value.is_some_and(|value| recorder.record(node, end, None, Reading::Metric(metric, value))) {
            complete = None;
        }
    }
    complete
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split(',').map(|cell| cell.trim().trim_matches('"'))
}
