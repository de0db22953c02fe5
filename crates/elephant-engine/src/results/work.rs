//! Sums over all attempts of an application. Runs of one job are compared by them.

use elephant_base::state::State;
use elephant_base::units::{Bytes, Millis};
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Outcome, TaskKind};

/// Sums over all attempts, without setup and cleanup tasks of Hadoop 1. A value is `None` if no attempt
/// reports it, or if an attempt reports an unreadable one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
#[non_exhaustive]
pub struct Work {
    /// Total run time of the attempts, including failed and killed ones.
    pub task_time: Option<Millis>,
    /// Bytes read from files and other sources, by map tasks and by Spark tasks.
    pub input: Option<Bytes>,
    /// The number of failed attempts; `None` if the history contains no attempt.
    pub failed_attempts: Option<u64>,
}

impl Work {
    /// The sums of `app`.
    #[must_use]
    pub(crate) fn of(app: &Application) -> Self {
        let mut work = Self::default();
        let mut input_is_known = true;
        for group in &app.groups {
            let input: &[Counter] = match group.kind {
                TaskKind::Setup | TaskKind::Cleanup => continue,
                TaskKind::Map | TaskKind::Vertex(_) => &Counter::INPUT_BYTES,
                TaskKind::Reduce => &[],
                TaskKind::Stage(_) => &[Counter::InputBytes],
            };
            let attempts = &group.attempts;
            input_is_known &= !attempts.any_unreadable().has_any(input);
            work.input =
                attempts.sum(input).map(Bytes::new).into_iter().chain(work.input).reduce(|a, b| a + b);
            for row in 0..attempts.len() {
                work.task_time =
                    attempts.run_time(row).into_iter().chain(work.task_time).reduce(|a, b| a + b);
                let failed = u64::from(attempts.outcome(row) == Outcome::Failed);
                work.failed_attempts = Some(work.failed_attempts.unwrap_or_default() + failed);
            }
        }
        work.input = work.input.filter(|_| input_is_known);
        work
    }
}
