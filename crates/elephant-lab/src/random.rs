//! Random numbers that depend only on a seed: the same on every machine and in every version of Rust.
//!
//! The generator is xoshiro256++ 1.0 (Blackman and Vigna), with its state filled by `SplitMix64`, as its authors
//! recommend. Logarithm and exponential come from [`elementary`], which uses only basic arithmetic, because
//! those of C libraries differ in the last bits.

use elephant_base::stats::elementary;

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: [u64; 4],
    /// The second of two normal numbers, which are computed together.
    spare: Option<f64>,
}

impl Random {
    /// The stream of a seed for one purpose. A stream does not depend on how many numbers other streams have
    /// given, so runs that differ in one setting share all other random values.
    #[must_use]
    pub(crate) fn stream(seed: u64, purpose: u64) -> Self {
        let mut filler = SplitMix64(seed);
        let first = filler.next();
        let mut filler = SplitMix64(first ^ purpose);
        Self { state: std::array::from_fn(|_| filler.next()), spare: None }
    }

    /// 64 random bits.
    pub(crate) const fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c1, d1) = (c ^ a, d ^ b);
        self.state = [a ^ d1, b ^ c1, c1 ^ (b << 17), d1.rotate_left(45)];
        result
    }

    /// A number from 0 to below 1, a multiple of 2⁻⁵³.
    pub(crate) const fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// A whole number below `end`; 0 if `end` is 0. For ends far below 2⁶⁴, as here, all are equally likely.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Half of a product with `end` is below `end`.
        usize::try_from((u128::from(self.next()) * end as u128) >> 64).unwrap_or(end)
    }

    /// A standard normal number (Marsaglia's polar method).
    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (self.uniform().mul_add(2.0, -1.0), self.uniform().mul_add(2.0, -1.0));
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = (-2.0 * elementary::ln(square) / square).sqrt();
                self.spare = Some(y * scale);
                return x * scale;
            }
        }
    }

    /// A lognormal factor with median 1.
    pub(crate) fn factor(&mut self, sigma: f64) -> f64 {
        elementary::exp(sigma * self.normal())
    }
}

/// `SplitMix64` (Steele, Lea and Flood).
struct SplitMix64(u64);

impl SplitMix64 {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generators_give_their_authors_numbers() {
        let mut random = Random { state: [1, 2, 3, 4], spare: None };
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
            14_011_001_112_246_962_877,
            12_406_186_145_184_390_807,
            15_849_039_046_786_891_736,
            10_450_023_813_501_588_000,
        ];
        assert_eq!(expected.map(|_| random.next()), expected);
        let mut filler = SplitMix64(1_477_776_061_723_855_037);
        let expected = [
            1_985_237_415_132_408_290,
            2_979_275_885_539_914_483,
            13_511_426_838_097_143_398,
            8_488_337_342_461_049_707,
            15_141_737_807_933_549_159,
        ];
        assert_eq!(expected.map(|_| filler.next()), expected);
    }

    #[test]
    fn normal_numbers_have_the_moments_of_their_distribution() {
        let mut random = Random::stream(1, 2);
        let values: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let square = values.iter().map(|value| value * value).sum::<f64>() / 1e5;
        let fourth = values.iter().map(|value| value.powi(4)).sum::<f64>() / 1e5;
        // Four standard errors each.
        assert!(mean.abs() < 0.013 && (square - 1.0).abs() < 0.018 && (fourth - 3.0).abs() < 0.13);
    }

    #[test]
    fn streams_differ_by_seed_and_purpose_and_repeat() {
        let first = |seed, purpose| Random::stream(seed, purpose).next();
        assert_eq!(first(1, 1), first(1, 1));
        assert!(first(1, 1) != first(1, 2) && first(1, 1) != first(2, 1) && first(1, 2) != first(2, 1));
    }

    #[test]
    fn whole_numbers_below_an_end_are_all_reached() {
        let mut random = Random::stream(3, 0);
        let reached: std::collections::BTreeSet<usize> = (0..100).map(|_| random.below(3)).collect();
        assert_eq!(reached.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(random.below(0), 0);
    }
}
