//! Logs of Java's garbage collectors.

use elephant_gc_log::{Dialect, GcLog, Parser, parse};

/// A log read in small portions is the same as one read at once, and its figures do not contradict each other. Both
/// dialects read any text.
pub fn gc_log(bytes: &[u8]) {
    if let Ok(log) = parse(bytes) {
        let dripped = parse(crate::same::Drip::new(bytes)).expect("a log stays a log");
        assert_eq!(log, dripped, "depends on the portions read");
    }
    for dialect in [Dialect::Classic, Dialect::Unified] {
        let mut parser = Parser::new(dialect);
        parser.read(bytes).expect("bytes in memory");
        agrees(&parser.finish());
    }
}

fn agrees(log: &GcLog) {
    let kinds = log.stops.by_kind.values();
    assert_eq!(log.stops.all.count, kinds.clone().map(|tally| tally.count).sum::<u64>());
    assert_eq!(
        Some(log.stops.all.longest),
        kinds.map(|tally| tally.longest).max().or(Some(log.stops.all.longest))
    );
    assert!(log.stops.all.longest <= log.stops.all.total);
    assert!(log.floors.latest.len() as u64 <= log.floors.count);
    assert!(log.stop_share().is_none_or(f64::is_finite));
    assert!(log.floor_share().is_none_or(f64::is_finite));
}
