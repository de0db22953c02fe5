//! What happens in a replay, and the queue of what is still to happen.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::replay::Micros;

/// What happens at a moment. Events of one moment happen in the order of the variants, and then of their subjects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A stage attempt is submitted, or its first task can start.
    StageReady(u32),
    /// Executors open or close slots.
    Slots(i32),
    /// An attempt gives its slot back before its end.
    SlotGivenBack,
    JobSubmitted(u32),
    AttemptEnd(u32),
    /// A task ends that replaces those of the stage attempt.
    ReplacedTaskEnd(u32),
    /// An attempt is queued: a speculative copy, or a repetition.
    Queued(u32),
    StageEnd(u32),
    JobEnd(u32),
}

/// Bits of the number of an event's subject, and of its kind and subject together.
const SUBJECT: u32 = 32;
const EVENT: u32 = 64;
/// Turns signed numbers into unsigned ones of the same order.
const SIGN: u32 = 1 << 31;

impl Event {
    fn code(self) -> u64 {
        let (kind, subject) = match self {
            Self::StageReady(stage) => (0, stage),
            Self::Slots(step) => (1, step.cast_unsigned() ^ SIGN),
            Self::SlotGivenBack => (2, 0),
            Self::JobSubmitted(job) => (3, job),
            Self::AttemptEnd(attempt) => (4, attempt),
            Self::ReplacedTaskEnd(stage) => (5, stage),
            Self::Queued(attempt) => (6, attempt),
            Self::StageEnd(stage) => (7, stage),
            Self::JobEnd(job) => (8, job),
        };
        (kind << SUBJECT) | u64::from(subject)
    }

    #[allow(clippy::cast_possible_truncation)] // the lower half is the subject
    fn of(code: u64) -> Self {
        let subject = code as u32;
        match code >> SUBJECT {
            0 => Self::StageReady(subject),
            1 => Self::Slots((subject ^ SIGN).cast_signed()),
            2 => Self::SlotGivenBack,
            3 => Self::JobSubmitted(subject),
            4 => Self::AttemptEnd(subject),
            5 => Self::ReplacedTaskEnd(subject),
            6 => Self::Queued(subject),
            7 => Self::StageEnd(subject),
            _ => Self::JobEnd(subject),
        }
    }
}

/// Events that are still to happen, the next one first. Moment, kind and subject are one number, which is quick to
/// compare: comparisons take most of the time of a replay.
#[derive(Debug, Default)]
pub(super) struct Queue {
    keys: BinaryHeap<Reverse<u128>>,
    /// Whether the first key was taken and is still in the heap. Most events cause one other event; replacing the first
    /// key by it takes half of the time of removing and adding.
    taken: bool,
}

impl Queue {
    /// Adds an event; no moment is before the start.
    pub(super) fn push(&mut self, at: Micros, event: Event) {
        let key = Reverse((u128::from(at.since_start()) << EVENT) | u128::from(event.code()));
        if std::mem::take(&mut self.taken)
            && let Some(mut first) = self.keys.peek_mut()
        {
            *first = key;
            return;
        }
        self.keys.push(key);
    }

    #[allow(clippy::cast_possible_truncation)] // each half is its own number
    pub(super) fn pop(&mut self) -> Option<(Micros, Event)> {
        if self.taken {
            self.keys.pop();
        }
        let first = self.keys.peek().copied();
        self.taken = first.is_some();
        let Reverse(key) = first?;
        Some((Micros::after_start((key >> EVENT) as u64), Event::of(key as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_event_is_the_first_of_those_left(
            steps in prop::collection::vec(prop::option::of((0..5i64, 0..3u32)), 0..60),
        ) {
            let mut queue = Queue::default();
            let mut plain: Vec<(i64, u32)> = Vec::new();
            for step in steps {
                if let Some((at, stage)) = step {
                    queue.push(Micros::from_millis(at), Event::StageEnd(stage));
                    plain.push((at, stage));
                } else {
                    let first = plain.iter().enumerate().min_by_key(|(_, event)| **event).map(|(place, _)| place);
                    let first = first.map(|place| plain.remove(place));
                    let first = first.map(|(at, stage)| (Micros::from_millis(at), Event::StageEnd(stage)));
                    prop_assert_eq!(queue.pop(), first);
                }
            }
        }
    }

    #[test]
    fn events_come_in_order_and_unchanged() {
        let ms = Micros::from_millis;
        let in_order = [
            (Micros::ZERO, Event::JobEnd(u32::MAX)),
            (ms(5), Event::StageReady(u32::MAX)),
            (ms(5), Event::Slots(i32::MIN)),
            (ms(5), Event::Slots(-3)),
            (ms(5), Event::Slots(4)),
            (ms(5), Event::SlotGivenBack),
            (ms(5), Event::JobSubmitted(2)),
            (ms(5), Event::AttemptEnd(1)),
            (ms(5), Event::AttemptEnd(2)),
            (ms(5), Event::ReplacedTaskEnd(0)),
            (ms(5), Event::Queued(7)),
            (ms(5), Event::StageEnd(0)),
            (ms(6), Event::StageReady(0)),
            (Micros::MAX, Event::JobEnd(3)),
        ];
        let mut queue = Queue::default();
        for (at, event) in in_order.iter().rev().step_by(2).chain(in_order.iter().rev().skip(1).step_by(2)) {
            queue.push(*at, *event);
        }
        let popped: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(popped, in_order);
        assert_eq!(queue.pop(), None);
    }
}
