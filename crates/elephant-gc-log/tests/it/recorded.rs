//! Our own recordings: Java Flight Recorder measured the same runs (`tests/data/README.md`).

use std::fs::File;
use std::path::PathBuf;

use elephant_gc_log::{Collector, Failure, GcLog, StopKind, parse, parse_parts};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn recorded(name: &str) -> GcLog {
    parse(File::open(path(name)).unwrap()).unwrap()
}

/// Name, collector, largest heap in MiB, and stops as number and milliseconds: those in the log before Flight Recorder was
/// ready, and all that it recorded.
#[test]
fn flight_recorder_measured_the_same() {
    for (name, collector, heap, (before, missed), (stops, millis)) in [
        ("serial.log", Collector::Serial, 64, (1, 27.101), (14, 131.000)),
        ("parallel.log", Collector::Parallel, 64, (1, 27.636), (27, 149.015)),
        ("g1.log", Collector::G1, 72, (2, 24.778), (8, 74.061)),
        ("zgc.log", Collector::Z, 96, (9, 0.183), (12, 0.233)),
        ("shenandoah.log", Collector::Shenandoah, 64, (12, 0.388), (30, 89.908)),
    ] {
        let log = recorded(name);
        assert_eq!((log.collector, log.stops.all.count), (Some(collector), before + stops), "{name}");
        let total = log.stops.all.total.as_secs_f64() * 1e3 - missed;
        // Flight Recorder's events begin and end a little apart from the lines of the log.
        assert!(
            (total - millis).abs() < 0.03 * millis + 0.005 * f64::from(u32::try_from(stops).unwrap()),
            "{name}: {total} {millis}"
        );
        // `-Xlog:gc` does not state the largest heap; the capacity of this one never changed.
        assert_eq!(log.max_heap.unwrap().bytes.whole_mib(), heap, "{name}");
        assert_eq!(log.explicit, 1, "{name}");
        assert_eq!(log.damage.broken, 0, "{name}");
    }
}

#[test]
fn stalls_of_zgc_are_no_stops() {
    let log = recorded("zgc.log");
    // Flight Recorder has the last four of each.
    assert_eq!(log.failures.get(&Failure::AllocationStall), Some(&4));
    assert_eq!((log.cycles, log.stalled.count), (7, 4));
}

#[test]
fn cycles_without_stops_tell_no_share() {
    let log = recorded("zgc-cycles.log");
    assert_eq!(log.collector, Some(Collector::Z));
    assert!(log.cycles > 0);
    assert!(!log.stops.are_logged);
    assert_eq!((log.stop_share(), log.span), (None, None));
}

#[test]
fn all_decorations_are_read() {
    let log = recorded("decorated.log");
    assert_eq!(log.collector, Some(Collector::G1));
    assert!(log.stops.of(StopKind::Young).count > 0);
    let span = log.span.unwrap();
    assert!(span.length.as_secs() < 2 && span.start.is_some(), "{span:?}");
}

#[test]
fn parts_are_one_log_in_any_order() {
    let read = |names: [&'static str; 2]| {
        parse_parts(names.map(|name| (name, File::open(path(name)).unwrap()))).unwrap()
    };
    let log = read(["rotated.log", "rotated.log.0"]);
    assert_eq!(log, read(["rotated.log.0", "rotated.log"]));
    let (first, second) = (recorded("rotated.log.0"), recorded("rotated.log"));
    assert_eq!(log.stops.all.count, first.stops.all.count + second.stops.all.count);
    assert!(!log.damage.is_cut_at_start && !log.damage.is_cut_at_end);
    assert!(second.damage.is_cut_at_start);
    assert_eq!(log.span.unwrap().runs, 1);
}
