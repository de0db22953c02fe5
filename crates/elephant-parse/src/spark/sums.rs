//! Spark's own sums over the tasks of a stage, to compare with ours.

use super::task_metrics::SUMMED;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::Attempts;

/// Spark's own sums over the tasks of a stage, from the end of the stage.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    values: [Option<i64>; SUMMED.len()],
}

impl Totals {
    pub(super) fn of(totals: &[(Counter, i64)]) -> Self {
        let find = |counter| totals.iter().find(|(known, _)| *known == counter).map(|(_, value)| *value);
        Self { values: SUMMED.map(|(_, counter)| find(counter)) }
    }
}

/// Compares our sums over the tasks of a stage with Spark's own sums at the end of the stage.
///
/// Spark sums and logs in the same order, so both are equal unless something was lost or changed. Tasks that
/// end after their stage, such as speculative copies that lost, are in neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Sums {
    #[default]
    Agree,
    /// Values differ, but not because of a lost task.
    Differ,
    /// Spark's sums include more run time: ends of tasks are missing.
    FallShort,
}

impl Totals {
    /// The result, and the counters whose sums differ.
    pub(super) fn compare(&self, attempts: &Attempts) -> (Sums, Vec<Counter>) {
        let mut differing = Vec::new();
        // Spark does not log a sum of spilled bytes that is zero, but every stage has some run time. Other sums may be missing
        // in healthy logs.
        let mut known = self.values.iter().zip(&SUMMED).filter(|(value, _)| value.is_some());
        let unlogged = known.any(|(_, (_, counter))| *counter == Counter::ExecutorRunTime).then_some(0);
        for ((_, counter), total) in SUMMED.iter().zip(self.values) {
            // Unreadable counters are reported elsewhere.
            let of_spill = matches!(counter, Counter::MemoryBytesSpilled | Counter::DiskBytesSpilled);
            let total = total.or(unlogged.filter(|_| of_spill));
            let total = total.filter(|_| !attempts.any_unreadable().has(*counter));
            let Some(total) = total.map(i128::from) else { continue };
            let sum = attempts.sum_of_values(*counter).unwrap_or_default();
            if *counter == Counter::ExecutorRunTime && sum < total {
                return (Sums::FallShort, Vec::new());
            }
            if sum != total {
                differing.push(*counter);
            }
        }
        (if differing.is_empty() { Sums::Agree } else { Sums::Differ }, differing)
    }
}
