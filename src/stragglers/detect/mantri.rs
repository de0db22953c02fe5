//! `mantri`: a copy where it saves resources with some probability (Ananthanarayanan et al., "Reining in the Outliers in
//! Map-Reduce Clusters using Mantri"). Its placement by cause and its protection of outputs need the network's data.

use super::snapshot::{Past, Running, Snapshot};
use super::{Detector, Parameter, Value};

/// The share of new runs that would save resources beside `copies` running ones: `P(t_new (c + 1) / c < t_rem)` over the
/// run times of tasks that are done. `None` for none of them, or no copy.
#[must_use]
pub fn probability_of_saving(time_left: f64, new_runs: &[f64], copies: usize) -> Option<f64> {
    if new_runs.is_empty() || copies == 0 {
        return None;
    }
    let factor = (copies + 1) as f64 / copies as f64;
    let saving = new_runs.iter().filter(|&&run| run * factor < time_left).count();
    Some(saving as f64 / new_runs.len() as f64)
}

/// Flags attempts for which a new run saves resources with more than a given probability.
#[derive(Debug, Clone, Copy)]
pub struct Mantri {
    /// The probability.
    pub delta: f64,
    /// So many tasks must be done before their run times say anything; ours.
    pub min_completed: usize,
}

impl Mantri {
    /// Mantri's probability.
    pub const DEFAULT: Self = Self { delta: 0.25, min_completed: 5 };
}

impl Detector for Mantri {
    fn id(&self) -> &'static str {
        "mantri"
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("delta", Value::Number(self.delta)),
            Parameter::new("min_completed", Value::Number(self.min_completed as f64)),
        ]
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of a count
    fn flag(&self, snapshot: &Snapshot<'_>, _past: &Past<'_>, flags: &mut Vec<usize>) {
        let count = snapshot.completed.count();
        if count < self.min_completed {
            return;
        }
        // More than delta of the runs are short enough exactly where the run of this rank is: one look instead of one
        // for each attempt.
        let rank = (self.delta * count as f64).floor() as usize;
        let Some(run) = snapshot.completed.duration_ms(rank) else { return };
        let doubled = 2.0 * run as f64 / 1000.0;
        // Before there is progress, the time left is not known.
        let saves = |attempt: &Running| {
            attempt.progress.is_some_and(|progress| progress > 0.0)
                && attempt.time_left().is_some_and(|left| doubled < left)
        };
        let attempts = snapshot.running.iter().enumerate();
        flags.extend(attempts.filter(|(_, attempt)| saves(attempt)).map(|(place, _)| place));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{group, running};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_runs_or_copies_there_is_no_probability() {
        assert_eq!(probability_of_saving(10.0, &[], 1), None);
        assert_eq!(probability_of_saving(10.0, &[1.0], 0), None);
    }

    #[test]
    fn no_progress_is_no_estimate() {
        let attempts = [running(10.0, 0.0), running(10.0, 0.01)];
        let mut done = group(60.0, &attempts);
        done.finish(10.0, 5);
        assert_eq!(done.flags(&Mantri::DEFAULT), [1]);
    }

    proptest! {
        #[test]
        fn the_rank_decides_as_the_probability_does(
            runs in prop::collection::vec(1u64..100, 5..40),
            elapsed in 1.0f64..200.0,
            progress in 0.01f64..1.0,
        ) {
            let attempts = [running(elapsed, progress)];
            let mut done = group(1000.0, &attempts);
            for &run in &runs {
                done.finish(run as f64, 1);
            }
            let seconds: Vec<f64> = runs.iter().map(|&run| run as f64).collect();
            let left = attempts[0].time_left().unwrap();
            let saves = probability_of_saving(left, &seconds, 1).unwrap() > 0.25;
            prop_assert_eq!(!done.flags(&Mantri::DEFAULT).is_empty(), saves);
        }
    }
}
