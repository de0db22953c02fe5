//! The accumulables of a stage, which sum up task metrics.

use super::figures::{Amount, Figures};
use super::json::Json;
use super::kind::Kind;
use super::plan;

/// Identifiers that Spark registers for the metrics of every stage, logged or not.
pub(super) const METRICS_OF_A_STAGE: i64 = 35;

/// Which stages log a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoggedBy {
    Always,
    /// Tasks for which it is not 0.
    UnlessZero,
    ByReaders,
    ByWriters,
    WithInput,
    WithOutput,
}

impl LoggedBy {
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

/// Offset of the identifier, name, who logs it, and the value.
const INTERNAL: &[(i64, &str, LoggedBy, Amount)] = &[
    (0, "internal.metrics.executorDeserializeTime", LoggedBy::Always, Amount::DeserializeTime),
    (1, "internal.metrics.executorDeserializeCpuTime", LoggedBy::Always, Amount::DeserializeCpu),
    (2, "internal.metrics.executorRunTime", LoggedBy::Always, Amount::RunTime),
    (3, "internal.metrics.executorCpuTime", LoggedBy::Always, Amount::Cpu),
    (4, "internal.metrics.resultSize", LoggedBy::Always, Amount::ResultSize),
    (5, "internal.metrics.jvmGCTime", LoggedBy::UnlessZero, Amount::GcTime),
    (6, "internal.metrics.resultSerializationTime", LoggedBy::UnlessZero, Amount::ResultSerializationTime),
    (7, "internal.metrics.memoryBytesSpilled", LoggedBy::UnlessZero, Amount::MemorySpilled),
    (8, "internal.metrics.diskBytesSpilled", LoggedBy::UnlessZero, Amount::DiskSpilled),
    (9, "internal.metrics.peakExecutionMemory", LoggedBy::UnlessZero, Amount::PeakMemory),
    (11, "internal.metrics.shuffle.read.remoteBlocksFetched", LoggedBy::ByReaders, Amount::RemoteBlocks),
    (12, "internal.metrics.shuffle.read.localBlocksFetched", LoggedBy::ByReaders, Amount::LocalBlocks),
    (13, "internal.metrics.shuffle.read.remoteBytesRead", LoggedBy::ByReaders, Amount::RemoteBytes),
    (14, "internal.metrics.shuffle.read.remoteBytesReadToDisk", LoggedBy::ByReaders, Amount::Nothing),
    (15, "internal.metrics.shuffle.read.localBytesRead", LoggedBy::ByReaders, Amount::LocalBytes),
    (16, "internal.metrics.shuffle.read.fetchWaitTime", LoggedBy::ByReaders, Amount::FetchWait),
    (17, "internal.metrics.shuffle.read.recordsRead", LoggedBy::ByReaders, Amount::RecordsRead),
    (18, "internal.metrics.shuffle.push.read.corruptMergedBlockChunks", LoggedBy::ByReaders, Amount::Nothing),
    (19, "internal.metrics.shuffle.push.read.mergedFetchFallbackCount", LoggedBy::ByReaders, Amount::Nothing),
    (
        20,
        "internal.metrics.shuffle.push.read.remoteMergedBlocksFetched",
        LoggedBy::ByReaders,
        Amount::Nothing,
    ),
    (21, "internal.metrics.shuffle.push.read.localMergedBlocksFetched", LoggedBy::ByReaders, Amount::Nothing),
    (
        22,
        "internal.metrics.shuffle.push.read.remoteMergedChunksFetched",
        LoggedBy::ByReaders,
        Amount::Nothing,
    ),
    (23, "internal.metrics.shuffle.push.read.localMergedChunksFetched", LoggedBy::ByReaders, Amount::Nothing),
    (24, "internal.metrics.shuffle.push.read.remoteMergedBytesRead", LoggedBy::ByReaders, Amount::Nothing),
    (25, "internal.metrics.shuffle.push.read.localMergedBytesRead", LoggedBy::ByReaders, Amount::Nothing),
    (26, "internal.metrics.shuffle.read.remoteReqsDuration", LoggedBy::ByReaders, Amount::RemoteRequests),
    (27, "internal.metrics.shuffle.push.read.remoteMergedReqsDuration", LoggedBy::ByReaders, Amount::Nothing),
    (28, "internal.metrics.shuffle.write.bytesWritten", LoggedBy::ByWriters, Amount::BytesWritten),
    (29, "internal.metrics.shuffle.write.recordsWritten", LoggedBy::ByWriters, Amount::RecordsWritten),
    (30, "internal.metrics.shuffle.write.writeTime", LoggedBy::ByWriters, Amount::WriteTime),
    (31, "internal.metrics.input.bytesRead", LoggedBy::WithInput, Amount::InputBytes),
    (32, "internal.metrics.input.recordsRead", LoggedBy::WithInput, Amount::InputRecords),
    (33, "internal.metrics.output.bytesWritten", LoggedBy::WithOutput, Amount::OutputBytes),
    (34, "internal.metrics.output.recordsWritten", LoggedBy::WithOutput, Amount::OutputRecords),
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
        let logged = INTERNAL.iter().filter(|(_, _, logged, _)| logged.by(kind));
        let of_stage = logged.map(|&(offset, name, logged, amount)| Accumulable {
            id: first_of_stage + offset,
            name,
            amount,
            sql: false,
            unless_zero: logged == LoggedBy::UnlessZero,
            sum: 0,
        });
        Self(of_plan.chain(of_stage).collect())
    }

    /// Adds the metrics of a successful task, and writes each update with the new sum.
    pub(super) fn add(&mut self, figures: &Figures, list: &mut Json) {
        for accumulable in &mut self.0 {
            let update = figures.of(accumulable.amount);
            if update != 0 || !accumulable.unless_zero {
                accumulable.sum += update;
                accumulable.write(Some(update), list);
            }
        }
    }

    /// The same for an unsuccessful task: Spark adds only its run time.
    pub(super) fn add_run_time(&mut self, run_time: i64, list: &mut Json) {
        for accumulable in self.0.iter_mut().filter(|each| each.amount == Amount::RunTime) {
            accumulable.sum += run_time;
            accumulable.write(Some(run_time), list);
        }
    }

    /// The updates of the task, as a failure repeats them.
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
