//! `offline`, `online` and `combined`: S2's detectors, based on a model of usual progress (S2 sections 6 and
//! 7.3).

use super::average_gap::{average_of, compared_with_average, is_behind};
use super::pool::Pool;
use super::snapshot::{Past, Running, Snapshot};
use super::timing::Timing;
use super::{Compared, Detector, Needs, Parameter, Value};
use elephant_base::stats::descriptive::median;

/// How much longer than usual a task may take, the Diff of S2 section 6.1.
pub(crate) const DIFF: f64 = 0.5;

/// S2 starts 5 s after the job's start.
const FIRST_CHECK: Timing = Timing { lag: 5.0, ..Timing::from_age(0.0) };

/// The lowest progress that does not make a straggler after `elapsed` seconds: `S(t) = f(t / (1 + diff))` for
/// the usual progress `f` (S2 eq 2 and 3, where 50 % more time gives `f(2/3 t)`).
pub fn least_progress(usual: impl Fn(f64) -> f64, elapsed: f64, diff: f64) -> f64 {
    usual(elapsed / (1.0 + diff))
}

/// Whether progress is less than half of the median (S2 section 6.2).
#[must_use]
pub fn is_below_half(progress: f64, median: f64) -> bool {
    progress < 0.5 * median
}

/// Whether progress is behind the average, for a task of at least `min_age` (S2 section 7.3).
#[must_use]
pub fn is_behind_online(progress: f64, elapsed: f64, average: f64, gap: f64, min_age: f64) -> bool {
    is_behind(progress, average, gap) && elapsed >= min_age
}

/// Flags attempts with less progress than the model of usual progress allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offline {
    /// How much longer than usual a task may take.
    pub diff: f64,
    /// When it may flag.
    pub timing: Timing,
}

impl Offline {
    /// S2's settings.
    pub(crate) const DEFAULT: Self = Self { diff: DIFF, timing: FIRST_CHECK };

    /// An attempt's progress, and the lowest progress that the model allows.
    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        let (value, model) = (attempt.progress?, snapshot.usual_progress?);
        let limit = least_progress(|elapsed| model.at(elapsed), attempt.elapsed, self.diff);
        Some(Compared { measure: Compared::PROGRESS, value, limit })
    }

    fn flags(&self, snapshot: &Snapshot<'_>) -> Vec<usize> {
        let Some(model) = snapshot.usual_progress.filter(|_| self.timing.is_open(snapshot)) else {
            return Vec::new();
        };
        let below = |attempt: &Running| {
            let least = least_progress(|elapsed| model.at(elapsed), attempt.elapsed, self.diff);
            attempt.reported_progress().is_some_and(|progress| progress < least)
                && self.timing.is_old_enough(attempt)
        };
        let attempts = snapshot.running.iter().enumerate();
        attempts.filter(|(_, attempt)| below(attempt)).map(|(place, _)| place).collect()
    }
}

impl Detector for Offline {
    fn id(&self) -> &'static str {
        "offline"
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![Parameter::new("diff", Value::Number(self.diff))];
        parameters.extend(self.timing.parameters());
        parameters
    }

    fn needs(&self) -> Needs {
        Needs::Models
    }

    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        self.compared(snapshot, attempt)
    }

    fn flag(&self, snapshot: &Snapshot<'_>, _past: &Past<'_>, flags: &mut Vec<usize>) {
        flags.extend(self.flags(snapshot));
    }
}

/// Flags attempts that are behind the average and have run for a minute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Online {
    /// The gap.
    pub gap: f64,
    /// The tasks the average is computed over.
    pub pool: Pool,
    /// When it may flag.
    pub timing: Timing,
}

impl Online {
    /// S2's settings.
    pub(crate) const DEFAULT: Self =
        Self { gap: 0.2, pool: Pool::Launched, timing: Timing { min_age: 60.0, ..FIRST_CHECK } };
}

impl Detector for Online {
    fn id(&self) -> &'static str {
        "online"
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = vec![Parameter::new("gap", Value::Number(self.gap))];
        parameters.extend(self.timing.parameters());
        parameters
    }

    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        compared_with_average(self.pool, self.gap, snapshot, attempt)
    }

    fn flag(&self, snapshot: &Snapshot<'_>, _past: &Past<'_>, flags: &mut Vec<usize>) {
        if !self.timing.is_open(snapshot) {
            return;
        }
        let Some(average) = average_of(self.pool, snapshot) else { return };
        let behind = |attempt: &Running| {
            attempt.reported_progress().is_some_and(|progress| {
                is_behind_online(progress, attempt.elapsed, average, self.gap, self.timing.min_age)
            })
        };
        let attempts = snapshot.running.iter().enumerate();
        flags.extend(attempts.filter(|(_, attempt)| behind(attempt)).map(|(place, _)| place));
    }
}

/// The second criterion, combined with the offline detector.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Second {
    /// Progress below half the group's median (S2 section 6.2).
    MedianHalf(Pool),
    /// The online detector (S2 section 7.3, as simulated there).
    AverageGap(Online),
}

/// Flags attempts on which the offline model and a comparison with sibling tasks agree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Combined {
    /// The name in reports.
    pub id: &'static str,
    /// The model-based detector.
    pub offline: Offline,
    /// The comparison with siblings.
    pub second: Second,
}

