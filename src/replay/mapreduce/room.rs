//! How many tasks of a kind could run at once if a job had more of them.
//!
//! If all tasks of a kind ran at once, their number shows no limit. The limit is then the containers that the job held
//! at its peak, for tasks of either kind, as far as the memory of these containers allows. If no task waited for
//! another to end, there may have been room for still more, and it is unknown for how many.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::attempts::{Attempt, Task};
use super::{ByKind, Kind, Unknown};
use crate::metrics::requested_container;
use crate::model::Application;
use crate::params::Assumed;
use crate::replay::Micros;

/// The room of a job for more tasks than it had.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// Whether tasks of a kind waited for others of the same kind, so that the recorded slots are the limit.
    is_limited: ByKind<bool>,
    /// Tasks of one kind that the job is known to have had containers for.
    known: ByKind<usize>,
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
        Self {
            has_containers,
            is_limited: ByKind::of(|kind| *peaks.get(kind) < count(kind)),
            known: ByKind::of(|kind| {
                let by_memory = held / memory.get(kind);
                let room = usize::try_from(by_memory).unwrap_or(usize::MAX).min(containers);
                if has_containers { room.max(*peaks.get(kind)) } else { *peaks.get(kind) }
            }),
        }
    }

    /// The most tasks of a kind that may run at once; `None` if it is unknown whether there was room for more.
    pub(super) fn known(&self, kind: Kind) -> Option<usize> {
        (*self.is_limited.get(kind) || self.are_containers_limited()).then_some(*self.known.get(kind))
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
        if count <= known || self.are_containers_limited() {
            Ok(Some(known.min(count)))
        } else {
            Err(Unknown::NoRoom)
        }
    }
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
