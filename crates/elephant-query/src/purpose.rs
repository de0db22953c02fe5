//! What a stage is for.

use crate::taker::{Taker, writes_shuffle};
use elephant_model::model::Application;
use elephant_model::model::spark::{Job, Origin, Spark, SqlExecution, Stage};

/// What a stage is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// Reads files to find out the columns of a table (`DataFrameReader.load` without a schema, footers of Parquet and ORC
    /// files): one task, or a few, before the query.
    SchemaInference,
    /// Lists the files of many paths (`InMemoryFileIndex`), as many tasks as paths up to a limit of Spark's.
    FileListing,
    /// Takes a sample, to find out the ranges of a sort.
    Sampling,
    /// Runs a receiver of Spark Streaming, which waits for data as long as the application runs.
    Receiver,
    /// Recomputes the part of a stage whose output was lost. The size of the part was never chosen.
    Retry,
    /// Makes what all executors get (`BroadcastExchange`).
    Broadcast,
    /// Fills a cache: it makes the rows of a cached table and nothing else, or is the first to compute all partitions of a
    /// persisted RDD, whatever it does with them.
    Caching,
    /// Works on a batch of a stream.
    MicroBatch,
    /// Other work that the user asked for: a query, or code with RDDs.
    Work,
}

/// Methods that look for a schema if none is given (`org.apache.spark.sql.DataFrameReader`; Spark 4: `…sql.classic…`).
const READERS: [&str; 7] = ["load", "json", "csv", "parquet", "orc", "text", "xml"];

/// Operations of RDDs that take a sample before they sort (`RangePartitioner`).
const SORTS: [&str; 3] = ["sortByKey", "sortBy", "repartitionAndSortWithinPartitions"];

impl Purpose {
    /// The purpose of a stage.
    #[must_use]
    pub fn of(app: &Application, spark: &Spark, stage: &Stage) -> Self {
        let job = spark.job_of(stage);
        if is_receiver(spark, stage) {
            return Self::Receiver;
        }
        if is_part(spark, stage) {
            return Self::Retry;
        }
        if job.is_some_and(lists_files) {
            return Self::FileListing;
        }
        let of_job = match job.is_some_and(|job| job.of_stream) {
            true => Self::MicroBatch,
            false if fills_cache(spark, stage) => Self::Caching,
            false => Self::Work,
        };
        match job.and_then(|job| job.sql_execution) {
            Some(id) => spark.query(id).and_then(|query| Self::by_plan(app, query, stage)).unwrap_or(of_job),
            None if stage.first_call.as_deref().is_some_and(infers_schema) => Self::SchemaInference,
            None if of_job == Self::Caching => Self::Caching,
            None if is_called_sort(stage) && !writes_shuffle(app, stage) => Self::Sampling,
            None => of_job,
        }
    }

    /// What else than the query the plan says. A sort computes its input twice: first for a sample of it, without a shuffle.
    fn by_plan(app: &Application, query: &SqlExecution, stage: &Stage) -> Option<Self> {
        let takers = Taker::of(query, stage);
        match *takers.iter().collect::<Vec<_>>().as_slice() {
            [Taker::Ranges] if !writes_shuffle(app, stage) => Some(Self::Sampling),
            [Taker::Broadcast] if !writes_shuffle(app, stage) => Some(Self::Broadcast),
            [Taker::Cache] => Some(Self::Caching),
            _ => None,
        }
    }

    /// Whether the tasks wait for something outside the application: their time and their number are no trouble.
    #[must_use]
    pub const fn waits_by_design(self) -> bool {
        matches!(self, Self::Receiver)
    }

    /// Whether the user, or a setting that the user knows, decides the number of tasks.
    #[must_use]
    pub const fn is_chosen(self) -> bool {
        matches!(self, Self::Broadcast | Self::Caching | Self::MicroBatch | Self::Work)
    }
}

/// Whether the tasks of a stage are receivers of a stream.
pub(crate) fn is_receiver(spark: &Spark, stage: &Stage) -> bool {
    stage.origins.has(Origin::Receiver) || spark.job_of(stage).is_some_and(runs_receiver)
}

