//! Counter templates: a fast path for counters that differ from earlier ones only in their values.
//!
//! Most bytes of a history are counter names, the same ones in the same order for each attempt. The encoded
//! bytes between the values are stored as a template and compared with the next counters: if they match, only
//! the values are read. The end of a task repeats the counters of its attempt byte for byte; then nothing
//! needs to be read.
//!
//! Both shortcuts are sound because decoding depends only on the bytes. If a single byte differs, or anything
//! but Hadoop's usual layout occurs, the counters are decoded from scratch.

use super::counter_slot::CounterSlot;
use elephant_model::model::counters::CounterSet;

/// Maps and reduces have different counters, and some tasks have more than others of their kind.
const MAX_TEMPLATES: usize = 4;

/// Longer counters are not remembered. The longest, a job's, have about 10 KiB.
const MAX_LEN: usize = 64 << 10;

/// How an encoding represents the value of a counter.
pub(crate) trait Number {
    /// Reads a value from the start of `bytes` exactly as the encoding's decoder does; `None` if there is
    /// none.
    fn take(bytes: &mut &[u8]) -> Option<i64>;
}

/// Templates of the counters that were decoded last.
#[derive(Debug, Clone, Default)]
pub(crate) struct CounterTemplates {
    /// The decoder's layout of the bytes. A change discards all templates.
    layout: usize,
    last: Last,
    /// Most recently used first.
    templates: Vec<CounterTemplate>,
    trace: Trace,
}

impl CounterTemplates {
    /// Reads the counters at the start of `bytes` into `set`, which must be empty, and returns their length.
    /// `None`, with `set` still empty, if no template matches.
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
        for place in 0..self.templates.len() {
            if let Some(len) = self.templates.get(place)?.read::<N>(bytes, set) {
                self.templates.swap(0, place);
                self.last.keep(bytes.get(..len)?, set);
                return Some(len);
            }
            set.clear();
        }
        None
    }

    /// The trace for the decoder to fill before it calls [`Self::learn`].
    pub(crate) fn trace(&mut self) -> &mut Trace {
        &mut self.trace
    }

    /// Learns the counters that were traced while they were decoded from `bytes` into the empty `set`.
    pub(crate) fn learn(&mut self, bytes: &[u8], set: &CounterSet) {
        if self.trace.incomplete || bytes.len() > MAX_LEN {
            return;
        }
        self.last.keep(bytes, set);
        if self.templates.len() < MAX_TEMPLATES {
            self.templates.push(CounterTemplate::default());
        }
        if let Some(template) = self.templates.last_mut() {
            template.learn(bytes, &self.trace);
            self.templates.rotate_right(1);
        }
    }
}

/// The last counters: their encoded bytes and their values.
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

/// A template: counters without their values.
#[derive(Debug, Clone, Default)]
struct CounterTemplate {
    /// The bytes around the values, concatenated.
    literals: Vec<u8>,
    /// The position of each value in `literals`, and where it is stored.
    values: Vec<(usize, CounterSlot)>,
}

impl CounterTemplate {
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

/// The values that a decoder found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    values: Vec<Value>,
    incomplete: bool,
}

/// A value and the position of its bytes.
#[derive(Debug, Clone, Copy)]
struct Value {
    start: usize,
    end: usize,
    slot: CounterSlot,
}

impl Trace {
    /// Starts a new trace.
    pub(crate) fn start(&mut self) {
        self.values.clear();
        self.incomplete = false;
    }

    /// Records a value that [`Number::take`] reads from `start` to `end`, as offsets from the start of the
    /// counters. Values must be recorded in the order of their bytes.
    #[inline]
    pub(crate) fn value(&mut self, start: usize, end: usize, slot: CounterSlot) {
        if end <= MAX_LEN {
            self.values.push(Value { start, end, slot });
        }
    }

    /// Marks the trace as incomplete: values were recorded outside of it.
    pub(crate) fn mark_incomplete(&mut self) {
        self.incomplete = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::counters::Counter;

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
    fn known(text: &str) -> CounterTemplates {
        let mut known = CounterTemplates::default();
        let mut set = CounterSet::default();
        let counters = [Counter::SpilledRecords, Counter::MapInputRecords];
        for (at, counter) in text.match_indices('=').map(|(at, _)| at + 1).zip(counters) {
            known.trace().value(at, at + 1, slot(counter));
            slot(counter).record(Digit::take(&mut &text.as_bytes()[at..]).unwrap(), &mut set);
        }
        known.learn(text.as_bytes(), &set);
        known
    }

    fn read(known: &mut CounterTemplates, text: &str) -> (Option<usize>, Vec<(Counter, i64)>) {
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
    fn other_counters_do_not_match() {
        let mut known = known("a=1,b=2.");
        for text in ["", "a=1,b=2", "a=1,b=x.", "a=1,c=2.", "A=1,b=2.", "a=12,b=2.", "a=1,b=2,"] {
            assert_eq!(read(&mut known, text), (None, vec![]), "{text}");
        }
        let mut set = CounterSet::default();
        assert_eq!(known.read::<Digit>(1, b"a=1,b=2.", &mut set), None);
        assert_eq!(known.read::<Digit>(0, b"a=1,b=2.", &mut set), None);
    }

    #[test]
    fn incomplete_traces_are_not_learnt() {
        let mut known = CounterTemplates::default();
        known.trace().mark_incomplete();
        known.learn(b"a=1,b=2.", &CounterSet::default());
        assert_eq!(read(&mut known, "a=1,b=2."), (None, vec![]));
        known.trace().start();
        known.learn(&vec![b'x'; MAX_LEN + 1], &CounterSet::default());
        assert_eq!(read(&mut known, &"x".repeat(MAX_LEN + 1)), (None, vec![]));
    }

    #[test]
    fn only_the_latest_templates_are_kept() {
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
