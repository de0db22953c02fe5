//! Reads the logs that Java's garbage collectors write, from JDK 5 to 25, into one summary.
//!
//! There are two dialects. Up to JDK 8, `-verbose:gc` and `-XX:+PrintGCDetails` write records in brackets, which
//! may take many lines (`classic`). Since JDK 9, `-Xlog:gc*` writes lines with decorations (`unified`). Both are read in
//! one pass, line by line, and tell a `builder` about stops, cycles and settings of the heap.
//!
//! A log may lie between other text, such as an executor's output. Nothing that is read makes parsing fail: damage is
//! counted in [`Damage`]. What the log does not tell is `None`.

mod builder;
mod classic;
mod lines;
mod owner;
mod parse;
mod parts;
mod recognise;
mod scan;
mod span;
mod stamp;
mod summary;
mod unified;

pub use owner::{Owner, Process};
pub use parse::{Error, Parser, parse, parse_parts};
pub use parts::{Part, order};
pub use recognise::{Dialect, HEAD, NotGcLog, recognise};
pub use span::Span;
pub use stamp::Stamp;
pub use summary::{
    Allocation, Collector, Damage, Failure, Floor, FloorKind, Floors, GcLog, MaxHeap, MaxHeapSource,
    Promotion, StopKind, Stops, Tally,
};
