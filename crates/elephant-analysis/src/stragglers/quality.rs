//! Quality of a detector: precision, recall, detection latency, undetected time and fakes (S0 eq 1 to 4 and
//! 13).

use std::ops::Add;

use super::first_order::{FirstOrder, Input};
use elephant_base::stats::proportion::wilson;
use elephant_base::units::Millis;

/// The normal quantile of 95 % intervals.
const Z_95: f64 = 1.959_963_984_540_054;

/// One task with everything known about it afterwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// How long it took, in seconds.
    pub duration: f64,
    /// How long it usually takes, in seconds.
    pub usual: f64,
    /// Whether it was a straggler.
    pub straggler: bool,
    /// When it was flagged, in seconds since its launch.
    pub detected: Option<f64>,
}

/// Counts and sums behind the ratios. To combine jobs, add these up first and then compute ratios.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Quality {
    /// Tasks that were judged.
    pub tasks: u64,
    /// Stragglers among them.
    pub stragglers: u64,
    /// Tasks that were flagged.
    pub detected: u64,
    /// Stragglers that were flagged.
    pub true_positives: u64,
    /// Flagged stragglers with less than their usual time left when they were flagged: a copy could not have
    /// won.
    pub fakes: u64,
    /// Sum of detection time over usual time, of flagged stragglers.
    latency_sum: f64,
    /// Sum of duration over usual time, of stragglers that were not flagged.
    undetected_sum: f64,
    /// Sum of duration over usual time, of all stragglers.
    straggler_sum: f64,
    /// Seconds that copies of the flagged tasks would have run.
    copy_seconds: f64,
    /// Seconds by which these tasks would have ended earlier.
    saved_seconds: f64,
}

#[doc(hidden)]
impl Quality {
    /// The quality over these tasks. Tasks whose usual time is not positive are left out.
    pub fn of(tasks: impl IntoIterator<Item = Judged>) -> Self {
        tasks.into_iter().filter(|task| task.usual > 0.0).map(Self::of_task).fold(Self::default(), Add::add)
    }

    fn of_task(task: Judged) -> Self {
        let found = task.detected.filter(|_| task.straggler);
        let left = task.detected.map(|at| (task.duration - at).max(0.0));
        let slowdown = if task.straggler { task.duration / task.usual } else { 0.0 };
        Self {
            tasks: 1,
            stragglers: u64::from(task.straggler),
            detected: u64::from(task.detected.is_some()),
            true_positives: u64::from(found.is_some()),
            fakes: u64::from(found.is_some_and(|at| task.duration - at < task.usual)),
            latency_sum: found.map_or(0.0, |at| at / task.usual),
            undetected_sum: if found.is_some() { 0.0 } else { slowdown },
            straggler_sum: slowdown,
            copy_seconds: left.map_or(0.0, |left| left.min(task.usual)),
            saved_seconds: left.map_or(0.0, |left| (left - task.usual).max(0.0)),
        }
    }

    /// Total run time of copies of the flagged tasks, and the total time by which these tasks would have
    /// ended earlier. A copy starts at the flag and takes the usual time; it is killed when the original ends
    /// first.
    #[must_use]
    pub fn copies(&self) -> Option<(Millis, Millis)> {
        Some((Millis::from_seconds(self.copy_seconds)?, Millis::from_seconds(self.saved_seconds)?))
    }

    /// Flagged tasks that were not stragglers, plus fakes, which are just as useless (S0 section 6.2).
    #[must_use]
    pub const fn false_positives(&self) -> u64 {
        self.detected - self.true_positives + self.fakes
    }

    /// Stragglers that were not flagged.
    #[must_use]
    pub const fn false_negatives(&self) -> u64 {
        self.stragglers - self.true_positives
    }

    /// Share of flagged tasks that were stragglers (S0 eq 1).
    #[must_use]
    pub fn precision_raw(&self) -> Option<f64> {
        ratio(self.true_positives, self.detected)
    }

