//! Executor lifetimes: when each executor started and ended, and its size.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::containers::{Containers, manager};
use super::{Cost, SparkMetricParams, shows_all_executors};
use elephant_base::units::{Bytes, CoreMillis, MbMillis, Millis, Timestamp};
use elephant_model::model::spark::{ClusterManager, Executor, ExecutorMetric, NativeEngine, Peaks, Spark};
use elephant_model::model::table::TimePoint;
use elephant_model::model::{Application, Symbol};

/// Lifetime and size of one executor.
pub(super) struct Lifetime<'a> {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
    /// `None` if its size is unknown.
    pub(super) container: Option<Bytes>,
    pub(super) executor: &'a Executor,
    /// The place of the next executor with the same id; ids may be reused.
    next: Option<u32>,
}

/// The lifetimes of all executors, and the driver's container.
pub(super) struct Lifetimes<'a> {
    all: Vec<Lifetime<'a>>,
    /// The first and the last place of each executor id.
    by_executor: FxHashMap<Symbol, (u32, u32)>,
    /// The container of the driver or of YARN's application master; `None` if its size is unknown.
    driver: Option<Bytes>,
    /// The driver's peaks, if it has its own container.
    driver_peaks: Option<&'a Peaks>,
    run_time: Millis,
    /// Whether the heap shows what tasks need.
    shows_needs: bool,
}

impl<'a> Lifetimes<'a> {
    /// `None` if the log does not show all lifetimes completely. Without `params`, sizes are unknown.
    pub(super) fn of(
        app: &'a Application,
        spark: &'a Spark,
        params: Option<&SparkMetricParams>,
    ) -> Option<Self> {
        if !shows_all_executors(spark) {
            return None;
        }
        let (start, end) = (app.submitted_at?, app.finished_at?);
        let containers = params.and_then(|params| Containers::of(app, spark, params));
        let charge_driver = params.is_some_and(|params| params.charge_driver);
        let local = manager(app, spark) == Some(ClusterManager::Local);
        if !local && spark.driver.totals.tasks > 0 {
            return None;
        }
        let mut lifetimes: Vec<Lifetime<'a>> = Vec::with_capacity(spark.executors.len() + 1);
        let mut by_executor: FxHashMap<Symbol, (u32, u32)> = FxHashMap::default();
        let driver = local.then_some(&spark.driver);
        for executor in spark.executors.iter().chain(driver) {
            // The driver exists from the start.
            let from = if executor.id == "driver" { start } else { executor.added_at? };
            let lifetime = Lifetime::of(executor, (from, executor.removed_at), end, containers.as_ref())?;
            if let Some(id) = app.strings.find(&executor.id) {
                let place = u32::try_from(lifetimes.len()).ok()?;
                let (_, last) = by_executor.entry(id).or_insert((place, place));
                if let Some(earlier) = lifetimes.get_mut(*last as usize) {
                    earlier.next = Some(place);
                }
                *last = place;
            }
            lifetimes.push(lifetime);
        }
        let inside = containers.as_ref().is_some_and(Containers::driver_is_inside);
        let driver = match containers {
            _ if !charge_driver => Some(Bytes::default()),
            Some(containers) => containers.driver(),
            None => None,
        };
        let driver_peaks = (inside && charge_driver && !local).then_some(&*spark.driver.peaks);
        Some(Self {
            all: lifetimes,
            by_executor,
            driver,
            driver_peaks,
            run_time: Millis::between(start, end)?,
            shows_needs: NativeEngine::at_work(app).is_none(),
        })
    }

