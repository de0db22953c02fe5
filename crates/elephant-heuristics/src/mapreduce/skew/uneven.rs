//! Data that is very uneven, but costs little time so far.

use super::limits::Limit;
use super::{Job, Role, Side, Skew};
use crate::mapreduce::support::counters::{MissingCounters, counter, input_bytes};
use elephant_base::severity::Severity;
use elephant_base::stats::split::TwoGroups;
use elephant_base::units::three_digits;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;

/// What the limit is on, for readers.
const UNEVEN: &str = "uneven data";

impl Skew {
    /// Notes uneven data of which the time lost shows nothing: by bytes, and by records.
    pub(super) fn noted(&self, job: Job<'_>, role: Role, side: Side) -> Side {
        self.unused(job.1, role, self.uneven(job.0, side))
    }

    fn uneven(&self, app: &Application, side: Side) -> Side {
        let TwoGroups { small, large, .. } = side.groups;
        let bytes = large.mean as f64;
        if side.severity > Severity::None || small.count == 0 || bytes < self.uneven_bytes.get() {
            return side;
        }
        let ratio = bytes / small.mean.max(1) as f64;
        let share = bytes / most_data(app).max(1) as f64;
        let severity = self.uneven_ratio.severity(ratio).min(self.uneven_share.severity(share));
        let show = |ratio: f64| format!("{}×", three_digits(ratio));
        match Limit::of(UNEVEN, &self.uneven_ratio, (severity, ratio), show) {
            Some(limit) if severity > Severity::None => {
                let limits = std::iter::once(limit).chain(side.limits).collect();
                Side { severity, limits, ..side }
            }
            _ => side,
        }
    }
}

impl Side {
    /// Whether it is only noted.
    pub(super) fn is_noted(&self) -> bool {
        self.limits.first().is_some_and(|limit| limit.name == UNEVEN)
    }
}

/// The most bytes that all tasks of a kind read.
fn most_data(app: &Application) -> i128 {
    let of_role = |role: Role| -> i128 {
        let Some(group) = app.group(role.kind()) else { return 0 };
        let bytes = |row| match role {
            Role::Map => input_bytes(group, row, MissingCounters::Unknown),
            Role::Reduce => counter(group, row, Counter::ReduceShuffleBytes, MissingCounters::Unknown),
        };
        group.winners().filter_map(bytes).map(i128::from).sum()
    };
    of_role(Role::Map).max(of_role(Role::Reduce))
}

#[cfg(test)]
mod tests {
    use elephant_base::severity::Severity;
    use elephant_model::model::counters::Counter;
    use elephant_model::model::table::TaskKind;
    use elephant_rule::finding::Finding;

    /// Four reduce tasks that read these bytes in the same time.
    fn found(bytes: [i64; 4], dr_elephant: bool) -> Finding {
        let mut group = elephant_sample::tasks(TaskKind::Reduce, [(0, Some(2)); 4]);
        for (row, bytes) in bytes.into_iter().enumerate() {
            group.attempts.set_counter(row, Counter::ReduceShuffleBytes, Some(bytes));
        }
        elephant_sample::evaluate(&elephant_sample::job(vec![group], &[]), "reducer-skew", dr_elephant)
            .findings
            .remove(0)
    }

    #[test]
    fn very_uneven_data_is_noted_although_it_costs_little() {
        let noted = found([400 << 10, 400 << 10, 15 << 20, 400 << 10], false);
        assert_eq!(
            (noted.severity, noted.message.as_str()),
            (
                Severity::Low,
                "3 reduce tasks read 400 KiB each, 1 reads 15 MiB: 38.4×, but costs little time (low from 16×)"
            )
        );
        assert!(noted.advice.first().is_some_and(|advice| advice.text.contains("key")), "{:?}", noted.advice);
    }

    #[test]
    fn small_data_and_small_ratios_are_not_noted() {
        for bytes in [[400, 400, 15 << 10, 400], [1 << 20, 1 << 20, 15 << 20, 1 << 20]] {
            assert_eq!(found(bytes, false).severity, Severity::None);
        }
        assert_eq!(found([400 << 10, 400 << 10, 15 << 20, 400 << 10], true).severity, Severity::None);
    }
}
