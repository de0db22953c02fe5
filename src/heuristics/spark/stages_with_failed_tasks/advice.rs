//! What to do about failed attempts and lost executors.

use super::failures::{Failures, Kind};
use crate::heuristics::spark::conf_line;
use crate::heuristics::spark::support::losses::{Loss, lost_executors};
use crate::heuristics::spark::support::memory::{Setting, more_heap_lines, more_overhead};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::Spark;

/// How many lines of advice people read.
const MOST: usize = 4;

/// Against what a stage's attempts died of, the most frequent first.
pub(super) fn against(app: &Application, spark: &Spark, failures: &Failures, completed: bool) -> Vec<String> {
    let lost: Vec<Loss> = lost_executors(spark).map(|(_, loss)| loss).collect();
    let mut advice = Vec::new();
    for (kind, _) in failures.kinds() {
        match kind {
            Kind::OutOfMemory => advice.extend(more_heap_lines(app, spark)),
            Kind::OverMemory => advice.push(overhead_line(app)),
            Kind::ExecutorLost => advice.extend(against_losses(app, spark, &lost)),
            Kind::FetchFailed if lost.is_empty() => advice.push(
                "look for executors that stood still or were overloaded; let fetches wait for longer: --conf \
                 spark.network.timeout=300s"
                    .to_owned(),
            ),
            Kind::FetchFailed => {
                advice.extend(against_losses(app, spark, &lost));
                advice.push(keep_shuffle_files(app));
            }
            Kind::Exception if completed => advice.push(
                "mend what the message names, or the records that it names: the stage was completed, but each \
                 further try took time"
                    .to_owned(),
            ),
            Kind::Exception => advice.push(
                "mend what the message names, or the records that it names: more attempts \
                 (spark.task.maxFailures) fail the same way"
                    .to_owned(),
            ),
            Kind::Other => advice.push("read the executors' logs for the attempts that failed".to_owned()),
        }
    }
    without_repeats(advice)
}

/// Against what executors were lost to.
pub(super) fn against_losses(app: &Application, spark: &Spark, losses: &[Loss]) -> Vec<String> {
    let mut losses = losses.to_vec();
    losses.sort_unstable();
    losses.dedup();
    let lines = losses.into_iter().flat_map(|loss| match loss {
        _ if loss.is_over_memory(app) => vec![overhead_line(app)],
        Loss::OutOfMemory => more_heap_lines(app, spark),
        Loss::OverMemory | Loss::Killed => vec![
            "find out who killed the executor: exit code 137 is SIGKILL, mostly the kernel short of memory \
             (dmesg on its node); then fewer executors on a node, or smaller ones"
                .to_owned(),
        ],
        Loss::Terminated => vec![
            "let executors hand over their blocks before they go: --conf spark.decommission.enabled=true --conf \
             spark.storage.decommission.enabled=true; or use a queue without preemption"
                .to_owned(),
        ],
        Loss::Silent => vec![
            "look for long garbage collections and nodes that stood still; or wait for longer: --conf \
             spark.network.timeout=300s"
                .to_owned(),
        ],
        Loss::NodeLost => vec!["look for trouble on the node that was lost".to_owned()],
        Loss::Other => vec!["read the log of the executor that was lost".to_owned()],
    });
    without_repeats(lines.collect())
}

fn overhead_line(app: &Application) -> String {
    let line = conf_line(app, ConfKey::ExecutorMemoryOverhead, Setting(more_overhead(app)));
    format!("give containers more memory beyond the heap: {line}")
}

fn keep_shuffle_files(app: &Application) -> String {
    let line = conf_line(app, ConfKey::ShuffleService, "true");
    format!("keep shuffle files when executors go, by the external shuffle service: {line}")
}

/// The first lines, each once.
fn without_repeats(lines: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        if kept.len() < MOST && !kept.contains(&line) {
            kept.push(line);
        }
    }
    kept
}
