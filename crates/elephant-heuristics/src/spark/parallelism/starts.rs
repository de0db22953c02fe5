//! Stages whose tasks take long to start, because each of them reads large functions again.

use std::cmp::Reverse;

use super::{Loss, Parallelism};
use crate::spark::support::partitions::StageTasks;
use crate::spark::support::slots::Slots;
use crate::spark::support::stage_text::label;
use elephant_base::stats::descriptive::median;
use elephant_base::units::Millis;
use elephant_model::model::Application;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Spark, Stage, StageStatus};
use elephant_rule::finding::{Judgement, Measure, Subject, TroubleKind};
use elephant_rule::wording::other_stages;

const MESSAGE: &str = "{stage}[ and {others}]: a task takes {deserialize_ms} to read what it runs; about {lost_ms} were lost, \
                       {lost_ratio:%} of the run time ({limit})";
const REMEDY: &str = "broadcast large objects that the functions of tasks use (SparkContext.broadcast) instead of capturing \
                      them: each task reads what its function captures again";

/// A stage, the median time in which its tasks were read, and what that cost.
struct Started<'a> {
    stage: &'a Stage,
    tasks: u64,
    each: Millis,
    time: Millis,
}

impl<'a> Started<'a> {
    fn of(app: &Application, stage: &'a Stage, slots: &Slots<'_>, params: &Parallelism) -> Option<Self> {
        let group = app.groups.get(stage.group?)?;
        let usual = params.small_task_time.get();
        // With a larger median, half of the attempts take longer than usual. Most stages end here, without looking at tasks.
        let all = group.attempts.sum_of_values(Counter::ExecutorDeserializeTime)? as f64;
        if all < usual * (group.tasks.len() / 2) as f64 {
            return None;
        }
        let read = |row| group.attempts.millis(row, Counter::ExecutorDeserializeTime).map(Millis::as_f64);
        let each = median(&group.winners().map(read).collect::<Option<Vec<f64>>>()?)?;
        // Starting a task always takes some time: as much as makes it a small one.
        let beyond = each - usual;
        if beyond <= 0.0 {
            return None;
        }
        let tasks = StageTasks::of(group)?;
        let open = slots.within(tasks.from, tasks.to)?.max(1.0);
        let count = tasks.times.len() as f64;
        if count < params.start_rounds.get() * open || each < params.start_share.get() * tasks.overhead {
            return None;
        }
        let time = Millis::from_f64((count * beyond / open).min((tasks.to - tasks.from) as f64))?;
        Some(Self { stage, tasks: tasks.times.len() as u64, each: Millis::from_f64(each)?, time })
    }
}

/// The judgement on stages whose tasks take long to start; `None` if there are none, or if they lost too little. Stages whose
/// number of tasks is judged already are left out.
pub(super) fn judgement(
    app: &Application,
    spark: &Spark,
    (params, run_time): (&Parallelism, Millis),
    is_judged: impl Fn(&Stage) -> bool,
) -> Option<Judgement> {
    let slots = Slots::of(app, spark);
    let completed = spark.stages.iter().filter(|stage| stage.status == StageStatus::Complete);
    let open = completed.filter(|stage| !is_judged(stage));
    let mut stages: Vec<Started<'_>> =
        open.filter_map(|stage| Started::of(app, stage, &slots, params)).collect();
    stages.sort_by_key(|it| (Reverse(it.time), it.stage.id));
    let worst = stages.first()?;
    let time = stages.iter().map(|it| it.time).sum::<Millis>().min(run_time);
    let Loss { severity, share, limit, .. } = params.loss(time, run_time)?;
    let others = other_stages(stages.len() - 1);
    let judgement = Judgement::of(Subject::Stage(worst.stage.id), severity)
        .tells(TroubleKind::SlowTasks)
        .tasks(stages.iter().map(|it| it.tasks).sum())
        .fact("stages_count", Measure::Count(stages.len() as u64))
        .fact("deserialize_ms", Measure::Time(worst.each))
        .fact("lost_ms", Measure::Time(time))
        .fact("lost_ratio", Measure::Ratio(Some(share)))
        .message(MESSAGE, &[("stage", &label(worst.stage)), ("others", &others), ("limit", &limit)]);
    Some(judgement.advice(|| vec![REMEDY]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::severity::Severity;
    use elephant_base::units::Timestamp;
    use elephant_model::model::table::Outcome;
    use elephant_rule::finding::Finding;

    /// The findings on a stage of tasks of 8 s, of which reading takes this many milliseconds, on 8 cores.
    fn found(tasks: usize, read: i64) -> Vec<Finding> {
        let mut app = elephant_sample::app(&[]);
        for id in ["1", "2"] {
            elephant_sample::executor(&mut app, id).cores = Some(4);
        }
        elephant_sample::stage(&mut app, 0, &vec![(Outcome::Succeeded, 8000); tasks]);
        elephant_sample::count(&mut app, Counter::ExecutorDeserializeTime, read);
        elephant_sample::count(&mut app, Counter::ExecutorRunTime, 8000 - read);
        // Eight tasks at a time.
        for (row, from) in (0..tasks).zip((0..).flat_map(|round: i64| [round * 8000; 8])) {
            let times = [
                (elephant_model::model::table::TimePoint::Start, from),
                (elephant_model::model::table::TimePoint::Finish, from + 8000),
            ];
            for (point, at) in times {
                app.groups[0].attempts.set_time(row, point, Some(Timestamp::from_millis(at)));
            }
        }
        elephant_sample::succeed(&mut app);
        app.finished_at = Some(Timestamp::from_millis(100_000));
        let found = elephant_sample::evaluate(&app, "spark-parallelism", false).findings;
        found.into_iter().filter(|it| it.severity > Severity::None).collect()
    }

    #[test]
    fn tasks_that_take_long_to_read_are_found() {
        let slow = found(80, 5000);
        assert_eq!(
            (slow[0].severity, slow[0].tells, &*slow[0].message),
            (
                Severity::Severe,
                TroubleKind::SlowTasks,
                "stage 0.0 (count at App.scala:0): a task takes 5 s to read what it runs; about 47 s were lost, 47 % of the run \
                 time (severe from 30 s)"
            )
        );
        assert!(slow[0].advice[0].text.starts_with("broadcast large objects"), "{:?}", slow[0].advice);
        assert!(found(80, 100).is_empty(), "usual");
        // The first task of each slot also loads classes.
        assert!(found(16, 5000).iter().all(|it| it.tells != TroubleKind::SlowTasks));
    }
}
