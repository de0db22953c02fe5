//! The figures of S0 and S2 from the results of a simulation.

use std::io::{self, Write};

use super::super::words::plural;
use super::chart::{Bar, Bars, Chart, Lines, Plot, Point};
use super::svg;
use elephant_lab::cluster::study::{ClusterReport, Metric, Row, Study};
use elephant_lab::patterns::pattern::Curve;
use elephant_lab::patterns::{PatternRow, PatternsReport, WorkloadResult};
use elephant_lab::spread::Spread;

pub(super) fn cluster(report: &ClusterReport, out: &mut dyn Write) -> io::Result<()> {
    let charts: Vec<Chart> = report.studies.iter().flat_map(|(study, rows)| of_study(*study, rows)).collect();
    let caption =
        format!("Mean ± standard deviation over {} from {}", plural(report.seeds, "seed"), report.first_seed);
    svg::write("Detectors of stragglers on a simulated cluster", &charts, &caption, out)
}

pub(super) fn patterns(report: &PatternsReport, out: &mut dyn Write) -> io::Result<()> {
    let mut charts = Vec::new();
    for workload in &report.workloads {
        charts.push(progress(workload));
        charts.push(detection(workload));
    }
    let seeds = report.seeds;
    let caption =
        format!("Mean ± standard deviation over {} from {}", plural(seeds.count, "seed"), seeds.first);
    svg::write("Detectors of stragglers on simulated tasks", &charts, &caption, out)
}

fn of_study(study: Study, rows: &[Row]) -> Vec<Chart> {
    let mut scenarios: Vec<&str> = rows.iter().map(|row| row.scenario.as_str()).collect();
    scenarios.dedup();
    match study {
        Study::Characteristics => {
            let group = |row: &Row| row.scenario.clone();
            let of = |title: &str, axis, metric| bars(title.to_owned(), axis, rows, group, metric);
            vec![
                of("Precision (Phan et al., table 6)", "precision", Metric::Precision),
                of("Recall (Phan et al., table 6)", "recall", Metric::Recall),
                of("Detection latency (Phan et al., table 6)", "usual times", Metric::DetectionLatency),
            ]
        }
        Study::Policies => scenarios.into_iter().flat_map(|scenario| policies(scenario, rows)).collect(),
        Study::Lag => {
            let line = |scenario: &str| {
                let own = rows.iter().filter(|row| row.scenario == scenario);
                let points = own.filter_map(|row| Some(point(row.lag_s, row.get(Metric::FakeRatio)?)));
                let detector = rows.first().map_or("", |row| row.detector.as_str());
                (format!("{scenario}, {detector}"), points.collect())
            };
            let lines = scenarios.into_iter().map(line).collect();
            let plot = Plot::Lines(Lines { axis: "lag (s)", lines });
            vec![Chart {
                title: "Fakes by the lag before detection (Phan et al., figure 3)".to_owned(),
                axis: "fakes",
                plot,
            }]
        }
    }
}

fn policies(scenario: &str, rows: &[Row]) -> Vec<Chart> {
    let own: Vec<Row> = rows.iter().filter(|row| row.scenario == scenario).cloned().collect();
    let group = |row: &Row| row.policy.to_string();
    let of = |title: &str, axis, metric| bars(format!("{title} in {scenario}"), axis, &own, group, metric);
    let mut copies = of("Copies by policy (Phan et al., figure 6)", "copies", Metric::Copies);
    if let Plot::Bars(bars) = &mut copies.plot {
        bars.part = Some("dark: copies that were first");
        let parts = self::bars(String::new(), "", &own, group, Metric::Successful);
        if let Plot::Bars(parts) = parts.plot {
            let parts = parts.groups.into_iter().flat_map(|(_, bars)| bars);
            for (bar, part) in bars.groups.iter_mut().flat_map(|(_, bars)| bars).zip(parts) {
                if let (Some(bar), Some(part)) = (bar, part) {
                    bar.part = Some(part.value);
                }
            }
        }
    }
    vec![
        of("Time by policy (Phan et al., figure 4)", "relative time", Metric::RelativeTime),
        of("Energy by policy (Phan et al., figure 5)", "relative energy", Metric::RelativeEnergy),
        copies,
    ]
}

/// A group of bars for each value of `group`, with a bar for each detector.
fn bars(
    title: String,
    axis: &'static str,
    rows: &[Row],
    group: impl Fn(&Row) -> String,
    metric: Metric,
) -> Chart {
    let mut series: Vec<String> = Vec::new();
    let mut groups: Vec<(String, Vec<Option<Bar>>)> = Vec::new();
    for row in rows {
        if !series.contains(&row.detector) {
            series.push(row.detector.clone());
        }
    }
    for row in rows {
        let name = group(row);
        if !groups.iter().any(|(known, _)| *known == name) {
            groups.push((name.clone(), vec![None; series.len()]));
        }
        let place = series.iter().position(|detector| *detector == row.detector);
        let bars = groups.iter_mut().find(|(known, _)| *known == name).map(|(_, bars)| bars);
        if let (Some(bars), Some(place)) = (bars, place)
            && let Some(slot) = bars.get_mut(place)
        {
            *slot = row.get(metric).map(bar);
        }
    }
    Chart { title, axis, plot: Plot::Bars(Bars { series, groups, part: None }) }
}

const fn bar(spread: Spread) -> Bar {
    Bar { value: spread.mean, deviation: spread.deviation, part: None }
}

const fn point(x: f64, spread: Spread) -> Point {
    Point { x, y: spread.mean, deviation: spread.deviation }
}

/// The patterns of progress (Garraghan et al., figure 12).
fn progress(workload: &WorkloadResult) -> Chart {
    let points = |curve: &Curve| {
        let point = |&(x, y): &(f64, f64)| Point { x, y, deviation: None };
        curve.points().iter().map(point).collect()
    };
    let lines = vec![
        ("usual task".to_owned(), points(&workload.pattern.usual)),
        ("straggler".to_owned(), points(&workload.pattern.straggler)),
    ];
    Chart {
        title: format!("Progress in {}{}", workload.name, source(workload, " (Garraghan et al., figure 12)")),
        axis: "progress",
        plot: Plot::Lines(Lines { axis: "seconds since launch", lines }),
    }
}

/// When stragglers are found, and how many of the flagged tasks are stragglers (Garraghan et al., table 6).
fn detection(workload: &WorkloadResult) -> Chart {
    let group = |name: &str, value: fn(&PatternRow) -> Option<Spread>| {
        (name.to_owned(), workload.rows.iter().map(|row| value(row).map(bar)).collect())
    };
    let groups = vec![
        group("found after (share of duration)", |row| row.detection_share),
        group("precision", |row| row.precision),
        group("recall", |row| row.recall),
    ];
    let series = workload.rows.iter().map(|row| row.detector.clone()).collect();
    let plot = Plot::Bars(Bars { series, groups, part: None });
    let title = format!("Detection in {}{}", workload.name, source(workload, " (Garraghan et al., table 6)"));
    Chart { title, axis: "share", plot }
}

/// The place in the paper, unless the pattern was learnt from other jobs.
const fn source<'a>(workload: &WorkloadResult, place: &'a str) -> &'a str {
    if workload.basis.is_none() { place } else { "" }
}