    pub(super) const fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, place: usize) -> Option<&Lifetime<'a>> {
        self.all.get(place)
    }

    /// The place of an executor's lifetime at the time `started`; the first one if that time is before all of them.
    pub(super) fn place(&self, executor: Symbol, started: Timestamp) -> Option<usize> {
        let (mut place, _) = *self.by_executor.get(&executor)?;
        let next = |place: u32| self.all.get(place as usize)?.next;
        while let Some(later) = next(place)
            && self.all.get(later as usize).is_some_and(|lifetime| lifetime.from <= started)
        {
            place = later;
        }
        Some(place as usize)
    }

    /// Memory × time that executors whose start is known held until `end`, and the driver; `removed` tells when an executor
    /// ended, if it ended before. `None` if a size is unknown.
    pub(super) fn used_until(
        (app, spark): (&Application, &Spark),
        params: &SparkMetricParams,
        end: Timestamp,
        removed: &dyn Fn(&Executor) -> Option<Timestamp>,
    ) -> Option<MbMillis> {
        let start = app.submitted_at?;
        let containers = Containers::of(app, spark, params)?;
        let local = manager(app, spark) == Some(ClusterManager::Local);
        if !local && spark.driver.totals.tasks > 0 {
            return None;
        }
        let driver = if params.charge_driver { containers.driver()? } else { Bytes::default() };
        let started = spark.executors.iter().filter_map(|executor| Some((executor, executor.added_at?)));
        let own = local.then_some((&spark.driver, start));
        let executors = started.chain(own).map(|(executor, from)| {
            let lifetime = Lifetime::of(executor, (from, removed(executor)), end, Some(&containers))?;
            Some(MbMillis::of(lifetime.container?, lifetime.length()))
        });
        Some(executors.sum::<Option<MbMillis>>()? + MbMillis::of(driver, Millis::between(start, end)?))
    }

    /// Used memory, and the part above the memory needed.
    pub(super) fn cost(&self, params: &SparkMetricParams) -> Cost {
        let executors: Option<MbMillis> =
            self.all.iter().map(|lifetime| Some(MbMillis::of(lifetime.container?, lifetime.length()))).sum();
        let driver = self.driver.map(|container| MbMillis::of(container, self.run_time));
        let used = executors.zip(driver).map(|(executors, driver)| executors + driver);
        Cost { used, wasted: used.and_then(|_| self.wasted(params)) }
    }

    fn wasted(&self, params: &SparkMetricParams) -> Option<MbMillis> {
        let peaks = self.all.iter().map(|lifetime| &*lifetime.executor.peaks).chain(self.driver_peaks);
        if peaks.into_iter().any(|peaks| peaks.unreadable() > 0) {
            return None;
        }
        // An executor without measurements is assumed to need as much as the one with the largest need among
        // those of its size.
        let needed_by = |executor: &Executor| needed(&executor.peaks, params, self.shows_needs);
        let mut largest_need: BTreeMap<Bytes, Bytes> = BTreeMap::new();
        for lifetime in &self.all {
            if let Some((container, needed)) = lifetime.container.zip(needed_by(lifetime.executor)) {
                let most = largest_need.entry(container).or_default();
                *most = needed.max(*most);
            }
        }
        let executors = self.all.iter().map(|lifetime| {
            let container = lifetime.container?;
            let needed = needed_by(lifetime.executor).or_else(|| largest_need.get(&container).copied());
            Some(excess(container, needed?, params, lifetime.length()))
        });
        let executors: MbMillis = executors.sum::<Option<_>>()?;
        let driver = self.driver.zip(self.driver_peaks.and_then(|peaks| needed(peaks, params, true)));
        let driver = driver.map(|(container, needed)| excess(container, needed, params, self.run_time));
        Some(executors + driver.unwrap_or_default())
    }

    /// Memory × time that executors held after they had been idle for `timeout`. `None` if a size or a time
    /// is unknown.
    pub(super) fn idle_beyond(&self, app: &Application, timeout: Millis) -> Option<MbMillis> {
        let times = self.times_idle_beyond(app, timeout)?;
        let held = self.all.iter().zip(times).map(|(it, time)| Some(MbMillis::of(it.container?, time)));
        held.sum()
    }

    /// The idle time after `timeout`, as a share of the time of all executors.
    pub(super) fn share_idle_beyond(&self, app: &Application, timeout: Millis) -> Option<f64> {
        let idle: Millis = self.times_idle_beyond(app, timeout)?.into_iter().sum();
        let all: Millis = self.all.iter().map(Lifetime::length).sum();
        (all > Millis::ZERO).then(|| idle.as_f64() / all.as_f64())
    }

    /// How long each executor stayed idle after `timeout` without a task.
    fn times_idle_beyond(&self, app: &Application, timeout: Millis) -> Option<Vec<Millis>> {
        let mut busy: Vec<Vec<(Timestamp, Timestamp)>> = self.all.iter().map(|_| Vec::new()).collect();
        for group in &app.groups {
            let attempts = &group.attempts;
            for row in 0..attempts.len() {
                let start = attempts.time(row, TimePoint::Start)?;
                let place = self.place(attempts.executor(row)?, start)?;
                // An attempt without an end ran as long as its executor.
                let end = attempts.time(row, TimePoint::Finish).or_else(|| Some(self.all.get(place)?.to))?;
                busy.get_mut(place)?.push((start, end));
            }
        }
        let mut times = Vec::with_capacity(busy.len());
        for (lifetime, mut busy) in self.all.iter().zip(busy) {
            busy.sort_unstable();
            let (mut since, mut time) = (lifetime.from, Millis::ZERO);
            for (start, end) in busy.into_iter().chain([(lifetime.to, lifetime.to)]) {
                let gap = Millis::between(since, start.min(lifetime.to)).unwrap_or_default();
                time = time + Millis::new(gap.get().saturating_sub(timeout.get()));
                since = since.max(end);
            }
            times.push(time);
        }
        Some(times)
    }

    /// Core time held by executors.
    pub(super) fn cores(&self) -> Option<CoreMillis> {
        self.cores_of_each().sum()
    }

    /// The same for each executor, in the order of their places.
    pub(super) fn cores_of_each(&self) -> impl Iterator<Item = Option<CoreMillis>> {
        let held = |lifetime: &Lifetime<'_>| {
            Some(CoreMillis::of(u64::from(lifetime.executor.cores?) * 1000, lifetime.length()))
        };
        self.all.iter().map(held)
    }
}

