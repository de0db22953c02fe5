//! One application as JSON.

use serde::Serialize;

use super::Each;
use super::account::{PartView, part};
use super::details::{DetailsView, details};
use super::explanations::{ExplanationView, explanation};
use super::finding::{SuppressedView, suppressed};
use super::metrics::{MetricsView, metrics};
use super::queries::{QueryView, query};
use super::savings::{ApplicationSavingsView, of_application};
use super::troubles::{RecommendedView, ToldView, TroubleView, recommended, told, trouble};
use elephant_base::severity::Severity;
use elephant_base::units::Timestamp;
use elephant_engine::results::ApplicationReport;
use elephant_rule::finding::{NotEvaluated, Suppressed};
use elephant_ruleset::JobIdentity;
use elephant_verdict::troubles::{Recommended, Trouble};

#[derive(Serialize)]
pub(crate) struct ApplicationView<'a> {
    id: &'a str,
    attempt: Option<&'a str>,
    engine: &'static str,
    engine_version: Option<&'a str>,
    name: Option<&'a str>,
    user: Option<&'a str>,
    queue: Option<&'a str>,
    job_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    script: Option<&'a str>,
    platform: Option<&'a str>,
    native_engine: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    native_share: Option<f64>,
    identity: Option<IdentityView<'a>>,
    status: &'static str,
    complete: bool,
    sources: &'a [String],
    submitted_at: Option<String>,
    started_at: Option<String>,
    finished_at: Option<String>,
    severity: Severity,
    raw_severity: Severity,
    score: u64,
    metrics: MetricsView,
    run_time_parts: Vec<PartView>,
    savings: Option<ApplicationSavingsView<'a>>,
    troubles: Each<'a, Trouble, TroubleView<'a>>,
    recommended_configuration: Each<'a, Recommended, RecommendedView<'a>>,
    findings: Vec<ToldView<'a>>,
    suppressed: Each<'a, Suppressed, SuppressedView<'a>>,
    not_evaluated: Each<'a, NotEvaluated, NotEvaluatedView<'a>>,
    queries: Vec<QueryView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explanations: Vec<ExplanationView<'a>>,
    #[serde(flatten)]
    details: Option<DetailsView<'a>>,
}

pub(crate) fn application(app: &ApplicationReport) -> ApplicationView<'_> {
    let time = |at: Option<Timestamp>| at.and_then(Timestamp::to_rfc3339);
    ApplicationView {
        id: &app.id,
        attempt: app.attempt.as_deref(),
        engine: app.engine.name(),
        engine_version: app.engine_version.as_deref(),
        name: app.name.as_deref(),
        user: app.user.as_deref(),
        queue: app.queue.as_deref(),
        job_type: app.job_type.as_deref(),
        script: app.script.as_deref(),
        platform: app.platform.as_deref(),
        native_engine: app.native_engine.as_deref(),
        native_share: app.native_share,
        identity: app.identity.as_ref().map(identity),
        status: app.status.name(),
        complete: app.complete,
        sources: &app.sources,
        submitted_at: time(app.submitted_at),
        started_at: time(app.started_at),
        finished_at: time(app.finished_at),
        severity: app.severity,
        raw_severity: app.raw_severity,
        score: app.score,
        metrics: metrics(&app.metrics),
        run_time_parts: app.account.iter().flat_map(|account| account.parts.iter().map(part)).collect(),
        savings: app.savings.as_ref().map(of_application),
        troubles: Each(&app.troubles, trouble),
        recommended_configuration: Each(&app.recommended, recommended),
        findings: app.findings.iter().map(|finding| told(app, finding)).collect(),
        suppressed: Each(&app.suppressed, suppressed),
        not_evaluated: Each(&app.not_evaluated, not_evaluated),
        queries: app.queries.iter().map(query).collect(),
        explanations: app.explanations.iter().map(explanation).collect(),
        details: details(app),
    }
}

#[derive(Serialize)]
struct IdentityView<'a> {
    scheduler: &'a str,
    job: Option<&'a str>,
    flow: Option<&'a str>,
    run: Option<&'a str>,
    task: Option<&'a str>,
    owner: Option<&'a str>,
    link: Option<&'a str>,
}

fn identity(of: &JobIdentity) -> IdentityView<'_> {
    let JobIdentity { scheduler, job, flow, run, task, owner, link } = of;
    IdentityView {
        scheduler,
        job: job.as_deref(),
        flow: flow.as_deref(),
        run: run.as_deref(),
        task: task.as_deref(),
        owner: owner.as_deref(),
        link: link.as_deref(),
    }
}

#[derive(Serialize)]
pub(super) struct NotEvaluatedView<'a> {
    rule: &'a str,
    reason: &'a str,
}

fn not_evaluated(rule: &NotEvaluated) -> NotEvaluatedView<'_> {
    NotEvaluatedView { rule: &rule.rule, reason: &rule.reason }
}
