//! What Spark tells of executors and settings in every log, so that its absence means that a line was lost.
//!
//! An executor is told twice: by itself and by its block manager, when it comes and when it goes.

use super::build::Builder;
use super::verify::counted;
use crate::model::spark::{ClusterManager, Executor};
use crate::parse::problem::Problems;

/// Says what of it is missing.
pub(super) fn verify(builder: &Builder, problems: &mut Problems) {
    settings(builder, problems);
    // Spark 1.0 to 1.2 tell block managers only, and not their own version either.
    if builder.app.engine_version.is_some() {
        beginnings(builder, problems);
    }
    ends(builder, problems);
}

fn settings(builder: &Builder, problems: &mut Problems) {
    if builder.seen.application_start && builder.app.conf.is_empty() {
        problems.warn("no-environment", None, || {
            "the log does not tell the settings of the application; rules take Spark's defaults".to_owned()
        });
    }
}

fn beginnings(builder: &Builder, problems: &mut Problems) {
    // In local mode the driver runs the tasks and is told as an executor as well.
    let is_local = ClusterManager::of_application(&builder.app) == Some(ClusterManager::Local);
    let driver = is_local.then_some(&builder.spark.driver);
    let workers =
        || builder.spark.executors.iter().chain(driver).filter(|executor| executor.added_at.is_some());
    let count = |is_missing: fn(&&Executor) -> bool| workers().filter(is_missing).count() as u64;
    let without_cores = count(|executor| executor.cores.is_none());
    if without_cores > 0 {
        problems.warn("executor-starts-missing", None, || {
            counted(
                without_cores,
                "executor is told by its block manager only; its cores are unknown",
                "executors are told by their block managers only; their cores are unknown",
            )
        });
    }
    // One that was removed before it did anything may not have come that far.
    let without_storage = count(|executor| {
        executor.storage.total.is_none() && (executor.removed_at.is_none() || executor.totals.tasks > 0)
    });
    if without_storage > 0 {
        problems.warn("block-managers-missing", None, || {
            counted(
                without_storage,
                "executor has no block manager in the log; its storage memory is unknown",
                "executors have no block manager in the log; their storage memory is unknown",
            )
        });
    }
}

/// Spark always gives a reason for a removal, if only an empty one.
fn ends(builder: &Builder, problems: &mut Problems) {
    let told_by_block_manager =
        |executor: &&Executor| executor.removed_at.is_some() && executor.removed_reason.is_none();
    let count = builder.spark.executors.iter().filter(told_by_block_manager).count() as u64;
    if count > 0 {
        problems.warn("executor-ends-missing", None, || {
            counted(
                count,
                "executor went by its block manager only; why is unknown",
                "executors went by their block managers only; why is unknown",
            )
        });
    }
}
