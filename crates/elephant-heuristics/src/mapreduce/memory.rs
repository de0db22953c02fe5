//! `mapper-memory`, `reducer-memory`: containers are larger than the tasks need (Dr. Elephant
//! `GenericMemoryHeuristic`).

use std::sync::Arc;

use super::support::containers::container_for;
use super::support::counters::{MissingCounters, counter, to_bytes, unreadable};
use super::support::heap::Heap;
use super::support::role::Role;
use super::support::tasks::{no_task_reports, tasks, without_tasks};
use crate::declare::mapreduce as rule;
use elephant_analysis::metrics::requested_container;
use elephant_base::severity::Severity;
use elephant_base::stats::truncated_mean;
use elephant_base::units::{Bytes, three_digits};
use elephant_catalogue::{AdviceParams, Advised, Check, Remedy, Rule, load_advised};
use elephant_model::engine_facts::hadoop::HEAP_SHARE;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::Facet;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_rule::finding::{Advice, Container, Judgement, Measure, Verdict, Worse};
use elephant_rule::params::cutoffs::{Ascending, Descending};
use elephant_rule::params::quantity::{Quantity, Ratio, Size};
use elephant_rule::params::{Assumed, rule_params};
use elephant_rule::wording::{change, limit};

rule_params! {
    /// Parameters of `mapper-memory` and `reducer-memory`.
    pub(super) struct Memory / MemoryLayer {
        /// Whether only succeeded jobs are judged. If false, failed and killed jobs are judged by their
        /// succeeded tasks.
        only_succeeded_jobs: bool,
        /// How a missing counter is read: unknown, or zero as in Dr. Elephant.
        missing_counters: MissingCounters,
        /// Mean physical memory / container size.
        used_ratio: Descending<Ratio>,
        /// Container size. Small containers waste little.
        container: Ascending<Size>,
        /// Container size of a job whose history does not contain it.
        container_default: Assumed<Size>,
        /// Room above the measured peak in advised sizes, as a share of the peak.
        headroom: Quantity<Ratio>,
    }
}

pub(super) const MAPPER: Rule =
    rule!(DrElephant { version: "master" }, "mapper-memory", "Mapper Memory", tells MuchMemory, Memory, |layers, advice| load_advised(
        layers, advice, |p, advice| Usage(Role::Map, p, advice)
    ))
    .measured_by("used_ratio", Worse::Lower)
    .sizing(Container::Map);
pub(super) const REDUCER: Rule =
    rule!(DrElephant { version: "master" }, "reducer-memory", "Reducer Memory", tells MuchMemory, Memory, |layers, advice| load_advised(
        layers, advice, |p, advice| Usage(Role::Reduce, p, advice)
    ))
    .measured_by("used_ratio", Worse::Lower)
    .sizing(Container::Reduce);

/// The message of a finding.
const MESSAGE: &str =
    "a {role} task uses {avg_physical_memory_bytes} of its {container_bytes} container, {share} ({limit})";

struct Usage(Role, Memory, Arc<AdviceParams>);

