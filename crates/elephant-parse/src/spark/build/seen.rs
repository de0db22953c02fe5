//! Facts about a log that the model does not contain: counts for warnings.

use elephant_model::model::counters::Counter;

/// Facts about the log that the model does not contain.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::spark) struct Seen {
    pub(in crate::spark) application_start: bool,
    pub(in crate::spark) application_end: bool,
    pub(in crate::spark) environment: bool,
    pub(in crate::spark) events: u64,
    pub(in crate::spark) repeated_ends: u64,
    pub(in crate::spark) resubmitted: u64,
    pub(in crate::spark) job_ends_without_start: u64,
    pub(in crate::spark) backwards: u64,
    /// Successful tasks without a start or end time.
    pub(in crate::spark) without_time: u64,
    /// Task ends long after the end of the application.
    pub(in crate::spark) after_the_end: u64,
    pub(in crate::spark) unusable_tasks: u64,
    pub(in crate::spark) impossible_counters: u64,
    /// Counters of stages whose sums differ from Spark's own.
    pub(in crate::spark) differing_sums: u64,
    /// Task counters that are not non-negative numbers.
    pub(in crate::spark) unreadable_counters: u64,
    /// The first of them, with its task id.
    pub(in crate::spark) first_unreadable: Option<(Counter, Option<i64>)>,
    /// Times within tasks that are longer than the tasks.
    pub(in crate::spark) beyond_task: u64,
    /// The first of them, with its task id.
    pub(in crate::spark) first_beyond_task: Option<(Counter, Option<i64>)>,
    /// Tasks with a peak of execution memory beyond the memory of their executor.
    pub(in crate::spark) beyond_memory: u64,
    /// The largest task id.
    pub(in crate::spark) last_task: Option<u64>,
    /// Executors that ran tasks of a stage although its end has no metrics of them, and executors whose metrics it has.
    pub(in crate::spark) metrics_missing: u64,
    pub(in crate::spark) metrics_found: u64,
    /// Task ends that differ from their starts.
    pub(in crate::spark) contradictions: u64,
    /// Times that lie outside the life of the application, the stage or the executor.
    pub(in crate::spark) outside: Outside,
    /// Why the start and the end of the application are not believed.
    pub(in crate::spark) doubts: [Option<&'static str>; 2],
    /// Objects that were skipped because a limit was reached.
    pub(in crate::spark) beyond_limit: BeyondLimit,
    /// Sizes of cached blocks that cannot be read.
    pub(in crate::spark) unreadable_blocks: u64,
    /// Block managers whose memory cannot be read.
    pub(in crate::spark) unreadable_managers: u64,
    /// Block managers whose memory is not the sum of its parts.
    pub(in crate::spark) differing_managers: u64,
    /// Task ends with a reason that Spark does not have.
    pub(in crate::spark) unknown_reasons: u64,
    /// Those of them whose outcome the rest of the event does not show either.
    pub(in crate::spark) undecided_ends: u64,
}

impl Seen {
    /// Records that these times of a task are longer than the task.
    #[cold]
    pub(super) fn beyond_task(&mut self, counters: &[Counter], task: Option<i64>) {
        self.beyond_task += counters.len() as u64;
        let first = counters.first().map(|&counter| (counter, task));
        self.first_beyond_task = self.first_beyond_task.or(first);
    }
}

/// Number of times of each kind that cannot be right.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::spark) struct Outside {
    /// Launches of tasks, and ends after those of their stages.
    pub(in crate::spark) tasks: u64,
    /// Starts and ends of stages.
    pub(in crate::spark) stages: u64,
    /// Starts and ends of jobs.
    pub(in crate::spark) jobs: u64,
    /// Starts and ends of executors, and impossible numbers of cores.
    pub(in crate::spark) executors: u64,
    /// The numbers of cores among them.
    pub(in crate::spark) cores: u64,
}

/// Number of objects of each kind that were skipped because of a limit.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::spark) struct BeyondLimit {
    /// Task attempts.
    pub(in crate::spark) attempts: u64,
    /// Cached blocks.
    pub(in crate::spark) blocks: u64,
    /// Values of driver metrics.
    pub(in crate::spark) driver_values: u64,
    /// Operators of the plans of queries.
    pub(in crate::spark) operators: u64,
    /// Stages, jobs, executors, queries and similar objects.
    pub(in crate::spark) others: u64,
}

impl BeyondLimit {
    /// Whether any were skipped.
    pub(in crate::spark) const fn any(self) -> bool {
        self.attempts + self.blocks + self.driver_values + self.operators + self.others > 0
    }
}
