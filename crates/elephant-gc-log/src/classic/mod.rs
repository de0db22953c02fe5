//! The dialect of JDK 5 to 8: `2014-06-25T00:11:32.273+0000: 34.722: [GC pause (G1 Evacuation Pause) (young) …, 0.0067 secs]`.
//!
//! A record begins with `[GC`, `[Full GC` or, with Shenandoah, `[Pause`, and ends with the bracket that belongs to it.
//! Tables, ergonomics and lines of other threads may lie between, within brackets of their own, so that the text in no
//! inner bracket is the record's. G1 writes the sizes of the heap in a line after the record.

mod record;

use std::time::Duration;

use elephant_base::units::Bytes;

use crate::builder::{Builder, Stop};
use crate::scan;
use crate::stamp::Stamp;
use crate::summary::{Collector, Failure, Floor, FloorKind, MaxHeapSource, StopKind};
use crate::unified;

use record::{Record, opens_record};

/// Reads lines of this dialect.
#[derive(Debug, Default)]
pub(crate) struct Classic {
    record: Option<Record>,
    /// A stop of G1 whose sizes follow in a later line.
    waiting: Option<Stop>,
    has_records: bool,
    cleanups: u32,
}

/// How long the application stood still for a safepoint, in a line of either dialect.
pub(crate) fn safepoint(message: &str) -> Option<Duration> {
    let at = message.find("application threads were stopped: ")?;
    let text = message.get(at..)?.split_once(": ")?.1;
    scan::seconds(text.split(' ').next()?)
}

/// Collectors by their flags.
const FLAGS: [(&str, Collector); 6] = [
    ("+UseG1GC", Collector::G1),
    ("+UseConcMarkSweepGC", Collector::Cms),
    ("+UseParallelGC", Collector::Parallel),
    ("+UseParallelOldGC", Collector::Parallel),
    ("+UseShenandoahGC", Collector::Shenandoah),
    ("+UseSerialGC", Collector::Serial),
];

/// What the flags of the JVM tell.
pub(crate) fn flags(flags: &str, to: &mut Builder) {
    let max = scan::flag(flags, "-XX:MaxHeapSize=").or_else(|| scan::flag(flags, "-Xmx"));
    if let Some(max) = max.and_then(scan::flag_size) {
        to.max_heap(max, MaxHeapSource::Flag);
    }
    for (flag, collector) in FLAGS {
        if flags.contains(flag) {
            to.collector(collector);
        }
    }
}

/// Names by which generations and heaps tell the collector. CMS stands before `DefNew`, with which it may be combined.
const NAMES: [(&str, Collector); 10] = [
    ("PSYoungGen", Collector::Parallel),
    ("[CMS", Collector::Cms),
    ("CMS-", Collector::Cms),
    ("concurrent mark-sweep generation", Collector::Cms),
    ("ParNew", Collector::Cms),
    ("par new generation", Collector::Cms),
    ("garbage-first heap", Collector::G1),
    ("GC pause", Collector::G1),
    ("DefNew", Collector::Serial),
    ("def new generation", Collector::Serial),
];

fn collector_in(text: &str, to: &mut Builder) {
    if let Some((_, collector)) = NAMES.iter().find(|(name, _)| text.contains(name)) {
        to.collector(*collector);
    }
}

/// Starts of lines that belong to no record.
const FILLERS: [&str; 7] = [
    "Application time: ",
    "Memory: ",
    "Heap after GC",
    "{Heap before GC",
    "AdaptiveSize",
    "PSAdaptiveSize",
    "GC log file ",
];

/// Lines that may stand anywhere, also in the middle of a record, and that do not belong to it.
fn is_between_records(text: &str, to: &mut Builder) -> bool {
    if text.is_empty() || text.starts_with("- age ") || text.starts_with("Desired survivor size ") {
        return true;
    }
    if text.starts_with("Total time for which ")
        || text.contains("cation threads were stopped: ") && !text.contains('[')
    {
        match safepoint(text) {
            Some(stopped) => to.log.safepoints.add(stopped),
            None => to.broken(),
        }
        return true;
    }
    if let Some(of_jvm) = text.strip_prefix("CommandLine flags: ") {
        flags(of_jvm, to);
        return true;
    }
    if text.starts_with("OpenJDK ") || text.starts_with("Java HotSpot(TM) ") {
        let version = text.split(", built on").next().unwrap_or(text);
        to.log.jvm = Some(version.to_owned());
        return true;
    }
    if text.contains("[0x") && !text.contains("secs]") {
        collector_in(text, to);
        return true;
    }
    text == "Heap"
        || text == "}"
        || is_of_histogram(text)
        || FILLERS.iter().any(|start| text.starts_with(start))
}

