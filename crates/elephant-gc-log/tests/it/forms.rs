//! Forms of lines, written after the sources of the JDK (`GCTraceTime`, `GenCollectedHeap`, `ParallelScavengeHeap`,
//! `concurrentMarkSweepGeneration.cpp`, `g1CollectedHeap.cpp`).

use elephant_gc_log::{Collector, Failure, FloorKind, GcLog, StopKind};

use crate::read;

const K: u64 = 1 << 10;
const M: u64 = 1 << 20;

/// Kind, cause and microseconds of the only stop.
fn only(text: &str) -> (StopKind, Option<String>, u128) {
    let log = read(text);
    assert_eq!(log.stops.all.count, 1, "{text}: {log:?}");
    let kind = *log.stops.by_kind.keys().next().unwrap();
    (kind, log.stops.by_cause.keys().next().cloned(), log.stops.all.total.as_micros())
}

fn failures(log: &GcLog) -> Vec<(Failure, u64)> {
    log.failures.iter().map(|(failure, count)| (*failure, *count)).collect()
}

#[test]
fn without_details_and_without_stamps() {
    assert_eq!(only("[GC 325407K->83000K(776768K), 0.2300771 secs]\n"), (StopKind::Young, None, 230_077));
    assert_eq!(
        only("[Full GC 267628K->83769K(776768K), 1.8479984 secs]\n"),
        (StopKind::Full, None, 1_847_998)
    );
    let log = read(
        "[GC 325407K->83000K(776768K), 0.2300771 secs]\n[Full GC 267628K->83769K(776768K), 1.8479984 secs]\n",
    );
    assert_eq!((log.span, log.stop_share()), (None, None));
    assert_eq!(log.floors.last_whole().unwrap().used.get(), 83_769 * K);
    assert_eq!(log.allocation.bytes.get(), (267_628 - 83_000) * K);
}

#[test]
fn dates_only_give_a_span() {
    let log = read(
        "2014-06-25T00:11:00.000+0000: [GC (Allocation Failure)  33280K->5000K(125952K), 0.5000000 secs]\n\
         2014-06-25T00:11:10.000+0000: [GC (Allocation Failure)  33280K->5000K(125952K), 0.5000000 secs]\n",
    );
    assert_eq!(log.stop_share(), Some(0.1));
}

#[test]
fn decimal_commas() {
    let log = read(
        "0,500: [GC 0,500: [ParNew: 174848K->25512K(349568K), 0,0157380 secs] 174848K->25512K(354944K), 0,0158160 secs] [Times: user=0,07 sys=0,03, real=0,02 secs]\n\
         10,500: [GC 10,500: [ParNew: 200360K->19676K(349568K), 0,0066590 secs] 200360K->19676K(354944K), 0,0067080 secs]\n",
    );
    assert_eq!((log.collector, log.stops.all.total.as_micros()), (Some(Collector::Cms), 22_524));
    assert_eq!(log.span.unwrap().length.as_secs(), 10);
}

#[test]
fn cms_fails_in_concurrent_mode() {
    let log = read(
        "44.080: [GC 44.080: [ParNew (promotion failed): 118010K->118010K(118016K), 0.0185510 secs]44.099: [CMS44.100: [CMS-concurrent-mark: 0.090/0.100 secs] [Times: user=0.1 sys=0.0, real=0.1 secs]\n \
         (concurrent mode failure): 100000K->90000K(174784K), 0.3025240 secs] 210000K->90000K(292800K), [CMS Perm : 2617K->2617K(21248K)], 0.3213230 secs] [Times: user=0.33 sys=0.00, real=0.32 secs]\n\
         50.000: [Full GC 50.000: [CMS (concurrent mode failure): 100000K->80000K(174784K), 0.2 secs] 210000K->80000K(292800K), [CMS Perm : 2617K->2600K(21248K)], 0.2500000 secs]\n",
    );
    assert_eq!(failures(&log), [(Failure::ConcurrentMode, 2), (Failure::Promotion, 1)]);
    assert_eq!((log.failed, log.escalated), (2, 1));
    assert_eq!(log.stops.all.total.as_micros(), 571_323);
    assert_eq!(
        log.floors.latest.iter().map(|floor| floor.used.get() / K).collect::<Vec<_>>(),
        [90_000, 80_000]
    );
    assert_eq!(log.metaspace.unwrap().get(), 2600 * K);
}

