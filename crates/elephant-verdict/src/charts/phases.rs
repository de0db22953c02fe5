//! The phases of an application in a table, and in lanes of a timeline: phases that ran at the same time are in
//! different lanes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::timeline::Timeline;
use elephant_analysis::replay::spark::Plan;
use elephant_base::severity::Severity;
use elephant_base::state::State;
use elephant_base::stats::{median, nearest_rank};
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::spark::{StageAttempt, StageStatus};
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind};
use elephant_model::model::{Application, Engine, Phase, Subject};
use elephant_rule::finding::Finding;

/// This many phases are listed: those with the worst findings first, then those with most task time.
const MOST_PHASES: usize = 500;
/// The maximum number of lanes.
const MOST_LANES: u64 = 12;
/// A phase takes at least the timeline's length divided by this in its lane, so that it is visible.
const LEAST_WIDTH: i64 = 500;

/// The phases that are listed.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct Phases {
    /// Ordered by start.
    pub shown: Vec<PhaseRow>,
    /// The number of phases that are not listed.
    pub left_out: u64,
    /// Total run time of their tasks.
    pub task_time_left_out: Millis,
    /// The number of lanes.
    pub lanes: u64,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, State)]
#[non_exhaustive]
pub struct PhaseRow {
    /// Its sums.
    pub phase: Phase,
    /// The severity of its worst finding.
    pub severity: Severity,
    /// Spark: whether the stage attempt itself failed.
    pub failed: bool,
    /// Spark: the number of tasks that the stage announced; `None` if unknown. Fewer may have been launched.
    pub announced_tasks: Option<u64>,
    /// Attempts of tasks that failed.
    pub failed_attempts: u64,
    /// How long its successful tasks ran; `None` if there is none.
    pub durations: Option<Durations>,
    /// Its lane in the timeline, from 0; `None` if it does not fit into the lanes, or if its start is unknown.
    pub lane: Option<u64>,
    /// Spark: whether the end of the application waited for it; `None` if the log does not show that.
    pub on_path: Option<bool>,
}

/// How long tasks ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
#[non_exhaustive]
pub struct Durations {
    /// Half of them took no longer.
    pub median: Millis,
    /// 95 % of them took no longer.
    pub p95: Millis,
    /// The longest.
    pub longest: Millis,
}

#[doc(hidden)]
impl Phases {
    pub(super) fn of(app: &Application, findings: &[Finding], timeline: Option<&Timeline>) -> Self {
        let worst = worst(findings);
        let worst = |phase: &Phase| worst.get(&phase.subject).copied().unwrap_or_default();
        let mut phases = Phase::all(app);
        phases.sort_by_cached_key(|phase| {
            (Reverse(worst(phase)), Reverse(phase.task_time), phase.started_at, phase.subject.clone())
        });
        let rest = phases.split_off(phases.len().min(MOST_PHASES));
        phases.sort_by(|a, b| a.started_at.cmp(&b.started_at).then_with(|| a.subject.cmp(&b.subject)));
        let path = path(app);
        let row = |phase: Phase| {
            let group = app.groups.iter().find(|group| Phase::subject(group.kind) == phase.subject);
            let stage = group.and_then(|group| match group.kind {
                TaskKind::Stage(id) => Some(id),
                _ => None,
            });
            PhaseRow {
                severity: worst(&phase),
                failed: stage.is_some_and(|stage| has_failed(app, stage)),
                announced_tasks: stage
                    .and_then(|stage| announced(app, stage))
                    .or_else(|| group.and_then(|group| app.vertex_of(group.kind)?.announced)),
                failed_attempts: group.map_or(0, failed_attempts),
                durations: group.and_then(durations),
                lane: None,
                on_path: path.as_ref().zip(stage).map(|(path, stage)| path.contains(&stage)),
                phase,
            }
        };
        let mut shown: Vec<PhaseRow> = phases.into_iter().map(row).collect();
        let lanes = timeline.map_or(0, |timeline| pack(&mut shown, timeline));
        let task_time_left_out = rest.iter().filter_map(|phase| phase.task_time).sum();
        Self { shown, left_out: rest.len() as u64, task_time_left_out, lanes }
    }

    /// The number of phases that have no lane.
    #[must_use]
    pub fn without_lane(&self) -> u64 {
        self.shown.iter().filter(|row| row.lane.is_none()).count() as u64 + self.left_out
    }
}

