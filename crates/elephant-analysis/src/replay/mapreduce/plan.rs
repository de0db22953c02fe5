//! What a recording says about slots, waiting and work.

use elephant_base::whole::Whole;
use std::collections::BTreeSet;

use super::attempts::{Attempt, ReduceWork, Task, Work};
use super::capacity::{Loss, Lost};
use super::ramp_up::RampUp;
use super::room::Room;
use super::scene::Scene;
use super::slots::Slots;
use super::{ByKind, Change, Kind, Unknown};
use crate::replay::{DISK_SPEED, Micros};
use elephant_base::stats::descriptive::median_in_place;
use elephant_base::units::Timestamp;
use elephant_model::diagnosis::taken_away;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::table::{Outcome, TaskGroup};
use elephant_model::model::{Application, Engine, Status, Symbol};

/// Tolerance for clocks of nodes: a shuffle may end this long before the last map.
const CLOCK_TOLERANCE: Micros = Micros::from_millis(1000);
/// Hadoop's default of `mapreduce.job.reduce.slowstart.completedmaps`.
const SLOW_START: f64 = 0.05;

/// A recorded job, ready to be replayed.
#[derive(Debug, Clone)]
pub struct Plan {
    /// All attempts, in the order in which they started.
    pub(super) attempts: Vec<Attempt>,
    /// All tasks with an attempt.
    pub(super) tasks: Vec<Task>,
    /// When the job could start its first task.
    pub(super) launch: Micros,
    /// The job's end.
    pub(super) recorded: Micros,
    /// The time from the last task to the job's end.
    pub(super) tail: Micros,
    /// Map tasks with an attempt.
    pub(super) maps: usize,
    /// When the last map ended.
    pub(super) last_map: Option<Micros>,
    pub(super) slots: ByKind<Slots>,
    /// Maps and reduces that ran at once at the peak of each.
    pub(super) peaks: ByKind<usize>,
    /// Attempts of both kinds that ran at once at the peak.
    pub(super) containers: usize,
    /// When the job had fewer of them.
    pub(super) losses: Vec<Loss>,
    /// The room for more tasks than the recorded ones.
    pub(super) room: Room,
    /// What limits reduces while maps wait.
    pub(super) ramp_up: Option<RampUp>,
    /// Ended maps that reduces had to wait for.
    pub(super) slow_start_maps: usize,
    /// The assumed speed of local disks for each task, in bytes per second.
    pub(super) disk_speed: f64,
}

impl Plan {
    /// Reads a job; says why it cannot be replayed.
    pub fn of(app: &Application) -> Result<Self, Unknown> {
        if app.engine != Engine::MapReduce || app.events_missing || app.limit.is_some() {
            return Err(Unknown::Incomplete);
        }
        match app.status {
            Status::Running => return Err(Unknown::Incomplete),
            Status::Failed | Status::Killed => return Err(Unknown::Unsuccessful),
            Status::Succeeded | Status::Unknown => {}
        }
        let zero = app.submitted_at.or(app.launched_at).ok_or(Unknown::Incomplete)?;
        let finished_at = app.finished_at.ok_or(Unknown::Incomplete)?;
        let recorded = Micros::between(zero, finished_at);
        let launch = app.launched_at.map_or(Micros::ZERO, |at| Micros::between(zero, at));
        let (mut attempts, tasks) = read(app, zero)?;
        if recorded < Micros::ZERO {
            return Err(Unknown::NoTimes);
        }
        let map_ends = map_ends(&tasks);
        let last_map = map_ends.last().copied();
        split_reduces(&mut attempts, last_map)?;
        let last = tasks.iter().map(|task| task.end).max().ok_or(Unknown::NoTimes)?;
        let lost = Lost::of(app, (&tasks, &attempts), launch);
        let scene = Scene::of(&tasks, &attempts, &map_ends, (launch, &lost));
        let (slots, delays) = (ByKind::of(|kind| scene.slots(kind)), scene.delays());
        let containers = scene.containers;
        for (attempt, delay) in attempts.iter_mut().zip(delays) {
            attempt.delay = delay;
        }
        let slow_start = app.conf.fraction(ConfKey::SlowStart).unwrap_or(SLOW_START).clamp(0.0, 1.0);
        let first_reduce = attempts.iter().find(|attempt| attempt.kind == Kind::Reduce);
        let ended = first_reduce.map(|first| map_ends.partition_point(|end| *end <= first.start));
        let needed = maps_needed(slow_start, map_ends.len());
        let peaks = ByKind::of(|kind| slots.get(kind).openings.len());
        Ok(Self {
            peaks,
            containers,
            losses: lost.containers,
            room: Room::of(app, (&tasks, &attempts), (peaks, containers)),
            ramp_up: RampUp::of(app, &tasks, &attempts),
            slow_start_maps: ended.map_or(needed, |ended| needed.min(ended)),
            disk_speed: DISK_SPEED / containers_of_node(app, containers),
            tail: (recorded - last).or_zero(),
            attempts,
            tasks,
            launch,
            recorded,
            maps: map_ends.len(),
            last_map,
            slots,
        })
    }

