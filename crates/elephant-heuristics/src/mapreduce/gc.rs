//! `mapper-gc`, `reducer-gc`: tasks spend much time in garbage collection (Dr. Elephant
//! `GenericGCHeuristic`).

use std::sync::Arc;

use super::support::counters::{
    MissingCounters, counter, input_bytes, run_time, to_bytes, to_millis, unreadable,
};
use super::support::heap::Heap;
use super::support::role::Role;
use super::support::settings::change_towards;
use super::support::splits::{SplitLimits, divided_otherwise, whole_mib};
use super::support::tasks::{no_task_reports, tasks, without_tasks};
use crate::declare::mapreduce as rule;
use elephant_base::severity::Severity;
use elephant_base::stats::truncated_mean;
use elephant_base::units::three_digits;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::TaskGroup;
use elephant_model::model::{Application, Collector};
use elephant_rule::finding::{Advice, Judgement, Measure, SettingChange, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Duration, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{decisive, limit};

rule_params! {
    /// Parameters of `mapper-gc` and `reducer-gc`.
    pub(super) struct Gc / GcLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Mean GC time / mean CPU time.
        gc_cpu_ratio: Ascending<Ratio>,
        /// Mean GC time / mean run time. GC time is wall time, so CPU time alone misleads on busy nodes.
        gc_run_time_ratio: Ascending<Ratio>,
        /// Mean run time. Short tasks spend a large share of their time in GC, but lose little by it.
        run_time: Ascending<Duration>,
        /// Mean GC time, instead of the mean run time. Short tasks that lose much are not like others.
        gc_time: Ascending<Duration>,
    }
}

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "master" }, "mapper-gc", "Mapper GC", tells GarbageCollection, Gc, |layers, advice| load_advised(
        layers, advice, |p, advice| Collection(Role::Map, p, advice)
    ))
    .measured_by("gc_cpu_ratio", Worse::Higher);
pub(super) const REDUCER: Rule =
    rule!(DrElephant { version: "master" }, "reducer-gc", "Reducer GC", tells GarbageCollection, Gc, |layers, advice| load_advised(
        layers, advice, |p, advice| Collection(Role::Reduce, p, advice)
    ))
    .measured_by("gc_cpu_ratio", Worse::Higher);

fn percent(ratio: f64) -> String {
    format!("{} %", three_digits(100.0 * ratio))
}

/// Collections run in threads of their own, whose time is no part of the CPU time: more than all of it is a multiple.
fn of_cpu_time(ratio: f64) -> String {
    if ratio > 1.0 { format!("{}×", three_digits(ratio)) } else { percent(ratio) }
}

/// The message of a finding.
const MESSAGE: &str = "a {role} task spends {avg_gc_time_ms} in garbage collection per {avg_cpu_time_ms} of CPU time, \
    {share} ({limit})";

struct Collection(Role, Gc, Arc<AdviceParams>);