#[test]
fn cms_with_causes_but_without_details() {
    let log = read(
        "1.000: [GC (CMS Initial Mark)  46468K(83008K), 0.0039333 secs]\n\
         2.000: [GC (CMS Final Remark)  50934K(83008K), 0.0049002 secs]\n\
         3.000: [GC (Allocation Failure)  58256K->50668K(83008K), 0.0284159 secs]\n",
    );
    for kind in [StopKind::InitialMark, StopKind::Remark, StopKind::Young] {
        assert_eq!(log.stops.of(kind).count, 1, "{kind:?}");
    }
}

#[test]
fn parallel_marks_failed_promotion_with_two_dashes() {
    let before = read("1.0: [GC-- [PSYoungGen: 5K->5K(6K)] 50K->50K(60K), 0.1 secs]\n");
    assert_eq!(failures(&before), [(Failure::Promotion, 1)]);
    let after = read("1.0: [GC (Allocation Failure) --[PSYoungGen: 5K->5K(6K)] 50K->50K(60K), 0.1 secs]\n");
    assert_eq!(failures(&after), [(Failure::Promotion, 1)]);
    assert_eq!(after.collector, Some(Collector::Parallel));
}

#[test]
fn the_application_asks_in_every_version() {
    let jdk6 = read(
        "1.0: [Full GC (System) [PSYoungGen: 0K->0K(5K)] [PSOldGen: 4K->4K(20K)] 4K->4K(25K) [PSPermGen: 1K->1K(2K)], 1.7 secs]\n",
    );
    let jdk8 = read(
        "1.0: [GC (System.gc()) [PSYoungGen: 4K->1K(5K)] 4K->1K(25K), 0.1 secs]\n\
         1.1: [Full GC (System.gc()) [PSYoungGen: 1K->0K(5K)] [ParOldGen: 4K->4K(20K)] 5K->4K(25K), [Metaspace: 3K->3K(9K)], 1.7 secs]\n",
    );
    let jdk17 = read("[1.0s][info][gc] GC(3) Pause Full (System.gc()) 14M->14M(96M) 6.868ms\n");
    let concurrent =
        read("[1.0s][info][gc] GC(3) Pause Young (Concurrent Start) (System.gc()) 14M->14M(96M) 6.868ms\n");
    for log in [jdk6, jdk8, jdk17, concurrent] {
        assert_eq!(log.explicit, 1, "{log:?}");
    }
}

