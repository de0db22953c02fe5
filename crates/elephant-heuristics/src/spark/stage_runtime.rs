//! `spark-stage-runtime`: stages that take long, that fail, or that lose time to failed tasks (Dr. Elephant
//! v2.0.9 `StageRuntimeHeuristic`).

use std::cmp::Reverse;
use std::sync::Arc;

use super::support::application::spark;
use super::support::failed_places::{self, failure_at};
use super::support::lost_time::{Failures, limit_if_any, reason_of_stage, share_if_any};
use super::support::memory;
use super::support::partitions::{Aim, Source, advice, of_stage};
use super::support::root::Root;
use super::support::stage_text::label;
use crate::declare::spark as rule;
use crate::shown::FINDINGS;
use elephant_base::severity::Severity;
use elephant_base::units::Millis;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::spark::{Facet, Spark, Stage, StageStatus};
use elephant_query::FixedBy;
use elephant_rule::finding::{
    Advice, Judgement, Measure, Repartition, Subject, TroubleKind, Verdict, Worse, and_more,
};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Quantity, Ratio};
use elephant_rule::params::rule_params;
use elephant_rule::wording::{decisive, percent, plural};

rule_params! {
    /// Parameters of `spark-stage-runtime`.
    pub(super) struct StageRuntime / StageRuntimeLayer {
        /// Failed stage attempts / ended stage attempts.
        stage_failure_rate: Ascending<Ratio>,
        /// Whether only succeeded stages are judged one by one.
        only_complete_stages (was "only_succeeded"): bool,
        /// Failed task attempts of a stage / its failed and succeeded attempts.
        task_failure_rate: Ascending<Ratio>,
        /// Time of the stage's failed attempts / time of all attempts of the application.
        lost_share: Ascending<Ratio>,
        /// Time from the stage's submission to its end.
        stage_time: Ascending<Duration>,
        /// Time from the stage's submission to its end / run time of the application.
        run_time_share: Ascending<Ratio>,
        /// For stages that leave task slots idle: the number of tasks for each slot that advice aims at.
        tasks_per_slot: Quantity<Count>,
        /// For stages that leave task slots idle: tasks that would be shorter are not worth splitting.
        small_task_time: Quantity<Duration>,
        /// A stage with fewer tasks than this for each task slot may have too few.
        few_tasks_per_slot: Quantity<Count>,
        /// From this many tasks for each task slot on, most tasks of a stage wait for a slot: dynamic allocation
        /// would ask for more executors.
        waiting_tasks_per_slot: Quantity<Count>,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "2.0.9" },
    "spark-stage-runtime",
    "Spark Stage Runtime", tells LongRun,
    StageRuntime,
    |layers, advice| load_advised(layers, advice, Stages)
)
.measured_by("lost_ms", Worse::Higher)
.also_telling(&[TroubleKind::Failures, TroubleKind::FewTasks, TroubleKind::FewExecutors]);

/// The message of the judgement on the application.
const FAILED_STAGES: &str = "{failed_stages_count} of {attempts} failed, {stage_failure_ratio:%}[ ({limit})]";

/// The message of a finding about failed tasks of a stage.
const FAILED_TASKS: &str = "{stage}: {failed_tasks_count} of {ended} task attempts failed, {task_failure_ratio:%}, and took \
                            {lost_ms}[, {lost_share} of all task time] ({limit})";

/// The message of a finding about a stage that takes long.
const LONG: &str = "{stage}: took {time}[, {run_time_share} of the run time] ({limit})";

struct Stages(StageRuntime, Arc<AdviceParams>);

impl Check for Stages {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let ended = spark.stages.iter().filter(|stage| stage.status != StageStatus::Unfinished).count();
        if ended == 0 {
            return Verdict::NotEvaluated("the event log contains no end of a stage".to_owned());
        }
        let whole = Whole::of(app);
        let judged = spark.stages.iter().filter(|stage| params.judges(stage));
        let facts = judged.map(|stage| params.facts(app, stage, &whole));
        let mut facts: Vec<Facts<'_>> = facts.filter(|facts| facts.severity() > Severity::None).collect();
        // The sort is stable: of equal stages, the one that ran first comes first.
        facts.sort_by_key(|facts| Reverse((facts.severity(), facts.time)));
        let more = facts.len().saturating_sub(FINDINGS);
        facts.truncate(FINDINGS);
        let mut judgements: Vec<Judgement> =
            facts.iter().map(|facts| params.judgement(app, spark, facts)).collect();
        and_more(&mut judgements, more, "stage");
        let by_stages = params.of_application(app, spark, ended as u64);
        if by_stages.severity > Severity::None || judgements.is_empty() {
            judgements.insert(0, by_stages);
        }
        Verdict::Several(judgements)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Stages, Facet::Tasks]
    }
}

