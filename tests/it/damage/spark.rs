//! Spark event logs that are truncated, flipped, shuffled or spliced: no panic, no impossible number, and no verdict
//! that differs from the complete log's without a problem in the report.

use std::io::Read;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;

use super::spark_report::{Damaged, Reporter};
use elephant_testing::spark_log::{App, Ending, Executor, GIB, Task};

/// A small log with every kind of event.
fn written() -> Vec<u8> {
    let error = Ending::Exception("java.lang.OutOfMemoryError", "Java heap space");
    let conf = [("spark.executor.memory", "2g"), ("spark.executor.cores", "1")];
    let mut app = App::with(&conf, 2, 1);
    app.executors[1].removed = Some((7_000, "Container marked as failed".to_owned()));
    app.executors.push(Executor { added: 500, peaks: vec![("JVMHeapMemory", GIB)], ..Executor::new("3", 2) });
    let spilling = Task::new("1", 3000).metric("Memory Bytes Spilled", GIB).metric("JVM GC Time", 900);
    let twin = Task { index: Some(0), attempt: 1, speculative: true, ..Task::new("3", 900) };
    app.stage(vec![
        spilling,
        twin.ending(Ending::Killed("another attempt succeeded")),
        Task { index: Some(1), ..Task::new("2", 1000) },
    ])
    .stage(vec![
        Task::new("2", 400).ending(error),
        Task { index: Some(0), attempt: 1, ..Task::new("3", 600) },
        Task { index: Some(1), ..Task::new("3", 700).ending(Ending::ExecutorLost("Container killed")) },
        Task { index: Some(1), attempt: 1, ..Task::new("1", 5000) },
    ])
    .text()
    .into_bytes()
}

/// A recording in the repository.
fn recorded() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/spark/containers/eventlog_v2_local-1795255753487");
    let mut text = Vec::new();
    for number in [1, 2] {
        let file = std::fs::File::open(folder.join(format!("events_{number}_local-1795255753487.zstd")));
        zstd::Decoder::new(file.unwrap()).unwrap().read_to_end(&mut text).unwrap();
    }
    text
}

fn lines(log: &[u8]) -> Vec<&[u8]> {
    log.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The event name of a line.
fn event(line: &[u8]) -> String {
    let event = serde_json::from_slice::<serde_json::Value>(line).map(|event| event["Event"].clone());
    event.ok().and_then(|name| Some(name.as_str()?.rsplit('.').next()?.to_owned())).unwrap_or_default()
}

/// Whether the line is the end of an attempt that another one of the same task overtook.
fn lost_a_race(line: &[u8]) -> bool {
    String::from_utf8_lossy(line).contains("another attempt succeeded")
}

/// Whether the line adds an executor that no other line names.
fn adds_an_idle_executor(all: &[&[u8]], line: usize) -> bool {
    let id = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).unwrap()["Executor ID"].clone();
    let named =
        |line: &[u8], id: &str| String::from_utf8_lossy(line).contains(&format!("\"Executor ID\":\"{id}\""));
    event(all[line]) == "SparkListenerExecutorAdded"
        && all.iter().filter(|other| named(other, id(all[line]).as_str().unwrap())).count() == 1
}

fn assert_possible(damaged: &Damaged, what: &str) {
    let impossible = damaged.impossible();
    assert!(impossible.is_empty(), "{what}: {impossible:?}");
}

#[test]
fn complete_logs_are_reported_as_complete() {
    for log in [written(), recorded()] {
        let report = Reporter::new().report(&log);
        assert_eq!(report.applications().len(), 1);
        assert!(!report.admits_damage(), "{:?}", report.problems());
        assert_possible(&report, "whole");
    }
}

#[test]
fn log_truncated_at_any_byte_is_incomplete_and_keeps_its_start() {
    let (log, reporter) = (written(), Reporter::new());
    let count = |report: &Damaged| {
        report
            .applications()
            .first()
            .map_or(0, |app| app["metrics"]["tasks"]["task"]["attempts_count"].as_u64().unwrap_or_default())
    };
    let mut before = 0;
    // The last bytes are a closing brace and a line feed.
    for cut in (0..log.len() - 2).step_by(13) {
        let report = reporter.report(&log[..cut]);
        assert_possible(&report, &format!("cut at {cut}"));
        assert!(report.applications().iter().all(|app| app["complete"] == false), "cut at {cut}");
        assert!(count(&report) >= before, "cut at {cut}");
        before = count(&report);
    }
    assert_eq!(before, count(&reporter.report(&log)));
}

#[test]
fn log_truncated_at_a_line_end_is_incomplete() {
    for log in [written(), recorded()] {
        let (all, reporter) = (lines(&log), Reporter::new());
        for kept in 1..all.len() {
            let report = reporter.report(&all[..kept].concat());
            assert_possible(&report, &format!("{kept} lines"));
            let apps = report.applications();
            assert!(apps.iter().all(|app| app["complete"] == false), "{kept} lines of {}", all.len());
        }
    }
}

