//! `mapper-time`, `reducer-time`: too many short tasks, or too few long ones (Dr. Elephant
//! `MapperTimeHeuristic`, `ReducerTimeHeuristic`).

use super::{MissingCounters, Role, change_towards, input_bytes, no_task_reports, rule, run_time, split_for};
use super::{tasks, to_bytes, to_millis, without_tasks};
use crate::finding::{ChartLimit, ComparedWith, Judgement, Measure, Verdict};
use crate::heuristics::{Check, Rule, chart_limit, load};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::Facet;
use crate::model::table::TaskGroup;
use crate::params::cutoffs::{Ascending, Descending};
use crate::params::quantity::{Count, Duration};
use crate::params::{Positive, rule_params};
use crate::severity::Severity;
use crate::stats::truncated_mean;
use crate::units::Bytes;

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
    }
}

const RUN_TIMES: &[ChartLimit] = &[
    chart_limit("short_run_time_ms", ComparedWith::MeanRunTime),
    chart_limit("long_run_time_ms", ComparedWith::MeanRunTime),
];

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "master" }, "mapper-time", "Mapper Time", Time, |layers| load(layers, |p| {
        RunTime(Role::Map, p)
    }))
    .charted(RUN_TIMES);
pub(super) const REDUCER: Rule =
    rule!(DrElephant { version: "0.4.0" }, "reducer-time", "Reducer Time", Time, |layers| load(
        layers,
        |p| RunTime(Role::Reduce, p)
    ))
    .charted(RUN_TIMES);

/// The message of a finding.
const MESSAGE: &str = "{tasks_run} {mean} on average ({limit})";

struct RunTime(Role, Time);

impl Check for RunTime {
    fn check(&self, app: &Application) -> Verdict {
        let Self(role, params) = self;
        let Some(group) = tasks(app, role.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, role.kind(), params.only_succeeded_jobs);
        };
        let times: Vec<i64> = group.winners().filter_map(|row| run_time(group, row)).collect();
        let Some(mean) = truncated_mean(&times) else {
            return Verdict::NotEvaluated(no_task_reports(*role, group, "its start and end"));
        };
        let total = group.tasks.len() as u64;
        let short = params.short_run_time.severity(mean as f64).min(params.num_tasks.severity(total as f64));
        let long =
            params.long_run_time.severity(mean as f64).min(params.long_num_tasks.severity(total as f64));
        let severity = short.max(long);
        let limit = match severity {
            Severity::None => format!(
                "harmless: {}, {}",
                params.short_run_time.describe(severity),
                params.long_run_time.describe(severity)
            ),
            _ if short >= long => params.short_run_time.describe(severity),
            _ => params.long_run_time.describe(severity),
        };
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
        Judgement::of(role.subject(), severity)
            .tasks(total)
            .facts(evidence)
            .message(
                MESSAGE,
                &[("tasks_run", &role.do_what(total, "run")), ("mean", &to_millis(mean)), ("limit", &limit)],
            )
            .advice(|| self.advice(app, group, mean))
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

impl RunTime {
    /// The number of tasks that brings the mean run time to the target.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
    fn advice(&self, app: &Application, group: &TaskGroup, mean: i64) -> Vec<String> {
        let Self(role, params) = self;
        let total = group.tasks.len() as u64;
        let factor = params.target_run_time.get() / (mean.max(1) as f64);
        let wanted = ((total as f64 / factor).ceil() as u64).max(1);
        let aim = format!("for about {} per task", params.target_run_time);
        let fewer = factor > 1.0;
        let by_setting = match role {
            Role::Reduce => change_towards(app, ConfKey::Reduces, wanted, !fewer),
            Role::Map => split_for(group, params.target_run_time).and_then(|size| {
                // Splits below 1 MiB make no sense; such map tasks do not wait for input.
                let key = if fewer { ConfKey::SplitMinSize } else { ConfKey::SplitMaxSize };
                let input = mean_input(group)?;
                let moves = if fewer { size > input } else { size < input };
                let change = change_towards(app, key, size.get(), fewer).filter(|_| moves)?;
                Some(format!("{change} ({size})"))
            }),
        };
        let what = role.plural();
        let mut advice = vec![match by_setting {
            Some(change) => format!("{change} {aim}"),
            None if wanted == total || total == 1 => {
                format!("the settings already fit {total} {what}: profile a task")
            }
            None if fewer => format!("use about {wanted} {what} instead of {total}, {aim}"),
            None => format!("distribute the work over about {wanted} {what} instead of {total}, {aim}"),
        }];
        if fewer && *role == Role::Map {
            advice.push(
                "if the input is many small files, read them with CombineFileInputFormat (in Hive \
                 CombineHiveInputFormat as hive.input.format, in Pig pig.maxCombinedSplitSize) or merge them"
                    .to_owned(),
            );
        }
        advice
    }
}

fn mean_input(group: &TaskGroup) -> Option<Bytes> {
    let inputs = group.winners().filter_map(|row| input_bytes(group, row, MissingCounters::Unknown));
    truncated_mean(&inputs.collect::<Vec<_>>()).map(to_bytes)
}
