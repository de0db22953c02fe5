//! `mapper-time`, `reducer-time`: many short tasks, or few long ones (Dr. Elephant `MapperTimeHeuristic`, `Reducer…`).

mod few_tasks;
mod large_splits;
mod many_tasks;
mod small_files;

use std::sync::Arc;

use many_tasks::{ManyTasks, number_after};

use super::support::counters::{mean_input, to_millis};
use super::support::role::Role;
use super::support::run_times::RunTimes;
use super::support::settings::change_towards;
use super::support::splits::{SplitLimits, Target, Unsplittable, divided_otherwise, split_for};
use super::support::tasks::{no_task_reports, tasks, without_tasks};
use crate::declare::mapreduce as rule;
use elephant_analysis::task_time::time_of_tasks;
use elephant_base::severity::Severity;
use elephant_base::stats::truncated_mean;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, chart_limit, load_advised};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskGroup;
use elephant_rule::finding::{
    Advice, ChartLimit, ComparedWith, Condition, Judgement, Measure, Measured, Repartition, TroubleKind,
    Verdict, percent,
};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::{Positive, rule_params};
use elephant_rule::wording::condition;

rule_params! {
    /// Parameters of `mapper-time` and `reducer-time`.
    pub(super) struct Time / TimeLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// Mean run time of tasks that are too short.
        short_run_time: Descending<Duration>,
        /// Number of tasks from which short ones matter.
        num_tasks: Ascending<Count>,
        /// Mean run time of tasks that are too long.
        long_run_time: Ascending<Duration>,
        /// Number of tasks up to which long ones matter, as in Dr. Elephant 0.4. off: long tasks matter
        /// at any number.
        long_num_tasks: Descending<Count>,
        /// Run time per task that advice aims at.
        target_run_time: Positive<Duration>,
        /// Largest share of the time in which tasks of the job ran that a task should take. Short jobs
        /// need shorter tasks.
        target_share: Positive<Ratio>,
        /// The part of a task's run time that does not depend on its input.
        start_up_cost: Quantity<Duration>,
        /// Time that the job would save with fewer tasks / its run time: short tasks matter from here.
        start_up_share: Ascending<Ratio>,
        /// Severity at most if tasks are too short, but fewer of them would make the job slower.
        short_without_remedy: Severity,
        /// Time that the job would save with more tasks / its run time. If a replay shows it, it decides instead of
        /// long_run_time.
        lost_share: Ascending<Ratio>,
        /// Time that the job would save with more tasks. Short jobs lose little, however large the share.
        lost_time: Ascending<Duration>,
        /// Mean run time of tasks that are too few. Tasks that end soon are a normal number of tasks.
        few_run_time: Ascending<Duration>,
        /// Whether the time in which reduce tasks wait for map tasks is left out of their run time.
        without_waiting: bool,
        /// More tasks than are needed for this share of the largest saving are not worth their output files.
        enough_saving: Quantity<Ratio>,
        /// Map tasks that run in more waves than this use all containers.
        few_waves: Quantity<Count>,
        /// How much longer a map task takes that reads its input from another node, as a share of its run time.
        remote_cost: Quantity<Ratio>,
    }
}

const RUN_TIMES: &[ChartLimit] = &[
    chart_limit("short_run_time_ms", ComparedWith::MeanRunTime),
    chart_limit("long_run_time_ms", ComparedWith::MeanRunTime),
];

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "master" }, "mapper-time", "Mapper Time", tells ManyTasks, Time, |layers, advice| load_advised(
        layers, advice, |p, advice| RunTime(Role::Map, p, advice)
    ))
    .charted(RUN_TIMES)
    .also_telling(&[TroubleKind::FewTasks]);
pub(super) const REDUCER: Rule =
    rule!(DrElephant { version: "0.4.0" }, "reducer-time", "Reducer Time", tells ManyTasks, Time, |layers, advice| load_advised(
        layers, advice, |p, advice| RunTime(Role::Reduce, p, advice)
    ))
    .charted(RUN_TIMES)
    .also_telling(&[TroubleKind::FewTasks]);

/// The message of a finding.
const MESSAGE: &str = "{tasks_run} {mean} on average ({limit})";

