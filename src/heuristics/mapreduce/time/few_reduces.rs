//! What more reduce tasks would save: a replay of the job with as many as its containers can run at once.

use super::{RunTime, Time};
use crate::finding::{Advice, Judgement, Measure, Repartition, TroubleKind, percent};
use crate::heuristics::mapreduce::{ReplayedJob, Role, change_towards};
use crate::heuristics::wording::decisive;
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::table::{TaskKind, TimePoint};
use crate::params::quantity::{Duration, Quantity};
use crate::replay::Micros;
use crate::replay::mapreduce::{Cause, Kind, StartUp};
use crate::severity::Severity;
use crate::units::Millis;

/// The message if a replay shows what more reduce tasks save.
const FEW: &str = "{tasks_run} {mean} on average while containers were free; {wanted_tasks_count} would save about \
    {lost_ms}, {lost_ratio:%} of the run time ({limit})";

/// The most numbers of reduce tasks that are tried, the least for large jobs, and the attempts that the replays schedule.
const MOST_TRIED: usize = 12;
const LEAST_TRIED: usize = 3;
const ATTEMPTS: usize = 400_000;
/// More reduce tasks than needed for this share of the largest saving are not worth their output files.
const ENOUGH: f64 = 0.95;
/// The share of a reduce task's run time for which starting up may last, as a divisor.
const START_UPS: f64 = 12.0;

/// The number of reduce tasks that uses the free containers, and what the job loses without it: nothing if that is the
/// number it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FewReduces {
    pub(super) wanted: u32,
    pub(super) lost: Millis,
    /// The time lost as a share of the run time.
    pub(super) share: f64,
}

impl FewReduces {
    /// What a job loses that has enough reduce tasks.
    const fn enough(now: u32) -> Self {
        Self { wanted: now, lost: Millis::ZERO, share: 0.0 }
    }

    /// More than a job with `now` reduce tasks can lose: the time after its last map task. `None` if that is unknown.
    fn at_most(app: &Application, now: u32) -> Option<Self> {
        let maps = app.group(TaskKind::Map)?;
        let last_map = maps.winners().filter_map(|row| maps.attempts.time(row, TimePoint::Finish)).max()?;
        let run_time = Micros::between(app.submitted_at?, app.finished_at?);
        let after_maps = Micros::between(last_map, app.finished_at?).or_zero();
        let share = after_maps.as_f64() / run_time.as_f64().max(1.0);
        Some(Self { wanted: now, lost: after_maps.to_millis(), share })
    }

    /// `None` if a replay cannot tell. `may_lose` says whether a loss is one that the rule judges.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // numbers of tasks
    fn of(app: &Application, start_up: Quantity<Duration>, may_lose: impl Fn(Self) -> bool) -> Option<Self> {
        if app.uberized == Some(true) {
            return None;
        }
        let job = ReplayedJob::of(app)?;
        let plan = &job.plan;
        let (now, room) = (plan.reduces(), plan.room_for_reduces()?);
        let least = START_UPS * start_up.get() * 1000.0;
        let most = (plan.work_of_reduces().as_f64() / least.max(1.0)).min(f64::from(room));
        if most <= f64::from(now) || now == 0 {
            return Some(Self::enough(now));
        }
        let factor = most / f64::from(now);
        let tried = (ATTEMPTS / plan.attempts_count().max(1)).clamp(LEAST_TRIED, MOST_TRIED);
        let number = |step: usize| (f64::from(now) * factor.powf(step as f64 / tried as f64)) as u32;
        let mut numbers: Vec<u32> = (1..=tried).map(number).filter(|number| *number > now).collect();
        numbers.dedup();
        let more = |count: u32| Cause::Tasks(Kind::Reduce, count as usize, StartUp::Container);
        let saved = |count: u32| Some((count, job.saved(&[more(count)])?));
        let tried: Vec<(u32, Micros)> = numbers.into_iter().filter_map(saved).collect();
        let best = tried.iter().map(|(_, saved)| saved.as_f64()).max_by(f64::total_cmp)?;
        let is_enough = |(_, saved): &&(u32, Micros)| saved.as_f64() >= ENOUGH * best && best > 0.0;
        let Some(&(wanted, saved)) = tried.iter().find(is_enough) else { return Some(Self::enough(now)) };
        // More tasks also hide a slow node, which is no reason to have more of them.
        let others = [Cause::FailedAttempts(Kind::Reduce), Cause::Stragglers(Kind::Reduce)];
        let besides = job.lost_besides(&[more(wanted)], &others);
        let few = |lost: Millis, share: f64| Self { wanted, lost, share };
        let is_judged = besides.is_none_or(|besides| may_lose(few(besides.time, besides.share)));
        Some(if is_judged { few(saved.to_millis(), job.share(saved)) } else { Self::enough(now) })
    }
}

