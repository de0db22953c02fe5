//! Recommended sizes of executors: one place for every rule that advises on heaps and cores, so that rules
//! do not contradict each other.

pub(crate) use elephant_analysis::executors::*;

use super::application::spark;
use crate::spark::support::jvms::doubt_of_heaps;
use crate::spark::support::limited::Limited;
use elephant_base::units::Bytes;
use elephant_catalogue::Advised;
use elephant_model::engine_facts::spark::RESERVED_MEMORY;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::conf::defaults::{HEAP, MEMORY_FRACTION, SHUFFLE_PARTITIONS};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{ClusterManager, Spark};
use elephant_rule::finding::{Advice, SettingChange};
use elephant_rule::wording::change;

/// Advice on a heap that is as large as it must be.
const NEEDED: &str =
    "keep the heap: a smaller one would not hold what tasks and cached data need at their peaks";
/// Advice on a heap whose need is unknown.
const SHORT: &str = "keep the heap: executors ran out of memory, and the event log does not contain the peaks of those that \
                     were lost";
/// Heap and cores of the processes that run tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExecutorSize {
    pub(crate) heap: Bytes,
    /// The number of tasks that share the heap.
    pub(crate) cores: u32,
    /// Whether other cores would change the number of tasks: in local mode they are part of the master URL, and tasks may be
    /// limited by another resource.
    pub(crate) cores_can_change: bool,
}

impl ExecutorSize {
    /// The current size: of executors of the default resource profile, or of the driver in local mode.
    pub(crate) fn now(app: &Application, spark: &Spark) -> Self {
        let local = is_local(app, spark);
        let profile = spark.resource_profile(0).filter(|_| !local);
        let heap = app.conf.spark_memory(heap_key(app, spark));
        let cores = workers(spark).filter_map(|worker| worker.cores).max();
        let set = app.conf.integer(ConfKey::ExecutorCores).and_then(|cores| u32::try_from(cores).ok());
        let cores = set.filter(|_| !local).or(profile.and_then(|profile| profile.cores)).or(cores);
        Self {
            heap: heap.or(profile.and_then(|profile| profile.memory)).unwrap_or(HEAP),
            cores: cores.unwrap_or(1).max(1),
            cores_can_change: !local && Limited::of(app).is_none(),
        }
    }

    /// Execution and storage memory per task if every core is busy.
    pub(crate) fn unified_per_task(self, fraction: f64) -> f64 {
        (self.heap - RESERVED_MEMORY).as_f64() * fraction / f64::from(self.cores)
    }

    /// More heap per task, against garbage collection and out-of-memory errors: fewer tasks in large
    /// executors, a larger heap in small ones. Unchanged if executors are large and already run few tasks.
    pub(crate) fn more_heap_per_task(self) -> Self {
        let gib = |gib: u64| Bytes::from_mib(gib * 1024);
        let times = |factor: f64| Self {
            heap: Bytes::from_f64(self.heap.as_f64() * factor).unwrap_or(self.heap),
            ..self
        };
        match self {
            Self { cores: 5.., cores_can_change: true, .. } => Self { cores: self.cores.div_ceil(2), ..self },
            Self { heap, .. } if heap < gib(4) => times(2.0),
            Self { heap, .. } if heap < gib(8) => times(1.5),
            Self { cores: 3.., cores_can_change: true, .. } => Self { cores: 2, ..self },
            Self { heap, .. } if heap < gib(16) => times(1.25),
            _ => self,
        }
    }

    /// If the heap differs from that of `before`, makes it large enough for the measured peak and headroom.
    pub(crate) fn with_room(self, before: Self, peak: Option<Bytes>) -> Self {
        if self.heap == before.heap {
            return self;
        }
        Self { heap: rounded_up(self.heap.max(peak.map(heap_for).unwrap_or_default())), ..self }
    }

    /// Adds memory per task in small steps until there is `enough`: heap while it is cheap, then also fewer
    /// cores.
    pub(crate) fn grown_until(self, enough: impl Fn(Self) -> bool) -> Self {
        let heap = |gib: u64| (Some(Bytes::from_mib(gib * 1024)), None);
        let cores = |cores: u32| (None, Some(cores));
        let steps = [heap(4), cores(4), heap(6), cores(3), heap(8), cores(2), heap(10)];
        let mut size = self;
        for (heap, cores) in steps {
            if enough(size) {
                break;
            }
            size.heap = size.heap.max(heap.unwrap_or_default());
            if let Some(cores) = cores.filter(|_| size.cores_can_change) {
                size.cores = size.cores.min(cores);
            }
        }
        size
    }
}

/// The same for a driver, whose use is measured more rarely.
pub(crate) fn driver_heap_for(peak: Bytes, room: f64) -> Bytes {
    let needed = Bytes::from_f64((peak + RESERVED_MEMORY).as_f64() * room).unwrap_or(peak);
    Bytes::from_mib(needed.get().div_ceil(Bytes::PER_MIB))
}

