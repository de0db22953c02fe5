//! Tests of the replay on small jobs.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::attempts::ReduceWork;
use super::*;
use crate::replay::Micros;
use elephant_base::units::{Bytes, Timestamp};
use elephant_model::model::conf::Property;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Outcome, TaskGroup, TimePoint};
use elephant_model::model::{Application, Engine, MasterAttempt, Status};

/// An attempt: when it starts and ends in seconds after the submission.
#[derive(Debug, Clone)]
struct Try {
    task: u32,
    start: i64,
    end: i64,
    fetched: Option<i64>,
    outcome: Outcome,
    is_copy: bool,
    bytes: i64,
}

fn attempt(task: u32, start: i64, end: i64) -> Try {
    Try { task, start, end, fetched: None, outcome: Outcome::Succeeded, is_copy: false, bytes: 100 }
}

fn reduce(task: u32, start: i64, fetched: i64, end: i64) -> Try {
    Try { fetched: Some(fetched), ..attempt(task, start, end) }
}

fn failed(task: u32, start: i64, end: i64) -> Try {
    Try { outcome: Outcome::Failed, ..attempt(task, start, end) }
}

fn group(kind: Kind, tries: &[Try]) -> TaskGroup {
    let at = |secs: i64| Some(Timestamp::from_millis(secs.saturating_mul(1000)));
    let mut group = TaskGroup::new(kind.group());
    for number in 0..tries.iter().map(|attempt| attempt.task + 1).max().unwrap_or_default() {
        group.tasks.push(number);
    }
    for attempt in tries {
        let row = group.attempts.push(attempt.task, 0);
        group.attempts.set_time(row, TimePoint::Start, at(attempt.start));
        group.attempts.set_time(row, TimePoint::Finish, at(attempt.end));
        group.attempts.set_time(row, TimePoint::ShuffleFinish, attempt.fetched.and_then(at));
        group.attempts.set_outcome(row, attempt.outcome);
        group.attempts.set_speculative(row, Some(attempt.is_copy));
        let counter = if kind == Kind::Map { Counter::HdfsBytesRead } else { Counter::ReduceShuffleBytes };
        group.attempts.set_counter(row, counter, (attempt.bytes >= 0).then_some(attempt.bytes));
        if attempt.outcome == Outcome::Succeeded {
            group.tasks.set_outcome(attempt.task as usize, Outcome::Succeeded);
        }
    }
    group
}

/// A job that succeeded, was launched after a second, and ended two seconds after its last attempt.
fn job(maps: &[Try], reduces: &[Try]) -> Application {
    let mut app = Application::new(Engine::MapReduce);
    app.status = Status::Succeeded;
    app.complete = true;
    app.submitted_at = Some(Timestamp::from_millis(0));
    app.launched_at = Some(Timestamp::from_millis(1000));
    let last = maps.iter().chain(reduces).map(|attempt| attempt.end).max().unwrap_or_default();
    app.finished_at = Some(Timestamp::from_millis(last.saturating_add(2).saturating_mul(1000)));
    app.groups = vec![group(Kind::Map, maps), group(Kind::Reduce, reduces)];
    app
}

fn plan(maps: &[Try], reduces: &[Try]) -> Plan {
    Plan::of(&job(maps, reduces)).unwrap()
}

fn secs(secs: i64) -> Micros {
    Micros::from_millis(secs * 1000)
}

fn wall(plan: &Plan, change: &Change) -> Micros {
    plan.replay(change).wall
}

fn without(plan: &Plan, causes: &[Cause]) -> Micros {
    wall(plan, &plan.without(causes).unwrap())
}

/// Six maps on two slots, and a reduce that starts after the third map.
fn two_slots() -> Plan {
    let maps = [(2, 12), (2, 12), (12, 22), (12, 22), (22, 32), (22, 32)];
    let maps: Vec<Try> = (0..).zip(maps).map(|(task, (start, end))| attempt(task, start, end)).collect();
    plan(&maps, &[reduce(0, 23, 34, 40)])
}

#[test]
fn a_replay_without_a_change_is_the_recording() {
    let plan = two_slots();
    assert_eq!(plan.recorded(), secs(42));
    assert_eq!(wall(&plan, &Change::default()), secs(42));
    assert_eq!(plan.replay(&Change::default()).task_time, secs(77));
}

