//! Effect of a detector's quality on time and energy, by the first-order approximation of S0 (section 4), and
//! the error in the usual time that the 1.2 label tolerates (S0 eq 11 and 12).
//!
//! The time is a mean per task, not the time of a job, and tasks never wait for each other. With the numbers
//! of S0's own table 7 (Shared) the model ranks Default ahead of Hierarchical, contrary to what S0 measured.

/// Power draw of a machine (S0 section 4.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// Watts of an idle machine.
    pub static_watts: f64,
    /// Watts of each active core.
    pub dynamic_watts: f64,
}

impl Power {
    /// Power of a machine that runs `tasks` tasks, with `cores` cores and at most `threads` tasks per core: 0
    /// when off, otherwise static power plus one core per task, up to the number of cores. `None` if it
    /// cannot run that many tasks.
    #[must_use]
    pub fn of_machine(&self, tasks: u64, cores: u64, threads: u64) -> Option<f64> {
        if tasks == 0 {
            return Some(0.0);
        }
        let active = tasks.min(cores) as f64;
        (tasks <= cores.saturating_mul(threads))
            .then(|| active.mul_add(self.dynamic_watts, self.static_watts))
    }

    /// Power of one task on a machine of its own.
    #[must_use]
    pub(crate) const fn of_one_task(&self) -> f64 {
        self.static_watts + self.dynamic_watts
    }
}

/// Input of the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Input {
    /// Share of tasks that are stragglers.
    pub straggler_share: f64,
    /// Share of tasks that are stragglers and were detected.
    pub detected_share: f64,
    /// Share of tasks that are no stragglers and were detected.
    pub false_positive_share: f64,
    /// Mean time to detection over usual time, of detected stragglers.
    pub detection_latency: Option<f64>,
    /// Mean time over usual time, of undetected stragglers.
    pub undetected_time: Option<f64>,
}

impl Input {
    /// The input from precision and recall, as S0 writes it:
    /// `P_fp = recall · share · (1 − precision) / precision`. Both ratios must be raw: if only one of them treated
    /// fakes as false positives, the formula would give false positives that never occurred. `None` if the recall
    /// is unknown although there are stragglers, or if the precision is 0, because the share of false positives is
    /// then unknown.
    #[must_use]
    pub fn of_ratios(
        straggler_share: f64,
        (precision, recall): (Option<f64>, Option<f64>),
        detection_latency: Option<f64>,
        undetected_time: Option<f64>,
    ) -> Option<Self> {
        let detected_share = match recall {
            Some(recall) => recall * straggler_share,
            None if straggler_share == 0.0 => 0.0,
            None => return None,
        };
        let false_positive_share = match precision {
            Some(precision) if precision > 0.0 => detected_share * (1.0 - precision) / precision,
            Some(_) => return None,
            None => 0.0,
        };
        Some(Self {
            straggler_share,
            detected_share,
            false_positive_share,
            detection_latency,
            undetected_time,
        })
    }
}

/// One of the four kinds of tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Its probability.
    pub probability: f64,
    /// Its time over the usual time; `None` if no task is of this kind.
    pub time: Option<f64>,
    /// Its energy in units of usual time × (static + dynamic power).
    pub energy: Option<f64>,
}

impl Part {
    fn new(probability: f64, time: Option<f64>, energy: Option<f64>) -> Self {
        Self { probability, time, energy }
    }

    /// What this kind adds to the mean: 0 if its probability is 0, even if its value is unknown.
    fn contribution(self, value: Option<f64>) -> Option<f64> {
        if self.probability == 0.0 { Some(0.0) } else { value.map(|value| self.probability * value) }
    }
}

/// The model's results for a mean task.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstOrder {
    /// Stragglers that were detected.
    pub detected_stragglers: Part,
    /// Stragglers that were not detected.
    pub undetected_stragglers: Part,
    /// Other tasks that were detected.
    pub false_positives: Part,
    /// Other tasks that were not detected.
    pub true_negatives: Part,
}

impl FirstOrder {
    /// Applies the model.
    #[must_use]
    pub fn of(input: &Input) -> Self {
        let undetected = input.straggler_share - input.detected_share;
        let (latency, undetected_time) = (input.detection_latency, input.undetected_time);
        let plus = |more: f64| latency.map(|latency| latency + more);
        let true_negatives = 1.0 - input.straggler_share - input.false_positive_share;
        Self {
            detected_stragglers: Part::new(input.detected_share, plus(1.0), plus(2.0)),
            undetected_stragglers: Part::new(undetected, undetected_time, undetected_time),
            false_positives: Part::new(input.false_positive_share, Some(1.0), Some(1.5)),
            true_negatives: Part::new(true_negatives, Some(1.0), Some(1.0)),
        }
    }

