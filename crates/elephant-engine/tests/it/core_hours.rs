//! Tasks use no more cores than their executors hold.

use std::path::PathBuf;

use proptest::prelude::*;

use elephant_analysis::metrics::Metrics;
use elephant_base::units::{CoreMillis, Millis};
use elephant_engine::engine::{Visited, visit};
use elephant_model::model::Application;
use elephant_model::model::spark::Executor;
use elephant_testing::shared;
use elephant_testing::spark_log::{App, Task};

/// Core time that tasks used, and that executors held by their starts, ends and cores; `None` if either is unknown.
fn used_and_held(app: &Application) -> Option<(CoreMillis, CoreMillis)> {
    let spark = app.spark.as_deref()?;
    let metrics = Metrics::of_spark(app, &elephant_sample::spark_metrics());
    let (used, idle) = metrics.cores_used.zip(metrics.cores_idle)?;
    let (start, end) = app.submitted_at.zip(app.finished_at)?;
    let held = |executor: &Executor| {
        let from = if executor.is_driver() { start } else { executor.added_at? }.min(end);
        let to = executor.removed_at.map_or(end, |removed| removed.min(end));
        Some(CoreMillis::of(u64::from(executor.cores?) * 1000, Millis::between(from, to)?))
    };
    let local = spark.executors.is_empty().then_some(&spark.driver);
    let held: CoreMillis = spark.executors.iter().chain(local).map(held).sum::<Option<_>>()?;
    assert_eq!(used + idle, held, "{}", app.id);
    Some((used, held))
}

fn each(paths: &[PathBuf]) -> Vec<(String, CoreMillis, CoreMillis)> {
    let Visited { applications, .. } = visit(paths, |app, sources| {
        let (used, held) = used_and_held(app)?;
        Some((sources[0].clone(), used, held))
    });
    applications.into_iter().filter_map(|visited| visited.value).collect()
}

#[test]
fn recorded_applications_use_no_more_core_hours_than_they_hold() {
    let (Some(corpus), Some(runs)) = (shared("corpus"), shared("runs")) else { return };
    let known = each(&[corpus, runs]);
    assert!(known.len() > 90, "{}", known.len());
    for (source, used, held) in known {
        assert!(used <= held, "{source}: {used:?} of {held:?}");
    }
}

/// Tasks in any order on two executors: executor, launch, duration, and when the result is ready.
fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let task = (0..2usize, 0..2000i64, 1..3000i64, prop::option::of(0.0..1.0f64));
    let task = task.prop_map(|(executor, launch, duration, ready)| Task {
        launch,
        result_ready: ready.map(|share| (share * duration as f64) as i64),
        ..Task::new(["1", "2"][executor], duration)
    });
    prop::collection::vec(task, 1..40)
}

fn analysed(app: &App) -> Vec<(String, CoreMillis, CoreMillis)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, app.text()).unwrap();
    each(&[path])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn generated_applications_use_no_more_core_hours_than_they_hold(
        tasks in tasks(), cores in 1..5u32, cpus in 1..4u32
    ) {
        let app = App::with(&[("spark.task.cpus", &cpus.to_string())], 2, cores).stage(tasks);
        for (_, used, held) in analysed(&app) {
            prop_assert!(used <= held, "{used:?} of {held:?}");
        }
    }
}

#[test]
fn a_result_that_waits_for_the_driver_takes_no_core() {
    let task = |launch, ready| Task { launch, result_ready: ready, ..Task::new("1", 5000) };
    let used = |ready| {
        let mut app = App::with(&[], 1, 2).stage(vec![task(0, ready), task(1000, None)]);
        app.end = Some(10_000);
        let known = analysed(&app);
        known[0].1.as_core_hours() * 3600.0
    };
    assert_eq!((used(None), used(Some(2000))), (10.0, 7.0));
}
