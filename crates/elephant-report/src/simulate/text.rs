//! Simulations as text: a table for each experiment, with means and standard deviations over the seeds.

use crate::document::{self, Block, Cell, Column, Document, Section, Table, Value};
use crate::words::plural;
use elephant_lab::cluster::policy::Policy;
use elephant_lab::cluster::study::{ClusterReport, Metric, Row, Study};
use elephant_lab::patterns::learn::Sample;
use elephant_lab::patterns::{PatternRow, PatternsReport, Source, WorkloadResult};
use elephant_lab::spread::Spread;

/// Metrics and their columns; the last says whether they are counts.
type Columns = &'static [(Metric, &'static str)];

const QUALITY: Columns = &[
    (Metric::Precision, "precision"),
    (Metric::Recall, "recall"),
    (Metric::DetectionLatency, "latency"),
    (Metric::UndetectedTime, "undetected"),
    (Metric::FakeRatio, "fakes"),
];
const EFFECT: Columns = &[
    (Metric::RelativeTime, "time"),
    (Metric::RelativeEnergy, "energy"),
    (Metric::Copies, "copies"),
    (Metric::Successful, "successful"),
];
const OF_LAG: Columns = &[
    (Metric::FakeRatio, "fakes"),
    (Metric::Precision, "precision"),
    (Metric::Recall, "recall"),
    (Metric::DetectionLatency, "latency"),
];

/// The studies of a cluster.
pub(super) fn cluster(report: &ClusterReport) -> Document<'_> {
    let studies = report.studies.iter().flat_map(|(study, rows)| match study {
        Study::Characteristics => {
            let title = "Detectors without a reserve for copies (Phan et al., table 6)";
            vec![titled(title, table(&[SCENARIO, DETECTOR], rows, QUALITY))]
        }
        Study::Policies => {
            let names = [SCENARIO, POLICY, DETECTOR];
            let quality = QUALITY.split_last().map_or(QUALITY, |(_, others)| others);
            let (by_policy, effects) = (table(&names, rows, quality), table(&names, rows, EFFECT));
            let base = Section::new("", "", "").with(base(rows).map(Block::Lead));
            vec![
                titled("Detectors by the policy for copies (Phan et al., table 7)", by_policy),
                titled("Time, energy and copies by policy (Phan et al., figures 4 to 6)", effects),
                base,
            ]
        }
        Study::Lag => {
            let title = "Fakes by the lag before detection (Phan et al., figure 3)";
            vec![titled(title, table(&[SCENARIO, DETECTOR, LAG], rows, OF_LAG))]
        }
    });
    let end = format!(
        "Mean ± standard deviation over {} from {}. Latency and undetected are multiples of the usual time. Fakes are \
         stragglers flagged too late for a copy; precision counts them as false.",
        plural(report.seeds, "seed"),
        report.first_seed
    );
    document(studies.chain([Section::new("", "", "").with(Block::Lead(end))]).collect())
}

/// What detectors find in workloads whose stragglers have a pattern.
pub(super) fn patterns(report: &PatternsReport) -> Document<'_> {
    let workloads = report.workloads.iter().map(workload);
    let source = report.source.as_ref().map(|source| Block::Lead(learnt(source, report.workloads.len())));
    let end = format!(
        "Mean ± standard deviation over {} from {}, each with {} of {} per workload. Found: time from launch to \
         detection of the stragglers that were found, in seconds and of their duration.",
        plural(report.seeds.count, "seed"),
        report.seeds.first,
        plural(report.jobs as u64, "job"),
        plural(report.tasks as u64, "task"),
    );
    let end = (!report.workloads.is_empty()).then_some(Block::Lead(end));
    document(workloads.chain([Section::new("", "", "").with(source).with(end)]).collect())
}

