//! `late`: progress rate below a threshold (S0 eq 7 to 10; Zaharia et al., LATE), with five variants of the
//! threshold.

use super::options::DetectorOptions;
use super::snapshot::{Past, Running, Snapshot};
use super::timing::Timing;
use super::{Compared, Detector, Parameter, Value};
use elephant_base::stats::descriptive::quantile_of_sorted;

/// Relative tolerance when comparing a rate with its threshold, so rounding does not separate equal rates.
const ROUNDING: f64 = 1e-12;

/// How the threshold is computed from the mean and the population standard deviation SD of the running rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// `mean - alpha * SD`: Hadoop 0.21 (`canBeSpeculated`) and the text of `mapred-default.xml`.
    MeanMinusSd,
    /// `mean * (1 - alpha * SD)`, S0 eq 10 as printed. SD has a unit, so the result depends on the unit of
    /// time.
    Printed,
    /// `mean * (1 - alpha * SD / mean)`: equal to [`Self::MeanMinusSd`]; probably what eq 10 means.
    RelativeCv,
    /// The 25th percentile: the slow task threshold of the original LATE.
    P25,
    /// `mean - alpha * min(SD, mean / 3)`, as MAPREDUCE-2162 proposed: the threshold stays above 0.
    MeanMinusCappedSd,
}

impl Variant {
    const fn name(self) -> &'static str {
        match self {
            Self::MeanMinusSd => "mean-minus-sd",
            Self::Printed => "printed",
            Self::RelativeCv => "relative-cv",
            Self::P25 => "p25",
            Self::MeanMinusCappedSd => "mean-minus-capped-sd",
        }
    }

    /// The threshold for rates in any unit; `None` if there are none.
    #[must_use]
    pub fn threshold(self, rates: &[f64], alpha: f64) -> Option<f64> {
        if self == Self::P25 {
            let mut sorted = rates.to_vec();
            // Only the ranks around the quartile need sorting.
            let upper = (sorted.len() / 4 + 1).min(sorted.len().checked_sub(1)?);
            sorted.select_nth_unstable_by(upper, f64::total_cmp);
            if let Some(low) = sorted.get_mut(..upper) {
                low.sort_unstable_by(f64::total_cmp);
            }
            return quantile_of_sorted(&sorted, 0.25);
        }
        let (mean, sd) = mean_and_sd(rates)?;
        Some(match self {
            Self::Printed => mean * alpha.mul_add(-sd, 1.0),
            Self::RelativeCv if mean > 0.0 => mean * (1.0 - alpha * (sd / mean)),
            Self::MeanMinusCappedSd => alpha.mul_add(-sd.min(mean / 3.0), mean),
            _ => alpha.mul_add(-sd, mean),
        })
    }
}

/// Mean and population standard deviation (S0 eq 8 and 9); `None` if there are no rates.
#[must_use]
pub fn mean_and_sd(rates: &[f64]) -> Option<(f64, f64)> {
    let count = rates.len() as f64;
    if rates.is_empty() {
        return None;
    }
    let mean = rates.iter().sum::<f64>() / count;
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    Some((mean, (squares / count).sqrt()))
}

/// Whether a rate is below the threshold, by more than rounding.
#[must_use]
pub fn is_slow(rate: f64, threshold: f64) -> bool {
    rate < threshold - threshold.abs() * ROUNDING
}

/// The unit of rates in reports; only [`Variant::Printed`] depends on it.
const RATE_UNIT: &str = "1/s";

/// Flags attempts whose progress rate is below the threshold.
#[derive(Debug, Clone, Copy)]
pub struct Late {
    /// The name in reports.
    pub id: &'static str,
    /// How the threshold is computed.
    pub variant: Variant,
    /// The slow task threshold.
    pub alpha: f64,
    /// At most this share of the running attempts is flagged at any time (the speculative cap of LATE),
    /// longest time left first; `None` for no cap.
    pub cap: Option<f64>,
    /// When it may flag.
    pub timing: Timing,
}

impl Late {
    /// A variant with alpha 1 and no cap.
    #[must_use]
    pub const fn of(id: &'static str, variant: Variant) -> Self {
        Self { id, variant, alpha: 1.0, cap: None, timing: Timing::S0 }
    }

    /// The threshold for the rates of the running attempts.
    fn threshold(&self, snapshot: &Snapshot<'_>) -> Option<f64> {
        let rates: Vec<f64> = snapshot.running.iter().filter_map(Running::progress_rate).collect();
        self.variant.threshold(&rates, self.alpha)
    }
}

impl Late {
    /// The detector with a user's changes.
    #[must_use]
    pub(crate) fn with(self, options: &DetectorOptions) -> Self {
        Self { alpha: options.alpha.unwrap_or(self.alpha), timing: self.timing.with(options), ..self }
    }
}

