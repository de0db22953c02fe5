//! Executors, their slots and their memory.

use std::collections::BTreeMap;

use super::super::rng::SplitMix64;
use super::json::Json;

/// Metrics of an executor's process, in Spark's order.
pub(super) const PROCESS_METRICS: [&str; 21] = [
    "JVMHeapMemory",
    "JVMOffHeapMemory",
    "OnHeapExecutionMemory",
    "OffHeapExecutionMemory",
    "OnHeapStorageMemory",
    "OffHeapStorageMemory",
    "OnHeapUnifiedMemory",
    "OffHeapUnifiedMemory",
    "DirectPoolMemory",
    "MappedPoolMemory",
    "ProcessTreeJVMVMemory",
    "ProcessTreeJVMRSSMemory",
    "ProcessTreePythonVMemory",
    "ProcessTreePythonRSSMemory",
    "ProcessTreeOtherVMemory",
    "ProcessTreeOtherRSSMemory",
    "MinorGCCount",
    "MinorGCTime",
    "MajorGCCount",
    "MajorGCTime",
    "TotalGCTime",
];

/// Maxima of [`PROCESS_METRICS`] over a period.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Peaks([i64; 21]);

impl Peaks {
    /// As Spark logs a task whose executor sent no metrics.
    pub(super) fn unknown() -> Self {
        let mut place = 0..;
        Self([(); 21].map(|()| if place.next() == Some(0) { -1 } else { 0 }))
    }

    pub(super) fn of_driver(at: i64, rng: &mut SplitMix64) -> Self {
        let collections = at / 60_000;
        Self::new(rng.within(400 << 20, 900 << 20), 0, 21_731, collections, rng)
    }

    fn new(heap: i64, execution: i64, storage: i64, collections: i64, rng: &mut SplitMix64) -> Self {
        let off_heap = rng.within(110 << 20, 140 << 20);
        let resident = heap + off_heap + (180 << 20);
        let (minor, major) = (collections * 31, collections / 8 * 240);
        Self([
            heap,
            off_heap,
            execution,
            0,
            storage,
            0,
            execution + storage,
            0,
            rng.within(70_000, 90_000),
            0,
            11_074_048_000 + off_heap,
            resident,
            0,
            0,
            0,
            0,
            collections,
            minor,
            collections / 8,
            major,
            minor + major,
        ])
    }

    pub(super) fn raise(&mut self, other: &Self) {
        for (peak, value) in self.0.iter_mut().zip(other.0) {
            *peak = (*peak).max(value);
        }
    }

    pub(super) fn write(&self, key: &str, object: &mut Json) {
        object.object(key, |object| {
            for (name, value) in PROCESS_METRICS.iter().zip(self.0) {
                object.number(name, value);
            }
        });
    }
}

/// A process that runs tasks.
pub(super) struct Executor {
    collections: i64,
}

impl Executor {
    /// Peaks of the executor while a task ran.
    pub(super) fn run(&mut self, peak_memory: i64, rng: &mut SplitMix64) -> Peaks {
        self.collections += 1;
        Peaks::new(rng.within(900 << 20, 3_500 << 20), peak_memory, 41_400, self.collections, rng)
    }
}

/// The current executors and their free cores.
pub(super) struct Cluster {
    cores: u32,
    next: i64,
    executors: BTreeMap<i64, Executor>,
    /// One entry per free core; the last one is taken first.
    free: Vec<i64>,
}

impl Cluster {
    pub(super) fn new(cores: u32) -> Self {
        Self { cores, next: 1, executors: BTreeMap::new(), free: Vec::new() }
    }

    pub(super) fn add(&mut self) -> i64 {
        let id = self.next;
        self.next += 1;
        self.executors.insert(id, Executor { collections: 0 });
        self.free.extend((0..self.cores).map(|_| id));
        id
    }

    pub(super) fn remove(&mut self, executor: i64) {
        self.executors.remove(&executor);
        self.free.retain(|&free| free != executor);
    }

    pub(super) fn cores(&self) -> u32 {
        self.cores
    }

    pub(super) fn take(&mut self) -> Option<i64> {
        self.free.pop()
    }

    pub(super) fn give_back(&mut self, executor: i64) {
        if self.executors.contains_key(&executor) {
            self.free.push(executor);
        }
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = i64> {
        self.executors.keys().copied()
    }

    /// Peaks of the executor while a task with this peak ran.
    pub(super) fn run(&mut self, executor: i64, peak_memory: i64, rng: &mut SplitMix64) -> Option<Peaks> {
        Some(self.executors.get_mut(&executor)?.run(peak_memory, rng))
    }
}

/// Each two executors share a host.
pub(super) fn host(executor: i64) -> String {
    format!("node{:03}", executor / 2)
}
