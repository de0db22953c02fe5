//! Damaged input causes warnings or a file error; it never aborts the run and never gives a negative value.

use proptest::prelude::*;

use super::*;

const FILES: [(&str, &[u8]); 6] = [
    (
        "metrics.csv",
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/node-metrics/metrics.csv")),
    ),
    ("sar.txt", include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/node-metrics/sar.txt"))),
    (
        "sar-iso-0800.txt",
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/node-metrics/sar-iso-0800.txt")),
    ),
    (
        "sadf.txt",
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/node-metrics/sadf.txt")),
    ),
    (
        "node2.example.com.tsar",
        include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../testdata/node-metrics/node2.example.com.tsar"
        )),
    ),
    (
        "prometheus.json",
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/node-metrics/prometheus.json")),
    ),
];

/// 2026-11-21T10:00:00Z.
const START: i64 = 1_795_255_200_000;

fn load(name: &str, bytes: &[u8]) -> Result<(NodeMetrics, Vec<Problem>), NodeMetricsError> {
    let mut recorder = Recorder::default();
    let problems = read_bytes(Path::new(name), bytes, Options::default(), &mut recorder)?;
    Ok((recorder.finish(), problems.into_vec()))
}

fn load_text(text: &str) -> Result<(NodeMetrics, Vec<Problem>), NodeMetricsError> {
    load("node9.txt", text.as_bytes())
}