#[test]
fn g1_of_jdk_7_and_8() {
    let log = read(
        "1.000: [GC pause (young), 0.0100000 secs]\n   [Parallel Time:   9.0 ms]\n   [Eden: 10M(10M)->0B(12M) Survivors: 0B->2048K Heap: 12M(64M)->4096K(64M)]\n [Times: user=0.0 sys=0.0, real=0.01 secs]\n\
         2.000: [GC pause (G1 Humongous Allocation) (young) (initial-mark) (to-space exhausted), 0.0200000 secs]\n   [Eden: 10.0M(10.0M)->0.0B(12.0M) Survivors: 2048.0K->2048.0K Heap: 20.0M(64.0M)->16.0M(64.0M)]\n\
         2.100: [GC concurrent-root-region-scan-start]\n2.110: [GC concurrent-root-region-scan-end, 0.0100000 secs]\n2.110: [GC concurrent-mark-start]\n2.200: [GC concurrent-mark-end, 0.0900000 secs]\n\
         2.200: [GC remark 2.201: [Finalize Marking, 0.0001 secs] 2.202: [GC ref-proc, 0.0002 secs] 2.203: [Unloading, 0.0003 secs], 0.0030000 secs]\n [Times: user=0.0 sys=0.0, real=0.00 secs]\n\
         2.300: [GC cleanup 18M->17M(64M), 0.0010000 secs]\n [Times: user=0.0 sys=0.0, real=0.00 secs]\n\
         3.000: [GC pause (G1 Evacuation Pause) (mixed), 0.0300000 secs]\n   [Eden: 4096.0K(4096.0K)->0.0B(12.0M) Survivors: 2048.0K->1024.0K Heap: 22.0M(64.0M)->10.0M(64.0M)]\n\
         4.000: [Full GC (Allocation Failure)  60M->9M(64M), 0.4000000 secs]\n   [Eden: 0.0B(4096.0K)->0.0B(12.0M) Survivors: 0.0B->0.0B Heap: 60.0M(64.0M)->9.5M(64.0M)], [Metaspace: 3000K->2999K(1056768K)]\n",
    );
    let counts = [StopKind::Young, StopKind::Mixed, StopKind::Remark, StopKind::Cleanup, StopKind::Full]
        .map(|kind| log.stops.of(kind).count);
    assert_eq!(counts, [2, 1, 1, 1, 1]);
    assert_eq!((log.humongous, failures(&log)), (1, vec![(Failure::ToSpaceExhausted, 1)]));
    let floors: Vec<_> = log.floors.latest.iter().map(|floor| (floor.kind, floor.used.get())).collect();
    assert_eq!(floors, [(FloorKind::Mixed, 10 * M), (FloorKind::Full, 19 * M / 2)]);
    assert_eq!(log.stops.all.total.as_millis(), 464);
    // 10 MiB of the young generation freed 8 MiB; 12 MiB with survivors freed 4 of 10.
    assert_eq!(log.promotion.bytes.get(), 6 * M);
    assert_eq!((log.damage.broken, log.metaspace.unwrap().get()), (0, 2999 * K));
}

#[test]
fn g1_without_details() {
    assert_eq!(
        only("1.0: [GC pause (G1 Evacuation Pause) (young) 24M->6M(256M), 0.0051230 secs]\n"),
        (StopKind::Young, Some("G1 Evacuation Pause".to_owned()), 5123)
    );
}

#[test]
fn heap_dumps_around_each_collection() {
    let log = read(
        "{Heap before GC invocations=1 (full 0):\n PSYoungGen      total 76800K, used 66048K [0x00000007aaa80000, 0x00000007b0000000, 0x0000000800000000)\n  eden space 66048K, 100% used [0x00000007aaa80000,0x00000007aeb00000,0x00000007aeb00000)\n\
         1.000: [GC (Allocation Failure) [PSYoungGen: 66048K->4000K(76800K)] 66048K->4008K(251392K), 0.0040000 secs] [Times: user=0.01 sys=0.00, real=0.00 secs]\nHeap after GC invocations=1 (full 0):\n PSYoungGen      total 76800K, used 4000K [0x00000007aaa80000, 0x00000007b0000000, 0x0000000800000000)\n}\n",
    );
    assert_eq!((log.stops.all.count, log.damage.broken, log.damage.foreign), (1, 0, 0));
}

#[test]
fn adaptive_sizes_break_a_record() {
    let log = read(
        "1.000: [GC (Allocation Failure) AdaptiveSizePolicy::update_averages:  survived: 4096  promoted: 0  overflow: false\nAdaptiveSizeStart: 1.004 collection: 1 \nPSAdaptiveSizePolicy::compute_eden_space_size: costs minor_time: 0.01 major_cost: 0.0\nAdaptiveSizeStop: collection: 1 \n[PSYoungGen: 66048K->4000K(76800K)] 66048K->4008K(251392K), 0.0040000 secs] [Times: user=0.01 sys=0.00, real=0.00 secs]\n",
    );
    assert_eq!((log.stops.all.total.as_micros(), log.peak_used.unwrap().get()), (4000, 66_048 * K));
}