impl Check for Collection {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.2 };
        let Self(role, params, _) = self;
        let Some(group) = tasks(app, role.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, role.kind(), params.only_succeeded_jobs);
        };
        if let Some(reason) = unreadable(app, role.kind(), &[Counter::GcTimeMillis, Counter::CpuMilliseconds])
        {
            return Verdict::NotEvaluated(reason);
        }
        let means = match params.means(*role, group) {
            Ok(Some(means)) => means,
            Ok(None) => return Verdict::NotApplicable,
            Err(reason) => return Verdict::NotEvaluated(reason),
        };
        let [gc, cpu, run] = means;
        let cpu_ratio = gc as f64 / cpu as f64;
        let run_ratio = gc as f64 / run as f64;
        let low = Severity::Low;
        let conditions = [
            (
                "gc_cpu_ratio",
                params.gc_cpu_ratio.severity(cpu_ratio),
                params.gc_cpu_ratio.describe_in(low, percent),
            ),
            (
                "gc_run_time_ratio",
                params.gc_run_time_ratio.severity(run_ratio),
                params.gc_run_time_ratio.describe_in(low, percent),
            ),
            ("run_time", params.by_time(run, gc), params.run_time.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let finite = |ratio: f64| Measure::Ratio(ratio.is_finite().then_some(ratio));
        Judgement::of(role.subject(), severity)
            .tasks(group.tasks.len() as u64)
            .fact("tasks_count", Measure::Count(group.tasks.len() as u64))
            .fact("avg_run_time_ms", Measure::Time(to_millis(run)))
            .fact("avg_cpu_time_ms", Measure::Time(to_millis(cpu)))
            .fact("avg_gc_time_ms", Measure::Time(to_millis(gc)))
            .fact("gc_cpu_ratio", finite(cpu_ratio))
            .fact("gc_run_time_ratio", finite(run_ratio))
            .message(
                MESSAGE,
                &[
                    ("role", &role.kind().name()),
                    ("share", &of_cpu_time(cpu_ratio)),
                    ("limit", &limit(severity, params.decides(severity, means), &conditions)),
                ],
            )
            .advice(|| advice(app, *role, group))
            .into()
    }

    fn doubt(&self, app: &Application) -> Option<String> {
        Collector::of_tasks(app, self.0.kind()).and_then(Collector::why_not_judged)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

impl Gc {
    /// Whether tasks are long enough to judge: by their run time, or by the time that they lose.
    fn by_time(&self, run: i64, gc: i64) -> Severity {
        self.run_time.severity(run as f64).max(self.gc_time.severity(gc as f64))
    }

    /// The limit that decides the severity, with the value that it limits unless that is the share of CPU time.
    fn decides(&self, severity: Severity, [gc, cpu, run]: [i64; 3]) -> String {
        let of_cpu = self.gc_cpu_ratio.severity(gc as f64 / cpu as f64);
        let of_run = gc as f64 / run as f64;
        let by_run_time = self.run_time.severity(run as f64) >= self.gc_time.severity(gc as f64);
        let (time, limit) = if by_run_time {
            (format!("{} of run time", to_millis(run)), self.run_time.describe(severity))
        } else {
            (format!("{} of garbage collection", to_millis(gc)), self.gc_time.describe(severity))
        };
        let share = self.gc_run_time_ratio.describe_in(severity, percent);
        decisive(
            severity,
            &[
                (of_cpu, self.gc_cpu_ratio.describe_in(severity, percent)),
                (
                    self.gc_run_time_ratio.severity(of_run),
                    format!("{} of the run time, {share}", percent(of_run)),
                ),
                (self.by_time(run, gc), format!("{time}, {limit}")),
            ],
        )
    }

    /// Mean GC, CPU and run time in milliseconds; `None` if there is nothing to judge.
    fn means(&self, role: Role, group: &TaskGroup) -> Result<Option<[i64; 3]>, String> {
        let missing = self.missing_counters;
        let rows = group.winners().filter_map(|row| {
            let gc = counter(group, row, Counter::GcTimeMillis, missing)?;
            let cpu = counter(group, row, Counter::CpuMilliseconds, missing)?;
            Some((gc, cpu, run_time(group, row)?))
        });
        let rows: Vec<(i64, i64, i64)> = rows.collect();
        if missing == MissingCounters::Unknown {
            let lacks = |c| group.winners().all(|row| counter(group, row, c, missing).is_none());
            // Clusters that cannot measure CPU time log 0 for every task.
            let zero_cpu = !rows.is_empty() && rows.iter().all(|&(_, cpu, _)| cpu == 0);
            if lacks(Counter::CpuMilliseconds) || zero_cpu {
                return Err(no_task_reports(role, group, Counter::CpuMilliseconds.name()));
            }
            if lacks(Counter::GcTimeMillis) {
                return Err(no_task_reports(role, group, Counter::GcTimeMillis.name()));
            }
            if rows.is_empty() {
                return Err(no_task_reports(role, group, "GC time, CPU time and run time together"));
            }
        }
        let mean =
            |part: fn(&(i64, i64, i64)) -> i64| truncated_mean(&rows.iter().map(part).collect::<Vec<_>>());
        let means = (mean(|r| r.0), mean(|r| r.1), mean(|r| r.2));
        Ok(match means {
            (Some(gc), Some(cpu), Some(run)) => Some([gc, cpu, run]),
            _ => None,
        })
    }
}

/// The collector for the highest throughput.
const COLLECTOR: &str = "-XX:+UseParallelGC";

/// What to do in the code.
const LESS_GARBAGE: &str = "create less garbage (reuse Writable objects, avoid boxed values in inner loops)";

fn other_collector(heap: &Heap) -> Option<Advice> {
    let other = heap.options.with_collector(COLLECTOR);
    other.map(|change| Advice::new("or try another collector").set([change]).conditional())
}

/// What helps if the heap is full, but the cluster grants no larger containers: less garbage, or less data for each task.
fn without_more_heap(app: &Application, role: Role, (group, heap): (&TaskGroup, &Heap)) -> Vec<Advice> {
    let full = format!(
        "the heap is full, and the cluster grants no larger containers ({}): {LESS_GARBAGE}",
        ConfKey::MaximumAllocationMb.name()
    );
    let what = format!("if it grows with the data, give each {} task half of it", role.kind().name());
    let changes: Vec<SettingChange> = match role {
        Role::Map if divided_otherwise(app).is_none() => {
            let inputs = group.winners().filter_map(|row| input_bytes(group, row, MissingCounters::Unknown));
            let read = truncated_mean(&inputs.collect::<Vec<_>>()).filter(|read| *read > 0);
            let half = read.map(|read| whole_mib(to_bytes(read / 2)));
            half.map(|half| SplitLimits::of(app).smaller(app, half)).unwrap_or_default()
        }
        Role::Map => Vec::new(),
        Role::Reduce => {
            let twice = (group.tasks.len() as u64).saturating_mul(2);
            change_towards(app, ConfKey::Reduces, twice, true).into_iter().collect()
        }
    };
    let less_data = Advice::new(what).set(changes).conditional();
    [Advice::new(full), less_data].into_iter().chain(other_collector(heap)).collect()
}

/// More heap if the heap is full; otherwise less garbage, because more heap would be wasted.
fn advice(app: &Advised<'_>, role: Role, group: &TaskGroup) -> Vec<Advice> {
    let heap = Heap::of(app, role, group);
    if heap.is_largest {
        return without_more_heap(app, role, (group, &heap));
    }
    if !heap.is_full {
        let known = heap.peak.zip(heap.limit).filter(|_| app.uberized != Some(true));
        let room = known.map(|(peak, limit)| {
            let kind = role.kind().name();
            format!("more heap would not help, because the largest {kind} task uses {peak} with a heap of {limit}: ")
        });
        let less = Advice::new(room.unwrap_or_default() + LESS_GARBAGE);
        return [less].into_iter().chain(other_collector(&heap)).collect();
    }
    let growth = heap.growth(app);
    let buffer = heap.sort.map(|sort| format!(" and {}, for the larger sort buffer", sort.more()));
    let container = if growth.len() > 1 { ", and the container to match" } else { "" };
    let what = format!("enlarge the heap by half{}{container}", buffer.unwrap_or_default());
    vec![Advice::new(what).set_for_first(growth)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_larger_containers_less_data_is_advised() {
        let lines = |most: &str| {
            let mut maps = elephant_sample::maps(&[(400, 128); 4]);
            for row in 0..maps.attempts.len() {
                maps.attempts.set_counter(row, Counter::CpuMilliseconds, Some(250_000));
                maps.attempts.set_counter(row, Counter::GcTimeMillis, Some(100_000));
                maps.attempts.set_counter(row, Counter::PhysicalMemoryBytes, Some(6400 << 20));
            }
            let settings = [
                ("mapreduce.map.memory.mb", "8192"),
                ("mapreduce.map.java.opts", "-Xmx6553m"),
                ("yarn.scheduler.maximum-allocation-mb", most),
            ];
            let app = elephant_sample::job(vec![maps], &settings);
            let advice = elephant_sample::evaluate(&app, MAPPER.id, false).findings.remove(0).advice;
            advice.iter().map(|line| (line.text.clone(), line.conditional)).collect::<Vec<_>>()
        };
        let most = lines("8192");
        let starts = |place: usize, text: &str| most[place].0.starts_with(text);
        assert!(starts(0, "the heap is full, and the cluster grants no larger") && !most[0].1, "{most:?}");
        let half = "if it grows with the data, give each map task half of it: mapreduce.input.fileinputformat.split.maxsize \
                    → 67108864";
        assert!(starts(1, half) && starts(2, "or try another collector") && most[1].1, "{most:?}");
        assert!(lines("16384")[0].0.contains("-Xmx9830m"), "{:?}", lines("16384"));
    }

    #[test]
    fn more_collection_than_cpu_time_is_a_multiple() {
        assert_eq!([0.125, 1.0, 2.27].map(of_cpu_time), ["12.5 %", "100 %", "2.27×"]);
    }

    #[test]
    fn the_condition_that_decides_is_named() {
        // Ten map tasks of this many seconds, and this many milliseconds of collections in 10 s of CPU time.
        let limit = |seconds: i64, gc: i64| {
            let mut maps = elephant_sample::maps(&[(seconds, 64); 10]);
            for row in 0..10 {
                maps.attempts.set_counter(row, Counter::CpuMilliseconds, Some(10_000));
                maps.attempts.set_counter(row, Counter::GcTimeMillis, Some(gc));
            }
            let found = elephant_sample::evaluate(&elephant_sample::job(vec![maps], &[]), MAPPER.id, false)
                .findings
                .remove(0);
            let message = found.message.split_once(" (").map(|(_, limit)| limit.to_owned());
            (found.severity, message.unwrap())
        };
        assert_eq!(
            limit(400, 300),
            (Severity::None, "gc run time ratio not reached: low from 8 %)".to_owned())
        );
        assert_eq!(
            limit(250, 30_000),
            (Severity::Moderate, "12 % of the run time, moderate from 10 %)".to_owned())
        );
        assert_eq!(
            limit(130, 50_000),
            (Severity::Severe, "50 s of garbage collection, severe from 20 s)".to_owned())
        );
        assert_eq!(limit(190, 50_000), (Severity::Severe, "3m 10s of run time, severe from 3m)".to_owned()));
        assert_eq!(limit(400, 100_000), (Severity::Critical, "critical from 4 %)".to_owned()));
    }
}