/// The severity of the worst finding about each subject.
fn worst(findings: &[Finding]) -> BTreeMap<&Subject, Severity> {
    let mut worst = BTreeMap::new();
    for finding in findings {
        let severity: &mut Severity = worst.entry(&finding.subject).or_default();
        *severity = finding.severity.max(*severity);
    }
    worst
}

fn has_failed(app: &Application, stage: StageAttempt) -> bool {
    let stage = app.spark.as_ref().and_then(|spark| spark.stage(stage));
    stage.is_some_and(|stage| stage.status == StageStatus::Failed)
}

fn announced(app: &Application, stage: StageAttempt) -> Option<u64> {
    app.spark.as_ref()?.stage(stage)?.announced_tasks
}

fn failed_attempts(group: &TaskGroup) -> u64 {
    let attempts = &group.attempts;
    (0..attempts.len()).filter(|&row| attempts.outcome(row) == Outcome::Failed).count() as u64
}

pub(crate) fn durations(group: &TaskGroup) -> Option<Durations> {
    let times = group.winners().filter_map(|row| group.attempts.run_time(row));
    let mut times: Vec<Millis> = times.collect();
    times.sort_unstable();
    // Use the same median as histograms.
    let whole: Vec<i64> = times.iter().filter_map(|time| i64::try_from(time.get()).ok()).collect();
    Some(Durations {
        median: median(&whole).and_then(|median| u64::try_from(median).ok()).map(Millis::new)?,
        p95: nearest_rank(&times, 0.95)?,
        longest: *times.last()?,
    })
}

/// The stage attempts that the end of a Spark application waited for, one after the other.
fn path(app: &Application) -> Option<BTreeSet<StageAttempt>> {
    (app.engine == Engine::Spark)
        .then(|| Plan::of(app).ok())?
        .map(|plan| plan.recorded_path().into_iter().collect())
}

