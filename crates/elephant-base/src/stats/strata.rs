//! Compares how often something happens in one part with the rest, stratum by stratum, so that strata in which it is
//! frequent everywhere decide nothing (E. H. Simpson, 1951).
//!
//! The test is that of N. Mantel and W. Haenszel, "Statistical Aspects of the Analysis of Data From Retrospective Studies
//! of Disease", 1959: in each stratum the hits are distributed over part and rest by chance, so the hits of the part are
//! hypergeometric. Their sum over the strata is close to a binomial variable with the same mean and variance.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use super::beta::incomplete_beta;
use crate::state::State;

/// Sums of one part over strata that also contain others.
#[derive(Debug, Clone, Copy, PartialEq, Default, State)]
pub struct Strata {
    /// Members of the part.
    pub members: u64,
    /// Hits among them.
    pub hits: u64,
    /// Members of the rest.
    pub other_members: u64,
    /// Hits among those.
    pub other_hits: u64,
    /// How many hits the part would have with the share of the rest in each stratum.
    pub expected: f64,
    /// Mean and variance of the hits of the part if hits are distributed by chance.
    mean: f64,
    variance: f64,
}

impl Strata {
    /// The parts of one stratum in their order. `stratum` gives the part of each member, if known, and
    /// whether it is a hit. A part that is the whole stratum is left out, because there is nothing to compare
    /// it with.
    pub fn of_stratum<P: Copy + Ord>(
        stratum: impl IntoIterator<Item = (Option<P>, bool)>,
    ) -> impl Iterator<Item = (P, Self)> {
        let mut parts: BTreeMap<P, (u64, u64)> = BTreeMap::new();
        let (mut all, mut all_hits) = (0, 0);
        for (part, hit) in stratum {
            all += 1;
            all_hits += u64::from(hit);
            if let Some(part) = part {
                let (members, hits) = parts.entry(part).or_default();
                *members += 1;
                *hits += u64::from(hit);
            }
        }
        let parts = parts.into_iter().filter(move |(_, (members, _))| *members < all);
        parts.map(move |(part, (members, hits))| (part, Self::of_part((members, hits), (all, all_hits))))
    }

    /// A part of a stratum, by members and hits of both. The part must not be the whole stratum.
    #[must_use]
    pub fn of_part((members, hits): (u64, u64), (all, all_hits): (u64, u64)) -> Self {
        let (other_members, other_hits) = (all - members, all_hits - hits);
        let [n, m, size, hit] = [members, other_members, all, all_hits].map(|count| count as f64);
        let mean = n * hit / size;
        Self {
            members,
            hits,
            other_members,
            other_hits,
            expected: n * other_hits as f64 / m,
            mean,
            variance: mean * (m / size) * ((size - hit) / (size - 1.0)),
        }
    }

    /// The share of hits in the part, and the share expected from the rest; `None` without members.
    #[must_use]
    pub fn shares(&self) -> Option<(f64, f64)> {
        let members = self.members as f64;
        (self.members > 0).then(|| (self.hits as f64 / members, self.expected / members))
    }

    /// The mid-p-value: the probability of more hits in the part if hits are distributed by chance, plus half
    /// of the probability of equally many. The probability of as many or more would be too cautious for small
    /// counts (H. O. Lancaster, "Significance Tests in Discrete Distributions", 1961).
    #[must_use]
    pub fn p_value(&self) -> f64 {
        let hits = self.hits as f64;
        if hits <= self.mean || self.variance <= 0.0 {
            return 1.0;
        }
        // A sum of hypergeometric variables has a smaller variance than a Poisson variable with the same
        // mean, so the difference is positive.
        let difference = (self.mean - self.variance).max(LEAST * self.mean);
        let trials = (self.mean * self.mean / difference).max(hits);
        let share = (self.mean / trials).min(1.0);
        let at_least = |hits: f64| {
            // There cannot be more hits than trials.
            let rest = trials - hits + 1.0;
            if rest < 1.0 { 0.0 } else { incomplete_beta(hits, rest, share).unwrap_or(1.0) }
        };
        f64::midpoint(at_least(hits), at_least(hits + 1.0)).clamp(0.0, 1.0)
    }
}

