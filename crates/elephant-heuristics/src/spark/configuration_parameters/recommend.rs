//! Derives settings from measurements.

use super::changes::{Change, Reason};
use super::facts::Facts;
use super::stage_analysis::Analysis;
use super::{Limits, Method, count, mebibytes};
use crate::spark::support::adaptive::smaller_advisory;
use crate::spark::support::collections::Collections;
use crate::spark::support::memory::{
    ExecutorSize, Setting, driver_heap_for, heap_for, heap_key, more_overhead, smaller_heap,
};
use crate::spark::support::partitions::Source;
use crate::spark::support::spill_sizing::{AgainstSpill, partitions_decide};
use crate::spark::support::stage_figures::FlowKind;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_model::engine_facts::spark::RESERVED_MEMORY;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::MEMORY_FRACTION;
use elephant_rule::finding::Measure;

/// The recommended value of every setting; unchanged if no measurement calls for a change.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recommended {
    pub(super) size: ExecutorSize,
    pub(super) instances: Option<u64>,
    pub(super) overhead: Option<Bytes>,
    pub(super) fraction: f64,
    pub(super) partitions: u64,
    pub(super) driver_memory: Bytes,
    pub(super) driver_cores: u64,
    driver_overhead: Option<Bytes>,
}

/// All recommended settings, and those that change, most effective first.
pub(super) fn recommend(facts: &Facts<'_>, limits: &Limits) -> (Recommended, Vec<Change>) {
    let mut plan = Plan::new(facts);
    match limits.method {
        Method::Measured => plan.measured(facts, limits),
        Method::DrElephant => plan.dr_elephant(facts, limits),
    }
    let changes = plan.changes(facts);
    (plan.to, changes)
}

/// Recommendations under construction, each with its reason.
struct Plan {
    to: Recommended,
    size: Option<(Reason, Severity)>,
    fraction: Option<(Reason, Severity)>,
    partitions: Option<(Reason, Severity)>,
    /// `spark.sql.adaptive.advisoryPartitionSizeInBytes`, if it changes.
    advisory: Option<(Bytes, (Reason, Severity))>,
    /// `spark.default.parallelism`, if it changes.
    parallelism: Option<(u64, (Reason, Severity))>,
}

impl Plan {
    fn new(facts: &Facts<'_>) -> Self {
        let to = Recommended {
            size: facts.now,
            instances: facts.instances,
            overhead: None,
            fraction: facts.fraction,
            partitions: facts.partitions,
            driver_memory: facts.driver.memory,
            driver_cores: facts.driver.cores,
            driver_overhead: facts.driver.overhead,
        };
        Self { to, size: None, fraction: None, partitions: None, advisory: None, parallelism: None }
    }

    fn measured(&mut self, facts: &Facts<'_>, limits: &Limits) {
        self.shorten_tasks(facts, limits);
        let spill = spilling(facts, Severity::Low);
        if let Some(stage) = spill {
            self.avoid_spill(facts, stage, limits);
        }
        let pressure = [(Reason::OutOfMemory, facts.out_of_memory), (Reason::Gc, facts.gc)]
            .into_iter()
            .find(|(_, severity)| *severity > Severity::None);
        if let Some(pressure) = pressure {
            self.relieve(facts, pressure, limits);
        } else if spill.is_none() && facts.complete && facts.heap > Severity::None {
            self.shrink(facts, limits);
        }
        self.to.size = self.to.size.with_room(facts.now, facts.peak);
        if facts.container_kills > Severity::None {
            self.to.overhead = Some(more_overhead(facts.app));
        }
        self.keep_parallelism(facts, limits);
        if facts.driver.heap > Severity::None && facts.complete {
            let peak = facts.driver.peak.unwrap_or(facts.driver.memory);
            let fitting = driver_heap_for(peak, facts.app.advice.driver_room.get());
            let most = facts.driver.memory.as_f64() * (1.0 - limits.driver_heap_gain.get());
            if fitting.as_f64() <= most {
                self.to.driver_memory = fitting;
            }
        }
        if facts.driver.too_many_cores > Severity::None {
            self.to.driver_cores = facts.driver.cores.min(limits.wanted_driver_cores.whole().max(1));
        }
    }

