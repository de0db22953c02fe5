//! Merges readings of all tools by node and time.

use std::collections::BTreeMap;

use super::hosts::Hosts;
use super::series::{Sample, Series};
use super::{NodeMetric, NodeMetrics};

/// A value that a tool reports for a node at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reading {
    /// The value of a metric, in its own unit.
    Metric(NodeMetric, f64),
    /// TCP segments sent per second.
    SegmentsSent(f64),
    /// TCP segments retransmitted per second.
    SegmentsResent(f64),
}

/// Readings by node and time.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    nodes: BTreeMap<String, BTreeMap<i64, Readings>>,
    count: u64,
    /// Whether there are more than [`MOST_NODES`].
    pub(super) is_full: bool,
}

/// The readings of one node at one time.
#[derive(Debug, Default)]
struct Readings {
    length: Option<i64>,
    values: [Option<f64>; NodeMetric::ALL.len()],
    sent: Option<f64>,
    resent: Option<f64>,
}

/// The nodes of the largest clusters, several times over.
pub(super) const MOST_NODES: usize = 100_000;

/// Tools round, and measure over a time that is a little longer than the interval.
const MOST_PERCENT: f64 = 110.0;

/// A request that takes longer than a day is none.
const MOST_LATENCY_MS: f64 = 86_400_000.0;

/// More segments a second than any network has.
const MOST_SEGMENTS: f64 = 1e12;

impl Reading {
    /// The value, if it can be one of this kind: shares are at most 100 %.
    fn possible(self) -> Option<f64> {
        let (value, most) = match self {
            Self::Metric(NodeMetric::DfsLatency, value) => (value, MOST_LATENCY_MS),
            Self::Metric(_, value) if (0.0..=MOST_PERCENT).contains(&value) => {
                (value.min(100.0), MOST_PERCENT)
            }
            Self::Metric(_, value) => (value, MOST_PERCENT),
            Self::SegmentsSent(value) | Self::SegmentsResent(value) => (value, MOST_SEGMENTS),
        };
        (0.0..=most).contains(&value).then_some(value)
    }
}

/// Times outside the years 1970 to 2199 are errors.
const TIMES: std::ops::Range<i64> = 0..7_258_118_400_000;

impl Recorder {
    /// Records a reading for the interval that ends at `end` and lasts `length` milliseconds. Returns `false`
    /// if the reading is not valid: an empty name, a time out of range, or a value that cannot be one of its metric; or if
    /// there are too many nodes.
    pub(super) fn record(&mut self, host: &str, end: i64, length: Option<i64>, reading: Reading) -> bool {
        let Some(value) = reading.possible() else { return false };
        let name = Hosts::normal(host);
        if name.is_empty() || !TIMES.contains(&end) {
            return false;
        }
        if self.nodes.len() >= MOST_NODES && !self.nodes.contains_key(&name) {
            self.is_full = true;
            return false;
        }
        let moment = self.nodes.entry(name).or_default().entry(end).or_default();
        // The shorter one of two lengths is safer.
        moment.length = match (moment.length, length.filter(|length| *length > 0)) {
            (Some(known), Some(new)) => Some(known.min(new)),
            (known, new) => known.or(new),
        };
        let slot = match reading {
            Reading::Metric(metric, _) => moment.values.get_mut(metric as usize),
            Reading::SegmentsSent(_) => Some(&mut moment.sent),
            Reading::SegmentsResent(_) => Some(&mut moment.resent),
        };
        if let Some(slot) = slot {
            *slot = Some(slot.map_or(value, |known| known.max(value)));
            self.count += 1;
        }
        true
    }

    /// Number of recorded readings.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn finish(self) -> NodeMetrics {
        let (mut names, mut series) = (Vec::new(), Vec::new());
        for (name, moments) in self.nodes {
            let of = |metric| {
                let sample = |(&end, moment): (&i64, &Readings)| {
                    Some(Sample { end, length: moment.length, value: moment.value(metric)? })
                };
                Series::new(&moments.iter().filter_map(sample).collect::<Vec<_>>())
            };
            series.push(NodeMetric::ALL.map(of));
            names.push(name);
        }
        NodeMetrics { hosts: Hosts::new(names), series }
    }
}

impl Readings {
    fn value(&self, metric: NodeMetric) -> Option<f64> {
        let own = self.values.get(metric as usize).copied().flatten();
        if metric != NodeMetric::NetRetrans || own.is_some() {
            return own;
        }
        let sent = self.sent.filter(|sent| *sent > 0.0)?;
        Some(100.0 * self.resent? / sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;

    #[test]
    fn the_highest_of_several_values_is_used() {
        let mut recorder = Recorder::default();
        for value in [20.0, 90.0, 30.0] {
            assert!(recorder.record("n", 1000, Some(1000), Reading::Metric(NodeMetric::DiskUtil, value)));
        }
        let metrics = recorder.finish();
        let at = Timestamp::from_millis;
        assert_eq!(metrics.mean("N", NodeMetric::DiskUtil, at(0), at(1000)), Some(90.0));
        assert_eq!(metrics.mean("N", NodeMetric::CpuUtil, at(0), at(1000)), None);
        assert_eq!(metrics.mean("other", NodeMetric::DiskUtil, at(0), at(1000)), None);
    }

    #[test]
    fn retransmissions_are_a_share_of_sent_segments() {
        let mut recorder = Recorder::default();
        recorder.record("n", 1000, Some(1000), Reading::SegmentsSent(200.0));
        recorder.record("n", 1000, Some(1000), Reading::SegmentsResent(3.0));
        recorder.record("n", 2000, Some(1000), Reading::SegmentsSent(0.0));
        recorder.record("n", 2000, Some(1000), Reading::SegmentsResent(0.0));
        let metrics = recorder.finish();
        let at = Timestamp::from_millis;
        assert_eq!(metrics.mean("n", NodeMetric::NetRetrans, at(0), at(1000)), Some(1.5));
        assert_eq!(metrics.mean("n", NodeMetric::NetRetrans, at(1000), at(2000)), None);
    }

    #[test]
    fn shares_are_at_most_all_and_nodes_have_a_limit() {
        let mut recorder = Recorder::default();
        for node in 0..MOST_NODES {
            assert!(recorder.record(
                &format!("n{node}"),
                1000,
                Some(1000),
                Reading::Metric(NodeMetric::CpuUtil, 100.4)
            ));
        }
        assert!(!recorder.is_full);
        assert!(!recorder.record("other", 1000, Some(1000), Reading::Metric(NodeMetric::CpuUtil, 1.0)));
        assert!(recorder.record("n7", 2000, Some(1000), Reading::Metric(NodeMetric::CpuUtil, 1.0)));
        assert!(recorder.is_full);
        let at = Timestamp::from_millis;
        assert_eq!(recorder.finish().mean("n7", NodeMetric::CpuUtil, at(0), at(1000)), Some(100.0));
    }

    #[test]
    fn invalid_readings_are_rejected() {
        let mut recorder = Recorder::default();
        let cpu = |value| Reading::Metric(NodeMetric::CpuUtil, value);
        for (host, end, value) in [
            ("", 1, 1.0),
            (" ", 1, 1.0),
            ("n", -1, 1.0),
            ("n", i64::MAX, 1.0),
            ("n", 1, -0.1),
            ("n", 1, f64::NAN),
            ("n", 1, 150.0),
            ("n", 1, 1e308),
        ] {
            assert!(!recorder.record(host, end, None, cpu(value)), "{host} {end} {value}");
        }
        assert_eq!(recorder.count(), 0);
    }
}
