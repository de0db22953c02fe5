//! The recommended heap, container and sort buffer of a role: the same answer for every rule that advises on them.

use super::containers::{container_for, largest_container};
use super::counters::{is_unreadable, run_time};
use super::java_opts::JvmOptions;
use super::role::Role;
use super::sort_buffer::SortBuffer;
use elephant_base::units::Bytes;
use elephant_catalogue::Advised;
use elephant_model::engine_facts::hadoop::{HEAP_ROUNDING, HEAP_SHARE};
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::{TaskGroup, TaskKind};
use elephant_model::model::{Application, Collector};
use elephant_rule::finding::SettingChange;
use elephant_rule::wording::change;

/// The memory that the tasks of a role use, and the recommended heap.
pub(in crate::mapreduce) struct Heap {
    /// The effective limit: `-Xmx`, or the heap that the JVMs had committed.
    pub(in crate::mapreduce) limit: Option<Bytes>,
    /// The highest resident memory of any task.
    pub(in crate::mapreduce) peak: Option<Bytes>,
    /// The recommended limit, if tasks fill their heap and collect garbage all the time, or if a larger sort buffer
    /// does not fit.
    pub(in crate::mapreduce) larger: Option<Bytes>,
    /// Whether tasks fill their heap and collect garbage all the time.
    pub(in crate::mapreduce) is_full: bool,
    /// Whether they do, and the cluster grants no larger containers.
    pub(in crate::mapreduce) is_largest: bool,
    /// The sort buffer that avoids repeated spills.
    pub(in crate::mapreduce) sort: Option<SortBuffer>,
    /// The JVM options of this role.
    pub(in crate::mapreduce) options: JvmOptions,
    /// The tasks that have a container of their own; `None` if they share that of the application master.
    kind: Option<TaskKind>,
    /// The setting of its container.
    size: ConfKey,
    /// The setting of its JVM options.
    java_opts: ConfKey,
}

impl Heap {
    pub(in crate::mapreduce) fn of(app: &Advised<'_>, role: Role, group: &TaskGroup) -> Self {
        let largest = |counter| {
            let rows = group.winners().filter(|_| !is_unreadable(group, &[counter]));
            rows.filter_map(|row| group.attempts.bytes(row, counter)).max()
        };
        let known = |bytes: &Bytes| bytes.get() > 0;
        // Tasks of an uberized job run in the application master. Whether its heap should grow is unknown: its
        // collections are those of map and reduce tasks together.
        let is_uber = app.uberized == Some(true);
        let (java_opts, options, size) = if is_uber {
            (ConfKey::MasterJavaOpts, JvmOptions::of_master(app), ConfKey::MasterMemoryMb)
        } else {
            (role.java_opts(), JvmOptions::of(app, role), role.memory())
        };
        let set = if is_uber { app.conf.heap_limit(java_opts) } else { app.task_heap(role.kind()) };
        let limit = set.or_else(|| largest(Counter::CommittedHeapBytes)).filter(known);
        let peak = largest(Counter::PhysicalMemoryBytes).max(largest(Counter::PeakPhysicalMemoryBytes));
        let peak = peak.filter(known);
        // Without a limit, the peak is the best estimate of the heap size.
        let base = limit.or(peak);
        let full = peak
            .zip(base)
            .is_none_or(|(peak, base)| peak.as_f64() >= app.advice.full_heap.get() * base.as_f64());
        let half_more = |base: Bytes| Bytes::from_mib(base.whole_mib().saturating_mul(3).div_ceil(2).max(1));
        let by_gc = base
            .filter(|_| !is_uber && full && collects_much(app, group, app.advice.collecting.get()))
            .map(half_more);
        let wanted = by_gc.map(|larger| at_most_the_largest(app, larger));
        let grows = |larger: &Bytes| {
            base.is_none_or(|base| {
                larger.as_f64() >= (1.0 + app.advice.least_heap_growth.get()) * base.as_f64()
            })
        };
        let by_gc = wanted.filter(grows);
        let sort = SortBuffer::of(app, role, group);
        let has_room = |sort: &SortBuffer| {
            by_gc.is_none() && peak.zip(limit).is_some_and(|(peak, limit)| sort.floor(peak) <= limit)
        };
        let by_sort = sort.filter(|sort| !is_uber && !has_room(sort)).zip(by_gc.or(base));
        let by_sort = by_sort.map(|(sort, base)| sort.floor(base));
        Self {
            limit,
            peak,
            larger: by_gc.max(by_sort),
            is_full: by_gc.is_some(),
            is_largest: wanted.is_some() && by_gc.is_none(),
            sort,
            options,
            kind: (!is_uber).then(|| role.kind()),
            size,
            java_opts,
        }
    }

