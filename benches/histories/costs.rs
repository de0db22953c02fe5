//! Costs of the runs of one command.

use std::time::Duration;

/// Cost of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// User and system time of all threads.
    pub(crate) cpu: Duration,
    pub(crate) wall: Duration,
    pub(crate) peak_bytes: u64,
}

/// Costs of all runs of one command.
#[derive(Debug, Default)]
pub(crate) struct Costs(Vec<Cost>);

/// The shortest of several times, because other programs can only add time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Best {
    pub(crate) seconds: f64,
    /// How far the median is above the shortest time, as a share of it.
    pub(crate) spread: f64,
}

impl Costs {
    pub(crate) fn push(&mut self, cost: Cost) {
        self.0.push(cost);
    }

    pub(crate) fn runs(&self) -> usize {
        self.0.len()
    }

    /// `None` without runs.
    pub(crate) fn cpu(&self) -> Option<Best> {
        self.best(|cost| cost.cpu)
    }

    /// `None` without runs.
    pub(crate) fn wall(&self) -> Option<Best> {
        self.best(|cost| cost.wall)
    }

    /// The largest peak of all runs; `None` without runs.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        self.0.iter().map(|cost| cost.peak_bytes).max()
    }

    fn best(&self, of: impl Fn(&Cost) -> Duration) -> Option<Best> {
        let mut times: Vec<f64> = self.0.iter().map(|cost| of(cost).as_secs_f64()).collect();
        times.sort_by(f64::total_cmp);
        let at = |place: usize| times.get(place).copied();
        let median = f64::midpoint(at(times.len().saturating_sub(1) / 2)?, at(times.len() / 2)?);
        let seconds = at(0)?;
        Some(Best { seconds, spread: median / seconds - 1.0 })
    }
}
