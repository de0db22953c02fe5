//! Notifications on input that could not be read, and on findings and rules that could not be judged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::results::{Location, Message, plain};
use super::{MAX_RESULTS, Rules};
use crate::comparison::words::{self, EXPIRED, MISSING_HELP};
use elephant_engine::results::{
    Absence, Absent, ApplicationReport, IncompleteRun, JobComparison, Report, SourceProblem,
};
use elephant_parse::{Level, Position};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Notification {
    level: &'static str,
    message: Message,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location>,
    descriptor: Descriptor,
    #[serde(skip_serializing_if = "Option::is_none")]
    associated_rule: Option<AssociatedRule>,
}

#[derive(Serialize)]
struct Descriptor {
    id: Cow<'static, str>,
}

#[derive(Serialize)]
struct AssociatedRule {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
}

pub(super) fn all(
    report: &Report,
    rules: &Rules<'_>,
    left_out: usize,
    not_evaluated: Missing,
) -> Vec<Notification> {
    let cut = (left_out > 0).then(|| too_many(left_out));
    let read = cut.into_iter().chain(report.problems.iter().map(problem));
    let jobs = report.comparison.iter().flat_map(|comparison| &comparison.jobs);
    let unjudged = jobs.flat_map(|job| not_judged(job, rules));
    let expired = report.comparison.iter().flat_map(|comparison| {
        comparison.expired.iter().map(|place| suppression_expired(place, comparison.failed))
    });
    let required = report.comparison.iter().filter(|comparison| comparison.requires_all && comparison.failed);
    let missing = required.flat_map(|comparison| words::missing(comparison).map(job_missing));
    read.chain(expired).chain(missing).chain(unjudged).chain(not_evaluated.all(rules)).collect()
}

/// An expired suppression makes a check fail, even without findings. With `--update` it does not.
fn suppression_expired(place: &str, failed: bool) -> Notification {
    Notification {
        level: if failed { "error" } else { "warning" },
        message: Message { text: plain(&format!("{EXPIRED}: {place}")) },
        locations: Vec::new(),
        descriptor: Descriptor { id: "suppression-expired".into() },
        associated_rule: None,
    }
}

/// An accepted job that did not run makes a check fail if all are required.
fn job_missing(job: &JobComparison) -> Notification {
    Notification {
        level: "error",
        message: Message { text: plain(&format!("{}: the job did not run; {MISSING_HELP}", job.key)) },
        locations: Vec::new(),
        descriptor: Descriptor { id: "job-missing".into() },
        associated_rule: None,
    }
}

/// Accepted findings that could not be judged, and runs that are too incomplete to judge.
fn not_judged(job: &JobComparison, rules: &Rules<'_>) -> Vec<Notification> {
    let notification = |rule: Option<&str>, text: String| Notification {
        level: "warning",
        message: Message { text: plain(&format!("{}: {text}", job.key)) },
        locations: Vec::new(),
        descriptor: Descriptor { id: "not-judged".into() },
        associated_rule: rule.map(|rule| AssociatedRule { id: rule.to_owned(), index: rules.index(rule) }),
    };
    let run = |run: &IncompleteRun| {
        notification(None, format!("{} is too incomplete to judge: {}", run.application, run.reason))
    };
    let findings = job.absent.iter().filter_map(|absent| {
        let Absence::NotJudged(why) = &absent.absence else { return None };
        let Absent { rule, subject, severity, .. } = absent;
        Some(notification(
            Some(rule),
            format!("the accepted finding {rule} ({subject}), {severity}, was not judged: {why}"),
        ))
    });
    job.unjudged().map(run).chain(findings).collect()
}

fn too_many(left_out: usize) -> Notification {
    let text = format!(
        "{left_out} results are left out: code scanning accepts at most {MAX_RESULTS}; \
         raise --min-severity, or see the JSON report"
    );
    Notification {
        level: "warning",
        message: Message { text },
        locations: Vec::new(),
        descriptor: Descriptor { id: "too-many-results".into() },
        associated_rule: None,
    }
}

fn problem(entry: &SourceProblem) -> Notification {
    let SourceProblem { source, problem } = entry;
    let line = match problem.position {
        Some(Position::Line(line)) => Some(line),
        Some(Position::Byte(_)) | None => None,
    };
    let place = problem.position.map(|at| format!(", {at}")).unwrap_or_default();
    let times = if problem.count > 1 { format!(" ({} times)", problem.count) } else { String::new() };
    Notification {
        level: match problem.level {
            Level::Info => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        },
        message: Message { text: format!("{}{place}: {}{times}", plain(source), plain(&problem.message)) },
        locations: vec![Location::of(source, line)],
        descriptor: Descriptor { id: problem.code.clone() },
        associated_rule: None,
    }
}

/// The rules that were not evaluated in an application, with the reason.
pub(super) fn missing(app: &ApplicationReport) -> Vec<(&str, &str)> {
    app.not_evaluated.iter().map(|missing| (missing.rule.as_ref(), missing.reason.as_str())).collect()
}

/// In how many applications a rule was not evaluated for a reason, and the id of the first.
#[derive(Default)]
pub(super) struct Missing(BTreeMap<(String, String), (usize, String)>);

impl Missing {
    /// Adds the rules of an application that were [missing].
    pub(super) fn add(&mut self, id: &str, missing: Vec<(String, String)>) {
        for rule_and_reason in missing {
            self.0.entry(rule_and_reason).or_insert_with(|| (0, id.to_owned())).0 += 1;
        }
    }

    /// One notification per rule and reason, because all histories of an old version lack the same data.
    fn all(self, rules: &Rules<'_>) -> Vec<Notification> {
        let mut all: Vec<_> = self.0.into_iter().collect();
        // The sort is stable: reasons stay in their order.
        all.sort_by_key(|((rule, _), _)| rules.index(rule));
        let notification = |((rule, reason), (count, first)): ((String, String), (usize, String))| {
            let whose = match count {
                0 | 1 => first,
                count => format!("{count} applications, the first is {first}"),
            };
            Notification {
                level: "note",
                message: Message { text: plain(&format!("{rule} was not evaluated: {reason} ({whose})")) },
                locations: Vec::new(),
                descriptor: Descriptor { id: "not-evaluated".into() },
                associated_rule: Some(AssociatedRule { index: rules.index(&rule), id: rule }),
            }
        };
        all.into_iter().map(notification).collect()
    }
}
