//! What more tasks would save: a replay of the job with as many as its containers can run at once.

use super::large_splits::LargeSplits;
use super::{RunTime, Time};
use crate::mapreduce::support::replayed::ReplayedJob;
use crate::mapreduce::support::role::Role;
use crate::mapreduce::support::settings::change_towards;
use crate::mapreduce::support::splits::at_once;
use elephant_analysis::replay::mapreduce::{Cause, Kind, StartUp};
use elephant_analysis::replay::{MAX_ATTEMPTS, Micros};
use elephant_analysis::task_time::time_of_tasks;
use elephant_base::severity::Severity;
use elephant_base::stats::descriptive::mean;
use elephant_base::units::Millis;
use elephant_base::whole::Whole;
use elephant_catalogue::Advised;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::table::{TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, JobTool, hive_query, sorts_all_rows};
use elephant_rule::finding::{Advice, Judgement, Measure, Repartition, SettingChange, TroubleKind, percent};
use elephant_rule::wording::decisive;

/// The message if a replay shows what more tasks save.
const FEW: &str = "{tasks_run} {mean} on average[ and {read}] while containers were free; \
    {wanted_tasks_count} would save about {lost_ms}, {lost_ratio:%} of the run time ({limit})";

/// The message if the history does not show how many more could run at once.
const FEW_IF_FREE: &str = "{tasks_run} {mean} on average and {read}; twice as many would save about \
    {lost_ms}, {lost_ratio:%} of the run time, if there are containers for them ({limit})";

/// The message if Hive sorts all rows.
const ORDERED: &str = "{tasks_run} {mean} on average while containers were free, because ORDER BY sorts all rows in one task; \
    without it, up to about {lost_ms} would be saved, {lost_ratio:%} of the run time ({limit})";

/// The most numbers of tasks that are tried, and the least for large jobs.
const MOST_TRIED: usize = 12;
const LEAST_TRIED: usize = 3;
/// The number of tasks that uses the free containers, and what the job loses without it: nothing if that is the number
/// it has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FewTasks {
    pub(super) wanted: u32,
    pub(super) lost: Millis,
    /// The time lost as a share of the run time.
    pub(super) share: f64,
    /// What map tasks read.
    pub(super) splits: Option<LargeSplits>,
    /// Whether a replay shows the time lost. Otherwise nothing shows how many tasks could run at once.
    pub(super) is_replayed: bool,
    /// The mean run time of the tasks in milliseconds.
    pub(super) run_time: f64,
}

impl FewTasks {
    /// Whether what is lost decides, and not how long tasks run.
    pub(super) fn decides(&self) -> bool {
        self.is_replayed && self.splits.is_none_or(LargeSplits::is_by_setting)
    }

    /// What a job loses that has enough tasks.
    const fn enough(now: u32) -> Self {
        Self { wanted: now, lost: Millis::ZERO, share: 0.0, splits: None, is_replayed: true, run_time: 0.0 }
    }

    /// More than a job with `now` reduce tasks can lose: the time after its last map task. `None` if that is unknown.
    fn at_most(app: &Application, now: u32) -> Option<Self> {
        let maps = app.group(TaskKind::Map)?;
        let last_map = maps.winners().filter_map(|row| maps.attempts.time(row, TimePoint::Finish)).max()?;
        let run_time = Micros::between(app.submitted_at?, app.finished_at?);
        let after_maps = Micros::between(last_map, app.finished_at?).or_zero();
        let share = after_maps.as_f64() / run_time.as_f64().max(1.0);
        Some(Self { lost: after_maps.to_millis(), share, ..Self::enough(now) })
    }

