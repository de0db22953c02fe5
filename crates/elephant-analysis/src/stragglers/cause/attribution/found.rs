//! Collects the evidence on one straggler in rule order, and the observations that refute it.

use super::StragglerCause;
use crate::stragglers::cause::evidence::{Evidence, Fact};
use crate::stragglers::cause::{Cause, Confidence, Params};
use crate::stragglers::executions::Execution;

/// The evidence on one straggler.
pub(super) struct Found {
    /// Candidates for the primary cause, in rule order.
    pub(super) evidence: Vec<Evidence>,
    /// Evidence that cannot be the primary cause.
    pub(super) hints: Vec<Evidence>,
    /// Whether the task's duration is an estimate. Then no evidence counts as measured.
    pub(super) estimated: bool,
    /// Whether another attempt on another node was slow, too. Then no evidence about the node is a cause.
    pub(super) slow_elsewhere: bool,
    /// Whether other tasks on the node took as long as usual at the time. Then the task did not wait for others there.
    pub(super) usual_neighbours: bool,
    /// The seconds that the task lost.
    pub(super) delay: Option<f64>,
}

impl Found {
    pub(super) fn add(&mut self, cause: Cause, confidence: Confidence, fact: Fact) {
        let confidence = if self.estimated { confidence.min(Confidence::Inferred) } else { confidence };
        self.evidence.push(Evidence { cause, confidence, fact });
    }

    /// Evidence for a cause in the node.
    pub(super) fn add_of_node(&mut self, cause: Cause, confidence: Confidence, fact: Fact) {
        if self.slow_elsewhere {
            self.hint(cause, fact);
        } else {
            self.add(cause, confidence, fact);
        }
    }

    /// Evidence that the task waited for its node.
    pub(super) fn add_contention(&mut self, params: &Params, confidence: Confidence, fact: Fact) {
        // Refuted, and so not even weak evidence.
        if self.usual_neighbours {
            return;
        }
        if self.delay.is_some_and(|delay| delay < params.contention_seconds) {
            self.hint(Cause::Contention, fact);
        } else {
            self.add_of_node(Cause::Contention, confidence, fact);
        }
    }

    pub(super) fn hint(&mut self, cause: Cause, fact: Fact) {
        self.hints.push(Evidence { cause, confidence: Confidence::Weak, fact });
    }

    pub(super) fn into_cause(mut self, execution: &Execution) -> StragglerCause {
        let first = self.evidence.first().map(|first| (first.cause, first.confidence));
        let primary = first.map_or(Cause::Unexplained, |(cause, _)| cause);
        self.evidence.append(&mut self.hints);
        self.evidence.sort_by_key(|evidence| evidence.cause != primary);
        StragglerCause {
            task: execution.task(),
            attempt: execution.attempt(),
            primary,
            confidence: first.map(|(_, confidence)| confidence),
            evidence: self.evidence,
        }
    }
}
