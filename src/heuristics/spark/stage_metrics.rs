//! `spark-stage-metrics`: stages that fail, stages whose tasks fail, and stages that keep every core busy for
//! long (Dr. Elephant `StagesHeuristic`).

mod facts;

use self::facts::Facts;
use super::conf_line;
use super::support::failures;
use super::support::lost_time::reason_of_stage;
use super::{percent, rule, spark};
use crate::finding::{Judgement, Measure, Subject, Verdict};
use crate::heuristics::wording::plural;
use crate::heuristics::{Check, Rule, load};
use crate::model::Application;
use crate::model::conf::ConfKey;
use crate::model::counters::{Counter, CounterMask};
use crate::model::spark::{Facet, Spark, StageStatus};
use crate::model::table::TaskKind;
use crate::params::cutoffs::Ascending;
use crate::params::quantity::{Count, Duration, Ratio};
use crate::params::{choice, rule_params};
use crate::severity::Severity;

/// How many stages are named; of the others only the number is told.
const NAMED: usize = 3;

choice! {
    /// Among what the run time of a stage's tasks is divided.
    pub(super) enum Share {
        /// The cores of the executors that ran the stage.
        Core = "core",
        /// The executors that the application asked for, or has.
        Executor = "executor",
        /// The attempts of tasks.
        Task = "task",
    }
}

rule_params! {
    /// Parameters of `spark-stage-metrics`.
    pub(super) struct Stages / StagesLayer {
        /// Failed stages over all that ended.
        stage_failure_rate: Ascending<Ratio>,
        /// Failed task attempts of a stage over those that succeeded or failed.
        task_failure_rate: Ascending<Ratio>,
        /// Failed task attempts of the stage: a single one in a small stage is a large share and no trouble.
        failed_tasks: Ascending<Count>,
        /// Run time of the stage's tasks, divided.
        run_time: Ascending<Duration>,
        /// Among what it is divided.
        run_time_per: Share,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "master" }, "spark-stage-metrics", "Spark Stage Metrics", Stages, |layers| {
        load(layers, StageTroubles)
    });

struct StageTroubles(Stages);

