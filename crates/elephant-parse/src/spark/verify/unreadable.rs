//! Warns about values that are present but unreadable or impossible.

use super::counted;
use crate::problem::{Level, Problems};
use crate::spark::build::{Builder, Seen};
use elephant_model::model::Engine;

/// Task ends with a reason that Spark does not have.
fn reasons(builder: &Builder, problems: &mut Problems) {
    let Seen { unknown_reasons, undecided_ends, .. } = builder.seen;
    if unknown_reasons > 0 {
        let level = if undecided_ends > 0 { Level::Warning } else { Level::Info };
        problems.add(level, "task-reasons-unknown", None, || {
            let what = counted(
                unknown_reasons,
                "task has an unknown end reason",
                "tasks have an unknown end reason",
            );
            match undecided_ends {
                0 => format!("{what}; they count as failed or killed, as marked in Task Info"),
                unknown => format!("{what}; whether {unknown} of them succeeded is unknown"),
            }
        });
    }
}

/// Warns about unreadable values; sums over them are unknown.
pub(super) fn verify(builder: &mut Builder, problems: &mut Problems) {
    reasons(builder, problems);
    let Seen { unreadable_counters, first_unreadable, .. } = builder.seen;
    if let Some((counter, task)) = first_unreadable {
        problems.warn("unreadable-counter", None, || {
            let one = format!("{} of task {}", counter.name_in(Engine::Spark), task.unwrap_or_default());
            let what = counted(
                unreadable_counters,
                "task counter is not a non-negative number",
                "task counters are not non-negative numbers",
            );
            let first = if unreadable_counters > 1 { "the first is " } else { "" };
            format!("{what}: {first}{one}; sums over it are unknown")
        });
    }
    let executors = builder.spark.executors.iter().chain([&builder.spark.driver]);
    let peaks: u64 = executors.map(|executor| executor.peaks.unreadable() as u64).sum();
    if peaks > 0 {
        problems.warn("unreadable-metric", None, || {
            counted(
                peaks,
                "executor metric has a value that is not a number, or more than the executor has; its peak is unknown",
                "executor metrics have values that are not numbers, or more than the executors have; their peaks are unknown",
            )
        });
    }
    memory(&builder.seen, problems);
    let Seen { unreadable_blocks, unreadable_managers, differing_managers, .. } = builder.seen;
    builder.spark.gaps.counters += unreadable_counters;
    builder.spark.gaps.executor_metrics +=
        peaks + unreadable_blocks + unreadable_managers + differing_managers;
}

fn memory(seen: &Seen, problems: &mut Problems) {
    let blocks = seen.unreadable_blocks;
    if blocks > 0 {
        problems.warn("unreadable-block", None, || {
            counted(
                blocks,
                "cached block has a size that is not a non-negative number; the storage memory of its executor is unknown",
                "cached blocks have sizes that are not non-negative numbers; the storage memory of their executors is unknown",
            )
        });
    }
    let managers = seen.unreadable_managers;
    if managers > 0 {
        problems.warn("unreadable-memory", None, || {
            counted(
                managers,
                "block manager has a Maximum Memory that is not a non-negative number; the memory of its executor is unknown",
                "block managers have a Maximum Memory that is not a non-negative number; the memory of their executors is \
                 unknown",
            )
        });
    }
    let differing = seen.differing_managers;
    if differing > 0 {
        problems.warn("memory-disagrees", None, || {
            counted(
                differing,
                "block manager has a Maximum Memory that is not the sum of its parts; the memory of its executor is unknown",
                "block managers have a Maximum Memory that is not the sum of its parts; the memory of their executors is \
                 unknown",
            )
        });
    }
}
