//! What a log tells of the JVM that wrote it.

use std::collections::BTreeMap;
use std::time::Duration;

use elephant_base::units::{Bytes, BytesPerSecond};

use crate::recognise::Dialect;
use crate::span::Span;

/// The summary of the log of one JVM.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GcLog {
    /// How the log is written.
    pub dialect: Dialect,
    /// The collector; `None` if the log does not show it, as with `-verbose:gc` of JDK 5 to 8.
    pub collector: Option<Collector>,
    /// The JVM as it calls itself, from the header.
    pub jvm: Option<String>,
    /// The largest size that the heap may have.
    pub max_heap: Option<MaxHeap>,
    /// The largest use of the heap before a collection, which includes garbage.
    pub peak_used: Option<Bytes>,
    /// The time covered; `None` if lines have no stamps.
    pub span: Option<Span>,
    /// When all threads of the application stood still for the collector.
    pub stops: Stops,
    /// Collections: young, mixed, full, degenerated, and concurrent cycles that free memory by themselves (ZGC, Shenandoah).
    pub cycles: u64,
    /// Concurrent cycles over the whole heap (ZGC, Shenandoah).
    pub major_cycles: u64,
    /// Concurrent cycles over the young generation (ZGC).
    pub minor_cycles: u64,
    /// Young collections that went on to collect the old generation, within one stop.
    pub escalated: u64,
    /// Young collections within the stop of another, which `-XX:+CMSScavengeBeforeRemark` causes.
    pub nested_young: u64,
    /// Use of the heap after collections of the old generation: what the application holds.
    pub floors: Floors,
    /// Memory that the application allocated.
    pub allocation: Allocation,
    /// Memory that young collections moved to the old generation.
    pub promotion: Promotion,
    /// Collections that the application asked for with `System.gc()`.
    pub explicit: u64,
    /// Collections that G1 started for an object of at least half a region.
    pub humongous: u64,
    /// Metaspace (JDK 7: permanent generation) in use when it was last logged.
    pub metaspace: Option<Bytes>,
    /// Collections in which the collector failed to keep up, by what it wrote.
    pub failures: BTreeMap<Failure, u64>,
    /// Number of collections, or of threads that waited, with any of [`GcLog::failures`].
    pub failed: u64,
    /// Whole time that threads waited for memory in allocation stalls (ZGC).
    pub stalled: Tally,
    /// Stops for any reason, where safepoints are logged. They contain the collector's.
    pub safepoints: Tally,
    /// What could not be read.
    pub damage: Damage,
}

impl GcLog {
    /// Stops as a share of the time covered; `None` without stamps, or if stops are not logged.
    #[must_use]
    pub fn stop_share(&self) -> Option<f64> {
        let span = self.span?.length.as_secs_f64();
        (self.stops.are_logged && span > 0.0).then(|| self.stops.all.total.as_secs_f64() / span)
    }

    /// The last use of the heap after a full or major collection, as a share of the largest heap. Mixed collections leave
    /// garbage, so they tell nothing of what fits.
    #[must_use]
    pub fn floor_share(&self) -> Option<f64> {
        let floor = self.floors.last_whole()?.used.as_f64();
        let max = self.max_heap?.bytes.as_f64();
        (max > 0.0).then(|| floor / max)
    }

    /// Memory that the application allocates in a second.
    #[must_use]
    pub fn allocation_rate(&self) -> Option<BytesPerSecond> {
        let span = self.span?.length.as_secs_f64();
        (self.allocation.intervals > 0 && span > 0.0)
            .then(|| BytesPerSecond::new(self.allocation.bytes.as_f64() / span))
    }
}

/// A garbage collector of the JVM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collector {
    /// `-XX:+UseSerialGC`
    Serial,
    /// `-XX:+UseParallelGC`
    Parallel,
    /// `-XX:+UseConcMarkSweepGC`, with any collector of the young generation
    Cms,
    /// `-XX:+UseG1GC`
    G1,
    /// `-XX:+UseZGC`, one generation
    Z,
    /// `-XX:+UseZGC -XX:+ZGenerational`, since JDK 23 the default
    GenerationalZ,
    /// `-XX:+UseShenandoahGC`
    Shenandoah,
    /// `-XX:+UseEpsilonGC`, which never frees memory
    Epsilon,
}

impl Collector {
    /// The name that Java's manuals use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Serial => "Serial",
            Self::Parallel => "Parallel",
            Self::Cms => "CMS",
            Self::G1 => "G1",
            Self::Z => "ZGC",
            Self::GenerationalZ => "Generational ZGC",
            Self::Shenandoah => "Shenandoah",
            Self::Epsilon => "Epsilon",
        }
    }
}

/// The largest size of the heap and how it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxHeap {
    /// The size.
    pub bytes: Bytes,
    /// Where it is from.
    pub source: MaxHeapSource,
}

/// Where the largest size of the heap is from. Later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MaxHeapSource {
    /// The largest capacity of all collections: the heap may be allowed to grow further.
    LargestCapacity,
    /// The reserved addresses, which are rounded up.
    Reserved,
    /// The collector's own words: `Heap Max Capacity`, `Max Capacity`.
    Stated,
    /// The flags of the JVM: `-Xmx`, `-XX:MaxHeapSize`.
    Flag,
}

