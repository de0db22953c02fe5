//! What differs from the recording.

use std::collections::{BTreeMap, BTreeSet};

use super::attempts::ReduceWork;
use super::{ByKind, Kind};
use crate::replay::Micros;

/// What differs from the recording; by default nothing. Attempts are named by their place in the plan.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Change {
    /// Maps and reduces that may run at once.
    pub slots: ByKind<Option<usize>>,
    /// Slots for tasks that replace recorded ones, within the recorded containers.
    pub(super) room: ByKind<Option<usize>>,
    /// The share of maps that must have ended before reduces start.
    pub(crate) slow_start: Option<f64>,
    /// Whether no speculative copies are started.
    pub(crate) without_speculation: ByKind<bool>,
    /// Attempts that do not happen. The last attempt of a task always happens.
    pub(crate) dropped: BTreeSet<usize>,
    /// The map tasks, replaced by tasks with these times.
    pub(crate) maps: Option<Vec<Micros>>,
    /// The reduce tasks, replaced by tasks with this work.
    pub(crate) reduces: Option<Vec<ReduceWork>>,
    /// The recorded attempts that tasks which replace others repeat before they succeed, by the numbers of these tasks.
    pub(super) repeated: ByKind<BTreeMap<usize, Vec<usize>>>,
    /// New times by the places of attempts, as [`Change::set_time`] sets them.
    pub(crate) times: Vec<Option<Micros>>,
}

impl Change {
    /// Whether a replay is the recorded run.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The attempt works for this long; a reduce's waiting for maps is not included. If it was killed, it
    /// succeeds instead.
    pub(crate) fn set_time(&mut self, attempt: usize, time: Micros) {
        if self.times.len() <= attempt {
            self.times.resize(attempt.saturating_add(1), None);
        }
        if let Some(slot) = self.times.get_mut(attempt) {
            *slot = Some(time);
        }
    }

    /// The attempt's new time, if it has one.
    pub(crate) fn time(&self, attempt: usize) -> Option<Micros> {
        self.times.get(attempt).copied().flatten()
    }

    /// Whether the recorded tasks of this kind are replaced by others.
    pub(super) const fn replaces(&self, kind: Kind) -> bool {
        match kind {
            Kind::Map => self.maps.is_some(),
            Kind::Reduce => self.reduces.is_some(),
        }
    }
}