#[test]
fn jobs_that_cannot_be_replayed_say_why() {
    let reason = |app: &Application| Plan::of(app).unwrap_err();
    let whole = job(&[attempt(0, 2, 5)], &[]);
    assert_eq!(reason(&Application::new(Engine::MapReduce)), Unknown::Incomplete);
    assert_eq!(reason(&job(&[], &[])), Unknown::NoTimes);
    assert_eq!(reason(&Application { status: Status::Failed, ..whole.clone() }), Unknown::Unsuccessful);
    assert_eq!(reason(&Application { events_missing: true, ..whole.clone() }), Unknown::Incomplete);
    assert_eq!(reason(&Application { finished_at: None, ..whole.clone() }), Unknown::Incomplete);
    let before = Some(Timestamp::from_millis(-1));
    assert_eq!(reason(&Application { finished_at: before, ..whole }), Unknown::NoTimes);
    assert_eq!(reason(&job(&[attempt(0, 5, 2), attempt(1, 2, 5)], &[])), Unknown::TaskWithoutTimes);
    let early = job(&[attempt(0, 2, 20)], &[reduce(0, 3, 10, 30)]);
    assert_eq!(reason(&early), Unknown::ShuffleBeforeLastMap);
    assert_eq!(Unknown::NoTimes.to_string(), "no attempt has a start and an end");
}

#[test]
fn slots_change_the_waves_of_maps() {
    let plan = two_slots();
    let slots = |map| Change { slots: ByKind { map: Some(map), reduce: None }, ..Change::default() };
    assert_eq!(wall(&plan, &slots(2)), secs(42));
    // The reduce starts a second after the maps.
    assert_eq!(wall(&plan, &slots(6)), secs(23));
    assert_eq!(wall(&plan, &slots(1)), secs(72));
    assert_eq!(wall(&plan, &slots(0)), secs(72));
    assert_eq!(plan.critical_path(), secs(23));
    // 60 s of maps and 8 s of the reduce on 3 containers.
    assert_eq!(plan.ideal().to_millis().get(), 2000 + 22_667 + 2000);
}

#[test]
fn the_shuffle_of_an_early_reduce_waits_for_the_last_map() {
    let plan = two_slots();
    let mut change = Change::default();
    change.set_time(5, secs(1));
    assert_eq!(wall(&plan, &change), secs(42), "the other map of the last wave takes as long as before");
    change.set_time(4, secs(1));
    assert_eq!(wall(&plan, &change), secs(33));
}

#[test]
fn the_gap_between_attempts_is_measured() {
    let maps = [attempt(0, 1, 10), attempt(1, 13, 20), attempt(2, 23, 30), attempt(3, 33, 40)];
    let plan = plan(&maps, &[]);
    assert_eq!(wall(&plan, &Change::default()), plan.recorded());
    let change = Change { maps: Some(vec![secs(30)]), ..Change::default() };
    assert_eq!(plan.recorded() - wall(&plan, &change), secs(9), "three containers less");
}

#[test]
fn retries_wait_for_the_failure() {
    let plan = plan(&[failed(0, 1, 11), attempt(0, 12, 22), attempt(1, 1, 5)], &[]);
    assert_eq!(wall(&plan, &Change::default()), secs(24));
    let dropped = plan.without(&[Cause::FailedAttempts(Kind::Map)]).unwrap();
    assert_eq!(dropped.dropped.len(), 1);
    assert_eq!(wall(&plan, &dropped), secs(13));
}

#[test]
fn retries_wait_as_recorded_if_a_container_was_free() {
    // Attempts of a second slot take a second to start; the retry waited for 20 s.
    let others = [attempt(1, 1, 5), attempt(2, 6, 11), attempt(3, 12, 13)];
    let maps: Vec<Try> = [failed(0, 1, 11), attempt(0, 31, 41)].into_iter().chain(others).collect();
    let plan = plan(&maps, &[]);
    assert_eq!(wall(&plan, &Change::default()), secs(43));
    assert_eq!(without(&plan, &[Cause::FailedAttempts(Kind::Map)]), secs(15));
}

#[test]
fn a_lost_slot_does_not_count_as_a_slow_start() {
    let times = [(1, 10), (11, 20), (21, 30), (31, 40), (100, 110)];
    let maps: Vec<Try> = (0..).zip(times).map(|(task, (start, end))| attempt(task, start, end)).collect();
    let plan = plan(&maps, &[]);
    assert_eq!(plan.slots.map.gap, secs(1));
    assert_eq!(wall(&plan, &Change::default()), secs(112), "the slot is away as long as recorded");
}

#[test]
fn levelling_that_delays_the_job_is_left_out() {
    // The large reduce runs next to the others, so longer last reduces would hold up the job.
    let mut reduces = vec![Try { bytes: 400, ..reduce(0, 11, 21, 51) }];
    reduces.extend((1..5).map(|task| {
        reduce(task, 1 + 10 * i64::from(task), 2 + 10 * i64::from(task), 11 + 10 * i64::from(task))
    }));
    let plan = plan(&[attempt(0, 1, 10)], &reduces);
    assert_eq!(wall(&plan, &Change::default()), secs(53));
    assert_eq!(without(&plan, &[Cause::Skew(Kind::Reduce)]), secs(53));
}

