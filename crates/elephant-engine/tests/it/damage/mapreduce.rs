//! Histories that are truncated, flipped, shuffled or random: no panic, no hang, and no number that differs from the
//! complete history's without a problem in the report.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use elephant_analysis::metrics::Metrics;
use elephant_engine::engine::{Options, analyze};
use elephant_engine::results::ApplicationReport;
use elephant_input::window::ByteWindow;
use elephant_model::model::Application;
use elephant_parse::{Parsed, hadoop1, jhist};
use elephant_ruleset::RuleSet;
use proptest::prelude::*;
use serde_json::json;

use elephant_testing::history::Job;

type Parser = fn(&[u8]) -> Parsed;

static RULES: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::new(elephant_heuristics::BUILT_IN).unwrap());

fn avro_json(bytes: &[u8]) -> Parsed {
    jhist::json::parse(ByteWindow::new(bytes))
}

fn avro_binary(bytes: &[u8]) -> Parsed {
    jhist::avro::parse(ByteWindow::new(bytes))
}

fn hadoop_1(bytes: &[u8]) -> Parsed {
    hadoop1::parse(ByteWindow::new(bytes))
}

fn testdata(sub: &str) -> Vec<u8> {
    std::fs::read(elephant_testing::root().join("testdata").join(sub)).unwrap()
}

const DONE: &str = "done/2026/11/21/000000";

/// A history of each kind, small enough to truncate at every byte.
fn small_histories() -> Vec<(&'static str, Parser, Vec<u8>)> {
    let groups = json!([
        {"role": "map", "count": 2, "time": {"total_ms": 5000}, "counters": {"HDFS_BYTES_READ": 1_048_576}},
        {"role": "reduce", "count": 1, "time": {"total_ms": 9000, "shuffle_ms": 3000, "sort_ms": 100},
            "counters": {"REDUCE_SHUFFLE_BYTES": 4096}},
    ]);
    let json = Job::succeeded(&groups).history().into_bytes();
    let hadoop1 = testdata("hadoop1/jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions");
    vec![("Avro-Json", avro_json as Parser, json), ("Hadoop 1", hadoop_1 as Parser, hadoop1)]
}

/// The values that a report would show of an application, as text, without those that depend on unknown values.
fn numbers(app: &Application) -> BTreeSet<String> {
    let mut numbers = BTreeSet::new();
    for group in &app.groups {
        for row in 0..group.attempts.len() {
            let attempts = &group.attempts;
            let id = (
                group.kind,
                attempts.task(row).and_then(|task| group.tasks.number(task)),
                attempts.number(row),
            );
            if let Some(time) = attempts.run_time(row) {
                numbers.insert(format!("{id:?} ran {time:?}"));
            }
            for counter in elephant_model::model::counters::Counter::ALL {
                if let Some(value) = attempts.counter(row, counter) {
                    numbers.insert(format!("{id:?} {counter:?} {value}"));
                }
            }
        }
    }
    let metrics = Metrics::of(app, RULES.metrics());
    numbers.extend(metrics.run_time.map(|time| format!("job ran {time:?}")));
    numbers.extend(metrics.used.map(|used| format!("job used {used:?}")));
    numbers.extend(metrics.wait_time.map(|time| format!("job waited {time:?}")));
    numbers
}

#[test]
fn history_truncated_at_any_byte_reports_less_but_nothing_wrong() {
    for (name, parse, bytes) in small_histories() {
        let whole = parse(&bytes);
        assert!(whole.problems.is_empty(), "{name}: {:?}", whole.problems);
        let whole = &whole.applications[0];
        assert!(whole.complete, "{name}");
        let all = numbers(whole);
        for cut in 0..bytes.len() - 1 {
            let parsed = parse(&bytes[..cut]);
            for app in &parsed.applications {
                // The last byte before the final line feed closes the last record.
                let ended = cut >= bytes.len() - 2;
                assert!(!app.complete || ended, "{name} cut at {cut} is reported as complete");
                for number in numbers(app) {
                    assert!(all.contains(&number), "{name} cut at {cut}: {number}");
                }
            }
        }
    }
}

