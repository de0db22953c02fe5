//! Failed attempts: their number, causes and remedies.

use elephant_model::model::table::{EndReason, Outcome, TaskGroup};
use elephant_rule::finding::Phrase;
use elephant_rule::wording::percent;

/// The attempts of some tasks by outcome. Killed attempts are neither failures nor completed work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    /// The failed ones by reason, in the order of [`EndReason::ALL`].
    reasons: [u64; EndReason::ALL.len()],
}

impl Ends {
    /// The attempts of a group.
    pub(crate) fn of(group: &TaskGroup) -> Self {
        let mut ends = Self::default();
        for row in 0..group.attempts.len() {
            match group.attempts.outcome(row) {
                Outcome::Succeeded => ends.succeeded += 1,
                Outcome::Failed => ends.add_failure(group.attempts.end_reason(row)),
                Outcome::Killed | Outcome::Unfinished => {}
            }
        }
        ends
    }

    fn add_failure(&mut self, reason: Option<EndReason>) {
        self.failed += 1;
        let reason = reason.unwrap_or(EndReason::Other);
        if let Some(slot) =
            EndReason::ALL.iter().position(|&r| r == reason).and_then(|at| self.reasons.get_mut(at))
        {
            *slot += 1;
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        for (slot, more) in self.reasons.iter_mut().zip(other.reasons) {
            *slot += more;
        }
    }

    /// Attempts that ended by themselves.
    pub(crate) const fn ended(&self) -> u64 {
        self.succeeded + self.failed
    }

    /// Failed attempts as a share of all that ended by themselves; `None` if none did.
    pub(crate) fn failure_rate(&self) -> Option<f64> {
        (self.ended() > 0).then(|| self.failed as f64 / self.ended() as f64)
    }

    /// The most frequent reason of failures; of equally frequent ones, the first.
    pub(crate) fn main_reason(&self) -> Option<EndReason> {
        let counted = EndReason::ALL.into_iter().zip(self.reasons).rev();
        counted.filter(|(_, count)| *count > 0).max_by_key(|(_, count)| *count).map(|(reason, _)| reason)
    }
}

/// A reason in words, to follow "mostly because".
const fn words(reason: EndReason) -> &'static str {
    match reason {
        EndReason::OutOfMemory => "the heap was full",
        EndReason::FetchFailed => "shuffle data could not be fetched",
        EndReason::ExecutorLost => "the executor was lost",
        EndReason::ContainerOverMemory => "the container exceeded its memory limit",
        EndReason::CommitDenied => "another attempt had already committed",
        EndReason::ResultLost => "the result was lost",
        EndReason::Exception => "the code threw an exception",
        EndReason::Success | EndReason::Killed | EndReason::Other => "of other causes",
    }
}

/// "4 of 7 task attempts failed, 57.1 % (critical from 50 %), mostly because the heap was full". There is one
/// of the two limits.
const FAILED: &str = "{failed} of {ended} task attempts failed, {rate} ([{limit_of_rate}][{limit_of_number} failed])[, \
                      mostly because {reason}]";

/// The limit that decides about failed attempts.
pub(crate) enum Limit {
    /// The limit on the share of failed attempts.
    OfRate(String),
    /// The limit on the number of failed attempts.
    OfNumber(String),
}

/// The failed attempts in a message.
pub(crate) fn failed_attempts(ends: &Ends, limit: Limit) -> Phrase {
    let (of_rate, of_number) = match limit {
        Limit::OfRate(limit) => (limit, String::new()),
        Limit::OfNumber(limit) => (String::new(), limit),
    };
    Phrase::new(
        FAILED,
        &[
            ("failed", &ends.failed),
            ("ended", &ends.ended()),
            ("rate", &percent(ends.failure_rate().unwrap_or_default())),
            ("limit_of_rate", &of_rate),
            ("limit_of_number", &of_number),
            ("reason", &ends.main_reason().map(words).unwrap_or_default()),
        ],
    )
}

/// The remedy for failures of this reason, in short. The rule on stages with failed tasks gives it in
/// detail.
pub(crate) fn advice(reason: Option<EndReason>) -> Vec<String> {
    let line = match reason {
        None => "check in the driver's log why they failed",
        Some(EndReason::OutOfMemory) => {
            "give tasks more heap (`elephant-rs rules show spark-stages-with-failed-tasks`)"
        }
        Some(EndReason::ContainerOverMemory) => {
            "increase the memory overhead of containers (`elephant-rs rules show spark-stages-with-failed-tasks`)"
        }
        Some(EndReason::ExecutorLost | EndReason::FetchFailed | EndReason::ResultLost) => {
            "find out why executors were lost (`elephant-rs rules show spark-stages-with-failed-tasks`)"
        }
        Some(_) => "fix the error that the exception names",
    };
    vec![line.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_ended_attempts_there_is_no_rate() {
        assert_eq!(Ends::default().failure_rate(), None);
        assert_eq!(Ends::default().main_reason(), None);
    }

    #[test]
    fn the_main_reason_is_the_most_frequent_one() {
        let mut ends = Ends { succeeded: 6, ..Ends::default() };
        for reason in
            [Some(EndReason::Exception), Some(EndReason::OutOfMemory), None, Some(EndReason::OutOfMemory)]
        {
            ends.add_failure(reason);
        }
        assert_eq!(ends.main_reason(), Some(EndReason::OutOfMemory));
        assert_eq!(ends.failure_rate(), Some(0.4));
        let mut both = ends;
        both.add(&ends);
        assert_eq!((both.ended(), both.failed), (20, 8));
    }
}
