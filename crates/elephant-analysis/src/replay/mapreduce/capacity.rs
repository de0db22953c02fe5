//! When a job had fewer containers than before although its tasks waited for one: its queue shrank, or nodes were lost.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::attempts::{Attempt, Task};
use super::gaps::{is_pause, mean_gap};
use super::{ByKind, Kind};
use crate::metrics::requested_container;
use crate::replay::Micros;
use elephant_model::model::Application;
use elephant_rule::params::Assumed;

/// If a job holds at least this share of the most memory that it held, its own larger containers took the place of others.
const ALL: f64 = 0.9;

/// A container, or a slot of Hadoop 1, that was not there for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) from: Micros,
    /// When it was used again; `None` if it was not.
    pub(super) to: Option<Micros>,
}

/// What was lost, and when.
#[derive(Debug, Clone, Default)]
pub(super) struct Lost {
    /// Containers that maps and reduces share.
    pub(super) containers: Vec<Loss>,
    /// Slots of a kind (Hadoop 1).
    pub(super) slots: ByKind<Vec<Loss>>,
    /// By the place of an attempt: when its container could be used again.
    usable: Vec<Option<Usable>>,
}

/// When a container could be used again after an attempt, if not at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usable {
    From(Micros),
    Never,
}

impl Lost {
    /// `attempts` are sorted by start; `launch` is when the first map could start.
    pub(super) fn of(app: &Application, (tasks, attempts): (&[Task], &[Attempt]), launch: Micros) -> Self {
        let waiting = waiting(tasks, attempts, launch);
        let mut lost = Self { usable: vec![None; attempts.len()], ..Self::default() };
        if app.masters.is_empty() {
            for kind in Kind::ALL {
                let pool = Pool::of(attempts, |attempt| attempt.kind == kind);
                let losses = lost.take(&pool, &[*waiting.get(kind)], |_, _| true);
                *lost.slots.get_mut(kind) = losses;
            }
        } else {
            let pool = Pool::of(attempts, |_| true);
            let held = Held::of(app, attempts);
            lost.containers = lost.take(&pool, &[waiting.map, waiting.reduce], |from, to| {
                held.as_ref().is_none_or(|held| held.mean(from, to) < ALL * held.most)
            });
        }
        lost
    }

    /// The losses of a pool of containers while tasks waited. `is_less` says whether the job held less than at its peak.
    fn take(&mut self, pool: &Pool, waiting: &[Span], is_less: impl Fn(Micros, Micros) -> bool) -> Vec<Loss> {
        let gaps = pool.idle.iter().filter_map(|idle| Some((idle.to? - idle.from).as_f64()));
        let usual = mean_gap(gaps.collect());
        let last = waiting.iter().map(|span| span.to).max().unwrap_or(Micros::ZERO);
        let mut losses = Vec::new();
        for idle in &pool.idle {
            let end = idle.to.unwrap_or(last);
            let waited: Micros = waiting.iter().map(|span| span.within(idle.from, end)).sum();
            let began = waiting.iter().filter(|span| span.within(idle.from, end) > Micros::ZERO);
            let Some(from) = began.map(|span| span.from.max(idle.from)).min() else { continue };
            if !is_pause(waited, usual) || !is_less(from, end) {
                continue;
            }
            losses.push(Loss { from, to: idle.to });
            if let Some(usable) = self.usable.get_mut(idle.after) {
                let again = |to: Micros| Usable::From((to - usual).max(idle.from));
                *usable = Some(idle.to.map_or(Usable::Never, again));
            }
        }
        losses
    }

    /// When the container of an attempt could be used again, if it was lost.
    pub(super) fn usable(&self, place: usize) -> Option<Usable> {
        self.usable.get(place).copied().flatten()
    }

    /// For each attempt, how many containers of `most` the job had when it started.
    pub(super) fn containers_at_starts(&self, attempts: &[Attempt], most: usize) -> Vec<usize> {
        let mut changes: Vec<(Micros, bool)> = Vec::new();
        for loss in &self.containers {
            changes.push((loss.from, false));
            changes.extend(loss.to.map(|to| (to, true)));
        }
        changes.sort_unstable();
        let mut changes = changes.into_iter().peekable();
        let mut now = most;
        let at_start = attempts.iter().map(|attempt| {
            while let Some((_, comes)) = changes.next_if(|(at, _)| *at <= attempt.start) {
                now = if comes { now.saturating_add(1) } else { now.saturating_sub(1) };
            }
            now
        });
        at_start.collect()
    }
}

