//! Frequency of each cause.

use std::cmp::Reverse;
use std::fmt;

use super::{Cause, Confidence, StragglerCause};

use elephant_base::state::State;

/// Stragglers by cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct CauseCounts {
    /// In the order of [`Cause::ALL`].
    pub causes: [CauseCount; Cause::ALL.len()],
}

/// The stragglers with one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct CauseCount {
    /// The cause.
    pub cause: Cause,
    /// Stragglers whose primary cause this is. Each straggler has one, so these counts add up to the number
    /// of stragglers, as the columns of S2's table 3 do.
    pub primary: u64,
    /// Stragglers with any evidence for it; one straggler may count for several causes.
    pub evidence: u64,
    /// In sums over applications: the number of applications with stragglers whose primary cause this is.
    pub applications: u64,
    /// Primary causes by their confidence, in the order of [`Confidence::ALL`].
    pub by_confidence: [u64; Confidence::ALL.len()],
}

impl Default for CauseCounts {
    fn default() -> Self {
        let none = |cause| CauseCount {
            cause,
            primary: 0,
            evidence: 0,
            applications: 0,
            by_confidence: Default::default(),
        };
        Self { causes: Cause::ALL.map(none) }
    }
}

/// The confidence of a cause over several stragglers: `inferred`, or `2 measured, 1 weak`; empty if there are
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confidences([u64; Confidence::ALL.len()]);

impl Confidences {
    /// Counts of the levels, the most certain first, without those that do not occur.
    pub fn counts(self) -> impl Iterator<Item = (Confidence, u64)> {
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

#[doc(hidden)]
impl CauseCounts {
    /// Adds stragglers.
    pub fn add<'a>(&mut self, stragglers: impl IntoIterator<Item = &'a StragglerCause>) {
        for straggler in stragglers {
            for sum in &mut self.causes {
                let with_evidence = straggler.evidence.iter().any(|evidence| evidence.cause == sum.cause);
                sum.evidence += u64::from(with_evidence);
                if straggler.primary != sum.cause {
                    continue;
                }
                sum.primary += 1;
                for (confidence, count) in Confidence::ALL.into_iter().zip(&mut sum.by_confidence) {
                    *count += u64::from(straggler.confidence == Some(confidence));
                }
            }
        }
    }

    /// Adds the counts of another application.
    pub fn merge(&mut self, other: &Self) {
        for (sum, other) in self.causes.iter_mut().zip(&other.causes) {
            sum.applications += u64::from(other.primary > 0);
            sum.primary += other.primary;
            sum.evidence += other.evidence;
            for (sum, count) in sum.by_confidence.iter_mut().zip(other.by_confidence) {
                *sum += count;
            }
        }
    }

    /// The counts of one cause.
    fn of(&self, cause: Cause) -> Option<&CauseCount> {
        self.causes.iter().find(|count| count.cause == cause)
    }

    /// How many stragglers have this primary cause.
    #[must_use]
    pub fn count(&self, cause: Cause) -> u64 {
        self.of(cause).map_or(0, |count| count.primary)
    }

    /// The primary causes that occur, with their percentages, most frequent first.
    #[must_use]
    pub fn by_frequency(&self) -> Vec<(CauseCount, f64)> {
        let occurring = self.shares().filter_map(|(count, share)| Some((*count, share?)));
        let mut occurring: Vec<_> = occurring.filter(|(count, _)| count.primary > 0).collect();
        occurring.sort_by_key(|(count, _)| (Reverse(count.primary), count.cause));
        occurring
    }

    /// How many stragglers were counted.
    #[must_use]
    pub fn stragglers(&self) -> u64 {
        self.causes.iter().map(|count| count.primary).sum()
    }

    /// Each cause with the percentage of stragglers that it is primary for, in the order of [`Cause::ALL`]; the
    /// percentage is `None` if there are no stragglers.
    pub fn shares(&self) -> impl Iterator<Item = (&CauseCount, Option<f64>)> {
        let shares = shares_percent(&self.causes.map(|count| count.primary));
        self.causes.iter().zip(shares)
    }
}

#[doc(hidden)]
impl CauseCount {
    /// The confidence of the primary cause, as counts of stragglers.
    #[must_use]
    pub const fn confidence(&self) -> Confidences {
        Confidences(self.by_confidence)
    }
}

/// Each count as a percentage of their sum; `None` if the sum is zero.
#[must_use]
pub fn shares_percent(counts: &[u64]) -> Vec<Option<f64>> {
    let sum: u64 = counts.iter().sum();
    counts.iter().map(|&count| (sum > 0).then(|| 100.0 * count as f64 / sum as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_nothing_are_unknown() {
        assert!(CauseCounts::default().shares().all(|(count, share)| count.primary == 0 && share.is_none()));
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
        let gc = counts.shares().find(|(count, _)| count.cause == Cause::Gc);
        assert_eq!(gc.map(|(count, share)| (count.primary, share)), Some((2, Some(50.0))));
        let of = |cause| *twice.of(cause).unwrap();
        assert_eq!(of(Cause::Gc).confidence().to_string(), "2 measured, 2 weak");
        assert_eq!((of(Cause::Gc).applications, of(Cause::Cpu).applications), (1, 0));
        assert_eq!(of(Cause::Disk).confidence().to_string(), "weak");
        assert_eq!(of(Cause::Unexplained).confidence().to_string(), "");
        assert_eq!(counts.by_frequency().first().map(|(count, _)| count.cause), Some(Cause::Gc));
        assert!(CauseCounts::default().by_frequency().is_empty());
    }
}
