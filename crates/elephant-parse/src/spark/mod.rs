//! Spark event logs, versions 1.0 to 4.x: JSON, one event per line (`JsonProtocol`), in one file or several
//! parts.
//!
//! Blocks of whole lines are parsed in parallel (`block`) and processed in the order of the log (`build`), so
//! the result does not depend on the number of threads.

mod at_once;
mod block;
mod build;
mod event;
mod executors;
mod failure_text;
mod feed;
mod line_template;
mod live;
mod metric_forms;
mod numbered;
mod outcomes;
mod plan;
mod spare;
mod stage_attempt;
mod storage;
mod strings;
mod sums;
mod task;
mod task_metrics;
mod task_template;
mod verify;

pub use feed::Feed;
pub use live::{LiveEvent, LiveReader, LiveTask};
pub use verify::Completeness;

use std::io;

use super::{Level, Parsed, Position, Problems};
use build::Builder;
use elephant_base::limits::{self, Limits};
use elephant_base::units::Bytes;
use elephant_input::budget::Budget;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use feed::{Batch, Pipeline};

/// The same maximum as for the jobs of a Hadoop 1 log: endless application starts must not fill the memory.
const MAX_APPLICATIONS: usize = 1 << 14;

/// An event log on disk.
pub struct Log<'a> {
    /// Its parts in the order written.
    pub parts: Vec<Part<'a>>,
    /// Facts from the names of its files.
    pub names: Names,
    /// Whether it is complete, judging by markers and names.
    pub completeness: Completeness,
}

/// A part of an event log.
pub struct Part<'a> {
    /// Its name, for messages.
    pub name: String,
    /// Opens it; the error is a sentence.
    pub open: Box<dyn Fn() -> Result<Feed, String> + Send + Sync + 'a>,
}

/// Facts from file names, used if the events lack them.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The application's id.
    pub application_id: Option<String>,
    /// The application's attempt.
    pub attempt: Option<String>,
    /// Spark's version.
    pub spark_version: Option<String>,
    /// Stored size, over all parts.
    pub stored: Option<Bytes>,
    /// Whether the log consists of several parts.
    pub rolling: bool,
}

/// Parses an event log. Problems are reported in the result; everything that can be read is used.
#[must_use]
pub fn parse(log: &Log<'_>) -> Parsed {
    parse_within(log, &Limits::default(), &Budget::unlimited())
}

/// Parses a log within `limits` on lines and tasks, and within `budget` for files. Streams enforce their own
/// budgets.
#[must_use]
pub fn parse_within(log: &Log<'_>, limits: &Limits, budget: &Budget) -> Parsed {
    parse_with(log, limits, budget, |pipeline| pipeline)
}

/// As [`parse_within`], with blocks of `block_len` bytes, to test that results do not depend on block
/// boundaries.
#[doc(hidden)]
#[must_use]
pub fn parse_in_blocks(log: &Log<'_>, limits: &Limits, budget: &Budget, block_len: usize) -> Parsed {
    parse_with(log, limits, budget, |pipeline| pipeline.in_blocks(block_len))
}

fn parse_with(
    log: &Log<'_>,
    limits: &Limits,
    budget: &Budget,
    adapted: impl Fn(Pipeline) -> Pipeline,
) -> Parsed {
    let mut builder = Builder::within(limits);
    let mut parsed = Parsed::default();
    for part in &log.parts {
        let mut problems = Problems::default();
        let mut end = |builder: Builder| {
            // File names describe only one application.
            let log = (&Names::default(), &Completeness::default());
            if parsed.applications.len() >= MAX_APPLICATIONS {
                parsed.problems.warn(limits::REACHED, None, || {
                    format!(
                        "the event log contains more than {MAX_APPLICATIONS} applications; the rest \
                         were skipped: split the log"
                    )
                });
                return;
            }
            parsed.applications.extend(application(builder, log, &mut parsed.problems));
        };
        match (part.open)() {
            Ok(feed) => {
                let pipeline = adapted(Pipeline::new(feed, limits, budget));
                read_part(pipeline, &mut builder, &mut problems, &mut end);
            }
            Err(message) => {
                builder.spark.gaps.unreadable += 1;
                problems.add(Level::Error, "unreadable", None, || message);
            }
        }
        parsed.part_problems.push((part.name.clone(), problems));
        if builder.beyond_memory().is_some() {
            break;
        }
    }
    parsed.beyond_memory = builder.beyond_memory().is_some();
    let several = !parsed.applications.is_empty();
    let named = if several { &Names::default() } else { &log.names };
    parsed.applications.extend(application(builder, (named, &log.completeness), &mut parsed.problems));
    if several {
        let count = parsed.applications.len();
        parsed.problems.add(Level::Info, "several-applications", None, || {
            format!("the event log contains {count} applications; each is reported separately")
        });
    }
    parsed
}

