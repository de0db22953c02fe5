//! `flink`: Flink's slow task detector, which relates time to input (`ExecutionTimeBasedSlowTaskDetector`).

use super::snapshot::{Past, Running, Snapshot};
use super::{Detector, Needs, Parameter, Value};
use crate::stragglers::labels::multiple;
use elephant_base::whole::Whole;

/// Flags attempts that exceed a multiple of the median time per input of the fastest finished tasks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flink {
    /// `slow-task-detector.execution-time.baseline-ratio`: the share of tasks that must have finished; the
    /// fastest tasks of this share make the baseline.
    pub ratio: f64,
    /// `slow-task-detector.execution-time.baseline-multiplier`.
    pub multiplier: f64,
    /// `slow-task-detector.execution-time.baseline-lower-bound`, in seconds: younger attempts are never slow.
    pub lower_bound: f64,
}

impl Flink {
    /// Flink's defaults.
    pub(crate) const DEFAULT: Self = Self { ratio: 0.75, multiplier: 1.5, lower_bound: 60.0 };

    /// Whether times are per input, and the limit: seconds per unit of input if all inputs are known,
    /// otherwise seconds.
    fn baseline(&self, snapshot: &Snapshot<'_>) -> Option<(bool, f64)> {
        let completed = snapshot.completed;
        if (completed.count() as f64) < self.ratio * snapshot.total as f64 {
            return None;
        }
        let first = (self.ratio * snapshot.total as f64).round().as_usize();
        let rank = first / 2;
        let all_known = snapshot.running.iter().all(|attempt| attempt.input.is_some());
        if let Some(weighted) = completed.weighted(rank).filter(|_| all_known) {
            return Some((true, weighted * self.multiplier));
        }
        completed.duration_ms(rank).map(|median| (false, multiple(self.multiplier, median as f64 / 1000.0)))
    }
}

impl Detector for Flink {
    fn id(&self) -> &'static str {
        "flink"
    }

    fn parameters(&self) -> Vec<Parameter> {
        vec![
            Parameter::new("baseline_ratio", Value::Number(self.ratio)),
            Parameter::new("baseline_multiplier", Value::Number(self.multiplier)),
            Parameter::new("baseline_lower_bound_s", Value::Number(self.lower_bound)),
        ]
    }

    fn needs(&self) -> Needs {
        Needs::Input
    }

    fn flag(&self, snapshot: &Snapshot<'_>, _past: &Past<'_>, flags: &mut Vec<usize>) {
        let Some((weighted, limit)) = self.baseline(snapshot) else { return };
        let is_slow = |attempt: &Running| {
            let time = match attempt.input.filter(|_| weighted) {
                Some(input) => attempt.elapsed / input.max(f64::MIN_POSITIVE),
                None => attempt.elapsed,
            };
            attempt.elapsed >= self.lower_bound && time >= limit
        };
        let attempts = snapshot.running.iter().enumerate();
        flags.extend(attempts.filter(|(_, attempt)| is_slow(attempt)).map(|(place, _)| place));
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::Completion;
    use super::super::testing::{NOTHING, group, running};
    use super::*;

    #[test]
    fn tasks_with_large_inputs_may_take_longer() {
        let with = |elapsed, input| Running { input: Some(input), ..running(elapsed, 0.5) };
        let attempts = [with(90.0, 1.0), with(90.0, 3.0)];
        let mut done = group(200.0, &attempts);
        let task = Completion { at_ms: 0, duration_ms: 40_000, input: Some(1.0), records: None };
        (0..6).for_each(|_| done.completed.add(&task));
        done.total = 8;
        assert_eq!(done.flags(&Flink::DEFAULT), [0]);
        // If one input is unknown, times are compared directly.
        done.completed.add(&Completion { input: None, ..task });
        assert_eq!(done.flags(&Flink::DEFAULT), [0, 1]);
    }

    #[test]
    fn attempts_younger_than_a_minute_are_not_slow() {
        let attempts = [running(59.0, 0.5), running(60.0, 0.5)];
        let mut done = group(200.0, &attempts);
        done.finish(10.0, 6);
        assert_eq!(done.flags(&Flink::DEFAULT), [1]);
        done.total = 9;
        assert_eq!(done.flags(&Flink::DEFAULT), NOTHING);
    }
}