impl Check for Usage {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.2 };
        let Self(role, params, _) = self;
        let Some(group) = tasks(app, role.kind(), params.only_succeeded_jobs) else {
            return without_tasks(app, role.kind(), params.only_succeeded_jobs);
        };
        if let Some(reason) = unreadable(app, role.kind(), &[Counter::PhysicalMemoryBytes]) {
            return Verdict::NotEvaluated(reason);
        }
        let missing = params.missing_counters;
        let used: Vec<i64> = group
            .winners()
            .filter_map(|row| counter(group, row, Counter::PhysicalMemoryBytes, missing))
            .collect();
        // Clusters that cannot measure memory log 0 for every task.
        if missing == MissingCounters::Unknown && used.iter().all(|&bytes| bytes == 0) {
            return Verdict::NotEvaluated(no_task_reports(*role, group, Counter::PhysicalMemoryBytes.name()));
        }
        let Some(container) = requested_container(app, role.kind(), params.container_default) else {
            return Verdict::NotEvaluated(no_container(app, role.kind()));
        };
        let mean = truncated_mean(&used).unwrap_or_default();
        let ratio = mean as f64 / container.as_f64();
        let percent = |ratio: f64| format!("{} %", three_digits(100.0 * ratio));
        let low = Severity::Low;
        let conditions = [
            ("used_ratio", params.used_ratio.severity(ratio), params.used_ratio.describe_in(low, percent)),
            ("container", params.container.severity(container.as_f64()), params.container.describe(low)),
        ];
        let severity = conditions.iter().map(|(_, severity, _)| *severity).min().unwrap_or_default();
        let (mean, peak) = (to_bytes(mean), Heap::of(app, *role, group).peak);
        let mut evidence = vec![
            ("tasks_count", Measure::Count(group.tasks.len() as u64)),
            ("container_bytes", Measure::Size(container)),
            ("avg_physical_memory_bytes", Measure::Size(mean)),
            ("used_ratio", Measure::Ratio(ratio.is_finite().then_some(ratio))),
        ];
        if let Some(peak) = peak {
            evidence.push(("peak_physical_memory_bytes", Measure::Size(peak)));
        }
        Judgement::of(role.subject(), severity)
            .tasks(group.tasks.len() as u64)
            .facts(evidence)
            .message(
                MESSAGE,
                &[
                    ("role", &role.kind().name()),
                    ("share", &percent(ratio)),
                    (
                        "limit",
                        &limit(severity, params.used_ratio.describe_in(severity, percent), &conditions),
                    ),
                ],
            )
            .advice(|| {
                let lines = self.remedy_for(app, group, Some(container)).lines();
                self.with_uneven_use(app, lines, (mean, peak), severity)
            })
            .into()
    }

    fn remedy(&self, app: &Application) -> Option<Remedy> {
        let app = &Advised { app, advice: &self.2 };
        let Self(role, params, _) = self;
        let group = tasks(app, role.kind(), false)?;
        Some(self.remedy_for(app, group, requested_container(app, role.kind(), params.container_default)))
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks]
    }
}

/// The remedy if one task needs more than the others.
const BALANCE: &str = "balance the work of the tasks";
/// The counters that show how much memory a task needed.
const MEMORY: [Counter; 4] = [
    Counter::PhysicalMemoryBytes,
    Counter::VirtualMemoryBytes,
    Counter::PeakPhysicalMemoryBytes,
    Counter::PeakVirtualMemoryBytes,
];

/// Why the container size is unknown.
pub(crate) fn no_container(app: &Application, kind: TaskKind) -> String {
    let key = match kind {
        _ if app.uberized == Some(true) => ConfKey::MasterMemoryMb,
        TaskKind::Reduce => ConfKey::ReduceMemoryMb,
        TaskKind::Map | TaskKind::Setup | TaskKind::Cleanup | TaskKind::Stage(_) | TaskKind::Vertex(_) => {
            ConfKey::MapMemoryMb
        }
    };
    format!("the container size is unknown: no configuration file with {} was found", key.name())
}

/// Why the memory that tasks needed is unknown, if some kind does not report it.
pub(crate) fn no_memory(app: &Application) -> String {
    let why = |role: Role| {
        let group = app.group(role.kind()).filter(|group| !group.tasks.is_empty())?;
        let measured =
            group.winners().filter_map(|row| group.attempts.bytes(row, Counter::PhysicalMemoryBytes));
        let silent = measured.max().is_none_or(|peak| peak.get() == 0);
        unreadable(app, role.kind(), &MEMORY)
            .or_else(|| silent.then(|| no_task_reports(role, group, Counter::PhysicalMemoryBytes.name())))
    };
    let why = [Role::Map, Role::Reduce].into_iter().find_map(why);
    why.unwrap_or_else(|| "no task reports how much memory it used".to_owned())
}

impl Memory {
    /// The severity of tasks that use this much of a container on average.
    fn severity(&self, mean: Bytes, container: Bytes) -> Severity {
        let by_use = self.used_ratio.severity(mean.as_f64() / container.as_f64());
        by_use.min(self.container.severity(container.as_f64()))
    }
}

/// The advice if the container stays too large for most tasks because of one.
fn uneven(role: Role, mean: Bytes, peak: Bytes, new: Bytes) -> Advice {
    let kind = role.kind().name();
    let times = three_digits(peak.as_f64() / mean.as_f64().max(1.0));
    format!("the largest {kind} task needs {times}× the mean, so most still use little of {new}: {BALANCE}")
        .into()
}