/// The values that stages are compared with.
struct Whole {
    run_time: Option<Millis>,
    /// The time of all attempts.
    spent: Millis,
}

impl Whole {
    fn of(app: &Application) -> Self {
        let mut all = Failures::default();
        for group in &app.groups {
            all.add(&Failures::of(group));
        }
        Self { run_time: memory::run_time(app), spent: all.spent }
    }
}

/// The measurements of one stage.
struct Facts<'a> {
    stage: &'a Stage,
    failures: Failures,
    /// The time of its failed attempts, as a share of the time of all attempts.
    lost_share: f64,
    time: Option<Millis>,
    share: Option<f64>,
    by_failures: Severity,
    by_time: Severity,
}

impl Facts<'_> {
    fn severity(&self) -> Severity {
        self.by_failures.max(self.by_time)
    }

    fn evidence(&self) -> Vec<(&'static str, Measure)> {
        let failures = &self.failures;
        let mut evidence = vec![
            ("failed_tasks_count", Measure::Count(failures.ends.failed)),
            ("succeeded_tasks_count", Measure::Count(failures.ends.succeeded)),
            ("task_failure_ratio", Measure::Ratio(Some(failures.rate()))),
            ("lost_ms", Measure::Time(failures.lost)),
        ];
        evidence.extend(self.time.map(|time| ("stage_ms", Measure::Time(time))));
        evidence.extend(self.share.map(|share| ("run_time_ratio", Measure::Ratio(Some(share)))));
        evidence
    }
}

impl StageRuntime {
    fn judges(&self, stage: &Stage) -> bool {
        match stage.status {
            StageStatus::Complete => true,
            StageStatus::Failed => !self.only_complete_stages,
            StageStatus::Unfinished => false,
        }
    }

    fn facts<'a>(&self, app: &Application, stage: &'a Stage, whole: &Whole) -> Facts<'a> {
        let failures = Failures::of_stage(app, stage);
        let time = stage.duration();
        let run_time = whole.run_time.filter(|time| time.get() > 0);
        let share = time.zip(run_time).map(|(time, run)| (time.as_f64() / run.as_f64()).min(1.0));
        let lost = failures.lost.as_f64() / whole.spent.as_f64();
        Facts {
            stage,
            failures,
            lost_share: lost,
            time,
            share,
            by_failures: self.task_failure_rate.severity(failures.rate()).min(self.lost_share.severity(lost)),
            by_time: self
                .stage_time
                .severity(time.map_or(f64::NAN, Millis::as_f64))
                .min(self.run_time_share.severity(share.unwrap_or(f64::NAN))),
        }
    }

    fn limit_of_failures(&self, facts: &Facts<'_>) -> String {
        let (severity, rate) = (facts.by_failures, facts.failures.rate());
        let limits = [
            (self.task_failure_rate.severity(rate), self.task_failure_rate.describe_in(severity, percent)),
            (self.lost_share.severity(facts.lost_share), self.lost_share.describe_in(severity, percent)),
        ];
        decisive(severity, &limits)
    }

    fn limit_of_time(&self, facts: &Facts<'_>) -> String {
        let time = facts.time.map_or(f64::NAN, Millis::as_f64);
        let share = facts.share.unwrap_or(f64::NAN);
        let limits = [
            (self.stage_time.severity(time), self.stage_time.describe(facts.by_time)),
            (self.run_time_share.severity(share), self.run_time_share.describe_in(facts.by_time, percent)),
        ];
        decisive(facts.by_time, &limits)
    }

    fn judgement(&self, app: &Advised<'_>, spark: &Spark, facts: &Facts<'_>) -> Judgement {
        let failures = &facts.failures;
        let failing = facts.by_failures >= facts.by_time;
        let (template, limit) = if failing {
            (FAILED_TASKS, self.limit_of_failures(facts))
        } else {
            (LONG, self.limit_of_time(facts))
        };
        let mut advice = Vec::new();
        let mut tells = TroubleKind::Failures;
        let wanted = Some(()).filter(|()| facts.by_time > Severity::None);
        let wanted = wanted.and_then(|()| self.wanted(app, spark, facts.stage));
        let place = failed_places::of_stage(app, spark, facts.stage, &failures.ends);
        if facts.by_failures > Severity::None {
            advice.extend(failures.advice(place.as_ref()));
        }
        if facts.by_time > Severity::None {
            advice.push(self.faster(app, spark, facts.stage, wanted));
            if facts.by_time > facts.by_failures {
                tells = match wanted {
                    Some(_) => TroubleKind::FewTasks,
                    None if self.wants_executors(app, spark, facts.stage) => TroubleKind::FewExecutors,
                    None => TroubleKind::LongRun,
                };
            }
        }
        let group = facts.stage.group.and_then(|group| app.groups.get(group));
        let root = if failing { Root::of_stage(app, spark, facts.stage) } else { None };
        let judged = Judgement::of(Subject::Stage(facts.stage.id), facts.severity());
        let judged = match wanted.and_then(|tasks| u32::try_from(tasks).ok()) {
            Some(tasks) => judged.repartition(Repartition { stages: vec![facts.stage.id], tasks }),
            None => judged,
        };
        judged
            .tasks(group.map_or(0, |group| group.tasks.len() as u64))
            .facts(facts.evidence())
            .failed_by(root.map(|root| failure_at(place.as_ref(), root.failure)))
            .message(
                template,
                &[
                    ("stage", &label(facts.stage)),
                    ("ended", &failures.ends.ended()),
                    ("lost_share", &share_if_any(facts.lost_share)),
                    ("time", &facts.time.unwrap_or_default()),
                    ("run_time_share", &facts.share.map(percent).unwrap_or_default()),
                    ("limit", &limit),
                ],
            )
            .tells(tells)
            .advice(|| advice)
    }

    fn of_application(&self, app: &Application, spark: &Spark, ended: u64) -> Judgement {
        let failed = spark.stages.iter().filter(|stage| stage.status == StageStatus::Failed);
        let failed = failed.count() as u64;
        let rate = failed as f64 / ended.max(1) as f64;
        let severity = self.stage_failure_rate.severity(rate);
        let reason = reason_of_stage(app, spark);
        let stage =
            reason.as_ref().filter(|_| severity > Severity::None).and_then(|(id, _)| spark.stage(*id));
        let root = stage.and_then(|stage| Root::of_stage(app, spark, stage));
        let advice = match reason {
            Some((id, reason)) => format!("see the error of stage {id}: {reason}"),
            None => "check in the driver's log why the stages failed".to_owned(),
        };
        Judgement::of(Subject::Application, severity)
            .tasks(app.task_count())
            .fact("stages_count", Measure::Count(ended))
            .fact("failed_stages_count", Measure::Count(failed))
            .fact("stage_failure_ratio", Measure::Ratio(Some(rate)))
            .failed_by(root.map(|root| root.failure))
            .tells(TroubleKind::Failures)
            .message(
                FAILED_STAGES,
                &[
                    ("attempts", &plural(ended, "stage attempt")),
                    ("limit", &limit_if_any(&self.stage_failure_rate, severity)),
                ],
            )
            .tells(TroubleKind::Failures)
            .advice(|| vec![advice])
    }
}

