//! Times from before the cluster of a job started, which its id tells: they are unknown.

use super::SYNTHETIC_BEFORE;
use super::times::times;
use crate::ToldByName;
use crate::problem::Problems;
use elephant_base::units::{Millis, Timestamp};
use elephant_model::model::Application;
use elephant_model::model::table::{TaskGroup, TimePoint};

/// The largest distance of a time zone from UTC. The id of a job of Hadoop 1 has the local time at which its job
/// tracker started.
const TIME_ZONES: Millis = Millis::from_secs(14 * 60 * 60);

/// How much earlier than its cluster an attempt may start, in case that clocks were set, or the id has a local time.
const SLACK: Millis = Millis::from_secs(24 * 60 * 60);

const POINTS: [TimePoint; 5] = [
    TimePoint::Start,
    TimePoint::Finish,
    TimePoint::MapFinish,
    TimePoint::ShuffleFinish,
    TimePoint::SortFinish,
];

/// The earliest start of the cluster, from the name of the file or the id of the job.
pub(super) fn earliest_start(app: &Application, name: &ToldByName) -> Option<Timestamp> {
    name.tracker.filter(|_| name.job == app.id).or_else(|| start_in(&app.id))
}

/// Forgets times of attempts, tasks and application masters from before the cluster started. Returns whether there were
/// any. If all times of a history are earlier, its id was changed, not its times. The submission and the launch are
/// compared with more than the id.
pub(super) fn check(app: &mut Application, problems: &mut Problems, name: &ToldByName) -> bool {
    let Some(cluster) = earliest_start(app, name) else { return false };
    let is_early = |at: &Timestamp| *at + SLACK < cluster;
    let of_job = [app.submitted_at, app.launched_at, app.finished_at];
    let is_synthetic =
        of_job.iter().any(Option::is_some) && of_job.iter().flatten().all(|&at| at <= SYNTHETIC_BEFORE);
    let is_changed_id =
        of_job.into_iter().flatten().chain(app.groups.iter().flat_map(times)).all(|at| is_early(&at));
    if is_synthetic || is_changed_id {
        return false;
    }
    let mut found = 0;
    for master in app.masters.iter_mut().filter(|master| master.started_at.as_ref().is_some_and(is_early)) {
        master.started_at = None;
        found += 1;
    }
    found += app.groups.iter_mut().map(|group| forget(group, is_early)).sum::<u64>();
    if found > 0 {
        problems.warn("time-before-cluster", None, || {
            format!(
                "{found} times of attempts and tasks are from before the cluster started, judging by the id of the job; \
                 they are unknown"
            )
        });
    }
    found > 0
}

/// Forgets the times of a group that are too early, and counts them.
fn forget(group: &mut TaskGroup, is_early: impl Fn(&Timestamp) -> bool) -> u64 {
    let mut found = 0;
    let is_early = |at: Option<Timestamp>| at.as_ref().is_some_and(&is_early);
    for row in 0..group.attempts.len() {
        for point in POINTS {
            if is_early(group.attempts.time(row, point)) {
                group.attempts.set_time(row, point, None);
                found += 1;
            }
        }
    }
    for row in 0..group.tasks.len() {
        if is_early(group.tasks.start(row)) {
            group.tasks.set_start(row, None);
            found += 1;
        }
        if is_early(group.tasks.finish(row)) {
            group.tasks.set_finish(row, None);
            found += 1;
        }
    }
    found
}

/// The earliest start of the cluster that the id of a job tells: `job_<milliseconds>_<n>`, or
/// `job_<year, month, day, hour, minute>_<n>` in the job tracker's time zone.
fn start_in(id: &str) -> Option<Timestamp> {
    let start = id.strip_prefix("job_")?.split('_').next()?;
    let number = |text: &str| text.parse::<i64>().ok();
    match start.len() {
        13 => number(start).map(Timestamp::from_millis),
        12 => {
            let mut fields =
                [(0, 4), (4, 6), (6, 8), (8, 10), (10, 12)].map(|(from, to)| start.get(from..to));
            let [year, month, day, hour, minute] = fields.each_mut().map(Option::take);
            let text = format!("{}-{}-{}T{}:{}:00Z", year?, month?, day?, hour?, minute?);
            let local = Timestamp::from_rfc3339(&text)?;
            let zones = i64::try_from(TIME_ZONES.get()).ok()?;
            Some(Timestamp::from_millis(local.as_millis().saturating_sub(zones)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_job_tells_when_its_start_ined() {
        let start = |id: &str| start_in(id).and_then(Timestamp::to_rfc3339);
        assert_eq!(start("job_1416424547277_0002").as_deref(), Some("2014-11-19T19:15:47.277Z"));
        // The earliest possible one, in the zone that is most ahead.
        assert_eq!(start("job_201002080801_40864").as_deref(), Some("2010-02-07T18:01:00.000Z"));
        for id in [
            "",
            "job_",
            "job_1_0001",
            "job_201099990801_1",
            "job_200é0208080_1",
            "application_1416424547277_2",
        ] {
            assert_eq!(start(id), None, "{id}");
        }
    }
}
