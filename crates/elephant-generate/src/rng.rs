//! `SplitMix64` (Steele, Lea, Flood 2014): small, and the same on every platform.

pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from `low` (inclusive) to `high` (exclusive).
    pub(super) fn within(&mut self, low: i64, high: i64) -> i64 {
        let width = (high - low).max(1).unsigned_abs();
        // Widths used here are below 2^62, so the bias of the remainder does not matter.
        low + (self.next() % width).cast_signed()
    }
}
