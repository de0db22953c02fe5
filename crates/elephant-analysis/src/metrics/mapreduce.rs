//! Cost of a MapReduce job.
//!
//! Source: Dr. Elephant's `TaskLevelAggregatedMetrics` and `MapReduceMetricsAggregator`, and its
//! documentation of metrics. Where these differ, a parameter decides (`rules/metrics.yaml`).

use elephant_base::whole::Whole;
use std::borrow::Cow;

use super::tez::container_of_vertex;
use super::{Metrics, TaskCounts, other_attempt_won, run_time};
use elephant_base::stats::nearest_rank;
use elephant_base::units::{Bytes, MbMillis, Millis, Timestamp};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Status};
use elephant_rule::params::quantity::{Quantity, Ratio, Size};
use elephant_rule::params::{Assumed, choice, rule_params};

choice! {
    /// How attempts without logged times affect the sums they belong to.
    pub(crate) enum WithoutData {
        /// The sum is unknown.
        Unknown = "unknown",
        /// They are left out, and so are attempts without counters.
        Skip = "skip",
    }
}

rule_params! {
    /// Parameters of the metrics of MapReduce jobs.
    pub struct MetricParams / MetricParamsLayer {
        /// The container size of a job that does not log it.
        container_default: Assumed<Size>,
        /// A task may hold this multiple of its measured peak memory before the rest counts as wasted.
        memory_allowance: Quantity<Ratio>,
        /// Allowed virtual memory per byte of physical memory; 0 ignores virtual memory.
        virtual_memory_ratio: Quantity<Ratio>,
        /// Whether memory counters that are all zero are real values.
        zero_memory_is_real: bool,
        /// Whether the peaks that Hadoop 3 logs are used.
        use_recorded_peaks: bool,
        /// Whether failed, killed and losing attempts are charged.
        charge_unsuccessful_attempts: bool,
        /// Whether attempts without times or counters make the cost unknown, or are left out.
        attempts_without_data: WithoutData,
        /// Whether run times are truncated to whole seconds before they are charged.
        whole_seconds: bool,
        /// Whether reduce tasks can start as early as the job's slow start setting allows.
        honour_slow_start: bool,
    }
}

/// Hadoop's default for `mapreduce.job.reduce.slowstart.completedmaps`.
const DEFAULT_SLOW_START: f64 = 0.05;

impl Metrics {
    /// The metrics of a MapReduce job.
    #[must_use]
    pub fn of(app: &Application, params: &MetricParams) -> Self {
        let usages: Vec<Usage> = app.groups.iter().map(|group| Usage::of(app, group, params)).collect();
        // A sum with an unknown part is unknown; so is the cost of a job with missing tasks.
        let skips = params.attempts_without_data == WithoutData::Skip;
        let whole = skips || shows_all_tasks(app);
        // Of lost attempts, nothing is known: that no cost is left does not mean that there was none.
        let is_told = |cost: &MbMillis| skips || !app.events_missing || *cost > MbMillis::ZERO;
        let total = |part: fn(&Usage) -> Option<MbMillis>| {
            let sum = if whole { usages.iter().map(part).sum::<Option<MbMillis>>() } else { None };
            sum.filter(is_told)
        };
        // Setup and cleanup tasks are charged, but users cannot choose their containers, so they waste
        // nothing.
        let judged = app
            .groups
            .iter()
            .zip(&usages)
            .filter(|(group, _)| matches!(group.kind, TaskKind::Map | TaskKind::Reduce));
        let wasted = judged.map(|(_, usage)| usage.wasted).sum::<Option<MbMillis>>();
        let wait = wait(app, params);
        Self {
            run_time: run_time(app),
            wait_time: wait.map(|(maps, reduces)| maps.length + reduces.without(&maps)),
            wait_of_maps: wait.map(|(maps, _)| maps.length),
            wait_of_reduces: wait.map(|(_, reduces)| reduces.length),
            used: total(|u| u.used),
            wasted: wasted.filter(|cost| whole && is_told(cost)),
            failed_attempts: total(|u| u.failed),
            killed_attempts: total(|u| u.killed),
            losing_attempts: total(|u| u.losing),
            tasks: task_counts(app),
            ..Self::default()
        }
    }
}

