//! Tells logs of garbage collectors from other text.

use thiserror::Error;

use crate::unified;

/// How many bytes of the start of a file are looked at.
pub const HEAD: usize = 64 << 10;

/// How a log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// Records in brackets, up to JDK 8.
    Classic,
    /// Lines with decorations, since JDK 9.
    #[default]
    Unified,
}

/// Why a file is not a log that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NotGcLog {
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// Bytes, not text.
    #[error("not a GC log (binary data)")]
    Binary,
    /// XML that IBM J9 and Eclipse `OpenJ9` write.
    #[error("a verbose GC log of OpenJ9 (XML), which is not supported; HotSpot's GC logs are")]
    OpenJ9,
    /// A table of safepoints.
    #[error("statistics of safepoints, which name no collection; log with -XX:+PrintGCDetails or -Xlog:gc*")]
    SafepointStatistics,
    /// A log of another runtime or an old JVM.
    #[error("a GC log of JRockit, which is not supported; HotSpot's GC logs are")]
    JRockit,
    /// Unified logging of other parts of the JVM.
    #[error("a log of the JVM without garbage collections; log with -Xlog:gc*")]
    NoGcTag,
    /// Any other text.
    #[error("not a GC log (no collection in the first 64 KiB)")]
    Other,
}

/// Which dialect a file is written in, from its first [`HEAD`] bytes. The log may lie between other text.
///
/// # Errors
///
/// What else the file is.
pub fn recognise(head: &[u8]) -> Result<Dialect, NotGcLog> {
    let head = head.get(..HEAD).unwrap_or(head);
    if head.is_empty() {
        return Err(NotGcLog::Empty);
    }
    if head.contains(&0) {
        return Err(NotGcLog::Binary);
    }
    let text = String::from_utf8_lossy(head);
    let mut seen = Seen::default();
    for line in text.lines() {
        if unified::is_collection(line) {
            return Ok(Dialect::Unified);
        }
        seen.look_at(line);
    }
    seen.judge(&text)
}

/// Marks of dialects that no single line proves.
#[derive(Default)]
struct Seen {
    opens: bool,
    closes: bool,
    stops: bool,
    heap_summary: bool,
    other_unified: bool,
}

/// Names of generations and heaps in the summary that JDK 5 to 8 write at exit.
const SUMMARIES: [&str; 6] = [
    "PSYoungGen",
    "def new generation",
    "par new generation",
    "garbage-first heap",
    "concurrent mark-sweep generation",
    "Shenandoah Heap",
];

/// Starts of classic records.
const OPENINGS: [&str; 6] = ["[GC", "[Full GC", "[CMS-concurrent", "[ParNew", "[Pause ", "[Eden: "];

impl Seen {
    fn look_at(&mut self, line: &str) {
        self.opens |= OPENINGS.iter().any(|opening| line.contains(opening));
        self.closes |= line.contains(" secs]") || (line.contains("[Pause ") && line.contains(" ms]"));
        self.stops |= line.contains("application threads were stopped: ") && !unified::is_decorated(line);
        self.heap_summary |= line.contains("[0x") && SUMMARIES.iter().any(|name| line.contains(name));
        self.other_unified |= unified::is_decorated(line);
    }

    fn judge(&self, text: &str) -> Result<Dialect, NotGcLog> {
        if (self.opens && self.closes) || self.stops || self.heap_summary {
            return Ok(Dialect::Classic);
        }
        Err(if text.contains("<verbosegc") || text.contains("<verbose:gc") {
            NotGcLog::OpenJ9
        } else if text.contains("vmop") && text.contains("[threads: total") {
            NotGcLog::SafepointStatistics
        } else if text.contains("[memory ]") || text.contains("[memory  ]") {
            NotGcLog::JRockit
        } else if self.other_unified {
            NotGcLog::NoGcTag
        } else {
            NotGcLog::Other
        })
    }
}
