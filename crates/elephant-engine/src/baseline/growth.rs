//! How far the limits of costs rise because a run read more than the accepted runs: only the phases that read more may
//! take longer.
//!
//! A phase grows as what it reads. Shuffled data excuses a longer phase only as far as the input of the whole run grew:
//! otherwise the job made more of the same data. The run may take as much longer as its grown phases do, one after the
//! other, but never more than in proportion to the phase that grew most, because phases may run at the same time. Memory
//! is held as long as the run or its tasks last.

use super::Run;
use super::file::ReadPhase;
use crate::fingerprint::without_lines;
use crate::results::{GrownPhase, LimitGrowth, Metric};
use elephant_base::stats::descriptive::median;

/// What a run read, next to the accepted runs of its job.
pub(super) struct Growth {
    /// The input as a multiple of that of the accepted runs; `None` if either is unknown.
    pub(super) input: Option<f64>,
    /// `None` if the accepted runs do not tell their phases.
    by_phase: Option<ByPhase>,
}

/// The additional costs of the phases that read more, as shares of the costs of the accepted runs.
#[derive(Default)]
struct ByPhase {
    phases: Vec<(GrownPhase, Shares)>,
}

/// Shares of an accepted run's costs.
#[derive(Clone, Copy)]
struct Shares {
    run_time: f64,
    task_time: f64,
}

impl Growth {
    /// How `run` grew since the runs in `accepted`.
    pub(super) fn of(accepted: &[Run], run: &Run) -> Self {
        let usual = of_runs(accepted, |run| run.input_bytes).filter(|&bytes| bytes > 0.0);
        let input = usual.zip(run.input_bytes).map(|(usual, bytes)| bytes as f64 / usual);
        let told: Vec<&Run> = accepted.iter().filter(|run| !run.phases.is_empty()).collect();
        let by_phase = (!told.is_empty()).then(|| ByPhase::of(&told, run, input.unwrap_or(1.0)));
        Self { input, by_phase }
    }

    /// How far the limit of this metric rises.
    pub(super) fn of_limit(&self, metric: Metric) -> LimitGrowth {
        if !metric.grows_with_input() {
            return LimitGrowth::none();
        }
        match &self.by_phase {
            Some(by_phase) => by_phase.of_limit(metric),
            None => LimitGrowth { factor: self.input.unwrap_or(1.0).max(1.0), phases: Vec::new() },
        }
    }
}

impl ByPhase {
    fn of(accepted: &[&Run], run: &Run, input: f64) -> Self {
        let total = |cost: fn(&Run) -> Option<u64>| of_runs(accepted.iter().copied(), cost);
        let (run_time, task_time) = (total(|run| run.runtime_ms), total(|run| run.task_time_ms));
        let mut grown = Self::default();
        for phase in &run.phases {
            let before: Vec<&ReadPhase> = accepted.iter().filter_map(|run| counterpart(phase, run)).collect();
            let usual = |value: fn(&ReadPhase) -> Option<u64>| of_phases(&before, value);
            let Some(read_ratio) = read_ratio(phase, input, usual).filter(|&ratio| ratio > 1.0) else {
                continue;
            };
            let share = |part: Option<f64>, whole: Option<f64>| {
                let share = part.zip(whole.filter(|&whole| whole > 0.0)).map(|(part, whole)| part / whole);
                (read_ratio - 1.0) * share.unwrap_or(0.0).min(1.0)
            };
            let shares = Shares {
                run_time: share(usual(|phase| phase.runtime_ms), run_time),
                task_time: share(usual(|phase| phase.task_time_ms), task_time),
            };
            grown.phases.push((GrownPhase { phase: phase.phase.clone(), read_ratio }, shares));
        }
        grown
    }

    fn of_limit(&self, metric: Metric) -> LimitGrowth {
        let share = |shares: &Shares| match metric {
            Metric::Runtime => shares.run_time,
            Metric::TaskTime => shares.task_time,
            Metric::Used | Metric::Wasted => shares.run_time.max(shares.task_time),
            Metric::FailedAttempts => 0.0,
        };
        let mut grown: Vec<(&GrownPhase, f64)> =
            self.phases.iter().map(|(phase, shares)| (phase, share(shares))).collect();
        grown.retain(|(_, share)| *share > 0.0);
        // The sort is stable: phases with equal shares stay in the order of their names.
        grown.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let most = grown.iter().map(|(phase, _)| phase.read_ratio).fold(1.0, f64::max);
        let sum: f64 = grown.iter().map(|(_, share)| share).sum();
        let phases = grown.into_iter().map(|(phase, _)| phase.clone()).collect();
        LimitGrowth { factor: (1.0 + sum).min(most), phases }
    }
}

/// What the phase read as a multiple of what it usually reads; `None` if that is unknown, or nothing.
fn read_ratio(
    phase: &ReadPhase,
    input: f64,
    usual: impl Fn(fn(&ReadPhase) -> Option<u64>) -> Option<f64>,
) -> Option<f64> {
    let read = |value: fn(&ReadPhase) -> Option<u64>| {
        let usual = usual(value).filter(|&usual| usual > 0.0)?;
        Some((value(phase)? as f64, usual))
    };
    let files = read(|phase| phase.input_bytes);
    let shuffled = read(|phase| phase.shuffle_read_bytes);
    let shuffled = shuffled.map(|(now, usual)| (now.min(usual * input.max(1.0)), usual));
    let both = files.into_iter().chain(shuffled).reduce(|one, other| (one.0 + other.0, one.1 + other.1));
    both.map(|(now, usual)| now / usual)
}

/// The same phase of an accepted run. Call sites move when the code above them changes; such a name counts if only one
/// phase has it.
fn counterpart<'a>(phase: &ReadPhase, accepted: &'a Run) -> Option<&'a ReadPhase> {
    let same = accepted.phases.iter().find(|known| known.phase == phase.phase);
    same.or_else(|| {
        let loose = without_lines(&phase.phase);
        let mut moved = accepted.phases.iter().filter(|known| without_lines(&known.phase) == loose);
        moved.next().filter(|_| moved.next().is_none())
    })
}

fn of_runs<'a>(runs: impl IntoIterator<Item = &'a Run>, value: fn(&Run) -> Option<u64>) -> Option<f64> {
    let values: Vec<f64> = runs.into_iter().filter_map(|run| Some(value(run)? as f64)).collect();
    median(&values)
}

fn of_phases(phases: &[&ReadPhase], value: fn(&ReadPhase) -> Option<u64>) -> Option<f64> {
    let values: Vec<f64> = phases.iter().filter_map(|phase| Some(value(phase)? as f64)).collect();
    median(&values)
}

#[cfg(test)]
#[allow(clippy::float_cmp)] // the values are exact
mod tests;
