//! One record in brackets, which may take many lines.

use std::time::Duration;

use elephant_base::units::Bytes;

use crate::builder::Stop;
use crate::scan::{self, Change};
use crate::stamp::Stamp;
use crate::summary::{Failure, StopKind};
use crate::unified;

use super::failures_in;

/// Bytes of text that are kept in and outside inner brackets each. Records with all details have a few thousand.
const KEPT: usize = 16 << 10;

/// A record without its end after this many bytes is given up. Classes that are unloaded make the longest.
const LONGEST: usize = 16 << 20;

/// A record that is being read.
#[derive(Debug)]
pub(super) struct Record {
    stamp: Stamp,
    depth: u32,
    bytes: usize,
    outer: String,
    inner: String,
}

/// Whether text that begins with a bracket is a stop: `[GC`, `[Full GC`, `[Pause`.
pub(super) fn opens_record(from: &str) -> bool {
    let inner = from.get(1..).unwrap_or_default();
    if let Some(rest) = inner.strip_prefix("GC") {
        // Not `[GC Worker Start (ms): …`, which is a detail, nor a concurrent phase, nor a log line of `[GCTask]`.
        return !["concurrent-", "Worker ", "ref-proc"]
            .iter()
            .any(|word| rest.trim_start().starts_with(word))
            && !rest.starts_with(|next: char| next.is_ascii_alphabetic());
    }
    inner.starts_with("Full GC") || inner.starts_with("Pause ")
}

impl Record {
    pub(super) fn new(stamp: Stamp) -> Self {
        Self { stamp, depth: 0, bytes: 0, outer: String::new(), inner: String::new() }
    }

