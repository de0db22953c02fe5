//! The survey as JSON: keys say the unit by their ending, `null` is unknown.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::SerializeMap;

use super::super::json::{Each, Pairs, Tool, files, problem, write_pretty};
use super::{Shown, applications, words};
use crate::stragglers::cause::evidence::{Evidence, Measure};
use crate::stragglers::cause::{Cause, CauseCounts, Confidence};
use crate::stragglers::detect::{Parameter, Value};
use crate::stragglers::evaluation::{Best, Evaluated, Means, Pooled};
use crate::stragglers::executions::InputUnit;
use crate::stragglers::first_order::FirstOrder;
use crate::stragglers::impact::{Impact, JobImpact, ServerTasks};
use crate::stragglers::labels::UsualSource;
use crate::stragglers::progress::ProgressSource;
use crate::stragglers::quality::Quality;
use crate::stragglers::survey::{
    ApplicationStragglers, EngineDetectors, Evaluation, GroupReport, Settings, Straggler, StragglerReport,
    Total,
};
use crate::units::{Millis, Timestamp};

pub(super) fn write(report: &StragglerReport, shown: Shown, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&Document(report, applications(report, shown)), out)
}

struct Document<'a>(&'a StragglerReport, &'a [ApplicationStragglers]);

impl Serialize for Document<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report, applications) = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &1)?;
        map.serialize_entry("tool", &Tool::THIS)?;
        map.serialize_entry("settings", &settings(&report.settings))?;
        map.serialize_entry("files", &files(&report.files))?;
        map.serialize_entry("applications_count", &report.files.applications)?;
        map.serialize_entry("total", &total(&report.total))?;
        map.serialize_entry("applications", &Each(applications, application))?;
        map.serialize_entry("problems", &Each(&report.problems, problem))?;
        map.end()
    }
}

#[derive(Serialize)]
struct SettingsView {
    label: &'static str,
    factor_ratio: f64,
    min_tasks_count: usize,
    basis: &'static str,
    usual_quantile_ratio: f64,
    usual_factor_ratio: f64,
    startup_ms: u64,
    report_ms: Option<u64>,
}

fn settings(settings: &Settings) -> SettingsView {
    SettingsView {
        label: settings.method.name(),
        factor_ratio: settings.factor,
        min_tasks_count: settings.min_tasks,
        basis: words::basis(settings.basis),
        usual_quantile_ratio: settings.usual.quantile,
        usual_factor_ratio: settings.usual.factor,
        startup_ms: settings.startup.get(),
        report_ms: settings.report.map(Millis::get),
    }
}

#[derive(Serialize)]
struct TotalView<'a> {
    impact: ByReference<ImpactView<'a>>,
    speculation_waste_percent: Option<f64>,
    copies_won_to_tail_correlation: Option<f64>,
    causes: Pairs<&'static str, CauseView>,
    replay: ReplayView,
    engines: Pairs<&'static str, EngineView<'a>>,
}

#[derive(Serialize)]
struct EngineView<'a> {
    groups_count: u64,
    optimistic_groups_count: u64,
    detectors: Each<'a, Pooled, PooledView<'a>>,
    best_detector: BestView,
    best_offered_detector: BestView,
}

fn engine(engine: &EngineDetectors) -> (&'static str, EngineView<'_>) {
    let view = EngineView {
        groups_count: engine.groups,
        optimistic_groups_count: engine.optimistic_groups,
        detectors: Each(&engine.detectors, pooled),
        best_detector: best(engine.best),
        best_offered_detector: best(engine.best_offered),
    };
    (engine.engine.name(), view)
}

#[derive(Serialize)]
struct ByReference<T> {
    median: T,
    mean: T,
}

#[derive(Serialize)]
struct ReplayView {
    undetermined_tasks_count: u64,
    progress_sources: Pairs<&'static str, u64>,
    usual_sources: Pairs<&'static str, u64>,
}

fn total(total: &Total) -> TotalView<'_> {
    TotalView {
        impact: ByReference { median: impact(&total.by_median), mean: impact(&total.by_mean) },
        speculation_waste_percent: total.speculation_waste.map(percent),
        copies_won_to_tail_correlation: total.tail_correlation,
        causes: causes(&total.causes),
        replay: ReplayView {
            undetermined_tasks_count: total.undetermined,
            progress_sources: Pairs(
                total.sources.iter().map(|&(source, count)| (source.name(), count)).collect(),
            ),
            usual_sources: Pairs(
                total.usual_sources.iter().map(|&(source, count)| (source.name(), count)).collect(),
            ),
        },
        engines: Pairs(total.engines.iter().map(engine).collect()),
    }
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

fn share_percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| percent(part as f64 / whole as f64))
}

