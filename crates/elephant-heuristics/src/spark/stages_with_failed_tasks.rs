//! `spark-stages-with-failed-tasks`: stages with failed tasks and their causes, and lost executors (Dr.
//! Elephant `StagesWithFailedTasksHeuristic`).

mod decided;
mod failures;
mod losses;

use std::cmp::Reverse;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use decided::Decided;
use failures::Failures;

use super::support::application::spark;
use super::support::cancelled::stage_was_cancelled;
use super::support::losses::{beginning_of_stop, fails_only_in_stop};
use super::support::remedies::{after_exclusion, against_kinds, look_at, was_excluded_everywhere};
use super::support::repeated_loss::RepeatedLoss;
use super::support::root::{Root, in_words};
use super::support::stage_figures::scored_tasks;
use super::support::stage_text::label;
use crate::declare::spark as rule;
use crate::shown::FINDINGS;
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::model::Application;
use elephant_model::model::spark::{Facet, Spark, Stage, StageStatus};
use elephant_rule::finding::{Advice, Failure, Judgement, Subject, TroubleKind, Verdict, Worse, and_more};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Ratio};
use elephant_rule::params::{choice, rule_params};
use elephant_rule::wording::plural;

choice! {
    /// Which failures count.
    pub(super) enum Counted {
        /// All failures and lost executors.
        All = "all",
        /// Out of memory and killed containers, as in Dr. Elephant.
        Memory = "memory",
    }
}

choice! {
    /// The severity of a failed stage.
    pub(super) enum FailedStage {
        /// Critical, unless a later attempt of the stage did its work.
        Critical = "critical",
        /// Critical if at least as many tasks failed as completed, else none, as in Dr. Elephant.
        DrElephant = "dr-elephant",
    }
}

rule_params! {
    /// Parameters of `spark-stages-with-failed-tasks`.
    pub(super) struct Failing / FailingLayer {
        /// Which failures count: all, or memory (out of memory and killed containers) as in Dr. Elephant.
        count: Counted,
        /// Attempts out of memory / completed tasks, and attempts with a killed container / completed
        /// tasks.
        memory_share: Ascending<Ratio>,
        /// Failed attempts of any kind / tasks of the stage.
        failure_share: Ascending<Ratio>,
        /// Failed attempts of the stage. A single one may be bad luck.
        failed_attempts: Ascending<Count>,
        /// Severity of a failed stage. critical: unless a later attempt did its work. dr-elephant:
        /// critical if at least as many tasks failed as completed, else none.
        failed_stage: FailedStage,
        /// Lost executors / all executors. Executors that the driver itself removed are not lost.
        lost_share: Ascending<Ratio>,
        /// Severity if Spark excluded executors or nodes, because tasks failed on them.
        excluded: Severity,
    }
}

pub(super) const RULE: Rule = rule!(
    DrElephant { version: "customSHSWork" },
    "spark-stages-with-failed-tasks",
    "Spark Stages with Failed Tasks", tells Failures,
    Failing,
    |layers, advice| load_advised(layers, advice, Failed)
)
.measured_by("failed_attempts_count", Worse::Higher)
.also_telling(&[TroubleKind::Cancelled]);

/// The message of a finding about a stage.
const STAGE: &str = "{stage}: [{end}, ]{failed_tasks} of {tasks} failed{repeats}{share} ({limit}): {kinds}[, mostly \
                     \"{error}\"][; {place}][; {repeated}][; {excluded}][; root cause: {root}]";

struct Failed(Failing, Arc<AdviceParams>);

/// A judged stage with failures.
struct Bad<'a> {
    stage: &'a Stage,
    failures: Failures,
    /// Its number of tasks when it was submitted.
    tasks: u64,
    /// Tasks for the score.
    scored: u64,
    severity: Severity,
    decided: Decided,
}

