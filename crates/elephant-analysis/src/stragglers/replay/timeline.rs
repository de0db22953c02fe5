//! Input of a replay: when original attempts ran, their progress, and when tasks were done.

use rustc_hash::FxHashMap;

use crate::stragglers::detect::Completion;
use crate::stragglers::executions::{Execution, Executions};
use crate::stragglers::progress::{ProgressCurve, ProgressSource};
use elephant_base::state::State;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};

/// The events of a group, in milliseconds since its first launch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Timeline {
    /// Number of tasks of the group, launched or not.
    pub total: usize,
    /// When each task was first launched, ascending.
    pub launches: Vec<i64>,
    /// The original attempts by launch; copies are left out.
    pub attempts: Vec<Attempt>,
    /// The tasks that succeeded, by end time.
    pub done: Vec<Done>,
}

/// An original attempt: the first of its task, or a retry after a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Its row in the group.
    pub row: usize,
    /// Its launch.
    pub start_ms: i64,
    /// Its end, or the end of the copy that overtook it.
    pub finish_ms: i64,
    /// Its node.
    pub node: Option<u32>,
    /// The size of its input, in the group's unit.
    pub input: Option<f64>,
    /// The number of input records.
    pub records: Option<f64>,
    /// Its progress over milliseconds since launch; `None` if it is not logged.
    pub curve: Option<ProgressCurve>,
}

/// A task that succeeded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Done {
    /// Its end, duration and input.
    pub completion: Completion,
    /// The index in [`Timeline::attempts`] of the attempt that succeeded; `None` for a copy.
    pub attempt: Option<usize>,
}

impl Attempt {
    /// The progress after `elapsed` ms. A straight line starts after `startup` ms. The progress of a killed
    /// attempt is extrapolated from its last report at its mean rate, which does not use the future either.
    #[must_use]
    pub fn progress(&self, elapsed: f64, startup: f64) -> Option<f64> {
        let curve = self.curve.as_ref()?;
        if curve.source == ProgressSource::Linear && startup > 0.0 {
            let whole = (self.finish_ms - self.start_ms) as f64;
            let begun = elapsed > startup && whole > startup;
            return Some(if begun { ((elapsed - startup) / (whole - startup)).min(1.0) } else { 0.0 });
        }
        match curve.last_known() {
            Some((time, progress)) if elapsed > time && progress < 1.0 && time > 0.0 => {
                Some((progress * elapsed / time).min(1.0))
            }
            _ => Some(curve.at(elapsed)),
        }
    }
}

/// Number of attempts by source of their progress curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Sources {
    /// By [`ProgressSource`].
    counts: [u64; ProgressSource::ALL.len()],
    /// Curves from so few reports that most of the curve is interpolated.
    pub coarse: u64,
    /// Attempts whose progress is not logged.
    pub unknown: u64,
}

#[doc(hidden)]
impl Sources {
    /// The number of attempts with a curve from this source.
    #[must_use]
    pub const fn of(&self, source: ProgressSource) -> u64 {
        let [splits, phases, linear] = self.counts;
        match source {
            ProgressSource::Splits => splits,
            ProgressSource::Phases => phases,
            ProgressSource::Linear => linear,
        }
    }

    /// The number of attempts with a curve from any source.
    #[must_use]
    pub(crate) const fn known(&self) -> u64 {
        let [splits, phases, linear] = self.counts;
        splits + phases + linear
    }

    fn add(&mut self, attempt: &Attempt) {
        let Some(curve) = &attempt.curve else {
            self.unknown += 1;
            return;
        };
        let [splits, phases, linear] = &mut self.counts;
        *match curve.source {
            ProgressSource::Splits => splits,
            ProgressSource::Phases => phases,
            ProgressSource::Linear => linear,
        } += 1;
        self.coarse += u64::from(curve.coarse && curve.source != ProgressSource::Linear);
    }
}

