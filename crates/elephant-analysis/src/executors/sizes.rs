//! Sizes that fit what was measured, and how settings write them.

use std::fmt;

use elephant_base::units::Bytes;
use elephant_model::engine_facts::spark::RESERVED_MEMORY;
use elephant_model::model::spark::{Executor, Spark};
use elephant_model::model::{Application, Engine};

/// The smallest heap worth recommending; below 450 MiB Spark does not start.
const SMALLEST_HEAP: Bytes = Bytes::from_mib(640);
/// Headroom above the highest measured heap use.
pub const ROOM: f64 = 1.25;
/// Sizes are recommended in multiples of this.
const STEP: u64 = 256;

/// The smallest heap for a process with this peak heap use.
#[must_use]
pub fn heap_for(peak: Bytes) -> Bytes {
    let needed = Bytes::from_f64(peak.as_f64() * ROOM).unwrap_or(peak) + RESERVED_MEMORY;
    needed.max(SMALLEST_HEAP)
}

/// Headroom above what full collections leave in use: new objects need room, too.
pub const ROOM_ABOVE_FLOOR: f64 = 1.5;

/// What executors hold, by their GC logs: the largest use after full or major collections. `None` unless there is a log
/// with such a collection for each of them.
#[must_use]
pub fn heap_floor(app: &Application, spark: &Spark) -> Option<Bytes> {
    let logs = app.gc_logs.iter().filter(|log| !log.process.is_master());
    let floors: Vec<Bytes> = logs.filter_map(|log| Some(log.log.floors.last_whole()?.used)).collect();
    let are_all = !floors.is_empty() && floors.len() >= spark.executors.len();
    floors.into_iter().max().filter(|_| are_all)
}

/// The smallest heap for executors that hold as much after full collections.
#[must_use]
pub fn heap_for_floor(floor: Bytes) -> Bytes {
    let needed = Bytes::from_f64(floor.as_f64() * ROOM_ABOVE_FLOOR).unwrap_or(floor) + RESERVED_MEMORY;
    needed.max(SMALLEST_HEAP)
}

/// `size` rounded up to a usual step.
#[must_use]
pub fn rounded_up(size: Bytes) -> Bytes {
    Bytes::from_mib(size.get().div_ceil(Bytes::PER_MIB).div_ceil(STEP).saturating_mul(STEP))
}

/// A size in the syntax of Spark's settings: `4g`, `1280m`.
pub struct Setting(pub Bytes);

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = self.0.get().div_ceil(Bytes::PER_MIB);
        if mib >= 1024 && mib.is_multiple_of(1024) {
            write!(f, "{}g", mib / 1024)
        } else {
            write!(f, "{mib}m")
        }
    }
}

/// The executors whose size the application's settings determine: those of the default resource profile, or
/// the driver in local mode. Other profiles are set in code.
pub fn workers(spark: &Spark) -> impl Iterator<Item = &Executor> {
    spark.workers().filter(|worker| worker.resource_profile.unwrap_or(0) == 0)
}

/// The highest heap use of any of them.
#[must_use]
pub fn peak_heap(spark: &Spark) -> Option<Bytes> {
    workers(spark).filter_map(|worker| worker.peaks.heap()).max()
}

/// With a lower peak than this share of its size, a heap was not full, and a larger one changes little.
pub const FULL: f64 = 0.5;
/// Sizes are this much larger than just enough, because a value that equals a cut-off counts as passing it.
pub const BEYOND: f64 = 1.01;

/// The smallest heap that would never be full, also in the syntax of settings. With it, executors do not collect more.
#[must_use]
pub fn smallest_free_heap(app: &Application) -> Option<(Bytes, String)> {
    let peak = spark_of(app).and_then(peak_heap)?;
    let heap = rounded_up(Bytes::from_f64(peak.as_f64() / FULL * BEYOND)?);
    Some((heap, Setting(heap).to_string()))
}

/// Whether executors would not collect more with this heap, because it would never be full.
#[must_use]
pub fn stays_free(app: &Application, heap: Bytes) -> bool {
    let peak = spark_of(app).and_then(peak_heap);
    peak.is_some_and(|peak| peak.as_f64() < FULL * heap.as_f64())
}

/// The Spark part of the application; `None` for another engine.
#[must_use]
pub fn spark_of(app: &Application) -> Option<&Spark> {
    app.spark.as_deref().filter(|_| app.engine == Engine::Spark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_keep_headroom_above_the_measured_use() {
        assert_eq!(heap_for(Bytes::from_mib(800)), Bytes::from_mib(1300));
        assert_eq!(heap_for(Bytes::default()), Bytes::from_mib(640));
        assert_eq!(rounded_up(Bytes::from_mib(1025)), Bytes::from_mib(1280));
        assert_eq!(Setting(Bytes::from_mib(2048)).to_string(), "2g");
        assert_eq!(Setting(Bytes::from_mib(1280)).to_string(), "1280m");
    }
}
