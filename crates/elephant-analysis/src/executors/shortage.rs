//! Whether memory was short.

use std::collections::BTreeSet;

use crate::root_cause::told;
use elephant_model::model::Application;
use elephant_model::model::spark::Spark;
use elephant_model::model::table::{EndReason, Outcome};

/// Whether executors or tasks ended for lack of memory, inside or outside the heap. The peaks of lost executors are not in the
/// event log, so those of the others do not tell how much is enough.
#[must_use]
pub fn was_short(app: &Application, spark: &Spark) -> bool {
    let of_tasks = || {
        app.groups.iter().map(|group| &group.attempts).any(|attempts| {
            let ended = |row| match attempts.outcome(row) {
                Outcome::Failed => attempts.end_reason(row),
                _ => None,
            };
            let short = [Some(EndReason::OutOfMemory), Some(EndReason::ContainerOverMemory)];
            (0..attempts.len()).any(|row| short.contains(&ended(row)))
        })
    };
    // Executors are often lost for few reasons.
    let lost = spark.executors.iter().filter(|executor| executor.was_lost());
    let reasons: BTreeSet<&str> = lost.filter_map(|executor| executor.removed_reason.as_deref()).collect();
    let of_executors =
        || reasons.iter().any(|reason| told(reason).is_some_and(|told| told.kind.asks_for_memory()));
    of_executors() || of_tasks()
}