#[test]
fn shorter_attempts_end_the_job_earlier() {
    // The second attempt in the log ends last; the other slot is free from 20 s on.
    let plan = plan(&[attempt(0, 10, 20), attempt(1, 10, 50)], &[]);
    let cut = |row, by| plan.shortened(&[((TaskKind::Map, row), secs(by))].into());
    assert_eq!(wall(&plan, &cut(1, 15)), secs(37));
    assert_eq!(wall(&plan, &cut(1, 60)), secs(22));
    assert_eq!(wall(&plan, &cut(0, 5)), secs(52));
    assert!(cut(7, 5).is_nothing() && plan.shortened(&BTreeMap::new()).is_nothing());
}

#[test]
fn a_task_keeps_its_last_attempt() {
    let mut app = job(&[failed(0, 1, 11), attempt(1, 1, 5)], &[]);
    app.finished_at = Some(Timestamp::from_millis(13_000));
    let plan = Plan::of(&app).unwrap();
    assert_eq!(without(&plan, &[Cause::FailedAttempts(Kind::Map)]), secs(13));
    let dropped = (0..2).collect();
    assert_eq!(wall(&plan, &Change { dropped, ..Change::default() }), secs(13));
}

/// Five maps; the last takes 60 s, and its copy, started after 30 s, overtakes it.
fn speculation() -> Plan {
    let mut maps: Vec<Try> = (0..5).map(|task| attempt(task, 1, 11)).collect();
    maps.push(Try { outcome: Outcome::Killed, ..attempt(5, 1, 41) });
    maps.push(Try { is_copy: true, ..attempt(5, 31, 41) });
    plan(&maps, &[])
}

#[test]
fn the_first_success_ends_the_others() {
    let plan = speculation();
    let replayed = plan.replay(&Change::default());
    assert_eq!((replayed.wall, replayed.task_time), (secs(43), secs(100)));
    // The original is known to have run for 40 s, and not how much longer it would have.
    assert_eq!(without(&plan, &[Cause::Speculation(Kind::Map)]), secs(43));
    assert_eq!(without(&plan, &[Cause::Stragglers(Kind::Map)]), secs(13));
}

#[test]
fn stragglers_take_what_their_bytes_explain() {
    let mut maps: Vec<Try> = (0..9).map(|task| attempt(task, 1, 11)).collect();
    maps.push(attempt(9, 1, 51));
    let slow = plan(&maps, &[]);
    assert_eq!(without(&slow, &[Cause::Stragglers(Kind::Map)]), secs(13));
    assert_eq!(without(&slow, &[Cause::Skew(Kind::Map)]), secs(53), "its bytes do not explain it");
    maps[9].bytes = 500;
    let large = plan(&maps, &[]);
    assert_eq!(without(&large, &[Cause::Stragglers(Kind::Map)]), secs(53));
    assert_eq!(without(&large, &[Cause::Skew(Kind::Map)]), secs(17), "the mean is 14 s, the median 10 s");
    for task in &mut maps {
        task.bytes = -1;
    }
    let unknown = plan(&maps, &[]);
    assert_eq!(unknown.without(&[Cause::Skew(Kind::Map)]), Err(Unknown::NoInput));
    assert_eq!(without(&unknown, &[Cause::Stragglers(Kind::Map)]), secs(13));
    assert_eq!(unknown.without(&[Cause::Stragglers(Kind::Reduce)]), Err(Unknown::NoTasks));
}

#[test]
fn causes_apply_in_one_order() {
    let mut maps: Vec<Try> = (0..9).map(|task| attempt(task, 1, 11)).collect();
    maps.push(Try { bytes: 500, ..attempt(9, 1, 51) });
    maps.push(attempt(10, 1, 61));
    let plan = plan(&maps, &[]);
    let (skew, slow) = (Cause::Skew(Kind::Map), Cause::Stragglers(Kind::Map));
    let both = plan.without(&[skew, slow]).unwrap();
    assert_eq!(both, plan.without(&[slow, skew]).unwrap());
    assert!(wall(&plan, &both) < without(&plan, &[slow]));
}