impl Check for Failed {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let Self(params, _) = self;
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        if spark.stages.iter().all(|stage| stage.group.is_none()) {
            return Verdict::NotEvaluated("no stage ran a task".to_owned());
        }
        let ends = Ends::of(spark);
        let mut bad: Vec<Bad<'_>> =
            spark.stages.iter().filter_map(|stage| params.judge(app, &ends, stage)).collect();
        let stages = bad.len() as u64;
        bad.sort_by_key(|bad| (Reverse(bad.severity), Reverse(bad.failures.failed), bad.stage.id));
        let more = bad.len().saturating_sub(FINDINGS);
        let worst = bad.iter().take(FINDINGS);
        let mut judged: Vec<Judgement> = worst.map(|bad| params.finding(app, (spark, &ends), bad)).collect();
        and_more(&mut judged, more, "stage");
        judged.insert(0, losses::judge(params, app, spark, stages));
        Verdict::Several(judged)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Tasks, Facet::Stages]
    }
}

impl Failing {
    fn judge<'a>(&self, app: &Application, ends: &Ends, stage: &'a Stage) -> Option<Bad<'a>> {
        let group = app.groups.get(stage.group?)?;
        // Tasks that fail while the application is being stopped are a consequence of the stop.
        let stop = ends.stop.filter(|_| self.count == Counted::All);
        if stop.is_some_and(|stop| fails_only_in_stop(stop, group)) {
            return None;
        }
        let mut failures = Failures::of(app, group);
        let tasks = stage.announced_tasks.unwrap_or_default().max(group.tasks.len() as u64);
        let failed = stage.status == StageStatus::Failed && !stage_was_cancelled(stage);
        if self.count == Counted::All && failed && ends.later_than(stage) {
            // The attempt ended early, and a later one completed its other tasks.
            failures.completed = failures.completed.max(tasks);
        }
        let (severity, decided) = match self.failed_stage {
            FailedStage::DrElephant if failed => (failures.dr_elephant_severity(), Decided::FailedStage),
            FailedStage::Critical if failed && !ends.later_than(stage) && failures.failed > 0 => {
                (Severity::Critical, Decided::FailedStage)
            }
            _ => self.by_share(&failures, tasks),
        };
        let scored = scored_tasks(stage, group);
        (severity > Severity::None).then_some(Bad { stage, failures, tasks, scored, severity, decided })
    }

    fn finding(&self, app: &Advised<'_>, (spark, ends): (&Spark, &Ends), bad: &Bad<'_>) -> Judgement {
        let Bad { stage, failures, tasks, scored, severity, decided } = bad;
        let root = Root::of_stage(app, spark, stage);
        let repeated = stage.group.and_then(|group| RepeatedLoss::of(app, spark, app.groups.get(group)?));
        let judgement = Judgement::of(Subject::Stage(stage.id), *severity)
            .tasks(*scored)
            .facts(failures.evidence(app, *tasks, stage))
            .failed_by(root.as_ref().map(|root| bad.failure(app, spark, root)));
        // Fetch failures on a lost executor say less than its exit code.
        let lost = root.as_ref().is_some_and(|root| root.loss.is_some());
        let error = failures.informative_error().filter(|_| !lost);
        let judgement =
            if stage_was_cancelled(stage) { judgement.tells(TroubleKind::Cancelled) } else { judgement };
        judgement
            .message(
                STAGE,
                &[
                    ("stage", &label(stage)),
                    ("end", &ends.end_of(stage)),
                    ("failed_tasks", &failures.places.failed_tasks),
                    ("tasks", &plural(*tasks, "task")),
                    ("repeats", &failures.repeats()),
                    ("share", &failures.share(*tasks)),
                    ("limit", &self.limit((*severity, *decided), (failures, *tasks))),
                    ("kinds", &failures.by_kind()),
                    ("error", &error.unwrap_or_default()),
                    ("place", &failures.place(app, spark)),
                    ("repeated", &repeated.map(RepeatedLoss::phrase).unwrap_or_default()),
                    ("excluded", &failures.exclusions(app, spark)),
                    ("root", &root.as_ref().map(|root| in_words(app, root)).unwrap_or_default()),
                ],
            )
            .advice(|| {
                let data = repeated.map(RepeatedLoss::advice).into_iter();
                data.chain(against(app, spark, root.as_ref(), bad)).collect()
            })
    }
}

