//! The events that lie ahead, in order of time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// The next attempt on a node ends, if the node's version is still this one.
    End { node: usize, version: u64 },
    /// The container of an attempt has started, so that it computes.
    Begin { attempt: usize },
    /// The detector looks at the job.
    Scan,
}

/// An event at its time. Events at the same time happen in the order of their kinds, then as they were added.
#[derive(Debug, Clone, Copy)]
struct Planned {
    at: f64,
    event: Event,
    number: u64,
}

impl Ord for Planned {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then(self.event.cmp(&other.event)).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Planned {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Planned {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Planned {}

/// A queue of events, the earliest first.
#[derive(Debug, Default)]
pub(super) struct Events {
    heap: BinaryHeap<Reverse<Planned>>,
    added: u64,
}

impl Events {
    pub(super) fn add(&mut self, at: f64, event: Event) {
        self.added += 1;
        self.heap.push(Reverse(Planned { at, event, number: self.added }));
    }

    pub(super) fn next(&mut self) -> Option<(f64, Event)> {
        self.heap.pop().map(|Reverse(planned)| (planned.at, planned.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_then_ends_before_scans() {
        let mut events = Events::default();
        events.add(2.0, Event::Begin { attempt: 7 });
        events.add(1.0, Event::Scan);
        events.add(1.0, Event::End { node: 1, version: 0 });
        let times: Vec<f64> = std::iter::from_fn(|| events.next()).map(|(at, _)| at).collect();
        assert_eq!(times, [1.0, 1.0, 2.0]);
        events.add(1.0, Event::Scan);
        events.add(1.0, Event::End { node: 1, version: 0 });
        assert_eq!(events.next(), Some((1.0, Event::End { node: 1, version: 0 })));
    }
}