fn document(sections: Vec<Section<'_>>) -> Document<'_> {
    Document { title: "Simulation", foot: String::new(), problems: &[], sections }
}

fn titled(title: impl Into<String>, table: Table<'_>) -> Section<'_> {
    Section::new("", "", "").with(Block::Label(title.into())).with(Block::Table(table))
}

/// What a row is about.
type Name = (&'static str, fn(&Row) -> String);

const SCENARIO: Name = ("scenario", |row| row.scenario.clone());
const POLICY: Name = ("policy", |row| row.policy.to_string());
const DETECTOR: Name = ("detector", |row| row.detector.clone());
const LAG: Name = ("lag", |row| format!("{} s", row.lag_s));

/// A row for each of these; a name that is the same everywhere is left out where there is no room.
fn table<'a>(names: &[Name], rows: &[Row], columns: Columns) -> Table<'a> {
    let last = names.len().saturating_sub(1);
    let name = |(place, (title, _)): (usize, &Name)| {
        if place == last { Column::key(*title, 8, usize::MAX) } else { Column::text(*title, 0).expendable() }
    };
    let titles = names.iter().enumerate().map(name);
    let row = |row: &Row| {
        let names = names.iter().map(|(_, name)| Cell::from(name(row)));
        let values = columns.iter().map(|(metric, _)| value(row.get(*metric), decimals(*metric)));
        document::Row::new(names.chain(values))
    };
    let numbers = columns.iter().map(|(_, title)| Column::number(*title, title.len() + 1));
    Table::new(titles.chain(numbers), rows.iter().map(row))
}

/// Names the row that times and energies are compared with.
fn base(rows: &[Row]) -> Option<String> {
    let base = rows.iter().find(|row| row.policy == Policy::Reserve(100)).or_else(|| rows.first())?;
    let amount =
        |metric| base.get(metric).map_or_else(|| "-".to_owned(), |spread| format!("{:.0}", spread.mean));
    let (time, energy) = (amount(Metric::Seconds), amount(Metric::Kilojoules));
    Some(format!(
        "Time and energy are relative to {} with policy {}: {time} s and {energy} kJ.",
        base.detector, base.policy
    ))
}

fn workload(workload: &WorkloadResult) -> Section<'_> {
    let WorkloadResult { name, pattern, basis, rows } = workload;
    let from = basis.map(sample).unwrap_or_default();
    let title = format!(
        "{name}: usual tasks take {:.1} s, stragglers {:.1} s, {:.1} % of the tasks{from}",
        pattern.usual.end(),
        pattern.straggler.end(),
        100.0 * pattern.straggler_share
    );
    let columns = [
        Column::key("detector", 8, usize::MAX),
        Column::number("found after", 12),
        Column::number("of duration", 12),
        Column::number("precision", 10),
        Column::number("recall", 7),
    ];
    titled(title, Table::new(columns, rows.iter().map(pattern_row)))
}

/// What the patterns were learnt from, and why not from more.
fn learnt(source: &Source, simulated: usize) -> String {
    let Source { files, skipped, left_out, .. } = source;
    let reasons = [
        (skipped.small, "with too few tasks"),
        (skipped.without_stragglers, "without stragglers"),
        (skipped.short, "with tasks too short for three scans"),
        (skipped.unknown, "whose progress is not known"),
        (*left_out as u64, "with fewer stragglers (--top)"),
    ];
    let reasons = reasons.iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> =
        reasons.map(|(count, reason)| format!("{} {reason}", plural(*count, "group"))).collect();
    let applications = plural(files.applications, "application");
    let groups = plural(simulated as u64, "group");
    match (simulated, reasons.join(", ").as_str()) {
        (0, "") => format!("Nothing to simulate: there are no tasks to learn from in {applications}."),
        (0, reasons) => format!(
            "Nothing to simulate: no group of tasks of {applications} shows how stragglers progress. There are {reasons}."
        ),
        (_, "") => format!("Learnt from {groups} of {applications}."),
        (_, reasons) => format!("Learnt from {groups} of {applications}, not {reasons}."),
    }
}

/// ", learnt from 320 tasks with 20 stragglers".
fn sample(sample: Sample) -> String {
    let known = if sample.straight { "; progress is a straight line to a known end: optimistic" } else { "" };
    let tasks = plural(sample.tasks as u64, "task");
    format!(", learnt from {tasks} with {}{known}", plural(sample.stragglers as u64, "straggler"))
}

fn pattern_row(row: &PatternRow) -> document::Row<'_> {
    let percent = |spread: Option<Spread>| {
        let spread = spread.map(|spread| (format!("{} %", number(spread, 1, 100.0)), spread.mean));
        Cell::from(Value::known(spread, |(text, mean)| Value::Sorted(text, Some(mean))))
    };
    let seconds = row.detection_s.map(|spread| (format!("{} s", number(spread, 1, 1.0)), spread.mean));
    let seconds = Value::known(seconds, |(text, mean)| Value::Sorted(text, Some(mean)));
    let shares = [row.detection_share, row.precision, row.recall].map(percent);
    document::Row::new([row.detector.as_str().into(), seconds.into()].into_iter().chain(shares))
}

const fn decimals(metric: Metric) -> usize {
    match metric {
        Metric::Copies | Metric::Successful | Metric::Unsuccessful => 0,
        _ => 2,
    }
}

fn value<'a>(spread: Option<Spread>, decimals: usize) -> Cell<'a> {
    let known = |spread: Spread| Value::Sorted(number(spread, decimals, 1.0), Some(spread.mean));
    Value::known(spread, known).into()
}

/// "0.59 ± 0.03"; the mean alone for one seed.
fn number(spread: Spread, decimals: usize, factor: f64) -> String {
    let mean = factor * spread.mean;
    match spread.deviation {
        Some(deviation) => format!("{mean:.decimals$} ±{:.decimals$}", factor * deviation),
        None => format!("{mean:.decimals$}"),
    }
}
