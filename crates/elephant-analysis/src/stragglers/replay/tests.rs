use proptest::prelude::*;

use super::*;
use crate::stragglers::detect::{Completion, all};
use crate::stragglers::progress::ProgressCurve;
use elephant_base::whole::Whole;
use elephant_model::model::Engine;

/// An attempt of its own task, in seconds.
#[derive(Debug, Clone)]
struct Task {
    start: f64,
    splits: Vec<i32>,
    finish: f64,
    node: u32,
    input: u32,
}

fn ms(seconds: f64) -> i64 {
    (seconds * 1000.0).as_i64()
}

fn timeline(tasks: &[Task]) -> Timeline {
    let attempt = |(row, task): (usize, &Task)| Attempt {
        row,
        start_ms: ms(task.start),
        finish_ms: ms(task.finish),
        node: Some(task.node),
        input: Some(f64::from(task.input)),
        records: Some(f64::from(task.input) * 10.0),
        curve: ProgressCurve::of_splits(&task.splits),
    };
    let mut attempts: Vec<Attempt> = tasks.iter().enumerate().map(attempt).collect();
    attempts.sort_by_key(|attempt| (attempt.start_ms, attempt.row));
    let done = |(place, attempt): (usize, &Attempt)| Done {
        completion: Completion {
            at_ms: attempt.finish_ms,
            duration_ms: (attempt.finish_ms - attempt.start_ms).unsigned_abs(),
            input: attempt.input,
            records: attempt.records,
        },
        attempt: Some(place),
    };
    let mut done: Vec<Done> = attempts.iter().enumerate().map(done).collect();
    done.sort_by_key(|done| done.completion.at_ms);
    let launches = attempts.iter().map(|attempt| attempt.start_ms).collect();
    Timeline { total: tasks.len(), launches, attempts, done }
}

fn steady(start: f64, duration: f64) -> Task {
    let splits = vec![(duration * 1000.0 / 12.0).as_i32(); 12];
    Task { start, splits, finish: start + duration, node: 0, input: 64 }
}

fn run(tasks: &[Task]) -> Replay {
    replay(&timeline(tasks), &all(), &Options::of_engine(Engine::MapReduce))
}

fn first(replay: &Replay, id: &str, attempt: usize) -> Option<u64> {
    let found = replay.detectors.iter().find(|detections| detections.id == id).unwrap();
    found.first[attempt].map(Millis::get)
}

#[test]
fn one_slow_task_among_many_is_found() {
    let mut tasks: Vec<Task> = (0..20).map(|_| steady(0.0, 60.0)).collect();
    tasks.push(Task { node: 1, ..steady(0.0, 300.0) });
    let replay = run(&tasks);
    // At 18 s the others report 0.3 and the slow one 0.06; Default starts at 20 s.
    assert_eq!(first(&replay, "default", 20), Some(20_000));
    assert_eq!(first(&replay, "late", 20), Some(20_000));
    // At 61 s all others are done; 1.5 times their 60 s is exceeded at 91 s.
    assert_eq!(first(&replay, "spark-3", 20), Some(91_000));
    assert_eq!(first(&replay, "spark-4", 20), Some(181_000));
    assert_eq!(first(&replay, "mr2-legacy", 20), Some(60_000));
    for id in ["hierarchical", "offline", "combined", "flink", "dos-index", "mantri", "online"] {
        assert!(first(&replay, id, 20).is_some(), "{id}");
    }
    for detections in replay.detectors.iter().filter(|detections| detections.id != "mr2-legacy") {
        assert!(detections.first[..20].iter().all(Option::is_none), "{}", detections.id);
    }
}

#[test]
fn nothing_is_flagged_without_a_comparison() {
    assert_eq!(run(&[]).scans, 0);
    let alone = run(&[steady(0.0, 100.0)]);
    assert!(alone.detectors.iter().all(|detections| detections.first == [None]));
    // A task that runs between two scans is never seen.
    assert_eq!(run(&[steady(0.1, 0.5)]).scans, 0);
}

#[test]
fn idle_periods_are_skipped_on_the_scan_grid() {
    let far = run(&[steady(0.0, 10.0), steady(1_000_000.5, 10.0)]);
    assert_eq!(far.scans, 9 + 10);
}

