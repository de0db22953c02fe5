//! Replays of Spark applications: of the corpus, of recordings whose true saving was measured, and of applications that
//! the test schedules itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

use proptest::prelude::*;

use elephant_analysis::replay::spark::{Cause, Change, Overhead, Partitions, Plan, Slots, Unknown};
use elephant_engine::engine::{Visited, visit};
use elephant_model::model::{Application, Status};
use elephant_testing::shared;
use elephant_testing::spark_log::{App, Ending, Task};

fn each<T: Send>(paths: &[PathBuf], look: impl Fn(&Application) -> T + Sync) -> Vec<(String, T)> {
    let Visited { applications, .. } = visit(paths, |app, sources| (sources[0].clone(), look(app)));
    applications.into_iter().map(|visited| visited.value).collect()
}

/// By how much a replay without a change differs from the recorded time, in percent.
fn residual(app: &Application) -> Option<f64> {
    let plan = Plan::of(app).ok()?;
    let replayed = plan.replay(&Change::default()).expect("the replay ends").replayed.wall;
    Some(100.0 * (replayed.as_f64() - plan.recorded.as_f64()) / plan.recorded.as_f64().max(1.0))
}

#[test]
fn replays_without_a_change_take_as_long_as_recorded() {
    let (Some(corpus), Some(runs)) = (shared("corpus"), shared("runs")) else { return };
    let mut residuals: Vec<(String, f64)> = each(&[corpus, runs], residual)
        .into_iter()
        .filter_map(|(source, residual)| Some((source, residual?.abs())))
        .collect();
    residuals.sort_by(|(_, one), (_, other)| one.total_cmp(other));
    let at = |percent: usize| residuals[residuals.len() * percent / 100].1;
    assert!(residuals.len() > 90, "{}", residuals.len());
    assert!(at(50) < 0.1 && at(90) < 2.0, "median {:.2} %, p90 {:.2} %", at(50), at(90));
    // Tasks of the worst log waited for locality.
    assert!(residuals.last().is_some_and(|(_, worst)| *worst < 9.0), "{:?}", residuals.last());
}

/// What a change saves, in seconds.
fn saved(run: &str, change: impl Fn(&Plan, &Application) -> Change + Sync) -> Option<f64> {
    let path = shared("runs/replay")?.join(run);
    let saved = each(&[path], |app| {
        assert_eq!(app.status, Status::Succeeded);
        let plan = Plan::of(app).unwrap();
        let wall = |change: &Change| plan.replay(change).unwrap().replayed.wall.as_f64() / 1e6;
        wall(&Change::default()) - wall(&change(&plan, app))
    });
    assert_eq!(saved.len(), 1);
    Some(saved[0].1)
}

#[test]
fn savings_agree_with_runs_in_which_the_remedy_was_applied() {
    let without = |cause: Cause| move |plan: &Plan, app: &Application| plan.without(app, [&cause]).unwrap();
    let Some(skew) = saved("skew-big", without(Cause::Skew(None))) else { return };
    assert!((7.5..=10.5).contains(&skew), "9.0 s were measured, not {skew}");
    let partitions = Partitions { stage: 2, tasks: 24, overhead: Overhead::Least };
    let few = saved("few", without(Cause::Partitions(partitions))).unwrap();
    assert!((9.0..=13.0).contains(&few), "10.9 s were measured, not {few}");
    let failures = saved("failures", without(Cause::Failures)).unwrap();
    assert!((1.2..=4.5).contains(&failures), "3.4 s were measured, not {failures}");
    let all = [Cause::Failures, Cause::Stragglers(None), Cause::Skew(None), Cause::Copies];
    let healthy = saved("healthy", |plan, app| plan.without(app, &all).unwrap()).unwrap();
    assert!(healthy.abs() <= 1.0, "nothing was planted, but {healthy} s are saved");
}

#[test]
fn other_numbers_of_slots_agree_with_runs_on_them() {
    let slots =
        |slots| move |_: &Plan, _: &Application| Change { slots: Slots::Number(slots), ..Change::default() };
    let Some(fewer) = saved("healthy", slots(2)) else { return };
    let more = saved("slots2", slots(4)).unwrap();
    // From 33.2 to 59.9 seconds and back.
    assert!((fewer + 26.7).abs() < 0.1 * 59.9, "{fewer}");
    assert!((more - 26.7).abs() < 0.1 * 33.2, "{more}");
}

/// Stages, one after the other, each with the times of its tasks.
type Stages = Vec<Vec<i64>>;

/// When each task starts and when the last one ends, if tasks take the first free of `slots` in their order.
fn list_schedule(times: &[i64], slots: u32) -> (Vec<i64>, i64) {
    let mut free: BinaryHeap<Reverse<i64>> = (0..slots).map(|_| Reverse(0)).collect();
    let starts: Vec<i64> = times
        .iter()
        .map(|time| {
            let Reverse(at) = free.pop().unwrap();
            free.push(Reverse(at + time));
            at
        })
        .collect();
    (starts, free.into_iter().map(|Reverse(end)| end).max().unwrap())
}

fn scheduled(stages: &Stages, slots: u32) -> i64 {
    stages.iter().map(|times| list_schedule(times, slots).1).sum()
}

