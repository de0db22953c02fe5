//! Counters that look like ones that were decoded before.
//!
//! Most of a history's bytes are names of counters, the same ones in the same order for each attempt. What
//! stands between the values is therefore remembered, as it is encoded, and compared with what comes next:
//! where it is the same, only the values are left to be read. And the end of a task repeats the counters of
//! its attempt to the byte: there nothing is left to be read at all.
//!
//! Both rest on decoding being a function of the bytes alone. Whatever differs in one byte, or holds
//! anything but counters as Hadoop writes them, is decoded as if nothing were known.

use super::event::CounterSlot;
use crate::model::counters::CounterSet;

/// Maps and reduces have different counters, and some tasks more than others of their kind.
const MAX_SHAPES: usize = 4;

/// Longer counters are not remembered. A job's, which are the longest, have some 10 KiB.
const MAX_LEN: usize = 64 << 10;

/// How an encoding writes the value of a counter.
pub(crate) trait Number {
    /// Takes a value off the start of `bytes` just as the encoding's decoder does, `None` where there is none.
    fn take(bytes: &mut &[u8]) -> Option<i64>;
}

/// The counters that were decoded last.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownCounters {
    /// What the decoder takes the bytes for. Everything is forgotten when it changes.
    layout: usize,
    last: Last,
    /// The one that was met last comes first.
    shapes: Vec<Shape>,
    trace: Trace,
}

impl KnownCounters {
    /// Reads the counters at the start of `bytes` into `set`, which must be empty, and says how long they
    /// are. `None`, and `set` is still empty, if they are not like any that were decoded before.
    pub(crate) fn read<N: Number>(
        &mut self,
        layout: usize,
        bytes: &[u8],
        set: &mut CounterSet,
    ) -> Option<usize> {
        if self.layout != layout {
            *self = Self { layout, ..Self::default() };
        }
        if !self.last.bytes.is_empty() && bytes.starts_with(&self.last.bytes) {
            set.copy_from(&self.last.set);
            return Some(self.last.bytes.len());
        }
        for place in 0..self.shapes.len() {
            if let Some(len) = self.shapes.get(place)?.read::<N>(bytes, set) {
                self.shapes.swap(0, place);
                self.last.keep(bytes.get(..len)?, set);
                return Some(len);
            }
            set.clear();
        }
        None
    }

    /// Where a decoder notes what it finds, until it calls [`Self::learn`].
    pub(crate) fn trace(&mut self) -> &mut Trace {
        &mut self.trace
    }

    /// Remembers the counters that were traced while they were decoded from `bytes` into the empty `set`.
    pub(crate) fn learn(&mut self, bytes: &[u8], set: &CounterSet) {
        if self.trace.irregular || bytes.len() > MAX_LEN {
            return;
        }
        self.last.keep(bytes, set);
        if self.shapes.len() < MAX_SHAPES {
            self.shapes.push(Shape::default());
        }
        if let Some(shape) = self.shapes.last_mut() {
            shape.learn(bytes, &self.trace);
            self.shapes.rotate_right(1);
        }
    }
}

/// The last counters as they were encoded, and what they say.
#[derive(Debug, Clone, Default)]
struct Last {
    bytes: Vec<u8>,
    set: CounterSet,
}

impl Last {
    fn keep(&mut self, bytes: &[u8], set: &CounterSet) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.set.copy_from(set);
    }
}

/// Counters without their values.
#[derive(Debug, Clone, Default)]
struct Shape {
    /// What stands around the values, back to back.
    literals: Vec<u8>,
    /// Where in `literals` each value belongs, and what it is the value of.
    values: Vec<(usize, CounterSlot)>,
}

impl Shape {
    fn learn(&mut self, bytes: &[u8], trace: &Trace) {
        self.literals.clear();
        self.values.clear();
        let mut from = 0;
        for &Value { start, end, slot } in &trace.values {
            self.literals.extend_from_slice(bytes.get(from..start).unwrap_or_default());
            self.values.push((self.literals.len(), slot));
            from = end;
        }
        self.literals.extend_from_slice(bytes.get(from..).unwrap_or_default());
    }

    fn read<N: Number>(&self, bytes: &[u8], set: &mut CounterSet) -> Option<usize> {
        let mut rest = bytes;
        let mut from = 0;
        for &(end, slot) in &self.values {
            rest = rest.strip_prefix(self.literals.get(from..end)?)?;
            slot.record(N::take(&mut rest)?, set);
            from = end;
        }
        rest = rest.strip_prefix(self.literals.get(from..)?)?;
        Some(bytes.len() - rest.len())
    }
}