/// The application of a builder, if it read any event.
fn application(
    mut builder: Builder,
    (names, completeness): (&Names, &Completeness),
    problems: &mut Problems,
) -> Option<Application> {
    if builder.seen.events == 0 {
        return None;
    }
    builder.assemble();
    verify::verify(&mut builder, completeness, problems);
    builder.spark.attempt = builder.spark.attempt.take().or_else(|| names.attempt.clone());
    builder.spark.log.stored = names.stored;
    builder.spark.log.rolling = names.rolling;
    builder.spark.log.compacted = completeness.compacted;
    let mut app = builder.finish();
    app.engine_version = app.engine_version.take().or_else(|| names.spark_version.clone());
    if app.id.is_empty() {
        let configured = app.conf.text(ConfKey::SparkAppId);
        app.id = configured.or_else(|| names.application_id.clone()).unwrap_or_default();
    }
    app.name = app.name.take().or_else(|| app.conf.text(ConfKey::SparkAppName));
    app.queue = app.conf.text(ConfKey::SparkQueue);
    Some(app)
}

fn read_part(
    pipeline: Pipeline,
    builder: &mut Builder,
    problems: &mut Problems,
    end: &mut (dyn FnMut(Builder) + Send),
) {
    let mut lines = 0;
    let mut last_line = None;
    let take = |batch: &mut Batch| {
        for block in batch.blocks() {
            builder.take(block, lines, problems, end).map_err(|(line, reached)| {
                last_line = Some(line);
                io::Error::from(reached)
            })?;
            lines += block.lines;
        }
        Ok(())
    };
    if let Err(error) = pipeline.run(take) {
        let position = Some(Position::Line(last_line.unwrap_or(lines + 1)));
        let cut = error.kind() == io::ErrorKind::UnexpectedEof;
        let code = if cut { "truncated" } else { limits::code_of(&error, "damaged") };
        builder.spark.gaps.truncated_after_end |= cut && builder.seen.application_end;
        match limits::behind(&error) {
            Some(reached) => builder.limit = Some(reached.option()),
            None => builder.spark.gaps.unreadable += u64::from(!cut),
        }
        problems.warn(code, position, || {
            format!("the event log cannot be read to its end: {error}; the part before the error is used")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    fn log(text: &str) -> Log<'static> {
        let bytes = text.replace('\'', "\"").into_bytes();
        let open = move || Ok(Feed::Stream(Box::new(io::Cursor::new(bytes.clone()))));
        let part = Part { name: "log".to_owned(), open: Box::new(open) };
        Log { parts: vec![part], names: Names::default(), completeness: Completeness::default() }
    }

    fn read(text: &str) -> Parsed {
        parse(&log(text))
    }

    #[test]
    fn a_stage_belongs_to_the_job_that_was_running_when_it_was_submitted() {
        let mut text = String::new();
        for (job, at, stages) in [(0, 10, "[0]"), (1, 20, "[0,1]")] {
            writeln!(
                text,
                "{{'Event':'SparkListenerJobStart','Job ID':{job},'Submission Time':{at},'Stage IDs':{stages}}}"
            )
            .unwrap();
        }
        for (stage, attempt, at) in [(0, 0, 15), (0, 1, 25), (0, 2, 0), (1, 0, 99), (2, 0, 15)] {
            writeln!(
                text,
                "{{'Event':'SparkListenerStageSubmitted','Stage Info':{{'Stage ID':{stage},\
                 'Stage Attempt ID':{attempt},'Submission Time':{at}}}}}"
            )
            .unwrap();
        }
        let parsed = read(&text);
        let spark = parsed.applications[0].spark.as_deref().unwrap();
        let jobs: Vec<_> = spark.stages.iter().map(|stage| stage.job).collect();
        assert_eq!(jobs, [Some(0), Some(1), Some(0), Some(1), None]);
    }

    #[test]
    fn concatenated_applications_are_separated() {
        let one = |id: &str| {
            format!(
                "{{'Event':'SparkListenerLogStart','Spark Version':'3.5.9'}}\n\
                 {{'Event':'SparkListenerApplicationStart','App ID':'{id}','Timestamp':1}}\n\
                 {{'Event':'SparkListenerTaskStart','Stage ID':0,'Task Info':{{'Task ID':0,'Index':0}}}}\n\
                 {{'Event':'SparkListenerApplicationEnd','Timestamp':9}}\n"
            )
        };
        let parsed = read(&(one("a") + &one("b")));
        let seen: Vec<_> =
            parsed.applications.iter().map(|app| (app.id.as_str(), app.task_count())).collect();
        assert_eq!(seen, [("a", 1), ("b", 1)]);
        let decoded = |app: &Application| app.spark.as_deref().unwrap().log.decoded;
        let lens = [one("a"), one("b")].map(|text| Bytes::new(text.len() as u64));
        assert_eq!([decoded(&parsed.applications[0]), decoded(&parsed.applications[1])], lens);
    }

    #[test]
    fn impossible_ends_are_unknown_and_reported() {
        let log = |finished: i64| {
            format!(
                "{{'Event':'SparkListenerApplicationStart','App ID':'a','Timestamp':1000}}\n\
                 {{'Event':'SparkListenerTaskEnd','Stage ID':0,'Task End Reason':{{'Reason':'Success'}},'Task Info':\
                 {{'Task ID':7,'Index':0,'Launch Time':2000,'Finish Time':{finished}}}}}\n\
                 {{'Event':'SparkListenerApplicationEnd','Timestamp':9000}}\n"
            )
        };
        for (finished, code) in [
            (3000, None),
            (13_000, None),
            (60_000, Some("time-outside-application")),
            (0, Some("end-without-time")),
            (90_000, Some("time-outside-application")),
        ] {
            let parsed = read(&log(finished));
            let codes: Vec<_> = parsed.problems.into_vec().iter().map(crate::Problem::known_code).collect();
            for told in ["end-without-time", "time-outside-application"] {
                assert_eq!(codes.contains(&told), code == Some(told), "{finished}: {codes:?}");
            }
            let attempts = &parsed.applications[0].groups[0].attempts;
            assert_eq!(attempts.run_time(0).is_none(), code.is_some(), "{finished}");
        }
    }

    #[test]
    fn of_two_submissions_of_a_stage_the_possible_one_is_kept() {
        let stage = |event: &str, submitted: i64, completed: &str| {
            format!(
                "{{'Event':'SparkListenerStage{event}','Stage Info':{{'Stage ID':0,'Stage Attempt ID':0,\
                 'Submission Time':{submitted}{completed}}}}}\n"
            )
        };
        let minutes = |minutes: i64| 10_000 + minutes * 60_000;
        let ended = format!(",'Completion Time':{}", minutes(8));
        for (first, second, kept) in [
            (minutes(1), minutes(1) + 50, Some(minutes(1) + 50)),
            (minutes(1), minutes(20), Some(minutes(1))),
            (minutes(1), 5, Some(minutes(1))),
            (minutes(20), minutes(1), Some(minutes(1))),
            (minutes(1), minutes(4), None),
            (5, minutes(20), None),
        ] {
            let parsed = read(&format!(
                "{{'Event':'SparkListenerApplicationStart','App ID':'a','Timestamp':{}}}\n{}{}\
                 {{'Event':'SparkListenerApplicationEnd','Timestamp':{}}}\n",
                minutes(0),
                stage("Submitted", first, ""),
                stage("Completed", second, &ended),
                minutes(9),
            ));
            let told = codes(&parsed).contains(&"stage-times-impossible");
            let spark = parsed.applications[0].spark.as_deref().unwrap();
            let submitted = spark.stages[0].submitted_at.map(elephant_base::units::Timestamp::as_millis);
            assert_eq!((submitted, told), (kept, (first - second).abs() > 60_000), "{first} {second}");
        }
    }

    #[test]
    fn memory_is_counted_alike_in_blocks_of_any_length() {
        let mut text = "{'Event':'SparkListenerApplicationStart','App ID':'a','Timestamp':1}\n".to_owned();
        for id in 0..400 {
            writeln!(
                text,
                "{{'Event':'SparkListenerTaskEnd','Stage ID':{},'Task End Reason':{{'Reason':'ExceptionFailure',\
                 'Description':'error {id}'}},'Task Info':{{'Task ID':{id},'Index':{id},'Executor ID':'{}','Host':'h'}}}}",
                id / 100,
                id % 7,
            )
            .unwrap();
        }
        let limits = Limits { memory: Some(Bytes::new(40_000)), ..Limits::default() };
        let kept = |block_len| {
            let parsed = parse_in_blocks(&log(&text), &limits, &Budget::unlimited(), block_len);
            assert!(parsed.beyond_memory);
            let problems: Vec<_> = parsed.part_problems[0].1.clone().into_vec();
            (parsed.applications[0].task_count(), problems)
        };
        let (tasks, problems) = kept(256 << 10);
        assert!(tasks > 50 && tasks < 390, "{tasks}");
        assert_eq!(problems[0].code, limits::REACHED);
        for block_len in [1, 100, 5000] {
            assert_eq!(kept(block_len), (tasks, problems.clone()), "{block_len}");
        }
    }

    #[test]
    fn the_order_of_a_tasks_events_does_not_matter() {
        let start = "{'Event':'SparkListenerTaskStart','Stage ID':0,'Task Info':{'Task ID':7,'Index':0}}\n";
        let end = "{'Event':'SparkListenerTaskEnd','Stage ID':0,'Task End Reason':{'Reason':'Success'},\
                   'Task Info':{'Task ID':7,'Index':0,'Finish Time':5}}\n";
        let gaps = |text: &str| read(text).applications[0].spark.as_deref().unwrap().gaps;
        assert_eq!(gaps(&format!("{end}{start}")).starts, 0);
        assert_eq!(gaps(end).starts, 1);
    }

    /// A log of an application from 1000 to 9000 with these lines.
    fn within_application(lines: &str) -> Parsed {
        read(&format!(
            "{{'Event':'SparkListenerApplicationStart','App ID':'a','Timestamp':1000}}\n{lines}\
             {{'Event':'SparkListenerApplicationEnd','Timestamp':9000}}\n"
        ))
    }

    fn codes(parsed: &Parsed) -> Vec<&'static str> {
        parsed.problems.clone().into_vec().iter().map(crate::Problem::known_code).collect()
    }

    fn start(id: u32, launched: i64, speculative: bool) -> String {
        format!(
            "{{'Event':'SparkListenerTaskStart','Stage ID':0,'Task Info':{{'Task ID':{id},'Index':0,\
             'Launch Time':{launched},'Speculative':{speculative}}}}}\n"
        )
    }

    fn end(id: u32, launched: i64, finished: i64, metrics: &str) -> String {
        format!(
            "{{'Event':'SparkListenerTaskEnd','Stage ID':0,'Task End Reason':{{'Reason':'Success'}},'Task Info':\
             {{'Task ID':{id},'Index':0,'Launch Time':{launched},'Finish Time':{finished}}},'Task Metrics':{{{metrics}}}}}\n"
        )
    }

    #[test]
    fn the_loser_of_a_race_needs_no_end() {
        for (first, second, missing) in [(false, true, 0), (false, false, 1)] {
            let lines = [start(0, 2000, first), start(1, 3000, second), end(1, 3000, 4000, "")].concat();
            let parsed = within_application(&lines);
            assert_eq!(parsed.applications[0].spark.as_deref().unwrap().gaps.attempts, missing);
            assert_eq!(codes(&parsed).contains(&"attempt-ends-missing"), missing > 0);
        }
        let copy_left = [start(0, 2000, false), start(1, 3000, true), end(0, 2000, 4000, "")].concat();
        assert_eq!(within_application(&copy_left).applications[0].spark.as_deref().unwrap().gaps.attempts, 0);
    }

    #[test]
    fn values_that_contradict_the_log_are_unknown() {
        let run = |ms: u32| format!("'Executor Run Time':{ms},'JVM GC Time':10");
        for (launched, finished, ms, code) in [
            (2000, 3000, 1000, None),
            (2000, 3000, 2500, Some("part-exceeds-whole")),
            (2001, 3000, 900, Some("starts-disagree")),
        ] {
            let parsed = within_application(&(start(0, 2000, false) + &end(0, launched, finished, &run(ms))));
            let found = codes(&parsed);
            for told in ["part-exceeds-whole", "starts-disagree"] {
                assert_eq!(found.contains(&told), code == Some(told), "{found:?}");
            }
            let app = &parsed.applications[0];
            let attempts = &app.groups[0].attempts;
            let counter = attempts.counter(0, elephant_model::model::counters::Counter::ExecutorRunTime);
            assert_eq!(counter.is_none(), code == Some("part-exceeds-whole"));
            assert_eq!(attempts.run_time(0).is_none(), code == Some("starts-disagree"));
        }
    }

    #[test]
    fn an_application_that_starts_after_its_end_has_no_known_times() {
        let parsed = read(
            "{'Event':'SparkListenerApplicationStart','App ID':'a','Timestamp':9000}\n\
             {'Event':'SparkListenerApplicationEnd','Timestamp':1000}\n",
        );
        let app = &parsed.applications[0];
        assert_eq!((app.submitted_at, app.finished_at, app.complete), (None, None, false));
        assert!(codes(&parsed).contains(&"application-time-unknown"));
    }

    #[test]
    fn gaps_in_the_ids_of_tasks_show_lost_tasks() {
        let lines =
            [start(0, 2000, false), end(0, 2000, 3000, ""), start(2, 3000, false), end(2, 3000, 4000, "")];
        let parsed = within_application(&lines.concat());
        assert!(codes(&parsed).contains(&"task-ids-missing"));
        assert_eq!(parsed.applications[0].spark.as_deref().unwrap().gaps.tasks, 1);
    }
}
