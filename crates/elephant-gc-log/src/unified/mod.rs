//! The dialect of JDK 9 and newer: `[2024-01-01T00:00:00.000+0000][0.123s][info][gc] GC(0) Pause Young … 5.512ms`.
//!
//! Which decorations stand in front is the user's choice, and there may be none. A stop is written twice: `gc,start`
//! announces it, and only the second line has a duration. Lines of one collection share the number in `GC(0)`; other
//! collections' lines may lie between.

mod decorations;
mod heap;
mod message;

use std::collections::BTreeMap;

use crate::builder::{Builder, Stop};
use crate::stamp::Stamp;
use crate::summary::Failure;

use decorations::Decorations;
use heap::Generations;

pub(crate) use message::{concurrent_change, parentheses, stop_in};

/// Collections that may be open at the same time: a young one within a concurrent cycle, and those of damaged logs.
const OPEN: usize = 16;

/// Reads lines of this dialect.
#[derive(Debug, Default)]
pub(crate) struct Unified {
    open: BTreeMap<u64, Open>,
    /// Size of a region of G1 in bytes.
    region: Option<u64>,
    has_collections: bool,
    /// Shenandoah: whether a cycle has freed memory once already.
    cleanups: u32,
}

/// What is known of a collection before the line that completes it.
#[derive(Debug, Default)]
struct Open {
    generations: Generations,
    failures: Vec<Failure>,
    is_announced: bool,
}

/// Whether a line alone proves that this is a log of collections.
pub(crate) fn is_collection(line: &str) -> bool {
    let Some((decorations, message)) = Decorations::find(line) else {
        return gc_id(line).is_some_and(|(_, message)| message::is_collection(message));
    };
    decorations.may_be_gc()
        && match gc_id(message) {
            Some((_, message)) => message::is_collection(message),
            None => message::collector(message).is_some() && decorations.is_certain(),
        }
}

/// Whether a line has the decorations of unified logging.
pub(crate) fn is_decorated(line: &str) -> bool {
    Decorations::find(line).is_some_and(|(decorations, _)| decorations.is_certain())
}

/// The stamp of a line, and the number of its collection.
pub(crate) fn place(line: &str) -> (Stamp, Option<u64>) {
    match Decorations::find(line) {
        Some((decorations, message)) => (decorations.stamp, gc_id(message).map(|(id, _)| id)),
        None => (Stamp::default(), gc_id(line).map(|(id, _)| id)),
    }
}

/// The number in `GC(0) `, and the text after it.
fn gc_id(message: &str) -> Option<(u64, &str)> {
    let (number, rest) = message.trim_start().strip_prefix("GC(")?.split_once(')')?;
    Some((number.parse().ok()?, rest.strip_prefix(' ').unwrap_or(rest)))
}

impl Unified {
    pub(crate) fn line(&mut self, line: &str, to: &mut Builder) {
        let (decorations, message) = match Decorations::find(line) {
            Some(found) => found,
            None if gc_id(line).is_some() => (Decorations::default(), line),
            None => {
                to.log.damage.foreign += u64::from(!line.trim().is_empty());
                return;
            }
        };
        to.stamp(decorations.stamp);
        if let Some(stopped) = crate::classic::safepoint(message) {
            to.log.safepoints.add(stopped);
            return;
        }
        if !decorations.may_be_gc() {
            if let Some(flags) = message.trim_start().strip_prefix("jvm_args:") {
                crate::classic::flags(flags, to);
            }
            return;
        }
        match gc_id(message) {
            Some((id, message)) => self.of_collection(id, message, &decorations, to),
            None => self.general(message.trim(), to),
        }
    }

    /// A line that belongs to no collection.
    fn general(&mut self, message: &str, to: &mut Builder) {
        if let Some(collector) = message::collector(message) {
            to.collector(collector);
        } else if let Some(stall) = message::stall(message) {
            to.log.stalled.add(stall);
            to.failures(&[Failure::AllocationStall]);
        } else if message.starts_with("Trigger: ") && message.contains("System.gc()") {
            // Shenandoah names the cause only here.
            to.log.explicit += 1;
        } else if let Some(version) = message.strip_prefix("Version: ") {
            to.log.jvm = Some(version.to_owned());
        } else if let Some(region) = heap::region_size(message) {
            self.region = Some(region);
        } else if let Some((bytes, source)) = heap::max(message) {
            to.max_heap(bytes, source);
        } else if let Some(used) = heap::metaspace(message) {
            to.log.metaspace = Some(used);
        }
    }

