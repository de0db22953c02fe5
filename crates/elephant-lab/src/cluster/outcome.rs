//! The result of a run: time, energy, copies, and the quality of the detector.

use super::attempt::Attempt;
use super::run::Run;
use super::scenario::Judgement;
use elephant_analysis::stragglers::quality::{Judged, Quality};

/// The result of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) quality: Quality,
    /// Executions with only a lower bound on their duration, too low to judge them.
    pub(crate) undetermined: u64,
    pub(crate) seconds: f64,
    pub(crate) joules: f64,
    /// Copies that were launched.
    pub(crate) copies: u64,
    /// Copies that ended before their originals.
    pub(crate) successful: u64,
}

/// How long an execution takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Duration {
    Known(f64),
    /// Killed at this age before a report of any progress, from which its end could be estimated.
    AtLeast(f64),
}

impl Attempt {
    /// Its duration: that of a killed attempt is estimated from its last report (S0, caption of table 7). `None`
    /// while it runs.
    #[must_use]
    pub(crate) fn duration(&self) -> Option<Duration> {
        let elapsed = self.end? - self.start;
        Some(match self.reported {
            _ if self.won => Duration::Known(elapsed),
            (age, progress) if progress > 0.0 => Duration::Known((age / progress).max(elapsed)),
            _ => Duration::AtLeast(elapsed),
        })
    }

    /// The attempt as a task that is judged; `None` if its label is unknown.
    fn judged(&self, usual: f64, judgement: &Judgement) -> Option<Judged> {
        let limit = judgement.straggler * usual;
        let (duration, straggler) = match self.duration()? {
            Duration::Known(duration) => (duration, duration > limit),
            Duration::AtLeast(elapsed) if elapsed > limit => (elapsed, true),
            Duration::AtLeast(_) => return None,
        };
        Some(Judged { duration, usual, straggler, detected: self.detected })
    }
}

impl Outcome {
    /// The result of a run; `usual` has the usual time of each task.
    pub(super) fn of(run: &Run, usual: &[f64], judgement: &Judgement) -> Self {
        let executions = run.attempts.iter().filter(|attempt| judgement.count_copies || !attempt.copy);
        let mut undetermined = 0;
        let judged = executions.filter_map(|attempt| {
            let judged = usual.get(attempt.task).and_then(|&usual| attempt.judged(usual, judgement));
            undetermined += u64::from(judged.is_none());
            judged
        });
        let quality = Quality::of(judged);
        let copies = || run.attempts.iter().filter(|attempt| attempt.copy);
        Self {
            quality,
            undetermined,
            seconds: run.makespan,
            joules: run.joules,
            copies: copies().count() as u64,
            successful: copies().filter(|copy| copy.won).count() as u64,
        }
    }
}
