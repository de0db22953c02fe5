//! Metrics that Spark logs in nanoseconds: most tasks take less than a millisecond for them.

use std::io::Cursor;

use elephant_base::limits::Limits;
use elephant_base::units::Millis;
use elephant_input::budget::Budget;
use elephant_model::model::counters::Counter;
use elephant_parse::spark::{Completeness, Feed, Log, Names, Part, parse_within};

/// A task of stage 0 on executor 1. Equal lines except for their numbers are read by a template.
fn task(id: u64, cpu: u64, written: u64) -> String {
    let info = format!(
        "\"Task Info\":{{\"Task ID\":{id},\"Index\":{id},\"Attempt\":0,\"Launch Time\":1000,\"Executor ID\":\"1\",\
         \"Host\":\"h\",\"Locality\":\"ANY\",\"Speculative\":false,\"Finish Time\":2000}}"
    );
    format!(
        "{{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":0,\"Stage Attempt ID\":0,\"Task End Reason\":\
         {{\"Reason\":\"Success\"}},{info},\"Task Metrics\":{{\"Executor Run Time\":900,\"Executor CPU Time\":{cpu},\
         \"Shuffle Write Metrics\":{{\"Shuffle Write Time\":{written}}}}}}}\n"
    )
}

#[test]
fn sums_over_tasks_are_rounded_once() {
    let mut log = "{\"Event\":\"SparkListenerApplicationStart\",\"App ID\":\"a\",\"Timestamp\":1}\n\
                   {\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":900,\"Executor ID\":\"1\",\"Executor Info\":\
                   {\"Host\":\"h\",\"Total Cores\":4}}\n"
        .to_owned();
    // An odd factor, so that fractions of a millisecond are of all sizes.
    let times: Vec<u64> = (0..1000).map(|id| id * 999_983 % 2_700_000).collect();
    for (id, time) in (0..).zip(&times) {
        log += &task(id, *time, time / 3);
    }
    let bytes = log.into_bytes();
    let open = move || Ok(Feed::Stream(Box::new(Cursor::new(bytes.clone()))));
    let part = Part { name: "log".to_owned(), open: Box::new(open) };
    let log = Log { parts: vec![part], names: Names::default(), completeness: Completeness::default() };
    let app = parse_within(&log, &Limits::default(), &Budget::unlimited()).applications.remove(0);
    let rounded = |nanos: u64| (nanos + 500_000) / 1_000_000;
    let attempts = &app.groups[0].attempts;
    let cpu = rounded(times.iter().sum());
    let written = rounded(times.iter().map(|time| time / 3).sum());
    assert_eq!(attempts.sum(&[Counter::CpuMilliseconds]), Some(cpu));
    assert_eq!(attempts.sum(&[Counter::ShuffleWriteTime]), Some(written));
    let executor = &app.spark.as_deref().unwrap().executors[0];
    assert_eq!(executor.totals.cpu_time, Some(Millis::new(cpu)));
}
