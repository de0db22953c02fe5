//! Frequency of each cause.

use super::{Cause, StragglerCause};

/// Stragglers by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CauseCounts {
    /// By primary cause, in the order of [`Cause::ALL`]. Each straggler has one, so these add up to the
    /// number of stragglers, as the columns of S2's table 3 do.
    pub primary: [u64; Cause::ALL.len()],
    /// Stragglers with any evidence for the cause; one straggler may count for several causes.
    pub evidence: [u64; Cause::ALL.len()],
}

impl CauseCounts {
    /// Adds stragglers.
    pub(crate) fn add<'a>(&mut self, stragglers: impl IntoIterator<Item = &'a StragglerCause>) {
        for straggler in stragglers {
            for ((cause, primary), evidence) in
                Cause::ALL.into_iter().zip(&mut self.primary).zip(&mut self.evidence)
            {
                *primary += u64::from(straggler.primary == cause);
                *evidence += u64::from(straggler.evidence.iter().any(|evidence| evidence.cause == cause));
            }
        }
    }

    /// Adds the counts of another application.
    pub(crate) fn merge(&mut self, other: &Self) {
        let both = self.primary.iter_mut().chain(&mut self.evidence);
        for (sum, count) in both.zip(other.primary.iter().chain(&other.evidence)) {
            *sum += count;
        }
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
        let straggler =
            |primary| StragglerCause { task: 0, attempt: 0, primary, confidence: None, evidence: Vec::new() };
        let stragglers =
            [straggler(Cause::Gc), straggler(Cause::Gc), straggler(Cause::Disk), straggler(Cause::Cpu)];
        let mut counts = CauseCounts::default();
        counts.add(&stragglers);
        let mut twice = counts;
        twice.merge(&counts);
        assert_eq!((counts.stragglers(), twice.stragglers()), (4, 8));
        let gc = counts.shares().find(|(cause, ..)| *cause == Cause::Gc);
        assert_eq!(gc, Some((Cause::Gc, 2, Some(50.0))));
    }
}