/// What a decoder found in counters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    values: Vec<Value>,
    irregular: bool,
}

/// A value and where its bytes are.
#[derive(Debug, Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
    slot: CounterSlot,
}

impl Trace {
    /// Starts over, with other counters.
    pub(crate) fn start(&mut self) {
        self.values.clear();
        self.irregular = false;
    }

    /// Notes a value that [`Number::take`] reads from `start` to `end`, counted from where the counters start.
    /// Values come in the order of their bytes.
    #[inline]
    pub(crate) fn value(&mut self, start: usize, end: usize, slot: CounterSlot) {
        if end <= MAX_LEN {
            self.values.push(Value { start, end, slot });
        }
    }

    /// Notes that values were recorded of which the trace tells nothing.
    pub(crate) fn irregular(&mut self) {
        self.irregular = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::counters::Counter;

    /// A digit.
    struct Digit;

    impl Number for Digit {
        fn take(bytes: &mut &[u8]) -> Option<i64> {
            let (first, rest) = bytes.split_first()?;
            *bytes = rest;
            first.is_ascii_digit().then(|| i64::from(first - b'0'))
        }
    }

    fn slot(counter: Counter) -> CounterSlot {
        CounterSlot::Typed { counter, framework: true }
    }

    /// Learns `a=1,b=2.` with the values of two counters.
    fn known(text: &str) -> KnownCounters {
        let mut known = KnownCounters::default();
        let mut set = CounterSet::default();
        let counters = [Counter::SpilledRecords, Counter::MapInputRecords];
        for (at, counter) in text.match_indices('=').map(|(at, _)| at + 1).zip(counters) {
            known.trace().value(at, at + 1, slot(counter));
            slot(counter).record(Digit::take(&mut &text.as_bytes()[at..]).unwrap(), &mut set);
        }
        known.learn(text.as_bytes(), &set);
        known
    }

    fn read(known: &mut KnownCounters, text: &str) -> (Option<usize>, Vec<(Counter, i64)>) {
        let mut set = CounterSet::default();
        (known.read::<Digit>(0, text.as_bytes(), &mut set), set.iter().collect())
    }

    #[test]
    fn the_same_counters_with_the_same_or_other_values() {
        let mut known = known("a=1,b=2.");
        for (text, input, spilled) in [("a=1,b=2. and so on", 2, 1), ("a=7,b=0.", 0, 7), ("a=7,b=0.x", 0, 7)]
        {
            let expected = vec![(Counter::MapInputRecords, input), (Counter::SpilledRecords, spilled)];
            assert_eq!(read(&mut known, text), (Some(8), expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_left_alone() {
        let mut known = known("a=1,b=2.");
        for text in ["", "a=1,b=2", "a=1,b=x.", "a=1,c=2.", "A=1,b=2.", "a=12,b=2.", "a=1,b=2,"] {
            assert_eq!(read(&mut known, text), (None, vec![]), "{text}");
        }
        let mut set = CounterSet::default();
        assert_eq!(known.read::<Digit>(1, b"a=1,b=2.", &mut set), None);
        assert_eq!(known.read::<Digit>(0, b"a=1,b=2.", &mut set), None);
    }

    #[test]
    fn what_was_not_traced_whole_is_not_learnt() {
        let mut known = KnownCounters::default();
        known.trace().irregular();
        known.learn(b"a=1,b=2.", &CounterSet::default());
        assert_eq!(read(&mut known, "a=1,b=2."), (None, vec![]));
        known.trace().start();
        known.learn(&vec![b'x'; MAX_LEN + 1], &CounterSet::default());
        assert_eq!(read(&mut known, &"x".repeat(MAX_LEN + 1)), (None, vec![]));
    }

    #[test]
    fn only_the_latest_shapes_are_kept() {
        let mut known = known("a=1,b=2.");
        for name in 'c'..'g' {
            let text = format!("{name}=1.");
            known.trace().start();
            known.trace().value(2, 3, slot(Counter::SpilledRecords));
            known.learn(text.as_bytes(), &CounterSet::default());
        }
        assert_eq!(read(&mut known, "a=5,b=2."), (None, vec![]));
        assert_eq!(read(&mut known, "c=5."), (Some(4), vec![(Counter::SpilledRecords, 5)]));
    }
}
