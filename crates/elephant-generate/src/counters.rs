//! The counters of a job, named and ordered as in Hadoop 3.

/// The kind of task that has a counter. The job has all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Map,
    Reduce,
    Task,
    Job,
}

pub(super) struct Counter {
    pub(super) name: &'static str,
    pub(super) display: &'static str,
    owner: Owner,
}

pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) display: &'static str,
    counters: &'static [Counter],
}

const fn of(owner: Owner, name: &'static str, display: &'static str) -> Counter {
    Counter { name, display, owner }
}

const GROUPS: &[Group] = &[
    Group {
        name: "org.apache.hadoop.mapreduce.FileSystemCounter",
        display: "File System Counters",
        counters: &[
            of(Owner::Task, "FILE_BYTES_READ", "FILE: Number of bytes read"),
            of(Owner::Task, "FILE_BYTES_WRITTEN", "FILE: Number of bytes written"),
            of(Owner::Task, "FILE_READ_OPS", "FILE: Number of read operations"),
            of(Owner::Task, "FILE_LARGE_READ_OPS", "FILE: Number of large read operations"),
            of(Owner::Task, "FILE_WRITE_OPS", "FILE: Number of write operations"),
            of(Owner::Task, "HDFS_BYTES_READ", "HDFS: Number of bytes read"),
            of(Owner::Task, "HDFS_BYTES_WRITTEN", "HDFS: Number of bytes written"),
            of(Owner::Task, "HDFS_READ_OPS", "HDFS: Number of read operations"),
            of(Owner::Task, "HDFS_LARGE_READ_OPS", "HDFS: Number of large read operations"),
            of(Owner::Task, "HDFS_WRITE_OPS", "HDFS: Number of write operations"),
        ],
    },
    Group {
        name: "org.apache.hadoop.mapreduce.JobCounter",
        display: "Job Counters ",
        counters: &[
            of(Owner::Job, "TOTAL_LAUNCHED_MAPS", "Launched map tasks"),
            of(Owner::Job, "TOTAL_LAUNCHED_REDUCES", "Launched reduce tasks"),
            of(Owner::Job, "DATA_LOCAL_MAPS", "Data-local map tasks"),
            of(Owner::Job, "MILLIS_MAPS", "Total time spent by all map tasks (ms)"),
            of(Owner::Job, "MILLIS_REDUCES", "Total time spent by all reduce tasks (ms)"),
        ],
    },
    Group {
        name: "org.apache.hadoop.mapreduce.TaskCounter",
        display: "Map-Reduce Framework",
        counters: &[
            of(Owner::Map, "MAP_INPUT_RECORDS", "Map input records"),
            of(Owner::Map, "MAP_OUTPUT_RECORDS", "Map output records"),
            of(Owner::Map, "MAP_OUTPUT_BYTES", "Map output bytes"),
            of(Owner::Map, "MAP_OUTPUT_MATERIALIZED_BYTES", "Map output materialized bytes"),
            of(Owner::Map, "SPLIT_RAW_BYTES", "Input split bytes"),
            of(Owner::Task, "COMBINE_INPUT_RECORDS", "Combine input records"),
            of(Owner::Reduce, "COMBINE_OUTPUT_RECORDS", "Combine output records"),
            of(Owner::Reduce, "REDUCE_INPUT_GROUPS", "Reduce input groups"),
            of(Owner::Reduce, "REDUCE_SHUFFLE_BYTES", "Reduce shuffle bytes"),
            of(Owner::Reduce, "REDUCE_INPUT_RECORDS", "Reduce input records"),
            of(Owner::Reduce, "REDUCE_OUTPUT_RECORDS", "Reduce output records"),
            of(Owner::Task, "SPILLED_RECORDS", "Spilled Records"),
            of(Owner::Task, "SHUFFLED_MAPS", "Shuffled Maps "),
            of(Owner::Task, "FAILED_SHUFFLE", "Failed Shuffles"),
            of(Owner::Task, "MERGED_MAP_OUTPUTS", "Merged Map outputs"),
            of(Owner::Task, "GC_TIME_MILLIS", "GC time elapsed (ms)"),
            of(Owner::Task, "CPU_MILLISECONDS", "CPU time spent (ms)"),
            of(Owner::Task, "PHYSICAL_MEMORY_BYTES", "Physical memory (bytes) snapshot"),
            of(Owner::Task, "VIRTUAL_MEMORY_BYTES", "Virtual memory (bytes) snapshot"),
            of(Owner::Task, "COMMITTED_HEAP_BYTES", "Total committed heap usage (bytes)"),
        ],
    },
    Group {
        name: "Shuffle Errors",
        display: "Shuffle Errors",
        counters: &[
            of(Owner::Reduce, "BAD_ID", "BAD_ID"),
            of(Owner::Reduce, "CONNECTION", "CONNECTION"),
            of(Owner::Reduce, "IO_ERROR", "IO_ERROR"),
            of(Owner::Reduce, "WRONG_LENGTH", "WRONG_LENGTH"),
            of(Owner::Reduce, "WRONG_MAP", "WRONG_MAP"),
            of(Owner::Reduce, "WRONG_REDUCE", "WRONG_REDUCE"),
        ],
    },
    Group {
        name: "org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter",
        display: "File Input Format Counters ",
        counters: &[of(Owner::Map, "BYTES_READ", "Bytes Read")],
    },
    Group {
        name: "org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter",
        display: "File Output Format Counters ",
        counters: &[of(Owner::Reduce, "BYTES_WRITTEN", "Bytes Written")],
    },
];

/// Counters of a task, of all tasks of a kind, or of the job.
#[derive(Debug, Clone)]
pub(super) struct Counters {
    owner: Owner,
    /// A value for each counter of [`GROUPS`], used or not.
    values: Vec<i64>,
}

impl Counters {
    pub(super) fn new(owner: Owner, value: impl Fn(&'static str) -> i64) -> Self {
        let all = GROUPS.iter().flat_map(|group| group.counters);
        let value = |counter: &'static Counter| if has(owner, counter) { value(counter.name) } else { 0 };
        Self { owner, values: all.map(value).collect() }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (sum, value) in self.values.iter_mut().zip(&other.values) {
            *sum += value;
        }
    }

    /// The groups that have counters, with those counters and their values.
    pub(super) fn groups(&self) -> Vec<(&'static Group, Vec<(&'static Counter, i64)>)> {
        let mut values = self.values.iter();
        let group = |group: &'static Group| {
            let counters = group.counters.iter().zip(values.by_ref().copied());
            (group, counters.filter(|(counter, _)| has(self.owner, counter)).collect::<Vec<_>>())
        };
        GROUPS.iter().map(group).filter(|(_, counters)| !counters.is_empty()).collect()
    }
}

fn has(owner: Owner, counter: &Counter) -> bool {
    match owner {
        Owner::Job => true,
        _ => counter.owner == owner || counter.owner == Owner::Task,
    }
}
