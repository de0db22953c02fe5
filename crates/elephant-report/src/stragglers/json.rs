//! The survey as JSON. The ending of a key names its unit, and unknown values are `null`.

mod application;
mod causes;
mod impact;

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::SerializeMap;

use super::super::json::{Each, Pairs, Tool, files, problem, write_pretty};
use super::{Shown, applications, words};
use causes::{CauseView, CorrelationView, DayView, WaitingView, causes, correlation, day, waiting};
use elephant_analysis::stragglers::detect::{Parameter, Value};
use elephant_analysis::stragglers::evaluation::pool::{Means, Pooled};
use elephant_analysis::stragglers::evaluation::{Best, Evaluated};
use elephant_analysis::stragglers::first_order::FirstOrder;
use elephant_analysis::stragglers::quality::Quality;
use elephant_base::units::Millis;
use elephant_engine::survey::{
    ApplicationStragglers, CauseCorrelation, EngineDetectors, RunTimes, Settings, StragglerDay,
    StragglerReport, Total, Waiting,
};
use impact::{ImpactView, impact};

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
        map.serialize_entry("applications_left_out_count", &report.files.left_out)?;
        map.serialize_entry("applications_not_listed_count", &report.unlisted)?;
        map.serialize_entry("total", &total(&report.total))?;
        map.serialize_entry("applications", &Each(applications, application::application))?;
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
    #[serde(skip_serializing_if = "Option::is_none")]
    r#where: Option<String>,
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
        r#where: (!settings.conditions.is_empty()).then(|| settings.conditions.to_string()),
    }
}

#[derive(Serialize)]
struct TotalView<'a> {
    tasks_not_judged: NotJudgedView,
    impact: ByReference<ImpactView<'a>>,
    speculation_waste_percent: Option<f64>,
    copies_won_to_tail_correlation: Option<f64>,
    causes: Pairs<&'static str, CauseView>,
    waiting: Each<'a, Waiting, WaitingView>,
    days: Each<'a, StragglerDay, DayView>,
    daily_correlations: Each<'a, CauseCorrelation, CorrelationView>,
    replay: ReplayView,
    engines: Pairs<&'static str, EngineView<'a>>,
}

/// Tasks that no part of the impact counts, in addition to those with an undetermined label.
#[derive(Serialize)]
struct NotJudgedView {
    unfinished_count: u64,
    in_small_groups_count: u64,
}

#[derive(Serialize)]
struct EngineView<'a> {
    groups_count: u64,
    groups_not_replayed_count: u64,
    optimistic_groups_count: u64,
    detectors: Each<'a, Pooled, PooledView<'a>>,
    best_detector: BestView,
    best_offered_detector: Option<BestView>,
    settings: Pairs<&'static str, &'a str>,
    run_times_with_settings: Option<RunTimesView>,
}

/// By replay, over all applications with tasks that would have been copied.
#[derive(Serialize)]
struct RunTimesView {
    applications_count: u64,
    not_replayed_count: u64,
    recorded_ms: f64,
    saved_ms: f64,
    error_ms: f64,
}

fn run_times(times: &RunTimes) -> RunTimesView {
    let RunTimes { applications, unknown, recorded_ms, saved_ms, error_ms } = *times;
    let [recorded_ms, saved_ms, error_ms] = [recorded_ms, saved_ms, error_ms].map(f64::round);
    let (applications_count, not_replayed_count) = (applications, unknown);
    RunTimesView { applications_count, not_replayed_count, recorded_ms, saved_ms, error_ms }
}

fn engine(engine: &EngineDetectors) -> (&'static str, EngineView<'_>) {
    let view = EngineView {
        groups_count: engine.groups,
        groups_not_replayed_count: engine.all_groups.saturating_sub(engine.groups),
        optimistic_groups_count: engine.optimistic_groups,
        detectors: Each(&engine.detectors, pooled),
        best_detector: best(engine.best),
        best_offered_detector: engine.best_offered.map(best),
        settings: Pairs(engine.settings.iter().map(|it| (it.name, it.value.as_str())).collect()),
        run_times_with_settings: engine.run_times.as_ref().map(run_times),
    };
    (engine.origin.name(), view)
}

#[derive(Serialize)]
struct ByReference<T> {
    median: T,
    mean: T,
}

#[derive(Serialize)]
struct ReplayView {
    undetermined_tasks_count: u64,
    groups_with_models_count: u64,
    progress_sources: Pairs<&'static str, u64>,
    usual_sources: Pairs<&'static str, u64>,
}

fn total(total: &Total) -> TotalView<'_> {
    TotalView {
        tasks_not_judged: NotJudgedView {
            unfinished_count: total.unfinished,
            in_small_groups_count: total.in_small_groups,
        },
        impact: ByReference { median: impact(&total.by_median), mean: impact(&total.by_mean) },
        speculation_waste_percent: total.speculation_waste.map(percent),
        copies_won_to_tail_correlation: total.tail_correlation,
        causes: causes(&total.causes),
        waiting: Each(&total.waiting, waiting),
        days: Each(&total.days, day),
        daily_correlations: Each(&total.correlations, correlation),
        replay: ReplayView {
            undetermined_tasks_count: total.undetermined,
            groups_with_models_count: total.with_models,
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
    copies: CopiesView,
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

/// Means per task, not the makespan: in usual times, and in the energy of a usual task. `null` if the shares of the model
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
    let copies = detector.quality.copies();
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
        copies: CopiesView {
            task_time_ms: copies.map(|(copies, _)| copies.get()),
            saved_task_time_ms: copies.map(|(_, saved)| saved.get()),
        },
    }
}

/// What copies of the flagged tasks would have cost, and by how much these tasks together would have ended earlier.
#[derive(Serialize)]
struct CopiesView {
    task_time_ms: Option<u64>,
    saved_task_time_ms: Option<u64>,
}

#[derive(Serialize)]
struct BestView {
    id: Option<&'static str>,
    explanation: String,
}

fn best(best: Best) -> BestView {
    let id = match best {
        Best::Detector { id, .. } => Some(id),
        Best::TooFew { .. } | Best::None | Best::FewFound { .. } => None,
    };
    BestView { id, explanation: best.to_string() }
}
