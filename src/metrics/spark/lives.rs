//! The lives of executors: from when to when they held how much.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::containers::{Containers, manager};
use super::{Cost, SparkMetricParams, shows_all_executors};
use crate::model::spark::{ClusterManager, Executor, ExecutorMetric, Peaks, Spark};
use crate::model::{Application, Symbol};
use crate::units::{Bytes, CoreMillis, MbMillis, Millis, Timestamp};

/// What one executor held, and for how long.
pub(super) struct Life<'a> {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
    /// `None` where its size is unknown.
    pub(super) container: Option<Bytes>,
    pub(super) cores: Option<u32>,
    peaks: &'a Peaks,
}

/// All that ran tasks, and the driver's container.
pub(super) struct Lives<'a> {
    all: Vec<Life<'a>>,
    /// Places in `all` by the executor's id; an id may be used again.
    by_executor: FxHashMap<Symbol, Vec<usize>>,
    /// The container of the driver or of YARN's master; `None` where its size is unknown.
    driver: Option<Bytes>,
    /// The driver's peaks, where the container is its own.
    driver_peaks: Option<&'a Peaks>,
    run_time: Millis,
}

impl<'a> Lives<'a> {
    /// `None` where the log does not tell all lives from beginning to end.
    pub(super) fn of(app: &'a Application, spark: &'a Spark, params: &SparkMetricParams) -> Option<Self> {
        if !shows_all_executors(spark) {
            return None;
        }
        let (start, end) = (app.submitted_at?, app.finished_at?);
        let containers = Containers::of(app, spark, params);
        let local = manager(app, spark) == Some(ClusterManager::Local);
        if !local && spark.driver.totals.tasks > 0 {
            return None;
        }
        let mut lives = Vec::with_capacity(spark.executors.len() + 1);
        let mut by_executor: FxHashMap<Symbol, Vec<usize>> = FxHashMap::default();
        let driver = local.then_some(&spark.driver);
        for executor in spark.executors.iter().chain(driver) {
            // The driver is there from the start.
            let from = if executor.id == "driver" { start } else { executor.added_at? };
            let life = Life::of(executor, from, end, containers.as_ref())?;
            if let Some(id) = app.strings.find(&executor.id) {
                by_executor.entry(id).or_default().push(lives.len());
            }
            lives.push(life);
        }
        let inside = containers.as_ref().is_some_and(Containers::driver_is_inside);
        let driver = match containers {
            _ if !params.charge_driver => Some(Bytes::default()),
            Some(containers) => containers.driver(),
            None => None,
        };
        let driver_peaks = (inside && params.charge_driver && !local).then_some(&spark.driver.peaks);
        Some(Self { all: lives, by_executor, driver, driver_peaks, run_time: Millis::between(start, end)? })
    }

    /// The life of an executor in which something started; the first one where it started before all.
    pub(super) fn find(&self, executor: Symbol, started: Timestamp) -> Option<&Life<'a>> {
        let places = self.by_executor.get(&executor)?;
        let mut lives = places.iter().filter_map(|&place| self.all.get(place));
        let first = lives.next()?;
        Some(lives.take_while(|life| life.from <= started).last().unwrap_or(first))
    }

    /// Memory used, and the part of it above what was needed.
    pub(super) fn cost(&self, params: &SparkMetricParams) -> Cost {
        let executors: Option<MbMillis> =
            self.all.iter().map(|life| Some(MbMillis::of(life.container?, life.length()))).sum();
        let driver = self.driver.map(|container| MbMillis::of(container, self.run_time));
        let used = executors.zip(driver).map(|(executors, driver)| executors + driver);
        Cost { used, wasted: used.and_then(|_| self.wasted(params)) }
    }

    fn wasted(&self, params: &SparkMetricParams) -> Option<MbMillis> {
        let peaks = self.all.iter().map(|life| life.peaks).chain(self.driver_peaks);
        if peaks.into_iter().any(|peaks| peaks.unreadable() > 0) {
            return None;
        }
        // An executor of which nothing was measured is taken to need what the neediest of its size needed.
        let mut neediest: BTreeMap<Bytes, Bytes> = BTreeMap::new();
        for life in &self.all {
            if let Some((container, needed)) = life.container.zip(needed(life.peaks, params)) {
                let most = neediest.entry(container).or_default();
                *most = needed.max(*most);
            }
        }
        let executors = self.all.iter().map(|life| {
            let container = life.container?;
            let needed = needed(life.peaks, params).or_else(|| neediest.get(&container).copied());
            Some(excess(container, needed?, params, life.length()))
        });
        let executors: MbMillis = executors.sum::<Option<_>>()?;
        let driver = self.driver.zip(self.driver_peaks.and_then(|peaks| needed(peaks, params)));
        let driver = driver.map(|(container, needed)| excess(container, needed, params, self.run_time));
        Some(executors + driver.unwrap_or_default())
    }

    /// The cores that executors held.
    pub(super) fn cores(&self) -> Option<CoreMillis> {
        let held = |life: &Life<'_>| Some(CoreMillis::of(u64::from(life.cores?) * 1000, life.length()));
        self.all.iter().map(held).sum()
    }
}

impl<'a> Life<'a> {
    /// `None` where the clock ran backwards. An executor goes with its application at the latest.
    fn of(
        executor: &'a Executor,
        from: Timestamp,
        end: Timestamp,
        containers: Option<&Containers<'_>>,
    ) -> Option<Self> {
        let to = executor.removed_at.map_or(end, |removed| removed.min(end));
        let from = from.min(end);
        Millis::between(from, to)?;
        Some(Self {
            from,
            to,
            container: containers.and_then(|containers| containers.executor(executor.resource_profile)),
            cores: executor.cores,
            peaks: &executor.peaks,
        })
    }

    fn length(&self) -> Millis {
        Millis::between(self.from, self.to).unwrap_or_default()
    }

    /// How much of a span lies within the life.
    pub(super) fn part_of(&self, start: Timestamp, finish: Option<Timestamp>) -> Millis {
        let finish = finish.map_or(self.to, |finish| finish.min(self.to));
        Millis::between(start.max(self.from), finish).unwrap_or_default()
    }
}

fn excess(container: Bytes, needed: Bytes, params: &SparkMetricParams, time: Millis) -> MbMillis {
    let allowed = Bytes::from_f64(needed.as_f64() * params.memory_allowance.get()).unwrap_or(container);
    MbMillis::of(container - allowed, time)
}

/// What was measured: the process tree, else the JVM's heap and Spark's memory off it.
pub(super) fn needed(peaks: &Peaks, params: &SparkMetricParams) -> Option<Bytes> {
    let heap = || {
        let reserved = Bytes::from_f64(params.reserved_memory.get())?;
        let off_heap = peaks.measured(ExecutorMetric::OffHeapUnifiedMemory).unwrap_or_default();
        Some(peaks.heap()? + reserved + off_heap)
    };
    peaks.resident().or_else(heap)
}
