//! Small applications for tests, and their evaluation.

// Helpers of tests may panic.
#![allow(
    missing_docs,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::unwrap_used
)]

#[cfg(feature = "judge")]
pub mod judge;

use elephant_analysis::metrics::SparkMetricParams;
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_model::model::conf::Property;
use elephant_model::model::counters::Counter;
use elephant_model::model::spark::{Executor, ExecutorMetric, Spark, Stage, StageAttempt, StageStatus};
use elephant_model::model::table::{EndReason, Outcome, TaskGroup, TaskKind, TimePoint};
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Finding, Provenance};
use elephant_ruleset::{Evaluation, RuleFile, RuleSet};

/// A Spark application with settings and no other data.
pub fn app(settings: &[(&str, &str)]) -> Application {
    let mut app = Application::new(Engine::Spark);
    set(&mut app, settings);
    app.submitted_at = Some(Timestamp::from_millis(0));
    app.spark = Some(Box::default());
    app
}

/// The Spark part of `app`.
pub fn spark(app: &mut Application) -> &mut Spark {
    app.spark.as_mut().unwrap()
}

/// Adds an executor that existed from the start and ran one task.
pub fn executor<'a>(app: &'a mut Application, id: &str) -> &'a mut Executor {
    let executors = &mut spark(app).executors;
    let mut executor = Executor { id: id.to_owned(), ..Executor::default() };
    executor.added_at = Some(Timestamp::from_millis(0));
    executor.totals.tasks = 1;
    executors.push(executor);
    executors.last_mut().unwrap()
}

/// Sets the peaks of an executor.
pub fn peaks(executor: &mut Executor, values: &[(ExecutorMetric, i64)]) {
    for (metric, value) in values {
        executor.peaks.raise(*metric, *value);
    }
}

/// Adds a complete stage with one attempt per (outcome, milliseconds), all launched when it was submitted.
pub fn stage(app: &mut Application, id: u32, attempts: &[(Outcome, i64)]) -> StageAttempt {
    let id = StageAttempt { stage: id, attempt: 0 };
    let mut group = TaskGroup::new(TaskKind::Stage(id));
    for (number, (outcome, time)) in (0..).zip(attempts) {
        let task = group.tasks.push(number);
        let row = group.attempts.push(u32::try_from(task).unwrap(), 0);
        group.attempts.set_outcome(row, *outcome);
        group.attempts.set_time(row, TimePoint::Start, Some(Timestamp::from_millis(0)));
        group.attempts.set_time(row, TimePoint::Finish, Some(Timestamp::from_millis(*time)));
        if *outcome == Outcome::Failed {
            group.attempts.set_end_reason(row, Some(EndReason::Exception));
        }
    }
    let mut stage = Stage::new(id);
    stage.name = Some(format!("count at App.scala:{}", id.stage).into());
    stage.status = StageStatus::Complete;
    stage.submitted_at = Some(Timestamp::from_millis(0));
    let longest = attempts.iter().map(|(_, time)| *time).max().unwrap_or_default();
    stage.completed_at = Some(Timestamp::from_millis(longest));
    stage.announced_tasks = Some(attempts.len() as u64);
    stage.group = Some(app.groups.len());
    app.groups.push(group);
    spark(app).stages.push(stage);
    id
}

/// Makes every task of a stage succeed with its attempt.
pub fn succeed(app: &mut Application) {
    for group in &mut app.groups {
        for row in 0..group.attempts.len() {
            let task = group.attempts.task(row).unwrap();
            group.tasks.set_outcome(task, Outcome::Succeeded);
            group.tasks.set_representative(task, Some(row));
        }
    }
}

/// Tasks of a MapReduce job that succeeded at their first attempt, one per (start, end) in seconds.
pub fn tasks(kind: TaskKind, times: impl IntoIterator<Item = (i64, Option<i64>)>) -> TaskGroup {
    let mut group = TaskGroup::new(kind);
    for (number, (start, end)) in (0..).zip(times) {
        let task = group.tasks.push(number);
        let row = group.attempts.push(number, 0);
        let moment = |seconds: i64| Timestamp::from_millis(1000 * seconds);
        group.attempts.set_outcome(row, Outcome::Succeeded);
        group.attempts.set_time(row, TimePoint::Start, Some(moment(start)));
        group.attempts.set_time(row, TimePoint::Finish, end.map(moment));
        group.tasks.set_outcome(task, Outcome::Succeeded);
        group.tasks.set_representative(task, Some(row));
    }
    group
}