/// Number and length of some stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total: Duration,
    /// The longest.
    pub longest: Duration,
}

impl Tally {
    pub(crate) fn add(&mut self, duration: Duration) {
        self.count = self.count.saturating_add(1);
        self.total = self.total.saturating_add(duration);
        self.longest = self.longest.max(duration);
    }
}

/// Times at which all threads of the application stood still.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stops {
    /// Whether the log tells stops. ZGC writes only cycles with `-Xlog:gc`.
    pub are_logged: bool,
    /// All of them.
    pub all: Tally,
    /// By kind.
    pub by_kind: BTreeMap<StopKind, Tally>,
    /// By the cause that the collector gives. Stops without a cause are missing.
    pub by_cause: BTreeMap<String, Tally>,
}

impl Stops {
    /// The stops of a kind.
    #[must_use]
    pub fn of(&self, kind: StopKind) -> Tally {
        self.by_kind.get(&kind).copied().unwrap_or_default()
    }
}

/// What a collector does while the application stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopKind {
    /// Collects the young generation, and with CMS and Serial sometimes goes on to the old one.
    Young,
    /// Collects the young generation and regions of the old one (G1).
    Mixed,
    /// Collects the whole heap.
    Full,
    /// Collects the whole heap because a concurrent cycle ran out of memory (Shenandoah).
    Degenerated,
    /// Starts marking.
    InitialMark,
    /// Ends marking.
    Remark,
    /// Starts or ends marking: CMS without details does not tell which.
    Mark,
    /// Frees empty regions (G1).
    Cleanup,
    /// Another step of a concurrent cycle (ZGC, Shenandoah).
    Step,
}

impl StopKind {
    /// The kind in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Young => "young",
            Self::Mixed => "mixed",
            Self::Full => "full",
            Self::Degenerated => "degenerated",
            Self::InitialMark => "initial mark",
            Self::Remark => "remark",
            Self::Mark => "initial mark or remark",
            Self::Cleanup => "cleanup",
            Self::Step => "step of a concurrent cycle",
        }
    }
}

/// The heap in use after collections of the old generation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Floors {
    /// How many were logged.
    pub count: u64,
    /// The last ones in the order of the log, at most [`Floors::KEPT`].
    pub latest: Vec<Floor>,
    /// Collections over the whole heap in a row, up to the last, after which as much or more was in use as after the one
    /// before, and how many of these were followed by a larger use.
    pub rises: u64,
    pub(crate) whole: Option<Floor>,
}

impl Floors {
    /// How many are kept.
    pub const KEPT: usize = 64;

    /// The last of any kind.
    #[must_use]
    pub fn last(&self) -> Option<Floor> {
        self.latest.last().copied()
    }

    /// The last after a collection of the whole heap.
    #[must_use]
    pub const fn last_whole(&self) -> Option<Floor> {
        self.whole
    }
}

/// The heap in use after one collection of the old generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floor {
    /// Which collection it was.
    pub kind: FloorKind,
    /// Bytes in use after it.
    pub used: Bytes,
    /// Time since the start of the JVM.
    pub uptime: Option<Duration>,
}

/// Collections of the old generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FloorKind {
    /// A full collection during a stop, also one that a young collection went on to.
    Full,
    /// A concurrent cycle over the whole heap (ZGC, Shenandoah).
    Major,
    /// A mixed collection of G1, which frees only some regions.
    Mixed,
}

/// What the application allocated between collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allocation {
    /// The sum of what the heap grew by from the end of one collection to the start of the next. What is allocated during
    /// concurrent cycles is missing.
    pub bytes: Bytes,
    /// Between how many pairs of collections.
    pub intervals: u64,
}

/// What young collections moved to the old generation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Promotion {
    /// What the young generation shrank by, minus what the heap shrank by.
    pub bytes: Bytes,
    /// The young collections for which both are known.
    pub collections: u64,
}

/// What a collector writes when it cannot keep up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failure {
    /// No free region to copy to (G1: `to-space exhausted`, `Evacuation Failure`).
    ToSpaceExhausted,
    /// The old generation was full before a concurrent cycle ended (CMS).
    ConcurrentMode,
    /// No room in the old generation for survivors (Serial, `ParNew`, Parallel).
    Promotion,
    /// A concurrent cycle ran out of memory and went on while the application stood still (Shenandoah).
    Degenerated,
    /// A thread waited for memory (ZGC).
    AllocationStall,
}

impl Failure {
    /// The failure in the collector's words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToSpaceExhausted => "to-space exhausted",
            Self::ConcurrentMode => "concurrent mode failure",
            Self::Promotion => "promotion failed",
            Self::Degenerated => "degenerated collection",
            Self::AllocationStall => "allocation stall",
        }
    }
}

/// What could not be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Damage {
    /// Lines that were read.
    pub lines: u64,
    /// Lines that are not of the log, such as an application's output.
    pub foreign: u64,
    /// Lines and records of the log that could not be understood.
    pub broken: u64,
    /// The line of the first of these, from 1.
    pub first_broken: Option<u64>,
    /// Lines that were longer than 64 KiB.
    pub too_long: u64,
    /// Whether the log begins within a collection, or not with the first one.
    pub is_cut_at_start: bool,
    /// Whether the log ends within a collection.
    pub is_cut_at_end: bool,
}
