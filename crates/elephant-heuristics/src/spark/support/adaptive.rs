//! Partitions of adaptive execution: it merges those of a shuffle up to an advisory size.
//!
//! `CoalesceShufflePartitions` merges neighbouring partitions as long as they stay below
//! `spark.sql.adaptive.advisoryPartitionSizeInBytes`. So more partitions alone change little: they are merged again. A smaller
//! advisory size gives more tasks, up to the number of partitions that the shuffle has at first.

use super::memory::{Setting, in_force, shuffle_partitions};
use super::stage_figures::{Figures, FlowKind};
use elephant_base::units::Bytes;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_rule::finding::SettingChange;
use elephant_rule::wording::change;

/// Merged partitions are at least this share of the advisory size on average: two neighbours together exceed it.
const MERGED_AT_LEAST: f64 = 0.5;
/// Merged partitions exceed the advisory size by at most this factor, because sizes are measured before the merge.
const MERGED_AT_MOST: f64 = 1.1;

/// The advisory size, if adaptive execution merges partitions. Before Spark 3.0, it merged them by other settings.
fn advisory(app: &Application) -> Option<Bytes> {
    let on = |key: ConfKey| app.in_force(key, Conf::flag) == Some(true);
    let merges = app.version().is_none_or(|version| version >= (3, 0))
        && on(ConfKey::AdaptiveEnabled)
        && on(ConfKey::AdaptiveCoalesce);
    app.in_force(ConfKey::AdaptivePartitionSize, |conf, key| conf.spark_size(key, Bytes::new(1)))
        .filter(|_| merges)
}

/// The setting of the number of partitions that a shuffle of SQL has before they are merged.
fn initial_key(app: &Application) -> ConfKey {
    let is_set = in_force(app, ConfKey::AdaptiveInitialPartitions).is_some();
    if is_set && advisory(app).is_some() {
        ConfKey::AdaptiveInitialPartitions
    } else {
        ConfKey::ShufflePartitions
    }
}

/// The number of partitions that a shuffle of SQL has before they are merged.
fn initial(app: &Application) -> u64 {
    in_force(app, initial_key(app)).unwrap_or_else(|| shuffle_partitions(app))
}

/// Whether the partitions of a stage that reads a shuffle look merged: fewer than the shuffle had, and as large as the
/// advisory size allows.
pub(in crate::spark) fn is_merged(app: &Application, figures: &Figures) -> bool {
    let Some((advisory, read)) = advisory(app).zip(figures.flow(FlowKind::ShuffleRead)) else { return false };
    let each = read.total.as_f64() / figures.tasks.max(1) as f64;
    figures.reads_shuffle_only()
        && figures.tasks < initial(app)
        && each >= advisory.as_f64() * MERGED_AT_LEAST
        && each <= advisory.as_f64() * MERGED_AT_MOST
}

/// The settings with which a shuffle of SQL has `wanted` tasks that read `read` bytes together.
pub(in crate::spark) fn more_partitions(
    app: &Application,
    read: Option<Bytes>,
    wanted: u64,
) -> Vec<SettingChange> {
    let smaller = smaller_advisory(app, read, wanted);
    let smaller = smaller.map(|size| change(app, ConfKey::AdaptivePartitionSize, Setting(size)));
    let key = initial_key(app);
    let more = (wanted > initial(app)).then(|| change(app, key, wanted));
    smaller.into_iter().chain(more).collect()
}

/// The advisory size with which partitions that read `read` bytes together stay `wanted`; `None` if it is that small already,
/// or if partitions are not merged.
pub(crate) fn smaller_advisory(app: &Application, read: Option<Bytes>, wanted: u64) -> Option<Bytes> {
    let now = advisory(app)?;
    let size = Bytes::from_mib((read?.get() / wanted.max(1)) / Bytes::PER_MIB);
    (size.get() > 0 && size < now).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(settings: &[(&str, &str)], version: &str, (mib, wanted): (u64, u64)) -> Vec<String> {
        let mut app = elephant_sample::app(settings);
        app.engine_version = Some(version.to_owned());
        let changes = more_partitions(&app, Some(Bytes::from_mib(mib)), wanted);
        changes.iter().map(ToString::to_string).collect()
    }

    const SIZE: &str = "--conf spark.sql.adaptive.advisoryPartitionSizeInBytes=";

    #[test]
    fn more_partitions_are_merged_again_unless_the_advisory_size_is_smaller() {
        assert_eq!(
            changes(&[], "3.5.1", (8000, 800)),
            [format!("{SIZE}10m"), "--conf spark.sql.shuffle.partitions=800".to_owned()]
        );
        // The shuffle has enough of them at first.
        assert_eq!(changes(&[], "3.5.1", (8000, 160)), [format!("{SIZE}50m")]);
        // Large partitions are not merged.
        assert_eq!(changes(&[], "3.5.1", (80_000, 800)), ["--conf spark.sql.shuffle.partitions=800"]);
    }

    #[test]
    fn without_merging_only_the_number_counts() {
        let number = ["--conf spark.sql.shuffle.partitions=800"];
        assert_eq!(changes(&[], "3.1.2", (8000, 800)), number);
        assert_eq!(changes(&[("spark.sql.adaptive.enabled", "true")], "2.4.8", (8000, 800)), number);
        let off = [("spark.sql.adaptive.coalescePartitions.enabled", "false")];
        assert_eq!(changes(&off, "3.5.1", (8000, 800)), number);
        let initial = [("spark.sql.adaptive.coalescePartitions.initialPartitionNum", "400")];
        assert_eq!(
            changes(&initial, "3.5.1", (80_000, 800)),
            ["--conf spark.sql.adaptive.coalescePartitions.initialPartitionNum=800 (now 400)"]
        );
    }
}
