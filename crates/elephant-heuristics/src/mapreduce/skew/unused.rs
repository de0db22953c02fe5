//! Reduce tasks with few of the records, as Hadoop Vaidya counts them ("balanced reduce partitioning").

use super::limits::Limit;
use super::{Role, Side, Skew};
use crate::mapreduce::support::counters::{MissingCounters, counter, is_unreadable};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::TaskGroup;
use elephant_rule::wording::percent;

/// What the limit is on, for readers.
const UNUSED: &str = "reduce tasks with few records";

impl Skew {
    /// The side with the severity of reduce tasks that have few records, if that is higher.
    pub(super) fn unused(&self, group: &TaskGroup, role: Role, side: Side) -> Side {
        let has_data = side.groups.large.count > 0;
        let share = (role == Role::Reduce && has_data).then(|| unused(group, self.busy_records.get()));
        let Some(share) = share.flatten() else { return side };
        let severity = self.unused_reduces.severity(share);
        if severity <= side.severity {
            return side;
        }
        let others = percent(1.0 - self.busy_records.get());
        let show =
            |share: f64| format!("{} of the reduce tasks with {others} of the records", percent(share));
        let limit = Limit::of(UNUSED, &self.unused_reduces, (severity, share), show);
        Side { severity, limits: limit.into_iter().chain(side.limits).collect(), ..side }
    }
}

impl Side {
    /// The limit in brackets if this is what is told, although all tasks may have as much data.
    pub(super) fn limit_of_unused(&self) -> String {
        let is_told = self.limits.first().is_some_and(|limit| limit.name == UNUSED);
        if is_told { self.limit() } else { String::new() }
    }
}

/// The share of reduce tasks that is not needed for this share of all records. `None` if the records are unknown or zero.
fn unused(group: &TaskGroup, busy: f64) -> Option<f64> {
    if is_unreadable(group, &[Counter::ReduceInputRecords]) {
        return None;
    }
    let records =
        |row| counter(group, row, Counter::ReduceInputRecords, MissingCounters::Unknown).map(i128::from);
    share_unused(group.winners().filter_map(records).collect(), busy)
}

fn share_unused(mut records: Vec<i128>, busy: f64) -> Option<f64> {
    let all: i128 = records.iter().sum();
    if all <= 0 {
        return None;
    }
    records.sort_unstable_by(|a, b| b.cmp(a));
    let enough = busy * all as f64;
    let sums = records.iter().scan(0, |sum: &mut i128, records| {
        *sum += records;
        Some(*sum)
    });
    // The tasks whose sum falls short, and the one that completes it.
    let short = sums.take_while(|sum| (*sum as f64) < enough).count();
    let needed = (short + 1).min(records.len());
    Some((records.len() - needed) as f64 / records.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::severity::Severity;
    use elephant_model::model::table::TaskKind;
    use elephant_rule::finding::Finding;
    use proptest::prelude::*;

    fn found(records: &[i64], parameters: &str) -> Finding {
        let mut group = elephant_sample::tasks(TaskKind::Reduce, records.iter().map(|_| (0, Some(60))));
        for (row, records) in records.iter().enumerate() {
            group.attempts.set_counter(row, Counter::ReduceInputRecords, Some(*records));
            group.attempts.set_counter(row, Counter::ReduceShuffleBytes, Some(1 << 20));
        }
        let job = elephant_sample::job(vec![group], &[]);
        elephant_sample::evaluate_with(&job, "reducer-skew", parameters).findings.remove(0)
    }

    #[test]
    fn reduce_tasks_with_few_records_are_told_where_it_is_asked_for() {
        let records = [500, 400, 30, 30, 30, 10];
        let told = found(&records, "unused_reduces: [20%, 40%, 60%, 80%]");
        assert_eq!(told.severity, Severity::Severe);
        assert_eq!(
            told.message,
            "6 reduce tasks read 1 MiB each (severe from 60 % of the reduce tasks with 15 % of the records)"
        );
        assert!(!told.advice.is_empty());
        assert_eq!(found(&records, "").severity, Severity::None);
    }

    #[test]
    fn even_work_has_no_unused_tasks() {
        assert_eq!(share_unused(vec![5], 0.85), Some(0.0));
        assert_eq!(share_unused(vec![5, 5], 0.85), Some(0.0));
        assert_eq!(share_unused(vec![1; 100], 0.85), Some(0.15));
        assert_eq!(share_unused(vec![10, 0, 0, 0], 0.85), Some(0.75));
        // All of the records.
        assert_eq!(share_unused(vec![10, 0], 1.0), Some(0.5));
        assert_eq!(share_unused(vec![3, 3], 2.0), Some(0.0));
    }

    #[test]
    fn without_records_nothing_is_known() {
        assert_eq!(share_unused(Vec::new(), 0.85), None);
        assert_eq!(share_unused(vec![0, 0], 0.85), None);
        let group = elephant_sample::tasks(TaskKind::Reduce, [(0, Some(60))]);
        assert_eq!(unused(&group, 0.85), None);
    }

    /// The fewest tasks whose records are `percent` of all, by trying every number of them.
    fn fewest(records: &[i128], percent: i128) -> usize {
        let all: i128 = records.iter().sum();
        let of_largest = |count: usize| {
            let mut rest = records.to_vec();
            let mut taken = 0;
            for _ in 0..count {
                let largest = (0..rest.len()).max_by_key(|&place| rest[place]).unwrap();
                taken += rest.swap_remove(largest);
            }
            taken
        };
        (1..=records.len()).find(|&count| 100 * of_largest(count) >= percent * all).unwrap()
    }

    proptest! {
        #[test]
        fn a_search_finds_as_many(records in prop::collection::vec(0i128..1000, 1..25)) {
            prop_assume!(records.iter().sum::<i128>() > 0);
            let share = share_unused(records.clone(), 0.75).unwrap();
            let expected = (records.len() - fewest(&records, 75)) as f64 / records.len() as f64;
            prop_assert_eq!(Some(share), Some(expected));
        }
    }
}
