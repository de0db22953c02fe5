//! What troubles save: on recordings whose true saving was measured, and on applications that the test schedules itself.

mod at_most;
mod possible;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;

use proptest::prelude::*;

use elephant_analysis::replay::spark::RecordedOnce;
use elephant_base::units::{Bytes, Millis, Timestamp};
use elephant_engine::engine::{Visited, visit};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::StageAttempt;
use elephant_model::model::table::TaskKind;
use elephant_model::model::{Application, Status, Subject};
use elephant_ruleset::RuleSet;
use elephant_testing::shared;
use elephant_testing::spark_log::{App, Ending, Task};
use elephant_verdict::savings::{
    Cause, MemoryChange, Removal, ReplaysOnce, Resources, SavingStatus, Savings, SparkReplays, Sums,
    TroubleSavings, shares,
};

fn each<T: Send>(paths: &[PathBuf], look: impl Fn(&Application) -> T + Sync) -> Vec<T> {
    let Visited { applications, .. } = visit(paths, |app, _| look(app));
    applications.into_iter().map(|visited| visited.value).collect()
}

fn everywhere(cause: Cause) -> Removal {
    Removal::Replay(cause, vec![Subject::Application])
}

fn savings(app: &Application, rules: &RuleSet, removals: &[Removal]) -> Savings {
    shares(&ReplaysOnce::new(app, rules, &rules.measure(app), RecordedOnce::default()), removals, false)
}

/// Half of all memory is not needed.
fn half_the_memory() -> Removal {
    Removal::Memory(MemoryChange { maps: Some(0.5), ..MemoryChange::default() })
}

/// The savings of the recorded run.
fn recorded(run: &str, removals: &[Removal]) -> Option<Savings> {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let mut found = each(&[shared("runs/replay")?.join(run)], |app| savings(app, &rules, removals));
    assert_eq!(found.len(), 1);
    found.pop()
}

/// Low, point and high of a trouble alone, in seconds.
fn seconds(trouble: &TroubleSavings) -> (f64, f64, f64) {
    let wall = trouble.alone.unwrap_or_else(|| panic!("{trouble:?}")).wall_ms;
    (wall.low / 1000.0, wall.point / 1000.0, wall.high / 1000.0)
}

const ALL: [Cause; 6] = [
    Cause::Failures,
    Cause::Collections { limit: 0.1 },
    Cause::Spill,
    Cause::Stragglers,
    Cause::Skew,
    Cause::Copies { lost: 0.0 },
];

fn all() -> Vec<Removal> {
    ALL.into_iter().map(everywhere).collect()
}

/// More tasks share the work of a stage, and not what slowed down one of them.
#[test]
fn more_tasks_do_not_remove_a_straggler() {
    let name = "straggler-detection/application_1700000000000_0102-missed-moderate.gz";
    let file = elephant_testing::root().join("testdata/heuristics").join(name);
    let stage = vec![Subject::Stage(StageAttempt { stage: 0, attempt: 0 })];
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let removals = [Removal::Replay(Cause::Tasks { count: 192 }, stage), everywhere(Cause::Stragglers)];
    let found = each(&[file], |app| savings(app, &rules, &removals)).pop().unwrap();
    let (low, point, high) = seconds(&found.troubles[0]);
    // One task of 20 takes 400 s instead of 60 s; the others share 1200 s.
    assert!(low > 0.0 && (38.0..56.0).contains(&point) && high < 80.0, "{found:?}");
    // All tasks are the first on their core, and one takes 340 s more than the others.
    let (low, point, high) = seconds(&found.troubles[1]);
    assert!(low > 300.0 && (339.0..341.0).contains(&point) && high < 400.0, "{found:?}");
}

