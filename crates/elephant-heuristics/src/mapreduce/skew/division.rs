//! The two groups of tasks that are compared.

use super::{Side, Skew, Values};
use elephant_base::severity::Severity;
use elephant_base::stats::split::{TwoGroups, above_median, two_groups};
use elephant_rule::params::choice;

choice! {
    /// How tasks are divided into a small and a large group.
    pub(crate) enum Division {
        /// By differences of means, as in Dr. Elephant.
        Means = "means",
        /// By means or by the median, whichever shows more. Among many ordinary tasks, the means may not show a large
        /// one.
        MeansOrMedian = "means-or-median",
    }
}

impl Skew {
    /// What `judge` says of the two groups of tasks; if there are two ways to divide them, the worse, and of equal ones
    /// the one whose groups are further apart.
    pub(super) fn worst(&self, values: &Values, judge: impl Fn(TwoGroups) -> Side) -> Side {
        let values: Vec<i64> = values.iter().map(|&(value, _)| value).collect();
        let by_means = judge(two_groups(&values));
        let by_median = self.by_median(&values).map(judge).filter(|side| side.severity > Severity::None);
        let rank = |side: &Side| (side.severity, side.deviation);
        by_median.filter(|side| rank(side) > rank(&by_means)).unwrap_or(by_means)
    }

    /// The groups below and above the multiple of the median that is skew. As more ordinary tasks join, the pivot of the
    /// means falls below all of them, and then the mean of all divides them.
    fn by_median(&self, values: &[i64]) -> Option<TwoGroups> {
        let [least, ..] = self.deviation.values()?;
        let is_on = self.division == Division::MeansOrMedian && least.is_finite();
        is_on.then(|| above_median(values, 1.0 + least)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use elephant_base::severity::Severity;
    use elephant_model::model::counters::Counter;
    use elephant_model::model::table::TaskKind;
    use elephant_rule::finding::{Finding, TroubleKind};

    /// This many tasks that read 150 MiB each, give or take 15 %, and take a second per MiB, one of which reads `times`
    /// as much.
    fn found(kind: TaskKind, tasks: i64, times: i64, dr_elephant: bool) -> Finding {
        let mib = |task: i64| if task == 3 { 150 * times } else { 128 + 44 * (task * 37 % tasks) / tasks };
        let mut group = elephant_sample::tasks(kind, (0..tasks).map(|task| (0, Some(mib(task)))));
        for (row, task) in (0..tasks).enumerate() {
            for counter in [Counter::HdfsBytesRead, Counter::ReduceShuffleBytes] {
                group.attempts.set_counter(row, counter, Some(mib(task) << 20));
            }
        }
        let rule = if kind == TaskKind::Map { "mapper-skew" } else { "reducer-skew" };
        elephant_sample::evaluate(&elephant_sample::job(vec![group], &[]), rule, dr_elephant)
            .findings
            .remove(0)
    }

    #[test]
    fn many_ordinary_tasks_do_not_hide_a_large_one() {
        for (tasks, times) in [(20, 3), (40, 3), (100, 8), (100, 3), (1000, 8), (1000, 3)] {
            for kind in [TaskKind::Map, TaskKind::Reduce] {
                let found = found(kind, tasks, times, false);
                let message = &found.message;
                assert_eq!(
                    (found.severity, found.tells),
                    (Severity::Critical, TroubleKind::Skew),
                    "{message}"
                );
                let one = format!("1 reads {}: {times}", sample_size(times));
                assert!(message.contains(&one), "{one} {message}");
            }
        }
        // As Dr. Elephant judges.
        assert_eq!(found(TaskKind::Map, 1000, 8, true).severity, Severity::None);
        // Without a large task.
        assert_eq!(found(TaskKind::Map, 1000, 1, false).severity, Severity::None);
    }

    fn sample_size(times: i64) -> String {
        elephant_base::units::Bytes::from_mib(150 * times.unsigned_abs()).to_string()
    }

    #[test]
    fn the_largest_is_named_and_not_those_above_the_mean() {
        // One hot key with twelve times the median: by the means, eleven tasks would read twice as much as the others.
        let found = found(TaskKind::Reduce, 100, 12, false);
        assert!(found.message.starts_with("99 reduce tasks read 149 MiB each, 1 reads"), "{}", found.message);
    }
}
