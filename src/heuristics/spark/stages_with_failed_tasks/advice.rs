//! Advice against failed attempts and lost executors.

use super::failures::{Failures, Kind};
use crate::heuristics::spark::change;
use crate::heuristics::spark::support::losses::{Loss, lost_executors};
use crate::heuristics::spark::support::memory::{Setting, more_heap_lines, more_overhead};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::Spark;

/// The maximum number of advice lines.
const MOST: usize = 4;

/// Remedies for the causes of a stage's failures, the most frequent first.
pub(super) fn against(app: &Application, spark: &Spark, failures: &Failures, completed: bool) -> Vec<String> {
    let lost: Vec<Loss> = lost_executors(spark).map(|(_, loss)| loss).collect();
    let mut advice = Vec::new();
    for (kind, _) in failures.kinds() {
        match kind {
            Kind::OutOfMemory => advice.extend(more_heap_lines(app, spark)),
            Kind::OverMemory => advice.push(overhead_line(app)),
            Kind::ExecutorLost => advice.extend(against_losses(app, spark, &lost)),
            Kind::FetchFailed if lost.is_empty() => advice.push(
                "look for executors that hung or were overloaded; increase the fetch timeout: --conf \
                 spark.network.timeout=300s"
                    .to_owned(),
            ),
            Kind::FetchFailed => {
                advice.extend(against_losses(app, spark, &lost));
                advice.push(keep_shuffle_files(app));
            }
            Kind::Exception if completed => advice.push(
                "fix the error, or the records that cause it: the stage completed, but each \
                 retry took time"
                    .to_owned(),
            ),
            Kind::Exception => advice.push(
                "fix the error, or the records that cause it: more attempts \
                 (spark.task.maxFailures) would fail in the same way"
                    .to_owned(),
            ),
            Kind::Other => advice.push("read the executors' logs of the failed attempts".to_owned()),
        }
    }
    without_repeats(advice)
}

/// Remedies for the causes of lost executors.
pub(super) fn against_losses(app: &Application, spark: &Spark, losses: &[Loss]) -> Vec<String> {
    let mut losses = losses.to_vec();
    losses.sort_unstable();
    losses.dedup();
    let lines = losses.into_iter().flat_map(|loss| match loss {
        _ if loss.is_over_memory(app) => vec![overhead_line(app)],
        Loss::OutOfMemory => more_heap_lines(app, spark),
        Loss::OverMemory | Loss::Killed => vec![
            "find out what killed the executor: exit code 137 is SIGKILL, usually sent by the kernel when memory is short \
             (see dmesg on its node); in that case run fewer executors per node, or smaller ones"
                .to_owned(),
        ],
        Loss::Terminated => vec![
            "let executors migrate their blocks before they are removed: --conf spark.decommission.enabled=true --conf \
             spark.storage.decommission.enabled=true; or use a queue without preemption"
                .to_owned(),
        ],
        Loss::Silent => vec![
            "look for long garbage collections and nodes that hung; or increase the timeout: --conf \
             spark.network.timeout=300s"
                .to_owned(),
        ],
        Loss::NodeLost => vec!["check the node that was lost".to_owned()],
        Loss::Other => vec!["read the log of the lost executor".to_owned()],
    });
    without_repeats(lines.collect())
}

fn overhead_line(app: &Application) -> String {
    let line = change(app, ConfKey::ExecutorMemoryOverhead, Setting(more_overhead(app)));
    format!("increase the memory overhead of containers: {line}")
}

fn keep_shuffle_files(app: &Application) -> String {
    let line = change(app, ConfKey::ShuffleService, "true");
    format!("keep shuffle files of removed executors with the external shuffle service: {line}")
}

/// The first lines, without duplicates.
fn without_repeats(lines: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        if kept.len() < MOST && !kept.contains(&line) {
            kept.push(line);
        }
    }
    kept
}