/// The time of warming up is not a straggler's, if other tasks show how long it is.
#[test]
fn first_tasks_are_stragglers_only_among_each_other() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let saved = |slots: u32, first: &[i64]| {
        let times = first.iter().copied().chain([1000; 12]);
        let app = application(&vec![times.map(|time| (time, 3)).collect()], slots);
        let saved = judged(&app, |app| savings(app, &rules, &[everywhere(Cause::Stragglers)]));
        seconds(&saved.troubles[0]).1
    };
    assert!(saved(4, &[5000; 4]).abs() < 1e-9);
    // Without the slow one, the others take 5 s, and the rest 3 s.
    let late = saved(4, &[5000, 5000, 5000, 20_000]);
    assert!((late - 12.0).abs() < 0.01, "{late}");
    // What first tasks take differs more than what others take.
    assert!(saved(4, &[2000, 3000, 3000, 5000]).abs() < 1e-9);
    assert!(saved(2, &[1000, 20_000]).abs() < 1e-9);
}

#[test]
fn savings_agree_with_runs_in_which_the_remedy_was_applied() {
    let one = |run: &str, cause| recorded(run, &[cause]).map(|savings| savings.troubles[0].clone());
    let Some(skew) = one("skew-big", everywhere(Cause::Skew)) else { return };
    let (low, point, high) = seconds(&skew);
    assert!(low <= 9.0 && (7.5..=10.5).contains(&point) && high >= 9.0, "{skew:?}");
    assert_eq!((&skew.status, &*skew.method.to_string()), (&SavingStatus::Estimated, "replay"));
    let stage = Subject::Stage(StageAttempt { stage: 2, attempt: 0 });
    let few = one("few", Removal::Replay(Cause::Tasks { count: 24 }, vec![stage])).unwrap();
    assert!((9.0..=13.0).contains(&seconds(&few).1), "10.9 s were measured: {few:?}");
    let failures = one("failures", everywhere(Cause::Failures)).unwrap();
    assert!((1.2..=4.5).contains(&seconds(&failures).1), "3.4 s were measured: {failures:?}");
    let collections = one("gc-heap512m", everywhere(Cause::Collections { limit: 0.1 })).unwrap();
    let (low, _, high) = seconds(&collections);
    assert!(low == 0.0 && (18.0..30.0).contains(&high), "20 to 25 s were measured: {collections:?}");
    assert_eq!(collections.method.to_string(), "replay, unvalidated");
    let spill = one("spill-fraction005", everywhere(Cause::Spill)).unwrap();
    let (low, _, high) = seconds(&spill);
    assert!(low == 0.0 && (6.0..15.0).contains(&high), "6 to 11 s were measured: {spill:?}");
}

/// What was waited has no error, and a share of it is not more than all of it.
#[test]
fn a_share_of_the_time_waited_is_not_longer_than_that() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let times = (0..16).map(|task| if task == 15 { 30_000 } else { 1000 });
    let app = application(&vec![times.map(|time| (time, 3)).collect()], 4);
    let removals = [everywhere(Cause::Stragglers), Removal::Waiting { time: Millis::from_secs(2) }];
    let saved = judged(&app, |app| savings(app, &rules, &removals));
    let [stragglers, waiting] = &saved.troubles[..] else { panic!("{saved:?}") };
    assert_eq!(stragglers.status, SavingStatus::Estimated, "{saved:?}");
    assert!((seconds(waiting).2 - 2.0).abs() < 1e-9, "{saved:?}");
    assert_eq!(waiting.share.unwrap().wall_ms, waiting.alone.unwrap().wall_ms, "{saved:?}");
}

#[test]
fn nothing_is_sold_of_healthy_runs() {
    for run in ["healthy", "slots2", "gc-heap2560m", "spill-fraction06"] {
        let causes: Vec<Removal> = all()
            .into_iter()
            .filter(|removal| *removal != everywhere(Cause::Collections { limit: 0.1 }))
            .collect();
        let Some(healthy) = recorded(run, &causes) else { return };
        let mut sums = Sums::default();
        healthy.troubles.iter().for_each(|trouble| sums.add(trouble));
        assert!(sums.saved().wall_ms.point <= 1000.0, "{run}: {healthy:?}");
    }
}

