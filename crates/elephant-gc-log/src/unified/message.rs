//! What the message of a unified line tells of a collection.

use std::time::Duration;

use crate::builder::{Cycle, Stop};
use crate::scan::{self, Change};
use crate::summary::{Collector, Failure, StopKind};

/// Concurrent cycles of ZGC and generations: name, whether it covers the whole heap, and the collector.
const CYCLES: [(&str, bool, Collector); 3] = [
    ("Garbage Collection (", true, Collector::Z),
    ("Major Collection (", true, Collector::GenerationalZ),
    ("Minor Collection (", false, Collector::GenerationalZ),
];

/// Collectors as `Using …` names them.
const COLLECTORS: [(&str, Collector); 8] = [
    ("Using Serial", Collector::Serial),
    ("Using Parallel", Collector::Parallel),
    ("Using Concurrent Mark Sweep", Collector::Cms),
    ("Using G1", Collector::G1),
    ("Using The Z Garbage Collector", Collector::Z),
    ("Using Shenandoah", Collector::Shenandoah),
    ("Using Epsilon", Collector::Epsilon),
    ("Initializing The Z Garbage Collector", Collector::Z),
];

/// Prefixes of ZGC's generations: young in a minor and in a major collection, old.
const GENERATIONS: [&str; 3] = ["y: ", "Y: ", "O: "];

/// Whether the message is about a stop or a cycle.
pub(super) fn is_collection(message: &str) -> bool {
    let (_, message) = generation(message.trim_start());
    message.starts_with("Pause ")
        || message.starts_with("Concurrent ")
        || CYCLES.iter().any(|(name, ..)| message.starts_with(name))
}

/// The message without the generation that stands in front, and whether one does.
pub(super) fn generation(message: &str) -> (bool, &str) {
    match GENERATIONS.iter().find_map(|name| message.strip_prefix(name)) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, message),
    }
}

/// Whether a generation of ZGC stands in front.
pub(super) fn is_generational(message: &str) -> bool {
    generation(message).0
}

/// The collector in `Using G1`.
pub(super) fn collector(message: &str) -> Option<Collector> {
    let message = message.trim();
    if message.starts_with("Using The Z Garbage Collector") && message.contains("enerational") {
        return Some(Collector::GenerationalZ);
    }
    COLLECTORS.iter().find(|(name, _)| message.starts_with(name)).map(|(_, collector)| *collector)
}

/// A stop that has ended: `Pause Young (Normal) (G1 Evacuation Pause) 116M->40M(2048M) 21.861ms`.
pub(crate) fn stop_in(message: &str) -> Option<Stop> {
    let (_, message) = generation(message);
    let rest = message.strip_prefix("Pause ")?;
    let (text, number) = scan::trailing_number(rest.strip_suffix("ms")?.trim_end())?;
    let duration = scan::millis(number)?;
    let (kind, cause) = named(text)?;
    let mut stop = Stop { kind: Some(kind), duration, heap: scan::change(text), ..Stop::default() };
    stop.cause = cause.map(str::to_owned);
    if kind == StopKind::Degenerated {
        stop.failures.push(Failure::Degenerated);
    }
    // `Evacuation Failure: Pinned` is an object that native code holds, and no lack of memory.
    if text.contains("(Evacuation Failure)") || text.contains("(Evacuation Failure: Allocation") {
        stop.failures.push(Failure::ToSpaceExhausted);
    }
    Some(stop)
}

/// Kind and cause from the name of a stop without `Pause `.
fn named(text: &str) -> Option<(StopKind, Option<&str>)> {
    // The words up to a cause, a size or a time.
    let end =
        text.find(|next: char| next == '(' || next == ',' || next.is_ascii_digit()).unwrap_or(text.len());
    let name = text.get(..end)?.trim();
    let cause = groups(text).rfind(|group| !is_kind_of_pause(group));
    let kind = match name {
        "Young" if text.contains("(Mixed)") => StopKind::Mixed,
        "Young" => StopKind::Young,
        // JDK 9: G1 collects the young generation with it, CMS does not and has no cause.
        "Initial Mark" if cause.is_some() => StopKind::Young,
        "Mixed" => StopKind::Mixed,
        _ if name.starts_with("Full") => StopKind::Full,
        _ if name.starts_with("Degenerated GC") => return Some((StopKind::Degenerated, None)),
        "Initial Mark" | "Init Mark" | "Mark Start" => StopKind::InitialMark,
        "Remark" | "Final Mark" | "Mark End" => StopKind::Remark,
        "Cleanup" => StopKind::Cleanup,
        // Shenandoah and ZGC: another step, by whatever name.
        _ if name.starts_with(|first: char| first.is_ascii_uppercase()) => StopKind::Step,
        _ => return None,
    };
    let of_steps = matches!(kind, StopKind::InitialMark | StopKind::Remark | StopKind::Step);
    Some((kind, cause.filter(|_| !of_steps)))
}