    fn of_collection(&mut self, id: u64, message: &str, decorations: &Decorations, to: &mut Builder) {
        to.log.damage.is_cut_at_start |= !self.has_collections && id > 0;
        self.has_collections = true;
        let message = message.trim();
        if let Some(mut stop) = message::stop_in(message) {
            let open = self.open.remove(&id).unwrap_or_default();
            stop.young = open.generations.young(self.region);
            stop.uptime = decorations.stamp.uptime;
            for failure in open.failures {
                if !stop.failures.contains(&failure) {
                    stop.failures.push(failure);
                }
            }
            self.stop(&stop, message, to);
        } else if let Some(cycle) = message::cycle(message, decorations.stamp.uptime) {
            self.open.remove(&id);
            if let Some(collector) = message::collector_of_cycle(message) {
                to.collector(collector);
            }
            if cycle.heap.is_some() {
                to.cycle(&cycle);
            }
        } else if message.starts_with("Pause ") {
            self.announced(id, message, to);
        } else if let Some(change) = message::concurrent_change(message) {
            self.cleanup(change, decorations, to);
        } else if let Some(failure) = message::failure(message) {
            self.open_at(id).failures.push(failure);
        } else if message::is_generational(message) {
            to.collector(crate::summary::Collector::GenerationalZ);
            self.detail(id, message, to);
        } else {
            self.detail(id, message, to);
        }
    }

    /// A stop without a duration: it begins, or the line is cut.
    fn announced(&mut self, id: u64, message: &str, to: &mut Builder) {
        if message.contains("->") || self.open.get(&id).is_some_and(|open| open.is_announced) {
            to.broken();
        }
        self.open_at(id).is_announced = true;
    }

    /// Sizes of generations, regions and the metaspace.
    fn detail(&mut self, id: u64, message: &str, to: &mut Builder) {
        let (own, detail) = message::generation(message);
        if let Some(used) = heap::metaspace(detail) {
            to.log.metaspace = Some(used);
        } else if let Some((bytes, source)) = heap::max(detail) {
            to.max_heap(bytes, source);
        } else if let Some(promoted) = own.then(|| heap::promoted(detail)).flatten() {
            let all = &mut to.log.promotion;
            all.bytes = elephant_base::units::Bytes::new(all.bytes.get().saturating_add(promoted.get()));
            all.collections += 1;
        } else if Generations::is_one(detail) {
            let open = self.open_at(id);
            if let Some(collector) = open.generations.add(detail) {
                to.collector(collector);
            }
        }
    }

    /// Shenandoah frees regions twice in a cycle. Between the two, it copies objects, which looks like allocation.
    fn cleanup(&mut self, change: crate::scan::Change, decorations: &Decorations, to: &mut Builder) {
        self.cleanups += 1;
        let is_first = self.cleanups == 1;
        to.heap(change, is_first);
        if !is_first {
            let floor = crate::summary::Floor {
                kind: crate::summary::FloorKind::Major,
                used: change.after,
                uptime: decorations.stamp.uptime,
            };
            to.floor(floor);
        }
    }

    fn stop(&mut self, stop: &Stop, message: &str, to: &mut Builder) {
        if message::starts_cycle(message) {
            self.cleanups = 0;
            to.log.cycles += 1;
            to.log.major_cycles += 1;
        }
        if let Some(collector) = message::collector_of_stop(message) {
            to.collector(collector);
        }
        to.stop(stop);
    }

    fn open_at(&mut self, id: u64) -> &mut Open {
        if self.open.len() >= OPEN && !self.open.contains_key(&id) {
            self.open.pop_first();
        }
        self.open.entry(id).or_default()
    }

    pub(crate) fn finish(&self, to: &mut Builder) {
        to.log.damage.is_cut_at_end |= self.open.values().any(|open| open.is_announced);
    }
}
