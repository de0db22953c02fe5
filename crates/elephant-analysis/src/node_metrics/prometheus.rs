//! Responses of Prometheus to range queries (`/api/v1/query_range`), one or several per file.
//!
//! The response does not contain the query, so each series must name its metric: by a label `elephant_metric`
//! (`label_replace(<query>, "elephant_metric", "cpu_util", "", "")`), or by the name of a recording rule,
//! `cpu_util`, `disk_util`, `dfs_latency_ms` or `net_retrans_pct`, in percent and milliseconds. The recording
//! rules of `node_exporter`'s mixin (`docs/node-mixin/rules`) are also recognised; their values are ratios:
//! `instance:node_cpu_utilisation:rate*` (1 − idle − iowait − steal) and
//! `instance_device:node_disk_io_time_seconds:rate*`.
//!
//! The host is the label `nodename`, `node`, `hostname` or `host`, otherwise `instance` without its port.

use elephant_base::whole::Whole;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::NodeMetric;
use super::recorder::{Reading, Recorder};
use super::sysstat::is_disk;
use elephant_parse::Problems;

#[derive(Deserialize)]
struct Response {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    #[serde(rename = "resultType")]
    kind: ResultType,
    result: Vec<Matrix>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ResultType {
    Matrix,
}

#[derive(Deserialize)]
struct Matrix {
    #[serde(default)]
    metric: BTreeMap<String, String>,
    #[serde(default)]
    values: Vec<(Value, Value)>,
}

const HOST_LABELS: [&str; 4] = ["nodename", "node", "hostname", "host"];

pub(super) fn read(text: &str, recorder: &mut Recorder, problems: &mut Problems) -> serde_json::Result<()> {
    for response in serde_json::Deserializer::from_str(text).into_iter::<Response>() {
        let Data { kind: ResultType::Matrix, result } = response?.data;
        for series in &result {
            read_series(series, recorder, problems);
        }
    }
    Ok(())
}

fn read_series(series: &Matrix, recorder: &mut Recorder, problems: &mut Problems) {
    let Some((metric, scale)) = metric_of(&series.metric) else {
        problems.warn("node-metrics-series", None, || {
            "a series does not name its metric; add a label elephant_metric with the value cpu_util, disk_util, \
             dfs_latency_ms or net_retrans_pct"
                .to_owned()
        });
        return;
    };
    if series.metric.get("device").is_some_and(|device| !is_disk(device)) {
        return;
    }
    let Some(host) = host_of(&series.metric) else {
        problems.warn("node-metrics-host", None, || {
            "a series has none of the labels nodename, node, hostname, host and instance; it was skipped"
                .to_owned()
        });
        return;
    };
    for (at, value) in &series.values {
        let Some(value) = number(value) else {
            warn_value(problems);
            continue;
        };
        // Prometheus's result of a division by zero.
        if value.is_nan() {
            continue;
        }
        let end = number(at).and_then(millis);
        let reading = Reading::Metric(metric, value * scale);
        if !end.is_some_and(|end| recorder.record(host, end, None, reading)) {
            warn_value(problems);
        }
    }
}

fn warn_value(problems: &mut Problems) {
    problems.warn("node-metrics-value", None, || {
        "a value is not a pair of a time in seconds and a number of 0 or more; it was skipped".to_owned()
    });
}

/// The metric of a series, with the factor that converts it to percent or milliseconds.
fn metric_of(labels: &BTreeMap<String, String>) -> Option<(NodeMetric, f64)> {
    let named = |label: &str| labels.get(label).and_then(|name| NodeMetric::from_name(name));
    if let Some(metric) = named("elephant_metric").or_else(|| named("__name__")) {
        return Some((metric, 1.0));
    }
    let name = labels.get("__name__")?;
    if name.starts_with("instance:node_cpu_utilisation:rate") {
        Some((NodeMetric::CpuUtil, 100.0))
    } else if name.starts_with("instance_device:node_disk_io_time_seconds:rate") {
        Some((NodeMetric::DiskUtil, 100.0))
    } else {
        None
    }
}

fn host_of(labels: &BTreeMap<String, String>) -> Option<&str> {
    let named = HOST_LABELS.iter().find_map(|label| labels.get(*label));
    named.map(String::as_str).or_else(|| labels.get("instance").map(|instance| without_port(instance)))
}

/// The host of `node1:9100`, and the address of `[::1]:9100`.
fn without_port(instance: &str) -> &str {
    if let Some((address, _)) = instance.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address;
    }
    match instance.split_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => instance,
    }
}

/// Values are strings, because they can be `NaN`; times are numbers.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn millis(seconds: f64) -> Option<i64> {
    let millis = (seconds * 1000.0).round();
    (millis.abs() < 9e15).then_some(millis.as_i64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_removed_from_instances() {
        for (instance, host) in [
            ("node1:9100", "node1"),
            ("node1", "node1"),
            ("10.0.0.1:9100", "10.0.0.1"),
            ("[::1]:9100", "::1"),
            ("fe80::1", "fe80::1"),
        ] {
            assert_eq!(without_port(instance), host);
        }
    }
}
