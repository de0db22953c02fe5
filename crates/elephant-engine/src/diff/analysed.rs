//! Builds a side from an analysis in memory, with the same values as its JSON report.

use std::collections::BTreeMap;

use super::side::{
    Finding, Metrics, NotEvaluated, Operator, Part, Phase, Query, Run, SchedulerIdentity, Tasks, Wall,
};
use crate::results::ApplicationReport;
use elephant_analysis::metrics;
use elephant_base::units::{Bytes, CoreMillis, MbMillis, Millis, Timestamp};
use elephant_model::model;
use elephant_model::model::TaskCounts;
use elephant_model::model::conf::secrets;
use elephant_query::{OperatorSummary, QuerySummary};
use elephant_rule::finding;
use elephant_ruleset::JobIdentity;
use elephant_verdict::account;

impl From<&ApplicationReport> for Run {
    fn from(app: &ApplicationReport) -> Self {
        let time = |at: Option<Timestamp>| at.and_then(Timestamp::to_rfc3339);
        Self {
            id: app.id.clone(),
            engine: app.engine.name().to_owned(),
            engine_version: app.engine_version.clone(),
            name: app.name.clone(),
            user: app.user.clone(),
            queue: app.queue.clone(),
            status: app.status.name().to_owned(),
            complete: app.complete,
            submitted_at: time(app.submitted_at),
            started_at: time(app.started_at),
            metrics: Metrics::from(&app.metrics),
            findings: app.findings.iter().map(Finding::from).collect(),
            not_evaluated: app.not_evaluated.iter().map(NotEvaluated::from).collect(),
            run_time_parts: app.account.iter().flat_map(|account| &account.parts).map(Part::from).collect(),
            phases: app.phases.as_ref().map(|phases| phases.iter().map(Phase::from).collect()),
            queries: app.queries.iter().map(Query::from).collect(),
            identity: app.identity.as_ref().map(SchedulerIdentity::from),
            configuration: app.configuration.as_deref().filter(|_| app.phases.is_some()).map(configuration),
        }
    }
}

impl From<&account::Part> for Part {
    fn from(part: &account::Part) -> Self {
        let owner = part.owner();
        Self {
            kind: part.kind().to_owned(),
            name: part.name(),
            subject: part.subject().map(|subject| subject.name().into_owned()),
            query: owner.and_then(|owner| owner.query),
            owner: owner.map(|owner| owner.name.clone()),
            does: part.does().map(str::to_owned),
            time_ms: part.time.as_f64(),
        }
    }
}

impl From<&QuerySummary> for Query {
    fn from(query: &QuerySummary) -> Self {
        let operator = |operator: &OperatorSummary| Operator {
            text: operator.text.clone(),
            replaced: !operator.is_last,
            stages: operator.stages.iter().map(ToString::to_string).collect(),
        };
        Self {
            id: query.id,
            name: query.name.clone(),
            wall: query.wall.map(|wall| Wall { total_ms: Some(wall.total.as_f64()) }),
            operators: query.operators.iter().map(operator).collect(),
        }
    }
}

impl From<&JobIdentity> for SchedulerIdentity {
    fn from(identity: &JobIdentity) -> Self {
        Self { job: identity.job.clone(), flow: identity.flow.clone(), task: identity.task.clone() }
    }
}

/// The properties, with secrets redacted as in reports.
fn configuration(conf: &model::conf::Conf) -> BTreeMap<String, String> {
    conf.iter().map(|(name, value)| (name.to_owned(), secrets::shown(name, value).to_owned())).collect()
}

impl From<&metrics::Metrics> for Metrics {
    fn from(metrics: &metrics::Metrics) -> Self {
        let hours = |amount: Option<MbMillis>| amount.map(MbMillis::as_gb_hours);
        let core_hours = |amount: Option<CoreMillis>| amount.map(CoreMillis::as_core_hours);
        let tasks =
            metrics.tasks.iter().map(|(kind, counts)| (kind.clone().into_owned(), Tasks::from(*counts)));
        Self {
            runtime_ms: metrics.run_time.map(Millis::as_f64),
            wait_ms: metrics.wait_time.map(Millis::as_f64),
            resource_used_gb_hours: hours(metrics.used),
            resource_wasted_gb_hours: hours(metrics.wasted),
            core_hours_used: core_hours(metrics.cores_used),
            core_hours_idle: core_hours(metrics.cores_idle),
            tasks: tasks.collect(),
        }
    }
}

impl From<Option<TaskCounts>> for Tasks {
    fn from(counts: Option<TaskCounts>) -> Self {
        Self {
            total_count: counts.map(|counts| counts.total as f64),
            failed_count: counts.map(|counts| counts.failed as f64),
            attempts_count: counts.map(|counts| counts.attempts as f64),
        }
    }
}

impl From<&finding::Finding> for Finding {
    fn from(finding: &finding::Finding) -> Self {
        Self {
            rule: finding.rule.clone().into_owned(),
            severity: finding.severity,
            raw_severity: Some(finding.raw_severity),
            subject: finding.subject.name().into_owned(),
            message: finding.message.clone(),
        }
    }
}

impl From<&finding::NotEvaluated> for NotEvaluated {
    fn from(missing: &finding::NotEvaluated) -> Self {
        Self { rule: missing.rule.clone().into_owned(), reason: missing.reason.clone() }
    }
}

impl From<&model::Phase> for Phase {
    /// If a limit cut the history, sums are unknown, because the rest may add to them.
    fn from(phase: &model::Phase) -> Self {
        let span = |sum: Option<Millis>| sum.filter(|_| phase.has_whole_sums).map(Millis::as_f64);
        let bytes = |sum: Option<Bytes>| sum.filter(|_| phase.has_whole_sums).map(Bytes::as_f64);
        Self {
            subject: phase.subject.name().into_owned(),
            name: phase.name.clone(),
            duration_ms: phase.duration().map(Millis::as_f64),
            tasks: Tasks::from(phase.has_all_tasks.then_some(phase.tasks)),
            task_time_ms: span(phase.task_time),
            gc_time_ms: span(phase.gc_time),
            input_bytes: bytes(phase.input),
            output_bytes: bytes(phase.output),
            shuffle_read_bytes: bytes(phase.shuffle_read),
            shuffle_write_bytes: bytes(phase.shuffle_write),
            spilled_bytes: bytes(phase.spilled),
        }
    }
}
