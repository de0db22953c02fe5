//! Impossible times become unknown: a time lies inside the life of its job, a part of an attempt inside the attempt, and
//! no attempt lasts longer than its job.

use super::life::{self, MACHINES_APART, WAIT_FOR_KILLS};
use super::records::Told;
use super::times::times;
use super::{Clocks, cluster};
use crate::ToldByName;
use crate::problem::Problems;
use crate::reading::latest_believed;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Attempts, TaskGroup, TimePoint};
use elephant_model::model::{Application, Status};

/// How long after the end of its job an attempt may end if the job no longer needs it: Hadoop kills it in that time.
const MASTER_SLACK: Millis = Millis::from_secs(60);

/// A job that fails waits a minute for its tasks to be killed (`yarn.app.mapreduce.am.job.committer.cancel-timeout`).
/// Recorded: 1.5 s.
const WAIT_AFTER_FAILURE: Millis = Millis::from_secs(2 * 60);

/// The phases of an attempt may be rounded.
const PHASE_SLACK: Millis = Millis::from_secs(1);

/// No container has more cores.
const MOST_CORES: u64 = 1024;

/// The life of a job: no attempt starts before it or ends after it.
struct Life {
    from: Option<Timestamp>,
    until: Option<Timestamp>,
    /// The slack for starts, and for ends.
    slack: [Millis; 2],
}

/// Makes the impossible times of an application unknown. If there are any, results that rest on its events are partial.
pub(super) fn check(
    app: &mut Application,
    problems: &mut Problems,
    (clocks, told): (Clocks, Told),
    name: &ToldByName,
) {
    let trackers = clocks == Clocks::Trackers || app.masters.is_empty();
    let restarted = app.masters.len() > 1 || (clocks == Clocks::Trackers && told.info_changed);
    let mut impossible = cluster::check(app, problems, name);
    impossible |= life::check(
        app,
        problems,
        life::Of { trackers, restarted, of_hadoop1: clocks == Clocks::Trackers },
        name,
    );
    let slack = match (trackers, app.status) {
        (true, _) => [MACHINES_APART; 2],
        (false, Status::Succeeded) => [MACHINES_APART, MASTER_SLACK],
        (false, Status::Failed) => [MACHINES_APART, WAIT_AFTER_FAILURE],
        (false, _) => [MACHINES_APART, WAIT_FOR_KILLS],
    };
    let until = app.finished_at.or_else(|| latest_believed(app.groups.iter().flat_map(times)));
    let life = Life { from: app.submitted_at, until, slack };
    for group in &mut app.groups {
        let (times, counters) = check_group(group, &life, trackers, problems);
        impossible |= times;
        app.complete &= !counters;
    }
    app.events_missing |= impossible;
    app.complete &= !impossible;
}

/// Makes impossible times and counters of a group unknown. Returns whether there were impossible times, and whether
/// there were impossible counters.
fn check_group(group: &mut TaskGroup, life: &Life, trackers: bool, problems: &mut Problems) -> (bool, bool) {
    let (mut impossible, mut large) = (false, false);
    for row in 0..group.attempts.len() {
        let scheduled = group.attempts.task(row).and_then(|task| group.tasks.start(task));
        let attempts = &mut group.attempts;
        impossible |= outside(attempts, row, life, problems);
        // The application master logs both times.
        let started = attempts.time(row, TimePoint::Start);
        let before_task =
            !trackers && started.zip(scheduled).is_some_and(|(start, task)| start + MASTER_SLACK < task);
        impossible |= outlives_task(group, row, problems);
        let attempts = &mut group.attempts;
        let ends = started.zip(attempts.time(row, TimePoint::Finish));
        if before_task || ends.is_some_and(|(start, finish)| finish < start) {
            impossible = true;
            problems.warn("clock-backwards", None, || {
                if before_task {
                    "an attempt started before its task; its start is unknown".into()
                } else {
                    "an attempt ended before it started; its start is unknown".to_owned()
                }
            });
            attempts.set_time(row, TimePoint::Start, None);
        }
        impossible |= parts_outside(attempts, row, problems);
        large |= large_times(attempts, row, problems);
    }
    (impossible, large)
}