/// A span of time; empty if it ends before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Span {
    from: Micros,
    to: Micros,
}

impl Span {
    /// The part of it between two moments.
    fn within(self, from: Micros, to: Micros) -> Micros {
        (self.to.min(to) - self.from.max(from)).or_zero()
    }
}

/// When tasks of each kind surely waited for containers: maps from the launch until the last one starts, and reduces once
/// one of them has started and no map waits.
fn waiting(tasks: &[Task], attempts: &[Attempt], launch: Micros) -> ByKind<Span> {
    let starts = |kind: Kind| {
        let firsts = tasks.iter().filter(move |task| task.kind == kind);
        let firsts = firsts.filter_map(|task| task.attempts.first());
        firsts.filter_map(|place| Some(attempts.get(*place)?.start))
    };
    let last_map = starts(Kind::Map).max().unwrap_or(launch);
    let reduces = starts(Kind::Reduce).min().zip(starts(Kind::Reduce).max());
    let reduce = reduces.map(|(first, last)| Span { from: first.max(last_map), to: last });
    ByKind { map: Span { from: launch, to: last_map }, reduce: reduce.unwrap_or_default() }
}

/// A container that was free for a while.
#[derive(Debug, Clone, Copy)]
struct Idle {
    after: usize,
    from: Micros,
    /// When the next attempt started in it; `None` if none did.
    to: Option<Micros>,
}

/// Containers, and when they were free. An attempt takes the one that was used last, so that those that are not there stay
/// unused.
struct Pool {
    idle: Vec<Idle>,
}

impl Pool {
    fn of(attempts: &[Attempt], is_in: impl Fn(&Attempt) -> bool) -> Self {
        let mut busy: BinaryHeap<Reverse<(Micros, usize)>> = BinaryHeap::new();
        let mut free: Vec<(Micros, usize)> = Vec::new();
        let mut idle = Vec::new();
        for (place, attempt) in attempts.iter().enumerate().filter(|(_, attempt)| is_in(attempt)) {
            while let Some(Reverse(ended)) = busy.peek().copied().filter(|it| it.0.0 <= attempt.start) {
                busy.pop();
                free.push(ended);
            }
            if let Some((from, after)) = free.pop() {
                idle.push(Idle { after, from, to: Some(attempt.start) });
            }
            busy.push(Reverse((attempt.end, place)));
        }
        let left = free.into_iter().chain(busy.into_iter().map(|Reverse(ended)| ended));
        idle.extend(left.map(|(from, after)| Idle { after, from, to: None }));
        Self { idle }
    }
}

/// The memory that containers held over time.
struct Held {
    /// From when on, the memory that was held, and the sum of memory × time before.
    steps: Vec<(Micros, f64, f64)>,
    most: f64,
}

impl Held {
    /// `None` if all containers have one size, as far as is known: then their number says as much.
    fn of(app: &Application, attempts: &[Attempt]) -> Option<Self> {
        let size =
            |kind: Kind| Some(requested_container(app, kind.group(), Assumed(None))?.whole_mib() as f64);
        let sizes = ByKind::of(size);
        let sizes = ByKind { map: sizes.map?, reduce: sizes.reduce? };
        let kinds: BTreeSet<Kind> = attempts.iter().map(|attempt| attempt.kind).collect();
        if kinds.len() < 2 || sizes.map.total_cmp(&sizes.reduce).is_eq() {
            return None;
        }
        let changes = attempts.iter().flat_map(|attempt| {
            let size = *sizes.get(attempt.kind);
            [(attempt.start, size), (attempt.end, -size)]
        });
        let mut changes: Vec<(Micros, f64)> = changes.collect();
        changes.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (mut now, mut sum, mut most, mut since) = (0.0, 0.0, 0.0_f64, Micros::ZERO);
        let mut steps = Vec::with_capacity(changes.len());
        for (at, change) in changes {
            sum += now * (at - since).as_f64();
            now += change;
            since = at;
            most = most.max(now);
            steps.push((at, now, sum));
        }
        Some(Self { steps, most })
    }

    /// Memory × time until a moment.
    fn until(&self, at: Micros) -> f64 {
        let after = self.steps.partition_point(|(since, ..)| *since <= at);
        let step = after.checked_sub(1).and_then(|step| self.steps.get(step));
        step.map_or(0.0, |(since, now, sum)| sum + now * (at - *since).as_f64())
    }

    /// The mean memory between two moments.
    fn mean(&self, from: Micros, to: Micros) -> f64 {
        (self.until(to) - self.until(from)) / (to - from).as_f64().max(1.0)
    }
}
