//! What differs in a replay from the recorded run.

use std::collections::BTreeMap;

use super::plan::{Attempt, Plan};
use crate::replay::Micros;
use elephant_model::model::table::TaskKind;

/// The slots of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Slots {
    /// Those of the recorded executors.
    #[default]
    Recorded,
    /// This many, which open when the first executors came and never close.
    Number(u32),
    /// One for each task, from the first executor on.
    Unlimited,
}

/// What differs from the recorded run; nothing by default.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// The times of attempts, by their place; empty if all take as long as recorded.
    pub times: Vec<Micros>,
    /// Attempts that are left out, by their place; empty if none is.
    pub dropped: Vec<bool>,
    /// The slots that tasks run on.
    pub slots: Slots,
    /// Whether speculative copies are left out.
    pub without_copies: bool,
    /// Other tasks for stage attempts, by their place: the time of each.
    pub tasks: BTreeMap<u32, Vec<Micros>>,
}

impl Change {
    /// Whether a replay is the recorded run.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        let Self { times, dropped, slots, without_copies, tasks } = self;
        times.is_empty()
            && dropped.is_empty()
            && *slots == Slots::Recorded
            && !without_copies
            && tasks.is_empty()
    }

    /// Whether all attempts are part of the replay.
    pub(super) fn keeps_all(&self) -> bool {
        self.dropped.is_empty() && !self.without_copies
    }

    /// How long an attempt runs.
    pub(super) fn time(&self, place: u32, attempt: &Attempt) -> Micros {
        self.times.get(place as usize).copied().unwrap_or_else(|| attempt.time()).or_zero()
    }

    /// Whether an attempt is part of the replay.
    pub(super) fn keeps(&self, place: u32, attempt: &Attempt) -> bool {
        let is_dropped = self.dropped.get(place as usize).copied().unwrap_or_default();
        let is_unwanted = self.without_copies && attempt.speculative;
        !is_dropped && !is_unwanted
    }
}

impl Plan {
    /// A change that shortens attempts by these times, given by the kind of their group and their row in it.
    #[must_use]
    pub fn shortened(&self, cuts: &BTreeMap<(TaskKind, usize), Micros>) -> Change {
        if cuts.is_empty() {
            return Change::default();
        }
        let time = |attempt: &Attempt| {
            let stage = self.stages.get(attempt.stage as usize);
            let cut = stage.and_then(|stage| cuts.get(&(TaskKind::Stage(stage.id), attempt.row as usize)));
            cut.map_or_else(|| attempt.time(), |&less| (attempt.time() - less).or_zero())
        };
        Change { times: self.attempts.iter().map(time).collect(), ..Change::default() }
    }
}