#[derive(Serialize)]
struct ImpactView<'a> {
    tasks_count: u64,
    stragglers_count: u64,
    stragglers_percent: Option<f64>,
    applications_count: u64,
    applications_with_stragglers_count: u64,
    applications_with_stragglers_percent: Option<f64>,
    median_excess_ms: Option<f64>,
    median_slowest_beyond_others_ms: Option<f64>,
    extra_compute_percent: Option<f64>,
    servers_count: u64,
    servers_with_stragglers_count: u64,
    servers_with_stragglers_percent: Option<f64>,
    stragglers_per_server_skewness: Option<f64>,
    worst_servers: Each<'a, (String, ServerTasks), ServerView<'a>>,
}

#[derive(Serialize)]
struct ServerView<'a> {
    node: &'a str,
    tasks_count: u64,
    stragglers_count: u64,
}

fn impact(impact: &Impact) -> ImpactView<'_> {
    let millis = |seconds: Option<f64>| seconds.map(|seconds| 1000.0 * seconds);
    ImpactView {
        tasks_count: impact.tasks,
        stragglers_count: impact.stragglers,
        stragglers_percent: share_percent(impact.stragglers, impact.tasks),
        applications_count: impact.jobs,
        applications_with_stragglers_count: impact.jobs_hit,
        applications_with_stragglers_percent: share_percent(impact.jobs_hit, impact.jobs),
        median_excess_ms: millis(impact.median_excess),
        median_slowest_beyond_others_ms: millis(impact.median_job_delay),
        extra_compute_percent: impact.extra_compute.map(percent),
        servers_count: impact.servers,
        servers_with_stragglers_count: impact.servers_hit,
        servers_with_stragglers_percent: share_percent(impact.servers_hit, impact.servers),
        stragglers_per_server_skewness: impact.server_skewness,
        worst_servers: Each(&impact.worst_servers, |(node, server)| ServerView {
            node,
            tasks_count: server.tasks,
            stragglers_count: server.stragglers,
        }),
    }
}

#[derive(Serialize)]
struct CauseView {
    primary_count: u64,
    primary_percent: Option<f64>,
    with_evidence_count: u64,
}

/// Causes that were found, primary or in evidence.
fn causes(counts: &CauseCounts) -> Pairs<&'static str, CauseView> {
    let views = counts.shares().zip(counts.evidence).map(|((cause, count, share), evidence)| {
        let view = CauseView { primary_count: count, primary_percent: share, with_evidence_count: evidence };
        (cause, view)
    });
    let found = views.filter(|(_, view)| view.primary_count > 0 || view.with_evidence_count > 0);
    Pairs(found.map(|(cause, view): (Cause, _)| (cause.name(), view)).collect())
}

#[derive(Serialize)]
struct QualityView {
    tasks_count: u64,
    stragglers_count: u64,
    detected_count: u64,
    true_positives_count: u64,
    fakes_count: u64,
    precision_ratio: Option<f64>,
    precision_raw_ratio: Option<f64>,
    precision_raw_low_ratio: Option<f64>,
    precision_raw_high_ratio: Option<f64>,
    recall_ratio: Option<f64>,
    recall_low_ratio: Option<f64>,
    recall_high_ratio: Option<f64>,
    recall_strict_ratio: Option<f64>,
    detection_latency_ratio: Option<f64>,
    undetected_time_ratio: Option<f64>,
    fake_positive_ratio: Option<f64>,
}

fn quality(quality: &Quality) -> QualityView {
    let (precision, recall) = (quality.precision_raw_interval(), quality.recall_interval());
    QualityView {
        tasks_count: quality.tasks,
        stragglers_count: quality.stragglers,
        detected_count: quality.detected,
        true_positives_count: quality.true_positives,
        fakes_count: quality.fakes,
        precision_ratio: quality.precision(),
        precision_raw_ratio: quality.precision_raw(),
        precision_raw_low_ratio: precision.map(|interval| interval.0),
        precision_raw_high_ratio: precision.map(|interval| interval.1),
        recall_ratio: quality.recall(),
        recall_low_ratio: recall.map(|interval| interval.0),
        recall_high_ratio: recall.map(|interval| interval.1),
        recall_strict_ratio: quality.recall_strict(),
        detection_latency_ratio: quality.detection_latency(),
        undetected_time_ratio: quality.undetected_time(),
        fake_positive_ratio: quality.fake_positive_ratio(),
    }
}

