//! A task that ends every executor on which it runs.

use std::collections::{BTreeMap, BTreeSet};

use super::losses::lost_executors;
use elephant_catalogue::Advised;
use elephant_model::model::Symbol;
use elephant_model::model::spark::Spark;
use elephant_model::model::table::{EndReason, Outcome, TaskGroup};
use elephant_rule::finding::{Advice, Phrase};

/// The task in a message.
const ENDED: &str = "task {task} ended {executors} executors, one after the other";

/// A task whose attempts ended executors for lack of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RepeatedLoss {
    task: u32,
    executors: usize,
}

impl RepeatedLoss {
    /// The task of a group that ended the most executors, if these were several. Other tasks only ran next to it.
    pub(crate) fn of(app: &Advised<'_>, spark: &Spark, group: &TaskGroup) -> Option<Self> {
        let attempts = &group.attempts;
        let ended = |row: &usize| {
            let lost = [Some(EndReason::ExecutorLost), Some(EndReason::ContainerOverMemory)];
            attempts.outcome(*row) == Outcome::Failed && lost.contains(&attempts.end_reason(*row))
        };
        let mut by_task: BTreeMap<usize, BTreeSet<Symbol>> = BTreeMap::new();
        for row in (0..attempts.len()).filter(ended) {
            if let Some((task, executor)) = attempts.task(row).zip(attempts.executor(row)) {
                by_task.entry(task).or_default().insert(executor);
            }
        }
        by_task.retain(|_, executors| executors.len() as f64 >= app.advice.repeated_losses.get());
        if by_task.is_empty() {
            return None;
        }
        let of_memory: BTreeSet<Symbol> = lost_executors(spark)
            .filter(|loss| loss.cause.failure.kind.asks_for_memory())
            .filter_map(|loss| app.strings.find(&loss.executor.id))
            .collect();
        // The event log may lack the end of the last executor.
        let mostly =
            |executors: &BTreeSet<Symbol>| 2 * executors.intersection(&of_memory).count() > executors.len();
        by_task.retain(|_, executors| mostly(executors));
        let tasks = by_task.iter().map(|(task, executors)| (executors.len(), std::cmp::Reverse(*task)));
        let (executors, std::cmp::Reverse(task)) = tasks.max()?;
        Some(Self { task: group.tasks.number(task)?, executors })
    }

    /// "task 17 ended 4 executors, one after the other".
    pub(crate) fn phrase(self) -> Phrase {
        Phrase::new(ENDED, &[("task", &self.task), ("executors", &self.executors)])
    }

    /// What helps: its data is too much for any executor.
    pub(crate) fn advice(self) -> Advice {
        let Self { task, .. } = self;
        Advice::new(format!(
            "look at the data of task {task}, which is too much for an executor: one key with most records (often null or a \
             default value), or one very large record; split the key (salt it, or aggregate in two steps) or handle it apart"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;
    use elephant_base::units::Timestamp;

    /// Attempts by task and executor; executors with an odd number were killed for their memory.
    fn found(attempts: &[(u32, &str)]) -> Option<RepeatedLoss> {
        let mut app = elephant_sample::app(&[("spark.master", "yarn")]);
        for (_, id) in attempts {
            let odd = id.ends_with(['1', '3', '5', '7']);
            let executor = elephant_sample::executor(&mut app, id);
            let reason =
                if odd { "Exit status: 137" } else { "Executor heartbeat timed out after 125000 ms" };
            executor.removed_at = Some(Timestamp::from_millis(5));
            executor.removed_reason = Some(reason.to_owned());
        }
        elephant_sample::stage(&mut app, 0, &[]);
        let symbols: Vec<Option<Symbol>> = attempts.iter().map(|(_, id)| app.strings.intern(id)).collect();
        let group = &mut app.groups[0];
        for number in 0..3 {
            group.tasks.push(number + 10);
        }
        for ((task, _), executor) in attempts.iter().zip(symbols) {
            let row = group.attempts.push(*task, 0);
            group.attempts.set_outcome(row, Outcome::Failed);
            group.attempts.set_end_reason(row, Some(EndReason::ExecutorLost));
            group.attempts.set_executor(row, executor);
        }
        RepeatedLoss::of(&advised(&app), app.spark.as_deref()?, &app.groups[0])
    }

    #[test]
    fn a_task_that_ends_several_executors_is_named() {
        let loss = found(&[(1, "1"), (0, "1"), (1, "3"), (2, "3"), (1, "5"), (1, "7")]).unwrap();
        assert_eq!(loss.phrase().to_string(), "task 11 ended 4 executors, one after the other");
        assert!(loss.advice().text.starts_with("look at the data of task 11"));
        assert_eq!(found(&[(1, "1"), (1, "3"), (0, "5"), (2, "7")]), None);
        assert_eq!(found(&[(1, "1"), (1, "1"), (1, "1")]), None, "one executor");
        assert_eq!(found(&[(1, "2"), (1, "4"), (1, "6"), (1, "8")]), None, "other causes");
    }
}
