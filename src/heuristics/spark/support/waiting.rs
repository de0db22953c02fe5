//! Advice for applications that waited for executors.

use super::memory::{self, Setting};
use super::memory::{heap, heap_key};
use crate::heuristics::spark::{change, spark};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::ClusterManager;

/// Which executors were missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::heuristics) enum Missing {
    /// The first one started late.
    First,
    /// No executor was running during a job, although some had run before.
    Later,
}

/// How to get executors sooner, with settings if the event log shows which.
pub(in crate::heuristics) fn waiting_advice(app: &Application, missing: Missing) -> Vec<String> {
    let Some(spark) = spark(app) else { return Vec::new() };
    let mut advice = Vec::new();
    let dynamic = app.conf.flag(ConfKey::DynamicAllocation) == Some(true);
    let least = app.conf.integer(ConfKey::DynamicAllocationMin).unwrap_or_default();
    if missing == Missing::Later && dynamic && least <= 0 {
        let keep = change(app, ConfKey::DynamicAllocationMin, 1);
        advice.push(format!("keep one executor for the next job: {keep}"));
    }
    let key = heap_key(app, spark);
    if let Some(fits) = memory::heap_that_fits(app, spark).filter(|&fits| fits < heap(app, key)) {
        let smaller = change(app, key, Setting(fits));
        advice.push(format!("request smaller executors; they are scheduled sooner: {smaller}"));
    }
    if missing == Missing::Later && !dynamic {
        let lost = "executors were lost: `spark-stages-with-failed-tasks` shows when and why";
        return vec![lost.to_owned()];
    }
    let size = Setting(memory::executor_heap(app));
    let on_yarn = ClusterManager::of_application(app) == Some(ClusterManager::Yarn);
    advice.push(if on_yarn {
        let queue = app.queue.as_deref().map_or_else(|| "its queue".to_owned(), |queue| format!("queue {queue}"));
        format!(
            "{queue} had no free capacity for an executor with a heap of {size}: use another queue ({}), run off-peak, or add capacity",
            ConfKey::SparkQueue.name()
        )
    } else {
        format!("the cluster had no free capacity for an executor with a heap of {size}: run off-peak or add capacity")
    });
    advice
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::internal::sample;
    use crate::model::spark::ExecutorMetric::JvmHeapMemory;

    #[test]
    fn released_executors_are_kept_and_smaller_ones_requested() {
        let settings = [
            ("spark.dynamicAllocation.enabled", "true"),
            ("spark.dynamicAllocation.minExecutors", "0"),
            ("spark.executor.memory", "8g"),
        ];
        let mut app = sample::app(&settings);
        app.id = "application_1700000000000_0001".to_owned();
        app.queue = Some("etl".to_owned());
        sample::peaks(sample::executor(&mut app, "1"), &[(JvmHeapMemory, 1000 << 20)]);
        let smaller = "request smaller executors; they are scheduled sooner: --conf spark.executor.memory=1792m (now 8g)";
        let room = "queue etl had no free capacity for an executor with a heap of 8g: use another queue (spark.yarn.queue), \
                    run off-peak, or add capacity";
        let keep =
            "keep one executor for the next job: --conf spark.dynamicAllocation.minExecutors=1 (now 0)";
        assert_eq!(waiting_advice(&app, Missing::First), [smaller, room]);
        assert_eq!(waiting_advice(&app, Missing::Later), [keep, smaller, room]);
    }

    #[test]
    fn a_cluster_without_queues_is_called_the_cluster() {
        let app = sample::app(&[("spark.master", "spark://host:7077")]);
        assert_eq!(
            waiting_advice(&app, Missing::First),
            [
                "the cluster had no free capacity for an executor with a heap of 1g: run off-peak or add capacity"
            ]
        );
    }
}
