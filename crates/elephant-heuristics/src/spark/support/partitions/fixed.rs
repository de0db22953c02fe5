//! Remedies where something else than a setting fixes the number of tasks: the change to that.

use elephant_model::model::Application;
use elephant_model::model::spark::{Spark, Stage};
use elephant_query::{FixedBy, Purpose, Single};
use elephant_rule::finding::Advice;
use elephant_rule::wording::plural;

/// How a stage gets `wanted` instead of `tasks` tasks.
pub(super) fn advice(fixed: FixedBy, (tasks, wanted): (u64, u64)) -> Advice {
    let few = tasks < wanted;
    let more = if few { "more" } else { "fewer" };
    let now = plural(tasks, "task");
    match fixed {
        FixedBy::Jdbc if tasks == 1 => format!(
            "read the table in parallel: one query reads all of it in one task; set partitionColumn (an even, indexed \
             column), lowerBound, upperBound and numPartitions={wanted} of the JDBC source"
        ),
        FixedBy::Jdbc => format!(
            "read the table with {more} queries: numPartitions={wanted} of the JDBC source, with bounds that fit \
             (lowerBound, upperBound)"
        ),
        FixedBy::Kafka if few => format!(
            "read each partition of the topics with several tasks: minPartitions={wanted} of the Kafka source, or more \
             partitions of the topics"
        ),
        FixedBy::Kafka => {
            "a batch reads each partition of the topics with one task: let batches be larger (a longer trigger), or use \
             topics with fewer partitions"
                .to_owned()
        }
        FixedBy::Regions if few => {
            "a task reads a region of the HBase table: split large regions, and distribute the keys of rows evenly over them \
             (salted keys)"
                .to_owned()
        }
        FixedBy::Regions => "a task reads a region of the HBase table: merge small regions".to_owned(),
        FixedBy::Buckets if few => format!(
            "a task reads a bucket of the table: write the table with about {wanted} buckets, or read it without its buckets \
             (spark.sql.sources.bucketing.enabled=false) where no join needs them"
        ),
        FixedBy::Buckets => {
            format!("a task reads a bucket of the table: write the table with about {wanted} buckets")
        }
        FixedBy::Parallelized => format!(
            "pass {wanted} as the number of slices to the call that makes the data (parallelize, range) instead of {tasks}"
        ),
        FixedBy::Repartition => {
            format!("change the number in repartition, or in the hint, to {wanted}; it makes {now}")
        }
        FixedBy::Coalesce if few => format!(
            "use coalesce({wanted}) instead of coalesce({tasks}), which also leaves all work of the stage before it to {now}; or \
             repartition({tasks}), if the output must have {} files",
            if tasks == 1 { "no more" } else { "as few" }
        ),
        FixedBy::Coalesce => format!("use coalesce({wanted}) instead of coalesce({tasks})"),
        FixedBy::Single(Single::Window) => {
            "give the window a key (PARTITION BY): without one, all rows go to a single task".to_owned()
        }
        FixedBy::Single(_) => format!(
            "a single task does all the work of the stage: avoid coalesce(1), sorting without partitions, and windows without \
             a key; repartition({wanted}) distributes the work"
        ),
        FixedBy::Retry | FixedBy::Barrier | FixedBy::Receivers => return Advice::default(),
    }
    .into()
}

/// The remedy for work that Spark does of its own accord; `None` for other stages.
pub(super) fn of_purpose(purpose: Purpose) -> Option<Advice> {
    let text = match purpose {
        Purpose::SchemaInference => {
            "the stage only finds out the columns of the input: give the reader a schema (schema(…)), or read a table of the \
             catalogue"
        }
        Purpose::FileListing => {
            "the stage only lists files: read fewer paths, or a table whose partitions the catalogue knows, and keep the \
             listing (a cached table, a table format with its own metadata)"
        }
        Purpose::Sampling => {
            "the stage only takes a sample for the ranges of a sort, and computes the input of the sort once more: keep that \
             input (persist), or sort within partitions if no total order is needed"
        }
        _ => return None,
    };
    Some(text.into())
}

/// The remedy for a stage with work that Spark does of its own accord; `None` for other stages.
pub(in crate::spark) fn of_stage(app: &Application, spark: &Spark, stage: &Stage) -> Option<Advice> {
    of_purpose(Purpose::of(app, spark, stage))
}

/// A stream with state keeps the number of partitions with which it started.
pub(super) fn in_stream(app: &Application, spark: &Spark, stage: &Stage, advice: Advice) -> Advice {
    if Purpose::of(app, spark, stage) != Purpose::MicroBatch {
        return advice;
    }
    advice.and("; a stream that keeps state needs a new checkpoint for it")
}

#[cfg(test)]
mod tests;
