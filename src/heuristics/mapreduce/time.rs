//! `mapper-time`, `reducer-time`: too many short tasks, or too few long ones (Dr. Elephant
//! `MapperTimeHeuristic`, `ReducerTimeHeuristic`).

use super::{MissingCounters, Role, change, input_bytes, no_task_reports, rule, run_time};
use super::{tasks, to_bytes, to_millis, whole_mib};
use crate::finding::{Judgement, Measure, Verdict};
use crate::heuristics::{Check, Rule, load};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::rules::cutoffs::{Ascending, Descending};
use crate::rules::params::rule_params;
use crate::rules::quantity::{Count, Duration, Quantity};
use crate::severity::Severity;
use crate::stats::truncated_mean;
use crate::units::Bytes;

rule_params! {
    /// Parameters of `mapper-time` and `reducer-time`.
    pub(super) struct Time / TimeLayer {
        /// Whether jobs that failed or were killed are left out.
        only_succeeded_jobs: bool,
        /// Mean run time of short tasks.
        short_run_time: Descending<Duration>,
        /// Number of tasks, for short ones to matter.
        num_tasks: Ascending<Count>,
        /// Mean run time of long tasks.
        long_run_time: Ascending<Duration>,
        /// Number of tasks, for long ones to matter: few tasks leave room for more.
        long_num_tasks: Descending<Count>,
        /// The run time that advice aims at.
        target_run_time: Quantity<Duration>,
    }
}

pub(super) const MAPPER: Rule =
    rule!("mapper-time", "Mapper Time", |layers| load(layers, |p| RunTime(Role::Map, p)));
pub(super) const REDUCER: Rule =
    rule!("reducer-time", "Reducer Time", |layers| load(layers, |p| RunTime(Role::Reduce, p)));

struct RunTime(Role, Time);

impl Check for RunTime {
    fn check(&self, app: &Application) -> Verdict {
        let Self(role, params) = self;
        let Some(group) = tasks(app, role.kind(), params.only_succeeded_jobs) else {
            return Verdict::NotApplicable;
        };
        let times: Vec<i64> = group.winners().filter_map(|row| run_time(group, row)).collect();
        let Some(mean) = truncated_mean(&times) else {
            return Verdict::NotEvaluated(no_task_reports(*role, group, "when it started and ended"));
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
        let inputs = group.winners().filter_map(|row| input_bytes(group, row, MissingCounters::Unknown));
        let input = truncated_mean(&inputs.collect::<Vec<_>>()).map(to_bytes);
        let mut evidence = vec![
            ("tasks_count", Measure::Count(total)),
            ("avg_run_time_ms", Measure::Time(to_millis(mean))),
            ("min_run_time_ms", Measure::Time(to_millis(times.iter().min().copied().unwrap_or(mean)))),
            ("max_run_time_ms", Measure::Time(to_millis(times.iter().max().copied().unwrap_or(mean)))),
        ];
        if let (Role::Map, Some(input)) = (role, input) {
            evidence.push(("avg_input_bytes", Measure::Size(input)));
        }
        Verdict::Judged(Judgement {
            severity,
            subject: role.subject(),
            tasks: total,
            message: format!("{} {} on average ({limit})", role.do_what(total, "run"), to_millis(mean)),
            evidence,
            advice: if severity > Severity::None { self.advice(app, total, mean, input) } else { Vec::new() },
        })
    }
}

impl RunTime {
    /// As many tasks as bring the mean run time to the target.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // float casts saturate
    fn advice(&self, app: &Application, total: u64, mean: i64, input: Option<Bytes>) -> Vec<String> {
        let Self(role, params) = self;
        let factor = params.target_run_time.get() / (mean.max(1) as f64);
        let wanted = ((total as f64 / factor).ceil() as u64).max(1);
        let aim = format!("for about {} a task", params.target_run_time);
        match role {
            Role::Reduce => vec![format!("{} {aim}", change(app, ConfKey::Reduces, wanted))],
            Role::Map => {
                let size = input.filter(|input| input.get() > 0);
                let size = size.map(|input| whole_mib(Bytes::new((input.as_f64() * factor) as u64)));
                match (size, factor > 1.0) {
                    (Some(size), true) => vec![
                        format!("{} ({size}) {aim}", change(app, ConfKey::SplitMinSize, size.get())),
                        "if the input is many small files, read them with CombineFileInputFormat (Hive: \
                         hive.input.format=org.apache.hadoop.hive.ql.io.CombineHiveInputFormat; Pig: \
                         pig.maxCombinedSplitSize) or merge them"
                            .to_owned(),
                    ],
                    (Some(size), false) => {
                        vec![format!("{} ({size}) {aim}", change(app, ConfKey::SplitMaxSize, size.get()))]
                    }
                    (None, _) => vec![format!("use about {wanted} maps instead of {total}, {aim}")],
                }
            }
        }
    }
}
