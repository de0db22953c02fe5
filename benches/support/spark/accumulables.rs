//! The accumulables of a stage: what its tasks add up.

use super::figures::{Amount, Figures};
use super::json::Json;
use super::plan;
use super::stage::Kind;

/// Identifiers that Spark registers for the metrics of every stage, told or not.
pub(super) const METRICS_OF_A_STAGE: i64 = 35;

/// Which stages tell a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Always,
    /// By the tasks for which it is not 0.
    UnlessZero,
    ByReaders,
    ByWriters,
    WithInput,
    WithOutput,
}

impl Told {
    fn by(self, kind: Kind) -> bool {
        match self {
            Self::Always | Self::UnlessZero => true,
            Self::ByReaders => kind != Kind::Scan,
            Self::ByWriters => kind != Kind::Write,
            Self::WithInput => kind == Kind::Scan,
            Self::WithOutput => kind == Kind::Write,
        }
    }
}

/// Offset of the identifier, name after `internal.metrics.`, who tells it, and what.
const INTERNAL: &[(i64, &str, Told, Amount)] = &[
    (0, "internal.metrics.executorDeserializeTime", Told::Always, Amount::DeserializeTime),
    (1, "internal.metrics.executorDeserializeCpuTime", Told::Always, Amount::DeserializeCpu),
    (2, "internal.metrics.executorRunTime", Told::Always, Amount::RunTime),
    (3, "internal.metrics.executorCpuTime", Told::Always, Amount::Cpu),
    (4, "internal.metrics.resultSize", Told::Always, Amount::ResultSize),
    (5, "internal.metrics.jvmGCTime", Told::UnlessZero, Amount::GcTime),
    (6, "internal.metrics.resultSerializationTime", Told::UnlessZero, Amount::ResultSerializationTime),
    (7, "internal.metrics.memoryBytesSpilled", Told::UnlessZero, Amount::MemorySpilled),
    (8, "internal.metrics.diskBytesSpilled", Told::UnlessZero, Amount::DiskSpilled),
    (9, "internal.metrics.peakExecutionMemory", Told::UnlessZero, Amount::PeakMemory),
    (11, "internal.metrics.shuffle.read.remoteBlocksFetched", Told::ByReaders, Amount::RemoteBlocks),
    (12, "internal.metrics.shuffle.read.localBlocksFetched", Told::ByReaders, Amount::LocalBlocks),
    (13, "internal.metrics.shuffle.read.remoteBytesRead", Told::ByReaders, Amount::RemoteBytes),
    (14, "internal.metrics.shuffle.read.remoteBytesReadToDisk", Told::ByReaders, Amount::Nothing),
    (15, "internal.metrics.shuffle.read.localBytesRead", Told::ByReaders, Amount::LocalBytes),
    (16, "internal.metrics.shuffle.read.fetchWaitTime", Told::ByReaders, Amount::FetchWait),
    (17, "internal.metrics.shuffle.read.recordsRead", Told::ByReaders, Amount::RecordsRead),
    (18, "internal.metrics.shuffle.push.read.corruptMergedBlockChunks", Told::ByReaders, Amount::Nothing),
    (19, "internal.metrics.shuffle.push.read.mergedFetchFallbackCount", Told::ByReaders, Amount::Nothing),
    (20, "internal.metrics.shuffle.push.read.remoteMergedBlocksFetched", Told::ByReaders, Amount::Nothing),
    (21, "internal.metrics.shuffle.push.read.localMergedBlocksFetched", Told::ByReaders, Amount::Nothing),
    (22, "internal.metrics.shuffle.push.read.remoteMergedChunksFetched", Told::ByReaders, Amount::Nothing),
    (23, "internal.metrics.shuffle.push.read.localMergedChunksFetched", Told::ByReaders, Amount::Nothing),
    (24, "internal.metrics.shuffle.push.read.remoteMergedBytesRead", Told::ByReaders, Amount::Nothing),
    (25, "internal.metrics.shuffle.push.read.localMergedBytesRead", Told::ByReaders, Amount::Nothing),
    (26, "internal.metrics.shuffle.read.remoteReqsDuration", Told::ByReaders, Amount::RemoteRequests),
    (27, "internal.metrics.shuffle.push.read.remoteMergedReqsDuration", Told::ByReaders, Amount::Nothing),
    (28, "internal.metrics.shuffle.write.bytesWritten", Told::ByWriters, Amount::BytesWritten),
    (29, "internal.metrics.shuffle.write.recordsWritten", Told::ByWriters, Amount::RecordsWritten),
    (30, "internal.metrics.shuffle.write.writeTime", Told::ByWriters, Amount::WriteTime),
    (31, "internal.metrics.input.bytesRead", Told::WithInput, Amount::InputBytes),
    (32, "internal.metrics.input.recordsRead", Told::WithInput, Amount::InputRecords),
    (33, "internal.metrics.output.bytesWritten", Told::WithOutput, Amount::OutputBytes),
    (34, "internal.metrics.output.recordsWritten", Told::WithOutput, Amount::OutputRecords),
];

