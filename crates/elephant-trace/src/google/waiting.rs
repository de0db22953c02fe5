//! Puts events in the order of time, where the lines of a trace are a little out of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::attempts::Moment;

/// An event waits this long, in the time of the trace, for earlier ones.
const PATIENCE: Moment = 10 * 60 * 1000;
/// At most this many events wait; beyond that, the earliest is returned at once. Ten minutes of the trace
/// have a tenth of this number.
const MOST: usize = 500_000;

/// Events in the order of time, which wait as long as an earlier event may still follow. Events of the same
/// moment keep the order of their lines.
pub(super) struct Waiting<E> {
    events: BinaryHeap<Reverse<(Moment, u64, E)>>,
    /// The latest moment so far.
    latest: Moment,
    /// The number of events so far.
    count: u64,
}

impl<E> Default for Waiting<E>
where
    (Moment, u64, E): Ord,
{
    fn default() -> Self {
        Self { events: BinaryHeap::new(), latest: 0, count: 0 }
    }
}

impl<E> Waiting<E>
where
    (Moment, u64, E): Ord,
{
    /// Adds an event, and returns its moment: that of the latest event so far if its own is unknown.
    pub(super) fn push(&mut self, at: Option<Moment>, event: E) -> Moment {
        let at = at.unwrap_or(self.latest);
        self.latest = self.latest.max(at);
        self.events.push(Reverse((at, self.count, event)));
        self.count += 1;
        at
    }

    /// The next event, with its moment, if no earlier event is expected.
    pub(super) fn next(&mut self) -> Option<(Moment, E)> {
        let Reverse((at, ..)) = self.events.peek()?;
        if at.saturating_add(PATIENCE) >= self.latest && self.events.len() <= MOST {
            return None;
        }
        self.rest()
    }

    /// The next event, when there are no more lines.
    pub(super) fn rest(&mut self) -> Option<(Moment, E)> {
        self.events.pop().map(|Reverse((at, _, event))| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(waiting: &mut Waiting<char>) -> String {
        std::iter::from_fn(|| waiting.next()).map(|(_, event)| event).collect()
    }

    #[test]
    fn events_come_in_the_order_of_time_once_ten_minutes_have_passed() {
        let mut waiting = Waiting::default();
        for (at, event) in [(5, 'b'), (3, 'a'), (5, 'c'), (700, 'd')] {
            waiting.push(Some(1000 * at), event);
        }
        assert_eq!(drain(&mut waiting), "abc");
        // The event comes too late for its place, so it is returned at once.
        waiting.push(Some(0), 'e');
        waiting.push(None, 'f');
        assert_eq!(drain(&mut waiting), "e");
        assert_eq!(waiting.rest(), Some((700_000, 'd')));
        assert_eq!(waiting.rest(), Some((700_000, 'f')));
        assert_eq!(waiting.rest(), None);
    }

    #[test]
    fn the_number_of_waiting_events_is_bounded() {
        let mut waiting = Waiting::default();
        for _ in 0..=MOST {
            waiting.push(Some(0), ());
        }
        assert_eq!(waiting.next(), Some((0, ())));
        assert_eq!(waiting.next(), None);
    }
}
