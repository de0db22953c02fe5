//! Why a file of node metrics cannot be used.

use std::path::PathBuf;

/// Why a file of node metrics cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NodeMetricsError {
    /// The file cannot be read.
    #[error("cannot read node metrics from {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The content is none of the formats.
    #[error(
        "{} is none of the formats of node metrics: CSV with the columns ts_ms and node, text of sar, sadf -d or tsar, \
         JSON of a Prometheus range query",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The content is no JSON, or not the answer to a range query; the source tells line and column.
    #[error("{} is not the answer to a Prometheus range query: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        source: serde_json::Error,
    },
    /// The file has the right format and none of the metrics.
    #[error(
        "{} has no value of cpu_util, disk_util, dfs_latency_ms or net_retrans_pct that can be read",
        path.display()
    )]
    NoValues {
        /// The file.
        path: PathBuf,
    },
}
