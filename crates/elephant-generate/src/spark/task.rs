//! Events of a task.

use std::io;

use super::accumulables::Accumulables;
use super::cluster::{Peaks, host};
use super::figures::Figures;
use super::json::{Json, Log};
use super::kind::Kind;

/// How an attempt ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Succeeds,
    Fails,
    /// Another attempt of the task succeeds first.
    Killed,
}

/// An attempt of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) task_id: i64,
    pub(super) index: i64,
    pub(super) number: i64,
    pub(super) executor: i64,
    pub(super) launch: i64,
    pub(super) finish: i64,
    pub(super) speculative: bool,
    pub(super) fate: Fate,
}

/// The stage that its events refer to.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) stage: i64,
    pub(super) kind: Kind,
}

/// The reason that an attempt ended.
#[derive(Clone, Copy)]
pub(super) enum Reason {
    Success(Figures),
    Exception(Figures),
    /// `true` if its stage was already complete.
    Killed(Figures, bool),
    ExecutorLost,
}

impl Attempt {
    pub(super) fn write_start(&self, place: Place, log: &mut Log<'_>) -> io::Result<()> {
        log.event("SparkListenerTaskStart", |event| {
            event.number("Stage ID", place.stage).number("Stage Attempt ID", 0);
            event.object("Task Info", |info| {
                self.info(0, (false, false), place, info);
                info.array("Accumulables", |_| ());
            });
        })
    }

    pub(super) fn write_end(
        &self,
        place: Place,
        reason: Reason,
        peaks: &Peaks,
        accumulables: &mut Accumulables,
        log: &mut Log<'_>,
    ) -> io::Result<()> {
        log.event("SparkListenerTaskEnd", |event| {
            event.number("Stage ID", place.stage).number("Stage Attempt ID", 0);
            event.text("Task Type", if place.kind == Kind::Write { "ResultTask" } else { "ShuffleMapTask" });
            event.object("Task End Reason", |object| self.reason(reason, accumulables, object));
            let failed = matches!(reason, Reason::Exception(_) | Reason::ExecutorLost);
            let killed = matches!(reason, Reason::Killed(..));
            event.object("Task Info", |info| {
                self.info(self.finish, (failed, killed), place, info);
                info.array("Accumulables", |list| match reason {
                    Reason::Success(figures) => accumulables.add(&figures, list),
                    Reason::Exception(figures) | Reason::Killed(figures, false) => {
                        accumulables.add_run_time(figures.run_time, list);
                    }
                    Reason::Killed(_, true) | Reason::ExecutorLost => (),
                });
            });
            peaks.write("Task Executor Metrics", event);
            match reason {
                Reason::Success(figures) | Reason::Exception(figures) | Reason::Killed(figures, _) => {
                    event.object("Task Metrics", |object| write_metrics(&figures, object));
                }
                Reason::ExecutorLost => (),
            }
        })
    }

    fn info(&self, finish: i64, (failed, killed): (bool, bool), place: Place, info: &mut Json) {
        let near = place.kind == Kind::Scan && self.index % 10 != 0;
        info.number("Task ID", self.task_id).number("Index", self.index).number("Attempt", self.number);
        info.number("Partition ID", self.index).number("Launch Time", self.launch);
        info.quoted("Executor ID", self.executor).text("Host", &host(self.executor));
        info.text("Locality", if near { "NODE_LOCAL" } else { "ANY" }).flag("Speculative", self.speculative);
        info.number("Getting Result Time", 0).number("Finish Time", finish);
        info.flag("Failed", failed).flag("Killed", killed);
    }

    fn reason(&self, reason: Reason, accumulables: &Accumulables, object: &mut Json) {
        match reason {
            Reason::Success(_) => {
                object.text("Reason", "Success");
            }
            Reason::Exception(figures) => {
                write_exception(object);
                object
                    .array("Accumulator Updates", |list| accumulables.failed_updates(figures.run_time, list));
            }
            Reason::Killed(figures, late) => {
                let why = if late { "Stage finished" } else { "another attempt succeeded" };
                object.text("Reason", "TaskKilled").text("Kill Reason", why);
                object
                    .array("Accumulator Updates", |list| accumulables.failed_updates(figures.run_time, list));
            }
            Reason::ExecutorLost => {
                object.text("Reason", "ExecutorLostFailure").quoted("Executor ID", self.executor);
                object.flag("Exit Caused By App", true).text("Loss Reason", LOSS);
            }
        }
    }
}

/// The reason that executors are lost.
pub(super) const LOSS: &str = "Container from a bad node: container_1732147200000_0001_01_000042 on host: \
    node021. Exit status: 137. Diagnostics: [2024-11-21 01:02:03.004]Container killed on request. \
    Exit code is 137\n[2024-11-21 01:02:03.004]Container exited with a non-zero exit code 137. \n\
    [2024-11-21 01:02:03.005]Killed by external signal\n.";

const EXCEPTION: &str = "java.io.IOException";
const DESCRIPTION: &str = "Could not obtain block: BP-1407112-10.0.0.1-1700000000000:blk_1073741825_1001 \
    file=/warehouse/sales.db/orders/day=2024-10-02/part-00017.parquet";

