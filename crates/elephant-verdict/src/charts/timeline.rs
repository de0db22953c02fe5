//! Start and end of an application and its executors, and its load in between.

use std::cmp::Reverse;

use super::Rows;
use super::load::{self, Load};
use elephant_base::state::State;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::spark::Executor;
use elephant_model::model::table::TimePoint;

/// This many executors are shown: lost ones first, then those with most task time.
const MOST_EXECUTORS: usize = 16;

/// The timeline of an application from start to end.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct Timeline {
    /// When it was submitted; if that is unknown, when it was launched, or when its first attempt started.
    pub from: Timestamp,
    /// When it ended, or the last time in its history.
    pub to: Timestamp,
    /// How many cores or containers were held and busy, largest first: each includes the next.
    pub load: Vec<Load>,
    /// Spark: its executors, ordered by start.
    pub executors: Rows<ExecutorSpan>,
}

/// The lifetime of one executor.
#[derive(Debug, Clone, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct ExecutorSpan {
    /// Its id.
    pub id: String,
    /// Its host.
    pub host: Option<String>,
    /// When it started.
    pub from: Timestamp,
    /// When it ended; at the latest when its application ended.
    pub to: Timestamp,
    /// Whether it was lost rather than released.
    pub lost: bool,
    /// Total run time of its tasks.
    pub task_time: Option<Millis>,
    /// Tasks that failed on it.
    pub failed: u64,
}

impl Timeline {
    /// `None` if the history has no times, or if the clock ran backwards.
    pub(super) fn of(app: &Application) -> Option<Self> {
        let starts = || attempt_times(app, TimePoint::Start);
        let from = app.submitted_at.or(app.launched_at).or_else(|| starts().min())?;
        let last_event = || app.spark.as_ref().and_then(|spark| spark.log.last_event);
        let last_attempt = || attempt_times(app, TimePoint::Finish).chain(starts()).max();
        let to = app.finished_at.or_else(last_event).or_else(last_attempt)?;
        Millis::between(from, to).filter(|span| span.get() > 0)?;
        let executors = app.spark.as_deref().map_or(&[][..], |spark| &spark.executors);
        Some(Self { from, to, load: load::of(app, from, to), executors: executor_spans(app, executors, to) })
    }

    /// Its length.
    #[must_use]
    pub fn length(&self) -> Millis {
        Millis::between(self.from, self.to).unwrap_or_default()
    }
}

fn attempt_times(app: &Application, point: TimePoint) -> impl Iterator<Item = Timestamp> {
    let rows = app.groups.iter().flat_map(|group| (0..group.attempts.len()).map(move |row| (group, row)));
    rows.filter_map(move |(group, row)| group.attempts.time(row, point))
}

fn executor_spans(app: &Application, executors: &[Executor], end: Timestamp) -> Rows<ExecutorSpan> {
    let mut known: Vec<&Executor> = executors.iter().filter(|executor| executor.added_at.is_some()).collect();
    known.sort_by_key(|executor| (Reverse(executor.was_lost()), Reverse(executor.totals.task_time)));
    let rows = Rows::first(known, MOST_EXECUTORS);
    let span = |executor: &&Executor| {
        Some(ExecutorSpan {
            id: executor.id.clone(),
            host: executor.host.and_then(|host| app.strings.get(host)).map(str::to_owned),
            from: executor.added_at?,
            to: executor.removed_at.map_or(end, |removed| removed.min(end)),
            lost: executor.was_lost(),
            task_time: executor.totals.task_time,
            failed: executor.totals.failed,
        })
    };
    let mut shown: Vec<ExecutorSpan> = rows.shown.iter().filter_map(span).collect();
    shown.sort_by_key(|executor| executor.from);
    Rows { shown, left_out: rows.left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn an_application_without_times_has_no_timeline() {
        let mut app = Application::new(elephant_model::model::Engine::Spark);
        assert_eq!(Timeline::of(&app), None);
        app.submitted_at = Some(at(10));
        app.finished_at = Some(at(5));
        assert_eq!(Timeline::of(&app), None);
    }
}
