//! One application with its groups and its stragglers.

use serde::Serialize;

use super::super::words;
use super::causes::{CauseView, causes};
use super::{ByReference, QualityView, percent, quality};
use crate::json::{Each, Pairs};
use elephant_analysis::stragglers::cause::Confidence;
use elephant_analysis::stragglers::cause::evidence::{Evidence, Measure};
use elephant_analysis::stragglers::evaluation::Evaluated;
use elephant_analysis::stragglers::executions::InputUnit;
use elephant_analysis::stragglers::impact::JobImpact;
use elephant_analysis::stragglers::progress::ProgressSource;
use elephant_analysis::stragglers::usual::UsualSource;
use elephant_base::units::{Millis, Timestamp};
use elephant_engine::survey::{ApplicationStragglers, Evaluation, GroupReport, Straggler, WaitedFor};

#[derive(Serialize)]
pub(super) struct ApplicationView<'a> {
    id: &'a str,
    engine: &'static str,
    name: Option<&'a str>,
    user: Option<&'a str>,
    status: &'static str,
    complete: bool,
    sources: &'a [String],
    submitted_at: Option<String>,
    tasks_count: u64,
    stragglers_count: u64,
    only_stragglers_left_ms: u64,
    waited_for: Option<WaitedForView<'a>>,
    groups_too_small_count: u64,
    impact: ByReference<JobImpactView>,
    speculation: SpeculationView,
    causes: Pairs<&'static str, CauseView>,
    detectors: Each<'a, Evaluated, DetectorView<'a>>,
    groups: Each<'a, GroupReport, GroupView<'a>>,
}

/// The straggler that the application waited for longest.
#[derive(Serialize)]
struct WaitedForView<'a> {
    subject: String,
    task: Option<u32>,
    node: Option<&'a str>,
    cause: &'static str,
    confidence: Option<&'static str>,
}

fn waited_for(straggler: &WaitedFor) -> WaitedForView<'_> {
    WaitedForView {
        subject: straggler.label.clone().unwrap_or_else(|| words::group(straggler.group)),
        task: straggler.task,
        node: straggler.node.as_deref(),
        cause: straggler.cause.name(),
        confidence: straggler.confidence.map(Confidence::name),
    }
}

#[derive(Serialize)]
struct JobImpactView {
    tasks_count: u64,
    stragglers_count: u64,
    undetermined_count: u64,
    slowest_beyond_others_ms: Option<f64>,
    delay_ratio: Option<f64>,
    extra_compute_percent: Option<f64>,
}

fn job_impact(impact: &JobImpact) -> JobImpactView {
    JobImpactView {
        tasks_count: impact.tasks,
        stragglers_count: impact.stragglers,
        undetermined_count: impact.undetermined,
        slowest_beyond_others_ms: impact.delay.map(words::millis),
        delay_ratio: impact.delay_share,
        extra_compute_percent: impact.extra_compute().map(percent),
    }
}

#[derive(Serialize)]
struct SpeculationView {
    copies_count: u64,
    copies_won_count: u64,
    lost_time_ms: u64,
    lost_attempts_untold_count: u64,
    heavy_tail_ratio: Option<f64>,
}

#[derive(Serialize)]
struct DetectorView<'a> {
    id: &'a str,
    #[serde(flatten)]
    quality: QualityView,
}

pub(super) fn application(app: &ApplicationStragglers) -> ApplicationView<'_> {
    ApplicationView {
        id: &app.id,
        engine: app.origin.name(),
        name: app.name.as_deref(),
        user: app.user.as_deref(),
        status: app.status.name(),
        complete: app.complete,
        sources: &app.sources,
        submitted_at: app.submitted_at.and_then(Timestamp::to_rfc3339),
        tasks_count: app.judged(),
        stragglers_count: app.stragglers(),
        only_stragglers_left_ms: app.delay.get(),
        waited_for: app.waited_for.as_ref().map(waited_for),
        groups_too_small_count: app.small_groups,
        impact: ByReference { median: job_impact(&app.by_median), mean: job_impact(&app.by_mean) },
        speculation: SpeculationView {
            copies_count: app.copies.launched,
            copies_won_count: app.copies.won,
            lost_time_ms: app.copies.lost.get(),
            lost_attempts_untold_count: app.copies.unknown_duration,
            heavy_tail_ratio: app.speculation.heavy_tail,
        },
        causes: causes(&app.causes),
        detectors: Each(&app.detectors, |detector| DetectorView {
            id: detector.id,
            quality: quality(&detector.quality),
        }),
        groups: Each(&app.groups, group),
    }
}