#[test]
fn what_cannot_be_known_has_a_reason() {
    let (Some(corpus), Some(runs)) = (shared("corpus"), shared("runs")) else { return };
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let mut known = 0;
    let removals: Vec<Removal> = all()
        .into_iter()
        .chain([
            half_the_memory(),
            Removal::Idle { share: 0.2 },
            Removal::Waiting { time: Millis::from_secs(5) },
            Removal::Unknown("no remedy is known".into()),
        ])
        .collect();
    let found = each(&[corpus, runs], |app| (app.status, savings(app, &rules, &removals)));
    assert!(found.len() > 100, "{}", found.len());
    for (status, savings) in found {
        let Savings { application, troubles } = savings;
        for trouble in &troubles {
            match &trouble.status {
                SavingStatus::Unknown(why) => assert!(!why.to_string().is_empty() && trouble.share.is_none()),
                SavingStatus::Estimated | SavingStatus::WithinError => {
                    known += 1;
                    assert!(
                        !matches!(status, Status::Running | Status::Unknown),
                        "{status:?}: it has no end"
                    );
                    check(trouble);
                }
            }
        }
        check_sum(&application, &troubles);
    }
    assert!(known > 200, "{known}");
}

/// Ranges are in order, and nothing is negative.
fn check(trouble: &TroubleSavings) {
    for amounts in [trouble.alone.unwrap(), trouble.share.unwrap()] {
        let ranges = [Some(amounts.wall_ms), amounts.core_hours, amounts.gb_hours];
        for range in ranges.into_iter().flatten() {
            let near = 1e-6 * (1.0 + range.high);
            assert!(0.0 <= range.low && range.low <= range.point + near, "{trouble:?}");
            assert!(range.point <= range.high + near && range.high.is_finite(), "{trouble:?}");
        }
    }
}

/// Shares add up to the joint saving, which is at most what was recorded.
fn check_sum(application: &elephant_verdict::savings::ApplicationSavings, troubles: &[TroubleSavings]) {
    let shares: f64 = troubles.iter().filter_map(|trouble| Some(trouble.share?.wall_ms.point)).sum();
    let joint = application.joint.wall_ms;
    assert!((shares - joint.point).abs() < 1e-6 * (1.0 + shares), "{application:?}");
    // Removing all troubles saves at least as much as removing one.
    let sold = troubles.iter().filter(|trouble| trouble.status == SavingStatus::Estimated);
    for alone in sold.filter_map(|trouble| trouble.alone) {
        let rounding = 1e-6 * (1.0 + shares);
        assert!(joint.point >= alone.wall_ms.point - rounding, "{application:?} {troubles:?}");
    }
    if let Some(baseline) = &application.baseline {
        let recorded = baseline.recorded.as_f64();
        assert!(joint.point <= recorded + 1e-6 && joint.high <= recorded + 1e-6, "{application:?}");
    }
}

/// Stages, one after the other; each task has a time, and a kind of trouble.
type Stages = Vec<Vec<(i64, u8)>>;

fn stages() -> impl Strategy<Value = Stages> {
    prop::collection::vec(prop::collection::vec((1..4000i64, 0..6u8), 1..25), 1..4)
}

/// An application whose tasks take the first free of `slots` in their order. Longer tasks of some kinds have more data,
/// collect garbage, or spill.
fn application(stages: &Stages, slots: u32) -> App {
    let mut app = App::with(&[], 1, slots);
    let mut end = 0;
    for tasks in stages {
        let mut free: BinaryHeap<Reverse<i64>> = (0..slots).map(|_| Reverse(0)).collect();
        let mut list = Vec::new();
        for &(time, kind) in tasks {
            let Reverse(launch) = free.pop().unwrap();
            free.push(Reverse(launch + time));
            let amount = time.unsigned_abs();
            let task = Task { launch, ..Task::new("1", time) };
            list.push(match kind {
                0 => task.metric("JVM GC Time", amount / 2),
                1 => task.metric("Disk Bytes Spilled", amount * 40_000),
                2 => task.metric("Input Metrics.Bytes Read", amount * 1000),
                _ => task.metric("Input Metrics.Bytes Read", 1000),
            });
        }
        end += free.into_iter().map(|Reverse(end)| end).max().unwrap();
        app = app.stage(list);
    }
    app.end = Some(end);
    app
}

