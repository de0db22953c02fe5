//! `spark-parallelism`: stages with so few tasks that cores are idle, or so many small ones, or ones that take so long to
//! start, that their overhead costs time; and stages that write many small files.

mod small_files;
mod stages;
mod starts;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use stages::Lost;

use super::support::application::spark;
use super::support::loss::{Limits, Loss};
use super::support::memory;
use super::support::partitions::{Aim, Source, advice};
use super::support::stage_text::label;
use crate::declare::spark as rule;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{Facet, Spark, Stage, StageAttempt};
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Judgement, Measure, Phrase, Repartition, Subject, TroubleKind, Verdict, Worse};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio, Size};
use elephant_rule::params::{Positive, rule_params};
use elephant_rule::wording::{other_stages, plural};

rule_params! {
    /// Parameters of `spark-parallelism`.
    pub(super) struct Parallelism / ParallelismLayer {
        /// Time lost in all stages with the same remedy / run time of the application.
        lost_share: Ascending<Ratio>,
        /// Time lost in all stages with the same remedy.
        lost_time: Ascending<Duration>,
        /// Stages with at least one task for each task slot are at most low if they lost less than this.
        uneven_time: Quantity<Duration>,
        /// The number of tasks for each task slot that advice aims at. Stages with more tasks have enough.
        tasks_per_slot: Quantity<Count>,
        /// Tasks whose median time is below this are small.
        small_task_time: Quantity<Duration>,
        /// At most this much of a small task's run time counts as overhead.
        small_task_overhead: Quantity<Duration>,
        /// Files that tasks of all stages wrote, if they are small.
        small_files: Ascending<Count>,
        /// Files are small below this mean size; so is the input of tasks that read whole files.
        small_file_size: Quantity<Size>,
        /// Small tasks are too many from this multiple of the advised number on.
        many_times: Quantity<Count>,
        /// Tasks of any length are too many if this share of their mean time does not depend on what they read.
        fixed_share: Quantity<Ratio>,
        /// A stage that lost less than this is not judged.
        ignored_time: Quantity<Duration>,
        /// The data of a task that writes files of a good size: a block of HDFS, and what a task of a shuffle handles
        /// well.
        good_file_size: Positive<Size>,
        /// Small files are reported only if good ones would be fewer by this factor.
        fewer_files: Quantity<Count>,
        /// The time in which tasks are read counts only in stages with this many tasks for each slot: the first task
        /// of each executor also loads classes.
        start_rounds: Quantity<Count>,
        /// That time must be at least this share of a task's time before and after its run. The rest has other
        /// reasons, such as a busy driver.
        start_share: Quantity<Ratio>,
        /// If tasks are small, as much overhead counts for each as this share of them, the fastest ones, took at
        /// most: they hardly work.
        smallest_tasks: Quantity<Ratio>,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "spark-parallelism", "Spark Parallelism", tells FewTasks, Parallelism, |layers, advice| load_advised(
        layers, advice, TaskCounts
    ))
    .measured_by("lost_ratio", Worse::Higher)
    .also_telling(&[TroubleKind::ManyTasks, TroubleKind::SlowTasks]);

/// The message about too few tasks.
const FEW: &str = "{stage}[ and {others}]: {tasks} for {slots} task slots left cores idle; compared with {wanted}, \
                   about {lost_ms} were lost, {lost_ratio:%} of the run time ({limit})";

/// The limit of stages with tasks for all slots.
const UNEVEN: &str = "low below {time}, because every slot had a task";

/// The message about too many tasks.
const MANY: &str = "{stage}[ and {others}]: {tasks} of {median_task_ms} each, of which {overhead_ms} is overhead; compared \
                    with {wanted}, about {lost_ms} were lost, {lost_ratio:%} of the run time ({limit})";

/// The message if nothing was found.
const FITS: &str = "the number of tasks of each stage fits its executors";

struct TaskCounts(Parallelism, Arc<AdviceParams>);

impl Check for TaskCounts {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let Some(run_time) = memory::run_time(app).filter(|time| *time > Millis::ZERO) else {
            return Verdict::NotEvaluated(
                "the event log does not contain the application's run time".to_owned(),
            );
        };
        let lost = stages::all(app, spark, params);
        let mut judgements: Vec<Judgement> = Vec::new();
        let remedies: BTreeSet<(TroubleKind, Source)> = lost.iter().map(|it| (it.kind, it.source)).collect();
        for (kind, source) in remedies {
            let mut alike: Vec<&Lost<'_>> =
                lost.iter().filter(|it| it.kind == kind && it.source == source).collect();
            alike.sort_by_key(|it| (Reverse(it.time), it.stage.id));
            judgements.extend(params.judgement(app, spark, &alike, run_time));
        }
        let known: BTreeSet<StageAttempt> = lost.iter().map(|it| it.stage.id).collect();
        let is_judged = |stage: &Stage| known.contains(&stage.id);
        judgements.extend(small_files::judgement(app, spark, params, is_judged));
        judgements.extend(starts::judgement(app, spark, (params, run_time), is_judged));
        if judgements.is_empty() {
            return Judgement::of(Subject::Application, Severity::None).message(FITS, &[]).into();
        }
        judgements.sort_by_key(|judged| Reverse(judged.severity));
        Verdict::Several(judgements)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::Stages, Facet::Executors]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::of(&[Counter::ExecutorRunTime])
    }
}

