//! `spark-stage-metrics`: stages that fail, stages with failed tasks, and stages that keep every core busy
//! for long (Dr. Elephant `StagesHeuristic`).

mod facts;

use facts::Facts;

use super::support::application::spark;
use super::support::cancelled::stage_was_cancelled;
use super::support::failed_places::{self, failure_at};
use super::support::failures::{self, Limit};
use super::support::lost_time::reason_of_stage;
use super::support::memory;
use super::support::root::{Root, in_words};
use crate::declare::spark as rule;
use crate::shown::FINDINGS;
use elephant_base::severity::Severity;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::Application;
use elephant_model::model::counters::{Counter, CounterMask};
use elephant_model::model::spark::{Facet, Spark, Stage, StageStatus};
use elephant_model::model::table::TaskKind;
use elephant_rule::finding::{Advice, Judgement, Measure, Phrase, Subject, TroubleKind, Verdict};
use elephant_rule::params::cutoffs::Ascending;
use elephant_rule::params::quantity::{Count, Duration, Ratio};
use elephant_rule::params::{choice, rule_params};
use elephant_rule::wording::{percent, plural};

choice! {
    /// What the run time of a stage's tasks is divided by.
    pub(super) enum Share {
        /// The cores of the executors that ran the stage.
        Core = "core",
        /// The executors that the application requested, or has.
        Executor = "executor",
        /// The task attempts.
        Task = "task",
    }
}

rule_params! {
    /// Parameters of `spark-stage-metrics`.
    pub(super) struct Stages / StagesLayer {
        /// Failed stage attempts / ended stage attempts.
        stage_failure_rate: Ascending<Ratio>,
        /// Failed task attempts of a stage / its succeeded and failed attempts.
        task_failure_rate: Ascending<Ratio>,
        /// Failed task attempts of the stage. A single one in a small stage is a large share but does no
        /// harm.
        failed_tasks: Ascending<Count>,
        /// Whether cancelled stages count as failed.
        count_cancelled: bool,
        /// Run time of the stage's tasks, divided as run_time_per says.
        run_time: Ascending<Duration>,
        /// core: cores of the executors that ran the stage. executor: spark.executor.instances, or all
        /// executors and the driver, as in Dr. Elephant. task: task attempts, as in later branches of Dr.
        /// Elephant.
        run_time_per: Share,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "master" }, "spark-stage-metrics", "Spark Stage Metrics", tells Failures, Stages, |layers, _| {
        load(layers, StageTroubles)
    })
    .also_telling(&[TroubleKind::LongRun]);

/// The message of the judgement on all stages together.
const FAILED_STAGES: &str = "{failed_stages_count} of {attempts} failed, {failed_stages_ratio:%} ({limit})[, the first with \
                             \"{first}\"][; root cause: {root}]";

/// The message of a finding about failed tasks of a stage.
const FAILED_TASKS: &str = "{stage}: {failures}[; root cause: {root}]{others}";

/// The message of a finding about a stage that runs for long.
const LONG: &str = "{stage}: its tasks take {each} per {what} ({limit}){others}";

/// The end of the message about the last named stage, for one other stage, or several.
const ONE_MORE: &str = "; one more stage is similar";
const SEVERAL_MORE: &str = "; {more} more stages are similar";

struct StageTroubles(Stages);

impl Check for StageTroubles {
    fn check(&self, app: &Application) -> Verdict {
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let ended = |status| spark.stages.iter().filter(|stage| stage.status == status).count() as u64;
        let cancelled = spark.stages.iter().filter(|stage| self.is_left_out(stage)).count() as u64;
        let (complete, failed) = (ended(StageStatus::Complete), ended(StageStatus::Failed) - cancelled);
        if complete + failed + cancelled == 0 {
            return Verdict::NotEvaluated("no stage has finished".to_owned());
        }
        let mut bad: Vec<(Severity, Facts)> = spark
            .stages
            .iter()
            .filter_map(|stage| Facts::of(app, spark, stage, self.0.run_time_per))
            .map(|facts| (self.severity(&facts), facts))
            .filter(|(severity, _)| *severity > Severity::None)
            .collect();
        bad.sort_by(|(a, x), (b, y)| (b, y.ends.failed).cmp(&(a, x.ends.failed)).then(x.id().cmp(&y.id())));
        let more = bad.len().saturating_sub(FINDINGS);
        let whole = self.whole(app, spark, complete, failed);
        let named = bad.iter().take(FINDINGS).enumerate().map(|(place, (severity, facts))| {
            self.judgement((app, spark), *severity, facts, if place + 1 == FINDINGS { more } else { 0 })
        });
        let mut judgements: Vec<Judgement> = named.collect();
        if whole.severity > Severity::None || judgements.is_empty() {
            judgements.insert(0, whole);
        }
        Verdict::Several(judgements)
    }

    fn rests_on(&self) -> &'static [Facet] {
        &[Facet::Stages, Facet::Tasks]
    }

    fn reads(&self, _kind: TaskKind) -> CounterMask {
        CounterMask::of(&[Counter::ExecutorRunTime])
    }
}

impl StageTroubles {
    fn by_failures(&self, facts: &Facts) -> Severity {
        self.by_rate(facts).min(self.by_number(facts))
    }

    fn by_rate(&self, facts: &Facts) -> Severity {
        self.0.task_failure_rate.severity(facts.ends.failure_rate().unwrap_or_default())
    }

    /// A failure of a stage by its own tasks is serious, even with few failed tasks.
    fn by_number(&self, facts: &Facts) -> Severity {
        if facts.failed_by_its_tasks() {
            return Severity::Critical;
        }
        self.0.failed_tasks.severity(facts.ends.failed as f64)
    }

