//! Executors: lifetimes, sizes, and sums over their tasks.

use super::{ExecutorMetric, Peaks, Rare, Resource, Unsaid};
use crate::model::Symbol;
use crate::model::conf::defaults::HEAP;
use crate::model::counters::CounterMask;
use elephant_base::units::{Bytes, Millis, Timestamp};

/// Storage memory as announced by a block manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StorageMemory {
    /// "Maximum Memory": the memory that execution and storage share.
    pub total: Option<Bytes>,
    /// The part on the heap, since Spark 2.2.
    pub on_heap: Option<Bytes>,
    /// The part off the heap.
    pub off_heap: Option<Bytes>,
    /// Peak of the memory used by cached RDD blocks, as reported by tasks and block updates.
    pub peak_used: Option<Bytes>,
}

impl Unsaid for StorageMemory {
    const UNSAID: &'static Self = &Self { total: None, on_heap: None, off_heap: None, peak_used: None };
}

/// Sums over the task attempts of one executor whose end is in the log. A sum is `None` if no attempt reports
/// the value, or one reports an unreadable value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExecutorTotals {
    /// Task attempts, ended or not.
    pub tasks: u64,
    /// Attempts that succeeded.
    pub succeeded: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Attempts that were killed.
    pub killed: u64,
    /// Launch of the first one.
    pub first_task_at: Option<Timestamp>,
    /// End of the last one.
    pub last_task_at: Option<Timestamp>,
    /// From launch to end over all ended attempts ("totalDuration" of Spark's REST interface).
    pub task_time: Option<Millis>,
    /// "Executor Run Time".
    pub run_time: Option<Millis>,
    /// "Executor CPU Time".
    pub cpu_time: Option<Millis>,
    /// "JVM GC Time".
    pub gc_time: Option<Millis>,
    /// Bytes read from sources and caches.
    pub input: Option<Bytes>,
    /// Bytes written.
    pub output: Option<Bytes>,
    /// Shuffle bytes read, local and remote.
    pub shuffle_read: Option<Bytes>,
    /// Shuffle bytes written.
    pub shuffle_write: Option<Bytes>,
    /// "Memory Bytes Spilled": size in memory of the spilled data.
    pub memory_spilled: Option<Bytes>,
    /// "Disk Bytes Spilled": size on disk of the spilled data.
    pub disk_spilled: Option<Bytes>,
    /// Counters that cannot be read for some attempt.
    pub unreadable: CounterMask,
}

impl Unsaid for Vec<Resource> {
    const UNSAID: &'static Self = &Self::new();
}

impl Unsaid for ExecutorTotals {
    const UNSAID: &'static Self = &Self {
        tasks: 0,
        succeeded: 0,
        failed: 0,
        killed: 0,
        first_task_at: None,
        last_task_at: None,
        task_time: None,
        run_time: None,
        cpu_time: None,
        gc_time: None,
        input: None,
        output: None,
        shuffle_read: None,
        shuffle_write: None,
        memory_spilled: None,
        disk_spilled: None,
        unreadable: CounterMask::NONE,
    };
}

/// One executor, or the driver.
#[derive(Debug, Clone, Default)]
pub struct Executor {
    /// Its id; "driver" for the driver.
    pub id: String,
    /// Its host.
    pub host: Option<Symbol>,
    /// Number of cores.
    pub cores: Option<u32>,
    /// What else it has that tasks take, such as GPUs.
    pub resources: Rare<Vec<Resource>>,
    /// Its resource profile.
    pub resource_profile: Option<u32>,
    /// When it was added; the registration of its block manager if its own event is missing.
    pub added_at: Option<Timestamp>,
    /// When it was removed; `None` if it lived to the end.
    pub removed_at: Option<Timestamp>,
    /// Why it was removed.
    pub removed_reason: Option<String>,
    /// How often it was excluded, for the application or for a stage.
    pub exclusions: u64,
    /// The most task failures that led to an exclusion.
    pub failures_before_exclusion: Option<u64>,
    /// Its storage memory.
    pub storage: Rare<StorageMemory>,
    /// Peaks of its metrics, from heartbeats, tasks and stages.
    pub peaks: Rare<Peaks>,
    /// The sums over its tasks.
    pub totals: Rare<ExecutorTotals>,
}

impl Executor {
    /// Sort key: numeric ids first, by value.
    #[must_use]
    #[doc(hidden)]
    pub fn order(id: &str) -> (u64, &str) {
        (id.parse().unwrap_or(u64::MAX), id)
    }

    /// Makes peaks unknown that are impossible: of the heap, if they are higher than `heap`; of execution and storage
    /// memory, if they are higher than both the block manager's memory and the heap (Spark's default if that is
    /// unknown); and of storage memory on or off the heap, if they are higher than that part of the block manager's
    /// memory.
    #[doc(hidden)]
    pub fn forget_peaks_beyond(&mut self, heap: Option<Bytes>) {
        let beyond =
            |peak: Option<Bytes>, most: Option<Bytes>| peak.zip(most).is_some_and(|(peak, most)| peak > most);
        if beyond(self.peaks.heap(), heap) {
            self.peaks.mark_unreadable_at(ExecutorMetric::JvmHeapMemory as usize);
        }
        let memory = self.storage.total.map(|total| total.max(heap.unwrap_or(HEAP)));
        if beyond(self.peaks.unified(), memory) {
            for metric in [ExecutorMetric::OnHeapUnifiedMemory, ExecutorMetric::OffHeapUnifiedMemory] {
                self.peaks.mark_unreadable_at(metric as usize);
            }
        }
        let parts = [
            (ExecutorMetric::OnHeapStorageMemory, self.storage.on_heap),
            (ExecutorMetric::OffHeapStorageMemory, self.storage.off_heap),
        ];
        for (metric, most) in parts {
            if beyond(self.peaks.measured(metric), most) {
                self.peaks.mark_unreadable_at(metric as usize);
            }
        }
        if beyond(self.peaks.storage(), memory) {
            for metric in [ExecutorMetric::OnHeapStorageMemory, ExecutorMetric::OffHeapStorageMemory] {
                self.peaks.mark_unreadable_at(metric as usize);
            }
        }
    }

    /// Whether it is the driver, which Spark 1 calls "localhost" where it runs the tasks.
    #[must_use]
    #[doc(hidden)]
    pub fn is_driver(&self) -> bool {
        matches!(self.id.as_str(), "driver" | "<driver>" | "localhost")
    }

    /// Whether it was removed for another reason than the application's end or dynamic allocation.
    #[must_use]
    pub fn was_lost(&self) -> bool {
        const PEACEFUL: [&str; 7] = [
            "killed by driver",
            "executor killed by driver",
            "idle",
            "decommission",
            "driver commanded a shutdown",
            "due to scale down",
            // YARN's wording for a container released by dynamic allocation.
            "explicit termination request",
        ];
        // Without a reason, the removal is only partly logged.
        self.removed_at.is_some()
            && self.removed_reason.as_deref().is_some_and(|reason| {
                let reason = reason.to_ascii_lowercase();
                !PEACEFUL.iter().any(|peaceful| reason.contains(peaceful))
            })
    }
}

/// A node or executor that was excluded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// The host or the executor's id.
    pub name: String,
    /// When it was excluded.
    pub at: Option<Timestamp>,
    /// Task failures that led to it.
    pub task_failures: Option<u64>,
    /// Whether the exclusion was lifted later.
    pub lifted: bool,
}