impl Parallelism {
    /// The number of tasks that advice aims at.
    const fn aim(&self) -> Aim {
        Aim { tasks_per_slot: self.tasks_per_slot.get(), small_task_time: self.small_task_time.get() }
    }

    /// What a lost time means for a run; `None` if it is too little.
    fn loss(&self, time: Millis, run_time: Millis) -> Option<Loss> {
        Limits { share: &self.lost_share, time: &self.lost_time }.loss(time, run_time)
    }

    /// The loss, which is at most low if it is short and all stages have tasks for all slots: their last tasks do not fill
    /// the slots once more, as in most healthy runs.
    fn at_most_low(&self, loss: Loss, alike: &[&Lost<'_>], time: Millis) -> Loss {
        let few = |it: &&Lost<'_>| it.kind == TroubleKind::FewTasks && it.tasks >= it.slots;
        let is_short = time.as_f64() < self.uneven_time.get() && alike.iter().all(few);
        if loss.severity <= Severity::Low || !is_short {
            return loss;
        }
        let most = Millis::from_f64(self.uneven_time.get()).unwrap_or_default();
        let limit = Phrase::new(UNEVEN, &[("time", &most)]).to_string();
        Loss { severity: Severity::Low, limit, ..loss }
    }

    /// The judgement on stages with the same remedy, the one that lost most first; `None` if there are none, or if they
    /// lost too little.
    fn judgement(
        &self,
        app: &Advised<'_>,
        spark: &Spark,
        alike: &[&Lost<'_>],
        run_time: Millis,
    ) -> Option<Judgement> {
        let worst = alike.first()?;
        let time = alike.iter().map(|it| it.time).sum::<Millis>().min(run_time);
        let loss = self.loss(time, run_time)?;
        let Loss { severity, share, limit, .. } = self.at_most_low(loss, alike, time);
        let others = other_stages(alike.len() - 1);
        let tasks = alike.iter().map(|it| it.tasks).sum();
        let judgement = Judgement::of(Subject::Stage(worst.stage.id), severity)
            .tells(worst.kind)
            .tasks(tasks)
            .fact("stages_count", Measure::Count(alike.len() as u64))
            .fact("tasks_count", Measure::Count(worst.tasks))
            .fact("task_slots_count", Measure::Count(worst.slots))
            .fact("wanted_tasks_count", Measure::Count(worst.wanted))
            .fact("median_task_ms", Measure::Time(worst.median))
            .fact("overhead_ms", Measure::Time(worst.overhead))
            .fact("lost_ms", Measure::Time(time))
            .fact("lost_ratio", Measure::Ratio(Some(share)))
            .message(
                if worst.kind == TroubleKind::FewTasks { FEW } else { MANY },
                &[
                    ("stage", &label(worst.stage)),
                    ("others", &others),
                    ("tasks", &plural(worst.tasks, "task")),
                    ("slots", &worst.slots),
                    ("wanted", &worst.wanted),
                    ("limit", &limit),
                ],
            )
            .repartition(Repartition {
                stages: alike.iter().map(|it| it.stage.id).collect(),
                tasks: u32::try_from(worst.wanted).unwrap_or(u32::MAX),
            });
        let counts = (worst.tasks, worst.wanted);
        Some(judgement.advice(|| vec![advice(app, spark, worst.stage, worst.source, counts)]))
    }
}
