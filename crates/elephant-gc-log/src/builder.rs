//! Adds up what both dialects tell.

use std::collections::VecDeque;
use std::time::Duration;

use elephant_base::units::Bytes;

use crate::recognise::Dialect;
use crate::scan::Change;
use crate::span::Stamps;
use crate::stamp::Stamp;
use crate::summary::{Collector, Failure, Floor, FloorKind, Floors, GcLog, MaxHeap, MaxHeapSource, StopKind};

/// Causes that are told apart. The JVM has about forty.
const CAUSES: usize = 64;

/// Stops of causes beyond [`CAUSES`].
const OTHER_CAUSES: &str = "other";

/// A stop that a dialect read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop {
    pub(crate) kind: Option<StopKind>,
    pub(crate) cause: Option<String>,
    pub(crate) duration: Duration,
    pub(crate) heap: Option<Change>,
    pub(crate) young: Option<Change>,
    /// A young collection that went on to the old generation.
    pub(crate) is_escalated: bool,
    pub(crate) failures: Vec<Failure>,
    pub(crate) uptime: Option<Duration>,
}

/// A concurrent cycle that frees memory by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cycle<'a> {
    pub(crate) is_major: bool,
    pub(crate) cause: Option<&'a str>,
    pub(crate) heap: Option<Change>,
    pub(crate) uptime: Option<Duration>,
}

/// Builds the summary.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(crate) log: GcLog,
    stamps: Stamps,
    floors: VecDeque<Floor>,
    last_used: Option<Bytes>,
}

impl Builder {
    pub(crate) fn new(dialect: Dialect) -> Self {
        let log = GcLog { dialect, ..GcLog::default() };
        Self { log, stamps: Stamps::default(), floors: VecDeque::new(), last_used: None }
    }

    /// Adds the stamp of a line.
    pub(crate) fn stamp(&mut self, stamp: Stamp) {
        if self.stamps.add(stamp) {
            // Another JVM begins with an empty heap.
            self.last_used = None;
        }
    }

    /// What tells the collector. CMS has no young generation of its own, so it wins over Serial; a log that shows
    /// generations of ZGC, over ZGC without.
    pub(crate) fn collector(&mut self, collector: Collector) {
        let wins = match self.log.collector {
            None => true,
            Some(Collector::Serial) => collector == Collector::Cms,
            Some(Collector::Z) => collector == Collector::GenerationalZ,
            Some(_) => false,
        };
        if wins {
            self.log.collector = Some(collector);
        }
    }

    /// What tells the largest heap.
    pub(crate) fn max_heap(&mut self, bytes: Bytes, source: MaxHeapSource) {
        let is_better = self
            .log
            .max_heap
            .is_none_or(|known| source > known.source || (source == known.source && bytes > known.bytes));
        if is_better && bytes > Bytes::default() {
            self.log.max_heap = Some(MaxHeap { bytes, source });
        }
    }

    /// Adds a stop.
    pub(crate) fn stop(&mut self, stop: &Stop) {
        let kind = stop.kind.unwrap_or(StopKind::Step);
        self.log.stops.are_logged = true;
        self.log.stops.all.add(stop.duration);
        self.log.stops.by_kind.entry(kind).or_default().add(stop.duration);
        let is_collection =
            matches!(kind, StopKind::Young | StopKind::Mixed | StopKind::Full | StopKind::Degenerated);
        if is_collection {
            self.log.cycles += 1;
            self.log.escalated += u64::from(stop.is_escalated);
        }
        if let Some(cause) = &stop.cause {
            self.cause_of_stop(cause, stop.duration);
            // Before the full collection that was asked for, Parallel collects the young generation.
            let is_first_of_two = kind == StopKind::Young && self.log.collector == Some(Collector::Parallel);
            if is_collection && !is_first_of_two {
                self.cause_of_cycle(cause);
            }
        }
        if let Some(heap) = stop.heap {
            self.heap(heap, true);
            let floor = match kind {
                StopKind::Full | StopKind::Degenerated => Some(FloorKind::Full),
                StopKind::Mixed => Some(FloorKind::Mixed),
                StopKind::Young if stop.is_escalated => Some(FloorKind::Full),
                _ => None,
            };
            if let Some(kind) = floor {
                self.floor(Floor { kind, used: heap.after, uptime: stop.uptime });
            }
            if kind == StopKind::Young && !stop.is_escalated {
                self.promotion(stop.young, heap);
            }
        }
        self.failures(&stop.failures);
    }

