//! Reports for tests of the HTML page.

use std::path::{Path, PathBuf};

use elephant_rs::engine::{Options, analyze};
use elephant_rs::report::{Format, TextOptions, write};
use elephant_rs::results::Report;
use elephant_rs::rules::RuleSet;

/// Text that must be escaped everywhere.
pub(super) const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)>",
    "'; alert(3); '",
    "</style></title></script><svg onload=alert(4)>",
    "</bdi></a></td></table><h1>gone</h1>",
    "right\u{202e}to left\u{200f}\u{2066}",
    "nul\u{0}bell\u{7}esc\u{1b}[31m\r\nline",
    "{{ 7 * 7 }} ${alert(5)} <!-- ]]> &lt; &amp;",
    "javascript:alert(6)",
];

/// The report on MapReduce jobs and a Spark application, with charts for `charts` of them.
pub(super) fn mixed(charts: usize) -> Report {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths: Vec<PathBuf> =
        ["testdata/done", "testdata/hadoop1", "testdata/spark/3.5.9", "testdata/broken"]
            .map(|path| root.join(path))
            .into();
    let mut report = analyze(
        &paths,
        &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(),
        Options { charts, ..Options::default() },
    );
    // Paths differ between machines.
    let prefix = format!("{}/", root.display());
    for app in &mut report.applications {
        for source in &mut app.sources {
            *source = source.replace(&prefix, "");
        }
    }
    for entry in &mut report.problems {
        entry.source = entry.source.replace(&prefix, "");
    }
    report
}

/// A report on jobs with several runs, without charts.
pub(super) fn recurring() -> Report {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/heuristics/spark-configuration-parameters");
    analyze(&[path], &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(), Options::default())
}

/// The report on the histories of a folder in `testdata`, with charts.
pub(super) fn charted(folder: &str) -> Report {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(folder);
    let options = Options { charts: usize::MAX, ..Options::default() };
    analyze(&[path], &RuleSet::new(elephant_rs::rules::BUILT_IN).unwrap(), options)
}

/// The same report with hostile names and texts wherever a history supplies them.
pub(super) fn hostile() -> Report {
    let mut report = mixed(100);
    let long = format!("{}<b>{}", "x".repeat(5000), "y".repeat(5000));
    let texts: Vec<&str> = HOSTILE.into_iter().chain([long.as_str()]).collect();
    let mut next = 0;
    let mut text = move || {
        next += 1;
        texts[(next - 1) % texts.len()].to_owned()
    };
    for app in &mut report.applications {
        app.id = text();
        app.name = Some(text());
        app.user = Some(text());
        app.queue = Some(text());
        app.engine_version = Some(text());
        app.attempt = Some(text());
        app.sources = vec![text(), text()];
        for finding in &mut app.findings {
            finding.message = text();
            finding.advice.push(text().into());
            finding.rule = text().into();
            finding.title = text().into();
            finding.evidence.push((text().into(), elephant_rs::finding::Measure::Text(text())));
        }
        for missing in &mut app.not_evaluated {
            missing.reason = text();
        }
        if let Some(charts) = &mut app.charts {
            charts.nodes.shown.iter_mut().for_each(|node| node.node = text());
            charts.histograms.iter_mut().for_each(|histogram| histogram.name = Some(text()));
            charts.scatters.iter_mut().for_each(|scatter| scatter.name = Some(text()));
            charts.phases.shown.iter_mut().for_each(|row| row.phase.name = Some(text()));
            charts
                .memory
                .iter_mut()
                .flat_map(|memory| &mut memory.ranked)
                .for_each(|(id, _)| *id = Some(text()));
            if let Some(timeline) = &mut charts.timeline {
                for executor in &mut timeline.executors.shown {
                    executor.id = text();
                    executor.host = Some(text());
                }
            }
        }
    }
    for entry in &mut report.problems {
        entry.source = text();
        entry.problem.message = text();
    }
    for rule in &mut report.totals.rules {
        rule.rule = text().into();
        rule.title = text().into();
    }
    for total in &mut report.totals.not_evaluated {
        total.reason = text();
    }
    report
}

/// A report on `count` applications: renamed copies of a few, with charts for the worst 100.
pub(super) fn many(count: usize) -> Report {
    let mut report = mixed(100);
    let some = report.applications.clone();
    report.applications = some.iter().cycle().take(count).cloned().collect();
    let worst_first = |app: &elephant_rs::results::ApplicationReport| std::cmp::Reverse(app.severity);
    report.applications.sort_by_key(worst_first);
    for (place, app) in report.applications.iter_mut().enumerate() {
        app.id = format!("application_1700000000000_{place:05}");
        app.user = Some(format!("user{}", place % 40));
        if place >= 100 {
            app.charts = None;
        }
    }
    report.summary.applications = count as u64;
    report
}

/// The page of a report.
pub(super) fn page(report: &Report) -> String {
    let mut bytes = Vec::new();
    write(report, Format::Html, TextOptions::default(), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}
