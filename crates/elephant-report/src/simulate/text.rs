//! Simulations as text: a table for each experiment, with means and standard deviations over the seeds.

use std::io::{self, Write};

use anstyle::Style;

use super::super::grid::{Cell, Column, Grid};
use super::super::text::TextOptions;
use super::super::words::plural;
use super::super::wrap::{clean, lines, width};
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

pub(super) fn cluster(report: &ClusterReport, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let page = Page { columns: options.columns, color: options.color };
    for (study, rows) in &report.studies {
        match study {
            Study::Characteristics => {
                page.title("Detectors without a reserve for copies (Phan et al., table 6)", out)?;
                let names = |row: &Row| vec![row.scenario.clone(), row.detector.clone()];
                page.rows(&["scenario", "detector"], rows, names, QUALITY, out)?;
            }
            Study::Policies => {
                let names =
                    |row: &Row| vec![row.scenario.clone(), row.policy.to_string(), row.detector.clone()];
                page.title("Detectors by the policy for copies (Phan et al., table 7)", out)?;
                let quality = QUALITY.split_last().map_or(QUALITY, |(_, others)| others);
                page.rows(&["scenario", "policy", "detector"], rows, names, quality, out)?;
                page.title("Time, energy and copies by policy (Phan et al., figures 4 to 6)", out)?;
                page.rows(&["scenario", "policy", "detector"], rows, names, EFFECT, out)?;
                page.base(rows, out)?;
            }
            Study::Lag => {
                page.title("Fakes by the lag before detection (Phan et al., figure 3)", out)?;
                let names =
                    |row: &Row| vec![row.scenario.clone(), row.detector.clone(), format!("{} s", row.lag_s)];
                page.rows(&["scenario", "detector", "lag"], rows, names, OF_LAG, out)?;
            }
        }
    }
    let text = format!(
        "Mean ± standard deviation over {} from {}. Latency and undetected are multiples of the usual time. Fakes \
         are stragglers flagged too late for a copy; precision counts them as false.",
        plural(report.seeds, "seed"),
        report.first_seed
    );
    page.paragraph(&text, out)
}

pub(super) fn patterns(report: &PatternsReport, options: TextOptions, out: &mut dyn Write) -> io::Result<()> {
    let page = Page { columns: options.columns, color: options.color };
    for workload in &report.workloads {
        page.workload(workload, out)?;
    }
    if let Some(source) = &report.source {
        page.source(source, report.workloads.len(), out)?;
    }
    if report.workloads.is_empty() {
        return Ok(());
    }
    let text = format!(
        "Mean ± standard deviation over {} from {}, each with {} of {} per workload. Found: time from launch to \
         detection of the stragglers that were found, in seconds and of their duration.",
        plural(report.seeds.count, "seed"),
        report.seeds.first,
        plural(report.jobs as u64, "job"),
        plural(report.tasks as u64, "task"),
    );
    page.paragraph(&text, out)
}

struct Page {
    columns: usize,
    color: bool,
}

impl Page {
    fn paragraph(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        lines(text, self.columns).iter().try_for_each(|line| writeln!(out, "{line}"))
    }

    fn title(&self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let bold = if self.color { Style::new().bold() } else { Style::new() };
        lines(text, self.columns).iter().try_for_each(|line| writeln!(out, "{bold}{line}{bold:#}"))
    }

    fn rows(
        &self,
        heads: &[&str],
        rows: &[Row],
        names: impl Fn(&Row) -> Vec<String>,
        columns: Columns,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let head = heads.iter().copied().chain(columns.iter().map(|(_, name)| *name));
        let mut table = vec![head.map(str::to_owned).collect::<Vec<_>>()];
        for row in rows {
            let values = columns.iter().map(|(metric, _)| value(row.get(*metric), decimals(*metric)));
            table.push(names(row).iter().map(|name| clean(name)).chain(values).collect());
        }
        self.table(&table, heads.len(), out)
    }

    /// Writes a table; the first `names` columns begin at the left. If one of them has the same value
    /// everywhere and there is no room, it is left out.
    fn table(&self, table: &[Vec<String>], names: usize, out: &mut dyn Write) -> io::Result<()> {
        let Some((head, rows)) = table.split_first() else { return Ok(()) };
        let widest = |column: usize| {
            table.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
        };
        let mut shown: Vec<usize> = (0..head.len()).collect();
        for column in 0..names {
            let total: usize = shown.iter().map(|column| widest(*column) + 2).sum();
            let mut cells = rows.iter().filter_map(|row| row.get(column));
            let first = cells.next();
            if total > self.columns + 2 && rows.len() > 1 && cells.all(|cell| Some(cell) == first) {
                shown.retain(|other| *other != column);
            }
        }
        let key = shown.iter().rfind(|column| **column < names).copied();
        let column = |&column: &usize| {
            let title = head.get(column).cloned().unwrap_or_default();
            match column {
                _ if Some(column) == key => Column::key(title, widest(column), usize::MAX),
                _ if column < names => Column::text(title, 0),
                // One column wider, so that numbers have the same distance from the column before as names.
                _ => Column::number(title, widest(column) + 1),
            }
        };
        let mut grid = Grid::new(0, shown.iter().map(column));
        for row in rows {
            grid.row(shown.iter().map(|column| Cell::from(row.get(*column).cloned().unwrap_or_default())));
        }
        grid.write(self.columns, out)?;
        writeln!(out)
    }

