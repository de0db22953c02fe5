//! The failed attempts of a stage, by cause.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Measure;
use crate::heuristics::spark::support::losses::lost_executors;
use crate::heuristics::spark::support::stage_text::cause;
use crate::heuristics::wording::plural;
use crate::model::Application;
use crate::model::spark::{Executor, Spark};
use crate::model::table::{EndReason, Outcome, TaskGroup};
use crate::severity::Severity;

/// The cause of a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    OutOfMemory,
    OverMemory,
    ExecutorLost,
    FetchFailed,
    Exception,
    Other,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::OutOfMemory,
        Self::OverMemory,
        Self::ExecutorLost,
        Self::FetchFailed,
        Self::Exception,
        Self::Other,
    ];

    const fn of(reason: Option<EndReason>) -> Self {
        match reason {
            Some(EndReason::OutOfMemory) => Self::OutOfMemory,
            Some(EndReason::ContainerOverMemory) => Self::OverMemory,
            Some(EndReason::ExecutorLost) => Self::ExecutorLost,
            Some(EndReason::FetchFailed) => Self::FetchFailed,
            Some(EndReason::Exception) => Self::Exception,
            _ => Self::Other,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::OutOfMemory => "out of memory",
            Self::OverMemory => "because their container exceeded its memory limit",
            Self::ExecutorLost => "with a lost executor",
            Self::FetchFailed => "because a shuffle fetch failed",
            Self::Exception => "by an exception",
            Self::Other => "for other reasons",
        }
    }

    const fn key(self) -> &'static str {
        match self {
            Self::OutOfMemory => "out_of_memory_count",
            Self::OverMemory => "container_kills_count",
            Self::ExecutorLost => "executor_lost_count",
            Self::FetchFailed => "fetch_failed_count",
            Self::Exception => "exceptions_count",
            Self::Other => "other_failures_count",
        }
    }
}

/// The failed attempts of a stage.
pub(super) struct Failures {
    /// The number of completed tasks.
    pub(super) done: u64,
    /// The number of failed attempts.
    pub(super) failed: u64,
    /// The number of tasks with a failed attempt.
    pub(super) failed_tasks: u64,
    kinds: BTreeMap<Kind, u64>,
    /// The most frequent message, and its count.
    pub(super) most_frequent: Option<(String, u64)>,
    /// Executors that attempts were lost with.
    executors: BTreeSet<String>,
}

impl Failures {
    pub(super) fn of(app: &Application, group: &TaskGroup) -> Self {
        let attempts = &group.attempts;
        let failed = |row: &usize| attempts.outcome(*row) == Outcome::Failed;
        let mut kinds = BTreeMap::new();
        let (mut executors, mut tasks) = (BTreeSet::new(), BTreeSet::new());
        for row in (0..attempts.len()).filter(failed) {
            let kind = Kind::of(attempts.end_reason(row));
            *kinds.entry(kind).or_insert(0) += 1;
            tasks.extend(attempts.task(row));
            let died = matches!(kind, Kind::ExecutorLost | Kind::OverMemory | Kind::OutOfMemory);
            let executor = attempts.executor(row).and_then(|id| app.strings.get(id)).filter(|_| died);
            executors.extend(executor.map(str::to_owned));
        }
        let mut messages: BTreeMap<String, u64> = BTreeMap::new();
        for (row, text) in attempts.diagnostics() {
            let row = usize::try_from(*row).unwrap_or(usize::MAX);
            if let Some(text) = app.strings.get(*text).filter(|_| failed(&row)) {
                *messages.entry(cause(text)).or_insert(0) += 1;
            }
        }
        messages.remove("");
        let most = messages.into_iter().max_by_key(|(text, count)| (*count, Reverse(text.clone())));
        Self {
            done: group.count_tasks(Outcome::Succeeded),
            failed: kinds.values().sum(),
            failed_tasks: tasks.len() as u64,
            kinds,
            most_frequent: most,
            executors,
        }
    }