#[derive(Serialize)]
struct PooledView<'a> {
    id: &'a str,
    settings: Pairs<&'static str, SettingView>,
    #[serde(flatten)]
    total: QualityView,
    mean_over_applications: MeansView,
    first_order: FirstOrderView,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SettingView {
    Number(f64),
    Word(&'static str),
    Flag(bool),
}

fn parameters(parameters: &[Parameter]) -> Pairs<&'static str, SettingView> {
    let view = |parameter: &Parameter| {
        let value = match parameter.value {
            Value::Number(number) => SettingView::Number(number),
            Value::Word(word) => SettingView::Word(word),
            Value::Flag(flag) => SettingView::Flag(flag),
        };
        (parameter.name, value)
    };
    Pairs(parameters.iter().map(view).collect())
}

#[derive(Serialize)]
#[allow(clippy::struct_field_names)] // keys name their unit
struct MeansView {
    precision_ratio: Option<f64>,
    precision_raw_ratio: Option<f64>,
    recall_ratio: Option<f64>,
    recall_strict_ratio: Option<f64>,
    detection_latency_ratio: Option<f64>,
    undetected_time_ratio: Option<f64>,
    fake_positive_ratio: Option<f64>,
}

fn means(means: &Means) -> MeansView {
    MeansView {
        precision_ratio: means.precision,
        precision_raw_ratio: means.precision_raw,
        recall_ratio: means.recall,
        recall_strict_ratio: means.recall_strict,
        detection_latency_ratio: means.detection_latency,
        undetected_time_ratio: means.undetected_time,
        fake_positive_ratio: means.fake_positive_ratio,
    }
}

/// A mean per task, no makespan: in usual times, and in the energy of a usual task. `null` where the model's shares
/// contradict each other.
#[derive(Serialize)]
struct FirstOrderView {
    valid: Option<bool>,
    expected_time_ratio: Option<f64>,
    expected_energy_ratio: Option<f64>,
    time_without_detection_ratio: Option<f64>,
}

fn pooled(pooled: &Pooled) -> PooledView<'_> {
    let detector: &Evaluated = &pooled.total;
    let model = detector.quality.first_order();
    let valid = model.filter(FirstOrder::is_valid);
    PooledView {
        id: detector.id,
        settings: parameters(&detector.parameters),
        total: quality(&detector.quality),
        mean_over_applications: means(&pooled.means),
        first_order: FirstOrderView {
            valid: model.map(|model| model.is_valid()),
            expected_time_ratio: valid.and_then(|model| model.expected_time()),
            expected_energy_ratio: valid.and_then(|model| model.expected_energy()),
            time_without_detection_ratio: detector.quality.time_without_detection(),
        },
    }
}

#[derive(Serialize)]
struct BestView {
    id: Option<&'static str>,
    explanation: String,
}

fn best(best: Best) -> BestView {
    let id = match best {
        Best::Detector { id, .. } => Some(id),
        Best::TooFew { .. } | Best::None => None,
    };
    BestView { id, explanation: best.to_string() }
}

#[derive(Serialize)]
struct ApplicationView<'a> {
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
    groups_too_small_count: u64,
    impact: ByReference<JobImpactView>,
    speculation: SpeculationView,
    causes: Pairs<&'static str, CauseView>,
    detectors: Each<'a, Evaluated, DetectorView<'a>>,
    groups: Each<'a, GroupReport, GroupView<'a>>,
}

#[derive(Serialize)]
struct JobImpactView {
    tasks_count: u64,
    stragglers_count: u64,
    slowest_beyond_others_ms: Option<f64>,
    extra_compute_percent: Option<f64>,
}

fn job_impact(impact: &JobImpact) -> JobImpactView {
    JobImpactView {
        tasks_count: impact.tasks,
        stragglers_count: impact.stragglers,
        slowest_beyond_others_ms: impact.delay.map(|seconds| 1000.0 * seconds),
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

fn application(app: &ApplicationStragglers) -> ApplicationView<'_> {
    ApplicationView {
        id: &app.id,
        engine: app.engine.name(),
        name: app.name.as_deref(),
        user: app.user.as_deref(),
        status: app.status.name(),
        complete: app.complete,
        sources: &app.sources,
        submitted_at: app.submitted_at.and_then(Timestamp::to_rfc3339),
        tasks_count: app.judged(),
        stragglers_count: app.stragglers(),
        only_stragglers_left_ms: app.delay.get(),
        groups_too_small_count: app.small_groups,
        impact: ByReference { median: job_impact(&app.by_median), mean: job_impact(&app.by_mean) },
        speculation: SpeculationView {
            copies_count: app.copies.launched,
            copies_won_count: app.copies.won,
            lost_time_ms: app.copies.lost.get(),
            lost_attempts_untold_count: app.copies.untold,
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
        subject: words::group(group.kind),
        tasks_count: group.tasks,
        judged_count: group.judged,
        unfinished_count: group.skipped_unfinished,
        undetermined_count: group.undetermined,
        reference_ms: group.limit.map(|limit| 1000.0 * limit.reference),
        limit_ms: group.limit.map(|limit| 1000.0 * limit.at),
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
