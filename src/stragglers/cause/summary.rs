//! Frequency of each cause.

use std::fmt;

use super::{Cause, Confidence, StragglerCause};

/// Stragglers by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CauseCounts {
    /// By primary cause, in the order of [`Cause::ALL`]. Each straggler has one, so these add up to the
    /// number of stragglers, as the columns of S2's table 3 do.
    pub primary: [u64; Cause::ALL.len()],
    /// Stragglers with any evidence for the cause; one straggler may count for several causes.
    pub evidence: [u64; Cause::ALL.len()],
    /// In sums over applications: the applications with such stragglers.
    pub applications: [u64; Cause::ALL.len()],
    /// Primary causes by their confidence, both in the order of `ALL`.
    pub by_confidence: [[u64; Confidence::ALL.len()]; Cause::ALL.len()],
}

/// How certain a cause is for several stragglers: `inferred`, or `2 measured, 1 weak`. Empty without any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Confidences([u64; Confidence::ALL.len()]);

impl Confidences {
    /// Counts of the levels, the most certain first, without those that do not occur.
    pub(crate) fn counts(self) -> impl Iterator<Item = (Confidence, u64)> {
        let counts = Confidence::ALL.into_iter().zip(self.0);
        counts.rev().filter(|&(_, count)| count > 0)
    }
}

impl fmt::Display for Confidences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let only = self.counts().count() == 1;
        for (place, (confidence, count)) in self.counts().enumerate() {
            let separator = if place > 0 { ", " } else { "" };
            if only {
                f.write_str(confidence.name())?;
            } else {
                write!(f, "{separator}{count} {}", confidence.name())?;
            }
        }
        Ok(())
    }
}

impl CauseCounts {
    /// Adds stragglers.
    pub(crate) fn add<'a>(&mut self, stragglers: impl IntoIterator<Item = &'a StragglerCause>) {
        for straggler in stragglers {
            let columns = self.primary.iter_mut().zip(&mut self.evidence).zip(&mut self.by_confidence);
            for (cause, ((primary, evidence), by_confidence)) in Cause::ALL.into_iter().zip(columns) {
                *evidence += u64::from(straggler.evidence.iter().any(|evidence| evidence.cause == cause));
                if straggler.primary != cause {
                    continue;
                }
                *primary += 1;
                for (confidence, count) in Confidence::ALL.into_iter().zip(by_confidence) {
                    *count += u64::from(straggler.confidence == Some(confidence));
                }
            }
        }
    }

    /// Adds the counts of another application.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (sum, primary) in self.applications.iter_mut().zip(other.primary) {
            *sum += u64::from(primary > 0);
        }
        let sums = self.primary.iter_mut().chain(&mut self.evidence);
        let counts = other.primary.iter().chain(&other.evidence);
        let sums = sums.chain(self.by_confidence.iter_mut().flatten());
        for (sum, count) in sums.zip(counts.chain(other.by_confidence.iter().flatten())) {
            *sum += count;
        }
    }

    /// How many stragglers have this primary cause.
    #[must_use]
    pub(crate) fn count(&self, cause: Cause) -> u64 {
        let mut causes = Cause::ALL.into_iter().zip(self.primary);
        causes.find(|(it, _)| *it == cause).map_or(0, |(_, count)| count)
    }

    /// In how many of the added applications it is a primary cause.
    #[must_use]
    pub(crate) fn applications_with(&self, cause: Cause) -> u64 {
        let mut causes = Cause::ALL.into_iter().zip(self.applications);
        causes.find(|(it, _)| *it == cause).map_or(0, |(_, count)| count)
    }

    /// How certain a primary cause is.
    #[must_use]
    pub(crate) fn confidence(&self, cause: Cause) -> Confidences {
        let mut causes = Cause::ALL.into_iter().zip(self.by_confidence);
        Confidences(causes.find(|(it, _)| *it == cause).map(|(_, counts)| counts).unwrap_or_default())
    }

    /// How many stragglers were counted.
    #[must_use]
    pub(crate) fn stragglers(&self) -> u64 {
        self.primary.iter().sum()
    }

    /// Each primary cause with its count and its percentage, in the order of [`Cause::ALL`]; the percentage
    /// is `None` if there are no stragglers.
    pub(crate) fn shares(&self) -> impl Iterator<Item = (Cause, u64, Option<f64>)> + '_ {
        let shares = shares_percent(&self.primary);
        Cause::ALL
            .into_iter()
            .zip(self.primary)
            .zip(shares)
            .map(|((cause, count), share)| (cause, count, share))
    }
}

/// Each count as a percentage of their sum; `None` if the sum is zero.
#[must_use]
pub(crate) fn shares_percent(counts: &[u64]) -> Vec<Option<f64>> {
    let sum: u64 = counts.iter().sum();
    counts.iter().map(|&count| (sum > 0).then(|| 100.0 * count as f64 / sum as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_nothing_are_unknown() {
        assert!(CauseCounts::default().shares().all(|(_, count, share)| count == 0 && share.is_none()));
    }

    #[test]
    fn primary_causes_add_up() {
        let straggler = |primary, confidence| StragglerCause {
            task: 0,
            attempt: 0,
            primary,
            confidence,
            evidence: Vec::new(),
        };
        let (measured, weak) = (Some(Confidence::Measured), Some(Confidence::Weak));
        let stragglers = [
            straggler(Cause::Gc, measured),
            straggler(Cause::Gc, weak),
            straggler(Cause::Disk, weak),
            straggler(Cause::Unexplained, None),
        ];
        let mut counts = CauseCounts::default();
        counts.add(&stragglers);
        let mut twice = counts;
        twice.merge(&counts);
        assert_eq!((counts.stragglers(), twice.stragglers()), (4, 8));
        let gc = counts.shares().find(|(cause, ..)| *cause == Cause::Gc);
        assert_eq!(gc, Some((Cause::Gc, 2, Some(50.0))));
        assert_eq!(twice.confidence(Cause::Gc).to_string(), "2 measured, 2 weak");
        assert_eq!((twice.applications_with(Cause::Gc), twice.applications_with(Cause::Cpu)), (1, 0));
        assert_eq!(twice.confidence(Cause::Disk).to_string(), "weak");
        assert_eq!(twice.confidence(Cause::Unexplained).to_string(), "");
    }
}
