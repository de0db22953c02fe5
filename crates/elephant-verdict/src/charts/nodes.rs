//! Attempts by node.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Rows;
use elephant_base::state::State;
use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::table::Outcome;

/// The maximum number of nodes shown.
const MOST_NODES: usize = 12;

/// The attempts that ran on one node.
#[derive(Debug, Clone, PartialEq, Eq, Default, State)]
#[non_exhaustive]
pub struct NodeAttempts {
    /// The node's name as written in the history.
    pub node: String,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Attempts that were killed, mostly because another one was faster.
    pub killed: u64,
    /// Attempts whose end is not logged.
    pub unfinished: u64,
    /// Mean run time of the successful attempts.
    pub mean_run_time: Option<Millis>,
}

#[doc(hidden)]
impl NodeAttempts {
    /// All attempts on the node.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.succeeded + self.failed + self.killed + self.unfinished
    }
}

/// Nodes with most failures first, then those with most attempts.
pub(super) fn rows(app: &Application) -> Rows<NodeAttempts> {
    let mut by_node: BTreeMap<&str, (NodeAttempts, Millis, u64)> = BTreeMap::new();
    for group in &app.groups {
        let attempts = &group.attempts;
        for row in 0..attempts.len() {
            let Some(node) = attempts.node(row).and_then(|node| app.strings.get(node)) else { continue };
            let (counts, time, timed) = by_node.entry(node).or_default();
            match attempts.outcome(row) {
                Outcome::Succeeded => {
                    counts.succeeded += 1;
                    if let Some(run_time) = attempts.run_time(row) {
                        *time = *time + run_time;
                        *timed += 1;
                    }
                }
                Outcome::Failed => counts.failed += 1,
                Outcome::Killed => counts.killed += 1,
                Outcome::Unfinished => counts.unfinished += 1,
            }
        }
    }
    let mut nodes: Vec<NodeAttempts> = by_node
        .into_iter()
        .map(|(node, (counts, time, timed))| NodeAttempts {
            node: node.to_owned(),
            mean_run_time: time.get().checked_div(timed).map(Millis::new),
            ..counts
        })
        .collect();
    nodes.sort_by_key(|node| (Reverse(node.failed), Reverse(node.total())));
    Rows::first(nodes, MOST_NODES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::Engine;
    use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};

    #[test]
    fn failures_come_first_and_the_rest_is_counted() {
        let mut app = Application::new(Engine::MapReduce);
        let mut group = TaskGroup::new(TaskKind::Map);
        for number in 0..5000u32 {
            let task = group.tasks.push(number);
            let row = group.attempts.push(u32::try_from(task).unwrap(), 0);
            group.attempts.set_node(row, app.strings.intern(&format!("n{number}")));
            group.attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(0)));
            group.attempts.set_time(row, TimePoint::Finish, Some(Timestamp::from_millis(10)));
            let failed = number == 4321;
            group.attempts.set_outcome(row, if failed { Outcome::Failed } else { Outcome::Succeeded });
        }
        app.groups.push(group);
        let rows = rows(&app);
        assert_eq!((rows.shown.len(), rows.left_out), (MOST_NODES, 5000 - MOST_NODES as u64));
        let failed = NodeAttempts { node: "n4321".to_owned(), failed: 1, ..NodeAttempts::default() };
        assert_eq!(rows.shown[0], failed);
        assert_eq!(rows.shown[1].mean_run_time, Some(Millis::new(10)));
    }

    #[test]
    fn attempts_without_a_node_are_not_shown() {
        assert!(rows(&Application::new(Engine::Spark)).shown.is_empty());
    }
}
