//! Start and end of phases and executors, and the number of attempts that ran concurrently.

use std::cmp::Reverse;

use super::Rows;
use crate::model::Application;
use crate::model::Phase;
use crate::model::spark::Executor;
use crate::model::table::TimePoint;
use crate::units::{Millis, Timestamp};

/// This many phases are shown, those with most task time.
const MOST_PHASES: usize = 20;
/// This many executors are shown: lost ones first, then those with most task time.
const MOST_EXECUTORS: usize = 16;
/// The run time is divided into this many parts for the concurrency curves.
const PARTS: u32 = 96;

/// The timeline of an application from start to end.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Timeline {
    /// When it was submitted, or when its first attempt started.
    pub from: Timestamp,
    /// When it ended, or the last time in its history.
    pub to: Timestamp,
    /// Its phases, ordered by start.
    pub phases: Rows<Phase>,
    /// Spark: its executors, ordered by start.
    pub executors: Rows<ExecutorSpan>,
    /// The mean number of attempts that ran concurrently in each part.
    pub running: Vec<f64>,
    /// The maximum number of concurrent attempts.
    pub most_running: u64,
    /// Spark: the mean number of cores that executors held in each part; `None` if an executor's cores are
    /// unknown.
    pub cores: Option<Vec<f64>>,
    /// The maximum number of cores that executors held at once.
    pub most_cores: Option<u64>,
}

/// The lifetime of one executor.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        let running = Held::by_attempts(app, to);
        let cores = Held::by_executors(executors, to);
        Some(Self {
            from,
            to,
            phases: phases(app),
            executors: executor_spans(app, executors, to),
            running: running.means(from, to),
            most_running: running.most(),
            most_cores: cores.as_ref().map(Held::most),
            cores: cores.map(|cores| cores.means(from, to)),
        })
    }

    /// Its length.
    #[must_use]
    pub(crate) fn length(&self) -> Millis {
        Millis::between(self.from, self.to).unwrap_or_default()
    }
}

fn attempt_times(app: &Application, point: TimePoint) -> impl Iterator<Item = Timestamp> {
    let rows = app.groups.iter().flat_map(|group| (0..group.attempts.len()).map(move |row| (group, row)));
    rows.filter_map(move |(group, row)| group.attempts.time(row, point))
}

fn phases(app: &Application) -> Rows<Phase> {
    let mut phases: Vec<Phase> = Phase::all(app);
    phases.retain(|phase| phase.started_at.is_some());
    phases.sort_by_key(|phase| Reverse(phase.task_time));
    let mut rows = Rows::first(phases, MOST_PHASES);
    rows.shown.sort_by(|a, b| a.started_at.cmp(&b.started_at).then_with(|| a.subject.cmp(&b.subject)));
    rows
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

/// Amounts that are held for a time: from, to, amount.
struct Held(Vec<(Timestamp, Timestamp, u64)>);

impl Held {
    fn by_attempts(app: &Application, end: Timestamp) -> Self {
        let groups = app.groups.iter();
        let rows = groups.flat_map(|group| (0..group.attempts.len()).map(move |row| (group, row)));
        let spans = rows.filter_map(|(group, row)| {
            let start = group.attempts.time(row, TimePoint::Start)?;
            Some((start, group.attempts.time(row, TimePoint::Finish).unwrap_or(end), 1))
        });
        Self(spans.collect())
    }

    fn by_executors(executors: &[Executor], end: Timestamp) -> Option<Self> {
        let span = |executor: &Executor| {
            let cores = u64::from(executor.cores?);
            Some((executor.added_at?, executor.removed_at.unwrap_or(end), cores))
        };
        let spans = executors.iter().map(span).collect::<Option<Vec<_>>>()?;
        (!spans.is_empty()).then_some(Self(spans))
    }

    fn means(&self, from: Timestamp, to: Timestamp) -> Vec<f64> {
        let mut parts = Parts::new(from, to);
        for &(start, finish, amount) in &self.0 {
            parts.add(start, finish, amount);
        }
        parts.means()
    }

    /// The maximum at any moment. A span that ends when another starts does not overlap it.
    fn most(&self) -> u64 {
        let spans = self.0.iter().filter(|(start, finish, _)| start < finish);
        let mut changes: Vec<(Timestamp, bool, u64)> = spans
            .flat_map(|&(start, finish, amount)| [(start, true, amount), (finish, false, amount)])
            .collect();
        changes.sort_unstable();
        let (mut now, mut most) = (0u64, 0u64);
        for (_, starts, amount) in changes {
            now = if starts { now.saturating_add(amount) } else { now.saturating_sub(amount) };
            most = most.max(now);
        }
        most
    }
}

/// Sums of spans over equal parts of a longer span.
struct Parts {
    from: Timestamp,
    to: Timestamp,
    /// Milliseconds × weight in each part.
    held: Vec<u128>,
}

impl Parts {
    fn new(from: Timestamp, to: Timestamp) -> Self {
        Self { from, to, held: vec![0; PARTS as usize] }
    }

    fn length(&self) -> u128 {
        u128::from(Millis::between(self.from, self.to).unwrap_or_default().get())
    }

    /// In units of 1/`PARTS` ms, so that the borders of parts are integers.
    fn add(&mut self, start: Timestamp, finish: Timestamp, weight: u64) {
        let offset = |at: Timestamp| {
            let span = Millis::between(self.from, at.min(self.to)).unwrap_or_default();
            u128::from(span.get()) * u128::from(PARTS)
        };
        let (start, finish, part) = (offset(start), offset(finish), self.length());
        if finish <= start || part == 0 {
            return;
        }
        let first = usize::try_from(start / part).unwrap_or(usize::MAX);
        for (place, held) in (first..).zip(self.held.iter_mut().skip(first)) {
            let begins = place as u128 * part;
            if begins >= finish {
                break;
            }
            let overlap = finish.min(begins + part) - start.max(begins);
            *held = held.saturating_add(overlap * u128::from(weight));
        }
    }

    fn means(&self) -> Vec<f64> {
        let part = self.length().max(1);
        self.held.iter().map(|&held| held as f64 / part as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn parts_sum_the_spans_within_them() {
        let mut parts = Parts::new(at(0), at(960));
        parts.add(at(0), at(960), 2);
        parts.add(at(-50), at(15), 1);
        parts.add(at(955), at(i64::MAX), 4);
        parts.add(at(30), at(20), 100);
        let means = parts.means();
        assert_eq!(means.len(), 96);
        assert_eq!(means[..3], [3.0, 2.5, 2.0]);
        assert_eq!(means[95..], [4.0]);
    }

    #[test]
    fn the_maximum_of_concurrent_spans() {
        let held =
            Held(vec![(at(0), at(10), 1), (at(10), at(20), 2), (at(15), at(16), 4), (at(9), at(3), 50)]);
        assert_eq!(held.most(), 6);
        assert_eq!(Held(Vec::new()).most(), 0);
    }

    #[test]
    fn an_application_without_times_has_no_timeline() {
        let mut app = Application::new(crate::model::Engine::Spark);
        assert_eq!(Timeline::of(&app), None);
        app.submitted_at = Some(at(10));
        app.finished_at = Some(at(5));
        assert_eq!(Timeline::of(&app), None);
    }
}
