//! Errors of node metrics files.

use std::path::PathBuf;

/// A file of node metrics cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeMetricsError {
    /// The file cannot be read.
    #[error("cannot read node metrics from {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The content is in none of the formats.
    #[error(
        "{} is not in a known format of node metrics: CSV with the columns ts_ms and node, output of sar, sadf -d or tsar, \
         or JSON of a Prometheus range query",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The content is not JSON, or not the response to a range query; the source gives line and column.
    #[error("{} is not the response to a Prometheus range query: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The error and its position.
        source: serde_json::Error,
    },
    /// The file has a known format but no readable value of any metric.
    #[error(
        "{} has no readable value of cpu_util, disk_util, dfs_latency_ms or net_retrans_pct",
        path.display()
    )]
    NoValues {
        /// The file.
        path: PathBuf,
    },
}