struct Accumulable {
    id: i64,
    name: &'static str,
    amount: Amount,
    sql: bool,
    unless_zero: bool,
    sum: i64,
}

impl Accumulable {
    /// `update` is absent in the stage's own list.
    fn write(&self, update: Option<i64>, list: &mut Json) {
        let value = |object: &mut Json, key: &str, value: i64| {
            if self.sql {
                object.quoted(key, value);
            } else {
                object.number(key, value);
            }
        };
        list.braces(|object| {
            object.number("ID", self.id).text("Name", self.name);
            if let Some(update) = update {
                value(object, "Update", update);
            }
            value(object, "Value", self.sum);
            object.flag("Internal", true).flag("Count Failed Values", true);
            if self.sql {
                object.text("Metadata", "sql");
            }
        });
    }
}

/// The accumulables of one stage with their sums so far, by identifier.
pub(super) struct Accumulables(Vec<Accumulable>);

impl Accumulables {
    pub(super) fn new(kind: Kind, first_of_plan: i64, first_of_stage: i64) -> Self {
        let of_plan = plan::task_metrics(kind).map(|(offset, name, amount)| Accumulable {
            id: first_of_plan + offset,
            name,
            amount,
            sql: true,
            unless_zero: false,
            sum: 0,
        });
        let told = INTERNAL.iter().filter(|(_, _, told, _)| told.by(kind));
        let of_stage = told.map(|&(offset, name, told, amount)| Accumulable {
            id: first_of_stage + offset,
            name,
            amount,
            sql: false,
            unless_zero: told == Told::UnlessZero,
            sum: 0,
        });
        Self(of_plan.chain(of_stage).collect())
    }

    /// Adds what a task that succeeded did and writes each update with the new sum.
    pub(super) fn add(&mut self, figures: &Figures, list: &mut Json) {
        for accumulable in &mut self.0 {
            let update = figures.of(accumulable.amount);
            if update != 0 || !accumulable.unless_zero {
                accumulable.sum += update;
                accumulable.write(Some(update), list);
            }
        }
    }

    /// The same for a task that did not: Spark adds no more than its run time.
    pub(super) fn add_run_time(&mut self, run_time: i64, list: &mut Json) {
        for accumulable in self.0.iter_mut().filter(|each| each.amount == Amount::RunTime) {
            accumulable.sum += run_time;
            accumulable.write(Some(run_time), list);
        }
    }

    /// How a failure repeats the updates of the task.
    pub(super) fn failed_updates(&self, run_time: i64, list: &mut Json) {
        for accumulable in &self.0 {
            let update = match accumulable.amount {
                Amount::RunTime => run_time,
                Amount::ResultSize => 0,
                _ => continue,
            };
            list.braces(|object| {
                object.number("ID", accumulable.id).quoted("Update", update);
                object.flag("Internal", false).flag("Count Failed Values", true);
            });
        }
    }

    pub(super) fn sum(&self, amount: Amount) -> i64 {
        self.0.iter().find(|each| each.amount == amount).map_or(0, |each| each.sum)
    }

    pub(super) fn write_sums(&self, list: &mut Json) {
        for accumulable in self.0.iter().filter(|each| each.sum != 0 || !each.unless_zero) {
            accumulable.write(None, list);
        }
    }
}
