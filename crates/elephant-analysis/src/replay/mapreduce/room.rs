//! How many tasks of a kind could run at once if a job had more of them.
//!
//! If all tasks of a kind ran at once, their number shows no limit. The limit is then the containers that the job held
//! at its peak, for tasks of either kind, as far as the memory of these containers allows. If no task waited for
//! another to end, there may have been room for still more, and it is unknown for how many. In Hadoop 1, the limit is the
//! slots of the nodes that the job ran on, if its configuration tells how many each has.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use super::attempts::{Attempt, Task};
use super::{ByKind, Kind, Unknown};
use crate::metrics::requested_container;
use crate::replay::Micros;
use elephant_model::model::Application;
use elephant_rule::params::Assumed;

/// The room of a job for more tasks than it had.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Whether tasks of a kind waited for others of the same kind, so that the recorded slots are the limit.
    is_limited: ByKind<bool>,
    /// Tasks of one kind that ran at once.
    peaks: ByKind<usize>,
    /// Tasks of one kind that the job is known to have had containers for.
    known: ByKind<usize>,
    /// Whether these are all the slots of its nodes.
    are_slots: ByKind<bool>,
    /// Whether tasks of both kinds run in the same containers.
    has_containers: bool,
}

impl Room {
    /// `peaks` are the tasks of each kind that ran at once, and `containers` those of both kinds.
    pub(super) fn of(
        app: &Application,
        (tasks, attempts): (&[Task], &[Attempt]),
        (peaks, containers): (ByKind<usize>, usize),
    ) -> Self {
        let count = |kind| tasks.iter().filter(|task| task.kind == kind && !task.attempts.is_empty()).count();
        let mebibytes = |kind: Kind| Some(requested_container(app, kind.group(), Assumed(None))?.whole_mib());
        let memory = ByKind::of(mebibytes);
        // If the sizes of containers are unknown, only their number counts.
        let memory = ByKind::of(|kind| memory.get(kind).filter(|size| *size > 0).unwrap_or(1));
        let held = most_held(attempts, &memory);
        // Hadoop 1 has separate slots for maps and for reduces, and no application masters.
        let has_containers = !app.masters.is_empty();
        let slots = ByKind::of(|kind| slots_of_nodes(app, kind).filter(|_| !has_containers));
        Self {
            has_containers,
            is_limited: ByKind::of(|kind| *peaks.get(kind) < count(kind)),
            known: ByKind::of(|kind| {
                let by_memory = held / memory.get(kind);
                let room = usize::try_from(by_memory).unwrap_or(usize::MAX).min(containers);
                let room = if has_containers { Some(room) } else { *slots.get(kind) };
                room.unwrap_or_default().max(*peaks.get(kind))
            }),
            are_slots: ByKind::of(|kind| slots.get(kind).is_some()),
            peaks,
        }
    }

    /// The most tasks of a kind that are known to have had room at once; `None` if there may have been room for more than
    /// ran, and it is unknown for how many.
    pub(super) fn known(&self, kind: Kind) -> Option<usize> {
        let known = *self.known.get(kind);
        let is_more = known > *self.peaks.get(kind);
        (is_more || *self.is_limited.get(kind) || self.are_containers_limited()).then_some(known)
    }

    /// Whether tasks of either kind waited for containers that both kinds use.
    const fn are_containers_limited(&self) -> bool {
        self.has_containers && (self.is_limited.map || self.is_limited.reduce)
    }

    /// The slots for at least as many tasks of a kind as recorded; `None` if the recorded slots are the limit.
    ///
    /// # Errors
    /// If it is unknown how many of them could run at once.
    pub(super) fn for_tasks(&self, kind: Kind, count: usize) -> Result<Option<usize>, Unknown> {
        let known = *self.known.get(kind);
        if *self.is_limited.get(kind) {
            return Ok(None);
        }
        if count <= known || self.are_containers_limited() || *self.are_slots.get(kind) {
            Ok(Some(known.min(count)))
        } else {
            Err(Unknown::NoRoom)
        }
    }
}

/// The slots for tasks of a kind on the nodes that the job ran on (Hadoop 1); `None` if its configuration does not tell.
fn slots_of_nodes(app: &Application, kind: Kind) -> Option<usize> {
    let names = match kind {
        Kind::Map => ["mapred.tasktracker.map.tasks.maximum", "mapreduce.tasktracker.map.tasks.maximum"],
        Kind::Reduce => {
            ["mapred.tasktracker.reduce.tasks.maximum", "mapreduce.tasktracker.reduce.tasks.maximum"]
        }
    };
    let on_each = names.iter().find_map(|name| app.conf.raw(name)?.trim().parse::<usize>().ok())?;
    let rows = app.groups.iter().flat_map(|group| {
        let attempts = &group.attempts;
        (0..attempts.len()).filter_map(|row| attempts.node(row))
    });
    let nodes = rows.collect::<BTreeSet<_>>().len();
    Some(nodes.saturating_mul(on_each)).filter(|slots| *slots > 0)
}

/// The most memory of containers that ran at once.
fn most_held(attempts: &[Attempt], memory: &ByKind<u64>) -> u64 {
    let mut running: BinaryHeap<Reverse<(Micros, u64)>> = BinaryHeap::new();
    let (mut held, mut most) = (0_u64, 0);
    for attempt in attempts {
        while let Some(Reverse((_, size))) =
            running.peek().copied().filter(|Reverse((end, _))| *end <= attempt.start)
        {
            running.pop();
            held = held.saturating_sub(size);
        }
        let size = *memory.get(attempt.kind);
        running.push(Reverse((attempt.end, size)));
        held = held.saturating_add(size);
        most = most.max(held);
    }
    most
}