    /// Precision with fakes as false positives (S0 section 6.2).
    #[must_use]
    pub fn precision(&self) -> Option<f64> {
        ratio(self.true_positives - self.fakes, self.detected)
    }

    /// Share of stragglers that were flagged (S0 eq 2).
    #[must_use]
    pub fn recall(&self) -> Option<f64> {
        ratio(self.true_positives, self.stragglers)
    }

    /// Share of stragglers that were flagged and were not fakes.
    #[must_use]
    pub fn recall_strict(&self) -> Option<f64> {
        ratio(self.true_positives - self.fakes, self.stragglers)
    }

    /// Mean time to detection over usual time, of flagged stragglers (S0 eq 3); smaller is better.
    #[must_use]
    pub fn detection_latency(&self) -> Option<f64> {
        mean(self.latency_sum, self.true_positives)
    }

    /// Mean duration over usual time, of stragglers that were not flagged (S0 eq 4); smaller is better.
    #[must_use]
    pub fn undetected_time(&self) -> Option<f64> {
        mean(self.undetected_sum, self.false_negatives())
    }

    /// Share of flagged tasks that were fakes (S0 eq 13).
    #[must_use]
    pub fn fake_positive_ratio(&self) -> Option<f64> {
        ratio(self.fakes, self.detected)
    }

    /// The 95 % interval (Wilson) of [`Quality::precision_raw`].
    #[must_use]
    pub fn precision_raw_interval(&self) -> Option<(f64, f64)> {
        wilson(self.true_positives, self.detected, Z_95)
    }

    /// The 95 % interval (Wilson) of [`Quality::recall`].
    #[must_use]
    pub fn recall_interval(&self) -> Option<(f64, f64)> {
        wilson(self.true_positives, self.stragglers, Z_95)
    }

    /// The weighted harmonic mean of precision and strict recall, `(1 + b²) p r / (b² p + r)`. With `beta`
    /// below 1 precision counts more. Recall is strict because a fake helps neither.
    #[must_use]
    pub fn f_score(&self, beta: f64) -> Option<f64> {
        let (precision, recall) = (self.precision()?, self.recall_strict()?);
        let square = beta * beta;
        let denominator = square * precision + recall;
        Some(if denominator > 0.0 { (1.0 + square) * precision * recall / denominator } else { 0.0 })
    }

    /// Effect on time and energy (S0 section 4), from counts: a fake is a detected straggler, not a false
    /// positive. `None` if there are no tasks.
    #[must_use]
    pub fn first_order(&self) -> Option<FirstOrder> {
        Some(FirstOrder::of(&Input {
            straggler_share: ratio(self.stragglers, self.tasks)?,
            detected_share: ratio(self.true_positives, self.tasks)?,
            false_positive_share: ratio(self.detected - self.true_positives, self.tasks)?,
            detection_latency: self.detection_latency(),
            undetected_time: self.undetected_time(),
        }))
    }

    /// Change of the mean task time by detection, as a share of the time without it, by the first-order model: −0.5 halves
    /// it. Never below −1.
    #[must_use]
    pub(crate) fn time_change(&self) -> Option<f64> {
        self.change(self.first_order()?.expected_time()?)
    }

    /// Change of the mean task energy, in the same way. Without detection the model gives the same value for energy and for
    /// time.
    #[must_use]
    pub(crate) fn energy_change(&self) -> Option<f64> {
        self.change(self.first_order()?.expected_energy()?)
    }

    fn change(&self, with: f64) -> Option<f64> {
        let without = self.time_without_detection().filter(|&without| without > 0.0)?;
        Some((with - without) / without)
    }

    /// The model's mean task time if nothing was flagged.
    #[must_use]
    pub fn time_without_detection(&self) -> Option<f64> {
        mean(self.straggler_sum + (self.tasks - self.stragglers) as f64, self.tasks)
    }
}