/// The value of a setting that is a whole number above 0; `None` if it is not set, even if it has a default.
pub(crate) fn in_force(app: &Application, key: ConfKey) -> Option<u64> {
    app.conf.integer(key).and_then(|set| u64::try_from(set).ok()).filter(|&set| set > 0)
}

/// The number of tasks after a shuffle of Spark SQL.
pub(crate) fn shuffle_partitions(app: &Application) -> u64 {
    in_force(app, ConfKey::ShufflePartitions).unwrap_or(SHUFFLE_PARTITIONS)
}

/// The smallest heap that would have been enough for the measured use, with Spark's division into execution
/// and storage; `None` without measurements, or where memory was short: then the highest use was not measured. What full
/// collections left in use, by GC logs, wins over peaks, which contain garbage.
pub(crate) fn heap_that_fits(app: &Application, spark: &Spark) -> Option<Bytes> {
    if was_short(app, spark) || doubt_of_heaps(app).is_some() {
        return None;
    }
    let needed = match heap_floor(app, spark) {
        Some(floor) => heap_for_floor(floor),
        None => heap_for(peak_heap(spark)?),
    };
    let unified = workers(spark).filter_map(|worker| worker.peaks.unified()).max().unwrap_or_default();
    let fraction = app.conf.fraction(ConfKey::MemoryFraction).unwrap_or(MEMORY_FRACTION);
    let unified = Bytes::from_f64(unified.as_f64() * ROOM / fraction).unwrap_or_default() + RESERVED_MEMORY;
    Some(rounded_up(needed.max(unified)))
}

/// The same if it is smaller than `heap` by this share of it.
pub(crate) fn smaller_heap(app: &Application, spark: &Spark, heap: Bytes, gain: f64) -> Option<Bytes> {
    let most = heap.as_f64() * (1.0 - gain);
    heap_that_fits(app, spark).filter(|fits| *fits < heap && fits.as_f64() <= most)
}

/// Whether a heap must stay as it is: no heap that is smaller by the share `gain` would be enough, and no more tasks
/// fit into it. True if memory was short; otherwise false without measurements.
pub(crate) fn is_needed(app: &Application, spark: &Spark, heap: Bytes, gain: f64) -> bool {
    if was_short(app, spark) {
        return true;
    }
    let stays = heap_that_fits(app, spark).is_some() && smaller_heap(app, spark, heap, gain).is_none();
    stays && !twice_the_tasks_fit(app, spark)
}

/// Why a heap stays as it is.
pub(crate) fn why_needed(app: &Application, spark: &Spark) -> &'static str {
    if was_short(app, spark) { SHORT } else { NEEDED }
}

/// Whether executors or tasks of the application ended for lack of memory.
pub(crate) fn is_short_of_memory(app: &Application) -> bool {
    spark(app).is_some_and(|spark| was_short(app, spark))
}

/// Whether twice as many tasks at a time fit into the memory of each executor: its execution and storage memory, and its heap,
/// where their peaks are known. The largest peak of a single task counts for each of them.
pub(crate) fn twice_the_tasks_fit(app: &Application, spark: &Spark) -> bool {
    let fits = |now: Option<Bytes>, size: Option<Bytes>| {
        now.zip(size).is_none_or(|(now, size)| now.as_f64() * 2.0 <= size.as_f64())
    };
    let of_task = |slots: u64| {
        let peak = largest_task_peak(app)?;
        Some(Bytes::new(peak.get().saturating_mul(slots)))
    };
    !was_short(app, spark)
        && doubt_of_heaps(app).is_none()
        && workers(spark).all(|worker| {
            let unified = worker.peaks.unified().max(of_task(slots(app, worker)));
            fits(unified, worker.storage.total)
                && fits(worker.peaks.heap(), Some(heap_of(app, spark, worker)))
        })
}

/// The largest peak that a task reports. Polls miss short peaks; tasks do not.
pub(crate) fn largest_task_peak(app: &Application) -> Option<Bytes> {
    let attempts = app.groups.iter().map(|group| &group.attempts);
    attempts
        .flat_map(|attempts| {
            (0..attempts.len()).filter_map(|row| attempts.bytes(row, Counter::PeakExecutionMemory))
        })
        .max()
}

/// The recommended overhead after containers were killed because of memory.
pub(crate) fn more_overhead(app: &Advised<'_>) -> Bytes {
    rounded_up(overhead(app) + app.advice.more_overhead.bytes())
}

/// Twice as many executors at a time; `None` if no setting bounds their number.
pub(crate) fn more_executors(app: &Application, spark: &Spark) -> Option<SettingChange> {
    // Each would take a GPU, of which there may be no more.
    if Limited::of(app).is_some() {
        return None;
    }
    let most = max_executors(&spark.executors).max(1);
    let dynamic = app.allocates_dynamically();
    let standalone = ClusterManager::of_application(app) == Some(ClusterManager::Standalone);
    let key = match dynamic {
        true => ConfKey::DynamicAllocationMax,
        // A standalone cluster gives all its cores, or this many.
        false if standalone => ConfKey::CoresMax,
        false => ConfKey::ExecutorInstances,
    };
    let now = in_force(app, key);
    let bounds = match key {
        // A maximum that was not reached is not the limit.
        ConfKey::DynamicAllocationMax => now.is_some_and(|now| now <= most),
        ConfKey::CoresMax => now.is_some(),
        _ => !is_local(app, spark),
    };
    let more = if key == ConfKey::CoresMax { now.unwrap_or(1) } else { most.max(now.unwrap_or(0)) };
    bounds.then(|| change(app, key, more.saturating_mul(2)))
}

