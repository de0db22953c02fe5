//! Where the counters of a JVM do not tell what tasks need or lose: with engines that work outside the heap, and with
//! collectors that work while tasks do.

use elephant_model::model::spark::NativeEngine;
use elephant_model::model::{Application, Collector};

/// Why the time of collections is not judged.
pub(in crate::spark) fn doubt_of_pauses(app: &Application) -> Option<String> {
    Collector::of_workers(app).and_then(Collector::why_not_judged).or_else(|| doubt_of_heaps(app))
}

/// Why the use of heaps is not judged.
pub(in crate::spark) fn doubt_of_heaps(app: &Application) -> Option<String> {
    NativeEngine::at_work(app).map(NativeEngine::why_not_judged)
}