fn judged<T: Send>(app: &App, look: impl Fn(&Application) -> T + Sync) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, app.text()).unwrap();
    each(&[path], look).pop().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn shares_of_generated_applications(stages in stages(), slots in 1..6u32, by in 0..5usize, idle in 0.0..0.5f64) {
        let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
        let troubles = [Cause::Collections { limit: 0.1 }, Cause::Spill, Cause::Stragglers, Cause::Skew];
        let mut removals: Vec<Removal> = troubles.into_iter().map(everywhere).collect();
        removals.push(Removal::Idle { share: idle });
        let mut moved = removals.clone();
        moved.rotate_left(by);
        let (one, other, without) = judged(&application(&stages, slots), |app| {
            let nothing = [&removals[..], &[everywhere(Cause::Copies { lost: 0.0 })]].concat();
            (savings(app, &rules, &removals), savings(app, &rules, &moved), savings(app, &rules, &nothing))
        });
        one.troubles.iter().filter(|trouble| trouble.share.is_some()).for_each(check);
        check_sum(&one.application, &one.troubles);
        let share = |trouble: &TroubleSavings| trouble.share.map(|share| share.wall_ms.point);
        for (place, trouble) in one.troubles.iter().enumerate() {
            let same = &other.troubles[(place + removals.len() - by) % removals.len()];
            prop_assert_eq!(&trouble.status, &same.status);
            prop_assert!((share(trouble).unwrap_or(-1.0) - share(same).unwrap_or(-1.0)).abs() < 1e-6);
        }
        // No task was copied, so leaving out copies saves nothing and changes no other share.
        let copies = without.troubles.last().unwrap();
        prop_assert_eq!((&copies.status, share(copies)), (&SavingStatus::WithinError, Some(0.0)));
        for (trouble, same) in one.troubles.iter().zip(&without.troubles) {
            prop_assert!((share(trouble).unwrap_or(-1.0) - share(same).unwrap_or(-1.0)).abs() < 1e-6);
        }
    }
}

/// The saving of a trouble and `whatif` are one computation.
#[test]
fn executors_of_another_size_save_what_whatif_says() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let app = application(&vec![vec![(10_000, 0); 16]; 2], 4);
    judged(&app, |app| {
        let replays = SparkReplays::of(app, &rules, &rules.measure(app), RecordedOnce::default()).unwrap();
        let limit = elephant_analysis::replay::PerMille::of_share(0.1);
        let cause = elephant_analysis::replay::spark::Cause::Collections(None, limit);
        for (cores, executors) in [(2, 2), (2, 4), (8, 1), (4, 2)] {
            let resources =
                Resources { cores: Some(cores), executors: Some(executors), ..Resources::default() };
            let said = replays.predict(std::slice::from_ref(&cause), resources).unwrap().saves;
            let removal = Removal::Resized(
                resources,
                Some((Cause::Collections { limit: 0.1 }, vec![Subject::Application])),
            );
            let saved = savings(app, &rules, &[removal]).troubles.remove(0);
            let alone = saved.alone.unwrap();
            let near = |one: f64, other: f64| (one - other.max(0.0)).abs() < 1e-4 * (1.0 + one);
            assert!(near(alone.wall_ms.point, said.wall_ms.point), "{cores} {executors}: {alone:?} {said:?}");
            let (one, other) = (alone.gb_hours.unwrap().point, said.gb_hours.unwrap().point);
            assert!(near(one, other), "{cores} {executors}: {alone:?} {said:?}");
            // With half the cores, each of as many slots holds twice the memory.
            let more = saved.more_gb_hours.map_or(0.0, |more| more.point);
            assert!(near(more, -other), "{cores} {executors}: {saved:?} {said:?}");
        }
    });
}

#[test]
fn what_is_within_its_error_has_no_part_in_what_all_remedies_save() {
    let Some(failures) = recorded("failures", &[everywhere(Cause::Failures)]) else { return };
    assert_eq!(failures.troubles[0].status, SavingStatus::WithinError);
    assert!(failures.troubles[0].alone.unwrap().wall_ms.point > 0.0, "{failures:?}");
    assert_eq!(failures.application.joint.wall_ms.high.to_bits(), 0.0_f64.to_bits(), "{failures:?}");
}