/// Class, method, file and line, innermost first.
const STACK: &[(&str, &str, &str, i64)] = &[
    ("org.apache.hadoop.hdfs.DFSInputStream", "refetchLocations", "DFSInputStream.java", 1007),
    ("org.apache.hadoop.hdfs.DFSInputStream", "chooseDataNode", "DFSInputStream.java", 990),
    ("org.apache.hadoop.hdfs.DFSInputStream", "blockSeekTo", "DFSInputStream.java", 677),
    ("org.apache.hadoop.hdfs.DFSInputStream", "readWithStrategy", "DFSInputStream.java", 884),
    ("org.apache.hadoop.hdfs.DFSInputStream", "read", "DFSInputStream.java", 957),
    ("java.io.DataInputStream", "readFully", "DataInputStream.java", 208),
    ("org.apache.parquet.hadoop.util.H2SeekableInputStream", "readFully", "H2SeekableInputStream.java", 91),
    ("org.apache.parquet.hadoop.ParquetFileReader", "readNextRowGroup", "ParquetFileReader.java", 1063),
    ("org.apache.spark.sql.execution.datasources.FileScanRDD$$anon$1", "hasNext", "FileScanRDD.scala", 129),
    ("org.apache.spark.sql.execution.DataSourceScanExec$$anon$1", "hasNext", "DataSourceScanExec.scala", 602),
    ("org.apache.spark.shuffle.sort.UnsafeShuffleWriter", "write", "UnsafeShuffleWriter.java", 179),
    ("org.apache.spark.scheduler.ShuffleMapTask", "runTask", "ShuffleMapTask.scala", 104),
    ("org.apache.spark.scheduler.Task", "run", "Task.scala", 141),
    ("org.apache.spark.executor.Executor$TaskRunner", "run", "Executor.scala", 624),
    ("java.util.concurrent.ThreadPoolExecutor", "runWorker", "ThreadPoolExecutor.java", 1136),
    ("java.lang.Thread", "run", "Thread.java", 840),
];

fn write_exception(object: &mut Json) {
    object.text("Reason", "ExceptionFailure").text("Class Name", EXCEPTION).text("Description", DESCRIPTION);
    object.array("Stack Trace", |list| {
        for &(class, method, file, line) in STACK {
            list.braces(|frame| {
                frame.text("Declaring Class", class).text("Method Name", method);
                frame.text("File Name", file).number("Line Number", line);
            });
        }
    });
    let frames =
        STACK.iter().map(|(class, method, file, line)| format!("\tat {class}.{method}({file}:{line})\n"));
    object.text("Full Stack Trace", &format!("{EXCEPTION}: {DESCRIPTION}\n{}", frames.collect::<String>()));
}

fn write_metrics(figures: &Figures, object: &mut Json) {
    object.number("Executor Deserialize Time", figures.deserialize_time);
    object.number("Executor Deserialize CPU Time", figures.deserialize_cpu);
    object.number("Executor Run Time", figures.run_time);
    object.number("Executor CPU Time", figures.cpu);
    object.number("Peak Execution Memory", figures.peak_memory);
    object.number("Result Size", figures.result_size);
    object.number("JVM GC Time", figures.gc_time);
    object.number("Result Serialization Time", figures.result_serialization_time);
    object.number("Memory Bytes Spilled", figures.memory_spilled);
    object.number("Disk Bytes Spilled", figures.disk_spilled);
    object.object("Shuffle Read Metrics", |read| write_shuffle_read(figures, read));
    object.object("Shuffle Write Metrics", |write| {
        write.number("Shuffle Bytes Written", figures.bytes_written);
        write.number("Shuffle Write Time", figures.write_time);
        write.number("Shuffle Records Written", figures.records_written);
    });
    object.object("Input Metrics", |input| {
        input.number("Bytes Read", figures.input_bytes).number("Records Read", figures.input_records);
    });
    object.object("Output Metrics", |output| {
        output
            .number("Bytes Written", figures.output_bytes)
            .number("Records Written", figures.output_records);
    });
    object.array("Updated Blocks", |_| ());
}

fn write_shuffle_read(figures: &Figures, read: &mut Json) {
    read.number("Remote Blocks Fetched", figures.remote_blocks);
    read.number("Local Blocks Fetched", figures.local_blocks);
    read.number("Fetch Wait Time", figures.fetch_wait);
    read.number("Remote Bytes Read", figures.remote_bytes);
    read.number("Remote Bytes Read To Disk", 0);
    read.number("Local Bytes Read", figures.local_bytes);
    read.number("Total Records Read", figures.records_read);
    read.number("Remote Requests Duration", figures.remote_requests);
    read.object("Push Based Shuffle", |push| {
        push.number("Corrupt Merged Block Chunks", 0).number("Merged Fetch Fallback Count", 0);
        push.number("Merged Remote Blocks Fetched", 0).number("Merged Local Blocks Fetched", 0);
        push.number("Merged Remote Chunks Fetched", 0).number("Merged Local Chunks Fetched", 0);
        push.number("Merged Remote Bytes Read", 0).number("Merged Local Bytes Read", 0);
        push.number("Merged Remote Requests Duration", 0);
    });
}
