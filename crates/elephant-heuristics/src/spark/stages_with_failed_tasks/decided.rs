//! The condition that decided how severe a stage is, with the share and the limit that it compared.

use super::failures::{Failures, Kind};
use super::{Counted, Failing};
use elephant_base::severity::Severity;
use elephant_rule::finding::Phrase;
use elephant_rule::wording::percent;

/// The limit of a stage that failed by its tasks.
const FAILED_STAGE: &str = "critical for a failed stage";
/// The limit of the share that the message contains anyway.
const OF_ALL: &str = "{limit}";
/// A limit that any failure of a kind passes.
const FOR_ANY: &str = "{severity} for any task {what}";
/// The share of failures of a kind, and its limit.
const OF_KIND: &str = "{count} {what} beside {done} completed tasks, {share}: {limit}";
/// The same if no task completed.
const NONE_DONE: &str = "{count} {what}, and no task completed: {limit}";

/// What decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decided {
    /// The stage failed by its tasks.
    FailedStage,
    /// The share of all failed attempts.
    All,
    /// The share of failures of this kind.
    Kind(Kind),
}

impl Failing {
    /// How severe the failures are by their shares, and the condition that is that severe. The share of all failures is
    /// what the message tells first, so it decides if both are.
    pub(super) fn by_share(&self, failures: &Failures, tasks: u64) -> (Severity, Decided) {
        let all = if self.count == Counted::Memory || tasks == 0 {
            Severity::None
        } else {
            let share = self.failure_share.severity(failures.failed as f64 / tasks as f64);
            share.min(self.failed_attempts.severity(failures.failed as f64))
        };
        let of_kind = |kind| (self.by_memory(failures, kind), Decided::Kind(kind));
        let kinds = [Kind::OutOfMemory, Kind::OverMemory].map(of_kind);
        kinds.into_iter().fold((all, Decided::All), |worst, next| if next.0 > worst.0 { next } else { worst })
    }

    fn by_memory(&self, failures: &Failures, kind: Kind) -> Severity {
        match failures.count(kind) {
            0 => Severity::None,
            // No task completed: the failures made the whole stage fail.
            count if failures.completed == 0 && self.count == Counted::All => {
                self.memory_share.severity(count as f64)
            }
            _ if failures.completed == 0 => Severity::None,
            count => self.memory_share.severity(count as f64 / failures.completed as f64),
        }
    }

    /// The limit that was passed, with the share if it is not the one of all failures of the stage.
    pub(super) fn limit(
        &self,
        (severity, decided): (Severity, Decided),
        (failures, tasks): (&Failures, u64),
    ) -> Phrase {
        let kind = match decided {
            Decided::FailedStage => return Phrase::new(FAILED_STAGE, &[]),
            Decided::All => {
                let limit = self.failure_share.describe_in(severity, percent);
                return Phrase::new(OF_ALL, &[("limit", &limit)]);
            }
            Decided::Kind(kind) => kind,
        };
        let (count, done) = (failures.count(kind), failures.completed);
        let template = match self.memory_share.cutoff(severity) {
            Some(limit) if limit <= 0.0 => FOR_ANY,
            _ if done == 0 => NONE_DONE,
            _ if (count, done) == (failures.failed, tasks) => OF_ALL,
            _ => OF_KIND,
        };
        let what = match kind {
            Kind::OverMemory => "over the memory limit of its container",
            _ => kind.words(),
        };
        let words: [(_, &dyn std::fmt::Display); 6] = [
            ("severity", &severity),
            ("limit", &self.memory_share.describe_in(severity, percent)),
            ("count", &count),
            ("what", &what),
            ("done", &done),
            ("share", &percent(count as f64 / done as f64)),
        ];
        Phrase::new(template, &words)
    }
}
