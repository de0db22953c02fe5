//! The order of the parts of a rotated log.

use crate::recognise::{Dialect, recognise};
use crate::stamp::Stamp;

/// One part of a log: its name and the start of its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The name of the file without folders.
    pub name: &'a str,
    /// Its first bytes, up to [`crate::HEAD`].
    pub head: &'a [u8],
}

/// The order in which parts were written: by date, then by uptime, then by the number of the first collection, and if
/// nothing of this is logged, by the numbers in their names. Numbers wrap around when logs are rotated, so names alone prove
/// nothing.
///
/// Returns positions in `parts`.
#[must_use]
pub fn order(parts: &[Part<'_>]) -> Vec<usize> {
    let firsts: Vec<First> = parts.iter().map(First::of).collect();
    let all = |has: fn(&First) -> bool| firsts.iter().all(has);
    let mut positions: Vec<usize> = (0..parts.len()).collect();
    if all(|first| first.stamp.wall.is_some()) {
        positions
            .sort_by_key(|at| firsts.get(*at).map(|first| (first.stamp.wall, first.stamp.uptime, first.id)));
    } else if all(|first| first.stamp.uptime.is_some()) {
        positions.sort_by_key(|at| firsts.get(*at).map(|first| (first.stamp.uptime, first.id)));
    } else if all(|first| first.id.is_some()) {
        positions.sort_by_key(|at| firsts.get(*at).map(|first| first.id));
    } else {
        positions.sort_by_key(|at| {
            parts.get(*at).map(|part| (number_in(part.name).unwrap_or(u64::MAX), part.name))
        });
    }
    positions
}

/// What the first lines of a part tell of its place.
#[derive(Debug, Default)]
struct First {
    stamp: Stamp,
    id: Option<u64>,
}

impl First {
    fn of(part: &Part<'_>) -> Self {
        let mut first = Self::default();
        let dialect = recognise(part.head);
        for line in String::from_utf8_lossy(part.head).lines() {
            let (stamp, id) = match dialect {
                Ok(Dialect::Unified) => crate::unified::place(line),
                _ => (Stamp::leading(line).0, None),
            };
            // A date without uptime is that of the line in which rotation is told.
            if first.stamp.is_empty() {
                first.stamp = stamp;
            }
            first.id = first.id.or(id);
            if !first.stamp.is_empty() && (first.id.is_some() || dialect != Ok(Dialect::Unified)) {
                break;
            }
        }
        first
    }
}

/// The last number in a name: of `gc.log.3.current`, 3. The file that is being written has none in unified logging.
fn number_in(name: &str) -> Option<u64> {
    name.split('.').rev().find_map(|word| word.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(parts: &[(&str, &str)]) -> Vec<String> {
        let parts: Vec<_> = parts.iter().map(|(name, head)| Part { name, head: head.as_bytes() }).collect();
        order(&parts).into_iter().map(|at| parts[at].name.to_owned()).collect()
    }

    #[test]
    fn stamps_win_over_numbers_that_wrapped() {
        let line = |second: u32| {
            format!(
                "[{second}.000s][info][gc] GC({second}) Pause Young (Allocation Failure) 2M->1M(9M) 1.0ms\n"
            )
        };
        let (a, b, c) = (line(30), line(10), line(20));
        assert_eq!(
            ordered(&[("gc.log.0", &a), ("gc.log.1", &b), ("gc.log", &c)]),
            ["gc.log.1", "gc.log", "gc.log.0"]
        );
    }

    #[test]
    fn without_stamps_collections_or_names_tell() {
        let line =
            |id: u32| format!("[info][gc] GC({id}) Pause Young (Allocation Failure) 2M->1M(9M) 1.0ms\n");
        let (a, b) = (line(10), line(9));
        assert_eq!(ordered(&[("a", &a), ("b", &b)]), ["b", "a"]);
        let record = "[GC 5K->4K(8K), 0.1 secs]\n";
        assert_eq!(
            ordered(&[("gc.log.10", record), ("gc.log.2.current", record), ("gc.log", record)]),
            ["gc.log.2.current", "gc.log.10", "gc.log"]
        );
        assert_eq!(ordered(&[]), Vec::<String>::new());
    }
}