impl StageRuntime {
    /// The number of tasks that a stage should have, if it has too few.
    fn wanted(&self, app: &Advised<'_>, spark: &Spark, stage: &Stage) -> Option<u64> {
        let tasks = stage.announced_tasks.unwrap_or_default();
        let few = (tasks as f64) < self.few_tasks_per_slot.get() * memory::most_slots(app, spark) as f64;
        let aim =
            Aim { tasks_per_slot: self.tasks_per_slot.get(), small_task_time: self.small_task_time.get() };
        Some(aim).filter(|_| few)?.more_than(app, spark, stage)
    }

    /// More tasks if cores are idle; otherwise more cores.
    fn faster(&self, app: &Advised<'_>, spark: &Spark, stage: &Stage, wanted: Option<u64>) -> Advice {
        let tasks = stage.announced_tasks.unwrap_or_default();
        let group = stage.group.and_then(|group| app.groups.get(group));
        if let Some((wanted, group)) = wanted.zip(group) {
            return advice(app, spark, stage, Source::of(app, spark, stage, group), (tasks, wanted));
        }
        if let Some(chosen) = of_stage(app, spark, stage) {
            return chosen;
        }
        let fixed = FixedBy::of(app, spark, stage);
        let slots = memory::most_slots(app, spark);
        if fixed.is_some_and(|fixed| !fixed.can_change()) && tasks <= slots {
            return "more executors do not help, because the number of tasks of this stage cannot change"
                .into();
        }
        let what = format!("{} share {slots} task slots", plural(tasks, "task"));
        if memory::is_local(app, spark) {
            let more = memory::more_local_cores(app, slots);
            let what = Advice::new(what + "; use more cores if the machine has them, or a cluster").set(more);
            return what.conditional();
        }
        let more = memory::more_executors(app, spark);
        if self.wants_executors(app, spark, stage) {
            return Advice::new(what + ", and dynamic allocation is at its maximum: allow more executors")
                .set(more);
        }
        // The work stays the same.
        let what = Advice::new(what + "; if it must end earlier, use more executors");
        what.set(more).conditional()
    }

