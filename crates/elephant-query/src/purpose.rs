//! What a stage is for.

use elephant_model::model::spark::{Job, Origin, Spark, Stage};

/// What a stage is for, as far as it was not the user who asked for its work, or its work is to wait.
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
    /// Work that the user asked for: a query, or code with RDDs.
    Work,
}

/// Methods that look for a schema if none is given (`org.apache.spark.sql.DataFrameReader`; Spark 4: `…sql.classic…`).
const READERS: [&str; 7] = ["load", "json", "csv", "parquet", "orc", "text", "xml"];

impl Purpose {
    /// The purpose of a stage.
    #[must_use]
    pub fn of(spark: &Spark, stage: &Stage) -> Self {
        let job = spark.job_of(stage);
        if stage.origins.has(Origin::Receiver) || job.is_some_and(runs_receiver) {
            return Self::Receiver;
        }
        if stage.id.attempt > 0 {
            return Self::Retry;
        }
        if job.is_some_and(lists_files) {
            return Self::FileListing;
        }
        let is_query = job.is_some_and(|job| job.sql_execution.is_some());
        if !is_query && stage.first_call.as_deref().is_some_and(infers_schema) {
            return Self::SchemaInference;
        }
        if !is_query && stage.origins.has(Origin::Sampled) {
            return Self::Sampling;
        }
        Self::Work
    }

    /// Whether the tasks wait for something outside the application: their time and their number are no trouble.
    #[must_use]
    pub const fn waits_by_design(self) -> bool {
        matches!(self, Self::Receiver)
    }

    /// Whether the user, or a setting that the user knows, decides the number of tasks.
    #[must_use]
    pub const fn is_chosen(self) -> bool {
        matches!(self, Self::Work)
    }
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
    use elephant_model::model::spark::StageAttempt;

    fn stage(attempt: u32, origin: Option<Origin>, call: &str) -> Stage {
        let mut stage = Stage::new(StageAttempt { stage: 0, attempt });
        origin.into_iter().for_each(|origin| stage.origins.add(origin));
        stage.first_call = Some(call.into());
        stage.job = Some(0);
        stage
    }

    fn purpose(stage: &Stage, description: Option<&str>, query: Option<u64>) -> Purpose {
        let mut job = Job::new(0);
        job.description = description.map(str::to_owned);
        job.sql_execution = query;
        let spark = Spark { jobs: vec![job], ..Spark::default() };
        Purpose::of(&spark, stage)
    }

    #[test]
    fn stages_that_spark_chose_are_known_by_job_call_and_rdds() {
        let load = "org.apache.spark.sql.DataFrameReader.load(DataFrameReader.scala:186)";
        let classic = "org.apache.spark.sql.classic.DataFrameReader.json(DataFrameReader.scala:138)";
        let save = "org.apache.spark.sql.DataFrameWriter.save(DataFrameWriter.scala:1)";
        let listing = Some("Listing leaf files and directories for 200 paths:<br/>…");
        for (stage, description, query, expected) in [
            (stage(0, None, load), None, None, Purpose::SchemaInference),
            (stage(0, None, classic), None, None, Purpose::SchemaInference),
            (stage(0, None, load), None, Some(1), Purpose::Work),
            (stage(0, None, save), None, None, Purpose::Work),
            (stage(0, None, load), listing, None, Purpose::FileListing),
            (stage(1, None, save), None, Some(1), Purpose::Retry),
            (stage(0, Some(Origin::Receiver), ""), None, None, Purpose::Receiver),
            (stage(0, None, ""), Some("Streaming job running receiver 0"), None, Purpose::Receiver),
            (stage(0, Some(Origin::Sampled), ""), None, None, Purpose::Sampling),
        ] {
            assert_eq!(purpose(&stage, description, query), expected, "{stage:?}");
        }
    }
}