/// Whether an attempt only computes lost partitions again: any but the first, unless it has as many tasks as one before it.
pub(crate) fn is_part(spark: &Spark, stage: &Stage) -> bool {
    let before = spark.attempts_of(stage.id.stage).filter(|other| other.id.attempt < stage.id.attempt);
    let most = before.filter_map(|other| other.announced_tasks).max();
    let is_whole = most.is_some_and(|most| stage.announced_tasks >= Some(most));
    stage.id.attempt > 0 && !is_whole
}

/// Whether a stage is the first to compute an RDD that is persisted. Events that are missing may have told of an earlier one.
const fn fills_cache(spark: &Spark, stage: &Stage) -> bool {
    stage.fills_cache && !spark.log.compacted && !spark.gaps.beginning && !spark.gaps.missing_parts
}

/// Whether the call that created a stage sorts, by its name: "sortByKey at Orders.scala:210".
fn is_called_sort(stage: &Stage) -> bool {
    let call = stage.name.as_deref().and_then(|name| name.split(" at ").next());
    call.is_some_and(|call| SORTS.contains(&call.trim()))
}

fn runs_receiver(job: &Job) -> bool {
    job.description.as_deref().is_some_and(|told| told.starts_with("Streaming job running receiver"))
}

/// The description that `org.apache.spark.util.HadoopFSUtils` gives to its jobs.
fn lists_files(job: &Job) -> bool {
    job.description.as_deref().is_some_and(|told| told.starts_with("Listing leaf files and directories"))
}