    /// From the job's submission to its end.
    #[must_use]
    pub const fn recorded(&self) -> Micros {
        self.recorded
    }

    /// The most task containers at once.
    #[must_use]
    pub fn containers(&self) -> u32 {
        u32::try_from(self.containers).unwrap_or(u32::MAX)
    }

    /// The number of attempts.
    #[must_use]
    pub const fn attempts_count(&self) -> usize {
        self.attempts.len()
    }

    /// The number of reduce tasks.
    #[must_use]
    pub fn reduces(&self) -> u32 {
        self.count(Kind::Reduce)
    }

    /// The number of tasks of a kind.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u32 {
        let count = self.tasks.iter().filter(|task| task.kind == kind).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The most tasks of a kind that the job is known to have room for at once; `None` if all of them ran at once and
    /// nothing else shows a limit.
    #[must_use]
    pub fn room_for(&self, kind: Kind) -> Option<u32> {
        let known = self.room.known(kind)?;
        Some(u32::try_from(known).unwrap_or(u32::MAX))
    }

    /// The time of the tasks of a kind that succeeded, without waiting for maps.
    #[must_use]
    pub fn work_of(&self, kind: Kind) -> Micros {
        self.winners(kind).map(|(_, attempt)| attempt.work.time()).sum()
    }

    /// What the job takes if its containers are busy all the time between the first and the last task.
    #[must_use]
    pub fn ideal(&self) -> Micros {
        let work: Micros = self.attempts.iter().map(|attempt| attempt.work.time()).sum();
        let first = self.attempts.first().map_or(self.launch, |first| first.start);
        first.or_zero() + Micros::from_f64(work.as_f64() / self.containers.max(1) as f64) + self.tail
    }

    /// The largest factor by which the concurrent tasks of a kind increase.
    pub fn more_at_once(&self, change: &Change) -> f64 {
        let factor = |kind: Kind| Some((*change.room.get(kind))? as f64 / *self.peaks.get(kind) as f64);
        Kind::ALL.into_iter().filter_map(factor).fold(1.0, f64::max)
    }

    /// What fewer tasks save on each container, in milliseconds: `less` time of tasks, and the time between them.
    pub fn start_ups_saved(&self, change: &Change, less: Micros) -> f64 {
        let saved = |kind: Kind, new: Option<usize>| {
            let before = self.tasks.iter().filter(|task| task.kind == kind).count();
            new.map_or(0.0, |new| (before as f64 - new as f64) * self.slots.get(kind).gap.as_f64())
        };
        let between = saved(Kind::Map, change.maps.as_ref().map(Vec::len))
            + saved(Kind::Reduce, change.reduces.as_ref().map(Vec::len));
        let containers = self.containers as f64 * self.share_of_containers();
        (less.as_f64() + between) / 1000.0 / containers.max(1.0)
    }

    /// The mean number of containers until the last task started, as a share of the most.
    #[must_use]
    pub fn share_of_containers(&self) -> f64 {
        let last = self.attempts.last().map_or(self.launch, |attempt| attempt.start);
        let within = |loss: &Loss| (loss.to.unwrap_or(last).min(last) - loss.from.max(self.launch)).or_zero();
        let of_slots = Kind::ALL.into_iter().flat_map(|kind| &self.slots.get(kind).losses);
        let lost: Micros = self.losses.iter().chain(of_slots).map(within).sum();
        let all = (last - self.launch).as_f64() * self.containers as f64;
        if all > 0.0 { (1.0 - lost.as_f64() / all).max(0.0) } else { 1.0 }
    }

    /// The tasks of a kind that succeeded, with the attempts that did, in task order.
    pub(super) fn winners(&self, kind: Kind) -> impl Iterator<Item = (usize, &Attempt)> {
        let tasks = self.tasks.iter().filter(move |task| task.kind == kind);
        tasks.filter_map(|task| task.winner).filter_map(|at| Some((at, self.attempts.get(at)?)))
    }
}

