//! The containers that a job held while its tasks waited.

use std::collections::BTreeMap;

use elephant_analysis::metrics::requested_container;
use elephant_analysis::stragglers::group::covered;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_rule::params::Assumed;

/// The containers that a job held from a moment on.
#[derive(Debug, Clone, Copy)]
struct Step {
    since: Timestamp,
    now: Amount,
}

/// Containers at one moment.
#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    tasks: u64,
    /// In MiB; the number of tasks if the sizes of containers are unknown.
    memory: u64,
}

/// The containers that a job held over time.
#[derive(Debug)]
pub(super) struct Held {
    steps: Vec<Step>,
    /// The most of both at once.
    most: Amount,
    /// From this share of the most on, the job held all that it could get; up to the next, it got far fewer.
    full_share: f64,
    starved_share: f64,
}

/// A job that got far fewer containers for this long than at other times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Starved {
    pub(super) time: Millis,
    /// The number of tasks that ran for most of this time, and the highest at other times.
    pub(super) few: u64,
    pub(super) most: u64,
}

impl Held {
    /// The containers that tasks of a kind may use: those of maps and reduces, or the slots of one kind in Hadoop 1. From
    /// `full_share` of the most on, the job held all that it could get; up to `starved_share`, it got far fewer.
    pub(super) fn of(app: &Application, kind: TaskKind, [full_share, starved_share]: [f64; 2]) -> Self {
        let is_in = |of: TaskKind| match of {
            TaskKind::Map | TaskKind::Reduce => of == kind || !app.ran_on_job_tracker(),
            _ => false,
        };
        let groups = || app.groups.iter().filter(|group| is_in(group.kind));
        let size = |group: &TaskGroup| Some(requested_container(app, group.kind, Assumed(None))?.whole_mib());
        let sizes_known = groups().all(|group| size(group).is_some_and(|size| size > 0));
        let mut changes: Vec<(Timestamp, bool, u64)> = Vec::new();
        for group in groups() {
            let memory = size(group).filter(|_| sizes_known).unwrap_or(1);
            for row in 0..group.attempts.len() {
                let Some(start) = group.attempts.time(row, TimePoint::Start) else { continue };
                let finish = group.attempts.time(row, TimePoint::Finish).or(app.finished_at);
                changes.push((start, true, memory));
                changes.extend(finish.map(|finish| (finish.max(start), false, memory)));
            }
        }
        // Of changes at one moment, ends come first.
        changes.sort_unstable();
        let mut steps = Vec::with_capacity(changes.len());
        let (mut now, mut most) = (Amount::default(), Amount::default());
        for (since, starts, memory) in changes {
            now = if starts {
                Amount { tasks: now.tasks + 1, memory: now.memory.saturating_add(memory) }
            } else {
                Amount { tasks: now.tasks.saturating_sub(1), memory: now.memory.saturating_sub(memory) }
            };
            most = Amount { tasks: most.tasks.max(now.tasks), memory: most.memory.max(now.memory) };
            steps.push(Step { since, now });
        }
        Self { steps, most, full_share, starved_share }
    }