    /// The four kinds.
    #[must_use]
    pub(crate) const fn parts(&self) -> [Part; 4] {
        [self.detected_stragglers, self.undetected_stragglers, self.false_positives, self.true_negatives]
    }

    /// Whether all probabilities are at least 0. Counted shares always give such probabilities. Shares
    /// computed from precision and recall may contradict each other; then no result may be shown.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        /// A probability of 0 may come out slightly negative by rounding.
        const ROUNDING: f64 = 1e-12;
        self.parts().iter().all(|part| part.probability >= -ROUNDING)
    }

    /// The expected time of a task over its usual time.
    #[must_use]
    pub fn expected_time(&self) -> Option<f64> {
        self.parts().iter().map(|part| part.contribution(part.time)).sum()
    }

    /// The expected energy of a task in units of usual time × (static + dynamic power).
    #[must_use]
    pub fn expected_energy(&self) -> Option<f64> {
        self.parts().iter().map(|part| part.contribution(part.energy)).sum()
    }

    /// Expected energy multiplied by the power of one task: watts over the usual time.
    #[must_use]
    pub fn expected_watts(&self, power: &Power) -> Option<f64> {
        self.expected_energy().map(|energy| energy * power.of_one_task())
    }
}

/// How wrong the estimate of a usual time may be while the 1.2 label still holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GuessError {
    /// Whether S0's condition `e_setting <= (s_min - 1)/(s_min + 1)` allows any error.
    pub exists: bool,
    /// Largest error at which every straggler is still labelled one (eq 11).
    pub from_stragglers: f64,
    /// Largest error at which no other task is labelled a straggler (eq 12).
    pub from_others: f64,
}

impl GuessError {
    /// For stragglers that are at least `least_slowdown` times slower, and a setting that makes times vary by
    /// `setting_error`. S0's last formula has the guess error on its right-hand side where it means the
    /// setting's error.
    #[must_use]
    pub fn of(least_slowdown: f64, setting_error: f64) -> Self {
        const FACTOR: f64 = 1.2;
        Self {
            exists: setting_error <= (least_slowdown - 1.0) / (least_slowdown + 1.0),
            from_stragglers: least_slowdown * (1.0 - setting_error) / FACTOR - 1.0,
            from_others: (FACTOR - 1.0 - setting_error) / FACTOR,
        }
    }

    /// The greatest allowed error, as a share of the usual time; negative if no error is allowed.
    #[must_use]
    pub const fn greatest(&self) -> f64 {
        self.from_stragglers.min(self.from_others)
    }

    /// Whether labels are correct at least if usual times are known without error.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.exists && self.greatest() >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn power_depends_on_the_number_of_active_cores() {
        let measured = Power { static_watts: 65.0, dynamic_watts: 17.0 };
        let watts = [0, 1, 4, 5, 9].map(|tasks| measured.of_machine(tasks, 4, 2));
        assert_eq!(watts, [Some(0.0), Some(82.0), Some(133.0), Some(133.0), None]);
    }

    fn input(shares: (f64, f64, f64), undetected_time: Option<f64>) -> Input {
        let (straggler_share, detected_share, false_positive_share) = shares;
        Input {
            straggler_share,
            detected_share,
            false_positive_share,
            detection_latency: None,
            undetected_time,
        }
    }

    #[test]
    fn unknown_values_matter_only_for_kinds_that_occur() {
        let known = FirstOrder::of(&input((0.1, 0.0, 0.0), Some(2.0)));
        assert!((known.expected_time().unwrap() - 1.1).abs() < 1e-12);
        let unknown = FirstOrder::of(&input((0.1, 0.0, 0.0), None));
        assert_eq!(unknown.expected_time(), None);
        assert_eq!(Input::of_ratios(0.1, (None, None), None, Some(2.0)), None);
        assert_eq!(Input::of_ratios(0.1, (Some(0.0), Some(0.0)), None, Some(2.0)), None);
    }

    proptest! {
        #[test]
        fn probabilities_add_up(
            alpha in 0.0f64..1.0,
            precision in 0.01f64..=1.0,
            recall in 0.0f64..=1.0,
        ) {
            let ratios = (Some(precision), Some(recall));
            let model = FirstOrder::of(&Input::of_ratios(alpha, ratios, Some(0.5), Some(2.0)).unwrap());
            let sum: f64 = model.parts().iter().map(|part| part.probability).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
            prop_assert_eq!(model.is_valid(), model.true_negatives.probability >= -1e-12);
        }
    }
}