/// Counts by task kind, in kind order. Unknown if a limit cut the log off; for map and reduce tasks also if
/// the log has gaps and shows none.
fn task_counts(app: &Application) -> Vec<(Cow<'static, str>, Option<TaskCounts>)> {
    let announced = |kind| match kind {
        TaskKind::Map => app.announced.maps,
        TaskKind::Reduce => app.announced.reduces,
        _ => Some(0),
    };
    let kinds = [TaskKind::Map, TaskKind::Reduce, TaskKind::Setup, TaskKind::Cleanup];
    let is_cut = app.limit.is_some_and(|limit| limit.cuts_off());
    let may_lack_a_kind = |kind| app.events_missing && announced(kind) != Some(0);
    let counts = kinds.into_iter().filter_map(|kind| {
        let group = app.group(kind);
        let counts = group.filter(|_| !is_cut).map(TaskCounts::of);
        (group.is_some() || may_lack_a_kind(kind)).then_some((kind.name().into(), counts))
    });
    counts.collect()
}

/// Whether the log covers the job's end and all tasks that ran.
fn shows_all_tasks(app: &Application) -> bool {
    let shown = |kind| app.group(kind).map_or(0, |group| group.tasks.len() as u64);
    // A failing job may end before it has scheduled all of its tasks.
    let all = app.status != Status::Succeeded
        || (app.announced.maps.is_none_or(|maps| shown(TaskKind::Map) >= maps)
            && app.announced.reduces.is_none_or(|reduces| shown(TaskKind::Reduce) >= reduces));
    app.finished_at.is_some() && all
}

impl MetricParams {
    /// Whether attempts without times or counters are left out.
    pub(super) fn skips_without_data(&self) -> bool {
        self.attempts_without_data == WithoutData::Skip
    }

    /// The container size that [`Metrics::of`] charges for tasks of this kind.
    #[must_use]
    pub fn container(&self, app: &Application, kind: TaskKind) -> Option<Bytes> {
        requested_container(app, kind, self.container_default)
    }
}

/// The container size that the job requested (the application master's, for an uberized job): from its
/// configuration, otherwise `default`. Without a default, the size is derived from the job's counters
/// (`MB_MILLIS_MAPS / MILLIS_MAPS`), or else as Hadoop 3 derives it; not for an uberized job.
#[must_use]
pub fn requested_container(app: &Application, kind: TaskKind, default: Assumed<Size>) -> Option<Bytes> {
    let key = match kind {
        TaskKind::Vertex(_) => return container_of_vertex(app, kind, default),
        TaskKind::Reduce => ConfKey::ReduceMemoryMb,
        TaskKind::Map | TaskKind::Setup | TaskKind::Cleanup | TaskKind::Stage(_) => ConfKey::MapMemoryMb,
    };
    let implied = || {
        let (held, time) = app.held_by_tasks(key).filter(|_| !app.unknown_sizes.contains(&key))?;
        (held > 0 && held % time == 0).then(|| Bytes::from_mib(held / time))
    };
    let assumed = default.0.and_then(|quantity| Bytes::from_f64(quantity.get()));
    if app.uberized == Some(true) {
        // All tasks ran in the application master's container.
        return app.conf.mebibytes(ConfKey::MasterMemoryMb).or(assumed);
    }
    let derived = || implied().or_else(|| app.task_container(kind));
    app.conf.mebibytes(key).or_else(|| default.0.is_none().then(derived).flatten()).or(assumed)
}

/// Cost of the tasks of one group. A part is `None` if something it depends on is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Memory × time of all charged attempts.
    pub used: Option<MbMillis>,
    /// The part above the memory that tasks needed.
    pub wasted: Option<MbMillis>,
    pub(super) failed: Option<MbMillis>,
    pub(super) killed: Option<MbMillis>,
    pub(super) losing: Option<MbMillis>,
}