    fn by_time(&self, facts: &Facts) -> Severity {
        let judge = |time: elephant_base::units::Millis| self.0.run_time.severity(time.as_f64());
        facts.time_each.map_or(Severity::None, judge)
    }

    fn severity(&self, facts: &Facts) -> Severity {
        self.by_failures(facts).max(self.by_time(facts))
    }

    /// The judgement on all stages together.
    fn whole(&self, app: &Application, spark: &Spark, complete: u64, failed: u64) -> Judgement {
        let all = complete + failed;
        let rate = failed as f64 / all.max(1) as f64;
        let severity = self.0.stage_failure_rate.severity(rate);
        let mut evidence = vec![
            ("completed_stages_count", Measure::Count(complete)),
            ("failed_stages_count", Measure::Count(failed)),
            ("failed_stages_ratio", Measure::Ratio(Some(rate))),
        ];
        let (id, first) = reason_of_stage(app, spark).unzip();
        let root = id
            .filter(|_| severity > Severity::None)
            .and_then(|id| Root::of_stage(app, spark, spark.stage(id)?));
        evidence.extend(first.clone().map(|first| ("first_failure_text", Measure::Text(first))));
        let mut ends = failures::Ends::default();
        for group in &app.groups {
            ends.add(&failures::Ends::of(group));
        }
        Judgement::of(Subject::Application, severity)
            .tasks(app.task_count())
            .facts(evidence)
            .failed_by(root.as_ref().map(|root| root.failure.clone()))
            .message(
                FAILED_STAGES,
                &[
                    ("root", &root.map(|root| in_words(app, &root)).unwrap_or_default()),
                    ("attempts", &plural(all, "stage attempt")),
                    ("limit", &self.0.stage_failure_rate.describe_in(severity, percent)),
                    ("first", &first.unwrap_or_default()),
                ],
            )
            .advice(|| failures::advice(ends.main_reason()))
    }

    /// Whether a stage is not counted, because it was cancelled.
    fn is_left_out(&self, stage: &Stage) -> bool {
        !self.0.count_cancelled && stage_was_cancelled(stage)
    }

    fn judgement(
        &self,
        (app, spark): (&Application, &Spark),
        severity: Severity,
        facts: &Facts,
        more: usize,
    ) -> Judgement {
        let failing = self.by_failures(facts) >= self.by_time(facts);
        let others = match more {
            0 => Phrase::default(),
            1 => Phrase::new(ONE_MORE, &[]),
            _ => Phrase::new(SEVERAL_MORE, &[("more", &more)]),
        };
        let mut evidence = vec![
            ("succeeded_attempts_count", Measure::Count(facts.ends.succeeded)),
            ("failed_attempts_count", Measure::Count(facts.ends.failed)),
            ("failed_attempts_ratio", Measure::Ratio(facts.ends.failure_rate())),
        ];
        evidence.extend(facts.run_time.map(|time| ("run_time_ms", Measure::Time(time))));
        evidence.extend(facts.time_each.map(|time| ("run_time_each_ms", Measure::Time(time))));
        let root = if failing { Root::of_stage(app, spark, facts.stage) } else { None };
        let place = failed_places::of_stage(app, spark, facts.stage, &facts.ends).filter(|_| failing);
        Judgement::of(Subject::Stage(facts.id()), severity)
            .tasks(facts.tasks)
            .facts(evidence)
            .failed_by(root.as_ref().map(|root| failure_at(place.as_ref(), root.failure.clone())))
            .tells(if failing { TroubleKind::Failures } else { TroubleKind::LongRun })
            .message(
                if failing { FAILED_TASKS } else { LONG },
                &[
                    ("stage", &facts.name()),
                    ("failures", &failures::failed_attempts(&facts.ends, self.limit_of_failures(facts))),
                    ("root", &root.map(|root| in_words(app, &root)).unwrap_or_default()),
                    ("each", &facts.time_each.unwrap_or_default()),
                    ("what", &self.0.run_time_per.words()),
                    ("limit", &self.0.run_time.describe(self.by_time(facts))),
                    ("others", &others),
                ],
            )
            .advice(|| {
                if failing {
                    failed_places::advice(place.as_ref(), &facts.ends)
                } else {
                    more_at_once(app, spark)
                }
            })
    }

    fn limit_of_failures(&self, facts: &Facts) -> Limit {
        let severity = self.by_failures(facts);
        if self.by_rate(facts) > severity {
            Limit::OfNumber(self.0.failed_tasks.describe(severity))
        } else {
            Limit::OfRate(self.0.task_failure_rate.describe_in(severity, percent))
        }
    }
}

impl Share {
    /// To follow "per".
    const fn words(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Executor => "executor",
            Self::Task => "task attempt",
        }
    }
}

/// Advice: more executors, or less work.
fn more_at_once(app: &Application, spark: &Spark) -> Vec<Advice> {
    let mut advice = Vec::new();
    if memory::is_local(app, spark) {
        let more = memory::more_local_cores(app, memory::most_slots(app, spark));
        let what = Advice::new("use more cores if the machine has them, or a cluster");
        advice.push(what.set(more).conditional());
    } else if let Some(more) = memory::more_executors(app, spark) {
        // The work stays the same.
        advice.push(Advice::new("if it must end earlier, use more executors").set([more]).conditional());
    }
    advice.push(
        "reduce the work: read fewer columns and partitions, filter before joins, cache data that several jobs read"
            .into(),
    );
    advice
}