#[test]
fn truncated_binary_history_is_never_complete() {
    let file = std::fs::read_dir(format!("{}/testdata/{DONE}", elephant_testing::root().display()))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("-speculation-"))
        .unwrap();
    let bytes = std::fs::read(file).unwrap();
    let all = numbers(&avro_binary(&bytes).applications[0]);
    for cut in (0..bytes.len() - 1).step_by(211) {
        for app in avro_binary(&bytes[..cut]).applications {
            assert!(!app.complete, "cut at {cut}");
            for number in numbers(&app) {
                assert!(all.contains(&number), "cut at {cut}: {number}");
            }
        }
    }
}

fn real_history(name: &str) -> Vec<u8> {
    let folder = format!("{}/testdata/{DONE}", elephant_testing::root().display());
    let path = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| {
        let shown = path.to_string_lossy();
        shown.contains(name) && shown.ends_with(".jhist")
    });
    std::fs::read(path.unwrap()).unwrap()
}

/// Changes one digit to another digit: damage that leaves the syntax valid.
fn flipped_digit(bytes: &[u8], at: usize, by: u8) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let digits: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i].is_ascii_digit()).collect();
    let at = digits[at % digits.len()];
    bytes[at] = b'0' + (bytes[at] - b'0' + 1 + by % 9) % 10;
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Counters, task end times and run times are recorded twice, so that every changed digit is detected.
    #[test]
    fn changed_digit_in_a_task_is_detected(at in any::<usize>(), by in any::<u8>()) {
        let bytes = real_history("-healthy-");
        let whole = avro_json(&bytes);
        let all = numbers(&whole.applications[0]);
        let parsed = avro_json(&flipped_digit(&bytes, at, by));
        let app = &parsed.applications[0];
        if app.complete && parsed.problems.is_empty() {
            for number in numbers(app) {
                // The job's own end is recorded only once.
                prop_assert!(all.contains(&number) || number.starts_with("job "), "{}", number);
            }
        }
    }

    #[test]
    fn flipped_bytes_never_panic(
        flips in prop::collection::vec((any::<usize>(), any::<u8>()), 1..20),
        which in 0..3usize,
    ) {
        let (parse, mut bytes): (Parser, Vec<u8>) = match which {
            0 => (avro_json, real_history("-retries-")),
            1 => (avro_binary, real_history("-speculation-")),
            _ => (hadoop_1, testdata("hadoop1/jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions")),
        };
        for (at, value) in flips {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        for app in parse(&bytes).applications {
            let _ = RULES.evaluate(&app);
            let metrics = Metrics::of(&app, RULES.metrics());
            prop_assert!(metrics.wasted.zip(metrics.used).is_none_or(|(wasted, used)| wasted <= used));
        }
    }

    #[test]
    fn reordered_lines_never_panic(order in any::<u64>()) {
        let bytes = real_history("-retries-");
        let mut lines: Vec<&[u8]> = bytes.split(|&b| b == b'\n').collect();
        let mut state = order | 1;
        for i in (1..lines.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            lines.swap(i, usize::try_from(state >> 33).unwrap() % (i + 1));
        }
        let parsed = avro_json(&lines.join(&b'\n'));
        let app = &parsed.applications[0];
        let metrics = Metrics::of(app, RULES.metrics());
        prop_assert!(metrics.wasted.zip(metrics.used).is_none_or(|(wasted, used)| wasted <= used));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        for prefix in [&b""[..], b"Avro-Json\n", b"Avro-Binary\n", b"Meta VERSION=\"1\" .\n"] {
            let source = [prefix, &bytes].concat();
            for parse in [avro_json, avro_binary, hadoop_1] {
                let _ = parse(&source);
            }
        }
    }
}

