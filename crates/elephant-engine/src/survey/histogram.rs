//! Distribution of the durations of a group's tasks, with the straggler limit at an edge.

use elephant_base::state::State;
use elephant_base::units::Millis;
use elephant_base::whole::Whole;

/// Number of steps below the limit.
const BELOW: usize = 6;
/// Number of steps from the limit on; the last is unbounded.
const ABOVE: usize = 6;

/// Tasks by duration.
#[derive(Debug, Clone, PartialEq, Eq, Default, State)]
#[non_exhaustive]
pub struct Histogram {
    /// Start of each step, and its number of tasks. The last step also holds all longer tasks.
    pub steps: Vec<(Millis, u64)>,
    /// Index of the step that starts at the limit; `None` if the group has no limit.
    pub limit: Option<usize>,
    /// Whether the last step holds tasks beyond its width.
    pub open: bool,
}

impl Histogram {
    /// From durations and the limit, in seconds. Without a limit the steps end at the longest task.
    #[must_use]
    pub(crate) fn of(durations: &[f64], limit: Option<f64>) -> Self {
        let longest = durations.iter().copied().max_by(f64::total_cmp).unwrap_or_default();
        let limit = limit.filter(|limit| limit.is_finite() && *limit > 0.0);
        let width = limit.unwrap_or(longest) / BELOW as f64;
        if !(width > 0.0 && width.is_finite()) {
            return Self::default();
        }
        let count = if limit.is_some() { BELOW + ABOVE } else { BELOW };
        let mut counts = vec![0; count];
        for duration in durations {
            let mut place = step(duration / width, count);
            // Rounding must not move a task across the limit.
            if let Some(limit) = limit {
                place = if *duration >= limit { place.max(BELOW) } else { place.min(BELOW - 1) };
            }
            if let Some(slot) = counts.get_mut(place) {
                *slot += 1;
            }
        }
        let mut steps: Vec<(Millis, u64)> = counts
            .into_iter()
            .enumerate()
            .map(|(place, count)| {
                (Millis::from_f64(1000.0 * width * place as f64).unwrap_or_default(), count)
            })
            .collect();
        while steps.len() > BELOW + 1 && steps.last().is_some_and(|&(_, count)| count == 0) {
            steps.pop();
        }
        let open = limit.is_some() && longest >= width * count as f64;
        Self { limit: limit.map(|_| BELOW), steps, open }
    }
}

impl Histogram {
    /// The index of the step that holds a straggler of this duration; `None` without steps.
    #[must_use]
    pub(crate) fn step_of_straggler(&self, duration: Millis) -> Option<usize> {
        let place = self.steps.partition_point(|&(from, _)| from <= duration).saturating_sub(1);
        // The start of a step is rounded to a millisecond, which must not move a straggler across the limit.
        (!self.steps.is_empty()).then(|| self.limit.map_or(place, |limit| place.max(limit)))
    }
}

fn step(place: f64, count: usize) -> usize {
    place.as_usize().min(count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_limit_is_an_edge_of_a_step() {
        let histogram = Histogram::of(&[1.0, 1.0, 1.2, 6.0, 100.0], Some(6.0));
        assert_eq!((histogram.limit, histogram.open), (Some(6), true));
        let counts: Vec<u64> = histogram.steps.iter().map(|step| step.1).collect();
        assert_eq!(counts, [0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
        assert_eq!(histogram.steps[6].0, Millis::from_secs(6));
    }

    #[test]
    fn stragglers_are_in_the_steps_from_the_limit_on() {
        let histogram = Histogram::of(&[1.0, 1.0, 1.2, 6.0, 100.0], Some(6.0));
        let step = |seconds| histogram.step_of_straggler(Millis::from_secs(seconds));
        assert_eq!([step(5), step(6), step(7), step(100)], [Some(6), Some(6), Some(7), Some(11)]);
        assert_eq!(Histogram::default().step_of_straggler(Millis::from_secs(1)), None);
        assert_eq!(Histogram::of(&[3.0], None).step_of_straggler(Millis::from_secs(1)), Some(2));
    }

    #[test]
    fn degenerate_groups_have_few_steps() {
        assert_eq!(Histogram::of(&[], None), Histogram::default());
        assert_eq!(Histogram::of(&[0.0, 0.0], None), Histogram::default());
        assert_eq!(Histogram::of(&[3.0], None).steps.len(), BELOW);
    }

    proptest! {
        #[test]
        fn every_task_is_in_one_step(
            durations in prop::collection::vec(0.0f64..1e5, 1..50),
            limit in prop::option::of(0.001f64..1e4),
        ) {
            let histogram = Histogram::of(&durations, limit);
            let sum: u64 = histogram.steps.iter().map(|step| step.1).sum();
            prop_assert!(sum == durations.len() as u64 || durations.iter().all(|&duration| duration == 0.0));
            if let (Some(place), Some(limit)) = (histogram.limit, limit) {
                let above: u64 = histogram.steps[place..].iter().map(|step| step.1).sum();
                prop_assert_eq!(above, durations.iter().filter(|&&duration| duration >= limit).count() as u64);
            }
        }
    }
}