    /// Names the row that times and energies are compared with.
    fn base(&self, rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
        let Some(base) = rows.iter().find(|row| row.policy == Policy::Reserve(100)).or_else(|| rows.first())
        else {
            return Ok(());
        };
        let amount =
            |metric| base.get(metric).map_or_else(|| "-".to_owned(), |spread| format!("{:.0}", spread.mean));
        let text = format!(
            "Time and energy are relative to {} with policy {}: {} s and {} kJ.",
            clean(&base.detector),
            base.policy,
            amount(Metric::Seconds),
            amount(Metric::Kilojoules)
        );
        self.paragraph(&text, out)?;
        writeln!(out)
    }

    fn workload(&self, workload: &WorkloadResult, out: &mut dyn Write) -> io::Result<()> {
        let WorkloadResult { name, pattern, basis, rows } = workload;
        let from = basis.map(sample).unwrap_or_default();
        let text = format!(
            "{}: usual tasks take {:.1} s, stragglers {:.1} s, {:.1} % of the tasks{from}",
            clean(name),
            pattern.usual.end(),
            pattern.straggler.end(),
            100.0 * pattern.straggler_share
        );
        self.title(&text, out)?;
        let head = ["detector", "found after", "of duration", "precision", "recall"];
        let mut table = vec![head.map(str::to_owned).to_vec()];
        table.extend(rows.iter().map(pattern_row));
        self.table(&table, 1, out)
    }

    fn source(&self, source: &Source, simulated: usize, out: &mut dyn Write) -> io::Result<()> {
        let Source { files, skipped, left_out, .. } = source;
        let reasons = [
            (skipped.small, "with too few tasks"),
            (skipped.without_stragglers, "without stragglers"),
            (skipped.short, "with tasks too short for three scans"),
            (skipped.unknown, "whose progress is not known"),
            (*left_out as u64, "with fewer stragglers (--top)"),
        ];
        let reasons: Vec<String> = reasons
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, reason)| format!("{} {reason}", plural(*count, "group")))
            .collect();
        let applications = plural(files.applications, "application");
        let text = match (simulated, reasons.is_empty()) {
            (0, true) => format!("Nothing to simulate: there are no tasks to learn from in {applications}."),
            (0, false) => format!(
                "Nothing to simulate: no group of tasks of {applications} shows how stragglers progress. There are {}.",
                reasons.join(", ")
            ),
            (_, true) => format!("Learnt from {} of {applications}.", plural(simulated as u64, "group")),
            (_, false) => format!(
                "Learnt from {} of {applications}, not {}.",
                plural(simulated as u64, "group"),
                reasons.join(", ")
            ),
        };
        self.paragraph(&text, out)
    }
}

/// ", learnt from 320 tasks with 20 stragglers".
fn sample(sample: Sample) -> String {
    let known = if sample.straight { "; progress is a straight line to a known end: optimistic" } else { "" };
    let tasks = plural(sample.tasks as u64, "task");
    format!(", learnt from {tasks} with {}{known}", plural(sample.stragglers as u64, "straggler"))
}

fn pattern_row(row: &PatternRow) -> Vec<String> {
    let percent = |spread: Option<Spread>| {
        let text = spread.map(|spread| number(spread, 1, 100.0));
        text.map_or_else(|| "-".to_owned(), |text| format!("{text} %"))
    };
    let seconds =
        row.detection_s.map_or_else(|| "-".to_owned(), |spread| format!("{} s", number(spread, 1, 1.0)));
    let shares = [row.detection_share, row.precision, row.recall].map(percent);
    [clean(&row.detector), seconds].into_iter().chain(shares).collect()
}

const fn decimals(metric: Metric) -> usize {
    match metric {
        Metric::Copies | Metric::Successful | Metric::Unsuccessful => 0,
        _ => 2,
    }
}

fn value(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(|| "-".to_owned(), |spread| number(spread, decimals, 1.0))
}

/// "0.59 ± 0.03"; the mean alone for one seed.
fn number(spread: Spread, decimals: usize, factor: f64) -> String {
    let mean = factor * spread.mean;
    match spread.deviation {
        Some(deviation) => format!("{mean:.decimals$} ±{:.decimals$}", factor * deviation),
        None => format!("{mean:.decimals$}"),
    }
}