    /// Whether dynamic allocation, which asks for executors by itself and gives them back, was kept from more of them.
    fn wants_executors(&self, app: &Application, spark: &Spark, stage: &Stage) -> bool {
        let waiting = self.waiting_tasks_per_slot.get() * memory::most_slots(app, spark) as f64;
        app.allocates_dynamically()
            && !memory::is_local(app, spark)
            && stage.announced_tasks.unwrap_or_default() as f64 >= waiting
            && memory::more_executors(app, spark).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_base::units::Timestamp;
    use elephant_model::model::table::Outcome;

    const ID: &str = RULE.id;
    const MINUTE: i64 = 60_000;

    fn app(stages: &[&[(Outcome, i64)]], minutes: i64) -> Application {
        let mut app = elephant_sample::app(&[]);
        for (id, attempts) in (0..).zip(stages) {
            elephant_sample::stage(&mut app, id, attempts);
        }
        app.finished_at = Some(Timestamp::from_millis(minutes * MINUTE));
        app
    }

    #[test]
    fn long_stages_are_judged_by_their_share() {
        let long = [(Outcome::Succeeded, 40 * MINUTE)];
        assert_eq!(elephant_sample::severity(&app(&[&long], 41), ID, false), Some(Severity::Moderate));
        assert_eq!(elephant_sample::severity(&app(&[&long], 4000), ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app(&[&long], 4000), ID, true), Some(Severity::Moderate));
        let found = elephant_sample::evaluate(&app(&[&long], 100), ID, false);
        let expected = "stage 0.0 (count at App.scala:0): took 40m, 40 % of the run time (moderate from 30m)";
        assert_eq!(found.findings[0].message, expected);
        assert_eq!(found.findings[0].subject.name(), "stage 0.0");
    }

    /// Executors of a fixed number are a choice; a maximum of dynamic allocation holds up only long stages.
    #[test]
    fn a_stage_that_waits_for_slots_at_the_maximum_gets_more_executors() {
        let found = |settings: &[(&str, &str)], tasks: usize| {
            let mut app = app(&[&vec![(Outcome::Succeeded, 40 * MINUTE); tasks]], 41);
            elephant_sample::set(&mut app, settings);
            elephant_sample::executor(&mut app, "1").cores = Some(2);
            elephant_sample::evaluate(&app, ID, false).findings.remove(0)
        };
        let advice = |settings, tasks| found(settings, tasks).advice.remove(0);
        let dynamic =
            [("spark.dynamicAllocation.enabled", "true"), ("spark.dynamicAllocation.maxExecutors", "1")];
        let more = advice(&dynamic, 40);
        assert!(!more.conditional && more.text.contains("maxExecutors=2 (now 1)"), "{more:?}");
        assert_eq!(found(&dynamic, 40).tells, TroubleKind::FewExecutors);
        assert_eq!(found(&dynamic, 4).tells, TroubleKind::LongRun);
        assert!(advice(&dynamic, 4).conditional);
        assert!(advice(&[("spark.executor.instances", "1")], 40).conditional);
    }

    #[test]
    fn at_most_three_stages_have_findings() {
        let failing: &[(Outcome, i64)] = &[(Outcome::Succeeded, 1000), (Outcome::Failed, 1000)];
        let found = elephant_sample::evaluate(&app(&[failing; 5], 1), ID, false);
        assert_eq!(found.findings.len(), 3);
        assert!(
            found.findings[2].message.ends_with("; 2 more stages are similar"),
            "{}",
            found.findings[2].message
        );
        assert!(!found.findings[1].message.contains("more stages"));
    }

    #[test]
    fn complete_stages_are_low_only_in_the_preset() {
        let app = app(&[&[(Outcome::Succeeded, 1000)]], 1);
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::None));
        assert_eq!(elephant_sample::severity(&app, ID, true), Some(Severity::Low));
    }

    #[test]
    fn failed_stages_are_counted() {
        let good: &[(Outcome, i64)] = &[(Outcome::Succeeded, 1000)];
        let mut app = app(&[good, good, good], 1);
        elephant_sample::spark(&mut app).stages[1].status = StageStatus::Failed;
        elephant_sample::spark(&mut app).stages[1].failure = Some("Job aborted.\n at".into());
        // By default another rule judges them.
        assert_eq!(elephant_sample::severity(&app, ID, false), Some(Severity::None));
        let found = elephant_sample::evaluate(&app, ID, true);
        assert_eq!(found.findings[0].severity, Severity::Moderate);
        assert_eq!(found.findings[0].message, "1 of 3 stage attempts failed, 33.3 % (moderate from 30 %)");
        assert_eq!(found.findings[0].advice, ["see the error of stage 1.0: Job aborted"]);
    }

    #[test]
    fn without_an_end_the_rule_is_not_evaluated() {
        assert_eq!(elephant_sample::severity(&app(&[], 1), ID, false), None);
    }
}
