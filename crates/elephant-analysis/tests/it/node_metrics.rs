//! Node metrics in the formats of `sar`, `sadf`, `tsar`, Prometheus and scripts: the same minutes of two nodes in
//! each.
use std::path::PathBuf;

use elephant_analysis::node_metrics::{HostMatch, NodeMetric, NodeMetrics, NodeMetricsError, Options, read};
use elephant_base::units::Timestamp;

/// 2026-11-21T10:00:00Z.
const TEN: i64 = 1_795_255_200_000;

fn file(name: &str) -> PathBuf {
    elephant_testing::root().join("testdata/node-metrics").join(name)
}

fn load(names: &[&str], utc_offset: &str) -> NodeMetrics {
    let paths: Vec<PathBuf> = names.iter().map(|name| file(name)).collect();
    let loaded = read(&paths, Options { utc_offset: utc_offset.parse().unwrap() }).unwrap();
    assert_eq!(loaded.problems, [], "{names:?}");
    loaded.metrics
}

fn assert_mean(metrics: &NodeMetrics, host: &str, metric: NodeMetric, expected: Option<f64>) {
    let mean = metrics.mean(host, metric, Timestamp::from_millis(TEN), Timestamp::from_millis(TEN + 600_000));
    let same = match (mean, expected) {
        (Some(mean), Some(expected)) => (mean - expected).abs() < 1e-9,
        (mean, expected) => mean.is_none() && expected.is_none(),
    };
    assert!(same, "{host} {metric:?}: {mean:?} is not {expected:?}");
}

#[test]
fn every_tool_gives_the_same_metrics() {
    for names in [
        &["metrics.csv"][..],
        &["sar.txt"],
        &["sadf.txt"],
        &["node1.example.com.tsar", "node2.example.com.tsar"],
        &["prometheus.json"],
    ] {
        let metrics = load(names, "Z");
        for (host, cpu, disk, retransmitted) in [("node1", 90.0, 30.0, 0.5), ("NODE2", 20.0, 96.0, 2.0)] {
            assert_mean(&metrics, host, NodeMetric::CpuUtil, Some(cpu));
            assert_mean(&metrics, host, NodeMetric::DiskUtil, Some(disk));
            assert_mean(&metrics, host, NodeMetric::NetRetrans, Some(retransmitted));
        }
        let latency = (names == ["metrics.csv"]).then_some(600.0);
        assert_mean(&metrics, "node2", NodeMetric::DfsLatency, latency);
        assert_eq!(metrics.find("node3"), HostMatch::Unknown, "{names:?}");
    }
}

#[test]
fn local_times_are_converted_to_utc() {
    assert_mean(&load(&["sar-iso-0800.txt"], "+08:00"), "node1", NodeMetric::CpuUtil, Some(90.0));
    assert_mean(&load(&["sar-iso-0800.txt"], "Z"), "node1", NodeMetric::CpuUtil, None);
}

#[test]
fn files_of_several_tools_are_merged_in_any_order() {
    let one = load(&["sar.txt", "metrics.csv"], "Z");
    let other = load(&["metrics.csv", "sar.txt"], "Z");
    for metrics in [&one, &other] {
        // The CSV has short host names, sar has full ones: they are separate nodes.
        assert_eq!(
            metrics.nodes().collect::<Vec<_>>(),
            ["node1", "node1.example.com", "node2", "node2.example.com"]
        );
        assert_eq!(metrics.find("node1"), HostMatch::Exact);
        assert_eq!(metrics.find("node1.other.net"), HostMatch::Ambiguous);
        assert_mean(metrics, "node2", NodeMetric::DfsLatency, Some(600.0));
    }
}

#[test]
fn missing_file_is_named() {
    let error = read(&[file("nothing.csv")], Options::default()).unwrap_err();
    assert!(matches!(error, NodeMetricsError::Unreadable { .. }));
    assert!(error.to_string().contains("nothing.csv"));
    let error = read(&[file("README.md")], Options::default()).unwrap_err();
    assert!(matches!(error, NodeMetricsError::UnknownFormat { .. }), "{error}");
}
