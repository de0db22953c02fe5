//! Cross-checks facts that every log contains: if one is missing, a line was lost.
//!
//! An executor is logged twice when it comes and when it goes: by itself and by its block manager.

use super::counted;
use crate::problem::Problems;
use crate::spark::build::Builder;
use elephant_base::units::Millis;
use elephant_model::model::spark::{ClusterManager, Executor};

/// How long an executor may take until it registers its block manager. Recorded: at most 5 s.
const UNTIL_REGISTERED: Millis = Millis::from_secs(10);

/// Warns about missing facts.
pub(super) fn verify(builder: &Builder, problems: &mut Problems) {
    settings(builder, problems);
    // Spark 1.0 to 1.2 log only block managers, and no version either.
    if builder.app.engine_version.is_some() {
        beginnings(builder, problems);
    }
    ends(builder, problems);
}

fn settings(builder: &Builder, problems: &mut Problems) {
    if builder.seen.application_start && builder.app.conf.is_empty() {
        problems.warn("no-environment", None, || {
            "the event log lacks the application's configuration; rules use Spark's defaults".to_owned()
        });
    }
}

fn beginnings(builder: &Builder, problems: &mut Problems) {
    // In local mode the driver runs the tasks and is also logged as an executor.
    let is_local = ClusterManager::of_application(&builder.app) == Some(ClusterManager::Local);
    let driver = is_local.then_some(&builder.spark.driver);
    let workers =
        || builder.spark.executors.iter().chain(driver).filter(|executor| executor.added_at.is_some());
    let without_cores = workers().filter(|executor| executor.cores.is_none()).count() as u64;
    // Executors whose number of cores was forgotten have one in the log, but an impossible one.
    let without_cores = without_cores.saturating_sub(builder.seen.outside.cores);
    if without_cores > 0 {
        problems.warn("executor-starts-missing", None, || {
            counted(
                without_cores,
                "executor is known only from its block manager; its cores are unknown",
                "executors are known only from their block managers; their cores are unknown",
            )
        });
    }
    // An executor that was removed before it ran a task, or came just before the end, may never have registered a block
    // manager.
    let last = builder.app.finished_at.max(builder.spark.log.last_event);
    let just_came = |executor: &Executor| {
        executor.added_at.zip(last).is_some_and(|(added, last)| added + UNTIL_REGISTERED > last)
    };
    let may_lack_it = |executor: &Executor| {
        executor.totals.tasks == 0 && (executor.removed_at.is_some() || just_came(executor))
    };
    let lacks_it = |executor: &&Executor| executor.storage.total.is_none() && !may_lack_it(executor);
    let without_storage = workers().filter(lacks_it).count() as u64;
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

/// Spark always logs a reason for a removal, even if it is empty.
fn ends(builder: &Builder, problems: &mut Problems) {
    let told_by_block_manager =
        |executor: &&Executor| executor.removed_at.is_some() && executor.removed_reason.is_none();
    let count = builder.spark.executors.iter().filter(told_by_block_manager).count() as u64;
    if count > 0 {
        problems.warn("executor-ends-missing", None, || {
            counted(
                count,
                "executor has no removal event, only its block manager does; the reason is unknown",
                "executors have no removal event, only their block managers do; the reasons are unknown",
            )
        });
    }
}