    /// More partitions, if tasks are long and a setting determines their number.
    fn shorten_tasks(&mut self, facts: &Facts<'_>, limits: &Limits) {
        let long = facts.stages.iter().filter(|stage| {
            stage.long_tasks > Severity::None
                && partitions_decide(facts.app, facts.spark, stage.stage, &stage.figures)
        });
        let wanted = long.filter_map(|stage| Some((tasks_for(facts, stage, limits)?, stage)));
        if let Some((partitions, stage)) = wanted.max_by_key(|(wanted, stage)| (*wanted, stage.long_tasks))
            && partitions > self.to.partitions
        {
            let because = (Reason::LongTasks, stage.long_tasks);
            self.to.partitions = partitions;
            self.partitions = Some(because);
            let read = stage.figures.flow(FlowKind::ShuffleRead).map(|read| read.total);
            self.advisory = smaller_advisory(facts.app, read, partitions).map(|size| (size, because));
        }
    }

    /// The cheapest change first: Spark's share of the heap, then smaller partitions, then more memory.
    fn avoid_spill(&mut self, facts: &Facts<'_>, stage: &Analysis<'_>, limits: &Limits) {
        let because = Some((Reason::Spill, stage.spill));
        let against =
            AgainstSpill::of(facts.app, facts.spark, stage.stage, &stage.figures, limits.of_spill());
        if facts.fraction < against.fraction {
            self.to.fraction = against.fraction;
            self.fraction = because;
        }
        if let Some(partitions) = against.partitions.filter(|&more| more > self.to.partitions) {
            self.to.partitions = partitions;
            self.partitions = because;
            self.advisory = against.advisory.zip(because);
        }
        self.parallelism = against.parallelism.map(|tasks| (tasks, (Reason::Spill, stage.spill)));
        if let Some(grown) = against.size {
            self.to.size = grown;
            self.size = because;
        }
    }

    /// More heap per task, unless spill already requires it.
    fn relieve(&mut self, facts: &Facts<'_>, because: (Reason, Severity), limits: &Limits) {
        if facts.fraction > MEMORY_FRACTION {
            self.to.fraction = MEMORY_FRACTION;
            self.fraction = Some(because);
        }
        let more = match because.0 {
            Reason::Gc => Collections::of(facts.app, facts.spark)
                .map_or(facts.now, |collections| collections.wanted(limits.gc_ratio.values())),
            _ => facts.now.more_heap_per_task(),
        };
        if self.to.size == facts.now && more != facts.now {
            self.to.size = more;
            self.size = Some(because);
        }
    }

    fn shrink(&mut self, facts: &Facts<'_>, limits: &Limits) {
        if let Some(heap) = smaller_heap(facts.app, facts.spark, facts.now.heap, limits.heap_gain.get()) {
            self.to.size.heap = heap;
            self.size = Some((Reason::Unused, facts.heap));
        }
    }

    /// With fewer cores per executor, more executors are needed for the same number of concurrent tasks.
    fn keep_parallelism(&mut self, facts: &Facts<'_>, limits: &Limits) {
        if self.to.size.cores != facts.now.cores {
            let cores = |instances: u64| instances.saturating_mul(u64::from(facts.now.cores));
            let most = whole(limits.max_instances.get(), f64::INFINITY);
            let same = |instances| {
                let needed = cores(instances).div_ceil(u64::from(self.to.size.cores).max(1));
                needed.min(most.max(instances))
            };
            self.to.instances = facts.instances.map(same);
        }
    }