impl Combined {
    /// With half the median of all launched tasks.
    pub(crate) const DEFAULT: Self =
        Self { id: "combined", offline: Offline::DEFAULT, second: Second::MedianHalf(Pool::Launched) };
    /// With the online detector.
    pub(crate) const AVERAGE_GAP: Self = Self {
        id: "combined-average-gap",
        offline: Offline::DEFAULT,
        second: Second::AverageGap(Online::DEFAULT),
    };
}

impl Detector for Combined {
    fn id(&self) -> &'static str {
        self.id
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = self.offline.parameters();
        match self.second {
            Second::MedianHalf(_) => parameters.push(Parameter::new("below_median", Value::Number(0.5))),
            Second::AverageGap(online) => {
                parameters.push(Parameter::new("gap", Value::Number(online.gap)));
                parameters.push(Parameter::new("gap_min_age_s", Value::Number(online.timing.min_age)));
            }
        }
        parameters
    }

    fn needs(&self) -> Needs {
        Needs::Models
    }

    fn compared(&self, snapshot: &Snapshot<'_>, attempt: &Running) -> Option<Compared> {
        // Both criteria must hold, so the stricter one decides.
        let offline = self.offline.compared(snapshot, attempt)?;
        let second = match self.second {
            Second::MedianHalf(pool) => 0.5 * median_progress(pool, snapshot)?,
            Second::AverageGap(online) => online.compared(snapshot, attempt)?.limit,
        };
        Some(Compared { limit: offline.limit.min(second), ..offline })
    }

    fn flag(&self, snapshot: &Snapshot<'_>, past: &Past<'_>, flags: &mut Vec<usize>) {
        let mut offline = self.offline.flags(snapshot);
        if offline.is_empty() {
            return;
        }
        match self.second {
            Second::MedianHalf(pool) => {
                let Some(median) = median_progress(pool, snapshot) else { return };
                offline.retain(|&place| {
                    let progress = snapshot.running.get(place).and_then(|attempt| attempt.progress);
                    progress.is_some_and(|progress| is_below_half(progress, median))
                });
            }
            Second::AverageGap(online) => {
                let mut behind = Vec::new();
                online.flag(snapshot, past, &mut behind);
                offline.retain(|place| behind.binary_search(place).is_ok());
            }
        }
        flags.extend(offline);
    }
}

/// The median progress of the pool's tasks; finished tasks count as 1, waiting ones as 0.
fn median_progress(pool: Pool, snapshot: &Snapshot<'_>) -> Option<f64> {
    let (finished, pending) = match pool {
        Pool::All => (snapshot.completed.count(), snapshot.pending),
        Pool::Launched => (snapshot.completed.count(), 0),
        Pool::Running => (0, 0),
    };
    // If most tasks are finished, the median is 1 whatever the others do.
    if finished > pending + snapshot.running.len() {
        return Some(1.0);
    }
    let mut progress: Vec<f64> = snapshot.progress().collect();
    progress.extend(std::iter::repeat_n(1.0, finished));
    progress.extend(std::iter::repeat_n(0.0, pending));
    median(&progress)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOTHING, compared, group, running};
    use super::*;
    use crate::stragglers::regression::ProgressModel;

    #[test]
    fn the_model_gives_the_least_progress() {
        // S2's example: f = 0.01 + 0.15 t, S(3) = 0.31.
        let model = ProgressModel::polynomial(&[0.01, 0.15]);
        let attempts = [running(3.0, 0.5), running(3.0, 0.3), running(3.0, 0.2), running(3.0, 0.5)];
        let mut group = group(10.0, &attempts);
        assert_eq!(group.flags(&Offline::DEFAULT), NOTHING);
        group.model = Some(model);
        assert_eq!(group.flags(&Offline::DEFAULT), [1, 2]);
        assert_eq!(compared(&group, &Offline::DEFAULT, 1), Some(("progress", 300, 310)));
        assert_eq!(compared(&group, &Combined::DEFAULT, 1), Some(("progress", 300, 200)));
        // The median is 0.4.
        assert_eq!(group.flags(&Combined::DEFAULT), NOTHING);
        assert_eq!(group.flags(&Combined::AVERAGE_GAP), NOTHING);
    }

    #[test]
    fn finished_tasks_count_as_full_progress() {
        let attempts = [running(3.0, 0.45)];
        let mut group = group(10.0, &attempts);
        group.finish(2.0, 5);
        assert_eq!(median_progress(Pool::Launched, &group.snapshot()), Some(1.0));
        assert_eq!(median_progress(Pool::Running, &group.snapshot()), Some(0.45));
        group.model = Some(ProgressModel::polynomial(&[0.0, 0.5]));
        assert_eq!(group.flags(&Combined::DEFAULT), [0]);
    }

    #[test]
    fn online_ignores_attempts_younger_than_a_minute() {
        let old = [running(60.0, 0.9), running(60.0, 0.1)];
        assert_eq!(group(60.0, &old).flags(&Online::DEFAULT), [1]);
        let young = [running(59.0, 0.9), running(59.0, 0.1)];
        assert_eq!(group(60.0, &young).flags(&Online::DEFAULT), NOTHING);
    }
}