#[test]
fn other_numbers_of_tasks_do_the_same_work() {
    // 2 s for each map and 10 s per 100 bytes, one after another, a second apart.
    let maps = [(1, 13, 100), (14, 36, 200), (37, 69, 300)];
    let maps = maps.map(|(start, end, bytes)| Try { bytes, ..attempt(0, start, end) });
    let maps: Vec<Try> = (0..).zip(maps).map(|(task, attempt)| Try { task, ..attempt }).collect();
    let plan = plan(&maps, &[]);
    let one = |start_up| without(&plan, &[Cause::Tasks(Kind::Map, 1, start_up)]);
    assert_eq!(plan.recorded(), secs(71));
    assert_eq!(one(StartUp::Container), secs(69), "two gaps less");
    assert_eq!(one(StartUp::Intercept), secs(65), "and twice the 2 s");
    assert_eq!(plan.maps_of_splits(Bytes::new(250)), Ok(3));
    assert_eq!(without(&plan, &[Cause::SplitSize(Bytes::new(600), StartUp::Container)]), secs(69));
    let tasks = |count, start_up| plan.without(&[Cause::Tasks(Kind::Map, count, start_up)]);
    assert_eq!(tasks(0, StartUp::Container), Err(Unknown::BadValue));
    assert_eq!(plan.maps_of_splits(Bytes::new(0)), Err(Unknown::BadValue));
}

#[test]
fn other_numbers_of_tasks_do_not_prevent_failures() {
    // A map task fails after 100 s; the other slot runs the other three meanwhile.
    let others = [attempt(1, 2, 12), attempt(2, 12, 22), attempt(3, 22, 32)];
    let maps = [&[failed(0, 2, 102)], &others[..], &[attempt(0, 102, 112)]].concat();
    let of_maps = plan(&maps, &[]);
    let tasks = |count| Cause::Tasks(Kind::Map, count, StartUp::Container);
    assert_eq!(without(&of_maps, &[]), secs(114));
    assert_eq!(without(&of_maps, &[tasks(8)]), secs(109));
    assert_eq!(without(&of_maps, &[tasks(2)]), secs(124));
    // Without the failure, they are work for 20 s.
    assert_eq!(without(&of_maps, &[tasks(8), Cause::FailedAttempts(Kind::Map)]), secs(24));
    // A reduce that fails after 50 s.
    let reduces = [failed(0, 12, 62), reduce(1, 12, 14, 22), reduce(0, 62, 64, 72)];
    let of_reduces = plan(&[attempt(0, 2, 12)], &reduces);
    let one = Cause::Tasks(Kind::Reduce, 1, StartUp::Container);
    assert_eq!(without(&of_reduces, &[one]), secs(84));
}

#[test]
fn without_a_fit_starting_a_task_takes_at_most_the_usual_time() {
    // Forty equal tasks of 4 s on a slot, with a second between two of them: the shortest also had to start.
    let maps = (0..40u32).map(|at| (at, 2 + 5 * i64::from(at)));
    let maps: Vec<Try> = maps.map(|(task, start)| attempt(task, start, start + 4)).collect();
    let plan = plan(&maps, &[]);
    let tasks = |start_up| without(&plan, &[Cause::Tasks(Kind::Map, 10, start_up)]);
    let gaps = tasks(StartUp::Container);
    assert_eq!(gaps - tasks(StartUp::Intercept), secs(30 * 4));
    assert_eq!(gaps - tasks(StartUp::Known(secs(1))), secs(30));
}

#[test]
fn other_numbers_of_reduces_share_the_shuffle() {
    let two = Cause::Tasks(Kind::Reduce, 2, StartUp::Container);
    let on = |maps: &[Try], reduces: &[Try]| {
        let plan = plan(maps, reduces);
        let change = plan.without(&[two]).unwrap();
        (
            wall(&plan, &change),
            wall(&plan, &Change { slots: ByKind { map: None, reduce: Some(2) }, ..change }),
        )
    };
    // The second one waited for the first: there is one slot.
    let reduces = [reduce(0, 11, 31, 51), reduce(1, 51, 71, 91)];
    assert_eq!(on(&[attempt(0, 1, 10)], &reduces), (secs(11 + 80 + 2), secs(11 + 40 + 2)));
}

/// A job of YARN with these sizes of containers in MiB.
fn on_yarn(maps: &[Try], reduces: &[Try], (map, reduce): (u64, u64)) -> Plan {
    let mut app = job(maps, reduces);
    app.masters.push(MasterAttempt { started_at: None, node: None });
    for (name, mib) in [("mapreduce.map.memory.mb", map), ("mapreduce.reduce.memory.mb", reduce)] {
        app.conf.insert(name.to_owned(), Property { value: mib.to_string(), is_final: false });
    }
    Plan::of(&app).unwrap()
}