/// An application with one executor of `slots` slots.
fn with_plan<T: Send>(stages: &Stages, slots: u32, look: impl Fn(&Application, &Plan) -> T + Sync) -> T {
    let mut app = App::with(&[], 1, slots);
    for times in stages {
        let (starts, _) = list_schedule(times, slots);
        let task = |(launch, time): (&i64, &i64)| Task { launch: *launch, ..Task::new("1", *time) };
        app = app.stage(starts.iter().zip(times).map(task).collect());
    }
    app.end = Some(scheduled(stages, slots));
    with_plan_of(&app, look)
}

fn with_plan_of<T: Send>(app: &App, look: impl Fn(&Application, &Plan) -> T + Sync) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, app.text()).unwrap();
    let mut looked = each(&[path], |app| look(app, &Plan::of(app).unwrap()));
    looked.pop().unwrap().1
}

/// What an application of one stage takes with another number of tasks, in milliseconds.
fn takes(app: &App, (tasks, overhead): (u32, Overhead), others: &[Cause]) -> Result<u64, Unknown> {
    with_plan_of(app, |app, plan| {
        let partitions = Cause::Partitions(Partitions { stage: 0, tasks, overhead });
        let change = plan.without(app, others.iter().chain([&partitions]))?;
        Ok(plan.replay(&change).unwrap().replayed.wall.to_millis().get())
    })
}

#[test]
fn other_numbers_of_tasks_do_not_prevent_failures() {
    // A task fails after a second; the other slot runs the other three meanwhile.
    let task = |index, launch| Task { index: Some(index), launch, ..Task::new("1", 100) };
    let failed =
        Task { duration: 1000, ending: Ending::Exception("java.io.IOException", "reset"), ..task(0, 0) };
    let again = Task { attempt: 1, ..task(0, 1000) };
    let mut app = App::with(&[], 1, 2).stage(vec![failed, again, task(1, 0), task(2, 100), task(3, 200)]);
    app.end = Some(1100);
    let takes = |tasks, others: &[Cause]| takes(&app, (tasks, Overhead::Least), others).unwrap();
    assert_eq!((takes(4, &[]), takes(8, &[]), takes(2, &[])), (1100, 1050, 1200));
    // Without the failure, four tasks of 100 ms on two slots.
    assert_eq!(takes(8, &[Cause::Failures]), 200);
}

#[test]
fn where_tasks_are_mostly_overhead_all_of_their_time_may_be() {
    let stage = |run_time| {
        let metrics = vec![("Executor Run Time", run_time)];
        let task = |at: i64| Task { launch: 20 * at, metrics: metrics.clone(), ..Task::new("1", 20) };
        let mut app = App::with(&[], 1, 1).stage((0..8).map(task).collect());
        app.end = Some(160);
        app
    };
    assert_eq!(takes(&stage(5), (2, Overhead::Least), &[]), Ok(70));
    assert_eq!(takes(&stage(5), (2, Overhead::Most), &[]), Ok(40));
    assert_eq!(takes(&stage(15), (2, Overhead::Most), &[]), Err(Unknown::NoFit));
}

fn stages() -> impl Strategy<Value = Stages> {
    prop::collection::vec(prop::collection::vec(1..400i64, 1..25), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn replays_agree_with_a_list_schedule_on_any_number_of_slots(stages in stages(), slots in 1..6u32, other in 1..9u32) {
        let (same, on_other) = with_plan(&stages, slots, |_, plan| {
            let wall = |change: &Change| plan.replay(change).unwrap().replayed.wall.to_millis().get();
            (wall(&Change::default()), wall(&Change { slots: Slots::Number(other), ..Change::default() }))
        });
        prop_assert_eq!(i64::try_from(same).unwrap(), scheduled(&stages, slots));
        prop_assert_eq!(i64::try_from(on_other).unwrap(), scheduled(&stages, other));
    }

    #[test]
    fn leaving_troubles_out_never_adds_work(stages in stages(), slots in 1..6u32) {
        let times = with_plan(&stages, slots, |app, plan| {
            let replayed = |causes: &[Cause]| plan.replay(&plan.without(app, causes).unwrap()).unwrap().replayed;
            [&[][..], &[Cause::Failures], &[Cause::Stragglers(None)], &[Cause::Skew(None)], &[Cause::Copies]]
                .map(replayed)
        });
        for replayed in &times[1..] {
            let more = replayed.task_time.as_f64() - times[0].task_time.as_f64();
            prop_assert!(more < 1e3 * stages.len() as f64, "{} µs more", more);
        }
    }

    #[test]
    fn nothing_is_faster_than_the_critical_path(stages in stages(), slots in 1..6u32) {
        let (path, stages_of_path, wall) = with_plan(&stages, slots, |_, plan| {
            let unlimited = plan.replay(&Change { slots: Slots::Unlimited, ..Change::default() }).unwrap();
            let base = plan.replay(&Change::default()).unwrap();
            (unlimited.replayed.wall, plan.path(&base).len(), base.replayed.wall)
        });
        let longest: i64 = stages.iter().map(|times| times.iter().max().unwrap()).sum();
        prop_assert_eq!(i64::try_from(path.to_millis().get()).unwrap(), longest);
        prop_assert!(path <= wall);
        prop_assert_eq!(stages_of_path, stages.len());
    }
}