#[test]
fn long_jobs_are_scanned_less_often() {
    let replay = run(&[steady(0.0, 1e6), steady(0.0, 1e6)]);
    assert!(replay.last_step > replay.step);
    assert!(replay.scans < 200_000, "{}", replay.scans);
    let endless = Task { finish: 9e15, ..steady(0.0, 100.0) };
    assert!(run(&[endless]).scans < 2_000_000);
}

#[test]
fn killed_attempts_are_extrapolated_and_linear_curves_start_after_startup() {
    let mut splits = vec![1000; 3];
    splits.resize(12, -1);
    let mut killed = timeline(&[Task { splits, ..steady(0.0, 9.0) }]).attempts.remove(0);
    assert_eq!(killed.progress(6000.0, 0.0), Some(0.5));
    assert_eq!(killed.progress(60_000.0, 0.0), Some(1.0));
    killed.curve = ProgressCurve::linear(9000.0);
    assert_eq!(killed.progress(1000.0, 1000.0), Some(0.0));
    assert_eq!(killed.progress(5000.0, 1000.0), Some(0.5));
    killed.curve = None;
    assert_eq!(killed.progress(1000.0, 0.0), None);
}

fn any_task() -> impl Strategy<Value = Task> {
    (0.0f64..120.0, prop::collection::vec(200i32..20_000, 12), 0u32..4, 1u32..100).prop_map(
        |(start, splits, node, input)| {
            let finish = start + f64::from(splits.iter().sum::<i32>()) / 1000.0;
            Task { start, splits, finish, node, input }
        },
    )
}

/// The flags up to a given time, by detector and row.
fn flags_until(replay: &Replay, timeline: &Timeline, until: i64) -> Vec<Vec<(usize, u64)>> {
    let of_detector = |detections: &Detections| {
        let flags = timeline.attempts.iter().zip(&detections.first);
        let mut flags: Vec<(usize, u64)> = flags
            .filter_map(|(attempt, first)| {
                let first = first.filter(|first| attempt.start_ms + first.get().cast_signed() <= until)?;
                Some((attempt.row, first.get()))
            })
            .collect();
        flags.sort_unstable();
        flags
    };
    replay.detectors.iter().map(of_detector).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Later events do not change earlier flags.
    #[test]
    fn the_future_changes_no_earlier_flag(
        tasks in prop::collection::vec(any_task(), 1..30),
        edits in prop::collection::vec((0.5f64..400.0, 1i32..60_000, any::<u32>()), 30),
        until in 1.0f64..200.0,
    ) {
        let edited = tasks.iter().zip(&edits).map(|(task, &(delay, split, node))| {
            if task.start > until {
                // Not launched yet: everything may change, but it must still come later.
                return Task { start: until + delay, finish: until + 2.0 * delay, node, ..task.clone() };
            }
            if task.finish <= until {
                return task.clone();
            }
            // Running: later reports and its end may change; its current part of progress does not.
            let mut end = task.start;
            let splits = task.splits.iter().map(|&known| {
                let begun = end <= until;
                end += f64::from(known) / 1000.0;
                if begun { known } else { split }
            });
            let splits = splits.collect();
            Task { splits, finish: until + delay, ..task.clone() }
        });
        let edited: Vec<Task> = edited.collect();
        // The first launch is the origin of time and stays.
        let (before, after) = (timeline(&tasks), timeline(&edited));
        let options = Options { observations_per_step: 500, ..Options::of_engine(Engine::MapReduce) };
        let (one, other) = (replay(&before, &all(), &options), replay(&after, &all(), &options));
        prop_assert_eq!(flags_until(&one, &before, ms(until)), flags_until(&other, &after, ms(until)));
    }

    /// A flag falls into the run time of its attempt.
    #[test]
    fn only_running_attempts_are_flagged(tasks in prop::collection::vec(any_task(), 1..30)) {
        let timeline = timeline(&tasks);
        let replay = replay(&timeline, &all(), &Options::of_engine(Engine::MapReduce));
        for detections in &replay.detectors {
            prop_assert_eq!(detections.first.len(), timeline.attempts.len());
            for (attempt, first) in timeline.attempts.iter().zip(&detections.first) {
                let run = (attempt.finish_ms - attempt.start_ms).unsigned_abs();
                prop_assert!(first.is_none_or(|first| first.get() < run));
            }
        }
    }
}
