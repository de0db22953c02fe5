//! `tez-mapper-time`, `tez-reducer-time`, `tez-scope-time`: tasks are too short or too long (Dr. Elephant
//! `tez.heuristics.MapperTimeHeuristic`, `ReducerTimeHeuristic`, `ScopeTimeHeuristic`).

use super::support::{Role, Tasks};
use crate::declare::tez as rule;
use crate::mapreduce::{MissingCounters, input_bytes, to_bytes, to_millis};
use elephant_base::severity::Severity;
use elephant_base::stats::truncated_mean;
use elephant_base::units::Bytes;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_rule::finding::{Advice, Judgement, Measure, TroubleKind, Verdict};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Count, Duration};
use elephant_rule::params::{Positive, rule_params};
use elephant_rule::wording::{change, limit};

rule_params! {
    /// Parameters of the rules on run times.
    pub(super) struct Time / TimeLayer {
        /// Whether only succeeded DAGs are judged. If false, failed and killed ones are judged by their succeeded tasks.
        only_succeeded_jobs: bool,
        /// Mean run time of short tasks.
        short_run_time: Descending<Duration>,
        /// Number of tasks. Few short tasks cost little.
        num_tasks: Ascending<Count>,
        /// Mean run time of long tasks, whatever their number.
        long_run_time: Ascending<Duration>,
        /// Run time per task that advice aims at.
        target_run_time: Positive<Duration>,
    }
}

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "master" }, "tez-mapper-time", "Tez Mapper Time", tells ManyTasks, Time, |layers, _| load(
        layers, |p| RunTime(Role::Mapper, p)
    ))
    .also_telling(&[TroubleKind::FewTasks]);
pub(super) const REDUCER: Rule =
    rule!(DrElephant { version: "master" }, "tez-reducer-time", "Tez Reducer Time", tells ManyTasks, Time, |layers, _| load(
        layers, |p| RunTime(Role::Reducer, p)
    ))
    .also_telling(&[TroubleKind::FewTasks]);
pub(super) const SCOPE: Rule =
    rule!(DrElephant { version: "master" }, "tez-scope-time", "Tez Scope Time", tells ManyTasks, Time, |layers, _| load(
        layers, |p| RunTime(Role::Scope, p)
    ))
    .also_telling(&[TroubleKind::FewTasks]);

/// The message of a finding.
const MESSAGE: &str = "{tasks} run {avg_run_time_ms} on average ({limit})";

struct RunTime(Role, Time);

impl Check for RunTime {
    fn check(&self, app: &Application) -> Verdict {
        let Self(role, params) = self;
        let tasks = match Tasks::of(app, *role, params.only_succeeded_jobs) {
            Ok(tasks) => tasks,
            Err(why) => return why.into(),
        };
        let times = tasks.run_times();
        let Some(mean) = truncated_mean(&times) else {
            return tasks.none_reports("its start and end").into();
        };
        let total = tasks.total();
        let short = params.short_run_time.severity(mean as f64);
        let many = params.num_tasks.severity(total as f64);
        let long = params.long_run_time.severity(mean as f64);
        let is_long = long >= short.min(many) && long > Severity::None;
        let severity = short.min(many).max(long);
        let low = Severity::Low;
        let (conditions, passed) = if is_long {
            (
                vec![("long_run_time", long, params.long_run_time.describe(low))],
                params.long_run_time.describe(severity),
            )
        } else {
            let conditions = vec![
                ("short_run_time", short, params.short_run_time.describe(low)),
                ("num_tasks", many, params.num_tasks.describe(low)),
            ];
            (conditions, params.short_run_time.describe(severity))
        };
        let extreme = |value: Option<i64>| Measure::Time(to_millis(value.unwrap_or_default()));
        Judgement::of(role.subject(), severity)
            .tasks(total)
            .tells(if is_long { TroubleKind::FewTasks } else { TroubleKind::ManyTasks })
            .fact("tasks_count", Measure::Count(total))
            .fact("avg_run_time_ms", Measure::Time(to_millis(mean)))
            .fact("max_run_time_ms", extreme(times.iter().copied().max()))
            .fact("min_run_time_ms", extreme(times.iter().copied().min()))
            .message(
                MESSAGE,
                &[("tasks", &role.count(total)), ("limit", &limit(severity, passed, &conditions))],
            )
            .advice(|| vec![self.advice(app, &tasks, (mean, is_long))])
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

impl RunTime {
    /// The data per task that would take the target time.
    fn advice(&self, app: &Application, tasks: &Tasks<'_>, (mean, is_long): (i64, bool)) -> Advice {
        let Self(role, params) = self;
        let read = match role {
            Role::Mapper | Role::Scope => {
                let bytes = |(group, row)| input_bytes(group, row, MissingCounters::Unknown);
                tasks.winners().filter_map(bytes).collect()
            }
            Role::Reducer => tasks.counters(Counter::ReduceShuffleBytes, MissingCounters::Unknown),
        };
        let wanted = |read: i64| {
            let bytes = to_bytes(read).as_f64() * params.target_run_time.get() / (mean as f64).max(1.0);
            Bytes::from_f64(bytes).map(Bytes::whole_mib).filter(|mib| *mib > 0)
        };
        let size = truncated_mean(&read).and_then(wanted).map(|mib| Bytes::from_mib(mib).get());
        let (what, key) = match (role, is_long) {
            (Role::Mapper, false) => ("give each map task more input", ConfKey::TezGroupingMin),
            (Role::Mapper, true) => ("give each map task less input", ConfKey::TezGroupingMax),
            (Role::Reducer, false) => ("give each reduce task more data", ConfKey::BytesPerReducer),
            (Role::Reducer, true) => ("give each reduce task less data", ConfKey::BytesPerReducer),
            (Role::Scope, false) => {
                return Advice::new(
                    "give each task more data: raise pig.maxCombinedSplitSize, or lower PARALLEL",
                );
            }
            (Role::Scope, true) => {
                return Advice::new(
                    "give each task less data: lower pig.maxCombinedSplitSize, or raise PARALLEL",
                );
            }
        };
        match size {
            Some(size) => Advice::new(what).set([change(app, key, size)]),
            None => Advice::new(format!("{what}: {}", key.name())),
        }
    }
}