    /// `None` if a replay cannot tell. At most `limit` tasks make sense.
    fn of(app: &Advised<'_>, (kind, limit): (Kind, f64), params: &Time) -> Option<Self> {
        if app.uberized == Some(true) {
            return None;
        }
        let job = ReplayedJob::of(app)?;
        let plan = &job.plan;
        let (now, room) = (plan.count(kind), plan.room_for(kind)?);
        let least = app.advice.start_ups_per_task.get() * params.start_up_cost.get() * 1000.0;
        let most = (plan.work_of(kind).as_f64() / least.max(1.0)).min(f64::from(room)).min(limit);
        if most <= f64::from(now) || now == 0 {
            return Some(Self::enough(now));
        }
        let factor = most / f64::from(now);
        let tried = (MAX_ATTEMPTS / plan.attempts_count().max(1)).clamp(LEAST_TRIED, MOST_TRIED);
        let number = |step: usize| (f64::from(now) * factor.powf(step as f64 / tried as f64)).as_u32();
        let mut numbers: Vec<u32> = (1..=tried).map(number).filter(|number| *number > now).collect();
        numbers.dedup();
        let more = |count: u32| Cause::Tasks(kind, count as usize, StartUp::Container);
        let saved = |count: u32| Some((count, job.saved(&[more(count)])?));
        let tried: Vec<(u32, Micros)> = numbers.into_iter().filter_map(saved).collect();
        let best = tried.iter().map(|(_, saved)| saved.as_f64()).max_by(f64::total_cmp)?;
        let is_enough =
            |(_, saved): &&(u32, Micros)| saved.as_f64() >= params.enough_saving.get() * best && best > 0.0;
        let Some(&(wanted, saved)) = tried.iter().find(is_enough) else { return Some(Self::enough(now)) };
        // More tasks also hide a slow node, which is no reason to have more of them. Neither are a few large map tasks.
        let mut others = vec![Cause::FailedAttempts(kind), Cause::Stragglers(kind)];
        if kind == Kind::Map {
            others.push(Cause::Skew(kind));
        }
        let besides = job.lost_besides(&[more(wanted)], &others);
        let few = |lost: Millis, share: f64| Self { wanted, lost, share, ..Self::enough(now) };
        let is_judged = besides.is_none_or(|besides| params.may_lose(few(besides.time, besides.share)));
        Some(if is_judged { few(saved.to_millis(), job.share(saved)) } else { Self::enough(now) })
    }
}

impl RunTime {
    /// The judgement on tasks that leave containers idle.
    pub(super) fn too_few(
        &self,
        app: &Application,
        judgement: Judgement,
        few: FewTasks,
        (tasks_run, mean): &(String, String),
    ) -> Judgement {
        let Self(role, params, _) = self;
        let (_, limit) = params.lost(few);
        let tasks = app.group(role.kind()).map_or(0, |group| group.tasks.len());
        let read = few.splits.map(|splits| splits.shown(tasks)).unwrap_or_default();
        judgement
            .fact("wanted_tasks_count", Measure::Count(few.wanted.into()))
            .fact("lost_ms", Measure::Time(few.lost))
            .fact("lost_ratio", Measure::Ratio(Some(few.share)))
            .repartition(Repartition { stages: Vec::new(), tasks: few.wanted })
            .message(
                match few.is_replayed {
                    _ if is_ordered(app, *role) => ORDERED,
                    true => FEW,
                    false => FEW_IF_FREE,
                },
                &[("tasks_run", tasks_run), ("mean", mean), ("read", &read), ("limit", &limit)],
            )
            .tells(TroubleKind::FewTasks)
            .advice(|| match few.splits {
                Some(splits) => splits.advice(app, few.wanted),
                None => more_reduces(app, few),
            })
    }
}

/// Whether a single reduce task of Hive sorts all rows, which no setting divides.
pub(super) fn is_ordered(app: &Application, role: Role) -> bool {
    let is_single = app.group(TaskKind::Reduce).is_some_and(|group| group.tasks.len() == 1);
    role == Role::Reduce && is_single && hive_query(app).is_some_and(|query| sorts_all_rows(&query))
}

