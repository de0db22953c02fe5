//! How busy nodes were while tasks ran on them, from what monitoring recorded outside of the histories.
//!
//! "Straggler Root-Cause and Impact Analysis for Massive-scale Virtualized Cloud Datacenters" (Garraghan et al.,
//! section 5, table 3) looks at the server's CPU and disk utilisation and at the latency of file system requests
//! while a straggler ran, and at `tsar`'s retransmission rate. Those four metrics are read here from:
//!
//! | format | told by | read by |
//! | --- | --- | --- |
//! | CSV | a header with `ts_ms` and `node` | `csv` |
//! | `sar -u -d -n TCP,ETCP` as text | a first line `Linux … (host) date` | `sar` |
//! | `sadf -d -- -u -d -n TCP,ETCP` | lines of `host;interval;timestamp;…` | `sadf` |
//! | `tsar --cpu --io --tcp` | a header `Time   ---cpu--- …` | `tsar` |
//! | Prometheus, range query | a JSON object | `prometheus` |
//!
//! A value is the mean of the interval that ends at its time, as all of these tools mean it. Of several values for the
//! same node and moment the highest counts: a task waits for the busiest of the node's disks.

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

use crate::input::whole;
use crate::parse::{Problem, Problems};
use crate::units::{Bytes, Timestamp};

pub use clock::{InvalidOffset, UtcOffset};
pub use error::NodeMetricsError;
pub use format::Format;

use hosts::Hosts;
use recorder::Recorder;
use series::Series;

/// What is measured of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeMetric {
    /// CPU time that was neither idle, nor spent waiting for disks, nor taken by other virtual machines, in percent
    /// of all cores (`util` of `tsar`'s CPU module).
    CpuUtil,
    /// Time in which the busiest disk had requests, in percent (`%util` of `sar`, `util` of `tsar`'s I/O module).
    DiskUtil,
    /// How long requests to the distributed file system took, in milliseconds.
    DfsLatency,
    /// TCP segments that were sent again, in percent of those sent (`retran` of `tsar`'s TCP module).
    NetRetrans,
}

impl NodeMetric {
    /// Every metric.
    pub const ALL: [Self; 4] = [Self::CpuUtil, Self::DiskUtil, Self::DfsLatency, Self::NetRetrans];

    /// The name in reports, in the CSV's header and in Prometheus labels.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CpuUtil => "cpu_util",
            Self::DiskUtil => "disk_util",
            Self::DfsLatency => "dfs_latency_ms",
            Self::NetRetrans => "net_retrans_pct",
        }
    }

    /// What people read.
    #[must_use]
    pub const fn display_name(self) -> &'static str {
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

/// How files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The offset from UTC of local times that do not say it (`sar`, `tsar`, `sadf -t`).
    pub utc_offset: UtcOffset,
}

/// Metrics of nodes over time.
#[derive(Debug, Clone, Default)]
pub struct NodeMetrics {
    hosts: Hosts,
    /// By node, in the order of their names.
    series: Vec<[Series; NodeMetric::ALL.len()]>,
}

/// What was read, with what was wrong in it.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// The metrics.
    pub metrics: NodeMetrics,
    /// Warnings with the file that they are about, in the order of the files.
    pub problems: Vec<(PathBuf, Problem)>,
}

/// What is known of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostMatch {
    /// The metrics name the same host.
    Exact,
    /// Exactly one node of the metrics has the same first DNS label.
    Label,
    /// Several nodes of the metrics have that label, so none is taken.
    Ambiguous,
    /// The metrics have no such node.
    Unknown,
}

/// Larger files are not read: a day of a thousand nodes has some hundred megabytes.
const MAX_LEN: Bytes = Bytes::from_mib(1 << 10);

/// The least share of a window that samples must cover.
pub const MIN_COVERAGE: f64 = 0.5;

/// Reads files of any of the formats and puts them together; the order of the files does not matter.
///
/// # Errors
/// A file cannot be read, is none of the formats, or has no value of any of the metrics.
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

/// Reads the content of one file as [`read`] does; `path` is for errors, and names the node where the content does not.
///
/// # Errors
/// The content is none of the formats, or has no value of any of the metrics.
pub fn parse(path: &Path, bytes: &[u8], options: Options) -> Result<Loaded, NodeMetricsError> {
    let mut recorder = Recorder::default();
    let problems = read_bytes(path, bytes, options, &mut recorder)?;
    let problems = problems.into_vec().into_iter().map(|problem| (path.to_owned(), problem)).collect();
    Ok(Loaded { metrics: recorder.finish(), problems })
}

/// Takes over one file's values.
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
        Some(Format::Prometheus) => prometheus::read(text, recorder, &mut problems)
            .map_err(|source| NodeMetricsError::Json { path: path.to_owned(), source })?,
        None => return Err(NodeMetricsError::UnknownFormat { path: path.to_owned() }),
    }
    if recorder.count() == before {
        return Err(NodeMetricsError::NoValues { path: path.to_owned() });
    }
    Ok(problems)
}

impl NodeMetrics {
    /// The time-weighted mean of `metric` on `host` from `start` to `finish`; `None` where the host is not known, or
    /// samples cover less than [`MIN_COVERAGE`] of the time.
    #[must_use]
    pub fn mean(&self, host: &str, metric: NodeMetric, start: Timestamp, finish: Timestamp) -> Option<f64> {
        let (_, node) = self.hosts.find(host);
        let series = self.series.get(node?)?.get(metric as usize)?;
        series.mean(start.as_millis(), finish.as_millis(), MIN_COVERAGE)
    }

    /// Whether the metrics have a node that is this host.
    #[must_use]
    pub fn find(&self, host: &str) -> HostMatch {
        self.hosts.find(host).0
    }

    /// The nodes, by name.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.hosts.names()
    }

    /// The metrics of one file's content.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Option<Self> {
        Some(parse(Path::new("node"), text.as_bytes(), Options::default()).ok()?.metrics)
    }

    /// Whether there is no value at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }
}
