//! Long tasks that read far more records than the others: skew, even if they read as many bytes.

use super::advice::key_advice;
use super::{Job, Skew, Skewness, input};
use crate::mapreduce::support::role::Role;
use elephant_base::severity::Severity;
use elephant_base::stats::descriptive::mean;
use elephant_base::units::three_digits;
use elephant_model::model::counters::Counter;
use elephant_rule::finding::{Advice, Measure};

/// Mean records of the tasks that run long, and of the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MoreRecords {
    long: f64,
    others: f64,
}

impl Role {
    /// The records that a task of this kind reads.
    const fn records(self) -> Counter {
        match self {
            Self::Map => Counter::MapInputRecords,
            Self::Reduce => Counter::ReduceInputRecords,
        }
    }
}

impl MoreRecords {
    /// `None` unless tasks of at least `pivot` milliseconds read so many more records than the others that it is skew.
    pub(super) fn of(role: Role, params: &Skew, job: Job<'_>, pivot: i64) -> Option<Self> {
        let (_, group, run_times) = job;
        let (mut long, mut others) = (Vec::new(), Vec::new());
        for row in group.winners() {
            let Some(records) = group.attempts.total(row, &[role.records()]) else { continue };
            let Some(time) = run_times.of_attempt(group, row) else { continue };
            if time >= pivot { &mut long } else { &mut others }.push(records as f64);
        }
        let found = Self { long: mean(&long)?, others: mean(&others)?.max(1.0) };
        let more = (found.long - found.others) / found.others;
        (params.deviation.severity(more.floor()) > Severity::None).then_some(found)
    }

    /// "40×".
    pub(super) fn ratio(self) -> String {
        format!("{}×", three_digits(self.long / self.others))
    }

    pub(super) fn facts(self) -> [(&'static str, Measure); 1] {
        [("records_ratio", Measure::Ratio(Some(self.long / self.others)))]
    }
}

impl Skewness {
    /// What to do about tasks that read more records in about as many bytes. Smaller splits divide the other map tasks,
    /// too, so they are no remedy.
    pub(super) fn records_advice(&self, job: Job<'_>, records: MoreRecords) -> Vec<Advice> {
        let Self(role, _, _) = self;
        match role {
            Role::Map => vec![input::against(job.0).unwrap_or_else(|| {
                format!(
                    "the long map tasks read {} as many records as the others, in about as many bytes: spread these records \
                     over more files when they are written, or do less work per record",
                    records.ratio()
                )
                .into()
            })],
            Role::Reduce => key_advice(job.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::table::TaskKind;
    use elephant_rule::finding::{Finding, TroubleKind};

    /// Nineteen tasks of 30 s, and one of 25 min that reads this many times the records, in as many bytes.
    fn found(kind: TaskKind, times: i64) -> Finding {
        let all = (0..20).map(|number| (0, Some(if number == 7 { 1500 } else { 30 })));
        let mut group = elephant_sample::tasks(kind, all);
        for row in 0..20 {
            let records = Some(if row == 7 { 1000 * times } else { 1000 });
            for (counter, value) in [
                (Counter::HdfsBytesRead, Some(100 << 20)),
                (Counter::ReduceShuffleBytes, Some(100 << 20)),
                (Counter::MapInputRecords, records),
                (Counter::ReduceInputRecords, records),
            ] {
                group.attempts.set_counter(row, counter, value);
            }
        }
        let rule = if kind == TaskKind::Map { "mapper-skew" } else { "reducer-skew" };
        let findings =
            elephant_sample::evaluate(&elephant_sample::job(vec![group], &[]), rule, false).findings;
        findings.into_iter().next().unwrap()
    }

    #[test]
    fn more_records_are_skew_as_more_bytes_are() {
        let reduces = found(TaskKind::Reduce, 40);
        assert_eq!(reduces.tells, TroubleKind::Skew);
        assert!(reduces.message.contains("50×, with 40× the records"), "{}", reduces.message);
        assert!(reduces.advice[0].text.starts_with("distribute the frequent keys"), "{:?}", reduces.advice);
        let maps = found(TaskKind::Map, 40);
        assert_eq!(maps.tells, TroubleKind::Skew);
        assert!(
            maps.advice[0].text.starts_with("the long map tasks read 40× as many records"),
            "{:?}",
            maps.advice
        );
        // As many records, or few more: nothing about the input explains the time.
        let same = found(TaskKind::Reduce, 1);
        assert_eq!(same.tells, TroubleKind::Stragglers);
        assert!(same.advice[0].text.contains("read no more than the others"), "{:?}", same.advice);
    }
}
