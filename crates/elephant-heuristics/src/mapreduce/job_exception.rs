//! `job-exception`: the job failed or was killed, and why (Dr. Elephant `ExceptionHeuristic`).

mod refused;
mod remedies;

use std::collections::BTreeMap;
use std::sync::Arc;

use refused::Refused;

use crate::declare::mapreduce as rule;
use elephant_analysis::root_cause::{Collector, Root, told};
use elephant_base::severity::Severity;
use elephant_catalogue::{AdviceParams, Advised, Check, Rule, load_advised};
use elephant_model::diagnosis::{FailureKind, Standing};
use elephant_model::model::table::{Outcome, TaskKind};
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Failure, Judgement, Measure, Phrase, Subject, TroubleKind, Verdict};
use elephant_rule::params::rule_params;
pub(crate) use remedies::of_failure;

rule_params! {
    /// Parameters of `job-exception`.
    pub(super) struct JobException / JobExceptionLayer {
        /// Severity of a job that failed.
        failed: Severity,
        /// Severity of a job that was killed.
        killed: Severity,
        /// Severity of a job that Hadoop killed because no container can be as large as those of its tasks.
        refused: Severity,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "master" }, "job-exception", "Exception", tells Failures, JobException, |layers, advice| load_advised(
        layers, advice, Failed
    ))
    .also_telling(&[TroubleKind::Cancelled]);

/// The message of a finding.
const MESSAGE: &str = "the job {ended}: {why}[; {exit}][; root cause: {cause}]";

/// The message if the history has no error.
const UNEXPLAINED: &str = "the job {ended}; the job history contains no reason";

struct Failed(JobException, Arc<AdviceParams>);

impl Check for Failed {
    fn check(&self, app: &Application) -> Verdict {
        let app = &Advised { app, advice: &self.1 };
        let is_refused = Refused::of(app).is_some() && self.0.refused > Severity::None;
        let (severity, what) = match app.status {
            Status::Failed => (self.0.failed, "failed"),
            Status::Killed if is_refused => (self.0.refused, "was killed by Hadoop"),
            Status::Killed => (self.0.killed, "was killed"),
            _ => return Verdict::NotApplicable,
        };
        if app.engine != Engine::MapReduce || severity == Severity::None {
            return Verdict::NotApplicable;
        }
        let why = Why::of(app);
        let line = why.text.map(first_line).filter(|text| !text.is_empty());
        let failed = |kind| app.group(kind).map_or(0, |group| group.count_tasks(Outcome::Failed));
        let mut evidence = vec![
            ("failed_map_count", Measure::Count(failed(TaskKind::Map))),
            ("failed_reduce_count", Measure::Count(failed(TaskKind::Reduce))),
        ];
        if let Some((text, count)) = why.text.zip(why.attempts) {
            evidence.push(("attempts_with_error_count", Measure::Count(count)));
            evidence.push(("error_text", Measure::Text(text.to_owned())));
        }
        if let Some(text) = &app.diagnostics {
            evidence.push(("diagnostics_text", Measure::Text(text.clone())));
        }
        // The message of a refused request is its cause.
        let words = (!is_refused).then(|| why.words(line.unwrap_or_default()));
        let (exit, cause) = words.unwrap_or_default();
        let judgement = Judgement::of(Subject::Application, severity)
            .tasks(app.task_count())
            .facts(evidence)
            .failed_by(why.failure.clone())
            .message(
                if line.is_some() { MESSAGE } else { UNEXPLAINED },
                &[("ended", &what), ("why", &line.unwrap_or_default()), ("exit", &exit), ("cause", &cause)],
            )
            .advice(|| remedies::against(app, why.failure.as_ref(), why.text.unwrap_or_default()));
        match app.status {
            // Nobody cancelled a job that could not run.
            Status::Killed if !is_refused => judgement.tells(TroubleKind::Cancelled).into(),
            _ => judgement.into(),
        }
    }
}

