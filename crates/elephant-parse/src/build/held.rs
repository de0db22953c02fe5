//! How many bytes a history takes while it is built.

use super::{HistoryBuilder, TaskRow};
use crate::OtherCounters;
use crate::event::{EventFields, EventPayload};
use elephant_base::limits::{Held, LimitReached};
use elephant_model::model::counters::OtherCounter;
use elephant_model::model::table::TaskGroup;

/// What an event takes at most, apart from its lists and texts.
const EVENT: usize = 256;
/// The tables are measured each time that events may have added this much.
const MEASURED_EVERY: usize = 256 << 10;
/// A slot of the vectors that map ids to rows, for a task and its attempt, with the room that they leave free.
const PER_TASK: usize = 2 * (size_of::<Option<TaskRow>>() + size_of::<Option<u32>>());
/// A location in the map of split hosts, without its text.
const PER_LOCATION: usize = 64;

impl HistoryBuilder {
    /// The limit on memory, if what is kept exceeds it.
    #[inline]
    #[must_use]
    pub(crate) fn beyond_memory(&self) -> Option<LimitReached> {
        self.held.beyond()
    }

    /// The bytes that are kept, as last measured.
    #[must_use]
    pub(crate) const fn measured(&self) -> usize {
        self.measured
    }

    /// Counts what an event may add, and measures the tables from time to time.
    #[inline]
    pub(super) fn count_event(&mut self, fields: &EventFields<'_>, payload: &EventPayload) {
        let others = match self.others {
            OtherCounters::Kept => payload.counters.others.len() * size_of::<(u32, OtherCounter)>(),
            OtherCounters::Dropped => 0,
        };
        let text = |text: Option<&str>| text.map_or(0, str::len);
        self.unmeasured +=
            EVENT + others + text(fields.error.as_deref()) + text(fields.split_locations.as_deref());
        if self.unmeasured >= MEASURED_EVERY {
            self.measure();
        }
    }

    #[cold]
    fn measure(&mut self) {
        let tasks: usize = self.groups.iter().map(|group| group.tasks.len()).sum();
        let now = self.groups.iter().map(TaskGroup::held).sum::<usize>()
            + self.app.strings.held()
            + self.names.held()
            + tasks * PER_TASK
            + self.split_hosts.keys().map(|location| location.len() + PER_LOCATION).sum::<usize>()
            + Held::PER_ALLOCATION;
        self.held.change(self.measured, now);
        self.measured = now;
        self.unmeasured = 0;
    }
}