impl Usage {
    /// The size of the container that advice sets.
    fn new_size(&self, app: &Application, advice: &Advice) -> Option<Bytes> {
        let key = if app.uberized == Some(true) { ConfKey::MasterMemoryMb } else { self.0.memory() };
        let name = app.conf.name_in_use(key);
        let change = advice.settings.iter().find(|change| change.setting == name)?;
        change.to.parse().ok().map(Bytes::from_mib)
    }

    /// If the mean use stays low even with the advised container, adds the reason to the advice.
    fn with_uneven_use(
        &self,
        app: &Application,
        mut lines: Vec<Advice>,
        (mean, peak): (Bytes, Option<Bytes>),
        severity: Severity,
    ) -> Vec<Advice> {
        let Self(role, params, _) = self;
        let new = lines.iter().find_map(|line| self.new_size(app, line));
        let stays = |(new, _): &(Bytes, Bytes)| params.severity(mean, *new) >= severity;
        if let Some((new, peak)) = new.zip(peak).filter(stays) {
            lines.push(uneven(*role, mean, peak, new));
        }
        lines
    }

    /// The smallest container that holds the measured peak and the headroom, and the heap that `mapper-gc`
    /// and `reducer-gc` advise. Tasks of an uberized job share the container of the application master.
    fn remedy_for(&self, app: &Advised<'_>, group: &TaskGroup, container: Option<Bytes>) -> Remedy {
        let Self(role, params, _) = self;
        let headroom = params.headroom.get();
        let (heap, size, whose) = if app.uberized == Some(true) {
            (Heap::of_master(app), ConfKey::MasterMemoryMb, "task")
        } else {
            (Heap::of(app, *role, group), role.memory(), role.kind().name())
        };
        let Some((peak, least)) = heap.peak.zip(heap.least()) else {
            let why = "find out how much memory the tasks use: no successful task reports it";
            return Remedy::NoSetting(why.to_owned());
        };
        let needed = Bytes::from_f64(least.as_f64() * (1.0 + headroom)).unwrap_or(least);
        let fitting = container_for(app, needed).max(heap.container(app).unwrap_or_default());
        let buffer = heap.sort.map(|sort| format!(" and {} for the larger sort buffer", sort.more()));
        let buffer = buffer.unwrap_or_default();
        if let Some(container) = container.filter(|&container| fitting >= container) {
            return Remedy::NoSetting(match heap.larger {
                Some(larger) if heap.is_full => format!(
                    "the container cannot shrink, because its heap is full and should grow to {larger}: {BALANCE}"
                ),
                _ => cannot_shrink(app, container, &format!("the largest {whose} needs {peak}{buffer}")),
            });
        }
        let why = if let Some(larger) = heap.larger {
            format!("measured peak {peak}, plus the larger heap of {larger}")
        } else {
            format!("measured peak {peak} plus {} %{buffer}", three_digits(100.0 * headroom))
        };
        let shrink = change(app, size, fitting.whole_mib());
        let mut lines = vec![Advice::default().set([shrink.clone()]).and(&format!(" ({why})"))];
        let fitting = Bytes::from_f64(fitting.as_f64() * HEAP_SHARE).unwrap_or(fitting);
        if heap.larger.is_none() && heap.set_limit(app).is_some_and(|now| now > fitting) {
            let smaller = heap.options.with_heap(fitting);
            let fits = Advice::new("with a heap that fits the container").set([smaller]);
            lines.push(fits.for_other(&shrink));
        }
        Remedy::Change(lines)
    }
}

fn cannot_shrink(app: &Advised<'_>, container: Bytes, why: &str) -> String {
    let key = ConfKey::MinimumAllocationMb;
    let granted = match app.conf.mebibytes(key) {
        Some(least) if container <= least => {
            format!("YARN allocates no containers below {least} ({})", key.name())
        }
        None if container <= app.advice.container_step.bytes() => {
            format!("few clusters allow containers below {container} ({})", key.name())
        }
        _ => return format!("the container cannot shrink, because {why}: {BALANCE}"),
    };
    format!("{granted}: give each task more work, so that fewer containers are needed")
}
