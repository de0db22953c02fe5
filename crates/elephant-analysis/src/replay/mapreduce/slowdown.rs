//! Without long garbage collection, and without spilling: tasks take less time.

use super::attempts::Attempt;
use super::{Change, Kind, Plan, Unknown};
use crate::replay::{Micros, PerMille, beyond_limit, spill_time};

impl Plan {
    /// Garbage collection takes at most `limit` of the time of each task of a kind.
    ///
    /// # Errors
    /// If no task reports its collections.
    pub(super) fn limit_collections(
        &self,
        kind: Kind,
        limit: PerMille,
        change: &mut Change,
    ) -> Result<(), Unknown> {
        let saved = |attempt: &Attempt, time| Some(beyond_limit(time, attempt.collections?, limit));
        self.shorten(kind, change, Unknown::NoCollections, saved)
    }

    /// Tasks of a kind neither write nor read the data that they read from local disks. A history does not contain the
    /// speed of disks, so it is assumed, and the tasks of a node share it.
    ///
    /// # Errors
    /// If no task reports how much it read there.
    pub(super) fn keep_in_memory(&self, kind: Kind, change: &mut Change) -> Result<(), Unknown> {
        let saved = |attempt: &Attempt, time| Some(spill_time(time, attempt.spilled?, self.disk_speed));
        self.shorten(kind, change, Unknown::NoSpill, saved)
    }

    /// Shortens the tasks of a kind that succeeded.
    fn shorten(
        &self,
        kind: Kind,
        change: &mut Change,
        unknown: Unknown,
        saved: impl Fn(&Attempt, Micros) -> Option<Micros>,
    ) -> Result<(), Unknown> {
        let (mut any, mut known) = (false, false);
        for (place, attempt) in self.winners(kind) {
            any = true;
            let time = change.time(place).unwrap_or_else(|| attempt.work.time());
            let Some(saved) = saved(attempt, attempt.work.time()) else { continue };
            known = true;
            if saved > Micros::ZERO {
                change.set_time(place, (time - saved).or_zero());
            }
        }
        match (any, known) {
            (false, _) => Err(Unknown::NoTasks),
            (_, false) => Err(unknown),
            _ => Ok(()),
        }
    }
}
