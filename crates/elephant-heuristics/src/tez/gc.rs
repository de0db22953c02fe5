//! `tez-mapper-gc`, `tez-reducer-gc`, `tez-scope-gc`: tasks spend much time in garbage collection (Dr. Elephant
//! `tez.heuristics.GenericGCHeuristic`).

use super::support::{Role, Tasks, Unjudged};
use crate::declare::tez as rule;
use crate::mapreduce::{MissingCounters, counter, run_time, to_millis};
use elephant_base::stats::truncated_mean;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_rule::finding::{Advice, Judgement, Measure, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{limit, percent};

rule_params! {
    /// Parameters of the rules on garbage collection.
    pub(super) struct Gc / GcLayer {
        /// Whether only succeeded DAGs are judged. If false, failed and killed ones are judged by their succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Mean GC time / mean CPU time.
        gc_cpu_ratio: Ascending<Ratio>,
        /// Mean run time. Short tasks spend a large share of their time in GC, but lose little by it.
        run_time: Ascending<Duration>,
    }
}

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "master" }, "tez-mapper-gc", "Tez Mapper GC", tells GarbageCollection, Gc, |layers, _| load(
        layers, |p| Collection(Role::Mapper, p)
    ))
    .measured_by("gc_cpu_ratio", Worse::Higher);
pub(super) const REDUCER: Rule =
    rule!(DrElephant { version: "master" }, "tez-reducer-gc", "Tez Reducer GC", tells GarbageCollection, Gc, |layers, _| load(
        layers, |p| Collection(Role::Reducer, p)
    ))
    .measured_by("gc_cpu_ratio", Worse::Higher);
pub(super) const SCOPE: Rule =
    rule!(DrElephant { version: "master" }, "tez-scope-gc", "Tez Scope GC", tells GarbageCollection, Gc, |layers, _| load(
        layers, |p| Collection(Role::Scope, p)
    ))
    .measured_by("gc_cpu_ratio", Worse::Higher);

/// The message of a finding.
const MESSAGE: &str = "a {role} task spends {avg_gc_time_ms} in garbage collection per {avg_cpu_time_ms} of CPU time, \
    {share} ({limit})";

struct Collection(Role, Gc);

/// Mean times in milliseconds.
struct Means {
    gc: i64,
    cpu: i64,
    run: i64,
}

impl Check for Collection {
    fn check(&self, app: &Application) -> Verdict {
        let Self(role, params) = self;
        let tasks = match Tasks::of(app, *role, params.only_succeeded_jobs) {
            Ok(tasks) => tasks,
            Err(why) => return why.into(),
        };
        if let Some(verdict) = tasks.unreadable(app, &[Counter::GcTimeMillis, Counter::CpuMilliseconds]) {
            return verdict;
        }
        let Means { gc, cpu, run } = match params.means(&tasks) {
            Ok(means) => means,
            Err(why) => return why.into(),
        };
        let ratio = gc as f64 / cpu as f64;
        let low = elephant_base::severity::Severity::Low;
        let conditions = [
            (
                "gc_cpu_ratio",
                params.gc_cpu_ratio.severity(ratio),
                params.gc_cpu_ratio.describe_in(low, percent),
            ),
            ("run_time", params.run_time.severity(run as f64), params.run_time.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let passed = params.gc_cpu_ratio.describe_in(severity, percent);
        Judgement::of(role.subject(), severity)
            .tasks(tasks.total())
            .fact("tasks_count", Measure::Count(tasks.total()))
            .fact("avg_run_time_ms", Measure::Time(to_millis(run)))
            .fact("avg_cpu_time_ms", Measure::Time(to_millis(cpu)))
            .fact("avg_gc_time_ms", Measure::Time(to_millis(gc)))
            .fact("gc_cpu_ratio", Measure::Ratio(ratio.is_finite().then_some(ratio)))
            .message(
                MESSAGE,
                &[
                    ("role", &role.name()),
                    ("share", &percent(ratio)),
                    ("limit", &limit(severity, passed, &conditions)),
                ],
            )
            .advice(|| vec![advice(*role)])
            .into()
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

impl Gc {
    /// The means over tasks with all three values. A negative CPU time, which some clusters report, is no value.
    fn means(&self, tasks: &Tasks<'_>) -> Result<Means, Unjudged> {
        let missing = self.missing_counters;
        let rows = tasks.winners().filter_map(|(group, row)| {
            let gc = counter(group, row, Counter::GcTimeMillis, missing)?;
            let cpu = counter(group, row, Counter::CpuMilliseconds, missing)?;
            Some([gc, cpu, run_time(group, row)?])
        });
        let rows: Vec<[i64; 3]> = rows.collect();
        if missing == MissingCounters::Unknown && rows.iter().all(|[_, cpu, _]| *cpu == 0) {
            let what = "GC_TIME_MILLIS, CPU_MILLISECONDS and a run time together";
            return Err(tasks.none_reports(what));
        }
        let mean = |part: fn(&[i64; 3]) -> i64| truncated_mean(&rows.iter().map(part).collect::<Vec<_>>());
        let means = (mean(|row| row[0]), mean(|row| row[1]), mean(|row| row[2]));
        let (Some(gc), Some(cpu), Some(run)) = means else { return Err(Unjudged::NotApplicable) };
        Ok(Means { gc, cpu, run })
    }
}

fn advice(role: Role) -> Advice {
    Advice::new(match role {
        Role::Mapper | Role::Reducer => {
            "create less garbage in functions of your own; if the heap is full after collections, raise -Xmx in \
             hive.tez.java.opts and hive.tez.container.size by half"
        }
        Role::Scope => {
            "create less garbage in functions of your own; if the heap is full after collections, raise -Xmx in \
             tez.task.launch.cmd-opts and tez.task.resource.memory.mb by half"
        }
    })
}
