//! Load of nodes while tasks ran on them, as recorded by monitoring tools.
//!
//! "Straggler Root-Cause and Impact Analysis for Massive-scale Virtualized Cloud Datacenters" (Garraghan et
//! al., section 5, table 3) uses the server's CPU and disk utilisation and the latency of file system
//! requests while a straggler ran, and `tsar`'s retransmission rate. These four metrics are read from:
//!
//! | format | recognised by | read by |
//! | --- | --- | --- |
//! | CSV | a header with `ts_ms` and `node` | `csv` |
//! | `sar -u -d -n TCP,ETCP` as text | a first line `Linux … (host) date` | `sar` |
//! | `sadf -d -- -u -d -n TCP,ETCP` | lines of `host;interval;timestamp;…` | `sadf` |
//! | `tsar --cpu --io --tcp` | a header `Time   ---cpu--- …` | `tsar` |
//! | Prometheus, range query | a JSON object | `prometheus` |
//! | `machine_usage` of Alibaba's trace of 2018 | lines of `m_1,…` with nine columns | `alibaba` |
//!
//! A value is the mean of the interval that ends at its time; all of these tools use this convention. If
//! there are several values for the same node and time, the highest counts, because a task waits for the
//! node's busiest disk.

mod alibaba;
mod clock;
mod csv;
mod error;
mod format;
mod hosts;
mod prometheus;
mod recorder;
mod sadf;
mod sar;
mod series;
mod sysstat;
#[cfg(test)]
mod tests;
mod tsar;

use std::path::{Path, PathBuf};

use elephant_base::state::State;
use elephant_base::units::{Bytes, Timestamp};
use elephant_input::whole;
use elephant_parse::{Problem, Problems};

pub use clock::{InvalidOffset, UtcOffset};
pub use error::NodeMetricsError;
pub(crate) use format::Format;

pub use hosts::Hosts;
use recorder::{MOST_NODES, Recorder};
use series::Series;

/// A metric of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, State)]
#[non_exhaustive]
pub enum NodeMetric {
    /// CPU time that was not idle, not spent waiting for disks and not taken by other virtual machines, in
    /// percent of all cores (`util` of `tsar`'s CPU module).
    CpuUtil,
    /// Time with pending requests on the busiest disk, in percent (`%util` of `sar`, `util` of `tsar`'s I/O
    /// module).
    DiskUtil,
    /// Latency of requests to the distributed file system, in milliseconds.
    DfsLatency,
    /// Retransmitted TCP segments, in percent of those sent (`retran` of `tsar`'s TCP module).
    NetRetrans,
}

impl NodeMetric {
    /// Every metric.
    pub const ALL: [Self; 4] = [Self::CpuUtil, Self::DiskUtil, Self::DfsLatency, Self::NetRetrans];

    /// The name in reports, CSV headers and Prometheus labels.
    #[must_use]
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::CpuUtil => "cpu_util",
            Self::DiskUtil => "disk_util",
            Self::DfsLatency => "dfs_latency_ms",
            Self::NetRetrans => "net_retrans_pct",
        }
    }

    /// The name for readers.
    #[must_use]
    pub(crate) const fn display_name(self) -> &'static str {
        match self {
            Self::CpuUtil => "CPU utilisation",
            Self::DiskUtil => "disk utilisation",
            Self::DfsLatency => "latency of file system requests",
            Self::NetRetrans => "TCP retransmissions",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

/// Settings for reading files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The UTC offset of local times that do not state one (`sar`, `tsar`, `sadf -t`).
    pub utc_offset: UtcOffset,
}

/// Metrics of nodes over time.
#[derive(Debug, Clone, Default)]
pub struct NodeMetrics {
    hosts: Hosts,
    /// By node, in name order.
    series: Vec<[Series; NodeMetric::ALL.len()]>,
}

/// Metrics read from files, with the problems found.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The metrics.
    pub metrics: NodeMetrics,
    /// Warnings, each with its file, in file order.
    pub problems: Vec<(PathBuf, Problem)>,
}

