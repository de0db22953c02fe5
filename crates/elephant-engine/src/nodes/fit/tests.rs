use super::*;
use proptest::prelude::*;

/// Draws from several distributions, with ties and outliers, using a portable generator.
fn sample(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed;
    let mut uniform = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0 + 1e-17
    };
    let mut values: Vec<f64> = (0..n)
        .map(|_| {
            let u = uniform();
            let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
            match seed % 9 {
                0 => normal,
                1 => (0.4 * normal).exp(),
                2 => -u.ln(),
                3 => u.ln().abs().powf(0.6),
                4 => -(-u.ln()).ln(),
                5 => (0.3 * (u / (1.0 - u)).ln()).exp(),
                6 => (normal * 3.0).round() / 3.0,
                7 if uniform() < 0.05 => 6.0 + normal,
                7 => 0.3 * normal,
                _ => -(0.5 * normal).exp(),
            }
        })
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[test]
fn too_few_or_equal_values_are_not_fitted() {
    assert!(fit_all(&[]).is_empty());
    assert!(fit_all(&[1.0, 2.0, 3.0, 4.0]).is_empty());
    assert!(fit_all(&[2.5; 6]).is_empty());
    assert!(fit_all(&[0.0, 1.0, 2.0, 3.0, f64::INFINITY]).is_empty());
}

#[test]
fn small_gaps_of_logarithms_keep_their_digits() {
    // Without the series, rounding gave the flat gamma likelihood spurious maxima.
    let points = points::Points::whole(&[0.0, 1.0, 2.0, 3.0, 4.0]);
    assert_eq!(points.small_gap(100.0), None);
    let gap = points.small_gap(1e3).unwrap();
    assert!((gap / 1.000_001_700_004_333_3e-6 - 1.0).abs() < 1e-15, "{gap:e}");
    let gap = points.small_gap(1e9).unwrap();
    assert!((gap / 1e-18 - 1.0).abs() < 1e-15, "{gap:e}");
}

#[test]
fn condensed_samples_give_the_same_fits_as_whole_ones() {
    let mut compared = 0;
    for seed in 0..CONDENSED_SAMPLES {
        let n = [97, 120, 200, 400, 900, 2500][usize::try_from(seed / 9 % 6).unwrap()];
        let values = sample(seed, n);
        if values[0] >= values[n - 1] {
            continue;
        }
        let whole = threshold::fit_whole(&values);
        let quick = threshold::fit(&values);
        for (kind, (whole, quick)) in whole.iter().zip(&quick).enumerate() {
            let (whole, quick) = (whole.unwrap(), quick.unwrap());
            let far = (whole.log_likelihood - quick.log_likelihood).abs();
            // At the far end the profile is flat, so the status may depend on the last digit.
            let alike = whole.status == quick.status || far < 1e-6;
            assert!(alike && far < 1e-6, "seed {seed}, kind {kind}, n {n}: {whole:?}\n{quick:?}");
            compared += 1;
        }
    }
    assert!(compared > 1000, "{compared}");
}

/// More in an optimised build, where a full grid is cheap.
const CONDENSED_SAMPLES: u64 = if cfg!(debug_assertions) { 270 } else { 2700 };

#[test]
fn no_nearby_parameters_are_better() {
    for seed in 0..90 {
        let values = sample(seed, 40);
        for fit in fit_all(&values) {
            if fit.status != Status::Interior {
                continue;
            }
            let Distribution { family, threshold, first, second } = fit.distribution;
            for factor in [0.99, 1.01] {
                let moved = [
                    (threshold.map(|t| values[0] - (values[0] - t) * factor), first, second),
                    (threshold, first * factor, second),
                    (threshold, first, second * factor),
                ];
                for (threshold, first, second) in moved {
                    let other = Distribution { family, threshold, first, second };
                    let likelihood = numeric_likelihood(&other, &values);
                    assert!(
                        likelihood < fit.log_likelihood + 1e-3,
                        "{family:?} {seed}: {likelihood} {fit:?}"
                    );
                }
            }
        }
    }
}

/// The likelihood from differences of the distribution function, independent of the fits' formulas.
fn numeric_likelihood(distribution: &Distribution, values: &[f64]) -> f64 {
    let tails = distribution.tails().unwrap();
    let density = |x: f64| {
        let step = 1e-5 * (x - distribution.threshold.unwrap_or(x - 1.0)).min(1.0);
        (tails.ln_at(x + step).0.exp() - tails.ln_at(x - step).0.exp()) / (2.0 * step)
    };
    values.iter().map(|&x| density(x).ln()).sum()
}

#[test]
fn log_likelihoods_match_the_distributions() {
    for seed in 0..27 {
        let values = sample(seed, 30);
        for fit in fit_all(&values)
            .into_iter()
            .filter(|fit| fit.status == Status::Interior || fit.status == Status::Closed)
        {
            let numeric = numeric_likelihood(&fit.distribution, &values);
            let error = (numeric - fit.log_likelihood).abs();
            assert!(error < 1e-4 * fit.log_likelihood.abs().max(1.0), "{seed} {fit:?} {numeric}");
        }
    }
}

proptest! {
    #[test]
    fn fits_shift_and_scale_with_their_sample(seed in 0u64..10_000, n in 5usize..60, by in -5.0f64..5.0, factor in 0.1f64..10.0) {
        let values = sample(seed, n);
        let moved: Vec<f64> = values.iter().map(|value| value * factor + by).collect();
        let fits = fit_all(&values);
        let others = fit_all(&moved);
        for fit in &fits {
            let family = fit.family();
            let Some(other) = others.iter().find(|other| other.family() == family) else { continue };
            // A loglogistic without a threshold always starts at 0, so shifting changes it.
            if family == Family::Loglogistic {
                continue;
            }
            prop_assert_eq!(fit.status, other.status, "{:?} {:?}", fit, other);
            let expected = fit.log_likelihood - n as f64 * factor.ln();
            prop_assert!((other.log_likelihood - expected).abs() < 1e-5, "{:?} {:?}", fit, other);
            if let (Some(a), Some(b)) = (fit.goodness.anderson_darling, other.goodness.anderson_darling) {
                prop_assert!((a - b).abs() < 1e-4 * a.max(1.0), "{:?} {:?}", fit, other);
            }
        }
    }

    #[test]
    fn quantiles_invert_the_distribution_function(seed in 0u64..10_000, n in 5usize..60, p in 0.01f64..0.99) {
        for fit in fit_all(&sample(seed, n)) {
            let x = fit.distribution.quantile(p).unwrap();
            let below = fit.distribution.tails().unwrap().ln_at(x).0.exp();
            prop_assert!((below - p).abs() < 1e-7, "{:?}: {} of {}", fit, below, p);
        }
    }

    #[test]
    fn distances_are_in_their_range(seed in 0u64..10_000, n in 5usize..60) {
        for fit in fit_all(&sample(seed, n)) {
            let Goodness { anderson_darling, kolmogorov_smirnov } = fit.goodness;
            prop_assert!(anderson_darling.is_none_or(|a| a > 0.0));
            let least = 0.5 / n as f64;
            prop_assert!(kolmogorov_smirnov.is_some_and(|d| (least - 1e-12..=1.0).contains(&d)));
        }
    }
}
