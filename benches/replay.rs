//! Cost of a replay: jobs of ten thousand tasks with all detectors, in CPU-seconds.
//!
//! One job is read from a generated job history; the others are timelines built here: one wide wave, many
//! waves, and tasks of an hour. Each must stay below [`LIMIT`] seconds.

// This is a program, so its results go to the terminal.
#![allow(clippy::print_stdout)]

use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use elephant_analysis::stragglers::detect::{Completion, all};
use elephant_analysis::stragglers::evaluation::{GroundTruth, GroupEvaluation};
use elephant_analysis::stragglers::executions::{Basis, Executions};
use elephant_analysis::stragglers::progress::ProgressCurve;
use elephant_analysis::stragglers::replay::{Attempt, Done, Options, Timeline, replay};
use elephant_analysis::stragglers::usual::UsualRule;
use elephant_base::whole::Whole;
use elephant_generate::{Format, Job};
use elephant_input::window::ByteWindow;
use elephant_model::model::Engine;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_parse::jhist;

/// Maximum CPU-seconds for a job of ten thousand tasks.
const LIMIT: f64 = 2.0;
/// Number of tasks of each job.
const TASKS: usize = 10_000;
const NODES: u32 = 200;

/// Tasks in waves of `slots`. One in twenty takes three times as long; all have individual speeds.
fn waves(slots: usize, seconds: f64) -> Timeline {
    let mut free_at = vec![0_i64; slots];
    let mut timeline = Timeline { total: TASKS, ..Timeline::default() };
    let mut seed = 0x9e37_79b9_u64;
    for (row, node) in (0..TASKS).zip((0..NODES).cycle()) {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let noise = (seed >> 40) as f64 / f64::from(1_u32 << 24);
        let slow = if row % 20 == 7 { 3.0 } else { 1.0 };
        let part = (slow * seconds * (0.8 + 0.4 * noise) * 1000.0 / 12.0).as_i32();
        let splits: Vec<i32> = (0..12).map(|k| part - k * part / 40).collect();
        let duration: i64 = splits.iter().map(|&split| i64::from(split)).sum();
        let Some(slot) = free_at.iter_mut().min() else { break };
        let start_ms = *slot;
        *slot += duration + 200;
        let input = Some(64.0 + noise);
        timeline.attempts.push(Attempt {
            row,
            start_ms,
            finish_ms: start_ms + duration,
            node: Some(node),
            input,
            records: Some(1000.0),
            curve: ProgressCurve::of_splits(&splits),
        });
    }
    timeline.attempts.sort_by_key(|attempt| (attempt.start_ms, attempt.row));
    timeline.launches = timeline.attempts.iter().map(|attempt| attempt.start_ms).collect();
    let done = timeline.attempts.iter().enumerate().map(|(place, attempt)| Done {
        completion: Completion {
            at_ms: attempt.finish_ms,
            duration_ms: (attempt.finish_ms - attempt.start_ms).unsigned_abs(),
            input: attempt.input,
            records: attempt.records,
        },
        attempt: Some(place),
    });
    timeline.done = done.collect();
    timeline.done.sort_by_key(|done| done.completion.at_ms);
    timeline
}

/// CPU-seconds of this process so far; `None` if the system does not report them.
fn cpu_seconds() -> Option<f64> {
    let schedstat = fs::read_to_string("/proc/self/schedstat").ok()?;
    let nanoseconds: f64 = schedstat.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Runs `work`, prints its cost, and returns whether that is below the limit.
fn measure(name: &str, work: impl FnOnce() -> String) -> bool {
    let (started, before) = (Instant::now(), cpu_seconds());
    let summary = work();
    let wall = started.elapsed().as_secs_f64();
    let cpu = cpu_seconds().zip(before).map_or(wall, |(after, before)| after - before);
    println!("{name:<26} {cpu:>6.2} CPU-s {wall:>6.2} s  {summary}");
    cpu <= LIMIT
}

/// The map tasks of a job history in Avro binary.
fn map_tasks(history: &[u8]) -> Option<TaskGroup> {
    let application = jhist::avro::parse(ByteWindow::new(history)).applications.pop()?;
    application.groups.into_iter().find(|group| group.kind == TaskKind::Map)
}

fn main() -> ExitCode {
    let mut history = Vec::new();
    let job = Job { maps: u32::try_from(TASKS).unwrap_or(u32::MAX), reduces: 50 };
    // Writing to memory cannot fail; if it did, the benchmark would not show the line of the history.
    let _ = Format::AvroBinary.write(job, &mut history);
    let detectors = all();
    println!("{TASKS} tasks, {} detectors", detectors.len());
    let mut within = true;
    if let Some(group) = map_tasks(&history) {
        within &= measure("a job history, evaluated", || {
            let executions = Executions::of(&group, Basis::Wall);
            let truth = GroundTruth::usual(&executions, &UsualRule::default(), &[]);
            let options = Options::of_engine(Engine::MapReduce);
            let evaluation = GroupEvaluation::of(&group, &executions, &truth, &detectors, &options);
            let stragglers = evaluation.detectors.first().map_or(0, |actual| actual.quality.stragglers);
            format!("{stragglers} stragglers")
        });
    }
    for (name, slots, seconds, engine) in [
        ("one wave of a minute", TASKS, 60.0, Engine::MapReduce),
        ("twenty waves of a minute", 500, 60.0, Engine::MapReduce),
        ("twenty waves of an hour", 500, 3600.0, Engine::MapReduce),
        ("one wave of an hour", TASKS, 3600.0, Engine::MapReduce),
        ("Spark, waves of 5 s", 400, 5.0, Engine::Spark),
    ] {
        let timeline = waves(slots, seconds);
        within &= measure(name, || {
            let replay = replay(&timeline, &detectors, &Options::of_engine(engine));
            format!("{} scans, step {} to {}", replay.scans, replay.step, replay.last_step)
        });
    }
    if within {
        return ExitCode::SUCCESS;
    }
    println!("more than {LIMIT} CPU-seconds");
    ExitCode::FAILURE
}
