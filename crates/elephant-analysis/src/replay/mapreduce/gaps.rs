//! The time in which a container is free between two attempts.

use crate::replay::Micros;
use elephant_base::stats::descriptive::{mean, median_in_place};

/// Longer gaps than this multiple of the median are not starts of containers.
const LONG_GAP: f64 = 3.0;
/// A slot was lost for a while only if the gap is longer than this, too.
const LONGEST_START: Micros = Micros::from_millis(30_000);

/// The time that a freed container took to start an attempt that was waiting for it: the mean, because its sum
/// over the waves of tasks matters, without long gaps. Zero if no slot was used twice.
pub(super) fn mean_gap(mut gaps: Vec<f64>) -> Micros {
    let Some(middle) = median_in_place(&mut gaps) else { return Micros::ZERO };
    gaps.retain(|gap| *gap <= LONG_GAP * middle);
    mean(&gaps).map_or(Micros::ZERO, Micros::from_f64).or_zero()
}

/// Whether a slot was lost during this gap, as containers start after `usual`.
pub(super) fn is_pause(gap: Micros, usual: Micros) -> bool {
    gap > LONGEST_START && gap.as_f64() > LONG_GAP * usual.as_f64()
}
