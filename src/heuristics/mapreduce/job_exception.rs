//! `job-exception`: the job failed or was killed, and why (Dr. Elephant `ExceptionHeuristic`).

use std::collections::BTreeMap;

use super::heap::HEAP_SHARE;
use super::{Role, change, container_for, own_java_opts, rule};
use crate::finding::{Judgement, Measure, Subject, TroubleKind, Verdict};
use crate::heuristics::{Check, Rule, load};
use crate::model::conf::ConfKey;
use crate::model::table::{Outcome, TaskKind};
use crate::model::{Application, Engine, Status};
use crate::params::rule_params;
use crate::severity::Severity;
use crate::units::Bytes;

rule_params! {
    /// Parameters of `job-exception`.
    pub(super) struct JobException / JobExceptionLayer {
        /// Severity of a job that failed.
        failed: Severity,
        /// Severity of a job that was killed.
        killed: Severity,
    }
}

pub(super) const RULE: Rule =
    rule!(DrElephant { version: "master" }, "job-exception", "Exception", JobException, |layers| load(
        layers, Failure
    ))
    .telling(TroubleKind::Failures);

/// The message of a finding.
const MESSAGE: &str = "the job {ended}: {why}";

/// The message if the history has no error.
const UNEXPLAINED: &str = "the job {ended}; the job history contains no reason";

struct Failure(JobException);

impl Check for Failure {
    fn check(&self, app: &Application) -> Verdict {
        let (severity, what) = match app.status {
            Status::Failed => (self.0.failed, "failed"),
            Status::Killed => (self.0.killed, "was killed"),
            _ => return Verdict::NotApplicable,
        };
        if app.engine != Engine::MapReduce || severity == Severity::None {
            return Verdict::NotApplicable;
        }
        let errors = errors(app);
        let most_common = errors.iter().max_by_key(|(text, count)| (**count, std::cmp::Reverse(*text)));
        let cause = most_common.map(|(text, _)| first_line(text));
        let diagnostics = app.diagnostics.as_deref().map(first_line).filter(|text| !text.is_empty());
        let why = cause.or(diagnostics);
        let failed = |kind| app.group(kind).map_or(0, |group| group.count_tasks(Outcome::Failed));
        let mut evidence = vec![
            ("failed_map_count", Measure::Count(failed(TaskKind::Map))),
            ("failed_reduce_count", Measure::Count(failed(TaskKind::Reduce))),
        ];
        if let Some((text, count)) = most_common {
            evidence.push(("attempts_with_error_count", Measure::Count(*count)));
            evidence.push(("error_text", Measure::Text((*text).to_owned())));
        }
        if let Some(text) = &app.diagnostics {
            evidence.push(("diagnostics_text", Measure::Text(text.clone())));
        }
        Judgement::of(Subject::Application, severity)
            .tasks(app.task_count())
            .facts(evidence)
            .message(
                if why.is_some() { MESSAGE } else { UNEXPLAINED },
                &[("ended", &what), ("why", &why.unwrap_or_default())],
            )
            .advice(|| vec![advice(app, most_common.map_or("", |(text, _)| text))])
            .into()
    }
}

/// The errors of failed attempts with their counts. If no attempt failed, those of killed attempts.
fn errors(app: &Application) -> BTreeMap<&str, u64> {
    let of = |wanted: Outcome| {
        let mut counts = BTreeMap::new();
        for group in &app.groups {
            for &(row, text) in group.attempts.diagnostics() {
                if group.attempts.outcome(row as usize) == wanted
                    && let Some(text) = app.strings.get(text)
                {
                    *counts.entry(text).or_insert(0) += 1;
                }
            }
        }
        counts
    };
    let failed = of(Outcome::Failed);
    if failed.is_empty() { of(Outcome::Killed) } else { failed }
}

fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default().trim().trim_end_matches('.')
}