#[test]
fn shenandoah_of_jdk_8() {
    let log = read(
        "0.876: [Pause Init Mark (process weakrefs), 1.692 ms]\n0.877: [Concurrent marking, 4.315 ms]\n0.883: [Pause Final Mark (process weakrefs), 3.175 ms]\n0.886: [Concurrent cleanup 64M->68M(8192M), 0.045 ms]\n\
         0.891: [Pause Init Update Refs, 0.033 ms]\n0.895: [Pause Final Update Refs, 0.271 ms]\n0.896: [Concurrent cleanup 84M->28M(8192M), 0.039 ms]\n",
    );
    assert_eq!(log.collector, Some(Collector::Shenandoah));
    assert_eq!((log.stops.all.count, log.stops.all.total.as_micros()), (4, 5171));
    assert_eq!((log.cycles, log.floors.last_whole().unwrap().used.get()), (1, 28 * M));
}

#[test]
fn unified_cms_and_serial() {
    let log = read(
        "[0.1s][info][gc] Using Concurrent Mark Sweep\n[1.0s][info][gc,heap] GC(0) ParNew: 30720K->3392K(34560K)\n[1.0s][info][gc] GC(0) Pause Young (Allocation Failure) 30M->5M(124M) 8.0ms\n\
         [2.0s][info][gc] GC(1) Pause Initial Mark 40M->40M(124M) 0.5ms\n[2.1s][info][gc] GC(1) Concurrent Mark 100.0ms\n[2.2s][info][gc] GC(1) Pause Remark 42M->42M(124M) 2.5ms\n\
         [3.0s][info][gc,promotion] GC(2) Promotion failed\n[3.0s][info][gc] GC(2) Pause Young (Allocation Failure) 120M->118M(124M) 9.0ms\n[3.1s][info][gc] GC(3) Concurrent mode failure\n[3.5s][info][gc] GC(3) Pause Full (Allocation Failure) 118M->30M(124M) 300.0ms\n",
    );
    assert_eq!(log.collector, Some(Collector::Cms));
    assert_eq!(failures(&log), [(Failure::ConcurrentMode, 1), (Failure::Promotion, 1)]);
    assert_eq!((log.failed, log.stops.of(StopKind::InitialMark).count), (2, 1));
    // 27,328 KiB left the young generation, 25 MiB the heap.
    assert_eq!(log.promotion.bytes.get(), 27_328 * K - 25 * M);
}

#[test]
fn unified_g1_of_jdk_9_to_21() {
    let log = read(
        "[0.1s][info][gc] Using G1\n[1.0s][info][gc] GC(0) Pause Young (G1 Evacuation Pause) 24M->6M(256M) (0.293s, 0.307s) 13.998ms\n[2.0s][info][gc] GC(1) Pause Initial Mark (G1 Humongous Allocation) 30M->6M(256M) 2.0ms\n\
         [3.0s][info][gc] GC(2) To-space exhausted\n[3.0s][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 250M->250M(256M) 50.0ms\n[3.5s][info][gc] GC(3) Pause Full (G1 Evacuation Pause) 250M->90M(256M) 200.0ms\n\
         [4.0s][info][gc] GC(4) Pause Young (Mixed) (G1 Preventive Collection) (Evacuation Failure) 250M->100M(256M) 20.0ms\n",
    );
    assert_eq!(failures(&log), [(Failure::ToSpaceExhausted, 2)]);
    assert_eq!((log.failed, log.humongous, log.cycles), (2, 1, 5));
    assert_eq!(log.floors.last_whole().unwrap().used.get(), 90 * M);
    assert_eq!(log.floors.last().unwrap().kind, FloorKind::Mixed);
}