impl RunTime {
    /// The judgement on reduce tasks that leave containers idle.
    pub(super) fn too_few(
        &self,
        app: &Application,
        judgement: Judgement,
        few: FewReduces,
        (tasks_run, mean): &(String, String),
    ) -> Judgement {
        let Self(_, params) = self;
        let (_, limit) = params.lost(few);
        judgement
            .fact("wanted_tasks_count", Measure::Count(few.wanted.into()))
            .fact("lost_ms", Measure::Time(few.lost))
            .fact("lost_ratio", Measure::Ratio(Some(few.share)))
            .repartition(Repartition { stages: Vec::new(), tasks: few.wanted })
            .message(FEW, &[("tasks_run", tasks_run), ("mean", mean), ("limit", &limit)])
            .tells(TroubleKind::FewTasks)
            .advice(|| match change_towards(app, ConfKey::Reduces, few.wanted.into(), true) {
                Some(change) => {
                    vec![Advice::default().set([change]).and(", as many as pay off in its containers")]
                }
                None => vec![
                    format!("use about {} reduce tasks, as many as pay off in its containers", few.wanted)
                        .into(),
                ],
            })
    }
}

impl Time {
    /// What more reduce tasks would save; `None` if it is not judged or unknown.
    pub(super) fn few(&self, app: &Application, role: Role) -> Option<FewReduces> {
        let is_judged = self.lost_share.values().is_some() || self.lost_time.values().is_some();
        let group = app.group(role.kind()).filter(|_| role == Role::Reduce && is_judged)?;
        let now = u32::try_from(group.tasks.len()).ok()?;
        // Most jobs spend too little time after their map tasks to be replayed.
        let may_lose = |most| self.lost(most).0 > Severity::None;
        if FewReduces::at_most(app, now).is_some_and(|most| !may_lose(most)) {
            return Some(FewReduces::enough(now));
        }
        FewReduces::of(app, self.start_up_cost, may_lose)
    }

    /// The severity of too few reduce tasks, and the limit that decides.
    pub(super) fn lost(&self, few: FewReduces) -> (Severity, String) {
        let by_share = self.lost_share.severity(few.share);
        let by_time = self.lost_time.severity(few.lost.as_f64());
        let severity = by_share.min(by_time);
        let level = severity.max(Severity::Low);
        let limits = [
            (by_share, self.lost_share.describe_in(level, percent)),
            (by_time, self.lost_time.describe(level)),
        ];
        (severity, decisive(severity, &limits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::internal::sample;
    use crate::model::MasterAttempt;
    use crate::units::Timestamp;

    /// Two waves of maps of a minute on forty containers, then this many reduces that share the work of 75 minutes.
    fn job(reduces: i64) -> Application {
        let maps = (0..80).map(|map| (61 * (map / 40), Some(61 * (map / 40) + 60)));
        let end = 121 + 4500 / reduces;
        let mut group = sample::tasks(TaskKind::Reduce, (0..reduces).map(|_| (121, Some(end))));
        for row in 0..group.attempts.len() {
            let at = Some(Timestamp::from_millis(1000 * 130));
            group.attempts.set_time(row, TimePoint::ShuffleFinish, at);
        }
        let maps = sample::tasks(TaskKind::Map, maps);
        let sizes = [("mapreduce.map.memory.mb", "1024"), ("mapreduce.reduce.memory.mb", "2048")];
        let mut app = sample::job(vec![maps, group], &sizes);
        app.masters.push(MasterAttempt { started_at: None, node: None });
        app.finished_at = Some(Timestamp::from_millis(1000 * end));
        app
    }

    #[test]
    fn more_reduces_are_no_remedy_for_a_slow_node() {
        let mut app = job(18);
        assert_eq!(sample::severity(&app, "reducer-time", false), Some(Severity::None));
        // Two reduces take twice as long as the others.
        let end = Some(Timestamp::from_millis(1000 * (121 + 500)));
        let reduces = app.groups.iter_mut().find(|group| group.kind == TaskKind::Reduce).unwrap();
        for row in 0..2 {
            reduces.attempts.set_time(row, TimePoint::Finish, end);
        }
        app.finished_at = end;
        assert_eq!(sample::severity(&app, "reducer-time", false), Some(Severity::None));
    }

    #[test]
    fn idle_containers_decide_and_not_the_length_of_tasks() {
        let of = |reduces| {
            let found = sample::evaluate(&job(reduces), "reducer-time", false).findings.remove(0);
            (found.severity, found.tells, found.count("wanted_tasks_count"))
        };
        // The memory of forty maps holds twenty reduces.
        let (severity, tells, wanted) = of(5);
        assert_eq!((severity, tells), (Severity::Critical, TroubleKind::FewTasks));
        assert!((15..=20).contains(&wanted.unwrap()), "{wanted:?}");
        let (severity, _, wanted) = of(1);
        assert!(severity == Severity::Critical && wanted > Some(9), "{severity} {wanted:?}");
        assert_eq!(of(20).0, Severity::None);
        // As in Dr. Elephant, a mean of fifteen minutes is too long.
        assert_eq!(sample::severity(&job(5), "reducer-time", true), Some(Severity::Low));
    }
}
