//! Rules of thumb: other attempts of the same task, remote input, and slow starts
//! on many nodes at once.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::evidence::Fact;
use crate::stragglers::executions::{Execution, Executions};
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::table::{Locality, TaskGroup, TimePoint};
use elephant_model::model::{Application, Symbol};

/// When each executor ended its first task, of any group.
#[must_use]
pub fn first_ends(app: &Application) -> FxHashMap<Symbol, Timestamp> {
    let mut first: FxHashMap<Symbol, Timestamp> = FxHashMap::default();
    for group in &app.groups {
        let attempts = &group.attempts;
        for row in 0..attempts.len() {
            if let (Some(executor), Some(end)) =
                (attempts.executor(row), attempts.time(row, TimePoint::Finish))
            {
                let known = first.entry(executor).or_insert(end);
                *known = end.min(*known);
            }
        }
    }
    first
}

/// Another attempt of a task, on another node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OtherAttempt {
    /// The node.
    pub node: Symbol,
    /// How long it ran until its end, or until the task was done.
    pub time: Millis,
    /// Whether it succeeded.
    pub succeeded: bool,
}

/// The attempt that overtook the judged one; otherwise the longest of the task's other attempts.
/// `attempts_of_task` are the rows of the task's attempts, without those that ended for a reason outside the task.
#[must_use]
pub(crate) fn other_attempt(
    group: &TaskGroup,
    execution: &Execution,
    attempts_of_task: impl Iterator<Item = usize>,
) -> Option<OtherAttempt> {
    let attempts = &group.attempts;
    let elsewhere = |row: usize| {
        attempts
            .node(row)
            .filter(|node| attempts.node(execution.attempt()).is_some_and(|judged| judged != *node))
    };
    if execution.attempt() != execution.winner() {
        let node = elsewhere(execution.winner())?;
        return Some(OtherAttempt { node, time: attempts.run_time(execution.winner())?, succeeded: true });
    }
    let done = attempts.time(execution.winner(), TimePoint::Finish)?;
    let others = attempts_of_task.filter(|&row| row != execution.winner());
    let others = others.filter_map(|row| {
        let launched = attempts.time(row, TimePoint::Start).filter(|launched| *launched < done)?;
        let end = attempts.time(row, TimePoint::Finish).map_or(done, |end| end.min(done));
        Some(OtherAttempt { node: elsewhere(row)?, time: Millis::between(launched, end)?, succeeded: false })
    });
    others.max_by_key(|other| (other.time, other.node))
}

/// Percentage of the group's tasks that read their input from their own node; `None` if no locality is
/// logged.
#[must_use]
pub(crate) fn local_share(group: &TaskGroup, executions: &Executions) -> Option<f64> {
    let known = executions.tasks.iter().filter_map(|task| group.attempts.locality(task.attempt()));
    let (local, all) = known.fold((0u64, 0u64), |(local, all), locality| {
        let own = matches!(locality, Locality::NodeLocal | Locality::ProcessLocal);
        (local + u64::from(own), all + 1)
    });
    (all > 0).then(|| 100.0 * local as f64 / all as f64)
}

/// Evidence that a task read remote input while most tasks read from their own node.
#[must_use]
pub(crate) fn remote_input(
    group: &TaskGroup,
    execution: &Execution,
    local_share: Option<f64>,
) -> Option<Fact> {
    let locality = group.attempts.locality(execution.attempt())?;
    let remote = matches!(locality, Locality::RackLocal | Locality::OffSwitch);
    let local_share = local_share.filter(|share| *share > 50.0 && remote)?;
    Some(Fact::RemoteInput { locality, local_share })
}

/// Seconds that the first twelfth of an attempt's progress took (Hadoop `clockSplits`).
#[must_use]
pub(crate) fn beginning(group: &TaskGroup, row: usize) -> Option<f64> {
    let splits = group.attempts.progress(row)?;
    let first = splits.clock_ms.first().copied().filter(|first| *first >= 0)?;
    Some(f64::from(first) / 1000.0)
}

/// From this many nodes on, a coincidence is unlikely.
const MANY_NODES: usize = 3;

/// Finds stragglers that lost their time at their start and were launched in the same minute on at least
/// `MANY_NODES` nodes. Input: index, node and launch. Output: number of nodes by index.
#[must_use]
pub(crate) fn slow_beginnings(stragglers: &[(usize, Symbol, Timestamp)]) -> BTreeMap<usize, u64> {
    let minute = |at: Timestamp| at.as_millis().div_euclid(60_000);
    let mut nodes: BTreeMap<i64, BTreeSet<Symbol>> = BTreeMap::new();
    for &(_, node, at) in stragglers {
        nodes.entry(minute(at)).or_default().insert(node);
    }
    let count = |at| nodes.get(&minute(at)).map_or(0, BTreeSet::len);
    let together = stragglers.iter().map(|&(place, _, at)| (place, count(at)));
    together.filter(|(_, nodes)| *nodes >= MANY_NODES).map(|(place, nodes)| (place, nodes as u64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_beginnings_are_grouped_by_minute_and_node() {
        let straggler = |place, node, at| (place, Symbol::from_index(node), Timestamp::from_millis(at));
        let apart = [straggler(0, 1, 0), straggler(1, 2, 59_999), straggler(2, 3, 60_000)];
        assert!(slow_beginnings(&apart).is_empty());
        let same_node = [straggler(0, 1, 0), straggler(1, 1, 1), straggler(2, 2, 2)];
        assert!(slow_beginnings(&same_node).is_empty());
        let together = [straggler(4, 1, 0), straggler(5, 2, 1), straggler(6, 3, 2), straggler(7, 3, 70_000)];
        assert_eq!(slow_beginnings(&together), [(4, 3), (5, 3), (6, 3)].into());
    }
}