    pub(super) fn count(&self, kind: Kind) -> u64 {
        self.kinds.get(&kind).copied().unwrap_or(0)
    }

    /// Dr. Elephant's severity of a failed stage, which compares whole numbers.
    pub(super) fn dr_elephant_severity(&self) -> Severity {
        let most = self.count(Kind::OutOfMemory).max(self.count(Kind::OverMemory));
        let critical = most.checked_div(self.done).is_some_and(|times| times > 0);
        if critical { Severity::Critical } else { Severity::None }
    }

    /// Most frequent first.
    pub(super) fn kinds(&self) -> Vec<(Kind, u64)> {
        let mut kinds: Vec<(Kind, u64)> = self.kinds.iter().map(|(kind, count)| (*kind, *count)).collect();
        kinds.sort_by_key(|(kind, count)| (Reverse(*count), *kind));
        kinds
    }

    /// "2 of 6 tasks failed", "1 of 4 tasks failed 4 times".
    pub(super) fn how_many(&self, tasks: u64) -> String {
        let of = format!("{} of {} failed", self.failed_tasks, plural(tasks, "task"));
        match (self.failed, self.failed_tasks) {
            (attempts, failed) if attempts == failed => of,
            (attempts, 1) => format!("{of} {}", times(attempts)),
            (attempts, _) => format!("{of}, {} in total", times(attempts)),
        }
    }

    /// Whether lost executors are among the causes.
    pub(super) fn has_lost_executors(&self) -> bool {
        self.count(Kind::ExecutorLost) + self.count(Kind::FetchFailed) > 0
    }

    /// The most frequent message, unless it only repeats the cause.
    pub(super) fn informative_error(&self) -> Option<&str> {
        let (error, _) = self.most_frequent.as_ref()?;
        (!error.ends_with("FetchFailedException")).then_some(error)
    }

    /// "3 out of memory", "1 by an exception".
    pub(super) fn by_kind(&self) -> Vec<String> {
        self.kinds().into_iter().map(|(kind, count)| format!("{count} {}", kind.words())).collect()
    }

    /// The lost executors on which attempts failed.
    pub(super) fn lost<'a>(&'a self, spark: &'a Spark) -> impl Iterator<Item = &'a Executor> {
        lost_executors(spark).map(|(executor, _)| executor).filter(|lost| self.executors.contains(&lost.id))
    }

    pub(super) fn evidence(&self, tasks: u64, failure: Option<String>) -> Vec<(&'static str, Measure)> {
        let mut evidence = vec![
            ("tasks_count", Measure::Count(tasks)),
            ("done_count", Measure::Count(self.done)),
            ("failed_attempts_count", Measure::Count(self.failed)),
        ];
        evidence.extend(Kind::ALL.map(|kind| (kind.key(), Measure::Count(self.count(kind)))));
        if let Some((text, count)) = &self.most_frequent {
            evidence.push(("most_frequent_error_text", Measure::Text(text.clone())));
            evidence.push(("most_frequent_error_count", Measure::Count(*count)));
        }
        evidence.extend(failure.map(|text| ("stage_failure_text", Measure::Text(text))));
        evidence
    }
}

fn times(count: u64) -> String {
    if count == 2 { "twice".to_owned() } else { format!("{count} times") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_stages_are_judged_by_whole_numbers() {
        let failures = |done, count| Failures {
            done,
            failed: count,
            failed_tasks: count,
            kinds: BTreeMap::from([(Kind::OutOfMemory, count)]),
            most_frequent: None,
            executors: BTreeSet::new(),
        };
        assert_eq!(failures(3, 2).dr_elephant_severity(), Severity::None);
        assert_eq!(failures(3, 3).dr_elephant_severity(), Severity::Critical);
        assert_eq!(failures(0, 3).dr_elephant_severity(), Severity::None);
    }
}
