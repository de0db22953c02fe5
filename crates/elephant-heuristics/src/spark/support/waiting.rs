//! Advice for applications that waited for executors.

use super::application::spark;
use super::memory::{self, Setting, heap, heap_key};
use elephant_catalogue::Advised;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::spark::ClusterManager;
use elephant_rule::finding::Advice;
use elephant_rule::wording::change;

/// Which executors were missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The first one started late.
    First,
    /// No executor was running during a job, although some had run before.
    Later,
}

/// How to get executors sooner, with settings if the event log shows which.
pub(crate) fn waiting_advice(app: &Advised<'_>, missing: Missing) -> Vec<Advice> {
    let Some(spark) = spark(app) else { return Vec::new() };
    let mut advice = Vec::new();
    let dynamic = app.allocates_dynamically();
    let least = app.conf.integer(ConfKey::DynamicAllocationMin).unwrap_or_default();
    if missing == Missing::Later && dynamic && least <= 0 {
        let keep = change(app, ConfKey::DynamicAllocationMin, 1);
        advice.push(Advice::new("keep one executor for the next job").set([keep]));
    }
    if missing == Missing::Later && !dynamic {
        return vec!["executors were lost: `spark-stages-with-failed-tasks` shows when and why".into()];
    }
    advice.extend(ask_sooner(app));
    let key = heap_key(app, spark);
    if let Some(fits) = memory::smaller_heap(app, spark, heap(app, key), app.advice.smaller_executors.get()) {
        let what = Advice::new("if memory was short, request smaller executors; they are scheduled sooner");
        advice.push(what.set([change(app, key, Setting(fits))]).conditional());
    }
    advice.push(Advice::new(if_full(app)).conditional());
    advice
}

/// Advice to let dynamic allocation request executors as soon as tasks wait, if it is set to wait longer.
fn ask_sooner(app: &Advised<'_>) -> Option<Advice> {
    let keys = slow_requests(app);
    let set = keys.iter().map(|key| change(app, *key, "1s"));
    (!keys.is_empty()).then(|| Advice::new("request executors as soon as tasks wait").set(set))
}

/// The settings with which dynamic allocation requests executors late: the waiting times before its requests, each of
/// which doubles the number of executors.
pub(crate) fn slow_requests(app: &Advised<'_>) -> Vec<ConfKey> {
    let keys = [ConfKey::DynamicAllocationBacklog, ConfKey::DynamicAllocationSustained];
    let is_slow = |key: &ConfKey| {
        app.conf.spark_duration(*key).is_some_and(|wait| wait.as_f64() >= app.advice.slow_requests.get())
    };
    keys.into_iter().filter(|key| app.allocates_dynamically() && is_slow(key)).collect()
}

/// What helps against a full cluster. An executor may also start late because its container starts slowly, or because
/// the driver requests it late; the event log tells neither.
fn if_full(app: &Application) -> String {
    let size = Setting(memory::executor_heap(app));
    if ClusterManager::of_application(app) == Some(ClusterManager::Yarn) {
        let queue =
            app.queue.as_deref().map_or_else(|| "its queue".to_owned(), |queue| format!("queue {queue}"));
        return format!(
            "if {queue} had no free capacity for an executor with a heap of {size}, which the event log does not show: use \
             another queue ({}), run off-peak, or add capacity",
            ConfKey::SparkQueue.name()
        );
    }
    format!(
        "if the cluster had no free capacity for an executor with a heap of {size}, which the event log does not show: run \
         off-peak or add capacity"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in::advised;
    use elephant_model::model::spark::ExecutorMetric::JvmHeapMemory;

    #[test]
    fn released_executors_are_kept_and_smaller_ones_requested() {
        let settings = [
            ("spark.dynamicAllocation.enabled", "true"),
            ("spark.dynamicAllocation.minExecutors", "0"),
            ("spark.executor.memory", "8g"),
        ];
        let mut app = elephant_sample::app(&settings);
        app.id = "application_1700000000000_0001".to_owned();
        app.queue = Some("etl".to_owned());
        elephant_sample::peaks(elephant_sample::executor(&mut app, "1"), &[(JvmHeapMemory, 1000 << 20)]);
        let smaller = "if memory was short, request smaller executors; they are scheduled sooner: --conf \
                       spark.executor.memory=1792m (now 8g)";
        let room = "if queue etl had no free capacity for an executor with a heap of 8g, which the event log does not show: \
                    use another queue (spark.yarn.queue), run off-peak, or add capacity";
        let keep =
            "keep one executor for the next job: --conf spark.dynamicAllocation.minExecutors=1 (now 0)";
        assert_eq!(waiting_advice(&advised(&app), Missing::First), [smaller, room]);
        assert_eq!(waiting_advice(&advised(&app), Missing::Later), [keep, smaller, room]);
        let conditional = |missing| {
            waiting_advice(&advised(&app), missing)
                .iter()
                .map(|advice| advice.conditional)
                .collect::<Vec<_>>()
        };
        assert_eq!(conditional(Missing::First), [true, true]);
        assert_eq!(conditional(Missing::Later), [false, true, true]);
    }

    #[test]
    fn dynamic_allocation_asks_as_soon_as_tasks_wait() {
        let asks = |settings: &[(&str, &str)]| {
            let app = elephant_sample::app(settings);
            waiting_advice(&advised(&app), Missing::First).first().map(|advice| advice.text.clone()).unwrap()
        };
        let dynamic = ("spark.dynamicAllocation.enabled", "true");
        let slow = ("spark.dynamicAllocation.schedulerBacklogTimeout", "60s");
        let sustained = ("spark.dynamicAllocation.sustainedSchedulerBacklogTimeout", "2min");
        assert_eq!(
            asks(&[dynamic, slow, sustained]),
            "request executors as soon as tasks wait: --conf spark.dynamicAllocation.schedulerBacklogTimeout=1s (now 60s) --conf \
             spark.dynamicAllocation.sustainedSchedulerBacklogTimeout=1s (now 2min)"
        );
        let fast = ("spark.dynamicAllocation.schedulerBacklogTimeout", "2s");
        for settings in [&[dynamic][..], &[dynamic, fast], &[slow, sustained]] {
            assert!(asks(settings).starts_with("if the cluster had no free capacity"), "{settings:?}");
        }
    }

    #[test]
    fn a_cluster_without_queues_is_called_the_cluster() {
        let app = elephant_sample::app(&[("spark.master", "spark://host:7077")]);
        assert_eq!(
            waiting_advice(&advised(&app), Missing::First),
            [
                "if the cluster had no free capacity for an executor with a heap of 1g, which the event log does not \
                 show: run off-peak or add capacity"
            ]
        );
    }
}