/// Such map tasks, all started together, one per (seconds, MiB read).
pub fn maps(tasks: &[(i64, i64)]) -> TaskGroup {
    let times = tasks.iter().map(|&(seconds, _)| (0, Some(seconds)));
    let mut group = self::tasks(TaskKind::Map, times);
    for (row, &(_, mib)) in tasks.iter().enumerate() {
        group.attempts.set_counter(row, Counter::HdfsBytesRead, Some(mib << 20));
    }
    group
}

/// A MapReduce job with settings that succeeded after an hour.
pub fn job(groups: Vec<TaskGroup>, settings: &[(&str, &str)]) -> Application {
    let mut app = Application::new(Engine::MapReduce);
    app.status = Status::Succeeded;
    app.complete = true;
    app.submitted_at = Some(Timestamp::from_millis(0));
    app.finished_at = Some(Timestamp::from_millis(3_600_000));
    app.groups = groups;
    set(&mut app, settings);
    app
}

/// Sets settings of an application.
pub fn set(app: &mut Application, settings: &[(&str, &str)]) {
    for (name, value) in settings {
        let property = Property { value: (*value).to_owned(), is_final: false };
        app.conf.insert((*name).to_owned(), property);
    }
}

/// Sets a counter on every attempt of every stage.
pub fn count(app: &mut Application, counter: Counter, value: i64) {
    for group in &mut app.groups {
        for row in 0..group.attempts.len() {
            group.attempts.set_counter(row, counter, Some(value));
        }
    }
}

/// The evaluation of one rule, with or without the values of the preset `dr-elephant`, which also has those of rules that
/// master lacks.
pub fn evaluate(app: &Application, rule: &str, dr_elephant: bool) -> Evaluation {
    let name = std::path::Path::new("dr-elephant");
    let mut files = if dr_elephant { elephant_ruleset::find_files(name).unwrap() } else { Vec::new() };
    let known = elephant_heuristics::BUILT_IN.rule(rule).map(|rule| rule.facts.provenance);
    if dr_elephant && known.is_some_and(|known| matches!(known, Provenance::DrElephant { .. })) {
        files.push(RuleFile { name: "on".to_owned(), text: format!("rule: {rule}\nenabled: true\n") });
    }
    evaluate_by(app, rule, &files)
}

/// The evaluation of one rule with parameters from YAML.
pub fn evaluate_with(app: &Application, rule: &str, parameters: &str) -> Evaluation {
    let text = format!("rule: {rule}\n{parameters}\n");
    evaluate_by(app, rule, &[RuleFile { name: "test".to_owned(), text }])
}

/// The evaluation of all rules, changed by a rule file with this text.
pub fn evaluate_all(app: &Application, text: &str) -> Evaluation {
    let files = [RuleFile { name: "own.yaml".to_owned(), text: text.to_owned() }];
    RuleSet::with_files(elephant_heuristics::BUILT_IN, &files).unwrap().evaluate(app)
}

/// The built-in parameters of the Spark metrics.
pub fn spark_metrics() -> SparkMetricParams {
    RuleSet::new(elephant_heuristics::BUILT_IN).unwrap().spark_metrics().clone()
}

fn evaluate_by(app: &Application, rule: &str, files: &[RuleFile]) -> Evaluation {
    let mut evaluation = RuleSet::with_files(elephant_heuristics::BUILT_IN, files).unwrap().evaluate(app);
    evaluation.findings.retain(|finding| finding.rule == rule);
    evaluation.not_evaluated.retain(|reason| reason.rule == rule);
    for Finding { message, advice, severity, .. } in &evaluation.findings {
        assert_eq!(advice.is_empty(), *severity == Severity::None, "{message}: {advice:?}");
    }
    evaluation
}

/// The highest severity of one rule; `None` if it was not evaluated.
pub fn severity(app: &Application, rule: &str, dr_elephant: bool) -> Option<Severity> {
    evaluate(app, rule, dr_elephant).findings.iter().map(|finding| finding.severity).max()
}
