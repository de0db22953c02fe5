//! How many clones of each task would make stragglers harmless from the start: a recommendation, never a detector.

/// Clones of each of `tasks` tasks such that with probability `1 - tolerance` no task has only straggling clones, when
/// each straggles with `probability`: `ceil(ln(1 - (1 - tolerance)^(1/n)) / ln p)` (Ananthanarayanan et al., "Effective
/// Straggler Mitigation: Attack of the Clones", Dolly).
///
/// `None` for no tasks, and where the probability or the tolerance lie outside 0 to 1.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
pub fn clones(tasks: u64, probability: f64, tolerance: f64) -> Option<u64> {
    /// A whole number of clones may come out as slightly more by rounding.
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
    // 1 - (1 - e)^(1/n) without the loss of digits for many tasks.
    let per_task = -((-tolerance).ln_1p() / tasks as f64).exp_m1();
    let clones = (per_task.ln() / probability.ln() - ROUNDING).ceil();
    Some((clones as u64).max(1))
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
    fn what_cannot_be_said() {
        assert_eq!(clones(0, 0.05, 0.05), None);
        assert_eq!(clones(10, 1.0, 0.05), None);
        assert_eq!(clones(10, -0.1, 0.05), None);
        assert_eq!(clones(10, 0.05, 0.0), None);
        assert_eq!(clones(10, f64::NAN, 0.05), None);
        assert_eq!(clones(10, 0.0, 0.05), Some(1));
    }
}
