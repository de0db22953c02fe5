//! What fewer tasks would save: a replay of the job with as many as the advice asks for.

use super::RunTime;
use crate::mapreduce::support::counters::mean_input;
use crate::mapreduce::support::replayed::ReplayedJob;
use crate::mapreduce::support::role::Role;
use crate::mapreduce::support::splits::at_once;
use elephant_analysis::replay::Micros;
use elephant_analysis::replay::mapreduce::{Cause, Kind, Plan, StartUp};
use elephant_analysis::task_time::time_of_tasks;
use elephant_base::units::Millis;
use elephant_base::whole::Whole;
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::{ConfKey, defaults};
use elephant_model::model::table::TaskGroup;
use elephant_rule::finding::Measure;

/// What a job loses because its tasks are many and short.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct ManyTasks {
    pub(super) lost: Millis,
    /// The time lost as a share of the run time.
    pub(super) share: f64,
    /// How many times the work per task grows until nothing is lost.
    growth: f64,
    /// The run time in milliseconds that a task takes whatever it reads, if the tasks clearly show it.
    fixed: Option<f64>,
}

impl ManyTasks {
    /// The share that is still lost once the work per task has grown by less than it should.
    pub(super) fn share_after(self, growth: f64) -> f64 {
        let removed = |growth: f64| 1.0 - 1.0 / growth.max(1.0);
        let all = removed(self.growth);
        if all > 0.0 { self.share * (1.0 - removed(growth) / all).max(0.0) } else { 0.0 }
    }

    /// The mean run time once the work per task has grown; `None` unless the tasks show what does not grow.
    pub(super) fn mean_after(self, mean: i64, growth: f64) -> Option<Millis> {
        let fixed = self.fixed?;
        Millis::from_f64((growth.mul_add(mean as f64 - fixed, fixed)).round())
    }

    pub(super) fn evidence(self) -> [(&'static str, Measure); 2] {
        [("saved_ms", Measure::Time(self.lost)), ("saved_ratio", Measure::Ratio(Some(self.share)))]
    }
}

/// The number of tasks, once the work per task has grown.
pub(super) fn number_after(total: u64, growth: f64) -> u64 {
    (total as f64 / growth).ceil().as_u64().max(1)
}

impl RunTime {
    /// What the job loses by short tasks. Nothing is known to be lost if the job would have as many tasks as now.
    pub(super) fn many(&self, app: &Advised<'_>, group: &TaskGroup, mean: i64) -> ManyTasks {
        let Self(role, params, _) = self;
        let total = group.tasks.len() as u64;
        let growth = params.target().growth(app, group, mean);
        let wanted = number_after(total, growth);
        if growth <= 1.0 || wanted >= total {
            return ManyTasks::default();
        }
        let plan = Plan::of(app).ok();
        let kind = match role {
            Role::Map => Kind::Map,
            Role::Reduce => Kind::Reduce,
        };
        let fit = plan.as_ref().and_then(|plan| plan.start_up(kind)).map(|fit| fit.as_f64() / 1000.0);
        // What the tasks show themselves is not bounded by what is usual.
        let fixed = usize::try_from(wanted)
            .ok()
            .filter(|_| *role == Role::Map)
            .and_then(|wanted| Some(plan.as_ref()?.fixed_cost_of_maps(wanted)?.as_f64() / 1000.0));
        let start_up = fixed.unwrap_or_else(|| self.start_up(app, group, (mean.max(1) as f64, fit)));
        let of_containers = plan.as_ref().map_or(1.0, Plan::share_of_containers);
        let lost = plan
            .and_then(ReplayedJob::with)
            .and_then(|job| replayed(&job, kind, (total, wanted), start_up))
            .unwrap_or_else(|| by_waves(group, wanted, start_up));
        let lost = (lost - self.read_remotely(app, group, (growth, of_containers))).max(0.0);
        let run_time = app.submitted_at.zip(app.finished_at).map(|(from, to)| Micros::between(from, to));
        let run_time =
            run_time.map_or_else(|| time_of_tasks(app), |time| time.or_zero().to_millis()).as_f64();
        let share = if run_time > 0.0 { lost / run_time } else { 0.0 };
        ManyTasks { lost: Millis::from_f64(lost).unwrap_or_default(), share, growth, fixed }
    }

