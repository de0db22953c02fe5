//! Other projects' samples: every figure was counted without this program.

use std::fs::File;

use elephant_base::units::Bytes;
use elephant_gc_log::{Collector, Failure, FloorKind, GcLog, MaxHeapSource, StopKind, parse};
use elephant_testing::shared;

use crate::{is_close, seconds};

const K: u64 = 1 << 10;
const M: u64 = 1 << 20;

fn sample(name: &str) -> Option<GcLog> {
    let path = shared(&format!("corpus/gc-logs/{name}"))?;
    Some(parse(File::open(path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn count(log: &GcLog, kind: StopKind) -> u64 {
    log.stops.of(kind).count
}

#[test]
fn parallel_with_a_header() {
    let Some(log) =
        sample("microsoft__gctoolkit-testdata/preunified/ps/details/tenuring/gccause/180/1398331617.vgc")
    else {
        return;
    };
    assert_eq!(log.collector, Some(Collector::Parallel));
    let max = log.max_heap.unwrap();
    assert_eq!((max.bytes.get(), max.source), (2048 * M, MaxHeapSource::Flag));
    assert_eq!((count(&log, StopKind::Young), count(&log, StopKind::Full)), (221, 1));
    // By cause, the full collection is another one for metadata.
    let by_cause = |cause: &str| log.stops.by_cause.get(cause).map(|tally| tally.count);
    assert_eq!(by_cause("Allocation Failure"), Some(218));
    assert_eq!(by_cause("GCLocker Initiated GC"), Some(2));
    assert_eq!(by_cause("Metadata GC Threshold"), Some(2));
    assert!((seconds(log.stops.all.total) - 0.537).abs() < 0.0005);
    let floor = log.floors.last_whole().unwrap();
    assert_eq!((floor.kind, floor.used.get()), (FloorKind::Full, 103_881 * K));
    assert!((log.floor_share().unwrap() - 0.050).abs() < 0.0005);
    assert_eq!(log.damage.broken, 0);
}

#[test]
fn cms_that_fills_up() {
    let Some(log) = sample("GCPlot__gcplot/gc_logs/cms_full_gc_log.log") else { return };
    assert_eq!(log.collector, Some(Collector::Cms));
    let counts = [StopKind::Young, StopKind::InitialMark, StopKind::Remark, StopKind::Full]
        .map(|kind| count(&log, kind));
    assert_eq!(counts, [81, 43, 40, 11]);
    assert!((seconds(log.stops.all.total) - 9.134).abs() < 0.0005);
    assert!((seconds(log.span.unwrap().length) - 77.9).abs() < 0.05);
    assert!((log.stop_share().unwrap() - 0.117).abs() < 0.0005);
    assert!((seconds(log.stops.of(StopKind::Full).total) - 5.163).abs() < 0.0005);
    assert_eq!(log.floors.last_whole().unwrap().used.get(), 65_426 * K);
    assert_eq!(log.max_heap.unwrap().bytes.get(), 65_472 * K);
    assert!(log.floors.rises >= 5, "{}", log.floors.rises);
    // Ten young collections went on to the old generation.
    assert_eq!((log.escalated, log.floors.count), (10, 21));
    assert_eq!(log.damage.broken, 0);
}

#[test]
fn unified_g1_over_hours() {
    let Some(log) = sample("microsoft__gctoolkit-testdata/unified/g1gc/jvm-gc-10Nov2022.log") else { return };
    assert_eq!(log.collector, Some(Collector::G1));
    assert_eq!(log.max_heap.unwrap().bytes.get(), 8192 * M);
    assert_eq!(log.stops.all.count, 10);
    let counts = [StopKind::Young, StopKind::Remark, StopKind::Cleanup].map(|kind| count(&log, kind));
    assert_eq!(counts, [6, 2, 2]);
    assert_eq!(log.stops.all.total.as_micros(), 801_121);
    assert_eq!(log.stops.all.longest.as_micros(), 428_033);
    // Nothing tells what the application holds, so nothing is said about a smaller heap.
    assert_eq!(log.floors.last_whole(), None);
    assert_eq!(log.floor_share(), None);
}

#[test]
fn shenandoah_with_a_degenerated_cycle() {
    let Some(log) = sample("microsoft__gctoolkit-testdata/shenandoah/shenandoah.log.0") else { return };
    assert_eq!(log.collector, Some(Collector::Shenandoah));
    assert_eq!(log.stops.all.count, 62);
    assert!((seconds(log.stops.all.total) * 1e3 - 5960.9).abs() < 0.05);
    let degenerated = log.stops.of(StopKind::Degenerated);
    assert_eq!(degenerated.count, 1);
    assert!((seconds(degenerated.total) * 1e3 - 5619.3).abs() < 0.05);
    assert_eq!(log.failures.get(&Failure::Degenerated), Some(&1));
    assert_eq!(log.max_heap.unwrap().bytes.get(), 8192 * M);
}

#[test]
fn a_summary_of_the_heap_is_no_collection() {
    let Some(log) = sample("microsoft__gctoolkit-testdata/preunified/ps/empty.log") else { return };
    assert_eq!((log.cycles, log.stops.all.count), (0, 0));
    assert_eq!((log.stop_share(), log.floor_share()), (None, None));
    assert_eq!(log.collector, Some(Collector::Parallel));
}

#[test]
fn major_collections_of_zgc_are_not_stops() {
    let Some(log) = sample("krzysztofslusarski__jvm-gc-logs-analyzer/resources/zgc.log.7701-8700") else {
        return;
    };
    assert_eq!(log.collector, Some(Collector::GenerationalZ));
    assert_eq!((log.stops.all.count, log.stops.all.total.as_micros()), (5, 61));
    assert_eq!((log.major_cycles, log.minor_cycles), (1, 0));
    assert_eq!(log.floors.last_whole().unwrap().used.get(), 80 * M);
    assert_eq!(log.max_heap.unwrap().bytes.get(), 2560 * M);
}

#[test]
fn an_excerpt_is_cut_at_its_start() {
    let Some(log) = sample("krzysztofslusarski__jvm-gc-logs-analyzer/resources/g1gc.log") else { return };
    assert!(log.damage.is_cut_at_start);
    assert_eq!((log.cycles, log.humongous), (1, 1));
}

#[test]
fn a_scavenge_within_a_remark_is_one_stop() {
    let Some(log) = sample(
        "microsoft__gctoolkit-testdata/preunified/cms/parnew/details/tenuring/scavenge_before_remark.log",
    ) else {
        return;
    };
    assert_eq!((log.stops.all.count, log.nested_young), (2, 1));
    assert!(is_close(seconds(log.stops.all.total), 0.132_507_4 + 0.539_892_4));
}

#[test]
fn a_full_collection_interleaved_with_a_concurrent_phase() {
    let Some(log) =
        sample("microsoft__gctoolkit-testdata/preunified/g1gc/corrupted/full_concurrent_mark_failure.log")
    else {
        return;
    };
    assert_eq!(log.stops.all.longest.as_nanos(), 18_195_941_000);
    assert_eq!((count(&log, StopKind::Young), count(&log, StopKind::Full)), (1, 1));
    // 4852.6M, more exact than the record's 4852M.
    assert_eq!(log.floors.last_whole().unwrap().used, Bytes::from_f64(4852.6 * M as f64).unwrap());
}

#[test]
fn decimal_commas_and_a_clock_that_is_set_back() {
    let Some(log) = sample("microsoft__gctoolkit-testdata/preunified/g1gc/corrupted/rollsbackclock.log")
    else {
        return;
    };
    let span = log.span.unwrap();
    assert_eq!((span.length.as_millis(), span.clock_set_back), (80_128, 1));
    // One of three lines is cut into another.
    assert_eq!((log.safepoints.count, log.damage.broken, log.stops.all.count), (2, 1, 0));
}

#[test]
fn a_leak_in_a_heap_of_20_gib() {
    let Some(log) = sample("microsoft__gctoolkit-testdata/preunified/ps/details/memoryleak2.log") else {
        return;
    };
    assert_eq!((log.explicit, log.floors.count), (8, 8));
    assert_eq!(log.floors.last_whole().unwrap().used.get(), 3_878_036 * K);
    assert_eq!(log.max_heap.unwrap().bytes.get(), 20_971_456 * K);
}

/// Every sample: collector, stops, and their sum in microseconds.
#[test]
fn all_samples_are_read() {
    let expected = [
        ("GCPlot__gcplot/gc_logs/cms_full_gc_log.log", Some(Collector::Cms), 175, 9_133_749),
        ("GCPlot__gcplot/gc_logs/g1_log_1.log", Some(Collector::G1), 8, 282_216),
        ("GCPlot__gcplot/gc_logs/log_with_header.log", Some(Collector::G1), 1, 21_874),
        ("krzysztofslusarski__jvm-gc-logs-analyzer/resources/g1gc.log", Some(Collector::G1), 1, 6363),
        (
            "krzysztofslusarski__jvm-gc-logs-analyzer/resources/zgc.log.7701-8700",
            Some(Collector::GenerationalZ),
            5,
            61,
        ),
        ("microsoft__gctoolkit-testdata/preunified/cms/530_gc.log", Some(Collector::Cms), 38, 655_934),
        (
            "microsoft__gctoolkit-testdata/preunified/cms/parnew/details/gccause/170/1.7.0_cms.log",
            Some(Collector::Cms),
            629,
            8_381_684,
        ),
        (
            "microsoft__gctoolkit-testdata/preunified/cms/parnew/details/tenuring/scavenge_before_remark.log",
            Some(Collector::Cms),
            2,
            672_399,
        ),
        (
            "microsoft__gctoolkit-testdata/preunified/g1gc/corrupted/full_concurrent_mark_failure.log",
            Some(Collector::G1),
            2,
            18_419_666,
        ),
        ("microsoft__gctoolkit-testdata/preunified/g1gc/corrupted/rollsbackclock.log", None, 0, 0),
        (
            "microsoft__gctoolkit-testdata/preunified/g1gc/details/tenuring/180/neo4j-gc-fragment.log",
            Some(Collector::G1),
            4,
            535_852,
        ),
        (
            "microsoft__gctoolkit-testdata/preunified/g1gc/details/tenuring/server3-gc.log",
            Some(Collector::G1),
            16,
            4_057_156,
        ),
        (
            "microsoft__gctoolkit-testdata/preunified/ps/details/memoryleak2.log",
            Some(Collector::Parallel),
            863,
            81_231_673,
        ),
        (
            "microsoft__gctoolkit-testdata/preunified/ps/details/tenuring/gccause/180/1398331617.vgc",
            Some(Collector::Parallel),
            222,
            537_460,
        ),
        ("microsoft__gctoolkit-testdata/preunified/ps/empty.log", Some(Collector::Parallel), 0, 0),
        (
            "microsoft__gctoolkit-testdata/preunified/serial/defnew/details/tenuring/180/serial180.log",
            Some(Collector::Serial),
            47,
            1_519_841,
        ),
        (
            "microsoft__gctoolkit-testdata/shenandoah/shenandoah.log.0",
            Some(Collector::Shenandoah),
            62,
            5_960_853,
        ),
        (
            "microsoft__gctoolkit-testdata/unified/g1gc/gc-no-age-timestamp.log",
            Some(Collector::G1),
            2,
            42_107,
        ),
        ("microsoft__gctoolkit-testdata/unified/g1gc/jvm-gc-10Nov2022.log", Some(Collector::G1), 10, 801_121),
    ];
    for (name, collector, stops, micros) in expected {
        let Some(log) = sample(name) else { return };
        assert_eq!((log.collector, log.stops.all.count), (collector, stops), "{name}");
        assert_eq!(log.stops.all.total.as_micros(), micros, "{name}");
        assert!(log.damage.broken <= 1, "{name}: {:?}", log.damage);
    }
}
