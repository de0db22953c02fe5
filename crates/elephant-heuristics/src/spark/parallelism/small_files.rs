//! Stages that write many small files, one for each task.

use super::Parallelism;
use crate::spark::support::application::runs_sql;
use crate::spark::support::partitions::{Source, StageTasks};
use crate::spark::support::slots::Slots;
use crate::spark::support::stage_text::label;
use elephant_base::severity::Severity;
use elephant_base::units::Bytes;
use elephant_base::whole::Whole;
use elephant_model::model::Application;
use elephant_model::model::conf::{Conf, ConfKey};
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Spark, Stage, StageStatus};
use elephant_model::model::table::TaskGroup;
use elephant_rule::finding::{Advice, Judgement, Measure, Repartition, Subject, TroubleKind};
use elephant_rule::wording::{change, grouped, other_stages};

/// The message about files that are too small.
const MESSAGE: &str =
    "{stage}[ and {others}]: tasks wrote {files} files of {mean_file_bytes} on average ({limit})";

/// A stage that writes small files.
struct Written<'a> {
    stage: &'a Stage,
    files: u64,
    bytes: u64,
    wanted: u64,
}

impl<'a> Written<'a> {
    /// `None` if its files are few or large.
    fn of(app: &Application, stage: &'a Stage, slots: &Slots<'_>, params: &Parallelism) -> Option<Self> {
        let group: &TaskGroup = app.groups.get(stage.group?)?;
        let attempts = &group.attempts;
        // Most stages have too few tasks for that.
        if params.small_files.severity(group.tasks.len() as f64) == Severity::None {
            return None;
        }
        let written = |row| attempts.counter(row, Counter::OutputBytes).and_then(|it| u64::try_from(it).ok());
        let sizes = group.winners().filter_map(written).filter(|&bytes| bytes > 0);
        let (files, bytes) =
            sizes.fold((0, 0_u64), |(files, all), bytes| (files + 1_u64, all.saturating_add(bytes)));
        let mean = bytes as f64 / files.max(1) as f64;
        if params.small_files.severity(files as f64) == Severity::None || mean >= params.small_file_size.get()
        {
            return None;
        }
        let tasks = StageTasks::of(group)?;
        let read = [Counter::ShuffleRemoteBytesRead, Counter::ShuffleLocalBytesRead];
        let read = attempts.sum(&read).unwrap_or_default() as f64;
        // Enough tasks for all slots, and for what they read.
        let open = slots.within(tasks.from, tasks.to)?;
        let good = params.good_file_size.get();
        let wanted = open.max(bytes as f64 / good).max(read / good).ceil().max(1.0);
        (params.fewer_files.get() * wanted <= files as f64).then_some(Self {
            stage,
            files,
            bytes,
            wanted: wanted.as_u64(),
        })
    }
}

/// The judgement on stages that write many small files; `None` if there are none. Stages whose number of tasks is judged
/// already are left out.
pub(super) fn judgement(
    app: &Application,
    spark: &Spark,
    params: &Parallelism,
    is_judged: impl Fn(&Stage) -> bool,
) -> Option<Judgement> {
    let slots = Slots::of(app, spark);
    let completed = spark.stages.iter().filter(|stage| stage.status == StageStatus::Complete);
    let open = completed.filter(|stage| !is_judged(stage));
    let mut stages: Vec<Written<'_>> =
        open.filter_map(|stage| Written::of(app, stage, &slots, params)).collect();
    stages.sort_by_key(|it| (std::cmp::Reverse(it.files), it.stage.id));
    let worst = stages.first()?;
    let (files, bytes) =
        stages.iter().fold((0, 0_u64), |(files, all), it| (files + it.files, all.saturating_add(it.bytes)));
    let severity = params.small_files.severity(files as f64);
    let others = other_stages(stages.len() - 1);
    let judgement = Judgement::of(Subject::Stage(worst.stage.id), severity)
        .tells(TroubleKind::ManyTasks)
        .tasks(files)
        .fact("stages_count", Measure::Count(stages.len() as u64))
        .fact("files_count", Measure::Count(files))
        .fact("mean_file_bytes", Measure::Size(Bytes::new(bytes / files.max(1))))
        .fact("wanted_tasks_count", Measure::Count(worst.wanted))
        .message(
            MESSAGE,
            &[
                ("stage", &label(worst.stage)),
                ("others", &others),
                ("files", &grouped(i128::from(files))),
                ("limit", &params.small_files.describe(severity)),
            ],
        )
        .repartition(Repartition {
            stages: stages.iter().map(|it| it.stage.id).collect(),
            tasks: u32::try_from(worst.wanted).unwrap_or(u32::MAX),
        });
    Some(judgement.advice(|| vec![advice(app, spark, worst)]))
}

/// Adaptive execution, which merges small partitions of a shuffle; otherwise fewer tasks in the code.
fn advice(app: &Application, spark: &Spark, written: &Written<'_>) -> Advice {
    let Written { stage, wanted, .. } = *written;
    let source =
        stage.group.and_then(|group| app.groups.get(group)).map(|group| Source::of(app, spark, stage, group));
    let is_off = app.version().is_some_and(|version| version >= (3, 0))
        && app.in_force(ConfKey::AdaptiveEnabled, Conf::flag) == Some(false);
    if source == Some(Source::ShufflePartitions) && is_off {
        return Advice::new("write fewer, larger files: let Spark merge small partitions of the shuffle")
            .set([change(app, ConfKey::AdaptiveEnabled, true)]);
    }
    let call = if runs_sql(spark, stage) { "repartition or coalesce" } else { "coalesce" };
    Advice::new(format!("write fewer, larger files: {call} to about {wanted} partitions before the write"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::table::Outcome;
    use elephant_rule::finding::Finding;

    /// The findings on a stage of tasks that write files of this size, on 8 cores.
    fn found(tasks: usize, bytes: i64, settings: &[(&str, &str)]) -> Vec<Finding> {
        let mut app = elephant_sample::app(settings);
        app.engine_version = Some("3.5.1".to_owned());
        for id in ["1", "2"] {
            elephant_sample::executor(&mut app, id).cores = Some(4);
        }
        elephant_sample::stage(&mut app, 0, &vec![(Outcome::Succeeded, 2000); tasks]);
        elephant_sample::count(&mut app, Counter::OutputBytes, bytes);
        elephant_sample::succeed(&mut app);
        app.finished_at = Some(Timestamp::from_millis(1_000_000));
        let found = elephant_sample::evaluate(&app, "spark-parallelism", false).findings;
        found.into_iter().filter(|it| it.severity > Severity::None).collect()
    }

    #[test]
    fn many_small_files_are_found() {
        let many = found(4000, 100 << 10, &[]);
        assert_eq!(
            (many[0].severity, many[0].tells, &*many[0].message),
            (
                Severity::Low,
                TroubleKind::ManyTasks,
                "stage 0.0 (count at App.scala:0): tasks wrote 4,000 files of 100 KiB on average (low from 1000)"
            )
        );
        assert_eq!(
            many[0].advice,
            ["write fewer, larger files: coalesce to about 8 partitions before the write"]
        );
        assert!(found(4000, 100 << 20, &[]).is_empty(), "large files");
        assert!(found(400, 100 << 10, &[]).is_empty(), "few files");
        assert_eq!(found(20_000, 100 << 10, &[])[0].severity, Severity::Moderate);
    }
}
