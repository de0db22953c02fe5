//! What executors take from the cluster: the memory of one, and how many there were at a time.

use super::sizing::overhead;
use crate::heuristics::overlap;
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::spark::Executor;
use crate::units::{Bytes, Millis, Timestamp};

/// The heap of an executor, Spark's default where the application sets none.
pub(super) fn executor_heap(app: &Application) -> Bytes {
    app.conf.spark_memory(ConfKey::ExecutorMemory).unwrap_or(Bytes::from_mib(1024))
}

/// All memory that an executor asks for: heap, overhead, Spark's memory off the heap, Python workers.
pub(super) fn executor_container(app: &Application) -> Bytes {
    let heap = executor_heap(app);
    let off_heap = (app.conf.flag(ConfKey::OffHeapEnabled) == Some(true))
        .then(|| app.conf.spark_size(ConfKey::OffHeapSize, Bytes::new(1)))
        .flatten();
    let python = app.conf.spark_memory(ConfKey::ExecutorPysparkMemory);
    heap + overhead(app) + off_heap.unwrap_or_default() + python.unwrap_or_default()
}

/// The most executors that were there at one time.
pub(super) fn most_at_a_time(executors: &[Executor]) -> u64 {
    overlap::most_at_a_time(
        executors.iter().filter_map(|executor| Some((executor.added_at?, executor.removed_at))),
    )
}

/// From the application's start to its end, or to the last moment of which its log tells.
pub(super) fn run_time(app: &Application) -> Option<Millis> {
    let start = app.submitted_at.or(app.launched_at)?;
    Millis::between(start, end(app)?)
}

/// The application's end, or the last moment of which its log tells.
fn end(app: &Application) -> Option<Timestamp> {
    app.finished_at.or_else(|| app.spark.as_ref()?.log.last_event)
}

/// How long an executor was there.
pub(super) fn life(app: &Application, executor: &Executor) -> Option<Millis> {
    Millis::between(executor.added_at?, executor.removed_at.or_else(|| end(app))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Engine;
    use crate::model::conf::Property;

    fn executor(added: i64, removed: Option<i64>) -> Executor {
        Executor {
            added_at: Some(Timestamp::from_millis(added)),
            removed_at: removed.map(Timestamp::from_millis),
            ..Executor::default()
        }
    }

    #[test]
    fn executors_that_replace_each_other_are_one() {
        assert_eq!(most_at_a_time(&[]), 0);
        assert_eq!(most_at_a_time(&[executor(0, Some(5)), executor(5, Some(9)), executor(9, None)]), 1);
        assert_eq!(most_at_a_time(&[executor(0, Some(6)), executor(5, None), Executor::default()]), 2);
        assert_eq!(most_at_a_time(&[executor(7, Some(3)), executor(8, None)]), 1);
    }

    #[test]
    fn a_container_is_more_than_its_heap() {
        let mut app = Application::new(Engine::Spark);
        assert_eq!(executor_container(&app), Bytes::from_mib(1024 + 384));
        for (name, value) in [
            ("spark.executor.memory", "10g"),
            ("spark.memory.offHeap.enabled", "true"),
            ("spark.memory.offHeap.size", "1g"),
        ] {
            let property = Property { value: value.to_owned(), is_final: false };
            app.conf.insert(name.to_owned(), property);
        }
        assert_eq!(executor_container(&app), Bytes::from_mib(12 * 1024));
    }
}