/// Why short tasks are no finding, in place of the limit.
const SHORT_WITHOUT_REMEDY: &str = "short, but with fewer tasks the job would be slower";
/// The name of the condition on [`Time::start_up_share`].
const SAVED: &str = "share of the job's run time that fewer tasks would save";
/// The same as a condition.
const REMEDY: &str = "the job is as fast with fewer tasks";

struct RunTime(Role, Time, Arc<AdviceParams>);

impl Check for RunTime {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.2 };
        let Self(role, params, _) = self;
        let Some(group) = tasks(app, role.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, role.kind(), params.only_succeeded_jobs);
        };
        let run_times = RunTimes::of(app, *role, params.without_waiting);
        let times: Vec<i64> = group.winners().filter_map(|row| run_times.of_attempt(group, row)).collect();
        let Some(mean) = truncated_mean(&times) else {
            return Verdict::NotEvaluated(no_task_reports(*role, group, "its start and end"));
        };
        let total = group.tasks.len() as u64;
        let many = if params.may_be_many(mean as f64, total) {
            self.many(app, group, mean)
        } else {
            ManyTasks::default()
        };
        let (short, long) = params.severities(mean as f64, total, many.share);
        // What more tasks save decides; without a replay, how long tasks run, unless that is less severe.
        let few = params.few(app, *role, mean).filter(|few| few.decides() || params.lost(*few).0 >= long);
        let long = few.map_or(long, |few| params.lost(few).0);
        let remedy = if self.fewer(app, group, (mean, many)) {
            Severity::Critical
        } else {
            params.short_without_remedy
        };
        let short = short.min(remedy);
        let severity = short.max(long);
        let limit = params.limit((short, long), (mean as f64, total, many));
        let input = mean_input(group);
        let mut evidence = vec![
            ("tasks_count", Measure::Count(total)),
            ("avg_run_time_ms", Measure::Time(to_millis(mean))),
            ("min_run_time_ms", Measure::Time(to_millis(times.iter().min().copied().unwrap_or(mean)))),
            ("max_run_time_ms", Measure::Time(to_millis(times.iter().max().copied().unwrap_or(mean)))),
        ];
        if let (Role::Map, Some(input)) = (role, input) {
            evidence.push(("avg_input_bytes", Measure::Size(input)));
        }
        let shows_loss = short > Severity::None && params.start_up_share.values().is_some();
        evidence.extend(many.evidence().into_iter().filter(|_| shows_loss && short >= long));
        let mut judgement = Judgement::of(role.subject(), severity).tasks(total).facts(evidence);
        if let Some(few) = few.filter(|_| long > short) {
            let words = (role.do_what(total, "run"), to_millis(mean).to_string());
            return self.too_few(app, judgement, few, &words).into();
        }
        if let Some(tasks) = self.wanted(app, group, (mean, many), short >= long) {
            judgement = judgement.repartition(Repartition { stages: Vec::new(), tasks });
        }
        judgement
            .message(
                MESSAGE,
                &[("tasks_run", &role.do_what(total, "run")), ("mean", &to_millis(mean)), ("limit", &limit)],
            )
            .conditions(params.conditions(*role, (total, many.share), severity, remedy))
            .tells(if short >= long { TroubleKind::ManyTasks } else { TroubleKind::FewTasks })
            .advice(|| self.advice(app, group, (mean, many), short >= long))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

impl RunTime {
    /// Whether fewer, longer tasks help.
    fn fewer(&self, app: &Advised<'_>, group: &TaskGroup, (mean, many): (i64, ManyTasks)) -> bool {
        let Self(_, params, _) = self;
        let growth = params.target().growth(app, group, mean);
        growth > 1.0 && params.falls(group, (mean, many), growth)
    }

    /// The number of tasks that brings the mean run time to the target; `None` if it should not change.
    fn wanted(
        &self,
        app: &Advised<'_>,
        group: &TaskGroup,
        (mean, many): (i64, ManyTasks),
        too_short: bool,
    ) -> Option<u32> {
        let Self(_, params, _) = self;
        let total = group.tasks.len() as u64;
        let wanted = number_after(total, params.target().growth(app, group, mean));
        let changes = wanted != total && (!too_short || self.fewer(app, group, (mean, many)));
        u32::try_from(wanted).ok().filter(|_| changes)
    }

