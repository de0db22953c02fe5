//! Numbers that are there and cannot be read, or cannot be.

use super::build::{Builder, Seen};
use super::verify::counted;
use crate::model::Engine;
use crate::parse::problem::{Level, Problems};

/// Ends of tasks that are there and that nobody knows how to take.
fn reasons(builder: &Builder, problems: &mut Problems) {
    let Seen { unknown_reasons, undecided_ends, .. } = builder.seen;
    if unknown_reasons > 0 {
        let level = if undecided_ends > 0 { Level::Warning } else { Level::Info };
        problems.add(level, "task-reasons-unknown", None, || {
            let what = counted(
                unknown_reasons,
                "task ended for a reason that Spark does not have",
                "tasks ended for reasons that Spark does not have",
            );
            match undecided_ends {
                0 => format!("{what}; they count as failed or killed, as they are marked"),
                unknown => format!("{what}; whether {unknown} of them succeeded is unknown"),
            }
        });
    }
}

/// Sums over what cannot be read are unknown.
pub(super) fn verify(builder: &mut Builder, problems: &mut Problems) {
    reasons(builder, problems);
    let Seen { unread_counters, first_unread, .. } = builder.seen;
    if let Some((counter, task)) = first_unread {
        problems.warn("unreadable-counter", None, || {
            let one = format!("{} of task {}", counter.name_in(Engine::Spark), task.unwrap_or_default());
            let what = counted(
                unread_counters,
                "counter of a task is no number from 0 on",
                "counters of tasks are no numbers from 0 on",
            );
            let first = if unread_counters > 1 { "the first one is " } else { "" };
            format!("{what}: {first}{one}; sums over it are unknown")
        });
    }
    let executors = builder.spark.executors.iter().chain([&builder.spark.driver]);
    let peaks: u64 = executors.map(|executor| executor.peaks.unread() as u64).sum();
    if peaks > 0 {
        problems.warn("unreadable-metric", None, || {
            counted(
                peaks,
                "metric of an executor has a value that is no number; its peak is unknown",
                "metrics of executors have values that are no numbers; their peaks are unknown",
            )
        });
    }
    let blocks = builder.seen.unreadable_blocks;
    if blocks > 0 {
        problems.warn("unreadable-block", None, || {
            counted(
                blocks,
                "size of a cached block is no number from 0 on; the storage memory of its executor is unknown",
                "sizes of cached blocks are no numbers from 0 on; the storage memory of their executors is unknown",
            )
        });
    }
    let managers = builder.seen.unreadable_managers;
    if managers > 0 {
        problems.warn("unreadable-memory", None, || {
            counted(
                managers,
                "block manager has a Maximum Memory that is no number from 0 on; the memory of its executor is unknown",
                "block managers have a Maximum Memory that is no number from 0 on; the memory of their executors is \
                 unknown",
            )
        });
    }
    builder.spark.gaps.counters += unread_counters;
    builder.spark.gaps.executor_metrics += peaks + blocks + managers;
}