/// The containers of a node, if the nodes had as many at the job's peak; 1 if the history names no node.
fn containers_of_node(app: &Application, containers: usize) -> f64 {
    let rows =
        |group: &'_ TaskGroup| (0..group.attempts.len()).filter_map(|row| group.attempts.node(row)).collect();
    let nodes: Vec<BTreeSet<Symbol>> = app.groups.iter().map(rows).collect();
    let nodes: BTreeSet<&Symbol> = nodes.iter().flatten().collect();
    if nodes.is_empty() { 1.0 } else { (containers as f64 / nodes.len() as f64).max(1.0) }
}

/// Maps that must have ended before reduces start.
pub(super) fn maps_needed(share: f64, maps: usize) -> usize {
    // Hadoop computes with floats: 0.05 of 20 maps is one map.
    ((share * maps as f64) - 1e-6).ceil().max(0.0).as_usize().min(maps)
}

/// The attempts by start, and the tasks they belong to.
fn read(app: &Application, zero: Timestamp) -> Result<(Vec<Attempt>, Vec<Task>), Unknown> {
    let mut attempts = Vec::new();
    let mut tasks = Vec::new();
    for kind in Kind::ALL {
        let Some(group) = app.group(kind.group()) else { continue };
        let first = tasks.len();
        let empty = Task { kind, attempts: Vec::new(), winner: None, end: Micros::ZERO };
        tasks.resize(first + group.tasks.len(), empty);
        let rows = (0..group.attempts.len()).filter_map(|row| Attempt::read(group, row, kind, zero));
        let taken = taken_away(app, group);
        attempts.extend(rows.map(|attempt| Attempt {
            task: attempt.task + first,
            is_failed: attempt.is_failed || taken.contains(&attempt.row),
            ..attempt
        }));
    }
    // Stable, so attempts that started together keep the order of the log, maps first.
    attempts.sort_by_key(|attempt: &Attempt| attempt.start);
    for (place, attempt) in attempts.iter().enumerate() {
        let Some(task) = tasks.get_mut(attempt.task) else { continue };
        let best = task.winner.is_none();
        if attempt.succeeded() && (best || attempt.end < task.end) {
            (task.winner, task.end) = (Some(place), attempt.end);
        } else if best {
            task.end = if task.attempts.is_empty() { attempt.end } else { task.end.max(attempt.end) };
        }
        task.attempts.push(place);
    }
    if attempts.is_empty() {
        return Err(Unknown::NoTimes);
    }
    let without = |kind: Kind| {
        let succeeded = app.group(kind.group()).map_or(0, |group| group.count_tasks(Outcome::Succeeded));
        let known = tasks.iter().filter(|task| task.kind == kind && task.winner.is_some()).count() as u64;
        known < succeeded
    };
    if Kind::ALL.into_iter().any(without) {
        return Err(Unknown::TaskWithoutTimes);
    }
    Ok((attempts, tasks))
}

/// When each map task was over, earliest first.
fn map_ends(tasks: &[Task]) -> Vec<Micros> {
    let maps = tasks.iter().filter(|task| task.kind == Kind::Map && !task.attempts.is_empty());
    let mut ends: Vec<Micros> = maps.map(|task| task.end).collect();
    ends.sort_unstable();
    ends
}

/// Splits the time of reduces that succeeded into shuffle and the rest.
///
/// The shuffle of a reduce that started before the last map includes waiting for maps. What it fetches after the last map
/// is `tail`; its whole shuffle takes as long as that of reduces that started later, and at most as long as it took in the
/// recording. If no reduce started later, only its time without waiting is known: the whole shuffle takes at least `tail`.
fn split_reduces(attempts: &mut [Attempt], last_map: Option<Micros>) -> Result<(), Unknown> {
    let last_map = last_map.unwrap_or(Micros::ZERO - Micros::MAX);
    let shuffles = |attempt: &Attempt| attempt.fetched.filter(|_| attempt.succeeded());
    let mut whole: Vec<f64> = Vec::new();
    for attempt in attempts.iter() {
        let Some(fetched) = shuffles(attempt) else { continue };
        if fetched + CLOCK_TOLERANCE < last_map {
            return Err(Unknown::ShuffleBeforeLastMap);
        }
        if attempt.start >= last_map {
            whole.push((fetched - attempt.start).as_f64());
        }
    }
    let typical = median_in_place(&mut whole).map(Micros::from_f64);
    for attempt in attempts.iter_mut() {
        let Some(fetched) = shuffles(attempt) else { continue };
        let rest = attempt.end - fetched;
        let all = fetched - attempt.start;
        let tail = (fetched - attempt.start.max(last_map)).or_zero();
        let shuffle =
            if attempt.start >= last_map { all } else { typical.unwrap_or(tail).min(all).max(tail) };
        attempt.work = Work::Reduce(ReduceWork { shuffle, tail, rest });
    }
    Ok(())
}