#[doc(hidden)]
impl Timeline {
    /// The timeline of a group. Attempts whose end is not logged are left out, unless a copy overtook them.
    #[must_use]
    pub fn of(group: &TaskGroup, executions: &Executions) -> Self {
        let at = |row: usize, point| {
            group.attempts.time(row, point).map(elephant_base::units::Timestamp::as_millis)
        };
        let rows = 0..group.attempts.len();
        let Some(origin) = rows.clone().filter_map(|row| at(row, TimePoint::Start)).min() else {
            return Self { total: group.tasks.len(), ..Self::default() };
        };
        let since = |row: usize, point| Some(at(row, point)?.saturating_sub(origin));
        let by_task: FxHashMap<usize, &Execution> =
            executions.tasks.iter().map(|execution| (execution.task(), execution)).collect();

        let mut first_launch: Vec<Option<i64>> = vec![None; group.tasks.len()];
        let mut attempts = Vec::new();
        for row in rows {
            let (Some(task), Some(start_ms)) = (group.attempts.task(row), since(row, TimePoint::Start))
            else {
                continue;
            };
            if let Some(first) = first_launch.get_mut(task) {
                *first = Some(first.map_or(start_ms, |first| first.min(start_ms)));
            }
            if group.attempts.is_speculative(row) == Some(true) {
                continue;
            }
            let execution = by_task.get(&task).copied();
            let won = execution.filter(|execution| execution.attempt() == row).map(Execution::winner);
            let end = since(row, TimePoint::Finish);
            // After its copy has won, the attempt no longer matters.
            let taken_over = won.and_then(|winner| since(winner, TimePoint::Finish));
            let Some(finish_ms) = [end, taken_over].into_iter().flatten().min() else { continue };
            attempts.push(Attempt {
                row,
                start_ms,
                finish_ms,
                node: group.attempts.node(row).map(elephant_model::model::Symbol::index),
                input: execution.and_then(Execution::input).map(|input| input as f64),
                records: execution.and_then(|execution| records(group, execution.winner())),
                curve: ProgressCurve::of_attempt(group, row),
            });
        }
        attempts.sort_by_key(|attempt| (attempt.start_ms, attempt.row));

        let finish = |row| since(row, TimePoint::Finish);
        let done = done(group, executions, &attempts, finish);
        let mut launches: Vec<i64> = first_launch.into_iter().flatten().collect();
        launches.sort_unstable();
        Self { total: group.tasks.len(), launches, attempts, done }
    }

    /// The sources of the progress curves.
    #[must_use]
    pub(crate) fn sources(&self) -> Sources {
        let mut sources = Sources::default();
        self.attempts.iter().for_each(|attempt| sources.add(attempt));
        sources
    }

    /// The index of each attempt by its row in the group.
    #[must_use]
    pub fn places(&self) -> FxHashMap<usize, usize> {
        self.attempts.iter().enumerate().map(|(place, attempt)| (attempt.row, place)).collect()
    }
}

/// The tasks that succeeded, by end time; `finish` gives the end of an attempt.
fn done(
    group: &TaskGroup,
    executions: &Executions,
    attempts: &[Attempt],
    finish: impl Fn(usize) -> Option<i64>,
) -> Vec<Done> {
    let places: FxHashMap<usize, usize> =
        attempts.iter().enumerate().map(|(place, attempt)| (attempt.row, place)).collect();
    let mut done: Vec<Done> = executions
        .tasks
        .iter()
        .filter(|execution| group.attempts.outcome(execution.winner()) == Outcome::Succeeded)
        .filter_map(|execution| {
            let completion = Completion {
                at_ms: finish(execution.winner())?,
                duration_ms: group.attempts.run_time(execution.winner())?.get(),
                input: execution.input().map(|input| input as f64),
                records: records(group, execution.winner()),
            };
            Some(Done { completion, attempt: places.get(&execution.winner()).copied() })
        })
        .collect();
    done.sort_by_key(|done| done.completion.at_ms);
    done
}

/// The records that an attempt read.
fn records(group: &TaskGroup, row: usize) -> Option<f64> {
    let counters: &[Counter] = match group.kind {
        TaskKind::Map => &[Counter::MapInputRecords],
        TaskKind::Reduce => &[Counter::ReduceInputRecords],
        TaskKind::Stage(_) => &[Counter::InputRecords, Counter::ShuffleRecordsRead],
        TaskKind::Vertex(_) => &[Counter::MapInputRecords, Counter::ReduceInputRecords],
        TaskKind::Setup | TaskKind::Cleanup => &[],
    };
    group.attempts.total(row, counters).map(|records| records as f64)
}
