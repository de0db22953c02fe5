//! Simulations as JSON. The ending of a key names its unit, and unknown values are `null`.

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::super::json::{Each, Tool, files, problem, write_pretty};
use elephant_lab::cluster::study::{ClusterReport, Metric, Row, Study};
use elephant_lab::patterns::learn::Sample;
use elephant_lab::patterns::pattern::Curve;
use elephant_lab::patterns::{PatternRow, PatternsReport, Source, WorkloadResult};
use elephant_lab::spread::Spread;

pub(super) fn cluster(report: &ClusterReport, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&Cluster(report), out)
}

pub(super) fn patterns(report: &PatternsReport, out: &mut dyn Write) -> io::Result<()> {
    write_pretty(&Patterns(report), out)
}

struct Cluster<'a>(&'a ClusterReport);

impl Serialize for Cluster<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &1)?;
        map.serialize_entry("tool", &Tool::THIS)?;
        map.serialize_entry("first_seed", &self.0.first_seed)?;
        map.serialize_entry("seeds_count", &self.0.seeds)?;
        map.serialize_entry("studies", &Each(&self.0.studies, study))?;
        map.end()
    }
}

#[derive(Serialize)]
struct StudyView<'a> {
    study: &'static str,
    rows: Each<'a, Row, RowView<'a>>,
}

fn study(study: &(Study, Vec<Row>)) -> StudyView<'_> {
    StudyView { study: study.0.name(), rows: Each(&study.1, row) }
}

#[derive(Serialize)]
struct RowView<'a> {
    scenario: &'a str,
    policy: String,
    detector: &'a str,
    lag_s: f64,
    metrics: Metrics<'a>,
}

fn row(row: &Row) -> RowView<'_> {
    RowView {
        scenario: &row.scenario,
        policy: row.policy.to_string(),
        detector: &row.detector,
        lag_s: row.lag_s,
        metrics: Metrics(row),
    }
}

struct Metrics<'a>(&'a Row);

impl Serialize for Metrics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Metric::ALL.map(|metric| (metric.name(), self.0.get(metric).map(spread))))
    }
}

#[derive(Serialize)]
struct SpreadView {
    mean: f64,
    sd: Option<f64>,
    min: f64,
    max: f64,
    seeds_count: usize,
}

fn spread(spread: Spread) -> SpreadView {
    let Spread { mean, deviation: sd, least: min, greatest: max, count: seeds_count } = spread;
    SpreadView { mean, sd, min, max, seeds_count }
}

struct Patterns<'a>(&'a PatternsReport);

impl Serialize for Patterns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schema_version", &1)?;
        map.serialize_entry("tool", &Tool::THIS)?;
        map.serialize_entry("first_seed", &report.seeds.first)?;
        map.serialize_entry("seeds_count", &report.seeds.count)?;
        map.serialize_entry("jobs_count", &report.jobs)?;
        map.serialize_entry("tasks_count", &report.tasks)?;
        map.serialize_entry("workloads", &Each(&report.workloads, workload))?;
        if let Some(source) = &report.source {
            map.serialize_entry("files", &files(&source.files))?;
            map.serialize_entry("applications_count", &source.files.applications)?;
            map.serialize_entry("groups_skipped", &skipped(source))?;
            map.serialize_entry("problems", &Each(&source.problems, problem))?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct SkippedView {
    few_tasks_count: u64,
    no_stragglers_count: u64,
    short_tasks_count: u64,
    unknown_progress_count: u64,
    fewer_stragglers_count: usize,
}

const fn skipped(source: &Source) -> SkippedView {
    SkippedView {
        few_tasks_count: source.skipped.small,
        no_stragglers_count: source.skipped.without_stragglers,
        short_tasks_count: source.skipped.short,
        unknown_progress_count: source.skipped.unknown,
        fewer_stragglers_count: source.left_out,
    }
}

#[derive(Serialize)]
struct WorkloadView<'a> {
    name: &'a str,
    learnt_from: Option<SampleView>,
    stragglers_ratio: f64,
    noise_correlation: f64,
    usual: CurveView<'a>,
    straggler: CurveView<'a>,
    noise: CurveView<'a>,
    detectors: Each<'a, PatternRow, DetectorView<'a>>,
}

fn workload(workload: &WorkloadResult) -> WorkloadView<'_> {
    let pattern = &workload.pattern;
    WorkloadView {
        name: &workload.name,
        learnt_from: workload.basis.map(sample),
        stragglers_ratio: rounded(pattern.straggler_share),
        noise_correlation: rounded(pattern.correlation),
        usual: curve(&pattern.usual),
        straggler: curve(&pattern.straggler),
        noise: curve(&pattern.noise),
        detectors: Each(&workload.rows, detector),
    }
}

#[derive(Serialize)]
struct SampleView {
    tasks_count: usize,
    stragglers_count: usize,
    optimistic: bool,
}

const fn sample(sample: Sample) -> SampleView {
    SampleView { tasks_count: sample.tasks, stragglers_count: sample.stragglers, optimistic: sample.straight }
}

#[derive(Serialize)]
struct CurveView<'a>(Each<'a, (f64, f64), PointView>);

#[derive(Serialize)]
struct PointView {
    time_s: f64,
    ratio: f64,
}

fn curve(curve: &Curve) -> CurveView<'_> {
    CurveView(Each(curve.points(), |&(time, value)| PointView {
        time_s: rounded(time),
        ratio: rounded(value),
    }))
}

#[derive(Serialize)]
struct DetectorView<'a> {
    detector: &'a str,
    detection_s: Option<SpreadView>,
    detection_ratio: Option<SpreadView>,
    precision_ratio: Option<SpreadView>,
    recall_ratio: Option<SpreadView>,
}

fn detector(row: &PatternRow) -> DetectorView<'_> {
    DetectorView {
        detector: &row.detector,
        detection_s: row.detection_s.map(spread),
        detection_ratio: row.detection_share.map(spread),
        precision_ratio: row.precision.map(spread),
        recall_ratio: row.recall.map(spread),
    }
}

/// Formulas of curves use functions of the C library, whose last digits differ between machines.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