impl Detector for Late {
    fn id(&self) -> &'static str {
        self.id
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![Parameter::new("variant", Value::Word(self.variant.name()))];
        if self.variant != Variant::P25 {
            parameters.push(Parameter::new("alpha", Value::Number(self.alpha)));
        }
        if self.variant == Variant::Printed {
            parameters.push(Parameter::new("unit", Value::Word(RATE_UNIT)));
        }
        parameters.extend(self.cap.map(|cap| Parameter::new("cap", Value::Number(cap))));
        parameters.extend(self.timing.parameters());
        parameters
    }

    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        let (value, limit) = (attempt.progress_rate()?, self.threshold(snapshot)?);
        Some(Compared { measure: Compared::RATE, value, limit })
    }

    fn flag(&self, snapshot: &Snapshot<'_>, past: &Past<'_>, flags: &mut Vec<usize>) {
        if !self.timing.is_open(snapshot) {
            return;
        }
        let Some(threshold) = self.threshold(snapshot) else { return };
        let attempts = snapshot.running.iter().enumerate();
        let slow = attempts.filter(|(_, attempt)| {
            attempt.progress_rate().is_some_and(|rate| is_slow(rate, threshold))
                && attempt.reported_ms.is_some()
                && self.timing.is_old_enough(attempt)
        });
        match self.cap {
            None => flags.extend(slow.map(|(place, _)| place)),
            Some(cap) => {
                let fresh = slow.filter(|(_, attempt)| !past.has_flagged(attempt));
                let mut fresh: Vec<(f64, usize)> =
                    fresh.filter_map(|(place, attempt)| Some((attempt.time_left()?, place))).collect();
                fresh.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                let slots = cap * snapshot.running.len() as f64;
                let free = (0..fresh.len()).take_while(|&n| ((past.still_running + n) as f64) < slots);
                let free = free.count();
                flags.extend(fresh.into_iter().take(free).map(|(_, place)| place));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, compared, group, running};
    use super::*;
    use proptest::prelude::*;

    const VARIANTS: [Variant; 5] = [
        Variant::MeanMinusSd,
        Variant::Printed,
        Variant::RelativeCv,
        Variant::P25,
        Variant::MeanMinusCappedSd,
    ];

    #[test]
    fn without_rates_there_is_no_threshold() {
        for variant in VARIANTS {
            assert_eq!(variant.threshold(&[], 1.0), None);
        }
    }

    #[test]
    fn the_cap_prefers_attempts_with_the_most_time_left() {
        let attempts = [running(50.0, 0.8), running(50.0, 0.8), running(50.0, 0.2), running(50.0, 0.1)];
        let all = Late { alpha: 0.5, ..Late::of("late", Variant::MeanMinusSd) };
        assert_eq!(group(60.0, &attempts).flags(&all), [2, 3]);
        assert_eq!(group(60.0, &attempts).flags(&Late { cap: Some(0.25), ..all }), [3]);
        assert_eq!(group(60.0, &attempts).flags(&Late { cap: Some(0.0), ..all }), NOTHING);
    }

    #[test]
    fn rates_are_compared_with_the_threshold() {
        let attempts = [running(10.0, 0.5), running(10.0, 0.5), running(10.0, 0.2)];
        let late = Late::of("late", Variant::MeanMinusSd);
        // The mean is 0.04, the standard deviation 0.01 times the square root of 2.
        assert_eq!(compared(&group(60.0, &attempts), &late, 2), Some(("progress_per_s", 20, 26)));
    }

    proptest! {
        #[test]
        fn equal_rates_flag_nothing(rate in 1e-6f64..1.0, count in 1usize..40) {
            let rates = vec![rate; count];
            for variant in VARIANTS {
                let threshold = variant.threshold(&rates, 1.0).unwrap();
                prop_assert!(!is_slow(rate, threshold));
            }
        }

        #[test]
        fn partial_sorting_gives_the_same_quartile(rates in prop::collection::vec(0.0f64..1.0, 1..60)) {
            let quartile = elephant_base::stats::descriptive::quantile(&rates, 0.25);
            prop_assert_eq!(Variant::P25.threshold(&rates, 1.0), quartile);
        }

        #[test]
        fn only_the_printed_rule_depends_on_the_unit(
            rates in prop::collection::vec(1e-4f64..1.0, 1..40),
            scale in 0.001f64..1000.0,
        ) {
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * scale).collect();
            for variant in VARIANTS.into_iter().filter(|&variant| variant != Variant::Printed) {
                let (one, other) = (variant.threshold(&rates, 1.0).unwrap(), variant.threshold(&scaled, 1.0).unwrap());
                prop_assert!((one * scale - other).abs() <= 1e-9 * scale);
            }
        }
    }
}