/// Whether a line is a row of a class histogram, whose names of arrays are brackets without an end: `12: 1234 5678 [C`.
fn is_of_histogram(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    words.next().and_then(|row| row.strip_suffix(':')).is_some_and(is_number)
        && words.next().is_some_and(is_number)
        && words.next().is_some_and(is_number)
}

/// Metaspace or the permanent generation after a collection.
fn metaspace(text: &str, to: &mut Builder) {
    for name in ["Metaspace: ", "PermGen: ", "Perm : ", "Perm: "] {
        let Some(at) = text.find(name) else { continue };
        if let Some(change) = text.get(at..).and_then(scan::change) {
            to.log.metaspace = Some(change.after);
            return;
        }
    }
}

impl Classic {
    pub(crate) fn line(&mut self, line: &str, to: &mut Builder) {
        let (stamp, text) = Stamp::leading(line);
        to.stamp(stamp);
        if is_between_records(text, to) {
            return;
        }
        if self.record.as_ref().is_some_and(|record| record.is_interrupted_by(text)) {
            self.abandon(to);
        }
        if self.record.is_none() && self.is_detail(text, to) {
            return;
        }
        self.brackets(line, to);
    }

    /// Lines that G1 writes after a record.
    fn is_detail(&mut self, text: &str, to: &mut Builder) -> bool {
        if let Some(at) = text.find("Heap: ") {
            let sizes = text.get(at..).unwrap_or_default();
            metaspace(text, to);
            match (scan::change(sizes), &mut self.waiting) {
                (Some(heap), Some(stop)) => {
                    // The record of a full collection has rounded sizes.
                    stop.heap = Some(heap);
                    stop.young = young_of_g1(text);
                }
                (Some(_), None) if !self.has_records => to.log.damage.is_cut_at_start = true,
                _ => to.broken(),
            }
            self.release(to);
            return true;
        }
        // JDK 6: `   [ 1024K->512K(2048K)]`.
        if let Some(sizes) = text.strip_prefix("[ ").filter(|text| text.contains("->")) {
            if let (Some(heap), Some(stop)) = (scan::change(sizes), &mut self.waiting) {
                stop.heap = stop.heap.or(Some(heap));
            }
            self.release(to);
            return true;
        }
        false
    }

    /// Follows the brackets of a line.
    fn brackets(&mut self, line: &str, to: &mut Builder) {
        let mut rest = line;
        let mut is_ours = false;
        loop {
            if let Some(record) = &mut self.record {
                is_ours = true;
                let (is_complete, after) = record.take(rest);
                rest = after;
                if is_complete {
                    self.complete(to);
                } else {
                    if record.is_too_long() {
                        self.abandon(to);
                    }
                    return;
                }
                continue;
            }
            let Some(at) = rest.find('[') else { break };
            let (before, from) = (rest.get(..at).unwrap_or_default(), rest.get(at..).unwrap_or_default());
            if opens_record(from) {
                self.release(to);
                let leading = line.get(..line.len().saturating_sub(from.len())).unwrap_or(before);
                let stamp = Stamp::trailing(leading);
                to.stamp(stamp);
                self.record = Some(Record::new(stamp));
                rest = from;
            } else {
                is_ours |= self.single(from, to);
                rest = from.get(1..).unwrap_or_default();
            }
        }
        self.other(line.trim(), is_ours, to);
    }

    /// A line outside records.
    fn other(&mut self, text: &str, is_ours: bool, to: &mut Builder) {
        let is_rest =
            (text.ends_with(" secs]") || text.contains(" secs] [Times: ")) && !text.starts_with("[Times: ");
        if !self.has_records && (is_rest && !is_ours || DETAILS.iter().any(|start| text.starts_with(start))) {
            to.log.damage.is_cut_at_start = true;
        } else if !is_ours && is_rest {
            to.broken();
        } else if !is_ours && !text.starts_with('[') && !text.contains("[G1Ergonomics ") {
            to.log.damage.foreign += u64::from(!text.is_empty());
        }
    }

