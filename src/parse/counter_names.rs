//! Finds where a counter is stored by its group and name.

use rustc_hash::FxHashMap;

use super::counter_slot::CounterSlot;
use super::counter_template::CounterTemplates;
use crate::model::Interner;
use crate::model::counters::{Counter, CounterSet, is_framework_group};

/// Finds the slot of a counter by group and name.
///
/// Hadoop writes the counters of every task in the same order, so the first guess is the counter that
/// followed last time; only a wrong guess needs a hash look-up.
#[derive(Debug, Clone, Default)]
pub(crate) struct CounterNames {
    groups: Vec<Group>,
    by_name: FxHashMap<Box<str>, usize>,
    next_group: usize,
    /// Kept here because its slots refer to these names.
    templates: CounterTemplates,
}

#[derive(Debug, Clone)]
struct Group {
    name: Box<str>,
    slots: Vec<(Box<str>, CounterSlot)>,
    by_name: FxHashMap<Box<str>, usize>,
    next: usize,
}

/// Index of a group within [`CounterNames`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupIndex(usize);

impl CounterNames {
    /// The group with this name, added if new.
    pub(crate) fn group(&mut self, name: &str) -> GroupIndex {
        let guess = self.next_group;
        let index = match self.groups.get(guess) {
            Some(group) if *group.name == *name => guess,
            _ => self.find_or_add_group(name),
        };
        self.next_group = index + 1;
        if self.next_group >= self.groups.len() {
            self.next_group = 0;
        }
        if let Some(group) = self.groups.get_mut(index) {
            group.next = 0;
        }
        GroupIndex(index)
    }

    /// Records the value of counter `name` of a group into `set`.
    pub(crate) fn record(
        &mut self,
        group: GroupIndex,
        name: &str,
        value: i64,
        set: &mut CounterSet,
        strings: &mut Interner,
    ) {
        if let Some(slot) = self.slot(group, name, strings) {
            slot.record(value, set);
        }
    }

    /// Records in `set` that the value of counter `name` of a group cannot be read.
    pub(crate) fn mark_unreadable(
        &mut self,
        group: GroupIndex,
        name: &str,
        set: &mut CounterSet,
        strings: &mut Interner,
    ) {
        match self.slot(group, name, strings) {
            Some(slot) => slot.mark_unreadable(set),
            None => set.mark_other_unreadable(),
        }
    }

    /// The slot of counter `name` of a group.
    pub(crate) fn slot(
        &mut self,
        group: GroupIndex,
        name: &str,
        strings: &mut Interner,
    ) -> Option<CounterSlot> {
        let group = self.groups.get_mut(group.0)?;
        let index = match group.slots.get(group.next) {
            Some((guess, _)) if **guess == *name => group.next,
            _ => match group.by_name.get(name) {
                Some(&index) => index,
                None => group.add(name, strings)?,
            },
        };
        group.next = index + 1;
        group.slots.get(index).map(|&(_, slot)| slot)
    }

    /// Templates of counters that were decoded before.
    pub(crate) fn templates(&mut self) -> &mut CounterTemplates {
        &mut self.templates
    }

    fn find_or_add_group(&mut self, name: &str) -> usize {
        if let Some(&index) = self.by_name.get(name) {
            return index;
        }
        let index = self.groups.len();
        let group = Group { name: name.into(), slots: Vec::new(), by_name: FxHashMap::default(), next: 0 };
        self.groups.push(group);
        self.by_name.insert(name.into(), index);
        index
    }
}

impl Group {
    fn add(&mut self, name: &str, strings: &mut Interner) -> Option<usize> {
        let framework = is_framework_group(&self.name);
        let typed = Counter::from_name(&self.name, name)
            .or_else(|| if framework { Counter::from_display_name(name) } else { None });
        let slot = match typed {
            Some(counter) => CounterSlot::Typed { counter, framework },
            None => CounterSlot::Other { group: strings.intern(&self.name)?, name: strings.intern(name)? },
        };
        let index = self.slots.len();
        self.slots.push((name.into(), slot));
        self.by_name.insert(name.into(), index);
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_find_their_slot_in_any_order() {
        let (mut names, mut strings) = (CounterNames::default(), Interner::default());
        for order in [["SPILLED_RECORDS", "ROWS"], ["ROWS", "SPILLED_RECORDS"]] {
            let mut set = CounterSet::default();
            let group = names.group("org.apache.hadoop.mapreduce.TaskCounter");
            for (value, name) in (1..).zip(order) {
                names.record(group, name, value, &mut set, &mut strings);
            }
            let expected = if order[0] == "ROWS" { 2 } else { 1 };
            assert_eq!(set.get(Counter::SpilledRecords), Some(expected));
            assert_eq!(set.others.len(), 1);
        }
        assert!(strings.find("ROWS").is_some());
    }
}