/// How the work of the application ended.
struct Ends {
    /// The last attempt of each stage that completed the stage's work.
    completed: FxHashMap<u32, u32>,
    /// The time from which on the application was being stopped; `None` if it was not stopped.
    stop: Option<Timestamp>,
}

impl Ends {
    fn of(spark: &Spark) -> Self {
        let completed = spark.stages.iter().filter(|stage| stage.status == StageStatus::Complete);
        Self {
            completed: completed.map(|stage| (stage.id.stage, stage.id.attempt)).collect(),
            stop: beginning_of_stop(spark),
        }
    }

    /// Whether a later attempt of the same stage completed its work.
    fn later_than(&self, stage: &Stage) -> bool {
        self.completed.get(&stage.id.stage).is_some_and(|&attempt| attempt > stage.id.attempt)
    }

    /// How the attempt ended; empty if it did not fail.
    fn end_of(&self, stage: &Stage) -> &'static str {
        if stage_was_cancelled(stage) {
            return "the stage was cancelled";
        }
        match (stage.status == StageStatus::Failed, self.later_than(stage)) {
            (true, false) if stage.failure.as_deref().is_some_and(was_excluded_everywhere) => {
                "the stage failed, because all executors were excluded for a task after its failures"
            }
            (true, false) => "the stage failed",
            (true, true) => "the stage had to run again",
            _ => "",
        }
    }
}

impl Bad<'_> {
    /// Whether the place of the failures is a better cause than the code: all of them happened there, and other places did
    /// the same work. In a stage that failed, also no task succeeded there.
    fn is_of_place(&self, app: &Application, spark: &Spark, root: &Root<'_>) -> bool {
        root.failure.kind.blames_code()
            && self.failures.places.only(app, spark).is_some()
            && (self.stage.status == StageStatus::Complete || self.failures.places.nothing_works_there(app))
    }

    /// The failure of the root cause; that of the node if the place is to blame.
    fn failure(&self, app: &Application, spark: &Spark, root: &Root<'_>) -> Failure {
        let failure = root.failure.clone();
        if self.is_of_place(app, spark, root) { failure.of_node() } else { failure }
    }
}

/// Remedies for the causes of a stage's failures, the root cause first, then the most frequent ones.
fn against(app: &Advised<'_>, spark: &Spark, root: Option<&Root<'_>>, bad: &Bad<'_>) -> Vec<Advice> {
    let Bad { stage, failures, .. } = bad;
    let place = failures.places.only(app, spark);
    let unclear = root.is_none_or(|root| root.loss.is_none() && root.failure.kind.blames_code());
    let look = place.filter(|_| unclear);
    let look = look.map(|place| look_at(&plural(failures.failed, "failure"), "happened", &place));
    let Some(root) = root else {
        let logs = "read the executors' logs of the failed attempts".into();
        return look.into_iter().chain([logs]).collect();
    };
    let others = root.kinds.iter().map(|(kind, _)| *kind).filter(|kind| *kind != root.failure.kind);
    let kinds = std::iter::once(root.failure.kind).chain(others);
    let is_of_place = bad.is_of_place(app, spark, root);
    let kinds = kinds.filter(|kind| !(is_of_place && kind.blames_code()));
    let completed = stage.status == StageStatus::Complete;
    let exclusion = after_exclusion(spark).filter(|_| !completed);
    look.into_iter().chain(against_kinds(app, spark, kinds, completed)).chain(exclusion).collect()
}
