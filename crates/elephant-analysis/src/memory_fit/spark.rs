//! Heaps of executors, and the containers that hold them.

use super::{MemoryFit, MemoryHolder, MemoryReason, MemoryVerdict, with_room};
use crate::executors::{
    heap, heap_for, heap_key, in_containers, is_local, no_peaks, overhead_for, peak_heap, resident, spark_of,
    was_short, workers,
};
use elephant_base::units::Bytes;
use elephant_model::engine_facts::spark::LEAST_HEAP;
use elephant_model::model::Application;
use elephant_model::model::spark::{NativeEngine, Spark};

#[doc(hidden)]
impl MemoryFit {
    /// Whether executors with a heap of this size would hold what the tasks of a Spark application needed. `cores` is the
    /// number of cores of an executor, if it changes.
    #[must_use]
    pub fn of_executors(app: &Application, new_heap: Bytes, cores: Option<u32>) -> Self {
        let Some(spark) = spark_of(app) else { return Self::unknown("the event log has no executors") };
        let of = if is_local(app, spark) { MemoryHolder::DriverHeap } else { MemoryHolder::ExecutorHeap };
        let now = heap(app, heap_key(app, spark));
        if new_heap < LEAST_HEAP {
            return Self {
                fit: MemoryVerdict::WouldBreak,
                why: MemoryReason::DoesNotStart { least: LEAST_HEAP },
            };
        }
        if was_short(app, spark) {
            return Self::of_shortage(of, Some(now), new_heap);
        }
        if let Some(engine) = NativeEngine::at_work(app) {
            return Self::unknown(engine.why_not_judged());
        }
        let Some(peak) = peak_heap(spark) else { return Self::unknown(no_peaks(app)) };
        let of_heap = Self::of_peak(of, (peak, heap_for(peak)), new_heap);
        let fit = match of_container(app, spark, (now, new_heap)) {
            Some(of_container) => of_heap.or_worse(of_container),
            None => of_heap,
        };
        fit.for_cores(spark, (of, peak), cores).of_whole_run(app)
    }

    /// The verdict with another number of cores: with more, tasks need at least as much memory as was measured, with
    /// fewer at most as much.
    fn for_cores(self, spark: &Spark, (of, peak): (MemoryHolder, Bytes), cores: Option<u32>) -> Self {
        let Some(cores) = cores else { return self };
        let now = workers(spark).filter_map(|worker| worker.cores).max();
        let holds = match now {
            Some(now) if cores == now => true,
            Some(now) if cores > now => self.fit == MemoryVerdict::WouldBreak,
            Some(_) => self.fit == MemoryVerdict::Safe,
            None => false,
        };
        if holds {
            self
        } else {
            Self { fit: MemoryVerdict::Unknown, why: MemoryReason::OtherTasks { of, peak } }
        }
    }
}

