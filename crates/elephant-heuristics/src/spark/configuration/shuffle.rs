//! Settings of shuffles.

use rustc_hash::FxHashMap;

use super::{Issue, Settings, setting};
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::conf::ConfKey;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Spark, Stage};
use elephant_rule::finding::{Advice, Phrase};
use elephant_rule::wording::change;

const KRYO: &str = "org.apache.spark.serializer.KryoSerializer";

const SERIALIZER: &str = "{setting}[, and RDDs shuffled {shuffled}]";

/// Java's serializer, if RDDs of objects are shuffled.
pub(super) fn serializer(params: &Settings, app: &Application, spark: &Spark) -> Option<Issue> {
    let severity = match app.conf.text(ConfKey::Serializer).as_deref() {
        Some(KRYO) => return None,
        Some(_) => params.other_serializer,
        None => params.unset_serializer,
    };
    let gate = params.serializer_shuffle.get();
    let shuffled = rdd_shuffle(app, spark);
    if severity == Severity::None || shuffled.as_f64() < gate {
        return None;
    }
    let shuffled = if gate > 0.0 { shuffled.to_string() } else { String::new() };
    Some(Issue {
        severity,
        message: Phrase::new(
            SERIALIZER,
            &[("setting", &setting(app, ConfKey::Serializer)), ("shuffled", &shuffled)],
        ),
        advice: Some(
            // The log does not tell how long tasks serialize.
            Advice::new("if tasks take long to serialize objects, use a faster serializer")
                .set([change(app, ConfKey::Serializer, KRYO)])
                .and("; or use DataFrames, which need none")
                .conditional(),
        ),
    })
}

/// A shuffle manager other than Spark's own.
pub(super) fn manager(params: &Settings, app: &Application) -> Option<Issue> {
    let manager = app.conf.text(ConfKey::ShuffleManager)?;
    (manager != "sort").then(|| Issue {
        severity: params.other_shuffle_manager,
        message: setting(app, ConfKey::ShuffleManager),
        advice: Some(Advice::new("use Spark's shuffle manager").set([change(
            app,
            ConfKey::ShuffleManager,
            "sort",
        )])),
    })
}

/// Shuffle bytes written by stages of jobs outside SQL executions. SQL writes rows in its own format.
fn rdd_shuffle(app: &Application, spark: &Spark) -> Bytes {
    let mut first_job_is_sql = FxHashMap::default();
    for job in &spark.jobs {
        for stage in &job.stages {
            first_job_is_sql.entry(*stage).or_insert(job.sql_execution.is_some());
        }
    }
    let of_rdds = |stage: &&Stage| first_job_is_sql.get(&stage.id.stage).is_none_or(|is_sql| !is_sql);
    let groups = spark.stages.iter().filter(of_rdds).filter_map(|stage| app.groups.get(stage.group?));
    groups
        .flat_map(|group| {
            (0..group.attempts.len())
                .filter_map(|row| group.attempts.bytes(row, Counter::ShuffleBytesWritten))
        })
        .sum()
}
