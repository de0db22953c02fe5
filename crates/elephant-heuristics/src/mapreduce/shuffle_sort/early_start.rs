//! Reduce tasks that start early and wait for map tasks, and what the job loses by that.

use super::{ShuffleSort, means};
use crate::mapreduce::support::replayed::{Lost, ReplayedJob};
use elephant_analysis::replay::mapreduce::{Cause, Kind};
use elephant_base::severity::Severity;
use elephant_base::stats::truncated_mean;
use elephant_base::units::{Millis, Timestamp};
use elephant_base::whole::Whole;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_rule::finding::{Advice, Measure, SettingChange};
use elephant_rule::wording::{change, decisive, percent};

/// What the job lost because reduce tasks started early.
pub(super) struct Early {
    pub(super) lost: Lost,
    pub(super) severity: Severity,
    /// What was lost, and the limit that decides, in words.
    pub(super) limit: String,
}

/// What an early start cost.
pub(super) fn evidence(lost: Lost) -> [(&'static str, Measure); 3] {
    [
        ("lost_ms", Measure::Time(lost.time)),
        ("lost_ratio", Measure::Ratio(Some(lost.share))),
        ("lost_held_ratio", Measure::Ratio(Some(lost.held))),
    ]
}

impl ShuffleSort {
    /// What the job lost because reduce tasks started early. `None` if that is not judged, if no later start would help,
    /// or if a replay cannot tell.
    pub(super) fn lost(&self, app: &Application, reduces: &TaskGroup, mean_shuffle: i64) -> Option<Early> {
        if self.lost_share.values().is_none() && self.lost_time.values().is_none() {
            return None;
        }
        let (waiting, share) = early_start(app, reduces, mean_shuffle)?;
        // The job cannot lose more time than its reduce tasks waited, and most jobs lose too little to be replayed.
        let longest = waits(app, reduces)?.into_iter().max()?;
        if self.lost_time.severity(longest as f64) == Severity::None {
            return None;
        }
        // Map tasks that run again because their output was lost, and a slow one, keep reduce tasks waiting whenever these
        // start.
        let others = [Cause::FailedAttempts(Kind::Map), Cause::Stragglers(Kind::Map)];
        let lost = ReplayedJob::of(app)?.lost_besides(&[Cause::SlowStart(share)], &others)?;
        let (by_time, by_memory) = (self.by_time(lost), self.by_containers(lost, waiting));
        let (severity, limit) = if by_memory.0 > by_time.0 { by_memory } else { by_time };
        Some(Early { lost, severity, limit })
    }

    /// The judgement on the run time lost.
    fn by_time(&self, lost: Lost) -> (Severity, String) {
        let by_share = self.lost_share.severity(lost.share);
        let by_time = self.lost_time.severity(lost.time.as_f64());
        let severity = if lost.time > Millis::ZERO { by_share.min(by_time) } else { Severity::None };
        let limits = [
            (by_share, self.lost_share.describe_in(severity, percent)),
            (by_time, self.lost_time.describe(severity)),
        ];
        let limit = format!(
            "with reduce tasks that start later, the job would take about {} less, {} of its run time: {}",
            lost.time,
            percent(lost.share),
            decisive(severity, &limits)
        );
        (severity, limit)
    }

    /// The judgement on the time of containers lost, of which a reduce task holds one for `waiting` milliseconds.
    fn by_containers(&self, lost: Lost, waiting: i64) -> (Severity, String) {
        let by_share = self.wait_share.severity(lost.held);
        let by_time = self.lost_time.severity(waiting as f64);
        let severity = by_share.min(by_time);
        let limits = [
            (by_share, self.wait_share.describe_in(severity, percent)),
            (by_time, self.lost_time.describe(severity)),
        ];
        let limit = format!(
            "with reduce tasks that start later, tasks would hold containers for {} less time: {}",
            percent(lost.held),
            decisive(severity, &limits)
        );
        (severity, limit)
    }
}

impl ShuffleSort {
    /// An earlier start of reduce tasks that start after almost all map tasks, if the last of these take a while.
    pub(super) fn earlier_start(
        &self,
        app: &Application,
        reduces: &TaskGroup,
        mean_shuffle: i64,
    ) -> Option<Advice> {
        let is_late =
            app.in_force(ConfKey::SlowStart, Conf::fraction).is_some_and(|now| now >= self.late_start.get());
        let ends = app.group(TaskKind::Map).filter(|_| is_late)?.sorted_ends();
        let done = (self.earlier_start.get() * ends.len() as f64).ceil().as_usize();
        let earlier = Millis::between(*ends.get(done.checked_sub(1)?)?, *ends.last()?)?;
        let waits = waiting(app, reduces)?;
        let gains = earlier.as_f64() >= self.earlier_gain.get() * mean_shuffle as f64;
        (gains && waits as f64 <= self.earlier_wait.get() * mean_shuffle as f64).then(|| {
        let what = format!(
            "reduce tasks start only after the last map tasks: if containers are free, let them fetch during the last {earlier} \
             of these"
        );
        Advice::new(what).set([change(app, ConfKey::SlowStart, format!("{:.2}", self.earlier_start.get()))]).conditional()
    })
    }
}

/// The slow start with which reduce tasks would not wait for map tasks, if they do.
pub(crate) fn slow_start(app: &Application) -> Option<SettingChange> {
    let reduces = app.group(TaskKind::Reduce)?;
    let (_, slow_start) = early_start(app, reduces, means(reduces)?.shuffle)?;
    Some(change(app, ConfKey::SlowStart, format!("{slow_start:.2}")))
}

/// The mean time that reduce tasks waited for map tasks.
pub(super) fn waiting(app: &Application, reduces: &TaskGroup) -> Option<i64> {
    truncated_mean(&waits(app, reduces)?)
}

/// How long each reduce task waited for map tasks.
fn waits(app: &Application, reduces: &TaskGroup) -> Option<Vec<i64>> {
    let last_map = app.group(TaskKind::Map)?.sorted_ends().last()?.as_millis();
    let waits = reduces.winners().filter_map(|row| {
        let start = reduces.attempts.time(row, TimePoint::Start)?.as_millis();
        let shuffled = reduces.attempts.time(row, TimePoint::ShuffleFinish)?.as_millis();
        Some((last_map.min(shuffled) - start).max(0))
    });
    Some(waits.collect())
}

/// The mean time that reduce tasks waited for map tasks, and the slow start that would avoid at least half of it.
/// `None` if no slow start would, because most map tasks end long before the last ones.
pub(super) fn early_start(app: &Application, reduces: &TaskGroup, mean_shuffle: i64) -> Option<(i64, f64)> {
    let waiting = waiting(app, reduces)?;
    if waiting * 2 < mean_shuffle {
        return None;
    }
    let ends: Vec<i64> =
        app.group(TaskKind::Map)?.sorted_ends().into_iter().map(Timestamp::as_millis).collect();
    let last_map = *ends.last()?;
    let fetching = (mean_shuffle - waiting).max(0);
    let done_by_then = ends.partition_point(|&end| end <= last_map - fetching);
    let share = done_by_then as f64 / ends.len() as f64;
    // In steps of 5 %, at most 1 and never below the current value.
    let share = ((share * 20.0).floor() / 20.0).clamp(0.05, 1.0);
    let now = app.in_force(ConfKey::SlowStart, Conf::fraction)?;
    let needed = (share * ends.len() as f64 - 1e-6).ceil().as_usize();
    let still_waiting = last_map - ends.get(needed.checked_sub(1)?)?;
    (share > now && still_waiting * 2 <= waiting).then_some((waiting, share))
}

#[cfg(test)]
mod tests {
    use super::super::RULE;
    use super::*;
    use elephant_model::model::{MasterAttempt, Status};
    use elephant_rule::finding::Finding;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1000 * seconds)
    }

    /// Twenty containers, of which `early` are held by reduces that start after the first wave of maps of `length` seconds.
    /// The other maps share the rest: eleven waves on twenty containers without the reduces.
    fn job(early: i64, length: i64) -> Application {
        let mut maps: Vec<(i64, Option<i64>)> = vec![(0, Some(length)); 20];
        let free = 20 - early;
        maps.extend((0..200).map(|map| {
            let start = length * (1 + map / free);
            (start, Some(start + length))
        }));
        let last = maps.iter().filter_map(|&(_, end)| end).max().unwrap();
        let mut reduces =
            elephant_sample::tasks(TaskKind::Reduce, (0..early).map(|_| (length, Some(last + 20))));
        for row in 0..reduces.attempts.len() {
            for point in [TimePoint::ShuffleFinish, TimePoint::SortFinish] {
                reduces.attempts.set_time(row, point, Some(at(last + 3)));
            }
        }
        let sizes = [("mapreduce.job.reduce.slowstart.completedmaps", "0.05")];
        let mut app =
            elephant_sample::job(vec![elephant_sample::tasks(TaskKind::Map, maps), reduces], &sizes);
        app.status = Status::Succeeded;
        app.submitted_at = Some(at(0));
        app.finished_at = Some(at(last + 20));
        app.masters.push(MasterAttempt { started_at: None, node: None });
        app
    }

    fn found(app: &Application) -> Finding {
        elephant_sample::evaluate(app, RULE.id, false).findings.remove(0)
    }

    #[test]
    fn severity_grows_with_the_time_lost() {
        // Reduces take half of the containers: the maps take about twice as long.
        let severe = found(&job(10, 40));
        assert!(severe.severity >= Severity::Severe, "{}", severe.message);
        assert!(severe.time("lost_ms") > Some(Millis::from_secs(200)), "{:?}", severe.evidence);
        // Waits ten times as long, of the same share, are no less severe.
        assert!(found(&job(10, 400)).severity >= severe.severity);
        // The job loses less if the reduces take fewer containers.
        assert!(found(&job(2, 40)).severity < severe.severity);
    }

    #[test]
    fn short_waits_and_presets_of_dr_elephant_are_not_replayed() {
        // Waits of less than half a minute.
        assert_eq!(found(&job(10, 0)).time("lost_ms"), None);
        let app = job(10, 40);
        let found = elephant_sample::evaluate(&app, RULE.id, true).findings.remove(0);
        assert_eq!(found.time("lost_ms"), None);
    }
}