impl Add for Quality {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            tasks: self.tasks + other.tasks,
            stragglers: self.stragglers + other.stragglers,
            detected: self.detected + other.detected,
            true_positives: self.true_positives + other.true_positives,
            fakes: self.fakes + other.fakes,
            latency_sum: self.latency_sum + other.latency_sum,
            undetected_sum: self.undetected_sum + other.undetected_sum,
            straggler_sum: self.straggler_sum + other.straggler_sum,
            copy_seconds: self.copy_seconds + other.copy_seconds,
            saved_seconds: self.saved_seconds + other.saved_seconds,
        }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    mean(part as f64, whole)
}

fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn task(duration: f64, straggler: bool, detected: Option<f64>) -> Judged {
        Judged { duration, usual: 10.0, straggler, detected }
    }

    #[test]
    fn without_tasks_all_ratios_are_unknown() {
        let empty = Quality::of([]);
        assert_eq!((empty.precision(), empty.recall(), empty.f_score(1.0)), (None, None, None));
        assert_eq!(empty.first_order(), None);
        let no_usual = Judged { usual: 0.0, ..task(10.0, true, None) };
        assert_eq!(Quality::of([no_usual]), empty);
    }

    #[test]
    fn copies_cost_their_time_and_save_what_is_left_beyond_it() {
        let quality = Quality::of([
            // The copy ends 25 s before the task.
            task(40.0, true, Some(5.0)),
            // The task ends 2 s after its flag, before the copy.
            task(20.0, true, Some(18.0)),
            task(9.0, false, Some(8.0)),
            task(30.0, true, None),
        ]);
        assert_eq!(quality.copies(), Some((Millis::new(13_000), Millis::new(25_000))));
        assert_eq!(Quality::default().copies(), Some((Millis::ZERO, Millis::ZERO)));
    }

    #[test]
    fn a_detector_that_only_finds_fakes_scores_zero() {
        let quality = Quality::of([task(20.0, true, Some(15.0)), task(10.0, false, None)]);
        assert_eq!((quality.precision(), quality.precision_raw()), (Some(0.0), Some(1.0)));
        assert_eq!(quality.f_score(0.5), Some(0.0));
        let model = quality.first_order().unwrap();
        assert!(model.is_valid());
        // The straggler waits 1.5 and then takes 1; the model does not know about fakes.
        assert!((model.expected_time().unwrap() - 1.75).abs() < 1e-12);
        assert_eq!(quality.time_without_detection(), Some(1.5));
    }

    fn any_task() -> impl Strategy<Value = Judged> {
        (0.1f64..100.0, 0.1f64..50.0, prop::option::of(0.0f64..1.0)).prop_map(|(duration, usual, share)| {
            Judged {
                duration,
                usual,
                straggler: duration > 1.2 * usual,
                detected: share.map(|share| share * duration),
            }
        })
    }

    proptest! {
        #[test]
        fn counts_add_up(tasks in prop::collection::vec(any_task(), 0..40), cut in 0usize..40) {
            let whole = Quality::of(tasks.iter().copied());
            prop_assert!(whole.fakes <= whole.true_positives);
            prop_assert!(whole.true_positives <= whole.detected.min(whole.stragglers));
            prop_assert_eq!(whole.true_positives + whole.false_negatives(), whole.stragglers);
            prop_assert_eq!(whole.true_positives - whole.fakes + whole.false_positives(), whole.detected);
            let (left, right) = tasks.split_at(cut.min(tasks.len()));
            let pooled = Quality::of(left.iter().copied()) + Quality::of(right.iter().copied());
            prop_assert_eq!((pooled.tasks, pooled.detected, pooled.fakes), (whole.tasks, whole.detected, whole.fakes));
            for ratio in [whole.precision(), whole.recall(), whole.recall_strict(), whole.f_score(0.5)] {
                prop_assert!(ratio.is_none_or(|ratio| (0.0..=1.0).contains(&ratio)));
            }
        }
    }
}