/// The remedy for an error that is common in Hadoop; for others, where to look.
fn advice(app: &Application, error: &str) -> String {
    let has = |needle: &str| error.contains(needle);
    let role = role_of(app, error);
    if has("Java heap space") || has("GC overhead limit exceeded") {
        more_heap(app, role)
    } else if has("beyond physical memory limits") {
        more_memory(app, role)
    } else if has("beyond virtual memory limits") {
        "set yarn.nodemanager.vmem-check-enabled=false on the nodes: virtual memory is not meaningful for a JVM"
            .to_owned()
    } else if has("Timed out after") {
        let seconds = error.split("Timed out after ").nth(1).and_then(|rest| rest.split(' ').next());
        let limit = seconds.and_then(|text| text.parse::<u64>().ok()).map(|secs| secs.saturating_mul(1000));
        let twice = limit.map_or("twice its value".to_owned(), |ms| ms.saturating_mul(2).to_string());
        let setting = change(app, ConfKey::TaskTimeout, twice);
        format!("report progress from long calls (context.progress()), or wait longer: {setting}")
    } else if has("No space left on device") || has("could not find any valid local directory") {
        "free the local disks of the nodes (yarn.nodemanager.local-dirs), or compress map output: \
         mapreduce.map.output.compress=true"
            .to_owned()
    } else if has("ClassNotFoundException") || has("NoClassDefFoundError") {
        "add the missing class to the job: with -libjars, or in the job's jar".to_owned()
    } else {
        where_to_look(app)
    }
}

/// The role whose attempts failed with `error`.
fn role_of(app: &Application, error: &str) -> Role {
    let symbol = app.strings.find(error);
    let died = |kind| {
        app.group(kind)
            .is_some_and(|group| group.attempts.diagnostics().iter().any(|&(_, text)| Some(text) == symbol))
    };
    if symbol.is_some() && !died(TaskKind::Map) && died(TaskKind::Reduce) { Role::Reduce } else { Role::Map }
}

fn more_heap(app: &Application, role: Role) -> String {
    let opts = own_java_opts(app, role);
    let Some(now) = app.conf.heap_limit(role.java_opts()) else {
        return format!("enlarge the heap of the {} by half: -Xmx in {opts}", role.plural());
    };
    let larger = Bytes::from_mib(now.whole_mib().saturating_mul(3).div_ceil(2));
    let heap = format!("-Xmx in {opts} {}m → {}m", now.whole_mib(), larger.whole_mib());
    let container = container_for(app, Bytes::from_f64(larger.as_f64() / HEAP_SHARE).unwrap_or(larger));
    match app.conf.mebibytes(role.memory()) {
        Some(now) if now >= container => heap,
        _ => format!("{heap}, and {}", change(app, role.memory(), container.whole_mib())),
    }
}

fn more_memory(app: &Application, role: Role) -> String {
    match app.conf.mebibytes(role.memory()) {
        Some(now) => {
            let larger = container_for(app, Bytes::from_mib(now.whole_mib().saturating_mul(3) / 2));
            format!(
                "{}, or -Xmx at most 80 % of the container",
                change(app, role.memory(), larger.whole_mib())
            )
        }
        None => format!("increase {} by half, or lower -Xmx to 80 % of it", role.memory().name()),
    }
}

fn where_to_look(app: &Application) -> String {
    let ran = app.groups.iter().any(|group| !group.attempts.is_empty());
    let yarn = app.id.replacen("job_", "application_", 1);
    if app.status == Status::Killed {
        "find out who killed it: a user (mapred job -kill), preemption by the scheduler, or a run-time limit"
            .to_owned()
    } else if !app.masters.is_empty() {
        format!("read the log of a failed attempt: yarn logs -applicationId {yarn}")
    } else if ran {
        "read the log of a failed attempt: logs/userlogs on the node that ran it, or yarn logs".to_owned()
    } else {
        "no attempt ran: read the log of the application master and check the queue in the scheduler"
            .to_owned()
    }
}