/// Below this share of the mean, the difference of mean and variance is lost in rounding.
const LEAST: f64 = 1e-9;

impl AddAssign for Strata {
    fn add_assign(&mut self, other: Self) {
        self.members += other.members;
        self.hits += other.hits;
        self.other_members += other.other_members;
        self.other_hits += other.other_hits;
        self.expected += other.expected;
        self.mean += other.mean;
        self.variance += other.variance;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(own: (u64, u64), all: (u64, u64)) -> Strata {
        Strata::of_part(own, all)
    }

    fn sum(strata: &[Strata]) -> Strata {
        let mut sum = Strata::default();
        for stratum in strata {
            sum += *stratum;
        }
        sum
    }

    /// The probability of more hits and half of that of as many, by Fisher's exact test.
    fn exact((members, hits): (u64, u64), (all, all_hits): (u64, u64)) -> f64 {
        let choose = |n: u64, k: u64| (1..=k).map(|i| (n - k + i) as f64 / i as f64).product::<f64>();
        let of = |k: u64| choose(all_hits, k) * choose(all - all_hits, members - k) / choose(all, members);
        let more: f64 = (hits + 1..=members.min(all_hits)).map(of).sum();
        more + 0.5 * of(hits)
    }

    #[test]
    fn a_part_is_compared_with_the_rest_of_its_stratum() {
        let tasks =
            [(Some('a'), true), (Some('a'), true), (Some('b'), true), (Some('b'), false), (None, false)];
        let parts: Vec<(char, Strata)> = Strata::of_stratum(tasks).collect();
        let shares: Vec<_> = parts.iter().map(|(part, strata)| (*part, strata.shares())).collect();
        assert_eq!(shares, [('a', Some((1.0, 1.0 / 3.0))), ('b', Some((0.5, 2.0 / 3.0)))]);
        // There is no rest.
        assert_eq!(Strata::of_stratum([(Some('a'), true)]).count(), 0);
        assert_eq!(Strata::default().shares(), None);
        assert!((Strata::default().p_value() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn probabilities_are_close_to_fishers() {
        for (own, all) in [
            ((4, 4), (22, 4)),
            ((12, 6), (24, 7)),
            ((10, 1), (80, 1)),
            ((40, 12), (68, 20)),
            ((100, 30), (200, 40)),
            ((20, 4), (180, 4)),
        ] {
            let (p, exact) = (of(own, all).p_value(), exact(own, all));
            assert!(p > 0.4 * exact && p < 10.0 * exact, "{own:?} of {all:?}: {p} and not {exact}");
        }
        // One hit among 240 of 1920 is chance.
        assert!((of((240, 1), (1920, 1)).p_value() - 0.0625).abs() < 1e-9);
        assert!((of((5, 0), (10, 5)).p_value() - 1.0).abs() < 1e-12);
        assert!((of((5, 5), (10, 10)).p_value() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_part_with_most_of_a_stratum_where_hits_are_frequent_has_no_more_of_them() {
        // Pooled, the part has 12 hits in 50, and the rest 8 in 98.
        let both = sum(&[of((10, 0), (80, 0)), of((40, 12), (68, 20))]);
        assert_eq!((both.members, both.hits, both.other_members, both.other_hits), (50, 12, 98, 8));
        assert!((both.expected - 40.0 * 8.0 / 28.0).abs() < 1e-9 && both.p_value() > 0.3, "{both:?}");
    }

    #[test]
    fn differences_in_many_strata_add_up() {
        let strata = vec![of((4, 1), (32, 2)); 60];
        let (one, all) = (of((4, 1), (32, 2)).p_value(), sum(&strata).p_value());
        assert!(one > 0.1 && all < 1e-9, "{one} and {all}");
    }

    proptest! {
        #[test]
        fn more_hits_are_less_probable(own in 1u64..200, rest in 1u64..200, hits in 0u64..200) {
            let others = (rest / 3).min(hits);
            let p = |own_hits: u64| of((own, own_hits), (own + rest, own_hits + others)).p_value();
            let all: Vec<f64> = (0..=own).map(p).collect();
            prop_assert!(all.iter().all(|p| (0.0..=1.0).contains(p)));
            prop_assert!(all.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9), "{all:?}");
        }
    }
}
