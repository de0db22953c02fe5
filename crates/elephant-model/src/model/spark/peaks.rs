//! The peaks of what executors measure.

use super::Unsaid;
use elephant_base::units::Bytes;

macro_rules! executor_metrics {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)+) => {
        /// A metric that executors report with heartbeats since Spark 3.0 (`ExecutorMetricType`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum ExecutorMetric { $($(#[$doc])* $variant,)+ }

        impl ExecutorMetric {
            /// Every metric, in the order in which Spark logs them.
            pub const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];

            /// The name in event logs.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

executor_metrics! {
    /// Heap in use, in bytes.
    JvmHeapMemory = "JVMHeapMemory";
    /// Memory of the JVM outside its heap, in bytes.
    JvmOffHeapMemory = "JVMOffHeapMemory";
    /// Execution memory on the heap, in bytes.
    OnHeapExecutionMemory = "OnHeapExecutionMemory";
    /// Execution memory off the heap, in bytes.
    OffHeapExecutionMemory = "OffHeapExecutionMemory";
    /// Storage memory on the heap, in bytes.
    OnHeapStorageMemory = "OnHeapStorageMemory";
    /// Storage memory off the heap, in bytes.
    OffHeapStorageMemory = "OffHeapStorageMemory";
    /// Execution and storage memory on the heap together, in bytes.
    OnHeapUnifiedMemory = "OnHeapUnifiedMemory";
    /// Execution and storage memory off the heap together, in bytes.
    OffHeapUnifiedMemory = "OffHeapUnifiedMemory";
    /// Direct buffers, in bytes.
    DirectPoolMemory = "DirectPoolMemory";
    /// Mapped buffers, in bytes.
    MappedPoolMemory = "MappedPoolMemory";
    /// Address space of the JVM, in bytes; 0 where process tree metrics are off.
    ProcessTreeJvmVMemory = "ProcessTreeJVMVMemory";
    /// Resident memory of the JVM, in bytes; 0 where process tree metrics are off.
    ProcessTreeJvmRssMemory = "ProcessTreeJVMRSSMemory";
    /// Address space of Python workers, in bytes.
    ProcessTreePythonVMemory = "ProcessTreePythonVMemory";
    /// Resident memory of Python workers, in bytes.
    ProcessTreePythonRssMemory = "ProcessTreePythonRSSMemory";
    /// Address space of other children, in bytes.
    ProcessTreeOtherVMemory = "ProcessTreeOtherVMemory";
    /// Resident memory of other children, in bytes.
    ProcessTreeOtherRssMemory = "ProcessTreeOtherRSSMemory";
    /// Number of minor collections.
    MinorGcCount = "MinorGCCount";
    /// Time of minor collections, in milliseconds.
    MinorGcTime = "MinorGCTime";
    /// Number of major collections.
    MajorGcCount = "MajorGCCount";
    /// Time of major collections, in milliseconds.
    MajorGcTime = "MajorGCTime";
    /// Time of all collections, in milliseconds.
    TotalGcTime = "TotalGCTime";
    /// Number of concurrent collections (Spark 4).
    ConcurrentGcCount = "ConcurrentGCCount";
    /// Time of concurrent collections, in milliseconds (Spark 4).
    ConcurrentGcTime = "ConcurrentGCTime";
}

impl ExecutorMetric {
    /// Number of metrics.
    pub const COUNT: usize = Self::ALL.len();
}

/// The peak of each executor metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peaks {
    /// −1 if there is none, as in Spark; [`UNREADABLE`] if a value could not be read.
    values: [i64; ExecutorMetric::COUNT],
}

/// Higher than any value, so that no later value hides it.
const UNREADABLE: i64 = i64::MAX;

impl Unsaid for Peaks {
    const UNSAID: &'static Self = &Self { values: [-1; ExecutorMetric::COUNT] };
}

impl Default for Peaks {
    fn default() -> Self {
        *Self::UNSAID
    }
}

impl Peaks {
    /// The peak of `metric`; `None` if the log has none, or one that cannot be read.
    #[must_use]
    pub fn get(&self, metric: ExecutorMetric) -> Option<u64> {
        let value = self.values.get(metric as usize).filter(|value| **value != UNREADABLE);
        value.and_then(|&value| u64::try_from(value).ok())
    }

