//! Replays without a trouble: which attempts would have taken how long, or would not have run.
//!
//! Several causes combine in a fixed order: failures, garbage collection, spilling, waiting for shuffle data, work of operators,
//! stragglers, skew, numbers of tasks, copies. Each changes what the ones before it left.

mod copies;
mod done;
mod failures;
mod partitions;
mod skew;
mod slowdown;
mod stragglers;
mod warm_up;
mod work;

use std::collections::BTreeSet;

use super::change::Change;
use super::plan::{Plan, Unknown};
use crate::replay::{Micros, PerMille};
use elephant_model::model::Application;

pub use partitions::{Overhead, Partitions};

/// Which stage attempts a cause is looked for in, by their place in [`Plan::stages`]; `None` for all.
pub type Scope = Option<BTreeSet<u32>>;

/// A trouble that a replay leaves out. The order is that in which they are applied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Attempts that failed, and stages that ran again.
    Failures,
    /// Garbage collection beyond this share of the run time.
    Collections(Scope, PerMille),
    /// Data that did not fit into memory, written to the disk and read again.
    Spill(Scope),
    /// Waiting for shuffle data.
    FetchWait(Scope),
    /// This share of the work of tasks: that of an operator of a query.
    Work(Scope, PerMille),
    /// Tasks that were slower than others with as much data.
    Stragglers(Scope),
    /// Tasks that took longer because they had more data.
    Skew(Scope),
    /// Too few or too many tasks in a stage attempt.
    Partitions(Partitions),
    /// Speculative copies that lost: their originals take as long without them.
    LosingCopies,
    /// Speculative copies. Originals that were killed for a copy end where they were killed, so what this saves is an upper
    /// bound.
    Copies,
}

impl Plan {
    /// The replay in which these troubles do not occur.
    ///
    /// # Errors
    /// If the log lacks data that the replay would need.
    pub fn without<'c>(
        &self,
        app: &Application,
        causes: impl IntoIterator<Item = &'c Cause>,
    ) -> Result<Change, Unknown> {
        let mut causes: Vec<&Cause> = causes.into_iter().collect();
        causes.sort_unstable();
        let mut change = Change::default();
        for cause in causes {
            match cause {
                Cause::Failures => failures::drop_failures(self, app, &mut change),
                Cause::Collections(scope, limit) => {
                    slowdown::limit_collections(self, app, scope, *limit, &mut change)?;
                }
                Cause::Spill(scope) => slowdown::keep_in_memory(self, app, scope, &mut change)?,
                Cause::FetchWait(scope) => slowdown::fetch_at_once(self, app, scope, &mut change)?,
                Cause::Work(scope, share) => slowdown::do_less(self, app, scope, *share, &mut change)?,
                Cause::Stragglers(scope) => {
                    self.each_stage(scope, |stage| stragglers::to_expected(self, app, stage, &mut change));
                }
                Cause::Skew(scope) => {
                    self.each_stage(scope, |stage| skew::level(self, app, stage, &mut change));
                }
                Cause::Partitions(partitions) => partitions::split(self, app, *partitions, &mut change)?,
                Cause::LosingCopies => copies::drop_losing(self, &mut change),
                Cause::Copies => {
                    change.without_copies = self.attempts.iter().any(|attempt| attempt.speculative);
                }
            }
        }
        Ok(change)
    }

    fn each_stage(&self, scope: &Scope, mut apply: impl FnMut(u32)) {
        for place in 0..super::plan::to_u32(self.stages.len()) {
            let wanted = scope.as_ref().is_none_or(|scope| scope.contains(&place));
            let counts =
                self.stages.get(place as usize).is_some_and(|stage| stage.completed && stage.tasks.len() > 1);
            if wanted && counts {
                apply(place);
            }
        }
    }
}

impl Change {
    /// Sets how long an attempt takes.
    fn set_time(&mut self, plan: &Plan, place: u32, time: Micros) {
        if self.times.is_empty() {
            self.times = plan.attempts.iter().map(super::plan::Attempt::time).collect();
        }
        if let Some(slot) = self.times.get_mut(place as usize) {
            *slot = time;
        }
    }

    /// Leaves an attempt out.
    fn drop_attempt(&mut self, plan: &Plan, place: u32) {
        if self.dropped.is_empty() {
            self.dropped = vec![false; plan.attempts.len()];
        }
        if let Some(slot) = self.dropped.get_mut(place as usize) {
            *slot = true;
        }
    }
}
