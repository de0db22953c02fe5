//! Metrics of a task attempt.

use super::super::rng::SplitMix64;
use super::kind::{Kind, Upstream};

/// The value of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    DeserializeTime,
    DeserializeCpu,
    RunTime,
    Cpu,
    ResultSize,
    GcTime,
    ResultSerializationTime,
    MemorySpilled,
    DiskSpilled,
    PeakMemory,
    RemoteBlocks,
    LocalBlocks,
    RemoteBytes,
    LocalBytes,
    FetchWait,
    RecordsRead,
    RemoteRequests,
    BytesWritten,
    RecordsWritten,
    WriteTime,
    InputBytes,
    InputRecords,
    OutputBytes,
    OutputRecords,
    // Spark SQL only.
    PipelineTime,
    ScanTime,
    BuildTime,
    SortTime,
    DataSize,
    CommitTime,
    /// Always 0 without push-based shuffle.
    Nothing,
}

/// Metrics of one attempt: bytes, milliseconds, and nanoseconds for CPU and write time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    pub(super) deserialize_time: i64,
    pub(super) deserialize_cpu: i64,
    pub(super) run_time: i64,
    pub(super) cpu: i64,
    pub(super) result_size: i64,
    pub(super) gc_time: i64,
    pub(super) result_serialization_time: i64,
    pub(super) memory_spilled: i64,
    pub(super) disk_spilled: i64,
    pub(super) peak_memory: i64,
    pub(super) remote_blocks: i64,
    pub(super) local_blocks: i64,
    pub(super) remote_bytes: i64,
    pub(super) local_bytes: i64,
    pub(super) fetch_wait: i64,
    pub(super) records_read: i64,
    pub(super) remote_requests: i64,
    pub(super) bytes_written: i64,
    pub(super) records_written: i64,
    pub(super) write_time: i64,
    pub(super) input_bytes: i64,
    pub(super) input_records: i64,
    pub(super) output_bytes: i64,
    pub(super) output_records: i64,
}

impl Figures {
    /// Metrics of an attempt that ran for `run_time` and succeeded.
    pub(super) fn of_success(
        kind: Kind,
        index: i64,
        run_time: i64,
        upstream: Upstream,
        rng: &mut SplitMix64,
    ) -> Self {
        let mut figures = Self {
            deserialize_time: rng.within(3, 40),
            deserialize_cpu: rng.within(2_000_000, 30_000_000),
            run_time,
            cpu: run_time * rng.within(600_000, 900_000),
            result_size: rng.within(2_800, 9_500),
            gc_time: run_time / rng.within(15, 60),
            result_serialization_time: (rng.within(0, 12) - 9).max(0),
            peak_memory: rng.within(16, 192) << 20,
            ..Self::default()
        };
        if kind == Kind::Scan {
            figures.scan(rng);
        } else {
            figures.fetch(index, upstream, rng);
        }
        let (bytes, records) = (figures.bytes_in(), figures.records_in());
        if kind == Kind::Write {
            (figures.output_bytes, figures.output_records) = (bytes * 2 / 3, records);
        } else {
            (figures.bytes_written, figures.records_written) = (bytes / 6, records / 8);
            figures.write_time = run_time * rng.within(20_000, 80_000);
        }
        if kind == Kind::Aggregate && rng.within(0, 20) == 0 {
            (figures.memory_spilled, figures.disk_spilled) = (bytes * 6, bytes);
        }
        figures
    }

    /// Metrics of an attempt that was stopped after `run_time`: Spark keeps only the run time.
    pub(super) fn of_failure(run_time: i64) -> Self {
        Self { run_time, ..Self::default() }
    }

    fn scan(&mut self, rng: &mut SplitMix64) {
        self.input_bytes = rng.within(100 << 20, 128 << 20);
        self.input_records = self.input_bytes / 112;
    }

    /// Every task fetches its part of the parent stage's output: one block from each of its tasks.
    fn fetch(&mut self, index: i64, upstream: Upstream, rng: &mut SplitMix64) {
        let part = |total: i64| total / upstream.readers + i64::from(index < total % upstream.readers);
        let bytes = part(upstream.bytes);
        self.records_read = part(upstream.records);
        self.local_blocks = upstream.tasks / 50;
        self.remote_blocks = upstream.tasks - self.local_blocks;
        self.local_bytes = bytes / 50;
        self.remote_bytes = bytes - self.local_bytes;
        self.fetch_wait = rng.within(0, 300);
        self.remote_requests = rng.within(300, 2_500);
    }

    fn bytes_in(&self) -> i64 {
        self.input_bytes + self.remote_bytes + self.local_bytes
    }

    fn records_in(&self) -> i64 {
        self.input_records + self.records_read
    }

    pub(super) fn of(&self, amount: Amount) -> i64 {
        match amount {
            Amount::DeserializeTime => self.deserialize_time,
            Amount::DeserializeCpu => self.deserialize_cpu,
            Amount::RunTime => self.run_time,
            Amount::Cpu => self.cpu,
            Amount::ResultSize => self.result_size,
            Amount::GcTime => self.gc_time,
            Amount::ResultSerializationTime => self.result_serialization_time,
            Amount::MemorySpilled => self.memory_spilled,
            Amount::DiskSpilled => self.disk_spilled,
            Amount::PeakMemory => self.peak_memory,
            Amount::RemoteBlocks => self.remote_blocks,
            Amount::LocalBlocks => self.local_blocks,
            Amount::RemoteBytes => self.remote_bytes,
            Amount::LocalBytes => self.local_bytes,
            Amount::FetchWait => self.fetch_wait,
            Amount::RecordsRead => self.records_read,
            Amount::RemoteRequests => self.remote_requests,
            Amount::BytesWritten => self.bytes_written,
            Amount::RecordsWritten => self.records_written,
            Amount::WriteTime => self.write_time,
            Amount::InputBytes => self.input_bytes,
            Amount::InputRecords => self.input_records,
            Amount::OutputBytes => self.output_bytes,
            Amount::OutputRecords => self.output_records,
            Amount::PipelineTime => self.run_time * 9 / 10,
            Amount::ScanTime => self.run_time / 3,
            Amount::BuildTime => self.run_time / 2,
            Amount::SortTime => self.run_time / 8,
            Amount::DataSize => self.bytes_written * 5 / 2,
            Amount::CommitTime => self.run_time / 100,
            Amount::Nothing => 0,
        }
    }
}
