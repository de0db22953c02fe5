//! Finds where a counter is stored by its group and name.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::counter_slot::CounterSlot;
use super::counter_template::CounterTemplates;
use elephant_model::model::Interner;
use elephant_model::model::counters::{Counter, CounterSet, is_framework_group};

/// Finds the slot of a counter by group and name.
///
/// Hadoop writes the counters of every task in the same order, so the first guess is the counter that
/// followed last time; only a wrong guess needs a hash look-up.
///
/// Jobs have a few dozen groups. Tasks that name their groups or counters after themselves would make it grow with the
/// history, so it starts again when it has become large: a slot can always be found again.
#[derive(Debug, Clone, Default)]
pub struct CounterNames {
    groups: Vec<Group>,
    by_name: FxHashMap<Arc<str>, usize>,
    next_group: usize,
    /// Bytes that groups and names take.
    held: usize,
    /// Kept here because its slots refer to these names.
    templates: CounterTemplates,
}

#[derive(Debug, Clone)]
struct Group {
    name: Arc<str>,
    slots: Vec<(Arc<str>, CounterSlot)>,
    by_name: FxHashMap<Arc<str>, usize>,
    next: usize,
}

/// The names are forgotten when they take more. Those of a usual job take 20 KiB.
const MOST_HELD: usize = 1 << 20;
/// What a group, or a name in it, takes at most in addition to its text.
const PER_NAME: usize = 256;

/// Index of a group within [`CounterNames`], until the next group is asked for.
#[derive(Debug, Clone, Copy)]
pub struct GroupIndex(usize);

impl CounterNames {
    /// The group with this name, added if new.
    pub fn group(&mut self, name: &str) -> GroupIndex {
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
    pub fn record(
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
        let held = &mut self.held;
        let group = self.groups.get_mut(group.0)?;
        let index = match group.slots.get(group.next) {
            Some((guess, _)) if **guess == *name => group.next,
            _ => {
                if let Some(&index) = group.by_name.get(name) {
                    index
                } else {
                    if *held > MOST_HELD {
                        *held = held.saturating_sub(group.forget());
                    }
                    *held += taken_by(name);
                    group.add(name, strings)?
                }
            }
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
        if self.held > MOST_HELD {
            (self.groups, self.by_name, self.held) = Default::default();
        }
        self.held += taken_by(name);
        let (index, name): (usize, Arc<str>) = (self.groups.len(), name.into());
        self.by_name.insert(Arc::clone(&name), index);
        self.groups.push(Group { name, slots: Vec::new(), by_name: FxHashMap::default(), next: 0 });
        index
    }

    /// Bytes that the names take.
    pub(crate) const fn held(&self) -> usize {
        self.held
    }
}

/// Whether the group has counters of Tez: those of tasks, in total or of one edge (`TaskCounter_Map_1_OUTPUT_Reducer_2`).
fn is_of_tez(group: &str) -> bool {
    group.starts_with("org.apache.tez.common.counters.") || group.starts_with("TaskCounter_")
}

const fn taken_by(name: &str) -> usize {
    name.len() + PER_NAME
}

impl Group {
    fn add(&mut self, name: &str, strings: &mut Interner) -> Option<usize> {
        let framework = is_framework_group(&self.name);
        let typed = Counter::from_name(&self.name, name)
            .or_else(|| if framework { Counter::from_display_name(name) } else { None })
            .or_else(|| if is_of_tez(&self.name) { Counter::from_tez_name(name) } else { None });
        let slot = match typed {
            Some(counter) => CounterSlot::Typed { counter, framework },
            None => CounterSlot::Other { group: strings.intern(&self.name)?, name: strings.intern(name)? },
        };
        let (index, name): (usize, Arc<str>) = (self.slots.len(), name.into());
        self.slots.push((Arc::clone(&name), slot));
        self.by_name.insert(name, index);
        Some(index)
    }

    /// Forgets the names, and returns the bytes that they took.
    fn forget(&mut self) -> usize {
        let held = self.slots.iter().map(|(name, _)| taken_by(name)).sum();
        (self.slots, self.by_name, self.next) = Default::default();
        held
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

    #[test]
    fn names_that_are_different_each_time_take_little() {
        let (mut names, mut strings, mut set) =
            (CounterNames::default(), Interner::default(), CounterSet::default());
        for task in 0..40_000 {
            let group = names.group(&format!("group of task {task}"));
            names.record(group, "rows", task, &mut set, &mut strings);
            let group = names.group("group of all tasks");
            names.record(group, &format!("rows of task {task}"), task, &mut set, &mut strings);
            names.record(group, "rows", task, &mut set, &mut strings);
        }
        assert!(names.held() < MOST_HELD + 1024, "{}", names.held());
        assert_eq!(set.others.len(), 120_000);
        let name = |of: usize| set.others.get(of).and_then(|other| strings.get(other.name));
        assert_eq!(
            [name(119_997), name(119_998), name(119_999)],
            [Some("rows"), Some("rows of task 39999"), Some("rows")]
        );
        let group = |of: usize| set.others.get(of).and_then(|other| strings.get(other.group));
        assert_eq!([group(0), group(119_999)], [Some("group of task 0"), Some("group of all tasks")]);
    }
}