#[test]
fn memory_and_idle_executors_save_no_time_and_overlap() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let stages = vec![vec![(10_000, 3); 8]];
    let removals = [
        half_the_memory(),
        Removal::Idle { share: 0.5 },
        Removal::Waiting { time: Millis::from_secs(4) },
        Removal::Unknown("no setting".into()),
    ];
    // Half of the slots are idle.
    let (held, savings) = judged(&application(&stages, 16), |app| {
        (rules.measure(app).used.unwrap().as_gb_hours(), savings(app, &rules, &removals))
    });
    let [memory, idle, waiting, unknown] = &savings.troubles[..] else { panic!("{savings:?}") };
    // Half the memory of half the time is a quarter, so both together save three quarters.
    let gb_hours = |trouble: &TroubleSavings| trouble.share.unwrap().gb_hours.unwrap();
    for trouble in [memory, idle] {
        assert!((gb_hours(trouble).point - 0.375 * held).abs() < 1e-9, "{trouble:?}");
        assert!((trouble.alone.unwrap().gb_hours.unwrap().point - 0.5 * held).abs() < 1e-9);
        assert_eq!((trouble.share.unwrap().wall_ms.high, &trouble.status), (0.0, &SavingStatus::Estimated));
    }
    assert!(memory.share.unwrap().core_hours.unwrap().high.abs() < 1e-12);
    assert_eq!(seconds(waiting), (0.0, 2.0, 4.0));
    assert!(gb_hours(waiting).high.abs() < 1e-12);
    assert_eq!(unknown.status, SavingStatus::Unknown("no setting".into()));
    // Nothing is replayed for these.
    assert_eq!((&savings.application.baseline, &savings.application.unknown), (&None, &None));
}

#[test]
fn losing_copies_cost_cores_and_memory_even_if_they_delay_nothing() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    let app = application(&vec![vec![(10_000, 3); 8]], 4);
    let lost = |lost| {
        judged(&app, |app| savings(app, &rules, &[everywhere(Cause::Copies { lost })])).troubles.remove(0)
    };
    assert_eq!(lost(0.0).status, SavingStatus::WithinError);
    let saved = lost(0.25);
    let (alone, all) = (saved.alone.unwrap(), lost(1.0).alone.unwrap());
    assert_eq!((&saved.status, alone.wall_ms.high), (&SavingStatus::Estimated, 0.0));
    for (part, whole) in [(alone.core_hours, all.core_hours), (alone.gb_hours, all.gb_hours)] {
        let (part, whole) = (part.unwrap().point, whole.unwrap().point);
        assert!(part > 0.0 && (part - 0.25 * whole).abs() < 1e-9, "{part} {whole}");
    }
}

#[test]
fn fewer_tasks_do_not_remove_skew() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    // Two hundred tasks of 40 ms, and one with much more data that takes 20 s.
    let mut tasks = vec![(40, 3); 200];
    tasks.push((20_000, 2));
    let stage = vec![Subject::Stage(StageAttempt { stage: 0, attempt: 0 })];
    let removals =
        [Removal::Replay(Cause::Tasks { count: 12 }, stage.clone()), Removal::Replay(Cause::Skew, stage)];
    let found = judged(&application(&vec![tasks], 4), |app| savings(app, &rules, &removals));
    let [fewer, skew] = &found.troubles[..] else { panic!("{found:?}") };
    assert!(seconds(fewer).1 < 2.0, "the long task stays: {fewer:?}");
    assert!(seconds(skew).1 > 10.0, "{skew:?}");
    found.troubles.iter().for_each(check);
    check_sum(&found.application, &found.troubles);
}