    /// Whether map tasks read blocks of large files, and not small files or parts of blocks.
    fn reads_blocks(&self, app: &Application, group: &TaskGroup) -> bool {
        let Self(role, _, _) = self;
        let block = app.conf.bytes(ConfKey::BlockSize).filter(|block| block.get() > 1);
        let block = block.unwrap_or(defaults::BLOCK);
        *role == Role::Map && mean_input(group).is_some_and(|input| input.get() >= block.get() / 2)
    }

    /// The time in milliseconds that the job would take longer because map tasks read all blocks but the first from other
    /// nodes, if it has this share of its most containers on average.
    fn read_remotely(
        &self,
        app: &Application,
        group: &TaskGroup,
        (growth, of_containers): (f64, f64),
    ) -> f64 {
        if !self.reads_blocks(app, group) {
            return 0.0;
        }
        let work: Millis = group.winners().filter_map(|row| group.attempts.run_time(row)).sum();
        self.1.remote_cost.get() * (1.0 - 1.0 / growth) * work.as_f64()
            / (at_once(group) as f64 * of_containers).max(1.0)
    }

    /// The part of each run time that fewer tasks would not need, in milliseconds. A fit of time on input shows it.
    /// Without one, half of what it is at most, but not more than the shortest task took: a JVM of a tiny task starts as
    /// long as any other. But map tasks that read blocks of large files would read a part of larger
    /// splits from other nodes, so only very short ones surely gain by them.
    fn start_up(&self, app: &Application, group: &TaskGroup, (mean, fit): (f64, Option<f64>)) -> f64 {
        let Self(_, params, _) = self;
        let most = params.start_up_cost.get();
        match fit {
            Some(fit) => fit.min(most),
            None if mean >= 2.0 * most && self.reads_blocks(app, group) => 0.0,
            None => (most / 2.0).min(shortest(group).unwrap_or(mean)),
        }
    }
}

/// The run time of the shortest task in milliseconds.
fn shortest(group: &TaskGroup) -> Option<f64> {
    group.winners().filter_map(|row| group.attempts.run_time(row)).min().map(Millis::as_f64)
}

/// The time in milliseconds that this many tasks save in a replay; `None` if a replay cannot tell. Other tasks may fit the
/// containers better or worse by chance, or wait less for maps, so it is at most what starting took.
fn replayed(job: &ReplayedJob, kind: Kind, (total, wanted): (u64, u64), start_up: f64) -> Option<f64> {
    let known = StartUp::Known(Micros::from_f64(1000.0 * start_up));
    let fewer = [Cause::Tasks(kind, usize::try_from(wanted).ok()?, known)];
    let saved = job.saved(&fewer)?.as_f64() / 1000.0;
    let starting = Micros::from_f64(1000.0 * start_up * total.saturating_sub(wanted) as f64);
    let change = job.plan.without(&fewer).ok()?;
    Some(saved.min(job.plan.start_ups_saved(&change, starting)).max(0.0))
}

/// The same without a replay: the start-ups of the waves that fewer tasks would not have.
fn by_waves(group: &TaskGroup, wanted: u64, start_up: f64) -> f64 {
    let fewer = (group.tasks.len() as u64).saturating_sub(wanted) as f64;
    fewer * start_up / at_once(group).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::severity::Severity;
    use elephant_base::units::Timestamp;
    use elephant_model::model::MasterAttempt;
    use elephant_model::model::Status;
    use elephant_model::model::counters::Counter;
    use elephant_model::model::table::{TaskKind, TimePoint};
    use elephant_rule::finding::TroubleKind;

    /// This many maps of `millis` that read `kib` each, on ten containers, with a second between two of them; then a reduce
    /// task of this many minutes.
    fn job(maps: i64, millis: i64, kib: i64, minutes: i64) -> Application {
        let start = |place: i64| (millis + 1000) * (place / 10);
        let mut group = elephant_sample::tasks(TaskKind::Map, (0..maps).map(|_| (0, Some(0))));
        for row in 0..group.attempts.len() {
            let at = start(i64::try_from(row).unwrap());
            let time = |millis: i64| Some(Timestamp::from_millis(millis));
            group.attempts.set_time(row, TimePoint::Start, time(at));
            group.attempts.set_time(row, TimePoint::Finish, time(at + millis));
            group.attempts.set_counter(row, Counter::HdfsBytesRead, Some(kib << 10));
        }
        let last = start(maps - 1) + millis;
        let end = last / 1000 + 60 * minutes;
        let reduces = elephant_sample::tasks(TaskKind::Reduce, [(last / 1000, Some(end))]);
        let mut app = elephant_sample::job(vec![group, reduces], &[("dfs.blocksize", "128m")]);
        app.masters.push(MasterAttempt { started_at: None, node: None });
        app.finished_at = Some(Timestamp::from_millis(1000 * end));
        app
    }

    fn found(app: &Application) -> (Severity, Option<Millis>) {
        let found = elephant_sample::evaluate(app, "mapper-time", false).findings.remove(0);
        assert!(found.severity == Severity::None || found.tells == TroubleKind::ManyTasks);
        (found.severity, found.time("saved_ms"))
    }

    #[test]
    fn blocks_of_normal_length_are_no_trouble() {
        // A thousand blocks of 13 s: what larger splits save between tasks, they lose by reading from other nodes.
        assert_eq!(found(&job(1000, 13_000, 128 << 10, 1)).0, Severity::None);
        assert_eq!(
            elephant_sample::severity(&job(1000, 13_000, 128 << 10, 1), "mapper-time", true),
            Some(Severity::Critical)
        );
    }

    #[test]
    fn the_time_of_the_job_decides() {
        // A thousand tiny tasks that start for most of their 3 s, in a job with little else.
        let (severity, lost) = found(&job(1000, 3000, 1024, 0));
        assert_eq!(severity, Severity::Critical);
        assert!((250..345).contains(&(lost.unwrap().get() / 1000)), "{lost:?}");
        // The same before an hour of reducing.
        assert_eq!(found(&job(1000, 3000, 1024, 60)).0, Severity::Low);
        assert_eq!(found(&job(1000, 3000, 1024, 600)).0, Severity::None);
    }

    #[test]
    fn without_a_replay_the_waves_count() {
        let mut app = job(1000, 3000, 1024, 0);
        app.status = Status::Failed;
        let (severity, lost) = found(&app);
        // A hundred waves, of which all but two are not needed, with 2.5 s each.
        assert_eq!(severity, Severity::Critical);
        assert!((240..250).contains(&(lost.unwrap().get() / 1000)), "{lost:?}");
    }

    #[test]
    fn as_many_tasks_as_containers_lose_nothing() {
        assert_eq!(found(&job(10, 3000, 1024, 0)), (Severity::None, None));
    }

    #[test]
    fn what_is_left_falls_with_the_number_of_tasks() {
        let many = ManyTasks { lost: Millis::from_secs(60), share: 0.4, growth: 10.0, fixed: None };
        let near = |growth: f64, share: f64| (many.share_after(growth) - share).abs() < 1e-9;
        // Half as many tasks save 5/9 of what a tenth of them saves.
        assert!(near(1.0, 0.4) && near(2.0, 0.4 * 4.0 / 9.0) && near(10.0, 0.0) && near(20.0, 0.0));
        assert_eq!(ManyTasks::default().share_after(1.0).to_bits(), 0.0f64.to_bits());
    }
}