/// Forgets the end of an attempt that ended long after its task, because Hadoop kills attempts that a task no longer
/// needs. Returns whether it did.
fn outlives_task(group: &mut TaskGroup, row: usize, problems: &mut Problems) -> bool {
    let task = group.attempts.task(row).and_then(|task| group.tasks.finish(task));
    let own = group.attempts.time(row, TimePoint::Finish);
    let outlives = own.zip(task).is_some_and(|(own, task)| own > task + WAIT_FOR_KILLS);
    if outlives {
        group.attempts.set_time(row, TimePoint::Finish, None);
        problems.warn("attempt-outlives-task", None, || {
            format!("an attempt ended more than {WAIT_FOR_KILLS} after its task; its end is unknown")
        });
    }
    outlives
}

/// Forgets times of an attempt outside the life of its job. Returns whether there were any.
fn outside(attempts: &mut Attempts, row: usize, life: &Life, problems: &mut Problems) -> bool {
    let [before, after] = life.slack;
    let mut impossible = false;
    for point in [TimePoint::Start, TimePoint::Finish] {
        let Some(at) = attempts.time(row, point) else { continue };
        let too_early = life.from.is_some_and(|from| at + before < from);
        let too_late = life.until.is_some_and(|until| at > until + after);
        if too_early || too_late {
            impossible = true;
            attempts.set_time(row, point, None);
            problems.warn("time-outside-job", None, || {
                format!(
                    "an attempt has a time more than {} outside the life of its job; it is unknown",
                    if too_early { before } else { after }
                )
            });
        }
    }
    let most = life.from.zip(life.until).and_then(|(from, until)| Millis::between(from, until));
    let slack = if after == MACHINES_APART { MASTER_SLACK } else { after };
    if attempts.run_time(row).zip(most).is_some_and(|(time, most)| time > most + slack) {
        impossible = true;
        attempts.set_time(row, TimePoint::Start, None);
        problems.warn("time-outside-job", None, || {
            "an attempt ran longer than its job; its start is unknown".to_owned()
        });
    }
    impossible
}

/// Forgets the ends of phases that lie outside their attempt. Returns whether there were any.
fn parts_outside(attempts: &mut Attempts, row: usize, problems: &mut Problems) -> bool {
    let mut earliest = attempts.time(row, TimePoint::Start);
    let latest = attempts.time(row, TimePoint::Finish);
    let mut impossible = false;
    for point in [TimePoint::MapFinish, TimePoint::ShuffleFinish, TimePoint::SortFinish] {
        let Some(at) = attempts.time(row, point) else { continue };
        let outside = earliest.is_some_and(|earliest| at + PHASE_SLACK < earliest)
            || latest.is_some_and(|latest| at > latest + PHASE_SLACK);
        if outside {
            impossible = true;
            attempts.set_time(row, point, None);
            problems.warn("phase-outside-attempt", None, || {
                "a phase of an attempt ends outside the attempt; it is unknown".to_owned()
            });
        } else {
            earliest = earliest.max(Some(at));
        }
    }
    impossible
}

/// Forgets counters of GC and CPU time that exceed what fits into the attempt's run time. Returns whether there were
/// any.
fn large_times(attempts: &mut Attempts, row: usize, problems: &mut Problems) -> bool {
    let Some(run) = attempts.run_time(row).map(|run| run.get() + PHASE_SLACK.get()) else { return false };
    let mut large = false;
    for (counter, most) in
        [(Counter::GcTimeMillis, run), (Counter::CpuMilliseconds, run.saturating_mul(MOST_CORES))]
    {
        let value = attempts.counter(row, counter).and_then(|value| u64::try_from(value).ok());
        if value.is_some_and(|value| value > most) {
            large = true;
            attempts.set_counter(row, counter, None);
            attempts.mark_unreadable(row, counter);
            problems.warn("impossible-counter", None, || {
                format!(
                    "{} of an attempt is longer than the attempt; sums over it are unknown",
                    counter.name()
                )
            });
        }
    }
    large
}
