//! Purposes of the stages of real logs, and what fixes their numbers of tasks.

use std::collections::BTreeMap;

use elephant_engine::engine::{Visited, visit};
use elephant_model::model::Application;
use elephant_model::model::spark::{Spark, Stage};
use elephant_query::{FixedBy, Purpose};
use elephant_testing::shared;

/// The stages that completed, by what `of` says about them.
fn counted<K: Ord + Send>(
    of: impl Fn(&Application, &Spark, &Stage) -> Option<K> + Sync,
) -> Option<BTreeMap<K, usize>> {
    let (corpus, runs) = (shared("corpus")?, shared("runs")?);
    let look = |app: &Application, _: &[String]| {
        let spark = app.spark.as_deref();
        let stages = spark.into_iter().flat_map(|spark| spark.stages.iter().map(move |stage| (spark, stage)));
        stages.filter_map(|(spark, stage)| of(app, spark, stage)).collect::<Vec<K>>()
    };
    let Visited { applications, .. } = visit(&[corpus, runs], look);
    let mut counts = BTreeMap::new();
    for found in applications.into_iter().flat_map(|visited| visited.value) {
        *counts.entry(found).or_default() += 1;
    }
    Some(counts)
}

#[test]
fn real_logs_have_stages_of_most_purposes() {
    let Some(found) = counted(|app, spark, stage| Some(Purpose::of(app, spark, stage))) else { return };
    println!("{found:?}");
    let all: usize = found.values().sum();
    let of = |purpose| found.get(&purpose).copied().unwrap_or_default();
    for purpose in
        [Purpose::SchemaInference, Purpose::Broadcast, Purpose::Caching, Purpose::MicroBatch, Purpose::Work]
    {
        assert!(of(purpose) > 0, "{purpose:?}: {found:?}");
    }
    assert!(of(Purpose::Sampling) + of(Purpose::FileListing) < all / 10, "{found:?}");
}

#[test]
fn real_logs_show_what_fixes_the_number_of_tasks() {
    let Some(found) = counted(FixedBy::of) else { return };
    println!("{found:?}");
    assert!(found.len() > 4, "{found:?}");
}

/// A sort takes a sample of its input, and computes it again for its shuffle.
#[test]
fn what_is_sampled_in_a_query_is_computed_again() {
    let again = |app: &Application, spark: &Spark, stage: &Stage| {
        let execution = spark.job_of(stage)?.sql_execution?;
        if Purpose::of(app, spark, stage) != Purpose::Sampling {
            return None;
        }
        let others = spark.stages.iter().filter(|other| other.id != stage.id);
        let mut others =
            others.filter(|other| spark.job_of(other).and_then(|job| job.sql_execution) == Some(execution));
        let has =
            |other: &Stage, id: u64| other.accumulables.binary_search_by_key(&id, |(id, _)| *id).is_ok();
        Some(others.any(|other| stage.accumulables.iter().any(|(id, _)| has(other, *id))))
    };
    let Some(found) = counted(again) else { return };
    println!("{found:?}");
    let once = found.get(&false).copied().unwrap_or_default();
    assert!(10 * once <= found.values().sum(), "{found:?}");
}

/// What Spark 3.5 did in a run that caches a table and two RDDs: the first stage that computes each of them fills a cache.
#[test]
fn the_stages_that_fill_caches_are_known() {
    let Some(runs) = shared("runs") else { return };
    let look = |app: &Application, _: &[String]| {
        let spark = app.spark.as_deref().unwrap();
        let filling = spark.stages.iter().filter(|stage| Purpose::of(app, spark, stage) == Purpose::Caching);
        filling.map(|stage| stage.id.stage).collect::<Vec<_>>()
    };
    let Visited { applications, .. } = visit(&[runs.join("spark-3.5.9/cached")], look);
    let stages: Vec<Vec<u32>> = applications.into_iter().map(|visited| visited.value).collect();
    assert_eq!(stages, [[0, 10, 13]]);
}