#[test]
fn larger_splits_of_a_job_are_replayed() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    // Four map slots: every second map reads 4 MiB in 11 s, the others 8 MiB in 12 s, of which 10 s start up.
    let mut maps = elephant_sample::tasks(
        TaskKind::Map,
        (0..100).map(|task| {
            let (wave, more) = (task / 4, task / 4 % 2);
            let start = wave * 11 + wave / 2;
            (start, Some(start + 11 + more))
        }),
    );
    for row in 0..100 {
        let more = i64::try_from(row / 4 % 2).unwrap();
        maps.attempts.set_counter(row, Counter::HdfsBytesRead, Some((4 + 4 * more) << 20));
    }
    let mut job = elephant_sample::job(vec![maps], &[]);
    job.finished_at = Some(Timestamp::from_millis(288_000));
    let saved = |mib| {
        let removal = Removal::Replay(Cause::Splits { size: Bytes::from_mib(mib) }, Vec::new());
        savings(&job, &rules, &[removal]).troubles.remove(0)
    };
    // 592 MiB in 4 parts: a start and 37 s of work instead of 25 starts.
    let (low, point, high) = seconds(&saved(148));
    assert!(low < 20.0 && (100.0..140.0).contains(&point) && high > 230.0, "{low} {point} {high}");
    assert_eq!(saved(148).status, SavingStatus::Estimated);
    // All in one part take longer than now.
    assert_eq!(saved(592).status, SavingStatus::WithinError);
}

/// What copies cost in an application with three slots. A copy holds one of them until four seconds after the first stage,
/// so the last task of the second stage waits for it.
fn with_copy(copy_wins: bool) -> TroubleSavings {
    let killed = Ending::Killed("another attempt succeeded");
    let task = |index: u32, launch: i64, end: i64| Task {
        index: Some(index),
        launch,
        ..Task::new("1", end - launch)
    };
    let (mut original, mut copy) =
        (task(0, 0, 9_000), Task { attempt: 1, speculative: true, ..task(0, 1_000, 13_000) });
    if copy_wins {
        (original, copy.duration) = (original.ending(killed), 8_000);
    } else {
        copy = copy.ending(killed);
    }
    let mut app = App::with(&[("spark.speculation", "true")], 1, 3);
    app = app.stage(vec![original, task(1, 0, 9_000), copy, task(2, 0, 500)]);
    let last = if copy_wins { 0 } else { 4_000 };
    app = app.stage(vec![task(0, 0, 4_000), task(1, 0, 4_000), task(2, last, last + 4_000)]);
    app.jobs[0].stages[0].duration = Some(9_000);
    app.jobs[1].start = Some(9_000);
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    judged(&app, |app| savings(app, &rules, &[everywhere(Cause::Copies { lost: 0.0 })])).troubles.remove(0)
}

#[test]
fn copies_that_lost_are_saved_and_those_that_won_are_not() {
    let (lost, won) = (with_copy(false), with_copy(true));
    assert_eq!(lost.method.to_string(), "measured time of losing copies; run time by replay", "{lost:?}");
    let (low, point, _) = seconds(&lost);
    assert!((point - 4.0).abs() < 0.1 && low > 3.0, "{lost:?}");
    assert_eq!(lost.status, SavingStatus::Estimated);
    let (low, point, _) = seconds(&won);
    assert!(low == 0.0 && point < 0.1 && won.status == SavingStatus::WithinError, "{won:?}");
}

#[test]
fn a_large_application_has_too_few_replays_for_shares_in_all_orders() {
    let rules = RuleSet::new(elephant_heuristics::BUILT_IN).unwrap();
    // Among short tasks are a few long ones, in each stage of another cause.
    let task = |stage: u8, task: i64| match task % 5000 {
        4999 => (6000, stage % 4),
        _ => (5 + task % 7, u8::try_from(task % 6).unwrap()),
    };
    let stages: Stages = (0..4).map(|stage| (0..15_000).map(|it| task(stage, it)).collect()).collect();
    let app = application(&stages, 200);
    let large = judged(&app, |app| {
        let metrics = rules.measure(app);
        let replays = ReplaysOnce::new(app, &rules, &metrics, RecordedOnce::default());
        shares(&replays, &all(), true)
    });
    check_sum(&large.application, &large.troubles);
    let in_order = large
        .troubles
        .iter()
        .filter(|trouble| trouble.method.to_string().ends_with("shared in order"))
        .count();
    assert!(in_order > 0, "{large:?}");
}