/// What to do instead of sorting all rows.
pub(super) fn instead_of_order() -> Advice {
    Advice::new(
        "ORDER BY sorts all rows in one reduce task, by definition: sort only within parts (DISTRIBUTE BY and SORT BY), or keep \
         few rows before the sort (LIMIT)",
    )
}

/// Hive: how much input it gives to a reduce task.
const HIVE_BYTES: &str = "hive.exec.reducers.bytes.per.reducer";
/// Hive: when it uses a single reduce task, whatever the settings.
const HIVE_ONE: &str = "if the query is no ORDER BY or aggregate over all rows, such as count(*) without GROUP BY, which need one \
                        reduce task";
/// How it makes the work of that task less.
const HIVE_LESS: &str =
    "if it is, aggregate in the map tasks (hive.map.aggr=true), or sort by DISTRIBUTE BY and SORT BY";

/// Hive chooses the number of reduce tasks by the data, and uses one for some queries.
fn more_reduces_of_hive(app: &Application, few: FewTasks, now: u32) -> Vec<Advice> {
    let from = app.conf.raw(HIVE_BYTES);
    let set = from.as_deref().and_then(|from| from.trim().parse::<u64>().ok()).filter(|set| *set > 0);
    let tasks = format!("about {} reduce tasks", few.wanted);
    let less = set.map(|set| SettingChange {
        setting: HIVE_BYTES.to_owned(),
        from: from.clone(),
        to: (set.saturating_mul(now.into()) / u64::from(few.wanted.max(1))).max(1).to_string(),
    });
    if now > 1 {
        return vec![match less {
            Some(less) => Advice::default().set([less]).and(&format!(", for {tasks}")),
            None => format!("lower {HIVE_BYTES}, so that Hive uses {tasks}").into(),
        }];
    }
    // What one reduce task reads says nothing about how Hive would divide it.
    let more = format!("{HIVE_ONE}, lower {HIVE_BYTES}, so that Hive uses {tasks}");
    vec![Advice::new(more).conditional(), Advice::new(HIVE_LESS).conditional()]
}

fn more_reduces(app: &Application, few: FewTasks) -> Vec<Advice> {
    if is_ordered(app, Role::Reduce) {
        return vec![instead_of_order()];
    }
    if JobTool::of(app) == Some(JobTool::Hive) {
        let now = app.group(TaskKind::Reduce).map_or(1, |group| group.tasks.len());
        return more_reduces_of_hive(app, few, u32::try_from(now).unwrap_or(u32::MAX));
    }
    match change_towards(app, ConfKey::Reduces, few.wanted.into(), true) {
        Some(change) => {
            vec![Advice::default().set([change]).and(", as many as pay off in its containers")]
        }
        None => {
            vec![
                format!("use about {} reduce tasks, as many as pay off in its containers", few.wanted).into(),
            ]
        }
    }
}

impl Time {
    /// What more tasks than these, with this mean run time, would save; `None` if it is not judged or unknown.
    pub(super) fn few(&self, app: &Advised<'_>, role: Role, mean: i64) -> Option<FewTasks> {
        let is_judged = self.lost_share.values().is_some() || self.lost_time.values().is_some();
        let group = app.group(role.kind()).filter(|_| is_judged)?;
        let few = if role == Role::Map { self.few_maps(app, group) } else { self.few_reduces(app, group) };
        few.map(|few| FewTasks { run_time: mean as f64, ..few })
    }

    fn few_reduces(&self, app: &Advised<'_>, group: &TaskGroup) -> Option<FewTasks> {
        let now = u32::try_from(group.tasks.len()).ok()?;
        // Most jobs spend too little time after their map tasks to be replayed.
        if FewTasks::at_most(app, now).is_some_and(|most| !self.may_lose(most)) {
            return Some(FewTasks::enough(now));
        }
        FewTasks::of(app, (Kind::Reduce, f64::INFINITY), self)
    }