    /// Adds a concurrent cycle.
    pub(crate) fn cycle(&mut self, cycle: &Cycle<'_>) {
        self.log.cycles += 1;
        let count = if cycle.is_major { &mut self.log.major_cycles } else { &mut self.log.minor_cycles };
        *count += 1;
        if let Some(cause) = cycle.cause {
            self.cause_of_cycle(cause);
        }
        if let Some(heap) = cycle.heap {
            self.heap(heap, true);
            if cycle.is_major {
                self.floor(Floor { kind: FloorKind::Major, used: heap.after, uptime: cycle.uptime });
            }
        }
    }

    /// Failures of one collection.
    pub(crate) fn failures(&mut self, failures: &[Failure]) {
        for failure in failures {
            *self.log.failures.entry(*failure).or_default() += 1;
        }
        self.log.failed += u64::from(!failures.is_empty());
    }

    /// A change of the heap. `is_allocated`: whether all growth since the last one is the application's.
    pub(crate) fn heap(&mut self, heap: Change, is_allocated: bool) {
        self.log.peak_used = self.log.peak_used.max(Some(heap.before));
        if let Some(capacity) = heap.capacity {
            self.max_heap(capacity, MaxHeapSource::LargestCapacity);
        }
        if let Some(last) = self.last_used.filter(|_| is_allocated) {
            let bytes = heap.before - last;
            let allocation = &mut self.log.allocation;
            allocation.bytes = Bytes::new(allocation.bytes.get().saturating_add(bytes.get()));
            allocation.intervals += 1;
        }
        self.last_used = Some(heap.after);
    }

    /// Heap in use after a collection of the old generation.
    pub(crate) fn floor(&mut self, floor: Floor) {
        let floors = &mut self.log.floors;
        floors.count += 1;
        if floor.kind != FloorKind::Mixed {
            floors.rises = match floors.whole {
                Some(last) if floor.used < last.used => 0,
                Some(last) => floors.rises + u64::from(floor.used > last.used),
                None => 0,
            };
            floors.whole = Some(floor);
        }
        if self.floors.len() == Floors::KEPT {
            self.floors.pop_front();
        }
        self.floors.push_back(floor);
    }

    fn promotion(&mut self, young: Option<Change>, heap: Change) {
        let Some(young) = young else { return };
        let freed = (
            heap.before.get().saturating_sub(heap.after.get()),
            young.before.get().saturating_sub(young.after.get()),
        );
        let promotion = &mut self.log.promotion;
        promotion.bytes = Bytes::new(promotion.bytes.get().saturating_add(freed.1.saturating_sub(freed.0)));
        promotion.collections += 1;
    }

    fn cause_of_stop(&mut self, cause: &str, duration: Duration) {
        let causes = &mut self.log.stops.by_cause;
        let name = if causes.contains_key(cause) || causes.len() < CAUSES { cause } else { OTHER_CAUSES };
        match causes.get_mut(name) {
            Some(tally) => tally.add(duration),
            None => causes.entry(name.to_owned()).or_default().add(duration),
        }
    }

    fn cause_of_cycle(&mut self, cause: &str) {
        self.log.explicit += u64::from(cause == "System.gc()");
        self.log.humongous += u64::from(cause == "G1 Humongous Allocation");
    }

    /// Counts something of the log that could not be understood.
    pub(crate) fn broken(&mut self) {
        let damage = &mut self.log.damage;
        damage.broken += 1;
        damage.first_broken = damage.first_broken.or(Some(damage.lines));
    }

    pub(crate) fn finish(mut self) -> GcLog {
        self.log.floors.latest = self.floors.into();
        self.log.span = self.stamps.span();
        self.log
    }
}
