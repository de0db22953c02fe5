//! The failed attempts of a stage, by cause.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::losses::{exclusions, shown};
use crate::spark::support::failed_places::FailedPlaces;
use crate::spark::support::stage_text::{cause, first_line};
use elephant_base::severity::Severity;
use elephant_base::units::three_digits;
use elephant_model::model::Application;
use elephant_model::model::spark::{Spark, Stage};
use elephant_model::model::table::{EndReason, Outcome, TaskGroup};
use elephant_rule::finding::{Measure, Phrase};
use elephant_rule::wording::percent;

// How often failed tasks failed, if not once each.
const OF_ONE_TASK: &str = " {times}";
const OF_SEVERAL_TASKS: &str = ", {times} in total";

// What the limits are compared with. A task that failed several times counts several times, so with retries it is no share
// of the tasks.
const SHARE: &str = ", {share}";
const PER_HUNDRED: &str = ", or {failures} failures for 100 tasks";

/// Where most of several failures happened.
const ON_NODE: &str = "{count} of them on {host}";
const ON_EXECUTOR: &str = "{count} of them on executor {id}[ on {host}]";

/// Failures with one cause.
const KIND: &str = "{count} {kind}";

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

    /// To follow the number of failures.
    pub(super) const fn words(self) -> &'static str {
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
    /// The same, with those that a later attempt of the stage completed.
    pub(super) completed: u64,
    /// The number of failed attempts.
    pub(super) failed: u64,
    kinds: BTreeMap<Kind, u64>,
    /// The most frequent message, and its count.
    pub(super) most_frequent: Option<(String, u64)>,
    pub(super) places: FailedPlaces,
}

impl Failures {
    pub(super) fn of(app: &Application, group: &TaskGroup) -> Self {
        let attempts = &group.attempts;
        let failed = |row: &usize| attempts.outcome(*row) == Outcome::Failed;
        let mut kinds = BTreeMap::new();
        for row in (0..attempts.len()).filter(failed) {
            *kinds.entry(Kind::of(attempts.end_reason(row))).or_insert(0) += 1;
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
        let done = group.count_tasks(Outcome::Succeeded);
        Self {
            done,
            completed: done,
            failed: kinds.values().sum(),
            kinds,
            most_frequent: most,
            places: FailedPlaces::of([group]),
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

    /// How often the failed tasks failed; empty if each of them failed once.
    pub(super) fn repeats(&self) -> Phrase {
        let template = match (self.failed, self.places.failed_tasks) {
            (attempts, failed) if attempts == failed => return Phrase::default(),
            (_, 1) => OF_ONE_TASK,
            _ => OF_SEVERAL_TASKS,
        };
        Phrase::new(template, &[("times", &times(self.failed))])
    }

    /// The failed attempts as a share of the stage's tasks.
    pub(super) fn share(&self, tasks: u64) -> Phrase {
        let share = self.failed as f64 / tasks as f64;
        let template = if self.failed == self.places.failed_tasks { SHARE } else { PER_HUNDRED };
        Phrase::new(template, &[("share", &percent(share)), ("failures", &three_digits(100.0 * share))])
    }

    /// "3 out of memory, 1 by an exception".
    pub(super) fn by_kind(&self) -> Phrase {
        let kinds = self.kinds().into_iter();
        Phrase::list(
            ", ",
            kinds.map(|(kind, count)| Phrase::new(KIND, &[("count", &count), ("kind", &kind.words())])),
        )
    }

    /// The most frequent message, unless it only repeats the cause.
    pub(super) fn informative_error(&self) -> Option<&str> {
        let (error, _) = self.most_frequent.as_ref()?;
        (!error.ends_with("FetchFailedException")).then_some(error)
    }

    /// The node, or its executor, on which most attempts failed; empty if there is none.
    pub(super) fn place(&self, app: &Application, spark: &Spark) -> Phrase {
        let node = self.places.nodes.worst(app);
        match (node, self.places.executors.worst(app)) {
            (Some((host, count)), executor) if executor.is_none_or(|(_, fewer)| fewer < count) => {
                Phrase::new(ON_NODE, &[("count", &count), ("host", &host)])
            }
            (_, Some((id, count))) => {
                let hosts = spark.executors_with_id(id).iter().filter_map(|executor| executor.host);
                let host = hosts.filter_map(|host| app.strings.get(host)).min();
                let words: [(_, &dyn std::fmt::Display); 3] =
                    [("count", &count), ("id", &id), ("host", &host.unwrap_or_default())];
                Phrase::new(ON_EXECUTOR, &words)
            }
            _ => Phrase::default(),
        }
    }

    /// The nodes and executors that Spark excluded and on which attempts failed.
    pub(super) fn exclusions(&self, app: &Application, spark: &Spark) -> Phrase {
        let of_node = |host: &str| self.places.nodes.has_failures(app, host);
        let of_executor = |id: &str| self.places.executors.has_failures(app, id);
        shown(exclusions(app, spark, of_node, of_executor))
    }

    pub(super) fn evidence(
        &self,
        app: &Application,
        tasks: u64,
        stage: &Stage,
    ) -> Vec<(&'static str, Measure)> {
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
        let failure = stage.failure.as_deref().map(first_line);
        evidence.extend(failure.map(|text| ("stage_failure_text", Measure::Text(text))));
        if let Some((host, failures)) = self.places.nodes.worst(app) {
            evidence.push(("worst_host_text", Measure::Text(host.to_owned())));
            evidence.push(("worst_host_failed_count", Measure::Count(failures)));
        }
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
            completed: done,
            failed: count,
            kinds: BTreeMap::from([(Kind::OutOfMemory, count)]),
            most_frequent: None,
            places: FailedPlaces::default(),
        };
        assert_eq!(failures(3, 2).dr_elephant_severity(), Severity::None);
        assert_eq!(failures(3, 3).dr_elephant_severity(), Severity::Critical);
        assert_eq!(failures(0, 3).dr_elephant_severity(), Severity::None);
    }
}