    /// The time of each step between two moments.
    fn between(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = (Amount, Millis)> {
        let ends = self.steps.iter().skip(1).map(|next| next.since).chain([to]);
        self.steps.iter().zip(ends).filter_map(move |(step, end)| {
            let time = Millis::between(step.since.max(from), end.min(to))?;
            (time > Millis::ZERO).then_some((step.now, time))
        })
    }

    /// What was held as a share of the most. A cluster may be full by memory, or by cores, which each task has one of.
    fn share(&self, held: Amount) -> f64 {
        let by_memory = held.memory as f64 / self.most.memory.max(1) as f64;
        by_memory.max(held.tasks as f64 / self.most.tasks.max(1) as f64)
    }

    /// The most tasks that ran at once.
    pub(super) const fn most_tasks(&self) -> u64 {
        self.most.tasks
    }

    /// Whether the job's own tasks held its containers for at least half of the time between two moments.
    pub(super) fn is_busy(&self, (from, to): (Timestamp, Timestamp)) -> bool {
        let busy = self.between(from, to).filter(|(held, _)| self.share(*held) >= self.full_share);
        let busy: Millis = busy.map(|(_, time)| time).sum();
        let all = Millis::between(from, to).unwrap_or_default();
        all > Millis::ZERO && 2 * busy.get() >= all.get()
    }

    /// How long the job held few containers while tasks of `group`, of which the last one started at `until`, waited.
    /// `None` if it always got about as many.
    pub(super) fn starved(&self, group: &TaskGroup, until: Timestamp) -> Option<Starved> {
        // Reduces wait for maps first.
        if group.kind != TaskKind::Map {
            return None;
        }
        let first = self.steps.first()?.since;
        let few = self.between(first, until).filter(|(held, _)| self.share(*held) <= self.starved_share);
        let mut few: Vec<(u64, Millis)> = few.map(|(held, time)| (held.tasks, time)).collect();
        few.sort_unstable();
        let time: Millis = few.iter().map(|(_, time)| *time).sum();
        // The number that at least half of the time had, or fewer.
        let mut so_far = Millis::ZERO;
        let usual = few.into_iter().find(|(_, part)| {
            so_far = so_far + *part;
            2 * so_far.get() >= time.get()
        });
        let (few, _) = usual?;
        Some(Starved { time, few, most: self.most.tasks })
    }
}

/// When the last task of a group started first.
pub(super) fn last_start(group: &TaskGroup) -> Option<Timestamp> {
    let attempts = &group.attempts;
    let mut first: BTreeMap<usize, Timestamp> = BTreeMap::new();
    for row in 0..attempts.len() {
        if let Some((task, start)) = attempts.task(row).zip(attempts.time(row, TimePoint::Start)) {
            first.entry(task).and_modify(|known| *known = start.min(*known)).or_insert(start);
        }
    }
    first.into_values().max()
}

/// The time between two moments in which tasks ran that succeeded.
pub(super) fn time_between(app: &Application, from: Timestamp, to: Timestamp) -> Millis {
    let of_group = |group: &TaskGroup| -> Vec<(Timestamp, Timestamp)> {
        let time = |row, point| group.attempts.time(row, point);
        let spans = group.winners();
        let spans = spans.filter_map(|row| time(row, TimePoint::Start).zip(time(row, TimePoint::Finish)));
        spans.map(|(start, end)| (start.max(from), end.min(to))).filter(|(start, end)| start < end).collect()
    };
    covered(app.groups.iter().flat_map(of_group))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: [f64; 2] = [0.9, 0.5];

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1000 * seconds)
    }

    fn maps(times: impl IntoIterator<Item = (i64, i64)>) -> TaskGroup {
        elephant_sample::tasks(TaskKind::Map, times.into_iter().map(|(start, end)| (start, Some(end))))
    }

    fn starved(group: TaskGroup) -> Option<Starved> {
        let app = elephant_sample::job(vec![group], &[]);
        let group = &app.groups[0];
        Held::of(&app, TaskKind::Map, SHARES).starved(group, last_start(group)?)
    }

    #[test]
    fn few_containers_at_first_and_many_later() {
        // Two at a time for ten minutes, then forty.
        let slow = (0..20).map(|map| (60 * (map / 2), 60 * (map / 2) + 60));
        let all = slow.chain((0..80).map(|map| (600 + 60 * (map / 40), 660 + 60 * (map / 40))));
        let time = Millis::from_secs(600);
        assert_eq!(starved(maps(all)), Some(Starved { time, few: 2, most: 40 }));
    }

    #[test]
    fn as_many_containers_all_the_time() {
        let even = (0..20).map(|map| (60 * (map / 2), 60 * (map / 2) + 60));
        assert_eq!(starved(maps(even)), None);
        // At the end, few tasks run because no others are left.
        let tail = (0..40).map(|map| (0, if map == 0 { 600 } else { 60 }));
        assert_eq!(starved(maps(tail)), None);
        assert_eq!((starved(maps([])), starved(maps([(0, 60)]))), (None, None));
    }

    #[test]
    fn memory_counts_and_not_the_number_of_containers() {
        // Ten maps of 1 GiB, then five reduces of 2 GiB, which hold as much.
        let reduces = elephant_sample::tasks(TaskKind::Reduce, [(60, Some(120)); 5]);
        let sizes = [("mapreduce.map.memory.mb", "1024"), ("mapreduce.reduce.memory.mb", "2048")];
        let app = elephant_sample::job(vec![maps([(0, 60); 10]), reduces], &sizes);
        let held = Held::of(&app, TaskKind::Reduce, SHARES);
        assert!(held.is_busy((at(60), at(120))) && !held.is_busy((at(120), at(180))));
        assert!(!held.is_busy((at(60), at(60))) && held.is_busy((at(60), at(180))));
        assert_eq!(held.most_tasks(), 10);
    }

    #[test]
    fn only_the_time_of_tasks_that_succeeded_counts() {
        let app = elephant_sample::job(vec![maps([(0, 60), (30, 90), (200, 300)])], &[]);
        assert_eq!(time_between(&app, at(10), at(250)), Millis::from_secs(130));
        assert_eq!(time_between(&app, at(100), at(150)), Millis::ZERO);
    }
}