    /// What the job loses by large splits; `None` if it is unknown, or if map tasks are too short to be divided,
    /// or run in waves.
    fn few_maps(&self, app: &Advised<'_>, group: &TaskGroup) -> Option<FewTasks> {
        let splits = LargeSplits::of(app, group)?;
        let now = group.tasks.len() as f64;
        let work: Millis = group.winners().filter_map(|row| group.attempts.run_time(row)).sum();
        let is_short = work.as_f64() <= now * app.advice.start_ups_per_task.get() * self.start_up_cost.get();
        // In several waves, no container is idle.
        let has_waves = now > self.few_waves.get() * at_once(group) as f64;
        if (is_short || has_waves) && !splits.is_by_setting() {
            return None;
        }
        let most = splits.most();
        let replayed = FewTasks::of(app, (Kind::Map, most), self);
        if let Some(few) = replayed {
            return Some(FewTasks { splits: Some(splits), ..few });
        }
        if !splits.is_by_setting() {
            return None;
        }
        // All map tasks ran at once, and nothing shows whether more could have.
        let times: Vec<f64> =
            group.winners().filter_map(|row| Some(group.attempts.run_time(row)?.as_f64())).collect();
        let mean = mean(&times)?;
        let span = time_of_tasks(app).as_f64();
        if 2.0 * mean < span || span <= 0.0 {
            return None;
        }
        let wanted = (now * mean / (self.target_share.get() * span)).max(2.0 * now).min(most);
        let lost = mean / 2.0;
        Some(FewTasks {
            wanted: wanted.ceil().as_u32(),
            lost: Millis::from_f64(lost)?,
            share: lost / span,
            splits: Some(splits),
            is_replayed: false,
            run_time: mean,
        })
    }

    /// Whether the rule judges this loss.
    fn may_lose(&self, few: FewTasks) -> bool {
        self.by_loss(few).into_iter().min() > Some(Severity::None)
    }

    /// The severities by the share and by the time that is lost.
    fn by_loss(&self, few: FewTasks) -> [Severity; 2] {
        [self.lost_share.severity(few.share), self.lost_time.severity(few.lost.as_f64())]
    }