/// Puts each phase into the first lane that is free when it starts, and returns the number of lanes. `rows` are ordered
/// by start. Phases that would be too short to see share a lane, in which their bars may overlap: in a row of hundreds, each
/// would otherwise take a lane from a phase that can be seen.
fn pack(rows: &mut [PhaseRow], timeline: &Timeline) -> u64 {
    let least = i64::try_from(timeline.length().get()).unwrap_or(i64::MAX) / LEAST_WIDTH;
    let mut free: Vec<Timestamp> = Vec::new();
    let mut of_tiny = None;
    for row in rows {
        let Some(start) = row.phase.started_at else { continue };
        let end = row.phase.finished_at.unwrap_or(timeline.to);
        let visible = Timestamp::from_millis(start.as_millis().saturating_add(least));
        let (is_tiny, end) = (end < visible, end.max(visible));
        let shared = of_tiny.filter(|_| is_tiny);
        let place = free.iter().position(|free| *free <= start).or(shared);
        if let Some((place, free)) = place.and_then(|place| Some((place, free.get_mut(place)?))) {
            (row.lane, *free) = (Some(place as u64), end.max(*free));
        } else if (free.len() as u64) < MOST_LANES {
            of_tiny = of_tiny.or(is_tiny.then_some(free.len()));
            row.lane = Some(free.len() as u64);
            free.push(end);
        }
    }
    free.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::Job;
    use elephant_model::model::table::TimePoint;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    /// A Spark application with stages that run from and to these times.
    fn app(stages: &[(i64, i64)]) -> Application {
        let mut app = elephant_sample::app(&[]);
        for (number, (from, to)) in (0..).zip(stages) {
            elephant_sample::stage(
                &mut app,
                number,
                &[(Outcome::Succeeded, to - from), (Outcome::Succeeded, 10)],
            );
            let stage = elephant_sample::spark(&mut app).stages.last_mut().unwrap();
            (stage.submitted_at, stage.completed_at) = (Some(at(*from)), Some(at(*to)));
            let attempts = &mut app.groups.last_mut().unwrap().attempts;
            for row in 0..attempts.len() {
                let took = attempts.run_time(row).unwrap().get();
                attempts.set_time(row, TimePoint::Start, Some(at(*from)));
                attempts.set_time(row, TimePoint::Finish, Some(at(from + i64::try_from(took).unwrap())));
            }
        }
        app.complete = true;
        app.finished_at = stages.iter().map(|(_, to)| at(*to)).max();
        app
    }

    fn phases(app: &Application) -> Phases {
        Phases::of(app, &[], Timeline::of(app).as_ref())
    }

    #[test]
    fn phases_that_overlap_are_in_different_lanes() {
        let phases = phases(&app(&[(0, 1000), (100, 500), (500, 900), (1000, 2000)]));
        let lanes: Vec<_> = phases.shown.iter().map(|row| row.lane).collect();
        assert_eq!(lanes, [Some(0), Some(1), Some(1), Some(0)]);
        assert_eq!((phases.lanes, phases.without_lane(), phases.left_out), (2, 0, 0));
    }

    #[test]
    fn phases_too_short_to_see_share_a_lane() {
        let tiny = (0..40).map(|number| (1000 + 3 * number, 1002 + 3 * number));
        let stages: Vec<(i64, i64)> = [(0, 100_000), (500, 90_000)].into_iter().chain(tiny).collect();
        let phases = phases(&app(&stages));
        assert_eq!((phases.lanes, phases.without_lane()), (3, 0));
        assert!(phases.shown[2..].iter().all(|row| row.lane == Some(2)));
    }

    #[test]
    fn lanes_and_rows_are_bounded_and_the_rest_is_counted() {
        let all = MOST_PHASES + 10;
        let phases = phases(&app(&vec![(0, 1000); all]));
        assert_eq!((phases.shown.len(), phases.left_out), (MOST_PHASES, 10));
        assert_eq!((phases.lanes, phases.without_lane()), (MOST_LANES, all as u64 - MOST_LANES));
        assert_eq!(phases.task_time_left_out, Millis::new(10 * 1010));
    }

    #[test]
    fn the_path_leads_through_what_ended_last() {
        let mut app = app(&[(0, 1000), (0, 3000), (3000, 4000)]);
        let spark = elephant_sample::spark(&mut app);
        spark.stages[2].parents = Box::new([0, 1]);
        let mut job = Job::new(0);
        (job.submitted_at, job.completed_at, job.has_end) = (Some(at(0)), Some(at(4000)), true);
        job.stages = vec![0, 1, 2];
        spark.jobs.push(job);
        let on_path: Vec<_> = phases(&app).shown.iter().map(|row| row.on_path).collect();
        assert_eq!(on_path, [Some(false), Some(true), Some(true)]);
        // The last event in the log of a part of an application is not the application's end.
        app.complete = false;
        assert!(phases(&app).shown.iter().all(|row| row.on_path.is_none()));
    }

    #[test]
    fn stages_of_one_moment_that_wait_for_each_other_end_the_path() {
        let mut app = app(&[(0, 0), (0, 0), (0, 1000)]);
        let spark = elephant_sample::spark(&mut app);
        (spark.stages[0].parents, spark.stages[1].parents) = (Box::new([1]), Box::new([0]));
        spark.stages[2].parents = Box::new([0, 1]);
        assert_eq!(phases(&app).shown.len(), 3);
    }

    #[test]
    fn durations_are_of_successful_tasks() {
        let mut app = elephant_sample::app(&[]);
        let ok = |ms| (Outcome::Succeeded, ms);
        elephant_sample::stage(&mut app, 0, &[ok(10), ok(20), ok(30), ok(60), (Outcome::Failed, 9000)]);
        for task in 0..4 {
            app.groups[0].tasks.set_representative(task, Some(task));
        }
        let [row] = &phases(&app).shown[..] else { panic!() };
        let [median, p95, longest] = [25, 60, 60].map(Millis::new);
        assert_eq!(row.durations, Some(Durations { median, p95, longest }));
        assert_eq!((row.failed_attempts, row.failed), (1, false));
        elephant_sample::spark(&mut app).stages[0].status = StageStatus::Failed;
        assert!(phases(&app).shown[0].failed);
    }

    #[test]
    fn announced_tasks_are_known_if_fewer_were_launched() {
        let mut app = elephant_sample::app(&[]);
        elephant_sample::stage(&mut app, 0, &[(Outcome::Succeeded, 10), (Outcome::Failed, 10)]);
        elephant_sample::spark(&mut app).stages[0].announced_tasks = Some(8);
        let [row] = &phases(&app).shown[..] else { panic!() };
        assert_eq!((row.phase.tasks.total, row.announced_tasks), (2, Some(8)));
    }
}
