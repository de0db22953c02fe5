//! The sort buffer that holds the output of the largest map task at once.

use super::counters::is_unreadable;
use super::role::Role;
use elephant_base::units::Bytes;
use elephant_catalogue::Advised;
use elephant_model::engine_facts::hadoop::{LARGEST_SORT_BUFFER_MIB, SORT_METADATA};
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::table::TaskGroup;
use elephant_rule::finding::SettingChange;
use elephant_rule::wording::change;

/// The buffer that the largest map output needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::mapreduce) struct SortBuffer {
    /// The size that the output needs, even if it exceeds Hadoop's maximum.
    pub(in crate::mapreduce) needed: Bytes,
    /// The size to set in MiB.
    wanted: u64,
    /// The present size in MiB.
    now: u64,
}

impl SortBuffer {
    /// A larger buffer; `None` if map tasks spill once, if the output is unknown, or if the present buffer is large
    /// enough.
    pub(in crate::mapreduce) fn of(app: &Advised<'_>, role: Role, group: &TaskGroup) -> Option<Self> {
        let spills_again = || {
            let known = !is_unreadable(group, &[Counter::SpilledRecords, Counter::MapOutputRecords]);
            let rows = group.winners().filter(|_| known).filter_map(|row| {
                let count = |counter| group.attempts.count(row, counter).map(i128::from);
                Some((count(Counter::SpilledRecords)?, count(Counter::MapOutputRecords)?))
            });
            let (spilled, output) = rows.fold((0, 0), |(spilled, output), (s, o)| (spilled + s, output + o));
            spilled > 0 && spilled as f64 >= app.advice.repeated_spills.get() * output as f64
        };
        (role == Role::Map && spills_again()).then(|| Self::for_output(app, group)).flatten()
    }

    /// The buffer for the largest output, if it is larger than the present one.
    pub(in crate::mapreduce) fn for_output(app: &Application, group: &TaskGroup) -> Option<Self> {
        let needed = largest_output(app, group)?;
        let wanted = needed.get().div_ceil(Bytes::PER_MIB).clamp(1, LARGEST_SORT_BUFFER_MIB);
        let now = app.in_force(ConfKey::SortMb, |conf, key| u64::try_from(conf.integer(key)?).ok())?;
        (wanted > now).then_some(Self { needed, wanted, now })
    }

    /// How much more memory it takes than the present one.
    pub(in crate::mapreduce) const fn more(self) -> Bytes {
        Bytes::from_mib(self.wanted.saturating_sub(self.now))
    }

    /// The heap for tasks that have or need `memory` with the present buffer. At least twice the buffer: it is one
    /// array in the old generation, two thirds of the heap, which also holds everything else that lives long.
    pub(in crate::mapreduce) fn floor(self, memory: Bytes) -> Bytes {
        let with_more = Bytes::new(memory.get().saturating_add(self.more().get()));
        with_more.max(Bytes::from_mib(self.wanted.saturating_mul(2)))
    }

    /// The setting.
    pub(in crate::mapreduce) fn change(self, app: &Application) -> SettingChange {
        change(app, ConfKey::SortMb, self.wanted)
    }
}

/// The buffer that the output of the largest map task needs; `None` if no output is known.
pub(in crate::mapreduce) fn largest_output(app: &Application, group: &TaskGroup) -> Option<Bytes> {
    let known = !is_unreadable(group, &[Counter::MapOutputBytes, Counter::MapOutputRecords]);
    let needed = group.winners().filter(|_| known).filter_map(|row| {
        let bytes = group.attempts.count(row, Counter::MapOutputBytes)?;
        let records = group.attempts.count(row, Counter::MapOutputRecords)?;
        Some(bytes.saturating_add(records.saturating_mul(SORT_METADATA)))
    });
    let percent = app.in_force(ConfKey::SortSpillPercent, |conf, key| {
        conf.fraction(key).filter(|percent| (0.1..=1.0).contains(percent))
    })?;
    needed.max().and_then(|bytes| Bytes::from_f64(bytes as f64 / percent))
}

/// Whether no buffer holds this much.
pub(in crate::mapreduce) fn is_too_large(output: Bytes) -> bool {
    output > Bytes::from_mib(LARGEST_SORT_BUFFER_MIB)
}