    /// Number of metrics with unreadable values, whose peaks are unknown.
    #[must_use]
    #[doc(hidden)]
    pub fn unreadable(&self) -> usize {
        self.values.iter().filter(|value| **value == UNREADABLE).count()
    }

    /// The peaks of `metrics`, to be added up; `None` if one of them is unreadable.
    fn readable<const N: usize>(&self, metrics: [ExecutorMetric; N]) -> Option<[Option<u64>; N]> {
        let all = metrics.iter().all(|metric| self.values.get(*metric as usize) != Some(&UNREADABLE));
        all.then(|| metrics.map(|metric| self.get(metric)))
    }

    /// As [`Peaks::get`], but 0 is `None`, because Spark logs 0 for a metric that it does not measure.
    #[must_use]
    #[doc(hidden)]
    pub fn measured(&self, metric: ExecutorMetric) -> Option<Bytes> {
        self.get(metric).filter(|&value| value > 0).map(Bytes::new)
    }

    /// Peak of the used heap.
    #[must_use]
    pub fn heap(&self) -> Option<Bytes> {
        self.measured(ExecutorMetric::JvmHeapMemory)
    }

    /// Peak of execution and storage memory, on and off the heap together.
    #[must_use]
    #[doc(hidden)]
    pub fn unified(&self) -> Option<Bytes> {
        self.on_and_off(ExecutorMetric::OnHeapUnifiedMemory, ExecutorMetric::OffHeapUnifiedMemory)
    }

    /// Peak of storage memory, on and off the heap together.
    #[must_use]
    #[doc(hidden)]
    pub fn storage(&self) -> Option<Bytes> {
        self.on_and_off(ExecutorMetric::OnHeapStorageMemory, ExecutorMetric::OffHeapStorageMemory)
    }

    fn on_and_off(&self, on: ExecutorMetric, off: ExecutorMetric) -> Option<Bytes> {
        let [on, off] = self.readable([on, off])?;
        if on.is_none() && off.is_none() {
            return None;
        }
        Some(Bytes::new(on.unwrap_or_default().saturating_add(off.unwrap_or_default())))
    }

    /// Peak of the resident memory of the process tree: the sum of the peaks of its parts, so never too low;
    /// `None` if it was not measured.
    #[must_use]
    #[doc(hidden)]
    pub fn resident(&self) -> Option<Bytes> {
        let jvm = self.measured(ExecutorMetric::ProcessTreeJvmRssMemory)?;
        let children =
            [ExecutorMetric::ProcessTreePythonRssMemory, ExecutorMetric::ProcessTreeOtherRssMemory];
        let children = self.readable(children)?;
        Some(jvm + children.into_iter().flatten().map(Bytes::new).sum())
    }

    /// Raises the peak of the metric at this index of [`ExecutorMetric::ALL`] to `value`, if that is higher;
    /// negative values are ignored.
    #[inline]
    #[doc(hidden)]
    pub fn raise_at(&mut self, place: usize, value: i64) {
        if let Some(known) = self.values.get_mut(place) {
            *known = value.max(*known);
        }
    }

    /// Records that a value of the metric at this index cannot be read.
    #[doc(hidden)]
    pub fn mark_unreadable_at(&mut self, place: usize) {
        self.raise_at(place, UNREADABLE);
    }

    /// Sets the peak of the metric at this index unconditionally.
    #[inline]
    #[doc(hidden)]
    pub fn set_at(&mut self, place: usize, value: i64) {
        if let Some(known) = self.values.get_mut(place) {
            *known = value;
        }
    }

    /// Raises the peak of a metric to this value, if it is lower.
    #[doc(hidden)]
    pub fn raise(&mut self, metric: ExecutorMetric, value: i64) {
        self.raise_at(metric as usize, value);
    }

    /// Raises each peak to that of `other`, if it is lower.
    #[doc(hidden)]
    pub fn raise_all(&mut self, other: &Self) {
        for (known, &value) in self.values.iter_mut().zip(&other.values) {
            *known = value.max(*known);
        }
    }
}