/// Twice as many cores in local mode, where only the master URL says how many there are.
pub(crate) fn more_local_cores(app: &Application, slots: u64) -> Option<SettingChange> {
    let master = app.conf.text(ConfKey::SparkMaster)?;
    let is_fixed = master.starts_with("local") && !master.contains('*');
    is_fixed.then(|| change(app, ConfKey::SparkMaster, format!("local[{}]", slots.saturating_mul(2))))
}

/// Advice against garbage collection and out-of-memory errors.
pub(crate) fn more_heap_advice(app: &Application, spark: &Spark) -> Vec<Advice> {
    let now = ExecutorSize::now(app, spark);
    let more = now.more_heap_per_task().with_room(now, peak_heap(spark));
    let settings = resized(app, spark, now, more);
    if settings.is_empty() {
        return vec!["give each task less data: more partitions, fewer columns, less cached data".into()];
    }
    let what = if more.cores == now.cores { "give tasks more heap" } else { "run fewer tasks per heap" };
    vec![Advice::new(what).set_for_first(settings)]
}

/// Advice against tasks that got none of the memory that execution and storage share. A share of the heap below Spark's own
/// leaves it unused.
pub(crate) fn more_execution_memory(app: &Application, spark: &Spark) -> Vec<Advice> {
    let Some(fraction) = app.conf.fraction(ConfKey::MemoryFraction).filter(|set| *set < MEMORY_FRACTION)
    else {
        return more_heap_advice(app, spark);
    };
    let now = ExecutorSize::now(app, spark);
    let left = Bytes::from_f64(now.unified_per_task(fraction)).unwrap_or_default();
    let what = format!("use Spark's usual share of the heap: this one leaves {left} to each task");
    let mut advice = vec![Advice::new(what).set([change(app, ConfKey::MemoryFraction, MEMORY_FRACTION)])];
    if fraction * 2.0 > MEMORY_FRACTION {
        advice.extend(more_heap_advice(app, spark));
    }
    advice
}

/// The settings for executors of another size. If they have fewer cores, there are more executors, so that as many
/// tasks run at once.
pub(crate) fn resized(
    app: &Application,
    spark: &Spark,
    now: ExecutorSize,
    to: ExecutorSize,
) -> Vec<SettingChange> {
    let mut settings = Vec::new();
    if to.heap != now.heap {
        settings.push(change(app, heap_key(app, spark), Setting(to.heap)));
    }
    if to.cores != now.cores {
        settings.push(change(app, ConfKey::ExecutorCores, to.cores));
        settings.extend(same_parallelism(app, spark, now.cores, to.cores));
    }
    settings
}

/// More executors, in proportion to the fewer cores of each; `None` if no setting bounds their number.
fn same_parallelism(app: &Application, spark: &Spark, cores: u32, fewer: u32) -> Option<SettingChange> {
    let dynamic = app.allocates_dynamically();
    let key = if dynamic { ConfKey::DynamicAllocationMax } else { ConfKey::ExecutorInstances };
    let standalone = ClusterManager::of_application(app) == Some(ClusterManager::Standalone);
    let bounds = |&now: &u64| {
        if dynamic { now <= max_executors(&spark.executors) } else { !standalone && !is_local(app, spark) }
    };
    let now = in_force(app, key).filter(bounds)?;
    Some(change(app, key, now.saturating_mul(u64::from(cores)).div_ceil(u64::from(fewer.max(1)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(gib: u64, cores: u32) -> ExecutorSize {
        ExecutorSize { heap: Bytes::from_mib(gib * 1024), cores, cores_can_change: true }
    }

    #[test]
    fn each_task_gets_more_heap() {
        for (before, after) in [
            (size(8, 7), size(8, 4)),
            (size(2, 4), size(4, 4)),
            (size(6, 4), size(9, 4)),
            (size(9, 4), size(9, 2)),
            (size(12, 2), size(15, 2)),
            (size(32, 2), size(32, 2)),
        ] {
            assert_eq!(before.more_heap_per_task(), after);
        }
        let local = ExecutorSize { cores_can_change: false, ..size(9, 8) };
        assert_eq!(local.more_heap_per_task().cores, 8);
        assert!(local.more_heap_per_task().heap > local.heap);
    }

    #[test]
    fn steps_only_add() {
        let large = size(20, 1);
        assert_eq!(large.grown_until(|_| false), large);
        assert_eq!(size(2, 8).grown_until(|_| false), size(10, 2));
        assert_eq!(size(2, 8).grown_until(|size| size.heap >= Bytes::from_mib(4096)), size(4, 8));
    }
}
