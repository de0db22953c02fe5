//! `tez-dag-failure`: the DAG failed or was killed, in which vertex, and why.

use crate::declare::tez as rule;
use elephant_analysis::root_cause::{Collector, told};
use elephant_base::severity::Severity;
use elephant_catalogue::{Check, Rule, load};
use elephant_model::model::table::Outcome;
use elephant_model::model::tez::Vertex;
use elephant_model::model::{Application, Engine, Status};
use elephant_rule::finding::{Advice, Failure, Judgement, Measure, Subject, TroubleKind, Verdict};
use elephant_rule::params::rule_params;
use elephant_rule::wording::plural;

rule_params! {
    /// Parameters of `tez-dag-failure`.
    pub(super) struct DagFailure / DagFailureLayer {
        /// Severity of a DAG that failed.
        failed: Severity,
        /// Severity of a DAG that was killed.
        killed: Severity,
    }
}

pub(super) const RULE: Rule =
    rule!(Own, "tez-dag-failure", "Tez DAG Failure", tells Failures, DagFailure, |layers, _| load(layers, Failed))
        .also_telling(&[TroubleKind::Cancelled]);

/// The message of a finding.
const MESSAGE: &str = "the DAG {ended}[ in {place}][: {cause}]";

struct Failed(DagFailure);

/// Where a DAG failed.
struct Place {
    name: String,
    tasks: u64,
    attempts: u64,
}

impl Place {
    /// "Map 5 (1 task, 4 attempts)".
    fn words(&self) -> String {
        let Self { name, tasks, attempts } = self;
        if *tasks == 0 {
            return name.clone();
        }
        format!("{name} ({}, {})", plural(*tasks, "task"), plural(*attempts, "attempt"))
    }
}

impl Check for Failed {
    fn check(&self, app: &Application) -> Verdict {
        let (severity, ended) = match app.status {
            Status::Failed => (self.0.failed, "failed"),
            Status::Killed => (self.0.killed, "was killed"),
            Status::Succeeded | Status::Running | Status::Unknown => return Verdict::NotApplicable,
        };
        if app.engine != Engine::Tez || severity == Severity::None {
            return Verdict::NotApplicable;
        }
        let place = place(app).filter(|_| app.status == Status::Failed);
        let failure = failure(app);
        let mut evidence = Vec::new();
        if let Some(place) = &place {
            evidence.push(("failed_vertex_text", Measure::Text(place.name.clone())));
            evidence.push(("failed_tasks_count", Measure::Count(place.tasks)));
            evidence.push(("failed_attempts_count", Measure::Count(place.attempts)));
        }
        evidence.extend(app.diagnostics.clone().map(|text| ("diagnostics_text", Measure::Text(text))));
        let cause = failure.as_ref().map(cause).unwrap_or_default();
        let judgement = Judgement::of(Subject::Application, severity)
            .tasks(app.task_count())
            .facts(evidence)
            .failed_by(failure.clone())
            .message(
                MESSAGE,
                &[
                    ("ended", &ended),
                    ("place", &place.as_ref().map(Place::words).unwrap_or_default()),
                    ("cause", &cause),
                ],
            )
            .advice(|| vec![Advice::new(failure.map_or(READ_LOGS, |failure| failure.kind.remedy()))]);
        match app.status {
            Status::Killed => judgement.tells(TroubleKind::Cancelled).into(),
            _ => judgement.into(),
        }
    }
}

/// What helps if nothing says why.
const READ_LOGS: &str = "read the logs of the application: yarn logs -applicationId with its id";

/// The vertex that failed the DAG: by the diagnostics, or else the first one with a failed task. Vertices that were killed
/// with the DAG are no cause.
fn place(app: &Application) -> Option<Place> {
    let told = app.tez.as_ref()?.failures.first().map(|failure| {
        let vertex = app.tez.as_ref().and_then(|tez| tez.vertex(failure.vertex));
        let name = failure.name.clone().or_else(|| vertex.map(Vertex::title));
        let name = name.unwrap_or_else(|| format!("vertex {}", failure.vertex));
        Place { name, tasks: failure.tasks, attempts: failure.attempts }
    });
    let by_tasks = || {
        let failed = |outcome| outcome == Outcome::Failed;
        let group = app.groups.iter().find(|group| group.count_tasks(Outcome::Failed) > 0)?;
        let of_failed_task = |row: &usize| {
            let task = group.attempts.task(*row);
            failed(group.attempts.outcome(*row)) && task.is_some_and(|task| failed(group.tasks.outcome(task)))
        };
        Some(Place {
            name: app.vertex_of(group.kind)?.title(),
            tasks: group.count_tasks(Outcome::Failed),
            attempts: (0..group.attempts.len()).filter(of_failed_task).count() as u64,
        })
    };
    told.or_else(by_tasks)
}

/// Why it failed: by what the attempts say, by the diagnostics' first failed attempt, or by the diagnostics as a whole.
fn failure(app: &Application) -> Option<Failure> {
    let of_attempts = || {
        let mut collector = Collector::new(app);
        for group in &app.groups {
            collector.add(group, Outcome::Failed, |_| true);
        }
        collector.finish().first().map(|root| root.failure.clone())
    };
    let of_vertex = || {
        let text = app.tez.as_ref()?.failures.first()?.text?;
        told(app.strings.get(text)?)
    };
    let of_dag = || app.diagnostics.as_deref().and_then(told);
    match app.status {
        Status::Failed => of_attempts().or_else(of_vertex).or_else(of_dag),
        _ => of_dag(),
    }
}

/// The failure in words: its message, which names the exception, or else its kind.
fn cause(failure: &Failure) -> String {
    let kind = || failure.kind.because().unwrap_or_default();
    failure.message.clone().filter(|message| !message.is_empty()).unwrap_or_else(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elephant_model::model::tez::{Tez, VertexFailure};

    #[test]
    fn the_vertex_and_the_innermost_cause_are_named() {
        let mut app = Application { status: Status::Failed, ..Application::new(Engine::Tez) };
        let text = "Error: java.lang.RuntimeException: a\n\tat x.y(Z.java:1)\nCaused by: java.lang.ClassCastException: \
                    b cannot be cast to c\n\tat x.y(Z.java:2)";
        let mut failure = VertexFailure::new(1);
        (failure.name, failure.tasks, failure.attempts) = (Some("Map 5".to_owned()), 1, 4);
        failure.text = app.strings.intern(text);
        app.tez = Some(Box::new(Tez { failures: vec![failure], ..Tez::default() }));
        let found = elephant_sample::evaluate(&app, RULE.id, false).findings.remove(0);
        assert_eq!(
            &*found.message,
            "the DAG failed in Map 5 (1 task, 4 attempts): java.lang.ClassCastException: b cannot be cast to c"
        );
    }
}