    /// Advice that brings the mean run time to the target.
    fn advice(
        &self,
        app: &Advised<'_>,
        group: &TaskGroup,
        (mean, many): (i64, ManyTasks),
        too_short: bool,
    ) -> Vec<Advice> {
        let Self(role, params, _) = self;
        if !too_short && few_tasks::is_ordered(app, *role) {
            return vec![few_tasks::instead_of_order()];
        }
        let target = params.target();
        let total = group.tasks.len() as u64;
        let growth = target.growth(app, group, mean);
        let wanted = number_after(total, growth);
        let shown = many.mean_after(mean, growth).unwrap_or_else(|| target.shown(app, group, mean));
        let aim = format!("for about {shown} per task");
        let fewer = self.fewer(app, group, (mean, many));
        let what = role.plural();
        let mut advice: Vec<Advice> = vec![match self.by_setting(app, group, (mean, many), fewer) {
            _ if too_short && !fewer => {
                let span = time_of_tasks(app);
                format!("keep the number of {what}: with longer ones, a job of {span} would lose parallelism")
                    .into()
            }
            Some(Setting::Change(change)) => change.and(&format!(" {aim}")),
            Some(Setting::Otherwise(advice)) => advice.into(),
            None if wanted == total || total == 1 => {
                format!("the settings already fit {total} {what}: profile a task").into()
            }
            None if fewer => format!("use about {wanted} {what} instead of {total}, {aim}").into(),
            None => {
                format!("distribute the work over about {wanted} {what} instead of {total}, {aim}").into()
            }
        }];
        if too_short && fewer && *role == Role::Map && divided_otherwise(app).is_none() {
            advice.extend(small_files::combine_files(app, split_for(app, group, target)));
        }
        advice
    }

    /// The setting that brings the mean run time to the target; `None` if it has this value already, or if the change
    /// would not make the finding less severe.
    fn by_setting(
        &self,
        app: &Advised<'_>,
        group: &TaskGroup,
        (mean, many): (i64, ManyTasks),
        fewer: bool,
    ) -> Option<Setting> {
        let Self(role, params, _) = self;
        if *role == Role::Reduce {
            let growth = params.target().growth(app, group, mean);
            let wanted = number_after(group.tasks.len() as u64, growth);
            return change_towards(app, ConfKey::Reduces, wanted, !fewer)
                .filter(|_| params.falls(group, (mean, many), growth))
                .map(|change| Setting::Change(Advice::default().set([change])));
        }
        if let Some(otherwise) = divided_otherwise(app) {
            return Some(Setting::Otherwise(otherwise.to_owned()));
        }
        let input = mean_input(group)?;
        let unsplittable = Unsplittable::of(app, input).filter(|_| !fewer);
        if let Some(unsplittable) = unsplittable {
            return Some(Setting::Otherwise(unsplittable.advice()));
        }
        // Splits below 1 MiB make no sense; such map tasks do not wait for input.
        let size = split_for(app, group, params.target())?;
        let limits = SplitLimits::of(app);
        let moves = if fewer { size > input && limits.can_grow(input, size) } else { size < input };
        if !moves || !params.falls(group, (mean, many), size.as_f64() / input.as_f64().max(1.0)) {
            return None;
        }
        let changes =
            if fewer { limits.larger(app, size).into_iter().collect() } else { limits.smaller(app, size) };
        let line = || Advice::default().set(changes.clone()).and(&format!(" ({size})"));
        (!changes.is_empty()).then(|| Setting::Change(line()))
    }
}

/// A way to change the number of tasks.
enum Setting {
    /// The setting with its new value.
    Change(Advice),
    /// Advice on the format of the input, or on what else sets the number of tasks.
    Otherwise(String),
}

impl Time {
    /// Whether the finding is less severe once the work per task has grown. Otherwise a change is not worth its risk.
    fn falls(&self, group: &TaskGroup, (mean, many): (i64, ManyTasks), growth: f64) -> bool {
        let (target, total) = (self.target(), group.tasks.len() as u64);
        let worst = |(short, long): (Severity, Severity)| short.max(long);
        let (mean_after, total_after) = (target.mean_after(mean, growth), number_after(total, growth));
        let after = self.severities(mean_after, total_after, many.share_after(growth));
        worst(after) < worst(self.severities(mean as f64, total, many.share))
    }