    /// Reads up to the bracket that ends the record; returns whether it was found, and the text after it.
    pub(super) fn take<'a>(&mut self, text: &'a str) -> (bool, &'a str) {
        self.bytes = self.bytes.saturating_add(text.len());
        let mut start = 0;
        for (at, byte) in text.bytes().enumerate() {
            if byte != b'[' && byte != b']' {
                continue;
            }
            self.keep(text.get(start..at).unwrap_or_default());
            start = at + 1;
            if byte == b'[' {
                if self.depth > 0 {
                    self.mark('[');
                }
                self.depth += 1;
            } else {
                self.depth = self.depth.saturating_sub(1);
                self.mark(']');
                if self.depth == 0 {
                    return (true, text.get(start..).unwrap_or_default());
                }
            }
        }
        self.keep(text.get(start..).unwrap_or_default());
        self.mark(' ');
        (false, "")
    }

    fn keep(&mut self, text: &str) {
        let to = if self.depth <= 1 { &mut self.outer } else { &mut self.inner };
        let room = KEPT.saturating_sub(to.len());
        let end = (0..=room.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        to.push_str(text.get(..end).unwrap_or_default());
    }

    /// Keeps words apart: brackets in the inner text, and a space in the outer one.
    fn mark(&mut self, bracket: char) {
        if self.outer.len() < KEPT {
            self.outer.push(' ');
        }
        if self.inner.len() < KEPT {
            self.inner.push(bracket);
        }
    }

    /// Text in no inner bracket.
    pub(super) fn outer(&self) -> &str {
        &self.outer
    }

    /// Text in inner brackets.
    pub(super) fn inner(&self) -> &str {
        &self.inner
    }

    pub(super) fn is_too_long(&self) -> bool {
        self.bytes > LONGEST
    }

    /// Whether a line begins another stop, so that the end of this one is missing. A remark may contain a young
    /// collection.
    pub(super) fn is_interrupted_by(&self, line: &str) -> bool {
        line.starts_with('[') && opens_record(line) && !self.inner.contains("YG occupancy")
    }

    /// `[Pause Init Mark, start]` of Shenandoah.
    pub(super) fn is_only_announced(&self) -> bool {
        self.outer.trim_end().ends_with("start")
    }

    pub(super) fn is_shenandoah(&self) -> bool {
        self.outer.starts_with("Pause ")
    }

    /// Whether the sizes of the heap follow in another line. Without details they stand in the record; then none follows,
    /// and the next record shows it.
    pub(super) fn has_details_later(&self) -> bool {
        self.outer.starts_with("GC pause") || self.outer.starts_with("Full GC") && !self.inner.contains("->")
    }

    /// Young collections within a remark.
    pub(super) fn nested_young(&self) -> u64 {
        let is_nested = self.inner.contains("YG occupancy")
            && (self.inner.contains("[ParNew") || self.inner.contains("[DefNew"));
        u64::from(is_nested)
    }

    /// The stop, if the record has a duration.
    pub(super) fn stop(&self) -> Option<Stop> {
        if self.is_shenandoah() {
            let message = self.outer.replace(", ", " ");
            let mut stop = unified::stop_in(message.trim_end())?;
            stop.uptime = self.stamp.uptime;
            return Some(stop);
        }
        let duration = self.duration()?;
        let kind = self.kind();
        let cause = self.cause();
        let mut failures = failures_in(&self.outer);
        for failure in failures_in(&self.inner) {
            if !failures.contains(&failure) {
                failures.push(failure);
            }
        }
        // Parallel writes `--` if survivors found no room.
        let is_marked = ["GC--", ") --", ")--"].iter().any(|mark| self.outer.contains(mark));
        if failures.is_empty() && kind != StopKind::Full && is_marked {
            failures.push(if self.outer.starts_with("GC pause") {
                Failure::ToSpaceExhausted
            } else {
                Failure::Promotion
            });
        }
        Some(Stop {
            kind: Some(kind),
            cause,
            duration,
            heap: scan::change(&self.outer),
            young: self.young(),
            is_escalated: kind == StopKind::Young && self.has_old_collection(),
            failures,
            uptime: self.stamp.uptime,
        })
    }

    /// The size of the heap in `46468K(83008K)`, if nothing was freed.
    pub(super) fn capacity(&self) -> Option<Bytes> {
        scan::occupancy(&self.outer).map(|(_, capacity)| capacity)
    }

    /// The last `… secs` in no inner bracket.
    fn duration(&self) -> Option<Duration> {
        let before = self.outer.get(..self.outer.rfind("secs")?)?.trim_end();
        scan::seconds(scan::trailing_number(before)?.1)
    }

    fn kind(&self) -> StopKind {
        let outer = self.outer.as_str();
        if outer.starts_with("Full GC") {
            StopKind::Full
        } else if self.inner.contains("CMS-initial-mark") || outer.contains("(CMS Initial Mark)") {
            StopKind::InitialMark
        } else if self.inner.contains("CMS-remark")
            || outer.contains("(CMS Final Remark)")
            || outer.starts_with("GC remark")
        {
            StopKind::Remark
        } else if outer.starts_with("GC cleanup") {
            StopKind::Cleanup
        } else if outer.starts_with("GC pause") && (outer.contains("(mixed)") || outer.contains("(partial)"))
        {
            StopKind::Mixed
        } else if scan::change(outer).is_none() && scan::occupancy(outer).is_some() {
            StopKind::Mark
        } else {
            StopKind::Young
        }
    }

    /// The first text in parentheses that is a cause. JDK 6 writes only `(System)`.
    fn cause(&self) -> Option<String> {
        let groups = unified::parentheses(&self.outer);
        let cause = groups.into_iter().find(|group| {
            group.starts_with(|first: char| first.is_ascii_alphabetic())
                && !NOT_CAUSES.contains(group)
                && !group.starts_with("reason")
        })?;
        Some(if cause == "System" { "System.gc()".to_owned() } else { cause.to_owned() })
    }

    fn young(&self) -> Option<Change> {
        ["PSYoungGen", "ParNew", "DefNew"].iter().find_map(|name| {
            let at = self.inner.find(name)?;
            scan::change(self.inner.get(at..)?)
        })
    }

    /// Whether the old generation was collected, too.
    fn has_old_collection(&self) -> bool {
        // Not `[CMS-concurrent-mark: …`, nor the permanent generation.
        let is_cms = |(at, name): (usize, &str)| {
            let rest = self.inner.get(at + name.len()..).unwrap_or_default();
            !rest.starts_with('-') && !rest.starts_with(" Perm")
        };
        self.inner.match_indices("[CMS").any(is_cms)
            || ["[Tenured", "[ParOldGen", "[PSOldGen"].iter().any(|name| self.inner.contains(name))
    }
}

/// Text in parentheses that tells the kind of a stop or a failure.
const NOT_CAUSES: [&str; 12] = [
    "young",
    "mixed",
    "partial",
    "initial-mark",
    "to-space exhausted",
    "to-space overflow",
    "to-space-overflow",
    "promotion failed",
    "concurrent mode failure",
    "concurrent mode interrupted",
    "evacuation failed",
    "max",
];