    /// The heap of the application master of an uberized job, which runs all its tasks.
    pub(in crate::mapreduce) fn of_master(app: &Advised<'_>) -> Self {
        let of = |role: Role| Some(Self::of(app, role, app.group(role.kind())?));
        let [map, reduce] = [Role::Map, Role::Reduce].map(of);
        let peak = [&map, &reduce].into_iter().filter_map(|heap| heap.as_ref()?.peak).max();
        let sort = map.and_then(|heap| heap.sort);
        let java_opts = ConfKey::MasterJavaOpts;
        let limit = app.conf.heap_limit(java_opts).filter(|limit| limit.get() > 0);
        let options = JvmOptions::of_master(app);
        let size = ConfKey::MasterMemoryMb;
        Self {
            limit,
            peak,
            larger: None,
            is_full: false,
            is_largest: false,
            sort,
            options,
            kind: None,
            size,
            java_opts,
        }
    }

    /// The limit that the job set.
    pub(in crate::mapreduce) fn set_limit(&self, app: &Application) -> Option<Bytes> {
        app.conf.heap_limit(self.java_opts)
    }

    /// The least memory of a task: its peak, with the larger sort buffer.
    pub(in crate::mapreduce) fn least(&self) -> Option<Bytes> {
        let peak = self.peak?;
        Some(self.sort.map_or(peak, |sort| sort.floor(peak)))
    }

    /// Whether the heap, or the larger one, is known to hold this sort buffer.
    pub(in crate::mapreduce) fn holds(&self, sort: SortBuffer) -> bool {
        let has_room = self.peak.zip(self.limit).is_some_and(|(peak, limit)| sort.floor(peak) <= limit);
        has_room || (self.larger.is_some() && self.sort.is_some())
    }

    /// The container that the larger heap requires.
    pub(in crate::mapreduce) fn container(&self, app: &Advised<'_>) -> Option<Bytes> {
        Some(container_for_heap(app, self.larger?))
    }

    /// The settings of the larger heap and of the container that it requires; none if the heap need not grow.
    pub(in crate::mapreduce) fn growth(&self, app: &Advised<'_>) -> Vec<SettingChange> {
        let heap = self.larger.map(|larger| self.options.with_heap(larger));
        let now = self.kind.map_or_else(|| app.conf.mebibytes(self.size), |kind| app.task_container(kind));
        let is_unlimited = self.kind.is_some_and(|kind| app.task_memory_is_unlimited(kind));
        let grows = |needed: &Bytes| !is_unlimited && now.is_none_or(|now| now < *needed);
        let container = self.container(app).filter(grows);
        let container = container.map(|container| change(app, self.size, container.whole_mib()));
        heap.into_iter().chain(container).collect()
    }
}

/// A heap, but none larger than the largest container has room for.
pub(in crate::mapreduce) fn at_most_the_largest(app: &Application, heap: Bytes) -> Bytes {
    let most = largest_container(app).and_then(|most| Bytes::from_f64(most.as_f64() * HEAP_SHARE));
    most.map_or(heap, |most| heap.min(most))
}

/// The container for a heap. Sizes in MiB are rounded, so one that is too small by a MiB or two is not doubled for it.
pub(in crate::mapreduce) fn container_for_heap(app: &Advised<'_>, heap: Bytes) -> Bytes {
    let needed = Bytes::from_f64(heap.as_f64() / HEAP_SHARE * (1.0 - HEAP_ROUNDING)).unwrap_or(heap);
    container_for(app, needed)
}

/// Whether the tasks together spent at least the share `from` of their run time in garbage collection.
fn collects_much(app: &Application, group: &TaskGroup, from: f64) -> bool {
    let is_concurrent = Collector::of_tasks(app, group.kind).is_some_and(Collector::is_concurrent);
    if is_concurrent || is_unreadable(group, &[Counter::GcTimeMillis]) {
        return false;
    }
    let sums = group.winners().filter_map(|row| {
        let gc = group.attempts.counter(row, Counter::GcTimeMillis)?;
        Some((gc as f64, run_time(group, row)? as f64))
    });
    let (gc, run) = sums.fold((0.0, 0.0), |(gc, run), (g, r)| (gc + g, run + r));
    gc > 0.0 && gc >= from * run
}

/// The settings of heaps that are too small, for both roles.
pub(crate) fn larger_heaps(app: &Advised<'_>) -> Vec<SettingChange> {
    let growth = |role: Role| {
        let heap = Heap::of(app, role, app.group(role.kind())?);
        heap.is_full.then(|| heap.growth(app))
    };
    [Role::Map, Role::Reduce].into_iter().filter_map(growth).flatten().collect()
}

/// The settings of a sort buffer that avoids repeated spills, if it is known to fit.
pub(crate) fn larger_sort_buffer(app: &Advised<'_>) -> Vec<SettingChange> {
    let heap = app.group(Role::Map.kind()).map(|group| Heap::of(app, Role::Map, group));
    let fitting = heap.and_then(|heap| Some((heap.sort.filter(|&sort| heap.holds(sort))?, heap)));
    let settings =
        |(sort, heap): (SortBuffer, Heap)| [sort.change(app)].into_iter().chain(heap.growth(app)).collect();
    fitting.map(settings).unwrap_or_default()
}