#[test]
fn more_reduces_run_in_the_containers_that_the_job_had() {
    let eight: Vec<Try> = (0..8)
        .map(|task| attempt(task, 1 + 10 * i64::from(task / 4), 11 + 10 * i64::from(task / 4)))
        .collect();
    let one = [reduce(0, 21, 61, 101)];
    let reduces = |plan: &Plan, count| {
        plan.without(&[Cause::Tasks(Kind::Reduce, count, StartUp::Container)])
            .map(|change| wall(plan, &change))
    };
    // Four containers: eighty seconds of work on up to four reduces at once.
    let plan = on_yarn(&eight, &one, (1024, 1024));
    assert_eq!(reduces(&plan, 2), Ok(secs(21 + 40 + 2)));
    assert_eq!(reduces(&plan, 4), Ok(secs(21 + 20 + 2)));
    assert_eq!(reduces(&plan, 8), Ok(secs(21 + 20 + 2)));
    // In the memory of four maps fit two reduces.
    let large = on_yarn(&eight, &one, (1024, 2048));
    assert_eq!(reduces(&large, 4), Ok(secs(21 + 40 + 2)));
    // No map waited, so there may have been room for more than four reduces, too.
    let four = on_yarn(&eight[..4], &[reduce(0, 11, 51, 91)], (1024, 1024));
    assert_eq!(reduces(&four, 4), Ok(secs(11 + 20 + 2)));
    assert_eq!(reduces(&four, 8), Err(Unknown::NoRoom));
    let maps = |count| four.without(&[Cause::Tasks(Kind::Map, count, StartUp::Container)]).map(|_| ());
    assert_eq!((maps(4), maps(8)), (Ok(()), Err(Unknown::NoRoom)));
    // Hadoop 1 has slots for reduces alone.
    assert_eq!(reduces(&self::plan(&eight, &one), 2), Err(Unknown::NoRoom));
}

#[test]
fn the_room_for_reduces_is_at_least_what_ran_at_once() {
    // All maps ran in one wave: there was room for one reduce in the containers of each.
    let maps: Vec<Try> = (0..4).map(|task| attempt(task, 1, 11)).collect();
    let one = [reduce(0, 11, 51, 91)];
    assert_eq!(on_yarn(&maps, &one, (1024, 1024)).room_for(Kind::Reduce), Some(4));
    // One container, or as much memory as a single reduce takes, shows nothing.
    assert_eq!(on_yarn(&maps[..1], &one, (1024, 1024)).room_for(Kind::Reduce), None);
    assert_eq!(on_yarn(&maps, &one, (1024, 4096)).room_for(Kind::Reduce), None);
}

#[test]
fn reduces_of_hadoop_1_run_in_the_slots_of_its_nodes() {
    let maps: Vec<Try> = (0..4).map(|task| attempt(task, 1, 11)).collect();
    let room = |maximum: &str, nodes: &[&str]| {
        let mut app = job(&maps, &[reduce(0, 11, 51, 91)]);
        let property = Property { value: maximum.to_owned(), is_final: false };
        app.conf.insert("mapred.tasktracker.reduce.tasks.maximum".to_owned(), property);
        for (row, node) in nodes.iter().enumerate() {
            let node = app.strings.intern(node).unwrap();
            app.groups[0].attempts.set_node(row, Some(node));
        }
        let plan = Plan::of(&app).unwrap();
        let more = plan.without(&[Cause::Tasks(Kind::Reduce, 4, StartUp::Container)]).map(|_| ());
        (plan.room_for(Kind::Reduce), more)
    };
    assert_eq!(room("2", &["a", "b", "b", "a"]), (Some(4), Ok(())));
    // More tasks than slots take turns.
    assert_eq!(room("1", &["a", "b", "c", "a"]), (Some(3), Ok(())));
    for unknown in ["", "0", "many"] {
        assert_eq!(room(unknown, &["a"]), (None, Err(Unknown::NoRoom)));
    }
    assert_eq!(room("2", &[]), (None, Err(Unknown::NoRoom)));
}

#[test]
fn the_slow_start_moves_reduces_that_waited_for_it() {
    let maps: Vec<Try> = (0..10).map(|task| attempt(task, 1, 11 + 10 * i64::from(task))).collect();
    let mut app = job(&maps, &[reduce(0, 12, 103, 113), reduce(1, 102, 106, 116)]);
    app.conf.insert(
        "mapreduce.job.reduce.slowstart.completedmaps".to_owned(),
        Property { value: "0.05".to_owned(), is_final: false },
    );
    let plan = Plan::of(&app).unwrap();
    assert_eq!(wall(&plan, &Change::default()), plan.recorded());
    // Its whole shuffle takes 4 s as that of the other one, 2 s more than what remained after the last map.
    let late = plan.without(&[Cause::SlowStart(1.0)]).unwrap();
    assert_eq!(plan.replay(&late).wall, secs(118));
    assert!(plan.replay(&late).task_time < plan.replay(&Change::default()).task_time);
    assert_eq!(plan.without(&[Cause::SlowStart(1.5)]), Err(Unknown::BadValue));
}

