//! Damaged logs, and logs between other text: no panic, no wrong number.

use std::fmt::Write as _;

use elephant_gc_log::{NotGcLog, parse};
use proptest::prelude::*;

use crate::{read, refused};

const CLASSIC: &str = "\
OpenJDK 64-Bit Server VM (25.45-b02) for linux-amd64 JRE (1.8.0_45-b13), built on Apr 10 2015 11:12:17
CommandLine flags: -XX:MaxHeapSize=2147483648 -XX:+UseParallelGC
2014-06-25T00:11:32.273+0000: 1.000: [GC (Allocation Failure)
Desired survivor size 524288 bytes, new threshold 7 (max 15)
[PSYoungGen: 512K->480K(1024K)] 512K->496K(261632K), 0.0100000 secs] [Times: user=0.01 sys=0.00, real=0.00 secs]
2014-06-25T00:11:42.273+0000: 11.000: [Full GC (System.gc()) [PSYoungGen: 16865K->0K(107008K)] [ParOldGen: 108907K->103881K(124416K)] 125773K->103881K(231424K), [Metaspace: 21089K->21089K(1067008K)], 0.2000000 secs] [Times: user=1.48 sys=0.01, real=0.27 secs]
";

const UNIFIED: &str = "\
[0.010s][info][gc] Using G1
[1.000s][info][gc,start    ] GC(0) Pause Young (Normal) (G1 Evacuation Pause)
[1.010s][info][gc          ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(96M) 10.000ms
[2.000s][info][gc,start    ] GC(1) Pause Full (System.gc())
[2.200s][info][gc          ] GC(1) Pause Full (System.gc()) 14M->14M(96M) 200.000ms
";

#[test]
fn a_log_between_other_text_is_read() {
    for text in [CLASSIC, UNIFIED] {
        let alone = read(text);
        let mut mixed =
            String::from("24/01/01 00:00:00 INFO Executor: Starting [task 0.0] in stage 3.0 (TID 17)\n");
        for (at, line) in text.lines().enumerate() {
            mixed.push_str(line);
            mixed.push_str("\n[Stage 0:>    (0 + 2) / 2]\nkept 17K->16 of [x] things\n");
            let _ = writeln!(mixed, "row {at}: [1, [2, 3]]");
        }
        let log = read(&mixed);
        assert_eq!(log.stops, alone.stops, "{mixed}");
        assert_eq!((log.floors, log.span, log.max_heap), (alone.floors, alone.span, alone.max_heap));
        assert!(log.damage.foreign > 0);
    }
}

#[test]
fn a_cut_end_is_told_and_not_counted() {
    let log = read(UNIFIED.rsplit_once("00.000ms").unwrap().0);
    assert_eq!(log.stops.all.count, 1);
    assert!(log.damage.is_cut_at_end);
    let log = read(CLASSIC.rsplit_once(", 0.2000000 secs").unwrap().0);
    assert_eq!(log.stops.all.count, 1);
    assert!(log.damage.is_cut_at_end);
}

#[test]
fn a_cut_start_is_told_and_not_counted() {
    let log = read(CLASSIC.split_once("Desired").unwrap().1);
    assert!(log.damage.is_cut_at_start);
    assert_eq!(log.stops.all.count, 1);
    assert!(
        read(UNIFIED.split_once("GC(0)").unwrap().1.split_once('\n').unwrap().1.split_once('\n').unwrap().1)
            .damage
            .is_cut_at_start
    );
}

#[test]
fn a_record_without_its_end_ends_at_the_next() {
    let text = "1.000: [GC (Allocation Failure) [PSYoungGen: 512K->480K(10\n2.000: [GC (Allocation Failure) [PSYoungGen: 512K->480K(1024K)] 512K->496K(2048K), 0.5 secs]\n";
    let log = read(text);
    assert_eq!((log.stops.all.count, log.damage.broken), (1, 1));
    assert_eq!(log.stops.all.total.as_millis(), 500);
}

#[test]
fn other_files_are_refused_with_a_reason() {
    assert_eq!(refused(b""), Some(NotGcLog::Empty));
    assert_eq!(refused(b"[GC 5K->4K(8K), 0.1 secs]\0"), Some(NotGcLog::Binary));
    assert_eq!(
        refused(b"<?xml version=\"1.0\"?>\n<verbosegc xmlns=\"http://www.ibm.com/j9/verbosegc\">"),
        Some(NotGcLog::OpenJ9)
    );
    assert_eq!(
        refused(b"         vmop                    [threads: total initially_running wait_to_block]    [time: spin block sync cleanup vmop] page_trap_count\n0.1: no vm operation [ 10 0 0 ]\n"),
        Some(NotGcLog::SafepointStatistics)
    );
    assert_eq!(
        refused(b"[memory ] GC strategy: Mark & Sweep\n[memory ] 0.5-0.6: GC 100K->50K (200K), 1.0 ms\n"),
        Some(NotGcLog::JRockit)
    );
    assert_eq!(
        refused(b"[0.1s][info][class,load] java.lang.Object source: jrt:/java.base\n"),
        Some(NotGcLog::NoGcTag)
    );
    assert_eq!(
        refused(b"[1.2s][info][safepoint] Total time for which application threads were stopped: 0.0002 seconds\n"),
        Some(NotGcLog::NoGcTag)
    );
    assert_eq!(refused(b"{\"Event\":\"SparkListenerLogStart\"}\n"), Some(NotGcLog::Other));
}

#[test]
fn hostile_text_takes_linear_time() {
    let brackets = "[".repeat(1 << 20);
    let opened = "[GC ".repeat(1 << 18);
    let lines = "[GC\n".repeat(1 << 18);
    let arrows = format!("[GC {}, 0.1 secs]\n", "->".repeat(1 << 15));
    let groups = format!("[0.1s][info][gc] GC(0) Pause Young {} 1.0ms\n", "(".repeat(1 << 15));
    let start = std::time::Instant::now();
    for text in [brackets, opened, lines, arrows.repeat(50), groups.repeat(50)] {
        let _ = parse(format!("1.0: [GC 5K->4K(8K), 0.1 secs]\n{text}").as_bytes());
        let _ = parse(format!("[0.1s][info][gc] GC(0) Pause Young 1.0ms\n{text}").as_bytes());
    }
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

proptest! {
    #[test]
    fn any_cut_loses_stops_but_invents_none(from in 0_usize..900, to in 0_usize..900) {
        for text in [CLASSIC, UNIFIED] {
            let whole = read(text);
            let (from, to) = (from.min(text.len()), to.min(text.len()));
            let part = text.get(from.min(to)..from.max(to)).unwrap_or_default();
            if let Ok(log) = parse(part.as_bytes()) {
                prop_assert!(log.stops.all.count <= whole.stops.all.count);
                prop_assert!(log.stops.all.longest <= whole.stops.all.longest);
            }
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "([\\[\\]() GCgcPauseFul0-9.,:>KMs\\-\n]|secs\\]|->|GC\\(0\\)|\\[GC |\\[Full GC|Pause |é){0,200}") {
        let _ = parse(text.as_bytes());
        let _ = parse(format!("1.0: [GC 5K->4K(8K), 0.1 secs]\n{text}").as_bytes());
        let _ = parse(format!("[0.1s][info][gc] GC(0) Pause Young 1.0ms\n{text}").as_bytes());
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes[..]);
    }
}
