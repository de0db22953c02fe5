//! Without skew: the data are spread evenly, so the work of a stage stays the same and only its longest tasks shrink.

use super::Scope;
use super::done::Done;
use super::work::{Work, has_longer, span};
use crate::replay::spark::change::Change;
use crate::replay::spark::plan::Plan;
use elephant_model::model::Application;

/// A skewed task takes more than this multiple of the median, and its data explain that.
const LARGER: f64 = 1.5;

impl Plan {
    /// Whether tasks of any stage attempt in the scope read data, so that skew can be distinguished from stragglers.
    #[must_use]
    pub fn knows_data(&self, app: &Application, scope: &Scope) -> bool {
        let mut knows = false;
        self.each_stage(scope, |stage| {
            knows =
                knows || Work::of(self, app, stage, &Change::default()).is_some_and(|work| work.knows_data());
        });
        knows
    }
}

/// Levels the tasks of a stage attempt whose data explain their time.
pub(super) fn level(plan: &Plan, app: &Application, stage: u32, change: &mut Change) {
    if !has_longer(plan, stage, change, LARGER) {
        return;
    }
    let Some(work) = Work::of(plan, app, stage, change).filter(Work::knows_data) else { return };
    let limit = LARGER * work.median;
    let (large, rest): (Vec<Done>, Vec<Done>) =
        work.done.iter().partition(|done| done.time > limit && work.expected(done) > limit);
    if large.is_empty() {
        return;
    }
    let mean = work.done.iter().map(|done| done.time).sum::<f64>() / work.done.len() as f64;
    let excess: f64 = large.iter().map(|done| (done.time - mean).max(0.0)).sum();
    let room = |done: &Done| (mean - done.time).max(0.0);
    let all_room: f64 = rest.iter().map(room).sum();
    for done in &large {
        change.set_time(plan, done.place, span(done.time.min(mean)));
    }
    for done in rest.iter().filter(|_| all_room > 0.0) {
        change.set_time(plan, done.place, span(done.time + excess * room(done) / all_room));
    }
}