#[test]
fn reduces_that_start_later_leave_their_containers_to_maps() {
    // Four containers: three reduces take theirs after the first wave of maps, so the other maps run one by one.
    let first = (0..4).map(|task| attempt(task, 1, 11));
    let maps: Vec<Try> = first
        .chain((4..12).map(|task| attempt(task, 10 * i64::from(task) - 29, 10 * i64::from(task) - 19)))
        .collect();
    let plan = on_yarn(&maps, &[0, 1, 2].map(|task| reduce(task, 11, 93, 103)), (1024, 1024));
    assert_eq!(wall(&plan, &Change::default()), plan.recorded());
    let late = plan.without(&[Cause::SlowStart(1.0)]).unwrap();
    // Three waves of maps, then two seconds of fetching and ten of reducing.
    assert_eq!(wall(&plan, &late), secs(31 + 12 + 2));
    let held = |change: &Change| plan.replay(change).held;
    assert_eq!(held(&Change::default()) - held(&late), secs(3 * (91 - 11)));
}

#[test]
fn more_reduces_take_half_of_the_containers_while_maps_wait() {
    // Four containers: a reduce takes one after the first wave of twelve maps.
    let start = |task| [1, 1, 1, 1, 11, 11, 11, 21, 21, 21, 31, 31][task as usize];
    let maps: Vec<Try> = (0..12).map(|task| attempt(task, start(task), start(task) + 10)).collect();
    let plan = on_yarn(&maps, &[reduce(0, 11, 42, 82)], (1024, 1024));
    assert_eq!(wall(&plan, &Change::default()), plan.recorded());
    let four = without(&plan, &[Cause::Tasks(Kind::Reduce, 4, StartUp::Container)]);
    // With three reduces beside them, the other eight maps would end after 91 s.
    assert!(four > secs(51 + 10 + 2) && four < secs(75), "{four:?}");
}

/// Eight containers at first, and from 11 s on two: 40 maps of 10 s.
fn shrinking() -> Vec<Try> {
    let start = |task: u32| if task < 8 { 1 } else { 11 + 10 * i64::from((task - 8) / 2) };
    (0..40).map(|task| attempt(task, start(task), start(task) + 10)).collect()
}

#[test]
fn a_queue_that_shrinks_stays_small() {
    for plan in [on_yarn(&shrinking(), &[], (1024, 1024)), plan(&shrinking(), &[])] {
        let lost = if plan.losses.is_empty() { &plan.slots.map.losses } else { &plan.losses };
        assert_eq!(lost.len(), 6);
        assert_eq!(wall(&plan, &Change::default()), secs(173));
        assert_eq!(plan.recorded(), secs(173));
        assert_eq!(plan.slots.map.gap, Micros::ZERO);
        // Eight of the tasks run first, and two of the other twelve at a time.
        let half = without(&plan, &[Cause::Tasks(Kind::Map, 20, StartUp::Container)]);
        assert_eq!(half, secs(21 + 6 * 20 + 2));
        // All eight, if they had stayed.
        let all = Change { slots: ByKind { map: Some(8), reduce: None }, ..Change::default() };
        assert_eq!(wall(&plan, &all), secs(1 + 50 + 2));
    }
}

#[test]
fn larger_containers_of_the_job_itself_are_no_loss() {
    // Four maps, then two maps next to a reduce that holds as much memory as two of them.
    let start = |task: u32| if task < 4 { 1 } else { 11 + 10 * i64::from((task - 4) / 2) };
    let maps: Vec<Try> = (0..20).map(|task| attempt(task, start(task), start(task) + 10)).collect();
    let losses = |reduce| on_yarn(&maps, &[self::reduce(0, 11, 93, 103)], (1024, reduce)).losses.len();
    assert_eq!((losses(2048), losses(1024)), (0, 1));
}