/// The verdict on the container, if it is limited and what its processes used was measured. What they use beside the heap
/// stays the same. The heap is not larger than its limit, so only that part surely does not fit.
fn of_container(app: &Application, spark: &Spark, (now, new_heap): (Bytes, Bytes)) -> Option<MemoryFit> {
    let resident = resident(spark).filter(|_| in_containers(app, spark))?;
    let overhead = overhead_for(app, new_heap);
    let size = new_heap + overhead;
    let fit = match () {
        () if resident - now > overhead => MemoryVerdict::WouldBreak,
        () if resident > size => MemoryVerdict::Near,
        () => MemoryVerdict::Safe,
    };
    let why = MemoryReason::Peak {
        of: MemoryHolder::ExecutorContainer,
        peak: resident,
        size,
        enough: with_room(resident),
    };
    Some(MemoryFit { fit, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::spark::ExecutorMetric::{JvmHeapMemory, ProcessTreeJvmRssMemory};
    use elephant_model::model::spark::{ExecutorMetric, SqlExecution};
    use elephant_model::model::table::{EndReason, Outcome};

    /// An executor with a heap of 2 GiB and four cores, in a container of YARN.
    fn app(peaks: &[(ExecutorMetric, i64)]) -> Application {
        let mut app = elephant_sample::app(&[("spark.master", "yarn"), ("spark.executor.memory", "2g")]);
        app.complete = true;
        let executor = elephant_sample::executor(&mut app, "1");
        executor.cores = Some(4);
        elephant_sample::peaks(
            executor,
            &peaks.iter().map(|(metric, mib)| (*metric, mib << 20)).collect::<Vec<_>>(),
        );
        app
    }

    fn fit(app: &Application, mib: u64, cores: Option<u32>) -> MemoryVerdict {
        MemoryFit::of_executors(app, Bytes::from_mib(mib), cores).fit
    }

    #[test]
    fn a_heap_below_the_peak_would_break() {
        let app = app(&[(JvmHeapMemory, 939)]);
        assert_eq!(fit(&app, 512, None), MemoryVerdict::WouldBreak);
        assert_eq!(fit(&app, 939, None), MemoryVerdict::Near);
        assert_eq!(fit(&app, 4096, None), MemoryVerdict::Safe);
        assert_eq!(fit(&app, 300, None), MemoryVerdict::WouldBreak);
        let none = self::app(&[]);
        assert_eq!(fit(&none, 4096, None), MemoryVerdict::Unknown);
        assert_eq!(fit(&none, 300, None), MemoryVerdict::WouldBreak, "Spark does not start");
    }

    #[test]
    fn the_peak_is_that_of_as_many_tasks() {
        let app = app(&[(JvmHeapMemory, 939)]);
        assert_eq!(fit(&app, 4096, Some(4)), MemoryVerdict::Safe);
        assert_eq!(fit(&app, 4096, Some(8)), MemoryVerdict::Unknown);
        assert_eq!(fit(&app, 512, Some(8)), MemoryVerdict::WouldBreak);
        assert_eq!(fit(&app, 4096, Some(2)), MemoryVerdict::Safe);
        assert_eq!(fit(&app, 512, Some(2)), MemoryVerdict::Unknown);
    }

    #[test]
    fn a_peak_of_a_part_of_a_run_is_a_lower_limit() {
        let mut app = app(&[(JvmHeapMemory, 939)]);
        app.complete = false;
        assert_eq!(fit(&app, 512, None), MemoryVerdict::WouldBreak);
        assert_eq!(fit(&app, 4096, None), MemoryVerdict::Unknown);
        app.complete = true;
        app.status = elephant_model::model::Status::Failed;
        assert_eq!(fit(&app, 4096, None), MemoryVerdict::Unknown);
    }

    #[test]
    fn where_memory_ran_out_only_more_may_be_enough() {
        let mut app = app(&[(JvmHeapMemory, 939)]);
        elephant_sample::stage(&mut app, 0, &[(Outcome::Failed, 10)]);
        let group = app.groups.last_mut().unwrap();
        group.attempts.set_end_reason(0, Some(EndReason::OutOfMemory));
        assert_eq!(fit(&app, 2048, None), MemoryVerdict::WouldBreak);
        assert_eq!(fit(&app, 4096, None), MemoryVerdict::Unknown);
    }

    #[test]
    fn processes_outside_the_heap_need_room_too() {
        // 2.5 GiB of 2 GiB of heap and 3 GiB in all: 512 MiB or more are outside the heap, of which a container of 1 GiB of
        // heap has 384 MiB.
        let mut app = app(&[(JvmHeapMemory, 100), (ProcessTreeJvmRssMemory, 2560)]);
        assert_eq!(fit(&app, 1024, None), MemoryVerdict::WouldBreak);
        elephant_sample::set(&mut app, &[("spark.executor.memoryOverhead", "1g")]);
        assert_eq!(fit(&app, 1024, None), MemoryVerdict::Near);
        assert_eq!(fit(&app, 2048, None), MemoryVerdict::Safe);
        elephant_sample::set(&mut app, &[("spark.master", "spark://host:7077")]);
        assert_eq!(fit(&app, 1024, None), MemoryVerdict::Safe, "nothing limits the processes");
    }

    #[test]
    fn engines_outside_the_heap_show_no_peak() {
        let mut app = app(&[(JvmHeapMemory, 100)]);
        elephant_sample::set(&mut app, &[("spark.plugins", "com.nvidia.spark.SQLPlugin")]);
        assert_eq!(fit(&app, 4096, None), MemoryVerdict::Safe, "without queries, nothing runs in the engine");
        elephant_sample::spark(&mut app).sql.push(SqlExecution::new(0));
        assert_eq!(fit(&app, 4096, None), MemoryVerdict::Unknown);
    }
}