impl Usage {
    pub(super) fn of(app: &Application, group: &TaskGroup, params: &MetricParams) -> Self {
        let nothing = Some(MbMillis::ZERO);
        if group.attempts.is_empty() {
            return Self {
                used: nothing,
                wasted: nothing,
                failed: nothing,
                killed: nothing,
                losing: nothing,
            };
        }
        let Some(container) = requested_container(app, group.kind, params.container_default) else {
            return Self::default();
        };
        // If the log has gaps, an attempt without a logged end may have ended at any time.
        let job_end = app.finished_at.filter(|_| !app.events_missing);
        let ends: Vec<Timestamp> =
            app.masters.iter().filter_map(|master| master.started_at).chain(job_end).collect();
        Self::in_containers(group, container, if app.events_missing { &[] } else { &ends }, params)
    }

    /// Cost of the attempts of `group` in containers of one size. An attempt without a logged end ran until
    /// the next of `ends`: the start of the next application master, or the job's end.
    #[must_use]
    pub fn in_containers(
        group: &TaskGroup,
        container: Bytes,
        ends: &[Timestamp],
        params: &MetricParams,
    ) -> Self {
        let attempts = &group.attempts;
        let mut usage = Self {
            used: Some(MbMillis::ZERO),
            wasted: None,
            failed: Some(MbMillis::ZERO),
            killed: Some(MbMillis::ZERO),
            losing: Some(MbMillis::ZERO),
        };
        let mut time = Some(Millis::ZERO);
        for row in 0..attempts.len() {
            let outcome = attempts.outcome(row);
            if !is_charged(outcome, params) {
                continue;
            }
            let held = charged_time(group, row, ends, params);
            let has_data = held.is_some() && attempts.has_counters(row);
            if params.attempts_without_data == WithoutData::Skip && !has_data {
                continue;
            }
            let cost = held.map(|held| MbMillis::of(container, held));
            add(&mut usage.used, cost);
            time = time.zip(held).map(|(sum, held)| sum + held);
            match outcome {
                Outcome::Failed => add(&mut usage.failed, cost),
                Outcome::Killed if other_attempt_won(group, row) => add(&mut usage.losing, cost),
                Outcome::Killed => add(&mut usage.killed, cost),
                Outcome::Succeeded | Outcome::Unfinished => {}
            }
        }
        usage.wasted = peak(group, params).zip(time).map(|(peak, time)| {
            let needed = Bytes::from_f64((peak.whole_mib() as f64 * params.memory_allowance.get()).trunc());
            let needed = needed.map_or(container, |mib| Bytes::from_mib(mib.get()));
            MbMillis::of(container - needed, time)
        });
        usage
    }
}

pub(super) fn is_charged(outcome: Outcome, params: &MetricParams) -> bool {
    params.charge_unsuccessful_attempts || outcome == Outcome::Succeeded
}

fn add(sum: &mut Option<MbMillis>, part: Option<MbMillis>) {
    *sum = sum.zip(part).map(|(sum, part)| sum + part);
}

fn charged_time(group: &TaskGroup, row: usize, ends: &[Timestamp], params: &MetricParams) -> Option<Millis> {
    let attempts = &group.attempts;
    let start = attempts.time(row, TimePoint::Start);
    let finish = match attempts.outcome(row) {
        Outcome::Unfinished => {
            let later = |end: &Timestamp| start.is_some_and(|start| *end > start);
            ends.iter().copied().filter(later).min()
        }
        _ => attempts.time(row, TimePoint::Finish),
    };
    let time = match (start, attempts.outcome(row)) {
        // Killed while waiting for its container.
        (None, Outcome::Killed) => Some(Millis::ZERO),
        (start, _) => start.zip(finish).and_then(|(start, finish)| Millis::between(start, finish)),
    };
    if params.whole_seconds { time.map(|t| Millis::from_secs(t.whole_secs())) } else { time }
}