#[test]
fn reduces_that_start_earlier_take_containers_from_maps() {
    // Three waves of maps on four containers, then two reduces.
    let maps: Vec<Try> = (0..12)
        .map(|task| attempt(task, 1 + 10 * i64::from(task / 4), 11 + 10 * i64::from(task / 4)))
        .collect();
    let reduces = [reduce(0, 31, 33, 43), reduce(1, 31, 33, 43)];
    let mut app = job(&maps, &reduces);
    app.masters.push(MasterAttempt { started_at: None, node: None });
    let slow_start = "mapreduce.job.reduce.slowstart.completedmaps";
    app.conf.insert(slow_start.to_owned(), Property { value: "1.0".to_owned(), is_final: false });
    let plan = Plan::of(&app).unwrap();
    assert_eq!(wall(&plan, &Change::default()), secs(45));
    let early = plan.without(&[Cause::SlowStart(0.25)]).unwrap();
    // After the first wave, one reduce takes a container; after seven maps, two do. So the last map ends after 51 s.
    assert_eq!(wall(&plan, &early), secs(51 + 12 + 2));
    assert!(plan.replay(&early).task_time > plan.replay(&Change::default()).task_time);
}

#[test]
fn a_retry_without_a_container_does_not_start_before_the_failure() {
    // While the map runs that fails, reduces take the containers of the others.
    let maps =
        [attempt(0, 1, 11), attempt(1, 1, 11), failed(2, 1, 101), attempt(2, 101, 111), attempt(3, 11, 21)];
    let plan = on_yarn(&maps, &[reduce(0, 21, 113, 143)], (1024, 1024));
    for count in 2..=6 {
        let wall = without(&plan, &[Cause::Tasks(Kind::Reduce, count, StartUp::Container)]);
        assert!(wall > secs(111), "{count}: {wall:?}");
    }
}

#[test]
fn reduces_leave_a_container_to_the_maps() {
    // On one container, a reduce that waits for maps would wait forever.
    let plan = two_slots();
    let one = Change { slots: ByKind { map: Some(1), reduce: Some(1) }, ..Change::default() };
    let replayed = wall(&plan, &one);
    assert!(replayed >= secs(70) && replayed < secs(90), "{replayed:?}");
}

#[test]
fn an_uberized_job_runs_its_tasks_one_after_another() {
    let mut app = job(&[attempt(0, 1, 5), attempt(1, 5, 9)], &[reduce(0, 9, 10, 12)]);
    app.uberized = Some(true);
    let plan = Plan::of(&app).unwrap();
    assert_eq!(plan.containers, 1);
    assert_eq!(wall(&plan, &Change::default()), plan.recorded());
}

#[test]
fn new_reduces_of_a_job_without_any_have_a_slot() {
    let plan = plan(&[attempt(0, 1, 5)], &[]);
    let work = ReduceWork { shuffle: secs(1), tail: secs(1), rest: secs(2) };
    let change = Change { reduces: Some(vec![work; 2]), ..Change::default() };
    assert_eq!(wall(&plan, &change), secs(5 + 6 + 2));
}

/// A job of tasks that a scheduler with `slots` slots ran.
fn scheduled(times: &[(i64, i64)], slots: usize, reduces: &[(i64, i64)]) -> (Vec<Try>, Vec<Try>) {
    let mut free = vec![1; slots.max(1)];
    let place = |time: i64, from: i64, free: &mut Vec<i64>| {
        let slot = (0..free.len()).min_by_key(|&slot| free[slot]).unwrap();
        let start = free[slot].max(from);
        free[slot] = start + time;
        start
    };
    let maps: Vec<Try> = (0..)
        .zip(times)
        .map(|(task, &(time, bytes))| {
            let start = place(time, 0, &mut free);
            Try { bytes, ..attempt(task, start, start + time) }
        })
        .collect();
    let last = maps.iter().map(|map| map.end).max().unwrap_or(1);
    let reduces = (0..).zip(reduces).map(|(task, &(shuffle, rest))| {
        let start = place(shuffle + rest, last, &mut free);
        reduce(task, start, start + shuffle, start + shuffle + rest)
    });
    let reduces = reduces.collect();
    (maps, reduces)
}

/// Times with bytes.
fn work(most: usize) -> impl Strategy<Value = Vec<(i64, i64)>> {
    prop::collection::vec((1i64..60, 0i64..1000), 1..most)
}

const CAUSES: [Cause; 8] = [
    Cause::FailedAttempts(Kind::Map),
    Cause::FailedAttempts(Kind::Reduce),
    Cause::Speculation(Kind::Map),
    Cause::Speculation(Kind::Reduce),
    Cause::Stragglers(Kind::Map),
    Cause::Stragglers(Kind::Reduce),
    Cause::Skew(Kind::Map),
    Cause::Skew(Kind::Reduce),
];