/// What G1 and Shenandoah write in parentheses besides the cause.
const KINDS: [&str; 8] = [
    "Normal",
    "Concurrent Start",
    "Concurrent End",
    "Prepare Mixed",
    "Mixed",
    "Initial Mark",
    "Young",
    "Global",
];

fn is_kind_of_pause(group: &str) -> bool {
    KINDS.contains(&group)
        || group.starts_with("Evacuation Failure")
        || group == "process weakrefs"
        || group == "unload classes"
}

/// Causes in parentheses. Sizes and times in parentheses begin with a digit.
fn groups(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    parentheses(text).into_iter().filter(|group| group.starts_with(|first: char| first.is_ascii_alphabetic()))
}

/// The text of outer parentheses: `(System.gc())` is `System.gc()`. A line has few.
pub(crate) fn parentheses(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut start) = (0_u32, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => {
                if depth == 0 {
                    start = at + 1;
                }
                depth += 1;
            }
            b')' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    found.extend(text.get(start..at));
                }
            }
            _ => {}
        }
    }
    found
}

/// A concurrent cycle that frees memory by itself: `Major Collection (Warmup) 140M(5%)->80M(3%) 0.076s`. Without sizes, it
/// begins.
pub(super) fn cycle(message: &str, uptime: Option<Duration>) -> Option<Cycle<'_>> {
    let (name, is_major, _) = CYCLES.iter().find(|(name, ..)| message.starts_with(name))?;
    let cause = parentheses(message.get(name.len() - 1..)?).first().copied();
    Some(Cycle { is_major: *is_major, cause, heap: scan::change(message), uptime })
}

/// The collector that writes such cycles.
pub(super) fn collector_of_cycle(message: &str) -> Option<Collector> {
    CYCLES.iter().find(|(name, ..)| message.starts_with(name)).map(|(_, _, collector)| *collector)
}

/// The collector that writes such stops.
pub(super) fn collector_of_stop(message: &str) -> Option<Collector> {
    let (is_generational, message) = generation(message);
    if is_generational {
        return Some(Collector::GenerationalZ);
    }
    let name = message.strip_prefix("Pause ")?;
    let starts = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    if starts(&["Mark Start", "Mark End", "Relocate Start"]) {
        Some(Collector::Z)
    } else if starts(&["Init Mark", "Final Mark", "Init Update Refs", "Final Update Refs", "Degenerated GC"])
    {
        Some(Collector::Shenandoah)
    } else if name.contains("(G1 ")
        || starts(&["Mixed", "Cleanup", "Young (Normal)", "Young (Concurrent Start)"])
    {
        Some(Collector::G1)
    } else {
        None
    }
}

/// Whether a cycle of Shenandoah begins with this stop.
pub(super) fn starts_cycle(message: &str) -> bool {
    message.starts_with("Pause Init Mark")
}

/// Shenandoah frees memory: `Concurrent cleanup 84M->28M(8192M) 0.039ms`.
pub(crate) fn concurrent_change(message: &str) -> Option<Change> {
    message.strip_prefix("Concurrent cleanup").and_then(scan::change)
}

/// A thread waited for memory: `Allocation Stall (main) 10.644ms`.
pub(super) fn stall(message: &str) -> Option<Duration> {
    if !message.starts_with("Allocation Stall (") && !message.starts_with("Relocation Stall (") {
        return None;
    }
    let (_, number) = scan::trailing_number(message.strip_suffix("ms")?.trim_end())?;
    scan::millis(number)
}

