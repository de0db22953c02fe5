//! What to do about time in which an application wanted executors and had none.

use super::memory::{self, Setting};
use super::memory::{heap, heap_key};
use crate::heuristics::spark::{conf_line, spark};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::ClusterManager;

/// Which executors were missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::heuristics) enum Missing {
    /// The first one came late.
    First,
    /// None was there while a job ran, although some had come before.
    Later,
}

/// How an executor comes sooner, by settings where the log tells which.
pub(in crate::heuristics) fn waiting_advice(app: &Application, missing: Missing) -> Vec<String> {
    let Some(spark) = spark(app) else { return Vec::new() };
    let mut advice = Vec::new();
    let dynamic = app.conf.flag(ConfKey::DynamicAllocation) == Some(true);
    let least = app.conf.integer(ConfKey::DynamicAllocationMin).unwrap_or_default();
    if missing == Missing::Later && dynamic && least <= 0 {
        let keep = conf_line(app, ConfKey::DynamicAllocationMin, 1);
        advice.push(format!("keep an executor for the next job: {keep}"));
    }
    let key = heap_key(app, spark);
    if let Some(fits) = memory::heap_that_fits(app, spark).filter(|&fits| fits < heap(app, key)) {
        let smaller = conf_line(app, key, Setting(fits));
        advice.push(format!("ask for smaller executors, which find room sooner: {smaller}"));
    }
    if missing == Missing::Later && !dynamic {
        let lost = "executors were lost: `spark-stages-with-failed-tasks` tells when and why";
        return vec![lost.to_owned()];
    }
    let size = Setting(memory::executor_heap(app));
    let on_yarn = ClusterManager::of_application(app) == Some(ClusterManager::Yarn);
    advice.push(if on_yarn {
        let queue = app.queue.as_deref().map_or_else(|| "its queue".to_owned(), |queue| format!("queue {queue}"));
        format!(
            "{queue} had no room for an executor with a heap of {size}: submit to another one ({}) or at another hour",
            ConfKey::SparkQueue.name()
        )
    } else {
        format!("the cluster had no room for an executor with a heap of {size}: submit at another hour, or add room")
    });
    advice
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::model::spark::ExecutorMetric::JvmHeapMemory;

    #[test]
    fn executors_that_left_are_kept_and_those_that_come_find_room() {
        let settings = [
            ("spark.dynamicAllocation.enabled", "true"),
            ("spark.dynamicAllocation.minExecutors", "0"),
            ("spark.executor.memory", "8g"),
        ];
        let mut app = sample::app(&settings);
        app.id = "application_1700000000000_0001".to_owned();
        app.queue = Some("etl".to_owned());
        sample::peaks(sample::executor(&mut app, "1"), &[(JvmHeapMemory, 1000 << 20)]);
        let smaller =
            "ask for smaller executors, which find room sooner: --conf spark.executor.memory=1792m (now 8g)";
        let room = "queue etl had no room for an executor with a heap of 8g: submit to another one (spark.yarn.queue) \
                    or at another hour";
        let keep = "keep an executor for the next job: --conf spark.dynamicAllocation.minExecutors=1 (now 0)";
        assert_eq!(waiting_advice(&app, Missing::First), [smaller, room]);
        assert_eq!(waiting_advice(&app, Missing::Later), [keep, smaller, room]);
    }

    #[test]
    fn a_cluster_without_queues_is_no_queue() {
        let app = sample::app(&[("spark.master", "spark://host:7077")]);
        assert_eq!(
            waiting_advice(&app, Missing::First),
            [
                "the cluster had no room for an executor with a heap of 1g: submit at another hour, or add room"
            ]
        );
    }
}
