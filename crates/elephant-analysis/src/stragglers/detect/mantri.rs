//! `mantri`: a copy if it probably saves resources (Ananthanarayanan et al., "Reining in the Outliers in
//! Map-Reduce Clusters using Mantri"). Mantri's cause-aware placement and its protection of outputs need
//! network data and are left out.

use super::snapshot::{Past, Running, Snapshot, to_millis};
use super::{Compared, Detector, Parameter, Value};
use elephant_base::whole::Whole;

/// Probability that another run saves resources when `copies` are running: the share of run times of finished
/// tasks with `t_new (c + 1) / c < t_rem`. `None` if there are no run times or no copies.
#[must_use]
pub fn probability_of_saving(time_left: f64, new_runs: &[f64], copies: usize) -> Option<f64> {
    if new_runs.is_empty() || copies == 0 {
        return None;
    }
    let factor = (copies + 1) as f64 / copies as f64;
    let saving = new_runs.iter().filter(|&&run| run * factor < time_left).count();
    Some(saving as f64 / new_runs.len() as f64)
}

/// Flags attempts for which another run saves resources with more than the given probability.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mantri {
    /// The probability.
    pub delta: f64,
    /// Minimum number of finished tasks before their run times are used; our choice.
    pub min_completed: usize,
}

impl Mantri {
    /// Mantri's own probability.
    pub(crate) const DEFAULT: Self = Self { delta: 0.25, min_completed: 5 };

    /// An attempt that needs more seconds than this gets a copy; `None` while too few tasks are done.
    fn doubled(&self, snapshot: &Snapshot<'_>) -> Option<f64> {
        let count = snapshot.completed.count();
        if count < self.min_completed {
            return None;
        }
        // The share of short runs exceeds delta exactly if the run at this rank is short. This takes one
        // lookup instead of one scan per attempt.
        let rank = (self.delta * count as f64).floor().as_usize();
        snapshot.completed.duration_ms(rank).map(|run| 2.0 * run as f64 / 1000.0)
    }
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

    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        let (left, doubled) = (attempt.time_left()?, self.doubled(snapshot)?);
        Some(Compared { measure: Compared::TIME_LEFT, value: to_millis(left), limit: to_millis(doubled) })
    }

    fn flag(&self, snapshot: &Snapshot<'_>, _past: &Past<'_>, flags: &mut Vec<usize>) {
        let Some(doubled) = self.doubled(snapshot) else { return };
        // Without progress the time left is unknown.
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
    use super::super::testing::{compared, group, running};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_runs_or_copies_the_probability_is_unknown() {
        assert_eq!(probability_of_saving(10.0, &[], 1), None);
        assert_eq!(probability_of_saving(10.0, &[1.0], 0), None);
    }

    #[test]
    fn attempts_without_progress_are_not_flagged() {
        let attempts = [running(10.0, 0.0), running(10.0, 0.01)];
        let mut done = group(60.0, &attempts);
        done.finish(10.0, 5);
        assert_eq!(done.flags(&Mantri::DEFAULT), [1]);
        assert_eq!(compared(&done, &Mantri::DEFAULT, 1), Some(("time_left_ms", 990_000_000, 20_000_000)));
    }

    proptest! {
        #[test]
        fn rank_and_probability_agree(
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