impl Check for StageTroubles {
    fn check(&self, app: &Application) -> Verdict {
        let Some(spark) = spark(app) else { return Verdict::NotApplicable };
        let ended = |status| spark.stages.iter().filter(|stage| stage.status == status).count() as u64;
        let (complete, failed) = (ended(StageStatus::Complete), ended(StageStatus::Failed));
        if complete + failed == 0 {
            return Verdict::NotEvaluated("no stage has ended".to_owned());
        }
        let mut bad: Vec<(Severity, Facts)> = spark
            .stages
            .iter()
            .filter_map(|stage| Facts::of(app, spark, stage, self.0.run_time_per))
            .map(|facts| (self.severity(&facts), facts))
            .filter(|(severity, _)| *severity > Severity::None)
            .collect();
        bad.sort_by(|(a, x), (b, y)| (b, y.ends.failed).cmp(&(a, x.ends.failed)).then(x.id().cmp(&y.id())));
        let more = bad.len().saturating_sub(NAMED);
        let whole = self.whole(app, spark, complete, failed);
        let named = bad.iter().take(NAMED).enumerate().map(|(place, (severity, facts))| {
            self.judgement(app, *severity, facts, if place + 1 == NAMED { more } else { 0 })
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

    /// A stage that its tasks made fail is no small trouble, however few they were.
    fn by_number(&self, facts: &Facts) -> Severity {
        if facts.failed_by_its_tasks() {
            return Severity::Critical;
        }
        self.0.failed_tasks.severity(facts.ends.failed as f64)
    }

    fn by_time(&self, facts: &Facts) -> Severity {
        let judge = |time: crate::units::Millis| self.0.run_time.severity(time.as_f64());
        facts.time_each.map_or(Severity::None, judge)
    }

    fn severity(&self, facts: &Facts) -> Severity {
        self.by_failures(facts).max(self.by_time(facts))
    }

    /// What there is to say about the stages together.
    fn whole(&self, app: &Application, spark: &Spark, complete: u64, failed: u64) -> Judgement {
        let all = complete + failed;
        let rate = failed as f64 / all as f64;
        let severity = self.0.stage_failure_rate.severity(rate);
        let passed = self.0.stage_failure_rate.describe_in(severity, percent);
        let mut message =
            format!("{failed} of {} failed, {} ({passed})", plural(all, "stage attempt"), percent(rate));
        let mut evidence = vec![
            ("completed_stages_count", Measure::Count(complete)),
            ("failed_stages_count", Measure::Count(failed)),
            ("failed_stages_ratio", Measure::Ratio(Some(rate))),
        ];
        if let Some((_, first)) = reason_of_stage(app, spark) {
            message = format!("{message}, the first with \"{first}\"");
            evidence.push(("first_failure_text", Measure::Text(first)));
        }
        let mut ends = failures::Ends::default();
        for group in &app.groups {
            ends.add(&failures::Ends::of(group));
        }
        Judgement::of(Subject::Application, severity)
            .tasks(app.task_count())
            .facts(evidence)
            .worded(message)
            .advice(|| failures::advice(ends.main_reason()))
    }

    fn judgement(&self, app: &Application, severity: Severity, facts: &Facts, more: usize) -> Judgement {
        let failing = self.by_failures(facts) >= self.by_time(facts);
        let trouble = if failing { self.failures_message(facts) } else { self.time_message(facts) };
        let others = match more {
            0 => String::new(),
            1 => "; one more stage is like it".to_owned(),
            _ => format!("; {more} more stages are like it"),
        };
        let mut evidence = vec![
            ("succeeded_attempts_count", Measure::Count(facts.ends.succeeded)),
            ("failed_attempts_count", Measure::Count(facts.ends.failed)),
            ("failed_attempts_ratio", Measure::Ratio(facts.ends.failure_rate())),
        ];
        evidence.extend(facts.run_time.map(|time| ("run_time_ms", Measure::Time(time))));
        evidence.extend(facts.time_each.map(|time| ("run_time_each_ms", Measure::Time(time))));
        Judgement::of(Subject::Stage(facts.id()), severity)
            .tasks(facts.tasks)
            .facts(evidence)
            .worded(format!("{}: {trouble}{others}", facts.name()))
            .advice(|| if failing { failures::advice(facts.ends.main_reason()) } else { more_at_once(app) })
    }

    fn failures_message(&self, facts: &Facts) -> String {
        let severity = self.by_failures(facts);
        let passed = if self.by_rate(facts) > severity {
            format!("{} failed", self.0.failed_tasks.describe(severity))
        } else {
            self.0.task_failure_rate.describe_in(severity, percent)
        };
        failures::sentence(&facts.ends, &passed)
    }

    fn time_message(&self, facts: &Facts) -> String {
        let each = facts.time_each.unwrap_or_default();
        let passed = self.0.run_time.describe(self.by_time(facts));
        let what = match self.0.run_time_per {
            Share::Core => "core",
            Share::Executor => "executor",
            Share::Task => "task attempt",
        };
        format!("its tasks take {each} for each {what} ({passed})")
    }
}

/// More executors, or less work for them.
fn more_at_once(app: &Application) -> Vec<String> {
    let mut advice = Vec::new();
    if app.conf.flag(ConfKey::DynamicAllocation) == Some(true) {
        if let Some(most) = app.conf.integer(ConfKey::DynamicAllocationMax).filter(|&most| most > 0) {
            let line = conf_line(app, ConfKey::DynamicAllocationMax, most.saturating_mul(2));
            advice.push(format!("let more executors share the work: {line}"));
        }
    } else if let Some(now) = app.conf.integer(ConfKey::ExecutorInstances).filter(|&now| now > 0) {
        let line = conf_line(app, ConfKey::ExecutorInstances, now.saturating_mul(2));
        advice.push(format!("let more executors share the work: {line}"));
    }
    advice.push(
        "or have less work: read fewer columns and partitions, filter before joins, cache what several jobs read"
            .to_owned(),
    );
    advice
}