fn report_of(text: &str) -> ApplicationReport {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("history"), text).unwrap();
    let report = analyze(&[folder.path().to_path_buf()], &RULES, Options::default());
    report.applications.into_iter().next().unwrap()
}

#[test]
fn out_of_range_numbers_are_unknown() {
    let groups = json!([{"role": "map", "count": 3, "time": {"total_ms": 5000},
        "counters": {"HDFS_BYTES_READ": 777_777_777, "PHYSICAL_MEMORY_BYTES": 555_555_555}}]);
    let text = Job::succeeded(&groups).history();
    for nonsense in ["99999999999999999999999999", "-5", "1e400", "0.5", "null"] {
        let app = report_of(&text.replace("777777777", nonsense).replace("555555555", nonsense));
        assert!(app.metrics.wasted.is_none(), "{nonsense}: {:?}", app.metrics);
    }
}

#[test]
fn very_long_line_gives_one_warning() {
    let groups = json!([{"role": "map", "count": 3, "time": {"total_ms": 5000}, "counters": {}}]);
    let text = Job::succeeded(&groups).history();
    let (head, tail) = text.split_at(text.rfind("{\"event\"").or_else(|| text.rfind("{\"type\"")).unwrap());
    let mut bytes = head.as_bytes().to_vec();
    bytes.resize(bytes.len() + elephant_base::limits::Limits::default().line_len() + 10, b'[');
    bytes.push(b'\n');
    bytes.extend_from_slice(tail.as_bytes());
    let parsed = avro_json(&bytes);
    let problems = parsed.problems.into_vec();
    let codes: Vec<&str> = problems.iter().map(|problem| &*problem.code).collect();
    assert_eq!(codes, ["line-too-long"]);
    assert!(!parsed.applications[0].complete);
    assert_eq!(parsed.applications[0].task_count(), 3);
}

/// A synthetic history may start its times at 0, which elsewhere means "unknown".
#[test]
fn times_may_start_at_zero() {
    let groups = json!([{"role": "map", "count": 3, "time": {"total_ms": 5000}, "counters": {}}]);
    let text = Job::succeeded(&groups).history().replace("150000000", "").replace("15004", "4");
    assert!(text.contains("\"submitTime\":0000"), "{text}");
    let parsed = avro_json(text.replace(":0000", ":0").as_bytes());
    assert!(parsed.problems.is_empty(), "{:?}", parsed.problems);
    let maps = &parsed.applications[0].groups[0];
    assert_eq!(maps.attempts.run_time(0), Some(elephant_base::units::Millis::new(5000)));
}

/// Next to present-day times, 0 is what Hadoop writes for an unknown time, and 7 is not a time that Hadoop writes.
#[test]
fn submission_time_in_1970_is_unknown() {
    let text = String::from_utf8(real_history("_0004-")).unwrap();
    let (head, tail) = text.split_once("\"submitTime\":").unwrap();
    let tail = tail.trim_start_matches(|byte: char| byte.is_ascii_digit());
    for wrong in [0, 7] {
        let app = report_of(&format!("{head}\"submitTime\":{wrong}{tail}"));
        let year = app.submitted_at.map(|at| at.as_millis() / 31_557_600_000);
        assert!(year.is_none_or(|since_1970| since_1970 > 30), "{wrong}: {:?}", app.submitted_at);
    }
}

/// Missing text across a record boundary merges two records into one.
#[test]
fn merged_hadoop_1_records_are_reported() {
    let bytes = testdata("hadoop1/jt1_1386370000000_job_201311192236_0042_etl_nightly+sessions");
    let text = String::from_utf8(bytes).unwrap();
    let hole = text.replacen(" .\nTask TASKID=", " TASKID=", 1);
    assert_ne!(hole, text);
    let parsed = hadoop_1(hole.as_bytes());
    assert!(parsed.applications.iter().all(|app| !app.complete));
    assert!(parsed.problems.into_vec().iter().any(|problem| problem.code == "broken-record"));
}
