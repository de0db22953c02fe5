//! Recommends how many clones of each task to launch up front so that stragglers do no harm (Dolly). It is
//! not a detector.

use elephant_base::whole::Whole;

/// Clones to launch of each of `tasks` tasks so that, with probability `1 - tolerance`, every task has at
/// least one clone that does not straggle; each clone straggles with `probability`: `ceil(ln(1 - (1 -
/// tolerance)^(1/n)) / ln p)` (Ananthanarayanan et al., "Effective Straggler Mitigation: Attack of the
/// Clones", Dolly).
///
/// `None` if there are no tasks, or if the probability or the tolerance is outside 0 to 1.
#[must_use]
pub fn clones(tasks: u64, probability: f64, tolerance: f64) -> Option<u64> {
    /// Absorbs rounding, so that an exact whole number is not rounded up to the next one.
    const ROUNDING: f64 = 1e-9;
    if tasks == 0
        || !(0.0..1.0).contains(&probability)
        || !(0.0..1.0).contains(&tolerance)
        || tolerance == 0.0
    {
        return None;
    }
    if probability == 0.0 {
        return Some(1);
    }
    // Equals 1 - (1 - e)^(1/n), without losing digits when there are many tasks.
    let per_task = -((-tolerance).ln_1p() / tasks as f64).exp_m1();
    let clones = (per_task.ln() / probability.ln() - ROUNDING).ceil();
    Some(clones.as_u64().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_tasks_need_more_clones() {
        assert_eq!(clones(1, 0.05, 0.05), Some(1));
        assert_eq!(clones(10, 0.05, 0.05), Some(2));
        assert_eq!(clones(1000, 0.05, 0.05), Some(4));
    }

    #[test]
    fn invalid_input_has_no_answer() {
        assert_eq!(clones(0, 0.05, 0.05), None);
        assert_eq!(clones(10, 1.0, 0.05), None);
        assert_eq!(clones(10, -0.1, 0.05), None);
        assert_eq!(clones(10, 0.05, 0.0), None);
        assert_eq!(clones(10, f64::NAN, 0.05), None);
        assert_eq!(clones(10, 0.0, 0.05), Some(1));
    }
}
