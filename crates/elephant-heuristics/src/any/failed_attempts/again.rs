//! Attempts beyond the first of each task, by their number, as Hadoop Vaidya judges them.

use super::Failures;
use elephant_base::severity::Severity;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine};
use elephant_rule::finding::{Phrase, Word};
use elephant_rule::wording::percent;

/// The attempts beyond one for each task.
const AGAIN: &str = "{attempts} attempts were launched for {tasks} {kind} tasks, {share} more ({limit})";

/// The advice if no attempt failed.
pub(super) const ADVICE: &str = "no work was lost to failures: the additional attempts are speculative copies, which \
                                 speculation-waste judges by the time that they took";

/// The tasks of a kind, and the attempts of them that were launched.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Launched {
    kind: TaskKind,
    tasks: u64,
    attempts: u64,
}

impl Launched {
    /// `None` without tasks.
    fn of(group: &TaskGroup) -> Option<Self> {
        let is_launched = |row: &usize| group.attempts.time(*row, TimePoint::Start).is_some();
        let attempts = (0..group.attempts.len()).filter(is_launched).count() as u64;
        let tasks = group.tasks.len() as u64;
        (tasks > 0).then_some(Self { kind: group.kind, tasks, attempts })
    }

    /// (launched - tasks) / tasks. Tasks that never started make up for none that started again.
    fn share(&self) -> f64 {
        self.attempts.saturating_sub(self.tasks) as f64 / self.tasks as f64
    }
}

impl Failures {
    /// The severity by the attempts launched, and its phrase if that severity is higher than `other`.
    pub(super) fn launched(&self, app: &Application, other: Severity) -> (Severity, Phrase) {
        if app.engine != Engine::MapReduce {
            return Default::default();
        }
        let all = app.groups.iter().filter_map(Launched::of);
        let Some(most) = all.max_by(|a, b| a.share().total_cmp(&b.share())) else {
            return Default::default();
        };
        let severity = self.launched_again.severity(most.share());
        if severity <= other {
            return Default::default();
        }
        let limit = self.launched_again.describe_in(severity, percent);
        let (share, kind) = (percent(most.share()), most.kind.name());
        let words: [Word<'_>; 5] = [
            ("attempts", &most.attempts),
            ("tasks", &most.tasks),
            ("kind", &kind),
            ("share", &share),
            ("limit", &limit),
        ];
        (severity, Phrase::new(AGAIN, &words))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::table::Outcome;
    use elephant_rule::finding::Finding;
    use proptest::prelude::*;

    /// Map tasks of a minute, of which the first ones have a second attempt that was killed at once.
    fn job(tasks: u32, again: u32) -> Application {
        let mut group = elephant_sample::tasks(TaskKind::Map, (0..tasks).map(|_| (0, Some(60))));
        for task in 0..again {
            let row = group.attempts.push(task, 1);
            group.attempts.set_outcome(row, Outcome::Killed);
            for point in [TimePoint::Start, TimePoint::Finish] {
                group.attempts.set_time(row, point, Some(Timestamp::from_millis(1000)));
            }
        }
        elephant_sample::job(vec![group], &[])
    }

    fn found(app: &Application) -> Option<Finding> {
        let limits = "launched_again: [40%, 60%, 80%, 100%]";
        elephant_sample::evaluate_with(app, "failed-attempts", limits).findings.into_iter().next()
    }

    #[test]
    fn attempts_beyond_the_first_count_only_where_they_are_asked_for() {
        let told = found(&job(10, 4)).unwrap();
        assert_eq!(told.severity, Severity::Low);
        assert!(
            told.message.contains("; 14 attempts were launched for 10 map tasks, 40 % more (low from 40 %)"),
            "{}",
            told.message
        );
        assert!(told.advice[0].contains("speculative copies"), "{:?}", told.advice);
        assert_eq!(found(&job(10, 3)).unwrap().severity, Severity::None);
        assert_eq!(elephant_sample::severity(&job(10, 9), "failed-attempts", false), Some(Severity::None));
    }

    #[test]
    fn jobs_without_tasks_or_attempts_are_not_judged() {
        assert_eq!(found(&job(0, 0)), None);
        assert_eq!(Launched::of(&TaskGroup::new(TaskKind::Map)), None);
        // Announced tasks that never started.
        let mut group = TaskGroup::new(TaskKind::Reduce);
        group.tasks.push(0);
        assert_eq!(Launched::of(&group).map(|launched| launched.share()), Some(0.0));
    }

    proptest! {
        /// Vaidya: (launched - total) / total >= threshold, here in whole numbers.
        #[test]
        fn as_vaidya_counts_them(tasks in 1u32..200, again in 0u32..200) {
            let again = again.min(tasks);
            let told = found(&job(tasks, again)).unwrap().severity;
            let expected = [40, 60, 80, 100].iter().filter(|percent| 100 * again >= *percent * tasks).count();
            prop_assert_eq!(Severity::ALL.get(expected), Some(&told));
        }
    }
}
