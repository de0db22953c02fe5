//! The cut-offs of rules in a histogram, and the values that they are compared with.

use elephant_base::severity::Severity;
use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis};
use elephant_rule::finding::{ComparedWith, Condition, Finding, Measured, Subject, Threshold};

/// The tasks that a mean covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub enum MeanOf {
    /// All tasks.
    Tasks,
    /// The tasks of the large group.
    LargeGroup,
    /// The task with the largest value.
    Largest,
}

/// A cut-off of a rule.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct Limit {
    /// The rule.
    pub rule: String,
    /// The severity of a value that passes the cut-off.
    pub severity: Severity,
    /// The mean that the cut-off applies to.
    pub of: MeanOf,
    /// Whether means at or above it pass it, rather than means at or below it.
    pub is_upper: bool,
    /// The cut-off.
    pub value: u64,
    /// The mean that is compared with it.
    pub mean: u64,
    /// The rule's result for the phase, if it contradicts the mean: no finding although the mean passes the
    /// cut-off, or a finding although the mean does not. `None` if they agree, or if the other conditions are
    /// known.
    pub contrary: Option<String>,
    /// The other conditions of the rule.
    pub conditions: Vec<Condition>,
}

impl Limit {
    /// Whether the mean passes the cut-off. A rule may have other conditions, too.
    #[must_use]
    pub const fn holds(&self) -> bool {
        if self.is_upper { self.mean >= self.value } else { self.mean <= self.value }
    }
}

/// The means that limits are compared with.
pub(super) struct Means {
    pub(super) all: u64,
    /// The means of the small and the large group.
    pub(super) groups: Option<(u64, u64)>,
    pub(super) median: u64,
    pub(super) largest: u64,
}

impl Means {
    /// The limits of findings about the phase, and whether they are passed.
    pub(super) fn limits(
        &self,
        subject: &Subject,
        measured: Measured,
        findings: &[Finding],
    ) -> Vec<(Limit, bool)> {
        let about = findings.iter().filter(|finding| finding.subject == *subject);
        let thresholds = about.flat_map(|finding| finding.thresholds.iter().map(move |one| (finding, one)));
        thresholds.filter_map(|(finding, threshold)| self.limit(measured, finding, threshold)).collect()
    }

    fn limit(&self, measured: Measured, finding: &Finding, threshold: &Threshold) -> Option<(Limit, bool)> {
        let severity = finding.severity.max(Severity::Low);
        let place = usize::try_from(severity.value()).ok()?.checked_sub(1)?;
        let cutoff = *threshold.cutoffs.get(place)?;
        let [low, .., critical] = threshold.cutoffs;
        let is_upper = low <= critical;
        let charted = finding.rule_facts.chart_limits.iter().find(|limit| limit.key == threshold.key)?;
        let (of, value, mean) = match (charted.compared_with, self.groups) {
            (ComparedWith::MeanRunTime, _) if measured == Measured::RunTime => {
                (MeanOf::Tasks, Millis::from_f64(cutoff)?.get(), self.all)
            }
            // Skew: the distance of the two means, as a multiple of the small group's mean.
            (ComparedWith::GroupDeviation, Some((small, large))) => {
                let value = Millis::from_f64((cutoff + 1.0) * small.max(1) as f64)?.get();
                (MeanOf::LargeGroup, value, large)
            }
            (ComparedWith::LargestByMedian, _) if measured == Measured::Bytes => {
                (MeanOf::Largest, Bytes::from_f64(cutoff * self.median as f64)?.get(), self.largest)
            }
            _ => return None,
        };
        let rule = finding.rule.to_string();
        let about = |other: &&Condition| other.limit == threshold.key && other.of == measured;
        let conditions: Vec<Condition> = finding.conditions.iter().filter(about).cloned().collect();
        // The rule may have found the task by its time, or by other data that the tasks read.
        if of == MeanOf::Largest && (conditions.is_empty() || mean < value) {
            return None;
        }
        let limit = Limit { rule, severity, of, is_upper, value, mean, contrary: None, conditions };
        let (holds, found) = (limit.holds(), finding.severity > Severity::None);
        let contrary = holds != found && finding.conditions.is_empty();
        let contrary = contrary.then(|| finding.message.clone());
        Some((Limit { contrary, ..limit }, holds && found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_says_whether_its_condition_holds() {
        let limit = |is_upper, mean| Limit {
            rule: "mapper-time".to_owned(),
            severity: Severity::Low,
            of: MeanOf::Tasks,
            is_upper,
            value: 10,
            mean,
            contrary: None,
            conditions: Vec::new(),
        };
        assert!(limit(true, 10).holds() && !limit(true, 9).holds());
        assert!(limit(false, 10).holds() && !limit(false, 11).holds());
    }
}