/// How a host was matched with the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostMatch {
    /// The metrics have a node with this name.
    Exact,
    /// Exactly one node of the metrics has the same first DNS label.
    Label,
    /// Several nodes of the metrics have that label, so none is used.
    Ambiguous,
    /// The metrics have no matching node.
    Unknown,
}

/// Larger files are not read. A day of a thousand nodes takes a few hundred megabytes.
const MAX_LEN: Bytes = Bytes::from_mib(1 << 10);

/// Smallest share of a time window that samples must cover.
pub const MIN_COVERAGE: f64 = 0.5;

/// Reads files of any of the formats and merges them; the order of the files does not matter.
///
/// # Errors
/// A file cannot be read, is in no known format, or has no readable value of any metric.
pub fn read(paths: &[PathBuf], options: Options) -> Result<Loaded, NodeMetricsError> {
    let mut recorder = Recorder::default();
    let mut problems = Vec::new();
    for path in paths {
        let bytes = whole::read(path, MAX_LEN)
            .map_err(|source| NodeMetricsError::Unreadable { path: path.clone(), source })?;
        let found = read_bytes(path, &bytes, options, &mut recorder)?;
        problems.extend(found.into_vec().into_iter().map(|problem| (path.clone(), problem)));
    }
    Ok(Loaded { metrics: recorder.finish(), problems })
}

/// Reads the content of one file like [`read`]. `path` is used in errors, and names the node if the content
/// does not.
///
/// # Errors
/// The content is in no known format, or has no readable value of any metric.
pub fn parse(path: &Path, bytes: &[u8], options: Options) -> Result<Loaded, NodeMetricsError> {
    let mut recorder = Recorder::default();
    let problems = read_bytes(path, bytes, options, &mut recorder)?;
    let problems = problems.into_vec().into_iter().map(|problem| (path.to_owned(), problem)).collect();
    Ok(Loaded { metrics: recorder.finish(), problems })
}

/// Records the values of one file.
fn read_bytes(
    path: &Path,
    bytes: &[u8],
    options: Options,
    recorder: &mut Recorder,
) -> Result<Problems, NodeMetricsError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut problems = Problems::default();
    let before = recorder.count();
    match Format::of(text) {
        Some(Format::Csv) => csv::read(text, recorder, &mut problems),
        Some(Format::Sar) => sar::read(text, options, recorder, &mut problems),
        Some(Format::Sadf) => sadf::read(text, options, recorder, &mut problems),
        Some(Format::Tsar) => tsar::read(text, &tsar::host_of(path), options, recorder, &mut problems),
        Some(Format::Alibaba) => alibaba::read(text, recorder, &mut problems),
        Some(Format::Prometheus) => prometheus::read(text, recorder, &mut problems)
            .map_err(|source| NodeMetricsError::Json { path: path.to_owned(), source })?,
        None => return Err(NodeMetricsError::UnknownFormat { path: path.to_owned() }),
    }
    if recorder.is_full {
        problems.warn("node-metrics-nodes", None, || {
            format!("there are more than {MOST_NODES} nodes; the metrics of the others are not used")
        });
    }
    if recorder.count() == before {
        return Err(NodeMetricsError::NoValues { path: path.to_owned() });
    }
    Ok(problems)
}

impl NodeMetrics {
    /// The time-weighted mean of `metric` on `host` from `start` to `finish`; `None` if the host is unknown,
    /// or if samples cover less than [`MIN_COVERAGE`] of the time.
    #[must_use]
    pub fn mean(&self, host: &str, metric: NodeMetric, start: Timestamp, finish: Timestamp) -> Option<f64> {
        let (_, node) = self.hosts.find(host);
        let series = self.series.get(node?)?.get(metric as usize)?;
        series.mean(start.as_millis(), finish.as_millis(), MIN_COVERAGE)
    }

    /// How the host matches a node of the metrics.
    #[must_use]
    #[doc(hidden)]
    pub fn find(&self, host: &str) -> HostMatch {
        self.hosts.find(host).0
    }

    /// The nodes, by name.
    #[doc(hidden)]
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.hosts.names()
    }

    /// The metrics of one file's content.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        Some(parse(Path::new("node"), text.as_bytes(), Options::default()).ok()?.metrics)
    }
}
