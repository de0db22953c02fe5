//! The parameters of advice that several rules give, so that no two of them give different advice.

use std::ops::Deref;

use elephant_model::model::Application;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size};
use elephant_rule::params::{Positive, rule_params};

rule_params! {
    /// Parameters of advice.
    pub struct AdviceParams / AdviceParamsLayer {
        /// MapReduce: sizes of containers are multiples of this if a job does not contain
        /// yarn.scheduler.minimum-allocation-mb.
        container_step: Positive<Size>,
        /// MapReduce: a container that was killed for its memory should be this multiple of what it used.
        killed_room: Quantity<Ratio>,
        /// MapReduce: against such kills, a smaller heap is advised only if it leaves at least this share
        /// of the container more to the rest of the process.
        least_heap_cut: Quantity<Ratio>,
        /// MapReduce: a process whose use stayed below this share of its heap did not need the whole heap.
        full_heap: Quantity<Ratio>,
        /// MapReduce: from this share of the run time, garbage collection is a sign of a heap that is too
        /// small. A few percent are normal.
        collecting: Quantity<Ratio>,
        /// MapReduce: a heap that grows by less than this share is as good as the present one.
        least_heap_growth: Quantity<Ratio>,
        /// MapReduce: from this many spilled records for each output record, map tasks write most of their
        /// output more than once.
        repeated_spills: Quantity<Count>,
        /// MapReduce: the most blocks of a file that a map task should read. The more blocks, the fewer of
        /// them lie on one node.
        blocks_per_task: Quantity<Count>,
        /// MapReduce: the input of a map task is large from this multiple of the median on.
        large_input: Quantity<Ratio>,
        /// MapReduce: tasks should run for this many times as long as starting up takes.
        start_ups_per_task: Quantity<Count>,
        /// A second cause of stragglers gets advice if its stragglers held up their groups for at least
        /// this share of the time.
        cause_share: Quantity<Ratio>,
        /// Spark: a heap of which at most this share was in use can give memory to the overhead of its
        /// container.
        spare_heap: Quantity<Ratio>,
        /// Spark: up to this size, a heap may grow by any factor, ...
        small_heap: Quantity<Size>,
        /// ... and up to this size, it may double.
        large_heap: Quantity<Size>,
        /// Spark: a heap that can grow by less than this factor is as large as makes sense.
        worth_growth: Quantity<Ratio>,
        /// Spark: a driver's heap should be this multiple of its highest use and Spark's reserved memory.
        driver_room: Quantity<Ratio>,
        /// Spark: containers that were killed for their memory get this much more overhead.
        more_overhead: Quantity<Size>,
        /// Spark: Python workers that ran out of memory get twice as much, at least this much more.
        more_python_memory: Quantity<Size>,
        /// Spark: the limit on class data if it ran out and no limit is set. It is enough for most
        /// applications.
        class_memory: Positive<Size>,
        /// Spark: from this share of task time on, garbage collection explains missing heartbeats.
        much_collection: Quantity<Ratio>,
        /// Spark: if this many executors end with the same task, the task is the reason.
        repeated_losses: Quantity<Count>,
        /// Spark: a stage crowds on few executors if at most this share of them ran it, ...
        crowded_executors: Quantity<Ratio>,
        /// ... each of its slots had at least this many tasks, ...
        crowded_rounds: Quantity<Count>,
        /// ... at least this share of the tasks ran where their data is, ...
        crowded_local: Quantity<Ratio>,
        /// ... and at least this share of all slots was idle.
        crowded_idle: Quantity<Ratio>,
        /// Such stages matter if they took at least this share of the run time.
        crowded_time: Quantity<Ratio>,
        /// Spark: time without a job is reported from this share of the run time on. Every application
        /// needs some time to start and to end.
        driver_alone: Quantity<Ratio>,
        /// Spark: the advice is about the time before, between or after jobs if that is at least this share
        /// of it.
        driver_place: Quantity<Ratio>,
        /// Spark: the shortest timeout of idle executors to advise. Executors that come and go cost time to
        /// start.
        short_idle_timeout: Positive<Duration>,
        /// Spark: giving back a smaller share of what executors held is not worth a change.
        released_share: Quantity<Ratio>,
        /// Spark: a timeout suits executors with cached data if it gives back at least this share of what
        /// the shortest one would.
        released_most: Quantity<Ratio>,
        /// Spark: fewer executors are advised instead of dynamic allocation only if they free this much
        /// more of what is held: dynamic allocation also suits the next run.
        fewer_executors: Quantity<Ratio>,
        /// Spark: dynamic allocation requests executors late if it lets tasks wait for this long. Spark's
        /// default is a second.
        slow_requests: Quantity<Duration>,
        /// Spark: executors that are smaller by this share find room on clearly more nodes.
        smaller_executors: Quantity<Ratio>,
        /// Spark: tasks are worth splitting if their parts run for this multiple of the time of small
        /// tasks.
        small_tasks_apart: Quantity<Count>,
        /// Spark: smaller splits of input are not worth a task.
        least_split: Positive<Size>,
        /// Spark: a split size does harm if it cuts another stage into this many times the tasks that it
        /// should have.
        cut_too_much: Quantity<Count>,
        /// Spark: against spill, partitions with less data do not get smaller: their records take the
        /// memory, not their number.
        least_partition: Quantity<Size>,
        /// Spark: against skew, tasks that read less are not worth smaller splits: the setting applies to
        /// all files of the application.
        uneven_splits: Quantity<Size>,
        /// Spark: adaptive execution should split partitions of a join above this multiple of the median.
        uneven_join: Quantity<Ratio>,
        /// Spark: a broadcast is named as the cause of a lack of memory if its rows take this share of the
        /// heap of the driver or of an executor.
        large_broadcast: Quantity<Ratio>,
    }
}

/// An application, with the parameters of advice on it.
#[derive(Debug, Clone, Copy)]
pub struct Advised<'a> {
    /// The application.
    pub app: &'a Application,
    /// The parameters.
    pub advice: &'a AdviceParams,
}

impl Deref for Advised<'_> {
    type Target = Application;

    fn deref(&self) -> &Application {
        self.app
    }
}