proptest! {
    #[test]
    fn list_schedules_are_replayed_exactly(maps in work(30), slots in 1usize..8, reduces in work(10)) {
        let (maps, reduces) = scheduled(&maps, slots, &reduces);
        let plan = plan(&maps, &reduces);
        prop_assert_eq!(wall(&plan, &Change::default()), plan.recorded());
        prop_assert!(plan.critical_path() <= plan.recorded());
        prop_assert!(plan.ideal() <= plan.recorded() + Micros::from_millis(1));
    }

    #[test]
    fn shorter_tasks_take_no_longer(maps in work(30), slots in 1usize..8, part in 0.0f64..1.0) {
        let (maps, _) = scheduled(&maps, slots, &[]);
        let plan = plan(&maps, &[]);
        let mut change = Change::default();
        let longest = maps.iter().map(|map| map.end - map.start).max().unwrap();
        for (at, attempt) in plan.attempts.iter().enumerate() {
            change.set_time(at, Micros::from_f64(attempt.work.time().as_f64() * part));
        }
        // Without dependencies, a list schedule is at most one task longer than another of less work.
        prop_assert!(wall(&plan, &change) <= plan.recorded() + secs(longest));
        let work: f64 = maps.iter().map(|map| (map.end - map.start) as f64).sum();
        prop_assert!(plan.replay(&change).task_time.as_f64() <= work * 1e6 * part + 1e3);
    }

    #[test]
    fn levelling_conserves_work(maps in work(30), slots in 1usize..8) {
        let (maps, _) = scheduled(&maps, slots, &[]);
        let plan = plan(&maps, &[]);
        let Ok(change) = plan.without(&[Cause::Skew(Kind::Map)]) else { return Ok(()) };
        let (before, after) = (plan.replay(&Change::default()), plan.replay(&change));
        let difference = (before.task_time - after.task_time).as_f64().abs();
        prop_assert!(difference <= 2.0 * maps.len() as f64, "{difference} µs");
        prop_assert!(after.wall <= before.wall);
    }

    #[test]
    fn more_slots_are_not_slower(maps in work(30), slots in 1usize..8, reduces in work(10), more in 1usize..20) {
        let (maps, reduces) = scheduled(&maps, slots, &reduces);
        let plan = plan(&maps, &reduces);
        let with = |slots: usize| {
            wall(&plan, &Change { slots: ByKind { map: Some(slots), reduce: Some(slots) }, ..Change::default() })
        };
        let longest = maps.iter().chain(&reduces).map(|attempt| attempt.end - attempt.start).max().unwrap();
        prop_assert!(with(slots + more) <= with(slots) + secs(longest));
        prop_assert!(with(1000) <= with(slots));
    }

    #[test]
    fn nothing_panics_on_odd_times(
        maps in prop::collection::vec((0u32..6, any::<i16>(), any::<i64>(), 0u8..8), 0..20),
        reduces in prop::collection::vec((0u32..4, any::<i16>(), any::<i16>(), 0u8..8), 0..10),
        causes in prop::sample::subsequence(CAUSES.to_vec(), 0..CAUSES.len()),
        slots in prop::option::of(0usize..5),
        count in 0usize..5,
    ) {
        let outcomes = [Outcome::Succeeded, Outcome::Failed, Outcome::Killed, Outcome::Unfinished];
        let kind = |code: u8| (outcomes[usize::from(code % 4)], code >= 4);
        let maps: Vec<Try> = maps.iter().map(|&(task, start, end, code)| {
            let (outcome, is_copy) = kind(code);
            let end = if end % 3 == 0 { end } else { i64::from(start) + end % 100 };
            Try { outcome, is_copy, bytes: end, ..attempt(task, start.into(), end) }
        }).collect();
        let reduces: Vec<Try> = reduces.iter().map(|&(task, start, span, code)| {
            let (outcome, is_copy) = kind(code);
            let (start, span) = (i64::from(start), i64::from(span));
            Try { outcome, is_copy, ..reduce(task, start, start + span / 2, start + span) }
        }).collect();
        if let Ok(plan) = Plan::of(&job(&maps, &reduces)) {
            let changes = [
                plan.without(&causes),
                plan.without(&[Cause::Tasks(Kind::Map, count, StartUp::Container)]),
                plan.without(&[Cause::Tasks(Kind::Reduce, count, StartUp::Intercept)]),
                plan.without(&[Cause::SlowStart(0.5)]),
            ];
            for mut change in changes.into_iter().flatten() {
                change.slots.reduce = slots;
                prop_assert!(wall(&plan, &change) >= Micros::ZERO);
                change.slots.map = slots;
                prop_assert!(wall(&plan, &change) >= Micros::ZERO);
            }
            prop_assert!(plan.critical_path() >= Micros::ZERO && plan.ideal() >= Micros::ZERO);
        }
    }
}