#[derive(Serialize)]
struct GroupView<'a> {
    subject: String,
    tasks_count: u64,
    judged_count: u64,
    unfinished_count: u64,
    undetermined_count: u64,
    concurrent_count: u64,
    waves_ratio: Option<f64>,
    reference_ms: Option<f64>,
    limit_ms: Option<f64>,
    input_unit: Option<&'static str>,
    dos_index_from_2_5_count: Option<u64>,
    dos_index_from_10_count: Option<u64>,
    histogram: Vec<StepView>,
    replay: Option<EvaluationView>,
    stragglers: Each<'a, Straggler, StragglerView<'a>>,
}

#[derive(Serialize)]
struct StepView {
    from_ms: u64,
    tasks_count: u64,
    straggler: bool,
}

#[derive(Serialize)]
struct EvaluationView {
    usual_source: Option<&'static str>,
    undetermined_count: u64,
    optimistic: bool,
    coarse_progress_count: u64,
    unknown_progress_count: u64,
    progress_sources: Pairs<&'static str, u64>,
    first_step_ms: u64,
    last_step_ms: u64,
}

fn evaluation(evaluation: &Evaluation) -> EvaluationView {
    EvaluationView {
        usual_source: evaluation.usual_source.map(UsualSource::name),
        undetermined_count: evaluation.undetermined,
        optimistic: evaluation.optimistic,
        coarse_progress_count: evaluation.sources.coarse,
        unknown_progress_count: evaluation.sources.unknown,
        progress_sources: Pairs(
            ProgressSource::ALL.map(|source| (source.name(), evaluation.sources.of(source))).to_vec(),
        ),
        first_step_ms: evaluation.steps.0.get(),
        last_step_ms: evaluation.steps.1.get(),
    }
}

fn group(group: &GroupReport) -> GroupView<'_> {
    let histogram = &group.histogram;
    let step = |(place, &(from, tasks)): (usize, &(Millis, u64))| StepView {
        from_ms: from.get(),
        tasks_count: tasks,
        straggler: histogram.limit.is_some_and(|limit| place >= limit),
    };
    GroupView {
        subject: words::of(group),
        tasks_count: group.tasks,
        judged_count: group.judged,
        unfinished_count: group.skipped_unfinished,
        undetermined_count: group.undetermined,
        concurrent_count: group.concurrent,
        waves_ratio: group.waves(),
        reference_ms: group.limit.map(|limit| words::millis(limit.reference)),
        limit_ms: group.limit.map(|limit| words::millis(limit.at)),
        input_unit: group.input_unit.map(InputUnit::name),
        dos_index_from_2_5_count: group.dos.map(|(report, _)| report),
        dos_index_from_10_count: group.dos.map(|(_, diagnose)| diagnose),
        histogram: histogram.steps.iter().enumerate().map(step).collect(),
        replay: group.evaluation.as_ref().map(evaluation),
        stragglers: Each(&group.stragglers, straggler),
    }
}

#[derive(Serialize)]
struct StragglerView<'a> {
    task: Option<u32>,
    attempt: Option<u32>,
    node: Option<&'a str>,
    started_at: Option<String>,
    duration_ms: u64,
    certainty: &'static str,
    times_reference_ratio: Option<f64>,
    input: Option<u64>,
    dos_index_ratio: Option<f64>,
    zero_input: bool,
    overtaken: bool,
    cause: Option<&'static str>,
    confidence: Option<&'static str>,
    evidence: Vec<EvidenceView>,
}

#[derive(Serialize)]
struct EvidenceView {
    cause: &'static str,
    confidence: &'static str,
    kind: &'static str,
    unit: Option<&'static str>,
    value: Option<f64>,
    limit: Option<f64>,
    text: String,
}

fn evidence(evidence: &Evidence) -> EvidenceView {
    let fact = &evidence.fact;
    let value = fact.value();
    EvidenceView {
        cause: evidence.cause.name(),
        confidence: evidence.confidence.name(),
        kind: fact.name(),
        unit: value.map(Measure::unit),
        value: value.map(Measure::value),
        limit: fact.limit().map(Measure::value),
        text: fact.to_string(),
    }
}

fn straggler(straggler: &Straggler) -> StragglerView<'_> {
    let cause = straggler.cause.as_ref();
    StragglerView {
        task: straggler.task,
        attempt: straggler.attempt,
        node: straggler.node.as_deref(),
        started_at: straggler.started_at.and_then(Timestamp::to_rfc3339),
        duration_ms: straggler.duration.get(),
        certainty: words::certainty(straggler.certainty),
        times_reference_ratio: straggler.times_reference,
        input: straggler.input,
        dos_index_ratio: straggler.dos_index.filter(|index| index.is_finite()),
        zero_input: straggler.dos_index.is_some_and(f64::is_infinite),
        overtaken: straggler.overtaken,
        cause: cause.map(|cause| cause.primary.name()),
        confidence: cause.and_then(|cause| cause.confidence).map(Confidence::name),
        evidence: cause.into_iter().flat_map(|cause| &cause.evidence).map(evidence).collect(),
    }
}
