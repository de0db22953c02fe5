//! Tests of many hypotheses: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", 1995.

/// P-values adjusted for their number: for sorted values `p_(i)`, `min over j >= i of m / j · p_(j)`, at most
/// 1.
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len() as f64;
    let mut order: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least = 1.0f64;
    for (rank, (place, p_value)) in order.into_iter().enumerate().rev() {
        least = least.min(p_value * (count / (rank + 1) as f64));
        if let Some(slot) = adjusted.get_mut(place) {
            *slot = least;
        }
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-12 * one.abs().max(other.abs()).max(1e-300)
    }

    #[test]
    fn adjusted_values_of_benjamini_and_hochberg() {
        // m = 4: 0.01·4/1, 0.02·4/2, 0.03·4/3, 0.5·4/4.
        let adjusted = benjamini_hochberg(&[0.5, 0.01, 0.03, 0.02]);
        for (adjusted, expected) in adjusted.iter().zip([0.5, 0.04, 0.04, 0.04]) {
            assert!(close(*adjusted, expected), "{adjusted} {expected}");
        }
        assert_eq!(benjamini_hochberg(&[]), Vec::<f64>::new());
        assert_eq!(benjamini_hochberg(&[1.0]), [1.0]);
    }

    proptest! {
        #[test]
        fn adjusted_values_are_not_lower_and_keep_their_order(p_values in prop::collection::vec(0.0f64..=1.0, 0..30)) {
            let adjusted = benjamini_hochberg(&p_values);
            for (i, p) in p_values.iter().enumerate() {
                prop_assert!(adjusted[i] >= *p && adjusted[i] <= 1.0);
                for (j, other) in p_values.iter().enumerate() {
                    prop_assert!(p > other || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }
}