/// Why a job failed or was killed.
#[derive(Default)]
struct Why<'a> {
    failure: Option<Failure>,
    /// The message of an attempt, or of the job, with the number of attempts that report it.
    text: Option<&'a str>,
    attempts: Option<u64>,
}

impl<'a> Why<'a> {
    fn of(app: &'a Application) -> Self {
        let diagnostics = app.diagnostics.as_deref().filter(|text| !text.trim().is_empty());
        let of_job = || Self { failure: diagnostics.and_then(told), text: diagnostics, attempts: None };
        if app.status == Status::Killed {
            // Failed attempts did not end a killed job. The job's own diagnostics say why it was killed, or else those
            // of attempts that were killed with it.
            let job = of_job();
            return if job.text.is_some() {
                job
            } else {
                Self::of_attempts(app, Outcome::Killed).unwrap_or(job)
            };
        }
        let attempts = Self::of_attempts(app, Outcome::Failed);
        let explains = |why: &Self| why.failure.as_ref().is_some_and(|failure| explains(failure.kind));
        match attempts {
            Some(attempts) if explains(&attempts) || !explains(&of_job()) => attempts,
            _ if diagnostics.is_some() => of_job(),
            attempts => attempts.or_else(|| Self::of_attempts(app, Outcome::Killed)).unwrap_or_default(),
        }
    }

    /// The root cause of attempts with this outcome: of the failed tasks, or of all tasks if those have none. If no
    /// message describes a failure, the most frequent message. `None` if there is no message.
    fn of_attempts(app: &'a Application, outcome: Outcome) -> Option<Self> {
        let root = [true, false].into_iter().find_map(|only_failed| root(app, outcome, only_failed));
        let counts = counts(app, outcome);
        let text = root.as_ref().and_then(|root| app.strings.get(root.text?));
        let most_frequent = || counts.iter().max_by_key(|(text, count)| (**count, std::cmp::Reverse(**text)));
        let text = text.or_else(|| most_frequent().map(|(text, _)| *text))?;
        Some(Self {
            failure: root.map(|root| root.failure),
            text: Some(text),
            attempts: counts.get(text).copied(),
        })
    }

    /// The exit code and the cause in words, unless the quoted line contains them already.
    fn words(&self, line: &str) -> (String, Phrase) {
        let Some(failure) = &self.failure else { return Default::default() };
        let exit = failure.exit_in_words().unwrap_or_default();
        let message = failure.message.as_deref().unwrap_or_default();
        let cause = match failure.kind {
            FailureKind::HeapSpace | FailureKind::ApplicationKill | FailureKind::UserKill => None,
            _ if !message.is_empty() && !line.contains(message.trim_end_matches('…')) => {
                Some(Phrase::new("{message}", &[("message", &message)]))
            }
            kind => kind.because().map(|cause| Phrase::new("{cause}", &[("cause", &cause)])),
        };
        (exit, cause.unwrap_or_default())
    }
}

/// Whether a kind may be the cause of a job's failure.
fn explains(kind: FailureKind) -> bool {
    kind.standing() > Standing::Aftermath
}

/// The root cause of attempts, of failed tasks only or of all.
fn root(app: &Application, outcome: Outcome, only_failed: bool) -> Option<Root> {
    let mut collector = Collector::new(app);
    for group in &app.groups {
        collector.add(group, outcome, |task| !only_failed || group.tasks.outcome(task) == Outcome::Failed);
    }
    collector.finish().first().cloned()
}

/// The messages of attempts, with the number of attempts that report each.
fn counts(app: &Application, outcome: Outcome) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for group in &app.groups {
        for &(row, text) in group.attempts.diagnostics() {
            if group.attempts.outcome(row as usize) == outcome
                && let Some(text) = app.strings.get(text)
            {
                *counts.entry(text).or_insert(0) += 1;
            }
        }
    }
    counts
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default().trim().trim_end_matches('.')
}
