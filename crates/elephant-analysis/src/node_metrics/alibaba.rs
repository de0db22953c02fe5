//! `machine_usage` of Alibaba's trace of 2018: `m_1932,386640,41,92,,,43.04,33.08,4`.
//!
//! The columns are the machine, the second of the trace, and the use of CPU, memory, memory bandwidth, cache misses per
//! thousand instructions, incoming and outgoing traffic, and disk. −1 and 101 mark values that are not known. Only the use of
//! CPU and disk says anything about stragglers.

use super::NodeMetric;
use super::recorder::{Reading, Recorder};
use elephant_input::trace_table::TraceFormat;
use elephant_parse::{Position, Problems};

const COLUMNS: usize = 9;

/// Whether a line is a row of this table.
pub(super) fn tells_format(line: &str) -> bool {
    let cells: Vec<&str> = line.split(',').collect();
    let machine = cells.first().and_then(|cell| cell.strip_prefix("m_"));
    let is_number = |cell: &&str| cell.parse::<f64>().is_ok();
    cells.len() == COLUMNS
        && machine.is_some_and(|number| number.parse::<u32>().is_ok())
        && cells.get(1).is_some_and(is_number)
}

pub(super) fn read(text: &str, recorder: &mut Recorder, problems: &mut Problems) {
    for (number, line) in (1..).zip(text.lines()) {
        if !line.is_empty() && row(line, recorder).is_none() {
            problems.warn("node-metrics-line", Some(Position::Line(number)), || {
                "the line is not a row of machine_usage with a machine, a time and percentages; unreadable values \
                 count as unknown"
                    .to_owned()
            });
        }
    }
}

/// Records the readable values of a row; `None` if a value could not be read.
fn row(line: &str, recorder: &mut Recorder) -> Option<()> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    if cells.len() != COLUMNS {
        return None;
    }
    let (machine, seconds) = (cells.first()?, cells.get(1)?.parse::<f64>().ok()?);
    let at = TraceFormat::Alibaba2018.at_second(seconds)?;
    let mut complete = Some(());
    for (place, metric) in [(2, NodeMetric::CpuUtil), (8, NodeMetric::DiskUtil)] {
        let cell = cells.get(place)?;
        if cell.is_empty() {
            continue;
        }
        let value = cell.parse::<f64>().ok();
        // The trace's description calls such values abnormal.
        if value.is_some_and(|value| !(0.0..=100.0).contains(&value)) {
            continue;
        }
        let recorded =
            value.map(|value| recorder.record(machine, at.as_millis(), None, Reading::Metric(metric, value)));
        if recorded != Some(true) {
            complete = None;
        }
    }
    complete
}

#[cfg(test)]
mod tests {
    use super::super::{NodeMetrics, Options, parse};
    use super::*;
    use elephant_base::units::Timestamp;

    #[test]
    fn abnormal_values_are_unknown_and_times_are_those_of_the_trace() {
        let text = "m_7,60,50,92,,,43.04,33.08,-1\nm_7,120,90,92,,,43.04,33.08,101\nm_7,180,70,92,,,43.04,33.08,30\n";
        let metrics = NodeMetrics::of_text(text).unwrap();
        let begin = 86_400_000;
        let mean = |metric, from: i64, to: i64| {
            let at = |second: i64| Timestamp::from_millis(begin + 1000 * second);
            metrics.mean("m_7", metric, at(from), at(to))
        };
        assert_eq!(mean(NodeMetric::CpuUtil, 0, 120), Some(70.0));
        assert_eq!(mean(NodeMetric::DiskUtil, 60, 120), None);
        assert_eq!(mean(NodeMetric::DiskUtil, 120, 180), Some(30.0));
    }

    #[test]
    fn damaged_rows_are_counted() {
        let text = "m_7,60,50,92,,,43.04,33.08,1\nm_7,x,50\nm_7,120,much,92,,,43.04,33.08,1\n";
        let path = std::path::Path::new("machine_usage.csv");
        let loaded = parse(path, text.as_bytes(), Options::default()).unwrap();
        assert_eq!((loaded.problems.len(), loaded.problems[0].1.count), (1, 2));
        assert!(!tells_format("m_7,60,50,92") && !tells_format("a,1,2,3,4,5,6,7,8"));
    }
}