/// Lines that tell only of a failure.
pub(super) fn failure(message: &str) -> Option<Failure> {
    let message = message.trim_start();
    let starts =
        |start: &str| message.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
    if starts("to-space exhausted") || starts("to-space overflow") {
        Some(Failure::ToSpaceExhausted)
    } else if starts("concurrent mode failure") {
        Some(Failure::ConcurrentMode)
    } else if starts("promotion failed") {
        Some(Failure::Promotion)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Option<(StopKind, Option<String>, u64)> {
        let stop = stop_in(message)?;
        Some((stop.kind?, stop.cause, u64::try_from(stop.duration.as_micros()).unwrap()))
    }

    #[test]
    fn stops_of_every_collector_are_read() {
        use StopKind::{Cleanup, Degenerated, Full, InitialMark, Mixed, Remark, Step, Young};
        for (message, kind, cause, micros) in [
            (
                "Pause Young (Normal) (G1 Evacuation Pause) 116M->40M(2048M) 21.861ms",
                Young,
                "G1 Evacuation Pause",
                21_861,
            ),
            (
                "Pause Young (Concurrent Start) (Metadata GC Threshold) 104M->42M(2048M) 20.246ms",
                Young,
                "Metadata GC Threshold",
                20_246,
            ),
            (
                "Pause Young (Mixed) (G1 Evacuation Pause) 104M->42M(2048M) 0.2ms",
                Mixed,
                "G1 Evacuation Pause",
                200,
            ),
            (
                "Pause Young (Normal) (G1 Preventive Collection) (Evacuation Failure) 1M->1M(2M) 1.000ms",
                Young,
                "G1 Preventive Collection",
                1000,
            ),
            (
                "Pause Mixed (G1 Evacuation Pause) 24M->6M(256M) (0.293s, 0.307s) 13.998ms",
                Mixed,
                "G1 Evacuation Pause",
                13_998,
            ),
            (
                "Pause Initial Mark (G1 Humongous Allocation) 24M->6M(256M) 1,5ms",
                Young,
                "G1 Humongous Allocation",
                1500,
            ),
            ("Pause Initial Mark 10M->10M(20M) 0.5ms", InitialMark, "", 500),
            ("Pause Young (Allocation Failure) 25M->1M(92M) 2.143ms", Young, "Allocation Failure", 2143),
            ("Pause Full (System.gc()) 14M->14M(89M) 6.868ms", Full, "System.gc()", 6868),
            ("Pause Full 96M->50M(96M) 12.000ms", Full, "", 12_000),
            ("Pause Remark 104M->104M(2048M) 4.5ms", Remark, "", 4500),
            ("Pause Cleanup 104M->104M(2048M) 0.1ms", Cleanup, "", 100),
            ("Pause Init Mark (process weakrefs) (unload classes) 1.692ms", InitialMark, "", 1692),
            ("Pause Final Update Refs 0.271ms", Step, "", 271),
            ("Pause Degenerated GC (Mark) 7686M->6159M(8192M) 5619.337ms", Degenerated, "", 5_619_337),
            ("Y: Pause Mark Start (Major) 0.012ms", InitialMark, "", 12),
            ("O: Pause Relocate Start 0.011ms", Step, "", 11),
        ] {
            let cause = (!cause.is_empty()).then(|| cause.to_owned());
            assert_eq!(read(message), Some((kind, cause, micros)), "{message}");
        }
    }

    #[test]
    fn what_has_no_duration_is_no_stop() {
        for message in [
            "Pause Young (Normal) (G1 Evacuation Pause)",
            "Pause Young (Normal) (G1 Evacuation Pause) 4320M->4109M(8192M) 428.0",
            "Pause Young ms",
            "Concurrent Mark 20.1ms",
            "Concurrent Cycle 20.1ms",
            "Pause",
        ] {
            assert_eq!(read(message), None, "{message}");
        }
    }

    #[test]
    fn a_pinned_object_is_no_lack_of_memory() {
        let failures = |message| stop_in(message).unwrap().failures;
        let full = [Failure::ToSpaceExhausted];
        assert_eq!(
            failures("Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure) 1M->1M(2M) 1.0ms"),
            full
        );
        assert_eq!(
            failures(
                "Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure: Allocation/Pinned) 1M->1M(2M) 1.0ms"
            ),
            full
        );
        assert_eq!(
            failures(
                "Pause Young (Normal) (G1 Evacuation Pause) (Evacuation Failure: Pinned) 1M->1M(2M) 1.0ms"
            ),
            []
        );
    }

    #[test]
    fn cycles_without_sizes_begin() {
        let end = cycle("Major Collection (Metadata GC Threshold) 140M(5%)->80M(3%) 0.076s", None).unwrap();
        assert_eq!((end.is_major, end.cause), (true, Some("Metadata GC Threshold")));
        assert!(end.heap.is_some());
        assert!(cycle("Garbage Collection (System.gc())", None).unwrap().heap.is_none());
        assert!(!cycle("Minor Collection (Allocation Rate) 9M(5%)->8M(3%) 0.0s", None).unwrap().is_major);
        assert!(cycle("Y: Young Generation 140M(5%)->80M(3%) 0.064s", None).is_none());
    }
}