    fn dr_elephant(&mut self, facts: &Facts<'_>, limits: &Limits) {
        let bad = |severity: Severity| severity >= Severity::Moderate;
        self.to.fraction = MEMORY_FRACTION;
        let spill = spilling(facts, Severity::Moderate);
        if let Some(stage) = spill {
            let tasks = stage.figures.tasks as f64;
            let spilled = stage.figures.spilled().unwrap_or_default().as_f64();
            let needed = spilled + facts.now.unified_per_task(facts.fraction) * tasks;
            let enough = |size: ExecutorSize| size.unified_per_task(MEMORY_FRACTION) * tasks >= needed;
            self.to.size = facts.now.grown_until(enough);
            self.size = Some((Reason::Spill, stage.spill));
        }
        if bad(facts.out_of_memory) || bad(facts.gc) {
            if self.to.size == facts.now {
                self.to.size = facts.now.more_heap_per_task();
                self.size = Some((Reason::OutOfMemory, facts.out_of_memory.max(facts.gc)));
            }
        } else if spill.is_none() {
            self.pack(facts);
        }
        let cores = u64::from(self.to.size.cores).max(1);
        self.to.instances = facts.instances.map(|instances| {
            let same = instances.saturating_mul(u64::from(facts.now.cores)) / cores;
            same.min(facts.partitions / cores).min(whole(limits.max_instances.get(), f64::INFINITY)).max(1)
        });
        let set = facts.app.conf.find(ConfKey::ExecutorMemoryOverhead).map(|_| facts.overhead);
        self.to.overhead = if bad(facts.container_kills) {
            Some(facts.overhead + facts.app.advice.more_overhead.bytes())
        } else {
            set
        };
        self.to.driver_cores = facts.driver.cores.min(limits.wanted_driver_cores.whole().max(1));
        if let Some(peak) = facts.driver.peak {
            self.to.driver_memory = heap_for(peak).min(facts.driver.memory);
        }
        self.round_to_gib();
    }

    /// Dr. Elephant's remedy for heaps that are too large: more tasks per heap if it is small, else less
    /// heap.
    fn pack(&mut self, facts: &Facts<'_>) {
        const GIB: u64 = 1024;
        let Some(peak) = facts.peak.filter(|peak| *peak > Bytes::default()) else { return };
        let above = |gib: u64| facts.now.heap > Bytes::from_mib(gib * GIB);
        let too_large =
            above(4) && facts.heap >= Severity::Low || above(2) && facts.heap >= Severity::Moderate;
        if !too_large {
            return;
        }
        let (cores, heap) = (facts.now.cores, facts.now.heap);
        let mut new = cores;
        if !above(8) && cores < 4 {
            let of_one_task = peak.as_f64() * 1.25 / f64::from(cores);
            let room = heap - RESERVED_MEMORY;
            let fit = Bytes::from_f64(room.as_f64() / of_one_task).unwrap_or_default().get().min(4);
            new = u32::try_from(fit).unwrap_or(cores).max(cores);
        }
        let peak = Bytes::new(peak.get().saturating_mul(u64::from(new.div_ceil(cores))));
        self.to.size = ExecutorSize { heap: heap_for(peak).min(heap), cores: new, ..facts.now };
        self.size = Some((Reason::Unused, facts.heap));
    }

    /// Dr. Elephant prints whole GiB from 2 GiB on, and whole MiB below.
    fn round_to_gib(&mut self) {
        let round = |size: Bytes| {
            let mib = size.get().div_ceil(Bytes::PER_MIB);
            Bytes::from_mib(if mib >= 2048 { mib.div_ceil(1024).saturating_mul(1024) } else { mib })
        };
        self.to.size.heap = round(self.to.size.heap);
        self.to.driver_memory = round(self.to.driver_memory);
        self.to.overhead = self.to.overhead.map(round);
        self.to.driver_overhead = self.to.driver_overhead.map(round);
    }

