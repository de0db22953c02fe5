//! Watching a log gives the flags that the finished log gives.

use std::collections::BTreeMap;
use std::path::Path;

use elephant_analysis::stragglers::detect::options::DetectorOptions;
use elephant_analysis::stragglers::detect::{Detector, Needs, all_with};
use elephant_analysis::stragglers::executions::{Basis, Executions};
use elephant_analysis::stragglers::replay::{Options, Timeline, replay};
use elephant_base::limits::Limits;
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::engine::visit;
use elephant_engine::watch::{Flag, Judges, WatchedLog};
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine};

/// Group, task, attempt, detector, and milliseconds from launch to flag.
type Key = (TaskKind, u32, Option<u32>, usize, u64);

/// Detectors that need times only, with settings that flag many tasks.
fn detectors() -> Vec<Box<dyn Detector>> {
    let eager = DetectorOptions { quantile: Some(0.3), multiplier: Some(1.05), ..DetectorOptions::default() };
    let all = all_with(&DetectorOptions::default()).into_iter().chain(all_with(&eager));
    all.filter(|detector| detector.needs() == Needs::Times).collect()
}

fn judges() -> Judges {
    Judges {
        detectors: detectors(),
        options: Options::of_engine(Engine::Spark),
        min_tasks: 2,
        settle: Millis::new(1000),
        engine: Engine::Spark,
        models: None,
    }
}

fn key(flag: &Flag) -> Key {
    let launch = &flag.flagged.launch;
    (flag.group, launch.task, launch.attempt, flag.flagged.detector, flag.flagged.elapsed.get())
}

fn of_finished(app: &Application) -> Vec<Key> {
    let mut keys = Vec::new();
    for group in app.groups.iter().filter(|group| group.tasks.len() >= 2) {
        let timeline = Timeline::of(group, &Executions::of(group, Basis::Wall));
        let replayed = replay(&timeline, &detectors(), &Options::of_engine(Engine::Spark));
        for (number, detections) in replayed.detectors.iter().enumerate() {
            for (attempt, first) in timeline.attempts.iter().zip(&detections.first) {
                let Some(first) = first else { continue };
                let task = group.attempts.task(attempt.row).and_then(|task| group.tasks.number(task));
                let attempt = group.attempts.number(attempt.row);
                keys.push((group.kind, task.unwrap(), attempt, number, first.get()));
            }
        }
    }
    keys.sort_unstable();
    keys
}

fn watched(path: &Path) -> Vec<Key> {
    let mut log = WatchedLog::open(path, &Limits::default()).unwrap();
    let (judges, mut keys) = (judges(), Vec::new());
    loop {
        log.poll(None, &judges, |flag| keys.push(key(&flag))).unwrap();
        if log.reached() == elephant_engine::watch::Reached::End {
            break;
        }
    }
    keys.sort_unstable();
    keys
}

/// Whether flags depend on data that a log does not contain while it is written: attempts without an end, tasks that
/// succeeded twice, attempts that outlive their stage.
fn needs_the_future(group: &TaskGroup, stage_end: Option<Timestamp>) -> bool {
    let attempts = &group.attempts;
    let mut succeeded: BTreeMap<Option<usize>, u32> = BTreeMap::new();
    (0..attempts.len()).any(|row| {
        let end = attempts.time(row, TimePoint::Finish);
        let twice = attempts.outcome(row) == Outcome::Succeeded && {
            let count = succeeded.entry(attempts.task(row)).or_default();
            *count += 1;
            *count > 1
        };
        end.is_none() || twice || end > stage_end
    })
}

/// The file of a log, or the folder of a rolling one.
fn log_of(sources: &[String]) -> Option<&Path> {
    let [first, others @ ..] = sources else { return None };
    let folder = Path::new(first).parent()?;
    let is_rolling = folder.file_name()?.to_str()?.starts_with("eventlog_v2_");
    if is_rolling {
        return Some(folder);
    }
    others.is_empty().then(|| Path::new(first))
}

#[test]
fn a_finished_log_gives_the_same_flags_when_it_is_watched() {
    let Some(runs) = elephant_testing::shared("runs") else { return };
    let Some(corpus) = elephant_testing::shared("corpus") else { return };
    let visited = visit(&[runs, corpus], |app, sources| (app.clone(), sources.to_vec()));
    let (mut compared, mut flags) = (0, 0);
    for visit in visited.applications {
        let (app, sources) = visit.value;
        let Some(spark) = app.spark.as_deref() else { continue };
        let ends: BTreeMap<TaskKind, Option<Timestamp>> =
            spark.stages.iter().map(|stage| (TaskKind::Stage(stage.id), stage.completed_at)).collect();
        let unclear =
            app.groups.iter().any(|group| needs_the_future(group, ends.get(&group.kind).copied().flatten()));
        let Some(path) = log_of(&sources).filter(|path| path.exists()) else { continue };
        if unclear || !app.complete {
            continue;
        }
        let (expected, watched) = (of_finished(&app), watched(path));
        let first = expected.iter().zip(&watched).find(|(one, other)| one != other);
        assert!(watched == expected, "{}: {first:?}", path.display());
        compared += 1;
        flags += expected.len();
    }
    println!("{compared} applications, {flags} flags");
    assert!(compared > 50 && flags > 100, "{compared} applications, {flags} flags");
}