    /// Whether this many tasks with this mean run time are too short, if the job loses enough by that. Most jobs need no
    /// replay, and where nothing is judged by it, neither does any.
    fn may_be_many(&self, mean: f64, total: u64) -> bool {
        let is_judged = self.start_up_share.values().is_some();
        is_judged
            && self.short_run_time.severity(mean).min(self.num_tasks.severity(total as f64)) > Severity::None
    }

    /// The severities of this many tasks with this mean run time, as too short and as too long. Fewer tasks would save the
    /// share `saved` of the job's run time.
    fn severities(&self, mean: f64, total: u64, saved: f64) -> (Severity, Severity) {
        let number = self.num_tasks.severity(total as f64);
        let short = self.short_run_time.severity(mean).min(number).min(self.start_up_share.severity(saved));
        (short, self.long_run_time.severity(mean).min(self.long_num_tasks.severity(total as f64)))
    }

    /// The limit that decides. If a mean passes its limit without a finding, what else is missing.
    fn limit(
        &self,
        (short, long): (Severity, Severity),
        (mean, total, many): (f64, u64, ManyTasks),
    ) -> String {
        let saved = many.share;
        let severity = short.max(long);
        let [too_short, too_long] = [
            self.short_run_time.severity(mean) > Severity::None,
            self.long_run_time.severity(mean) > Severity::None,
        ];
        let number = self.num_tasks.severity(total as f64);
        match severity {
            Severity::None if too_short && number == Severity::None => {
                format!("number of tasks not reached: {}", self.num_tasks.describe(severity))
            }
            Severity::None if too_short && self.start_up_share.severity(saved) == Severity::None => {
                format!(
                    "fewer tasks would save {} of the job's run time: {}",
                    percent(saved),
                    self.start_up_share.describe_in(severity, percent)
                )
            }
            Severity::None if too_short => SHORT_WITHOUT_REMEDY.to_owned(),
            Severity::None if too_long => {
                format!("number of tasks not reached: {}", self.long_num_tasks.describe(severity))
            }
            Severity::None => format!(
                "not reached: {}, {}",
                self.short_run_time.describe(severity),
                self.long_run_time.describe(severity)
            ),
            _ if short >= long && self.short_run_time.severity(mean).min(number) > short => {
                let share = self.start_up_share.describe_in(short, percent);
                format!("fewer would save about {}, {} of the run time: {share}", many.lost, percent(saved))
            }
            _ if short >= long => self.short_run_time.describe(severity),
            _ => self.long_run_time.describe(severity),
        }
    }

    /// What must hold besides the limits on the mean run time.
    fn conditions(
        &self,
        role: Role,
        (total, saved): (u64, f64),
        severity: Severity,
        remedy: Severity,
    ) -> Vec<Condition> {
        let level = severity.max(Severity::Low);
        let [short, long] = ["short_run_time_ms", "long_run_time_ms"].map(|key| (key, Measured::RunTime));
        let mut conditions = Vec::new();
        let name = format!("number of {}", role.plural());
        let tasks = |at, cutoff: &str, allowed| condition(at, (&name, &total), cutoff, allowed >= level);
        if self.num_tasks.values().is_some() {
            let allowed = self.num_tasks.severity(total as f64);
            conditions.push(tasks(short, &self.num_tasks.describe(level), allowed));
        }
        if self.long_num_tasks.values().is_some() {
            let allowed = self.long_num_tasks.severity(total as f64);
            conditions.push(tasks(long, &self.long_num_tasks.describe(level), allowed));
        }
        if self.start_up_share.values().is_some() {
            let holds = self.start_up_share.severity(saved) >= level;
            conditions.push(condition(
                short,
                (SAVED, &percent(saved)),
                &self.start_up_share.describe_in(level, percent),
                holds,
            ));
        }
        if self.short_without_remedy < level {
            let (limit, of) = short;
            conditions.push(Condition {
                limit: limit.into(),
                of,
                text: REMEDY.to_owned(),
                holds: remedy >= level,
            });
        }
        conditions
    }

    /// How long tasks should run.
    const fn target(&self) -> Target {
        Target { run_time: self.target_run_time, share: self.target_share, start_up: self.start_up_cost }
    }
}
