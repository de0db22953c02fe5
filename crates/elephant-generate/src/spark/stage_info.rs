//! Events of a stage.

use std::io;

use super::accumulables::Accumulables;
use super::cluster::Peaks;
use super::environment;
use super::json::{Json, Log};
use super::kind::Kind;

/// The program line that starts every query, and its call stack.
pub(super) const CALL_SITE: &str = "insertInto at DailyTotals.scala:87";
pub(super) const DETAILS: &str = "org.apache.spark.sql.DataFrameWriter.insertInto(DataFrameWriter.scala:464)\n\
    com.example.sales.DailyTotals$.writeDay(DailyTotals.scala:87)\n\
    com.example.sales.DailyTotals$.$anonfun$run$3(DailyTotals.scala:61)\n\
    scala.collection.immutable.List.foreach(List.scala:431)\n\
    com.example.sales.DailyTotals$.run(DailyTotals.scala:60)\n\
    com.example.sales.DailyTotals$.main(DailyTotals.scala:34)\n\
    com.example.sales.DailyTotals.main(DailyTotals.scala)\n\
    java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke0(Native Method)\n\
    java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke(NativeMethodAccessorImpl.java:77)\n\
    java.base/jdk.internal.reflect.DelegatingMethodAccessorImpl.invoke(DelegatingMethodAccessorImpl.java:43)\n\
    java.base/java.lang.reflect.Method.invoke(Method.java:569)\n\
    org.apache.spark.deploy.yarn.ApplicationMaster$$anon$2.run(ApplicationMaster.scala:741)";

/// Number of RDDs per stage.
pub(super) const RDDS: i64 = 3;

/// Name and scope of a stage's RDDs, last one first.
const fn rdds(kind: Kind) -> [(&'static str, &'static str); 3] {
    match kind {
        Kind::Scan => [
            ("MapPartitionsRDD", "Exchange"),
            ("MapPartitionsRDD", "WholeStageCodegen (1)"),
            ("FileScanRDD", "Scan parquet sales.orders"),
        ],
        Kind::Aggregate => [
            ("MapPartitionsRDD", "Exchange"),
            ("MapPartitionsRDD", "WholeStageCodegen (2)"),
            ("ShuffledRowRDD", "Exchange"),
        ],
        Kind::Write => [
            ("MapPartitionsRDD", "WriteFiles"),
            ("MapPartitionsRDD", "WholeStageCodegen (3)"),
            ("ShuffledRowRDD", "Exchange"),
        ],
    }
}

/// Static information about a stage.
pub(super) struct StageInfo {
    pub(super) id: i64,
    pub(super) kind: Kind,
    pub(super) tasks: i64,
    pub(super) parents: Vec<i64>,
    pub(super) execution: i64,
    pub(super) first_rdd: i64,
    pub(super) first_metric: i64,
    pub(super) first_metric_of_plan: i64,
}

impl StageInfo {
    pub(super) fn write_submitted(&self, at: i64, log: &mut Log<'_>) -> io::Result<()> {
        log.event("SparkListenerStageSubmitted", |event| {
            event.object("Stage Info", |info| self.write(Some(at), None, info));
            environment::write_job_properties(self.execution, event);
        })
    }

    pub(super) fn write_completed(
        &self,
        submitted: i64,
        at: i64,
        accumulables: &Accumulables,
        log: &mut Log<'_>,
    ) -> io::Result<()> {
        log.event("SparkListenerStageCompleted", |event| {
            event.object("Stage Info", |info| self.write(Some(submitted), Some((at, accumulables)), info));
        })
    }

    /// For an executor, or for the driver.
    pub(super) fn write_executor_metrics(
        &self,
        executor: Option<i64>,
        peaks: &Peaks,
        log: &mut Log<'_>,
    ) -> io::Result<()> {
        log.event("SparkListenerStageExecutorMetrics", |event| {
            match executor {
                Some(executor) => event.quoted("Executor ID", executor),
                None => event.text("Executor ID", "driver"),
            };
            event.number("Stage ID", self.id).number("Stage Attempt ID", 0);
            peaks.write("Executor Metrics", event);
        })
    }

    pub(super) fn write(
        &self,
        submitted: Option<i64>,
        completed: Option<(i64, &Accumulables)>,
        info: &mut Json,
    ) {
        info.number("Stage ID", self.id).number("Stage Attempt ID", 0);
        info.text("Stage Name", CALL_SITE).number("Number of Tasks", self.tasks);
        info.array("RDD Info", |list| self.write_rdds(list));
        info.numbers("Parent IDs", &self.parents).text("Details", DETAILS);
        if let Some(at) = submitted {
            info.number("Submission Time", at);
        }
        if let Some((at, _)) = completed {
            info.number("Completion Time", at);
        }
        info.array("Accumulables", |list| {
            if let Some((_, accumulables)) = completed {
                accumulables.write_sums(list);
            }
        });
        info.number("Resource Profile Id", 0);
        info.flag("Shuffle Push Enabled", false).number("Shuffle Push Mergers Count", 0);
    }

    fn write_rdds(&self, list: &mut Json) {
        for (place, (name, scope)) in (0..).zip(rdds(self.kind)) {
            let id = self.first_rdd + RDDS - 1 - place;
            let first = self.kind == Kind::Scan && place == RDDS - 1;
            list.braces(|rdd| {
                rdd.number("RDD ID", id).text("Name", name);
                rdd.text("Scope", &format!("{{\"id\":\"{}\",\"name\":\"{scope}\"}}", 40 + id));
                rdd.text("Callsite", CALL_SITE);
                let parents = if first { vec![] } else { vec![id - 1] };
                rdd.numbers("Parent IDs", &parents);
                rdd.object("Storage Level", |level| {
                    level.flag("Use Disk", false).flag("Use Memory", false).flag("Use Off Heap", false);
                    level.flag("Deserialized", false).number("Replication", 1);
                });
                rdd.flag("Barrier", false);
                rdd.text(
                    "DeterministicLevel",
                    if self.kind == Kind::Scan { "DETERMINATE" } else { "UNORDERED" },
                );
                rdd.number("Number of Partitions", self.tasks).number("Number of Cached Partitions", 0);
                rdd.number("Memory Size", 0).number("Disk Size", 0);
            });
        }
    }
}