fn check(metrics: &NodeMetrics) {
    let names: Vec<String> = metrics.nodes().map(str::to_owned).collect();
    for name in names {
        for metric in NodeMetric::ALL {
            let (start, finish) = (Timestamp::from_millis(START), Timestamp::from_millis(START + 600_000));
            let mean = metrics.mean(&name, metric, start, finish);
            assert!(mean.is_none_or(|mean| mean.is_finite() && mean >= 0.0), "{name} {metric:?} {mean:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_handled(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok((metrics, _)) = load("node", &bytes) { check(&metrics); }
    }

    #[test]
    fn a_truncated_or_corrupted_file_is_handled(
        file in 0usize..FILES.len(),
        end in 0usize..1000,
        flips in prop::collection::vec((0usize..1000, any::<u8>()), 0..4),
    ) {
        let (name, bytes) = FILES[file];
        let at = |share: usize| share * bytes.len() / 1000;
        let mut bytes = bytes.to_vec();
        for (place, byte) in flips { let place = at(place); bytes[place] = byte; }
        bytes.truncate(at(end));
        if let Ok((metrics, _)) = load(name, &bytes) { check(&metrics); }
    }
}

#[test]
fn a_damaged_line_is_skipped_with_one_warning() {
    for (name, bytes) in FILES.iter().filter(|(name, _)| !name.ends_with("json")) {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        // Both lines are inserted among the rows of the first table.
        lines.insert(6, "10:00:59 AM all 1 2");
        lines.insert(8, "what is this,1;2");
        let (metrics, problems) = load(name, lines.join("\n").as_bytes()).unwrap();
        assert_eq!(problems.len(), 1, "{name} {problems:?}");
        assert_eq!((&*problems[0].code, problems[0].count), ("node-metrics-line", 2), "{name}");
        let shift = if name.contains("0800") { 8 * 3_600_000 } else { 0 };
        let (start, finish) = (START + shift, START + shift + 600_000);
        let node = metrics.nodes().next().unwrap().to_owned();
        let at = Timestamp::from_millis;
        assert!(metrics.mean(&node, NodeMetric::CpuUtil, at(start), at(finish)).is_some(), "{name}");
    }
}

#[test]
fn a_file_without_values_is_an_error() {
    let error = |text: &str| load_text(text).unwrap_err().to_string();
    assert!(error("hello").contains("not in a known format"), "{}", error("hello"));
    assert!(error("").contains("not in a known format"));
    assert!(error("ts_ms,node,cpu_util\n").contains("has no readable value"));
    assert!(error("{\"status\":\"success\"}").contains("line 1"));
    let vector = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
    assert!(error(vector).contains("matrix"), "{}", error(vector));
    let unnamed =
        r#"{"data":{"resultType":"matrix","result":[{"metric":{"instance":"n"},"values":[[1,"2"]]}]}}"#;
    assert!(error(unnamed).contains("has no readable value"));
}

#[test]
fn a_report_continues_past_midnight() {
    let text = "Linux 5.10.0 (n)\t11/20/26\t_x86_64_\t(8 CPU)\n\n\
        11:59:00 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
        12:00:00 AM     all     50.00      0.00      0.00      0.00      0.00     50.00\n\
        12:01:00 AM     all     70.00      0.00      0.00      0.00      0.00     30.00\n";
    let (metrics, problems) = load_text(text).unwrap();
    assert_eq!(problems, []);
    let midnight = START - 10 * 3_600_000;
    let mean = |start, finish| {
        let at = Timestamp::from_millis;
        metrics.mean("n", NodeMetric::CpuUtil, at(midnight + start), at(midnight + finish))
    };
    assert_eq!(mean(-60_000, 0), Some(50.0));
    assert_eq!(mean(0, 60_000), Some(70.0));
}

#[test]
fn a_report_with_an_unreadable_date_is_skipped() {
    let text = "Linux 5.10.0 (n)\t2026年11月21日\t_x86_64_\t(8 CPU)\n\n\
        10:00:00     CPU   %user   %idle\n10:01:00     all   50.00   50.00\n";
    assert!(matches!(load_text(text), Err(NodeMetricsError::NoValues { .. })));
    let both =
        format!("{text}\nLinux 5.10.0 (m) 2026-11-21 x (8 CPU)\n10:00:00 CPU %idle\n10:01:00 all 50.00\n");
    let (metrics, problems) = load_text(&both).unwrap();
    assert_eq!(metrics.nodes().collect::<Vec<_>>(), ["m"]);
    assert_eq!(problems[0].code, "node-metrics-date");
    assert!(problems[0].message.contains("S_TIME_FORMAT=ISO"));
}

#[test]
fn live_tsar_output_has_seconds_and_unit_suffixes() {
    let text = "Time              ---cpu-- ---mem-- ---tcp-- -----traffic---- --sda---  ---load-\n\
        Time                util     util   retran    bytin  bytout     util     load1\n\
        21/11/26-10:00:30   0.08    10.22     0.40     1.4K    1.2K    93.00     0.33\n\
        21/11/26-10:01:00   0.08    10.21     0.40   424.00  468.00    95.00     0.33\n";
    let (metrics, problems) = load_text(text).unwrap();
    assert_eq!(problems, []);
    let at = |ms| Timestamp::from_millis(START + ms);
    assert_eq!(metrics.mean("node9", NodeMetric::DiskUtil, at(0), at(60_000)), Some(94.0));
    assert_eq!(metrics.mean("node9", NodeMetric::NetRetrans, at(0), at(60_000)), Some(0.4));
    assert_eq!(metrics.mean("node9", NodeMetric::DfsLatency, at(0), at(60_000)), None);
}

#[test]
fn sadf_times_may_be_utc_local_or_epoch_seconds() {
    let head = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n";
    let row = |time: &str| format!("{head}n;60;{time};-1;80.00;0.00;5.00;5.00;0.00;10.00\n");
    let at = |ms| Timestamp::from_millis(START + ms);
    for time in ["2026-11-21 10:01:00 UTC", "1795255260", "2026-11-21 10:01:00", "2026-11-21 10:01:00 GMT"] {
        let (metrics, problems) = load_text(&row(time)).unwrap();
        assert_eq!(problems, [], "{time}");
        assert_eq!(metrics.mean("n", NodeMetric::CpuUtil, at(0), at(60_000)), Some(85.0), "{time}");
    }
}

#[test]
fn nan_values_of_prometheus_are_ignored() {
    let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
        {"metric":{"__name__":"disk_util","node":"n","device":"sda"},"values":[[1795255260,"NaN"],[1795255320,"40"],[1795255380,40]]},
        {"metric":{"__name__":"disk_util","node":"n","device":"loop0"},"values":[[1795255320,"100"]]},
        {"metric":{"__name__":"disk_util"},"values":[[1795255320,"100"]]},
        {"metric":{"__name__":"disk_util","node":"n"},"values":[[1795255320,"-5"],["x","5"]]}]}}"#;
    let (metrics, problems) = load_text(text).unwrap();
    let at = |ms| Timestamp::from_millis(START + ms);
    assert_eq!(metrics.mean("n", NodeMetric::DiskUtil, at(60_000), at(180_000)), Some(40.0));
    let codes: Vec<_> = problems.iter().map(|problem| (&*problem.code, problem.count)).collect();
    assert_eq!(codes, [("node-metrics-host", 1), ("node-metrics-value", 2)]);
}
