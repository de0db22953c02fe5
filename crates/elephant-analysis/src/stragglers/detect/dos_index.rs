//! `dos-index`: the DoS-index of running attempts (S2 eq 1 with the "current execution duration").

use super::snapshot::{Past, Snapshot};
use super::timing::Timing;
use super::{Detector, Needs, Parameter, Value};
use crate::stragglers::labels::DOS_REPORT;

/// Flags running attempts whose time per input is at least a multiple of that of all launched tasks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DosIndex {
    /// The multiple.
    pub level: f64,
    /// When it may flag.
    pub timing: Timing,
}

impl DosIndex {
    /// The level from which S2 reports; the minimum age is our choice, because the first scans are noisy.
    pub(crate) const DEFAULT: Self = Self { level: DOS_REPORT, timing: Timing::from_age(5.0) };
}

impl Detector for DosIndex {
    fn id(&self) -> &'static str {
        "dos-index"
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![Parameter::new("level", Value::Number(self.level))];
        parameters.extend(self.timing.parameters());
        parameters
    }

    fn needs(&self) -> Needs {
        Needs::Input
    }

    fn flag(&self, snapshot: &Snapshot<'_>, _past: &Past<'_>, flags: &mut Vec<usize>) {
        if !self.timing.is_open(snapshot) {
            return;
        }
        let done = snapshot.completed.with_input();
        let known = snapshot.running.iter().filter_map(|attempt| Some((attempt.elapsed, attempt.input?)));
        let (time, input) =
            known.fold((done.time, done.amount), |sum, task| (sum.0 + task.0, sum.1 + task.1));
        if time <= 0.0 || input <= 0.0 {
            return;
        }
        let limit = self.level * (time / input);
        for (place, attempt) in snapshot.running.iter().enumerate() {
            // The index of a task without input is infinite, whatever its time.
            let Some(size) = attempt.input.filter(|&size| size > 0.0) else { continue };
            if attempt.elapsed / size >= limit && self.timing.is_old_enough(attempt) {
                flags.push(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::{Completion, Running};
    use super::super::testing::{NOTHING, group, running};
    use super::*;

    #[test]
    fn time_is_divided_by_input() {
        let with = |elapsed, input| Running { input: Some(input), ..running(elapsed, 0.5) };
        let attempts = [with(40.0, 100.0), with(40.0, 1000.0), with(40.0, 0.0), running(40.0, 0.5)];
        let mut group = group(60.0, &attempts);
        let done = Completion { at_ms: 0, duration_ms: 40_000, input: Some(1000.0), records: None };
        (0..4).for_each(|_| group.completed.add(&done));
        assert_eq!(group.flags(&DosIndex::DEFAULT), [0]);
    }

    #[test]
    fn without_inputs_there_is_no_index() {
        let attempts = [running(400.0, 0.5), running(4.0, 0.5)];
        assert_eq!(group(60.0, &attempts).flags(&DosIndex::DEFAULT), NOTHING);
    }
}