/// The largest memory need of any charged attempt: physical, or virtual divided by the cluster's ratio.
fn peak(group: &TaskGroup, params: &MetricParams) -> Option<Bytes> {
    let attempts = &group.attempts;
    let read = [
        (Counter::PhysicalMemoryBytes, true),
        (Counter::VirtualMemoryBytes, params.virtual_memory_ratio.get() > 0.0),
        (Counter::PeakPhysicalMemoryBytes, params.use_recorded_peaks),
        (
            Counter::PeakVirtualMemoryBytes,
            params.use_recorded_peaks && params.virtual_memory_ratio.get() > 0.0,
        ),
    ];
    if read.into_iter().any(|(counter, is_read)| is_read && attempts.any_unreadable().has(counter)) {
        return None;
    }
    let charged = |row: &usize| is_charged(attempts.outcome(*row), params);
    let largest =
        |counter| (0..attempts.len()).filter(charged).filter_map(|row| attempts.bytes(row, counter)).max();
    let recorded = |counter| if params.use_recorded_peaks { largest(counter) } else { None };
    let physical = largest(Counter::PhysicalMemoryBytes).max(recorded(Counter::PeakPhysicalMemoryBytes));
    let virtual_memory = largest(Counter::VirtualMemoryBytes).max(recorded(Counter::PeakVirtualMemoryBytes));
    if params.zero_memory_is_real {
        return Some(combine(physical.unwrap_or_default(), virtual_memory, params));
    }
    let physical = physical.filter(|peak| peak.get() > 0)?;
    Some(combine(physical, virtual_memory, params))
}

fn combine(physical: Bytes, virtual_memory: Option<Bytes>, params: &MetricParams) -> Bytes {
    let ratio = params.virtual_memory_ratio.get();
    let from_virtual =
        virtual_memory.filter(|_| ratio > 0.0).map_or(0, |bytes| (bytes.whole_mib() as f64 / ratio).as_u64());
    Bytes::from_mib(physical.whole_mib().max(from_virtual))
}

/// When map tasks and reduce tasks waited. Time in which both did counts once: no job waits for longer than it takes.
fn wait(app: &Application, params: &MetricParams) -> Option<(Delay, Delay)> {
    if app.events_missing && params.attempts_without_data == WithoutData::Unknown {
        return None;
    }
    let maps = app.group(TaskKind::Map);
    // If tasks without data are left out, a group that has only such tasks waited 0.
    let skipped = (params.attempts_without_data == WithoutData::Skip).then_some(Delay::default());
    let wait = |group, start: Option<Timestamp>| start.and_then(|start| Delay::of(group, start)).or(skipped);
    let of_maps = match maps {
        Some(maps) => wait(maps, app.submitted_at)?,
        None => Delay::default(),
    };
    let of_reduces = match (app.group(TaskKind::Reduce), maps) {
        (Some(reduces), Some(maps)) => wait(reduces, reduce_start(app, maps, params))?,
        _ => Delay::default(),
    };
    Some((of_maps, of_reduces))
}

/// The time from when the last task would have ended, had all started at the best moment, to when it did.
#[derive(Debug, Clone, Copy, Default)]
struct Delay {
    from: Option<Timestamp>,
    length: Millis,
}

impl Delay {
    fn of(group: &TaskGroup, ideal_start: Timestamp) -> Option<Self> {
        let longest = group.winners().filter_map(|row| group.attempts.run_time(row)).max()?;
        let last = group.winners().filter_map(|row| group.attempts.time(row, TimePoint::Finish)).max()?;
        let from = ideal_start + longest;
        Some(Self { from: Some(from), length: Millis::between(from, last).unwrap_or_default() })
    }

    /// Its length without the time that it shares with another one.
    fn without(&self, other: &Self) -> Millis {
        let (Some(from), Some(other_from)) = (self.from, other.from) else { return self.length };
        let end = (from + self.length).min(other_from + other.length);
        let shared = Millis::between(from.max(other_from), end).unwrap_or_default();
        Millis::new(self.length.get().saturating_sub(shared.get()))
    }
}

/// How much later the last task ended than if all had started at `ideal_start`.
#[must_use]
pub fn delay(group: &TaskGroup, ideal_start: Timestamp) -> Option<Millis> {
    Delay::of(group, ideal_start).map(|delay| delay.length)
}

/// When reduce tasks could have started: when the share of map tasks set by slow start had ended.
fn reduce_start(app: &Application, maps: &TaskGroup, params: &MetricParams) -> Option<Timestamp> {
    let ends = maps.sorted_ends();
    let share = if params.honour_slow_start {
        app.conf.fraction(ConfKey::SlowStart).unwrap_or(DEFAULT_SLOW_START)
    } else {
        1.0
    };
    if share <= 0.0 {
        return app.submitted_at;
    }
    nearest_rank(&ends, share)
}