    fn changes(&self, facts: &Facts<'_>) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut add = |differs: bool, key, value: String, (reason, severity): (Reason, Severity)| {
            if differs {
                changes.push(Change { key, value, reason, severity });
            }
        };
        let to = &self.to;
        let size = self.size.unwrap_or((Reason::Unused, facts.heap));
        let heap = Setting(to.size.heap).to_string();
        add(to.size.heap != facts.now.heap, heap_key(facts.app, facts.spark), heap, size);
        add(to.size.cores != facts.now.cores, ConfKey::ExecutorCores, to.size.cores.to_string(), size);
        if let Some(overhead) = to.overhead {
            let killed = (Reason::ContainerKilled, facts.container_kills);
            let value = Setting(overhead).to_string();
            add(overhead > facts.overhead, ConfKey::ExecutorMemoryOverhead, value, killed);
        }
        if let Some(instances) = to.instances {
            let same = (Reason::SameParallelism, size.1);
            let value = instances.to_string();
            add(to.instances != facts.instances, ConfKey::ExecutorInstances, value, same);
        }
        let fraction = self.fraction.unwrap_or(size);
        let differs = (to.fraction - facts.fraction).abs() > f64::EPSILON;
        add(differs, ConfKey::MemoryFraction, to.fraction.to_string(), fraction);
        let partitions = self.partitions.unwrap_or(size);
        let differs = to.partitions != facts.partitions;
        add(differs, ConfKey::ShufflePartitions, to.partitions.to_string(), partitions);
        if let Some((size, because)) = self.advisory {
            add(true, ConfKey::AdaptivePartitionSize, Setting(size).to_string(), because);
        }
        if let Some((tasks, because)) = self.parallelism {
            add(true, ConfKey::DefaultParallelism, tasks.to_string(), because);
        }
        let driver = &facts.driver;
        let value = Setting(to.driver_memory).to_string();
        let unused = (Reason::DriverUnused, driver.heap);
        add(to.driver_memory < driver.memory, ConfKey::DriverMemory, value, unused);
        let few = (Reason::DriverCores, driver.too_many_cores);
        add(to.driver_cores != driver.cores, ConfKey::DriverCores, to.driver_cores.to_string(), few);
        changes
    }
}

impl Recommended {
    pub(super) fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let known = [
            mebibytes("recommended_executor_memory_mb", Some(self.size.heap)),
            count("recommended_executor_cores_count", Some(u64::from(self.size.cores))),
            count("recommended_executor_instances_count", self.instances),
            mebibytes("recommended_executor_overhead_mb", self.overhead),
            count("recommended_shuffle_partitions_count", Some(self.partitions)),
            mebibytes("recommended_driver_memory_mb", Some(self.driver_memory)),
            count("recommended_driver_cores_count", Some(self.driver_cores)),
            mebibytes("recommended_driver_overhead_mb", self.driver_overhead),
        ];
        let fraction = ("recommended_memory_fraction_ratio", Measure::Ratio(Some(self.fraction)));
        known.into_iter().flatten().chain([fraction]).collect()
    }
}

/// The number of tasks for a stage whose tasks are long: one that leaves no task slot idle or, if no slot is idle, one
/// with which the median task takes the target time.
pub(super) fn tasks_for(facts: &Facts<'_>, stage: &Analysis<'_>, limits: &Limits) -> Option<u64> {
    let most = limits.max_partitions.get();
    if let Some(more) = limits.aim().more_than(facts.app, facts.spark, stage.stage) {
        return Some(more.min(whole(most, f64::INFINITY)));
    }
    let group = facts.app.groups.get(stage.stage.group?)?;
    if !Source::of(facts.app, facts.spark, stage.stage, group).can_change() {
        return None;
    }
    let times = stage.figures.run_time?.median.as_f64() / limits.target_task_time.get();
    Some(whole(stage.figures.tasks as f64 * times, most)).filter(|more| *more > stage.figures.tasks)
}

/// The stage that spills most, if any spills with at least the severity `from`. Skewed stages are skipped:
/// their spill is that of a single task.
fn spilling<'a, 'b>(facts: &'b Facts<'a>, from: Severity) -> Option<&'b Analysis<'a>> {
    if !facts.stages.iter().any(|stage| stage.spill >= from) {
        return None;
    }
    let even = facts.stages.iter().filter(|stage| stage.skew < Severity::Moderate);
    let most = even.max_by_key(|stage| (stage.figures.spilled(), std::cmp::Reverse(stage.stage.id)));
    most.filter(|stage| stage.figures.spilled().is_some_and(|spilled| spilled > Bytes::default()))
}

/// `value` rounded up to a whole number of at most `most`.
fn whole(value: f64, most: f64) -> u64 {
    Bytes::from_f64(value.min(most).ceil()).unwrap_or_default().get()
}