impl<'a> Lifetime<'a> {
    /// `None` if the clock was set back. An executor ends with its application at the latest.
    fn of(
        executor: &'a Executor,
        (from, removed): (Timestamp, Option<Timestamp>),
        end: Timestamp,
        containers: Option<&Containers<'_>>,
    ) -> Option<Self> {
        let to = removed.map_or(end, |removed| removed.min(end));
        let from = from.min(end);
        Millis::between(from, to)?;
        Some(Self {
            from,
            to,
            container: containers.and_then(|containers| containers.executor(executor.resource_profile)),
            executor,
            next: None,
        })
    }

    fn length(&self) -> Millis {
        Millis::between(self.from, self.to).unwrap_or_default()
    }

    /// How much of a time span is within the lifetime.
    pub(super) fn part_of(&self, start: Timestamp, finish: Option<Timestamp>) -> Millis {
        let finish = finish.map_or(self.to, |finish| finish.min(self.to));
        Millis::between(start.max(self.from), finish).unwrap_or_default()
    }
}

fn excess(container: Bytes, needed: Bytes, params: &SparkMetricParams, time: Millis) -> MbMillis {
    let allowed = Bytes::from_f64(needed.as_f64() * params.memory_allowance.get()).unwrap_or(container);
    MbMillis::of(container - allowed, time)
}

/// The measured memory: the process tree, otherwise the JVM's heap and Spark's off-heap memory.
pub(super) fn needed(peaks: &Peaks, params: &SparkMetricParams, by_heap: bool) -> Option<Bytes> {
    let heap = || {
        let reserved = Bytes::from_f64(params.reserved_memory.get())?;
        let off_heap = peaks.measured(ExecutorMetric::OffHeapUnifiedMemory).unwrap_or_default();
        Some(peaks.heap()? + reserved + off_heap)
    };
    peaks.resident().or_else(|| heap().filter(|_| by_heap))
}