fn infers_schema(call: &str) -> bool {
    let Some((class, method)) = call.split('(').next().and_then(|call| call.trim().rsplit_once('.')) else {
        return false;
    };
    class.starts_with("org.apache.spark.sql.")
        && class.ends_with("DataFrameReader")
        && READERS.contains(&method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, Node};
    use elephant_model::model::spark::StageAttempt;

    fn stage(attempt: u32, origin: Option<Origin>, call: &str) -> Stage {
        let mut stage = Stage::new(StageAttempt { stage: 0, attempt });
        if let Some(origin) = origin {
            stage.origins.add(origin);
        }
        stage.first_call = Some(call.into());
        stage.job = Some(0);
        stage
    }

    fn purpose(stage: &Stage, description: Option<&str>, query: Option<u64>) -> Purpose {
        let mut job = Job::new(0);
        job.description = description.map(str::to_owned);
        job.sql_execution = query;
        let spark = Spark { jobs: vec![job], ..Spark::default() };
        Purpose::of(&sample::app(), &spark, stage)
    }

    #[test]
    fn stages_that_spark_chose_are_known_by_job_call_and_rdds() {
        let load = "org.apache.spark.sql.DataFrameReader.load(DataFrameReader.scala:186)";
        let classic = "org.apache.spark.sql.classic.DataFrameReader.json(DataFrameReader.scala:138)";
        let save = "org.apache.spark.sql.DataFrameWriter.save(DataFrameWriter.scala:1)";
        let listing = Some("Listing leaf files and directories for 200 paths:<br/>…");
        let named = |name: &str| Stage { name: Some(name.into()), ..stage(0, None, "") };
        for (stage, description, query, expected) in [
            (stage(0, None, load), None, None, Purpose::SchemaInference),
            (stage(0, None, classic), None, None, Purpose::SchemaInference),
            (stage(0, None, load), None, Some(1), Purpose::Work),
            (stage(0, None, save), None, None, Purpose::Work),
            (stage(0, None, load), listing, None, Purpose::FileListing),
            (stage(1, None, save), None, Some(1), Purpose::Retry),
            (stage(0, Some(Origin::Receiver), ""), None, None, Purpose::Receiver),
            (stage(0, None, ""), Some("Streaming job running receiver 0"), None, Purpose::Receiver),
            (named("sortByKey at Sort.scala:7"), None, None, Purpose::Sampling),
            // A sample that the user takes is the user's work.
            (stage(0, Some(Origin::Sampled), ""), None, None, Purpose::Work),
        ] {
            assert_eq!(purpose(&stage, description, query), expected, "{stage:?}");
        }
    }

    #[test]
    fn the_first_stage_that_computes_a_persisted_rdd_fills_a_cache() {
        let load = "org.apache.spark.sql.DataFrameReader.load(DataFrameReader.scala:186)";
        let fills = |stage: Stage| Stage { fills_cache: true, ..stage };
        let sorts = Stage { name: Some("sortByKey at Sort.scala:7".into()), ..stage(0, None, "") };
        for (stage, query, expected) in [
            (fills(stage(0, None, "")), None, Purpose::Caching),
            (fills(stage(0, None, "")), Some(1), Purpose::Caching),
            // The sample of a sort computes its input; where that is kept, the sort reads what the sample computed.
            (fills(sorts), None, Purpose::Caching),
            (fills(stage(0, None, load)), None, Purpose::SchemaInference),
            (fills(stage(1, None, "")), None, Purpose::Retry),
            (fills(stage(0, Some(Origin::Receiver), "")), None, Purpose::Receiver),
        ] {
            assert_eq!(purpose(&stage, None, query), expected, "{stage:?}");
            assert!(expected != Purpose::Caching || expected.is_chosen());
        }
        let mut job = Job::new(0);
        let stage = fills(stage(0, None, ""));
        let of = |spark: Spark| Purpose::of(&sample::app(), &spark, &stage);
        let mut compacted = Spark { jobs: vec![job.clone()], ..Spark::default() };
        compacted.log.compacted = true;
        assert_eq!(of(compacted), Purpose::Work);
        job.of_stream = true;
        assert_eq!(of(Spark { jobs: vec![job], ..Spark::default() }), Purpose::MicroBatch);
    }

    #[test]
    fn a_stage_that_runs_as_a_whole_again_is_no_part() {
        let attempt = |attempt, tasks| Stage { announced_tasks: Some(tasks), ..stage(attempt, None, "") };
        let spark =
            Spark { stages: vec![attempt(0, 200), attempt(1, 2), attempt(2, 200)], ..Spark::default() };
        let of = |attempt: usize| Purpose::of(&sample::app(), &spark, &spark.stages[attempt]);
        assert_eq!([of(0), of(1), of(2)], [Purpose::Work, Purpose::Retry, Purpose::Work]);
    }

    #[test]
    fn what_takes_the_rows_tells_the_purpose() {
        // A scan below this operator runs in a stage that wrote this much.
        let of = |above: Node, written: i64, of_stream: bool| {
            let scan = Node::of("Scan parquet default.sales").with_metric("number of output rows", 7);
            let (mut app, spark) = sample::query(above.above(scan), &[7], written);
            app.spark = None;
            let mut spark = spark;
            spark.jobs[0].of_stream = of_stream;
            Purpose::of(&app, &spark, &spark.stages[0])
        };
        let sort = || Node::text("Exchange", "Exchange rangepartitioning(a#1 ASC NULLS FIRST, 200)");
        assert_eq!(of(sort(), 0, false), Purpose::Sampling);
        assert_eq!(of(sort(), 1000, false), Purpose::Work);
        assert_eq!(of(Node::of("BroadcastExchange"), 0, false), Purpose::Broadcast);
        assert_eq!(of(Node::of("InMemoryTableScan"), 0, false), Purpose::Caching);
        // What a subquery makes for a condition is no input of the sort above.
        let used = |above: Node| {
            let aggregate =
                Node::of("Subquery").above(Node::of("HashAggregate").with_metric("number of output rows", 7));
            let (app, spark) = sample::query(above.above(Node::of("Filter").above(aggregate)), &[7], 0);
            Purpose::of(&app, &spark, &spark.stages[0])
        };
        assert_eq!(used(sort()), Purpose::Work);
        let hash = || Node::text("Exchange", "Exchange hashpartitioning(a#1, 200)");
        assert_eq!(of(hash(), 1000, false), Purpose::Work);
        assert_eq!(of(hash(), 1000, true), Purpose::MicroBatch);
        assert_eq!(of(Node::of("Project"), 0, false), Purpose::Work);
    }
}
