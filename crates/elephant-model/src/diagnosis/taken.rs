//! Attempts of Hadoop whose containers the cluster took away. Their history calls them killed, as it does copies that lost
//! and attempts that ended with their job, but their work was lost and done again.

use std::collections::{BTreeMap, BTreeSet};

use super::{FailureKind, classify};
use crate::model::table::{Outcome, TaskGroup, TimePoint};
use crate::model::{Application, Engine, Symbol};
use elephant_base::units::Timestamp;

/// The number of distinct messages of a group that are classified. In a large history, every attempt may have its own.
const MAX_CLASSIFIED: usize = 2000;

/// The rows of killed attempts that the scheduler preempted, that the resource manager killed or that were lost with their
/// node, if another attempt of their task started after that.
#[must_use]
pub fn taken_away(app: &Application, group: &TaskGroup) -> BTreeSet<usize> {
    if app.engine != Engine::MapReduce {
        return BTreeSet::new();
    }
    let attempts = &group.attempts;
    let mut known: BTreeMap<Symbol, bool> = BTreeMap::new();
    let mut is_taken = |text: Symbol| {
        if known.len() >= MAX_CLASSIFIED && !known.contains_key(&text) {
            return false;
        }
        *known.entry(text).or_insert_with(|| app.strings.get(text).is_some_and(tells_so))
    };
    let killed = attempts.diagnostics().iter().map(|&(row, text)| (row as usize, text));
    let killed = killed.filter(|&(row, text)| {
        attempts.outcome(row) == Outcome::Killed
            && attempts.is_speculative(row) != Some(true)
            && is_taken(text)
    });
    let killed: Vec<usize> = killed.map(|(row, _)| row).collect();
    if killed.is_empty() {
        return BTreeSet::new();
    }
    let mut last_starts: BTreeMap<usize, Timestamp> = BTreeMap::new();
    for row in 0..attempts.len() {
        if let Some((task, start)) = attempts.task(row).zip(attempts.time(row, TimePoint::Start)) {
            let last = last_starts.entry(task).or_insert(start);
            *last = start.max(*last);
        }
    }
    let is_repeated = |row: &usize| {
        let last = attempts.task(*row).and_then(|task| last_starts.get(&task));
        let end = attempts.time(*row, TimePoint::Finish);
        last.zip(end).is_some_and(|(last, end)| *last >= end)
    };
    killed.into_iter().filter(is_repeated).collect()
}

fn tells_so(text: &str) -> bool {
    let kind = classify(text).map(|diagnosis| diagnosis.kind);
    matches!(kind, Some(FailureKind::Preempted | FailureKind::NodeLost | FailureKind::ResourceManagerKill))
}