    /// The severity of too few tasks, and the limit that decides. If no replay shows the time lost, it is at most
    /// moderate.
    pub(super) fn lost(&self, few: FewTasks) -> (Severity, String) {
        let [by_share, by_time] = self.by_loss(few);
        let by_run_time = self.few_run_time.severity(few.run_time);
        let most = if few.is_replayed { Severity::Critical } else { Severity::Moderate };
        let severity = by_share.min(by_time).min(by_run_time).min(most);
        let level = severity.max(Severity::Low);
        let next = if severity < Severity::Moderate { Severity::Moderate } else { Severity::Severe };
        let limits = [
            (by_share, self.lost_share.describe_in(level, percent)),
            (by_time, self.lost_time.describe(level)),
            (most, format!("{most} at most: it is unknown how many could run at once")),
            (by_run_time, format!("{level} at most: {} of run time", self.few_run_time.describe(next))),
        ];
        (severity, decisive(severity, &limits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::MasterAttempt;

    /// Two waves of maps of a minute on forty containers, then this many reduces that share the work of 75 minutes.
    fn job(reduces: i64) -> Application {
        let maps = (0..80).map(|map| (61 * (map / 40), Some(61 * (map / 40) + 60)));
        let end = 121 + 4500 / reduces;
        let mut group = elephant_sample::tasks(TaskKind::Reduce, (0..reduces).map(|_| (121, Some(end))));
        for row in 0..group.attempts.len() {
            let at = Some(Timestamp::from_millis(1000 * 130));
            group.attempts.set_time(row, TimePoint::ShuffleFinish, at);
        }
        let maps = elephant_sample::tasks(TaskKind::Map, maps);
        let sizes = [("mapreduce.map.memory.mb", "1024"), ("mapreduce.reduce.memory.mb", "2048")];
        let mut app = elephant_sample::job(vec![maps, group], &sizes);
        app.masters.push(MasterAttempt { started_at: None, node: None });
        app.finished_at = Some(Timestamp::from_millis(1000 * end));
        app
    }

    #[test]
    fn more_reduces_are_no_remedy_for_a_slow_node() {
        let mut app = job(18);
        assert_eq!(elephant_sample::severity(&app, "reducer-time", false), Some(Severity::None));
        // Two reduces take twice as long as the others.
        let end = Some(Timestamp::from_millis(1000 * (121 + 500)));
        let reduces = app.groups.iter_mut().find(|group| group.kind == TaskKind::Reduce).unwrap();
        for row in 0..2 {
            reduces.attempts.set_time(row, TimePoint::Finish, end);
        }
        app.finished_at = end;
        assert_eq!(elephant_sample::severity(&app, "reducer-time", false), Some(Severity::None));
    }

    /// Reduces that end soon are a normal number of them, even if more would end sooner.
    #[test]
    fn few_tasks_that_run_shortly_are_a_note() {
        let of = |reduces| {
            let found = elephant_sample::evaluate(&job(reduces), "reducer-time", false).findings.remove(0);
            (found.severity, found.message)
        };
        // Twelve reduces of five minutes, and of three and more than a half with more than a sixth of them left.
        assert!(of(12).0 >= Severity::Moderate, "{}", of(12).1);
        let with = |limits: &str| {
            let parameters = format!("few_run_time: {limits}");
            let found =
                elephant_sample::evaluate_with(&job(12), "reducer-time", &parameters).findings.remove(0);
            (found.severity, found.message)
        };
        let (severity, message) = with("[0s, 10min, 10min, 10min]");
        assert_eq!(severity, Severity::Low);
        assert!(message.ends_with("(low at most: moderate from 10m of run time)"), "{message}");
        assert_eq!(with("off"), of(12));
    }

    #[test]
    fn hive_chooses_the_number_of_reduces_itself() {
        let of = |reduces: i64, settings: &[(&str, &str)]| {
            let mut app = job(reduces);
            elephant_sample::set(&mut app, &[("hive.query.id", "q1")]);
            elephant_sample::set(&mut app, settings);
            let found = elephant_sample::evaluate(&app, "reducer-time", false).findings.remove(0);
            assert!(found.severity > Severity::None && found.tells == TroubleKind::FewTasks);
            found.advice.clone()
        };
        let bytes = (HIVE_BYTES, "256000000");
        let several = of(4, &[bytes]);
        let settings: Vec<&str> = several[0].settings.iter().map(|it| it.setting.as_str()).collect();
        assert_eq!(settings, [HIVE_BYTES]);
        assert!(several[0].settings[0].to.parse::<u64>().unwrap() < 100_000_000, "{several:?}");
        assert!(of(4, &[])[0].starts_with(&format!("lower {HIVE_BYTES}, so that")));
        let one = of(1, &[bytes]);
        assert!(one.iter().all(|line| line.conditional && line.settings.is_empty()), "{one:?}");
        assert!(one[0].contains("aggregate over all rows") && one[0].contains(HIVE_BYTES), "{one:?}");
        let query = ("hive.query.string", "select+a+from+t+order+by+a");
        let ordered = of(1, &[bytes, query]);
        assert!(ordered.len() == 1 && ordered[0].text.starts_with("ORDER BY sorts all rows"), "{ordered:?}");
    }

    #[test]
    fn idle_containers_decide_and_not_the_length_of_tasks() {
        let of = |reduces| {
            let found = elephant_sample::evaluate(&job(reduces), "reducer-time", false).findings.remove(0);
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
        assert_eq!(elephant_sample::severity(&job(5), "reducer-time", true), Some(Severity::Low));
    }
}