/// Drops each line in turn. The report may stay the same; if it changes, it must say that data is missing.
fn drop_each_line(log: &[u8], name: &str) -> Vec<String> {
    let (all, reporter) = (lines(log), Reporter::new());
    let whole = reporter.report(log);
    let mut silent = Vec::new();
    for dropped in 0..all.len() {
        // Spark itself does not always log the end of an attempt that lost a race. An executor without tasks appears
        // only in its own lines.
        if lost_a_race(all[dropped]) || adds_an_idle_executor(&all, dropped) {
            continue;
        }
        let rest = [&all[..dropped], &all[dropped + 1..]].concat().concat();
        let report = reporter.report(&rest);
        assert_possible(&report, &format!("{name} without line {}", dropped + 1));
        if !report.admits_damage() && !whole.admits_damage() && report.verdicts() != whole.verdicts() {
            silent.push(format!("{name}, line {}: {}", dropped + 1, event(all[dropped])));
        }
    }
    silent
}

#[test]
fn dropped_line_never_changes_a_verdict_silently() {
    let mut silent = drop_each_line(&written(), "written");
    silent.extend(drop_each_line(&recorded(), "recorded"));
    for recording in
        ["spark-3.5.9/failures", "spark-3.5.9/execkill", "spark-2.4.8/failures", "spark-3.5.9/dynalloc"]
    {
        let Some(path) = elephant_testing::shared(&format!("runs/{recording}")) else { break };
        silent.extend(drop_each_line(
            &elephant_testing::contents(&elephant_testing::files_below(&path)[0]),
            recording,
        ));
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

proptest! {
    // A failing case is printed with its input, so no regression file is needed.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn flipped_bytes_give_no_impossible_numbers(
        flips in prop::collection::vec((any::<Index>(), any::<u8>()), 1..20),
        is_written in any::<bool>(),
    ) {
        let mut log = if is_written { written() } else { recorded() };
        for (at, value) in flips {
            let at = at.index(log.len());
            log[at] = value;
        }
        let impossible = Reporter::new().report(&log).impossible();
        prop_assert!(impossible.is_empty(), "{impossible:?}");
    }

    /// Damage that leaves valid JSON.
    #[test]
    fn changed_digits_give_no_impossible_numbers(
        changes in prop::collection::vec((any::<Index>(), 0..10u8), 1..20),
        is_written in any::<bool>(),
    ) {
        let mut log = if is_written { written() } else { recorded() };
        let digits: Vec<usize> = (0..log.len()).filter(|&at| log[at].is_ascii_digit()).collect();
        for (at, digit) in changes {
            log[digits[at.index(digits.len())]] = b'0' + digit;
        }
        let impossible = Reporter::new().report(&log).impossible();
        prop_assert!(impossible.is_empty(), "{impossible:?}");
    }

    #[test]
    fn reordered_and_duplicate_lines_give_no_impossible_numbers(
        keys in prop::collection::vec(any::<u32>(), 30..60),
        is_written in any::<bool>(),
    ) {
        let log = if is_written { written() } else { recorded() };
        let all = lines(&log);
        let mut order: Vec<(u32, usize)> =
            keys.iter().cycle().zip(0..all.len() + 5).map(|(key, at)| (key.rotate_left(u32::try_from(at).unwrap() % 31), at % all.len())).collect();
        order.sort_unstable();
        let shuffled: Vec<&[u8]> = order.into_iter().map(|(_, at)| all[at]).collect();
        let impossible = Reporter::new().report(&shuffled.concat()).impossible();
        prop_assert!(impossible.is_empty(), "{impossible:?}");
    }

    /// A duplicate line, as after a resumed copy.
    #[test]
    fn duplicate_lines_never_change_the_report_silently(at in any::<Index>(), is_written in any::<bool>()) {
        let log = if is_written { written() } else { recorded() };
        let all = lines(&log);
        let at = at.index(all.len());
        let doubled = [&all[..=at], &all[at..]].concat().concat();
        let (whole, report) = (Reporter::new().report(&log), Reporter::new().report(&doubled));
        prop_assert!(report.impossible().is_empty(), "{:?}", report.impossible());
        prop_assert!(report.admits_damage() || report.verdicts() == whole.verdicts(), "{}", event(all[at]));
    }

    #[test]
    fn missing_event_type_never_gives_a_verdict_silently(
        which in any::<Index>(),
        kept in prop::collection::vec(any::<bool>(), 40),
        is_written in any::<bool>(),
    ) {
        let log = if is_written { written() } else { recorded() };
        let all = lines(&log);
        let name = event(all[which.index(all.len())]);
        let mut kept = kept.iter().cycle();
        // Spark itself does not always log the end of an attempt that lost a race.
        let mut stays =
            |line: &&&[u8]| event(line) != name || lost_a_race(line) || *kept.next().unwrap();
        let rest: Vec<&[u8]> = all.iter().filter(|line| stays(line)).copied().collect();
        let (whole, report) = (Reporter::new().report(&log), Reporter::new().report(&rest.concat()));
        prop_assert!(report.impossible().is_empty(), "{:?}", report.impossible());
        // Spark writes this event depending on its settings, and nothing else in the log shows that it is missing.
        let is_optional = name == "SparkListenerStageExecutorMetrics";
        let is_told = report.admits_damage() || is_optional;
        prop_assert!(is_told || report.verdicts() == whole.verdicts(), "{name}");
    }

    #[test]
    fn concatenated_logs_give_no_impossible_numbers(first in any::<Index>(), second in any::<Index>()) {
        let (one, other) = (written(), recorded());
        for (one, other) in [(&one, &other), (&other, &one)] {
            let spliced = [&one[..first.index(one.len())], &other[second.index(other.len())..]].concat();
            let impossible = Reporter::new().report(&spliced).impossible();
            prop_assert!(impossible.is_empty(), "{impossible:?}");
        }
    }
}