#[test]
fn generational_zgc() {
    let log = read(
        "[0.1s][info][gc] Using The Z Garbage Collector\n[0.1s][info][gc,init] Max Capacity: 512M\n\
         [1.0s][info][gc,phases] GC(0) y: Pause Mark Start 0.010ms\n[1.0s][info][gc,phases] GC(0) y: Pause Mark End 0.020ms\n[1.0s][info][gc,phases] GC(0) y: Pause Relocate Start 0.030ms\n[1.0s][info][gc,heap] GC(0) y:  Promoted:         -                  -                 0M (0%)            7M (1%)\n[1.0s][info][gc,phases] GC(0) y: Young Generation 140M(27%)->80M(16%) 0.064s\n[1.0s][info][gc] GC(0) Minor Collection (Allocation Rate) 140M(27%)->80M(16%) 0.065s\n\
         [2.0s][info][gc] Allocation Stall (main) 10.644ms\n[2.0s][info][gc] GC(1) Major Collection (Allocation Stall) 512M(100%)->90M(18%) 0.365s\n",
    );
    assert_eq!(log.collector, Some(Collector::GenerationalZ));
    assert_eq!((log.stops.all.total.as_micros(), log.minor_cycles, log.major_cycles), (60, 1, 1));
    assert_eq!((log.promotion.bytes.get(), log.promotion.collections), (7 * M, 1));
    assert_eq!((log.failed, log.floors.last_whole().unwrap().used.get()), (1, 90 * M));
}

#[test]
fn without_any_decoration() {
    let log = read(
        "GC(0) Pause Young (Allocation Failure) 25M->1M(92M) 2.143ms\nGC(1) Pause Full (Ergonomics) 25M->2M(92M) 4.000ms\n",
    );
    assert_eq!((log.stops.all.total.as_micros(), log.span), (6143, None));
}

#[test]
fn another_jvm_in_the_same_file() {
    let log = read(
        "[10.0s][info][gc] GC(7) Pause Young (Allocation Failure) 25M->20M(92M) 2.000ms\n[20.0s][info][gc] GC(8) Pause Young (Allocation Failure) 45M->20M(92M) 2.000ms\n\
         [1.0s][info][gc] GC(0) Pause Young (Allocation Failure) 25M->1M(92M) 2.000ms\n[3.0s][info][gc] GC(1) Pause Young (Allocation Failure) 26M->1M(92M) 2.000ms\n",
    );
    let span = log.span.unwrap();
    assert_eq!((span.length.as_secs(), span.runs), (12, 2));
    // What the second JVM's first collection found is not growth since the first JVM's last.
    assert_eq!(log.allocation.bytes.get(), 50 * M);
}

#[test]
fn a_class_histogram_within_a_record() {
    let log = read(
        "1.000: [Full GC (System.gc()) 1.000: [Class Histogram (before full gc): \n num     #instances         #bytes  class name\n----------------------------------------------\n   1:          1234        5678  [C\n   2:           123         456  [Ljava.lang.String;\nTotal          1357        6134\n, 0.0200000 secs][PSYoungGen: 1K->0K(5K)] [ParOldGen: 4K->3K(20K)] 5K->3K(25K), [Metaspace: 3K->3K(9K)], 0.1000000 secs]\n\
         2.000: [GC2.000: [ParNew: 5K->1K(6K), 0.0010000 secs] 8K->4K(25K), 0.0020000 secs]\n",
    );
    assert_eq!((log.stops.all.count, log.stops.all.total.as_millis()), (2, 102));
    assert_eq!((log.floors.last_whole().unwrap().used.get(), log.damage.broken), (3 * K, 0));
}

#[test]
fn statistics_of_free_lists_are_no_failure() {
    let log = read(
        "1.000: [GC Before GC:\nStatistics for BinaryTreeDictionary:\n------------------------------------\nTotal Free Space: 34567\nMax   Chunk Size: 34567\nNumber of Blocks: 1\n1.000: [ParNew: 5K->1K(6K), 0.0010000 secs] 8K->4K(25K) icms_dc=5 After GC:\nStatistics for BinaryTreeDictionary:\n------------------------------------\n, 0.0020000 secs] [Times: user=0.01 sys=0.00, real=0.00 secs]\n",
    );
    assert_eq!((log.stops.all.total.as_millis(), log.failed), (2, 0));
    assert_eq!(log.peak_used.unwrap().get(), 8 * K);
}