    /// A bracket that opens no record; returns whether it is of the log.
    fn single(&mut self, from: &str, to: &mut Builder) -> bool {
        let inner = from.get(1..).unwrap_or_default();
        if let Some(change) = unified::concurrent_change(inner) {
            self.cleanups += 1;
            to.collector(Collector::Shenandoah);
            to.heap(change, self.cleanups == 1);
            if self.cleanups > 1 {
                to.floor(Floor { kind: FloorKind::Major, used: change.after, uptime: None });
            }
            return true;
        }
        if inner.starts_with("CMS-") {
            to.collector(Collector::Cms);
            return true;
        }
        ["GC concurrent-", "Concurrent "].iter().any(|start| inner.starts_with(start))
    }

    fn complete(&mut self, to: &mut Builder) {
        let Some(record) = self.record.take() else { return };
        self.has_records = true;
        collector_in(record.outer(), to);
        collector_in(record.inner(), to);
        metaspace(record.inner(), to);
        if let Some(capacity) = record.capacity() {
            to.max_heap(capacity, MaxHeapSource::LargestCapacity);
        }
        let Some(stop) = record.stop() else {
            if !record.is_only_announced() {
                to.broken();
            }
            return;
        };
        if record.is_shenandoah() {
            to.collector(Collector::Shenandoah);
            if record.outer().starts_with("Pause Init Mark") {
                self.cleanups = 0;
                to.log.cycles += 1;
                to.log.major_cycles += 1;
            }
        }
        if stop.kind == Some(StopKind::Mark) {
            // Only concurrent marking stops without freeing anything.
            to.collector(Collector::Cms);
        }
        to.log.nested_young += record.nested_young();
        if record.has_details_later() {
            self.waiting = Some(stop);
        } else {
            to.stop(&stop);
        }
    }

    /// Hands on a stop whose sizes are known or will never be.
    fn release(&mut self, to: &mut Builder) {
        if let Some(stop) = self.waiting.take() {
            to.stop(&stop);
        }
    }

    /// Gives up a record whose end is missing.
    fn abandon(&mut self, to: &mut Builder) {
        if self.record.take().is_some() {
            self.has_records = true;
            to.broken();
        }
    }

    pub(crate) fn finish(&mut self, to: &mut Builder) {
        self.release(to);
        to.log.damage.is_cut_at_end |= self.record.take().is_some();
    }
}

/// Details that stand after a record of G1.
const DETAILS: [&str; 4] = ["[Parallel Time: ", "[Other: ", "[Times: ", "[Ext Root Scanning"];

/// The young generation in G1's `[Eden: 280.0M(280.0M)->0.0B(282.0M) Survivors: 0.0B->2048.0K Heap: …]`.
fn young_of_g1(text: &str) -> Option<scan::Change> {
    let eden = scan::change(text.split("Eden: ").nth(1)?)?;
    let survivors = scan::change(text.split("Survivors: ").nth(1)?)?;
    let sum = |left: Bytes, right: Bytes| left.get().checked_add(right.get()).map(Bytes::new);
    Some(scan::Change {
        before: sum(eden.before, survivors.before)?,
        after: sum(eden.after, survivors.after)?,
        capacity: None,
    })
}

/// Failures by the words in a record.
fn failures_in(text: &str) -> Vec<Failure> {
    let marks = [
        ("to-space exhausted", Failure::ToSpaceExhausted),
        ("to-space overflow", Failure::ToSpaceExhausted),
        ("to-space-overflow", Failure::ToSpaceExhausted),
        ("evacuation failed", Failure::ToSpaceExhausted),
        ("concurrent mode failure", Failure::ConcurrentMode),
        ("promotion failed", Failure::Promotion),
    ];
    let mut failures: Vec<_> =
        marks.iter().filter(|(words, _)| text.contains(words)).map(|(_, failure)| *failure).collect();
    failures.dedup();
    failures
}
